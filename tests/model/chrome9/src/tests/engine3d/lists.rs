// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Primitive lists: where they begin and end, vertices in the commands and by index, what comes in between.

use lapidary_registers::chrome9::enums::{fvf_attribute, para_type};
use lapidary_registers::chrome9::para_04::{
    self, primitive_setting_1 as cycle, primitive_setting_4 as shape, vertex_format_1,
};
use lapidary_registers::chrome9::{mmio, para_01, para_11};

use super::{ATTRIBUTE, BYTES, PRIMITIVE, TARGET};
use crate::kind::{self, Kind};
use crate::tests::Bench;
use crate::tests::ring::{PAD, PAUSE, header, tag};
use crate::{bus, fault};

/// Vertices by index.
const BUFFER: u64 = 0x40_0000;

/// Return a header 3 with those dwords.
fn data(words: &[u32]) -> Vec<u32> {
    header(0x3_043c, words.len() as u32, 0, words)
}

/// Return a header 2 for parameters of the 3D window.
fn state(kind: u32, values: &[u32]) -> Vec<u32> {
    header(0x2_0440, mmio::SETTING_3D, kind << 16, values)
}

impl Bench {
    fn list(&mut self, kind: u32, count: u32) {
        let setting = shape::TYPE.of(kind) | shape::SHADING.of(shape::shading::GOURAUD);
        self.set(
            PRIMITIVE,
            &[
                (para_04::PRIMITIVE_SETTING_4, setting),
                (para_04::VERTEX_COUNT, count),
            ],
        );
    }

    /// Let vertices of three dwords come by index, 3 to 10, with that pitch.
    fn by_index(&mut self, bits: u32, pitch: u32) {
        let wide = if bits == 32 {
            cycle::INDEX_32.mask()
        } else {
            0
        };
        self.set(
            PRIMITIVE,
            &[
                (
                    para_04::PRIMITIVE_SETTING_1,
                    cycle::INDEX_MODE.mask() | wide,
                ),
                (para_04::VERTEX_BUFFER_LOW, BUFFER as u32),
                (para_04::VERTEX_BUFFER_HIGH, pitch << 8),
                (para_04::INDEX_MAX_LOW, 10),
                (para_04::INDEX_MIN_LOW, 3),
            ],
        );
    }

    fn count(&self, name: &str) -> u64 {
        self.m.counters.get(name)
    }

    /// Send dwords and return what was found.
    fn sent(&mut self, words: &[u32]) -> Vec<Kind> {
        self.send(words);
        self.found()
    }
}

#[test]
fn a_list_ends_with_its_vertices_and_the_next_begins() {
    let mut b = Bench::drawing();
    b.list(shape::type_::TRIANGLE, 6);
    assert_eq!(b.sent(&[0; 17]), []);
    assert_eq!((b.count("draws"), b.count("primitives")), (1, 0));
    assert_eq!(b.sent(&[0]), [], "a setting of the same type goes on");
    assert_eq!((b.count("draws"), b.count("primitives")), (1, 2));
    assert_eq!(b.sent(&[0; 18]), []);
    assert_eq!((b.count("draws"), b.count("vertices")), (2, 12));
    // Padding behind a list begins none. In front of it there is none.
    assert_eq!(b.sent(&[&[0; 18][..], &[PAD, PAD]].concat()), []);
    assert_eq!(b.count("draws"), 3);
    assert_eq!(b.sent(&[PAD; 18]), []);
    assert_eq!(b.count("draws"), 4);
}

#[test]
fn kinds_take_their_vertices_and_none_is_left_over() {
    use shape::type_::{LINE, POINT, RECTANGLE, TRIANGLE, TRIANGLE_POINT, WIREFRAME};
    for (kind, each, counter) in [
        (POINT, 1, "draws_points"),
        (LINE, 2, "draws_lines"),
        (TRIANGLE, 3, "draws_triangles"),
        (WIREFRAME, 3, "draws_triangles"),
        (TRIANGLE_POINT, 3, "draws_triangles"),
    ] {
        let mut b = Bench::drawing();
        b.list(kind, each * 4);
        assert_eq!(b.sent(&vec![0; 12 * each as usize]), []);
        assert_eq!((b.count("primitives"), b.count(counter)), (4, 1));
        if each > 1 {
            b.list(kind, each * 4 + 1);
            let words = vec![0; 12 * each as usize + 3];
            assert_eq!(b.sent(&words), [kind::UNFINISHED_PRIMITIVE]);
            // With the fast cycle each further vertex makes one.
            b.set(
                PRIMITIVE,
                &[(para_04::PRIMITIVE_SETTING_1, cycle::FAST_CYCLE.mask())],
            );
            assert_eq!(b.sent(&words), []);
            assert_eq!(b.count("primitives"), u64::from(4 + 4 + each * 3 + 2));
            b.list(kind, each - 1);
            let words = vec![0; 3 * (each as usize - 1)];
            assert_eq!(b.sent(&words), [kind::UNFINISHED_PRIMITIVE]);
        }
    }
    let mut b = Bench::drawing();
    b.list(RECTANGLE, 4);
    assert_eq!(
        b.sent(&[0; 12]),
        [],
        "how many vertices it has is not known"
    );
    assert_eq!(b.count("draws_rectangles"), 1);
}

#[test]
fn values_without_a_meaning_are_found() {
    let smooth = shape::SHADING.of(shape::shading::GOURAUD);
    let cases = [
        (para_04::PRIMITIVE_SETTING_4, smooth | 3),
        (para_04::PRIMITIVE_SETTING_4, smooth | 8),
        (para_04::PRIMITIVE_SETTING_4, shape::SHADING.of(5) | 2),
        (
            para_04::PRIMITIVE_SETTING_4,
            smooth | 2 | shape::TWO_FACES.mask() | shape::CW_TYPE.of(1),
        ),
        (para_04::PRIMITIVE_SETTING_1, cycle::RESERVED_CYCLE.mask()),
        (para_04::VERTEX_FORMAT_2, 0x30_0100),
        (para_04::VERTEX_FORMAT_2, 0x3f_0100),
    ];
    for (sub_address, value) in cases {
        let mut b = Bench::drawing();
        b.set(PRIMITIVE, &[(sub_address, value)]);
        assert_eq!(
            b.draw(),
            [kind::RESERVED_VALUE],
            "{sub_address:#x} = {value:#x}"
        );
    }
    let mut b = Bench::drawing();
    let both = cycle::RESERVED_CYCLE.mask() | cycle::FAST_CYCLE.mask();
    b.set(
        PRIMITIVE,
        &[
            (para_04::PRIMITIVE_SETTING_1, both),
            (
                para_04::PRIMITIVE_SETTING_4,
                smooth | 2 | shape::CW_TYPE.of(1),
            ),
            (para_04::VERTEX_FORMAT_3, 0x30),
        ],
    );
    assert_eq!(b.draw(), [], "not used, or with FAST_CYCLE");
}

#[test]
fn a_list_needs_vertices_that_have_a_length() {
    for (sub_address, value) in [
        (para_04::VERTEX_COUNT, 0),
        (para_04::VERTEX_FORMAT_1, 0),
        (para_04::VERTEX_FORMAT_1, 51),
    ] {
        let mut b = Bench::drawing();
        b.set(PRIMITIVE, &[(sub_address, value)]);
        assert_eq!(
            b.sent(&[0; 200]),
            [kind::RESERVED_VALUE],
            "once, and the data is dropped"
        );
    }
    // A vertex of 50 dwords.
    let mut b = Bench::drawing();
    b.set(PRIMITIVE, &[(para_04::VERTEX_FORMAT_1, 50)]);
    assert_eq!(b.sent(&[0; 150]), []);
    // The last attributes are where the format has them.
    for (sub_address, shift) in [
        (para_04::VERTEX_FORMAT_14, 16),
        (para_04::VERTEX_FORMAT_15, 0),
        (para_04::VERTEX_FORMAT_15, 18),
        (para_04::VERTEX_FORMAT_16, 6),
        (para_04::VERTEX_FORMAT_17, 12),
    ] {
        b.set(PRIMITIVE, &[(sub_address, 0x30 << shift)]);
        assert_eq!(b.sent(&[0; 150]), [kind::RESERVED_VALUE]);
        b.set(
            PRIMITIVE,
            &[(sub_address, fvf_attribute::BACK_COLOR_1 << shift)],
        );
        assert_eq!(b.sent(&[0; 150]), []);
    }
}

#[test]
fn what_comes_within_a_list_is_found() {
    let mut b = Bench::drawing();
    b.send(&[0; 5]);
    b.set(ATTRIBUTE, &[]);
    assert_eq!(b.found(), [kind::UNFINISHED_PRIMITIVE], "a setting");
    assert_eq!(b.draw(), [], "the next list begins anew");
    b.send(&[0; 5]);
    let fence = (para_11::FENCE_4 << 24) | (1 << 20);
    b.parameters(para_type::REGULATOR_MISC, &[fence]);
    assert_eq!(b.found(), [kind::UNFINISHED_PRIMITIVE], "a fence");
    // The window of the regulator is another one.
    b.send(&[0; 5]);
    b.parameters(
        para_type::REGULATOR_MISC,
        &[(para_11::SW_INSPECTION_1 << 24) | 3],
    );
    assert_eq!(b.sent(&[0; 4]), []);
    // A list may come in parts, with dummies in between.
    let dummy = state(para_type::DUMMY, &[PAD; 4]);
    let parts = [data(&[0; 4]), dummy, data(&[0; 5])];
    assert_eq!(b.one(&parts), []);
    for other in [
        tag(4),
        state(ATTRIBUTE, &[]),
        header(0x0, 1, 0, &[mmio::DSTPOS, 0]),
    ] {
        let parts = [data(&[0; 4]), other, data(&[0; 9])];
        assert_eq!(b.one(&parts), [kind::HEADER_IN_PRIMITIVE]);
    }
    // A dword that looks like a header is data of header 3, and is a header in the data of header 2.
    let looks = [0, 0, 0, 0, 0xfe02_0420, mmio::CR_SETTING, 0x11_0000, 0, 0];
    assert_eq!(b.one(&[data(&looks)]), []);
    assert_eq!(
        b.one(&[state(para_type::VERTEX, &looks)]),
        [kind::HEADER_IN_PRIMITIVE]
    );
}

#[test]
fn a_branch_ends_with_its_lists() {
    let mut b = Bench::drawing();
    let whole = state(para_type::VERTEX, &[0; 9]);
    assert_eq!(b.branch(0x82, &whole, 1), []);
    assert_eq!(b.count("draws"), 1);
    let part = data(&[0; 8]);
    assert_eq!(b.branch(0x82, &part, 1), [kind::UNFINISHED_PRIMITIVE]);
}

#[test]
fn vertices_by_index_lie_within_the_bounds() {
    for bits in [16, 32] {
        let mut b = Bench::drawing();
        b.by_index(bits, 4);
        let target = (bus::FRAME_BUFFER, TARGET, BYTES);
        let indices: &[u32] = if bits == 16 {
            &[0x4_0003, 0xffff_000a]
        } else {
            &[3, 4, 10]
        };
        // From the first byte by bytes, to the last by dwords.
        let buffer = (bus::FRAME_BUFFER, BUFFER + 3 * 4, 10 * 16 + 12 - 3 * 4);
        b.declare(&[target, buffer]);
        assert_eq!(b.sent(indices), [], "{bits}");
        for (start, end) in [(1, 0), (0, 1)] {
            let less = (buffer.0, buffer.1 + start, buffer.2 - start - end);
            b.declare(&[target, less]);
            assert_eq!(b.sent(indices), [kind::OUTSIDE_OBJECTS]);
        }
        b.declare(&[]);
        assert_eq!((b.count("draws"), b.count("draws_indexed")), (3, 3));
        for outside in [2, 11] {
            let wrong: &[u32] = if bits == 16 {
                &[0x4_0003, outside]
            } else {
                &[3, outside, 10]
            };
            assert_eq!(b.sent(wrong), [kind::INDEX_BOUNDS], "{outside}");
        }
        // High bytes of both bounds.
        b.set(PRIMITIVE, &[(para_04::INDEX_BOUNDS_HIGH, 1)]);
        let found = b.sent(indices);
        assert_eq!(
            found,
            vec![kind::INDEX_BOUNDS; 2],
            "the least is beyond the greatest"
        );
        b.set(PRIMITIVE, &[(para_04::INDEX_BOUNDS_HIGH, 1 << 8)]);
        assert_eq!(b.sent(indices), [kind::FRAME_BUFFER_RANGE]);
    }
}

#[test]
fn a_vertex_buffer_is_where_both_halves_say() {
    let mut b = Bench::drawing();
    b.by_index(32, 0);
    assert_eq!(b.sent(&[3, 4, 5]), [kind::PITCH_ZERO]);
    b.set(PRIMITIVE, &[(para_04::INDEX_MAX_LOW, 3)]);
    assert_eq!(b.sent(&[3; 3]), [], "one vertex has no pitch");
    b.by_index(32, 3);
    b.set(PRIMITIVE, &[(para_04::VERTEX_BUFFER_HIGH, (3 << 8) | 1)]);
    assert_eq!(b.sent(&[3, 4, 5]), [kind::FRAME_BUFFER_RANGE]);
    b.by_index(32, 3);
    for location in [2, 3] {
        let format = vertex_format_1::LOCATION.of(location) | 3;
        b.set(PRIMITIVE, &[(para_04::VERTEX_FORMAT_1, format)]);
        assert_eq!(b.sent(&[3, 4, 5]), [kind::RESERVED_VALUE]);
    }
    let format = vertex_format_1::LOCATION.of(1) | 3;
    b.table();
    b.entry(BUFFER >> 12, 0x8000_0000);
    b.set(PRIMITIVE, &[(para_04::VERTEX_FORMAT_1, format)]);
    assert_eq!(b.sent(&[3, 4, 5]), [kind::GART_FAULT]);
}

#[test]
fn halves_of_an_address_come_from_one_stream() {
    let mut b = Bench::drawing();
    b.by_index(32, 3);
    let low = ((para_04::VERTEX_BUFFER_LOW) << 24) | BUFFER as u32;
    let high = (para_04::VERTEX_BUFFER_HIGH << 24) | (3 << 8);
    let draw = |parts: &[u32]| {
        let mut words = state(PRIMITIVE, parts);
        words.extend(data(&[3, 4, 5]));
        words
    };
    assert_eq!(b.branch(0x82, &draw(&[low, high]), 1), []);
    assert_eq!(b.branch(0x82, &draw(&[low]), 1), [kind::HALF_ADDRESS]);
    assert_eq!(b.branch(0x82, &draw(&[high]), 1), [kind::HALF_ADDRESS]);
    assert_eq!(b.branch(0x82, &draw(&[high, low]), 1), []);
    // With vertices in the commands it does not matter.
    b.set(PRIMITIVE, &[(para_04::PRIMITIVE_SETTING_1, 0)]);
    let mut words = state(PRIMITIVE, &[low]);
    words.extend(data(&[0; 9]));
    assert_eq!(b.branch(0x82, &words, 1), []);
}

#[test]
fn coordinates_that_are_no_numbers_matter_unless_they_are_tested() {
    const NAN: u32 = 0x7fc0_0001;
    let mut b = Bench::drawing();
    let vertex = |dword: usize| {
        let mut words = [0x7f80_0000u32; 9];
        words[dword] = NAN;
        words
    };
    for (dword, test) in [
        (0, vertex_format_1::NAN_XY),
        (4, vertex_format_1::NAN_XY),
        (8, vertex_format_1::NAN_Z),
    ] {
        b.set(PRIMITIVE, &[(para_04::VERTEX_FORMAT_1, 3)]);
        assert_eq!(b.sent(&vertex(dword)), [kind::NAN_VERTEX]);
        for mode in 1..4 {
            let before = b.count("nan_coordinates");
            b.set(PRIMITIVE, &[(para_04::VERTEX_FORMAT_1, test.of(mode) | 3)]);
            assert_eq!(b.sent(&vertex(dword)), []);
            assert_eq!(b.count("nan_coordinates"), before + 1);
        }
    }
    // W is tested apart, and a colour is no float.
    let format = (fvf_attribute::W << 16) | (fvf_attribute::COLOR_0 << 8);
    b.set(
        PRIMITIVE,
        &[
            (para_04::VERTEX_FORMAT_1, vertex_format_1::NAN_Z.of(1) | 3),
            (para_04::VERTEX_FORMAT_2, format),
        ],
    );
    assert_eq!(b.sent(&vertex(2)), [kind::NAN_VERTEX]);
    assert_eq!(b.sent(&vertex(1)), []);
    b.set(
        PRIMITIVE,
        &[(para_04::VERTEX_FORMAT_1, vertex_format_1::NAN_W.of(1) | 3)],
    );
    assert_eq!(b.sent(&vertex(5)), []);
}

#[test]
fn restored_state_is_as_defined_as_it_was() {
    let mut b = Bench::drawing();
    b.m.functions[0]
        .ram
        .map_anonymous(0x50_0000, 0x10_0000)
        .unwrap();
    let save = [
        (para_11::SAVE_1, 0x50_0000 | 2),
        (para_11::SAVE_2, 1 << 8),
        (para_11::SAVE_3, 1),
    ];
    let save: Vec<_> = save.iter().map(|(s, v)| (s << 24) | v).collect();
    b.chip.parameters.forget(2..=2);
    b.parameters(para_type::REGULATOR_MISC, &save);
    b.chip.parameters.forget(1..=4);
    assert_eq!(b.draw(), [kind::UNDEFINED_STATE]);
    b.set(para_type::TEXTURE, &[(0, 5)]);
    b.setup(&[
        (
            lapidary_registers::chrome9::para_10::RESTORE_1,
            0x50_0000 | 2,
        ),
        (lapidary_registers::chrome9::para_10::RESTORE_2, 0),
        (lapidary_registers::chrome9::para_10::AGP_CONTROL, 2),
    ]);
    assert_eq!(b.draw(), []);
    let texture = (para_type::TEXTURE as u8, 0);
    assert_eq!(
        b.chip.parameters.writer(texture, 0),
        None,
        "what was not saved is not there"
    );
    assert!(
        b.chip
            .parameters
            .writer((ATTRIBUTE as u8, 0), para_01::RT0_1)
            .is_some()
    );
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
