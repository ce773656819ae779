// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Where the kernel's own command sequences are written to.
//!
//! A ring slot, an indirect buffer and a plain slice differ in where a dword goes, not in what is written.
//! Emitters write to a [`Sink`]; each of them publishes how many dwords it writes, so that the space is
//! reserved before the first one and running out of it is a fault of the caller.

/// Takes dwords in order.
pub trait Sink {
    /// Appends one dword in CPU byte order.
    ///
    /// # Errors
    ///
    /// [`Full`] if the space that was reserved is used up.
    fn put(&mut self, word: u32) -> Result<(), Full>;

    /// Appends several dwords.
    ///
    /// # Errors
    ///
    /// [`Full`] if they do not all fit; those that do have been written.
    fn put_all(&mut self, words: &[u32]) -> Result<(), Full> {
        for word in words {
            self.put(*word)?;
        }
        Ok(())
    }
}

/// The space that was reserved for a sequence is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

/// A [`Sink`] over a slice.
#[derive(Debug)]
pub struct SliceSink<'a> {
    rest: &'a mut [u32],
    written: usize,
}

impl<'a> SliceSink<'a> {
    /// Writes to `out` from its first element on.
    pub fn new(out: &'a mut [u32]) -> Self {
        Self {
            rest: out,
            written: 0,
        }
    }

    /// Number of dwords written so far.
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

/// A [`Sink`] that only counts: how long a sequence is.
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
