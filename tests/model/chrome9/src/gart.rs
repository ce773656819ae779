// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The sequencer's registers and the GART behind them (decision 10): pages of system memory for addresses of the location
//! S.F.
//!
//! The table lies in the frame buffer, four bytes for a page: its number in bits 29:0, and bit 31 if there is none. The
//! GART keeps what it has looked up until it is flushed.

use std::collections::HashMap;

use lapidary_model::machine::Machine;
use lapidary_model::registers::{Space, Touched};
use lapidary_registers::chrome9::sr::{self, sr6a, sr6b, sr6c, sr6f};
use lapidary_registers::chrome9::{domain, mmio::vga_sequencer as port};

use crate::kind;
use crate::regs::REGISTERS;

const PAGE: u64 = 4096;
/// In an entry: there is no page.
const INVALID: u32 = 1 << 31;
/// The page's number.
const NUMBER: u32 = 0x3fff_ffff;

/// Sequencer and GART.
pub struct Gart {
    registers: Space,
    index: u32,
    /// Entries that were looked up, by page.
    kept: HashMap<u64, u32>,
}

impl Default for Gart {
    fn default() -> Gart {
        Gart {
            registers: Space::new(&REGISTERS, "sequencer", domain::SR, "", 1, 0x100),
            index: 0,
            kept: HashMap::new(),
        }
    }
}

impl Gart {
    /// Return the sequencer's registers.
    pub fn registers(&mut self) -> &mut Space {
        &mut self.registers
    }

    /// Return the content of a register of the sequencer by name.
    pub fn peek(&self, name: &str) -> Option<u32> {
        Some(self.registers.get(self.registers.find(name)?))
    }

    /// Return the registers of the sequencer that were touched.
    pub fn touched(&self) -> Vec<Touched> {
        self.registers.touched()
    }

    /// Return index and data as the CPU reads them.
    pub fn port(&self) -> u32 {
        port::INDEX.of(self.index) | port::DATA.of(self.registers.get(self.index))
    }

    /// Return the register that the index chooses.
    pub fn chosen(&self) -> u32 {
        self.index
    }

    /// Take the index.
    pub fn choose(&mut self, value: u32) {
        self.index = port::INDEX.get(value);
    }

    /// Write the chosen register.
    pub fn write(&mut self, value: u32) {
        let value = port::DATA.get(value);
        if self.index == sr::SR6F && sr6f::FLUSH.any(value) {
            self.kept.clear();
        }
        // A flush is done at once, which the bit says.
        let done = match self.index {
            sr::SR6F => sr6f::FLUSH.mask(),
            _ => 0,
        };
        self.registers.set(self.index, value & !done);
    }

    /// Return the table's offset in the frame buffer.
    fn table(&self) -> u64 {
        let get = |register| self.registers.get(register);
        (u64::from(sr6a::BASE_LOW.get(get(sr::SR6A))) << 12)
            | (u64::from(sr6b::BASE_HIGH.get(get(sr::SR6B))) << 20)
            | (u64::from(sr6c::BASE_TOP.get(get(sr::SR6C))) << 28)
    }

    /// Return the bus address behind an address of the GART, all of whose `len` bytes are in one page.
    pub fn translate(&mut self, m: &mut Machine, address: u64) -> Option<u64> {
        let page = address / PAGE;
        let mut bytes = [0xff; 4];
        if !m.vram.read(self.table() + page * 4, &mut bytes) {
            m.finding(
                kind::GART_FAULT,
                format_args!("{address:#010x}: the table ends before its page"),
            );
            return None;
        }
        let now = u32::from_le_bytes(bytes);
        let entry = *self.kept.entry(page).or_insert(now);
        if entry != now {
            m.finding(
                kind::GART_STALE,
                format_args!("{address:#010x}: the entry has changed since the last flush"),
            );
        }
        if entry & INVALID != 0 {
            m.finding(
                kind::GART_FAULT,
                format_args!("{address:#010x}: entry {entry:#010x}"),
            );
            return None;
        }
        Some(u64::from(entry & NUMBER) * PAGE + address % PAGE)
    }
}
