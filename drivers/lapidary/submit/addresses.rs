// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The addresses that the objects of one submission get.
//!
//! They are given back unless a job takes them over. Submissions that need each other's addresses have turns
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

/// Uses that get addresses. Those that have not become a job when this is dropped give them back, before others hear
/// that there may be room.
pub(super) struct Addresses<'e, F: Family> {
    pub(super) uses: &'e mut KVVec<Use<F>>,
    pub(super) inside: Inside,
    /// Clients share the address space: objects in system pages get addresses in the GTT window.
    pub(super) shared: bool,
    /// The clear of an object may fail still.
    pub(super) clearing: bool,
}

impl<F: Family> Addresses<'_, F> {
    /// Gives all addresses back.
    pub(super) fn give_back(&mut self) {
        self.uses.iter_mut().for_each(Use::leave);
    }

    /// Gives every object an address. Errors: as [`Use::place`].
    pub(super) fn place(&mut self, running: &Running<'_, F>) -> Result {
        let now = running.data().memory.now();
        for item in self.uses.iter_mut() {
            self.clearing |= item.place(now, self.shared)?;
        }
        Ok(())
    }

    /// The same where there is no room yet. Errors: as [`Locked::place`](super::locked::Locked::place).
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
