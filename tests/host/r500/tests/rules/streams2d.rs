// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Streams of the 2D engine that rules start from.

use super::{rule::value, support::*};
use r500::portable::{
    pm4,
    regs::{mmio, pm4::op},
};

/// A fill by registers, and where its parts are.
pub struct Fill {
    pub stream: Stream,
    pub direction: usize,
    pub control: usize,
    pub surface: usize,
    pub marker: usize,
    pub corner: usize,
    pub size: usize,
}

/// Return a fill with 256 bytes a line, 64 pixels. The object has 256 lines.
pub fn fill() -> Fill {
    let mut stream = Stream::new();
    stream.write(mmio::DP_GUI_MASTER_CNTL, fill_control());
    let control = value(&stream);
    stream.write(mmio::DP_CNTL, FORWARD);
    let direction = value(&stream);
    stream.write(mmio::DST_PITCH_OFFSET, surface(256, 0));
    let surface = value(&stream);
    stream.marker(0);
    let marker = value(&stream);
    stream.write(mmio::DST_Y_X, y_x(0, 0));
    let corner = value(&stream);
    stream.write(mmio::DST_HEIGHT_WIDTH, y_x(256, 64));
    let size = value(&stream);
    Fill {
        stream,
        direction,
        control,
        surface,
        marker,
        corner,
        size,
    }
}

/// Return a NOP of one dword between two fillers.
pub fn nop() -> Stream {
    let mut stream = Stream::new();
    stream
        .words(&[pm4::FILLER])
        .packet(op::NOP, &[pm4::FILLER])
        .words(&[pm4::FILLER]);
    stream
}

/// Return a copy by registers, and the indices of control, source corner and size.
pub fn copy() -> (Stream, usize, usize, usize) {
    let mut stream = Stream::new();
    stream.copy_setup(256);
    let control = 3;
    stream.write(mmio::SRC_Y_X, y_x(0, 0));
    let corner = value(&stream);
    stream
        .write(mmio::DST_Y_X, y_x(0, 0))
        .write(mmio::DST_HEIGHT_WIDTH, y_x(16, 16));
    let size = value(&stream);
    (stream, control, corner, size)
}

/// A line by registers, within the 64 by 256 pixels of [`fill`].
pub struct Line {
    pub stream: Stream,
    pub control: usize,
    pub start: usize,
    pub end: usize,
}

pub fn line() -> Line {
    let mut stream = Stream::new();
    stream.fill_setup(256, 0, 0);
    let control = 3;
    stream.write(mmio::DST_LINE_START, y_x(1, 1));
    let start = value(&stream);
    stream.write(mmio::DST_LINE_END, y_x(9, 30));
    let end = value(&stream);
    Line {
        stream,
        control,
        start,
        end,
    }
}

/// Return monochrome pixels from the stream, 32 by 2 of them. The parts of a rectangle and its data come in their
/// order.
pub fn host_data() -> Stream {
    let mut stream = Stream::new();
    stream
        .write(mmio::DP_CNTL, FORWARD)
        .write(mmio::DP_GUI_MASTER_CNTL, host_control())
        .write(mmio::DST_PITCH_OFFSET, surface(256, 0))
        .marker(0)
        .rectangle(0, 0, 32, 2)
        .writes(mmio::HOST_DATA.at(0).unwrap(), &[1])
        .write(mmio::HOST_DATA_LAST, pm4::FILLER);
    stream
}
