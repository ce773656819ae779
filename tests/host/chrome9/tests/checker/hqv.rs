// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Rules of HQV: its registers in pairs of header 5, what starts a picture, what a picture needs, waits, windows, surfaces.

use chrome9::portable::checker::Reason;
use chrome9::portable::regs::{
    enums::hqv_format,
    header,
    mmio::{
        self, hqv_control, hqv_destination_1, hqv_mode, hqv_source_stride, hqv_static_stride,
        hqv_subpicture_control, hqv_subpicture_palette,
    },
};
use lapidary::portable::bits::RegArray;
use lapidary_registers::{chrome9::DATABASE, Domain};

use crate::picture::*;
use crate::rule::Rule;
use crate::support::*;

/// Return where the value of a register of the first engine stands.
fn of(stream: &Stream, register: RegArray) -> usize {
    stream.value_of(at(register, 0))
}

/// Return a rule that another value of a register breaks.
fn other(reason: Reason, stream: &Stream, register: RegArray, value: u32) -> Rule {
    Rule::new(reason, stream, of(stream, register), value)
}

/// Return a rule that another value of a register breaks, which shows at the control.
fn start(reason: Reason, stream: &Stream, register: RegArray, value: u32) -> Rule {
    other(reason, stream, register, value).shows_at(of(stream, mmio::HQV_CONTROL))
}

/// A picture that uses all registers: two planes, three destinations and a sub-picture.
fn full() -> Picture {
    Picture {
        format: hqv_format::P208,
        control: START | hqv_control::TRIPLE_BUFFER.mask(),
        inset: Some(INSET),
        ..PICTURE
    }
}

pub fn pairs(rules: &mut Vec<Rule>) {
    let stream = PICTURE.stream();
    let offset = of(&stream, mmio::HQV_BACKGROUND) - 1;
    let one = |register: u32, reason| Rule::new(reason, &stream, offset, register);
    for register in [
        0,
        mmio::FGCOLOR,
        // The first places of registers.
        0x3b8,
        0x13b8,
        // Display, the pause address, and capture.
        0x2200,
        0x2000 + mmio::AGP_PAUSE_ADDRESS_PORT,
        0x2300,
        0x235c,
        0x335c,
        // Behind each engine.
        0x2400,
        0x2420,
        0x3400,
        mmio::COMMAND_ID_VIDEO,
        mmio::WAIT_CONTROL_VIDEO,
        0x8000,
        0x4000_23b8,
        u32::MAX,
    ] {
        rules.push(one(register, Reason::VideoRange));
    }
    for within in 1..4 {
        rules.push(one(
            at(mmio::HQV_BACKGROUND, 0) + within,
            Reason::PairAlignment,
        ));
    }
    let count = stream.words[1];
    let more = stream.words.len() as u32;
    rules.extend([
        Rule::new(
            Reason::HeaderBits,
            &stream,
            0,
            head(header::VIDEO_REGISTERS, 4),
        ),
        Rule::new(Reason::HeaderBits, &stream, 2, 1),
        Rule::new(Reason::HeaderBits, &stream, 3, 1),
        Rule::new(Reason::EmptyHeader, &stream, 1, 0),
        Rule::new(Reason::Truncated, &stream, 1, more),
        Rule::new(Reason::Truncated, &stream, 1, u32::MAX),
        // One pair less: its offset stands where padding or a header has to be.
        Rule::new(Reason::NoHeader, &stream, 1, count - 1)
            .shows_at(of(&stream, mmio::HQV_CONTROL) - 1),
        // Data of video, which has the same form but for the count.
        Rule::new(
            Reason::ForbiddenHeader,
            &stream,
            0,
            head(header::VIDEO_DATA, at(mmio::HQV_CONTROL, 0)),
        ),
        // For the 2D engine.
        Rule::new(Reason::PairRange, &stream, 0, head(header::REGISTERS_2D, 0)).shows_at(UNIT),
    ]);
    // In the middle of data of the CPU.
    let mut stream = Blit {
        command: UPLOAD,
        ..BLIT
    }
    .stream();
    let middle = stream.words.len();
    stream.host(0, &[0; 32]);
    rules.push(Rule::new(
        Reason::HostMissing,
        &stream,
        middle,
        head(header::VIDEO_REGISTERS, 0),
    ));
}

/// Bits of each register, one by one.
pub fn values(rules: &mut Vec<Rule>) {
    let stream = full().stream();
    for offset in (0x360..0x400).step_by(4) {
        let (info, _) = DATABASE.by_offset(Domain::MMIO, offset).expect("no holes");
        let place = stream.value_of(0x2000 + offset);
        let good = stream.words[place];
        for bit in 0..32 {
            let field = info
                .fields
                .iter()
                .find(|f| (f.field.mask() >> bit) & 1 != 0);
            let reason = match field {
                _ if offset == 0x394 => Reason::LostRegister,
                _ if [0x398, 0x3e4].contains(&offset) => Reason::VideoFields,
                // The lowest bits are lost.
                None if offset == 0x390 && bit < 14 => continue,
                None => Reason::RegisterBits,
                Some(field) if field.doc.contains("Read-only") => Reason::RegisterBits,
                Some(field) if ["ADDRESS", "LOCATION"].contains(&field.name) => Reason::AddressBits,
                _ => continue,
            };
            rules.push(Rule::new(reason, &stream, place, good ^ (1 << bit)));
        }
    }
    let stream = PICTURE.stream();
    let bad = |reason, register, bits| {
        let value = stream.words[of(&stream, register)] | bits;
        other(reason, &stream, register, value)
    };
    for bits in [
        hqv_mode::SYNCHRONIZE_FIELD.mask(),
        hqv_mode::INVERSE_DISPLAY_FIELD.mask(),
    ] {
        rules.push(bad(Reason::VideoFields, mmio::HQV_MODE, bits));
    }
    for bits in [
        hqv_source_stride::LOAD_ADDRESS.mask(),
        hqv_source_stride::RESET_STATIC.mask(),
        hqv_source_stride::PULL_DOWN_LOW.mask(),
        hqv_source_stride::CHECK_SEQUENCE_ONCE.mask(),
    ] {
        rules.push(bad(Reason::VideoFields, mmio::HQV_SOURCE_STRIDE, bits));
    }
    for units in [1, 32, 63] {
        let bits = hqv_static_stride::STRIDE.of(units);
        rules.push(bad(Reason::VideoFields, mmio::HQV_STATIC_STRIDE, bits));
    }
    rules.push(bad(
        Reason::LostRegister,
        mmio::HQV_SOURCE_STRIDE,
        hqv_source_stride::ANY_SIZE.mask(),
    ));
    for layout in 1..4 {
        let bits = hqv_mode::TILE.of(layout);
        rules.push(bad(Reason::SourceTiles, mmio::HQV_MODE, bits));
    }
    // An address of another register, and of none.
    let base = of(&stream, mmio::HQV_SOURCE_LUMA);
    let number = stream
        .relocations
        .iter()
        .position(|relocation| relocation[0] as usize == base)
        .expect("it has one");
    let relocation = |reason, what, value| Rule::relocation(reason, &stream, number, what, value);
    rules.extend([
        relocation(Reason::RelocationAlignment, 2, 8),
        relocation(Reason::RelocationAlignment, 2, 1),
        relocation(Reason::NoRelocation, 3, 1).shows_at(base),
        relocation(Reason::RelocationUnused, 0, base as u32 - 1),
    ]);
}

pub fn control(rules: &mut Vec<Rule>) {
    let stream = PICTURE.stream();
    let good = stream.words[of(&stream, mmio::HQV_CONTROL)];
    let bad = |reason, value| other(reason, &stream, mmio::HQV_CONTROL, value);
    let [enable, flip, inset] = [
        hqv_control::ENABLE.mask(),
        hqv_control::SOURCE_FLIP.mask(),
        hqv_control::SUBPICTURE_FLIP.mask(),
    ];
    rules.extend([
        bad(Reason::VideoControl, good & !enable),
        bad(Reason::VideoControl, good & !flip),
        bad(Reason::VideoControl, good & !(enable | flip) | inset),
        bad(Reason::VideoControl, good & !enable | inset),
        bad(Reason::VideoControl, good & !flip | inset),
        bad(
            Reason::VideoInterrupt,
            good | hqv_control::INTERRUPT_ENABLE.mask(),
        ),
        bad(Reason::VideoInterrupt, hqv_control::INTERRUPT_ENABLE.mask()),
    ]);
    for source in 1..4 {
        rules.push(bad(
            Reason::VideoSource,
            good | hqv_control::SOURCE.of(source),
        ));
    }
    for bits in [
        hqv_control::ADVANCED_DEINTERLACE,
        hqv_control::CHROMA_FIELDS,
        hqv_control::INVERSE_FIELD,
        hqv_control::FRAME_TO_FIELD,
        hqv_control::FIELD_TO_FRAME,
        hqv_control::SOURCE_FIELD,
    ] {
        rules.push(bad(Reason::VideoFields, good | bits.mask()));
    }
    for format in [6, 7, 10, 11, 15] {
        let value = hqv_control::FORMAT.put(good, format);
        rules.push(bad(Reason::VideoFormat, value));
    }
    // One of both is admitted.
    let deep = Picture {
        layout: hqv_destination_1::OUTPUT_10.mask(),
        to: [(0, 0), (9, 9)],
        ..PICTURE
    };
    rules.push(start(
        Reason::VideoOutput,
        &deep.stream(),
        mmio::HQV_MODE,
        hqv_mode::OUTPUT_32.mask(),
    ));
    // To switch an engine off needs nothing.
    let mut off = Stream::new();
    let bits = hqv_control::END_OF_FRAME.mask() | hqv_control::V_LOW_PASS.mask();
    off.video(&[set(at(mmio::HQV_CONTROL, 0), bits)]);
    rules.extend([
        other(Reason::VideoControl, &off, mmio::HQV_CONTROL, enable),
        other(Reason::NoVideo, &off, mmio::HQV_CONTROL, enable | flip),
    ]);
}

/// A register of the other engine does not count.
pub fn needed(rules: &mut Vec<Rule>) {
    let add = |rules: &mut Vec<Rule>, picture: &Picture, reason, registers: &[RegArray]| {
        let stream = picture.stream();
        for register in registers {
            let place = stream.value_of(at(*register, picture.engine)) - 1;
            let rule = Rule::new(reason, &stream, place, at(*register, 1 - picture.engine));
            let control = stream.value_of(at(mmio::HQV_CONTROL, picture.engine));
            rules.push(rule.shows_at(control));
        }
    };
    let second = Picture {
        engine: 1,
        ..PICTURE
    };
    for picture in [PICTURE, second] {
        add(
            rules,
            &picture,
            Reason::NoVideo,
            &[
                mmio::HQV_COLOR_ADJUSTMENT_1,
                mmio::HQV_COLOR_ADJUSTMENT_2,
                mmio::HQV_COLOR_ADJUSTMENT_3,
                mmio::HQV_COLOR_ADJUSTMENT_4,
                mmio::HQV_VIDEO_SOURCE_START,
                mmio::HQV_VIDEO_SOURCE_END,
                mmio::HQV_VIDEO_DESTINATION_START,
                mmio::HQV_VIDEO_DESTINATION_END,
                mmio::HQV_TUNING,
                mmio::HQV_EXTENDED_CONTROL,
                mmio::HQV_STATIC_STRIDE,
                mmio::HQV_COLOR_ADJUSTMENT_5,
                mmio::HQV_COLOR_ADJUSTMENT_6,
                mmio::HQV_COLOR_ADJUSTMENT_7,
                mmio::HQV_COLOR_ADJUSTMENT_8,
                mmio::HQV_VIDEO_H_SCALE,
                mmio::HQV_VIDEO_V_SCALE,
                mmio::HQV_BACKGROUND,
                mmio::HQV_BACKGROUND_OFFSET,
                mmio::HQV_RESIDUE_BASE,
                mmio::HQV_SUBPICTURE_CONTROL,
                mmio::HQV_SOURCE_LUMA,
                mmio::HQV_MODE,
                mmio::HQV_DEINTERLACE,
                mmio::HQV_DESTINATION_1,
                mmio::HQV_DESTINATION_STRIDE,
                mmio::HQV_SOURCE_STRIDE,
            ],
        );
    }
    add(rules, &full(), Reason::NoChroma, &[mmio::HQV_SOURCE_CHROMA]);
    add(
        rules,
        &full(),
        Reason::NoBuffer,
        &[mmio::HQV_DESTINATION_2, mmio::HQV_DESTINATION_3],
    );
    add(
        rules,
        &PICTURE,
        Reason::NoBuffer,
        &[mmio::HQV_DESTINATION_2],
    );
    add(
        rules,
        &full(),
        Reason::NoSubpicture,
        &[
            mmio::HQV_SUBPICTURE_SOURCE_START,
            mmio::HQV_SUBPICTURE_SOURCE_END,
            mmio::HQV_SUBPICTURE_DESTINATION_START,
            mmio::HQV_SUBPICTURE_DESTINATION_END,
            mmio::HQV_SUBPICTURE_H_SCALE,
            mmio::HQV_SUBPICTURE_V_SCALE,
            mmio::HQV_SUBPICTURE_BASE,
        ],
    );
    // What a bit of the control switches on.
    let stream = PICTURE.stream();
    let good = stream.words[of(&stream, mmio::HQV_CONTROL)];
    rules.extend([
        other(
            Reason::NoBuffer,
            &stream,
            mmio::HQV_CONTROL,
            good | hqv_control::TRIPLE_BUFFER.mask(),
        ),
        other(
            Reason::NoChroma,
            &stream,
            mmio::HQV_CONTROL,
            hqv_control::FORMAT.put(good, hqv_format::NV12),
        ),
        start(
            Reason::NoSubpicture,
            &stream,
            mmio::HQV_SUBPICTURE_CONTROL,
            hqv_subpicture_control::ENABLE.mask(),
        ),
    ]);
    let single = Picture {
        control: START | hqv_control::SINGLE_BUFFER.mask() | hqv_control::TRIPLE_BUFFER.mask(),
        ..PICTURE
    };
    let stream = single.stream();
    let good = stream.words[of(&stream, mmio::HQV_CONTROL)];
    rules.push(other(
        Reason::NoBuffer,
        &stream,
        mmio::HQV_CONTROL,
        good & !hqv_control::SINGLE_BUFFER.mask(),
    ));
    // Every component of every entry of the palette.
    let stream = full().stream();
    let last = of(&stream, mmio::HQV_SUBPICTURE_PALETTE);
    let control = of(&stream, mmio::HQV_CONTROL);
    for entry in 0..16 {
        let place = last - 2 * (15 - entry);
        let good = stream.words[place];
        for bits in [
            hqv_subpicture_palette::WRITE_Y.mask(),
            hqv_subpicture_palette::WRITE_U.mask(),
            hqv_subpicture_palette::WRITE_V.mask(),
            // Another entry twice.
            hqv_subpicture_palette::INDEX.of(1),
        ] {
            rules.push(
                Rule::new(Reason::NoSubpicturePalette, &stream, place, good ^ bits)
                    .shows_at(control),
            );
        }
    }
    // Colours need none.
    let colors = Picture {
        inset: Some(Inset {
            control: INSET.control | hqv_subpicture_control::AYUV.mask(),
            stride: 32,
            ..INSET
        }),
        ..PICTURE
    };
    let stream = colors.stream();
    let good = stream.words[of(&stream, mmio::HQV_SUBPICTURE_CONTROL)];
    rules.push(start(
        Reason::NoSubpicturePalette,
        &stream,
        mmio::HQV_SUBPICTURE_CONTROL,
        good & !hqv_subpicture_control::AYUV.mask(),
    ));
}

pub fn waits(rules: &mut Vec<Rule>) {
    for engine in 0..2 {
        let picture = Picture { engine, ..PICTURE };
        let stream = picture.stream();
        let wait = stream.value_of(mmio::WAIT_CONTROL_2D_3D);
        let end = stream.words.len();
        let wrong = [0, WAITS[1 - engine as usize], 0x00c0_0000];
        for value in wrong {
            rules.push(Rule::new(Reason::VideoUnfinished, &stream, wait, value).shows_at(end));
        }
        // Both at once will do, and another register of the same engine comes later.
        for register in [mmio::HQV_BACKGROUND, mmio::HQV_CONTROL] {
            let mut stream = picture.stream();
            stream.words[wait] = WAITS[0] | WAITS[1];
            stream.video(&[set(at(register, engine), 0)]);
            let place = stream.value_of(at(register, engine)) - 1;
            for value in wrong {
                rules.push(Rule::new(Reason::VideoBusy, &stream, wait, value).shows_at(place));
            }
        }
    }
    // The other engine does not wait.
    let mut stream = Stream::new();
    stream.video(&PICTURE.pairs());
    stream.video(&[set(at(mmio::HQV_BACKGROUND, 1), 0)]);
    let place = stream.value_of(at(mmio::HQV_BACKGROUND, 1)) - 1;
    stream.pairs(&[set(mmio::WAIT_CONTROL_2D_3D, WAITS[0])]);
    rules.push(Rule::new(
        Reason::VideoBusy,
        &stream,
        place,
        at(mmio::HQV_BACKGROUND, 0),
    ));
    // A pair behind the control, in the same header.
    let mut pairs = PICTURE.pairs();
    pairs.push(set(at(mmio::HQV_BACKGROUND, 0), 0));
    let mut stream = Stream::new();
    stream.video(&pairs);
    stream.pairs(&[set(mmio::WAIT_CONTROL_2D_3D, WAITS[0])]);
    let control = of(&stream, mmio::HQV_CONTROL);
    let value = std::mem::replace(&mut stream.words[control], 0);
    rules.push(Rule::new(Reason::VideoBusy, &stream, control, value).shows_at(control + 1));
}

pub fn windows(rules: &mut Vec<Rule>) {
    let moved = Picture {
        from: [(3, 5), (9, 8)],
        to: [(0, 4), (9, 8)],
        inset: Some(Inset {
            from: [(2, 1), (7, 3)],
            to: [(4, 0), (9, 3)],
            ..INSET
        }),
        ..PICTURE
    };
    let stream = moved.stream();
    let control = of(&stream, mmio::HQV_CONTROL);
    for (first, last) in [
        (mmio::HQV_VIDEO_SOURCE_START, mmio::HQV_VIDEO_SOURCE_END),
        (
            mmio::HQV_VIDEO_DESTINATION_START,
            mmio::HQV_VIDEO_DESTINATION_END,
        ),
        (
            mmio::HQV_SUBPICTURE_SOURCE_START,
            mmio::HQV_SUBPICTURE_SOURCE_END,
        ),
        (
            mmio::HQV_SUBPICTURE_DESTINATION_START,
            mmio::HQV_SUBPICTURE_DESTINATION_END,
        ),
    ] {
        let [a, b] = [first, last].map(|register| stream.words[of(&stream, register)]);
        let [columns, rows] = [0x07ff_0000, 0x7ff];
        for (register, value) in [
            // Of no column or row, of less than none, and of nothing at all.
            (last, a & columns | b & rows),
            (last, b & columns | a & rows),
            (last, a),
            (last, 0),
            (first, b),
            (first, b & columns | a & rows),
            (first, a & columns | b & rows),
            (first, columns | rows),
        ] {
            if value != stream.words[of(&stream, register)] {
                rules.push(start(Reason::VideoWindow, &stream, register, value));
            }
        }
    }
    // Video or the sub-picture begins at 0, in each direction.
    for (register, value) in [
        (mmio::HQV_VIDEO_DESTINATION_START, (1, 4)),
        (mmio::HQV_SUBPICTURE_DESTINATION_START, (4, 1)),
    ] {
        let rule = start(Reason::VideoOrigin, &stream, register, corner(value));
        assert_eq!(rule.position, control);
        rules.push(rule);
    }
    let stream = PICTURE.stream();
    for value in [(1, 0), (0, 1)] {
        rules.push(start(
            Reason::VideoOrigin,
            &stream,
            mmio::HQV_VIDEO_DESTINATION_START,
            corner(value),
        ));
    }
    // Beside a source in RGB there is no sub-picture.
    let stream = moved.stream();
    let value = stream.words[control];
    rules.push(other(
        Reason::VideoOrigin,
        &stream,
        mmio::HQV_CONTROL,
        hqv_control::FORMAT.put(value, hqv_format::RGB16),
    ));
}

/// Surfaces that end with their objects. [`hqv_bounds`](crate::hqv_bounds) has every byte.
pub fn surfaces(rules: &mut Vec<Rule>) {
    let stream = full().stream();
    for register in [
        mmio::HQV_SOURCE_STRIDE,
        mmio::HQV_DESTINATION_STRIDE,
        mmio::HQV_SUBPICTURE_CONTROL,
    ] {
        let good = stream.words[of(&stream, register)];
        // All three are in bits 13:4.
        rules.push(start(
            Reason::VideoStride,
            &stream,
            register,
            good & !0x3ff0,
        ));
    }
    let rows =
        |stream: &Stream, register: RegArray, more: u32| stream.words[of(stream, register)] + more;
    let with = |picture: Picture, reason, register, more, sizes: [u64; 2]| {
        let stream = picture.stream();
        let value = rows(&stream, register, more);
        start(reason, &stream, register, value).with_objects(&sizes)
    };
    // A row more than there is, and a longer stride.
    let page = crate::rule::PAGE;
    rules.extend([
        with(
            PICTURE,
            Reason::LumaBounds,
            mmio::HQV_VIDEO_SOURCE_END,
            1,
            [256, page],
        ),
        with(
            PICTURE,
            Reason::LumaBounds,
            mmio::HQV_SOURCE_STRIDE,
            1 << 4,
            [256, page],
        ),
        with(
            Picture {
                format: hqv_format::P208,
                ..PICTURE
            },
            Reason::ChromaBounds,
            mmio::HQV_VIDEO_SOURCE_END,
            1,
            [1024 + 240, page],
        ),
        with(
            Picture {
                control: START | hqv_control::SINGLE_BUFFER.mask(),
                destinations: [(1, 1024), (1, 0), (1, 0)],
                residue: (0, 1024),
                ..PICTURE
            },
            Reason::PictureBounds,
            mmio::HQV_VIDEO_DESTINATION_END,
            1,
            [page, 1024 + 11 * 64 + 48],
        ),
        with(
            Picture {
                control: START | hqv_control::SINGLE_BUFFER.mask(),
                destinations: [(1, 1024), (1, 0), (1, 0)],
                residue: (0, 1024),
                ..PICTURE
            },
            Reason::PictureBounds,
            mmio::HQV_BACKGROUND_OFFSET,
            12,
            [page, 1024 + 11 * 64 + 48],
        ),
        with(
            Picture {
                inset: Some(INSET),
                ..PICTURE
            },
            Reason::SubpictureBounds,
            mmio::HQV_SUBPICTURE_SOURCE_END,
            1,
            [2048 + 4 * 16, page],
        ),
        with(
            PICTURE,
            Reason::ResidueBounds,
            mmio::HQV_VIDEO_DESTINATION_END,
            1,
            [page, 3072 + 12 * 80],
        ),
    ]);
}
