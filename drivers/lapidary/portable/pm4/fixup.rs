// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Dwords of a checked stream that depend on where an object lies.
//!
//! A checker does not know addresses, because objects are locked and placed later. It notes which dwords take an
//! address, and in which form. The forms are the family's ([`Kind`]).

use super::reason::Fault;

/// How the address of an object goes into a dword.
pub trait Kind: Copy + Default {
    /// Return the final value of a dword that is `word` in the checked stream, for an object at GPU address `address`.
    ///
    /// `None` if the address does not fit the dword. Objects are page aligned and lie where the family's engines reach,
    /// so that this means a bug elsewhere.
    fn apply(self, word: u32, address: u64) -> Option<u32>;
}

/// A dword of a checked stream that depends on where an object lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fixup<K> {
    /// Index of the dword.
    pub dword: u32,
    /// Number of the object.
    pub object: u32,
    /// What to do with the address.
    pub kind: K,
}

impl<K: Kind> Fixup<K> {
    /// As [`Kind::apply`].
    #[inline]
    pub fn apply(&self, word: u32, address: u64) -> Option<u32> {
        self.kind.apply(word, address)
    }
}

/// Return the most fixups that a stream of `dwords` dwords can have: each takes a dword of its own and a marker.
pub const fn max_fixups(dwords: usize) -> usize {
    dwords / 3
}

/// The fixups that a checker has found so far.
pub struct Fixups<'a, K> {
    all: &'a mut [Fixup<K>],
    count: usize,
}

impl<'a, K> Fixups<'a, K> {
    /// Return an empty list in `all`. It holds all fixups of a stream if it is as long as [`max_fixups`] says.
    pub fn new(all: &'a mut [Fixup<K>]) -> Self {
        Self { all, count: 0 }
    }

    /// Note that dword `position` takes the address of object `object`.
    ///
    /// # Errors
    ///
    /// [`Fault::TooManyFixups`].
    #[inline]
    pub fn push(&mut self, position: usize, object: u32, kind: K) -> Result<(), Fault> {
        *self.all.get_mut(self.count).ok_or(Fault::TooManyFixups)? = Fixup {
            dword: position as u32,
            object,
            kind,
        };
        self.count = self.count.wrapping_add(1);
        Ok(())
    }

    /// Return what is done with the address of fixup `number`, to change it. The first fixup has number 0.
    #[inline]
    pub fn kind_mut(&mut self, number: usize) -> Option<&mut K> {
        let found = self.all.get_mut(..self.count)?;
        Some(&mut found.get_mut(number)?.kind)
    }

    /// Return how many fixups there are.
    #[inline]
    pub fn count(&self) -> usize {
        self.count
    }
}
