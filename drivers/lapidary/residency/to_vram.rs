// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Moving objects to VRAM: objects of a submission that should or must be there, and objects in VRAM that the CPU touches
//! but cannot see.

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
    portable::placement::{
        self,
        Attempt,
        Budget,
        Domain, //
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
/// How often to look again if no job is under way. Another submission may have locked objects for a moment.
const LOOKS: u32 = 100;

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
/// `ENOSPC` if there is no room between objects that are locked, which may change when the locks are released; `EPERM` for
/// an object that cannot move; `ERESTARTSYS` if a signal arrives; as [`moves::to_lot`].
pub fn bring_needed<F: Family>(running: &Running<'_, F>, uses: &[Use<F>]) -> Result {
    // What the ring reaches, it reaches everywhere.
    if moves::by_ring::<F>() {
        return Ok(());
    }
    for object in uses.iter().filter_map(Use::misplaced) {
        bring_to_vram(running, object, u64::MAX, true)?;
    }
    Ok(())
}

/// Call `attempt` until it does not fail with `ENOSPC` any more, which means that VRAM has no room between objects that are
/// locked or in use. No lock is held between the calls.
///
/// # Errors
///
/// Those of `attempt`; `ENOMEM` if no other submission is under way that could make room; `EBUSY` after 30 s; `ERESTARTSYS` if
/// a signal arrives.
pub fn with_room<F: Family, R>(
    running: &Running<'_, F>,
    mut attempt: impl FnMut() -> Result<R>,
) -> Result<R> {
    let patience = Patience::new(ROOM_MS);
    let mut looks = LOOKS;
    loop {
        let dropped = running.dropped();
        match attempt() {
            Err(error) if error == ENOSPC => {}
            result => return result,
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
