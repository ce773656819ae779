// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Submissions that are placing objects at the moment.
//!
//! Two submissions that place their objects at the same time may each hold addresses that the other one needs,
//! although each would fit alone. So a submission that finds no room gives back its addresses and waits for its turn.
//! Only one submission has the turn. It tries again while the submissions that have found room continue. It waits for
//! these to commit or to give up, as it waits for jobs. If there are neither, its objects do not fit.

use kernel::{
    new_condvar, new_spinlock,
    prelude::*,
    sync::{
        lock::spinlock::SpinLockGuard,
        Arc,
        CondVar,
        CondVarTimeoutResult,
        SpinLock, //
    },
    time::{
        msecs_to_jiffies,
        Instant,
        Monotonic,
        Msecs, //
    },
};

struct State {
    /// Submissions that may hold addresses for which there is no job yet.
    inside: u32,
    /// One of them has its turn.
    turn: bool,
    /// How many submissions have left.
    gone: u64,
    /// Submitters that wait for a change.
    waiting: u32,
}

/// The submissions of one device that are placing objects.
///
/// Locking: an inner spinlock. Nothing else is locked while it is held.
#[pin_data]
pub struct Placing {
    #[pin]
    state: SpinLock<State>,
    #[pin]
    changed: CondVar,
}

/// One of the submissions. When this is dropped, the submission has no address without a job.
pub struct Inside {
    placing: Arc<Placing>,
    counted: bool,
    turn: bool,
}

/// A limit for the total wait of a submission.
pub struct Patience {
    begin: Instant<Monotonic>,
    most: Msecs,
}

impl Patience {
    /// Begin a limit of `most` milliseconds now.
    pub fn new(most: Msecs) -> Self {
        Self {
            begin: Instant::now(),
            most,
        }
    }

    /// Return the milliseconds that are left.
    ///
    /// # Errors
    ///
    /// `EBUSY` if there are none.
    pub fn left(&self) -> Result<Msecs> {
        let spent = self.begin.elapsed().as_millis();
        let left = i64::from(self.most).saturating_sub(spent);
        match Msecs::try_from(left) {
            Ok(left) if left > 0 => Ok(left),
            _ => Err(EBUSY),
        }
    }
}

impl Placing {
    /// Make an empty set.
    pub fn new() -> Result<Arc<Self>> {
        Arc::pin_init(
            pin_init!(Self {
                state <- new_spinlock!(State {
                    inside: 0,
                    turn: false,
                    gone: 0,
                    waiting: 0,
                }),
                changed <- new_condvar!(),
            }),
            GFP_KERNEL,
        )
    }

    /// Enter a submission that begins to place objects.
    pub fn enter(self: &Arc<Self>) -> Inside {
        self.state.lock().inside += 1;
        Inside {
            placing: self.clone(),
            counted: true,
            turn: false,
        }
    }

    /// Wait until something has changed.
    ///
    /// # Errors
    ///
    /// `ERESTARTSYS` if a signal arrives; `EBUSY` when no time is left.
    fn wait(&self, state: &mut SpinLockGuard<'_, State>, patience: &Patience) -> Result {
        let left = msecs_to_jiffies(patience.left()?);
        state.waiting += 1;
        let result = self.changed.wait_interruptible_timeout(state, left);
        state.waiting -= 1;
        match result {
            CondVarTimeoutResult::Woken { .. } => Ok(()),
            CondVarTimeoutResult::Signal { .. } => Err(ERESTARTSYS),
            CondVarTimeoutResult::Timeout => Err(EBUSY),
        }
    }
}

impl Inside {
    /// Wait until no other submission has the turn, and take it. The caller has given back all addresses.
    ///
    /// # Errors
    ///
    /// `ERESTARTSYS` if a signal arrives; `EBUSY` when no time is left.
    pub fn take_turn(&mut self, patience: &Patience) -> Result {
        self.leave();
        let mut state = self.placing.state.lock();
        while state.turn {
            self.placing.wait(&mut state, patience)?;
        }
        state.turn = true;
        state.inside += 1;
        self.turn = true;
        self.counted = true;
        Ok(())
    }

    /// Return how many submissions have left until now.
    pub fn gone(&self) -> u64 {
        self.placing.state.lock().gone
    }

    /// Wait until a submission has left since [`Inside::gone`] was `since`. Return `false` if none has and there is
    /// no other submission.
    ///
    /// # Errors
    ///
    /// As [`Inside::take_turn`].
    pub fn wait_for_others(&self, since: u64, patience: &Patience) -> Result<bool> {
        let mut state = self.placing.state.lock();
        while state.gone == since {
            if state.inside <= 1 {
                return Ok(false);
            }
            self.placing.wait(&mut state, patience)?;
        }
        Ok(true)
    }

    fn leave(&mut self) {
        if !core::mem::replace(&mut self.counted, false) {
            return;
        }
        let mut state = self.placing.state.lock();
        state.inside -= 1;
        state.gone += 1;
        if core::mem::replace(&mut self.turn, false) {
            state.turn = false;
        }
        let waiting = state.waiting != 0;
        drop(state);
        if waiting {
            self.placing.changed.notify_all();
        }
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        self.leave();
    }
}

#[kunit_tests(lapidary_placing)]
mod tests {
    use super::*;

    #[test]
    fn who_is_alone_waits_for_nobody() -> Result {
        let placing = Placing::new()?;
        let mut inside = placing.enter();
        let patience = Patience::new(10_000);
        assert!(!inside.wait_for_others(inside.gone(), &patience)?);
        inside.take_turn(&patience)?;
        assert!(!inside.wait_for_others(inside.gone(), &patience)?);
        Ok(())
    }

    #[test]
    fn others_are_waited_for_until_they_go() -> Result {
        let placing = Placing::new()?;
        let (mut one, other) = (placing.enter(), placing.enter());
        one.take_turn(&Patience::new(10_000))?;
        let since = one.gone();
        let busy = one.wait_for_others(since, &Patience::new(10));
        assert_eq!(busy, Err(EBUSY));
        drop(other);
        assert!(one.wait_for_others(since, &Patience::new(10_000))?);
        assert!(!one.wait_for_others(one.gone(), &Patience::new(10_000))?);
        Ok(())
    }

    #[test]
    fn only_one_has_its_turn() -> Result {
        let placing = Placing::new()?;
        let (mut one, mut other) = (placing.enter(), placing.enter());
        one.take_turn(&Patience::new(10_000))?;
        assert_eq!(other.take_turn(&Patience::new(10)), Err(EBUSY));
        // A submission that waits for its turn is not waited for.
        assert!(!one.wait_for_others(one.gone(), &Patience::new(10_000))?);
        drop(one);
        other.take_turn(&Patience::new(10_000))?;
        drop(other);
        assert_eq!(placing.state.lock().inside, 0);
        Ok(())
    }
}
