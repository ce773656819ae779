// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Which parameters of a type the stream has set.

use crate::portable::policy::{
    Needed,
    SUB_ADDRESSES, //
};

/// Sub-addresses, a bit each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Set(Needed);

impl Set {
    /// Nothing is set.
    pub(super) const NONE: Self = Self([0; SUB_ADDRESSES / 32]);

    /// Note that a parameter is set.
    pub(super) fn insert(&mut self, sub_address: u32) {
        if let Some(word) = self.0.get_mut((sub_address >> 5) as usize) {
            *word |= 1u32.wrapping_shl(sub_address);
        }
    }

    /// Return whether a parameter is set.
    pub(super) fn has(&self, sub_address: u32) -> bool {
        let word = self.0.get((sub_address >> 5) as usize).copied();
        word.unwrap_or(0).wrapping_shr(sub_address) & 1 != 0
    }

    /// Return whether all of them are.
    pub(super) fn has_all(&self, needed: &Needed) -> bool {
        self.0
            .iter()
            .zip(needed)
            .all(|(set, needed)| needed & !set == 0)
    }
}
