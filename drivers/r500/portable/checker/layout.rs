// SPDX-License-Identifier: GPL-2.0 OR MIT

//! How many bytes a picture takes in memory, whatever the order of its pixels (R5xx 2).
//!
//! Memory is divided into micro-blocks of 32 bytes. In a linear micro-block pixels follow each other along a line. In a
//! tiled one they cover a small rectangle. With macro-tiling 8 by 8 micro-blocks form a macro-block of 2 KiB. Without
//! it micro-blocks follow each other from left to right and from top to bottom. In both cases a picture is an array of
//! equal blocks, row after row, and the pitch says how many a row has. The units compute the place of a block from its
//! column and row. A column beyond the pitch therefore leads into the next row. This is legal, and counted here.

use super::Reason;

/// Log2 of the size of a micro-block in bytes.
const MICRO_BYTES: u32 = 5;
/// Log2 of micro-blocks along each edge of a macro-block.
const MACRO_EDGE: u32 = 3;
/// Alignment of macro-tiled pictures in bytes.
const MACRO_BYTES: u64 = 2048;

/// Arrangement of pixels within a micro-block, as the registers code it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Micro {
    Linear,
    Tiled,
    Square,
}

impl Micro {
    /// Decode the field of a colour, depth or texture register. The fourth code is reserved.
    pub(super) fn new(code: u32) -> Result<Self, Reason> {
        match code {
            0 => Ok(Self::Linear),
            1 => Ok(Self::Tiled),
            2 => Ok(Self::Square),
            _ => Err(Reason::TilingMode),
        }
    }
}

/// A block of pixels that is contiguous in memory.
///
/// A "pixel" is what is addressed as one. A block of compressed texels is one, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// Log2 of the width in pixels.
    width: u32,
    /// Log2 of the height in pixels.
    height: u32,
    /// Log2 of the size in bytes.
    bytes: u32,
}

/// Return how many blocks of `1 << log2` pixels `pixels` pixels need. Pictures have at most 2^16 of them along an edge.
fn blocks(pixels: u64, log2: u32) -> u64 {
    let rest = 1u64.wrapping_shl(log2).wrapping_sub(1);
    pixels.wrapping_add(rest).wrapping_shr(log2)
}

impl Block {
    /// Return the block of pixels of `1 << pixel` bytes.
    ///
    /// # Errors
    ///
    /// [`Reason::TilingMode`] for arrangements that the manual's table (R5xx 2.2) does not have.
    pub(super) fn new(pixel: u32, micro: Micro, macro_tiled: bool) -> Result<Self, Reason> {
        let (width, height) = match (pixel, micro) {
            (0..=4, Micro::Linear) => (MICRO_BYTES.wrapping_sub(pixel), 0),
            (0, Micro::Tiled) => (3, 2),
            (1, Micro::Tiled) => (3, 1),
            (1, Micro::Square) => (2, 2),
            (2, Micro::Tiled) => (2, 1),
            (3, Micro::Tiled) => (1, 1),
            _ => return Err(Reason::TilingMode),
        };
        let edge = if macro_tiled { MACRO_EDGE } else { 0 };
        Ok(Self {
            width: edge.wrapping_add(width),
            height: edge.wrapping_add(height),
            bytes: edge.wrapping_mul(2).wrapping_add(MICRO_BYTES),
        })
    }

    /// Return the width in pixels.
    pub(super) fn columns(self) -> u64 {
        1u64.wrapping_shl(self.width)
    }

    /// Return the size in bytes of a picture of `columns` by `lines` pixels whose rows are `pitch` pixels apart. Each
    /// is at most 2^16, so the result is below 2^48.
    pub(super) fn picture(self, pitch: u64, columns: u64, lines: u64) -> u64 {
        let row = blocks(pitch, self.width);
        let last = row.max(blocks(columns, self.width));
        blocks(lines, self.height)
            .saturating_sub(1)
            .wrapping_mul(row)
            .wrapping_add(last)
            .wrapping_shl(self.bytes)
    }

    /// Return how many columns a picture may have to fit into `length` bytes, with `samples` values for each pixel. The
    /// answer is at least the pitch; `None` if not even that fits.
    pub(super) fn fitting_columns(
        self,
        pitch: u64,
        lines: u64,
        samples: u64,
        length: u64,
    ) -> Option<u64> {
        let row = blocks(pitch, self.width);
        let before = blocks(lines, self.height)
            .saturating_sub(1)
            .wrapping_mul(row);
        let last = length
            .checked_div(samples)?
            .wrapping_shr(self.bytes)
            .checked_sub(before)?;
        // Coordinates are smaller than the bound, and the shift cannot overflow.
        (last >= row).then(|| last.min(1 << 16).wrapping_shl(self.width))
    }
}

/// Check that the rows of a colour, depth or resolve buffer consist of whole blocks.
pub(super) fn aligned(
    block: Block,
    macro_tiled: bool,
    pitch: u64,
    offset: u64,
) -> Result<(), Reason> {
    if pitch == 0 {
        return Err(Reason::ZeroPitch);
    }
    if pitch & block.columns().wrapping_sub(1) != 0 {
        return Err(Reason::TiledPitch);
    }
    start_aligned(macro_tiled, offset)
}

/// Check that a macro-tiled picture starts at a macro-block.
pub(super) fn start_aligned(macro_tiled: bool, offset: u64) -> Result<(), Reason> {
    if macro_tiled && offset % MACRO_BYTES != 0 {
        return Err(Reason::TiledOffset);
    }
    Ok(())
}
