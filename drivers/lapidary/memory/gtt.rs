// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The GTT window: addresses through which the GPU reaches system pages.
//!
//! Each 4 KiB of the window has an entry in the GPU's page table. An object gets addresses when a job first
//! needs it, and keeps them: the next job finds it in place. Only when the window is full, objects that no
//! job uses lose theirs, the one used longest ago first; that moves no data.
//!
//! Who makes room for whom is decided in [`displace`].
//!
//! Entries of a range are written before its address is given to anyone, and are made harmless and flushed
//! before its pages are given back. Who makes room flushes once for all who go: the range that he takes from them is
//! his own, under the window's lock, and its entries are written behind the flush.
//!
//! No memory is allocated under the window's lock or that of a slot: whoever reclaims memory may free an object, for
//! which both are needed.

use kernel::{
    dma::DmaAddress,
    drm::gem::IntoGEMObject,
    page::PAGE_SIZE,
    prelude::*,
    rbtree::{
        RBTree,
        RBTreeNodeReservation, //
    },
    sync::Arc, //
};

use crate::{
    corner::{
        lent::{
            Hardware,
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
        slot::{
            Inner,
            Slot, //
        },
        source::Source,
        turns::Turns,
        vram::length, //
    }, //
};

mod displace;

/// What one entry of the page table serves, on all of these chips.
const GPU_PAGE: usize = 4096;

/// One walk finds this part of all slots that the window can hold: whoever displaces all of them walks as many times.
const PART: u64 = 16;

/// The window, a tenant of the page table.
pub struct Gtt {
    mm: Arc<Mm>,
    /// Slots that have addresses, by address.
    placed: RBTree<GpuAddr, Arc<Slot>>,
    /// Which idle slots were used longest ago.
    turns: Turns,
    /// Slots that have lost their addresses; their pages are mapped for the device until the next flush. Empty when the
    /// window is unlocked: until then the objects have references, too, and no slot is dropped here.
    leaving: KVVec<Arc<Slot>>,
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

    /// Addresses in use, in bytes.
    pub(crate) fn usage(&self) -> u64 {
        self.mm.used()
    }

    /// Index of the page table entry for `addr`.
    fn entry(&self, addr: GpuAddr) -> usize {
        entry(self.mm.start(), addr)
    }

    /// Takes the addresses of a slot, if it has any. Nobody uses them or gets them any more.
    fn clear(&mut self, slot: &Slot, inner: &mut Inner, hardware: &Hardware<'_>) {
        let Some(range) = inner.range.take() else {
            return;
        };
        self.placed.remove(&range.start());
        hardware
            .space
            .unmap(self.entry(range.start()), entries(&range));
        hardware.space.flush();
        slot.unmap(inner, hardware.dev);
    }
}

/// Index of the page table entry for `addr` in a window that begins at `start`.
pub(crate) fn entry(start: GpuAddr, addr: GpuAddr) -> usize {
    (addr.saturating_sub(start) / GPU_PAGE as u64) as usize
}

/// Number of page table entries that serve `range`.
fn entries(range: &Range) -> usize {
    (range.size() / GPU_PAGE as u64) as usize
}

impl Tenant for Gtt {
    fn leave(&mut self, hardware: &Hardware<'_>) {
        self.end_all(hardware, |slot| {
            slot.end();
            true
        });
    }
}

/// Reserves addresses that are not a slot's.
///
/// Errors: `EINVAL` if size or alignment is not in whole pages; `ENOSPC`; `ENOMEM`.
pub(crate) fn reserve(gtt: &Lent<Gtt>, size: u64, align: u64) -> Result<Range> {
    if size % PAGE_SIZE as u64 != 0 || align % PAGE_SIZE as u64 != 0 {
        return Err(EINVAL);
    }
    let mut node = Some(Node::new()?);
    // At the end, out of the way of what comes and goes.
    gtt.lock()
        .parts()
        .0
        .mm
        .allocate_in(&mut node, size, align, 0, u64::MAX, Mode::High)
}

/// Gives `slot`, which is that of `object`, addresses and one user; returns the first address.
///
/// The caller holds the object's reservation and ends the use with [`Slot::leave`]. `now` grows from
/// call to call.
///
/// Errors: `ENODEV` after unbind; `ENOSPC` if there is no room between what is in use; as [`Pages::get`] and
/// [`Pages::map`]; `EINVAL` if a page lies where the page table cannot point at; `ENOMEM`.
pub(crate) fn place<O: IntoGEMObject>(
    gtt: &Lent<Gtt>,
    slot: &Arc<Slot>,
    object: &O,
    now: u64,
) -> Result<GpuAddr> {
    if let Some(addr) = slot.again(now) {
        return Ok(addr);
    }
    slot.hold(object)?;
    let mut memory = Some(Node::new()?);
    let place = RBTreeNodeReservation::new(GFP_KERNEL)?;

    let mut guard = gtt.lock();
    let (gtt, hardware) = guard.parts();
    let hardware = hardware.ok_or(ENODEV)?;
    let range = gtt.find(&mut memory, slot, &hardware)?;

    // From here on nobody else gives it addresses or takes them.
    if let Some(addr) = slot.again(now) {
        return Ok(addr);
    }
    let mut inner = slot.inner.lock();
    slot.map(&mut inner, hardware.dev)?;
    let first = gtt.entry(range.start());
    if let Err(e) = write(hardware.space, first, inner.source.addresses()) {
        slot.unmap(&mut inner, hardware.dev);
        return Err(e);
    }
    let addr = range.start();
    gtt.placed.insert(place.into_node(addr, slot.clone()));
    inner.range = Some(range);
    slot.begin(addr, now);
    Ok(addr)
}

/// Gives `slot` the pages of its process's memory that are those of `number`, unless it has them already. The caller
/// holds the object's reservation, and drops what comes back, the pages that were there before.
///
/// Errors: `ENOSPC` while jobs use those; `EAGAIN` if the memory has changed and those of `number` are gone.
pub(crate) fn renew(gtt: &Lent<Gtt>, slot: &Slot, number: usize) -> Result<Option<UserPages>> {
    let mut guard = gtt.lock();
    let (gtt, hardware) = guard.parts();
    let mut inner = slot.inner.lock();
    let Source::User(user, pages) = &inner.source else {
        return Err(EINVAL);
    };
    if pages.as_ref().map(UserPages::number) == Some(number) {
        return Ok(None);
    }
    let user = user.clone();
    if inner.range.is_some() {
        let hardware = hardware.ok_or(ENODEV)?;
        if !slot.end_if_idle() {
            return Err(ENOSPC);
        }
        gtt.clear(slot, &mut inner, &hardware);
    }
    let fresh = user.take(number).ok_or(EAGAIN)?;
    match &mut inner.source {
        Source::User(_, pages) => Ok(pages.replace(fresh)),
        _ => Ok(None),
    }
}

/// Points the entries from `first` on at pages of the CPU, one call for each run of consecutive ones: all of them, or
/// none.
fn write(space: &dyn Space, first: usize, addresses: &[DmaAddress]) -> Result {
    let mut at = first;
    let mut result = Ok(());
    for run in addresses.chunk_by(|a, b| a.checked_add(PAGE_SIZE as DmaAddress) == Some(*b)) {
        let entries = run.len() * (PAGE_SIZE / GPU_PAGE);
        if let Some(&start) = run.first() {
            result = space.map(at, start, entries);
        }
        if result.is_err() {
            space.unmap(first, at - first);
            break;
        }
        at += entries;
    }
    space.flush();
    result
}

/// Ends everything about `slot`, in which `object` is no longer: the pages are freed. The caller holds the reservation,
/// and no job uses the object any more; what they hold of the slot may be dropped later.
pub(crate) fn abandon<O: IntoGEMObject>(gtt: &Lent<Gtt>, slot: &Slot, object: &O) {
    let pages = {
        let mut guard = gtt.lock();
        let (gtt, hardware) = guard.parts();
        let mut inner = slot.inner.lock();
        // Without hardware the slot has left the window already.
        if let (Some(hardware), true) = (hardware, inner.range.is_some()) {
            slot.end();
            gtt.clear(slot, &mut inner, &hardware);
        }
        slot.give_up(&mut inner)
    };
    if let Some(pages) = pages {
        pages.discard(object);
    }
}

/// Lets go of the pages of a slot that no job uses, so that they can be swapped; says how many they are. The caller
/// holds the reservation of `object`, of which there are no CPU mappings. Waits for nothing and allocates nothing.
pub(crate) fn relinquish<O: IntoGEMObject>(
    gtt: &Lent<Gtt>,
    slot: &Slot,
    object: &O,
) -> Option<usize> {
    let pages = {
        let mut guard = gtt.try_lock()?;
        let (gtt, hardware) = guard.parts();
        let mut inner = slot.inner.try_lock()?;
        if inner.range.is_some() {
            let hardware = hardware?;
            if !slot.end_if_idle() {
                return None;
            }
            gtt.clear(slot, &mut inner, &hardware);
        }
        slot.give_up(&mut inner)?
    };
    let count = pages.len();
    pages.put(object);
    Some(count)
}

/// Ends everything about `slot`, whose object goes.
pub(crate) fn release<O: IntoGEMObject>(gtt: &Lent<Gtt>, slot: &Slot, object: &O) {
    let source = {
        let mut guard = gtt.lock();
        let (gtt, hardware) = guard.parts();
        let mut inner = slot.inner.lock();
        // Without hardware the slot has left the window already.
        if let Some(hardware) = hardware {
            slot.end_if_idle();
            gtt.clear(slot, &mut inner, &hardware);
        }
        core::mem::replace(&mut inner.source, Source::Own(None))
    };
    source.put(object);
}

#[kunit_tests(lapidary_gtt)]
mod tests {
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
        lent::Lease, //
    };
    pub(super) const START: GpuAddr = 0x8000_0000;
    pub(super) const PAGE: u64 = PAGE_SIZE as u64;

    /// A page table that remembers.
    #[pin_data]
    pub(super) struct Table {
        #[pin]
        pub(super) entries: Mutex<KVec<DmaAddress>>,
        /// How many calls of `map` succeed.
        pub(super) left: Atomic<u64>,
        /// Changes since the last flush.
        pub(super) dirty: Atomic<u64>,
        pub(super) flushes: Atomic<u64>,
        /// Who has seen a flush coming: without an address, and still mapped for the device.
        #[pin]
        pub(super) leaving: Mutex<KVec<Arc<Slot>>>,
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
        fn map(&self, first: usize, addr: DmaAddress, pages: usize) -> Result {
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
            for slot in self.leaving.lock().iter().filter(|s| !s.is_placed()) {
                self.seen.add(u64::from(slot.is_mapped()), Relaxed);
            }
        }
    }

    pub(super) fn window(pages: u64) -> Result<Arc<Lent<Gtt>>> {
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
    ) -> Result<Lease<'a, Gtt>> {
        let dev = machine.dev();
        // SAFETY: All tests drop the lease.
        unsafe {
            window.lend(Hardware {
                dev,
                space,
                surfaces: None,
            })
        }
    }

    pub(super) fn usage(window: &Lent<Gtt>) -> u64 {
        window.lock().parts().0.usage()
    }

    #[test]
    fn a_placed_object_stays_and_is_mapped() -> Result {
        let machine = Machine::new()?;
        let table = Table::new(16)?;
        let window = window(16)?;
        let lease = lend(&window, &machine, &table)?;
        let object = machine.object(3 * PAGE_SIZE)?;
        let slot = Slot::new(3 * PAGE, 4 * PAGE)?;
        let addr = place(&window, &slot, &*object, 1)?;
        assert_eq!(addr % (4 * PAGE), 0);
        assert_eq!(place(&window, &slot, &*object, 2).ok(), Some(addr));
        assert!(slot.is_placed() && slot.is_mapped() && table.flushed());
        assert_eq!(usage(&window), 3 * PAGE);
        let first = entry(START, addr);
        let inner = slot.inner.lock();
        let addresses = inner.source.addresses();
        assert!(table.entries.lock()[first..first + 3] == *addresses);
        drop(inner);

        release(&window, &slot, &*object);
        assert_eq!(table.used(), 0);
        assert!(table.flushed());
        assert_eq!(usage(&window), 0);
        drop(lease);
        Ok(())
    }

    #[test]
    fn pages_are_given_back_when_no_job_uses_them() -> Result {
        let machine = Machine::new()?;
        let table = Table::new(4)?;
        let window = window(4)?;
        let lease = lend(&window, &machine, &table)?;
        let object = machine.object(2 * PAGE_SIZE)?;
        let slot = Slot::new(2 * PAGE, PAGE)?;
        assert_eq!(relinquish(&window, &slot, &*object), None);
        place(&window, &slot, &*object, 1)?;
        assert_eq!(slot.held(), 2);
        assert_eq!(relinquish(&window, &slot, &*object), None);
        slot.leave();
        let guard = window.lock();
        assert_eq!(relinquish(&window, &slot, &*object), None);
        drop(guard);
        assert_eq!(relinquish(&window, &slot, &*object), Some(2));
        assert_eq!((slot.held(), table.used(), usage(&window)), (0, 0, 0));
        assert!(table.flushed() && !slot.is_placed());
        // They come again.
        place(&window, &slot, &*object, 2)?;
        slot.leave();
        release(&window, &slot, &*object);
        drop(lease);
        Ok(())
    }

    #[test]
    fn an_abandoned_slot_is_empty_whoever_still_knows_it() -> Result {
        let machine = Machine::new()?;
        let table = Table::new(4)?;
        let window = window(4)?;
        let lease = lend(&window, &machine, &table)?;
        let object = machine.object(2 * PAGE_SIZE)?;
        let slot = Slot::new(2 * PAGE, PAGE)?;
        place(&window, &slot, &*object, 1)?;
        abandon(&window, &slot, &*object);
        assert_eq!((slot.held(), table.used(), usage(&window)), (0, 0, 0));
        assert!(table.flushed() && !slot.is_placed());
        // The job that used it is dropped later.
        slot.leave();
        assert_eq!(slot.idle_since(), None);
        place(&window, &slot, &*object, 2)?;
        slot.leave();
        assert_eq!(slot.idle_since(), Some(2));
        abandon(&window, &slot, &*object);
        drop(lease);
        Ok(())
    }

    #[test]
    fn the_device_reaches_pages_until_the_flush() -> Result {
        let machine = Machine::new()?;
        let table = Table::new(4)?;
        let window = window(4)?;
        let lease = lend(&window, &machine, &table)?;
        let object = machine.object(2 * PAGE_SIZE)?;
        let slot = Slot::new(2 * PAGE, PAGE)?;
        table.leaving.lock().push(slot.clone(), GFP_KERNEL)?;
        for (round, end) in [(1, "given back"), (2, "abandoned"), (3, "released")] {
            place(&window, &slot, &*object, round)?;
            slot.leave();
            assert!(slot.is_mapped());
            // The flush behind the new entries does not count.
            table.seen.store(0, Relaxed);
            match end {
                "given back" => drop(relinquish(&window, &slot, &*object)),
                "abandoned" => abandon(&window, &slot, &*object),
                _ => release(&window, &slot, &*object),
            }
            // At the flush the entries were gone and the pages still mapped; now they are not.
            assert_eq!(table.seen.load(Relaxed), 1);
            assert!(!slot.is_mapped() && table.flushed());
            assert_eq!(table.used(), 0);
        }
        table.leaving.lock().clear();
        drop(lease);
        Ok(())
    }

    #[test]
    fn frames_are_reported_until_they_are_enough() -> Result {
        let machine = Machine::new()?;
        let object = machine.object(40 * PAGE_SIZE)?;
        let slot = Slot::new(40 * PAGE, PAGE)?;
        slot.frames(0, &mut |_| unreachable!());
        slot.hold(&*object)?;
        for (first, most, want) in [(0, 100, 40), (3, 100, 37), (0, 20, 20), (16, 16, 16)] {
            let mut count = 0;
            slot.frames(first, &mut |_| {
                count += 1;
                count < most
            });
            assert_eq!(count, want);
        }
        let window = window(4)?;
        release(&window, &slot, &*object);
        Ok(())
    }

    #[test]
    fn the_end_of_the_lease_clears_everything() -> Result {
        let machine = Machine::new()?;
        let table = Table::new(16)?;
        let window = window(16)?;
        let object = machine.object(2 * PAGE_SIZE)?;
        let slot = Slot::new(2 * PAGE, PAGE)?;
        assert_eq!(place(&window, &slot, &*object, 1).err(), Some(ENODEV));
        let lease = lend(&window, &machine, &table)?;
        assert!(lend(&window, &machine, &table).is_err());
        place(&window, &slot, &*object, 2)?;
        drop(lease);
        assert_eq!(table.used(), 0);
        assert!(table.flushed());
        assert_eq!(usage(&window), 0);
        let unmapped = |slot: &Slot| {
            let inner = slot.inner.lock();
            inner.source.own().is_some_and(|p| p.addresses().is_empty())
        };
        assert!(unmapped(&slot));
        assert_eq!(place(&window, &slot, &*object, 3).err(), Some(ENODEV));
        // The object goes later than the device.
        slot.leave();
        release(&window, &slot, &*object);
        Ok(())
    }

    #[test]
    fn a_page_that_cannot_be_mapped_leaves_nothing() -> Result {
        let machine = Machine::new()?;
        let table = Table::new(4)?;
        let window = window(4)?;
        let lease = lend(&window, &machine, &table)?;
        let object = machine.object(2 * PAGE_SIZE)?;
        let slot = Slot::new(2 * PAGE, PAGE)?;
        // Pages that do not lie one behind the other are two calls, of which the second fails.
        table.left.store(1, Relaxed);
        assert_eq!(write(&*table, 1, &[PAGE, 3 * PAGE]).err(), Some(EINVAL));
        assert!(table.used() == 0 && table.flushed());
        table.left.store(0, Relaxed);
        assert_eq!(place(&window, &slot, &*object, 1).err(), Some(EINVAL));
        assert_eq!((table.used(), usage(&window)), (0, 0));
        assert!(!slot.is_placed() && table.flushed());
        table.left.store(u64::MAX, Relaxed);
        assert_eq!(place(&window, &slot, &*object, 2).ok(), Some(START));
        release(&window, &slot, &*object);
        drop(lease);
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
