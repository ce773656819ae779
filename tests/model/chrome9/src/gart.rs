// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The sequencer's registers and the GART behind them (decision 10): pages of system memory for addresses of the location
//! S.F.
//!
//! The table lies in the frame buffer, four bytes for a page: its number in bits 29:0, and bit 31 if there is none. The
//! GART keeps what it has looked up until it is flushed.

use std::collections::HashMap;

use lapidary_model::machine::Machine;
use lapidary_registers::chrome9::domain;
use lapidary_registers::chrome9::sr::{self, sr6a, sr6b, sr6c, sr6f};

use crate::kind;
use crate::vga::Indexed;

const PAGE: u64 = 4096;
/// In an entry: there is no page.
const INVALID: u32 = 1 << 31;
/// The page's number.
const NUMBER: u32 = 0x3fff_ffff;

/// Sequencer and GART.
pub struct Gart {
    /// The sequencer's registers.
    pub sequencer: Indexed,
    /// Entries that were looked up, by page.
    kept: HashMap<u64, u32>,
}

impl Default for Gart {
    fn default() -> Gart {
        Gart {
            sequencer: Indexed::new("sequencer", domain::SR),
            kept: HashMap::new(),
        }
    }
}

impl Gart {
    /// Lose everything.
    pub fn reset(&mut self) {
        self.sequencer.reset();
        self.kept.clear();
    }

    /// Write the register of the sequencer that the index chooses.
    pub fn write(&mut self, m: &mut Machine, value: u32) {
        // A flush is done at once, which the bit says.
        let (flushes, done) = match self.sequencer.index() {
            sr::SR6F => (sr6f::FLUSH.any(value), sr6f::FLUSH.mask()),
            _ => (false, 0),
        };
        if self.sequencer.write(m, value, done) && flushes {
            self.kept.clear();
        }
    }

    /// Return the table's offset in the frame buffer.
    fn table(&self) -> u64 {
        let get = |register| self.sequencer.get(register);
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
