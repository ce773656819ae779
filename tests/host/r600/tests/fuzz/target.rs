// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What a draw writes pixels into: colour targets with their CMASK and FMASK, the depth target with its HTILE, and the
//! scissors.

use lapidary_registers::r600::mmio::{
    self, cb_color_info, cb_color_mask, cb_color_view, db_depth_info, db_depth_view,
};

use crate::{
    scene::{extent, pick, rarely, surface_place, Scene},
    tiles::{alignment, layout, LINEAR, ONE, TWO},
};

/// What the draws of a scene have in common.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    pub width: u32,
    pub height: u32,
    pub samples: u32,
}

/// Colour formats, with the bytes of a pixel.
const FORMATS: [(u32, u32); 33] = [
    (26, 4),
    (26, 4),
    (1, 1),
    (2, 1),
    (3, 1),
    (5, 2),
    (6, 2),
    (7, 2),
    (8, 2),
    (9, 2),
    (10, 2),
    (11, 2),
    (12, 2),
    (13, 4),
    (14, 4),
    (15, 4),
    (16, 4),
    (17, 4),
    (19, 4),
    (21, 4),
    (22, 4),
    (23, 4),
    (24, 4),
    (25, 4),
    (27, 4),
    (28, 8),
    (29, 8),
    (30, 8),
    (31, 8),
    (32, 8),
    (34, 16),
    (35, 16),
    (20, 4),
];

pub fn frame(s: &mut Scene<'_>) -> Frame {
    if rarely(s.rng, 96) {
        // Products of such numbers have more than 32 bits.
        return Frame {
            width: 8192,
            height: 8192,
            samples: 8,
        };
    }
    let aa = rarely(s.rng, 5);
    let height = extent(s.rng, 4096);
    let most = (1 << 17) / height.next_multiple_of(64).max(64);
    Frame {
        width: extent(s.rng, most.clamp(8, 4096)),
        height,
        samples: if aa { pick(s.rng, &[2, 4, 8]) } else { 1 },
    }
}

/// Return first and last slice.
fn slices(s: &mut Scene<'_>) -> (u32, u32) {
    match s.rng.u32(..16) {
        0..=10 => (0, 0),
        11..=14 => {
            let last = s.rng.u32(1..8);
            (s.rng.u32(..=last), last)
        }
        _ if rarely(s.rng, 8) => (s.rng.u32(..2048), s.rng.u32(..2048)),
        _ => (0, extent(s.rng, 64)),
    }
}

/// Append scissors of screen and window, and no offset of the window.
pub fn scissors(s: &mut Scene<'_>, frame: Frame) {
    s.piece();
    let (width, height) = match s.rng.u32(..48) {
        0 => (8192, 8192),
        1 => (extent(s.rng, 8192), extent(s.rng, 8192)),
        _ => (frame.width, frame.height),
    };
    let corner = width | (height << 16);
    s.block(mmio::PA_SC_SCREEN_SCISSOR_TL, &[0, corner]);
    s.block(mmio::PA_SC_WINDOW_SCISSOR_TL, &[1 << 31, corner]);
    s.block(mmio::PA_SC_GENERIC_SCISSOR_TL, &[1 << 31, corner]);
    if !rarely(s.rng, 32) {
        s.on().write(mmio::PA_SC_WINDOW_OFFSET, 0);
    }
    s.block(
        mmio::PA_SC_VPORT_SCISSOR_TL.at(0).expect("sixteen"),
        &[1 << 31, corner],
    );
}

/// Append the number of samples.
pub fn samples(s: &mut Scene<'_>, frame: Frame) {
    s.piece();
    let log = if rarely(s.rng, 96) {
        s.rng.u32(..4)
    } else {
        frame.samples.ilog2()
    };
    s.on().write(mmio::PA_SC_AA_CONFIG, log);
}

struct Color {
    base: (u32, u32),
    frag: (u32, u32),
    tile: (u32, u32),
    size: u32,
    view: u32,
    info: u32,
    mask: u32,
}

fn color(s: &mut Scene<'_>, frame: Frame, samples: u32) -> Color {
    let (format, bytes) = pick(s.rng, &FORMATS);
    let modes = [LINEAR[0], LINEAR[1], ONE, ONE, TWO, TWO];
    let surface = layout(s, &modes, frame.width, frame.height, bytes, samples);
    let base = surface_place(s, surface.base);
    let (first, last) = slices(s);
    let mode = if samples > 1 {
        pick(s.rng, &[0, 2, 2, 2])
    } else {
        pick(s.rng, &[0, 0, 0, 0, 0, 0, 1, 2])
    };
    let info = cb_color_info::FORMAT.of(format)
        | cb_color_info::ARRAY_MODE.of(surface.mode)
        | cb_color_info::NUMBER_TYPE.of(s.rng.u32(..8))
        | cb_color_info::COMP_SWAP.of(s.rng.u32(..4))
        | cb_color_info::TILE_MODE.of(mode);
    let (mut frag, mut tile, mut mask) = (base, base, 0);
    if mode > 0 {
        tile = surface_place(s, 256 * s.chip.checker.pipes);
        frag = surface_place(s, alignment(s.chip, TWO, 1, 1).base);
        let blocks = frame.width.div_ceil(128) * frame.height.div_ceil(128);
        let tiles = surface.pitch.next_multiple_of(128) * surface.rows / 64;
        let (mut blocks, mut tiles) = (blocks.max(1) - 1, tiles.max(1) - 1);
        match s.rng.u32(..24) {
            0 => blocks = s.rng.u32(..0x1000),
            1 => tiles = s.rng.u32(..0x10_0000),
            2 => blocks = blocks.saturating_sub(1),
            3 => tiles = tiles.saturating_sub(1),
            _ => {}
        }
        mask = cb_color_mask::CMASK_BLOCK_MAX.of(blocks & 0xfff)
            | cb_color_mask::FMASK_TILE_MAX.of(tiles & 0xf_ffff);
    }
    Color {
        base,
        frag,
        tile,
        size: surface.size(),
        view: cb_color_view::SLICE_START.of(first) | cb_color_view::SLICE_MAX.of(last),
        info,
        mask,
    }
}

/// Append colour targets, none to eight of them.
pub fn colors(s: &mut Scene<'_>, frame: Frame) {
    s.piece();
    let number = pick(s.rng, &[0, 1, 1, 1, 1, 2, 3, 4, 8]) as usize;
    let resolve = frame.samples > 1 && number > 0 && rarely(s.rng, 3);
    let number = if resolve { 2 } else { number };
    let gap = rarely(s.rng, 8).then(|| s.rng.usize(..8));
    let mut colors: Vec<Color> = Vec::new();
    for n in 0..number {
        let samples = if resolve && n == 1 { 1 } else { frame.samples };
        colors.push(color(s, frame, samples));
    }
    let mut infos = [0; 8];
    for (n, color) in colors.iter().enumerate() {
        if Some(n) != gap {
            infos[n] = color.info;
        }
    }
    let first = |array: lapidary_registers::RegArray| array.at(0).expect("eight");
    s.on().writes(first(mmio::CB_COLOR_INFO), &infos);
    for (n, color) in colors.iter().enumerate() {
        let at = 4 * n as u32;
        s.on()
            .write(first(mmio::CB_COLOR_BASE) + at, color.base.0)
            .marker(color.base.1);
        s.on()
            .write(first(mmio::CB_COLOR_FRAG) + at, color.frag.0)
            .marker(color.frag.1);
        s.on()
            .write(first(mmio::CB_COLOR_TILE) + at, color.tile.0)
            .marker(color.tile.1);
    }
    if number > 0 {
        let each = |f: fn(&Color) -> u32| colors.iter().map(f).collect::<Vec<_>>();
        s.on()
            .writes(first(mmio::CB_COLOR_SIZE), &each(|c| c.size))
            .writes(first(mmio::CB_COLOR_VIEW), &each(|c| c.view))
            .writes(first(mmio::CB_COLOR_MASK), &each(|c| c.mask));
    }
    s.piece();
    let target = match s.rng.u32(..8) {
        _ if resolve => 0xf,
        0 => 0,
        1 => s.rng.u32(..),
        _ => u32::MAX,
    };
    s.block(mmio::CB_TARGET_MASK, &[target, u32::MAX]);
    // Normal, disable, resolve, decompress (Mesa, r600_state.c).
    let special = match s.rng.u32(..24) {
        _ if resolve => 7,
        0 => 1,
        1 => 4 + s.rng.u32(..3),
        2 => s.rng.u32(..8),
        _ => 0,
    };
    let control = (special << 4) | (0xcc << 16);
    let control = if rarely(s.rng, 8) {
        control | (u32::from(s.rng.u8(..)) << 8) | (s.rng.u32(..2) << 1)
    } else {
        control
    };
    s.on().write(mmio::CB_COLOR_CONTROL, control);
}

/// Append a depth target with HTILE, or none, and how it is used.
pub fn depth(s: &mut Scene<'_>, frame: Frame) {
    s.piece();
    let present = s.rng.bool();
    if present {
        let (format, bytes) = pick(
            s.rng,
            &[(1, 2), (2, 4), (3, 4), (4, 4), (5, 4), (6, 4), (7, 8)],
        );
        let surface = layout(
            s,
            &[ONE, TWO],
            frame.width,
            frame.height,
            bytes,
            frame.samples,
        );
        let base = surface_place(s, surface.base);
        let (first, last) = slices(s);
        let htile = rarely(s.rng, 2);
        let info = db_depth_info::FORMAT.of(format)
            | db_depth_info::ARRAY_MODE.of(surface.mode)
            | db_depth_info::TILE_SURFACE_ENABLE.of(htile.into());
        s.on().writes(
            mmio::DB_DEPTH_SIZE,
            &[
                surface.size(),
                db_depth_view::SLICE_START.of(first) | db_depth_view::SLICE_MAX.of(last),
            ],
        );
        s.on().write(mmio::DB_DEPTH_BASE, base.0).marker(base.1);
        s.on().write(mmio::DB_DEPTH_INFO, info);
        let surface = if htile {
            let place = surface_place(s, 2048 * s.chip.checker.pipes);
            s.on()
                .write(mmio::DB_HTILE_DATA_BASE, place.0)
                .marker(place.1);
            let odd = if rarely(s.rng, 32) {
                s.rng.u32(..64)
            } else {
                3
            };
            odd | (8 * s.rng.u32(..2))
        } else {
            0
        };
        s.on().write(mmio::DB_HTILE_SURFACE, surface);
        let limit = frame.height.div_ceil(8).saturating_sub(1);
        s.on().write(mmio::DB_PREFETCH_LIMIT, limit & 0x3ff);
    } else {
        s.on().write(mmio::DB_DEPTH_INFO, 0);
        if s.rng.bool() {
            s.on().write(mmio::DB_HTILE_SURFACE, 0);
        }
    }
    s.piece();
    let control = match s.rng.u32(..8) {
        0 => 0,
        1 => s.rng.u32(..),
        2 => 0x76,
        _ => 0x77,
    };
    s.on().write(mmio::DB_DEPTH_CONTROL, control);
    let render = match s.rng.u32(..12) {
        0 => 1 << s.rng.u32(..12),
        1 => s.rng.u32(..0x1000),
        // Copies to a colour target; decompression.
        2 => 0xc,
        3 => 0x60,
        _ => 0,
    };
    s.block(mmio::DB_RENDER_CONTROL, &[render, 0]);
}
