// SPDX-License-Identifier: GPL-2.0 OR MIT

//! How the CPU sees objects whose pixels do not lie in the order of their lines.
//!
//! A GPU arranges the pixels of a picture in blocks. Old programs that draw by the CPU do not know this. They ask
//! that mappings of an object in VRAM show lines ([`Uapi::arrangement`]). Some chips have a few *surface registers*
//! for this. Each of them reorders the CPU's accesses to one range of VRAM ([`family::Surfaces`]).
//!
//! An object takes a register when the CPU touches a mapping of it. It keeps the register until it leaves VRAM, its
//! arrangement changes, or it is freed. When all registers are taken, it takes that of the object that took one
//! first. That object loses its CPU mappings, so its next access is a fault, and takes a register again.
//! [`Registers`] store the keys of their holders. So the cost of finding a victim depends on the number of registers,
//! and not on the number of objects.
//!
//! The family decides which part of an object a register covers. It never covers more than the object.
//!
//! A thread that gives an object a register, takes it away, or enters pages of the object into a mapping holds the
//! object's reservation. So mappings and register always match. A victim whose reservation another thread holds is
//! skipped.
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

/// Prepare `object`, which lies in VRAM at `range` (offsets in VRAM), for being seen by the CPU. Give it a register
/// if user space has asked for lines. The caller holds its reservation, as in all of this file.
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

/// Take a free register. Return whether there was one, or none is needed.
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

/// Take the register from the object that has had one for the longest time.
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

/// Return a reference to the object that has a register, if it still has it.
fn keep<F: Family>(object: &Bo<F>, holder: Holder) -> Option<ARef<Bo<F>>> {
    let names = object.objects().lock();
    let entry = names.find(holder.key)?;
    (entry.surface().ticket() == Some(holder.ticket)).then(|| entry.keep())?
}

/// Give the register of the object back, if it has one. There are no CPU mappings of the object.
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

/// Let `change` store another arrangement with the object. `change` returns whether that is a change. CPU mappings
/// show the object accordingly from then on.
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
