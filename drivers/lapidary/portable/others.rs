// SPDX-License-Identifier: GPL-2.0 OR MIT

//! How long, and how often, one submission waits for work of others on its objects.
//!
//! A submission locks its objects and looks for fences that its ring does not know. If there are any it unlocks the
//! objects, waits for what it has seen, and looks again: a *round*. Another driver may have new work on an object at each
//! look, and may never end what it has begun. So both are bounded: [`ROUNDS`] rounds, and [`MOST`] milliseconds from the
//! first wait on. Rounds in which nothing is left to wait for take no time that the second bound would count.
//!
//! A wait comes in slices of [`SLICE`] milliseconds, between which the caller can see that its device is gone.

/// How long to wait in all rounds together, in milliseconds.
pub const MOST: u32 = 30_000;
/// The longest single wait, in milliseconds.
pub const SLICE: u32 = 100;
/// How many rounds there are.
pub const ROUNDS: u32 = 1_000;

/// Why a round ends before all has been waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End<E> {
    /// One of the bounds is reached.
    Spent,
    /// A wait failed.
    Failed(E),
}

/// What one submission may still spend.
#[derive(Clone, Debug)]
pub struct Rounds {
    left: u32,
}

impl Rounds {
    /// Everything is left.
    pub const fn new() -> Self {
        Self { left: ROUNDS }
    }

    /// One round: waits for each of `fences`, one after the other.
    ///
    /// `spent` says how many milliseconds have passed since it was asked for the first time, and does not go back.
    /// `wait` waits for a fence, at most for so many milliseconds, at least 1; it says whether the fence has signalled.
    ///
    /// # Errors
    ///
    /// [`End::Spent`] in the round after the last, before anything is waited for, and when [`MOST`] milliseconds have
    /// passed; what `wait` returns.
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
