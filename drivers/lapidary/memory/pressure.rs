// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Who makes room for whom.
//!
//! What is decided here follows [`crate::portable::placement`]; this is where its rules meet objects, locks and the
//! ring. There are four occasions:
//!
//! - an object is made and VRAM is full ([`attempt`]);
//! - a job uses an object that should be in VRAM and is not ([`bring_home`]);
//! - the CPU touches an object where it cannot see it ([`show`]);
//! - the system runs out of memory and wants pages back ([`Reclaim`]).
//!
//! Others' objects are only tried for: one that is locked is in use at this moment, perhaps by the very submission
//! that looks for room, and stays.

use kernel::{
    prelude::*,
    sync::{
        aref::ARef,
        Arc, //
    },
};

use crate::{
    corner::{
        mm::Range,
        mmap,
        resv::{
            self,
            Held, //
        },
        roster::Roster,
        shrinker::Shrink, //
    },
    family::{
        Family,
        GpuAddr, //
    },
    memory::{
        gtt,
        moves::{
            self,
            Goal,
            Journey, //
        },
        object::{
            At,
            Bo,
            Object, //
        },
        usage::Use, //
    },
    portable::placement::{
        self,
        Access,
        Attempt,
        Budget,
        Part,
        Resident,
        Room, //
    },
    running::Running,
};

/// How often to look for others to make room: some may be locked, or somebody else takes the room.
const TRIES: usize = 4;
/// Objects that may come into being between counting and listing them.
const SPARE: usize = 16;

/// Tries one way to find a place for `size` bytes; only objects not used since `before` make room. Says how many bytes
/// have been moved for it; `None` stands for system pages.
///
/// # Errors
///
/// `ENOSPC` if that way leads nowhere; `ERESTARTSYS` if a signal arrives; `ENOMEM`; as [`moves::carry_out`].
pub(super) fn attempt<F: Family>(
    running: &Running<'_, F>,
    attempt: Attempt,
    size: u64,
    align: u64,
    before: u64,
) -> Result<Option<(Range, u64)>> {
    let vram = running.shared().memory.vram();
    match attempt {
        Attempt::System => Ok(None),
        Attempt::Free(part) => Ok(Some((vram.find(size, align, part)?, 0))),
        Attempt::Displace(part) => {
            let mut bytes = 0;
            for _ in 0..TRIES {
                bytes += displace(running, size, align, part, before)?;
                match vram.find(size, align, part) {
                    Ok(range) => return Ok(Some((range, bytes))),
                    Err(e) if e == ENOSPC => {}
                    Err(e) => return Err(e),
                }
            }
            Err(ENOSPC)
        }
    }
}

/// Moves objects away so that there is room; says how many bytes.
fn displace<F: Family>(
    running: &Running<'_, F>,
    size: u64,
    align: u64,
    part: Part,
    before: u64,
) -> Result<u64> {
    let vram = running.shared().memory.vram();
    let room = Room {
        span: vram.span(part),
        size,
        align,
    };
    // First addresses of objects that somebody else has locked.
    let mut locked = KVec::new();
    for _ in 0..TRIES {
        let victims = choose(running, &room, before, &locked)?;
        if victims.is_empty() {
            return Ok(0);
        }
        let mut held = KVec::with_capacity(victims.len(), GFP_KERNEL)?;
        for object in victims {
            let addr = object.vram();
            match (Held::try_lock(object), addr) {
                (Some(object), _) => held.push(object, GFP_KERNEL)?,
                (None, Some(addr)) => locked.push(addr, GFP_KERNEL)?,
                (None, None) => {}
            }
        }
        if locked.is_empty() {
            return send_away(running, &held, part);
        }
    }
    Err(ENOSPC)
}

/// References to the objects that have to go; none if there is room already.
fn choose<F: Family>(
    running: &Running<'_, F>,
    room: &Room,
    before: u64,
    locked: &[GpuAddr],
) -> Result<KVVec<ARef<Bo<F>>>> {
    let shared = running.shared();
    let fixed = shared.memory.vram().fixed()?;
    let objects = &shared.objects;
    let count = objects.lock().len() + SPARE;
    let mut residents = KVVec::with_capacity(count + fixed.len(), GFP_KERNEL)?;
    let mut victims = KVVec::with_capacity(count, GFP_KERNEL)?;

    let names = objects.lock();
    for range in fixed {
        let resident = Resident {
            start: range.start,
            size: range.size,
            used: 0,
            movable: false,
        };
        residents
            .push_within_capacity(resident)
            .map_err(|_| ENOSPC)?;
    }
    let mut full = Ok(());
    names.each(&mut |entry| {
        if let (Some(start), true) = (entry.vram(), full.is_ok()) {
            full = residents.push_within_capacity(Resident {
                start,
                size: entry.bytes(),
                used: entry.used(),
                movable: entry.is_movable() && !locked.contains(&start),
            });
        }
    });
    full.map_err(|_| ENOSPC)?;
    placement::sort(&mut residents);
    let plan = placement::make_room(&residents, room, before).ok_or(ENOSPC)?;
    let end = plan.first.saturating_add(plan.count);
    let chosen = residents.get(plan.first..end).unwrap_or(&[]);
    let (Some(first), Some(last)) = (chosen.first(), chosen.last()) else {
        return Ok(victims);
    };
    let span = first.start..=last.start;
    let mut full = Ok(());
    names.each(&mut |entry| {
        if full.is_ok() && entry.vram().is_some_and(|start| span.contains(&start)) {
            // One that is on its way out makes room without our doing.
            if let Some(object) = entry.keep() {
                full = victims.push_within_capacity(object);
            }
        }
    });
    // References are dropped where the list is not locked.
    drop(names);
    full.map_err(|_| ENOSPC)?;
    Ok(victims)
}

/// Moves objects out of `part` of VRAM.
fn send_away<F: Family>(
    running: &Running<'_, F>,
    objects: &[Held<Bo<F>>],
    part: Part,
) -> Result<u64> {
    let vram = running.shared().memory.vram();
    let mut bytes = 0;
    for objects in objects.chunks(moves::BATCH) {
        let mut journeys = KVec::with_capacity(objects.len(), GFP_KERNEL)?;
        for object in objects {
            moves::renew(object)?;
            // It has been locked only now, or had nothing to take along.
            if object.vram().is_none() {
                continue;
            }
            // What the CPU does not need to see may make room by going behind that part.
            let hidden = match (part, object.access()) {
                (Part::Visible, Access::Both | Access::Gpu) => {
                    vram.find(object.bytes(), object.align(), Part::Hidden).ok()
                }
                _ => None,
            };
            let goal = hidden.map_or(Goal::System, Goal::Vram);
            match Journey::prepare(running, object, goal) {
                Ok(journey) => journeys.push(journey, GFP_KERNEL)?,
                Err(e) if e == ENOSPC => bytes += moves::to_system(running, object)?,
                Err(e) => return Err(e),
            }
        }
        if !journeys.is_empty() {
            bytes += moves::carry_out(running, journeys)?;
        }
    }
    Ok(bytes)
}

/// Brings objects of a submission to VRAM that should be there, as far as that is worth it. The caller holds their
/// reservations. Those that stay where they are can be used all the same.
///
/// # Errors
///
/// `ERESTARTSYS` if a signal arrives.
pub(crate) fn bring_home<F: Family>(running: &Running<'_, F>, uses: &[Use<F>]) -> Result {
    let memory = &running.shared().memory;
    if !memory.any_astray() || !running.is_working() {
        return Ok(());
    }
    let mut budget = Budget::new(memory.vram().size(), memory.vram().usage());
    // Looking for victims in vain is expensive: once in a submission.
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

/// Moves an object to VRAM; says how many bytes have moved in all.
fn bring_to_vram<F: Family>(
    running: &Running<'_, F>,
    object: &ARef<Bo<F>>,
    before: u64,
    displace: bool,
) -> Result<u64> {
    let attempts = placement::attempts(crate::memory::Domain::Vram, object.access());
    for &way in attempts {
        if !displace && matches!(way, Attempt::Displace(_)) {
            continue;
        }
        match attempt(running, way, object.bytes(), object.align(), before) {
            Ok(Some((range, bytes))) => {
                return Ok(bytes + moves::move_to(running, object, Goal::Vram(range))?)
            }
            Ok(None) => break,
            Err(e) if e == ENOSPC => {}
            Err(e) => return Err(e),
        }
    }
    Err(ENOSPC)
}

/// Moves an object in VRAM to where the CPU sees it, from now on: it has touched it. The caller holds the reservation.
///
/// # Errors
///
/// As [`moves::carry_out`].
pub(super) fn show<F: Family>(running: &Running<'_, F>, object: &ARef<Bo<F>>) -> Result {
    object.touch();
    match bring_to_vram(running, object, object.used(), true) {
        Err(e) if e == ERESTARTSYS || e == EINTR => Err(e),
        Err(_) => moves::to_system(running, object).map(drop),
        Ok(_) => Ok(()),
    }
}

/// When an object was used last, and which it is: the objects of one job have been used at the same time.
type Turn = (u64, usize);

/// Gives system pages back.
pub struct Reclaim<F: Family>(pub Arc<Roster<Object<F>>>);

impl<F: Family> Reclaim<F> {
    /// The object in system pages whose turn comes first of those after `after`.
    fn oldest(&self, after: Turn) -> Option<(Turn, Option<ARef<Bo<F>>>)> {
        let names = self.0.try_lock()?;
        let mut oldest: Option<Turn> = None;
        names.each(&mut |entry| {
            let turn = (entry.used(), entry.name());
            let older = oldest.is_none_or(|oldest| turn < oldest);
            if turn > after && older && entry.held() != 0 {
                oldest = Some(turn);
            }
        });
        let oldest = oldest?;
        let mut object = None;
        names.each(&mut |entry| {
            if entry.name() == oldest.1 {
                object = entry.keep();
            }
        });
        Some((oldest, object))
    }

    /// Gives back the pages of one object, if nobody uses it.
    fn reclaim(object: ARef<Bo<F>>) -> Option<usize> {
        let object = Held::try_lock(object)?;
        if object.is_pinned() || !resv::wait(&**object, 0).ok()? {
            return None;
        }
        let At::System(slot) = object.at() else {
            return None;
        };
        mmap::zap(&**object);
        gtt::relinquish(object.memory().gtt(), &slot, &**object)
    }
}

impl<F: Family> Shrink for Reclaim<F> {
    fn count(&self) -> usize {
        let Some(names) = self.0.try_lock() else {
            return 0;
        };
        let mut pages = 0;
        names.each(&mut |entry| pages += entry.held());
        pages
    }

    fn scan(&self, want: usize) -> usize {
        let mut pages = 0;
        let mut after = Turn::default();
        while pages < want {
            let Some((turn, object)) = self.oldest(after) else {
                break;
            };
            after = turn;
            if let Some(object) = object {
                pages += Self::reclaim(object).unwrap_or(0);
            }
        }
        pages
    }
}
