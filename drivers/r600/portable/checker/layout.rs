// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Surfaces in memory: what a tiling wants of pitch, height and address, and how many bytes a slice takes.
//!
//! An element is a pixel, a texel or a block of compressed texels, with all its samples. A linear surface has its
//! elements line by line. A tile has 8 by 8 elements. With 1D tiling a tile follows the other. With 2D tiling the tiles
//! of a block, one for each bank and pipe, are spread over the memory channels. A surface is a number of slices. Whatever
//! the order of the tiles is, each slice fills its own range of bytes, if pitch, height and the begin of the slice are
//! multiples of what the tiling wants. So the checkers demand this, and need not know the order.
//!
//! What the tilings want is Linux' (`drivers/gpu/drm/radeon/r600_cs.c`: `r600_get_array_mode_alignment`) and Mesa's
//! (`src/gallium/winsys/radeon/drm/radeon_surface.c`: `r6_surface_init_1d`, `r6_surface_init_2d`). The tiling of elements
//! whose size is not a power of two is not public, and samples lie in 2D tiles only. Both are refused.

use super::{
    place::{
        Form,
        SURFACE_UNIT, //
    },
    Chip,
    Reason, //
};
use crate::portable::regs::enums::array_mode;

/// Elements of a tile in either direction.
pub(super) const TILE: u64 = 8;
/// The least elements between two lines of an aligned linear surface.
const LINEAR_PITCH: u64 = 64;

/// How the elements of a surface lie in memory, and what the surface must be a multiple of. All fields are at least 1.
/// `pitch`, `height` and `base` are powers of two on every chip.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// Bytes of an element with its samples.
    pub(super) bytes: u64,
    /// Of elements from a line to the next one.
    pitch: u64,
    /// Of lines.
    height: u64,
    /// Of the address in bytes, and of the size of a slice.
    base: u64,
}

/// Return whether `value` is a multiple of `unit`, a power of two. Nothing is a multiple of another number.
fn multiple(value: u64, unit: u64) -> bool {
    unit.is_power_of_two() && value & unit.wrapping_sub(1) == 0
}

/// Return the least multiple of `unit`, a power of two, that is not below `value`. Both are below 2^32.
fn round_up(value: u64, unit: u64) -> u64 {
    let rest = unit.wrapping_sub(1);
    value.wrapping_add(rest) & !rest
}

impl Layout {
    /// Return the layout with tiling `mode` of elements of `bytes` bytes, 1 to 16, for each of `1 << log2_samples`
    /// samples, 1 to 8.
    ///
    /// # Errors
    ///
    /// [`Reason::TilingMode`], [`Reason::ElementTiling`] and [`Reason::SampleTiling`].
    #[inline]
    pub(super) fn new(
        mode: u32,
        bytes: u64,
        log2_samples: u32,
        chip: &Chip,
    ) -> Result<Self, Reason> {
        let group = u64::from(chip.group_bytes);
        let (banks, pipes) = (u64::from(chip.banks), u64::from(chip.pipes));
        let linear = matches!(
            mode,
            array_mode::ARRAY_LINEAR_GENERAL | array_mode::ARRAY_LINEAR_ALIGNED
        );
        if !linear && !bytes.is_power_of_two() {
            return Err(Reason::ElementTiling);
        }
        if log2_samples > 0 && mode != array_mode::ARRAY_2D_TILED_THIN1 {
            return Err(Reason::SampleTiling);
        }
        // At most 128.
        let bytes = bytes.wrapping_shl(log2_samples);
        // Elements in as many bytes. Exact for a power of two. The quotient of 12 is below the least pitch.
        let elements = |bytes_of: u64| bytes_of.wrapping_shr(bytes.trailing_zeros());
        Ok(match mode {
            array_mode::ARRAY_LINEAR_GENERAL => Self {
                bytes,
                pitch: 1,
                height: 1,
                base: 1,
            },
            array_mode::ARRAY_LINEAR_ALIGNED => Self {
                bytes,
                pitch: if bytes.is_power_of_two() {
                    elements(group).max(LINEAR_PITCH)
                } else {
                    LINEAR_PITCH
                },
                height: 1,
                base: group,
            },
            array_mode::ARRAY_1D_TILED_THIN1 => Self {
                bytes,
                pitch: elements(group / TILE).max(TILE),
                height: TILE,
                base: group,
            },
            array_mode::ARRAY_2D_TILED_THIN1 => {
                // The numbers of a chip are small.
                let blocks = TILE.wrapping_mul(banks);
                let pitch = elements((group / TILE).wrapping_mul(banks)).max(blocks);
                let height = TILE.wrapping_mul(pipes);
                Self {
                    bytes,
                    pitch,
                    height,
                    base: pitch.wrapping_mul(height).wrapping_mul(bytes),
                }
            }
            _ => return Err(Reason::TilingMode),
        })
    }

    /// Return the offset of `units` units of surfaces in bytes.
    ///
    /// # Errors
    ///
    /// [`Reason::TiledOffset`].
    #[inline]
    pub(super) fn offset(&self, units: u32) -> Result<u64, Reason> {
        let offset = u64::from(units).wrapping_mul(SURFACE_UNIT);
        if !multiple(offset, self.base) {
            return Err(Reason::TiledOffset);
        }
        Ok(offset)
    }

    /// Return `pitch`, a number of elements, if the layout has it.
    ///
    /// # Errors
    ///
    /// [`Reason::Pitch`].
    #[inline]
    pub(super) fn pitch(&self, pitch: u64) -> Result<u64, Reason> {
        if !multiple(pitch, self.pitch) {
            return Err(Reason::Pitch);
        }
        Ok(pitch)
    }

    /// Return the pitch of `tiles` tiles in elements.
    ///
    /// # Errors
    ///
    /// [`Reason::Pitch`].
    #[inline]
    pub(super) fn pitch_of_tiles(&self, tiles: u64) -> Result<u64, Reason> {
        self.pitch(tiles.wrapping_mul(TILE))
    }

    /// Return the bytes of a slice of `tiles` tiles. It must have room for `lines` lines of `pitch` elements. All are
    /// below 2^22.
    ///
    /// # Errors
    ///
    /// [`Reason::SliceSize`].
    #[inline]
    pub(super) fn slice_of_tiles(&self, tiles: u64, pitch: u64, lines: u64) -> Result<u64, Reason> {
        let bytes = tiles.wrapping_mul(TILE * TILE).wrapping_mul(self.bytes);
        if bytes < self.picture(pitch, lines) || !multiple(bytes, self.base) {
            return Err(Reason::SliceSize);
        }
        Ok(bytes)
    }

    /// Return the bytes of a slice of a target. It has `slice` tiles, in lines of `pitch` tiles.
    ///
    /// # Errors
    ///
    /// [`Reason::Pitch`] and [`Reason::SliceSize`].
    #[inline]
    pub(super) fn target(&self, pitch: u64, slice: u64) -> Result<u64, Reason> {
        let pitch = self.pitch_of_tiles(pitch)?;
        self.slice_of_tiles(slice, pitch, 1)
    }

    /// Return the bytes of `lines` lines of `columns` elements, both rounded up to what the layout wants. They are below
    /// 2^16, so the result is below 2^41.
    #[inline]
    pub(super) fn picture(&self, columns: u64, lines: u64) -> u64 {
        round_up(columns, self.pitch)
            .wrapping_mul(round_up(lines, self.height))
            .wrapping_mul(self.bytes)
    }

    /// Return whether `columns` by `lines` elements fill at least one block of the layout.
    #[inline]
    pub(super) fn fills_block(&self, columns: u64, lines: u64) -> bool {
        columns >= self.pitch && lines >= self.height
    }

    /// Return what the address must be a multiple of, in bytes.
    #[inline]
    pub(super) fn base(&self) -> u64 {
        self.base
    }

    /// Return how the address of the object is inserted.
    #[inline]
    pub(super) fn form(&self) -> Form {
        Form::Surface {
            // A power of two below 2^32.
            alignment: self.base.trailing_zeros() as u8,
        }
    }
}
