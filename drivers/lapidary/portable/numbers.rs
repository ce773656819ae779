// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Numbers for the different handles of one list, in order of their first occurrence.
//!
//! A client may name an object in many entries of a list. The submission handles the object once, so equal handles get
//! the same number. Handles of a file are small numbers that follow one another, so each has one slot of a small table,
//! without a hash. Handles that share a slot displace each other. A handle that has been displaced gets a new number when
//! it comes again. So equal numbers mean equal handles, but not the reverse, as two handles of one object have different
//! numbers anyway. The time for an entry does not depend on the others.
//!
//! The table is not cleared between lists. Each slot says for which list it was written.

/// Slots for which there should be room at least, and at most.
const FEWEST: usize = 64;
const MOST: usize = 4096;

/// A handle and its number, in one list. The default belongs to no list.
#[derive(Clone, Copy, Debug, Default)]
pub struct Slot {
    list: u64,
    handle: u32,
    number: u32,
}

/// Return for how many slots a list with `entries` entries has use: a power of two.
pub const fn slots(entries: usize) -> usize {
    match entries {
        0..=FEWEST => FEWEST,
        MOST.. => MOST,
        _ => entries.next_power_of_two(),
    }
}

/// The numbers of one list.
#[derive(Debug)]
pub struct Numbers<'a> {
    slots: &'a mut [Slot],
    list: u64,
    count: u32,
}

impl<'a> Numbers<'a> {
    /// Begin a list with a table as [`slots`] says. Fewer slots find fewer equal handles. `lists` counts the lists, from 0,
    /// for which any of the slots has been used.
    #[inline]
    pub fn begin(slots: &'a mut [Slot], lists: &mut u64) -> Self {
        *lists = lists.wrapping_add(1);
        Self {
            slots,
            list: *lists,
            count: 0,
        }
    }

    /// Return how many numbers there are.
    #[inline]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Return the number of `handle`. A new one is the present [`Numbers::count`], and others are less.
    #[inline]
    pub fn of(&mut self, handle: u32) -> u32 {
        let new = Slot {
            list: self.list,
            handle,
            number: self.count,
        };
        let index = handle as usize & self.slots.len().wrapping_sub(1);
        if let Some(slot) = self.slots.get_mut(index) {
            if slot.list == self.list && slot.handle == handle {
                return slot.number;
            }
            *slot = new;
        }
        self.count = self.count.wrapping_add(1);
        new.number
    }
}
