// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Render targets: windows, formats, tiles, locations, what is read.

use lapidary_registers::chrome9::enums::{location_3d, raster_op, rt_format};
use lapidary_registers::chrome9::para_01::{self, enable_1, enable_2, rt0_2, rt0_3, rt0_4};

use super::{ATTRIBUTE, BYTES, HEIGHT, TARGET, WIDTH};
use crate::engine3d::Client;
use crate::tests::{Bench, VRAM};
use crate::{bus, kind};

#[test]
fn a_target_is_written_within_both_windows() {
    let mut b = Bench::drawing();
    b.exactly(&[(bus::FRAME_BUFFER, TARGET, BYTES)]);
    let rows = |y: u64| y * 256;
    // The scissor cuts the colour window.
    let v = (3 << 12) | 20;
    b.set(
        ATTRIBUTE,
        &[(para_01::MISC_3, v), (para_01::MISC_4, (8 << 12) | 60)],
    );
    b.exactly(&[(bus::FRAME_BUFFER, TARGET + rows(3) + 32, rows(16) + 52 * 4)]);
    // And the other way round.
    b.set(ATTRIBUTE, &[(para_01::MISC_1, (5 << 12) | 6)]);
    b.exactly(&[(bus::FRAME_BUFFER, TARGET + rows(5) + 32, 52 * 4)]);
    for (edge, value) in [
        (para_01::MISC_1, (6 << 12) | 6),
        (para_01::MISC_2, (64 << 12) | 64),
        (para_01::MISC_3, (20 << 12) | 20),
        (para_01::MISC_4, (60 << 12) | 8),
    ] {
        b.window(0, 0, WIDTH, HEIGHT);
        b.set(ATTRIBUTE, &[(edge, value)]);
        b.declare(&[(bus::FRAME_BUFFER, 0, 1)]);
        assert_eq!(b.draw(), [], "an empty window reaches nothing");
    }
    b.window(0, 0, 2049, 1);
    b.declare(&[]);
    assert_eq!(b.draw(), [kind::RESERVED_VALUE; 2], "an edge beyond 2048");
    b.window(0, 0, 2048, 1);
    assert_eq!(b.draw(), []);
    assert_eq!(
        b.m.counters.get("draws_triangles"),
        b.m.counters.get("draws")
    );
}

#[test]
fn formats_and_tiles_say_how_many_bytes_a_window_has() {
    let mut b = Bench::drawing();
    b.set(
        ATTRIBUTE,
        &[(para_01::RT0_3, rt0_3::FORMAT.of(rt_format::RGB565) | 8)],
    );
    b.exactly(&[(bus::FRAME_BUFFER, TARGET, 31 * 256 + 128)]);
    b.set(
        ATTRIBUTE,
        &[(para_01::RT0_3, rt0_3::FORMAT.of(rt_format::ARGB8888) | 9)],
    );
    // Nine tiles a row of tiles, of which the last is not reached: four rows of tiles.
    b.set(ATTRIBUTE, &[(para_01::RT0_2, rt0_2::TILED.mask())]);
    b.exactly(&[(bus::FRAME_BUFFER, TARGET, (3 * 9 + 8) * 256)]);
    let sixteen = rt0_2::TILED.mask() | rt0_2::TILE_16.mask();
    b.set(ATTRIBUTE, &[(para_01::RT0_2, sixteen)]);
    b.exactly(&[(bus::FRAME_BUFFER, TARGET, (9 + 8) * 512)]);
    b.window(9, 17, 10, 18);
    b.exactly(&[(bus::FRAME_BUFFER, TARGET + (9 + 1) * 512, 512)]);
}

#[test]
fn each_target_that_is_on_counts() {
    let mut b = Bench::drawing();
    let targets = [para_01::RT1_1, para_01::RT2_1, para_01::RT3_1];
    let mut objects = vec![(bus::FRAME_BUFFER, TARGET, BYTES)];
    for (n, first) in (1u32..).zip(targets) {
        let base = TARGET + u64::from(n) * 0x10_0000;
        b.set(
            ATTRIBUTE,
            &[
                (
                    para_01::ENABLE_2,
                    enable_2::COLOR_WRITE.mask() | enable_2::RT_COUNT.of(n),
                ),
                (first, (base >> 8) as u32),
                (first + 2, rt0_3::FORMAT.of(rt_format::RGB565) | 8),
                (first + 3, rt0_4::ROP.of(raster_op::COPY_PEN) | 0xf),
            ],
        );
        objects.push((bus::FRAME_BUFFER, base, 31 * 256 + 128));
        b.exactly(&objects);
    }
    // A target whose channels are masked, or that keeps what is there, is left alone.
    let last = para_01::RT3_4;
    for value in [
        rt0_4::ROP.of(raster_op::COPY_PEN),
        rt0_4::ROP.of(raster_op::NOP) | 0xf,
    ] {
        b.set(ATTRIBUTE, &[(last, value)]);
        b.exactly(&objects[..3]);
    }
    b.set(ATTRIBUTE, &[(para_01::ENABLE_2, enable_2::RT_COUNT.of(3))]);
    b.declare(&[(bus::FRAME_BUFFER, 0, 1)]);
    assert_eq!(b.draw(), [], "colours are not written");
    b.set(
        ATTRIBUTE,
        &[(
            para_01::ENABLE_2,
            enable_2::COLOR_WRITE.mask() | enable_2::RT_COUNT.of(4),
        )],
    );
    b.declare(&[]);
    assert_eq!(b.draw(), [kind::RESERVED_VALUE]);
}

#[test]
fn a_target_is_read_if_something_of_it_stays() {
    let mut b = Bench::drawing();
    assert!(
        b.traced()
            .contains("render target 0 writes 0x00100000..0x00102000")
    );
    let reads = "render target 0 reads and writes";
    b.set(
        ATTRIBUTE,
        &[(para_01::ENABLE_1, enable_1::BLEND_RT0.mask())],
    );
    assert!(b.traced().contains(reads), "blending");
    b.set(
        ATTRIBUTE,
        &[(para_01::ENABLE_1, enable_1::BLEND_RT1.mask())],
    );
    assert!(!b.traced().contains(reads), "blending of another target");
    b.set(
        ATTRIBUTE,
        &[(para_01::RT0_4, rt0_4::ROP.of(raster_op::XOR_PEN) | 0xf)],
    );
    assert!(b.traced().contains(reads), "a raster operation");
    b.set(
        ATTRIBUTE,
        &[(para_01::RT0_4, rt0_4::ROP.of(raster_op::COPY_PEN) | 7)],
    );
    let trace = b.traced();
    assert!(trace.contains(reads), "a mask");
    for part in [
        "draw, not executed: 1 times TRIANGLE, 3 vertices of 3 dwords in the commands",
        "pixels 0,0 to 64,32",
        "of the frame buffer: ARGB8888, rows 256 bytes apart",
    ] {
        assert!(trace.contains(part), "{part} in {trace}");
    }
}

#[test]
fn what_cannot_be_blended_is_not_blended() {
    let mut b = Bench::drawing();
    let format = |f| (para_01::RT0_3, rt0_3::FORMAT.of(f) | 8);
    b.set(ATTRIBUTE, &[format(rt_format::R32F)]);
    assert_eq!(b.draw(), []);
    b.set(
        ATTRIBUTE,
        &[(para_01::ENABLE_1, enable_1::BLEND_RT0.mask())],
    );
    assert_eq!(b.draw(), [kind::RESERVED_VALUE]);
    b.set(ATTRIBUTE, &[format(rt_format::ARGB8888)]);
    assert_eq!(b.draw(), []);
    // A format without a meaning.
    b.set(ATTRIBUTE, &[format(0)]);
    assert_eq!(b.draw(), [kind::RESERVED_VALUE]);
}

#[test]
fn a_pitch_of_0_is_found_if_there_is_more_than_one_row() {
    let mut b = Bench::drawing();
    b.set(
        ATTRIBUTE,
        &[(para_01::RT0_3, rt0_3::FORMAT.of(rt_format::ARGB8888))],
    );
    assert_eq!(b.draw(), [kind::PITCH_ZERO]);
    b.window(0, 0, WIDTH, 1);
    assert_eq!(b.draw(), []);
}

#[test]
fn memory_ends_where_it_ends() {
    let mut b = Bench::drawing();
    b.set(ATTRIBUTE, &[(para_01::RT0_1, ((VRAM - BYTES) >> 8) as u32)]);
    assert_eq!(b.draw(), []);
    b.set(
        ATTRIBUTE,
        &[(para_01::RT0_1, ((VRAM - BYTES) >> 8) as u32 + 1)],
    );
    assert_eq!(b.draw(), [kind::FRAME_BUFFER_RANGE]);
    b.set(ATTRIBUTE, &[(para_01::RT0_1, 0xff_ffff)]);
    assert_eq!(b.draw(), [kind::FRAME_BUFFER_RANGE]);
    for location in [2, 3] {
        b.set(ATTRIBUTE, &[(para_01::RT0_2, rt0_2::LOCATION.of(location))]);
        assert_eq!(b.draw(), [kind::RESERVED_VALUE]);
    }
}

#[test]
fn a_target_behind_the_gart_needs_its_pages_and_its_object() {
    let mut b = Bench::drawing();
    b.table();
    b.m.functions[0]
        .ram
        .map_anonymous(0x40_0000, 0x3000)
        .unwrap();
    let location = rt0_2::LOCATION.of(location_3d::SYSTEM_DYNAMIC);
    b.set(
        ATTRIBUTE,
        &[(para_01::RT0_1, 0x50), (para_01::RT0_2, location)],
    );
    // Two pages, of 5000h to 7000h, in the other order.
    b.entry(5, 0x401);
    b.entry(6, 0x400);
    b.entry(7, 0x8000_0000);
    b.exactly(&[(bus::GART, 0x5000, BYTES)]);
    b.declare(&[(bus::FRAME_BUFFER, 0x5000, BYTES)]);
    assert_eq!(b.draw(), [kind::OUTSIDE_OBJECTS], "of another space");
    b.declare(&[]);
    b.set(ATTRIBUTE, &[(para_01::RT0_1, 0x51)]);
    assert_eq!(b.draw(), [kind::GART_FAULT], "one page is not there");
    b.set(ATTRIBUTE, &[(para_01::RT0_1, 0x50)]);
    b.sequencer(0x6f, 0x80);
    b.entry(6, 0x403);
    assert_eq!(b.draw(), [kind::DMA_FAULT], "no memory behind the page");
    b.entry(6, 0x400);
    assert_eq!(b.draw(), [kind::DMA_FAULT, kind::GART_STALE], "not flushed");
    b.sequencer(0x6f, 0x80);
    b.m.functions[0].pci.write(4, &[2]);
    assert_eq!(b.draw(), [kind::BUS_MASTER_OFF]);
}

#[test]
fn footprints_are_kept_for_those_who_want_them() {
    let mut b = Bench::drawing();
    b.draw();
    assert_eq!(b.chip.take_footprints(), []);
    b.chip.record_footprints();
    b.draw();
    b.set(ATTRIBUTE, &[(para_01::Z_18, 0x4000), (para_01::Z_19, 0)]);
    let seen: Vec<_> = b
        .chip
        .take_footprints()
        .iter()
        .map(|f| (f.area.client, f.area.read, f.area.write, f.area.runs.start))
        .collect();
    let expected = [
        (Client::Target(0), false, true, TARGET),
        (Client::Occlusion, false, true, 0x1_0000),
    ];
    assert_eq!(
        (seen, b.chip.take_footprints()),
        (expected.to_vec(), vec![])
    );
}
