// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The destination of the kernel's own command sequences.
//!
//! A ring slot, an indirect buffer and a plain slice differ in where a dword is written, not in what is written.
//! Emitters write to a [`Sink`]. Each emitter publishes how many dwords it writes. The caller reserves the space
//! before the first dword, and a lack of space is a bug of the caller.

/// Accepts dwords in order.
pub trait Sink {
    /// Append one dword in CPU byte order.
    ///
    /// # Errors
    ///
    /// [`Full`] if the reserved space is used up.
    fn put(&mut self, word: u32) -> Result<(), Full>;

    /// Append several dwords.
    ///
    /// # Errors
    ///
    /// [`Full`] if they do not all fit. Those that fit have been written.
    fn put_all(&mut self, words: &[u32]) -> Result<(), Full> {
        for word in words {
            self.put(*word)?;
        }
        Ok(())
    }
}

/// The space reserved for a sequence is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

/// A [`Sink`] over a slice.
#[derive(Debug)]
pub struct SliceSink<'a> {
    rest: &'a mut [u32],
    written: usize,
}

impl<'a> SliceSink<'a> {
    /// Make a sink that writes to `out` from its first element on.
    pub fn new(out: &'a mut [u32]) -> Self {
        Self {
            rest: out,
            written: 0,
        }
    }

    /// Return the number of dwords written so far.
    pub fn written(&self) -> usize {
        self.written
    }
}

impl Sink for SliceSink<'_> {
    #[inline]
    fn put(&mut self, word: u32) -> Result<(), Full> {
        let (first, rest) = core::mem::take(&mut self.rest)
            .split_first_mut()
            .ok_or(Full)?;
        *first = word;
        self.rest = rest;
        self.written = self.written.wrapping_add(1);
        Ok(())
    }
}

/// A [`Sink`] that only counts, to find out how long a sequence is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CountingSink(
    /// Number of dwords written so far.
    pub usize,
);

impl Sink for CountingSink {
    #[inline]
    fn put(&mut self, _word: u32) -> Result<(), Full> {
        self.0 = self.0.checked_add(1).ok_or(Full)?;
        Ok(())
    }
}
