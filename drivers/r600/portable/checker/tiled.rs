// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Tiled surfaces, as the DMA engine copies them.
//!
//! A tile has 8 by 8 pixels. A surface is a number of slices, and a slice consists of lines of tiles. With 1D tiling a
//! tile follows the other. With 2D tiling the tiles of a block, one for each bank and pipe, are spread over the memory
//! channels. Whatever the order is, each slice fills its own range of bytes, if pitch, height and the begin of the slice
//! are multiples of what the tiling wants. The checker demands that.
//!
//! The engine goes through the surface line by line from a given pixel on, for a number of dwords. Nothing public says
//! how it continues behind the end of a line, or whether it accesses tiles in part. So all tiles from the first line to
//! the last count as accessed.
//!
//! The packet is Mesa's (`src/gallium/drivers/r600/r600_state.c`: `r600_dma_copy_tile`), the alignments are Linux'
//! (`drivers/gpu/drm/radeon/r600_cs.c`: `r600_get_array_mode_alignment`).

use super::{
    place::{
        Form,
        SURFACE_UNIT, //
    },
    Chip,
    Reason, //
};
use crate::portable::regs::{
    dma::write::{
        tiled_info,
        tiled_place,
        tiled_slice, //
    },
    enums::array_mode, //
};

/// Pixels of a tile in either direction.
const TILE: u64 = 8;
/// Log2 of the most bytes of a pixel.
const MOST_LOG2_BPP: u32 = 4;

/// What a tiling wants, in pixels, lines and bytes; powers of two.
struct Alignment {
    pitch: u64,
    height: u64,
    /// Of the address of the surface, and so of the size of a slice.
    base: u64,
}

impl Alignment {
    /// Return what tiling `mode` wants of pixels of `bytes` bytes.
    fn new(mode: u32, bytes: u64, chip: &Chip) -> Result<Self, Reason> {
        let group = u64::from(chip.group_bytes);
        let (banks, pipes) = (u64::from(chip.banks), u64::from(chip.pipes));
        // The numbers of a chip are small, and `bytes` is 1 to 16.
        let pixels = |bytes_of: u64| bytes_of.checked_div(bytes).unwrap_or(0);
        Ok(match mode {
            array_mode::ARRAY_LINEAR_GENERAL => Self {
                pitch: 1,
                height: 1,
                base: 1,
            },
            array_mode::ARRAY_LINEAR_ALIGNED => Self {
                pitch: pixels(group).max(64),
                height: 1,
                base: group,
            },
            array_mode::ARRAY_1D_TILED_THIN1 => Self {
                pitch: pixels(group / TILE).max(TILE),
                height: TILE,
                base: group,
            },
            array_mode::ARRAY_2D_TILED_THIN1 => {
                let pitch =
                    pixels((group / TILE).wrapping_mul(banks)).max(TILE.wrapping_mul(banks));
                let height = TILE.wrapping_mul(pipes);
                Self {
                    pitch,
                    height,
                    base: pitch.wrapping_mul(height).wrapping_mul(bytes),
                }
            }
            _ => return Err(Reason::TilingMode),
        })
    }
}

/// Return whether `value` is a multiple of `unit`. Nothing is a multiple of 0.
fn multiple(value: u64, unit: u64) -> bool {
    value.checked_rem(unit) == Some(0)
}

/// A tiled surface, and the place where an access begins.
pub(super) struct Surface {
    /// Bytes from the beginning of the object to that of the surface.
    offset: u64,
    bytes_of_pixel: u64,
    /// Bytes of a line.
    line: u64,
    /// Lines, in whole tiles.
    lines: u64,
    /// Bytes of a slice.
    slice: u64,
    x: u64,
    y: u64,
    z: u64,
    base_alignment: u64,
    /// Whether the surface is read; otherwise it is written.
    pub(super) detile: bool,
}

impl Surface {
    /// Read the four dwords of a packet that describe a surface. The faulty dword is the one whose number `at` has.
    pub(super) fn new(words: [u32; 4], chip: &Chip, at: &mut usize) -> Result<Self, Reason> {
        let [base, info, slice, place] = words;
        *at = 1;
        let log2 = tiled_info::LOG2_BPP.get(info);
        if log2 > MOST_LOG2_BPP {
            return Err(Reason::PixelSize);
        }
        let bytes = 1u64 << log2;
        let alignment = Alignment::new(tiled_info::ARRAY_MODE.get(info), bytes, chip)?;
        let tiles = u64::from(tiled_info::PITCH_TILE_MAX.get(info)).wrapping_add(1);
        let pitch = tiles.wrapping_mul(TILE);
        if !multiple(pitch, alignment.pitch) {
            return Err(Reason::Pitch);
        }
        let height = u64::from(tiled_info::HEIGHT.get(info)).wrapping_add(1);
        *at = 0;
        let offset = u64::from(base).wrapping_mul(SURFACE_UNIT);
        if !multiple(offset, alignment.base) {
            return Err(Reason::TiledOffset);
        }
        *at = 2;
        // Fields of 10, 14 and 20 bits: no product overflows.
        let slice_tiles = u64::from(tiled_slice::SLICE_TILE_MAX.get(slice)).wrapping_add(1);
        let slice_bytes = slice_tiles.wrapping_mul(TILE * TILE).wrapping_mul(bytes);
        let rows = height.div_ceil(TILE);
        let needed = height
            .checked_next_multiple_of(alignment.height.max(TILE))
            .ok_or(Reason::SliceSize)?
            .wrapping_mul(pitch)
            .wrapping_mul(bytes);
        if slice_bytes < needed || !multiple(slice_bytes, alignment.base) {
            return Err(Reason::SliceSize);
        }
        *at = 3;
        let x = u64::from(tiled_place::X.get(place));
        let y = u64::from(tiled_place::Y.get(place));
        let others = !(tiled_place::X.mask() | tiled_place::Y.mask());
        if place & others != 0 {
            return Err(Reason::ForbiddenBits);
        }
        if !multiple(x, TILE) || !multiple(y, TILE) || x >= pitch {
            return Err(Reason::TilePlace);
        }
        Ok(Self {
            offset,
            bytes_of_pixel: bytes,
            line: pitch.wrapping_mul(bytes),
            lines: rows.wrapping_mul(TILE),
            slice: slice_bytes,
            x,
            y,
            z: tiled_slice::Z.get(slice).into(),
            base_alignment: alignment.base,
            detile: tiled_info::DETILE.any(info),
        })
    }

    /// Check that an access of `bytes` bytes stays in the surface, and return the range of the object that the slices
    /// up to the accessed one take: offset and bytes.
    pub(super) fn extent(&self, bytes: u64) -> Result<(u64, u64), Reason> {
        // At most 2^14 × 2^4 and 2^18 bytes.
        let end = self.x.wrapping_mul(self.bytes_of_pixel).wrapping_add(bytes);
        let lines = end.div_ceil(self.line.max(1));
        if self.y.wrapping_add(lines) > self.lines {
            return Err(Reason::TiledLines);
        }
        // At most 2^12 slices of 2^30 bytes.
        Ok((self.offset, self.z.wrapping_add(1).wrapping_mul(self.slice)))
    }

    /// Return how the address of the object is inserted.
    pub(super) fn form(&self) -> Form {
        Form::Surface {
            // A power of two below 2^32.
            alignment: self.base_alignment.trailing_zeros() as u8,
        }
    }
}
