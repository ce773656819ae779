// SPDX-License-Identifier: GPL-2.0 OR MIT

//! How many bytes a picture takes in memory, whatever the order of its pixels (R5xx 2).
//!
//! Memory is divided into micro-blocks of 32 bytes. In a linear one pixels follow each other along a line; in a
//! tiled one they cover a small rectangle. With macro-tiling 8 by 8 micro-blocks form a macro-block of 2 KiB;
//! without it micro-blocks simply follow each other from left to right and from top to bottom. Either way a
//! picture is an array of equal blocks, row after row, and a row has as many as the pitch says. The units
//! compute the place of a block from its column and row, so a column beyond the pitch leads into the next
//! row: legal, and counted here.

use super::Reason;

/// Log2 of the size of a micro-block, bytes.
const MICRO_BYTES: u32 = 5;
/// Log2 of micro-blocks along each edge of a macro-block.
const MACRO_EDGE: u32 = 3;
/// Alignment of macro-tiled pictures, bytes.
const MACRO_BYTES: u64 = 2048;

/// Arrangement of pixels within a micro-block, as the registers code it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Micro {
    Linear,
    Tiled,
    Square,
}

impl Micro {
    /// From the field of a colour, depth or texture register; the fourth code is reserved.
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
/// A "pixel" is whatever is addressed as one: also a block of compressed texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// Log2 of the width, pixels.
    width: u32,
    /// Log2 of the height, pixels.
    height: u32,
    /// Log2 of the size, bytes.
    bytes: u32,
}

/// How many blocks of `1 << log2` pixels `pixels` pixels need. Pictures have at most 2^16 of them along an edge.
fn blocks(pixels: u64, log2: u32) -> u64 {
    let rest = 1u64.wrapping_shl(log2).wrapping_sub(1);
    pixels.wrapping_add(rest).wrapping_shr(log2)
}

impl Block {
    /// The block of pixels of `1 << pixel` bytes.
    ///
    /// # Errors
    ///
    /// Arrangements that the manual's table (R5xx 2.2) does not have.
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

    /// Width, pixels.
    pub(super) fn columns(self) -> u64 {
        1u64.wrapping_shl(self.width)
    }

    /// Size of a picture of `columns` by `lines` pixels whose rows are `pitch` pixels apart; at most 2^16 of
    /// each, so the result is below 2^48.
    pub(super) fn picture(self, pitch: u64, columns: u64, lines: u64) -> u64 {
        let row = blocks(pitch, self.width);
        let last = row.max(blocks(columns, self.width));
        blocks(lines, self.height)
            .saturating_sub(1)
            .wrapping_mul(row)
            .wrapping_add(last)
            .wrapping_shl(self.bytes)
    }

    /// The reverse: how many columns a picture may have that is to fit into `length` bytes, with `samples`
    /// values for each pixel. At least the pitch; `None` if not even that fits.
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
        // No coordinate is that large, and the shift cannot overflow.
        (last >= row).then(|| last.min(1 << 16).wrapping_shl(self.width))
    }
}

/// What a colour, depth or resolve buffer must be like for its rows to consist of whole blocks.
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

/// Macro-blocks are aligned in memory.
pub(super) fn start_aligned(macro_tiled: bool, offset: u64) -> Result<(), Reason> {
    if macro_tiled && offset % MACRO_BYTES != 0 {
        return Err(Reason::TiledOffset);
    }
    Ok(())
}
