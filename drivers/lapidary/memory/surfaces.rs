// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Tiled objects as the CPU sees them.
//!
//! The pixels of a tiled object do not lie in memory in the order of its lines. Old programs that draw by the CPU know
//! nothing of that: for an object in VRAM they ask (in its tiling flags) that mappings show lines. The chip has a few
//! *surface registers* for it, each of which reorders the CPU's accesses to one range of VRAM ([`family::Surfaces`]).
//!
//! An object takes a register when the CPU touches a mapping of it, and has it until it leaves VRAM, its tiling
//! changes, or it is freed. When all are taken it robs the object that took one first: that loses its CPU mappings, so
//! that its next access is a fault, and takes a register again.
//!
//! Whoever gives an object a register, takes it away, or enters pages of it into a mapping holds the object's
//! reservation. Mappings and register therefore always fit; of the objects to be robbed, those are passed over whose
//! reservation somebody else holds.
//!
//! [`family::Surfaces`]: crate::family::Surfaces

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
    },
    family::{
        Family,
        Surface, //
    },
    memory::object::Bo,
};

/// Most registers that there can be.
const MOST: u32 = 8;
/// [`Taken`] of an object without a register.
const NONE: u64 = 0;

/// Which registers are taken, as a set.
pub struct Registers {
    taken: u32,
}

impl Registers {
    pub(super) fn new() -> Self {
        Self { taken: 0 }
    }

    /// Takes one of `usable`, if one is free.
    fn take(&mut self, usable: u32) -> Option<u32> {
        let free = usable & !self.taken;
        let index = free.trailing_zeros();
        if index >= MOST {
            return None;
        }
        self.taken |= 1 << index;
        Some(index)
    }

    fn give_back(&mut self, index: u32) {
        self.taken &= !(1 << index);
    }
}

impl Tenant for Registers {
    fn leave(&mut self, hardware: &Hardware<'_>) {
        for index in (0..MOST).filter(|index| self.taken >> index & 1 != 0) {
            hardware.surfaces.set(index, None);
        }
        self.taken = 0;
    }
}

/// The register that an object has taken, and when.
///
/// Changed under the object's reservation, or by whoever frees it.
pub(super) struct Taken(Atomic<u64>);

impl Taken {
    pub(super) fn new() -> Self {
        Self(Atomic::new(NONE))
    }

    /// When the register was taken, in a unit of its own; `None` without one.
    fn since(&self) -> Option<u64> {
        match self.0.load(Relaxed) {
            NONE => None,
            both => Some(both),
        }
    }

    /// `now` is not 0, as [`Memory::now`](super::Memory::now) promises.
    fn set(&self, index: u32, now: u64) {
        self.0
            .store(now * u64::from(MOST) + u64::from(index), Relaxed);
    }

    /// The object has no register any more: which it was.
    fn clear(&self) -> Option<u32> {
        match self.0.xchg(NONE, Relaxed) {
            NONE => None,
            both => Some((both % u64::from(MOST)) as u32),
        }
    }
}

/// The CPU is about to see `object`, which lies in VRAM at `range` (offsets in VRAM): if its tiling asks for it,
/// through a register. The caller holds its reservation, as in all of this file.
///
/// # Errors
///
/// `EAGAIN` if all registers belong to objects that are in use at this moment; `ENODEV` after unbind.
pub(super) fn show<F: Family>(object: &Bo<F>, range: Range<u64>) -> Result {
    let (flags, pitch) = object.tiling();
    if flags == 0 || object.surface().since().is_some() {
        return Ok(());
    }
    let surface = Surface {
        range,
        flags,
        pitch,
    };
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
    let surfaces = hardware.ok_or(ENODEV)?.surfaces;
    let usable = surfaces.usable();
    if usable == 0 || !surfaces.reorders(surface) {
        return Ok(true);
    }
    let Some(index) = registers.take(usable) else {
        return Ok(false);
    };
    surfaces.set(index, Some(surface));
    object.surface().set(index, memory.now());
    Ok(true)
}

/// Takes the register away from the object that has had one for longest.
fn rob<F: Family>(object: &Bo<F>) -> Result {
    let mut after = NONE;
    for _ in 0..MOST {
        let Some((since, victim)) = oldest(object, after) else {
            break;
        };
        after = since;
        let Some(victim) = victim.and_then(Held::try_lock) else {
            continue;
        };
        if victim.surface().since().is_some() {
            mmap::zap(&**victim);
            give_back(&victim);
            return Ok(());
        }
    }
    Err(EAGAIN)
}

/// When the first of those that have taken a register later than `after` has done so, and which it is.
fn oldest<F: Family>(object: &Bo<F>, after: u64) -> Option<(u64, Option<ARef<Bo<F>>>)> {
    let names = object.objects().lock();
    let mut first = u64::MAX;
    names.each(&mut |entry| match entry.surface().since() {
        Some(since) if since > after => first = first.min(since),
        _ => {}
    });
    let mut found = None;
    names.each(&mut |entry| {
        if found.is_none() && entry.surface().since() == Some(first) {
            found = Some((first, entry.keep()));
        }
    });
    found
}

/// The object gives its register back, if it has one. There are no CPU mappings of it.
pub(super) fn give_back<F: Family>(object: &super::Object<F>) {
    let Some(index) = object.surface().clear() else {
        return;
    };
    let mut guard = object.memory().surfaces().lock();
    let (registers, hardware) = guard.parts();
    if let Some(hardware) = hardware {
        hardware.surfaces.set(index, None);
        registers.give_back(index);
    }
}

/// Stores tiling flags and pitch for whoever shares the object. CPU mappings show it accordingly from now on.
///
/// # Errors
///
/// `ERESTARTSYS` if a signal arrives.
pub fn set_tiling<F: Family>(object: ARef<Bo<F>>, flags: u32, pitch: u32) -> Result {
    let object = Held::lock(object)?;
    if object.tiling() != (flags, pitch) {
        object.store_tiling(flags, pitch);
        if object.vram().is_some() {
            resv::assert_held(&**object);
            mmap::zap(&**object);
            give_back(&object);
        }
    }
    Ok(())
}

#[kunit_tests(lapidary_surfaces)]
mod tests {
    use super::*;

    #[test]
    fn only_usable_registers_are_taken_and_each_once() {
        let mut registers = Registers::new();
        assert_eq!(registers.take(0), None);
        let usable = 0b1011_0110;
        let mut seen = 0;
        for _ in 0..5 {
            let index = registers.take(usable).unwrap_or(31);
            assert_eq!(seen >> index & 1, 0);
            seen |= 1 << index;
        }
        assert_eq!(seen, usable);
        assert_eq!(registers.take(usable), None);
        registers.give_back(4);
        assert_eq!(registers.take(usable), Some(4));
        assert_eq!(registers.take(usable), None);
    }

    #[test]
    fn no_more_than_there_are() {
        let mut registers = Registers::new();
        for index in 0..MOST {
            assert_eq!(registers.take(u32::MAX), Some(index));
        }
        assert_eq!(registers.take(u32::MAX), None);
    }

    #[test]
    fn whoever_took_first_is_older() {
        let (first, second) = (Taken::new(), Taken::new());
        assert_eq!(first.since(), None);
        assert_eq!(first.clear(), None);
        first.set(7, 1);
        second.set(0, 2);
        assert!(first.since() < second.since());
        assert_eq!(first.clear(), Some(7));
        assert_eq!(first.since(), None);
        assert_eq!(second.clear(), Some(0));
    }
}
