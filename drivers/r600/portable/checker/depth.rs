// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Depth and stencil: one target, with HTILE for hierarchical tests and compression.
//!
//! The registers are those of a colour target. The target is touched by tests, clears, copies to a colour target and
//! decompression (`DB_RENDER_CONTROL`). Which of them a draw does is not asked: a target with a format counts as read and
//! written by every draw.
//!
//! HTILE has four bytes for a tile of 8 × 8 pixels. Its lines and columns are rounded up to the block that the cache of
//! the depth unit holds, which depends on the number of pipes (Linux, `drivers/gpu/drm/radeon/r600_cs.c`:
//! `r600_cs_track_validate_db`; Mesa, `src/gallium/drivers/r600/r600_texture.c`: `r600_texture_get_htile_size`). The
//! public texts do not describe loads ahead of HTILE, so they are refused. A linear HTILE takes less than a tiled one.

use super::{
    gfx::Checker,
    layout::Layout,
    place::Doing,
    raster::Edge,
    surface::Place,
    Reason, //
};
use crate::portable::regs::{
    enums::{
        array_mode,
        depth_format, //
    },
    mmio::{
        db_depth_info as info,
        db_depth_size as size,
        db_depth_view as view,
        db_htile_surface as htile, //
    },
};

/// Bytes of HTILE for a tile.
const HTILE: u64 = 4;

/// The depth state that a stream has set.
#[derive(Debug, Default)]
pub(super) struct Depth {
    info: Option<u32>,
    size: Option<u32>,
    view: Option<u32>,
    base: Option<Place>,
    htile_surface: Option<u32>,
    htile_base: Option<Place>,
}

/// Return the bytes of a pixel. All eight formats exist, and the first one is none.
fn pixel(format: u32) -> u64 {
    use depth_format::*;
    match format {
        DEPTH_16 => 2,
        DEPTH_X8_24 | DEPTH_8_24 | DEPTH_X8_24_FLOAT | DEPTH_8_24_FLOAT | DEPTH_32_FLOAT => 4,
        _ => 8,
    }
}

/// Return the tiles of the block that the cache of the depth unit holds, columns and lines; powers of two.
fn block(pipes: u32) -> Option<(u64, u64)> {
    match pipes {
        1 => Some((32, 16)),
        2 => Some((32, 32)),
        4 => Some((64, 32)),
        8 => Some((64, 64)),
        _ => None,
    }
}

impl Depth {
    /// Track a write to `DB_DEPTH_INFO`.
    ///
    /// # Errors
    ///
    /// [`Reason::RegisterBits`] for a target that several chips share.
    pub(super) fn set_info(&mut self, word: u32) -> Result<(), Reason> {
        if info::TILE_COMPACT.any(word) {
            return Err(Reason::RegisterBits);
        }
        self.info = Some(word);
        Ok(())
    }

    /// Track a write to `DB_DEPTH_SIZE`.
    pub(super) fn set_size(&mut self, word: u32) {
        self.size = Some(word);
    }

    /// Track a write to `DB_DEPTH_VIEW`.
    pub(super) fn set_view(&mut self, word: u32) {
        self.view = Some(word);
    }

    /// Track a write to `DB_DEPTH_BASE`.
    pub(super) fn set_base(&mut self, place: Place) {
        self.base = Some(place);
    }

    /// Track a write to `DB_HTILE_SURFACE`.
    ///
    /// # Errors
    ///
    /// [`Reason::RegisterBits`] for loads ahead.
    pub(super) fn set_htile_surface(&mut self, word: u32) -> Result<(), Reason> {
        let known = htile::HTILE_WIDTH.mask()
            | htile::HTILE_HEIGHT.mask()
            | htile::LINEAR.mask()
            | htile::FULL_CACHE.mask();
        if word & !known != 0 {
            return Err(Reason::RegisterBits);
        }
        self.htile_surface = Some(word);
        Ok(())
    }

    /// Track a write to `DB_HTILE_DATA_BASE`.
    pub(super) fn set_htile_base(&mut self, place: Place) {
        self.htile_base = Some(place);
    }
}

impl Checker<'_> {
    /// Check what a draw accesses in the depth target, with `log2` as the logarithm of the samples. It draws within
    /// `edge`.
    pub(super) fn judge_depth(&mut self, log2: u32, edge: Edge) -> Result<(), Reason> {
        let depth = &self.depth;
        let word = depth.info.ok_or(Reason::NoDepthInfo)?;
        let format = info::FORMAT.get(word);
        if format == depth_format::DEPTH_INVALID {
            return Ok(());
        }
        let (Some(size), Some(view), Some(base)) = (depth.size, depth.view, depth.base) else {
            return Err(Reason::NoDepthBuffer);
        };
        let (first, last) = (view::SLICE_START.get(view), view::SLICE_MAX.get(view));
        if first > last {
            return Err(Reason::SliceOrder);
        }
        let slices = u64::from(last).wrapping_add(1);
        let mode = info::ARRAY_MODE.get(word);
        if !matches!(
            mode,
            array_mode::ARRAY_1D_TILED_THIN1 | array_mode::ARRAY_2D_TILED_THIN1
        ) {
            return Err(Reason::TilingMode);
        }
        let layout = Layout::new(mode, pixel(format), log2, self.chip)?;
        let tiles = |field: u32| u64::from(field).wrapping_add(1);
        let pitch = tiles(size::PITCH_TILE_MAX.get(size));
        let slice = tiles(size::SLICE_TILE_MAX.get(size));
        let bytes = layout.target(pitch, slice)?.wrapping_mul(slices);
        edge.within(pitch, slice)?;
        let alignment = layout.base();
        self.claim(base, bytes, alignment, Doing::Writes, Reason::DepthBounds)?;
        if info::TILE_SURFACE_ENABLE.any(word) {
            self.judge_htile(pitch, slice, slices)?;
        }
        Ok(())
    }

    /// Check what a draw accesses in HTILE, for a target with `pitch` tiles in a line and `slice` tiles in each of so
    /// many slices.
    fn judge_htile(&mut self, pitch: u64, slice: u64, slices: u64) -> Result<(), Reason> {
        let (Some(word), Some(base)) = (self.depth.htile_surface, self.depth.htile_base) else {
            return Err(Reason::NoHtile);
        };
        // Smaller tiles would take more memory.
        if !(htile::HTILE_WIDTH.any(word) && htile::HTILE_HEIGHT.any(word)) {
            return Err(Reason::HtileSize);
        }
        let (columns, lines) = block(self.chip.pipes).ok_or(Reason::HtileSize)?;
        // A 1D slice may end in a row of tiles. That row counts.
        let rows = slice
            .wrapping_add(pitch)
            .wrapping_sub(1)
            .checked_div(pitch)
            .ok_or(Reason::Pitch)?;
        let up = |value: u64, unit: u64| value.checked_next_multiple_of(unit).unwrap_or(u64::MAX);
        // At most 2^10 columns and 2^20 lines: no product overflows.
        let bytes = up(pitch, columns)
            .wrapping_mul(up(rows, lines))
            .wrapping_mul(HTILE)
            .wrapping_mul(slices);
        let channels = u64::from(self.chip.pipes).wrapping_mul(self.chip.group_bytes.into());
        self.claim(base, bytes, channels, Doing::Writes, Reason::HtileBounds)
    }
}
