// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Colour and depth.

use super::*;
use lapidary_registers::r600::mmio::db_render_control as op;

/// 2D tiled, 4 bytes a pixel.
const INFO: u32 = (26 << 2) | (4 << 8);

/// Return target 0 with 64 by 64 pixels of 4 bytes, 2D tiled, and everything that belongs to it.
fn target() -> Set {
    let mut set = Set::new("rv770");
    for (array, value) in [
        (mmio::CB_COLOR_BASE, 0x1000),
        (mmio::CB_COLOR_SIZE, 7 | (63 << 10)),
        (mmio::CB_COLOR_INFO, INFO),
        (mmio::CB_COLOR_TILE, 0x2000),
        (mmio::CB_COLOR_FRAG, 0x3000),
        (mmio::CB_COLOR_MASK, 1 | (2 << 12)),
    ] {
        for n in 0..8 {
            let value = if array.base() == mmio::CB_COLOR_INFO.base() && n > 0 {
                0
            } else {
                value
            };
            set.put(array.at(n).unwrap(), value);
        }
    }
    set.put(mmio::CB_TARGET_MASK, u32::MAX);
    set
}

fn color(n: u8, start: u64, bytes: u64) -> Short {
    (Client::Color(n), true, true, start, start + bytes)
}

#[test]
fn a_target_is_its_slices() {
    let mut set = target();
    assert_eq!(set.areas(), [color(0, 0x10_0000, 0x4000)]);
    assert_eq!(set.kinds(), []);
    set.put(mmio::CB_COLOR_VIEW.base(), 2 | (3 << 13));
    assert_eq!(set.areas(), [color(0, 0x10_8000, 0x8000)]);
    set.put(mmio::CB_COLOR_VIEW.base(), 3 | (2 << 13));
    assert_eq!(set.areas(), [color(0, 0x10_8000, 0x8000)]);
    assert_eq!(set.kinds(), [kind::VIEW_RANGE]);
}

#[test]
fn samples_multiply_a_target() {
    let mut set = target();
    set.put(mmio::CB_COLOR_BASE.base(), 0x2000);
    set.put(mmio::PA_SC_AA_CONFIG, 3);
    assert_eq!(set.areas(), [color(0, 0x20_0000, 8 * 0x4000)]);
    assert_eq!(set.kinds(), []);
    set.put(mmio::CB_COLOR_INFO.base(), (26 << 2) | (2 << 8));
    assert_eq!(set.kinds(), [kind::SURFACE_TILING]);
}

#[test]
fn masked_targets_and_disabled_ones_are_left_out() {
    let mut set = target();
    set.put(mmio::CB_TARGET_MASK, !0xf);
    assert_eq!(set.areas(), []);
    set.put(mmio::CB_TARGET_MASK, 1);
    assert_eq!(set.areas().len(), 1);
    set.put(mmio::CB_COLOR_CONTROL, 1 << 4);
    assert_eq!(set.areas(), [], "SPECIAL_DISABLE");
    set.put(mmio::CB_COLOR_CONTROL, 0);
    for scissor in [
        mmio::PA_SC_SCREEN_SCISSOR_BR,
        mmio::PA_SC_WINDOW_SCISSOR_BR,
        mmio::PA_SC_GENERIC_SCISSOR_BR,
    ] {
        set.put(scissor, 64);
        assert_eq!(set.areas(), [], "no line");
        set.put(scissor, 64 | (64 << 16));
    }
    assert_eq!(set.areas().len(), 1);
    set.put(mmio::CB_COLOR_INFO.base(), 0);
    assert_eq!(set.areas(), []);
}

#[test]
fn a_resolve_reads_the_first_target_and_writes_the_second() {
    let mut set = target();
    set.put(mmio::PA_SC_AA_CONFIG, 2);
    set.put(mmio::CB_COLOR_INFO.at(1).unwrap(), INFO);
    set.put(mmio::CB_COLOR_INFO.at(2).unwrap(), INFO);
    set.put(mmio::CB_COLOR_CONTROL, 7 << 4);
    set.put(mmio::CB_TARGET_MASK, 0);
    assert_eq!(
        set.areas(),
        [
            (Client::Color(0), true, false, 0x10_0000, 0x11_0000),
            (Client::Color(1), false, true, 0x10_0000, 0x10_4000)
        ]
    );
}

#[test]
fn masks_of_compression_belong_to_a_target() {
    let mut set = target();
    set.put(mmio::PA_SC_AA_CONFIG, 2);
    set.put(mmio::CB_COLOR_VIEW.base(), 1 << 13);
    let cmask = (
        Client::Cmask(0),
        true,
        true,
        0x20_0000,
        0x20_0000 + 2 * 2 * 128,
    );
    // Three tiles of 64 pixels with two bits for each of four samples, two slices.
    let fmask = (
        Client::Fmask(0),
        true,
        true,
        0x30_0000,
        0x30_0000 + 2 * 3 * 64,
    );
    set.put(mmio::CB_COLOR_INFO.base(), INFO | (1 << 18));
    assert_eq!(set.areas()[1..], [cmask]);
    set.put(mmio::CB_COLOR_INFO.base(), INFO | (2 << 18));
    assert_eq!(set.areas()[1..], [cmask, fmask]);
    set.put(mmio::PA_SC_AA_CONFIG, 0);
    assert_eq!(set.areas()[1..], [cmask], "one sample has no fragments");
    set.put(mmio::CB_COLOR_INFO.base(), INFO | (3 << 18));
    assert_eq!(set.areas().len(), 1);
    assert_eq!(set.kinds(), [kind::RESERVED_VALUE]);
}

#[test]
fn contradictions_of_targets_are_found() {
    let mut set = target();
    let info = mmio::CB_COLOR_INFO.base();
    assert_eq!(
        set.put(info, (33 << 2) | (4 << 8)).kinds(),
        [kind::SURFACE_FORMAT]
    );
    assert_eq!(set.areas(), []);
    assert_eq!(
        set.put(info, (26 << 2) | (3 << 8)).kinds(),
        [kind::SURFACE_TILING]
    );
    assert_eq!(set.areas(), []);
    let mut set = target();
    let base = mmio::CB_COLOR_BASE.base();
    assert_eq!(set.put(base, 0x1001).kinds(), [kind::SURFACE_ALIGNMENT]);
    let mut set = target();
    let size = mmio::CB_COLOR_SIZE.base();
    assert_eq!(
        set.put(size, 6 | (63 << 10)).kinds(),
        [kind::SURFACE_ALIGNMENT]
    );
    assert_eq!(
        set.put(size, 7 | (62 << 10)).kinds(),
        [kind::SURFACE_ALIGNMENT]
    );
}

/// Return a depth target of 64 by 64 pixels of 4 bytes with a depth test, 2D tiled.
fn depth() -> Set {
    let mut set = Set::new("rv770");
    for (register, value) in [
        (mmio::DB_DEPTH_BASE, 0x1000),
        (mmio::DB_DEPTH_SIZE, 7 | (63 << 10)),
        (mmio::DB_DEPTH_INFO, 3 | (4 << 15)),
        (mmio::DB_DEPTH_CONTROL, 2),
        (mmio::DB_HTILE_DATA_BASE, 0x2000),
        (mmio::DB_HTILE_SURFACE, 3),
    ] {
        set.put(register, value);
    }
    set
}

fn z(write: bool, start: u64, bytes: u64) -> Short {
    (Client::Depth, true, write, start, start + bytes)
}

#[test]
fn depth_counts_if_something_uses_it() {
    let mut set = depth();
    let control = mmio::DB_DEPTH_CONTROL;
    assert_eq!(set.areas(), [z(false, 0x10_0000, 0x4000)]);
    assert_eq!(set.kinds(), []);
    assert_eq!(set.put(control, 6).areas(), [z(true, 0x10_0000, 0x4000)]);
    assert_eq!(set.put(control, 1).areas(), [z(true, 0x10_0000, 0x4000)]);
    assert_eq!(set.put(control, 4).areas(), [], "no test");
    for (operation, writes) in [
        (op::DEPTH_COPY, false),
        (op::STENCIL_COPY, false),
        (op::DEPTH_CLEAR_ENABLE, true),
        (op::STENCIL_CLEAR_ENABLE, true),
        (op::RESUMMARIZE_ENABLE, true),
        (op::STENCIL_COMPRESS_DISABLE, true),
        (op::DEPTH_COMPRESS_DISABLE, true),
    ] {
        set.put(mmio::DB_RENDER_CONTROL, operation.mask());
        assert_eq!(set.areas(), [z(writes, 0x10_0000, 0x4000)], "{operation:?}");
    }
    assert_eq!(set.put(mmio::DB_DEPTH_INFO, 4 << 15).areas(), []);
}

#[test]
fn depth_is_its_slices_samples_and_bytes() {
    let mut set = depth();
    set.put(mmio::DB_DEPTH_VIEW, 1 | (2 << 13));
    assert_eq!(set.areas(), [z(false, 0x10_4000, 0x8000)]);
    set.put(mmio::DB_DEPTH_VIEW, 1);
    assert_eq!(set.kinds(), [kind::VIEW_RANGE]);
    set.put(mmio::DB_DEPTH_VIEW, 0);
    set.put(mmio::PA_SC_AA_CONFIG, 1);
    assert_eq!(set.areas(), [z(false, 0x10_0000, 0x8000)]);
    set.put(mmio::DB_DEPTH_INFO, 7 | (4 << 15));
    assert_eq!(set.areas(), [z(false, 0x10_0000, 0x1_0000)]);
    assert_eq!(set.kinds(), []);
    set.put(mmio::DB_DEPTH_INFO, 3 | (2 << 15));
    assert_eq!(
        set.kinds(),
        [kind::SURFACE_TILING],
        "samples in micro tiles"
    );
    set.put(mmio::PA_SC_AA_CONFIG, 0);
    assert_eq!(set.kinds(), []);
    set.put(mmio::DB_DEPTH_INFO, 3 | (1 << 15));
    assert_eq!(set.kinds(), [kind::SURFACE_TILING], "linear");
    set.put(mmio::DB_DEPTH_INFO, 3 | (4 << 15));
    set.put(mmio::DB_DEPTH_BASE, 0x1001);
    assert_eq!(set.kinds(), [kind::SURFACE_ALIGNMENT]);
}

#[test]
fn htile_data_are_padded_to_lines_of_the_cache() {
    let mut set = depth();
    let size = |set: &mut Set| {
        let areas = set.areas();
        let (client, read, write, start, end) = areas[1];
        assert_eq!((client, read, write), (Client::Htile, true, true));
        (start, end - start)
    };
    assert_eq!(set.areas().len(), 1, "TILE_SURFACE_ENABLE is off");
    set.put(mmio::DB_DEPTH_INFO, 3 | (4 << 15) | (1 << 25));
    assert_eq!(size(&mut set), (0x20_0000, 64 * 64 * 4));
    set.put(mmio::DB_DEPTH_VIEW, 1 | (1 << 13));
    assert_eq!(size(&mut set).0, 0x20_0000 + 64 * 64 * 4);
    set.put(mmio::DB_DEPTH_VIEW, 0);
    for (log2, bytes) in [(2, 64 * 32 * 4), (1, 32 * 32 * 4), (0, 32 * 16 * 4)] {
        set.put(mmio::GB_TILING_CONFIG, (log2 << 1) | (1 << 4));
        assert_eq!(size(&mut set).1, bytes, "{} pipes", 1 << log2);
    }
    // Tiles of 4 by 4 pixels: 16 lines of them are one line of the cache as before, and 16 columns fit.
    set.put(mmio::DB_HTILE_SURFACE, 0);
    assert_eq!(size(&mut set).1, 32 * 16 * 4);
    set.put(mmio::DB_DEPTH_SIZE, 63 | ((64 * 64 - 1) << 10));
    assert_eq!(size(&mut set).1, 128 * 128 * 4);
    set.put(mmio::DB_HTILE_SURFACE, 3);
    assert_eq!(size(&mut set).1, 64 * 64 * 4);
    // Columns and lines are padded each for itself.
    set.put(mmio::DB_DEPTH_SIZE, 7 | ((8 * 512 - 1) << 10));
    assert_eq!(size(&mut set).1, 32 * 512 * 4);
    set.put(mmio::DB_DEPTH_SIZE, 63 | ((64 * 8 - 1) << 10));
    assert_eq!(size(&mut set).1, 64 * 16 * 4);
    // Linear: 64 columns by 64 lines, whole pages of 2 KiB.
    set.put(mmio::DB_DEPTH_SIZE, 7 | ((8 * 3 - 1) << 10));
    set.put(mmio::DB_HTILE_SURFACE, 7);
    assert_eq!(size(&mut set).1, 2048);
}
