// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Where the pixels of a surface lie (R5xx chapter 2).
//!
//! Memory is cut into micro-blocks of 32 bytes. A linear one holds a piece of a line, a tiled one a small rectangle.
//! Without macro-tiling the micro-blocks of a surface follow each other from left to right and from top to bottom;
//! with it, 8 by 8 of them form a macro-block of 2 KiB, and the macro-blocks follow each other. The manual gives the
//! rectangles but not the order inside them, so whole blocks count as touched.
//!
//! A multi-sampled surface has all samples of a block side by side, as many times the memory (Mesa allocates it so).

use lapidary_model::runs::Runs;

/// Bytes of a micro-block.
pub const MICRO: u64 = 32;
/// Bytes of a macro-block.
pub const MACRO: u64 = 2048;

/// How pixels are put into micro-blocks. The values are those of the registers' fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Micro {
    /// Pieces of lines.
    Linear,
    /// Rectangles.
    Tiled,
    /// Squares, for 16-bit pixels.
    Square,
}

impl Micro {
    /// Return the tiling of a register field. The reserved value counts as tiled.
    pub fn of(field: u32) -> Micro {
        use lapidary_registers::r500::mmio::zb_depthpitch::depthmicrotile::{LINEAR, SQUARE};
        match field {
            LINEAR => Micro::Linear,
            SQUARE => Micro::Square,
            _ => Micro::Tiled,
        }
    }

    /// Return the pixels (or whatever has `bytes` bytes) of a micro-block, across and down.
    pub fn block(self, bytes: u64) -> (u64, u64) {
        match (self, bytes) {
            (Micro::Linear, _) | (_, 16) => (MICRO / bytes, 1),
            (_, 1) => (8, 4),
            (Micro::Square, 2) => (4, 4),
            (_, 2) => (8, 2),
            (_, 4) => (4, 2),
            _ => (2, 2),
        }
    }
}

/// A rectangle of pixels; the right and lower edges are outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rect {
    /// Left.
    pub x0: u64,
    /// Top.
    pub y0: u64,
    /// Right.
    pub x1: u64,
    /// Bottom.
    pub y1: u64,
}

impl Rect {
    /// Return whether there is no pixel.
    pub fn is_empty(&self) -> bool {
        self.x0 >= self.x1 || self.y0 >= self.y1
    }
}

/// A surface of pixels of 1, 2, 4, 8 or 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Surface {
    /// Address of its first block.
    pub base: u64,
    /// Pixels from a line to the next.
    pub pitch: u64,
    /// Bytes of a pixel.
    pub bytes: u64,
    /// Micro-tiling.
    pub micro: Micro,
    /// Macro-tiling.
    pub macro_tiled: bool,
    /// Samples of a pixel, 1 to 6.
    pub samples: u64,
}

impl Surface {
    /// Return the pixels of a block, across and down: lines are padded to whole blocks.
    pub fn block(&self) -> (u64, u64) {
        let (w, h) = self.micro.block(self.bytes);
        if self.macro_tiled {
            (w * 8, h * 8)
        } else {
            (w, h)
        }
    }

    fn block_bytes(&self) -> u64 {
        self.samples * if self.macro_tiled { MACRO } else { MICRO }
    }

    /// Return the bytes from one row of blocks to the next.
    pub fn row(&self) -> u64 {
        self.pitch.div_ceil(self.block().0) * self.block_bytes()
    }

    /// Return the bytes of that many lines, in whole blocks.
    pub fn size(&self, lines: u64) -> u64 {
        lines.div_ceil(self.block().1) * self.row()
    }

    /// Return the bytes of a rectangle.
    pub fn runs(&self, r: Rect) -> Runs {
        if r.is_empty() {
            return Runs::one(self.base, 0);
        }
        if !self.macro_tiled && self.micro == Micro::Linear {
            let pixel = self.bytes * self.samples;
            return Runs {
                start: self.base + r.y0 * self.row() + r.x0 * pixel,
                len: (r.x1 - r.x0) * pixel,
                stride: self.row(),
                rows: r.y1 - r.y0,
            };
        }
        let (w, h) = self.block();
        let (left, right) = (r.x0 / w, r.x1.div_ceil(w));
        let (top, bottom) = (r.y0 / h, r.y1.div_ceil(h));
        // A macro-tiled surface begins at a multiple of 2 KiB. What the bits below do is not said: as if either.
        let below = if self.macro_tiled {
            self.base % MACRO
        } else {
            0
        };
        Runs {
            start: self.base - below + top * self.row() + left * self.block_bytes(),
            len: (right - left) * self.block_bytes() + if below > 0 { MACRO } else { 0 },
            stride: self.row(),
            rows: bottom - top,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn surface(bytes: u64, pitch: u64, micro: Micro, macro_tiled: bool) -> Surface {
        Surface {
            base: 0x10000,
            pitch,
            bytes,
            micro,
            macro_tiled,
            samples: 1,
        }
    }

    fn rect(x0: u64, y0: u64, x1: u64, y1: u64) -> Rect {
        Rect { x0, y0, x1, y1 }
    }

    /// The tables of R5xx 2.2 and 2.3.
    #[test]
    fn block_sizes() {
        let table = [
            (1, Micro::Linear, (32, 1), (256, 8)),
            (1, Micro::Tiled, (8, 4), (64, 32)),
            (2, Micro::Linear, (16, 1), (128, 8)),
            (2, Micro::Tiled, (8, 2), (64, 16)),
            (2, Micro::Square, (4, 4), (32, 32)),
            (4, Micro::Linear, (8, 1), (64, 8)),
            (4, Micro::Tiled, (4, 2), (32, 16)),
            (8, Micro::Linear, (4, 1), (32, 8)),
            (8, Micro::Tiled, (2, 2), (16, 16)),
            (16, Micro::Linear, (2, 1), (16, 8)),
        ];
        for (bytes, micro, small, large) in table {
            assert_eq!(
                surface(bytes, 64, micro, false).block(),
                small,
                "{bytes} {micro:?}"
            );
            assert_eq!(
                surface(bytes, 64, micro, true).block(),
                large,
                "{bytes} {micro:?}"
            );
            assert_eq!(small.0 * small.1 * bytes, MICRO);
            assert_eq!(large.0 * large.1 * bytes, MACRO);
        }
    }

    #[test]
    fn linear_rows() {
        let s = surface(4, 64, Micro::Linear, false);
        let r = s.runs(rect(2, 1, 4, 3));
        assert_eq!(
            (r.start, r.len, r.stride, r.rows),
            (0x10000 + 256 + 8, 8, 256, 2)
        );
        assert_eq!(
            s.runs(rect(0, 0, 64, 16)).merged(),
            Runs::one(0x10000, 4096)
        );
        // 10 pixels of 4 bytes are padded to two micro-blocks.
        assert_eq!(surface(4, 10, Micro::Linear, false).row(), 64);
    }

    #[test]
    fn micro_tiles() {
        let s = surface(4, 16, Micro::Tiled, false);
        // Blocks of 4 x 2: pixel (5, 3) is in block 1 of row 1, four blocks a row.
        let r = s.runs(rect(5, 3, 6, 4));
        assert_eq!(r.merged(), Runs::one(0x10000 + (4 + 1) * 32, 32));
        // Two lines across the edge of blocks.
        let r = s.runs(rect(3, 1, 5, 3));
        assert_eq!((r.start, r.len, r.stride, r.rows), (0x10000, 64, 128, 2));
    }

    #[test]
    fn macro_tiles() {
        let s = surface(4, 64, Micro::Tiled, true);
        // Blocks of 32 x 16, two a row.
        assert_eq!(
            s.runs(rect(40, 20, 41, 21)).merged(),
            Runs::one(0x10000 + 3 * 2048, 2048)
        );
        assert_eq!(s.size(17), 4 * 2048);
        let askew = Surface { base: 0x10020, ..s };
        let r = askew.runs(rect(0, 0, 1, 1));
        assert_eq!((r.start, r.end()), (0x10000, 0x11000));
    }

    #[test]
    fn samples_multiply() {
        let s = Surface {
            samples: 4,
            ..surface(4, 64, Micro::Tiled, true)
        };
        assert_eq!(
            s.runs(rect(0, 0, 64, 16)).merged(),
            Runs::one(0x10000, 4 * 4096)
        );
    }
}
