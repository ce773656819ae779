// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Colour: up to eight targets, with CMASK and FMASK for several samples.
//!
//! A target is a number of slices of tiles of 8 × 8 pixels. `CB_COLORn_SIZE` has the tiles of a line and of a slice,
//! `CB_COLORn_VIEW` the slices, `CB_COLORn_INFO` format and tiling. A draw touches the targets that have a format and of
//! which `CB_TARGET_MASK` enables a component. Special operations also touch targets that are masked: samples of target
//! 0 are averaged into target 1, and CMASK and FMASK are expanded. So with these all targets with a format count.
//!
//! Nothing is known about the targets at the start of a stream. A draw needs the formats of all eight, the mask and the
//! special operation, and the rest of each target that it touches.
//!
//! Sizes are those of Linux (`drivers/gpu/drm/radeon/r600_cs.c`: `r600_cs_track_validate_cb`) for all slices. CMASK has
//! four bits a tile in blocks of 16 × 16 tiles. FMASK has `samples × log2(samples)` bits a pixel.

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
        cb_tile_mode,
        color_format, //
    },
    mmio::{
        cb_color_control as control,
        cb_color_info as info,
        cb_color_mask as mask,
        cb_color_size as size,
        cb_color_view as view, //
    },
};

/// Number of targets.
pub(super) const TARGETS: usize = 8;
/// Components of a target in the target mask.
const COMPONENTS: u32 = 4;
/// The target that samples are averaged into.
const RESOLVED: usize = 1;
/// Bytes of a block of CMASK, which is for 128 × 128 pixels.
const CMASK_BLOCK: u64 = 128;

/// What a stream has stated of a target, one bit each.
mod known {
    pub(super) const INFO: u32 = 1;
    pub(super) const SIZE: u32 = 1 << 1;
    pub(super) const VIEW: u32 = 1 << 2;
    pub(super) const MASK: u32 = 1 << 3;
    pub(super) const BASE: u32 = 1 << 4;
    pub(super) const TILE: u32 = 1 << 5;
    pub(super) const FRAG: u32 = 1 << 6;
}

/// One target.
#[derive(Clone, Copy, Debug)]
struct Target {
    info: u32,
    size: u32,
    view: u32,
    mask: u32,
    base: Place,
    /// CMASK.
    tile: Place,
    /// FMASK.
    frag: Place,
    known: u32,
}

impl Target {
    /// A target of which the stream has stated nothing. Every byte is zero, which is cheap for eight of them.
    const NONE: Self = Self {
        info: 0,
        size: 0,
        view: 0,
        mask: 0,
        base: Place::NONE,
        tile: Place::NONE,
        frag: Place::NONE,
        known: 0,
    };
}

/// The colour state that a stream has set.
#[derive(Debug)]
pub(super) struct Color {
    targets: [Target; TARGETS],
    mask: Option<u32>,
    control: Option<u32>,
}

impl Default for Color {
    fn default() -> Self {
        Self {
            targets: [Target::NONE; TARGETS],
            mask: None,
            control: None,
        }
    }
}

/// A register of a target that has a size or an extent.
#[derive(Clone, Copy, Debug)]
pub(super) enum Extent {
    Size,
    View,
    Mask,
}

/// A register of a target that has an address.
#[derive(Clone, Copy, Debug)]
pub(super) enum Surface {
    Base,
    Tile,
    Frag,
}

/// Return the bytes of a pixel; `None` for formats that are not targets.
pub(super) fn pixel(format: u32) -> Option<u64> {
    use color_format::*;
    match format {
        COLOR_8 | COLOR_4_4 | COLOR_3_3_2 => Some(1),
        COLOR_16 | COLOR_16_FLOAT | COLOR_8_8 | COLOR_5_6_5 | COLOR_6_5_5 | COLOR_1_5_5_5
        | COLOR_4_4_4_4 | COLOR_5_5_5_1 => Some(2),
        COLOR_32 | COLOR_32_FLOAT | COLOR_16_16 | COLOR_16_16_FLOAT | COLOR_8_24
        | COLOR_8_24_FLOAT | COLOR_24_8 | COLOR_24_8_FLOAT | COLOR_10_11_11
        | COLOR_10_11_11_FLOAT | COLOR_11_11_10 | COLOR_11_11_10_FLOAT | COLOR_2_10_10_10
        | COLOR_8_8_8_8 | COLOR_10_10_10_2 => Some(4),
        COLOR_X24_8_32_FLOAT
        | COLOR_32_32
        | COLOR_32_32_FLOAT
        | COLOR_16_16_16_16
        | COLOR_16_16_16_16_FLOAT => Some(8),
        COLOR_32_32_32_32 | COLOR_32_32_32_32_FLOAT => Some(16),
        _ => None,
    }
}

impl Color {
    /// Track a write to `CB_COLORn_INFO`.
    ///
    /// # Errors
    ///
    /// [`Reason::ColorFormat`]; [`Reason::RegisterBits`] for a target that several chips share.
    pub(super) fn set_info(&mut self, number: u32, word: u32) -> Result<(), Reason> {
        let format = info::FORMAT.get(word);
        if format != color_format::COLOR_INVALID {
            pixel(format).ok_or(Reason::ColorFormat)?;
        }
        if info::TILE_COMPACT.any(word) {
            return Err(Reason::RegisterBits);
        }
        if let Some(target) = self.targets.get_mut(number as usize) {
            target.info = word;
            target.known |= known::INFO;
        }
        Ok(())
    }

    /// Track a write to a size or an extent of target `number`.
    pub(super) fn set_extent(&mut self, number: u32, register: Extent, word: u32) {
        let Some(target) = self.targets.get_mut(number as usize) else {
            return;
        };
        let (own, known) = match register {
            Extent::Size => (&mut target.size, known::SIZE),
            Extent::View => (&mut target.view, known::VIEW),
            Extent::Mask => (&mut target.mask, known::MASK),
        };
        *own = word;
        target.known |= known;
    }

    /// Track a write to an address of target `number`.
    pub(super) fn set_surface(&mut self, number: u32, register: Surface, place: Place) {
        let Some(target) = self.targets.get_mut(number as usize) else {
            return;
        };
        let (own, known) = match register {
            Surface::Base => (&mut target.base, known::BASE),
            Surface::Tile => (&mut target.tile, known::TILE),
            Surface::Frag => (&mut target.frag, known::FRAG),
        };
        *own = place;
        target.known |= known;
    }

    /// Track a write to `CB_TARGET_MASK`.
    pub(super) fn set_mask(&mut self, word: u32) {
        self.mask = Some(word);
    }

    /// Track a write to `CB_COLOR_CONTROL`.
    pub(super) fn set_control(&mut self, word: u32) {
        self.control = Some(word);
    }

    /// Return whether samples are averaged into another target.
    fn resolves(&self) -> Result<bool, Reason> {
        use control::special_op::SPECIAL_RESOLVE_BOX;
        let word = self.control.ok_or(Reason::NoColorControl)?;
        Ok(control::SPECIAL_OP.get(word) == SPECIAL_RESOLVE_BOX)
    }

    /// Return whether a draw touches target `number`. Its format is not invalid.
    fn touches(&self, number: usize) -> Result<bool, Reason> {
        use control::special_op::{
            SPECIAL_DISABLE,
            SPECIAL_NORMAL, //
        };
        let word = self.control.ok_or(Reason::NoColorControl)?;
        let mask = self.mask.ok_or(Reason::NoTargetMask)?;
        let special = !matches!(
            control::SPECIAL_OP.get(word),
            SPECIAL_NORMAL | SPECIAL_DISABLE
        );
        let components = mask.wrapping_shr(COMPONENTS.wrapping_mul(number as u32));
        let first = 1u32.wrapping_shl(COMPONENTS).wrapping_sub(1);
        Ok(special || components & first != 0)
    }
}

/// Log2 of the samples of a target, and of those that its FMASK is for.
#[derive(Clone, Copy, Debug)]
struct Samples {
    log2: u32,
    masked: u32,
}

impl Checker<'_> {
    /// Check what a draw accesses in the colour targets, with `log2` as the logarithm of the samples. It draws within
    /// `edge`.
    pub(super) fn judge_color(&mut self, log2: u32, edge: Edge) -> Result<(), Reason> {
        let resolves = self.color.resolves()?;
        // A mask is needed even if there is no target.
        self.color.touches(0)?;
        for number in 0..TARGETS {
            let Some(target) = self.color.targets.get(number).copied() else {
                break;
            };
            if target.known & known::INFO == 0 {
                return Err(Reason::NoColorInfo);
            }
            if info::FORMAT.get(target.info) == color_format::COLOR_INVALID
                || !self.color.touches(number)?
            {
                continue;
            }
            let own = if resolves && number == RESOLVED {
                0
            } else {
                log2
            };
            self.judge_target(
                target,
                Samples {
                    log2: own,
                    masked: log2,
                },
                edge,
            )?;
        }
        Ok(())
    }

    /// Check what a draw accesses in one target.
    fn judge_target(&mut self, target: Target, samples: Samples, edge: Edge) -> Result<(), Reason> {
        let needed = known::SIZE | known::VIEW | known::BASE;
        if target.known & needed != needed {
            return Err(Reason::NoColorBuffer);
        }
        let first = view::SLICE_START.get(target.view);
        let last = view::SLICE_MAX.get(target.view);
        if first > last {
            return Err(Reason::SliceOrder);
        }
        let slices = u64::from(last).wrapping_add(1);
        let bytes = pixel(info::FORMAT.get(target.info)).ok_or(Reason::ColorFormat)?;
        let layout = Layout::new(
            info::ARRAY_MODE.get(target.info),
            bytes,
            samples.log2,
            self.chip,
        )?;
        let tiles = |field: u32| u64::from(field).wrapping_add(1);
        let pitch = tiles(size::PITCH_TILE_MAX.get(target.size));
        let slice = tiles(size::SLICE_TILE_MAX.get(target.size));
        let bytes = layout.target(pitch, slice)?.wrapping_mul(slices);
        edge.within(pitch, slice)?;
        let alignment = layout.base();
        self.claim(
            target.base,
            bytes,
            alignment,
            Doing::Writes,
            Reason::ColorBounds,
        )?;
        self.judge_masks(target, samples, slices)
    }

    /// Check what a draw accesses in CMASK and FMASK of a target.
    fn judge_masks(&mut self, target: Target, samples: Samples, slices: u64) -> Result<(), Reason> {
        let mode = info::TILE_MODE.get(target.info);
        let needed = match mode {
            cb_tile_mode::TILE_DISABLE => return Ok(()),
            cb_tile_mode::TILE_CLEAR_ENABLE => known::MASK | known::TILE,
            cb_tile_mode::TILE_FRAG_ENABLE => known::MASK | known::TILE | known::FRAG,
            _ => return Err(Reason::TileMode),
        };
        if target.known & needed != needed {
            return Err(Reason::NoColorMasks);
        }
        let chip = self.chip;
        let channels = u64::from(chip.pipes).wrapping_mul(chip.group_bytes.into());
        let blocks = u64::from(mask::CMASK_BLOCK_MAX.get(target.mask)).wrapping_add(1);
        let bytes = blocks.wrapping_mul(CMASK_BLOCK).wrapping_mul(slices);
        let outside = Reason::CmaskBounds;
        self.claim(target.tile, bytes, channels, Doing::Writes, outside)?;
        if mode == cb_tile_mode::TILE_FRAG_ENABLE {
            let tiles = u64::from(mask::FMASK_TILE_MAX.get(target.mask)).wrapping_add(1);
            // Bits of a pixel, and so bytes of 8 pixels. A tile has 8 times as many.
            let bits = 1u64
                .wrapping_shl(samples.masked)
                .wrapping_mul(samples.masked.into());
            let bytes = tiles
                .wrapping_mul(bits)
                .wrapping_mul(8)
                .wrapping_mul(slices);
            let block = channels.wrapping_mul(chip.banks.into());
            let outside = Reason::FmaskBounds;
            self.claim(target.frag, bytes, block, Doing::Writes, outside)?;
        }
        Ok(())
    }
}
