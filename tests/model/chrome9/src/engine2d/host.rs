// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Rows of pixels from data that the CPU sends through the window at 200000h, a dword at a time.
//!
//! Colours have rows of whole dwords. Monochrome rows are padded as the command says, or follow one another (packed). The
//! left pixel is the highest bit of a byte, and bytes are in the order of their addresses (linux:via/accel.c).

use super::blit::Sample;

/// What the CPU sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Pixels of that many bytes.
    Color {
        /// Bytes of a pixel.
        bytes: u32,
    },
    /// A bit for each pixel.
    Mono {
        /// Rows are padded to that many bits.
        align: u32,
        /// Colour of ones.
        ones: u32,
        /// Colour of zeroes; none: they leave the destination alone.
        zeroes: Option<u32>,
    },
}

/// Data of a blit that is not complete.
pub struct HostRows {
    format: Format,
    width: u32,
    /// Rows that have not been given out.
    left: u32,
    /// Bits that have come.
    bytes: Vec<u8>,
    /// Bits of `bytes` that were given out.
    used: u64,
}

impl HostRows {
    /// Wait for so many rows.
    pub fn new(format: Format, width: u32, height: u32) -> HostRows {
        HostRows {
            format,
            width,
            left: height,
            bytes: Vec::new(),
            used: 0,
        }
    }

    /// Take a dword.
    pub fn push(&mut self, value: u32) {
        self.bytes.extend(value.to_le_bytes());
    }

    /// Return the next row if all of it has come.
    pub fn next_row(&mut self) -> Option<Vec<Sample>> {
        let (bits, padded) = self.row_bits();
        if self.left == 0 || self.used + bits > self.bytes.len() as u64 * 8 {
            return None;
        }
        let row = (0..self.width).map(|x| self.sample(x)).collect();
        self.left -= 1;
        self.used += padded;
        let done = (self.used / 8).min(self.bytes.len() as u64);
        self.bytes.drain(..done as usize);
        // Padding that has not come yet is left to skip.
        self.used -= done * 8;
        Some(row)
    }

    /// Return the bits of a row, without and with what pads it.
    fn row_bits(&self) -> (u64, u64) {
        let width = u64::from(self.width);
        match self.format {
            Format::Color { bytes } => {
                let bits = width * u64::from(bytes) * 8;
                (bits, bits.next_multiple_of(32))
            }
            Format::Mono { align, .. } => (width, width.next_multiple_of(align.into())),
        }
    }

    fn sample(&self, x: u32) -> Sample {
        match self.format {
            Format::Color { bytes } => {
                let at = (self.used / 8) as usize + (x * bytes) as usize;
                let mut word = [0; 4];
                word[..bytes as usize].copy_from_slice(&self.bytes[at..][..bytes as usize]);
                Some(u32::from_le_bytes(word))
            }
            Format::Mono { ones, zeroes, .. } => {
                let bit = self.used + u64::from(x);
                let one = (self.bytes[(bit / 8) as usize] << (bit % 8)) & 0x80 != 0;
                if one { Some(ones) } else { zeroes }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(format: Format, width: u32, height: u32, words: &[u32]) -> Vec<Vec<Sample>> {
        let mut rows = HostRows::new(format, width, height);
        let mut out = Vec::new();
        for word in words {
            rows.push(*word);
            while let Some(row) = rows.next_row() {
                out.push(row);
            }
        }
        out
    }

    fn mono(align: u32) -> Format {
        Format::Mono {
            align,
            ones: 7,
            zeroes: None,
        }
    }

    #[test]
    fn monochrome_rows_begin_with_the_highest_bit_and_are_padded_as_told() {
        let (one, no) = (Some(7), None);
        // Bytes 80h, 40h, 20h, 10h.
        let word = 0x1020_4080;
        assert_eq!(
            rows(mono(8), 3, 4, &[word]),
            [
                vec![one, no, no],
                vec![no, one, no],
                vec![no, no, one],
                vec![no, no, no]
            ]
        );
        assert_eq!(rows(mono(16), 3, 9, &[word]).len(), 2);
        assert_eq!(
            rows(mono(32), 3, 9, &[word, word]),
            vec![vec![one, no, no]; 2]
        );
        // Packed: ten rows of three bits, and the eleventh needs a bit more.
        let packed = rows(mono(1), 3, 99, &[word]);
        assert_eq!(packed.len(), 10);
        assert_eq!(packed[3], [one, no, no], "bit 9 is the second one");
        assert_eq!(rows(mono(1), 3, 99, &[word, word]).len(), 21);
    }

    #[test]
    fn rows_of_colours_are_whole_dwords() {
        let color = Format::Color { bytes: 2 };
        let got = rows(
            color,
            3,
            2,
            &[0x0002_0001, 0xffff_0003, 0x0005_0004, 0xffff_0006, 9],
        );
        assert_eq!(got, [[1, 2, 3].map(Some), [4, 5, 6].map(Some)]);
    }
}
