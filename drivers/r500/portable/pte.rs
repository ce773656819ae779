// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Entries of the PCIE GART, the table by which the chip reaches system memory.
//!
//! The table is an array of 32-bit little-endian entries in VRAM, one for each 4 KiB page of the GART
//! window. Bus addresses have 40 bits. Source: Linux, `drivers/gpu/drm/radeon/r300.c` and `r300d.h` (the
//! R5xx manual does not cover the memory controller).
//!
//! | bits | meaning |
//! | --- | --- |
//! | 0 | CPU caches are not snooped |
//! | 2 | the chip may write |
//! | 3 | the chip may read |
//! | 23:4 | bits 31:12 of the bus address |
//! | 31:24 | bits 39:32 of the bus address |

use lapidary::portable::bits::Field;

pub use lapidary::portable::mapping::Flags as Access;

/// Size of a page in bytes.
pub const PAGE_SIZE: u64 = 1 << PAGE_SHIFT;
/// Logarithm to base 2 of the size of a page.
pub const PAGE_SHIFT: u32 = 12;
/// Size of an entry in bytes.
pub const ENTRY_SIZE: usize = 4;
/// Number of bits of a bus address.
pub const ADDRESS_BITS: u32 = 40;

const UNSNOOPED: Field = Field::new(0, 0);
const WRITEABLE: Field = Field::new(2, 2);
const READABLE: Field = Field::new(3, 3);
const ADDRESS_LOW: Field = Field::new(23, 4);
const ADDRESS_HIGH: Field = Field::new(31, 24);

/// One entry of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry(u32);

impl Entry {
    /// An entry that maps nothing. Every access faults.
    pub const NONE: Self = Self(0);

    /// Return the entry for the page at bus address `address`, or `None` if the address is not page aligned or has
    /// more than [`ADDRESS_BITS`] bits.
    pub const fn new(address: u64, access: Access) -> Option<Self> {
        if address % PAGE_SIZE != 0 || address >> ADDRESS_BITS != 0 {
            return None;
        }
        let mut word = ADDRESS_LOW.of((address >> PAGE_SHIFT) as u32);
        word = ADDRESS_HIGH.put(word, (address >> 32) as u32);
        word = READABLE.put(word, access.read as u32);
        word = WRITEABLE.put(word, access.write as u32);
        word = UNSNOOPED.put(word, !access.snooped as u32);
        Some(Self(word))
    }

    /// Decode an entry. Bit 1, which has no known meaning, is ignored.
    pub const fn decode(word: u32) -> Self {
        Self(word & !Field::new(1, 1).mask())
    }

    /// Return the entry as the chip reads it, in CPU byte order.
    pub const fn word(self) -> u32 {
        self.0
    }

    /// Return the bus address of the page.
    pub const fn address(self) -> u64 {
        ((ADDRESS_HIGH.get(self.0) as u64) << 32) | ((ADDRESS_LOW.get(self.0) as u64) << PAGE_SHIFT)
    }

    /// Return what the chip may do with the page.
    pub const fn access(self) -> Access {
        Access {
            read: READABLE.get(self.0) != 0,
            write: WRITEABLE.get(self.0) != 0,
            snooped: UNSNOOPED.get(self.0) == 0,
        }
    }
}
