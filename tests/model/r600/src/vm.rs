// SPDX-License-Identifier: GPL-2.0 OR MIT

//! VM context 0: a window of GPU addresses onto pages, through a table in VRAM.
//!
//! The table is flat: one entry of 8 bytes for each 4 KiB page of the window. An entry holds address bits 39:12 in
//! place and flags below (public knowledge: Linux, `rs600.c`): bit 0 valid, bit 1 system memory, bit 2 snooped, bit 5
//! readable, bit 6 writable. The unit keeps entries in its TLBs until a range is invalidated by
//! VM_CONTEXT0_REQUEST_RESPONSE. A page without a valid entry leads to the default page if
//! RANGE_PROTECTION_FAULT_ENABLE_DEFAULT is set; the model reports it in any case.

use std::collections::{HashMap, HashSet};

/// Bytes of a page.
pub const PAGE: u64 = 4096;
/// Bytes of an entry.
pub const ENTRY: u64 = 8;

/// Entries that the TLB holds at most before the oldest knowledge is thrown away as a whole.
const TLB_ENTRIES: usize = 1 << 16;

/// Areas that are remembered at most.
const REACHED: usize = 4096;

/// A page-table entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry(pub u64);

impl Entry {
    /// Return the address of the page: on the bus, or in the frame buffer's space.
    pub fn page(self) -> u64 {
        self.0 & 0xff_ffff_f000
    }

    /// Return whether it maps anything.
    pub fn valid(self) -> bool {
        self.0 & 1 != 0
    }

    /// Return whether the page is system memory.
    pub fn system(self) -> bool {
        self.0 & (1 << 1) != 0
    }

    /// Return whether the chip may read.
    pub fn readable(self) -> bool {
        self.valid() && self.0 & (1 << 5) != 0
    }

    /// Return whether the chip may write.
    pub fn writable(self) -> bool {
        self.valid() && self.0 & (1 << 6) != 0
    }
}

/// The window that the registers describe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// First GPU address.
    pub start: u64,
    /// Last GPU address; its page is mapped as a whole.
    pub end: u64,
    /// GPU address of the page table.
    pub table: u64,
}

impl Window {
    /// Return the number of the page that holds an address, if the window does.
    pub fn page(&self, address: u64) -> Option<u64> {
        (address >= self.start && address <= self.end).then(|| (address - self.start) / PAGE)
    }
}

/// What the TLBs hold.
#[derive(Clone, Default)]
pub struct Tlb {
    entries: HashMap<u64, u64>,
    /// Areas of draws that lead to memory: first address, the one behind the last, whether it is written.
    reached: HashSet<Reach>,
}

/// Such an area.
pub type Reach = (u64, u64, bool);

impl Tlb {
    /// Forget the entries of the pages that hold the addresses from `low` to `high`.
    pub fn invalidate(&mut self, window: &Window, low: u64, high: u64) {
        self.reached.clear();
        let of = |page: u64| window.start + page * PAGE;
        self.entries
            .retain(|page, _| of(*page) + (PAGE - 1) < low || of(*page) > high | (PAGE - 1));
    }

    /// Forget all entries.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.reached.clear();
    }

    /// Return whether an area is known to lead to memory.
    pub fn reached(&self, area: Reach) -> bool {
        self.reached.contains(&area)
    }

    /// Remember that an area leads to memory, until an invalidation.
    pub fn remember(&mut self, area: Reach) {
        if self.reached.len() >= REACHED {
            self.reached.clear();
        }
        self.reached.insert(area);
    }

    /// Forget which areas lead to memory, since places have moved.
    pub fn moved(&mut self) {
        self.reached.clear();
    }

    /// Return the entry that the unit uses for a page whose table entry now reads `memory`, and whether it is stale.
    pub fn look_up(&mut self, page: u64, memory: u64) -> (Entry, bool) {
        if self.entries.len() >= TLB_ENTRIES {
            self.entries.clear();
        }
        let cached = *self.entries.entry(page).or_insert(memory);
        (Entry(cached), cached != memory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_carry_forty_bits_and_flags() {
        let e = Entry(0xab_1234_5067);
        assert_eq!(e.page(), 0xab_1234_5000);
        assert!(e.valid() && e.system() && e.readable() && e.writable());
        assert!(
            !Entry(0x60).readable() && !Entry(0x60).writable(),
            "not valid"
        );
        assert!(!Entry(0x21).writable() && !Entry(0x41).readable() && !Entry(0x41).system());
    }

    #[test]
    fn an_invalidation_reaches_its_range_only() {
        let window = Window {
            start: 0x10_0000,
            end: 0x1f_ffff,
            table: 0,
        };
        let mut tlb = Tlb::default();
        for page in 0..4 {
            tlb.look_up(page, 1);
        }
        tlb.invalidate(&window, 0x10_1000, 0x10_2000);
        let stale = |tlb: &mut Tlb, page| tlb.look_up(page, 2).1;
        assert!(stale(&mut tlb, 0) && stale(&mut tlb, 3));
        assert!(!stale(&mut tlb, 1) && !stale(&mut tlb, 2));
        tlb.clear();
        assert!(!stale(&mut tlb, 0));
    }
}
