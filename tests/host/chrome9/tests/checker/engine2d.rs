// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Rules of the 2D engine: commands, the state that they need, bounds, data of the CPU.

use chrome9::portable::checker::Reason;
use chrome9::portable::emit::PAD;
use chrome9::portable::regs::{
    header,
    mmio::{self, gecmd, gemode, keycontrol},
};

use crate::rule::{Rule, PAGE};
use crate::support::*;

/// Return a rule that another value of a register breaks.
fn other(reason: Reason, stream: &Stream, register: u32, value: u32) -> Rule {
    Rule::new(reason, stream, stream.value_of(register), value)
}

/// Return a rule that another value of a register breaks, which shows at the command.
fn command(reason: Reason, stream: &Stream, register: u32, value: u32) -> Rule {
    other(reason, stream, register, value).shows_at(stream.value_of(mmio::GECMD))
}

/// Return an upload with its data.
fn upload(blit: Blit, dwords: usize) -> Stream {
    let mut stream = blit.stream();
    stream.host(0, &vec![0xfe00_0000; dwords]);
    stream
}

fn copy() -> Blit {
    Blit {
        command: COPY,
        ..BLIT
    }
}

fn mono() -> Blit {
    Blit {
        command: MONO,
        ..BLIT
    }
}

pub fn commands(rules: &mut Vec<Rule>) {
    let stream = BLIT.stream();
    let bad = |reason, command| other(reason, &stream, mmio::GECMD, command);
    rules.extend([
        bad(Reason::RegisterBits, FILL | (1 << 22)),
        bad(Reason::Line, gecmd::COMMAND.put(FILL, gecmd::command::LINE)),
        bad(Reason::Line, FILL | gecmd::Y_MAJOR.mask()),
        bad(Reason::Line, FILL | gecmd::LAST_PIXEL_OFF.mask()),
        bad(
            Reason::Rotation,
            gecmd::COMMAND.put(FILL, gecmd::command::ROTATE),
        ),
        bad(Reason::QuickStart, FILL | gecmd::QUICK_START.mask()),
        bad(
            Reason::SystemDestination,
            FILL | gecmd::DESTINATION_SYSTEM.mask(),
        ),
        bad(
            Reason::LinearSurface,
            FILL | gecmd::DESTINATION_LINEAR.mask(),
        ),
        bad(Reason::LinearSurface, FILL | gecmd::SOURCE_LINEAR.mask()),
        bad(Reason::Pattern, FILL & !gecmd::FIXED_COLOR_PATTERN.mask()),
        bad(Reason::Pattern, FILL | gecmd::MONO_PATTERN.mask()),
        bad(
            Reason::Pattern,
            FILL | gecmd::MONO_PATTERN_TRANSPARENT.mask(),
        ),
        bad(Reason::Pattern, FILL | gecmd::PATTERN_REGISTER.mask()),
        bad(Reason::MonoMemory, FILL | gecmd::MONO_SOURCE.mask()),
        bad(
            Reason::MonoMemory,
            gecmd::COMMAND.put(FILL, gecmd::command::BLT_MONO),
        ),
        bad(Reason::MonoBits, FILL | gecmd::MONO_PACK.mask()),
        bad(
            Reason::MonoBits,
            FILL | gecmd::MONO_SOURCE_TRANSPARENT.mask(),
        ),
        bad(Reason::MonoBits, FILL | gecmd::MONO_ALIGN.of(1)),
        bad(Reason::MonoBits, FILL | gecmd::MONO_ALIGN.of(2)),
        bad(Reason::HostNotRead, FILL | gecmd::SOURCE_SYSTEM.mask()),
        bad(Reason::NoSource, COPY),
    ]);
    for code in [3, 4, 6, 7, 9, 10, 11, 12, 13, 14, 15] {
        rules.push(bad(Reason::UnknownCommand, gecmd::COMMAND.put(FILL, code)));
    }
    // Raster operations that need a pattern, or a source.
    let black = Blit {
        command: gecmd::COMMAND.of(1),
        ..BLIT
    }
    .stream();
    for (rop, reason) in [
        (0xf0, Reason::Pattern),
        (0x5a, Reason::Pattern),
        (0x0f, Reason::Pattern),
        (0xb8, Reason::Pattern),
        (0xcc, Reason::NoSource),
        (0x88, Reason::NoSource),
        (0x66, Reason::NoSource),
        (0x33, Reason::NoSource),
    ] {
        let word = gecmd::ROP.put(gecmd::COMMAND.of(1), rop);
        rules.push(other(reason, &black, mmio::GECMD, word));
    }
    let stream = copy().stream();
    rules.extend([
        other(
            Reason::MonoMemory,
            &stream,
            mmio::GECMD,
            COPY | gecmd::MONO_SOURCE.mask(),
        ),
        other(
            Reason::MonoMemory,
            &stream,
            mmio::GECMD,
            gecmd::COMMAND.put(COPY, gecmd::command::BLT_MONO),
        ),
    ]);
}

pub fn registers(rules: &mut Vec<Rule>) {
    let stream = copy().stream();
    for (register, bits) in [
        (mmio::GEMODE, &[2, 7, 10, 31][..]),
        (mmio::PITCH, &[11, 15, 27, 31]),
        (mmio::DIMENSION, &[12, 15, 28, 31]),
        (mmio::DSTPOS, &[12, 15, 28, 31]),
        (mmio::SRCPOS, &[12, 14, 15, 28, 31]),
        (mmio::DSTBASE, &[26, 31]),
        (mmio::SRCBASE, &[26, 31]),
        (mmio::KEYCONTROL, &[0, 12, 16, 27]),
    ] {
        for bit in bits {
            let at = stream.value_of(register);
            let value = stream.words[at] ^ (1 << bit);
            rules.push(Rule::new(Reason::RegisterBits, &stream, at, value));
        }
    }
    for rotation in 1..=3 {
        rules.push(other(Reason::Rotation, &stream, mmio::GEMODE, rotation));
    }
    let mut clipped = BLIT;
    clipped.command |= gecmd::CLIP_ENABLE.mask();
    let mut pairs = vec![set(mmio::CLIPTL, 0), set(mmio::CLIPBR, point(9, 9))];
    pairs.extend(clipped.pairs());
    let mut stream = Stream::new();
    stream.pairs(&pairs);
    for bit in [12, 15, 28, 31] {
        rules.push(other(Reason::RegisterBits, &stream, mmio::CLIPTL, 1 << bit));
        rules.push(other(Reason::RegisterBits, &stream, mmio::CLIPBR, 1 << bit));
    }
    rules.push(command(
        Reason::PixelDepth,
        &BLIT.stream(),
        mmio::GEMODE,
        gemode::DEPTH.of(2),
    ));
}

/// Return a rule that is broken because a register is not set: another is, which a blit of the stream does not need.
fn unset(reason: Reason, stream: &Stream, register: u32, instead: u32) -> Rule {
    let at = stream.value_of(register) - 1;
    Rule::new(reason, stream, at, instead).shows_at(stream.value_of(mmio::GECMD))
}

pub fn state(rules: &mut Vec<Rule>) {
    let fill = BLIT.stream();
    for (register, reason) in [
        (mmio::GEMODE, Reason::NoMode),
        (mmio::PITCH, Reason::NoPitch),
        (mmio::DIMENSION, Reason::NoDimension),
        (mmio::DSTPOS, Reason::NoDestinationPosition),
        (mmio::DSTBASE, Reason::NoDestination),
        (mmio::KEYCONTROL, Reason::NoKey),
        (mmio::MONOPATFGC, Reason::NoPatternColor),
    ] {
        rules.push(unset(reason, &fill, register, mmio::BGCOLOR));
    }
    let copy = copy().stream();
    rules.extend([
        unset(Reason::NoSource, &copy, mmio::SRCBASE, mmio::BGCOLOR),
        unset(Reason::NoSourcePosition, &copy, mmio::SRCPOS, mmio::BGCOLOR),
    ]);
    let upload = upload(
        Blit {
            command: UPLOAD,
            ..BLIT
        },
        32,
    );
    rules.push(unset(
        Reason::NoSourcePosition,
        &upload,
        mmio::SRCPOS,
        mmio::BGCOLOR,
    ));
    let picture = self::upload(mono(), 8);
    rules.extend([
        unset(
            Reason::NoForeground,
            &picture,
            mmio::FGCOLOR,
            mmio::MONOPATFGC,
        ),
        unset(
            Reason::NoBackground,
            &picture,
            mmio::BGCOLOR,
            mmio::MONOPATFGC,
        ),
        // A transparent picture needs no second colour.
        other(
            Reason::NoBackground,
            &{
                let mut stream = picture.clone();
                let at = stream.value_of(mmio::BGCOLOR) - 1;
                stream.words[at] = mmio::MONOPATFGC;
                let at = stream.value_of(mmio::GECMD);
                stream.words[at] |= gecmd::MONO_SOURCE_TRANSPARENT.mask();
                stream
            },
            mmio::GECMD,
            MONO,
        ),
        // Keys.
        command(
            Reason::KeyWithoutPixels,
            &picture,
            mmio::KEYCONTROL,
            keycontrol::SOURCE_KEY.mask(),
        ),
        command(
            Reason::KeyWithoutPixels,
            &picture,
            mmio::KEYCONTROL,
            keycontrol::DESTINATION_KEY.mask(),
        ),
        command(
            Reason::KeyWithoutPixels,
            &fill,
            mmio::KEYCONTROL,
            keycontrol::SOURCE_KEY.mask(),
        ),
    ]);
    let mut blit = BLIT;
    blit.key = keycontrol::DESTINATION_KEY.mask() | keycontrol::INVERT_KEY.mask();
    rules.push(unset(
        Reason::NoForeground,
        &blit.stream(),
        mmio::FGCOLOR,
        mmio::BGCOLOR,
    ));
    let mut blit = self::copy();
    blit.key = keycontrol::SOURCE_KEY.mask() | keycontrol::BYTE_MASK.mask();
    rules.push(unset(
        Reason::NoBackground,
        &blit.stream(),
        mmio::BGCOLOR,
        mmio::FGCOLOR,
    ));
    // Clip.
    let mut pairs = vec![set(mmio::CLIPTL, 0), set(mmio::CLIPBR, 0)];
    let mut clipped = BLIT;
    clipped.command |= gecmd::CLIP_ENABLE.mask();
    pairs.extend(clipped.pairs());
    let mut stream = Stream::new();
    stream.pairs(&pairs);
    for corner in [mmio::CLIPTL, mmio::CLIPBR] {
        rules.push(unset(Reason::NoClip, &stream, corner, mmio::BGCOLOR));
    }
    rules.push(other(
        Reason::NoClip,
        &BLIT.stream(),
        mmio::GECMD,
        clipped.command,
    ));
}

pub fn bounds(rules: &mut Vec<Rule>) {
    // 10 rows of 64 bytes, of which the last has 20: the rectangle's last byte is the object's.
    let size = 9 * 64 + 20;
    let fill = BLIT.stream();
    let copy = Blit {
        to: (20, 20),
        from: (4, 2),
        ..copy()
    }
    .stream();
    for (stream, position, edge, bounds, sizes, base) in [
        (
            &fill,
            mmio::DSTPOS,
            Reason::DestinationEdge,
            Reason::DestinationBounds,
            [size, PAGE],
            0,
        ),
        (
            &copy,
            mmio::SRCPOS,
            Reason::SourceEdge,
            Reason::SourceBounds,
            [PAGE, size],
            1,
        ),
    ] {
        let word = stream.words[stream.value_of(mmio::GECMD)];
        rules.extend(
            [
                command(bounds, stream, position, point(5, 2)),
                command(bounds, stream, position, point(4, 3)),
                command(bounds, stream, mmio::DIMENSION, point(16, 7)),
                command(bounds, stream, mmio::DIMENSION, point(15, 8)),
                command(bounds, stream, mmio::GEMODE, depth(2)),
                command(bounds, stream, mmio::GEMODE, depth(4)),
                command(bounds, stream, mmio::PITCH, 0x0009_0009),
                Rule::relocation(bounds, stream, base, 2, 8).shows_at(stream.value_of(mmio::GECMD)),
                command(edge, stream, mmio::GECMD, word | gecmd::DEC_X.mask()),
                command(edge, stream, mmio::GECMD, word | gecmd::DEC_Y.mask()),
            ]
            .map(|rule| rule.with_objects(&sizes)),
        );
    }
    // A pitch of zero.
    rules.extend([
        command(Reason::PitchZero, &fill, mmio::PITCH, 8),
        command(Reason::PitchZero, &copy, mmio::PITCH, 8 << 16),
    ]);
    let row = Blit {
        size: (16, 1),
        to: (0, 0),
        to_pitch: 0,
        ..BLIT
    }
    .stream();
    rules.extend([
        command(Reason::PitchZero, &row, mmio::DIMENSION, point(15, 1)),
        command(Reason::PitchZero, &row, mmio::DSTPOS, point(0, 1)),
    ]);
}

pub fn overlaps(rules: &mut Vec<Rule>) {
    let back = gecmd::DEC_X.mask() | gecmd::DEC_Y.mask();
    // Within one picture, down, up, right and left.
    let within = |command: u32, from, to| Blit {
        command,
        from,
        to,
        source: (0, 0),
        destination: (0, 0),
        ..BLIT
    };
    for (command, from, to, wrong) in [
        (COPY, (4, 10), (4, 5), (4, 11)),
        (COPY, (4, 10), (4, 5), (10, 11)),
        (COPY | back, (30, 20), (30, 25), (30, 19)),
        (COPY, (4, 10), (3, 10), (5, 10)),
        (COPY, (4, 10), (3, 10), (19, 10)),
        (COPY | back, (30, 20), (31, 20), (29, 20)),
        (COPY | gecmd::DEC_X.mask(), (30, 20), (31, 20), (29, 20)),
        (COPY | gecmd::DEC_X.mask(), (30, 20), (30, 19), (30, 21)),
        (COPY | gecmd::DEC_Y.mask(), (30, 20), (30, 21), (30, 19)),
        // Sixteen to the right they do not meet.
        (COPY, (4, 10), (20, 10), (19, 10)),
        // The left neighbour of the first column is the last of the row before.
        (COPY, (60, 10), (0, 5), (0, 11)),
    ] {
        let stream = within(command, from, to).stream();
        rules.push(self::command(
            Reason::CopyOverlap,
            &stream,
            mmio::DSTPOS,
            point(wrong.0, wrong.1),
        ));
    }
    // The same by the place of the second picture.
    let stream = Blit {
        source: (0, 64),
        ..within(COPY, (4, 10), (4, 10))
    }
    .stream();
    let at = stream.value_of(mmio::GECMD);
    rules.extend([
        Rule::relocation(Reason::CopyOverlap, &stream, 0, 2, 128).shows_at(at),
        Rule::relocation(Reason::CopyOverlap, &stream, 0, 2, 72).shows_at(at),
        // With other pitches nothing may meet at all.
        command(Reason::CopyOverlap, &stream, mmio::PITCH, 0x0008_0009),
    ]);
    // A single row has no pitch.
    let stream = Blit {
        size: (200, 1),
        from: (8, 0),
        to: (0, 0),
        to_pitch: 8,
        from_pitch: 128,
        source: (0, 0),
        ..copy()
    }
    .stream();
    rules.push(self::command(
        Reason::CopyOverlap,
        &stream,
        mmio::DSTPOS,
        point(24, 0),
    ));
    // Rows across each other, also where the pictures are one.
    let stream = Blit {
        size: (80, 2),
        from: (0, 3),
        to: (0, 0),
        source: (0, 0),
        ..copy()
    }
    .stream();
    for (x, y) in [(0, 2), (0, 3), (64, 2)] {
        rules.push(self::command(
            Reason::CopyOverlap,
            &stream,
            mmio::DSTPOS,
            point(x, y),
        ));
    }
}

pub fn host(rules: &mut Vec<Rule>) {
    let blit = Blit {
        command: UPLOAD,
        ..BLIT
    };
    let stream = upload(blit, 32);
    let count = stream.words.len() - 32 - 3;
    let end = stream.words.len();
    let mut longer = stream.clone();
    longer.words(&[PAD; UNIT]);
    rules.extend([
        other(Reason::HostOrigin, &stream, mmio::SRCPOS, point(1, 0))
            .shows_at(stream.value_of(mmio::GECMD)),
        command(Reason::HostOrigin, &stream, mmio::SRCPOS, point(0, 1)),
        // Without the command's need, or without the command.
        other(
            Reason::HostUnexpected,
            &stream,
            mmio::GECMD,
            gecmd::COMMAND.of(0),
        )
        .shows_at(count - 1),
        other(Reason::HostUnexpected, &stream, mmio::GECMD, FILL).shows_at(count - 1),
        // One dword less, which is no padding either, and what would be the next command.
        Rule::new(Reason::NoHeader, &stream, count, 31).shows_at(end - 1),
        Rule::new(Reason::Truncated, &stream, count, 33),
        Rule::new(Reason::HostExcess, &longer, count, 33).shows_at(end),
        command(Reason::HostMissing, &stream, mmio::DIMENSION, point(15, 8)).shows_at(end),
        command(Reason::HostMissing, &stream, mmio::DIMENSION, point(16, 7)).shows_at(end),
        command(Reason::HostMissing, &stream, mmio::GEMODE, depth(4)).shows_at(end),
        command(Reason::HostExcess, &stream, mmio::DIMENSION, point(15, 6)).shows_at(end - 4),
        command(Reason::HostExcess, &stream, mmio::DIMENSION, point(11, 7)).shows_at(end - 8),
        Rule::new(
            Reason::HostWindow,
            &stream,
            count - 1,
            head(header::HOST_DATA_2D, 2),
        ),
        Rule::new(Reason::HeaderBits, &stream, count + 1, 1),
        Rule::new(Reason::HeaderBits, &stream, count + 2, 1),
        Rule::new(Reason::EmptyHeader, &stream, count, 0),
        // Padding may come before the data, and nothing else.
        Rule::new(Reason::HostMissing, &stream, count - 1, head(0, 0)),
    ]);
    for direction in [gecmd::DEC_X.mask(), gecmd::DEC_Y.mask()] {
        let stream = upload(
            Blit {
                to: (20, 20),
                ..blit
            },
            32,
        );
        rules.push(other(
            Reason::HostDirection,
            &stream,
            mmio::GECMD,
            UPLOAD | direction,
        ));
    }
    // A pair behind the command, in the same header.
    let mut pairs = blit.pairs();
    pairs.push(set(mmio::FGCOLOR, 0));
    let mut stream = Stream::new();
    stream.pairs(&pairs);
    let at = stream.value_of(mmio::GECMD);
    stream.words[at] = FILL;
    rules.push(
        other(Reason::HostMissing, &stream, mmio::GECMD, UPLOAD)
            .shows_at(stream.value_of(mmio::GECMD) + 1),
    );
    // Monochrome rows.
    let odd = Blit {
        size: (17, 5),
        ..mono()
    };
    for (bits, dwords) in [
        (gecmd::MONO_ALIGN.of(gecmd::mono_align::DWORD), 5),
        (gecmd::MONO_ALIGN.of(gecmd::mono_align::WORD), 5),
        (gecmd::MONO_ALIGN.of(gecmd::mono_align::BYTE), 4),
        (gecmd::MONO_PACK.mask(), 3),
        (gecmd::MONO_PACK.mask() | gecmd::MONO_ALIGN.of(3), 3),
    ] {
        let stream = upload(
            Blit {
                command: MONO | bits,
                ..odd
            },
            dwords,
        );
        let end = stream.words.len();
        let first = end - dwords.next_multiple_of(UNIT);
        rules.push(
            command(Reason::HostMissing, &stream, mmio::DIMENSION, point(31, 15)).shows_at(end),
        );
        rules.push(
            command(Reason::HostExcess, &stream, mmio::DIMENSION, point(0, 0)).shows_at(first + 1),
        );
    }
    let stream = upload(odd, 5);
    rules.push(other(
        Reason::MonoAlignment,
        &stream,
        mmio::GECMD,
        MONO | gecmd::MONO_ALIGN.of(3),
    ));
}
