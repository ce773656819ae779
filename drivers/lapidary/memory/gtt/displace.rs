// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Which objects lose their addresses in the GTT window for another.
//!
//! A window may be full of small objects, and a large object may displace all of them. So the window is not searched
//! for each victim. One walk finds as many victims as there is memory for. The next walk follows when all of those
//! had their turn. After each victim only the hole that it has left is tried, not the whole window.

use kernel::prelude::*;

use super::{
    entries,
    Gtt,
    Placed,
    Reach, //
};
use crate::{
    corner::{
        mm::{
            Mode,
            Node,
            Range, //
        }, //
    },
    family::space::GpuAddr,
    memory::backing::Backing, //
};

impl Gtt {
    /// Find addresses for `backing`, if necessary by taking them from others.
    pub(super) fn find(
        &mut self,
        node: &mut Option<Node>,
        backing: &Backing,
        reach: &Reach<'_>,
    ) -> Result<Range> {
        let (size, align) = (backing.window.size, backing.window.align);
        let mut found = self
            .mm
            .allocate_in(node, size, align, 0, u64::MAX, Mode::Best);
        while matches!(found, Err(e) if e == ENOSPC) {
            let Some((from, to)) = self.displace(reach) else {
                break;
            };
            // No other hole has changed, and none is large enough.
            found = self.mm.allocate_in(node, size, align, from, to, Mode::Low);
        }
        self.part(reach);
        found
    }

    /// Take the addresses of the least recently used backing, and leave the rest to [`Gtt::part`]. Return between
    /// which addresses there is no backing now. `None` if all are in use.
    fn displace(&mut self, reach: &Reach<'_>) -> Option<(GpuAddr, GpuAddr)> {
        loop {
            while let Some((used, addr)) = self.turns.next() {
                if let Some(hole) = self.withdraw(used, addr, reach) {
                    return Some(hole);
                }
            }
            let any = self.turns.find(|least| {
                for (&addr, placed) in self.placed.iter() {
                    if let Some(used) = placed.backing.window.idle_since() {
                        least.offer((used, addr));
                    }
                }
            });
            if !any {
                return None;
            }
        }
    }

    /// As [`Gtt::displace`], for the backing at `addr`. `None` if there is none that was last used at `used`, or if
    /// it is in use. In the second case a job has found it in place since it was looked at, and it stays.
    fn withdraw(
        &mut self,
        used: u64,
        addr: GpuAddr,
        reach: &Reach<'_>,
    ) -> Option<(GpuAddr, GpuAddr)> {
        let cursor = self.placed.cursor_lower_bound_mut(&addr)?;
        let (&start, Placed { backing, .. }) = cursor.current();
        let window = &backing.window;
        if start != addr || window.idle_since() != Some(used) || !window.end_if_idle() {
            return None;
        }
        let from = cursor
            .peek_prev()
            .map_or(0, |(_, placed)| placed.range.end());
        let to = cursor.peek_next().map_or(u64::MAX, |(&start, _)| start);
        let (_, Placed { backing, range }) = cursor.remove_current().1.to_key_value();
        reach
            .space
            .unmap(self.entry(range.start()), entries(&range));
        drop(range);
        if let Err(full) = self.leaving.push_within_capacity(backing) {
            self.part(reach);
            full.0.pages.lock().leave(reach.dev);
        }
        Some((from, to))
    }

    /// Flush, and end the mappings of all backings that have lost their addresses.
    fn part(&mut self, reach: &Reach<'_>) {
        if self.leaving.is_empty() {
            return;
        }
        reach.space.flush();
        for backing in self.leaving.drain_all() {
            backing.pages.lock().leave(reach.dev);
        }
    }

    /// Take the addresses of all backings.
    ///
    /// # Errors
    ///
    /// `EBUSY` if one is in use.
    pub(crate) fn vacate(&mut self, reach: &Reach<'_>) -> Result {
        self.end_all(reach, |backing| backing.window.end_if_idle());
        match self.placed.is_empty() {
            true => Ok(()),
            false => Err(EBUSY),
        }
    }

    /// Take the addresses of all backings that `end` makes lose their place. `end` returns whether it does.
    pub(super) fn end_all(&mut self, reach: &Reach<'_>, end: impl Fn(&Backing) -> bool) {
        let ended = |placed: &&Placed| end(&placed.backing);
        for Placed { range, .. } in self.placed.values().filter(ended) {
            reach.space.unmap(self.entry(range.start()), entries(range));
        }
        reach.space.flush();
        let mut next = self.placed.cursor_front_mut();
        while let Some(cursor) = next {
            // No other thread gives it addresses meanwhile, because that takes the window's lock.
            if cursor.current().1.backing.window.is_placed() {
                next = cursor.move_next();
                continue;
            }
            let (other, node) = cursor.remove_current();
            // After the last entry the cursor is at the one before it, which stays.
            next = other;
            let (_, placed) = node.to_key_value();
            placed.backing.pages.lock().leave(reach.dev);
        }
    }
}

#[kunit_tests(lapidary_gtt_displace)]
mod tests {
    use super::{
        super::{
            entry,
            place,
            release,
            tests::{
                lend,
                usage,
                window,
                Table,
                PAGE,
                START, //
            },
            PART, //
        },
        *, //
    };
    use kernel::{
        drm::gem,
        page::PAGE_SIZE,
        sync::{
            aref::ARef,
            atomic::Relaxed,
            Arc, //
        },
    };

    use crate::{
        corner::{
            gem_kunit::{
                Machine,
                Object, //
            },
            lent::Lent, //
        },
        portable::heap, //
    };

    type Thing = (ARef<gem::Object<Object>>, Arc<Backing>);

    /// Make an object of `pages` pages that was used at `now` and is idle.
    fn idle(
        machine: &Machine,
        window: &Lent<Gtt>,
        pages: u64,
        align: u64,
        now: u64,
    ) -> Result<Thing> {
        let object = machine.object(pages as usize * PAGE_SIZE)?;
        idle_part(&object, window, pages, align, now)
    }

    /// Make a backing for the first pages of an object.
    fn idle_part(
        object: &ARef<gem::Object<Object>>,
        window: &Lent<Gtt>,
        pages: u64,
        align: u64,
        now: u64,
    ) -> Result<Thing> {
        let thing = (object.clone(), Backing::new(pages * PAGE, align * PAGE)?);
        if let Err(e) = place(window, &thing.1, &*thing.0, now) {
            release(window, &thing.1, &*thing.0);
            return Err(e);
        }
        thing.1.window.leave();
        Ok(thing)
    }

    /// Make backings of one page that fill a window. They are used one after the other, in an order that differs from
    /// that of their addresses. Several stand for one object, because many objects would be slow to make.
    fn fill(machine: &Machine, window: &Lent<Gtt>, pages: u64) -> Result<KVec<Thing>> {
        let mut things = KVec::<Thing>::new();
        for index in 0..pages {
            let object = match things.last() {
                Some((object, _)) if index % 4 != 0 => object.clone(),
                _ => machine.object(PAGE_SIZE)?,
            };
            things.push(idle_part(&object, window, 1, 1, 0)?, GFP_KERNEL)?;
        }
        for (index, (_, backing)) in things.iter().enumerate() {
            assert!(backing.window.again(1 + index as u64 * 7 % pages).is_some());
            backing.window.leave();
        }
        Ok(things)
    }

    /// Return how many backings have addresses, and how many bytes these are.
    fn placed(things: &[Thing]) -> (usize, u64) {
        let mut sum = (0, 0);
        for (_, backing) in things {
            if backing.window.is_placed() {
                sum = (sum.0 + 1, sum.1 + backing.window.size);
            }
        }
        sum
    }

    fn empty(window: &Lent<Gtt>, things: &[Thing]) {
        for (object, backing) in things {
            release(window, backing, &**object);
        }
    }

    #[test]
    fn a_full_window_displaces_the_idle_one_used_longest_ago() -> Result {
        let machine = Machine::new()?;
        let table = Table::new(4)?;
        let window = window(4)?;
        let loan = lend(&window, &machine, &table)?;
        let object = || machine.object(2 * PAGE_SIZE);
        let backing = || Backing::new(2 * PAGE, PAGE);
        let (a, b, c) = (object()?, object()?, object()?);
        let (sa, sb, sc) = (backing()?, backing()?, backing()?);
        place(&window, &sa, &*a, 1)?;
        place(&window, &sb, &*b, 2)?;
        // Both have a user.
        assert_eq!(place(&window, &sc, &*c, 3).err(), Some(ENOSPC));
        sa.window.leave();
        sb.window.leave();
        place(&window, &sa, &*a, 4)?;
        sa.window.leave();
        place(&window, &sc, &*c, 5)?;
        assert!(sa.window.is_placed() && !sb.window.is_placed() && sc.window.is_placed());
        assert_eq!(table.used(), 4);
        assert!(table.flushed());
        // It is too large for any window.
        let large = machine.object(5 * PAGE_SIZE)?;
        let sl = Backing::new(5 * PAGE, PAGE)?;
        assert_eq!(place(&window, &sl, &*large, 6).err(), Some(ENOSPC));
        assert!(sc.window.is_placed());
        for (backing, object) in [(&sa, &a), (&sb, &b), (&sc, &c), (&sl, &large)] {
            release(&window, backing, &**object);
        }
        assert_eq!(table.used(), 0);
        drop(loan);
        Ok(())
    }

    #[test]
    fn a_large_object_displaces_only_the_oldest_in_few_walks() -> Result {
        const PAGES: u64 = 64;
        let machine = Machine::new()?;
        let table = Table::new(PAGES as usize)?;
        let window = window(PAGES)?;
        let loan = lend(&window, &machine, &table)?;
        let things = fill(&machine, &window, PAGES)?;
        // A job uses one of the backings that would be displaced, so it stays.
        let (_, busy) = &things[1];
        assert_eq!(busy.window.idle_since(), Some(8));
        assert!(busy.window.again(8).is_some());
        let before = table.flushes.load(Relaxed);
        // Sixteen pages. There is room when 16 adjacent backings have lost their addresses.
        let large = idle(&machine, &window, 16, 16, 1000)?;
        let first = entry(START, large.1.window.again(1000).ok_or(EINVAL)?);
        large.1.window.leave();
        // The most recently used of those that were in the way.
        let used = |at: usize| 1 + at as u64 * 7 % PAGES;
        let youngest = |first: usize| (first..first + 16).fold(0, |max, at| max.max(used(at)));
        let mut went = 0;
        for (index, (_, backing)) in things.iter().enumerate() {
            let goes = index != 1 && used(index) <= youngest(first);
            assert_eq!(backing.window.is_placed(), !goes);
            went += u64::from(goes);
        }
        // No other place could have become free earlier. That of the busy one cannot become free.
        for other in (16..PAGES as usize).step_by(16) {
            assert!(youngest(first) <= youngest(other));
        }
        assert!(went > 3 * PAGES / PART);
        // One flush each time the memory for leaving backings was full, one for the rest, and one for the new
        // entries.
        let flushes = table.flushes.load(Relaxed) - before;
        assert!(flushes <= went / (PAGES / PART) + 2);
        assert!(busy.window.is_placed() && table.flushed());
        assert_eq!(table.used() as u64, PAGES - went + 16);
        // All others are displaced, except the busy one.
        assert_eq!(idle(&machine, &window, PAGES, 1, 1001).err(), Some(ENOSPC));
        assert_eq!(placed(&things), (1, PAGE));
        busy.window.leave();
        let all = idle(&machine, &window, PAGES, 1, 1002)?;
        assert!(!busy.window.is_placed());
        empty(&window, &things);
        empty(&window, &[large, all]);
        assert_eq!((table.used(), usage(&window)), (0, 0));
        drop(loan);
        Ok(())
    }

    #[test]
    fn those_go_who_would_go_one_by_one() -> Result {
        const PAGES: usize = 64;
        let machine = Machine::new()?;
        let table = Table::new(PAGES)?;
        let window = window(PAGES as u64)?;
        let loan = lend(&window, &machine, &table)?;
        let mut things = KVec::<Thing>::new();
        let mut random = 1u64;
        let mut next = |below: u64| {
            random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            (random >> 33) % below
        };
        for now in 1..30 {
            // Some are used again, and some are freed.
            for _ in 0..next(4) {
                let at = next(things.len() as u64 + 1) as usize;
                if let Some((_, backing)) = things.get(at) {
                    if backing.window.again(now * 2).is_some() {
                        backing.window.leave();
                    }
                }
            }
            if next(8) == 0 && !things.is_empty() {
                let at = next(things.len() as u64) as usize;
                if let Ok((object, backing)) = things.remove(at) {
                    release(&window, &backing, &*object);
                }
            }
            let pages = [1, 1, 1, 2, 3, 8, 30][next(7) as usize];
            let align = [1, 1, 1, 2, 3, 16][next(6) as usize];

            // The pages of a window in which the oldest is displaced until there is room.
            let mut taken = [false; PAGES];
            let mut order = KVec::<(u64, usize, usize, usize)>::new();
            for (index, (_, backing)) in things.iter().enumerate() {
                if let Some(used) = backing.window.idle_since() {
                    let first = entry(START, backing.window.addr());
                    let count = (backing.window.size / PAGE) as usize;
                    taken[first..first + count].fill(true);
                    order.push((used, first, count, index), GFP_KERNEL)?;
                }
            }
            heap::sort(&mut order, |one| *one);
            let room = |taken: &[bool]| {
                (0..=PAGES - pages).any(|at| {
                    (START / PAGE + at as u64) % align == 0
                        && !taken[at..at + pages].contains(&true)
                })
            };
            let mut gone = 0;
            while !room(&taken) {
                let (_, first, count, _) = order[gone];
                taken[first..first + count].fill(false);
                gone += 1;
            }

            let thing = idle(&machine, &window, pages as u64, align, now * 2 + 1)?;
            for (place, &(_, _, _, index)) in order.iter().enumerate() {
                assert_eq!(things[index].1.window.is_placed(), place >= gone);
            }
            assert!(table.flushed());
            things.push(thing, GFP_KERNEL)?;
            assert_eq!(usage(&window), placed(&things).1);
            assert_eq!(table.used() as u64 * PAGE, usage(&window));
        }
        empty(&window, &things);
        assert_eq!((table.used(), usage(&window)), (0, 0));
        drop(loan);
        Ok(())
    }

    #[test]
    fn who_was_found_and_is_used_again_stays() -> Result {
        const PAGES: u64 = 64;
        let machine = Machine::new()?;
        let table = Table::new(PAGES as usize)?;
        let window = window(PAGES)?;
        let loan = lend(&window, &machine, &table)?;
        let things = fill(&machine, &window, PAGES)?;
        let mut order = KVec::new();
        for (index, (_, backing)) in things.iter().enumerate() {
            order.push((backing.window.idle_since(), index), GFP_KERNEL)?;
        }
        heap::sort(&mut order, |one| *one);
        let oldest = |place: usize| &things[order[place].1];
        let placed = |place: usize| oldest(place).1.window.is_placed();
        // One walk finds four.
        let a = idle(&machine, &window, 1, 1, 100)?;
        assert!(!placed(0) && placed(1) && placed(2) && placed(3));
        // The second is used and idle again. The third is in use. The fourth loses its place.
        assert!(oldest(1).1.window.again(101).is_some());
        oldest(1).1.window.leave();
        assert!(oldest(2).1.window.again(102).is_some());
        release(&window, &oldest(3).1, &*oldest(3).0);
        let b = idle(&machine, &window, 1, 1, 103)?;
        assert!(placed(1) && placed(2) && placed(4));
        let c = idle(&machine, &window, 1, 1, 104)?;
        assert!(placed(1) && placed(2) && !placed(4) && placed(5));
        assert!(b.1.window.is_placed());
        oldest(2).1.window.leave();
        empty(&window, &things);
        empty(&window, &[a, b, c]);
        drop(loan);
        Ok(())
    }

    #[test]
    fn pages_are_mapped_for_the_device_until_the_flush() -> Result {
        const PAGES: u64 = 64;
        let machine = Machine::new()?;
        for sleep in [false, true] {
            let table = Table::new(PAGES as usize)?;
            let window = window(PAGES)?;
            let loan = lend(&window, &machine, &table)?;
            let things = fill(&machine, &window, PAGES)?;
            for (_, backing) in &things {
                table.leaving.lock().push(backing.clone(), GFP_KERNEL)?;
            }
            let mut large = KVec::new();
            if sleep {
                let mut guard = window.lock();
                let (gtt, reach) = guard.parts();
                gtt.vacate(reach.ok_or(ENODEV)?)?;
            } else {
                large.push(idle(&machine, &window, PAGES, 1, 100)?, GFP_KERNEL)?;
            }
            // Each sees exactly one flush: with none it would be too early, and several would be wasted.
            assert_eq!(table.seen.load(Relaxed), PAGES);
            table.leaving.lock().clear();
            empty(&window, &things);
            empty(&window, &large);
            drop(loan);
        }
        Ok(())
    }

    #[test]
    fn all_who_are_idle_leave_at_once() -> Result {
        const PAGES: u64 = 64;
        let machine = Machine::new()?;
        let table = Table::new(PAGES as usize)?;
        let window = window(PAGES)?;
        let loan = lend(&window, &machine, &table)?;
        let things = fill(&machine, &window, PAGES)?;
        let vacate = || {
            let mut guard = window.lock();
            let (gtt, reach) = guard.parts();
            gtt.vacate(reach.ok_or(ENODEV)?)
        };
        // The first, the last, and one between.
        for busy in [0, 20, 63] {
            assert!(things[busy].1.window.again(100).is_some());
        }
        let before = table.flushes.load(Relaxed);
        assert_eq!(vacate().err(), Some(EBUSY));
        assert_eq!(table.flushes.load(Relaxed), before + 1);
        assert_eq!((table.used(), usage(&window)), (3, 3 * PAGE));
        for busy in [0, 20, 63] {
            assert!(things[busy].1.window.is_placed());
            things[busy].1.window.leave();
        }
        vacate()?;
        assert!(table.flushed());
        assert_eq!((table.used(), usage(&window)), (0, 0));
        vacate()?;
        // They are given addresses again.
        let (object, backing) = &things[5];
        place(&window, backing, &**object, 101)?;
        backing.window.leave();
        empty(&window, &things);
        drop(loan);
        Ok(())
    }
}
