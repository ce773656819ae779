// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Tiled surfaces, as the DMA engine copies them.
//!
//! The engine goes through the surface line by line from a given pixel on, for a number of dwords. Nothing public says
//! how it continues behind the end of a line, or whether it accesses tiles in part. So all tiles from the first line to
//! the last count as accessed.
//!
//! How a surface lies in memory says [`layout`](super::layout). The packet is Mesa's
//! (`src/gallium/drivers/r600/r600_state.c`: `r600_dma_copy_tile`).

use super::{
    layout::{
        Layout,
        TILE, //
    },
    place::Form,
    Chip,
    Reason, //
};
use crate::portable::regs::dma::write::{
    tiled_info,
    tiled_place,
    tiled_slice, //
};

/// Log2 of the most bytes of a pixel.
const MOST_LOG2_BPP: u32 = 4;

/// A tiled surface, and the place where an access begins.
pub(super) struct Surface {
    /// Bytes from the beginning of the object to that of the surface.
    offset: u64,
    layout: Layout,
    /// Bytes of a line.
    line: u64,
    /// Lines, in whole tiles.
    lines: u64,
    /// Bytes of a slice.
    slice: u64,
    x: u64,
    y: u64,
    z: u64,
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
        let layout = Layout::new(tiled_info::ARRAY_MODE.get(info), bytes, 0, chip)?;
        let tiles = |field: u32| u64::from(field).wrapping_add(1);
        let pitch = layout.pitch_of_tiles(tiles(tiled_info::PITCH_TILE_MAX.get(info)))?;
        let height = u64::from(tiled_info::HEIGHT.get(info)).wrapping_add(1);
        *at = 0;
        let offset = layout.offset(base)?;
        *at = 2;
        // The engine copies tiles of linear surfaces, too.
        let lines = height.div_ceil(TILE).wrapping_mul(TILE);
        let slice_tiles = tiles(tiled_slice::SLICE_TILE_MAX.get(slice));
        let slice_bytes = layout.slice_of_tiles(slice_tiles, pitch, lines)?;
        *at = 3;
        let x = u64::from(tiled_place::X.get(place));
        let y = u64::from(tiled_place::Y.get(place));
        let others = !(tiled_place::X.mask() | tiled_place::Y.mask());
        if place & others != 0 {
            return Err(Reason::ForbiddenBits);
        }
        if x % TILE != 0 || y % TILE != 0 || x >= pitch {
            return Err(Reason::TilePlace);
        }
        Ok(Self {
            offset,
            line: pitch.wrapping_mul(bytes),
            lines,
            slice: slice_bytes,
            x,
            y,
            z: tiled_slice::Z.get(slice).into(),
            layout,
            detile: tiled_info::DETILE.any(info),
        })
    }

    /// Check that an access of `bytes` bytes stays in the surface, and return the range of the object that the slices
    /// up to the accessed one take: offset and bytes.
    pub(super) fn extent(&self, bytes: u64) -> Result<(u64, u64), Reason> {
        // At most 2^14 × 2^4 and 2^18 bytes.
        let end = self.x.wrapping_mul(self.layout.bytes).wrapping_add(bytes);
        let lines = end.div_ceil(self.line.max(1));
        if self.y.wrapping_add(lines) > self.lines {
            return Err(Reason::TiledLines);
        }
        // At most 2^12 slices of 2^30 bytes.
        Ok((self.offset, self.z.wrapping_add(1).wrapping_mul(self.slice)))
    }

    /// Return how the address of the object is inserted.
    pub(super) fn form(&self) -> Form {
        self.layout.form()
    }
}
