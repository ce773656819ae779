// SPDX-License-Identifier: GPL-2.0 OR MIT

//! How long, and how often, one submission waits for work of others on its objects.
//!
//! A submission locks its objects and looks for fences that its ring does not order. If there are any, it unlocks the
//! objects, waits for these fences, and looks again. This is a *round*. Another driver may have new work on an object
//! in each round, and may never complete its work. So both are limited: [`ROUNDS`] rounds, and [`MOST`] milliseconds
//! from the first wait on. Rounds without a wait add no time to the second limit.
//!
//! A wait is divided into slices of [`SLICE`] milliseconds. Between two slices the caller can see that its device is
//! gone.

/// How long to wait in all rounds together, in milliseconds.
pub const MOST: u32 = 30_000;
/// The longest single wait, in milliseconds.
pub const SLICE: u32 = 100;
/// How many rounds there are.
pub const ROUNDS: u32 = 1_000;

/// Why a round ends before all fences have signalled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End<E> {
    /// One of the limits is reached.
    Spent,
    /// A wait failed.
    Failed(E),
}

/// The rounds that one submission may still use.
#[derive(Clone, Debug)]
pub struct Rounds {
    left: u32,
}

impl Rounds {
    /// Return a full budget.
    pub const fn new() -> Self {
        Self { left: ROUNDS }
    }

    /// Run one round: wait for each of `fences`, one after the other.
    ///
    /// `spent` returns the milliseconds since its first call, and does not decrease. `wait` waits for a fence, at
    /// most for the given number of milliseconds, at least 1. It returns whether the fence has signalled.
    ///
    /// # Errors
    ///
    /// [`End::Spent`] in the round after the last, before any wait, and when [`MOST`] milliseconds have passed. The
    /// errors of `wait`.
    pub fn round<F, E>(
        &mut self,
        fences: impl Iterator<Item = F>,
        mut spent: impl FnMut() -> i64,
        mut wait: impl FnMut(&F, u32) -> Result<bool, E>,
    ) -> Result<(), End<E>> {
        self.left = self.left.checked_sub(1).ok_or(End::Spent)?;
        for fence in fences {
            loop {
                let left = i64::from(MOST).saturating_sub(spent().max(0));
                let left = u32::try_from(left).unwrap_or(0).min(SLICE);
                if left == 0 {
                    return Err(End::Spent);
                }
                if wait(&fence, left).map_err(End::Failed)? {
                    break;
                }
            }
        }
        Ok(())
    }
}

impl Default for Rounds {
    fn default() -> Self {
        Self::new()
    }
}
