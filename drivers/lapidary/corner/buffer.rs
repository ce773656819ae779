// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Dwords in memory that the device reads while the CPU writes elsewhere in it.
//!
//! `kernel::dma` gives coherent memory in two ways: as a slice, which the device must not touch meanwhile, or one
//! checked access at a time. A command buffer needs something in between, because the device reads one part while the
//! CPU writes the next.

use kernel::{
    device,
    dma::{
        Coherent,
        DmaAddress, //
    },
    prelude::*,
};

/// Coherent memory of whole dwords.
pub struct Buffer(Coherent<[u32]>);

impl Buffer {
    /// Allocate `dwords` dwords, zeroed.
    pub fn new(dev: &device::Device<device::Bound>, dwords: usize) -> Result<Self> {
        Ok(Self(Coherent::zeroed_slice(dev, dwords, GFP_KERNEL)?))
    }

    /// Return the bus address of the first dword.
    pub fn dma_address(&self) -> DmaAddress {
        self.0.dma_address()
    }

    /// Return the length in dwords.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    #[inline]
    fn at(&self, index: usize, dwords: usize) -> Result<*mut u32> {
        match index.checked_add(dwords) {
            Some(end) if end <= self.len() => {
                Ok(self.0.as_mut_ptr().cast::<u32>().wrapping_add(index))
            }
            _ => Err(EINVAL),
        }
    }

    /// Write `words` from dword `index` on. The caller orders these writes before the write that tells the device of
    /// them.
    ///
    /// # Errors
    ///
    /// `EINVAL` if they do not fit; nothing is written then.
    pub fn write(&mut self, index: usize, words: &[u32]) -> Result {
        let to = self.at(index, words.len())?;
        // SAFETY: `words.len()` dwords from `to` on lie inside the allocation, which only `self` writes and which
        // does not overlap Rust memory. There are no references to it.
        unsafe { core::ptr::copy_nonoverlapping(words.as_ptr(), to, words.len()) };
        Ok(())
    }

    /// Write dword `index`, as [`Buffer::write`].
    ///
    /// # Errors
    ///
    /// `EINVAL` if there is none.
    #[inline]
    pub fn set(&mut self, index: usize, word: u32) -> Result {
        let to = self.at(index, 1)?;
        // SAFETY: The dword lies inside the allocation, which only `self` writes. There are no references to it.
        unsafe { to.write(word) };
        Ok(())
    }

    /// Read dword `index`.
    ///
    /// # Errors
    ///
    /// `EINVAL` if there is none.
    pub fn read(&self, index: usize) -> Result<u32> {
        let from = self.at(index, 1)?;
        // SAFETY: The dword lies inside the allocation. The device may write it at any time.
        Ok(unsafe { from.read_volatile() })
    }
}

#[kunit_tests(lapidary_buffer)]
mod tests {
    use super::*;
    use crate::corner::gem_kunit::Machine;

    #[test]
    fn words_of_any_number_arrive_and_nothing_else_changes() -> Result {
        let machine = Machine::new()?;
        let mut buffer = Buffer::new(machine.dev(), 64)?;
        let mut words = [0u32; 20];
        for (word, value) in words.iter_mut().zip(1..) {
            *word = value;
        }
        for len in [0, 1, 7, 8, 9, 20] {
            for index in [0, 3, 64 - len] {
                buffer.write(0, &[u32::MAX; 64])?;
                buffer.write(index, &words[..len])?;
                for at in 0..64usize {
                    let written = at.checked_sub(index).filter(|at| *at < len);
                    let want = written.map_or(u32::MAX, |at| words[at]);
                    assert!(buffer.read(at)? == want);
                }
            }
        }
        Ok(())
    }

    #[test]
    fn one_word_arrives_in_its_place() -> Result {
        let machine = Machine::new()?;
        let mut buffer = Buffer::new(machine.dev(), 8)?;
        buffer.set(3, 7)?;
        for at in 0..8 {
            assert!(buffer.read(at)? == if at == 3 { 7 } else { 0 });
        }
        Ok(())
    }

    #[test]
    fn what_does_not_fit_is_refused() -> Result {
        let machine = Machine::new()?;
        let mut buffer = Buffer::new(machine.dev(), 8)?;
        assert!(buffer.write(0, &[1; 9]) == Err(EINVAL));
        assert!(buffer.write(8, &[1]) == Err(EINVAL));
        assert!(buffer.set(8, 1) == Err(EINVAL));
        assert!(buffer.write(usize::MAX, &[1; 2]) == Err(EINVAL));
        assert!(buffer.read(8) == Err(EINVAL));
        for at in 0..8 {
            assert!(buffer.read(at)? == 0);
        }
        Ok(())
    }
}
