// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Where objects go, and which of them make room for another.
//!
//! The GPU reaches two memories: its own, VRAM, of which the CPU may see only the first part, and system pages. What
//! user space asks for is a preference (as it is for Linux' TTM drivers): an object that wants VRAM may be in
//! system pages whenever VRAM is full, and never the other way round. This module decides; it moves nothing.
//!
//! # The rules
//!
//! 1. A new object goes where it wants to be. If there is no room, objects that were not used for the longest time
//!    make it ([`make_room`]); if they cannot, the object is made in system pages.
//! 2. An object that wants VRAM and is in system pages comes back when a submission uses it. Only objects that have
//!    been idle for longer than the newcomer make room then. So a working set that is larger than VRAM settles: what is
//!    in VRAM stays, the rest is used where it is, and nothing goes round in circles.
//! 3. One submission moves a bounded number of bytes for its own sake ([`Budget`]).
//! 4. An object that the CPU touches where it cannot see it moves to where it can, and stays on that side from then on.
//!
//! Times are counts of submissions: whoever has the smaller one has been idle for longer.

use core::ops::Range;

use super::heap;

/// Unit of sizes, addresses and alignments, in bytes.
pub const PAGE: u64 = 4096;

/// The least that a submission may move, in bytes: or it would take very long until a working set is where it belongs.
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

/// Who is going to access the content.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// GPU and CPU, as far as anybody knows.
    Both,
    /// The GPU only, user space says.
    Gpu,
    /// The CPU does: it has been seen.
    Cpu,
}

/// What user space asks for.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Bytes; rounded up to whole pages.
    pub size: u64,
    /// Alignment of the GPU address in bytes, any number; at least a page is given.
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
    /// It is larger, or to be aligned to more, than the GPU's window on system memory.
    TooLarge,
}

impl Request {
    /// Size in bytes, whole pages; `limit` is the largest allowed.
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

    /// Alignment in bytes, whole pages; `limit` is the largest allowed.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`] beyond the limit: there is no such room.
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
    /// What the CPU sees.
    Visible,
    /// What lies behind it.
    Hidden,
    /// All of it.
    Any,
}

impl Part {
    /// The part's addresses, in VRAM that is `vram` and hidden from `hidden` on.
    pub fn of(self, vram: &Range<u64>, hidden: u64) -> Range<u64> {
        let hidden = hidden.min(vram.end).max(vram.start);
        match self {
            Self::Visible => vram.start..hidden,
            Self::Hidden => hidden..vram.end,
            Self::Any => vram.clone(),
        }
    }
}

/// Something to try to find a place for an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Attempt {
    /// What is free in that part of VRAM.
    Free(Part),
    /// What is free there after others have moved away.
    Displace(Part),
    /// System pages.
    System,
}

/// What to try for an object, first to last. The last attempt is system pages, which cannot fail for want of room.
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

/// Something that occupies VRAM.
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

/// Sorts by address, in place.
pub fn sort(residents: &mut [Resident]) {
    heap::sort(residents, |resident| resident.start);
}

/// Who has to go for another to come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plan {
    /// Where the newcomer fits, when they are gone.
    pub start: u64,
    /// Index of the first that has to go; all that follow it up to [`Plan::count`] are its neighbours.
    pub first: usize,
    /// How many have to go. None if there is room already.
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
    /// The first address not below `from` at which the room could begin, if it ends before `to`.
    fn fits(&self, from: u64, to: u64) -> Option<u64> {
        let from = from.max(self.span.start);
        let start = from.checked_next_multiple_of(self.align.max(1))?;
        let end = start.checked_add(self.size)?;
        (end <= to.min(self.span.end)).then_some(start)
    }

    /// Whether there is such room once everybody has gone who was not used since `before`.
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

/// Says who has to go so that there is `room`, among those not used since `before`.
///
/// `residents` is sorted by address ([`sort`]) and without overlaps. Of all ways the one is chosen whose most
/// recently used victim has been idle for the longest, and of these the one that moves the fewest bytes (the lowest
/// address, if there are several). `None` if there is no way.
///
/// Time grows with the number of residents times 64.
pub fn make_room(residents: &[Resident], room: &Room, before: u64) -> Option<Plan> {
    if room.size == 0 || !room.exists(residents, before) {
        return None;
    }
    // The earliest time that does: more can go the later it is.
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

/// Slides the room over all places that only those occupy who were not used since `before`.
fn cheapest(residents: &[Resident], room: &Room, before: u64) -> Option<Plan> {
    let mut best: Option<Plan> = None;
    // Those in the room at the moment, their bytes, and how many of them do not yield.
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

/// In which direction to go through VRAM.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// To higher addresses.
    Up,
    /// To lower addresses.
    Down,
}

/// A look at the neighbours of a resident, as far as they would go if it went.
///
/// Whoever asks those who were idle for the longest one after the other finds the answer of [`make_room`] at the first
/// of them around whom there is room, without a look at all residents: whoever has to go with it was idle as long.
#[derive(Debug)]
pub struct Around {
    room: Room,
    /// First address of the resident.
    start: u64,
    /// Who was not used since then goes with it.
    until: u64,
    guess: bool,
}

impl Around {
    /// For the resident at `start` that was last used at `used`, and somebody who needs `room`.
    pub fn new(room: &Room, start: u64, used: u64) -> Self {
        Self {
            room: room.clone(),
            start,
            until: used.saturating_add(1),
            guess: false,
        }
    }

    /// Looks at the next one in that direction: first at the resident itself, upwards, and then at its neighbours. Says
    /// whether to go on. At the `last` one it says no.
    pub fn look(&mut self, way: Way, next: &Resident, last: bool) -> bool {
        // No room with the resident in it reaches further.
        let reach = self.room.size.saturating_add(self.room.align);
        let far = next.start.abs_diff(self.start) >= reach.saturating_add(next.size);
        let goes = next.yields(self.until) && !far;
        if goes && !last {
            return true;
        }
        // Nothing is known of what lies behind this one.
        let span = &mut self.room.span;
        match way {
            Way::Up => span.end = span.end.min(next.end()),
            Way::Down => span.start = span.start.max(next.start),
        }
        self.guess |= goes;
        false
    }

    /// Who has to go. `near` are all who were looked at and what is fixed, sorted.
    pub fn plan(&self, near: &[Resident]) -> Option<Plan> {
        make_room(near, &self.room, self.until)
    }

    /// Whether there may be room around the resident that [`Around::plan`] does not know of.
    pub fn guess(&self) -> bool {
        self.guess
    }
}

/// What a submission may move for its own sake.
///
/// Moves go on while less than the budget has been moved: one submission moves less than the budget and one more
/// newcomer with its victims.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    left: u64,
}

impl Budget {
    /// For VRAM of `size` bytes, of which `used` are occupied: half of what is free, which fills VRAM in a few
    /// submissions, but at least [`LEAST_BUDGET`].
    pub fn new(size: u64, used: u64) -> Self {
        Self {
            left: (size.saturating_sub(used) / 2).max(LEAST_BUDGET),
        }
    }

    /// Whether anything more may be moved.
    pub fn allows(&self) -> bool {
        self.left > 0
    }

    /// `bytes` have been moved.
    pub fn spend(&mut self, bytes: u64) {
        self.left = self.left.saturating_sub(bytes);
    }
}
