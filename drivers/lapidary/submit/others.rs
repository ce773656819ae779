// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Work of others on a submission's objects: fences of other drivers, and of this GPU's other rings.
//!
//! The ring does not know them, so they have signalled before the job is committed. Another driver may take as long as
//! it likes, and its client decides when. Whoever waits for it holds no reservation then, as that would hold up
//! everybody who uses one of the other objects. So the submission locks all objects and looks; if it finds such a fence
//! it unlocks all, waits for what it sees, and begins anew.
//!
//! A driver that always has work on an object when the submission looks makes it look again, at most [`ROUNDS`] times
//! and for 30 s.

use kernel::{
    current,
    prelude::*, //
};

use crate::{
    corner::{
        exec,
        resv, //
    },
    driver::Shared,
    family::Family,
    memory::{
        Bo,
        Use, //
    },
    submit::placing::Patience,
};

/// How long to wait for all of them together, in milliseconds.
const OTHERS_MS: u32 = 30_000;
/// How long to wait before looking whether the device is still there, in milliseconds.
const SLICE_MS: u32 = 100;
/// How often the objects are locked in vain. Rounds in which nothing has to be waited for take no time that the limit
/// above would count.
const ROUNDS: u32 = 1_000;

/// How one submission waits for work of others.
pub struct Others<'a, F: Family> {
    shared: &'a Shared<F>,
    own: u64,
    only: bool,
    rounds: u32,
    /// From the first wait on.
    patience: Option<Patience>,
}

impl<'a, F: Family> Others<'a, F> {
    /// For a submission to the ring whose fences have context `own`: these are in order anyway. If it is the `only` ring
    /// of this GPU, objects that no other driver knows have no others.
    pub fn new(shared: &'a Shared<F>, own: u64, only: bool) -> Self {
        Self {
            shared,
            own,
            only,
            rounds: ROUNDS,
            patience: None,
        }
    }

    /// Whether there is no such work pending on `uses`, whose objects are `locked`.
    pub(super) fn are_done(&self, uses: &[Use<F>], locked: &exec::Locked<'_, Bo<F>>) -> bool {
        uses.iter().all(|item| {
            let object = item.object();
            (self.only && locked.is_private(object))
                || resv::foreign(object, item.writes(), self.own).is_none()
        })
    }

    /// Waits for such work on `uses`, for one fence of each object. The caller holds no lock, and locks and looks
    /// afterwards.
    ///
    /// # Errors
    ///
    /// `ERESTARTSYS` if a signal arrives; `EBUSY` after 30 s in all, or the thousandth time; `ENODEV` at unbind.
    pub(super) fn wait(&mut self, uses: &[Use<F>]) -> Result {
        self.rounds = self.rounds.checked_sub(1).ok_or(EBUSY)?;
        if current!().signal_pending() {
            return Err(ERESTARTSYS);
        }
        let patience = self
            .patience
            .get_or_insert_with(|| Patience::new(OTHERS_MS));
        for item in uses {
            let Some(fence) = resv::foreign(item.object(), item.writes(), self.own) else {
                continue;
            };
            while !fence.wait(true, patience.left()?.min(SLICE_MS))? {
                if self.shared.gone() {
                    return Err(ENODEV);
                }
            }
        }
        Ok(())
    }
}
