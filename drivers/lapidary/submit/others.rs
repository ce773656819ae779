// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Work of others on a submission's objects: fences of other drivers.
//!
//! This GPU's rings do not order these fences, so they have signalled before the job is committed. Another driver may take
//! any time, under the control of its client. So the submission holds no reservation while it waits. A reservation
//! would delay every client of the other objects. The submission locks all objects and looks for such a fence. If it
//! finds one, it unlocks all, waits for the fences that it sees, and starts again.
//!
//! [`crate::portable::others`] limits how long and how often it does so.

use kernel::{
    current,
    prelude::*,
    time::{
        Instant,
        Monotonic, //
    }, //
};

use crate::{
    corner::{
        exec,
        fence::Contexts,
        resv, //
    },
    driver::DeviceData,
    family::Family,
    memory::{
        object::Bo,
        usage::Use, //
    },
    portable::others::{
        End,
        Rounds, //
    }, //
};

/// How one submission waits for work of others.
pub struct Others<'a, F: Family> {
    data: &'a DeviceData<F>,
    own: Contexts,
    rounds: Rounds,
    /// When the first wait began.
    begin: Option<Instant<Monotonic>>,
}

impl<'a, F: Family> Others<'a, F> {
    /// Make the state for a submission to a GPU whose fences have the contexts `own`. Its rings wait for each other, so
    /// these fences do not count.
    pub fn new(data: &'a DeviceData<F>, own: Contexts) -> Self {
        Self {
            data,
            own,
            rounds: Rounds::new(),
            begin: None,
        }
    }

    /// Return whether no such work is pending on `uses`, whose objects are `locked`.
    pub(super) fn are_done(&self, uses: &[Use<F>], locked: &exec::Locked<'_, Bo<F>>) -> bool {
        uses.iter().all(|item| {
            let object = item.object();
            locked.is_private(object) || resv::foreign(object, item.writes(), self.own).is_none()
        })
    }

    /// Wait for such work on `uses`, for one fence of each object. The caller holds no lock. It locks and looks again
    /// afterwards.
    ///
    /// # Errors
    ///
    /// `ERESTARTSYS` if a signal arrives; `EBUSY` after 30 s in all, or after 1,000 rounds; `ENODEV` at unbind.
    pub(super) fn wait(&mut self, uses: &[Use<F>]) -> Result {
        if current!().signal_pending() {
            return Err(ERESTARTSYS);
        }
        let (data, own, begin) = (self.data, self.own, &mut self.begin);
        let fences = uses
            .iter()
            .filter_map(|item| resv::foreign(item.object(), item.writes(), own));
        let spent = || begin.get_or_insert_with(Instant::now).elapsed().as_millis();
        let waited = self.rounds.round(fences, spent, |fence, most| {
            match fence.wait(true, most)? {
                false if data.gone() => Err(ENODEV),
                signalled => Ok(signalled),
            }
        });
        waited.map_err(|end| match end {
            End::Spent => EBUSY,
            End::Failed(error) => error,
        })
    }
}
