// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The 2D engine: what a stream must have said before an operation.

use super::{
    rule::{value, Rule},
    streams2d::*,
    support::*,
};
use r500::portable::{
    checker::Reason,
    pm4,
    regs::{mmio, pm4::op},
};

pub fn control(rules: &mut Vec<Rule>) {
    let fill = fill();
    let mut spoil =
        |reason, value| rules.push(Rule::new(reason, &fill.stream, fill.control, value));
    let good = fill_control();
    spoil(Reason::ReservedControlBits, good | (1 << 15));
    spoil(Reason::ReservedControlBits, good | (1 << 27));
    for depth in [0, 1, 5, 7, 8, 11, 15] {
        spoil(Reason::PixelType, gui::DST_TYPE.put(good, depth));
    }
    spoil(Reason::SourceType, gui::SRC_TYPE.put(good, 2));
    for load in [0, 1, 5, 7] {
        spoil(Reason::SourceLoad, gui::SRC_LOAD.put(good, load));
    }
    for brush in [2, 3, 4, 5, 8, 9, 11, 12] {
        spoil(Reason::BrushType, gui::BRUSH_TYPE.put(good, brush));
    }
    // In a register it may have colours, in a packet nobody knows how many.
    rules.push(Rule::new(
        Reason::BrushType,
        &paint_multi(y_x(0, 0), y_x(8, 8)),
        CONTROL,
        gui::BRUSH_TYPE.put(good, gui::brush_type::COLOR_8X8),
    ));
}

pub fn state(rules: &mut Vec<Rule>) {
    let fill = fill();
    let stream = &fill.stream;
    let harmless = pm4::write(mmio::DP_SRC_FRGD_CLR, 1);
    let (copy, copy_control_at, copy_corner, copy_size) = copy();
    rules.extend([
        Rule::new(Reason::NoControl, stream, fill.control - 1, harmless).shows_at(fill.size),
        Rule::new(Reason::NoDirection, stream, fill.direction - 1, harmless).shows_at(fill.size),
        Rule::new(
            Reason::NoDestination,
            stream,
            fill.control,
            gui::DST_PITCH_OFF.put(fill_control(), 0),
        )
        .shows_at(fill.size),
        Rule::new(
            Reason::NoDestination,
            stream,
            fill.surface - 1,
            pm4::write(mmio::SRC_PITCH_OFFSET, 1),
        )
        .shows_at(fill.size),
        Rule::new(
            Reason::NoDestinationCorner,
            stream,
            fill.corner - 1,
            harmless,
        )
        .shows_at(fill.size),
        Rule::new(Reason::NoSourceCorner, &copy, copy_corner - 1, harmless).shows_at(copy_size),
        Rule::new(
            Reason::NoSource,
            &copy,
            copy_control_at,
            gui::SRC_PITCH_OFF.put(copy_control(), 0),
        )
        .shows_at(copy_size),
        Rule::new(Reason::NoSource, &copy, 8, harmless).shows_at(copy_size),
    ]);

    // A corner serves one operation.
    let mut twice = fill.stream.clone();
    twice.rectangle(0, 0, 1, 1);
    rules.push(
        Rule::new(Reason::NoDestinationCorner, &twice, fill.size + 1, harmless)
            .shows_at(fill.size + 4),
    );
    // A control word that goes back to the default takes the surface away, even if the next one does not.
    let mut again = Stream::new();
    again
        .fill_setup(256, 0, 0)
        .write(mmio::DP_GUI_MASTER_CNTL, fill_control());
    let at = value(&again);
    again
        .write(mmio::DP_GUI_MASTER_CNTL, fill_control())
        .rectangle(0, 0, 4, 4);
    rules.push(
        Rule::new(
            Reason::NoDestination,
            &again,
            at,
            gui::DST_PITCH_OFF.put(fill_control(), 0),
        )
        .shows_at(again.here() - 1),
    );
    // The other form of the direction makes this one unknown.
    let mut other = Stream::new();
    other.fill_setup(256, 0, 0).write(mmio::DP_SRC_FRGD_CLR, 0);
    let at = other.here() - 2;
    other.rectangle(0, 0, 4, 4);
    rules.push(
        Rule::new(
            Reason::NoDirection,
            &other,
            at,
            pm4::write(mmio::DP_CNTL_XDIR_YDIR_YMAJOR, 1),
        )
        .shows_at(other.here() - 1),
    );
    // A line serves once, and forgets the direction.
    let mut line = Stream::new();
    line.fill_setup(256, 0, 0)
        .write(mmio::DST_LINE_START, y_x(1, 1))
        .write(mmio::DST_LINE_END, y_x(9, 30));
    let end = value(&line);
    rules.push(Rule::new(Reason::NoLineStart, &line, end - 3, harmless).shows_at(end));
    line.write(mmio::DP_CNTL, FORWARD).rectangle(0, 0, 4, 4);
    rules.push(Rule::new(Reason::NoDirection, &line, end + 1, harmless).shows_at(line.here() - 1));

    let paint = paint_multi(0, y_x(4, 4));
    for direction in 0..3 {
        rules.push(Rule::new(Reason::NoDirection, &paint, 1, direction).shows_at(CONTROL + 2));
    }
    // A control word may or may not make the direction ascending.
    for direction in 0..3 {
        rules.push(Rule::new(Reason::NoDirection, &again, 1, direction).shows_at(again.here() - 1));
    }
    let mut next = paint.clone();
    next.write(mmio::DP_CNTL, FORWARD);
    let at = value(&next);
    next.packet(op::PLY_NEXTSCAN, &[y_x(6, 250), y_x(62, 0)]);
    for direction in 0..3 {
        rules.push(Rule::new(Reason::Direction, &next, at, direction).shows_at(at + 1));
    }
    let spoil = |value| Rule::new(Reason::SourceInFill, &paint, CONTROL, value).shows_at(7);
    rules.extend([
        spoil(gui::WIN31_ROP.put(fill_control(), 0xcc)),
        spoil(gui::WIN31_ROP.put(fill_control(), 0x88)),
        // Colour compare as somebody else has left it.
        spoil(gui::GMC_CLR_CMP_FCN_DIS.put(fill_control(), 0)),
    ]);
    let upload = packet(
        op::HOSTDATA_BLT,
        host_control(),
        &[0, 0, 0, y_x(2, 2), 1, 7],
    );
    rules.extend([
        Rule::new(
            Reason::SourceNotFromHost,
            &upload,
            CONTROL,
            gui::SRC_LOAD.put(host_control(), gui::src_load::MEMORY),
        )
        .shows_at(8),
        Rule::new(
            Reason::SourceNotFromHost,
            &upload,
            CONTROL,
            gui::WIN31_ROP.put(host_control(), 0xf0),
        )
        .shows_at(8),
    ]);
    let blit = packet(op::BITBLT, copy_control(), &[0, 0, y_x(4, 4)]);
    rules.push(
        Rule::new(
            Reason::SourceNotInMemory,
            &blit,
            CONTROL,
            gui::SRC_LOAD.put(copy_control(), gui::src_load::HOST_DATA),
        )
        .shows_at(8),
    );
}
