// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Which bytes a stream touches, computed by brute force.
//!
//! A second reading of the manual (R5xx 2, 5.1) that shares nothing with the checker but the names of registers. It is
//! an engine that executes a placed stream pixel row by pixel row and reports every range of bytes. Its registers start
//! with the worst values that another client could have left. Where the hardware's behaviour is open it takes the
//! choice that touches more, or memory further away: edges are inclusive, an operation moves corners far away, a line
//! reverses the direction, coordinates wrap at 14 bits.

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

/// What the manual leaves open and the choices of [`execute`] have no worse one of: a stream must be safe with each.
#[derive(Clone, Copy, Debug)]
pub struct ControlReading {
    /// A control word makes the direction ascending.
    control_sets_direction: bool,
    /// Bits of a control word hide registers until another control word shows them again, instead of writing them.
    control_hides: bool,
}

impl ControlReading {
    pub const ALL: [Self; 4] = [
        Self::of(false, false),
        Self::of(false, true),
        Self::of(true, false),
        Self::of(true, true),
    ];

    const fn of(control_sets_direction: bool, control_hides: bool) -> Self {
        Self {
            control_sets_direction,
            control_hides,
        }
    }
}

/// Another client's memory.
const FOREIGN: u32 = 0x0020_0000 | (1 << 22);

struct Engine<'a> {
    registers: HashMap<u32, u32>,
    report: &'a mut dyn FnMut(Touch),
    packet: usize,
    reading: ControlReading,
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
        let control = self.registers[&mmio::DP_GUI_MASTER_CNTL];
        match self.by_control(control, register) {
            Some(value) if self.reading.control_hides => value,
            _ => self.registers[&register],
        }
    }

    /// Return what a control word says of another register in place of that register.
    fn by_control(&self, control: u32, register: u32) -> Option<u32> {
        let (bit, inverted, value) = match register {
            mmio::SRC_PITCH_OFFSET => (0, false, FOREIGN),
            mmio::DST_PITCH_OFFSET => (1, false, FOREIGN),
            mmio::SC_TOP_LEFT => (3, false, 0),
            mmio::SC_BOTTOM_RIGHT => (3, false, 0x1fff_1fff),
            mmio::CLR_CMP_CNTL => (28, true, 0),
            _ => return None,
        };
        (((control >> bit) & 1 != 0) == inverted).then_some(value)
    }

    fn set(&mut self, register: u32, value: u32) {
        self.registers.insert(register, value);
    }

    fn write_register(&mut self, register: u32, value: u32) {
        self.set(register, value);
        match register {
            mmio::DP_GUI_MASTER_CNTL => {
                if self.reading.control_sets_direction {
                    self.set(mmio::DP_CNTL, 3);
                }
                for other in [
                    mmio::SRC_PITCH_OFFSET,
                    mmio::DST_PITCH_OFFSET,
                    mmio::SC_TOP_LEFT,
                    mmio::SC_BOTTOM_RIGHT,
                    mmio::CLR_CMP_CNTL,
                ] {
                    if let Some(value) = self.by_control(value, other) {
                        if !self.reading.control_hides {
                            self.set(other, value);
                        }
                    }
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
                assert!(self.waiting_for > 1, "no operation waits for host data");
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

    /// Return the columns or rows from a corner. More than the engine can count wraps and goes everywhere.
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
}

/// Execute a placed stream; return the number of operations.
///
/// Panics on what a checked stream cannot contain.
pub fn execute(words: &[u32], reading: ControlReading, report: &mut dyn FnMut(Touch)) -> usize {
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
        reading,
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
            // What is no register write can only be a NOP.
            3 if (header >> 8) & 0xff == 0x10 => at += count,
            _ => panic!("packet {header:#x} in a checked stream"),
        }
    }
    assert_eq!(
        engine.waiting_for, 0,
        "the engine still waits for host data"
    );
    engine.operations
}
