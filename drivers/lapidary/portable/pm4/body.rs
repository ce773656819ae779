// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The body of a packet, from its first dword to its last.

use core::cell::Cell;

use super::reason::Fault;

/// The dwords of a body that have not been taken yet.
pub struct Body<'a> {
    rest: &'a [Cell<u32>],
    /// Index in the stream of the first dword of `rest`.
    position: usize,
}

impl<'a> Body<'a> {
    /// Return the body `words`, of which the first is dword `position` of the stream.
    #[inline]
    pub fn new(words: &'a [Cell<u32>], position: usize) -> Self {
        Self {
            rest: words,
            position,
        }
    }

    /// Take the next dword.
    ///
    /// # Errors
    ///
    /// [`Fault::PacketLength`] if none is left.
    #[inline]
    pub fn take(&mut self) -> Result<u32, Fault> {
        let (word, rest) = self.rest.split_first().ok_or(Fault::PacketLength)?;
        self.rest = rest;
        self.position = self.position.wrapping_add(1);
        Ok(word.get())
    }

    /// Return the dwords that have not been taken, and leave them.
    #[inline]
    pub fn rest(&self) -> &'a [Cell<u32>] {
        self.rest
    }

    /// Pass the next `count` dwords.
    ///
    /// # Errors
    ///
    /// [`Fault::PacketLength`] if fewer are left.
    #[inline]
    pub fn skip(&mut self, count: usize) -> Result<(), Fault> {
        self.rest = self.rest.get(count..).ok_or(Fault::PacketLength)?;
        self.position = self.position.wrapping_add(count);
        Ok(())
    }

    /// Return the number of dwords that are left.
    #[inline]
    pub fn len(&self) -> usize {
        self.rest.len()
    }

    /// Return whether no dword is left.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Return the index in the stream of the dword that comes next.
    #[inline]
    pub fn position(&self) -> usize {
        self.position
    }

    /// Refuse a body that is longer than its packet needs.
    ///
    /// # Errors
    ///
    /// [`Fault::PacketLength`] if a dword is left.
    #[inline]
    pub fn end(&self) -> Result<(), Fault> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(Fault::PacketLength)
        }
    }
}
