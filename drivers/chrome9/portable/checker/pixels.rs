// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What a draw touches of render targets, depth and stencil.
//!
//! A draw may touch every pixel of the colour window and of the scissor (decision 6). The manual does not say whether their right
//! and lower coordinates are inside. Here they are. Nor does it say that both windows always count, so that each has to
//! lie in the surfaces.
//!
//! - **Rows of pixels** are a pitch apart. **Tiles** have 32 bytes times 8 or 16 rows each, and the pitch is the tiles of a row of
//!   tiles (L501, L511, L950). Whether depth lies in tiles is lost in the text, so that it must fit in both ways.
//! - **Stencil** of its own has blocks of 8 x 8 bytes (L852-856). What switches it on is lost. Whatever tests stencil needs it.
//! - **Coarse depth** has 32 bytes for each cell (L869). How many pixels a cell has is not given: one, if it is taken
//!   literally.

use lapidary::portable::bits::Field;

use super::{
    attribute::{
        window,
        Cells,
        TARGETS, //
    },
    format,
    relocate::Target,
    Checker,
    Reason, //
};
use crate::portable::regs::para_01::{
    coarse_z_1,
    enable_1,
    enable_2,
    fast_z_clear_1,
    rt0_2,
    rt0_3,
    z_2,
    z_3, //
};

/// Unit of pitches, and bytes of a row of a tile.
const PITCH_UNIT: u64 = 32;
/// Bytes of a block of stencil, and pixels of its side.
const STENCIL_BLOCK: u64 = 64;
const STENCIL_SIDE: u64 = 8;
/// Bytes of a cell of coarse depth.
const CELL: u64 = 32;
/// Rows of a tile.
const LOW_TILE: u64 = 8;
const HIGH_TILE: u64 = 16;
/// Bytes of a pixel of depth that has stencil.
const STENCIL_DEPTH: u64 = 4;

/// Enables of blending, by render target.
const BLENDED: [Field; TARGETS] = [
    enable_1::BLEND_RT0,
    enable_1::BLEND_RT1,
    enable_1::BLEND_RT2,
    enable_1::BLEND_RT3,
];

/// Columns and rows of pixels that a draw may touch, at least 1 and at most 2049.
#[derive(Clone, Copy, Debug)]
struct Extent {
    columns: u64,
    rows: u64,
}

impl Extent {
    /// Return the bytes from the base to behind the last pixel, if rows are `pitch` units apart and have `row` bytes.
    fn linear(self, pitch: u64, row: u64) -> u64 {
        let above = self.rows.wrapping_sub(1).wrapping_mul(pitch);
        above.wrapping_mul(PITCH_UNIT).wrapping_add(row)
    }

    /// As [`linear`](Self::linear), if a row of tiles with `high` rows of pixels has `pitch` tiles.
    fn tiled(self, pitch: u64, row: u64, high: u64) -> u64 {
        let above = self.rows.wrapping_sub(1).checked_div(high).unwrap_or(0);
        above
            .wrapping_mul(pitch)
            .wrapping_add(row.div_ceil(PITCH_UNIT))
            .wrapping_mul(PITCH_UNIT)
            .wrapping_mul(high)
    }
}

impl Checker<'_> {
    /// Check that a stretch of bytes from `target` on lies in its object, and note that it is touched.
    pub(super) fn touch(
        &mut self,
        target: Target,
        bytes: u64,
        writes: bool,
        reason: Reason,
    ) -> Result<(), Reason> {
        let Some(object) = self.objects.get_mut(target.object as usize) else {
            return Err(reason);
        };
        match u64::from(target.offset).checked_add(bytes) {
            Some(end) if end <= object.size => {}
            _ => return Err(reason),
        }
        if writes {
            object.access.writes = true;
        } else {
            object.access.reads = true;
        }
        Ok(())
    }

    /// Check all surfaces that a draw touches.
    pub(super) fn surfaces(&mut self) -> Result<(), Reason> {
        let [rows, columns, scissor_rows, scissor_columns] = self.attributes.windows;
        let end = |one: u32, other: u32| {
            let last = window(one).1.max(window(other).1);
            u64::from(last).wrapping_add(1)
        };
        let extent = Extent {
            columns: end(columns, scissor_columns),
            rows: end(rows, scissor_rows),
        };
        let count = enable_2::RT_COUNT.get(self.attributes.enable_2) as usize;
        for number in 0..TARGETS {
            if number <= count {
                self.color(number, extent)?;
            }
        }
        self.depth(extent)?;
        self.coarse(extent)
    }

    fn color(&mut self, number: usize, extent: Extent) -> Result<(), Reason> {
        let Some(target) = self.attributes.targets.get(number).copied() else {
            return Err(Reason::NoTarget);
        };
        let place = target.surface.target(Reason::NoTarget)?;
        let (Some(word), Some(_)) = (target.format, target.output) else {
            return Err(Reason::NoTarget);
        };
        let format = rt0_3::FORMAT.get(word);
        let bytes = format::target_bytes(format).ok_or(Reason::TargetFormat)?;
        let blended = BLENDED
            .get(number)
            .is_some_and(|field| field.any(self.attributes.enable_1));
        if blended && format::plain(format) {
            return Err(Reason::TargetBlend);
        }
        let pitch = u64::from(rt0_3::PITCH.get(word));
        if pitch == 0 {
            return Err(Reason::SurfacePitch);
        }
        // Both pixels of a pair are there.
        let odd = if format::target_pairs(format) {
            extent.columns & 1
        } else {
            0
        };
        let row = extent
            .columns
            .wrapping_add(odd)
            .wrapping_mul(u64::from(bytes));
        let end = match (
            rt0_2::TILED.any(target.layout),
            rt0_2::TILE_16.any(target.layout),
        ) {
            (false, _) => extent.linear(pitch, row),
            (true, false) => extent.tiled(pitch, row, LOW_TILE),
            (true, true) => extent.tiled(pitch, row, HIGH_TILE),
        };
        let writes = enable_2::COLOR_WRITE.any(self.attributes.enable_2);
        self.touch(place, end, writes, Reason::TargetBounds)
    }

    fn depth(&mut self, extent: Extent) -> Result<(), Reason> {
        let enable = self.attributes.enable_2;
        let stencil = enable_2::STENCIL_TEST.any(enable);
        let fast = fast_z_clear_1::ENABLE.any(self.attributes.fast_clear);
        let writes = enable_2::Z_WRITE.any(enable) || stencil || fast;
        if !writes && !enable_2::Z_TEST.any(enable) {
            return Ok(());
        }
        let place = self.attributes.depth.target(Reason::NoDepth)?;
        let (Some(second), Some(third)) = (self.attributes.depth_2, self.attributes.depth_3) else {
            return Err(Reason::NoDepth);
        };
        let bytes = format::depth_bytes(z_3::FORMAT.get(third)).ok_or(Reason::DepthFormat)?;
        let pitch = u64::from(z_2::PITCH.get(second));
        if pitch == 0 {
            return Err(Reason::SurfacePitch);
        }
        let row = extent.columns.wrapping_mul(u64::from(bytes));
        let end = extent
            .linear(pitch, row)
            .max(extent.tiled(pitch, row, LOW_TILE));
        self.touch(place, end, writes, Reason::DepthBounds)?;
        if !stencil {
            return Ok(());
        }
        // The only format with stencil (L854), also if that lies in a buffer of its own.
        if z_3::FORMAT.get(third) != z_3::format::Z24S8_ASSUMED {
            return Err(Reason::StencilFormat);
        }
        let place = self.attributes.stencil.target(Reason::NoStencil)?;
        // As many blocks to a row as the buffer is wide, or as the pitch of depth has pixels.
        let wide = pitch.wrapping_mul(PITCH_UNIT) / STENCIL_DEPTH;
        let blocks = wide.max(extent.columns).div_ceil(STENCIL_SIDE);
        let above = extent.rows.wrapping_sub(1) / STENCIL_SIDE;
        let end = above
            .wrapping_mul(blocks)
            .wrapping_add(extent.columns.div_ceil(STENCIL_SIDE))
            .wrapping_mul(STENCIL_BLOCK);
        self.touch(place, end, true, Reason::StencilBounds)
    }

    fn coarse(&mut self, extent: Extent) -> Result<(), Reason> {
        let enable = self.attributes.enable_2;
        if !enable_2::COARSE_Z_TEST.any(enable) && !enable_2::COARSE_Z_WRITE.any(enable) {
            return Ok(());
        }
        let place = self.attributes.coarse.target(Reason::NoCoarseDepth)?;
        let pitch = u64::from(coarse_z_1::PITCH.get(self.attributes.coarse_1));
        if pitch == 0 {
            return Err(Reason::SurfacePitch);
        }
        if self.attributes.cells == Cells::Foreign {
            return Err(Reason::CoarseCache);
        }
        self.attributes.cells = Cells::Own;
        let row = extent.columns.wrapping_mul(CELL);
        // A cell that is read may be written back.
        self.touch(place, extent.linear(pitch, row), true, Reason::CoarseBounds)
    }
}
