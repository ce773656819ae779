// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Objects whose pixels do not lie in the order of their lines, as the CPU sees them.
//!
//! A GPU arranges the pixels of a picture in blocks. Old programs that draw by the CPU know nothing of that: for an
//! object in VRAM they ask that mappings show lines ([`Uapi::arrangement`]). Some chips have a few *surface registers*
//! for it, each of which reorders the CPU's accesses to one range of VRAM ([`family::Surfaces`]).
//!
//! An object takes a register when the CPU touches a mapping of it, and has it until it leaves VRAM, its arrangement
//! changes, or it is freed. When all are taken it robs the object that took one first: that loses its CPU mappings, so
//! that its next access is a fault, and takes a register again. [`Registers`] know who has them, by name: what it costs
//! to find a victim depends on the number of registers and not on that of objects.
//!
//! What a register covers of an object is the family's affair, and never more than the object.
//!
//! Whoever gives an object a register, takes it away, or enters pages of it into a mapping holds the object's
//! reservation. Mappings and register therefore always fit; of the objects to be robbed, those are passed over whose
//! reservation somebody else holds.
//!
//! [`family::Surfaces`]: crate::family::surfaces::Surfaces

use core::ops::Range;

use kernel::{
    prelude::*,
    sync::{
        aref::ARef,
        atomic::{
            Atomic,
            Relaxed, //
        }, //
    },
};

use crate::{
    corner::{
        lent::{
            Hardware,
            Tenant, //
        },
        mmap,
        resv::{
            self,
            Held, //
        },
        roster::{
            self,
            Key, //
        }, //
    },
    family::{
        surfaces::Surface,
        Family,
        Note,
        Uapi, //
    },
    memory::object::Bo, //
};

/// Most registers that there can be.
const MOST: usize = 8;
/// [`Taken`] of an object without a register.
const NONE: Ticket = 0;

/// When a register was taken, and which it is: larger than those of all that were taken before. Never [`NONE`].
type Ticket = u64;

/// The register that a ticket is for.
fn register(ticket: Ticket) -> usize {
    (ticket % MOST as u64) as usize
}

/// An object that has a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Holder {
    ticket: Ticket,
    /// Of the object, which stays in VRAM as long as it has the register.
    key: Key,
}

/// Who has which register.
pub struct Registers {
    holders: [Option<Holder>; MOST],
}

impl Registers {
    pub(super) fn new() -> Self {
        Self {
            holders: [None; MOST],
        }
    }

    /// Gives the object with this `key` one of `usable`, if one is free. `now` is as [`Memory::now`](super::Memory::now) says.
    fn take(&mut self, usable: u32, key: Key, now: u64) -> Option<Ticket> {
        let (index, free) = (0u64..)
            .zip(&mut self.holders)
            .find(|(index, holder)| usable >> index & 1 != 0 && holder.is_none())?;
        let ticket = now * MOST as u64 + index;
        *free = Some(Holder { ticket, key });
        Some(ticket)
    }

    /// Frees the register, if `ticket` is the present one for it; says whether it is.
    fn give_back(&mut self, ticket: Ticket) -> bool {
        let Some(holder) = self.holders.get_mut(register(ticket)) else {
            return false;
        };
        holder.take_if(|holder| holder.ticket == ticket).is_some()
    }

    /// The first of those that have taken a register later than `after`.
    fn next(&self, after: Ticket) -> Option<Holder> {
        let later = self.holders.iter().flatten();
        later
            .filter(|holder| holder.ticket > after)
            .min_by_key(|holder| holder.ticket)
            .copied()
    }
}

impl Tenant for Registers {
    fn leave(&mut self, hardware: &Hardware<'_>) {
        for (index, holder) in (0..).zip(&mut self.holders) {
            if let (Some(_), Some(surfaces)) = (holder.take(), hardware.surfaces) {
                surfaces.set(index, None);
            }
        }
    }
}

/// The register that an object has taken.
///
/// Changed under the object's reservation, or by whoever frees it.
pub(super) struct Taken(Atomic<Ticket>);

impl Taken {
    pub(super) fn new() -> Self {
        Self(Atomic::new(NONE))
    }

    fn ticket(&self) -> Option<Ticket> {
        match self.0.load(Relaxed) {
            NONE => None,
            ticket => Some(ticket),
        }
    }

    fn set(&self, ticket: Ticket) {
        self.0.store(ticket, Relaxed);
    }

    /// The object has no register any more: the ticket that it had.
    fn clear(&self) -> Option<Ticket> {
        match self.0.xchg(NONE, Relaxed) {
            NONE => None,
            ticket => Some(ticket),
        }
    }
}

/// The CPU is about to see `object`, which lies in VRAM at `range` (offsets in VRAM): if user space has asked for it,
/// through a register. The caller holds its reservation, as in all of this file.
///
/// # Errors
///
/// `EAGAIN` if all registers belong to objects that are in use at this moment; `ENODEV` after unbind.
pub(super) fn show<F: Family>(object: &Bo<F>, range: Range<u64>) -> Result {
    let Some(arrangement) = F::Uapi::arrangement(object.note()) else {
        return Ok(());
    };
    if object.surface().ticket().is_some() {
        return Ok(());
    }
    let surface = Surface { range, arrangement };
    if take(object, &surface)? {
        return Ok(());
    }
    rob(object)?;
    match take(object, &surface)? {
        true => Ok(()),
        false => Err(EAGAIN),
    }
}

/// Takes a free register; says whether there was one, or none is needed.
fn take<F: Family>(object: &Bo<F>, surface: &Surface) -> Result<bool> {
    let memory = object.memory();
    let mut guard = memory.surfaces().lock();
    let (registers, hardware) = guard.parts();
    let Some(surfaces) = hardware.ok_or(ENODEV)?.surfaces else {
        return Ok(true);
    };
    let usable = surfaces.usable();
    if usable == 0 || !surfaces.reorders(surface) {
        return Ok(true);
    }
    let Some(ticket) = registers.take(usable, roster::key(object), memory.now()) else {
        return Ok(false);
    };
    surfaces.set(register(ticket) as u32, Some(surface));
    object.surface().set(ticket);
    Ok(true)
}

/// Takes the register away from the object that has had one for longest.
fn rob<F: Family>(object: &Bo<F>) -> Result {
    let mut after = NONE;
    for _ in 0..MOST {
        let Some(holder) = object.memory().surfaces().lock().parts().0.next(after) else {
            break;
        };
        after = holder.ticket;
        let Some(victim) = keep(object, holder).and_then(Held::try_lock) else {
            continue;
        };
        if victim.surface().ticket() == Some(holder.ticket) {
            mmap::zap(&**victim);
            give_back(&victim);
            return Ok(());
        }
    }
    Err(EAGAIN)
}

/// A reference to the object that has a register, if it still has it.
fn keep<F: Family>(object: &Bo<F>, holder: Holder) -> Option<ARef<Bo<F>>> {
    let names = object.objects().lock();
    let entry = names.find(holder.key)?;
    (entry.surface().ticket() == Some(holder.ticket)).then(|| entry.keep())?
}

/// The object gives its register back, if it has one. There are no CPU mappings of it.
pub(super) fn give_back<F: Family>(object: &super::Object<F>) {
    let Some(ticket) = object.surface().clear() else {
        return;
    };
    let mut guard = object.memory().surfaces().lock();
    let (registers, hardware) = guard.parts();
    let surfaces = hardware.and_then(|hardware| hardware.surfaces);
    if let (true, Some(surfaces)) = (registers.give_back(ticket), surfaces) {
        surfaces.set(register(ticket) as u32, None);
    }
}

/// Has `change` store another arrangement with the object; it says whether that is a change. CPU mappings show the
/// object accordingly from now on.
///
/// # Errors
///
/// `ERESTARTSYS` if a signal arrives.
pub fn rearrange<F: Family>(object: ARef<Bo<F>>, change: impl FnOnce(&Note<F>) -> bool) -> Result {
    let object = Held::lock(object)?;
    if change(object.note()) && object.vram().is_some() {
        resv::assert_held(&**object);
        mmap::zap(&**object);
        give_back(&object);
    }
    Ok(())
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
        // The second and the first come again.
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
