// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Waits for a timeline: for room before a job, for the end of a hold, and for the drop of what a job held.
//!
//! All waiters sleep on one condition variable. The state's lock is released, and no lock is held that others need on
//! their way to the ring. All waits have a time limit. Waits for fences are implemented by the kernel.

use kernel::{
    prelude::*,
    sync::{
        lock::{
            spinlock::SpinLockIrqBackend,
            Guard, //
        },
        CondVarTimeoutResult, //
    },
    time::{
        msecs_to_jiffies,
        Jiffies,
        Msecs, //
    },
};

use super::{
    Kind,
    State,
    Timeline,
    JOBS, //
};
use crate::corner::fence;

impl<K: Kind> State<K> {
    /// Return whether one more job can be committed.
    fn has_room(&self, fits: impl FnOnce(u64) -> bool) -> bool {
        self.committed - self.dropped < JOBS && fits(self.mark)
    }
}

/// A submitter on the way to a timeline, from before it looks for room until it is the next to commit.
///
/// One of the submitters that wait for room is the first. No other submitter overtakes it. Otherwise a job that needs
/// much room would find none while others need little.
pub struct Turn<'t, K: Kind> {
    timeline: &'t Timeline<K>,
    /// How long it still waits at most.
    left: Jiffies,
    first: bool,
}

impl<K: Kind> Turn<'_, K> {
    /// Return the number of the next job, if it can be committed now and `fits` accepts the mark of the last job that
    /// is done. `completed` returns the number that the hardware has written last. Does not sleep.
    ///
    /// The submitter excludes others from before this call until after [`Timeline::commit`]. Then there is room for
    /// one job, and it has this number. `None` if there is no room now, or not for this submitter. The caller then
    /// stops to exclude others, calls [`Turn::wait`], and starts again.
    ///
    /// # Errors
    ///
    /// The error with which the timeline was closed.
    pub fn room(
        &self,
        completed: impl FnOnce() -> u32,
        fits: impl Fn(u64) -> bool,
    ) -> Result<Option<u64>> {
        let timeline = self.timeline;
        let mut state = timeline.state.lock();
        // The worker signals what is done. The submitter does it only if the worker is late. It does not do it on
        // hold, because the hardware may be in a reset.
        let scarce = state.committed - state.dropped > JOBS / 4 || !fits(state.mark);
        if scarce && state.holds == 0 {
            drop(state);
            timeline.process(completed());
            state = timeline.state.lock();
        }
        if let Some(error) = state.closed {
            return Err(error);
        }
        let next = self.first || !state.queue;
        let free = next && state.holds == 0 && state.has_room(fits);
        Ok(free.then_some(state.committed + 1))
    }

    /// Wait until [`Turn::room`] may find room: until the timeline is not on hold, no other submitter is the first,
    /// and there was room at one moment. The caller excludes no other submitter.
    ///
    /// # Errors
    ///
    /// As [`Turn::room`]; `ERESTARTSYS` if a signal arrives; `EBUSY` when no time is left.
    pub fn wait(&mut self, fits: impl Fn(u64) -> bool) -> Result {
        let timeline = self.timeline;
        let mut state = timeline.state.lock();
        loop {
            if let Some(error) = state.closed {
                return Err(error);
            }
            if !state.queue {
                state.queue = true;
                self.first = true;
            }
            if self.first && state.holds == 0 {
                if state.has_room(&fits) {
                    return Ok(());
                }
                let pending = state.committed - state.signalled;
                if pending == JOBS || !fits(state.mark) {
                    // The hardware has to make progress. An interrupt is useful when half of the jobs are done.
                    let half = state.signalled + pending.div_ceil(2);
                    fence::Timeline::wanted(timeline, half);
                } else {
                    timeline.worker.hasten();
                }
            }
            timeline.wait(&mut state, &mut self.left)?;
        }
    }
}

impl<K: Kind> Drop for Turn<'_, K> {
    fn drop(&mut self) {
        if self.first {
            self.timeline.state.lock().queue = false;
            self.timeline.moved.notify_all();
        }
    }
}

impl<K: Kind> Timeline<K> {
    /// Return the way to this timeline, for a submitter that waits for at most `timeout` milliseconds.
    pub fn turn(&self, timeout: Msecs) -> Turn<'_, K> {
        Turn {
            timeline: self,
            left: msecs_to_jiffies(timeout),
            first: false,
        }
    }

    /// Wait until something has changed.
    fn wait(
        &self,
        state: &mut Guard<'_, State<K>, SpinLockIrqBackend>,
        left: &mut Jiffies,
    ) -> Result {
        state.waiting += 1;
        let result = self.moved.wait_interruptible_timeout(state, *left);
        state.waiting -= 1;
        *left = match result {
            CondVarTimeoutResult::Woken { jiffies } => jiffies,
            CondVarTimeoutResult::Signal { .. } => return Err(ERESTARTSYS),
            CondVarTimeoutResult::Timeout => return Err(EBUSY),
        };
        Ok(())
    }

    /// Accept no new job until [`Timeline::release`] has been called as often.
    pub fn hold(&self) {
        self.state.lock().holds += 1;
    }

    /// Take one [`Timeline::hold`] back.
    pub fn release(&self) {
        let mut state = self.state.lock();
        state.holds = state.holds.saturating_sub(1);
        drop(state);
        self.moved.notify_all();
    }

    /// Wait until what a job held has been dropped. Return `false` if there is no such job.
    ///
    /// # Errors
    ///
    /// `ERESTARTSYS` if a signal arrives; `EBUSY` after `timeout` milliseconds.
    pub fn wait_for_drop(&self, timeout: Msecs) -> Result<bool> {
        let mut left = msecs_to_jiffies(timeout);
        let mut state = self.state.lock();
        let dropped = state.dropped;
        if dropped == state.committed {
            return Ok(false);
        }
        while state.dropped == dropped {
            if dropped == state.signalled {
                fence::Timeline::wanted(self, dropped + 1);
            } else {
                self.worker.hasten();
            }
            self.wait(&mut state, &mut left)?;
        }
        Ok(true)
    }
}

#[kunit_tests(lapidary_timeline_waits)]
mod tests {
    use super::{
        super::tests::{
            commit,
            room,
            timeline, //
        },
        *, //
    };
    use kernel::{
        sync::Arc,
        time::{
            delay::fsleep,
            Delta, //
        },
        workqueue, //
    };

    #[test]
    fn a_full_timeline_says_so_in_bounded_time() -> Result {
        let timeline = timeline()?;
        let load = Arc::new(7, GFP_KERNEL)?;
        for _ in 0..JOBS {
            commit(&timeline, &load)?;
        }
        assert!(room(&timeline, 0) == Err(EAGAIN));
        assert!(timeline.turn(10).wait(|_| true) == Err(EBUSY));
        assert!(timeline.is_wanted());
        // Three jobs are done, which is noticed on the way, but they have not been dropped.
        assert!(room(&timeline, 3) == Err(EAGAIN));
        assert!(timeline.progress().signalled == 3);
        assert!(timeline.turn(10).wait(|_| true) == Err(EBUSY));
        timeline.reap();
        assert!(timeline.turn(10).wait(|_| true) == Ok(()));
        assert!(room(&timeline, 3) == Ok(JOBS + 1));
        assert!(timeline.turn(10).room(|| 3, |_| false) == Ok(None));
        assert!(timeline.turn(10).wait(|_| false) == Err(EBUSY));
        timeline.fail(ENODEV);
        timeline.reap();
        Ok(())
    }

    #[test]
    fn nothing_begins_on_hold() -> Result {
        let timeline = timeline()?;
        timeline.hold();
        timeline.hold();
        assert!(room(&timeline, 0) == Err(EAGAIN));
        timeline.release();
        assert!(timeline.turn(10).wait(|_| true) == Err(EBUSY));
        timeline.release();
        assert!(timeline.turn(10).wait(|_| true) == Ok(()));
        assert!(room(&timeline, 0) == Ok(1));
        // Closing ends the wait.
        timeline.hold();
        timeline.close(ENODEV);
        assert!(timeline.turn(10).wait(|_| true) == Err(ENODEV));
        assert!(room(&timeline, 0) == Err(ENODEV));
        Ok(())
    }

    #[test]
    fn nobody_overtakes_the_first_who_waits() -> Result {
        let timeline = timeline()?;
        let (mut first, mut second) = (timeline.turn(10), timeline.turn(10));
        assert!(first.wait(|_| false) == Err(EBUSY));
        // There is enough room for a submitter that needs less.
        assert!(second.room(|| 0, |_| true) == Ok(None));
        assert!(second.wait(|_| true) == Err(EBUSY));
        assert!(first.room(|| 0, |_| false) == Ok(None));
        assert!(first.room(|| 0, |_| true) == Ok(Some(1)));
        drop(first);
        assert!(second.room(|| 0, |_| true) == Ok(Some(1)));
        // It was never the first, and leaves no trace.
        drop(second);
        assert!(room(&timeline, 0) == Ok(1));
        Ok(())
    }

    #[test]
    fn whoever_waits_for_room_is_woken() -> Result {
        let timeline = timeline()?;
        let load = Arc::new(7, GFP_KERNEL)?;
        for _ in 0..JOBS {
            commit(&timeline, &load)?;
        }
        let other = timeline.clone();
        workqueue::system_long().try_spawn(GFP_KERNEL, move || {
            while !other.is_wanted() {
                fsleep(Delta::from_millis(1));
            }
            other.process(1);
            other.reap();
        })?;
        // Without a wake-up the call would take as long as the limits.
        assert!(timeline.turn(10_000).wait(|_| true) == Ok(()));

        timeline.hold();
        let other = timeline.clone();
        workqueue::system_long().try_spawn(GFP_KERNEL, move || {
            fsleep(Delta::from_millis(20));
            other.release();
        })?;
        assert!(timeline.turn(10_000).wait(|_| true) == Ok(()));
        timeline.fail(ENODEV);
        timeline.reap();
        Ok(())
    }

    #[test]
    fn whoever_is_the_next_to_wait_is_woken() -> Result {
        let timeline = timeline()?;
        let load = Arc::new(7, GFP_KERNEL)?;
        commit(&timeline, &load)?;
        let other = timeline.clone();
        workqueue::system_long().try_spawn(GFP_KERNEL, move || {
            // The first submitter, until it gives up.
            assert!(other.turn(50).wait(|_| false) == Err(EBUSY));
        })?;
        while !timeline.is_wanted() {
            fsleep(Delta::from_millis(1));
        }
        assert!(timeline.turn(10_000).wait(|_| true) == Ok(()));
        timeline.fail(ENODEV);
        timeline.reap();
        Ok(())
    }

    #[test]
    fn drops_can_be_waited_for() -> Result {
        let timeline = timeline()?;
        let load = Arc::new(7, GFP_KERNEL)?;
        assert!(timeline.wait_for_drop(10) == Ok(false));
        commit(&timeline, &load)?;
        assert!(timeline.wait_for_drop(10) == Err(EBUSY));
        assert!(timeline.is_wanted());
        timeline.process(1);
        assert!(timeline.wait_for_drop(10) == Err(EBUSY));
        assert_eq!(timeline.dropped(), 0);
        timeline.reap();
        assert_eq!(timeline.dropped(), 1);
        assert!(timeline.wait_for_drop(10) == Ok(false));
        Ok(())
    }

    #[test]
    fn a_drop_wakes_who_waits_for_it() -> Result {
        let timeline = timeline()?;
        let load = Arc::new(7, GFP_KERNEL)?;
        commit(&timeline, &load)?;
        let other = timeline.clone();
        workqueue::system_long().try_spawn(GFP_KERNEL, move || {
            // The waiter counts itself before it sleeps, and keeps the lock of the state in between.
            while !other.is_wanted() {
                fsleep(Delta::from_millis(1));
            }
            other.process(1);
            other.reap();
        })?;
        // Without a wake-up the call would take as long as the limit.
        assert!(timeline.wait_for_drop(10_000) == Ok(true));
        Ok(())
    }
}
