// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Moving objects to VRAM: objects of a submission that should or must be there, and objects in VRAM that the CPU touches
//! but cannot see.

use core::cmp::Reverse;

use kernel::{
    prelude::*,
    sync::aref::ARef,
    time::{
        delay::fsleep,
        Delta, //
    },
};

use crate::{
    family::Family,
    memory::{
        object::Bo,
        usage::Use, //
    },
    portable::{
        heap,
        placement::{
            self,
            Attempt,
            Budget,
            Domain,
            Part, //
        }, //
    },
    residency::{
        evict::attempt,
        moves, //
    },
    running::Running,
    submit::placing::Patience, //
};

/// How long to wait for room in VRAM, in milliseconds.
const ROOM_MS: u32 = 30_000;
/// How long to wait for another submission before looking again, in milliseconds.
const LOOK_MS: u32 = 100;
/// How often to look again if neither a job nor another submission is under way. A page fault, or the making of an object,
/// may have locked objects for a moment.
const LOOKS: u32 = 100;
/// The first attempt in turn packs, and then one in so many. Packing moves all objects of the submission.
const PACK_EVERY: u32 = 16;

/// How a submission brings its objects to VRAM that it can use only there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// What is there stays. It may divide the room that the others need.
    Fill,
    /// What is there leaves first, so that nothing divides the room but what cannot move.
    Pack,
}

/// Move objects of a submission to VRAM that should be there, within a budget. The caller holds their reservations.
/// Objects that are not moved can be used where they are.
///
/// # Errors
///
/// `ERESTARTSYS` if a signal arrives.
pub fn bring_home<F: Family>(running: &Running<'_, F>, uses: &[Use<F>]) -> Result {
    let memory = &running.data().memory;
    if !memory.any_astray() || !running.is_working() {
        return Ok(());
    }
    let mut budget = Budget::new(memory.vram().size(), memory.vram().usage());
    // A search for victims without success is expensive, so there is at most one in a submission.
    let mut displace = true;
    for object in uses.iter().filter_map(Use::astray) {
        if !budget.allows() {
            break;
        }
        match bring_to_vram(running, object, object.used(), displace) {
            Ok(bytes) => budget.spend(bytes),
            Err(e) if e == ERESTARTSYS || e == EINTR => return Err(e),
            Err(_) => displace = false,
        }
    }
    Ok(())
}

/// Move objects of a submission to VRAM that it can use only there. The caller holds their reservations.
///
/// # Errors
///
/// `ENOSPC` if there is no room between objects that are locked, which may change when the locks are released, or between the
/// submission's own, which another [`Effort`] changes; `ENOMEM` if the objects are more than VRAM; `EPERM` for an object that
/// cannot move; `ERESTARTSYS` if a signal arrives; as [`moves::to_lot`] and [`moves::to_system`].
pub fn bring_needed<F: Family>(
    running: &Running<'_, F>,
    uses: &[Use<F>],
    effort: Effort,
) -> Result {
    // What the ring reaches, it reaches everywhere.
    if moves::by_ring::<F>() || !uses.iter().any(|item| item.misplaced().is_some()) {
        return Ok(());
    }
    let vram = running.data().memory.vram();
    let needed = uses.iter().filter(|item| item.needs_vram());
    if needed.map(|item| item.object().bytes()).sum::<u64>() > vram.size() {
        return Err(ENOMEM);
    }
    if effort == Effort::Pack {
        for object in uses.iter().filter_map(Use::in_vram) {
            moves::to_system(running, object)?;
        }
    }
    let mut misplaced = KVVec::with_capacity(uses.len(), GFP_KERNEL)?;
    for object in uses.iter().filter_map(Use::misplaced) {
        misplaced.push(object, GFP_KERNEL)?;
    }
    // Small objects would divide the room of large ones.
    heap::sort(&mut misplaced, |object| Reverse(object.bytes()));
    if effort == Effort::Pack {
        clear_way(running, &misplaced)?;
    }
    for object in misplaced {
        bring_to_vram(running, object, u64::MAX, true)?;
    }
    Ok(())
}

/// Evict objects so that there is room for all of these in one piece, if what cannot move allows that.
///
/// # Errors
///
/// As [`attempt`], but for `ENOSPC`.
fn clear_way<F: Family>(running: &Running<'_, F>, objects: &[&ARef<Bo<F>>]) -> Result {
    let bytes = objects.iter().map(|object| object.bytes()).sum();
    let align = objects.iter().map(|object| object.align()).max();
    let way = Attempt::Displace(Part::Any);
    match attempt(running, way, bytes, align.unwrap_or(1), u64::MAX, false) {
        // The room is free again when the lot is dropped.
        Ok(lot) => drop(lot),
        Err(e) if e == ENOSPC => {}
        Err(e) => return Err(e),
    }
    Ok(())
}

/// Call `attempt` until it does not fail with `ENOSPC` any more, which means that VRAM has no room between objects that are
/// locked or in use. No lock is held between the calls. After the first, calls are made in turn with those of other
/// submissions, so that two do not divide the room, and some of them are asked to pack.
///
/// # Errors
///
/// Those of `attempt`; `ENOMEM` if no other submission is under way that could make room; `EBUSY` after 30 s; `ERESTARTSYS` if
/// a signal arrives.
pub fn with_room<F: Family, R>(
    running: &Running<'_, F>,
    mut attempt: impl FnMut(Effort) -> Result<R>,
) -> Result<R> {
    let mut inside = running.data().bringing.enter();
    match attempt(Effort::Fill) {
        Err(error) if error == ENOSPC => {}
        result => return result,
    }
    let patience = Patience::new(ROOM_MS);
    inside.take_turn(&patience)?;
    let mut looks = LOOKS;
    let mut failures = 0u32;
    loop {
        let (gone, dropped) = (inside.gone(), running.dropped());
        let effort = match failures % PACK_EVERY {
            0 => Effort::Pack,
            _ => Effort::Fill,
        };
        match attempt(effort) {
            Err(error) if error == ENOSPC => {}
            result => return result,
        }
        failures = failures.wrapping_add(1);
        // Another submission may wait for something else, without a lock: look again soon.
        match inside.wait_for_others(gone, &Patience::new(LOOK_MS.min(patience.left()?))) {
            Ok(false) => {}
            Err(error) if error != EBUSY => return Err(error),
            _ => continue,
        }
        match running.wait_for_drop(dropped, patience.left()?) {
            Err(error) if error == ENOMEM => {
                looks = looks.checked_sub(1).ok_or(ENOMEM)?;
                fsleep(Delta::from_millis(1));
            }
            result => result?,
        }
    }
}

/// Move an object to VRAM. Return how many bytes have moved in total.
fn bring_to_vram<F: Family>(
    running: &Running<'_, F>,
    object: &ARef<Bo<F>>,
    before: u64,
    displace: bool,
) -> Result<u64> {
    let attempts = placement::attempts(Domain::Vram, object.access());
    for &way in attempts {
        if !displace && matches!(way, Attempt::Displace(_)) {
            continue;
        }
        match attempt(running, way, object.bytes(), object.align(), before, false) {
            Ok(Some((lot, bytes))) => {
                return Ok(bytes + moves::to_lot(running, object, lot)?);
            }
            Ok(None) => break,
            Err(e) if e == ENOSPC => {}
            Err(e) => return Err(e),
        }
    }
    Err(ENOSPC)
}

/// Move an object in VRAM to where the CPU sees it, because the CPU has touched it. It stays on that side from then
/// on. The caller holds the reservation.
///
/// # Errors
///
/// As [`moves::carry_out`].
pub(crate) fn show<F: Family>(running: &Running<'_, F>, object: &ARef<Bo<F>>) -> Result {
    object.touch();
    match bring_to_vram(running, object, object.used(), true) {
        Err(e) if e == ERESTARTSYS || e == EINTR => Err(e),
        Err(_) => moves::to_system(running, object).map(drop),
        Ok(_) => Ok(()),
    }
}
