// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The range of a surface register, in which the CPU sees tiles of VRAM as lines.
//!
//! For an access to byte `offset` of a range the chip computes line and column from the pitch, and finds the block of
//! memory that holds this part of the picture (R5xx 2.2, 2.3). The pitch is a whole number of blocks. A *row* is the
//! memory of all blocks that lie side by side: `pitch × lines of a block` bytes. A row's lines and a row's blocks are
//! the same bytes in another order. The manual does not say in which order bytes lie in a block. With any order, an
//! access to a whole row stays in that row. An access to a part of a row may not, because its block may lie behind the
//! end of the object. Therefore a range has whole rows only. What lies behind them stays linear, up to the end of the
//! object.
//!
//! The blocks of the host's path have two shapes (the table in R5xx 2.2 names both for `hdp`): 16 bytes by 2 lines
//! (32-bit pixels, wide 16-bit pixels), or 8 bytes by 4 lines (8-bit pixels, square 16-bit pixels). The register does
//! not say which is meant. Rows here are whole in both.
//!
//! | tiles | a block of the pitch | a row has |
//! | --- | --- | --- |
//! | micro | 16 bytes | 4 lines |
//! | macro | 256 bytes | 8 lines |
//! | both | 128 bytes | 32 lines |
//!
//! Clients lose nothing: objects of Linux' console (`radeon_fbdev.c`: macro tiles, 8 lines) are whole rows, rounded up
//! to a page. Objects whose bytes are only swapped have no rows.

use core::ops::Range;

use lapidary::portable::radeon::uapi::tiling;

use crate::portable::regs::mmio::surface_info::{
    AP0_SWP, AP1_SWP, PITCHSEL, TILE_MACRO, TILE_MICRO,
};

/// Unit of the pitch in bytes (Linux, `r100_set_surface_reg`).
const UNIT: u32 = 8;
/// Bytes that the beginning of a range is a multiple of: a macro block, so that no order of bytes in a block depends
/// on where the range lies.
const ALIGNMENT: u64 = 2048;
/// Bytes that the bounds of a range are multiples of (R5xx 9.1.10 asks for it of one register; one rule for all).
const GRANULE: u64 = 64;
/// The longest pitch in bytes.
const LONGEST_PITCH: u32 = PITCHSEL.max() * UNIT;
/// Lines of the tallest block.
const MOST_LINES: u32 = 32;
/// No row has more bytes. Memory that is so far from all clients' memory is safe from any pitch that a client sets. The
/// number is a multiple of a page.
pub const LONGEST_ROW: u64 = (LONGEST_PITCH as u64 * MOST_LINES as u64).next_multiple_of(4096);

/// The values of a surface's registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuSurface {
    /// `SURFACE_LOWER_BOUND`: the first byte, as offset in VRAM.
    pub lower: u32,
    /// `SURFACE_UPPER_BOUND`: the last byte.
    pub upper: u32,
    /// `SURFACE_INFO`.
    pub info: u32,
}

impl CpuSurface {
    /// Return the surface of an object that lies at `object` (offsets in VRAM) and has these tiling flags and this
    /// pitch in bytes. Flags and pitch may have any value.
    ///
    /// `None` if the CPU is to see memory without translation: the flags do not ask for one, the pitch is not a
    /// multiple of the block or too long for its field, the object does not have a whole row, or it does not begin at a
    /// multiple of 2048.
    pub fn new(object: Range<u64>, flags: u32, pitch: u32) -> Option<Self> {
        let (grouped, micro) = (flags & tiling::MACRO != 0, flags & tiling::MICRO != 0);
        let swap = match flags {
            flags if flags & tiling::SWAP_32BIT != 0 => 2,
            flags if flags & tiling::SWAP_16BIT != 0 => 1,
            _ => 0,
        };
        let tiled = grouped || micro;
        if flags & tiling::SURFACE == 0 || !tiled && swap == 0 || object.start % ALIGNMENT != 0 {
            return None;
        }
        let row = match tiled {
            true => row(grouped, micro, pitch)?,
            false => GRANULE,
        };
        let size = object.end.checked_sub(object.start)?;
        let covered = size.checked_sub(size.checked_rem(row)?)?;
        let last = object.start.checked_add(covered.checked_sub(1)?)?;
        let pitch = match tiled {
            true => PITCHSEL.of(pitch / UNIT),
            false => 0,
        };
        let tiles = TILE_MACRO.of(grouped.into()) | TILE_MICRO.of(micro.into());
        Some(Self {
            lower: object.start.try_into().ok()?,
            upper: last.try_into().ok()?,
            info: pitch | tiles | AP0_SWP.of(swap) | AP1_SWP.of(swap),
        })
    }
}

/// Return the bytes of a row of blocks, not 0; `None` if such blocks have no such pitch.
fn row(grouped: bool, micro: bool, pitch: u32) -> Option<u64> {
    let (block, lines) = match (grouped, micro) {
        (true, false) => (256, 8),
        (true, true) => (128, MOST_LINES),
        (false, _) => (16, 4),
    };
    let fits = pitch != 0 && pitch <= LONGEST_PITCH && pitch % block == 0;
    fits.then(|| u64::from(pitch) * u64::from(lines))
}
