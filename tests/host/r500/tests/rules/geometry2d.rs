// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The 2D engine: rectangles, lines and glyphs within their surfaces.

use super::{
    rule::{value, Rule},
    streams2d::*,
    support::*,
};
use r500::portable::{
    checker::Reason,
    regs::{mmio, pm4::op},
};

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
    // Packets: the last rectangle of several counts too.
    let three = packet(
        op::PAINT_MULTI,
        fill_control(),
        &[
            0,
            0,
            y_x(4, 4),
            y_x(8, 8),
            y_x(4, 4),
            y_x(60, 252),
            y_x(4, 4),
        ],
    );
    rules.push(Rule::new(Reason::DestinationBounds, &three, 10, y_x(60, 253)).shows_at(11));
    rules.push(Rule::new(Reason::Coordinate, &three, 10, 0x4000_0000));
    // Corners: the far one counts as inside.
    let paint = packet(op::PAINT, fill_control(), &[0, 0, y_x(255, 63)]);
    rules.push(Rule::new(
        Reason::DestinationBounds,
        &paint,
        7,
        y_x(256, 63),
    ));
    rules.push(Rule::new(Reason::EmptyArea, &paint, 7, y_x(0, 63)));
    rules.push(Rule::new(Reason::EmptyArea, &paint, 6, y_x(0, 63)).shows_at(7));
    let blits = packet(
        op::BITBLT_MULTI,
        copy_control(),
        &[0, 0, y_x(4, 4), 0, y_x(60, 252), y_x(4, 4)],
    );
    rules.push(Rule::new(Reason::DestinationBounds, &blits, 10, y_x(60, 253)).shows_at(11));
    rules.push(Rule::new(Reason::SourceBounds, &blits, 9, y_x(60, 253)).shows_at(11));
    rules.push(Rule::new(
        Reason::AreaRange,
        &blits,
        11,
        y_x(4, 4) | (1 << 31),
    ));
    let keyed = packet(
        op::TRANS_BITBLT,
        copy_control(),
        &[0x0100_0004, 0, 0, 0, y_x(60, 252), y_x(4, 4)],
    );
    rules.push(Rule::new(Reason::DestinationBounds, &keyed, 10, y_x(61, 253)).shows_at(11));
    rules.push(Rule::new(Reason::ForbiddenBits, &keyed, 6, 1 << 31));
    let line = packet(
        op::POLYLINE,
        fill_control(),
        &[0, y_x(0, 0), y_x(255, 63), y_x(0, 63)],
    );
    rules.push(Rule::new(Reason::DestinationBounds, &line, 7, y_x(256, 63)));
    rules.push(Rule::new(Reason::DestinationBounds, &line, 8, y_x(-1, 63)));
    let scan = packet(
        op::POLYSCANLINES,
        fill_control(),
        &[0, 1, 2, y_x(6, 250), y_x(8, 0), y_x(63, 40)],
    );
    rules.push(Rule::new(Reason::DestinationBounds, &scan, 8, y_x(7, 250)).shows_at(9));
    rules.push(Rule::new(Reason::DestinationBounds, &scan, 10, y_x(64, 40)));
    rules.push(Rule::new(Reason::EmptyArea, &scan, 10, y_x(40, 40)));
    let glyphs = packet(
        op::HOSTDATA_BLT,
        host_control(),
        &[
            0,
            0,
            y_x(0, 0),
            y_x(8, 8),
            2,
            1,
            2,
            y_x(248, 56),
            y_x(8, 8),
            2,
            3,
            4,
        ],
    );
    rules.push(Rule::new(Reason::DestinationBounds, &glyphs, 13, y_x(9, 8)));
    // Packets that use the settings of an earlier one.
    let mut next = packet(
        op::HOSTDATA_BLT,
        host_control(),
        &[0, 0, 0, y_x(2, 2), 1, 7],
    );
    next.packet(op::NEXTCHAR, &[y_x(248, 56), y_x(8, 8), 1, 2]);
    rules.push(Rule::new(Reason::DestinationBounds, &next, 15, y_x(8, 9)));
    let mut next = paint_multi(0, y_x(2, 2));
    next.packet(op::PLY_NEXTSCAN, &[y_x(6, 250), y_x(63, 0)]);
    rules.push(Rule::new(Reason::DestinationBounds, &next, 12, y_x(64, 0)));
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
    rules.extend([
        Rule::new(Reason::DestinationBounds, &stream, scissor, y_x(256, 63)).shows_at(size),
        Rule::new(Reason::DestinationBounds, &stream, scissor, y_x(255, 64)).shows_at(size),
        // Values that might be negative or turned round clip nothing.
        Rule::new(Reason::DestinationBounds, &stream, scissor, 0x8000_003f).shows_at(size),
        Rule::new(Reason::DestinationBounds, &stream, scissor - 1, y_x(0, 64)).shows_at(size),
        Rule::new(Reason::DestinationBounds, &stream, scissor - 1, 0x8000).shows_at(size),
        // The default scissor is somebody else's.
        Rule::new(
            Reason::DestinationBounds,
            &stream,
            control_at,
            fill_control(),
        )
        .shows_at(size),
        // Too large even for the engine's counters.
        Rule::new(Reason::AreaRange, &stream, size, y_x(4000, 0x3fff)),
    ]);
    // The same by a packet.
    let mut stream = Stream::new();
    stream
        .fill_setup(256, 0, 0)
        .write(mmio::DP_GUI_MASTER_CNTL, control)
        .packet(op::SET_SCISSORS, &[0, y_x(255, 63)])
        .rectangle(0, 0, 100, 300);
    let size = value(&stream);
    rules
        .push(Rule::new(Reason::DestinationBounds, &stream, size - 4, y_x(256, 63)).shows_at(size));
    // And by settings.
    let stream = packet(
        op::PAINT_MULTI,
        control,
        &[0, y_x(255, 63), 0, 0, y_x(300, 300)],
    );
    rules.push(Rule::new(Reason::DestinationBounds, &stream, 6, y_x(299, 63)).shows_at(9));
}
