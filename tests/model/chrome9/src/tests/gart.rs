// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The GART: its registers behind the sequencer's port, translation, faults, and what it keeps.

use lapidary_model::chip::Chip;
use lapidary_registers::chrome9::enums::location;
use lapidary_registers::chrome9::mmio;

use super::{Bench, RAM};
use crate::fetch::Place;
use crate::{bus, kind};

/// The table's offset in the frame buffer, at a page.
const TABLE: u64 = 0x12_3000;

impl Bench {
    /// Write a register of the sequencer as programs do, by bytes.
    pub(super) fn sequencer(&mut self, index: u32, value: u32) {
        self.chip
            .write(&mut self.m, mmio::VGA_SEQUENCER, index, 0xff);
        self.chip
            .write(&mut self.m, mmio::VGA_SEQUENCER, value << 8, 0xff00);
    }

    pub(super) fn entry(&mut self, page: u64, value: u32) {
        self.m.vram.write(TABLE + page * 4, &value.to_le_bytes());
    }

    pub(super) fn table(&mut self) {
        self.sequencer(0x6a, (TABLE >> 12) as u32 & 0xff);
        self.sequencer(0x6b, (TABLE >> 20) as u32);
        self.sequencer(0x6c, 0x80);
    }

    fn fetch_at(&mut self, at: u64) -> Option<[u8; 16]> {
        let place = Place {
            at,
            location: location::SYSTEM_DYNAMIC,
        };
        let mut bytes = [0; 16];
        bus::fetch(&mut self.m, &mut self.chip.gart, place, &mut bytes).then_some(bytes)
    }
}

#[test]
fn registers_are_behind_an_index() {
    let mut b = Bench::new();
    b.sequencer(0x6a, 0x5a);
    assert_eq!(b.read(mmio::VGA_SEQUENCER), 0x5a6a);
    assert_eq!(b.chip.peek(&b.m, "SR6A"), Some(0x5a));
    assert_eq!(b.found(), []);
    b.sequencer(0x09, 0);
    assert_eq!(b.found(), [kind::UNDEFINED_REGISTER_WRITE]);
}

#[test]
fn a_page_is_where_its_entry_says() {
    let mut b = Bench::new();
    b.table();
    b.entry(3, (RAM >> 12) as u32);
    b.m.functions[0].ram.write(RAM + 0x40, &[9; 16]);
    assert_eq!(b.fetch_at(0x3040), Some([9; 16]));
    assert_eq!(b.found(), []);
}

#[test]
fn a_page_that_is_not_there_is_a_fault() {
    let mut b = Bench::new();
    b.table();
    b.entry(0, 0x8000_0000);
    assert_eq!(b.fetch_at(0), None);
    assert_eq!(b.fetch_at(1 << 40), None, "beyond the frame buffer");
    assert_eq!(b.found(), [kind::GART_FAULT; 2]);
    b.entry(1, 1);
    assert_eq!(b.fetch_at(0x1000), None);
    assert_eq!(b.found(), [kind::DMA_FAULT], "no memory at that page");
}

#[test]
fn a_changed_entry_needs_a_flush() {
    let mut b = Bench::new();
    b.table();
    b.entry(0, (RAM >> 12) as u32);
    assert!(b.fetch_at(0).is_some());
    b.entry(0, 0x8000_0000);
    assert!(b.fetch_at(0).is_some(), "the old page");
    assert_eq!(b.found(), [kind::GART_STALE]);
    b.sequencer(0x6f, 0x80);
    assert_eq!(b.fetch_at(0), None);
    assert_eq!(b.found(), [kind::GART_FAULT]);
}
