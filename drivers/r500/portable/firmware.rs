// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The microcode image of the command processor.
//!
//! The micro-engine executes 256 words of 40 bits. They are loaded one by one. Bits 39:32 are written to
//! `CP_ME_RAM_DATAH`, then bits 31:0 to `CP_ME_RAM_DATAL`, which stores the word and advances the address (R5xx 4.12).
//! The file `radeon/R520_cp.bin` of linux-firmware serves all R5xx chips. It has each word as two big-endian dwords,
//! high part first. This form, and the size, are facts from Linux (`drivers/gpu/drm/radeon/r100.c`) and linux-firmware.

/// Number of words that the micro-engine holds.
pub const WORDS: usize = 256;
/// Size of an image in bytes.
pub const IMAGE_SIZE: usize = WORDS * WORD_SIZE;

const WORD_SIZE: usize = 8;

/// Why an image is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The image does not have [`IMAGE_SIZE`] bytes.
    Size {
        /// Bytes that it has.
        found: usize,
    },
    /// A word has more than 40 bits, so this is not microcode.
    Word {
        /// Index of the word.
        index: usize,
    },
}

/// One word of microcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// Bits 39:32.
    pub high: u8,
    /// Bits 31:0.
    pub low: u32,
}

/// A microcode image that has the right form.
#[derive(Clone, Copy, Debug)]
pub struct Microcode<'a> {
    image: &'a [u8],
}

impl<'a> Microcode<'a> {
    /// Check an image.
    ///
    /// # Errors
    ///
    /// [`Error::Size`], [`Error::Word`].
    pub fn new(image: &'a [u8]) -> Result<Self, Error> {
        if image.len() != IMAGE_SIZE {
            return Err(Error::Size { found: image.len() });
        }
        for (index, bytes) in image.chunks_exact(WORD_SIZE).enumerate() {
            if !matches!(bytes, [0, 0, 0, ..]) {
                return Err(Error::Word { index });
            }
        }
        Ok(Self { image })
    }

    /// Return the words in the order in which they are loaded, from address 0 on.
    pub fn words(&self) -> impl Iterator<Item = Word> + 'a {
        self.image
            .chunks_exact(WORD_SIZE)
            .filter_map(|bytes| match *bytes {
                [_, _, _, high, a, b, c, d] => Some(Word {
                    high,
                    low: u32::from_be_bytes([a, b, c, d]),
                }),
                // A chunk always has eight bytes.
                _ => None,
            })
    }
}
