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

/// 256 bytes a line, 64 pixels; the object has 256 lines.
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

/// A NOP of one dword between two fillers.
pub fn nop() -> Stream {
    let mut stream = Stream::new();
    stream
        .words(&[pm4::FILLER])
        .packet(op::NOP, &[pm4::FILLER])
        .words(&[pm4::FILLER]);
    stream
}

/// A copy by registers. Returns the indices of control, source corner and size.
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

/// A packet with SETTINGS and destination in entry 0, direction set before it. The body follows the surface.
pub fn packet(opcode: u8, control: u32, body: &[u32]) -> Stream {
    let mut all = vec![control];
    if gui::SRC_PITCH_OFF.any(control) {
        all.push(surface(256, 0));
    }
    all.push(surface(256, 0));
    all.extend_from_slice(body);
    let mut stream = Stream::new();
    stream.write(mmio::DP_CNTL, FORWARD).packet(opcode, &all);
    if gui::SRC_PITCH_OFF.any(control) {
        stream.marker(1);
    }
    stream.marker(0);
    stream
}

pub const CONTROL: usize = 3;

pub fn paint_multi(corner: u32, size: u32) -> Stream {
    packet(
        op::PAINT_MULTI,
        fill_control(),
        &[0x00ff_00ff, corner, size],
    )
}

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
