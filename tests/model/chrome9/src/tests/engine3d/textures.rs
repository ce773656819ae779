// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Footprints of textures: which count, sizes, formats, levels, faces, layouts, locations.

use lapidary_registers::chrome9::enums::{para_type, texture_format as format};
use lapidary_registers::chrome9::para_01::{self, enable_2, ps_2, ps_3};
use lapidary_registers::chrome9::para_02_general::{self, texture_general};
use lapidary_registers::chrome9::para_02_sample::{
    self, filter_control_1, filter_control_2, level_control_1,
};
use lapidary_registers::chrome9::para_02_stage::{
    self, texture_control_1 as control, texture_control_2 as size, texture_control_4 as layout,
    texture_control_5,
};
use lapidary_registers::chrome9::para_03_mip::level_base;

use super::{ATTRIBUTE, BYTES, GENERAL, TARGET};
use crate::kind;
use crate::tests::Bench;
use crate::{bus, regs::Parameters};

/// Level 0, and further ones.
const TEXELS: u64 = 0x20_0000;
const LEVELS: u64 = 0x30_0000;

/// Return the type of a texture's parameters, and of its sampler's.
fn stage(n: u32) -> u32 {
    para_type::TEXTURE | (n << 8)
}
fn sample(n: u32) -> u32 {
    stage(0x20 + n)
}

impl Bench {
    /// Return a chip whose pixel shader fetches from texture 0, of 100 x 50 texels of 32 bits in rows.
    fn textured() -> Bench {
        let mut b = Bench::drawing();
        let enable = enable_2::COLOR_WRITE.mask() | enable_2::PIXEL_SHADER.mask();
        b.set(ATTRIBUTE, &[(para_01::ENABLE_2, enable)]);
        let count = texture_general::COUNT.of(1);
        b.set(GENERAL, &[(para_02_general::TEXTURE_GENERAL, count)]);
        b.texture(0, TEXELS);
        b
    }

    fn texture(&mut self, n: u32, base: u64) {
        self.set(
            stage(n),
            &[
                (para_02_stage::FACE_0_BASE, (base >> 8) as u32),
                (
                    para_02_stage::TEXTURE_CONTROL_1,
                    control::KIND.of(control::kind::TEXTURE_2D),
                ),
                (
                    para_02_stage::TEXTURE_CONTROL_2,
                    size::WIDTH.of(100) | size::HEIGHT_ASSUMED.of(50),
                ),
                (para_02_stage::TEXTURE_CONTROL_5, 0),
            ],
        );
        self.format(n, format::ARGB8888_ASSUMED);
        self.set(sample(n), &[(para_02_sample::FILTER_CONTROL_2, 0o111)]);
    }

    fn format(&mut self, n: u32, format: u32) {
        let value = texture_control_5::FORMAT.of(format);
        self.set(stage(n), &[(para_02_stage::TEXTURE_CONTROL_5, value)]);
    }

    /// Let levels be chosen, with entries of the table from LEVELS on, 10000h apart.
    fn mip(&mut self, mip: u32, least: u32, most: u32) {
        let levels = level_control_1::MIN_LEVEL.of(least) | level_control_1::MAX_LEVEL.of(most);
        self.set(
            sample(0),
            &[
                (
                    para_02_sample::FILTER_CONTROL_1,
                    filter_control_1::MIP.of(mip),
                ),
                (para_02_sample::LEVEL_CONTROL_1, levels),
            ],
        );
        let entries: Vec<u32> = (0..8).map(|l| (LEVELS >> 8) as u32 + l * 0x100).collect();
        self.set_table(0x10, 0, &entries);
    }

    /// Assert that a draw touches those ranges of the frame buffer beside render target 0, exactly.
    fn texels(&mut self, ranges: &[(u64, u64)]) {
        let mut all = vec![(bus::FRAME_BUFFER, TARGET, BYTES)];
        all.extend(ranges.iter().map(|(s, l)| (bus::FRAME_BUFFER, *s, *l)));
        self.exactly(&all);
    }
}

#[test]
fn textures_count_if_the_shader_runs_and_they_are_routed_to_it() {
    let mut b = Bench::textured();
    b.texels(&[(TEXELS, 416 * 50)]);
    b.declare(&[]);
    let line = "texture 0 reads 0x00200000..0x00205140 of the frame buffer: \
                ARGB8888_ASSUMED, 100 x 50 x 1, face 0, level 0";
    assert!(b.traced().contains(line));
    b.set(GENERAL, &[(para_02_general::TEXTURE_GENERAL, 0)]);
    b.texels(&[]);
    // By a register of the texture address unit.
    b.set(ATTRIBUTE, &[(para_01::PS_2, ps_2::TAU_INPUTS.of(1 << 15))]);
    b.texture(15, LEVELS);
    b.texels(&[(LEVELS, 416 * 50)]);
    b.set(
        ATTRIBUTE,
        &[(para_01::ENABLE_2, enable_2::COLOR_WRITE.mask())],
    );
    b.texels(&[]);
    b.set(
        ATTRIBUTE,
        &[
            (para_01::PS_2, 0),
            (
                para_01::ENABLE_2,
                enable_2::COLOR_WRITE.mask() | enable_2::PIXEL_SHADER.mask(),
            ),
        ],
    );
    for n in 0..9 {
        b.texture(n, TEXELS);
    }
    b.declare(&[]);
    b.set(
        GENERAL,
        &[(
            para_02_general::TEXTURE_GENERAL,
            texture_general::COUNT.of(8),
        )],
    );
    assert_eq!(b.draw(), []);
    b.set(
        GENERAL,
        &[(
            para_02_general::TEXTURE_GENERAL,
            texture_general::COUNT.of(9),
        )],
    );
    assert_eq!(b.draw(), [kind::RESERVED_VALUE]);
}

#[test]
fn rows_have_the_bytes_of_their_texels_rounded_up_to_32() {
    let mut b = Bench::textured();
    for (code, row, rows) in [
        (format::RGB565_ASSUMED, 224, 50),
        (format::A8_ASSUMED, 128, 50),
        (format::T4_ASSUMED, 64, 50),
        (format::L1_ASSUMED, 32, 50),
        (format::DXT1_ASSUMED, 224, 13),
        (format::DXT4_5_ASSUMED, 416, 13),
    ] {
        b.format(0, code);
        b.texels(&[(TEXELS, row * rows)]);
    }
    b.declare(&[]);
    b.format(0, 0);
    assert_eq!(b.draw(), [kind::RESERVED_VALUE]);
}

#[test]
fn tiles_round_rows_up() {
    let mut b = Bench::textured();
    let tiled = |bits| {
        (
            para_02_stage::TEXTURE_CONTROL_4,
            layout::TILED.mask() | bits,
        )
    };
    b.set(stage(0), &[tiled(0)]);
    b.texels(&[(TEXELS, 416 * 56)]);
    b.set(stage(0), &[tiled(layout::TILE_16.mask())]);
    b.texels(&[(TEXELS, 416 * 64)]);
    b.format(0, format::DXT1_ASSUMED);
    b.set(stage(0), &[tiled(0)]);
    b.texels(&[(TEXELS, 224 * 16)]);
}

#[test]
fn the_larger_of_number_and_power_counts() {
    let mut b = Bench::textured();
    let power = layout::POWER_OF_2.mask();
    let exponents = layout::WIDTH_EXPONENT.of(7) | layout::HEIGHT_EXPONENT.of(5);
    let four = para_02_stage::TEXTURE_CONTROL_4;
    b.set(stage(0), &[(four, exponents)]);
    b.texels(&[(TEXELS, 416 * 50)]);
    b.set(stage(0), &[(four, exponents | power)]);
    b.texels(&[(TEXELS, 512 * 50)]);
    b.declare(&[]);
    b.set(stage(0), &[(four, power | layout::WIDTH_EXPONENT.of(12))]);
    assert_eq!(b.draw(), [kind::RESERVED_VALUE]);
    b.set(
        stage(0),
        &[(four, 0), (para_02_stage::TEXTURE_CONTROL_2, 100)],
    );
    assert_eq!(b.draw(), [kind::RESERVED_VALUE], "no height");
    let large = size::WIDTH.of(2049) | size::HEIGHT_ASSUMED.of(1);
    b.set(stage(0), &[(para_02_stage::TEXTURE_CONTROL_2, large)]);
    assert_eq!(b.draw(), [kind::RESERVED_VALUE]);
}

#[test]
fn levels_that_a_filter_can_choose_count() {
    let mut b = Bench::textured();
    let level = |l: u64, bytes| (LEVELS + (l - 1) * 0x1_0000, bytes);
    let mip = filter_control_1::mip::LINEAR;
    b.mip(filter_control_1::mip::LEVEL_0, 0, 7);
    b.texels(&[(TEXELS, 416 * 50)]);
    b.mip(mip, 0, 3);
    let all = [
        (TEXELS, 416 * 50),
        level(1, 224 * 25),
        level(2, 128 * 12),
        level(3, 64 * 6),
    ];
    b.texels(&all);
    b.mip(mip, 2, 3);
    b.texels(&all[2..]);
    // Without a filter between levels it is level 0 or the least one; with an offset, any.
    b.mip(filter_control_1::mip::LEVEL_0, 2, 3);
    b.texels(&[all[0], all[2]]);
    let moved = level_control_1::OFFSET.of(1)
        | level_control_1::MIN_LEVEL.of(2)
        | level_control_1::MAX_LEVEL.of(3);
    b.set(sample(0), &[(para_02_sample::LEVEL_CONTROL_1, moved)]);
    b.texels(&[all[0], all[2], all[3]]);
    // The last levels have one texel.
    b.mip(mip, 7, 8);
    b.texels(&[level(7, 32), level(8, 32)]);
    b.declare(&[]);
    for (least, most) in [(0, 9), (0, 12), (3, 2)] {
        b.mip(mip, least, most);
        assert!(
            b.draw().contains(&kind::RESERVED_VALUE),
            "{least} to {most}"
        );
    }
    b.mip(filter_control_1::mip::RESERVED, 0, 0);
    assert_eq!(b.draw(), [kind::RESERVED_VALUE]);
}

#[test]
fn a_cube_has_six_faces_with_offsets_of_their_levels() {
    let mut b = Bench::textured();
    let kind = control::KIND.of(control::kind::CUBE);
    let mode = control::BASE_MODE.mask();
    let bases: Vec<_> = (0..6)
        .map(|f| (f, (TEXELS >> 8) as u32 + f * 0x1000))
        .collect();
    b.set(stage(0), &bases);
    b.set(stage(0), &[(para_02_stage::TEXTURE_CONTROL_1, kind | mode)]);
    let face = |f: u64| (TEXELS + f * 0x10_0000, 416 * 50);
    b.texels(&[face(0), face(1), face(2), face(3), face(4), face(5)]);
    b.mip(filter_control_1::mip::NEAREST, 1, 1);
    b.set_table(0x10, 0, &[0x60]);
    let level = |f: u64| (TEXELS + f * 0x10_0000 + 0x6000, 224 * 25);
    b.texels(&[level(0), level(1), level(2), level(3), level(4), level(5)]);
    b.declare(&[]);
    b.set(stage(0), &[(para_02_stage::TEXTURE_CONTROL_1, kind)]);
    assert!(
        b.draw().contains(&kind::RESERVED_VALUE),
        "offsets are needed"
    );
    // Each face has a location of its own; that of the entries does not count with offsets.
    for shift in [0, 2, 4, 6, 14, 16] {
        let value = kind | mode | (3 << shift);
        b.set(stage(0), &[(para_02_stage::TEXTURE_CONTROL_1, value)]);
        assert_eq!(b.draw(), [kind::RESERVED_VALUE], "{shift}");
    }
}

#[test]
fn a_volume_has_a_length_and_no_levels() {
    let mut b = Bench::textured();
    let kind = control::KIND.of(control::kind::VOLUME);
    b.set(
        stage(0),
        &[
            (para_02_stage::TEXTURE_CONTROL_1, kind),
            (para_02_stage::TEXTURE_CONTROL_3, 5),
        ],
    );
    b.texels(&[(TEXELS, 416 * 50 * 5)]);
    b.declare(&[]);
    b.mip(filter_control_1::mip::LINEAR, 0, 1);
    assert_eq!(b.draw(), [kind::RESERVED_VALUE]);
    // A projected cube is one, too.
    let projected = control::KIND.of(8 | control::kind::CUBE) | control::BASE_MODE.mask();
    b.mip(filter_control_1::mip::LEVEL_0, 0, 0);
    b.set(stage(0), &[(para_02_stage::TEXTURE_CONTROL_1, projected)]);
    b.declare(&[
        (bus::FRAME_BUFFER, TARGET, BYTES),
        (bus::FRAME_BUFFER, TEXELS, 416 * 50),
    ]);
    assert_eq!(b.draw(), [kind::OUTSIDE_OBJECTS; 5], "five faces are at 0");
    for code in [0, 4, 7] {
        b.declare(&[]);
        let value = control::KIND.of(code);
        b.set(stage(0), &[(para_02_stage::TEXTURE_CONTROL_1, value)]);
        assert_eq!(b.draw(), [kind::RESERVED_VALUE], "kind {code}");
    }
}

#[test]
fn levels_are_where_their_entry_or_their_face_says() {
    let mut b = Bench::textured();
    b.mip(filter_control_1::mip::NEAREST, 1, 1);
    let entry = (LEVELS >> 8) as u32;
    b.set_table(0x10, 0, &[entry | level_base::LOCATION.of(3)]);
    assert_eq!(b.draw(), [kind::RESERVED_VALUE]);
    let power =
        layout::POWER_OF_2.mask() | layout::WIDTH_EXPONENT.of(6) | layout::HEIGHT_EXPONENT.of(5);
    b.set(stage(0), &[(para_02_stage::TEXTURE_CONTROL_4, power)]);
    assert_eq!(b.draw(), [], "powers of 2 are where the face is");
    b.set(stage(0), &[(para_02_stage::TEXTURE_CONTROL_4, 0)]);
    let relative = control::KIND.of(1) | control::BASE_MODE.mask();
    b.set(stage(0), &[(para_02_stage::TEXTURE_CONTROL_1, relative)]);
    b.set_table(0x10, 0, &[0x60 | level_base::LOCATION.of(3)]);
    b.texels(&[(TEXELS + 0x6000, 224 * 25)]);
    // Texture 2 has entries of its own.
    b.set(GENERAL, &[(para_02_general::TEXTURE_GENERAL, 0)]);
    b.set(ATTRIBUTE, &[(para_01::PS_2, 1 << 2)]);
    b.texture(2, TEXELS);
    b.set(
        sample(2),
        &[
            (para_02_sample::FILTER_CONTROL_1, 1),
            (para_02_sample::LEVEL_CONTROL_1, (8 << 6) | 8),
        ],
    );
    b.set_table(0x10, 23, &[entry]);
    b.texels(&[(LEVELS, 32)]);
}

#[test]
fn a_texture_behind_the_gart_needs_its_pages() {
    let mut b = Bench::textured();
    b.table();
    b.m.functions[0]
        .ram
        .map_anonymous(0x40_0000, 0x1_0000)
        .unwrap();
    for page in 0..6 {
        b.entry((TEXELS >> 12) + page, 0x400 + page as u32);
    }
    b.set(
        stage(0),
        &[(para_02_stage::TEXTURE_CONTROL_1, control::KIND.of(1) | 1)],
    );
    b.exactly(&[
        (bus::FRAME_BUFFER, TARGET, BYTES),
        (bus::GART, TEXELS, 416 * 50),
    ]);
    b.declare(&[]);
    b.entry((TEXELS >> 12) + 5, 0x8000_0000);
    b.sequencer(0x6f, 0x80);
    assert_eq!(b.draw(), [kind::GART_FAULT]);
}

/// Forget one parameter.
fn forget(parameters: &mut Parameters, place: u32) {
    let all: Vec<_> = parameters.all(1..=4).filter(|p| p[0] != place).collect();
    parameters.forget(1..=4);
    for [place, value] in all {
        parameters.put(place, value);
    }
}

#[test]
fn a_texture_wants_its_parameters() {
    let at = |kind: u32, index: u32| ((kind & 0xff) << 24) | ((kind >> 8) << 16) | index;
    for place in [
        at(stage(0), para_02_stage::FACE_0_BASE),
        at(stage(0), para_02_stage::TEXTURE_CONTROL_1),
        at(stage(0), para_02_stage::TEXTURE_CONTROL_5),
        at(sample(0), para_02_sample::FILTER_CONTROL_1),
        at(sample(0), para_02_sample::LEVEL_CONTROL_1),
        at(GENERAL, para_02_general::TEXTURES_012),
    ] {
        let mut b = Bench::textured();
        forget(&mut b.chip.parameters, place);
        assert_eq!(b.draw(), [kind::UNDEFINED_STATE], "{place:#x}");
    }
    // What this one does not need.
    for place in [
        at(stage(0), para_02_stage::FACE_1_BASE),
        at(stage(0), para_02_stage::TEXTURE_CONTROL_3),
        at(stage(1), para_02_stage::FACE_0_BASE),
        at(sample(0), para_02_sample::BORDER_CONTROL_1),
        at(GENERAL, para_02_general::TEXTURES_345),
        at(para_type::TABLE, 3),
        at(para_type::TABLE | 0x1000, 0),
        at(para_type::TABLE | 0x2000, 0),
    ] {
        let mut b = Bench::textured();
        forget(&mut b.chip.parameters, place);
        assert_eq!(b.draw(), [], "{place:#x}");
    }
    let mut b = Bench::textured();
    let border = at(sample(0), para_02_sample::BORDER_CONTROL_2);
    b.set(
        sample(0),
        &[(
            para_02_sample::FILTER_CONTROL_2,
            filter_control_2::WRAP_S.of(1),
        )],
    );
    forget(&mut b.chip.parameters, border);
    assert_eq!(b.draw(), [kind::UNDEFINED_STATE], "T and R have a border");
    let mut b = Bench::textured();
    b.format(0, format::AI44);
    forget(&mut b.chip.parameters, at(para_type::TABLE, 15));
    assert_eq!(b.draw(), [kind::UNDEFINED_STATE], "the palette");
    let mut b = Bench::textured();
    b.mip(filter_control_1::mip::LINEAR, 0, 2);
    forget(&mut b.chip.parameters, at(para_type::TABLE | 0x1000, 1));
    assert_eq!(b.draw(), [kind::UNDEFINED_STATE], "level 2");
}

#[test]
fn a_shader_wants_its_program() {
    let at = |subtype: u32, index: u32| (para_type::TABLE << 24) | (subtype << 16) | index;
    for (place, needed) in [
        (at(0x20, 7), true),
        (at(0x20, 8), false),
        (at(0x21, 2), true),
        (at(0x21, 3), false),
    ] {
        let mut b = Bench::textured();
        let lengths = ps_3::ALU_LENGTH.of(2) | ps_3::TAU_LENGTH.of(3);
        b.set(ATTRIBUTE, &[(para_01::PS_3, lengths)]);
        assert_eq!(b.draw(), []);
        forget(&mut b.chip.parameters, place);
        let found = b.draw();
        assert_eq!(
            found == [kind::UNDEFINED_STATE],
            needed,
            "{place:#x}: {found:?}"
        );
    }
    let mut b = Bench::textured();
    for long in [ps_3::ALU_LENGTH.of(97), ps_3::TAU_LENGTH.of(33)] {
        b.set(ATTRIBUTE, &[(para_01::PS_3, long)]);
        assert_eq!(b.draw(), [kind::RESERVED_VALUE]);
    }
}
