// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Entries of the GART's table: 32 bits for a page of 4 KiB (decision 10).
//!
//! An entry has the number of a page of system memory, or says that there is none. It has no bits for what the engines may
//! do with the page.

use lapidary::portable::mapping::Flags;

/// Bytes of an entry.
pub const ENTRY_SIZE: usize = 4;

/// Logarithm of the bytes of a page.
const PAGE_SHIFT: u32 = 12;
/// Bits of a page's number.
const NUMBER_BITS: u32 = 30;
/// In an entry: there is no page.
const INVALID: u32 = 1 << 31;

/// Bits of a bus address that an entry can have.
pub const ADDRESS_BITS: u32 = NUMBER_BITS + PAGE_SHIFT;

/// An entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry(u32);

impl Entry {
    /// The entry without a page.
    pub const NONE: Self = Self(INVALID);

    /// Return the entry for the page at a bus address. `None` if the address is not that of a page or has too many bits, and
    /// for anything but reading and writing, which an entry cannot forbid.
    pub const fn new(address: u64, flags: Flags) -> Option<Self> {
        let number = address >> PAGE_SHIFT;
        if number << PAGE_SHIFT != address || number >> NUMBER_BITS != 0 {
            return None;
        }
        if !flags.read || !flags.write {
            return None;
        }
        // Not more than 30 bits.
        Some(Self(number as u32))
    }

    /// Return the entry as the table has it.
    pub const fn word(self) -> u32 {
        self.0
    }
}
