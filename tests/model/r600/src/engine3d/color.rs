// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Colour targets, with the CMASK and FMASK that belong to them.
//!
//! A target counts if it has a format and CB_TARGET_MASK lets a component through. What the pixel shader exports is the
//! shader's business and does not count. The backend reads and writes whole slices: from SLICE_START to SLICE_MAX of
//! CB_COLOR_VIEW, each of SLICE_TILE_MAX + 1 tiles. Pixels beyond them are not drawn, whatever the scissor says (by upstream's
//! checker, which bounds a target by nothing else). With SPECIAL_RESOLVE_BOX target 0 is read and target 1, which has one
//! sample, is written, whatever the masks say.

use lapidary_model::runs::Runs;
use lapidary_registers::r600::mmio;
use lapidary_registers::r600::mmio::{cb_color_control, cb_color_info, cb_color_mask};
use lapidary_registers::r600::mmio::{cb_color_size, cb_color_view};

use super::area::Client;
use super::format;
use super::layout::{Memory, Mode, Target};
use super::state::{Found, State};
use crate::kind;

/// Bytes of CMASK for a block of 128 by 128 pixels: four bits for each tile.
const CMASK_BLOCK: u64 = 128;

/// Find what the colour backends may touch.
pub fn touched(state: &State<'_>, found: &mut Found) {
    use cb_color_control::{SPECIAL_OP, special_op};
    let op = SPECIAL_OP.get(state.get(mmio::CB_COLOR_CONTROL));
    let mask = state.get(mmio::CB_TARGET_MASK);
    if op == special_op::SPECIAL_DISABLE {
        return;
    }
    let resolves = op == special_op::SPECIAL_RESOLVE_BOX;
    for n in 0..8 {
        let access = match n {
            0 if resolves => (true, false),
            1 if resolves => (false, true),
            _ if resolves || (mask >> (4 * n)) & 0xf == 0 => continue,
            _ => (true, true),
        };
        let log2_samples = if resolves && n == 1 {
            0
        } else {
            state.log2_samples()
        };
        target(state, n, access, log2_samples, found);
    }
}

/// Find what one target is.
fn target(state: &State<'_>, n: u32, access: (bool, bool), log2_samples: u32, found: &mut Found) {
    let info = state.at(mmio::CB_COLOR_INFO, n);
    let format = cb_color_info::FORMAT.get(info);
    if format == 0 {
        return;
    }
    let Some(bytes) = format::color(format) else {
        found.complain(
            kind::SURFACE_FORMAT,
            format!("colour target {n} has format {format}"),
        );
        return;
    };
    let array_mode = cb_color_info::ARRAY_MODE.get(info);
    let Some(mode) = Mode::of(array_mode) else {
        found.complain(
            kind::SURFACE_TILING,
            format!("colour target {n} has array mode {array_mode}"),
        );
        return;
    };
    if log2_samples > 0 && mode != Mode::Tiles2d {
        found.complain(
            kind::SURFACE_TILING,
            format!("colour target {n} has samples and array mode {array_mode}"),
        );
    }
    let size = state.at(mmio::CB_COLOR_SIZE, n);
    let surface = Target {
        base: u64::from(state.at(mmio::CB_COLOR_BASE, n)) << 8,
        mode,
        bytes,
        samples: 1 << log2_samples,
        pitch_tiles: u64::from(cb_color_size::PITCH_TILE_MAX.get(size)) + 1,
        slice_tiles: u64::from(cb_color_size::SLICE_TILE_MAX.get(size)) + 1,
    };
    if let Some(what) = surface.misaligned(&Memory::of(state)) {
        found.complain(
            kind::SURFACE_ALIGNMENT,
            format!("colour target {n} has {what}"),
        );
    }
    let slices = slices(
        cb_color_view::SLICE_START.get(state.at(mmio::CB_COLOR_VIEW, n)),
        cb_color_view::SLICE_MAX.get(state.at(mmio::CB_COLOR_VIEW, n)),
        format_args!("colour target {n}"),
        found,
    );
    let mut add = |register: lapidary_registers::RegArray, client, bytes: u64| {
        let base = u64::from(state.at(register, n)) << 8;
        let at = register.at(n).unwrap_or_default();
        found.touches(at, client, access, slices.of(base, bytes));
    };
    add(mmio::CB_COLOR_BASE, Client::Color(n as u8), surface.slice());
    use cb_color_info::tile_mode;
    let masks = state.at(mmio::CB_COLOR_MASK, n);
    let tile_mode = cb_color_info::TILE_MODE.get(info);
    if matches!(
        tile_mode,
        tile_mode::TILE_CLEAR_ENABLE | tile_mode::TILE_FRAG_ENABLE
    ) {
        let blocks = u64::from(cb_color_mask::CMASK_BLOCK_MAX.get(masks)) + 1;
        add(
            mmio::CB_COLOR_TILE,
            Client::Cmask(n as u8),
            blocks * CMASK_BLOCK,
        );
    }
    if tile_mode == tile_mode::TILE_FRAG_ENABLE {
        // Each sample has the number of its fragment, in so many bits as there are, for each of 64 pixels.
        let tiles = u64::from(cb_color_mask::FMASK_TILE_MAX.get(masks)) + 1;
        let bits = u64::from(log2_samples) << log2_samples;
        add(
            mmio::CB_COLOR_FRAG,
            Client::Fmask(n as u8),
            tiles * bits * 64 / 8,
        );
    }
    if tile_mode > tile_mode::TILE_FRAG_ENABLE {
        found.complain(
            kind::RESERVED_VALUE,
            format!("colour target {n} has tile mode {tile_mode}"),
        );
    }
}

/// Slices of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slices {
    first: u64,
    last: u64,
}

impl Slices {
    /// Return where they lie if each has so many bytes.
    pub fn of(&self, base: u64, bytes: u64) -> Runs {
        let number = self.last - self.first + 1;
        Runs::one(base + self.first * bytes, number * bytes)
    }
}

/// Return the slices that a view has. In the wrong order they count the other way round.
pub fn slices(start: u32, max: u32, what: std::fmt::Arguments<'_>, found: &mut Found) -> Slices {
    if start > max {
        found.complain(
            kind::VIEW_RANGE,
            format!("{what} has slices {start} to {max}"),
        );
    }
    Slices {
        first: start.min(max).into(),
        last: start.max(max).into(),
    }
}
