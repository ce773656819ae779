// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Eviction from VRAM: making room for another object.
//!
//! The rules are portable code, [`crate::portable::placement`]. This file applies them to objects, locks and the
//! ring. Room is made for an object that is being created ([`super::create`]) and for one that moves to VRAM
//! ([`super::to_vram`]).
//!
//! Victims are locked by trylock only. A locked object is in use at this moment, perhaps by the same submission that
//! needs room, and stays.

use core::ops::RangeInclusive;

use kernel::{
    prelude::*,
    sync::aref::ARef, //
};

use crate::{
    corner::{
        resv::Held,
        roster::{
            Entry,
            Names, //
        }, //
    },
    family::{
        space::GpuAddr,
        Family, //
    },
    memory::{
        object::{
            Bo,
            Object, //
        },
        renew::renew,
        turns::Turn,
        vram::{
            Fixed,
            Lot, //
        }, //
    },
    portable::placement::{
        self,
        Access,
        Attempt,
        Part,
        Plan,
        Resident,
        Room,
        Way, //
    },
    residency::moves::{
        self,
        Goal,
        Move, //
    },
    running::Running, //
};

/// How often to choose victims: some may be locked, or another thread may take the room.
const TRIES: usize = 4;
/// Objects that may be created between counting and listing them.
const SPARE: usize = 16;
/// How many of the least recently used objects are examined before all objects are.
const CANDIDATES: usize = 32;
/// Neighbours that are examined on each side of them.
const NEAR: usize = 32;

/// Try one way to find a place for `size` bytes. With `zero` the place is taken from the stock if possible. Only
/// objects not used since `before` are evicted. Return the place and how many bytes have been moved for it. `None`
/// stands for system pages.
///
/// # Errors
///
/// `ENOSPC` if there is no place in this way; `ERESTARTSYS` if a signal arrives; `ENOMEM`; as [`moves::carry_out`].
pub(crate) fn attempt<F: Family>(
    running: &Running<'_, F>,
    attempt: Attempt,
    size: u64,
    align: u64,
    before: u64,
    zero: bool,
) -> Result<Option<(Lot, u64)>> {
    let vram = running.data().memory.vram();
    let find = |part| match zero {
        true => vram.find_zero(size, align, part),
        false => vram.find(size, align, part),
    };
    match attempt {
        Attempt::System => Ok(None),
        Attempt::Free(part) => Ok(Some((find(part)?, 0))),
        Attempt::Displace(part) => {
            let mut bytes = 0;
            for _ in 0..TRIES {
                bytes += displace(running, size, align, part, before)?;
                match find(part) {
                    Ok(lot) => return Ok(Some((lot, bytes))),
                    Err(e) if e == ENOSPC => {}
                    Err(e) => return Err(e),
                }
            }
            Err(ENOSPC)
        }
    }
}

/// Evict objects to make room. Return how many bytes have moved.
fn displace<F: Family>(
    running: &Running<'_, F>,
    size: u64,
    align: u64,
    part: Part,
    before: u64,
) -> Result<u64> {
    let vram = running.data().memory.vram();
    let room = Room {
        span: vram.span(part),
        size,
        align,
    };
    // First addresses of objects that another thread has locked.
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

/// Return references to the victims, none if there is room already.
fn choose<F: Family>(
    running: &Running<'_, F>,
    room: &Room,
    before: u64,
    locked: &[GpuAddr],
) -> Result<KVVec<ARef<Bo<F>>>> {
    let search = Search {
        room,
        before,
        locked,
        fixed: running.data().memory.vram().fixed()?,
    };
    match search.near_the_oldest(running)? {
        Some(victims) => Ok(victims),
        None => search.everywhere(running),
    }
}

/// A search for victims.
struct Search<'a> {
    room: &'a Room,
    /// Objects used since then stay.
    before: u64,
    /// First addresses of objects that cannot move at the moment.
    locked: &'a [GpuAddr],
    fixed: KVec<Fixed>,
}

/// The result of a look around an object that might be evicted.
enum Around {
    /// The object is not there any more, or has been used.
    Stale,
    /// There is no room, even if the object and all neighbours that were used no later are evicted. With many
    /// neighbours this is a guess.
    Nothing { guess: bool },
    /// There is room once the objects between these addresses, both included, are evicted.
    Room(RangeInclusive<GpuAddr>),
    /// There is room already.
    Free,
}

impl Search<'_> {
    fn resident<F: Family>(&self, start: GpuAddr, entry: &Entry<'_, Object<F>>) -> Resident {
        Resident {
            start,
            size: entry.bytes(),
            used: entry.used(),
            // An object that has a new place and is still listed at the old one cannot be moved from there.
            movable: entry.vram() == Some(start)
                && entry.is_movable()
                && !self.locked.contains(&start),
        }
    }

    /// Look around the least recently used objects. The first of them around which there is room decides, because no
    /// victim was used later. `None` if this does not find an answer.
    ///
    /// The time does not depend on the number of objects, except for the walks of
    /// [`Turns`](crate::memory::turns::Turns). Each of these finds many objects.
    fn near_the_oldest<F: Family>(
        &self,
        running: &Running<'_, F>,
    ) -> Result<Option<KVVec<ARef<Bo<F>>>>> {
        let data = running.data();
        let mut near = KVec::with_capacity(2 * NEAR + 1 + self.fixed.len(), GFP_KERNEL)?;
        let mut victims = KVVec::with_capacity(2 * NEAR + 1, GFP_KERNEL)?;
        let mut tried = [(0, 0); CANDIDATES];
        let mut count = 0;
        let mut walked = false;
        let mut guess = false;
        let mut result = Ok(None);

        let mut turns = data.memory.turns().lock();
        let mut names = data.objects.lock();
        while count < CANDIDATES {
            let Some(turn) = turns.next() else {
                if walked {
                    break;
                }
                walked = true;
                // The walk finds the objects again that were tried before.
                count = 0;
                turns.find(|least| {
                    names.in_device(0, Way::Up, &mut |start, entry| {
                        if entry.vram() == Some(start) && entry.is_movable() {
                            least.offer((entry.used(), start));
                        }
                        true
                    });
                });
                continue;
            };
            let around = match turn.0 < self.before {
                true => self.around(&mut names, turn, &mut near),
                // All other objects were used later still.
                false => {
                    turns.put_back(turn);
                    if !guess {
                        result = Err(ENOSPC);
                    }
                    break;
                }
            };
            if matches!(around, Around::Stale) {
                continue;
            }
            // It is put back below. If it is evicted, it is stale at its next turn.
            if let Some(place) = tried.get_mut(count) {
                *place = turn;
                count += 1;
            }
            match around {
                Around::Room(span) => {
                    self.take(&mut names, span, &mut victims);
                    result = Ok(Some(victims));
                    break;
                }
                Around::Free => {
                    result = Ok(Some(victims));
                    break;
                }
                Around::Nothing { guess: guessed } => guess |= guessed,
                Around::Stale => {}
            }
        }
        for &turn in tried.iter().take(count).rev() {
            turns.put_back(turn);
        }
        result
    }

    /// Look at the neighbours of an object whose turn it is, as far as they can be evicted with it. `near` has room
    /// for [`NEAR`] on each side, the object, and what is fixed.
    fn around<F: Family>(
        &self,
        names: &mut Names<'_, Object<F>>,
        (used, addr): Turn,
        near: &mut KVec<Resident>,
    ) -> Around {
        near.clear();
        let mut around = placement::Around::new(self.room, addr, used);
        for way in [Way::Up, Way::Down] {
            let mut left = NEAR + usize::from(way == Way::Up);
            names.in_device(addr, way, &mut |start, entry| {
                let resident = self.resident(start, &entry);
                if near.is_empty() && (start, resident.used) != (addr, used) {
                    return false;
                }
                left -= 1;
                drop(near.push_within_capacity(resident));
                around.look(way, &resident, left == 0)
            });
            if near.is_empty() {
                return Around::Stale;
            }
        }
        for fixed in &self.fixed {
            drop(near.push_within_capacity(Resident {
                start: fixed.start,
                size: fixed.size,
                used: 0,
                movable: false,
            }));
        }
        placement::sort(near);
        let Some(plan) = around.plan(near) else {
            return Around::Nothing {
                guess: around.guess(),
            };
        };
        chosen(near, &plan).map_or(Around::Free, Around::Room)
    }

    /// Look at all objects, and find the victims exactly.
    ///
    /// This takes long if there are many objects. It is needed when a large object needs the room of many small ones,
    /// or when the least recently used objects are scattered among others.
    fn everywhere<F: Family>(&self, running: &Running<'_, F>) -> Result<KVVec<ARef<Bo<F>>>> {
        let objects = &running.data().objects;
        let count = objects.device_len() + SPARE + self.fixed.len();
        let mut residents = KVVec::with_capacity(count, GFP_KERNEL)?;
        for fixed in &self.fixed {
            let resident = Resident {
                start: fixed.start,
                size: fixed.size,
                used: 0,
                movable: false,
            };
            residents
                .push_within_capacity(resident)
                .map_err(|_| ENOSPC)?;
        }
        let mut full = Ok(());
        objects.lock().in_device(0, Way::Up, &mut |start, entry| {
            full = residents.push_within_capacity(self.resident(start, &entry));
            full.is_ok()
        });
        full.map_err(|_| ENOSPC)?;
        // The objects are sorted already. Only what is fixed is in the wrong place.
        placement::sort(&mut residents);
        let plan = placement::make_room(&residents, self.room, self.before).ok_or(ENOSPC)?;
        let mut victims = KVVec::with_capacity(plan.count, GFP_KERNEL)?;
        if let Some(span) = chosen(&residents, &plan) {
            self.take(&mut objects.lock(), span, &mut victims);
        }
        Ok(victims)
    }

    /// Return references to the objects in `span`, as many as `victims` has room for.
    fn take<F: Family>(
        &self,
        names: &mut Names<'_, Object<F>>,
        span: RangeInclusive<GpuAddr>,
        victims: &mut KVVec<ARef<Bo<F>>>,
    ) {
        names.in_device(*span.start(), Way::Up, &mut |start, entry| {
            if !span.contains(&start) || victims.len() == victims.capacity() {
                return false;
            }
            // An object that is being freed makes room by itself.
            if let Some(object) = entry.keep() {
                drop(victims.push_within_capacity(object));
            }
            true
        });
    }
}

/// Return the addresses of the first and the last victim, if there are any.
fn chosen(residents: &[Resident], plan: &Plan) -> Option<RangeInclusive<GpuAddr>> {
    let end = plan.first.saturating_add(plan.count);
    let chosen = residents.get(plan.first..end)?;
    Some(chosen.first()?.start..=chosen.last()?.start)
}

/// Move objects out of `part` of VRAM.
fn send_away<F: Family>(
    running: &Running<'_, F>,
    objects: &[Held<Bo<F>>],
    part: Part,
) -> Result<u64> {
    let vram = running.data().memory.vram();
    let mut bytes = 0;
    for objects in objects.chunks(moves::BATCH) {
        let mut moves = KVec::with_capacity(objects.len(), GFP_KERNEL)?;
        for object in objects {
            renew(object)?;
            // It moved before it was locked here, or has no content in VRAM.
            if object.vram().is_none() {
                continue;
            }
            // An object that the CPU does not need to see may move to the hidden part.
            let hidden = match (part, object.access()) {
                (Part::Visible, Access::Both | Access::Gpu) => {
                    vram.find(object.bytes(), object.align(), Part::Hidden).ok()
                }
                _ => None,
            };
            if hidden.is_none() && !moves::by_ring::<F>() {
                bytes += moves::to_system(running, object)?;
                continue;
            }
            let goal = hidden.map_or(Goal::System, Goal::Vram);
            match Move::prepare(running, object, goal) {
                Ok(mv) => moves.push(mv, GFP_KERNEL)?,
                Err(e) if e == ENOSPC => bytes += moves::to_system(running, object)?,
                Err(e) => return Err(e),
            }
        }
        if !moves.is_empty() {
            bytes += moves::carry_out(running, moves)?;
        }
    }
    Ok(bytes)
}
