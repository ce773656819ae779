// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The fences of one ring, in order.
//!
//! A ring executes jobs one after the other, and the last thing a job does is to write its number to memory
//! ([`crate::family::ring::Slot::fence`]). So a timeline is three numbers that only grow:
//!
//! ```text
//! dropped ≤ signalled ≤ committed
//! ```
//!
//! Jobs up to `signalled` are done and their fences have signalled; up to `dropped` what they held has been
//! given back. The records of the jobs between `dropped` and `committed` lie in an array made beforehand, so that
//! nothing from commit to retirement allocates. A record also says how the job is executed: when the hardware has been
//! reset, jobs under way are executed again ([`replay`]).
//!
//! The hardware number has 32 bits, fences have 64: the number read is extended by what has been committed, and
//! a number that cannot be (a device that answers all ones) is ignored.

use core::mem::take;

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

pub use self::{
    replay::replay,
    waits::Turn, //
};

/// The most jobs of one ring that may be under way.
pub const JOBS: u64 = 256;
/// The most rings of a GPU.
pub const RINGS: usize = 8;

/// What kind of jobs a timeline has.
pub trait Kind: Send + Sync + 'static {
    /// Driver name, for debugging interfaces.
    const DRIVER: &'static CStr;
    /// What a job holds until it is done.
    type Load: Default + Send;
    /// How a job is put on the ring.
    type Command: Copy + Send;

    /// A load that holds nothing. What it has memory for, jobs can hold without allocating any.
    fn load() -> Result<Self::Load>;

    /// The job with this load is done, and the ring has worked for it so many nanoseconds. Any context; called with a
    /// spinlock held.
    fn ran(load: &Self::Load, nanoseconds: u64);

    /// Lets go what `load` holds, and may keep its memory. Called by the worker, in process context.
    fn spend(load: &mut Self::Load);
}

/// A job's record.
struct Record<K: Kind> {
    fence: DriverFence<Timeline<K>>,
    /// Where the job's indirect buffer ends, see [`Turn::room`].
    mark: u64,
    command: K::Command,
    /// Grows with each commit on any ring of the GPU.
    order: u64,
    /// How often the ring has hung in this job.
    hangs: u32,
    /// An error if the job is not to be executed any more: its fence gets that when its turn comes.
    verdict: Result,
}

impl<K: Kind> Record<K> {
    /// Signals the fence of a job that is done, or has got an error.
    fn signal(self) {
        self.fence.signal(self.verdict);
    }
}

struct State<K: Kind> {
    /// Of jobs that have not been signalled, by number.
    records: KVVec<Option<Record<K>>>,
    /// Of jobs that have not been dropped, by number; the others hold nothing.
    loads: KVVec<K::Load>,
    dropped: u64,
    signalled: u64,
    committed: u64,
    /// Mark of the last job that has been signalled.
    mark: u64,
    busy: Busy,
    /// No new jobs, for this reason.
    closed: Option<Error>,
    /// No new jobs for now, so many times.
    holds: u32,
    /// A submitter is the first of those that wait for room.
    queue: bool,
    /// How many threads wait for the timeline to get on: for room, for a drop, or for the end of a hold.
    waiting: u32,
    /// A thread drops what jobs held.
    reaping: bool,
}

/// How far a timeline has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// Number of the last job that is done.
    pub signalled: u64,
    /// Number of the last job.
    pub committed: u64,
}

impl Progress {
    /// Whether jobs are under way.
    pub fn busy(&self) -> bool {
        self.signalled != self.committed
    }
}

/// The fences of one ring.
///
/// Locking: the state's lock is taken in interrupt handlers, so interrupts are off while it is held. Nothing but the
/// condition variable and the work queue of the worker is locked under it. No lock is held when a fence signals.
#[pin_data]
pub struct Timeline<K: Kind> {
    context: u64,
    /// Times are counted from here.
    epoch: Instant<Monotonic>,
    worker: Arc<Worker>,
    /// The last number that a thread waits for.
    wanted: Atomic<u64>,
    #[pin]
    state: SpinLockIrq<State<K>>,
    /// Something has been signalled and dropped, a hold has ended, somebody else may be the first of those who wait for
    /// room, or the timeline has been closed.
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
    /// An empty timeline. `worker` is hastened when a thread begins to wait for a fence that none has announced.
    pub fn new(worker: Arc<Worker>) -> Result<Arc<Self>> {
        let mut records = KVVec::with_capacity(JOBS as usize, GFP_KERNEL)?;
        let mut loads = KVVec::with_capacity(JOBS as usize, GFP_KERNEL)?;
        for _ in 0..JOBS {
            records.push(None, GFP_KERNEL)?;
            loads.push(K::load()?, GFP_KERNEL)?;
        }
        Arc::pin_init(
            pin_init!(Self {
                context: fence::new_context(),
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

    /// The fence context: fences of one context are ordered.
    pub fn context(&self) -> u64 {
        self.context
    }

    /// Memory for the fence of a job.
    pub fn unborn(self: &Arc<Self>) -> Result<Unborn<Self>> {
        Unborn::new(self.clone())
    }

    /// How far it has come.
    pub fn progress(&self) -> Progress {
        let state = self.state.lock();
        Progress {
            signalled: state.signalled,
            committed: state.committed,
        }
    }

    /// How many jobs wait to be reaped.
    pub fn unreaped(&self) -> u64 {
        let state = self.state.lock();
        state.signalled - state.dropped
    }

    /// Announces a wait for job `seqno`. Says whether none for this job or a later one has been announced before: then
    /// the caller sees to it that the interrupt is let through. Any context.
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

    /// Whether the worker should run soon: threads wait for something that it does, or much is to be given back. Any
    /// context.
    pub fn is_urgent(&self) -> bool {
        let state = self.state.lock();
        state.waiting != 0 || state.signalled - state.dropped > JOBS / 4
    }

    /// Whether a thread waits for a job that is under way. Any context.
    pub fn is_wanted(&self) -> bool {
        self.wanted.load(Acquire) > self.state.lock().signalled
    }

    /// How many jobs have been dropped.
    pub fn dropped(&self) -> u64 {
        self.state.lock().dropped
    }

    /// Makes the fence of job `seqno`, the number that [`Turn::room`] has given.
    pub fn start(&self, unborn: Unborn<Self>, seqno: u64) -> DriverFence<Self> {
        unborn.start(self.context, seqno)
    }

    /// Puts the next job on record. `load` puts what the job holds into a load that holds nothing; it is called with a
    /// spinlock held.
    ///
    /// There is room, by [`Turn::room`]. `mark` is not below that of the job before, and `order` above that of all
    /// jobs of this GPU that it may depend on. By `command` the job can be executed again, as long as its fence has not
    /// signalled.
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
        // Both slots are empty: their last job has been dropped.
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

    /// Signals what is done, `completed` being the number that the hardware has written last.
    ///
    /// Any context, hard interrupt included; no lock is held. Says how many fences have been signalled, and how many of
    /// them a thread waited for.
    pub fn process(&self, completed: u32) -> (u64, u64) {
        let wanted = self.wanted.load(Acquire);
        let mut signalled = 0;
        let mut waited = 0;
        // All of them are seen at once.
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

    /// How many fences with waiters `completed` covers, without signalling any.
    pub fn overdue(&self, completed: u32) -> u64 {
        let wanted = self.wanted.load(Acquire);
        let state = self.state.lock();
        let ahead = u64::from(completed.wrapping_sub(state.signalled as u32));
        if ahead > state.committed - state.signalled {
            return 0;
        }
        ahead.min(wanted.saturating_sub(state.signalled))
    }

    /// What `look` makes of the oldest job under way: how it is executed, and what it holds. `None` if there is none.
    /// Called with a spinlock held.
    pub fn first<R>(&self, look: impl FnOnce(K::Command, &K::Load) -> R) -> Option<R> {
        let state = self.state.lock();
        let index = slot(state.signalled + 1);
        let record = state.records.get(index)?.as_ref()?;
        Some(look(record.command, state.loads.get(index)?))
    }

    /// Nanoseconds since the timeline was made.
    fn now(&self) -> u64 {
        self.epoch.elapsed().as_nanos().unsigned_abs()
    }

    /// Takes the record of the next job, the first of `done`, which counts as signalled from `now` on.
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

    /// Lets no new job begin: waiters for room get `error`.
    pub fn close(&self, error: Error) {
        self.state.lock().closed = Some(error);
        self.moved.notify_all();
    }

    /// Signals all jobs under way with `error`, unless they have got another already. The hardware does not execute
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

    /// Drops what the jobs held that are done. Process context, no locks held.
    ///
    /// If another thread is doing so at this moment it is left to that one. Each call drops as much as may be under way
    /// at a time, and leaves to the worker what has been done meanwhile.
    pub fn reap(&self) {
        let mut dropped = 0;
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
            let mut load = state.loads.get_mut(index).map(take).unwrap_or_default();
            drop(state);
            K::spend(&mut load);
            // Only now may the slot be used again.
            let mut state = self.state.lock();
            if let Some(slot) = state.loads.get_mut(index) {
                *slot = load;
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

    /// The number of the next job, if there is room for it.
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
        // Not before the job is done.
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
        // It sees to that one anyway.
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
        // The wait itself asks for no more.
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
            assert!(urgent);
            other.fail(ENODEV);
            other.reap();
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
