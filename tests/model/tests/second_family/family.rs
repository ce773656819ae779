// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The family: one chip, `twin`, of two functions.
//!
//! | function | what it is |
//! | --- | --- |
//! | [`BRIDGE`] | a bridge: sixteen I/O ports, which are registers of its own; no MSI, no sleep, no ROM |
//! | [`DISPLAY`] | a display: registers in BAR0, doorbells in BAR2, MSI without re-arming; its power is the chip's |
//!
//! It has no memory of its own and no ring. Each client has an address space, which sees one page of guest RAM from
//! address 0 on. A write to the client's doorbell is the address of a command there: two dwords, the address to copy a
//! dword from and the one to copy it to. When a command has been executed, the display interrupts until `CONTROL.ACK`
//! is written.

use std::collections::VecDeque;

use lapidary_model::chip::{Chip, Options, Step};
use lapidary_model::fault::Fault;
use lapidary_model::kind::Kind;
use lapidary_model::machine::Machine;
use lapidary_model::pci::{Bar, BarKind, Capability, Facts, Msi, Window};
use lapidary_model::registers::{Class, Registers, Space, Touched, judge_read, judge_write};
use lapidary_model::{family, judge};
use lapidary_registers::{Access, Database, Domain, Field, FieldInfo, Register};

/// Number of the bridge.
pub const BRIDGE: usize = 0;
/// Number of the display.
pub const DISPLAY: usize = 1;
/// Where guest RAM lies on the bus.
pub const RAM: u64 = 0x10_0000;
/// Bytes of an address space, and of guest RAM behind it.
pub const PAGE: u64 = 0x1000;
/// Address spaces that clients can have, from 1 on.
pub const CLIENTS: u64 = 3;
/// Bytes of a doorbell.
pub const DOORBELL: u64 = 8;

/// Registers.
pub mod register {
    pub const STATUS: u32 = 0x0;
    pub const CONTROL: u32 = 0x4;
    pub const TIMER: u32 = 0x8;
    pub const GATE: u32 = 0x1000;
}

/// The interrupt has been seen.
pub const ACK: Field = Field::new(0, 0);

/// The kinds of misuse that it adds.
pub mod kind {
    pub use lapidary_model::kind::*;

    lapidary_model::kinds! { FAMILY;
        /// A doorbell that is no client's.
        DOORBELL_RANGE = "doorbell-range",
        /// A command that is not aligned to 8 bytes.
        COMMAND_ALIGNMENT = "command-alignment",
    }
}

/// The faults that it adds.
pub mod fault {
    lapidary_model::faults! {
        /// A doorbell is not heard.
        DEAF = "deaf",
    }
}

/// The units that access memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Fetch,
    Copy,
}

const fn word(name: &'static str, block: &'static str, offset: u32, access: Access) -> Register {
    Register {
        domain: Domain::MMIO,
        block,
        name,
        manual: name,
        offset,
        len: 1,
        stride: 4,
        access,
        default: None,
        doc: "",
        source: "",
        variants: &[],
        overlay_of: None,
        mirror_of: None,
        fields: &[],
    }
}

static DATABASE: Database = Database::new(
    "twin",
    &[Domain::MMIO],
    &[
        word("STATUS", "ENGINE", register::STATUS, Access::Read),
        Register {
            fields: &[FieldInfo {
                name: "ACK",
                field: ACK,
                default: None,
                doc: "",
                values: &[],
            }],
            ..word("CONTROL", "ENGINE", register::CONTROL, Access::ReadWrite)
        },
        word("TIMER", "ENGINE", register::TIMER, Access::ReadWrite),
        word("GATE", "BRIDGE", register::GATE, Access::ReadWrite),
    ],
    &[],
    &[],
    &[],
);

fn class(register: &Register) -> Option<Class> {
    Some(match register.name {
        "STATUS" | "CONTROL" => Class::Implemented,
        "GATE" => Class::Stored("nothing passes the bridge"),
        _ => Class::Missing,
    })
}

static REGISTERS: Registers = Registers {
    database: &DATABASE,
    class,
};

/// The family.
pub static FAMILY: family::Family = family::Family {
    name: "twin",
    registers: &REGISTERS,
    chips: || vec![&Entry],
};

struct Entry;

impl family::Entry for Entry {
    fn name(&self) -> &'static str {
        "twin"
    }

    fn build(&'static self, _: Options) -> Box<dyn Chip> {
        Box::new(Twin {
            registers: Space::new(&REGISTERS, "register", Domain::MMIO, "twin", 4, 0x800),
            queue: VecDeque::new(),
        })
    }

    fn functions(&self, _: Options, rom: Vec<u8>) -> Vec<Facts> {
        let bar = |index, size, kind, window| Bar {
            index,
            size,
            kind,
            window,
        };
        let registers = |first| Window::Registers { first, bytes: 0..0 };
        let bridge = Facts {
            vendor: 0x1106,
            device: 0x0409,
            class: 0x06_00_00,
            bars: vec![bar(0, 16, BarKind::Io, registers(register::GATE))],
            ..Facts::default()
        };
        let display = Facts {
            vendor: 0x1106,
            device: 0x5122,
            class: 0x03_00_00,
            bars: vec![
                bar(0, 0x1000, BarKind::Memory32, registers(0)),
                bar(2, 0x1000, BarKind::Memory64, Window::Doorbells),
            ],
            capabilities: vec![Capability::power(0x60), Capability::msi(0x90)],
            msi: Msi::Edge,
            rom,
            powers: true,
            ..Facts::default()
        };
        vec![bridge, display]
    }

    fn memory(&self, _: Options) -> u64 {
        0
    }

    fn image(&self, _: &str, _: Options) -> Option<Vec<u8>> {
        None
    }

    fn dump<'a>(&self, _: &'a [u8]) -> Result<&'a [u8], String> {
        Err("a twin has no ROM".into())
    }
}

/// The chip.
struct Twin {
    registers: Space,
    /// Commands that were announced: address space and address.
    queue: VecDeque<(u32, u64)>,
}

const CPU: Option<&str> = Some("the CPU");

impl Twin {
    /// Return the bus address behind an address of a space, if the unit may use it.
    fn translate(m: &mut Machine, unit: Unit, space: u32, address: u64, len: u64) -> Option<u64> {
        if unit == Unit::Copy && !m.in_object(space, address, len) {
            m.finding(
                kind::OUTSIDE_OBJECTS,
                format_args!("{unit:?} of {len} bytes at {space}:{address:#x}"),
            );
        }
        if !m.functions[DISPLAY].pci.bus_master() {
            m.finding(kind::BUS_MASTER_OFF, format_args!("{unit:?}"));
            return None;
        }
        (address + len <= PAGE).then_some(RAM + u64::from(space) * PAGE + address)
    }

    fn load(m: &mut Machine, unit: Unit, space: u32, address: u64) -> u32 {
        let mut word = [0xff; 4];
        let bus = Self::translate(m, unit, space, address, 4);
        if !bus.is_some_and(|bus| m.functions[DISPLAY].ram.read(bus, &mut word)) {
            m.finding(
                kind::DMA_FAULT,
                format_args!("{unit:?} reads {space}:{address:#x}"),
            );
        }
        u32::from_le_bytes(word)
    }

    fn store(m: &mut Machine, unit: Unit, space: u32, address: u64, value: u32) {
        let bus = Self::translate(m, unit, space, address, 4);
        let bytes = value.to_le_bytes();
        if !bus.is_some_and(|bus| m.functions[DISPLAY].ram.write(bus, &bytes)) {
            m.finding(
                kind::DMA_FAULT,
                format_args!("{unit:?} writes {space}:{address:#x}"),
            );
        }
    }
}

impl Chip for Twin {
    fn read(&mut self, m: &mut Machine, offset: u32) -> u32 {
        if !judge_read(m, &mut self.registers, offset, CPU) {
            return 0;
        }
        match offset {
            register::STATUS => self.queue.len() as u32,
            _ => self.registers.get(offset),
        }
    }

    fn write(&mut self, m: &mut Machine, offset: u32, value: u32, _: u32) {
        if !judge_write(m, &mut self.registers, offset, value, CPU) {
            return;
        }
        self.registers.set(offset, value);
        if offset == register::CONTROL && ACK.any(value) {
            m.interrupt(DISPLAY, false);
        }
    }

    fn doorbell_read(&mut self, _: &mut Machine, _: u64, data: &mut [u8]) {
        data.fill(0);
    }

    fn doorbell_write(&mut self, m: &mut Machine, offset: u64, data: &[u8]) {
        let space = offset / DOORBELL;
        if !(1..=CLIENTS).contains(&space) {
            m.finding(kind::DOORBELL_RANGE, format_args!("{offset:#x}"));
            return;
        }
        if m.faults.take(fault::DEAF) {
            return;
        }
        let mut address = [0; 8];
        address[..data.len().min(8)].copy_from_slice(&data[..data.len().min(8)]);
        let address = u64::from_le_bytes(address);
        if address % 8 != 0 {
            m.finding(kind::COMMAND_ALIGNMENT, format_args!("{address:#x}"));
        }
        self.queue.push_back((space as u32, address));
    }

    fn step(&mut self, m: &mut Machine) -> Step {
        let Some((space, address)) = self.queue.pop_front() else {
            return Step::Idle;
        };
        m.counters.add("commands", 1);
        m.judge.doing(Some(judge::Doing {
            stream: "client",
            address,
            header: space,
            name: |space| format!("copy of {space}"),
        }));
        let from = Self::load(m, Unit::Fetch, space, address);
        let to = Self::load(m, Unit::Fetch, space, address + 4);
        let value = Self::load(m, Unit::Copy, space, from.into());
        Self::store(m, Unit::Copy, space, to.into(), value);
        m.judge.doing(None);
        m.interrupt(DISPLAY, true);
        Step::More
    }

    fn reset(&mut self, m: &mut Machine) {
        self.lose_power(m);
    }

    fn busy(&self) -> bool {
        !self.queue.is_empty()
    }

    fn listens(&self) -> bool {
        false
    }

    fn lose_power(&mut self, m: &mut Machine) {
        self.registers.reset();
        self.queue.clear();
        m.functions[DISPLAY].irq.reset();
    }

    fn vram_read(&mut self, _: &mut Machine, _: u64, data: &mut [u8]) {
        data.fill(0xff);
    }

    fn vram_write(&mut self, _: &mut Machine, _: u64, _: &[u8]) {}

    fn faults(&self) -> &'static [Fault] {
        fault::ALL
    }

    fn peek(&self, _: &Machine, name: &str) -> Option<u32> {
        Some(self.registers.get(self.registers.find(name)?))
    }

    fn on_chip(&self, _: &str) -> Option<&[u32]> {
        None
    }

    fn touched(&self) -> Vec<Touched> {
        self.registers.touched()
    }

    fn describe(&self, offset: u32, value: u32) -> String {
        DATABASE.describe(Domain::MMIO, offset, value)
    }
}

/// Return the kinds as the report names them, for tests.
pub fn names(kinds: &[Kind]) -> Vec<&'static str> {
    kinds.iter().map(|k| k.name()).collect()
}
