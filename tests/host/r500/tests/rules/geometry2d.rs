// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The 2D engine: rectangles, lines and glyphs within their surfaces.

use super::{
    rule::{value, Rule},
    streams2d::*,
    support::*,
};
use r500::portable::{checker::Reason, pm4, regs::mmio};

pub fn surfaces(rules: &mut Vec<Rule>) {
    let tiled = |word: u32| word | pitch_offset::TILE_MACRO.of(1);
    let mut fill = fill();
    fill.stream.words[fill.surface] = tiled(surface(256, 2048));
    fill.stream.words[fill.size] = y_x(8, 64);
    rules.extend([
        Rule::new(
            Reason::TiledPitch,
            &fill.stream,
            fill.surface,
            tiled(surface(320, 2048)),
        ),
        Rule::new(
            Reason::TiledOffset,
            &fill.stream,
            fill.surface,
            tiled(surface(256, 1024)),
        ),
        // 248 lines are left, 31 rows of macro-blocks; one line more begins another row.
        Rule::new(
            Reason::DestinationBounds,
            &fill.stream,
            fill.size,
            y_x(249, 64),
        ),
        // One pixel more is beyond the pitch.
        Rule::new(
            Reason::DestinationBounds,
            &fill.stream,
            fill.size,
            y_x(8, 65),
        ),
    ]);
    // A row of blocks is there as a whole or not at all: 64 lines, and half of another row.
    let micro = pitch_offset::TILE_MICRO.of(1);
    let both = tiled(micro);
    for (tiles, kind, block) in [
        (tiled(0), gui::dst_type::CI8, 8),
        (tiled(0), gui::dst_type::RGB565, 8),
        (tiled(0), gui::dst_type::ARGB8888, 8),
        (micro, gui::dst_type::CI8, 4),
        (micro, gui::dst_type::RGB565, 4),
        (micro, gui::dst_type::ARGB8888, 2),
        (both, gui::dst_type::CI8, 32),
        (both, gui::dst_type::RGB565, 32),
        (both, gui::dst_type::ARGB8888, 16),
    ] {
        let (mut rows, at) = (fill.stream.clone(), fill.size);
        rows.words[fill.control] = gui::DST_TYPE.put(fill_control(), kind);
        rows.words[fill.surface] = surface(256, 0) | tiles;
        rows.words[at] = y_x(64, 64);
        let lines = 64 + block / 2;
        rules.push(
            Rule::new(Reason::DestinationBounds, &rows, at, y_x(65, 64))
                .with_objects(&[256 * lines]),
        );
    }
    let mut copy = copy().0;
    copy.words[3] = gui::SRC_TYPE.put(copy_control(), gui::src_type::MONO_OPAQUE);
    rules.push(
        Rule::new(Reason::TiledMono, &copy, 9, tiled(surface(256, 0))).shows_at(copy.here() - 1),
    );
    rules.push(
        Rule::new(Reason::MicroTiledSource, &copy, 11, 0)
            .take_tiling_from([2, 0])
            .shows_at(9),
    );
}

pub fn geometry(rules: &mut Vec<Rule>) {
    let fill = fill();
    let stream = &fill.stream;
    for corner in [0x2000, 0x8000, 0x4000 << 16, 0x7fff << 16] {
        rules.push(Rule::new(Reason::Coordinate, stream, fill.corner, corner));
    }
    rules.extend([
        Rule::new(Reason::EmptyArea, stream, fill.size, y_x(0, 64)),
        Rule::new(Reason::EmptyArea, stream, fill.size, y_x(256, 0)),
        Rule::new(Reason::AreaRange, stream, fill.size, y_x(256, 0x2001)),
        Rule::new(Reason::AreaRange, stream, fill.size, (0x4000 << 16) | 1),
        Rule::new(Reason::AreaRange, stream, fill.size, 0xffff_ffff),
        // One line, one pixel on the last line, one pixel to the left and one line above.
        Rule::new(Reason::DestinationBounds, stream, fill.size, y_x(257, 64)),
        Rule::new(Reason::DestinationBounds, stream, fill.size, y_x(256, 65)),
        Rule::new(Reason::DestinationBounds, stream, fill.corner, y_x(0, -1)).shows_at(fill.size),
        Rule::new(Reason::DestinationBounds, stream, fill.corner, y_x(-1, 0)).shows_at(fill.size),
        // Down by one line, up by the whole of it, and drawn to the left.
        Rule::new(Reason::DestinationBounds, stream, fill.corner, y_x(1, 0)).shows_at(fill.size),
        Rule::new(Reason::DestinationBounds, stream, fill.direction, 1).shows_at(fill.size),
        Rule::new(Reason::DestinationBounds, stream, fill.direction, 2).shows_at(fill.size),
        // The object has 256 lines of 256 bytes, not of 320.
        Rule::new(
            Reason::DestinationBounds,
            stream,
            fill.surface,
            surface(320, 0),
        )
        .shows_at(fill.size),
        Rule::new(
            Reason::DestinationBounds,
            stream,
            fill.surface,
            surface(256, 1024),
        )
        .shows_at(fill.size),
    ]);
    let (copy, _, corner, size) = copy();
    rules.extend([
        Rule::new(Reason::SourceBounds, &copy, corner, y_x(241, 0)).shows_at(size),
        Rule::new(Reason::SourceBounds, &copy, corner, y_x(0, -1)).shows_at(size),
    ]);
    rules.extend([
        Rule::new(Reason::SourceBounds, &copy, corner, y_x(240, 49)).shows_at(size),
        Rule::new(Reason::SourceBounds, &copy, corner, y_x(-1, 0)).shows_at(size),
    ]);
    // The other form of the size.
    let mut other = fill.stream.clone();
    other.words[fill.size - 1] = pm4::write(mmio::DST_WIDTH_HEIGHT, 1);
    other.words[fill.size] = y_x(64, 256);
    rules.extend([
        Rule::new(Reason::DestinationBounds, &other, fill.size, y_x(65, 256)),
        Rule::new(Reason::DestinationBounds, &other, fill.size, y_x(64, 257)),
        Rule::new(Reason::EmptyArea, &other, fill.size, y_x(0, 256)),
    ]);
    // The last rectangle of several counts too.
    let mut three = Stream::new();
    three
        .fill_setup(256, 0, 0)
        .rectangle(0, 0, 4, 4)
        .rectangle(8, 8, 4, 4)
        .rectangle(60, 252, 4, 4);
    let size = value(&three);
    for corner in [y_x(253, 60), y_x(252, 61)] {
        rules.push(Rule::new(Reason::DestinationBounds, &three, size - 2, corner).shows_at(size));
    }
}

/// Add the rules of rectangles from the far corner on, in all directions.
pub fn directions(rules: &mut Vec<Rule>) {
    for direction in 0..4 {
        let (right, down) = (direction & 1 != 0, direction & 2 != 0);
        let corner = |width: i32, height: i32| {
            y_x(
                if down { 0 } else { height - 1 },
                if right { 0 } else { width - 1 },
            )
        };
        let mut stream = Stream::new();
        stream
            .copy_setup(256)
            .write(mmio::DP_CNTL, direction)
            .write(mmio::SRC_Y_X, corner(64, 256));
        let from = value(&stream);
        stream.write(mmio::DST_Y_X, corner(64, 256));
        let to = value(&stream);
        stream.write(mmio::DST_HEIGHT_WIDTH, y_x(256, 64));
        let size = value(&stream);
        let (x, y) = (if right { 1 } else { 62 }, if down { 1 } else { 254 });
        let (x0, y0) = (if right { 0 } else { 63 }, if down { 0 } else { 255 });
        for (at, reason) in [
            (from, Reason::SourceBounds),
            (to, Reason::DestinationBounds),
        ] {
            for wrong in [y_x(y0, x), y_x(y, x0)] {
                rules.push(Rule::new(reason, &stream, at, wrong).shows_at(size));
            }
        }
    }
}

/// Both ends of a line, in each direction, lie in the object.
pub fn lines(rules: &mut Vec<Rule>) {
    let line = line();
    for (at, word) in [(line.start, y_x(255, 63)), (line.end, 0)] {
        let mut stream = line.stream.clone();
        stream.words[at] = word;
        let other = line.start + line.end - at;
        stream.words[other] = y_x(0, 63);
        for outside in [y_x(256, 0), y_x(255, 64), y_x(-1, 0), y_x(0, -1)] {
            for at in [line.start, line.end] {
                rules.push(
                    Rule::new(Reason::DestinationBounds, &stream, at, outside).shows_at(line.end),
                );
            }
        }
        for at in [line.start, line.end] {
            rules.push(Rule::new(Reason::Coordinate, &stream, at, 0x2000));
            rules.push(Rule::new(Reason::Coordinate, &stream, at, 0x4000_0000));
        }
    }
}

pub fn scissors(rules: &mut Vec<Rule>) {
    // Far larger than the object, but clipped to it.
    let control = fill_control() | gui::DST_CLIPPING.of(1);
    let mut stream = Stream::new();
    stream
        .write(mmio::DP_CNTL, FORWARD)
        .write(mmio::DP_GUI_MASTER_CNTL, control);
    let control_at = value(&stream);
    stream
        .write(mmio::DST_PITCH_OFFSET, surface(256, 0))
        .marker(0)
        .writes(mmio::SC_TOP_LEFT, &[0, y_x(255, 63)]);
    let scissor = value(&stream);
    stream.rectangle(-8, -8, 4000, 4000);
    let size = value(&stream);
    let mut spoil = |at, word| {
        rules.push(Rule::new(Reason::DestinationBounds, &stream, at, word).shows_at(size))
    };
    // One line and one column too many.
    spoil(scissor, y_x(256, 63));
    spoil(scissor, y_x(255, 64));
    // Values that might be negative clip nothing, at each of the four edges.
    for sign in [0x2000, 0x4000, 0x8000, 0xffff] {
        spoil(scissor, (sign << 16) | 63);
        spoil(scissor, (255 << 16) | sign);
        spoil(scissor - 1, sign << 16);
        spoil(scissor - 1, sign);
    }
    // The default scissor is what another client has left.
    spoil(control_at, fill_control());
    // Too large even for the engine's counters.
    rules.push(Rule::new(
        Reason::AreaRange,
        &stream,
        size,
        y_x(4000, 0x3fff),
    ));

    // A scissor inside out clips nothing, in either direction, wherever its corners lie.
    let mut inside_out = stream.clone();
    inside_out.words[scissor] = y_x(100, 30);
    for corner in [y_x(0, 31), y_x(0, 63), y_x(101, 0), y_x(255, 0)] {
        rules.push(
            Rule::new(Reason::DestinationBounds, &inside_out, scissor - 1, corner).shows_at(size),
        );
    }
    // Nor does one whose corners both might be negative.
    let mut far = stream.clone();
    far.words[scissor - 1] = y_x(0x1fff, 0x1fff);
    far.words[scissor] = 0x3fff_3fff;
    for corner in [0x2000_2000, 0x3fff_3fff, 0x8000_8000] {
        rules.push(Rule::new(Reason::DestinationBounds, &far, scissor - 1, corner).shows_at(size));
    }

    // Both corners are the stream's own.
    let harmless = pm4::write(mmio::DP_SRC_FRGD_CLR, 1);
    let mut apart = Stream::new();
    apart
        .fill_setup(256, 0, 0)
        .write(mmio::DP_GUI_MASTER_CNTL, control)
        .write(mmio::SC_TOP_LEFT, 0)
        .write(mmio::SC_BOTTOM_RIGHT, y_x(255, 63));
    let last = value(&apart);
    apart.rectangle(-8, -8, 4000, 4000);
    let size = value(&apart);
    for header in [last - 3, last - 1] {
        rules.push(Rule::new(Reason::DestinationBounds, &apart, header, harmless).shows_at(size));
    }

    // A control word that goes back to the default takes the scissor away, even if the next one does not.
    let mut again = Stream::new();
    again
        .fill_setup(256, 0, 0)
        .writes(mmio::SC_TOP_LEFT, &[0, y_x(255, 63)])
        .write(mmio::DP_GUI_MASTER_CNTL, control);
    let first = value(&again);
    again
        .write(mmio::DP_GUI_MASTER_CNTL, control)
        .rectangle(-8, -8, 4000, 4000);
    let size = value(&again);
    rules.push(Rule::new(Reason::DestinationBounds, &again, first, fill_control()).shows_at(size));
    // Half of it said again is not a scissor.
    again.words.truncate(size - 3);
    again
        .write(mmio::SC_TOP_LEFT, 0)
        .write(mmio::SC_BOTTOM_RIGHT, y_x(255, 63));
    let last = value(&again);
    again.words[first] = fill_control();
    again.rectangle(-8, -8, 4000, 4000);
    let size = value(&again);
    for header in [last - 3, last - 1] {
        rules.push(Rule::new(Reason::DestinationBounds, &again, header, harmless).shows_at(size));
    }
    // What is clipped away altogether touches nothing, on all four sides; the object has four lines.
    for (rectangle, at, word) in [
        ((10, 0, 4000, 4000), 2, y_x(0, 9)),
        ((0, 10, 4000, 4000), 2, y_x(9, 0)),
        ((0, 0, 8, 4000), 0, y_x(4000, 9)),
        ((0, 0, 4000, 8), 0, y_x(9, 4000)),
    ] {
        let (x, y, width, height) = rectangle;
        let mut away = Stream::new();
        away.fill_setup(256, 0, 0)
            .write(mmio::DP_GUI_MASTER_CNTL, control)
            .writes(mmio::SC_TOP_LEFT, &[y_x(8, 8), y_x(9, 9)])
            .rectangle(x, y, width, height);
        let size = value(&away);
        rules.push(
            Rule::new(Reason::DestinationBounds, &away, size - at, word)
                .shows_at(size)
                .with_objects(&[1024]),
        );
    }
}
