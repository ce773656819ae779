// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Which bytes a stream touches, computed by brute force.
//!
//! A second reading of the manual (R5xx 2, 5.1, 5.2.2) that shares nothing with the checker but the names of
//! registers: an engine whose registers start with the worst that another client could have left in them,
//! which executes a placed stream pixel row by pixel row and reports every range of bytes. Where the
//! hardware's behaviour is open it takes the choice that touches more or goes further astray: edges are
//! inclusive, corners are moved far away by an operation, a line turns the direction round, coordinates wrap
//! at 14 bits.

use std::collections::HashMap;

use r500::portable::regs::mmio;

/// A range of GPU addresses that an operation touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touch {
    pub start: u64,
    pub end: u64,
    pub write: bool,
    /// Index of the dword that started the operation's packet.
    pub packet: usize,
}

/// Another client's memory.
const FOREIGN: u32 = 0x0020_0000 | (1 << 22);

struct Engine<'a> {
    registers: HashMap<u32, u32>,
    report: &'a mut dyn FnMut(Touch),
    packet: usize,
    /// Whether a control word makes the direction ascending; both readings must be safe.
    control_sets_direction: bool,
    /// Operations so far.
    operations: usize,
    /// Dwords of host data that the engine still waits for.
    waiting_for: u64,
}

#[derive(Clone, Copy, Debug)]
struct Rows {
    x0: i64,
    x1: i64,
    y0: i64,
    y1: i64,
}

fn signed14(value: u32) -> i64 {
    let value = i64::from(value & 0x3fff);
    if value >= 0x2000 {
        value - 0x4000
    } else {
        value
    }
}

impl Engine<'_> {
    fn get(&self, register: u32) -> u32 {
        self.registers[&register]
    }

    fn set(&mut self, register: u32, value: u32) {
        self.registers.insert(register, value);
    }

    fn write_register(&mut self, register: u32, value: u32) {
        self.set(register, value);
        match register {
            mmio::DP_GUI_MASTER_CNTL => {
                if self.control_sets_direction {
                    self.set(mmio::DP_CNTL, 3);
                }
                if value & 1 == 0 {
                    self.set(mmio::SRC_PITCH_OFFSET, FOREIGN);
                }
                if value & 2 == 0 {
                    self.set(mmio::DST_PITCH_OFFSET, FOREIGN);
                }
                if value & 8 == 0 {
                    self.set(mmio::SC_TOP_LEFT, 0);
                    self.set(mmio::SC_BOTTOM_RIGHT, 0x1fff_1fff);
                }
                if value & (1 << 28) != 0 {
                    self.set(mmio::CLR_CMP_CNTL, 0);
                }
            }
            mmio::DST_HEIGHT_WIDTH => self.rectangle(value & 0xffff, value >> 16),
            mmio::DST_WIDTH_HEIGHT => self.rectangle(value >> 16, value & 0xffff),
            mmio::DST_LINE_END => {
                let start = self.get(mmio::DST_LINE_START);
                self.line(start, value);
            }
            // What it does to the other form of the same bits is open.
            mmio::DP_CNTL_XDIR_YDIR_YMAJOR => {
                let direction = self.get(mmio::DP_CNTL);
                self.set(mmio::DP_CNTL, direction ^ 3);
            }
            mmio::HOST_DATA_LAST => {
                assert_eq!(
                    self.waiting_for, 1,
                    "the last dword comes at the wrong time"
                );
                self.waiting_for = 0;
            }
            _ if mmio::HOST_DATA.index_of(register).is_some() => {
                assert!(self.waiting_for > 1, "nobody waits for host data");
                self.waiting_for -= 1;
            }
            _ => {}
        }
    }

    fn astray(&mut self) {
        self.operations += 1;
        for register in [mmio::DST_Y_X, mmio::SRC_Y_X, mmio::DST_LINE_START] {
            self.set(register, 0x1f00_1f00);
        }
    }

    fn bits(&self) -> u64 {
        match (self.get(mmio::DP_GUI_MASTER_CNTL) >> 8) & 0xf {
            2 => 8,
            3 | 4 => 16,
            _ => 32,
        }
    }

    fn source_bits(&self) -> u64 {
        match (self.get(mmio::DP_GUI_MASTER_CNTL) >> 12) & 3 {
            0 | 1 => 1,
            _ => self.bits(),
        }
    }

    fn reads_source(&self) -> bool {
        let rop = (self.get(mmio::DP_GUI_MASTER_CNTL) >> 16) & 0xff;
        // All eight combinations of pattern, source and destination, source flipped.
        let by_rop = (0..8).any(|i| ((rop >> i) ^ (rop >> (i ^ 2))) & 1 != 0);
        by_rop || self.get(mmio::CLR_CMP_CNTL) & 7 != 0
    }

    fn source_in_memory(&self) -> bool {
        (self.get(mmio::DP_GUI_MASTER_CNTL) >> 24) & 7 == 2
    }

    /// Columns or rows from a corner; more than the engine can count wraps and goes everywhere.
    fn extent(start: i64, length: u32, forward: bool) -> (i64, i64) {
        let length = i64::from(if length & 0x3fff == 0 {
            0x4000
        } else {
            length & 0x3fff
        });
        let (a, b) = if forward {
            (start, start + length - 1)
        } else {
            (start - length + 1, start)
        };
        if a < -0x2000 || b > 0x1fff {
            (-0x2000, 0x1fff)
        } else {
            (a, b)
        }
    }

    fn area(&self, corner: u32, width: u32, height: u32) -> Rows {
        let direction = self.get(mmio::DP_CNTL);
        let (x0, x1) = Self::extent(signed14(corner), width, direction & 1 != 0);
        let (y0, y1) = Self::extent(signed14(corner >> 16), height, direction & 2 != 0);
        Rows { x0, x1, y0, y1 }
    }

    fn rectangle(&mut self, width: u32, height: u32) {
        let destination = self.area(self.get(mmio::DST_Y_X), width, height);
        if self.reads_source() {
            if self.source_in_memory() {
                let source = self.area(self.get(mmio::SRC_Y_X), width, height);
                self.touch_source(source);
            } else {
                let columns = (destination.x1 - destination.x0 + 1) as u64;
                let lines = (destination.y1 - destination.y0 + 1) as u64;
                // Rows that begin at bytes, or all bits in a run.
                let bits = if (self.get(mmio::DP_GUI_MASTER_CNTL) >> 24) & 7 == 4 {
                    (columns * self.source_bits()).next_multiple_of(8) * lines
                } else {
                    columns * self.source_bits() * lines
                };
                self.waiting_for = bits.div_ceil(32);
            }
        }
        self.touch_destination(destination);
        self.astray();
    }

    fn line(&mut self, from: u32, to: u32) {
        if self.reads_source() && self.source_in_memory() {
            self.touch_source(Rows {
                x0: 0x1fff,
                x1: 0x1fff,
                y0: 0x1fff,
                y1: 0x1fff,
            });
        }
        let (xa, ya) = (signed14(from), signed14(from >> 16));
        let (xb, yb) = (signed14(to), signed14(to >> 16));
        // Every pixel of a line, one step of the major axis at a time, with a neighbour on both sides
        // for whatever rounding there is, never outside the box of the ends.
        let steps = (xb - xa).abs().max((yb - ya).abs());
        for i in 0..=steps {
            let x = xa + if steps == 0 { 0 } else { (xb - xa) * i / steps };
            let y = ya + if steps == 0 { 0 } else { (yb - ya) * i / steps };
            self.touch_destination(Rows {
                x0: (x - 1).max(xa.min(xb)),
                x1: (x + 1).min(xa.max(xb)),
                y0: (y - 1).max(ya.min(yb)),
                y1: (y + 1).min(ya.max(yb)),
            });
        }
        let direction = self.get(mmio::DP_CNTL);
        self.set(mmio::DP_CNTL, direction ^ 3);
        self.astray();
    }

    fn touch_destination(&mut self, mut rows: Rows) {
        if self.get(mmio::DP_GUI_MASTER_CNTL) & 8 != 0 {
            let edge = |value: u32, open: i64| match value & 0xffff {
                0..=0x1fff => i64::from(value & 0x1fff),
                _ => open,
            };
            let (top_left, bottom_right) =
                (self.get(mmio::SC_TOP_LEFT), self.get(mmio::SC_BOTTOM_RIGHT));
            let (left, top) = (edge(top_left, -0x2000), edge(top_left >> 16, -0x2000));
            let (right, bottom) = (edge(bottom_right, 0x1fff), edge(bottom_right >> 16, 0x1fff));
            if left <= right && top <= bottom {
                rows.x0 = rows.x0.max(left);
                rows.y0 = rows.y0.max(top);
                rows.x1 = rows.x1.min(right);
                rows.y1 = rows.y1.min(bottom);
            }
        }
        self.touch(mmio::DST_PITCH_OFFSET, rows, self.bits(), true);
    }

    fn touch_source(&mut self, rows: Rows) {
        self.touch(mmio::SRC_PITCH_OFFSET, rows, self.source_bits(), false);
    }

    fn touch(&mut self, register: u32, rows: Rows, bits: u64, write: bool) {
        let word = self.get(register);
        let base = u64::from(word & 0x3f_ffff) * 1024;
        let pitch = u64::from((word >> 22) & 0xff) * 64;
        let (macro_tiled, micro_tiled) = ((word >> 30) & 1 != 0, (word >> 31) & 1 != 0);
        for y in rows.y0..=rows.y1 {
            if rows.x0 > rows.x1 {
                break;
            }
            if rows.x0 < 0 || y < 0 {
                // Below the surface, modulo 4 GiB.
                (self.report)(Touch {
                    start: 0xffff_f000,
                    end: 0xffff_f001,
                    write,
                    packet: self.packet,
                });
                continue;
            }
            let (x0, x1, y) = (rows.x0 as u64, rows.x1 as u64, y as u64);
            if !macro_tiled && !micro_tiled {
                (self.report)(Touch {
                    start: base + y * pitch + x0 * bits / 8,
                    end: base + y * pitch + ((x1 + 1) * bits).div_ceil(8),
                    write,
                    packet: self.packet,
                });
                continue;
            }
            // Both shapes of 16-bit micro-blocks count.
            let shapes: &[u64] = match (micro_tiled, bits) {
                (false, _) => &[1],
                (true, 16) => &[2, 4],
                (true, 32) => &[2],
                (true, _) => &[4],
            };
            for micro_height in shapes {
                let micro_width = 32 / micro_height; // bytes
                for column in x0 * bits / 8 / micro_width
                    ..=((x1 + 1) * bits).div_ceil(8).saturating_sub(1) / micro_width
                {
                    let (bx, by) = (column, y / micro_height);
                    let block = if macro_tiled {
                        let macros_in_row = pitch / (8 * micro_width);
                        let number = by / 8 * macros_in_row + bx / 8;
                        number * 64 + by % 8 * 8 + bx % 8
                    } else {
                        by * (pitch / micro_width) + bx
                    };
                    (self.report)(Touch {
                        start: base + block * 32,
                        end: base + block * 32 + 32,
                        write,
                        packet: self.packet,
                    });
                }
            }
        }
    }

    /// Settings of a type-3 packet; returns how many dwords they take.
    fn settings(&mut self, body: &[u32]) -> usize {
        let word = body[0];
        let mut at = 1;
        self.write_register(mmio::DP_GUI_MASTER_CNTL, word);
        for (bit, register) in [(0, mmio::SRC_PITCH_OFFSET), (1, mmio::DST_PITCH_OFFSET)] {
            if (word >> bit) & 1 != 0 {
                self.set(register, body[at]);
                at += 1;
            }
        }
        if word & 4 != 0 {
            at += 1;
        }
        if word & 8 != 0 {
            self.set(mmio::SC_TOP_LEFT, body[at]);
            self.set(mmio::SC_BOTTOM_RIGHT, body[at + 1]);
            at += 2;
        }
        at += match (word >> 4) & 0xf {
            0 => 4,
            1 | 6 => 3,
            7 => 2,
            10 => 2 * self.bits() as usize,
            13 | 14 => 1,
            _ => 0,
        };
        at + (word >> 31) as usize
    }

    fn rect(&mut self, corner_y_x: u32, width: u32, height: u32) {
        self.set(mmio::DST_Y_X, corner_y_x);
        self.rectangle(width, height);
    }

    fn packet3(&mut self, opcode: u32, body: &[u32]) {
        let mut at = 0;
        if opcode & 0x80 != 0 {
            at = self.settings(body);
        }
        let rest = &body[at..];
        match opcode {
            0x91 => {
                for pair in rest.chunks_exact(2) {
                    let (x0, y0) = (pair[0] & 0xffff, pair[0] >> 16);
                    let (x1, y1) = (pair[1] & 0xffff, pair[1] >> 16);
                    let width = x1.wrapping_sub(x0).wrapping_add(1) & 0xffff;
                    let height = y1.wrapping_sub(y0).wrapping_add(1) & 0xffff;
                    self.rect(pair[0], width, height);
                }
            }
            0x9a => {
                for pair in rest.chunks_exact(2) {
                    self.rect(pair[0].rotate_left(16), pair[1] >> 16, pair[1] & 0xffff);
                }
            }
            0x92 | 0x9b | 0x9c => {
                let triples = if opcode == 0x9c {
                    self.set(mmio::CLR_CMP_CNTL, rest[0]);
                    &rest[3..]
                } else {
                    rest
                };
                for triple in triples.chunks_exact(3) {
                    // The copy reads its source whatever the raster operation makes of it.
                    let (width, height) = (triple[2] >> 16, triple[2] & 0xffff);
                    let source = self.area(triple[0].rotate_left(16), width, height);
                    self.touch_source(source);
                    self.set(mmio::SRC_Y_X, triple[0].rotate_left(16));
                    self.rect(triple[1].rotate_left(16), width, height);
                }
            }
            0x94 => {
                let mut rest = &rest[2..];
                while let [corner, size, number, ..] = *rest {
                    self.rect(corner, size & 0xffff, size >> 16);
                    assert_eq!(
                        self.waiting_for,
                        u64::from(number),
                        "another amount of data"
                    );
                    self.waiting_for = 0;
                    rest = &rest[3 + number as usize..];
                }
            }
            0x19 => {
                self.rect(rest[0], rest[1] & 0xffff, rest[1] >> 16);
                assert_eq!(
                    self.waiting_for,
                    rest.len() as u64 - 2,
                    "another amount of data"
                );
                self.waiting_for = 0;
            }
            0x95 => {
                for pair in rest.windows(2) {
                    self.line(pair[0], pair[1]);
                }
            }
            0x98 => {
                let mut rest = &rest[1..];
                while let [spans, band, ..] = *rest {
                    let spans = spans as usize;
                    for segment in &rest[2..2 + spans] {
                        self.span(band, *segment);
                    }
                    rest = &rest[2 + spans..];
                }
            }
            0x1d => {
                for segment in &rest[1..] {
                    self.span(rest[0], *segment);
                }
            }
            0x1e => {
                self.set(mmio::SC_TOP_LEFT, rest[0]);
                self.set(mmio::SC_BOTTOM_RIGHT, rest[1]);
            }
            0x10 => {}
            _ => panic!("packet {opcode:#x} in a checked stream"),
        }
    }

    fn span(&mut self, band: u32, segment: u32) {
        let (start, stop) = (segment & 0xffff, segment >> 16);
        let width = stop.wrapping_sub(start).wrapping_add(1) & 0xffff;
        self.rect((band << 16) | start, width, band >> 16);
    }
}

/// Executes a placed stream; returns the number of operations.
///
/// Panics on what a checked stream cannot contain.
pub fn execute(
    words: &[u32],
    control_sets_direction: bool,
    report: &mut dyn FnMut(Touch),
) -> usize {
    let mut registers = HashMap::new();
    for (register, value) in [
        (mmio::DP_GUI_MASTER_CNTL, 0x0acc_3603),
        (mmio::DST_PITCH_OFFSET, FOREIGN),
        (mmio::SRC_PITCH_OFFSET, FOREIGN),
        (mmio::DST_Y_X, 0x1f00_1f00),
        (mmio::SRC_Y_X, 0x1f00_1f00),
        (mmio::DST_LINE_START, 0x1f00_1f00),
        (mmio::DP_CNTL, 0),
        (mmio::SC_TOP_LEFT, 0),
        (mmio::SC_BOTTOM_RIGHT, 0x1fff_1fff),
        (mmio::CLR_CMP_CNTL, 0x0200_0404),
    ] {
        registers.insert(register, value);
    }
    let mut engine = Engine {
        registers,
        report,
        packet: 0,
        control_sets_direction,
        operations: 0,
        waiting_for: 0,
    };
    let mut at = 0;
    while at < words.len() {
        let header = words[at];
        engine.packet = at;
        at += 1;
        let count = ((header >> 16) & 0x3fff) as usize + 1;
        match header >> 30 {
            0 => {
                for i in 0..count {
                    let step = if (header >> 15) & 1 != 0 { 0 } else { i as u32 };
                    engine.write_register(((header & 0x1fff) + step) * 4, words[at + i]);
                }
                at += count;
            }
            2 => {}
            3 => {
                engine.packet3((header >> 8) & 0xff, &words[at..at + count]);
                at += count;
            }
            _ => panic!("type-1 packet in a checked stream"),
        }
    }
    assert_eq!(
        engine.waiting_for, 0,
        "the engine still waits for host data"
    );
    engine.operations
}
