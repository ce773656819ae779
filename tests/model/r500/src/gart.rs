// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The PCI Express GART: a window of GPU addresses onto pages of system memory.
//!
//! The page table is an array of dwords in VRAM, one for each 4 KiB page of the window. An entry holds address bits
//! 31:12 in its bits 23:4 and address bits 39:32 in its bits 31:24; bit 3 allows reads, bit 2 allows writes, bit 0
//! says that the CPU's caches need not be snooped. (Public knowledge: Linux, `r300.c`.) The unit keeps entries in a
//! TLB until it is told to invalidate it.

use std::collections::HashMap;

use lapidary_registers::r500::pcie;

use lapidary_model::registers::Space;

/// Bytes of a page.
pub const PAGE: u64 = 4096;

const ENTRY_WRITE: u32 = 1 << 2;
const ENTRY_READ: u32 = 1 << 3;

/// Entries that the TLB holds at most before the oldest knowledge is thrown away as a whole.
const TLB_ENTRIES: usize = 1 << 16;

/// A decoded page-table entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry(pub u32);

impl Entry {
    /// Return the bus address of the page.
    pub fn page(self) -> u64 {
        (u64::from(self.0 & 0x00ff_fff0) << 8) | (u64::from(self.0 >> 24) << 32)
    }

    /// Return whether the GPU may read.
    pub fn readable(self) -> bool {
        self.0 & ENTRY_READ != 0
    }

    /// Return whether the GPU may write.
    pub fn writable(self) -> bool {
        self.0 & ENTRY_WRITE != 0
    }
}

/// The GART's state besides its registers.
#[derive(Default)]
pub struct Gart {
    tlb: HashMap<u32, u32>,
}

/// The window that the registers describe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// First GPU address.
    pub start: u64,
    /// Last GPU address, inclusive; its page is mapped as a whole.
    pub end: u64,
    /// GPU address of the page table.
    pub table: u64,
}

impl Window {
    /// Return the window, if the GART is enabled.
    pub fn of(pcie: &Space) -> Option<Window> {
        if pcie::pcie_tx_gart_cntl::GART_EN.get(pcie.get(pcie::PCIE_TX_GART_CNTL)) == 0 {
            return None;
        }
        let wide = |lo, hi| u64::from(pcie.get(lo)) | (u64::from(pcie.get(hi)) << 32);
        Some(Window {
            start: wide(pcie::PCIE_TX_GART_START_LO, pcie::PCIE_TX_GART_START_HI) & !(PAGE - 1),
            end: wide(pcie::PCIE_TX_GART_END_LO, pcie::PCIE_TX_GART_END_HI) | (PAGE - 1),
            table: pcie.get(pcie::PCIE_TX_GART_BASE).into(),
        })
    }

    /// Return the number of the page that holds an address, if the window does.
    pub fn page(&self, address: u64) -> Option<u32> {
        (address >= self.start && address <= self.end)
            .then(|| ((address - self.start) / PAGE) as u32)
    }
}

impl Gart {
    /// Forget all entries, as the invalidate bit asks.
    pub fn invalidate(&mut self) {
        self.tlb.clear();
    }

    /// Return the entry the unit uses for a page whose table entry now reads `memory`, and whether that entry is stale.
    pub fn look_up(&mut self, page: u32, memory: u32) -> (Entry, bool) {
        if self.tlb.len() >= TLB_ENTRIES {
            self.tlb.clear();
        }
        let cached = *self.tlb.entry(page).or_insert(memory);
        (Entry(cached), cached != memory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_carry_forty_bits() {
        let e = Entry(0xab12_345c);
        assert_eq!(e.page(), 0xab_1234_5000);
        assert!(e.readable() && e.writable());
        assert!(!Entry(0x8).writable() && !Entry(0x5).readable());
    }

    #[test]
    fn the_tlb_keeps_what_it_saw() {
        let mut g = Gart::default();
        assert_eq!(g.look_up(7, 0x10), (Entry(0x10), false));
        assert_eq!(g.look_up(7, 0x20), (Entry(0x10), true));
        g.invalidate();
        assert_eq!(g.look_up(7, 0x20), (Entry(0x20), false));
    }
}
