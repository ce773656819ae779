// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Pixels in the frame buffer.

/// A picture in the frame buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Surface {
    /// Offset of its first pixel, in bytes.
    pub base: u64,
    /// Bytes from row to row.
    pub pitch: u64,
    /// Bytes of a pixel: 1, 2 or 4.
    pub bytes: u32,
}

impl Surface {
    /// Return where a pixel lies; none if that is before the frame buffer.
    pub fn at(&self, x: i64, y: i64) -> Option<u64> {
        let offset = y * self.pitch as i64 + x * i64::from(self.bytes);
        self.base.checked_add_signed(offset)
    }

    /// Return the pixel in the bytes of a row.
    pub fn pixel(&self, row: &[u8], index: usize) -> u32 {
        let bytes = self.bytes as usize;
        let mut word = [0; 4];
        word[..bytes].copy_from_slice(&row[index * bytes..][..bytes]);
        u32::from_le_bytes(word)
    }

    /// Put a pixel into the bytes of a row, but for the bytes of it that `kept` has a one for.
    pub fn put(&self, row: &mut [u8], index: usize, pixel: u32, kept: u32) {
        let bytes = self.bytes as usize;
        let at = &mut row[index * bytes..][..bytes];
        for (i, (to, from)) in at.iter_mut().zip(pixel.to_le_bytes()).enumerate() {
            if (kept >> i) & 1 == 0 {
                *to = from;
            }
        }
    }

    /// Return the bits that a pixel has.
    pub fn mask(&self) -> u32 {
        u32::MAX >> (32 - 8 * self.bytes)
    }
}

/// A rectangle of pixels, by its upper left corner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rect {
    /// Its left edge, which may be before the picture.
    pub x: i64,
    /// Its upper edge, which may be before the picture.
    pub y: i64,
    /// Pixels of a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
}
