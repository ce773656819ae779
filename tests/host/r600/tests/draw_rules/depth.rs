// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The depth target and HTILE.

use crate::stream::{object::*, rv770, scene, size, view, TARGET, TILED};
use crate::support::CHIPS;
use r600::portable::checker::reason::Reason::*;

const SIZE: u32 = 0x28000;
const VIEW: u32 = 0x28004;
const BASE: u32 = 0x2800c;
const INFO: u32 = 0x28010;
const HTILE_BASE: u32 = 0x28014;
const HTILE_SURFACE: u32 = 0x28d24;
const SAMPLES: u32 = 0x28c04;

/// `TILE_SURFACE_ENABLE`.
const HTILE_ENABLED: u32 = 1 << 25;

fn info(format: u32, mode: u32) -> u32 {
    format | (mode << 15)
}

#[test]
fn a_draw_needs_the_format_and_what_goes_with_it() {
    rv770().without(INFO).refused(NoDepthInfo);
    for register in [SIZE, VIEW, BASE] {
        rv770().without(register).refused(NoDepthBuffer);
    }
    for register in [HTILE_BASE, HTILE_SURFACE] {
        rv770().without(register).refused(NoHtile);
    }
    // No format, nothing else.
    let none = rv770().with(INFO, 0).without(SIZE).without(VIEW);
    let none = none.without(BASE).without(HTILE_BASE);
    let checked = none.without(HTILE_SURFACE).passes();
    assert!(!checked.objects[DEPTH as usize].access.writes);
    // Mesa's value without HTILE.
    let plain = rv770().with(INFO, info(3, TILED)).with(HTILE_SURFACE, 0);
    plain.without(HTILE_BASE).passes();
}

/// Tests and writes may be off: a copy or a clear accesses the target all the same.
#[test]
fn the_target_ends_in_its_object() {
    for (_, chip) in CHIPS {
        let stream = scene(&chip).with(INFO, info(3, TILED));
        assert_eq!(stream.needs(DEPTH, TARGET, DepthBounds), (false, true));
    }
    for (format, bytes) in [(1, 2), (2, 4), (3, 4), (4, 4), (5, 4), (6, 4), (7, 8)] {
        // 128 by 64 pixels, a line of blocks even if a pixel has two bytes.
        let stream = rv770()
            .with(INFO, info(format, TILED))
            .with(SIZE, size(16, 128));
        stream.needs(DEPTH, 128 * 64 * bytes, DepthBounds);
    }
    let slices = rv770().with(INFO, info(3, TILED)).with(VIEW, view(1, 2));
    slices.needs(DEPTH, 3 * TARGET, DepthBounds);
    let samples = rv770().with(INFO, info(3, TILED)).with(SAMPLES, 3);
    let samples = samples.sized(COLOR, 8 * TARGET);
    samples.needs(DEPTH, 8 * TARGET, DepthBounds);
}

#[test]
fn the_target_is_what_its_tiling_wants() {
    let stream = rv770().sized(DEPTH, 1 << 20).sized(HTILE, 1 << 20);
    for mode in [0, 1, 3] {
        stream.with(INFO, info(3, mode)).refused(TilingMode);
    }
    stream.with(SIZE, size(9, 81)).refused(Pitch);
    stream.with(SIZE, size(8, 72)).refused(SliceSize);
    stream.with(BASE, 1).refused(TiledOffset);
    stream.with(VIEW, view(2, 1)).refused(SliceOrder);
    let tiles = stream.with(INFO, info(3, 2));
    tiles.with(SIZE, size(8, 72)).with(BASE, 1).passes();
    tiles
        .with(SAMPLES, 1)
        .sized(COLOR, 1 << 20)
        .refused(SampleTiling);
    let shared = info(3, TILED) | (1 << 26);
    stream.with(INFO, shared).refused_at(INFO, RegisterBits);
}

#[test]
fn htile_ends_in_its_object() {
    for (name, chip) in CHIPS {
        let (columns, lines) = match chip.pipes {
            1 => (32, 16),
            2 => (32, 32),
            4 => (64, 32),
            _ => (64, 64),
        };
        // 8 by 8 tiles, rounded up to a block of the cache.
        let bytes = columns * lines * 4;
        let stream = scene(&chip);
        let access = stream.needs(HTILE, bytes, HtileBounds);
        assert_eq!(access, (false, true), "{name}");
        let slices = stream.with(VIEW, view(0, 1)).sized(DEPTH, 2 * TARGET);
        slices.needs(HTILE, 2 * bytes, HtileBounds);
        let behind = stream.with(HTILE_BASE, 8);
        behind.needs(HTILE, bytes + 2048, HtileBounds);
        // One tile more than a block, in either direction.
        let wide = 8 * (columns as u32 / 8 + 1);
        let stream = stream
            .sized(DEPTH, 1 << 24)
            .with(SIZE, size(wide, wide * 8));
        stream.needs(HTILE, 2 * bytes, HtileBounds);
        let high = 8 * (lines as u32 / 8 + 1);
        let stream = stream.with(SIZE, size(8, 8 * high));
        stream.needs(HTILE, 2 * bytes, HtileBounds);
        // The block is full, and one tile of another row follows.
        let tiles = stream
            .with(INFO, info(3, 2) | HTILE_ENABLED)
            .with(SIZE, size(8, 8 * lines as u32 + 1));
        tiles.needs(HTILE, 2 * bytes, HtileBounds);
    }
}

#[test]
fn htile_is_of_whole_tiles_and_not_loaded_ahead() {
    for word in [0, 1, 2, 8] {
        rv770().with(HTILE_SURFACE, word).refused(HtileSize);
    }
    rv770().with(HTILE_SURFACE, 0xf).passes();
    for bit in [4, 5, 6, 11, 12, 17, 31] {
        rv770()
            .with(HTILE_SURFACE, 0xb | (1 << bit))
            .refused_at(HTILE_SURFACE, RegisterBits);
    }
    rv770().with(HTILE_BASE, 4).refused(TiledOffset);
}
