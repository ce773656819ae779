// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Where objects are placed, and which objects are evicted for another.
//!
//! The GPU reaches two memories: its own, VRAM, of which the CPU may see only the first part, and system pages. User
//! space states a preference (as for Linux' TTM drivers). An object that wants VRAM may be in system pages whenever
//! VRAM is full. An object that wants system pages is never in VRAM. This module decides; it moves nothing.
//!
//! # The rules
//!
//! 1. A new object is placed where it wants to be. If there is no room, the objects that have been idle for the
//!    longest time are evicted ([`make_room`]). If that does not make room, the object is made in system pages.
//! 2. An object that wants VRAM and is in system pages moves to VRAM when a submission uses it. It may evict only
//!    objects that have been idle for longer than itself. So a working set that is larger than VRAM becomes stable:
//!    what is in VRAM stays there, the rest is used in system pages, and no object moves back and forth.
//! 3. One submission moves a limited number of bytes for its own objects ([`Budget`]).
//! 4. An object that the CPU touches where it cannot see it moves to where it can, and stays on that side from then
//!    on.
//!
//! Times are counts of submissions. The object with the smaller time has been idle for longer.

use core::ops::Range;

use super::heap;

/// Unit of sizes, addresses and alignments, in bytes.
pub const PAGE: u64 = 4096;

/// The least that a submission may move, in bytes. With less it would take very long until a working set is in VRAM.
pub const LEAST_BUDGET: u64 = 1 << 20;

/// Where an object is, or is wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Domain {
    /// System pages, no GPU address yet.
    System,
    /// System pages in the GTT window.
    Gtt,
    /// The GPU's own memory.
    Vram,
}

/// Which of CPU and GPU accesses the content.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// GPU and CPU, as far as is known.
    Both,
    /// The GPU only, as user space states.
    Gpu,
    /// The CPU, as a page fault has shown.
    Cpu,
}

/// The request of user space.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Bytes; rounded up to whole pages.
    pub size: u64,
    /// Alignment of the GPU address in bytes, any number. It is rounded up to at least a page.
    pub align: u64,
    /// The preferred place.
    pub domain: Domain,
    /// Whether the CPU takes part.
    pub access: Access,
}

/// Why there can be no such object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Error {
    /// It has no size.
    Empty,
    /// It is larger, or has a larger alignment, than the GPU's window on system memory.
    TooLarge,
}

impl Request {
    /// Return the size in bytes, in whole pages. `limit` is the largest allowed.
    ///
    /// # Errors
    ///
    /// [`Error::Empty`] for size 0, [`Error::TooLarge`] beyond the limit.
    pub fn bytes(&self, limit: u64) -> Result<u64, Error> {
        if self.size == 0 {
            return Err(Error::Empty);
        }
        whole_pages(self.size, limit)
    }

    /// Return the alignment in bytes, in whole pages. `limit` is the largest allowed.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`] beyond the limit, because there is no such room.
    pub fn alignment(&self, limit: u64) -> Result<u64, Error> {
        whole_pages(self.align.max(1), limit)
    }
}

fn whole_pages(bytes: u64, limit: u64) -> Result<u64, Error> {
    match bytes.checked_next_multiple_of(PAGE) {
        Some(bytes) if bytes <= limit => Ok(bytes),
        _ => Err(Error::TooLarge),
    }
}

/// A part of VRAM.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// The part that the CPU sees.
    Visible,
    /// The part behind it.
    Hidden,
    /// All of VRAM.
    Any,
}

impl Part {
    /// Return the part's addresses, in VRAM that is `vram` and hidden from `hidden` on.
    pub fn of(self, vram: &Range<u64>, hidden: u64) -> Range<u64> {
        let hidden = hidden.min(vram.end).max(vram.start);
        match self {
            Self::Visible => vram.start..hidden,
            Self::Hidden => hidden..vram.end,
            Self::Any => vram.clone(),
        }
    }
}

/// One attempt to find a place for an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Attempt {
    /// Free room in that part of VRAM.
    Free(Part),
    /// Room there after the eviction of other objects.
    Displace(Part),
    /// System pages.
    System,
}

/// Return the attempts for an object, first to last. The last attempt is system pages, which cannot fail for lack of
/// room.
pub fn attempts(domain: Domain, access: Access) -> &'static [Attempt] {
    use Attempt::{
        Displace,
        Free,
        System, //
    };
    match (domain, access) {
        (Domain::System | Domain::Gtt, _) => &[System],
        (Domain::Vram, Access::Both) => &[
            Free(Part::Visible),
            Free(Part::Any),
            Displace(Part::Any),
            System,
        ],
        (Domain::Vram, Access::Gpu) => &[
            Free(Part::Hidden),
            Free(Part::Any),
            Displace(Part::Any),
            System,
        ],
        (Domain::Vram, Access::Cpu) => &[Free(Part::Visible), Displace(Part::Visible), System],
    }
}

/// An object, or something fixed, that occupies VRAM.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Resident {
    /// First address.
    pub start: u64,
    /// Bytes.
    pub size: u64,
    /// When it was last used.
    pub used: u64,
    /// Whether it can be moved at all.
    pub movable: bool,
}

impl Resident {
    fn end(&self) -> u64 {
        self.start.saturating_add(self.size)
    }

    fn yields(&self, before: u64) -> bool {
        self.movable && self.used < before
    }
}

/// Sort by address, in place.
pub fn sort(residents: &mut [Resident]) {
    heap::sort(residents, |resident| resident.start);
}

/// The objects to evict for another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plan {
    /// Where the new object fits after the eviction.
    pub start: u64,
    /// Index of the first victim. The others, [`Plan::count`] in total, follow it as its neighbours.
    pub first: usize,
    /// How many victims there are. None if there is room already.
    pub count: usize,
    /// Their bytes.
    pub bytes: u64,
}

/// Room for `size` bytes at a multiple of `align` in `span`.
#[derive(Clone, Debug)]
pub struct Room {
    /// The addresses allowed.
    pub span: Range<u64>,
    /// Bytes wanted.
    pub size: u64,
    /// Alignment; 0 and 1: any.
    pub align: u64,
}

impl Room {
    /// Return the first address not below `from` at which the room could begin, if it ends before `to`.
    fn fits(&self, from: u64, to: u64) -> Option<u64> {
        let from = from.max(self.span.start);
        let start = from.checked_next_multiple_of(self.align.max(1))?;
        let end = start.checked_add(self.size)?;
        (end <= to.min(self.span.end)).then_some(start)
    }

    /// Return whether there is such room once all residents are gone that were not used since `before`.
    fn exists(&self, residents: &[Resident], before: u64) -> bool {
        let mut from = self.span.start;
        for resident in residents.iter().filter(|r| !r.yields(before)) {
            if self.fits(from, resident.start).is_some() {
                return true;
            }
            from = from.max(resident.end());
        }
        self.fits(from, self.span.end).is_some()
    }
}

/// Return the victims whose eviction makes `room`, among the residents not used since `before`.
///
/// `residents` is sorted by address ([`sort`]) and without overlaps. The plan is chosen whose most recently used
/// victim has been idle for the longest time. Among equal plans the one that moves the fewest bytes is chosen, and
/// then the one at the lowest address. `None` if there is no plan.
///
/// Time grows with the number of residents times 64.
pub fn make_room(residents: &[Resident], room: &Room, before: u64) -> Option<Plan> {
    if room.size == 0 || !room.exists(residents, before) {
        return None;
    }
    // Find the earliest time for which there is room. A later time allows more victims.
    let (mut low, mut high) = (0, before);
    while low < high {
        let middle = low.midpoint(high);
        if room.exists(residents, middle) {
            high = middle;
        } else {
            low = middle.saturating_add(1);
        }
    }
    cheapest(residents, room, high)
}

/// Slide the room over all places that are occupied only by residents not used since `before`, and return the best.
fn cheapest(residents: &[Resident], room: &Room, before: u64) -> Option<Plan> {
    let mut best: Option<Plan> = None;
    // The residents in the room at the moment, their bytes, and how many of them do not yield.
    let (mut first, mut end, mut bytes) = (0usize, 0usize, 0u64);
    let mut firm = 0usize;
    // The room begins at the beginning of the span, or behind a resident.
    let begins = core::iter::once(room.span.start).chain(residents.iter().map(Resident::end));
    for begin in begins {
        let Some(start) = room.fits(begin, room.span.end) else {
            continue;
        };
        let behind = start.saturating_add(room.size);
        while let Some(resident) = residents.get(end).filter(|r| r.start < behind) {
            bytes = bytes.saturating_add(resident.size);
            firm = firm.saturating_add(usize::from(!resident.yields(before)));
            end = end.saturating_add(1);
        }
        while let Some(resident) = residents
            .get(first)
            .filter(|r| first < end && r.end() <= start)
        {
            bytes = bytes.saturating_sub(resident.size);
            firm = firm.saturating_sub(usize::from(!resident.yields(before)));
            first = first.saturating_add(1);
        }
        if firm == 0 && best.is_none_or(|best| bytes < best.bytes) {
            best = Some(Plan {
                start,
                first,
                count: end.saturating_sub(first),
                bytes,
            });
        }
    }
    best
}

/// The direction of a walk through VRAM.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// To higher addresses.
    Up,
    /// To lower addresses.
    Down,
}

/// A walk over the neighbours of a resident, as far as they could be evicted together with it.
///
/// The caller starts a walk at each resident, longest idle first. The first walk that finds room finds the answer of
/// [`make_room`] without a look at all residents, because every victim beside the resident has been idle as long.
#[derive(Debug)]
pub struct Around {
    room: Room,
    /// First address of the resident.
    start: u64,
    /// A neighbour that was not used since then is evicted with the resident.
    until: u64,
    guess: bool,
}

impl Around {
    /// Begin at the resident at `start` that was last used at `used`. `room` is the room to make.
    pub fn new(room: &Room, start: u64, used: u64) -> Self {
        Self {
            room: room.clone(),
            start,
            until: used.saturating_add(1),
            guess: false,
        }
    }

    /// Look at the next resident in that direction: upwards first at the resident itself, then at its neighbours.
    /// Return whether to continue; `false` at the `last` one.
    pub fn look(&mut self, way: Way, next: &Resident, last: bool) -> bool {
        // No room that contains the resident reaches further.
        let reach = self.room.size.saturating_add(self.room.align);
        let far = next.start.abs_diff(self.start) >= reach.saturating_add(next.size);
        let goes = next.yields(self.until) && !far;
        if goes && !last {
            return true;
        }
        // It is not known what lies behind this one.
        let span = &mut self.room.span;
        match way {
            Way::Up => span.end = span.end.min(next.end()),
            Way::Down => span.start = span.start.max(next.start),
        }
        self.guess |= goes;
        false
    }

    /// Return the plan. `near` are all residents that were looked at and all that is fixed, sorted.
    pub fn plan(&self, near: &[Resident]) -> Option<Plan> {
        make_room(near, &self.room, self.until)
    }

    /// Return whether there may be room around the resident that [`Around::plan`] does not know of.
    pub fn guess(&self) -> bool {
        self.guess
    }
}

/// How much one submission may move for its own objects.
///
/// Moves continue while less than the budget has been moved. So one submission moves less than the budget plus one
/// more new object with its victims.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    left: u64,
}

impl Budget {
    /// Make a budget for VRAM of `size` bytes, of which `used` are occupied. It is half of what is free, which fills
    /// VRAM in a few submissions, but at least [`LEAST_BUDGET`].
    pub fn new(size: u64, used: u64) -> Self {
        Self {
            left: (size.saturating_sub(used) / 2).max(LEAST_BUDGET),
        }
    }

    /// Return whether more may be moved.
    pub fn allows(&self) -> bool {
        self.left > 0
    }

    /// Count `bytes` that have been moved.
    pub fn spend(&mut self, bytes: u64) {
        self.left = self.left.saturating_sub(bytes);
    }
}
