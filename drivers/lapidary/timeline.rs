// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The fences of one ring, in order.
//!
//! A ring executes jobs one after the other. The last command of a job writes the job's number to memory
//! ([`crate::family::ring::Slot::fence`]). So a timeline is three numbers that only grow:
//!
//! ```text
//! dropped ≤ signalled ≤ committed
//! ```
//!
//! Jobs up to `signalled` are done, and their fences have signalled. Jobs up to `dropped` have released what they
//! held. The records of the jobs between `dropped` and `committed` are in an array that is allocated beforehand, so
//! nothing is allocated between commit and retirement. A record also says how the job is executed. After a reset of
//! the hardware, jobs under way are executed again ([`replay`]).
//!
//! The hardware number has 32 bits, and a fence has 64. The number read is extended by means of the committed number.
//! An impossible number is ignored (a dead device answers all ones).

use core::mem::swap;

use kernel::{
    prelude::*,
    sync::{
        atomic::{
            Acquire,
            Atomic,
            Relaxed,
            Release, //
        },
        Arc,
        CondVar,
        SpinLockIrq, //
    },
    time::{
        Instant,
        Monotonic, //
    },
};

use crate::{
    corner::{
        fence::{
            self,
            DriverFence,
            Unborn, //
        },
        workqueue::Worker, //
    },
    lock::{
        shared_condvar,
        shared_spinlock_irq, //
    },
    portable::busy::Busy,
};

mod replay;
mod waits;

pub use crate::portable::replay::RINGS;

pub use self::{
    replay::replay,
    waits::Turn, //
};

/// The most jobs of one ring that may be under way.
pub const JOBS: u64 = 256;
/// The jobs of a timeline.
pub trait Kind: Send + Sync + 'static {
    /// Driver name, for debugging interfaces.
    const DRIVER: &'static CStr;
    /// The resources that a job holds until it is done.
    type Load: Default + Send;
    /// How a job is put on the ring.
    type Command: Copy + Send;

    /// Make a load that holds nothing. A job can put resources into it without an allocation, as long as its memory
    /// suffices.
    fn load() -> Result<Self::Load>;

    /// Account `nanoseconds` of the ring to a job with this load, which is done. Any context. Called with a spinlock
    /// held.
    fn ran(load: &Self::Load, nanoseconds: u64);

    /// Release what `load` holds. The load may keep its memory. Called by the worker, in process context.
    fn spend(load: &mut Self::Load);
}

/// A job's record.
struct Record<K: Kind> {
    fence: DriverFence<Timeline<K>>,
    /// Where the job's indirect buffer ends, see [`Turn::room`].
    mark: u64,
    command: K::Command,
    /// Grows with each commit to any ring of the GPU.
    order: u64,
    /// How often the ring has hung in this job.
    hangs: u32,
    /// An error if the job must not be executed any more. Its fence signals the error when its turn comes.
    verdict: Result,
}

impl<K: Kind> Record<K> {
    /// Signal the fence of a job that is done or has an error.
    fn signal(self) {
        self.fence.signal(self.verdict);
    }
}

struct State<K: Kind> {
    /// The records of jobs that have not been signalled, by number.
    records: KVVec<Option<Record<K>>>,
    /// The loads of jobs that have not been dropped, by number. The others hold nothing.
    loads: KVVec<K::Load>,
    dropped: u64,
    signalled: u64,
    committed: u64,
    /// Mark of the last job that has been signalled.
    mark: u64,
    busy: Busy,
    /// The error for new jobs, if none are accepted any more.
    closed: Option<Error>,
    /// Number of holds. While it is not 0, no new jobs are accepted.
    holds: u32,
    /// A submitter is the first of those that wait for room.
    queue: bool,
    /// How many threads wait for the timeline: for room, for a drop, or for the end of a hold.
    waiting: u32,
    /// A thread is dropping what jobs held.
    reaping: bool,
}

/// The progress of a timeline.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// Number of the last job that is done.
    pub signalled: u64,
    /// Number of the last job.
    pub committed: u64,
}

impl Progress {
    /// Return whether jobs are under way.
    pub fn busy(&self) -> bool {
        self.signalled != self.committed
    }
}

/// The fences of one ring.
///
/// Locking: the state's lock is taken in interrupt handlers, so interrupts are off while it is held. Only the
/// condition variable and the work queue of the worker are locked under it. No lock is held when a fence signals.
#[pin_data]
pub struct Timeline<K: Kind> {
    context: u64,
    /// Times are counted from here.
    epoch: Instant<Monotonic>,
    worker: Arc<Worker>,
    /// The highest number that a thread waits for.
    wanted: Atomic<u64>,
    #[pin]
    state: SpinLockIrq<State<K>>,
    /// Notified when a job has been signalled and dropped, a hold has ended, another submitter may be the first of
    /// those that wait for room, or the timeline has been closed.
    #[pin]
    moved: CondVar,
}

impl<K: Kind> fence::Timeline for Timeline<K> {
    const DRIVER: &'static CStr = K::DRIVER;
    const NAME: &'static CStr = c"ring";

    fn wanted(&self, seqno: u64) {
        if self.want(seqno) {
            self.worker.hasten();
        }
    }
}

fn slot(seqno: u64) -> usize {
    (seqno % JOBS) as usize
}

impl<K: Kind> Timeline<K> {
    /// Make an empty timeline. `worker` is hastened when a thread begins to wait for a fence and the wait was not
    /// announced.
    pub fn new(worker: Arc<Worker>) -> Result<Arc<Self>> {
        Self::with_context(worker, fence::new_context())
    }

    /// As [`Timeline::new`], with fences of `context`, which is new.
    pub fn with_context(worker: Arc<Worker>, context: u64) -> Result<Arc<Self>> {
        let mut records = KVVec::with_capacity(JOBS as usize, GFP_KERNEL)?;
        let mut loads = KVVec::with_capacity(JOBS as usize, GFP_KERNEL)?;
        for _ in 0..JOBS {
            records.push(None, GFP_KERNEL)?;
            loads.push(K::load()?, GFP_KERNEL)?;
        }
        Arc::pin_init(
            pin_init!(Self {
                context,
                epoch: Instant::now(),
                worker,
                wanted: Atomic::new(0),
                state <- shared_spinlock_irq!(
                    State {
                        records,
                        loads,
                        dropped: 0,
                        signalled: 0,
                        committed: 0,
                        mark: 0,
                        busy: Busy::default(),
                        closed: None,
                        holds: 0,
                        queue: false,
                        waiting: 0,
                        reaping: false,
                    },
                    "timeline.state",
                ),
                moved <- shared_condvar!("timeline.moved"),
            }),
            GFP_KERNEL,
        )
    }

    /// Return the fence context. Fences of one context are ordered.
    pub fn context(&self) -> u64 {
        self.context
    }

    /// Allocate the fence of a job.
    pub fn unborn(self: &Arc<Self>) -> Result<Unborn<Self>> {
        Unborn::new(self.clone())
    }

    /// Return the progress.
    pub fn progress(&self) -> Progress {
        let state = self.state.lock();
        Progress {
            signalled: state.signalled,
            committed: state.committed,
        }
    }

    /// Return how many jobs wait to be reaped.
    pub fn unreaped(&self) -> u64 {
        let state = self.state.lock();
        state.signalled - state.dropped
    }

    /// Announce a wait for job `seqno`. Return whether this is the first wait for this job or a later one. Then the
    /// caller arms the interrupt. Any context.
    pub fn want(&self, seqno: u64) -> bool {
        let mut old = self.wanted.load(Relaxed);
        while old < seqno {
            match self.wanted.cmpxchg(old, seqno, Release) {
                Ok(_) => return true,
                Err(now) => old = now,
            }
        }
        false
    }

    /// Return whether the worker should run soon, because threads wait for its work or much is to be released. Any
    /// context.
    pub fn is_urgent(&self) -> bool {
        let state = self.state.lock();
        state.waiting != 0 || state.signalled - state.dropped > JOBS / 4
    }

    /// Return whether a thread waits for a job that is under way. Any context.
    pub fn is_wanted(&self) -> bool {
        self.wanted.load(Acquire) > self.state.lock().signalled
    }

    /// Return how many jobs have been dropped.
    pub fn dropped(&self) -> u64 {
        self.state.lock().dropped
    }

    /// Make the fence of job `seqno`, the number that [`Turn::room`] has returned.
    pub fn start(&self, unborn: Unborn<Self>, seqno: u64) -> DriverFence<Self> {
        unborn.start(self.context, seqno)
    }

    /// Record the next job. `load` puts what the job holds into a load that holds nothing. It is called with a
    /// spinlock held.
    ///
    /// There is room, by [`Turn::room`]. `mark` is not below that of the previous job. `order` is above that of all
    /// jobs of this GPU on which the job may depend. `command` must suffice to execute the job again, as long as its
    /// fence has not signalled.
    pub fn commit(
        &self,
        fence: DriverFence<Self>,
        mark: u64,
        command: K::Command,
        order: u64,
        load: impl FnOnce(&mut K::Load),
    ) {
        let mut guard = self.state.lock();
        let state = &mut *guard;
        if state.committed == state.signalled {
            state.busy.begin(self.now());
        }
        state.committed += 1;
        let index = slot(state.committed);
        // Both slots are empty, because their last job has been dropped.
        if let Some(slot) = state.loads.get_mut(index) {
            load(slot);
        }
        if let Some(slot) = state.records.get_mut(index) {
            *slot = Some(Record {
                fence,
                mark,
                command,
                order,
                hangs: 0,
                verdict: Ok(()),
            });
        }
    }

    /// Signal what is done. `completed` is the number that the hardware has written last.
    ///
    /// Any context, hard interrupt included. No lock is held. Return how many fences have been signalled, and how
    /// many of them a thread waited for.
    pub fn process(&self, completed: u32) -> (u64, u64) {
        let wanted = self.wanted.load(Acquire);
        let mut signalled = 0;
        let mut waited = 0;
        // All of them are found done at the same time.
        let mut now = None;
        loop {
            let mut state = self.state.lock();
            let ahead = u64::from(completed.wrapping_sub(state.signalled as u32));
            if ahead == 0 || ahead > state.committed - state.signalled {
                break;
            }
            let now = *now.get_or_insert_with(|| self.now());
            let record = Self::next(&mut state, now, ahead);
            waited += u64::from(state.signalled <= wanted);
            signalled += 1;
            drop(state);
            if let Some(record) = record {
                record.signal();
            }
        }
        (signalled, waited)
    }

    /// Return how many fences with waiters `completed` covers, without signalling any.
    pub fn overdue(&self, completed: u32) -> u64 {
        let wanted = self.wanted.load(Acquire);
        let state = self.state.lock();
        let ahead = u64::from(completed.wrapping_sub(state.signalled as u32));
        if ahead > state.committed - state.signalled {
            return 0;
        }
        ahead.min(wanted.saturating_sub(state.signalled))
    }

    /// Return the result of `look` for the oldest job under way. `look` receives how the job is executed, and what it
    /// holds. `None` if there is no such job. `look` is called with a spinlock held.
    pub fn first<R>(&self, look: impl FnOnce(K::Command, &K::Load) -> R) -> Option<R> {
        let state = self.state.lock();
        let index = slot(state.signalled + 1);
        let record = state.records.get(index)?.as_ref()?;
        Some(look(record.command, state.loads.get(index)?))
    }

    /// Return nanoseconds since the timeline was made.
    fn now(&self) -> u64 {
        self.epoch.elapsed().as_nanos().unsigned_abs()
    }

    /// Take the record of the next job, the first of `done`, which counts as signalled from `now` on.
    fn next(state: &mut State<K>, now: u64, done: u64) -> Option<Record<K>> {
        state.signalled += 1;
        let index = slot(state.signalled);
        let time = state.busy.end(now, done);
        if let Some(load) = state.loads.get(index) {
            K::ran(load, time);
        }
        let record = state.records.get_mut(index).and_then(Option::take);
        if let Some(record) = &record {
            state.mark = record.mark;
        }
        record
    }

    /// Accept no new jobs. Submitters that wait for room return `error`.
    pub fn close(&self, error: Error) {
        self.state.lock().closed = Some(error);
        self.moved.notify_all();
    }

    /// Signal all jobs under way with `error`, unless they have another error already. The hardware does not execute
    /// them any more.
    pub fn fail(&self, error: Error) {
        loop {
            let mut state = self.state.lock();
            if state.signalled == state.committed {
                break;
            }
            let record = Self::next(&mut state, self.now(), 1);
            drop(state);
            if let Some(mut record) = record {
                record.verdict = record.verdict.and(Err(error));
                record.signal();
            }
        }
    }

    /// Drop what the jobs held that are done. Process context, no locks held.
    ///
    /// If another thread is doing so at this moment, that thread does it. Each call drops at most as many jobs as can
    /// be under way at a time. Jobs that become done meanwhile are left to the worker.
    pub fn reap(&self) {
        let mut dropped = 0;
        // Stands in for the load that is being spent. To drop it costs as much as to spend one.
        let mut load = K::Load::default();
        loop {
            let mut state = self.state.lock();
            if state.reaping && dropped == 0 {
                return;
            }
            let more = state.dropped != state.signalled;
            state.reaping = more && dropped < JOBS;
            if !state.reaping {
                drop(state);
                if more {
                    self.worker.hasten();
                }
                break;
            }
            let index = slot(state.dropped + 1);
            if let Some(slot) = state.loads.get_mut(index) {
                swap(slot, &mut load);
            }
            drop(state);
            K::spend(&mut load);
            // Only from here on may the slot be used again.
            let mut state = self.state.lock();
            if let Some(slot) = state.loads.get_mut(index) {
                swap(slot, &mut load);
            }
            state.dropped += 1;
            dropped += 1;
        }
        if dropped != 0 {
            self.moved.notify_all();
        }
    }
}

#[kunit_tests(lapidary_timeline)]
mod tests {
    use super::*;
    use crate::corner::{
        fence::Fence,
        workqueue::counted::Counted, //
    };
    use kernel::{
        sync::aref::ARef,
        time::{
            delay::fsleep,
            Delta, //
        },
        workqueue, //
    };

    pub(super) struct Test;

    impl Kind for Test {
        const DRIVER: &'static CStr = c"kunit";
        type Load = Option<Arc<u32>>;
        type Command = u32;

        fn load() -> Result<Self::Load> {
            Ok(None)
        }

        fn ran(_load: &Self::Load, _nanoseconds: u64) {}

        fn spend(load: &mut Self::Load) {
            *load = None;
        }
    }

    pub(super) fn timeline() -> Result<Arc<Timeline<Test>>> {
        Timeline::new(Worker::new(c"lapidary-kunit")?)
    }

    /// Return the number of the next job, if there is room for it.
    pub(super) fn room(timeline: &Timeline<Test>, completed: u32) -> Result<u64> {
        let room = timeline.turn(0).room(|| completed, |_| true)?;
        room.ok_or(EAGAIN)
    }

    pub(super) fn commit(timeline: &Arc<Timeline<Test>>, load: &Arc<u32>) -> Result<ARef<Fence>> {
        let unborn = timeline.unborn()?;
        let seqno = room(timeline, 0)?;
        let own = timeline.start(unborn, seqno);
        let fence = own.fence().clone();
        timeline.commit(own, 0, 10 * seqno as u32, seqno, |slot| {
            assert!(slot.is_none());
            *slot = Some(load.clone());
        });
        Ok(fence)
    }

    #[test]
    fn jobs_complete_in_order() -> Result {
        let timeline = timeline()?;
        let load = Arc::new(7, GFP_KERNEL)?;
        let first = commit(&timeline, &load)?;
        let second = commit(&timeline, &load)?;
        assert!(timeline.process(0) == (0, 0));
        assert!(timeline.process(1) == (1, 0));
        assert!(first.result() == Some(Ok(())));
        assert!(second.result().is_none());
        assert!(timeline.process(2) == (1, 0));
        assert!(second.is_signalled());
        assert!(!timeline.progress().busy());
        Ok(())
    }

    #[test]
    fn impossible_numbers_are_ignored() -> Result {
        let timeline = timeline()?;
        let load = Arc::new(7, GFP_KERNEL)?;
        let fence = commit(&timeline, &load)?;
        assert!(timeline.process(u32::MAX) == (0, 0));
        assert!(timeline.process(2) == (0, 0));
        assert!(fence.result().is_none());
        timeline.process(1);
        assert!(fence.is_signalled());
        Ok(())
    }

    #[test]
    fn failing_signals_all_with_the_error() -> Result {
        let timeline = timeline()?;
        let load = Arc::new(7, GFP_KERNEL)?;
        let first = commit(&timeline, &load)?;
        let second = commit(&timeline, &load)?;
        timeline.process(1);
        timeline.close(EBUSY);
        timeline.fail(EIO);
        assert!(first.result() == Some(Ok(())));
        assert!(second.result() == Some(Err(EIO)));
        assert!(room(&timeline, 0) == Err(EBUSY));
        Ok(())
    }

    #[test]
    fn loads_live_until_reaped() -> Result {
        let timeline = timeline()?;
        let load = Arc::new(7, GFP_KERNEL)?;
        commit(&timeline, &load)?;
        // Nothing is dropped before the job is done.
        timeline.reap();
        assert_eq!(timeline.dropped(), 0);
        assert!(Arc::into_unique_or_drop(load.clone()).is_none());
        timeline.process(1);
        timeline.reap();
        assert_eq!(timeline.dropped(), 1);
        assert!(Arc::into_unique_or_drop(load).is_some());
        Ok(())
    }

    #[test]
    fn a_wait_hastens_the_worker_once() -> Result {
        let counted = Counted::new()?;
        let timeline = Timeline::new(counted.worker().clone())?;
        let load = Arc::new(7, GFP_KERNEL)?;
        let mut fences = KVec::new();
        for _ in 0..3 {
            fences.push(commit(&timeline, &load)?, GFP_KERNEL)?;
        }
        assert!(!fences[1].wait(false, 1)?);
        assert_eq!(counted.runs(1), 1);
        // The worker sees the first job anyway.
        assert!(!fences[0].wait(false, 1)?);
        fsleep(Delta::from_millis(20));
        assert_eq!(counted.runs(1), 1);
        assert!(!fences[2].wait(false, 1)?);
        assert_eq!(counted.runs(2), 2);
        timeline.fail(ENODEV);
        timeline.reap();
        Ok(())
    }

    #[test]
    fn who_announces_a_wait_is_told_to_see_to_it() -> Result {
        let counted = Counted::new()?;
        let timeline = Timeline::new(counted.worker().clone())?;
        let load = Arc::new(7, GFP_KERNEL)?;
        let fence = commit(&timeline, &load)?;
        commit(&timeline, &load)?;
        assert!(timeline.want(1));
        assert!(!timeline.want(1));
        assert!(timeline.is_wanted());
        // The wait itself does not hasten the worker.
        assert!(!fence.wait(false, 1)?);
        fsleep(Delta::from_millis(20));
        assert_eq!(counted.runs(0), 0);
        assert!(timeline.want(2));
        timeline.fail(ENODEV);
        timeline.reap();
        Ok(())
    }

    #[test]
    fn the_worker_is_urgent_while_threads_wait_and_when_much_is_left() -> Result {
        let timeline = timeline()?;
        let load = Arc::new(7, GFP_KERNEL)?;
        for _ in 0..JOBS / 4 + 1 {
            commit(&timeline, &load)?;
        }
        timeline.process(JOBS as u32 / 4);
        assert!(!timeline.is_urgent());
        timeline.process(JOBS as u32 / 4 + 1);
        assert!(timeline.is_urgent());
        timeline.reap();
        assert!(!timeline.is_urgent());

        commit(&timeline, &load)?;
        let other = timeline.clone();
        workqueue::system_long().try_spawn(GFP_KERNEL, move || {
            let mut urgent = false;
            for _ in 0..1000 {
                urgent = other.is_urgent();
                if urgent {
                    break;
                }
                fsleep(Delta::from_millis(1));
            }
            // A failure here is no failure of the test, which waits in another thread.
            if urgent {
                other.fail(ENODEV);
                other.reap();
            }
        })?;
        assert!(timeline.wait_for_drop(10_000) == Ok(true));
        assert!(!timeline.is_urgent());
        Ok(())
    }

    #[test]
    fn what_jobs_held_is_dropped_by_one_at_a_time() -> Result {
        let timeline = timeline()?;
        let load = Arc::new(7, GFP_KERNEL)?;
        commit(&timeline, &load)?;
        timeline.process(1);
        timeline.state.lock().reaping = true;
        timeline.reap();
        assert_eq!(timeline.dropped(), 0);
        timeline.state.lock().reaping = false;
        timeline.reap();
        assert_eq!(timeline.dropped(), 1);
        assert!(!timeline.state.lock().reaping);
        Ok(())
    }

    #[test]
    fn waiting_is_counted() -> Result {
        let timeline = timeline()?;
        let load = Arc::new(7, GFP_KERNEL)?;
        let first = commit(&timeline, &load)?;
        commit(&timeline, &load)?;
        assert!(!timeline.is_wanted());
        assert!(!first.wait(false, 1)?);
        assert!(timeline.is_wanted());
        assert!(timeline.overdue(0) == 0);
        assert!(timeline.overdue(2) == 1);
        assert!(timeline.process(2) == (2, 1));
        assert!(!timeline.is_wanted());
        Ok(())
    }
}
