// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The 2D engine: what a stream must have said before an operation.

use super::{
    rule::{value, Rule},
    streams2d::*,
    support::*,
};
use r500::portable::{checker::Reason, pm4, regs::mmio};

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
    // A control word may or may not make the direction ascending.
    for direction in 0..3 {
        rules.push(Rule::new(Reason::NoDirection, &again, 1, direction).shows_at(again.here() - 1));
    }
}

/// What is said of the source counts as that of the destination does.
pub fn sources(rules: &mut Vec<Rule>) {
    let harmless = pm4::write(mmio::DP_SRC_FRGD_CLR, 1);
    // A corner serves one operation, be it a copy, a fill or a line.
    let corners = |stream: &mut Stream| stream.copy((0, 0), (0, 0), (4, 4)).here() - 6;
    let mut twice = copy().0;
    let at = corners(&mut twice);
    rules.push(Rule::new(Reason::NoSourceCorner, &twice, at, harmless).shows_at(at + 5));
    let mut filled = copy().0;
    filled.write(mmio::SRC_Y_X, 0);
    filled.write(
        mmio::DP_GUI_MASTER_CNTL,
        fill_control() | gui::SRC_PITCH_OFF.of(1),
    );
    filled.rectangle(0, 0, 1, 1);
    filled.write(mmio::DP_GUI_MASTER_CNTL, copy_control());
    let at = corners(&mut filled);
    rules.push(Rule::new(Reason::NoSourceCorner, &filled, at, harmless).shows_at(at + 5));
    let mut lined = copy().0;
    lined.write(mmio::SRC_Y_X, 0).write(mmio::DST_Y_X, 0);
    lined.write(
        mmio::DP_GUI_MASTER_CNTL,
        fill_control() | gui::SRC_PITCH_OFF.of(1),
    );
    lined.writes(mmio::DST_LINE_START, &[0, y_x(3, 3)]);
    lined.write(mmio::DP_GUI_MASTER_CNTL, copy_control());
    lined.write(mmio::DP_CNTL, FORWARD);
    let at = corners(&mut lined);
    rules.push(Rule::new(Reason::NoSourceCorner, &lined, at, harmless).shows_at(at + 5));
    rules.push(Rule::new(Reason::NoDestinationCorner, &lined, at + 2, harmless).shows_at(at + 5));
    // A control word that goes back to the default takes the source away, even if the next one does not.
    let mut again = Stream::new();
    again
        .copy_setup(256)
        .write(mmio::DP_GUI_MASTER_CNTL, copy_control());
    let control = value(&again);
    again.write(mmio::DP_GUI_MASTER_CNTL, copy_control());
    let at = corners(&mut again);
    rules.push(
        Rule::new(
            Reason::NoSource,
            &again,
            control,
            gui::SRC_PITCH_OFF.put(copy_control(), 0),
        )
        .shows_at(at + 5),
    );
}

/// Colour compare may read the source, even if the raster operation does not.
pub fn compare(rules: &mut Vec<Rule>) {
    let fill = fill();
    let on = gui::GMC_CLR_CMP_FCN_DIS.put(fill_control(), 0);
    // As another client has left it.
    rules.push(
        Rule::new(Reason::NoSourceCorner, &fill.stream, fill.control, on).shows_at(fill.size),
    );
    // A control word has switched it off, the next one may bring back what another client has left.
    let mut off = Stream::new();
    off.fill_setup(256, 0, 0)
        .write(mmio::DP_GUI_MASTER_CNTL, fill_control());
    let control = value(&off);
    off.rectangle(0, 0, 4, 4);
    rules.push(Rule::new(Reason::NoSourceCorner, &off, control, on).shows_at(value(&off)));
    // As the stream sets it, before a control word that says nothing of it, and between one that switches it off and
    // one that may switch it on again.
    for first in [fill_control(), on] {
        let mut stream = Stream::new();
        stream.fill_setup(256, 0, 0).write(mmio::CLR_CMP_CNTL, 0);
        let compare = value(&stream);
        stream
            .write(mmio::DP_GUI_MASTER_CNTL, first)
            .write(mmio::DP_GUI_MASTER_CNTL, on)
            .rectangle(0, 0, 4, 4);
        let size = value(&stream);
        for function in [1, 4, 5, 7] {
            rules
                .push(Rule::new(Reason::NoSourceCorner, &stream, compare, function).shows_at(size));
        }
    }
    // After one that switches it off.
    let mut last = Stream::new();
    last.fill_setup(256, 0, 0).write(mmio::CLR_CMP_CNTL, 0);
    let compare = value(&last);
    last.rectangle(0, 0, 4, 4);
    rules.push(Rule::new(Reason::NoSourceCorner, &last, compare, 4).shows_at(value(&last)));
}

pub fn lines(rules: &mut Vec<Rule>) {
    let harmless = pm4::write(mmio::DP_SRC_FRGD_CLR, 1);
    let line = line();
    let (control, start, end) = (line.control, line.start, line.end);
    let mut line = line.stream;
    let mut spoil =
        |reason, at, value| rules.push(Rule::new(reason, &line, at, value).shows_at(end));
    spoil(Reason::NoLineStart, start - 1, harmless);
    spoil(Reason::NoControl, control - 1, harmless);
    for (at, word) in [
        (control, gui::WIN31_ROP.put(fill_control(), 0xcc)),
        (control, gui::WIN31_ROP.put(fill_control(), 0x88)),
        // Colour compare as another client has left it.
        (control, gui::GMC_CLR_CMP_FCN_DIS.put(fill_control(), 0)),
    ] {
        spoil(Reason::SourceInLine, at, word);
    }
    spoil(
        Reason::NoDestination,
        control,
        gui::DST_PITCH_OFF.put(fill_control(), 0),
    );
    // Data that are not needed, but perhaps waited for.
    spoil(
        Reason::SourceNotFromHost,
        control,
        gui::SRC_LOAD.put(fill_control(), gui::src_load::HOST_DATA),
    );
    // A line serves once, and forgets the direction.
    let mut twice = line.clone();
    twice
        .write(mmio::DST_LINE_START, 0)
        .write(mmio::DST_LINE_END, 0);
    rules.push(Rule::new(Reason::NoLineStart, &twice, end + 1, harmless).shows_at(end + 4));
    line.write(mmio::DP_CNTL, FORWARD).rectangle(0, 0, 4, 4);
    rules.push(Rule::new(Reason::NoDirection, &line, end + 1, harmless).shows_at(line.here() - 1));
    // A rectangle uses the start of a line up.
    let mut between = Stream::new();
    between
        .fill_setup(256, 0, 0)
        .write(mmio::DST_LINE_START, 0)
        .rectangle(0, 0, 4, 4)
        .write(mmio::DST_LINE_START, 0)
        .write(mmio::DST_LINE_END, 0);
    let end = value(&between);
    rules.push(Rule::new(Reason::NoLineStart, &between, end - 3, harmless).shows_at(end));
}

/// Add the rules of pixels from the stream, or from memory, but not from where nothing is read.
pub fn places(rules: &mut Vec<Rule>) {
    let upload = host_data();
    let size = upload.here() - 5;
    for word in [
        // The data are not needed, and the manual does not say whether the engine waits for them.
        gui::WIN31_ROP.put(host_control(), 0xf0),
        gui::WIN31_ROP.put(host_control(), 0xaa),
    ] {
        rules.push(Rule::new(Reason::SourceNotFromHost, &upload, 3, word).shows_at(size));
    }
    // From memory, of which nothing has been said.
    rules.push(
        Rule::new(
            Reason::NoSourceCorner,
            &upload,
            3,
            gui::SRC_LOAD.put(host_control(), gui::src_load::MEMORY),
        )
        .shows_at(size),
    );
}
