// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Footprints of the 3D engine: windows, render targets, depth, stencil, coarse Z, counts of pixels; locations.

use std::sync::atomic::{AtomicU32, Ordering};

use lapidary_model::machine::Object;
use lapidary_model::trace::Trace;
use lapidary_registers::chrome9::enums::{location_3d, para_type, raster_op, rt_format};
use lapidary_registers::chrome9::para_01::{
    self, coarse_z_1, enable_1, enable_2, fast_z_clear_1, rt0_2, rt0_3, rt0_4, z_2, z_3,
};
use lapidary_registers::chrome9::para_04::{self, primitive_setting_4 as shape};
use lapidary_registers::chrome9::{DATABASE, mmio, parameters};

use super::ring::{PAUSE, header, tag};
use super::{Bench, RAM};
use crate::engine3d::Client;
use crate::kind::{self, Kind};
use crate::{bus, fault};

/// Render target 0, and what else the tests use; in the frame buffer.
pub const TARGET: u64 = 0x10_0000;
const DEPTH: u64 = 0x20_0000;
const OTHER: u64 = 0x30_0000;
/// Pixels of the window.
const WIDTH: u32 = 64;
const HEIGHT: u32 = 32;
/// Bytes of target 0, of 32 bits a pixel.
pub const BYTES: u64 = (WIDTH * HEIGHT * 4) as u64;

pub const ATTRIBUTE: u32 = para_type::ATTRIBUTE;
pub const PRIMITIVE: u32 = para_type::PRIMITIVE;
/// Settings of what all textures share.
pub const GENERAL: u32 = para_type::TEXTURE | 0xfe00;

/// Return the setting of a type, with a sub-type in bits 15:8 of the number.
fn setting(kind: u32) -> u32 {
    ((kind & 0xff) << 16) | ((kind >> 8) << 24)
}

impl Bench {
    /// Set parameters of a type that has sub-addresses.
    pub fn set(&mut self, kind: u32, values: &[(u32, u32)]) {
        self.write(mmio::SETTING_3D, setting(kind));
        for (sub_address, value) in values {
            self.write(mmio::SPACE_3D.base(), (sub_address << 24) | value);
        }
    }

    /// Set dwords of a table.
    pub fn set_table(&mut self, subtype: u32, from: u32, words: &[u32]) {
        let word = setting(para_type::TABLE | (subtype << 8)) | from;
        self.write(mmio::SETTING_3D, word);
        for word in words {
            self.write(mmio::SPACE_3D.base(), *word);
        }
    }

    /// Write zero everywhere, as public drivers do, but where that has an effect.
    pub fn zero(&mut self) {
        let stages = (0..16).map(|n| para_type::TEXTURE | (n << 8));
        let samples = (0x20..0x30).map(|n| para_type::TEXTURE | (n << 8));
        let kinds = [ATTRIBUTE, PRIMITIVE, GENERAL];
        for kind in kinds.into_iter().chain(stages).chain(samples) {
            let domain = parameters(kind as u8, (kind >> 8) as u8).unwrap();
            let known = (0..0xbf).filter(|i| DATABASE.by_offset(domain, *i).is_some());
            let values: Vec<_> = known.map(|i| (i, 0)).collect();
            self.set(kind, &values);
        }
        for (subtype, len) in [(0, 16), (0x10, 128), (0x14, 32), (0x20, 384), (0x21, 32)] {
            self.set_table(subtype, 0, &vec![0; len]);
        }
    }

    /// Return a chip that draws triangles of vertices of three dwords to render target 0, of 32 bits a pixel, in rows.
    pub fn drawing() -> Bench {
        let mut b = Bench::new();
        b.zero();
        b.window(0, 0, WIDTH, HEIGHT);
        b.set(
            ATTRIBUTE,
            &[
                (para_01::ENABLE_2, enable_2::COLOR_WRITE.mask()),
                (para_01::RT0_1, (TARGET >> 8) as u32),
                (
                    para_01::RT0_3,
                    rt0_3::FORMAT.of(rt_format::ARGB8888) | rt0_3::PITCH.of(WIDTH * 4 / 32),
                ),
                (para_01::RT0_4, rt0_4::ROP.of(raster_op::COPY_PEN) | 0xf),
            ],
        );
        b.set(
            PRIMITIVE,
            &[
                (para_04::VERTEX_FORMAT_1, 3),
                (para_04::VERTEX_FORMAT_2, 0x2_0100),
                (para_04::VERTEX_COUNT, 3),
                (
                    para_04::PRIMITIVE_SETTING_4,
                    shape::TYPE.of(shape::type_::TRIANGLE)
                        | shape::SHADING.of(shape::shading::GOURAUD),
                ),
            ],
        );
        assert_eq!(b.found(), []);
        b
    }

    /// Set both windows.
    pub fn window(&mut self, x0: u32, y0: u32, x1: u32, y1: u32) {
        let (v, h) = ((y0 << 12) | y1, (x0 << 12) | x1);
        let [a, b, c, d] = [
            para_01::MISC_1,
            para_01::MISC_2,
            para_01::MISC_3,
            para_01::MISC_4,
        ];
        self.set(ATTRIBUTE, &[(a, v), (b, h), (c, v), (d, h)]);
    }

    /// Send dwords of type 00h.
    pub fn send(&mut self, words: &[u32]) {
        self.write(mmio::SETTING_3D, 0);
        for word in words {
            self.write(mmio::SPACE_3D.base(), *word);
        }
    }

    /// Draw a triangle and return what was found.
    pub fn draw(&mut self) -> Vec<Kind> {
        self.send(&[0; 9]);
        self.found()
    }

    /// Declare objects, in the place of all others.
    pub fn declare(&mut self, objects: &[(u32, u64, u64)]) {
        let object = |(space, start, len): &(u32, u64, u64)| Object {
            space: *space,
            start: *start,
            len: *len,
            name: "an object".into(),
        };
        self.m.objects = objects.iter().map(object).collect();
    }

    /// Assert that a draw touches the whole of each object and nothing else: it fits, and each object is needed to its
    /// first and to its last byte.
    pub fn exactly(&mut self, objects: &[(u32, u64, u64)]) {
        self.declare(objects);
        assert_eq!(self.draw(), [], "{objects:x?}");
        for i in 0..objects.len() {
            for (start, end) in [(1, 0), (0, 1)] {
                let mut less = objects.to_vec();
                less[i].1 += start;
                less[i].2 -= start + end;
                self.declare(&less);
                assert_eq!(self.draw(), [kind::OUTSIDE_OBJECTS], "{less:x?}");
            }
        }
    }

    /// The same of render target 0 and one object more.
    fn with_target(&mut self, start: u64, len: u64) {
        self.exactly(&[
            (bus::FRAME_BUFFER, TARGET, BYTES),
            (bus::FRAME_BUFFER, start, len),
        ]);
    }

    /// Take the trace of a draw.
    pub fn traced(&mut self) -> String {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let n = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("chrome9-{}-{n}.trace", std::process::id());
        let path = std::env::temp_dir().join(name);
        self.m.trace = Trace::to_file(&path).unwrap();
        self.draw();
        self.m.trace = Trace::default();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        text
    }
}

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
    b.set(
        ATTRIBUTE,
        &[(para_01::RT0_1, ((super::VRAM - BYTES) >> 8) as u32)],
    );
    assert_eq!(b.draw(), []);
    b.set(
        ATTRIBUTE,
        &[(para_01::RT0_1, ((super::VRAM - BYTES) >> 8) as u32 + 1)],
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
fn depth_is_touched_if_it_is_tested_or_written() {
    let mut b = Bench::drawing();
    let enable = |bits: u32| (para_01::ENABLE_2, enable_2::COLOR_WRITE.mask() | bits);
    b.set(
        ATTRIBUTE,
        &[
            (para_01::Z_1, (DEPTH >> 8) as u32),
            (para_01::Z_2, z_2::PITCH.of(8)),
            (para_01::Z_3, z_3::FORMAT.of(z_3::format::Z24S8_ASSUMED)),
        ],
    );
    b.exactly(&[(bus::FRAME_BUFFER, TARGET, BYTES)]);
    let cases = [
        (enable_2::Z_TEST, "depth reads"),
        (enable_2::Z_WRITE, "depth writes"),
        (enable_2::STENCIL_TEST, "depth reads and writes"),
    ];
    for (bit, how) in cases {
        b.set(ATTRIBUTE, &[enable(bit.mask())]);
        b.with_target(DEPTH, BYTES);
        b.declare(&[]);
        let trace = b.traced();
        assert!(trace.contains(how), "{how} in {trace}");
    }
    // In rows or in tiles: of 30 lines, 32 may be touched.
    b.set(ATTRIBUTE, &[(para_01::MISC_1, 30)]);
    b.exactly(&[
        (bus::FRAME_BUFFER, TARGET, 30 * 256),
        (bus::FRAME_BUFFER, DEPTH, 32 * 256),
    ]);
    b.window(0, 0, WIDTH, HEIGHT);
    b.set(
        ATTRIBUTE,
        &[enable(enable_2::Z_TEST.mask()), (para_01::Z_3, 0)],
    );
    b.with_target(DEPTH, 31 * 256 + 128);
    b.set(ATTRIBUTE, &[enable(enable_2::STENCIL_TEST.mask())]);
    b.declare(&[]);
    assert_eq!(b.draw(), [kind::RESERVED_VALUE], "no stencil in 16 bits");
    b.set(
        ATTRIBUTE,
        &[enable(enable_2::Z_TEST.mask()), (para_01::Z_2, 0)],
    );
    assert_eq!(b.draw(), [kind::PITCH_ZERO]);
    b.set(ATTRIBUTE, &[(para_01::Z_2, z_2::PITCH.of(8) | 2)]);
    assert_eq!(b.draw(), [kind::RESERVED_VALUE], "system memory");
}

#[test]
fn lost_parameters_that_are_not_0_are_found() {
    let mut b = Bench::drawing();
    let test = enable_2::Z_TEST.mask() | enable_2::COLOR_WRITE.mask();
    b.set(
        ATTRIBUTE,
        &[(para_01::ENABLE_2, test), (para_01::Z_2, z_2::PITCH.of(8))],
    );
    assert_eq!(b.draw(), []);
    for (sub_address, value) in [(para_01::Z_3, 1), (para_01::Z_5, 2), (para_01::Z_6, 4)] {
        b.set(ATTRIBUTE, &[(sub_address, value)]);
        assert_eq!(b.draw(), [kind::UNIMPLEMENTED_PARAMETER]);
        b.set(ATTRIBUTE, &[(sub_address, 0)]);
    }
}

#[test]
fn a_stencil_buffer_of_its_own_has_a_byte_a_pixel() {
    let mut b = Bench::drawing();
    let enable = enable_2::STENCIL_TEST.mask() | enable_2::COLOR_WRITE.mask();
    b.set(
        ATTRIBUTE,
        &[
            (para_01::ENABLE_2, enable),
            (para_01::Z_1, (DEPTH >> 8) as u32),
            (para_01::Z_2, z_2::PITCH.of(8)),
            (para_01::Z_3, z_3::FORMAT.of(z_3::format::Z32_ASSUMED)),
            (para_01::FAST_Z_CLEAR_1, fast_z_clear_1::ENABLE.mask()),
            (para_01::FAST_Z_CLEAR_2, (OTHER >> 8) as u32),
        ],
    );
    let fixed = [
        (bus::FRAME_BUFFER, TARGET, BYTES),
        (bus::FRAME_BUFFER, DEPTH, BYTES),
    ];
    b.exactly(&[fixed[0], fixed[1], (bus::FRAME_BUFFER, OTHER, 4 * 8 * 64)]);
    b.declare(&[]);
    assert!(
        b.traced().contains("depth reads 0x"),
        "the stencil is elsewhere"
    );
    // A window within the second row of blocks, and the third block.
    b.window(16, 8, 17, 16);
    b.declare(&[fixed[0], fixed[1], (bus::FRAME_BUFFER, OTHER + 10 * 64, 64)]);
    assert_eq!(b.draw(), []);
    b.set(ATTRIBUTE, &[(para_01::Z_3, (3 << 5) | z_3::FORMAT.of(4))]);
    assert_eq!(b.draw(), [kind::RESERVED_VALUE], "its location");
    b.set(ATTRIBUTE, &[(para_01::Z_3, 0)]);
    assert_eq!(b.draw(), [kind::RESERVED_VALUE], "16 bits of depth");
    b.set(
        ATTRIBUTE,
        &[(
            para_01::FAST_Z_CLEAR_1,
            1 | fast_z_clear_1::INDEX_LENGTH.of(5),
        )],
    );
    assert_eq!(b.draw(), [kind::RESERVED_VALUE; 2]);
}

#[test]
fn coarse_z_has_32_bytes_a_cell() {
    let mut b = Bench::drawing();
    b.set(
        ATTRIBUTE,
        &[
            (para_01::COARSE_Z_1, coarse_z_1::PITCH.of(9)),
            (para_01::COARSE_Z_2, (OTHER >> 8) as u32),
        ],
    );
    for bit in [enable_2::COARSE_Z_TEST, enable_2::COARSE_Z_WRITE] {
        let enable = bit.mask() | enable_2::COLOR_WRITE.mask();
        b.set(ATTRIBUTE, &[(para_01::ENABLE_2, enable)]);
        b.with_target(OTHER, (3 * 9 + 8) * 32);
    }
    b.declare(&[]);
    b.set(ATTRIBUTE, &[(para_01::COARSE_Z_1, 0)]);
    assert_eq!(b.draw(), [kind::PITCH_ZERO]);
    b.set(
        ATTRIBUTE,
        &[(para_01::COARSE_Z_1, coarse_z_1::MERGE.of(3) | 9)],
    );
    assert_eq!(b.draw(), [kind::RESERVED_VALUE]);
}

#[test]
fn the_count_of_pixels_is_written_by_the_high_half_of_its_address() {
    let mut b = Bench::drawing();
    let count = [(para_01::Z_13, 0x34_5678), (para_01::Z_14, 0x12)];
    b.set(ATTRIBUTE, &count);
    b.declare(&[(bus::FRAME_BUFFER, OTHER, 4)]);
    let low = (OTHER / 4) as u32;
    b.set(ATTRIBUTE, &[(para_01::Z_18, low)]);
    assert_eq!(b.bytes(OTHER, 4), [0; 4], "the low half does nothing");
    b.set(ATTRIBUTE, &[(para_01::Z_19, 0)]);
    assert_eq!(b.bytes(OTHER, 4), [0x78, 0x56, 0x34, 0x12]);
    assert_eq!(b.found(), []);
    b.set(ATTRIBUTE, &[(para_01::Z_18, low + 1), (para_01::Z_19, 0)]);
    assert_eq!(b.found(), [kind::OUTSIDE_OBJECTS]);
    b.set(ATTRIBUTE, &[(para_01::Z_18, low), (para_01::Z_19, 1)]);
    assert_eq!(b.found(), [kind::FRAME_BUFFER_RANGE], "a unit is 4 bytes");
    b.set(ATTRIBUTE, &[(para_01::Z_19, 0x80_0000)]);
    assert_eq!(b.found(), [kind::RESERVED_VALUE]);
    b.set(ATTRIBUTE, &[(para_01::Z_18, 0), (para_01::Z_19, 0xc0_0000)]);
    assert_eq!(b.found(), [], "an address of 0 writes nothing");
    assert_eq!(b.m.counters.get("occlusion_counts"), 4);
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

#[test]
fn a_count_of_pixels_goes_through_the_gart() {
    let mut b = Bench::drawing();
    b.table();
    b.entry(2, (RAM >> 12) as u32);
    b.set(
        ATTRIBUTE,
        &[
            (para_01::Z_13, 9),
            (para_01::Z_18, 0x2010 / 4),
            (para_01::Z_19, location_3d::SYSTEM_DYNAMIC << 22),
        ],
    );
    let mut bytes = [0; 4];
    assert!(b.m.functions[0].ram.read(RAM + 0x10, &mut bytes));
    assert_eq!((bytes, b.found()), ([9, 0, 0, 0], vec![]));
    b.set(
        ATTRIBUTE,
        &[
            (para_01::Z_18, 0x3010 / 4),
            (para_01::Z_19, location_3d::SYSTEM_DYNAMIC << 22),
        ],
    );
    assert_eq!(b.found(), [kind::DMA_FAULT]);
}

#[test]
fn a_high_half_alone_is_undefined_or_from_another_stream() {
    let mut b = Bench::new();
    let high = |value| {
        header(
            0x2_0440,
            mmio::SETTING_3D,
            ATTRIBUTE << 16,
            &[(para_01::Z_19 << 24) | value],
        )
    };
    assert_eq!(b.one(&[high(0), tag(1)]), [kind::UNDEFINED_STATE]);
    let mut b = Bench::drawing();
    b.set(ATTRIBUTE, &[(para_01::Z_18, 0x1000)]);
    assert_eq!(b.branch(0x82, &high(0), 1), [kind::HALF_ADDRESS]);
    let low = (para_01::Z_18 << 24) | 0x1000;
    let both = header(
        0x2_0440,
        mmio::SETTING_3D,
        ATTRIBUTE << 16,
        &[low, para_01::Z_19 << 24],
    );
    assert_eq!(b.branch(0x82, &both, 1), []);
}

#[test]
fn parameters_that_were_never_written_are_named() {
    let mut b = Bench::new();
    b.send(&[0; 9]);
    let found = b.m.judge.take();
    assert_eq!(found.len(), 1);
    for name in [
        "ENABLE_1",
        "ENABLE_2",
        "MISC_1",
        "MISC_4",
        "VERTEX_FORMAT_1",
        "VERTEX_COUNT",
        "FVF_MASK_1",
        "PRIMITIVE_SETTING_4",
    ] {
        assert!(
            found[0].detail.contains(name),
            "{name} in {}",
            found[0].detail
        );
    }
    assert_eq!(found[0].count, 1, "data of a list that is none is dropped");
    // One that is missing, of what is switched on and of what is not.
    let mut b = Bench::drawing();
    b.chip.parameters.forget(2..=2);
    assert_eq!(b.draw(), [], "no texture is used");
    b.chip.parameters.forget(1..=1);
    assert_eq!(b.draw(), [kind::UNDEFINED_STATE]);
}

#[test]
fn each_feature_wants_its_parameters() {
    let enable = |bits: u32| (para_01::ENABLE_2, enable_2::COLOR_WRITE.mask() | bits);
    let first = |bits: u32| (para_01::ENABLE_1, bits);
    // What is switched on, and a parameter that it needs.
    let cases: &[(&[(u32, u32)], u32)] = &[
        (&[first(enable_1::BLEND_RT0.mask())], para_01::ALPHA_2),
        (&[first(enable_1::BLEND_RT0.mask())], para_01::ALPHA_5),
        (&[first(enable_1::ALPHA_TEST_RT0.mask())], para_01::ALPHA_1),
        (&[first(enable_1::FOG_RT0.mask())], para_01::FOG_2),
        (
            &[first(enable_1::FOG_RT0.mask()), (para_01::FOG_1, 2)],
            para_01::FOG_4,
        ),
        (
            &[first(enable_1::FOG_RT0.mask()), (para_01::FOG_1, 4)],
            para_01::FOG_9,
        ),
        (
            &[enable(enable_2::Z_TEST.mask()), (para_01::Z_2, 8 << 13)],
            para_01::Z_4,
        ),
        (&[enable(enable_2::LINE_PATTERN.mask())], para_01::MISC_5),
        (&[enable(enable_2::CLIPPING.mask())], para_01::MISC_9),
        (&[enable(enable_2::PIXEL_SHADER.mask())], para_01::PS_7),
        (
            &[
                first(enable_1::BLEND_RT0.mask()),
                (para_01::ALPHA_2, 5 << 10),
            ],
            para_01::ALPHA_6,
        ),
        (
            &[
                first(enable_1::BLEND_RT0.mask()),
                (para_01::ALPHA_5, 9 << 8),
            ],
            para_01::ALPHA_13,
        ),
        (
            &[
                enable(enable_2::STENCIL_TEST.mask()),
                (para_01::Z_2, 8 << 13),
                (para_01::Z_3, 6 << 16),
            ],
            para_01::STENCIL_3,
        ),
    ];
    for (values, needed) in cases {
        let mut b = Bench::drawing();
        b.set(ATTRIBUTE, values);
        assert_eq!(b.draw(), [], "{values:x?}");
        // All again, but for the one.
        let all: Vec<_> = b.chip.parameters.all(1..=1).collect();
        b.chip.parameters.forget(1..=1);
        for [place, value] in &all {
            if place & 0xff != *needed {
                b.chip.parameters.put(*place, *value);
            }
        }
        assert_eq!(
            b.draw(),
            [kind::UNDEFINED_STATE],
            "{needed:#x} of {values:x?}"
        );
        b.chip.parameters.put((ATTRIBUTE << 24) | needed, 0);
        b.set(ATTRIBUTE, values);
        assert_eq!(b.draw(), []);
        // It is not needed otherwise.
        let mut b = Bench::drawing();
        b.chip.parameters.forget(1..=1);
        let plain: Vec<_> = all.iter().filter(|[p, _]| p & 0xff != *needed).collect();
        for [place, value] in plain {
            b.chip.parameters.put(*place, *value);
        }
        b.set(ATTRIBUTE, &[first(0), enable(0)]);
        assert_eq!(b.draw(), [], "{needed:#x} without {values:x?}");
    }
}

#[test]
fn a_clear_of_the_fetcher_ends_a_list() {
    let mut b = Bench::drawing();
    b.m.faults.arm(fault::HANG, Some(1));
    let part = header(0x3_043c, 4, 0, &[0; 4]);
    let behind = b.block(0, &[part, tag(1)]);
    b.m.faults.clear();
    b.start(behind, PAUSE);
    assert_eq!(b.found(), [kind::HEADER_IN_PRIMITIVE]);
    b.send(&[0; 5]);
    b.setup(&[(lapidary_registers::chrome9::para_10::AGP_CONTROL, 0x0a_0018)]);
    assert_eq!(b.found(), [], "not even the list's state is judged");
    assert_eq!(b.draw(), [], "the next list begins anew");
}
