// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Pictures of HQV: what each must touch, what is wrong with one, and what it leaves in registers.

use lapidary_model::area::Area;
use lapidary_model::machine::Object;
use lapidary_model::runs::Runs;
use lapidary_registers::RegArray;
use lapidary_registers::chrome9::enums::hqv_format as format;
use lapidary_registers::chrome9::mmio::{
    self, engine_status, hqv_control as control, hqv_destination_1 as destination,
    hqv_mode as mode, hqv_source_stride as source_stride, hqv_subpicture_control as subpicture,
    interrupt_flags_masks_control as first,
};

use super::ring::header;
use super::{Bench, RAM};
use crate::chips::DISPLAY;
use crate::engine3d::{Client, Footprint};
use crate::hqv::Surface;
use crate::kind::{self, Kind};
use crate::{FRAME_BUFFER, GART};

const SOURCE: u64 = 0x10_0000;
const CHROMA: u64 = 0x20_0000;
const INSET: u64 = 0x30_0000;
const FIRST: u64 = 0x40_0000;
const SECOND: u64 = 0x48_0000;
const THIRD: u64 = 0x50_0000;
const RESIDUE: u64 = 0x60_0000;

/// What starts a picture with one destination.
const START: u32 =
    control::ENABLE.mask() | control::SOURCE_FLIP.mask() | control::SINGLE_BUFFER.mask();

/// Return a corner of a window.
fn at(x: u32, y: u32) -> u32 {
    (x << 16) | y
}

/// A chip with pictures of one of its engines.
struct Video {
    b: Bench,
    engine: u32,
    control: u32,
}

impl Video {
    /// Return a chip that makes 40 x 20 pixels of 32 x 16, of 16 bits each.
    fn new(engine: u32) -> Video {
        let mut v = Video {
            b: Bench::new(),
            engine,
            control: START | control::FORMAT.of(format::YUV422),
        };
        v.b.chip.record_footprints();
        for (register, value) in [
            (mmio::HQV_VIDEO_SOURCE_START, at(0, 0)),
            (mmio::HQV_VIDEO_SOURCE_END, at(31, 15)),
            (mmio::HQV_VIDEO_DESTINATION_START, at(0, 0)),
            (mmio::HQV_VIDEO_DESTINATION_END, at(39, 19)),
            (mmio::HQV_SOURCE_LUMA, SOURCE as u32),
            (mmio::HQV_SOURCE_CHROMA, CHROMA as u32),
            (mmio::HQV_SUBPICTURE_BASE, INSET as u32),
            (mmio::HQV_DESTINATION_1, FIRST as u32),
            (mmio::HQV_DESTINATION_2, SECOND as u32),
            (mmio::HQV_DESTINATION_3, THIRD as u32),
            (mmio::HQV_RESIDUE_BASE, RESIDUE as u32),
            (mmio::HQV_SOURCE_STRIDE, 128),
            (mmio::HQV_DESTINATION_STRIDE, 160),
        ] {
            v.set(register, value);
        }
        assert_eq!(v.b.found(), []);
        v
    }

    fn set(&mut self, register: RegArray, value: u32) {
        self.b.write(register.at(self.engine).unwrap(), value);
    }

    fn control(&mut self) -> u32 {
        self.b.read(mmio::HQV_CONTROL.at(self.engine).unwrap())
    }

    /// Start a picture, and return what was found.
    fn start(&mut self) -> Vec<Kind> {
        self.set(mmio::HQV_CONTROL, self.control);
        self.b.found()
    }

    /// Start a picture without a finding, and return what it may touch: how, where, and how much.
    fn touched(&mut self) -> Vec<(Surface, bool, bool, Runs)> {
        assert_eq!(self.start(), []);
        let all = self.b.chip.take_footprints().into_iter();
        all.map(|Footprint { area, location, .. }| {
            assert_eq!(location, 0, "{area}");
            let Area {
                client,
                read,
                write,
                runs,
            } = area;
            let Client::Hqv(engine, surface) = client else {
                panic!("{client:?}");
            };
            assert_eq!(engine, self.engine);
            (surface, read, write, runs)
        })
        .collect()
    }

    /// Return the bytes of a surface.
    fn runs(&mut self, surface: Surface) -> Option<Runs> {
        let touched = self.touched().into_iter();
        let mut of = touched.filter(|(other, ..)| *other == surface);
        of.next().map(|(.., runs)| runs)
    }

    /// Declare objects, in the place of all others.
    fn declare(&mut self, objects: &[(u64, u64)]) {
        self.b.m.objects.clear();
        for (start, len) in objects {
            self.b.m.objects.push(Object {
                space: FRAME_BUFFER,
                start: *start,
                len: *len,
                name: "an object".into(),
            });
        }
    }

    /// Assert that a picture touches the whole of each object and nothing else: it fits, and each object is needed to its
    /// first and to its last byte.
    fn exactly(&mut self, objects: &[(u64, u64)]) {
        self.declare(objects);
        assert_eq!(self.start(), [], "{objects:x?}");
        for i in 0..objects.len() {
            for (start, end) in [(1, 0), (0, 1)] {
                let mut less = objects.to_vec();
                less[i].0 += start;
                less[i].1 -= start + end;
                self.declare(&less);
                assert_eq!(self.start(), [kind::OUTSIDE_OBJECTS], "{less:x?}");
            }
        }
        self.b.m.objects.clear();
        self.b.chip.take_footprints();
    }

    /// Switch on a sub-picture of 24 x 10 pixels at the middle of the destination.
    fn inset(&mut self, bits: u32) {
        for (register, value) in [
            (
                mmio::HQV_SUBPICTURE_CONTROL,
                subpicture::ENABLE.mask() | subpicture::STRIDE.of(6) | bits,
            ),
            (mmio::HQV_SUBPICTURE_SOURCE_START, at(0, 0)),
            (mmio::HQV_SUBPICTURE_SOURCE_END, at(23, 9)),
            (mmio::HQV_SUBPICTURE_DESTINATION_START, at(10, 5)),
            (mmio::HQV_SUBPICTURE_DESTINATION_END, at(33, 14)),
        ] {
            self.set(register, value);
        }
    }
}

/// Return the length of rows that have just as many bytes as the stride, but for the last.
fn rows(stride: u64, last: u64, row: u64) -> u64 {
    stride * last + row
}

/// What pixels left of segments take of the picture of [`Video::new`].
const LEFT_OVER: u64 = 40 * 4 * 20;

#[test]
fn a_picture_touches_source_destination_and_residue() {
    for engine in 0..2 {
        let mut v = Video::new(engine);
        v.exactly(&[
            (SOURCE, rows(128, 15, 64)),
            (FIRST, rows(160, 19, 80)),
            (RESIDUE, LEFT_OVER),
        ]);
        assert_eq!(v.b.m.counters.get("hqv_pictures"), 7);
        let touched = v.touched();
        let how: Vec<_> = touched.iter().map(|(s, r, w, _)| (*s, *r, *w)).collect();
        assert_eq!(
            how,
            [
                (Surface::Packed, true, false),
                (Surface::Destination(1), false, true),
                (Surface::Residue, true, true)
            ]
        );
    }
}

#[test]
fn the_source_is_read_in_its_window_in_units_of_16_bytes() {
    let mut v = Video::new(0);
    v.set(mmio::HQV_VIDEO_SOURCE_START, at(9, 3));
    v.set(mmio::HQV_VIDEO_SOURCE_END, at(24, 12));
    for (code, bytes) in [
        (format::RGB32, 4),
        (format::RGB32_10, 4),
        (format::YUV444, 4),
        (format::V410, 4),
        (format::RGB16, 2),
        (format::RGB15, 2),
        (format::YUV422, 2),
        (format::UYVY, 2),
    ] {
        v.control = START | control::FORMAT.of(code);
        let left = 9 * bytes / 16 * 16;
        let right = (25u64 * bytes).next_multiple_of(16);
        let runs = v.runs(Surface::Packed).unwrap();
        let expected = Runs {
            start: SOURCE + 3 * 128 + left,
            len: right - left,
            stride: 128,
            rows: 10,
        };
        assert_eq!(runs, expected, "format {code}");
        // Nothing is read beside it.
        assert_eq!(v.runs(Surface::Chroma), None);
        // The destination is as wide as the source or narrower.
        let wide = v.runs(Surface::Destination(1)).unwrap().len;
        assert_eq!(wide, if bytes == 4 { 160 } else { 80 });
    }
}

#[test]
fn colours_of_planes_have_half_the_rows_half_the_columns_or_all() {
    let mut v = Video::new(1);
    v.set(mmio::HQV_VIDEO_SOURCE_START, at(35, 3));
    v.set(mmio::HQV_VIDEO_SOURCE_END, at(65, 12));
    for (code, line, rows, left, right) in [
        // Lines 3 to 12 are lines 1 to 6 of the second plane.
        (format::NV12, 1, 6, 32, 80),
        // Columns 35 to 65 are bytes 16 to 33.
        (format::NV11, 3, 10, 16, 48),
        (format::P208, 3, 10, 32, 80),
    ] {
        v.control = START | control::FORMAT.of(code);
        let runs = |base: u64, line: u64, left: u64, right: u64, rows| Runs {
            start: base + line * 128 + left,
            len: right - left,
            stride: 128,
            rows,
        };
        assert_eq!(v.runs(Surface::Luma), Some(runs(SOURCE, 3, 32, 80, 10)));
        let chroma = runs(CHROMA, line, left, right, rows);
        assert_eq!(v.runs(Surface::Chroma), Some(chroma), "format {code}");
        assert_eq!(v.runs(Surface::Packed), None);
    }
    v.control = START | control::FORMAT.of(format::NV12);
    v.exactly(&[
        (SOURCE + 3 * 128 + 32, rows(128, 9, 48)),
        (CHROMA + 128 + 32, rows(128, 5, 48)),
        (FIRST, rows(160, 19, 80)),
        (RESIDUE, LEFT_OVER),
    ]);
}

#[test]
fn destinations_that_take_turns_are_all_written() {
    let mut v = Video::new(0);
    let [single, triple] = [control::SINGLE_BUFFER.mask(), control::TRIPLE_BUFFER.mask()];
    let plain = v.control & !single;
    for (control, count) in [
        (plain | single, 1),
        (plain | single | triple, 1),
        (plain, 2),
        (plain | triple, 3),
    ] {
        v.control = control;
        let mut objects = vec![(SOURCE, rows(128, 15, 64)), (RESIDUE, LEFT_OVER)];
        for base in &[FIRST, SECOND, THIRD][..count] {
            objects.push((*base, rows(160, 19, 80)));
        }
        v.exactly(&objects);
    }
}

#[test]
fn pixels_of_the_destination_have_16_or_32_bits() {
    let mut v = Video::new(0);
    let wide = |v: &mut Video| v.runs(Surface::Destination(1)).unwrap().len;
    v.set(mmio::HQV_MODE, mode::COLOR_CONVERSION.mask());
    assert_eq!(wide(&mut v), 80, "565");
    v.set(
        mmio::HQV_MODE,
        mode::COLOR_CONVERSION.mask() | mode::OUTPUT_32.mask(),
    );
    assert_eq!(wide(&mut v), 160);
    v.set(mmio::HQV_MODE, 0);
    let deep = destination::OUTPUT_10.mask() | FIRST as u32;
    v.set(mmio::HQV_DESTINATION_1, deep);
    assert_eq!(wide(&mut v), 160);
}

#[test]
fn tiles_of_the_destination_are_written_whole() {
    let mut v = Video::new(0);
    v.set(
        mmio::HQV_DESTINATION_1,
        destination::TILED.mask() | FIRST as u32,
    );
    // 80 bytes are three tiles of 32, and 20 lines three of 8.
    v.exactly(&[
        (SOURCE, rows(128, 15, 64)),
        (FIRST, 2 * 160 * 8 + 3 * 256),
        (RESIDUE, LEFT_OVER),
    ]);
    // The manual's formula for each byte (L510).
    let runs = v.runs(Surface::Destination(1)).unwrap();
    for y in 0..20u64 {
        for byte in 0..80 {
            let (x, pitch) = (byte / 16, 160 / 16);
            let unit = (y >> 3) * (pitch << 3) + (((x >> 1) << 4) | ((y & 7) << 1) | (x & 1));
            let place = FIRST + unit * 16 + byte % 16;
            assert!(runs.touches(place, place + 1), "{byte},{y}");
        }
    }
}

#[test]
fn the_destination_holds_the_background_and_the_sub_picture() {
    let mut v = Video::new(0);
    v.set(mmio::HQV_BACKGROUND_OFFSET, at(49, 24));
    let runs = v.runs(Surface::Destination(1)).unwrap();
    assert_eq!((runs.len, runs.rows), (112, 25));
    let runs = v.runs(Surface::Residue).unwrap();
    assert_eq!(runs, Runs::one(RESIDUE, 208 * 25), "50 pixels are 52");
    v.set(mmio::HQV_BACKGROUND_OFFSET, 0);
    v.inset(0);
    v.set(mmio::HQV_SUBPICTURE_DESTINATION_END, at(41, 20));
    let runs = v.runs(Surface::Destination(1)).unwrap();
    assert_eq!((runs.len, runs.rows), (96, 21));
}

#[test]
fn a_sub_picture_is_read_beside_a_source_in_yuv() {
    let mut v = Video::new(1);
    let all = |inset: (u64, u64)| {
        [
            (SOURCE, rows(128, 15, 64)),
            inset,
            (FIRST, rows(160, 19, 80)),
            (RESIDUE, LEFT_OVER),
        ]
    };
    v.inset(0);
    v.exactly(&all((INSET, rows(96, 9, 32))));
    v.inset(subpicture::AYUV.mask());
    v.exactly(&all((INSET, rows(96, 9, 96))));
    // A window of it.
    v.set(mmio::HQV_SUBPICTURE_SOURCE_START, at(5, 2));
    v.exactly(&all((INSET + 2 * 96 + 16, rows(96, 7, 80))));
    for code in [
        format::RGB32,
        format::RGB32_10,
        format::RGB16,
        format::RGB15,
    ] {
        v.control = START | control::FORMAT.of(code);
        assert_eq!(v.runs(Surface::Subpicture), None);
    }
}

#[test]
fn pixels_left_of_segments_are_at_most_those_of_the_larger_window() {
    let mut v = Video::new(0);
    let runs = v.runs(Surface::Residue);
    assert_eq!(runs, Some(Runs::one(RESIDUE, LEFT_OVER)));
    v.set(mmio::HQV_VIDEO_SOURCE_START, at(2, 3));
    v.set(mmio::HQV_VIDEO_SOURCE_END, at(62, 33));
    let runs = v.runs(Surface::Residue);
    assert_eq!(runs, Some(Runs::one(RESIDUE, 256 * 31)), "61 pixels are 64");
}

#[test]
fn surfaces_lie_in_the_frame_buffer_or_behind_the_gart() {
    let mut v = Video::new(0);
    // Behind the end of the frame buffer, which has 8 MiB.
    v.set(mmio::HQV_SOURCE_LUMA, 0x80_0000 - 0x600);
    assert_eq!(v.start(), [kind::FRAME_BUFFER_RANGE]);
    v.set(mmio::HQV_SOURCE_LUMA, 0x1fff_fff0);
    assert_eq!(v.start(), [kind::FRAME_BUFFER_RANGE]);
    // A page, and none.
    v.b.table();
    v.b.entry(SOURCE >> 12, (RAM >> 12) as u32);
    v.set(mmio::HQV_SOURCE_LUMA, SOURCE as u32 | 1);
    assert_eq!(v.start(), []);
    v.b.sequencer(0x6f, 0x80);
    v.b.entry(SOURCE >> 12, 0x8000_0000);
    assert_eq!(v.start(), [kind::GART_FAULT]);
    for location in 2..4 {
        v.set(mmio::HQV_SOURCE_LUMA, SOURCE as u32 | location);
        assert_eq!(v.start(), [kind::RESERVED_VALUE]);
    }
    v.set(mmio::HQV_SOURCE_LUMA, SOURCE as u32);
    assert_eq!(v.start(), []);
    // Objects of another space are none of this one.
    v.declare(&[(SOURCE, 0x50_0000 - 0x80), (RESIDUE, LEFT_OVER)]);
    assert_eq!(v.start(), []);
    v.b.m.objects[0].space = GART;
    assert_eq!(v.start(), [kind::OUTSIDE_OBJECTS; 2]);
}

#[test]
fn empty_windows_and_strides_of_zero_are_findings() {
    let mut v = Video::new(0);
    v.inset(0);
    for (register, good) in [
        (mmio::HQV_VIDEO_SOURCE_END, at(31, 15)),
        (mmio::HQV_VIDEO_DESTINATION_END, at(39, 19)),
        (mmio::HQV_SUBPICTURE_SOURCE_END, at(23, 9)),
    ] {
        for bad in [0, good & 0x7ff, good & !0x7ff] {
            v.set(register, bad);
            assert_eq!(v.start(), [kind::EMPTY_WINDOW], "{bad:#x}");
            assert!(v.b.chip.take_footprints().is_empty());
        }
        v.set(register, good);
    }
    // The end before the start.
    v.set(mmio::HQV_SUBPICTURE_DESTINATION_END, at(9, 4));
    assert_eq!(v.start(), [kind::EMPTY_WINDOW]);
    v.set(mmio::HQV_SUBPICTURE_DESTINATION_END, at(11, 6));
    assert_eq!(v.start(), []);
    v.set(mmio::HQV_SOURCE_STRIDE, 0);
    assert_eq!(v.start(), [kind::PITCH_ZERO]);
    v.set(mmio::HQV_SOURCE_STRIDE, 128);
    v.set(mmio::HQV_DESTINATION_STRIDE, 0);
    assert_eq!(v.start(), [kind::PITCH_ZERO]);
    v.set(mmio::HQV_DESTINATION_STRIDE, 160);
    v.set(mmio::HQV_SUBPICTURE_CONTROL, subpicture::ENABLE.mask());
    assert_eq!(v.start(), [kind::PITCH_ZERO]);
}

#[test]
fn what_the_manual_reserves_or_forbids_is_a_finding() {
    let mut v = Video::new(0);
    let good = v.control;
    for code in [6, 7, 10, 11, 15] {
        v.control = START | control::FORMAT.of(code);
        assert_eq!(v.start(), [kind::RESERVED_VALUE], "format {code}");
    }
    v.control = good | control::SOURCE.of(control::source::RESERVED);
    assert_eq!(v.start(), [kind::RESERVED_VALUE]);
    v.control = good;
    for layout in 1..4 {
        v.set(mmio::HQV_MODE, mode::TILE.of(layout));
        assert_eq!(v.start(), [kind::RESERVED_VALUE], "layout {layout}");
    }
    v.set(mmio::HQV_MODE, mode::OUTPUT_32.mask());
    let deep = destination::OUTPUT_10.mask() | FIRST as u32;
    v.set(mmio::HQV_DESTINATION_1, deep);
    assert_eq!(v.start(), [kind::RESERVED_VALUE], "both outputs");
    v.set(mmio::HQV_MODE, 0);
    v.set(mmio::HQV_DESTINATION_1, FIRST as u32);
    for start in [at(1, 0), at(0, 1)] {
        v.set(mmio::HQV_VIDEO_DESTINATION_START, start);
        assert_eq!(v.start(), [kind::RESERVED_VALUE], "{start:#x}");
    }
    // The sub-picture may begin there instead.
    v.inset(0);
    v.set(mmio::HQV_SUBPICTURE_DESTINATION_START, at(0, 0));
    assert_eq!(v.start(), []);
}

#[test]
fn what_depends_on_earlier_pictures_or_on_capture_is_not_followed() {
    let mut v = Video::new(0);
    let good = v.control;
    for field in [
        control::ADVANCED_DEINTERLACE,
        control::CHROMA_FIELDS,
        control::INVERSE_FIELD,
        control::FRAME_TO_FIELD,
        control::FIELD_TO_FRAME,
        control::SOURCE_FIELD,
    ] {
        v.control = good | field.mask();
        assert_eq!(v.start(), [kind::UNIMPLEMENTED_PARAMETER], "{field:?}");
    }
    for camera in [control::source::CAPTURE_0, control::source::CAPTURE_1] {
        v.control = good | control::SOURCE.of(camera);
        assert_eq!(v.start(), [kind::UNIMPLEMENTED_PARAMETER]);
        assert!(control::SOURCE_FLIP.any(v.control()), "it is waited for");
    }
    v.control = good;
    for (register, value, restored) in [
        (mmio::HQV_MODE, mode::SYNCHRONIZE_FIELD.mask(), 0),
        (mmio::HQV_MODE, mode::INVERSE_DISPLAY_FIELD.mask(), 0),
        (
            mmio::HQV_SOURCE_STRIDE,
            source_stride::LOAD_ADDRESS.mask() | 128,
            128,
        ),
        (
            mmio::HQV_SOURCE_STRIDE,
            source_stride::RESET_STATIC.mask() | 128,
            128,
        ),
        (
            mmio::HQV_SOURCE_STRIDE,
            source_stride::ANY_SIZE.mask() | 128,
            128,
        ),
        (mmio::HQV_STATIC_STRIDE, 0x10, 0),
        (mmio::HQV_DEINTERLACE, 1, 0),
        (mmio::HQV_EXTENDED_CONTROL, 0x8000_0000, 0),
    ] {
        v.set(register, value);
        assert_eq!(
            v.start(),
            [kind::UNIMPLEMENTED_PARAMETER],
            "{register:?} = {value:#x}"
        );
        assert!(v.b.chip.take_footprints().is_empty());
        v.set(register, restored);
        assert_eq!(v.start(), []);
        v.b.chip.take_footprints();
    }
}

#[test]
fn a_picture_ends_at_once_and_says_so() {
    for engine in 0..2 {
        let mut v = Video::new(engine);
        v.control |= control::SUBPICTURE_FLIP.mask();
        assert_eq!(v.control(), control::IDLE.mask());
        assert_eq!(v.start(), []);
        let flips = control::SOURCE_FLIP.mask() | control::SUBPICTURE_FLIP.mask();
        let ended = control::END_OF_FRAME.mask() | control::IDLE.mask();
        assert_eq!(v.control(), v.control & !flips | ended);
        assert_eq!(v.b.read(mmio::ENGINE_STATUS) & busy(), 0);
        // What can only be read stays, and a one clears the end.
        v.set(mmio::HQV_CONTROL, 0x1706);
        assert_eq!(v.control(), ended);
        v.set(mmio::HQV_CONTROL, control::END_OF_FRAME.mask());
        assert_eq!(v.control(), control::IDLE.mask());
        // Neither a flip alone nor an engine alone is a picture.
        v.set(mmio::HQV_CONTROL, control::SOURCE_FLIP.mask());
        v.set(mmio::HQV_CONTROL, control::ENABLE.mask());
        assert_eq!(v.b.m.counters.get("hqv_pictures"), 1);
        assert!(!control::END_OF_FRAME.any(v.control()));
        assert_eq!(v.b.found(), []);
    }
}

fn busy() -> u32 {
    engine_status::HQV0_BUSY.mask() | engine_status::HQV1_BUSY_ASSUMED.mask()
}

#[test]
fn the_end_of_a_picture_interrupts_if_both_registers_say_so() {
    for (engine, enable, status) in [
        (0, first::HQV0_ENABLE, first::HQV0_STATUS),
        (1, first::HQV1_ENABLE, first::HQV1_STATUS),
    ] {
        let mut v = Video::new(engine);
        let word = |v: &mut Video| v.b.read(mmio::INTERRUPT_FLAGS_MASKS_CONTROL);
        let level = |v: &Video| v.b.m.functions[DISPLAY].irq.level();
        let enables = first::INTERRUPT_ENABLE.mask() | enable.mask();
        v.b.write(mmio::INTERRUPT_FLAGS_MASKS_CONTROL, enables);
        assert_eq!(v.start(), []);
        assert_eq!(word(&mut v), enables, "the engine does not interrupt");
        v.control |= control::INTERRUPT_ENABLE.mask();
        assert_eq!(v.start(), []);
        assert_eq!(word(&mut v), enables | status.mask());
        assert!(level(&v));
        v.b.write(mmio::INTERRUPT_FLAGS_MASKS_CONTROL, enables | status.mask());
        assert_eq!(word(&mut v), enables);
        assert!(!level(&v));
        // Without its enable there is a status, and no interrupt.
        v.b.write(
            mmio::INTERRUPT_FLAGS_MASKS_CONTROL,
            first::INTERRUPT_ENABLE.mask(),
        );
        assert_eq!(v.start(), []);
        assert!(status.any(word(&mut v)) && !level(&v));
    }
}

#[test]
fn streams_start_pictures_by_second_places_of_the_registers() {
    for engine in 0..2 {
        let mut v = Video::new(engine);
        let place = mmio::HQV_CONTROL.at(engine).unwrap();
        let pair = |offset: u32| header(5 << 16, 1, 0, &[offset, v.control]);
        let (first, second) = (pair(place), pair(0x2000 + place));
        assert_eq!(v.b.one(&[second]), []);
        assert_eq!(v.b.m.counters.get("hqv_pictures"), 1);
        // The first places do not pass the regulator.
        let mut v = Video::new(engine);
        assert_eq!(v.b.one(&[first]), [kind::HEADER_REGISTER]);
        assert_eq!(v.b.m.counters.get("hqv_pictures"), 0);
    }
}
