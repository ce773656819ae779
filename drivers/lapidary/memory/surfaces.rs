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
//! A thread that gives an object a register, takes it away, or enters pages of it into a mapping holds the object's
//! reservation. Mappings and register therefore always fit. Of the objects to be robbed, those are passed over whose
//! reservation another thread holds.
//!
//! [`family::Surfaces`]: crate::family::surfaces::Surfaces

use core::ops::Range;

use kernel::{
    prelude::*,
    sync::aref::ARef, //
};

use crate::{
    corner::{
        mmap,
        resv::{
            self,
            Held, //
        },
        roster, //
    },
    family::{
        surfaces::Surface,
        Family,
        Note,
        Uapi, //
    },
    memory::{
        object::{
            Bo,
            Object, //
        },
        surface_registers::{
            register,
            Holder,
            MOST,
            NONE, //
        }, //
    }, //
};

/// The CPU is about to see `object`, which lies in VRAM at `range` (offsets in VRAM): if user space has asked for it,
/// through a register. The caller holds its reservation, as in all of this file.
///
/// # Errors
///
/// `EAGAIN` if all registers belong to objects that are in use at this moment; `ENODEV` after unbind.
pub(crate) fn show<F: Family>(object: &Bo<F>, range: Range<u64>) -> Result {
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
    let (registers, surfaces) = guard.parts();
    let Some(surfaces) = surfaces.ok_or(ENODEV)? else {
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
pub(crate) fn give_back<F: Family>(object: &Object<F>) {
    let Some(ticket) = object.surface().clear() else {
        return;
    };
    let mut guard = object.memory().surfaces().lock();
    let (registers, surfaces) = guard.parts();
    if let (true, Some(Some(surfaces))) = (registers.give_back(ticket), surfaces) {
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
