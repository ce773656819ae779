// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A GPU that runs: its rings, who looks after them, and how they stop.
//!
//! Fences complete by themselves in memory. Somebody has to notice:
//!
//! - the **interrupt**, if somebody waits. It is let through only while that is so ([`Gpu::arm`]): a client that
//!   submits and does not wait costs no interrupt;
//! - the **worker**, which looks ten times a second while jobs are under way, gives back what finished jobs held,
//!   and lets the interrupt through when a wait begins;
//! - whoever submits next, or asks whether an object is busy.
//!
//! None of them reads a register to see how far the ring is.
//!
//! The worker is also the **watchdog**. A ring on which no job completes for `hang_ms` milliseconds hangs: the GPU
//! is stopped, all pending fences signal with `EIO`, the reset counter goes up, and new work is refused with
//! `EBUSY`. And it is the **fallback** for interrupts that get lost: it signals the fences that the interrupt should
//! have signalled, says so once, and counts them.

use kernel::{
    device, drm, irq, pci,
    prelude::*,
    sync::{
        aref::ARef,
        atomic::{
            Acquire,
            Atomic,
            Relaxed,
            Release, //
        },
        Arc,
        Mutex, //
    },
    time::{
        Delta,
        Instant,
        Monotonic,
        Msecs, //
    },
};

use crate::{
    corner::{
        fence::Signalling,
        workqueue::{
            Run,
            Worker, //
        },
    },
    driver::{
        Driver,
        Shared, //
    },
    family::{
        Event,
        Family,
        Gpu,
        Ring,
        TopHalf, //
    },
    lock::shared_mutex,
    memory::Memory,
    submit::{
        kernel_stream::KernelStream,
        lane::Lane,
        workspace::{
            Lease,
            Stash, //
        }, //
    },
    timeline::JOBS,
};

/// How often the worker looks while jobs are under way, in milliseconds.
const TICK_MS: u32 = 100;
/// How often while interrupts get lost.
const POLL_MS: u32 = 5;
/// How long the worker leaves a completed fence to the interrupt.
const GRACE_MS: u32 = 500;
/// What the self-test fills its page with.
const TEST_VALUE: u32 = 0x1a91_da47;
/// Faults that are printed, per device.
const FAULTS_PRINTED: u32 = 8;

type RingOf<'a, F> = <<F as Family>::Gpu<'a> as Gpu<'a>>::Ring;

/// What proves streams for family `F`.
pub type IsolationOf<'a, F> = <<F as Family>::Gpu<'a> as Gpu<'a>>::Isolation;

/// What the worker remembers about a ring from one look to the next.
#[derive(Clone, Copy)]
struct Watch {
    /// Since when the ring is where it is.
    since: Instant<Monotonic>,
    /// Jobs done at that time; `None` if the ring was idle.
    at: Option<u64>,
    /// A completed fence that the interrupt should signal was first seen with this number of jobs done.
    sighted: Option<(u64, Instant<Monotonic>)>,
}

/// A running GPU.
#[pin_data(PinnedDrop)]
pub struct Running<'a, F: Family> {
    pdev: &'a pci::Device<device::Bound>,
    dev: ARef<drm::Device<Driver<F>>>,
    lanes: KVec<Pin<KBox<Lane<F>>>>,
    #[pin]
    gpu: F::Gpu<'a>,
    worker: Arc<Worker>,
    /// Memory for submissions.
    #[pin]
    stash: Stash<F, IsolationOf<'a, F>>,
    #[pin]
    watches: Mutex<KVec<Watch>>,
    /// Interrupts get lost; until one arrives again.
    lost: Atomic<bool>,
    faults: Atomic<u32>,
    /// The GPU has been stopped for good.
    #[pin]
    stopped: Mutex<bool>,
}

impl<'a, F: Family> Running<'a, F> {
    /// Brings the chip up and makes a lane for each ring.
    pub(crate) fn new<'n>(
        pdev: &'a pci::Device<device::Bound>,
        dev: ARef<drm::Device<Driver<F>>>,
        board: F::Board<'a>,
        memory: &'n Memory,
        worker: Arc<Worker>,
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
            watches <- shared_mutex!({
                let mut watches = KVec::new();
                for _ in 0..lanes.len() {
                    watches
                        .push(
                            Watch {
                                since: Instant::now(),
                                at: None,
                                sighted: None,
                            },
                            GFP_KERNEL,
                        )
                        .inspect_err(|_| gpu.quiesce())?;
                }
                watches
            }, "running.watches"),
            worker,
            stash <- Stash::new(),
            lost: Atomic::new(false),
            faults: Atomic::new(0),
            stopped <- shared_mutex!(false, "running.stopped"),
        }? Error)
    }

    fn lanes(
        pdev: &'a pci::Device<device::Bound>,
        gpu: &F::Gpu<'a>,
        memory: &Memory,
        worker: &Arc<Worker>,
    ) -> Result<KVec<Pin<KBox<Lane<F>>>>> {
        let mut lanes = KVec::new();
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
    pub(crate) fn workspace(&self) -> Result<Lease<'_, F, IsolationOf<'a, F>>> {
        self.stash.take()
    }

    /// The PCI device.
    pub fn pdev(&self) -> &'a pci::Device<device::Bound> {
        self.pdev
    }

    /// What outlives unbind.
    pub fn shared(&self) -> &Shared<F> {
        &self.dev
    }

    /// Ring `index` and its lane.
    pub(crate) fn ring(&self, index: usize) -> Option<(&RingOf<'a, F>, &Lane<F>)> {
        Some((self.gpu.rings().get(index)?, self.lanes.get(index)?))
    }

    fn rings(&self) -> impl Iterator<Item = (&RingOf<'a, F>, &Lane<F>)> {
        self.gpu
            .rings()
            .iter()
            .zip(self.lanes.iter().map(|lane| &**lane))
    }

    /// Whether the GPU takes work.
    pub fn is_working(&self) -> bool {
        !*self.stopped.lock()
    }

    /// A job has been committed to `lane`: somebody will look at it.
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

    /// Runs a fence and an indirect buffer through ring 0, which fills a page of system memory and copies it to the
    /// next one, and looks at both.
    ///
    /// # Errors
    ///
    /// `EIO` after a line in the log that says what is wrong; as [`crate::submit::job::Job::prepare`].
    pub(crate) fn self_test(&self) -> Result {
        let (_, lane) = self.ring(0).ok_or(ENODEV)?;
        let addr = lane.pool().lock().test_pages();
        let page = kernel::page::PAGE_SIZE as u64;
        let mut stream = KernelStream::new(self)?;
        stream.fill(addr, page, TEST_VALUE)?;
        stream.copy(addr + page, addr, page)?;
        let fence = stream.run()?;
        // The watchdog ends this earlier.
        fence.wait(false, 2 * crate::hang_ms())?;
        match fence.result() {
            Some(Ok(())) if lane.pool().lock().test(TEST_VALUE) => {
                dev_info!(self.pdev, "IB test passed\n");
                return Ok(());
            }
            Some(Ok(())) => dev_err!(self.pdev, "IB test failed: the pages were not filled\n"),
            Some(Err(error)) => dev_err!(self.pdev, "IB test failed: {:?}\n", error),
            None => dev_err!(self.pdev, "IB test failed: the fence did not signal\n"),
        }
        Err(EIO)
    }

    /// Lets the interrupt through exactly while somebody waits.
    fn arm(&self) {
        let stopped = self.stopped.lock();
        if *stopped {
            return;
        }
        let wanted = self.lanes.iter().any(|lane| lane.timeline().is_wanted());
        if self.gpu.arm(wanted) && wanted {
            // What completed before it was armed raises no interrupt.
            self.look();
        }
    }

    /// One look of the worker at ring `index`; says after how many milliseconds to look again.
    fn tend(&self, index: usize, ring: &RingOf<'a, F>, lane: &Lane<F>) -> Option<u32> {
        let signalling = Signalling::begin();
        let timeline = lane.timeline();
        let completed = ring.completed();
        let mut watches = self.watches.lock();
        let watch = watches.get_mut(index)?;
        let mut next = TICK_MS;

        let overdue = timeline.overdue(completed);
        let done = timeline.progress().signalled;
        if overdue == 0 || !self.gpu.is_armed() {
            watch.sighted = None;
            timeline.process(completed);
        } else if self.lost.load(Relaxed) {
            self.poll(overdue);
            timeline.process(completed);
        } else {
            match watch.sighted {
                Some((at, since)) if at == done => {
                    if since.elapsed().as_millis() >= i64::from(GRACE_MS) {
                        self.lost.store(true, Relaxed);
                        watch.sighted = None;
                        self.poll(overdue);
                        timeline.process(completed);
                    }
                }
                _ => watch.sighted = Some((done, Instant::now())),
            }
            next = GRACE_MS;
        }
        if self.lost.load(Relaxed) && timeline.is_wanted() {
            next = POLL_MS;
        }

        let progress = timeline.progress();
        if !progress.busy() {
            watch.at = None;
            return None;
        }
        if watch.at != Some(progress.signalled) || overdue != 0 {
            // It gets on, whether its fences have signalled by now or are left to the interrupt.
            watch.at = Some(progress.signalled);
            watch.since = Instant::now();
        } else if watch.since.elapsed() > Delta::from_millis(i64::from(crate::hang_ms())) {
            drop(watches);
            dev_err!(
                self.pdev,
                "ring {} hung: fence {} of {} did not complete in {} ms, the GPU is stopped\n",
                index,
                progress.signalled + 1,
                progress.committed,
                crate::hang_ms()
            );
            self.shared().count_reset();
            self.stop(EBUSY, EIO);
            return None;
        }
        drop(signalling);
        Some(next)
    }

    /// `fences` that somebody waits for were found by looking.
    fn poll(&self, fences: u64) {
        if self.shared().count_polled(fences) {
            dev_warn!(self.pdev, "interrupts are lost: polling for fences\n");
        }
    }

    /// Stops the GPU for good: new work is refused with `refusal`, pending fences signal with `result`.
    ///
    /// When it returns no fence is pending and the GPU accesses no memory. A second call only changes the refusal.
    pub(crate) fn stop(&self, refusal: Error, result: Error) {
        let signalling = Signalling::begin();
        let mut stopped = self.stopped.lock();
        for lane in self.lanes.iter() {
            lane.timeline().close(refusal);
            // Whoever was on the way to the ring is through; nobody comes after him.
            drop(lane.pool().lock());
        }
        if !*stopped {
            *stopped = true;
            self.gpu.quiesce();
        }
        // What had completed before is a success.
        self.look();
        for lane in self.lanes.iter() {
            lane.timeline().fail(result);
        }
        drop(stopped);
        drop(signalling);
        self.worker.hasten();
    }

    /// Drops what finished jobs held. The worker does not run.
    pub(crate) fn reap(&self) {
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
                .unmap(&self.shared().memory, self.gpu.space());
        }
    }
}

impl<F: Family> Run for Running<'_, F> {
    fn run(&self) {
        let mut next = None;
        for (index, (ring, lane)) in self.rings().enumerate() {
            let soon = self.tend(index, ring, lane);
            next = match (next, soon) {
                (Some(a), Some(b)) => Some(u32::min(a, b)),
                (a, b) => a.or(b),
            };
        }
        self.arm();
        self.reap();
        if let Some(next) = next {
            self.worker.queue(next);
        }
    }
}

/// The interrupt handler of a running GPU.
pub struct Handler<'a, F: Family> {
    running: Arc<Running<'a, F>>,
    /// What the family has reported in the present round.
    hung: Atomic<bool>,
}

impl<'a, F: Family> Handler<'a, F> {
    pub(crate) fn new(running: Arc<Running<'a, F>>) -> Self {
        Self {
            running,
            hung: Atomic::new(false),
        }
    }
}

impl<F: Family> irq::ThreadedHandler for Handler<'_, F> {
    fn handle(&self) -> irq::ThreadedIrqReturn {
        match self.running.gpu.top_half() {
            TopHalf::NotMine => irq::ThreadedIrqReturn::None,
            TopHalf::Handled => irq::ThreadedIrqReturn::Handled,
            TopHalf::Wake => irq::ThreadedIrqReturn::WakeThread,
        }
    }

    fn handle_threaded(&self) -> irq::IrqReturn {
        let running = &*self.running;
        let signalling = Signalling::begin();
        running.gpu.drain(&mut |event| match event {
            Event::Fence(index) => {
                if let Some((ring, lane)) = running.ring(index) {
                    if lane.timeline().process(ring.completed()).1 != 0 {
                        running.lost.store(false, Relaxed);
                    }
                }
            }
            Event::Fault { vmid, addr } => {
                if running.faults.fetch_add(1, Relaxed) < FAULTS_PRINTED {
                    dev_err!(running.pdev, "GPU fault at {:#x}, space {}\n", addr, vmid);
                }
            }
            Event::Hang(_) => self.hung.store(true, Release),
        });
        running.arm();
        drop(signalling);
        if self.hung.load(Acquire) {
            dev_err!(running.pdev, "the GPU reports a hang and is stopped\n");
            self.hung.store(false, Release);
            running.shared().count_reset();
            running.stop(EBUSY, EIO);
        }
        running.worker.hasten();
        irq::IrqReturn::Handled
    }
}
