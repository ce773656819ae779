// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The GTT window: addresses through which the GPU reaches system pages.
//!
//! Each 4 KiB of the window has an entry in the GPU's page table. An object gets addresses when a job first
//! needs it, and keeps them: the next job finds it in place. Only when the window is full, objects that no
//! job uses lose theirs, the one used longest ago first; that moves no data.
//!
//! A window may be full of small objects, and all of them may have to go for a large one. So the window is not searched
//! for each: one walk finds as many as there is memory for, and the next one comes when all of those had their turn. Nor
//! is the whole window asked each time whether there is room: only the hole that one has left may be large enough now.
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
    family::{
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
        vram::length, //
    },
    portable::heap::Least, //
};

/// What one entry of the page table serves, on all of these chips.
const GPU_PAGE: usize = 4096;

/// One walk finds this part of all slots that the window can hold: whoever displaces all of them walks as many times.
const PART: u64 = 16;

/// The window, a tenant of the page table.
pub struct Gtt {
    mm: Arc<Mm>,
    /// Slots that have addresses, by address.
    placed: RBTree<GpuAddr, Arc<Slot>>,
    /// What the last walk has found: when an idle slot was used, and its address. All others were used later, or were
    /// in use. Whose turn it is next is the last of the first [`Gtt::waiting`].
    oldest: KVVec<(u64, GpuAddr)>,
    waiting: usize,
    /// Slots that have lost their addresses; their pages are mapped for the device until the next flush. Empty when the
    /// window is unlocked: until then the objects have references, too, and no slot is dropped here.
    leaving: KVVec<Arc<Slot>>,
}

impl Gtt {
    pub(super) fn new(layout: &Layout) -> Result<Self> {
        let size = length(&layout.gtt)?;
        let most = usize::try_from(size / PAGE_SIZE as u64 / PART)?.max(1);
        Ok(Self {
            mm: Mm::new(layout.gtt.start, size)?,
            placed: RBTree::new(),
            oldest: KVVec::from_elem((0, 0), most, GFP_KERNEL)?,
            waiting: 0,
            leaving: KVVec::with_capacity(most, GFP_KERNEL)?,
        })
    }

    /// Addresses in use, in bytes.
    pub(super) fn usage(&self) -> u64 {
        self.mm.used()
    }

    /// Index of the page table entry for `addr`.
    fn entry(&self, addr: GpuAddr) -> usize {
        entry(self.mm.start(), addr)
    }

    /// Finds addresses for `slot`, if need be by taking them from others.
    fn find(
        &mut self,
        node: &mut Option<Node>,
        slot: &Slot,
        hardware: &Hardware<'_>,
    ) -> Result<Range> {
        let (size, align) = (slot.size, slot.align);
        let mut found = self
            .mm
            .allocate_in(node, size, align, 0, u64::MAX, Mode::Best);
        while matches!(found, Err(e) if e == ENOSPC) {
            let Some((from, to)) = self.displace(hardware) else {
                break;
            };
            // No other hole has changed, and none fits.
            found = self.mm.allocate_in(node, size, align, from, to, Mode::Low);
        }
        self.part(hardware);
        found
    }

    /// Takes the addresses of the slot that was used longest ago, and leaves the rest to [`Gtt::part`]; says between
    /// which addresses there is no slot now. `None` if all are in use.
    fn displace(&mut self, hardware: &Hardware<'_>) -> Option<(GpuAddr, GpuAddr)> {
        loop {
            while let Some(next) = self.waiting.checked_sub(1) {
                self.waiting = next;
                let &(used, addr) = self.oldest.get(next)?;
                if let Some(hole) = self.withdraw(used, addr, hardware) {
                    return Some(hole);
                }
            }
            let mut least = Least::new(&mut self.oldest);
            for (&addr, slot) in self.placed.iter() {
                if let Some(used) = slot.idle_since() {
                    least.offer((used, addr));
                }
            }
            self.waiting = least.finish();
            if self.waiting == 0 {
                return None;
            }
        }
    }

    /// As [`Gtt::displace`], for the slot at `addr`. `None` if there is none that was last used at `used`, or if it is in
    /// use: a job has found it in place since it was looked at, and it stays.
    fn withdraw(
        &mut self,
        used: u64,
        addr: GpuAddr,
        hardware: &Hardware<'_>,
    ) -> Option<(GpuAddr, GpuAddr)> {
        let cursor = self.placed.cursor_lower_bound_mut(&addr)?;
        let (&start, slot) = cursor.current();
        if start != addr || slot.idle_since() != Some(used) || !slot.end_if_idle() {
            return None;
        }
        let from = cursor
            .peek_prev()
            .map_or(0, |(&start, slot)| start.saturating_add(slot.size));
        let to = cursor.peek_next().map_or(u64::MAX, |(&start, _)| start);
        let (_, slot) = cursor.remove_current().1.to_key_value();
        if let Some(range) = slot.inner.lock().range.take() {
            hardware
                .space
                .unmap(self.entry(range.start()), entries(&range));
        }
        if let Err(full) = self.leaving.push_within_capacity(slot) {
            self.part(hardware);
            full.0.inner.lock().source.unmap(hardware.dev);
        }
        Some((from, to))
    }

    /// Flushes, and ends the mappings of all who leave.
    fn part(&mut self, hardware: &Hardware<'_>) {
        if self.leaving.is_empty() {
            return;
        }
        hardware.space.flush();
        for slot in self.leaving.drain_all() {
            slot.inner.lock().source.unmap(hardware.dev);
        }
    }

    /// Takes the addresses of all slots.
    ///
    /// Errors: `EBUSY` if one is in use.
    pub(super) fn vacate(&mut self, hardware: &Hardware<'_>) -> Result {
        self.end_all(hardware, Slot::end_if_idle);
        match self.placed.is_empty() {
            true => Ok(()),
            false => Err(EBUSY),
        }
    }

    /// Takes the addresses of all slots whose places `end` ends; it says whether it does.
    fn end_all(&mut self, hardware: &Hardware<'_>, end: impl Fn(&Slot) -> bool) {
        for slot in self.placed.values().filter(|slot| end(slot)) {
            if let Some(range) = &slot.inner.lock().range {
                hardware
                    .space
                    .unmap(self.entry(range.start()), entries(range));
            }
        }
        hardware.space.flush();
        let mut next = self.placed.cursor_front_mut();
        while let Some(cursor) = next {
            // Nobody places one meanwhile: that takes the window's lock.
            if cursor.current().1.is_placed() {
                next = cursor.move_next();
                continue;
            }
            let (other, node) = cursor.remove_current();
            // Behind the last one comes the one before it, which stays.
            next = other;
            let (_, slot) = node.to_key_value();
            let mut inner = slot.inner.lock();
            inner.source.unmap(hardware.dev);
            inner.range = None;
        }
    }

    /// Takes the addresses of a slot, if it has any. Nobody uses them or gets them any more.
    fn clear(&mut self, inner: &mut Inner, hardware: &Hardware<'_>) {
        let Some(range) = inner.range.take() else {
            return;
        };
        self.placed.remove(&range.start());
        hardware
            .space
            .unmap(self.entry(range.start()), entries(&range));
        hardware.space.flush();
        inner.source.unmap(hardware.dev);
    }
}

/// Index of the page table entry for `addr` in a window that begins at `start`.
pub(super) fn entry(start: GpuAddr, addr: GpuAddr) -> usize {
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
pub(super) fn reserve(gtt: &Lent<Gtt>, size: u64, align: u64) -> Result<Range> {
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
pub(super) fn place<O: IntoGEMObject>(
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
    inner.source.map(hardware.dev)?;
    let first = gtt.entry(range.start());
    if let Err(e) = write(hardware.space, first, inner.source.addresses()) {
        inner.source.unmap(hardware.dev);
        return Err(e);
    }
    let addr = range.start();
    gtt.placed.insert(place.into_node(addr, slot.clone()));
    inner.range = Some(range);
    slot.begin(addr, now);
    Ok(addr)
}

/// Gives `slot` the pages of its process's memory that are those of `number`, unless it has them already. The caller holds
/// the object's reservation, and drops what comes back, the pages that were there before.
///
/// Errors: `ENOSPC` while jobs use those; `EAGAIN` if the memory has changed and those of `number` are gone.
pub(super) fn renew(gtt: &Lent<Gtt>, slot: &Slot, number: usize) -> Result<Option<UserPages>> {
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
        gtt.clear(&mut inner, &hardware);
    }
    let fresh = user.take(number).ok_or(EAGAIN)?;
    match &mut inner.source {
        Source::User(_, pages) => Ok(pages.replace(fresh)),
        _ => Ok(None),
    }
}

/// Points the entries from `first` on at pages of the CPU, one call for each run of consecutive ones: all of them, or none.
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
pub(super) fn abandon<O: IntoGEMObject>(gtt: &Lent<Gtt>, slot: &Slot, object: &O) {
    let pages = {
        let mut guard = gtt.lock();
        let (gtt, hardware) = guard.parts();
        let mut inner = slot.inner.lock();
        // Without hardware the slot has left the window already.
        if let (Some(hardware), true) = (hardware, inner.range.is_some()) {
            slot.end();
            gtt.clear(&mut inner, &hardware);
        }
        slot.give_up(&mut inner)
    };
    if let Some(pages) = pages {
        pages.discard(object);
    }
}

/// Lets go of the pages of a slot that no job uses, so that they can be swapped; says how many they are. The caller
/// holds the reservation of `object`, of which there are no CPU mappings. Waits for nothing and allocates nothing.
pub(super) fn relinquish<O: IntoGEMObject>(
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
            gtt.clear(&mut inner, &hardware);
        }
        slot.give_up(&mut inner)?
    };
    let count = pages.len();
    pages.put(object);
    Some(count)
}

/// Ends everything about `slot`, whose object goes.
pub(super) fn release<O: IntoGEMObject>(gtt: &Lent<Gtt>, slot: &Slot, object: &O) {
    let source = {
        let mut guard = gtt.lock();
        let (gtt, hardware) = guard.parts();
        let mut inner = slot.inner.lock();
        // Without hardware the slot has left the window already.
        if let Some(hardware) = hardware {
            slot.end_if_idle();
            gtt.clear(&mut inner, &hardware);
        }
        core::mem::replace(&mut inner.source, Source::Own(None))
    };
    source.put(object);
}

#[kunit_tests(lapidary_gtt)]
mod tests {
    use super::*;
    use kernel::{
        drm::gem,
        new_mutex,
        sync::{
            aref::ARef,
            atomic::{
                Atomic,
                Relaxed, //
            },
            Mutex, //
        },
    };

    use crate::{
        corner::{
            gem_kunit::{
                Machine,
                Object, //
            },
            lent::Lease, //
        },
        family::{
            Surface,
            Surfaces, //
        },
        portable::heap,
    };
    const START: GpuAddr = 0x8000_0000;
    const PAGE: u64 = PAGE_SIZE as u64;

    /// A page table that remembers.
    #[pin_data]
    struct Table {
        #[pin]
        entries: Mutex<KVec<DmaAddress>>,
        /// How many calls of `map` succeed.
        left: Atomic<u64>,
        /// Changes since the last flush.
        dirty: Atomic<u64>,
        flushes: Atomic<u64>,
        /// Who has seen a flush coming: without an address, and still mapped for the device.
        #[pin]
        leaving: Mutex<KVec<Arc<Slot>>>,
        seen: Atomic<u64>,
    }

    impl Table {
        fn new(pages: usize) -> Result<Pin<KBox<Self>>> {
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

        fn used(&self) -> usize {
            self.entries.lock().iter().filter(|&&a| a != 0).count()
        }

        fn flushed(&self) -> bool {
            self.dirty.load(Relaxed) == 0
        }
    }

    impl Surfaces for Table {
        fn usable(&self) -> u32 {
            0
        }

        fn reorders(&self, _surface: &Surface) -> bool {
            false
        }

        fn set(&self, _index: u32, _surface: Option<&Surface>) {}
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
                let inner = slot.inner.try_lock();
                if inner.is_some_and(|inner| !inner.source.addresses().is_empty()) {
                    self.seen.add(1, Relaxed);
                }
            }
        }
    }

    fn window(pages: u64) -> Result<Arc<Lent<Gtt>>> {
        let layout = Layout {
            vram: 0..1 << 20,
            aperture: 0..1 << 20,
            reserved: [0..0, 0..0, 0..0, 0..0],
            gtt: START..START + pages * PAGE,
        };
        Lent::new(Gtt::new(&layout)?)
    }

    fn lend<'a>(
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
                surfaces: space,
            })
        }
    }

    fn usage(window: &Lent<Gtt>) -> u64 {
        window.lock().parts().0.usage()
    }

    type Thing = (ARef<gem::Object<Object>>, Arc<Slot>);

    /// An object of `pages` pages that has been used at `now` and is idle.
    fn idle(
        machine: &Machine,
        window: &Lent<Gtt>,
        pages: u64,
        align: u64,
        now: u64,
    ) -> Result<Thing> {
        let thing = (
            machine.object(pages as usize * PAGE_SIZE)?,
            Slot::new(pages * PAGE, align * PAGE)?,
        );
        if let Err(e) = place(window, &thing.1, &*thing.0, now) {
            release(window, &thing.1, &*thing.0);
            return Err(e);
        }
        thing.1.leave();
        Ok(thing)
    }

    /// Objects of a page that fill a window, used one after the other in an order that is not that of their addresses.
    fn fill(machine: &Machine, window: &Lent<Gtt>, pages: u64) -> Result<KVec<Thing>> {
        let mut things = KVec::new();
        for _ in 0..pages {
            things.push(idle(machine, window, 1, 1, 0)?, GFP_KERNEL)?;
        }
        for (index, (_, slot)) in things.iter().enumerate() {
            assert!(slot.again(1 + index as u64 * 7 % pages).is_some());
            slot.leave();
        }
        Ok(things)
    }

    /// How many have addresses, and how many bytes they are.
    fn placed(things: &[Thing]) -> (usize, u64) {
        let mut sum = (0, 0);
        for (_, slot) in things {
            if slot.is_placed() {
                sum = (sum.0 + 1, sum.1 + slot.size);
            }
        }
        sum
    }

    fn empty(window: &Lent<Gtt>, things: &[Thing]) {
        for (object, slot) in things {
            release(window, slot, &**object);
        }
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
        assert!(slot.is_placed() && table.flushed());
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
    fn frames_are_reported_until_they_are_enough() -> Result {
        let machine = Machine::new()?;
        let object = machine.object(40 * PAGE_SIZE)?;
        let slot = Slot::new(40 * PAGE, PAGE)?;
        for (first, most, want) in [(0, 100, 40), (3, 100, 37), (0, 20, 20), (16, 16, 16)] {
            let mut count = 0;
            slot.frames(&*object, first, &mut |_| {
                count += 1;
                count < most
            })?;
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
    fn a_full_window_displaces_the_idle_one_used_longest_ago() -> Result {
        let machine = Machine::new()?;
        let table = Table::new(4)?;
        let window = window(4)?;
        let lease = lend(&window, &machine, &table)?;
        let object = || machine.object(2 * PAGE_SIZE);
        let slot = || Slot::new(2 * PAGE, PAGE);
        let (a, b, c) = (object()?, object()?, object()?);
        let (sa, sb, sc) = (slot()?, slot()?, slot()?);
        place(&window, &sa, &*a, 1)?;
        place(&window, &sb, &*b, 2)?;
        // Both have a user.
        assert_eq!(place(&window, &sc, &*c, 3).err(), Some(ENOSPC));
        sa.leave();
        sb.leave();
        place(&window, &sa, &*a, 4)?;
        sa.leave();
        place(&window, &sc, &*c, 5)?;
        assert!(sa.is_placed() && !sb.is_placed() && sc.is_placed());
        assert_eq!(table.used(), 4);
        assert!(table.flushed());
        // Too large for any window.
        let large = machine.object(5 * PAGE_SIZE)?;
        let sl = Slot::new(5 * PAGE, PAGE)?;
        assert_eq!(place(&window, &sl, &*large, 6).err(), Some(ENOSPC));
        assert!(sc.is_placed());
        for (slot, object) in [(&sa, &a), (&sb, &b), (&sc, &c), (&sl, &large)] {
            release(&window, slot, &**object);
        }
        assert_eq!(table.used(), 0);
        drop(lease);
        Ok(())
    }

    #[test]
    fn a_large_object_displaces_only_the_oldest_in_few_walks() -> Result {
        const PAGES: u64 = 128;
        let machine = Machine::new()?;
        let table = Table::new(PAGES as usize)?;
        let window = window(PAGES)?;
        let lease = lend(&window, &machine, &table)?;
        let things = fill(&machine, &window, PAGES)?;
        // A job has one of those that would go, and will not let it go.
        let (_, busy) = &things[1];
        assert_eq!(busy.idle_since(), Some(8));
        assert!(busy.again(8).is_some());
        let before = table.flushes.load(Relaxed);
        // Sixteen pages, the last of which becomes free when 16 neighbours are gone.
        let large = idle(&machine, &window, 16, 16, 1000)?;
        let first = entry(START, large.1.again(1000).ok_or(EINVAL)?);
        large.1.leave();
        // The youngest of those who were in the way.
        let used = |at: usize| 1 + at as u64 * 7 % PAGES;
        let youngest = |first: usize| (first..first + 16).fold(0, |max, at| max.max(used(at)));
        let mut went = 0;
        for (index, (_, slot)) in things.iter().enumerate() {
            let goes = index != 1 && used(index) <= youngest(first);
            assert_eq!(slot.is_placed(), !goes);
            went += u64::from(goes);
        }
        // No other place had become free earlier; that of the busy one cannot.
        for other in (16..PAGES as usize).step_by(16) {
            assert!(youngest(first) <= youngest(other));
        }
        assert!(went > 3 * PAGES / PART);
        // One flush for each time that the memory of those who leave was full, one for the rest, and one for the new
        // entries.
        let flushes = table.flushes.load(Relaxed) - before;
        assert!(flushes <= went / (PAGES / PART) + 2);
        assert!(busy.is_placed() && table.flushed());
        assert_eq!(table.used() as u64, PAGES - went + 16);
        // All that is left but the busy one.
        assert_eq!(idle(&machine, &window, PAGES, 1, 1001).err(), Some(ENOSPC));
        assert_eq!(placed(&things), (1, PAGE));
        busy.leave();
        let all = idle(&machine, &window, PAGES, 1, 1002)?;
        assert!(!busy.is_placed());
        empty(&window, &things);
        empty(&window, &[large, all]);
        assert_eq!((table.used(), usage(&window)), (0, 0));
        drop(lease);
        Ok(())
    }

    #[test]
    fn those_go_who_would_go_one_by_one() -> Result {
        const PAGES: usize = 64;
        let machine = Machine::new()?;
        let table = Table::new(PAGES)?;
        let window = window(PAGES as u64)?;
        let lease = lend(&window, &machine, &table)?;
        let mut things = KVec::<Thing>::new();
        let mut random = 1u64;
        let mut next = |below: u64| {
            random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            (random >> 33) % below
        };
        for now in 1..400 {
            // Some are used again, some are freed.
            for _ in 0..next(4) {
                let at = next(things.len() as u64 + 1) as usize;
                if let Some((_, slot)) = things.get(at) {
                    if slot.again(now * 2).is_some() {
                        slot.leave();
                    }
                }
            }
            if next(8) == 0 && !things.is_empty() {
                let at = next(things.len() as u64) as usize;
                if let Ok((object, slot)) = things.remove(at) {
                    release(&window, &slot, &*object);
                }
            }
            let pages = [1, 1, 1, 2, 3, 8, 30][next(7) as usize];
            let align = [1, 1, 1, 2, 3, 16][next(6) as usize];

            // The pages of a window in which the oldest goes until there is room.
            let mut taken = [false; PAGES];
            let mut order = KVec::<(u64, usize, usize, usize)>::new();
            for (index, (_, slot)) in things.iter().enumerate() {
                if let (Some(used), Some(range)) = (slot.idle_since(), &slot.inner.lock().range) {
                    let first = entry(START, range.start());
                    taken[first..first + entries(range)].fill(true);
                    order.push((used, first, entries(range), index), GFP_KERNEL)?;
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
                assert_eq!(things[index].1.is_placed(), place >= gone);
            }
            assert!(table.flushed());
            things.push(thing, GFP_KERNEL)?;
            assert_eq!(usage(&window), placed(&things).1);
            assert_eq!(table.used() as u64 * PAGE, usage(&window));
        }
        empty(&window, &things);
        assert_eq!((table.used(), usage(&window)), (0, 0));
        drop(lease);
        Ok(())
    }

    #[test]
    fn who_was_found_and_is_used_again_stays() -> Result {
        const PAGES: u64 = 64;
        let machine = Machine::new()?;
        let table = Table::new(PAGES as usize)?;
        let window = window(PAGES)?;
        let lease = lend(&window, &machine, &table)?;
        let things = fill(&machine, &window, PAGES)?;
        let mut order = KVec::new();
        for (index, (_, slot)) in things.iter().enumerate() {
            order.push((slot.idle_since(), index), GFP_KERNEL)?;
        }
        heap::sort(&mut order, |one| *one);
        let oldest = |place: usize| &things[order[place].1];
        let placed = |place: usize| oldest(place).1.is_placed();
        // One walk finds four.
        let a = idle(&machine, &window, 1, 1, 100)?;
        assert!(!placed(0) && placed(1) && placed(2) && placed(3));
        // The second is used and idle again, the third is in use, the fourth gives its place to another.
        assert!(oldest(1).1.again(101).is_some());
        oldest(1).1.leave();
        assert!(oldest(2).1.again(102).is_some());
        release(&window, &oldest(3).1, &*oldest(3).0);
        let b = idle(&machine, &window, 1, 1, 103)?;
        assert!(placed(1) && placed(2) && placed(4));
        let c = idle(&machine, &window, 1, 1, 104)?;
        assert!(placed(1) && placed(2) && !placed(4) && placed(5));
        assert!(b.1.is_placed());
        oldest(2).1.leave();
        empty(&window, &things);
        empty(&window, &[a, b, c]);
        drop(lease);
        Ok(())
    }

    #[test]
    fn pages_are_mapped_for_the_device_until_the_flush() -> Result {
        const PAGES: u64 = 64;
        let machine = Machine::new()?;
        for sleep in [false, true] {
            let table = Table::new(PAGES as usize)?;
            let window = window(PAGES)?;
            let lease = lend(&window, &machine, &table)?;
            let things = fill(&machine, &window, PAGES)?;
            for (_, slot) in &things {
                table.leaving.lock().push(slot.clone(), GFP_KERNEL)?;
            }
            let mut large = KVec::new();
            if sleep {
                let mut guard = window.lock();
                let (gtt, hardware) = guard.parts();
                gtt.vacate(&hardware.ok_or(ENODEV)?)?;
            } else {
                large.push(idle(&machine, &window, PAGES, 1, 100)?, GFP_KERNEL)?;
            }
            // Each at one flush: not at none, as it would be too early, and not at several.
            assert_eq!(table.seen.load(Relaxed), PAGES);
            table.leaving.lock().clear();
            empty(&window, &things);
            empty(&window, &large);
            drop(lease);
        }
        Ok(())
    }

    #[test]
    fn all_who_are_idle_leave_at_once() -> Result {
        const PAGES: u64 = 64;
        let machine = Machine::new()?;
        let table = Table::new(PAGES as usize)?;
        let window = window(PAGES)?;
        let lease = lend(&window, &machine, &table)?;
        let things = fill(&machine, &window, PAGES)?;
        let vacate = || {
            let mut guard = window.lock();
            let (gtt, hardware) = guard.parts();
            gtt.vacate(&hardware.ok_or(ENODEV)?)
        };
        // The first, the last, and one between.
        for busy in [0, 20, 63] {
            assert!(things[busy].1.again(100).is_some());
        }
        let before = table.flushes.load(Relaxed);
        assert_eq!(vacate().err(), Some(EBUSY));
        assert_eq!(table.flushes.load(Relaxed), before + 1);
        assert_eq!((table.used(), usage(&window)), (3, 3 * PAGE));
        for busy in [0, 20, 63] {
            assert!(things[busy].1.is_placed());
            things[busy].1.leave();
        }
        vacate()?;
        assert!(table.flushed());
        assert_eq!((table.used(), usage(&window)), (0, 0));
        vacate()?;
        // They come again.
        let (object, slot) = &things[5];
        place(&window, slot, &**object, 101)?;
        slot.leave();
        empty(&window, &things);
        drop(lease);
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
