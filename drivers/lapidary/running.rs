// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A GPU that runs: its rings, what looks after them, and how they stop.
//!
//! Fences complete by themselves in memory. What notices it:
//!
//! - the **interrupt**, if a thread waits. It is let through only while that is so ([`Gpu::arm`]): a client that
//!   submits and does not wait costs no interrupt. The client that waits for an object lets it through itself
//!   ([`Running::announce`]), and gives back what finished jobs held when it is woken;
//! - the **worker**, which looks ten times a second while jobs are under way, gives back what finished jobs held,
//!   and lets the interrupt through when a wait begins in another way;
//! - the next thread that submits, or asks whether an object is busy.
//!
//! None of them reads a register to see how far the ring is.
//!
//! The worker is also the watchdog ([`crate::worker`]): it finds interrupts and reports that got lost, and rings that
//! hang, and has the GPU reset then ([`recovery`](crate::recovery)). Only when that fails the GPU is wedged:
//! all pending fences signal with `EIO`, and new work is refused with `EBUSY`.
//!
//! # Pausing
//!
//! A reset, or putting the machine to sleep, needs rings that no thread is writing to. [`Running::pause`] sees to that:
//! submissions wait, interruptibly, until [`Running::unpause`]. What is under way goes on.

use kernel::{
    device, drm, pci,
    prelude::*,
    sync::{
        aref::ARef,
        atomic::{
            Atomic,
            Relaxed, //
        },
        Arc,
        Mutex, //
    },
    time::{
        delay::fsleep,
        Delta,
        Instant,
        Monotonic,
        Msecs, //
    },
};

use crate::{
    coredump::Snapshot,
    corner::{
        fence::Signalling,
        resv,
        wedge::Notice,
        workqueue::Worker, //
    },
    driver::{
        DeviceData, //
        Driver,
    },
    family::{
        gpu::Gpu,
        ring::Ring,
        Family, //
    },
    lock::shared_mutex,
    memory::{
        managers::Memory,
        object::Bo, //
    },
    submit::{
        lane::Lane,
        workspace::{
            Borrowed,
            Stash, //
        }, //
    },
    timeline::{
        JOBS,
        RINGS, //
    },
    watchdog::Watchdog, //
};

/// How often the worker looks while jobs are under way, in milliseconds.
pub(crate) const TICK_MS: u32 = 100;

/// A ring of family `F`.
pub type RingOf<'a, F> = <<F as Family>::Gpu<'a> as Gpu<'a>>::Ring;

/// What proves streams for family `F`.
pub type IsolationOf<'a, F> = <<F as Family>::Gpu<'a> as Gpu<'a>>::Isolation;

/// A running GPU.
#[pin_data(PinnedDrop)]
pub struct Running<'a, F: Family> {
    pub(crate) pdev: &'a pci::Device<device::Bound>,
    pub(crate) dev: ARef<drm::Device<Driver<F>>>,
    pub(crate) lanes: KVec<Pin<KBox<Lane<F>>>>,
    #[pin]
    pub(crate) gpu: F::Gpu<'a>,
    pub(crate) worker: Arc<Worker>,
    /// Memory for submissions.
    #[pin]
    stash: Stash<F, IsolationOf<'a, F>>,
    #[pin]
    pub(crate) watchdog: Watchdog,
    /// What user space has to be told.
    #[pin]
    pub(crate) notice: Mutex<Option<Notice>>,
    /// What a hang looked like. The notifier allocates under this lock, so recovery only tries to take it.
    #[pin]
    pub(crate) snapshot: Mutex<Snapshot>,
    /// The worker that tells it, and publishes the snapshot.
    pub(crate) notifier: Arc<Worker>,
    /// The GPU is wedged, or going. The thread that holds this lock starts, stops or arms it.
    #[pin]
    pub(crate) stopped: Mutex<bool>,
    /// Jobs that have been committed on any ring.
    order: Atomic<u64>,
    /// It has no work, and its registers may not be touched: see `sleep`. Written under the lock of `stopped`.
    pub(crate) asleep: Atomic<bool>,
}

impl<'a, F: Family> Running<'a, F> {
    /// Brings the chip up and makes a lane for each ring.
    pub(crate) fn new<'n>(
        pdev: &'a pci::Device<device::Bound>,
        dev: ARef<drm::Device<Driver<F>>>,
        board: F::Board<'a>,
        memory: &'n Memory,
        worker: Arc<Worker>,
        notifier: Arc<Worker>,
    ) -> impl PinInit<Self, Error> + use<'a, 'n, F>
    where
        'a: 'n,
    {
        try_pin_init!(Self {
            pdev,
            dev,
            gpu <- F::bring_up(board, memory),
            lanes: Self::lanes(pdev, &gpu, memory, &worker)
                // The ring runs already.
                .inspect_err(|_| gpu.quiesce())?,
            watchdog <- Watchdog::new(lanes.len()).inspect_err(|_| gpu.quiesce())?,
            worker,
            stash <- Stash::new(),
            notice <- shared_mutex!(None, "running.notice"),
            snapshot <- shared_mutex!(Snapshot::new().inspect_err(|_| gpu.quiesce())?, "running.snapshot"),
            notifier,
            stopped <- shared_mutex!(false, "running.stopped"),
            order: Atomic::new(0),
            asleep: Atomic::new(false),
        }? Error)
    }

    fn lanes(
        pdev: &'a pci::Device<device::Bound>,
        gpu: &F::Gpu<'a>,
        memory: &Memory,
        worker: &Arc<Worker>,
    ) -> Result<KVec<Pin<KBox<Lane<F>>>>> {
        let mut lanes = KVec::new();
        if gpu.rings().len() > RINGS {
            return Err(EINVAL);
        }
        for _ in gpu.rings() {
            let lane = Lane::new(pdev.as_ref(), memory, gpu.space(), worker)?;
            lanes.push(lane, GFP_KERNEL)?;
        }
        Ok(lanes)
    }

    /// The chip.
    pub fn gpu(&self) -> &F::Gpu<'a> {
        &self.gpu
    }

    /// Memory for one submission.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub fn workspace(&self) -> Result<Borrowed<'_, F, IsolationOf<'a, F>>> {
        self.stash.take()
    }

    /// The PCI device.
    pub fn pdev(&self) -> &'a pci::Device<device::Bound> {
        self.pdev
    }

    /// What outlives unbind.
    pub fn data(&self) -> &DeviceData<F> {
        &self.dev
    }

    /// Ring `index` and its lane.
    pub fn ring(&self, index: usize) -> Option<(&RingOf<'a, F>, &Lane<F>)> {
        Some((self.gpu.rings().get(index)?, self.lanes.get(index)?))
    }

    pub(crate) fn rings(&self) -> impl Iterator<Item = (&RingOf<'a, F>, &Lane<F>)> {
        self.gpu
            .rings()
            .iter()
            .zip(self.lanes.iter().map(|lane| &**lane))
    }

    /// Whether the GPU takes work.
    pub fn is_working(&self) -> bool {
        !*self.stopped.lock()
    }

    /// A number for a job that is about to be committed: above those of all that have been.
    pub(crate) fn next_order(&self) -> u64 {
        self.order.fetch_add(1, Relaxed)
    }

    /// A job has been committed to `lane`: the worker will look at it.
    pub(crate) fn committed(&self, lane: &Lane<F>) {
        if lane.timeline().unreaped() > JOBS / 4 {
            self.worker.hasten();
        } else {
            self.worker.queue(TICK_MS);
        }
    }

    /// Signals the fences that have completed. Reads memory only.
    pub fn look(&self) {
        for (ring, lane) in self.rings() {
            if lane.timeline().process(ring.completed()).0 != 0 {
                // What the jobs held is given back soon.
                self.worker.hasten();
            }
        }
    }

    /// As [`Running::look`], and asks the chip itself as well; says whether it answers.
    pub(crate) fn look_and_ask(&self) -> bool {
        self.look();
        let mut answers = false;
        for (ring, lane) in self.rings() {
            if let Some(completed) = ring.completed_slow() {
                lane.timeline().process(completed);
                answers = true;
            }
        }
        answers
    }

    /// How many jobs have given back what they held, on all rings.
    pub(crate) fn dropped(&self) -> u64 {
        let lanes = self.lanes.iter();
        lanes.fold(0, |sum, lane| sum.wrapping_add(lane.timeline().dropped()))
    }

    /// Waits until some job has given back what it held, since [`Running::dropped`] was `since`.
    ///
    /// # Errors
    ///
    /// `ENOMEM` if there is none; `ERESTARTSYS` if a signal arrives; `EBUSY` after `timeout` milliseconds.
    pub(crate) fn wait_for_drop(&self, since: u64, timeout: Msecs) -> Result {
        self.look();
        for lane in self.lanes.iter() {
            if lane.timeline().wait_for_drop(timeout)? {
                return Ok(());
            }
        }
        // Nothing is under way now; the last may have been dropped a moment ago.
        if self.dropped() != since {
            return Ok(());
        }
        Err(ENOMEM)
    }

    /// Whether a thread waits for a job under way, on any ring. Any context.
    pub(crate) fn is_wanted(&self) -> bool {
        self.lanes.iter().any(|lane| lane.timeline().is_wanted())
    }

    /// Announces that the caller is about to wait for the jobs that use `object`: the interrupt is let through for the
    /// last of them. Process context.
    ///
    /// A wait that is not announced is noticed by the fence, and the worker does this.
    pub fn announce(&self, object: &Bo<F>) {
        let mut new = false;
        for lane in self.lanes.iter() {
            let timeline = lane.timeline();
            let last = resv::last(object, timeline.context());
            new |= last.is_some_and(|seqno| timeline.want(seqno));
        }
        if !new {
            return;
        }
        match self.stopped.try_lock() {
            Some(stopped) => self.arm_locked(*stopped),
            // It is being started or stopped, which may take seconds.
            None => self.worker.hasten(),
        }
    }

    /// Lets the interrupt through exactly while a thread waits.
    pub(crate) fn arm(&self) {
        self.arm_locked(*self.stopped.lock());
    }

    /// As [`Running::arm`], for the thread that has locked the flag.
    fn arm_locked(&self, stopped: bool) {
        if stopped || self.asleep.load(Relaxed) {
            return;
        }
        let wanted = self.is_wanted();
        if self.gpu.arm(wanted) && wanted {
            // What completed before it was armed raises no interrupt.
            self.look();
        }
    }

    /// Stops the GPU until a new probe: new work is refused with `refusal`, pending fences signal with `result`.
    ///
    /// When it returns no fence is pending and the GPU accesses no memory. A second call only changes the refusal.
    pub(crate) fn stop(&self, refusal: Error, result: Error) {
        let signalling = Signalling::begin();
        self.stop_locked(&mut self.stopped.lock(), refusal, result);
        drop(signalling);
        self.worker.hasten();
    }

    /// As [`Running::stop`], for a thread that has locked the flag and is in a signalling section.
    pub(crate) fn stop_locked(&self, stopped: &mut bool, refusal: Error, result: Error) {
        for lane in self.lanes.iter() {
            lane.timeline().close(refusal);
            // A submitter that was on the way to the ring is through, and no other comes after it.
            drop(lane.pool().lock());
        }
        if !*stopped {
            *stopped = true;
            // Asleep it is quiet, and may not be touched.
            if !self.asleep.load(Relaxed) {
                self.gpu.quiesce();
            }
            // New objects are made in system pages.
            self.data().memory.vram().forget();
        }
        // What had completed before is a success.
        self.look();
        for lane in self.lanes.iter() {
            lane.timeline().fail(result);
        }
    }

    /// Whether no job is under way.
    pub(crate) fn is_idle(&self) -> bool {
        self.look();
        let busy = |lane: &Pin<KBox<Lane<F>>>| lane.timeline().progress().busy();
        !self.lanes.iter().any(busy)
    }

    /// Waits until no job is under way; says whether that is so after `timeout` milliseconds. The watchdog goes on:
    /// jobs that hang are ended by it.
    ///
    /// It stays so only while submissions are paused ([`Running::pause`]).
    pub fn wait_idle(&self, timeout: Msecs) -> bool {
        let begin = Instant::<Monotonic>::now();
        loop {
            if self.is_idle() {
                return true;
            }
            if begin.elapsed().as_millis() >= i64::from(timeout) {
                return false;
            }
            fsleep(Delta::from_millis(1));
        }
    }

    /// Lets no new job begin, the kernel's own included: submitters wait until [`Running::unpause`], for at most 30 s.
    /// When it returns no submitter is on the way to a ring. May be called several times.
    ///
    /// Sleeps for as long as a submitter needs from having room on the ring to using it. Allocates nothing.
    pub fn pause(&self) {
        for lane in self.lanes.iter() {
            lane.timeline().hold();
            // A submitter that was on the way to the ring is through.
            drop(lane.pool().lock());
        }
    }

    /// Takes one [`Running::pause`] back.
    pub fn unpause(&self) {
        for lane in self.lanes.iter() {
            lane.timeline().release();
        }
    }

    /// Drops what finished jobs held. Process context, no locks held.
    pub fn reap(&self) {
        for lane in self.lanes.iter() {
            lane.timeline().reap();
        }
    }
}

#[pinned_drop]
impl<F: Family> PinnedDrop for Running<'_, F> {
    fn drop(self: Pin<&mut Self>) {
        self.stop(ENODEV, ENODEV);
        self.reap();
        for lane in self.lanes.iter() {
            lane.pool()
                .lock()
                .unmap(&self.data().memory, self.gpu.space());
        }
    }
}
