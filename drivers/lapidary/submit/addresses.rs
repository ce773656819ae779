// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The addresses of the objects of one submission.
//!
//! They are given back unless a job takes them over. Submissions that need each other's addresses take turns
//! ([`super::placing`]).

use kernel::prelude::*;

use crate::{
    family::Family,
    memory::usage::Use,
    running::Running,
    submit::placing::{
        Inside,
        Patience, //
    }, //
};

/// How long to wait for the objects of other jobs, in milliseconds.
const ROOM_MS: u32 = 30_000;

/// Uses that are given addresses. When this is dropped, uses that have not become a job give their addresses back.
/// Only then are other submissions told that there may be room.
pub(super) struct Addresses<'e, F: Family> {
    pub(super) uses: &'e mut KVVec<Use<F>>,
    pub(super) inside: Inside,
    /// Clients share the address space, so objects in system pages are given addresses in the GTT window.
    pub(super) shared: bool,
    /// The clear of an object may still fail.
    pub(super) clearing: bool,
}

impl<F: Family> Addresses<'_, F> {
    /// Give all addresses back.
    pub(super) fn give_back(&mut self) {
        self.uses.iter_mut().for_each(Use::leave);
    }

    /// Give every object an address.
    ///
    /// # Errors
    ///
    /// As [`Use::place`].
    pub(super) fn place(&mut self, running: &Running<'_, F>) -> Result {
        let now = running.data().memory.now();
        for item in self.uses.iter_mut() {
            self.clearing |= item.place(now, self.shared)?;
        }
        Ok(())
    }

    /// Give every object an address, in turn with other submissions, when there is no room yet.
    ///
    /// # Errors
    ///
    /// As [`Locked::place`](super::locked::Locked::place).
    pub(super) fn place_in_turn(&mut self, running: &Running<'_, F>) -> Result {
        let patience = Patience::new(ROOM_MS);
        self.give_back();
        self.inside.take_turn(&patience)?;
        loop {
            let (gone, dropped) = (self.inside.gone(), running.dropped());
            match self.place(running) {
                Err(e) if e == ENOSPC => {}
                result => return result,
            }
            if !self.inside.wait_for_others(gone, &patience)? {
                running.wait_for_drop(dropped, patience.left()?)?;
            }
        }
    }
}

impl<F: Family> Drop for Addresses<'_, F> {
    fn drop(&mut self) {
        self.give_back();
    }
}
