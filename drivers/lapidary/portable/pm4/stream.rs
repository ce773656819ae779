// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A stream that is checked in place: its dwords, its packets, and the relocation markers behind them.

use core::cell::Cell;

use super::{
    header::{operation, Form, Header, NOP},
    reason::Fault,
};

/// Header of a relocation marker.
pub const MARKER: u32 = operation(NOP, 1);
/// Markers count dwords of the list of objects; entries have four.
pub const MARKER_UNIT: u32 = 4;

/// The dwords of a stream, and the place of the next relocation marker.
///
/// A stream is not longer than memory, and a packet not longer than its count field can say. No index overflows.
pub struct Stream<'a> {
    words: &'a [Cell<u32>],
    marker: usize,
}

impl<'a> Stream<'a> {
    /// Return the stream in `words`.
    pub fn new(words: &'a mut [u32]) -> Self {
        Self {
            words: Cell::from_mut(words).as_slice_of_cells(),
            marker: 0,
        }
    }

    /// Return the dwords.
    #[inline]
    pub fn words(&self) -> &'a [Cell<u32>] {
        self.words
    }

    /// Read the packet of form `F` at index `start`, whose first dword is `word`, and move on behind it. Return what
    /// its header says, and its body.
    ///
    /// # Errors
    ///
    /// [`Fault::Truncated`] and [`Fault::ReservedHeaderBits`].
    #[inline]
    pub fn packet<F: Form>(
        &mut self,
        start: usize,
        word: u32,
    ) -> Result<(Header, &'a [Cell<u32>]), Fault> {
        let header = Header::decode::<F>(word);
        let first = start.wrapping_add(1);
        let body = self.values(first, first.wrapping_add(header.body() as usize))?;
        if Header::reserved::<F>(word) != 0 {
            return Err(Fault::ReservedHeaderBits);
        }
        Ok((header, body))
    }

    /// Move on to index `end`, behind a packet whose values begin at index `first`. Return the values.
    ///
    /// # Errors
    ///
    /// [`Fault::Truncated`].
    #[inline]
    pub fn values(&mut self, first: usize, end: usize) -> Result<&'a [Cell<u32>], Fault> {
        self.marker = end;
        self.words.get(first..end).ok_or(Fault::Truncated)
    }

    /// Move on to index `end`, behind a packet that the caller has read itself.
    #[inline]
    pub fn pass(&mut self, end: usize) {
        self.marker = end;
    }

    /// Return the index behind the last packet and its markers, as far as they have been taken.
    #[inline]
    pub fn next(&self) -> usize {
        self.marker
    }

    /// Take the next relocation marker behind the packet. Return the number of the entry that it names.
    ///
    /// # Errors
    ///
    /// [`Fault::MissingRelocation`]; [`Fault::BadRelocation`] for a dword that is not a multiple of [`MARKER_UNIT`].
    /// Then `position` is set to the index of that dword.
    #[inline]
    pub fn relocation(&mut self, position: &mut usize) -> Result<u32, Fault> {
        let [marker, dword, ..] = self.words.get(self.marker..).unwrap_or(&[]) else {
            return Err(Fault::MissingRelocation);
        };
        if marker.get() != MARKER {
            return Err(Fault::MissingRelocation);
        }
        let dword = dword.get();
        if dword % MARKER_UNIT != 0 {
            *position = self.marker.wrapping_add(1);
            return Err(Fault::BadRelocation);
        }
        self.marker = self.marker.wrapping_add(2);
        Ok(dword / MARKER_UNIT)
    }

    /// Put another value into the stream, at a position that has been checked.
    ///
    /// # Errors
    ///
    /// [`Fault::Truncated`] if there is no such dword.
    #[inline]
    pub fn replace(&self, position: usize, word: u32) -> Result<(), Fault> {
        self.words.get(position).ok_or(Fault::Truncated)?.set(word);
        Ok(())
    }
}
