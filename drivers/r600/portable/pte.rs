// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Entries of the page table, by which the chip reaches system memory.
//!
//! The table of VM context 0 is an array of 64-bit little-endian entries in VRAM, one for each 4 KiB page of the window.
//! Addresses have 40 bits. Source: Linux, `radeon` (`rs600_gart_get_page_entry`, `radeon.h`: `R600_PTE_*`).
//!
//! | bits | meaning |
//! | --- | --- |
//! | 0 | valid |
//! | 1 | in system memory, not in VRAM |
//! | 2 | CPU caches are snooped |
//! | 5 | the chip may read |
//! | 6 | the chip may write |
//! | 39:12 | bits 39:12 of the address |

pub use lapidary::portable::mapping::Flags as Access;

/// Size of a page in bytes.
pub const PAGE_SIZE: u64 = 1 << PAGE_SHIFT;
/// Logarithm to base 2 of the size of a page.
pub const PAGE_SHIFT: u32 = 12;
/// Size of an entry in bytes.
pub const ENTRY_SIZE: usize = 8;
/// Number of bits of an address.
pub const ADDRESS_BITS: u32 = 40;

const VALID: u64 = 1 << 0;
const SYSTEM: u64 = 1 << 1;
const SNOOPED: u64 = 1 << 2;
const READABLE: u64 = 1 << 5;
const WRITEABLE: u64 = 1 << 6;
/// Bits of the address.
const ADDRESS: u64 = (1 << ADDRESS_BITS) - PAGE_SIZE;

/// One entry of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry(u64);

impl Entry {
    /// An entry that maps nothing. Every access faults.
    pub const NONE: Self = Self(0);

    /// Return the entry for the page of system memory at bus address `address`, or `None` if the address is not page
    /// aligned or has more than [`ADDRESS_BITS`] bits.
    pub const fn system(address: u64, access: Access) -> Option<Self> {
        if address & !ADDRESS != 0 {
            return None;
        }
        let mut word = address | VALID | SYSTEM;
        if access.snooped {
            word |= SNOOPED;
        }
        if access.read {
            word |= READABLE;
        }
        if access.write {
            word |= WRITEABLE;
        }
        Some(Self(word))
    }

    /// Decode an entry. Bits without a known meaning are ignored.
    pub const fn decode(word: u64) -> Self {
        Self(word & (ADDRESS | VALID | SYSTEM | SNOOPED | READABLE | WRITEABLE))
    }

    /// Return the entry as the chip reads it, in CPU byte order.
    pub const fn word(self) -> u64 {
        self.0
    }

    /// Return whether it maps a page.
    pub const fn is_valid(self) -> bool {
        self.0 & VALID != 0
    }

    /// Return whether the page is in system memory.
    pub const fn is_system(self) -> bool {
        self.0 & SYSTEM != 0
    }

    /// Return the address of the page.
    pub const fn address(self) -> u64 {
        self.0 & ADDRESS
    }

    /// Return what the chip may do with the page.
    pub const fn access(self) -> Access {
        Access {
            read: self.0 & READABLE != 0,
            write: self.0 & WRITEABLE != 0,
            snooped: self.0 & SNOOPED != 0,
        }
    }
}
