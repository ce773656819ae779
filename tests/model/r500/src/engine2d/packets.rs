// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The 13 type-3 packets of R5xx 5.2.2.
//!
//! A packet is register writes in a compact form, and the model executes it so. Its words even have the layouts of
//! registers: `[SRC_X | SRC_Y]` is `SRC_X_Y`, `[BKGD] [FRGD] [BMP]` are consecutive registers, and so on.
//!
//! An opcode with bit 7 set begins with SETTINGS: `GUI_CONTROL`, which goes to `DP_GUI_MASTER_CNTL`, and the dwords
//! that its flags and its brush type announce. Settings stay in force after the packet, which is what `NEXTCHAR`,
//! `PLY_NEXTSCAN` and `SET_SCISSORS` rely on.
//!
//! A body that does not fit its opcode is a finding. What comes before the fault is executed, as the microcode
//! would, which takes dwords as they come.
//!
//! Decided: the bottom right corner of `PAINT` is the first pixel outside, like all such edges of this engine and the
//! Windows rectangles the packet was made for.

use crate::kind;
use lapidary_registers::r500::mmio;
use lapidary_registers::r500::pm4::{gui_control, op};

use super::super::engine2d_api::Port;
use super::brush::Brush;
use super::clip::Rect;
use super::registers::set_phase;
use super::scanline::{self, Malformed};
use super::state::{coordinate, pixel_bytes};
use super::{Engine, Host};

/// Return whether an opcode is one of the 13.
pub fn is_packet(opcode: u8) -> bool {
    matches!(
        opcode,
        op::NOP
            | op::PAINT
            | op::BITBLT
            | op::HOSTDATA_BLT
            | op::POLYLINE
            | op::POLYSCANLINES
            | op::NEXTCHAR
            | op::PAINT_MULTI
            | op::BITBLT_MULTI
            | op::TRANS_BITBLT
            | op::PLY_NEXTSCAN
            | op::SET_SCISSORS
            | op::LOAD_PALETTE
    )
}

/// Why a packet stops.
enum Fault {
    /// The body ends too early or goes on too long; where.
    Length(usize),
    /// Something in it is reserved.
    Reserved(&'static str),
}

impl From<Malformed> for Fault {
    fn from(at: Malformed) -> Fault {
        Fault::Length(at.0)
    }
}

/// Execute a packet.
pub fn execute(engine: &mut Engine, port: &mut dyn Port, opcode: u8, body: &[u32]) {
    if opcode == op::NOP {
        return;
    }
    port.count("engine2d_packets", 1);
    let mut packet = Packet {
        engine,
        port,
        body,
        at: 0,
    };
    let result = packet.run(opcode);
    packet.engine.abandon(packet.port);
    match result {
        Ok(()) => {}
        Err(Fault::Length(at)) => port.finding(
            kind::PACKET_LENGTH,
            format_args!(
                "packet {opcode:#04x}: body of {} dwords does not fit at dword {at}",
                body.len()
            ),
        ),
        Err(Fault::Reserved(what)) => {
            port.finding(
                kind::RESERVED_VALUE,
                format_args!("packet {opcode:#04x} with {what}"),
            );
        }
    }
}

struct Packet<'a> {
    engine: &'a mut Engine,
    port: &'a mut dyn Port,
    body: &'a [u32],
    at: usize,
}

impl<'a> Packet<'a> {
    fn run(&mut self, opcode: u8) -> Result<(), Fault> {
        match opcode {
            op::PAINT => {
                self.settings()?;
                self.some(2)?;
                while let [first, second] = *self.group::<2>()? {
                    let (left, top) = self.corner(first);
                    let (right, bottom) = self.corner(second);
                    self.paint(Rect {
                        left,
                        top,
                        right,
                        bottom,
                    });
                }
                Ok(())
            }
            op::PAINT_MULTI => {
                self.settings()?;
                self.some(2)?;
                while let [corner, size] = *self.group::<2>()? {
                    self.write(mmio::DST_X_Y, corner);
                    self.write(mmio::DST_WIDTH_HEIGHT, size);
                }
                Ok(())
            }
            op::BITBLT => {
                self.settings()?;
                self.copy()?;
                self.end()
            }
            op::BITBLT_MULTI => {
                self.settings()?;
                self.some(3)?;
                while !self.rest().is_empty() {
                    self.copy()?;
                }
                Ok(())
            }
            op::TRANS_BITBLT => {
                self.settings()?;
                for register in [
                    mmio::CLR_CMP_CNTL,
                    mmio::CLR_CMP_CLR_SRC,
                    mmio::CLR_CMP_CLR_DST,
                ] {
                    self.forward(register)?;
                }
                self.copy()?;
                self.end()
            }
            op::HOSTDATA_BLT => {
                self.settings()?;
                self.forward(mmio::DP_SRC_FRGD_CLR)?;
                self.forward(mmio::DP_SRC_BKGD_CLR)?;
                self.some(3)?;
                while !self.rest().is_empty() {
                    self.forward(mmio::DST_Y_X)?;
                    let size = self.next()?;
                    let count = self.next()?;
                    if count > 0x3fff {
                        return Err(Fault::Reserved("a NUMBER of more than 14 bits"));
                    }
                    self.bitmap(size, count as usize)?;
                }
                Ok(())
            }
            op::NEXTCHAR => {
                self.forward(mmio::DST_Y_X)?;
                let size = self.next()?;
                let count = self.rest().len();
                self.bitmap(size, count)
            }
            op::POLYLINE => {
                self.settings()?;
                self.some(2)?;
                let mut previous = self.next()?;
                for point in self.rest() {
                    self.port.set_register(mmio::DST_LINE_START, previous);
                    self.port.set_register(mmio::DST_LINE_END, *point);
                    self.engine
                        .line(self.port, mmio::DST_LINE_START, mmio::DST_LINE_END);
                    previous = *point;
                }
                let origin = self.port.register(mmio::BRUSH_Y_X);
                set_phase(self.port, mmio::brush_y_x::BRUSH_X.get(origin));
                Ok(())
            }
            op::POLYSCANLINES => {
                self.settings()?;
                let start = self.at;
                for rect in scanline::polyscanlines(self.rest()) {
                    self.paint(rect.map_err(|Malformed(n)| Malformed(start + n))?);
                }
                Ok(())
            }
            op::PLY_NEXTSCAN => {
                for rect in scanline::next_scan(self.body) {
                    self.paint(rect?);
                }
                Ok(())
            }
            op::SET_SCISSORS => {
                self.forward(mmio::SC_TOP_LEFT)?;
                self.forward(mmio::SC_BOTTOM_RIGHT)?;
                self.end()
            }
            op::LOAD_PALETTE => {
                let entries = match self.next()? {
                    1 => 16,
                    2 => 256,
                    _ => return Err(Fault::Reserved("a reserved SCALE_DATATYPE")),
                };
                let colours = self
                    .rest()
                    .get(..entries)
                    .ok_or(Fault::Length(self.body.len()))?;
                self.engine.palette = colours.to_vec();
                self.at += entries;
                self.end()
            }
            _ => Err(Fault::Reserved("no 2D opcode")),
        }
    }

    /// Take the SETTINGS at the beginning of the body.
    fn settings(&mut self) -> Result<(), Fault> {
        let control = self.next()?;
        let on = |field: lapidary_registers::Field| field.get(control) != 0;
        let bytes = pixel_bytes(gui_control::DST_TYPE.get(control));
        let brush = gui_control::BRUSH_TYPE.get(control);
        // Only the colour tile needs to know the pixel size.
        let brush_dwords = match bytes {
            None if brush == 10 => {
                return Err(Fault::Reserved("a colour brush of a reserved DST_TYPE"));
            }
            _ => Brush::packet_dwords(brush, bytes.unwrap_or(1)),
        }
        .ok_or(Fault::Reserved("a reserved BRUSH_TYPE"))?;

        self.write(mmio::DP_GUI_MASTER_CNTL, control);
        if on(gui_control::SRC_PITCH_OFF) {
            self.forward(mmio::SRC_PITCH_OFFSET)?;
        }
        if on(gui_control::DST_PITCH_OFF) {
            self.forward(mmio::DST_PITCH_OFFSET)?;
        }
        if on(gui_control::SRC_CLIPPING) {
            self.forward(mmio::SRC_SC_BOTTOM_RIGHT)?;
        }
        if on(gui_control::DST_CLIPPING) {
            self.forward(mmio::SC_TOP_LEFT)?;
            self.forward(mmio::SC_BOTTOM_RIGHT)?;
        }
        if matches!(brush, 0 | 6) {
            self.forward(mmio::DP_BRUSH_BKGD_CLR)?;
        }
        if matches!(brush, 0 | 1 | 6 | 7 | 13 | 14) {
            self.forward(mmio::DP_BRUSH_FRGD_CLR)?;
        }
        let colours = match brush {
            0 | 6 => 2,
            1 | 7 | 13 | 14 => 1,
            _ => 0,
        };
        for n in 0..brush_dwords - colours {
            let value = self.next()?;
            // A brush has at most as many dwords as the array.
            if let Some(register) = mmio::BRUSH_DATA.at(n as u32) {
                self.write(register, value);
            }
        }
        if on(gui_control::BRUSH_FLAG) {
            self.forward(mmio::BRUSH_Y_X)?;
        }
        Ok(())
    }

    /// Make one copy, by `[SRC_X | SRC_Y] [DST_X | DST_Y] [W | H]`.
    fn copy(&mut self) -> Result<(), Fault> {
        let &[source, destination, size] =
            self.rest().first_chunk().ok_or(Fault::Length(self.at))?;
        self.at += 3;
        self.write(mmio::SRC_X_Y, source);
        self.write(mmio::DST_X_Y, destination);
        self.write(mmio::DST_WIDTH_HEIGHT, size);
        Ok(())
    }

    /// Draw a bitmap of `count` dwords whose corner has been set.
    fn bitmap(&mut self, size: u32, count: usize) -> Result<(), Fault> {
        let data = self
            .rest()
            .get(..count)
            .ok_or(Fault::Length(self.body.len()))?;
        self.at += count;
        self.write(mmio::DST_HEIGHT_WIDTH, size);
        let waits = matches!(self.engine.host, Host::Waiting(_));
        let source = mmio::dp_mix::DP_SRC_SOURCE.get(self.port.register(mmio::DP_MIX));
        if !waits && !matches!(source, 3 | 4) {
            return Err(Fault::Reserved("a SRC_LOAD other than host data"));
        }
        let (width, height) = super::state::size(self.port);
        if !waits && width != 0 && height != 0 {
            // Refused, for a reason that has been reported.
            return Ok(());
        }
        for (n, &dword) in data.iter().enumerate() {
            let last = n + 1 == data.len();
            self.engine.host_data(self.port, dword, last);
        }
        self.engine.abandon(self.port);
        Ok(())
    }

    /// Return a word with y in the high and x in the low half.
    fn corner(&mut self, word: u32) -> (i32, i32) {
        let ((x, x_good), (y, y_good)) = (coordinate(word), coordinate(word >> 16));
        if !x_good || !y_good {
            self.port.finding(
                kind::RESERVED_VALUE,
                format_args!("coordinate word {word:#010x} is outside of -8192..8191"),
            );
        }
        (x, y)
    }

    /// Fill a rectangle with the brush, by the registers.
    fn paint(&mut self, area: Rect) {
        let width = u32::try_from(area.right - area.left).unwrap_or(0);
        let height = u32::try_from(area.bottom - area.top).unwrap_or(0);
        if width == 0 || height == 0 {
            return;
        }
        // Coordinates have 14 bits, and sizes are at most 2^14 - 1, so both halves fit.
        let word = |low: i32, high: i32| (low as u32 & 0xffff) | ((high as u32 & 0xffff) << 16);
        self.write(mmio::DST_Y_X, word(area.left, area.top));
        self.write(mmio::DST_HEIGHT_WIDTH, width | (height << 16));
    }

    fn rest(&self) -> &'a [u32] {
        self.body.get(self.at..).unwrap_or(&[])
    }

    fn next(&mut self) -> Result<u32, Fault> {
        let value = *self.rest().first().ok_or(Fault::Length(self.at))?;
        self.at += 1;
        Ok(value)
    }

    /// Return the next N dwords, or an empty slice at the end of the body.
    fn group<const N: usize>(&mut self) -> Result<&'a [u32], Fault> {
        let rest = self.rest();
        if rest.is_empty() {
            return Ok(rest);
        }
        let group = rest.get(..N).ok_or(Fault::Length(self.body.len()))?;
        self.at += N;
        Ok(group)
    }

    /// Check that at least N dwords follow.
    fn some(&self, n: usize) -> Result<(), Fault> {
        if self.rest().len() < n {
            Err(Fault::Length(self.body.len()))
        } else {
            Ok(())
        }
    }

    /// Check that nothing follows.
    fn end(&self) -> Result<(), Fault> {
        if self.rest().is_empty() {
            Ok(())
        } else {
            Err(Fault::Length(self.at))
        }
    }

    /// Write the next dword to a register.
    fn forward(&mut self, register: u32) -> Result<(), Fault> {
        let value = self.next()?;
        self.write(register, value);
        Ok(())
    }

    fn write(&mut self, register: u32, value: u32) {
        self.engine.write(self.port, register, value);
    }
}
