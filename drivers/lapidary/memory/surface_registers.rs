// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Which object has which surface register ([`crate::family::surfaces`]).
//!
//! Each register stores the key of its holder. So finding a victim costs as much as there are registers, however many
//! objects there are. [`super::surfaces`] decides when an object takes a register.

use kernel::{
    prelude::*,
    sync::atomic::{
        Atomic,
        Relaxed, //
    },
    types::CovariantForLt, //
};

use crate::{
    corner::{
        lent::Tenant,
        roster::Key, //
    },
    family::surfaces::Surfaces, //
};

/// The most registers that there can be.
pub(crate) const MOST: usize = 8;
/// [`Taken`] of an object without a register.
pub(crate) const NONE: Ticket = 0;

/// The order in which registers were taken, combined with the register: larger than all earlier tickets. Never
/// [`NONE`].
pub(crate) type Ticket = u64;

/// Return the register that a ticket is for.
pub(crate) fn register(ticket: Ticket) -> usize {
    (ticket % MOST as u64) as usize
}

/// An object that has a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Holder {
    pub(crate) ticket: Ticket,
    /// The key of the object, which stays in VRAM as long as it has the register.
    pub(crate) key: Key,
}

/// The holders of the registers.
pub(crate) struct Registers {
    holders: [Option<Holder>; MOST],
}

impl Registers {
    pub(crate) fn new() -> Self {
        Self {
            holders: [None; MOST],
        }
    }

    /// Give the object with this `key` one of `usable`, if one is free. `now` is a time of
    /// [`Memory::now`](super::Memory::now).
    pub(crate) fn take(&mut self, usable: u32, key: Key, now: u64) -> Option<Ticket> {
        let (index, free) = (0u64..)
            .zip(&mut self.holders)
            .find(|(index, holder)| usable >> index & 1 != 0 && holder.is_none())?;
        let ticket = now * MOST as u64 + index;
        *free = Some(Holder { ticket, key });
        Some(ticket)
    }

    /// Free the register, if `ticket` is the present one for it. Return whether it is.
    pub(crate) fn give_back(&mut self, ticket: Ticket) -> bool {
        let Some(holder) = self.holders.get_mut(register(ticket)) else {
            return false;
        };
        holder.take_if(|holder| holder.ticket == ticket).is_some()
    }

    /// Return the first holder that has taken its register later than `after`.
    pub(crate) fn next(&self, after: Ticket) -> Option<Holder> {
        let later = self.holders.iter().flatten();
        later
            .filter(|holder| holder.ticket > after)
            .min_by_key(|holder| holder.ticket)
            .copied()
    }
}

impl Tenant for Registers {
    /// `None` for a chip without such registers.
    type Hardware = CovariantForLt!(Option<&dyn Surfaces>);

    fn leave(&mut self, surfaces: &Option<&dyn Surfaces>) {
        for (index, holder) in (0..).zip(&mut self.holders) {
            if let (Some(_), Some(surfaces)) = (holder.take(), surfaces) {
                surfaces.set(index, None);
            }
        }
    }
}

/// The register that an object has taken.
///
/// Changed under the object's reservation, or when it is freed.
pub(crate) struct Taken(Atomic<Ticket>);

impl Taken {
    pub(crate) fn new() -> Self {
        Self(Atomic::new(NONE))
    }

    pub(crate) fn ticket(&self) -> Option<Ticket> {
        match self.0.load(Relaxed) {
            NONE => None,
            ticket => Some(ticket),
        }
    }

    pub(crate) fn set(&self, ticket: Ticket) {
        self.0.store(ticket, Relaxed);
    }

    /// Clear the register of the object. Return the ticket that it had.
    pub(crate) fn clear(&self) -> Option<Ticket> {
        match self.0.xchg(NONE, Relaxed) {
            NONE => None,
            ticket => Some(ticket),
        }
    }
}

#[kunit_tests(lapidary_surfaces)]
mod tests {
    use super::*;

    const KEY: Key = (0, 5);

    #[test]
    fn only_usable_registers_are_taken_and_each_once() {
        let mut registers = Registers::new();
        assert_eq!(registers.take(0, KEY, 1), None);
        let usable = 0b1011_0110;
        let mut seen = 0;
        for now in 1..=5 {
            let index = registers.take(usable, KEY, now).map_or(31, register);
            assert_eq!(seen >> index & 1, 0);
            seen |= 1 << index;
        }
        assert_eq!(seen, usable);
        assert_eq!(registers.take(usable, KEY, 6), None);
        let fourth = registers.holders[4].map_or(NONE, |holder| holder.ticket);
        assert!(registers.give_back(fourth));
        assert_eq!(registers.take(usable, KEY, 7).map(register), Some(4));
        assert_eq!(registers.take(usable, KEY, 8), None);
    }

    #[test]
    fn no_more_than_there_are() {
        let mut registers = Registers::new();
        for index in 0..MOST {
            assert_eq!(registers.take(u32::MAX, KEY, 1).map(register), Some(index));
        }
        assert_eq!(registers.take(u32::MAX, KEY, 2), None);
    }

    #[test]
    fn whoever_took_first_is_found_first() {
        let mut registers = Registers::new();
        assert_eq!(registers.next(NONE), None);
        let mut tickets = [NONE; MOST];
        for (ticket, name) in tickets.iter_mut().zip(100..) {
            *ticket = registers.take(u32::MAX, (0, name), 1).unwrap_or(NONE);
        }
        // The second and the first are taken again.
        for index in [1, 0] {
            assert!(registers.give_back(tickets[index]));
            let name = 100 + index;
            tickets[index] = registers
                .take(u32::MAX, (0, name), 2 + 1 - index as u64)
                .unwrap_or(NONE);
        }
        let mut after = NONE;
        for name in [102, 103, 104, 105, 106, 107, 101, 100] {
            let holder = registers.next(after);
            assert_eq!(holder.map(|holder| holder.key), Some((0, name)));
            after = holder.map_or(u64::MAX, |holder| holder.ticket);
        }
        assert_eq!(registers.next(after), None);
    }

    #[test]
    fn an_old_ticket_takes_nothing_from_the_next_holder() {
        let mut registers = Registers::new();
        let old = registers.take(1, KEY, 1).unwrap_or(NONE);
        assert!(registers.give_back(old));
        let new = registers.take(1, (0, 6), 2).unwrap_or(NONE);
        assert!(!registers.give_back(old));
        assert_eq!(registers.next(NONE).map(|holder| holder.ticket), Some(new));
    }

    #[test]
    fn an_object_has_one_ticket() {
        let taken = Taken::new();
        assert_eq!(taken.ticket(), None);
        assert_eq!(taken.clear(), None);
        taken.set(15);
        assert_eq!(taken.ticket(), Some(15));
        assert_eq!(taken.clear(), Some(15));
        assert_eq!(taken.ticket(), None);
    }
}
