// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Making room in VRAM: which objects have to go.
//!
//! The rules are portable code, [`crate::portable::placement`]; here they meet objects, locks and the ring. Room is
//! made for an object that is made ([`super::create`]) and for one that moves to VRAM ([`super::to_vram`]).
//!
//! Others' objects are only tried for: one that is locked is in use at this moment, perhaps by the very submission
//! that looks for room, and stays.

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

/// How often to look for others to make room: some may be locked, or another thread takes the room.
const TRIES: usize = 4;
/// Objects that may come into being between counting and listing them.
const SPARE: usize = 16;
/// How many of those used longest ago are looked at for a place, before all are.
const CANDIDATES: usize = 32;
/// On each side of them, so many neighbours.
const NEAR: usize = 32;

/// Tries one way to find a place for `size` bytes, from the stock if it is to be `zero`; only objects not used since
/// `before` make room. Says how many bytes have been moved for it; `None` stands for system pages.
///
/// # Errors
///
/// `ENOSPC` if that way leads nowhere; `ERESTARTSYS` if a signal arrives; `ENOMEM`; as [`moves::carry_out`].
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

/// Moves objects away so that there is room; says how many bytes.
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

/// References to the objects that have to go; none if there is room already.
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

/// A search for objects that have to go.
struct Search<'a> {
    room: &'a Room,
    /// Those used since then stay.
    before: u64,
    /// First addresses of objects that cannot go at the moment.
    locked: &'a [GpuAddr],
    fixed: KVec<Fixed>,
}

/// What there is around an object that might go.
enum Around {
    /// It is not there any more, or has been used.
    Stale,
    /// No room if it goes, nor if its neighbours go that were not used later. With many neighbours that is a guess.
    Nothing { guess: bool },
    /// There is room once those between these addresses have gone, both included.
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

    /// Looks around those objects that were used longest ago. The first around which there is room decides: no victim
    /// was used later. `None` if it takes more than that to know.
    ///
    /// How long that takes does not depend on the number of objects, but for the walks of
    /// [`Turns`](crate::memory::turns::Turns), of which each finds many.
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
                // It finds those that were tried once more.
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
                // All others were used later still.
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
            // It has had its turn when it has gone.
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

    /// Looks at the neighbours of an object whose turn it is, as far as they would go with it. `near` has room for
    /// [`NEAR`] on each side, the object, and what is fixed.
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

    /// Looks at all objects: who has to go is known exactly then.
    ///
    /// That takes long if they are many. It happens where a large object needs the room of many small ones, or where
    /// those used longest ago are scattered among others.
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
        // Only what is fixed is not where it belongs.
        placement::sort(&mut residents);
        let plan = placement::make_room(&residents, self.room, self.before).ok_or(ENOSPC)?;
        let mut victims = KVVec::with_capacity(plan.count, GFP_KERNEL)?;
        if let Some(span) = chosen(&residents, &plan) {
            self.take(&mut objects.lock(), span, &mut victims);
        }
        Ok(victims)
    }

    /// References to those who stand in `span`, as many as `victims` has room for.
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
            // One that is on its way out makes room without our doing.
            if let Some(object) = entry.keep() {
                drop(victims.push_within_capacity(object));
            }
            true
        });
    }
}

/// First addresses of the first and the last that have to go, if any have to.
fn chosen(residents: &[Resident], plan: &Plan) -> Option<RangeInclusive<GpuAddr>> {
    let end = plan.first.saturating_add(plan.count);
    let chosen = residents.get(plan.first..end)?;
    Some(chosen.first()?.start..=chosen.last()?.start)
}

/// Moves objects out of `part` of VRAM.
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
