// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Who waits for a timeline: for room before a job, for the end of a hold, for what a job held to be dropped.
//!
//! All sleep on one condition variable, with the state's lock let go of, and have a time limit. Waits for fences are
//! the kernel's own.

use kernel::{
    prelude::*,
    sync::{
        lock::{
            spinlock::SpinLockBackend,
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

impl<K: Kind> Timeline<K> {
    /// Waits until one more job can be committed and `fits` agrees with the mark of the last job that is done; says
    /// which number that job has. `completed` asks for the number that the hardware has written last.
    ///
    /// Whoever commits to this timeline excludes others from before this call until after
    /// [`Timeline::commit`]: then there is room for one job, and it has this number. `None` if the timeline is on hold:
    /// the caller lets others in again, goes on with [`Timeline::wait_while_held`], and begins anew.
    ///
    /// # Errors
    ///
    /// Why the timeline was closed; `ERESTARTSYS` if a signal arrives; `EBUSY` when no time is `left`.
    pub fn wait_for_room(
        &self,
        left: &mut Jiffies,
        completed: impl Fn() -> u32,
        mut fits: impl FnMut(u64) -> bool,
    ) -> Result<Option<u64>> {
        let mut state = self.state.lock();
        // Signalling what is done is the worker's task. Only if that is late, whoever is in need does it.
        if state.committed - state.dropped > JOBS / 4 || !fits(state.mark) {
            drop(state);
            self.process(completed());
            state = self.state.lock();
        }
        loop {
            if let Some(error) = state.closed {
                return Err(error);
            }
            if state.holds != 0 {
                return Ok(None);
            }
            if state.committed - state.dropped < JOBS && fits(state.mark) {
                return Ok(Some(state.committed + 1));
            }
            let pending = state.committed - state.signalled;
            if pending == JOBS || !fits(state.mark) {
                // The hardware has to get on: worth an interrupt when half of it is done.
                let half = state.signalled + pending.div_ceil(2);
                fence::Timeline::wanted(self, half);
            } else {
                self.worker.hasten();
            }
            self.wait(&mut state, left)?;
        }
    }

    /// Waits until the timeline is not on hold.
    ///
    /// # Errors
    ///
    /// As [`Timeline::wait_for_room`].
    pub fn wait_while_held(&self, left: &mut Jiffies) -> Result {
        let mut state = self.state.lock();
        while state.holds != 0 {
            if let Some(error) = state.closed {
                return Err(error);
            }
            self.wait(&mut state, left)?;
        }
        Ok(())
    }

    /// Waits until something has changed.
    fn wait(&self, state: &mut Guard<'_, State<K>, SpinLockBackend>, left: &mut Jiffies) -> Result {
        *left = match self.moved.wait_interruptible_timeout(state, *left) {
            CondVarTimeoutResult::Woken { jiffies } => jiffies,
            CondVarTimeoutResult::Signal { .. } => return Err(ERESTARTSYS),
            CondVarTimeoutResult::Timeout => return Err(EBUSY),
        };
        Ok(())
    }

    /// Lets no new job begin until [`Timeline::release`] has been called as often.
    pub fn hold(&self) {
        self.state.lock().holds += 1;
        self.moved.notify_all();
    }

    /// Takes one [`Timeline::hold`] back.
    pub fn release(&self) {
        let mut state = self.state.lock();
        state.holds = state.holds.saturating_sub(1);
        drop(state);
        self.moved.notify_all();
    }

    /// Waits until what a job held has been dropped; `false` if there is no such job.
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
        assert!(room(&timeline, 0) == Err(EBUSY));
        // Three are done, which is seen on the way, but they have not been dropped.
        assert!(room(&timeline, 3) == Err(EBUSY));
        assert!(timeline.progress().signalled == 3);
        timeline.reap();
        assert!(room(&timeline, 3) == Ok(JOBS + 1));
        let mut left = msecs_to_jiffies(10);
        assert!(timeline.wait_for_room(&mut left, || 3, |_| false) == Err(EBUSY));
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
        let mut left = msecs_to_jiffies(10);
        assert!(timeline.wait_while_held(&mut left) == Err(EBUSY));
        timeline.release();
        let mut left = msecs_to_jiffies(10);
        assert!(timeline.wait_while_held(&mut left) == Ok(()));
        assert!(room(&timeline, 0) == Ok(1));
        // Closing ends the wait.
        timeline.hold();
        timeline.close(ENODEV);
        assert!(timeline.wait_while_held(&mut left) == Err(ENODEV));
        assert!(room(&timeline, 0) == Err(ENODEV));
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
            // Who waits says so before it sleeps, and does not let go of the state in between.
            while !other.is_wanted() {
                fsleep(Delta::from_millis(1));
            }
            other.process(1);
            other.reap();
        })?;
        // The limit is how long this takes if nobody is woken.
        assert!(timeline.wait_for_drop(10_000) == Ok(true));
        Ok(())
    }
}
