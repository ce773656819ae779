// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Tests of the whole engine, on a memory of its own.
//!
//! Most of them draw with pixels of one byte, so that a picture is a few lines of text and what is expected
//! can be written down by hand.

mod copies;
mod fills;
mod host;
mod lines;
mod properties;
mod settings;

use crate::kind;
use std::collections::HashMap;
use std::fmt;

use lapidary_registers::r500::mmio;
use lapidary_registers::r500::pm4::{gui_control as gui, op};

use super::super::engine2d_api::{Engine2d, Kind, Port, Unit};
use super::Engine;

/// Memory at GPU address 0, a register file, and what was found.
pub struct Fake {
    pub memory: Vec<u8>,
    pub registers: HashMap<u32, u32>,
    pub findings: Vec<(Kind, String)>,
    pub written: Vec<(u32, usize)>,
    pub trace: Vec<String>,
}

impl Port for Fake {
    fn read(&mut self, unit: Unit, address: u32, bytes: &mut [u8]) {
        assert_eq!(unit, Unit::Engine2d);
        match self
            .memory
            .get(address as usize..address as usize + bytes.len())
        {
            Some(from) => bytes.copy_from_slice(from),
            None => {
                bytes.fill(0xff);
                self.finding(kind::ADDRESS_UNMAPPED, format_args!("read {address:#x}"));
            }
        }
    }

    fn write(&mut self, unit: Unit, address: u32, bytes: &[u8]) {
        assert_eq!(unit, Unit::Engine2d);
        self.written.push((address, bytes.len()));
        match self
            .memory
            .get_mut(address as usize..address as usize + bytes.len())
        {
            Some(to) => to.copy_from_slice(bytes),
            None => self.finding(kind::ADDRESS_UNMAPPED, format_args!("write {address:#x}")),
        }
    }

    fn register(&self, offset: u32) -> u32 {
        self.registers.get(&offset).copied().unwrap_or(0)
    }

    fn set_register(&mut self, offset: u32, value: u32) {
        self.registers.insert(offset, value);
    }

    fn finding(&mut self, kind: Kind, detail: fmt::Arguments<'_>) {
        self.findings.push((kind, detail.to_string()));
    }

    fn trace(&mut self, line: fmt::Arguments<'_>) {
        self.trace.push(line.to_string());
    }

    fn count(&mut self, _name: &'static str, _n: u64) {}
}

/// An engine with its memory. The destination lies at 1 KiB, 64 bytes a row; a source for copies at 3 KiB, 64 bytes a
/// row.
pub struct Bench {
    pub engine: Engine,
    pub port: Fake,
}

pub const DESTINATION: u32 = 1 | (1 << 22);
pub const SOURCE: u32 = 3 | (1 << 22);

/// Return `GUI_CONTROL` for 8-bit pixels, with both surfaces in the packet, no write mask and no colour compare.
pub fn control(brush: u32, rop: u32, source_type: u32, source_load: u32) -> u32 {
    gui::SRC_PITCH_OFF.of(1)
        | gui::DST_PITCH_OFF.of(1)
        | gui::BRUSH_TYPE.of(brush)
        | gui::DST_TYPE.of(2)
        | gui::SRC_TYPE.of(source_type)
        | gui::WIN31_ROP.of(rop)
        | gui::SRC_LOAD.of(source_load)
        | gui::GMC_CLR_CMP_FCN_DIS.of(1)
        | gui::GMC_WR_MSK_DIS.of(1)
}

/// Return a solid fill by brush.
pub fn solid() -> u32 {
    control(13, 0xf0, 3, 0)
}

/// Return a plain copy in memory.
pub fn plain_copy() -> u32 {
    control(15, 0xcc, 3, 2)
}

/// Return x and y (or width and height) with the second one in the high half.
pub fn yx(x: i32, y: i32) -> u32 {
    (x as u32 & 0xffff) | ((y as u32) << 16)
}

/// Return the other way round.
pub fn xy(x: i32, y: i32) -> u32 {
    yx(y, x)
}

impl Bench {
    pub fn new() -> Bench {
        let port = Fake {
            memory: vec![b'.'; 1 << 16],
            registers: HashMap::new(),
            findings: Vec::new(),
            written: Vec::new(),
            trace: Vec::new(),
        };
        let mut bench = Bench {
            engine: Engine::default(),
            port,
        };
        bench.write(mmio::DEFAULT_SC_BOTTOM_RIGHT, 0x1fff_1fff);
        bench
    }

    /// Write a register as the core does.
    pub fn write(&mut self, offset: u32, value: u32) {
        self.port.set_register(offset, value);
        if self.engine.owns(offset) {
            self.engine.register_written(&mut self.port, offset, value);
        }
    }

    pub fn writes(&mut self, pairs: &[(u32, u32)]) {
        for &(offset, value) in pairs {
            self.write(offset, value);
        }
    }

    /// Execute a packet that begins with settings. Control and the two surfaces are put before `body`.
    pub fn packet(&mut self, opcode: u8, control: u32, body: &[u32]) {
        let mut words = vec![control];
        if gui::SRC_PITCH_OFF.get(control) != 0 {
            words.push(SOURCE);
        }
        if gui::DST_PITCH_OFF.get(control) != 0 {
            words.push(DESTINATION);
        }
        words.extend(body);
        self.raw(opcode, &words);
    }

    pub fn raw(&mut self, opcode: u8, body: &[u32]) {
        assert!(self.engine.is_packet(opcode));
        self.engine.packet(&mut self.port, opcode, body);
    }

    /// Return what is drawn, as text.
    pub fn picture(&self, width: usize, height: usize) -> Vec<String> {
        self.text(1024, width, height)
    }

    pub fn text(&self, at: usize, width: usize, height: usize) -> Vec<String> {
        let row = |y: usize| &self.port.memory[at + y * 64..][..width];
        (0..height)
            .map(|y| row(y).iter().map(|&b| char::from(b)).collect())
            .collect()
    }

    /// Put text into memory.
    pub fn put(&mut self, at: usize, rows: &[&str]) {
        for (y, row) in rows.iter().enumerate() {
            self.port.memory[at + y * 64..][..row.len()].copy_from_slice(row.as_bytes());
        }
    }

    /// Return the kinds found, in order, and forget them.
    pub fn found(&mut self) -> Vec<Kind> {
        std::mem::take(&mut self.port.findings)
            .into_iter()
            .map(|(kind, _)| kind)
            .collect()
    }

    #[track_caller]
    pub fn expect(&mut self, rows: &[&str]) {
        assert_eq!(self.port.findings, []);
        assert_eq!(self.picture(rows[0].len(), rows.len()), rows);
    }
}

#[test]
fn knows_its_packets_and_registers() {
    let engine = Engine::default();
    let mut packets: Vec<u8> = (0..=255).filter(|&n| engine.is_packet(n)).collect();
    packets.sort_unstable();
    // R5xx 5.2.1.
    let mut manual = [
        0x10, 0x91, 0x92, 0x94, 0x95, 0x98, 0x19, 0x9a, 0x9b, 0x9c, 0x1d, 0x1e, 0x2c,
    ];
    manual.sort_unstable();
    assert_eq!(packets, manual);
    for owned in [
        mmio::DST_HEIGHT_WIDTH,
        mmio::DP_GUI_MASTER_CNTL,
        mmio::HOST_DATA_LAST,
        mmio::DST_OFFSET,
    ] {
        assert!(engine.owns(owned));
    }
    for other in [
        mmio::WAIT_UNTIL,
        mmio::DSTCACHE_CTLSTAT,
        mmio::DP_WRITE_MASK,
        mmio::RBBM_STATUS,
        0x7ffc,
    ] {
        assert!(!engine.owns(other));
    }
    assert!((0..8).all(|n| engine.owns(mmio::HOST_DATA.at(n).unwrap())));
    assert!((0..8).all(|n| !engine.owns(mmio::SCRATCH_REG.at(n).unwrap())));
}

#[test]
fn nop_carries_anything() {
    let mut bench = Bench::new();
    bench.raw(op::NOP, &[0xdead_beef, 1, 2]);
    bench.raw(op::NOP, &[]);
    assert!(bench.found().is_empty() && bench.port.written.is_empty());
}

#[test]
fn operations_are_traced() {
    let mut bench = Bench::new();
    bench.packet(op::PAINT_MULTI, solid(), &[1, xy(2, 3), xy(4, 5)]);
    bench.packet(op::POLYLINE, solid(), &[1, yx(0, 0), yx(-3, 1)]);
    let surface = "0x00000400 (64 bytes a row, 1 a pixel, linear)";
    let clip = "clip (0, 0)..(8191, 8191)";
    assert_eq!(
        bench.port.trace,
        [
            format!("2d rectangle (2, 3)..(6, 8), {clip}, on {surface}, rop 0xf0, from the brush"),
            format!("2d line (0, 0) to (-3, 1), {clip}, on {surface}, rop 0xf0"),
        ]
    );
}
