// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The GTT window: addresses through which the GPU reaches system pages.
//!
//! Each 4 KiB of the window has an entry in the GPU's page table. An object is given addresses when a job first needs
//! it, and keeps them, so the next job finds it in place. When the window is full, objects that no job uses lose
//! their addresses, the least recently used first. This moves no data.
//!
//! [`displace`] decides which objects lose their addresses.
//!
//! The entries of a range are written before any code receives its address. They are made harmless and flushed before
//! its pages are given back. Eviction flushes the TLB once for all victims. Their ranges are not allocated again
//! before that flush, and new entries are written behind it.
//!
//! No memory is allocated under the window's lock or under that of the pages. A thread that reclaims memory may free
//! an object, which needs both.

use kernel::{
    device::{
        Bound,
        Device, //
    },
    dma::DmaAddress,
    drm::gem::IntoGEMObject,
    page::PAGE_SIZE,
    prelude::*,
    rbtree::{
        RBTree,
        RBTreeNodeReservation, //
    },
    sync::Arc,
    types::CovariantForLt, //
};

use crate::{
    corner::{
        lent::{
            Lent,
            Tenant, //
        },
        mm::{
            Mm,
            Mode,
            Node,
            Range, //
        },
        userptr::UserPages, //
    },
    family::space::{
        GpuAddr,
        Layout,
        Space, //
    },
    memory::{
        backing::Backing,
        resident::Locked,
        turns::Turns,
        vram::length, //
    },
    portable::mapping::{
        runs,
        Flags,
        Target,
        GPU_PAGE, //
    }, //
};

mod displace;

/// One walk finds this part of all backings that the window can hold. Displacing all of them takes this many walks.
const PART: u64 = 16;

/// The hardware that the window borrows.
#[derive(Clone, Copy)]
pub struct Reach<'a> {
    /// The device that does DMA.
    pub dev: &'a Device<Bound>,
    /// The page table of the window.
    pub space: &'a dyn Space,
}

/// Addresses in use, and the backing that uses them.
struct Placed {
    backing: Arc<Backing>,
    range: Range,
}

/// The window, a tenant of the page table.
pub struct Gtt {
    mm: Arc<Mm>,
    /// The backings that have addresses, ordered by the first address.
    placed: RBTree<GpuAddr, Placed>,
    /// Which idle backings were used longest ago.
    turns: Turns,
    /// Backings that have lost their addresses. Their pages stay mapped for the device until the next flush. Empty
    /// when the window is unlocked: until then the objects hold references, too, so no backing is dropped here.
    leaving: KVVec<Arc<Backing>>,
}

impl Gtt {
    pub(crate) fn new(layout: &Layout) -> Result<Self> {
        let size = length(&layout.gtt)?;
        let most = usize::try_from(size / PAGE_SIZE as u64 / PART)?.max(1);
        Ok(Self {
            mm: Mm::new(layout.gtt.start, size)?,
            placed: RBTree::new(),
            turns: Turns::new(most)?,
            leaving: KVVec::with_capacity(most, GFP_KERNEL)?,
        })
    }

    /// Return the addresses in use, in bytes.
    pub(crate) fn usage(&self) -> u64 {
        self.mm.used()
    }

    /// Return the index of the page table entry for `addr`.
    fn entry(&self, addr: GpuAddr) -> usize {
        entry(self.mm.start(), addr)
    }

    /// Take the addresses from `backing`, which has some. No job uses them or is given them any more. `pages` are its
    /// pages.
    fn clear(&mut self, backing: &Backing, pages: &mut Locked<'_>, reach: &Reach<'_>) {
        let Some(placed) = self.placed.remove(&backing.window.addr()) else {
            return;
        };
        let range = &placed.range;
        reach.space.unmap(self.entry(range.start()), entries(range));
        reach.space.flush();
        pages.leave(reach.dev);
    }
}

/// Return the index of the page table entry for `addr` in a window that begins at `start`.
pub(crate) fn entry(start: GpuAddr, addr: GpuAddr) -> usize {
    (addr.saturating_sub(start) / GPU_PAGE as u64) as usize
}

/// Return the number of page table entries for `range`.
fn entries(range: &Range) -> usize {
    (range.size() / GPU_PAGE as u64) as usize
}

impl Tenant for Gtt {
    type Hardware = CovariantForLt!(Reach<'_>);

    fn leave(&mut self, reach: &Reach<'_>) {
        self.end_all(reach, |backing| {
            backing.window.end();
            true
        });
    }
}

/// Reserve addresses that do not belong to a backing.
///
/// # Errors
///
/// `EINVAL` if size or alignment is not in whole pages; `ENOSPC`; `ENOMEM`.
pub(crate) fn reserve(gtt: &Lent<Gtt>, size: u64, align: u64) -> Result<Range> {
    if size % PAGE_SIZE as u64 != 0 || align % PAGE_SIZE as u64 != 0 {
        return Err(EINVAL);
    }
    let mut node = Some(Node::new()?);
    // At the end, away from the addresses of objects.
    gtt.lock()
        .parts()
        .0
        .mm
        .allocate_in(&mut node, size, align, 0, u64::MAX, Mode::High)
}

/// Give `backing`, which belongs to `object`, addresses and one user. Return the first address.
///
/// The caller holds the object's reservation and ends the use with [`Backing::leave`]. `now` grows from call to call.
///
/// # Errors
///
/// `ENODEV` after unbind; `ENOSPC` if there is no room between what is in use; as [`Pages::get`] and [`Pages::map`];
/// `EINVAL` if the page table cannot point to a page; `ENOMEM`.
pub(crate) fn place<O: IntoGEMObject>(
    gtt: &Lent<Gtt>,
    backing: &Arc<Backing>,
    object: &O,
    now: u64,
) -> Result<GpuAddr> {
    if let Some(addr) = backing.window.again(now) {
        return Ok(addr);
    }
    backing.pages.hold(object)?;
    let mut memory = Some(Node::new()?);
    let place = RBTreeNodeReservation::new(GFP_KERNEL)?;

    let mut guard = gtt.lock();
    let (gtt, reach) = guard.parts();
    let reach = reach.ok_or(ENODEV)?;
    let range = gtt.find(&mut memory, backing, reach)?;

    // From here on no other thread changes its addresses.
    if let Some(addr) = backing.window.again(now) {
        return Ok(addr);
    }
    let mut pages = backing.pages.lock();
    pages.enter(reach.dev)?;
    let addr = range.start();
    if let Err(e) = write(reach.space, gtt.entry(addr), pages.addresses()) {
        pages.leave(reach.dev);
        return Err(e);
    }
    let backing = backing.clone();
    backing.window.begin(addr, now);
    gtt.placed
        .insert(place.into_node(addr, Placed { backing, range }));
    Ok(addr)
}

/// Give `backing` the pages of its process's memory that belong to `number`, unless it has them already. The caller
/// holds the object's reservation, and drops the returned pages, which `backing` had before.
///
/// # Errors
///
/// `ENOSPC` while jobs use the old pages; `EAGAIN` if the memory has changed and the pages of `number` are gone.
pub(crate) fn renew(
    gtt: &Lent<Gtt>,
    backing: &Backing,
    number: usize,
) -> Result<Option<UserPages>> {
    let mut guard = gtt.lock();
    let (gtt, reach) = guard.parts();
    let mut pages = backing.pages.lock();
    let (user, held) = pages.process().ok_or(EINVAL)?;
    if held == Some(number) {
        return Ok(None);
    }
    let user = user.clone();
    if backing.window.is_placed() {
        let reach = reach.ok_or(ENODEV)?;
        if !backing.window.end_if_idle() {
            return Err(ENOSPC);
        }
        gtt.clear(backing, &mut pages, reach);
    }
    pages.exchange(user.take(number).ok_or(EAGAIN)?)
}

/// Point the entries from `first` on at system pages, with one call for each run of consecutive pages. Either all
/// entries are written or none.
fn write(space: &dyn Space, first: usize, addresses: &[DmaAddress]) -> Result {
    let mut at = first;
    let mut result = Ok(());
    for (start, entries) in runs(addresses, PAGE_SIZE) {
        result = space.map(at, Target::System(start), entries, Flags::READ_WRITE);
        if result.is_err() {
            space.unmap(first, at - first);
            break;
        }
        at += entries;
    }
    space.flush();
    result
}

/// Release all of `backing`, which is not the storage of `object` any more. The pages are freed. The caller holds the
/// reservation, and no job uses the object any more. References of jobs to the backing may be dropped later.
pub(crate) fn abandon<O: IntoGEMObject>(gtt: &Lent<Gtt>, backing: &Backing, object: &O) {
    let pages = {
        let mut guard = gtt.lock();
        let (gtt, reach) = guard.parts();
        let mut pages = backing.pages.lock();
        // Without hardware it has lost its addresses already.
        if let (Some(reach), true) = (reach, backing.window.is_placed()) {
            backing.window.end();
            gtt.clear(backing, &mut pages, reach);
        }
        pages.give_up()
    };
    if let Some(pages) = pages {
        pages.discard(object);
    }
}

/// Unpin the pages of a backing that no job uses, so that they can be swapped. Return how many they are. The caller
/// holds the reservation of `object`, which has no CPU mappings. Neither waits nor allocates.
pub(crate) fn relinquish<O: IntoGEMObject>(
    gtt: &Lent<Gtt>,
    backing: &Backing,
    object: &O,
) -> Option<usize> {
    let pages = {
        let mut guard = gtt.try_lock()?;
        let (gtt, reach) = guard.parts();
        let mut pages = backing.pages.try_lock()?;
        if backing.window.is_placed() {
            let reach = reach?;
            if !backing.window.end_if_idle() {
                return None;
            }
            gtt.clear(backing, &mut pages, reach);
        }
        pages.give_up()?
    };
    let count = pages.len();
    pages.put(object);
    Some(count)
}

/// Release all of `backing`, whose object is being freed.
pub(crate) fn release<O: IntoGEMObject>(gtt: &Lent<Gtt>, backing: &Backing, object: &O) {
    let source = {
        let mut guard = gtt.lock();
        let (gtt, reach) = guard.parts();
        let mut pages = backing.pages.lock();
        // Without hardware it has lost its addresses already.
        if let (Some(reach), true) = (reach, backing.window.is_placed()) {
            backing.window.end_if_idle();
            gtt.clear(backing, &mut pages, reach);
        }
        pages.end()
    };
    source.put(object);
}

#[kunit_tests(lapidary_gtt)]
pub(super) mod tests {
    use super::*;
    use kernel::{
        new_mutex,
        sync::{
            atomic::{
                Atomic,
                Relaxed, //
            },
            Mutex, //
        },
    };

    use crate::corner::{
        gem_kunit::Machine,
        lent::Loan, //
    };
    pub(super) const START: GpuAddr = 0x8000_0000;
    pub(super) const PAGE: u64 = PAGE_SIZE as u64;

    /// A page table that records the calls.
    #[pin_data]
    pub(super) struct Table {
        #[pin]
        pub(super) entries: Mutex<KVec<DmaAddress>>,
        /// How many calls of `map` succeed.
        pub(super) left: Atomic<u64>,
        /// Changes since the last flush.
        pub(super) dirty: Atomic<u64>,
        pub(super) flushes: Atomic<u64>,
        /// Backings that must have no address and still be mapped for the device at a flush.
        #[pin]
        pub(super) leaving: Mutex<KVec<Arc<Backing>>>,
        pub(super) seen: Atomic<u64>,
    }

    impl Table {
        pub(super) fn new(pages: usize) -> Result<Pin<KBox<Self>>> {
            let entries = KVec::from_elem(0, pages, GFP_KERNEL)?;
            KBox::pin_init(
                pin_init!(Self {
                    entries <- new_mutex!(entries),
                    left: Atomic::new(u64::MAX),
                    dirty: Atomic::new(0),
                    flushes: Atomic::new(0),
                    leaving <- new_mutex!(KVec::new()),
                    seen: Atomic::new(0),
                }),
                GFP_KERNEL,
            )
        }

        pub(super) fn used(&self) -> usize {
            self.entries.lock().iter().filter(|&&a| a != 0).count()
        }

        pub(super) fn flushed(&self) -> bool {
            self.dirty.load(Relaxed) == 0
        }
    }

    impl Space for Table {
        fn map(&self, first: usize, target: Target, pages: usize, flags: Flags) -> Result {
            let (Target::System(addr), Flags::READ_WRITE) = (target, flags) else {
                return Err(EINVAL);
            };
            if self.left.load(Relaxed) == 0 {
                return Err(EINVAL);
            }
            self.left.fetch_sub(1, Relaxed);
            let mut entries = self.entries.lock();
            let run = entries.get_mut(first..first + pages).ok_or(EINVAL)?;
            for (i, entry) in run.iter_mut().enumerate() {
                *entry = addr + i as u64 * PAGE;
            }
            self.dirty.store(1, Relaxed);
            Ok(())
        }

        fn unmap(&self, first: usize, count: usize) {
            for entry in self.entries.lock().iter_mut().skip(first).take(count) {
                *entry = 0;
            }
            self.dirty.store(1, Relaxed);
        }

        fn flush(&self) {
            self.dirty.store(0, Relaxed);
            self.flushes.add(1, Relaxed);
            for backing in self.leaving.lock().iter().filter(|s| !s.window.is_placed()) {
                self.seen.add(u64::from(backing.pages.is_mapped()), Relaxed);
            }
        }
    }

    pub(in crate::memory) fn window(pages: u64) -> Result<Arc<Lent<Gtt>>> {
        let layout = Layout {
            vram: 0..1 << 20,
            aperture: 0..1 << 20,
            reserved: [0..0, 0..0, 0..0, 0..0],
            gtt: START..START + pages * PAGE,
        };
        Lent::new(Gtt::new(&layout)?)
    }

    pub(super) fn lend<'a>(
        window: &Arc<Lent<Gtt>>,
        machine: &'a Machine,
        space: &'a Table,
    ) -> Result<Loan<'a, Gtt>> {
        let dev = machine.dev();
        // SAFETY: All tests drop the loan.
        unsafe { window.lend(Reach { dev, space }) }
    }

    pub(super) fn usage(window: &Lent<Gtt>) -> u64 {
        window.lock().parts().0.usage()
    }

    #[test]
    fn a_placed_object_stays_and_is_mapped() -> Result {
        let machine = Machine::new()?;
        let table = Table::new(16)?;
        let window = window(16)?;
        let loan = lend(&window, &machine, &table)?;
        let object = machine.object(3 * PAGE_SIZE)?;
        let backing = Backing::new(3 * PAGE, 4 * PAGE)?;
        let addr = place(&window, &backing, &*object, 1)?;
        assert_eq!(addr % (4 * PAGE), 0);
        assert_eq!(place(&window, &backing, &*object, 2).ok(), Some(addr));
        assert!(backing.window.is_placed() && backing.pages.is_mapped() && table.flushed());
        assert_eq!(usage(&window), 3 * PAGE);
        let first = entry(START, addr);
        let pages = backing.pages.lock();
        assert!(table.entries.lock()[first..first + 3] == *pages.addresses());
        drop(pages);

        release(&window, &backing, &*object);
        assert_eq!(table.used(), 0);
        assert!(table.flushed());
        assert_eq!(usage(&window), 0);
        drop(loan);
        Ok(())
    }

    #[test]
    fn pages_are_given_back_when_no_job_uses_them() -> Result {
        let machine = Machine::new()?;
        let table = Table::new(4)?;
        let window = window(4)?;
        let loan = lend(&window, &machine, &table)?;
        let object = machine.object(2 * PAGE_SIZE)?;
        let backing = Backing::new(2 * PAGE, PAGE)?;
        assert_eq!(relinquish(&window, &backing, &*object), None);
        place(&window, &backing, &*object, 1)?;
        assert_eq!(backing.pages.held(), 2);
        assert_eq!(relinquish(&window, &backing, &*object), None);
        backing.window.leave();
        let guard = window.lock();
        assert_eq!(relinquish(&window, &backing, &*object), None);
        drop(guard);
        assert_eq!(relinquish(&window, &backing, &*object), Some(2));
        assert_eq!(
            (backing.pages.held(), table.used(), usage(&window)),
            (0, 0, 0)
        );
        assert!(table.flushed() && !backing.window.is_placed());
        // They are pinned again.
        place(&window, &backing, &*object, 2)?;
        backing.window.leave();
        release(&window, &backing, &*object);
        drop(loan);
        Ok(())
    }

    #[test]
    fn an_abandoned_slot_is_empty_whoever_still_knows_it() -> Result {
        let machine = Machine::new()?;
        let table = Table::new(4)?;
        let window = window(4)?;
        let loan = lend(&window, &machine, &table)?;
        let object = machine.object(2 * PAGE_SIZE)?;
        let backing = Backing::new(2 * PAGE, PAGE)?;
        place(&window, &backing, &*object, 1)?;
        abandon(&window, &backing, &*object);
        assert_eq!(
            (backing.pages.held(), table.used(), usage(&window)),
            (0, 0, 0)
        );
        assert!(table.flushed() && !backing.window.is_placed());
        // The job that used it is dropped later.
        backing.window.leave();
        assert_eq!(backing.window.idle_since(), None);
        place(&window, &backing, &*object, 2)?;
        backing.window.leave();
        assert_eq!(backing.window.idle_since(), Some(2));
        abandon(&window, &backing, &*object);
        drop(loan);
        Ok(())
    }

    #[test]
    fn the_device_reaches_pages_until_the_flush() -> Result {
        let machine = Machine::new()?;
        let table = Table::new(4)?;
        let window = window(4)?;
        let loan = lend(&window, &machine, &table)?;
        let object = machine.object(2 * PAGE_SIZE)?;
        let backing = Backing::new(2 * PAGE, PAGE)?;
        table.leaving.lock().push(backing.clone(), GFP_KERNEL)?;
        for (round, end) in [(1, "given back"), (2, "abandoned"), (3, "released")] {
            place(&window, &backing, &*object, round)?;
            backing.window.leave();
            assert!(backing.pages.is_mapped());
            // The flush behind the new entries does not count.
            table.seen.store(0, Relaxed);
            match end {
                "given back" => drop(relinquish(&window, &backing, &*object)),
                "abandoned" => abandon(&window, &backing, &*object),
                _ => release(&window, &backing, &*object),
            }
            // At the flush the entries were gone and the pages were still mapped. Now they are not mapped.
            assert_eq!(table.seen.load(Relaxed), 1);
            assert!(!backing.pages.is_mapped() && table.flushed());
            assert_eq!(table.used(), 0);
        }
        table.leaving.lock().clear();
        drop(loan);
        Ok(())
    }

    #[test]
    fn frames_are_reported_until_they_are_enough() -> Result {
        let machine = Machine::new()?;
        let object = machine.object(40 * PAGE_SIZE)?;
        let backing = Backing::new(40 * PAGE, PAGE)?;
        backing.pages.frames(0, &mut |_| unreachable!());
        backing.pages.hold(&*object)?;
        for (first, most, want) in [(0, 100, 40), (3, 100, 37), (0, 20, 20), (16, 16, 16)] {
            let mut count = 0;
            backing.pages.frames(first, &mut |_| {
                count += 1;
                count < most
            });
            assert_eq!(count, want);
        }
        let window = window(4)?;
        release(&window, &backing, &*object);
        Ok(())
    }

    #[test]
    fn the_end_of_the_loan_clears_everything() -> Result {
        let machine = Machine::new()?;
        let table = Table::new(16)?;
        let window = window(16)?;
        let object = machine.object(2 * PAGE_SIZE)?;
        let backing = Backing::new(2 * PAGE, PAGE)?;
        assert_eq!(place(&window, &backing, &*object, 1).err(), Some(ENODEV));
        let loan = lend(&window, &machine, &table)?;
        assert!(lend(&window, &machine, &table).is_err());
        place(&window, &backing, &*object, 2)?;
        drop(loan);
        assert_eq!(table.used(), 0);
        assert!(table.flushed());
        assert_eq!(usage(&window), 0);
        assert!(backing.pages.held() == 2 && backing.pages.lock().addresses().is_empty());
        assert_eq!(place(&window, &backing, &*object, 3).err(), Some(ENODEV));
        // The object is freed after the device is unbound.
        backing.window.leave();
        release(&window, &backing, &*object);
        Ok(())
    }

    #[test]
    fn a_page_that_cannot_be_mapped_leaves_nothing() -> Result {
        let machine = Machine::new()?;
        let table = Table::new(4)?;
        let window = window(4)?;
        let loan = lend(&window, &machine, &table)?;
        let object = machine.object(2 * PAGE_SIZE)?;
        let backing = Backing::new(2 * PAGE, PAGE)?;
        // Pages that are not adjacent need two calls, of which the second fails.
        table.left.store(1, Relaxed);
        assert_eq!(write(&*table, 1, &[PAGE, 3 * PAGE]).err(), Some(EINVAL));
        assert!(table.used() == 0 && table.flushed());
        table.left.store(0, Relaxed);
        assert_eq!(place(&window, &backing, &*object, 1).err(), Some(EINVAL));
        assert_eq!((table.used(), usage(&window)), (0, 0));
        assert!(!backing.window.is_placed() && table.flushed());
        table.left.store(u64::MAX, Relaxed);
        assert_eq!(place(&window, &backing, &*object, 2).ok(), Some(START));
        release(&window, &backing, &*object);
        drop(loan);
        Ok(())
    }

    #[test]
    fn the_driver_reserves_at_the_end() -> Result {
        let window = window(4)?;
        let range = reserve(&window, PAGE, PAGE)?;
        assert_eq!(range.end(), START + 4 * PAGE);
        assert_eq!(window.lock().parts().0.entry(range.start()), 3);
        assert_eq!(reserve(&window, 1, PAGE).err(), Some(EINVAL));
        assert_eq!(reserve(&window, 4 * PAGE, PAGE).err(), Some(ENOSPC));
        Ok(())
    }
}
