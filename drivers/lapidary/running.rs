// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A running GPU: its rings, the threads that watch them, and how they stop.
//!
//! Fences complete by themselves in memory. The completion is noticed by one of these:
//!
//! - the **interrupt**, if a thread waits. It is armed only while a thread waits ([`Gpu::arm`]), so a client that
//!   submits and does not wait costs no interrupt. The client that waits for an object arms it itself
//!   ([`Running::announce`]), and releases what finished jobs held when it wakes up;
//! - the **worker**, which looks ten times a second while jobs are under way. It releases what finished jobs held,
//!   and arms the interrupt when a wait begins in another way;
//! - the next thread that submits, or asks whether an object is busy.
//!
//! None of them reads a register to learn the progress of the ring.
//!
//! The worker is also the watchdog ([`crate::worker`]). It finds lost interrupts and reports, and rings that hang,
//! and then starts a reset of the GPU ([`recovery`](crate::recovery)). Only when that fails is the GPU wedged. Then
//! all pending fences signal with `EIO`, and new work is refused with `EBUSY`.
//!
//! # Pausing
//!
//! For a reset, or for system sleep, no thread may write to the rings. [`Running::pause`] makes submissions wait,
//! interruptibly, until [`Running::unpause`]. Jobs under way continue.

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
        fence::{
            Contexts,
            Signalling, //
        },
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
    portable::placement::Domain,
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

/// The checker of streams of family `F`.
pub type IsolationOf<'a, F> = <<F as Family>::Gpu<'a> as Gpu<'a>>::Isolation;

/// A running GPU.
#[pin_data(PinnedDrop)]
pub struct Running<'a, F: Family> {
    pub(crate) pdev: &'a pci::Device<device::Bound>,
    pub(crate) dev: ARef<drm::Device<Driver<F>>>,
    pub(crate) lanes: KVec<Pin<KBox<Lane<F>>>>,
    /// The contexts of the lanes' fences.
    contexts: Contexts,
    /// Locked by a submitter while it holds places on several rings.
    #[pin]
    pub(crate) crossing: Mutex<()>,
    #[pin]
    pub(crate) gpu: F::Gpu<'a>,
    pub(crate) worker: Arc<Worker>,
    /// Memory for submissions.
    #[pin]
    stash: Stash<F, IsolationOf<'a, F>>,
    #[pin]
    pub(crate) watchdog: Watchdog,
    /// The notice for user space.
    #[pin]
    pub(crate) notice: Mutex<Option<Notice>>,
    /// The state of the GPU at a hang. The notifier allocates under this lock, so recovery only uses trylock.
    #[pin]
    pub(crate) snapshot: Mutex<Snapshot>,
    /// The worker that sends the notice and publishes the snapshot.
    pub(crate) notifier: Arc<Worker>,
    /// The GPU is wedged or being unbound. The thread that holds this lock may start, stop or arm the GPU.
    #[pin]
    pub(crate) stopped: Mutex<bool>,
    /// Jobs that have been committed on any ring.
    order: Atomic<u64>,
    /// The GPU has no work, and its registers must not be accessed (see `sleep`). Written under the lock of
    /// `stopped`.
    pub(crate) asleep: Atomic<bool>,
}

impl<'a, F: Family> Running<'a, F> {
    /// Start the chip and make a lane for each ring.
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
            contexts: Contexts::new(gpu.rings().len() as u32),
            crossing <- shared_mutex!((), "running.crossing"),
            lanes: Self::lanes(pdev, &gpu, memory, &worker, *contexts)
                // The ring runs already, so it is stopped.
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
        contexts: Contexts,
    ) -> Result<KVec<Pin<KBox<Lane<F>>>>> {
        let mut lanes = KVec::new();
        if gpu.rings().len() > RINGS {
            return Err(EINVAL);
        }
        for (ring, _) in gpu.rings().iter().enumerate() {
            let context = contexts.of(ring);
            let lane = Lane::new(pdev.as_ref(), memory, gpu.space(), worker, context)?;
            lanes.push(lane, GFP_KERNEL)?;
        }
        Ok(lanes)
    }

    /// Return the chip.
    pub fn gpu(&self) -> &F::Gpu<'a> {
        &self.gpu
    }

    /// Flush the CPU's way to VRAM, if that keeps data and the CPU may have touched one of `objects` there.
    pub(crate) fn flush_host_path<'o>(&self, mut objects: impl Iterator<Item = &'o Bo<F>>)
    where
        F: 'o,
    {
        let lies_there = |object: &Bo<F>| object.is_shown() && object.domain() == Domain::Vram;
        if <F::Gpu<'a> as Gpu<'a>>::HOST_PATH && objects.any(lies_there) {
            self.gpu.flush_host_path();
        }
    }

    /// Take memory for one submission.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub fn workspace(&self) -> Result<Borrowed<'_, F, IsolationOf<'a, F>>> {
        self.stash.take()
    }

    /// Return the PCI device.
    pub fn pdev(&self) -> &'a pci::Device<device::Bound> {
        self.pdev
    }

    /// Return the state that outlives unbind.
    pub fn data(&self) -> &DeviceData<F> {
        &self.dev
    }

    /// Return the contexts of this GPU's fences, one for each ring.
    pub fn contexts(&self) -> Contexts {
        self.contexts
    }

    /// Return the number of the last job that is done on each ring.
    pub(crate) fn done(&self) -> [u64; RINGS] {
        let mut done = [0; RINGS];
        for (done, lane) in done.iter_mut().zip(self.lanes.iter()) {
            *done = lane.timeline().progress().signalled;
        }
        done
    }

    /// Return ring `index` and its lane.
    pub fn ring(&self, index: usize) -> Option<(&RingOf<'a, F>, &Lane<F>)> {
        Some((self.gpu.rings().get(index)?, self.lanes.get(index)?))
    }

    pub(crate) fn rings(&self) -> impl Iterator<Item = (&RingOf<'a, F>, &Lane<F>)> {
        self.gpu
            .rings()
            .iter()
            .zip(self.lanes.iter().map(|lane| &**lane))
    }

    /// Return whether the GPU accepts work.
    pub fn is_working(&self) -> bool {
        !*self.stopped.lock()
    }

    /// Return a number for a job that is about to be committed. It is above the numbers of all committed jobs.
    pub(crate) fn next_order(&self) -> u64 {
        self.order.fetch_add(1, Relaxed)
    }

    /// Tell the worker that a job has been committed to `lane`.
    pub(crate) fn committed(&self, lane: &Lane<F>) {
        if lane.timeline().unreaped() > JOBS / 4 {
            self.worker.hasten();
        } else {
            self.worker.queue(TICK_MS);
        }
    }

    /// Signal the fences that have completed. Reads memory only.
    pub fn look(&self) {
        for (ring, lane) in self.rings() {
            if lane.timeline().process(ring.completed()).0 != 0 {
                // The worker soon releases what the jobs held.
                self.worker.hasten();
            }
        }
    }

    /// As [`Running::look`], and read the chip's registers as well. Return whether the chip answers.
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

    /// Return how many jobs have released what they held, on all rings.
    pub(crate) fn dropped(&self) -> u64 {
        let lanes = self.lanes.iter();
        lanes.fold(0, |sum, lane| sum.wrapping_add(lane.timeline().dropped()))
    }

    /// Wait until some job has released what it held, since [`Running::dropped`] was `since`.
    ///
    /// # Errors
    ///
    /// `ENOMEM` if there is no such job; `ERESTARTSYS` if a signal arrives; `EBUSY` after `timeout` milliseconds.
    pub(crate) fn wait_for_drop(&self, since: u64, timeout: Msecs) -> Result {
        self.look();
        for lane in self.lanes.iter() {
            if lane.timeline().wait_for_drop(timeout)? {
                return Ok(());
            }
        }
        // Nothing is under way now. The last job may have been dropped just before.
        if self.dropped() != since {
            return Ok(());
        }
        Err(ENOMEM)
    }

    /// Return whether a thread waits for a job under way, on any ring. Any context.
    pub(crate) fn is_wanted(&self) -> bool {
        self.wanted() != 0
    }

    /// Return the rings on which a thread waits for a job under way, a bit for each. Any context.
    fn wanted(&self) -> u32 {
        const { assert!(RINGS <= 32) };
        let lanes = self.lanes.iter().zip(0..);
        lanes.fold(0, |rings, (lane, index)| {
            rings | u32::from(lane.timeline().is_wanted()) << index
        })
    }

    /// Announce that the caller is about to wait for the jobs that use `object`. The interrupt is armed for the last
    /// of them. Process context.
    ///
    /// If a wait is not announced, the fence notices it and the worker arms the interrupt.
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
            // Another thread is starting or stopping the GPU, which may take seconds.
            None => self.worker.hasten(),
        }
    }

    /// Arm the interrupts of the rings on which a thread waits, and disarm the others.
    pub(crate) fn arm(&self) {
        self.arm_locked(*self.stopped.lock());
    }

    /// As [`Running::arm`], for the thread that has locked the flag.
    fn arm_locked(&self, stopped: bool) {
        if stopped || self.asleep.load(Relaxed) {
            return;
        }
        if self.gpu.arm(self.wanted()) {
            // A fence that completed before the interrupt was armed raises none.
            self.look();
        }
    }

    /// Stop the GPU until a new probe. New work is refused with `refusal`, and pending fences signal with `result`.
    ///
    /// On return no fence is pending and the GPU accesses no memory. A second call only changes the refusal.
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
            // Wait for a submitter that is on the way to the ring. No other one follows it.
            drop(lane.pool().lock());
        }
        if !*stopped {
            *stopped = true;
            // A sleeping GPU is quiet, and its registers must not be accessed.
            if !self.asleep.load(Relaxed) {
                self.gpu.quiesce();
            }
            // New objects are made in system pages.
            self.data().memory.vram().forget();
        }
        // A job that had completed before is a success.
        self.look();
        for lane in self.lanes.iter() {
            lane.timeline().fail(result);
        }
    }

    /// Return whether no job is under way.
    pub(crate) fn is_idle(&self) -> bool {
        self.look();
        let busy = |lane: &Pin<KBox<Lane<F>>>| lane.timeline().progress().busy();
        !self.lanes.iter().any(busy)
    }

    /// Wait until no job is under way. Return whether that is so after `timeout` milliseconds. The watchdog continues
    /// and ends jobs that hang.
    ///
    /// The GPU stays idle only while submissions are paused ([`Running::pause`]).
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

    /// Let no new job begin, also none of the kernel. Submitters wait until [`Running::unpause`], for at most 30 s.
    /// On return no submitter is on the way to a ring. May be called several times.
    ///
    /// Sleeps for as long as a submitter needs from finding room on the ring to using it. Allocates nothing.
    pub fn pause(&self) {
        for lane in self.lanes.iter() {
            lane.timeline().hold();
            // Wait for a submitter that is on the way to the ring.
            drop(lane.pool().lock());
        }
    }

    /// Take one [`Running::pause`] back.
    pub fn unpause(&self) {
        for lane in self.lanes.iter() {
            lane.timeline().release();
        }
    }

    /// Drop what finished jobs held. Process context, no locks held.
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
