// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The memory of one GPU: its managers, and the hardware that is lent to them.
//!
//! This file does not depend on objects. Objects depend on it.

use kernel::{
    new_mutex,
    page::PAGE_SIZE,
    prelude::*,
    sync::{
        atomic::{
            Atomic,
            Relaxed, //
        },
        Arc,
        Mutex, //
    },
};

use crate::{
    allowance::Allowance,
    corner::{
        lent::{
            Lent,
            Loan, //
        },
        mm::Range,
        userptr::{
            ram_pages,
            InvalidationLock, //
        }, //
    },
    family::{
        space::{
            GpuAddr,
            Layout, //
        },
        surfaces::Surfaces, //
    },
    memory::{
        foreign::{
            Foreign,
            ForeignLoan, //
        },
        gtt::{
            self,
            Gtt,
            Reach, //
        },
        reached::Reached,
        surface_registers::Registers,
        turns::Turns,
        vram::{
            length,
            Vram, //
        }, //
    }, //
};

/// Objects of one client, at most.
const MOST_OBJECTS: usize = 1 << 17;
/// Pages of memory that the machine has for each object of a client. The object itself takes less than one of them.
const PAGES_OF_OBJECT: usize = 8;
/// One walk over VRAM finds this part of all objects that it can hold.
const PART: usize = 16;

/// The memory of one GPU.
#[pin_data]
pub struct Memory {
    layout: Layout,
    vram: Vram,
    gtt: Arc<Lent<Gtt>>,
    reached: Arc<Lent<Reached>>,
    surfaces: Arc<Lent<Registers>>,
    foreign: Arc<Foreign>,
    invalidation: Arc<InvalidationLock>,
    /// Bytes in objects that live in system pages.
    system: Atomic<u64>,
    /// Bytes moved between VRAM and system pages, or within VRAM, since the device was bound.
    moved: Atomic<u64>,
    /// Objects that should be in VRAM and are not.
    astray: Atomic<u64>,
    /// See [`Memory::now`].
    time: Atomic<u64>,
    /// Which objects in VRAM were used longest ago.
    #[pin]
    turns: Mutex<Turns>,
}

/// While this exists, objects in system pages can be placed in the GTT window, and the CPU can see tiled objects as
/// lines.
pub struct MemoryLoan<'bound> {
    _reached: Loan<'bound, Reached>,
    _gtt: Loan<'bound, Gtt>,
    _surfaces: Loan<'bound, Registers>,
}

impl Memory {
    /// Make the managers of the memory that `layout` describes, without the reserved ranges.
    ///
    /// # Errors
    ///
    /// `EINVAL` if a range is empty, unaligned, or wraps, or if a reserved range lies outside of VRAM; `ENOMEM`.
    pub fn new(layout: &Layout) -> Result<Arc<Self>> {
        // An object's pages exist twice while new pages replace them.
        let window = (layout.gtt.end.saturating_sub(layout.gtt.start)) as usize / PAGE_SIZE;
        let vram = length(&layout.vram)? as usize / PAGE_SIZE;
        let most = vram / PART;
        Arc::pin_init(
            try_pin_init!(Self {
                vram: Vram::new(layout)?,
                gtt: Lent::new(Gtt::new(layout)?)?,
                reached: Lent::new(Reached::new())?,
                surfaces: Lent::new(Registers::new())?,
                foreign: Foreign::new()?,
                invalidation: InvalidationLock::new(window.saturating_mul(2))?,
                system: Atomic::new(0),
                moved: Atomic::new(0),
                astray: Atomic::new(0),
                time: Atomic::new(1),
                turns <- new_mutex!(Turns::new(most)?),
                layout: layout.clone(),
            }? Error),
            GFP_KERNEL,
        )
    }

    /// Lend the page table of the GTT window, the device for DMA mappings, and the surface registers, until the loan
    /// is dropped.
    ///
    /// Dropping the loan clears the page table entries of all objects, ends their DMA mappings and switches surfaces
    /// off. Later placements in the window fail with `ENODEV`. The loan is dropped after the DRM device has been
    /// unplugged and the GPU is quiet, and before the page table is freed.
    ///
    /// # Errors
    ///
    /// `EBUSY` if there is a loan already.
    ///
    /// # Safety
    ///
    /// The caller drops the loan, and does not leak it, before `'bound` ends.
    pub unsafe fn lend<'bound>(
        &self,
        reach: Reach<'bound>,
        surfaces: Option<&'bound dyn Surfaces>,
    ) -> Result<MemoryLoan<'bound>> {
        // SAFETY: By the caller's promise.
        unsafe {
            Ok(MemoryLoan {
                _reached: self.reached.lend(reach.dev)?,
                _gtt: self.gtt.lend(reach)?,
                _surfaces: self.surfaces.lend(surfaces)?,
            })
        }
    }

    /// Lend the device for mappings of other drivers' memory, until the loan is dropped (see [`ForeignLoan`]).
    pub fn lend_foreign(&self) -> ForeignLoan {
        ForeignLoan(self.foreign.clone())
    }

    /// Return the lock that delays changes of processes' memory that the GPU uses.
    pub(crate) fn invalidation(&self) -> &Arc<InvalidationLock> {
        &self.invalidation
    }

    /// Make the limits of one client. The objects take at most a small part of the machine's memory. The pinned pages
    /// are at most half of those that may be pinned in total.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub(crate) fn allowance(&self) -> Result<Allowance> {
        let objects = MOST_OBJECTS.min(ram_pages() / PAGES_OF_OBJECT);
        Allowance::new(objects, self.invalidation.most() / 2)
    }

    /// Return where memory is.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Return the manager of VRAM, for the driver's own use.
    pub fn vram(&self) -> &Vram {
        &self.vram
    }

    /// Return the bytes of VRAM allocated to objects and to the driver.
    pub fn vram_usage(&self) -> u64 {
        self.vram.usage()
    }

    /// Return the bytes of objects in system pages, whether the pages exist yet or not.
    pub fn gtt_usage(&self) -> u64 {
        self.system.load(Relaxed)
    }

    /// Return the bytes moved between VRAM and system pages, or within VRAM, since the device was bound.
    pub fn moved(&self) -> u64 {
        self.moved.load(Relaxed)
    }

    /// Return the time of a use, by which idle objects are found. It is larger at each call.
    pub(crate) fn now(&self) -> u64 {
        self.time.fetch_add(1, Relaxed)
    }

    /// Return whether any object should be in VRAM and is not.
    pub(crate) fn any_astray(&self) -> bool {
        self.astray.load(Relaxed) != 0
    }

    /// Return the buffers of other drivers that objects stand for.
    pub(crate) fn foreign(&self) -> &Foreign {
        &self.foreign
    }

    /// Return which objects in VRAM were used longest ago.
    pub(crate) fn turns(&self) -> &Mutex<Turns> {
        &self.turns
    }

    /// Return which object has which surface register.
    pub(crate) fn surfaces(&self) -> &Lent<Registers> {
        &self.surfaces
    }

    /// Return the GTT window.
    pub(crate) fn gtt(&self) -> &Lent<Gtt> {
        &self.gtt
    }

    /// Return the system pages that clients reach in address spaces of their own.
    pub(crate) fn reached(&self) -> &Lent<Reached> {
        &self.reached
    }

    /// Count `bytes` that have moved.
    pub(crate) fn count_moved(&self, bytes: u64) {
        self.moved.add(bytes, Relaxed);
    }

    /// Count an object of `bytes` that is in system pages from here on.
    pub(crate) fn count_system(&self, bytes: u64) {
        self.system.add(bytes, Relaxed);
    }

    /// Count an object of `bytes` that is not in system pages any more.
    pub(crate) fn discount_system(&self, bytes: u64) {
        self.system.fetch_sub(bytes, Relaxed);
    }

    /// Count one astray object more, or less.
    pub(crate) fn count_astray(&self, more: bool) {
        match more {
            true => self.astray.fetch_add(1, Relaxed),
            false => self.astray.fetch_sub(1, Relaxed),
        };
    }

    /// Return the size of the GTT window in bytes. It is also the limit for the size of one object.
    pub fn gtt_size(&self) -> u64 {
        self.layout.gtt.end - self.layout.gtt.start
    }

    /// Reserve addresses of the GTT window for the driver's own system memory, for example rings.
    ///
    /// Only addresses are reserved. The owner points the page table at the memory, from entry [`Memory::gtt_entry`]
    /// on. It clears the entries before it frees the memory and drops the range.
    ///
    /// # Errors
    ///
    /// `EINVAL` if size or alignment is not in whole pages; `ENOSPC`; `ENOMEM`.
    pub fn reserve_gtt(&self, size: u64, align: u64) -> Result<Range> {
        gtt::reserve(&self.gtt, size, align)
    }

    /// Return the index of the page table entry for `addr`, an address in the GTT window. 0 for other addresses.
    pub fn gtt_entry(&self, addr: GpuAddr) -> usize {
        gtt::entry(self.layout.gtt.start, addr)
    }

    /// Take the addresses in the GTT window from all objects, because the page table may be lost. They are given new
    /// ones when a job needs them.
    ///
    /// # Errors
    ///
    /// `EBUSY` if a job under way uses an object.
    pub fn vacate(&self) -> Result {
        let mut guard = self.gtt.lock();
        let (gtt, reach) = guard.parts();
        reach.map_or(Ok(()), |reach| gtt.vacate(reach))
    }

    /// Return the addresses of the GTT window in use, in bytes.
    pub fn gtt_placed(&self) -> u64 {
        self.gtt.lock().parts().0.usage()
    }
}
