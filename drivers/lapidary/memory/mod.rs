// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Buffer objects and the two places where they can be.
//!
//! The GPU sees one space of addresses. One window of it is its own memory, VRAM; the CPU reaches the
//! first part of that through BAR0. Another window, GTT, goes through a page table to system memory
//! (R5xx: "PCIE GART"). An object lies in either:
//!
//! - in **VRAM** from the moment it is made ([`vram`]). The ring clears it before anybody can see what the
//!   memory held for its last owner;
//! - in **system pages** that come into being, zeroed, when CPU or GPU first touch them. They get addresses
//!   in the GTT window when a job needs them, and keep them until the window is full ([`gtt`]).
//!
//! An object may move from one to the other ([`moves`]): when there is no room for all that should be in VRAM, when
//! the CPU touches what it cannot see, when the machine goes to sleep ([`pressure`]). The rules are portable code,
//! [`crate::portable::placement`]; [`object`] is the object itself.
//!
//! The CPU sees objects in VRAM as lines, however their pixels are arranged, if user space asks for it ([`surfaces`]).
//!
//! Some objects stand for memory of other drivers ([`foreign`], [`source`]); they lie in system pages for good. So do
//! objects that other drivers use, while they do.
//!
//! # Lifetimes
//!
//! [`Memory`] is shared by the DRM device and every object, and outlives the binding of the device. The
//! page table and the right to do DMA are lent to it while the device is bound, see
//! [`crate::corner::lent`].
//!
//! # Locks
//!
//! From outside to inside: an object's reservation; the turns of objects in VRAM; the list of all objects; its home; the GTT window; a
//! [`slot::Slot`]; the range managers. The surface registers come directly behind the reservation.
//!
//! Freeing an object takes no reservation, but all of the others. Who reclaims memory may be the one who drops the
//! last reference: therefore no memory is allocated under any of these locks but the reservation, and where memory is
//! reclaimed the others are only tried for.
//!
//! Who has locked objects (a submission) and needs others to make room only tries for those.

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
            Hardware,
            Lease,
            Lent, //
        },
        mm::Range,
        userptr::{
            ram_pages,
            Gate, //
        }, //
    },
    family::space::{
        GpuAddr,
        Layout, //
    }, //
};

pub mod create;
mod foreign;
pub mod gtt;
pub mod moves;
pub mod object;
pub mod pressure;
mod slot;
mod source;
pub mod surfaces;
mod turns;
pub mod usage;
pub mod vram;

pub use create::{
    create,
    create_user, //
};

pub use object::{
    Bo,
    Object,
    Status, //
};

pub use usage::{
    Places,
    Use, //
};

pub use crate::portable::placement::{
    Access,
    Domain,
    Request, //
};

pub use foreign::ForeignLease;

use foreign::Foreign;
pub use surfaces::rearrange;

use gtt::Gtt;
use surfaces::Registers;
use turns::Turns;
use vram::{
    length,
    Vram, //
};

/// Objects of one client, at most.
const MOST_OBJECTS: usize = 1 << 17;
/// For each object of a client the machine has so many pages of memory. The object itself takes less than one of them.
const PAGES_OF_OBJECT: usize = 8;
/// One walk over VRAM finds this part of all objects that it can hold.
const PART: usize = 16;

/// The memory of one GPU.
#[pin_data]
pub struct Memory {
    layout: Layout,
    vram: Vram,
    gtt: Arc<Lent<Gtt>>,
    surfaces: Arc<Lent<Registers>>,
    foreign: Arc<Foreign>,
    gate: Arc<Gate>,
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
pub struct MemoryLease<'bound> {
    _gtt: Lease<'bound, Gtt>,
    _surfaces: Lease<'bound, Registers>,
}

impl Memory {
    /// Makes the managers of the memory that `layout` describes, with the reserved ranges taken out.
    ///
    /// Errors: `EINVAL` if a range is empty, unaligned, wraps, or if a reserved one lies outside of VRAM;
    /// `ENOMEM`.
    pub fn new(layout: &Layout) -> Result<Arc<Self>> {
        // An object's pages are there twice while new ones replace them.
        let window = (layout.gtt.end.saturating_sub(layout.gtt.start)) as usize / PAGE_SIZE;
        let vram = length(&layout.vram)? as usize / PAGE_SIZE;
        let most = vram / PART;
        Arc::pin_init(
            try_pin_init!(Self {
                vram: Vram::new(layout)?,
                gtt: Lent::new(Gtt::new(layout)?)?,
                surfaces: Lent::new(Registers::new())?,
                foreign: Foreign::new()?,
                gate: Gate::new(window.saturating_mul(2))?,
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

    /// Lends the page table of the GTT window, the device for DMA mappings, and the surface registers, until the lease
    /// is dropped.
    ///
    /// Dropping the lease clears the page table entries of all objects, ends their DMA mappings and switches surfaces
    /// off; later placements in the window fail with `ENODEV`. To be dropped after the DRM device has been
    /// unplugged and the GPU is quiet, before the page table goes.
    ///
    /// Errors: `EBUSY` if there is a lease already.
    ///
    /// # Safety
    ///
    /// The lease is dropped, not leaked, before `'bound` ends.
    pub unsafe fn lend<'bound>(&self, hardware: Hardware<'bound>) -> Result<MemoryLease<'bound>> {
        // SAFETY: By the caller's promise.
        unsafe {
            Ok(MemoryLease {
                _gtt: self.gtt.lend(hardware)?,
                _surfaces: self.surfaces.lend(hardware)?,
            })
        }
    }

    /// Lends the device for mappings of other drivers' memory, until the lease is dropped; see [`ForeignLease`].
    pub fn lend_foreign(&self) -> ForeignLease {
        ForeignLease(self.foreign.clone())
    }

    /// Holds up changes of the memory of processes that the GPU uses.
    pub(crate) fn gate(&self) -> &Gate {
        &self.gate
    }

    /// What one client may have: so many objects that they take a small part of the machine's memory, and half of the
    /// pages that may be pinned in all.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub(crate) fn allowance(&self) -> Result<Allowance> {
        let objects = MOST_OBJECTS.min(ram_pages() / PAGES_OF_OBJECT);
        Allowance::new(objects, self.gate.most() / 2)
    }

    /// Where memory is.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// VRAM, for what the driver itself keeps there.
    pub fn vram(&self) -> &Vram {
        &self.vram
    }

    /// Bytes of VRAM handed out to objects and to the driver.
    pub fn vram_usage(&self) -> u64 {
        self.vram.usage()
    }

    /// Bytes in objects that live in system pages, whether the pages exist yet or not.
    pub fn gtt_usage(&self) -> u64 {
        self.system.load(Relaxed)
    }

    /// Bytes moved between VRAM and system pages, or within VRAM, since the device was bound.
    pub fn moved(&self) -> u64 {
        self.moved.load(Relaxed)
    }

    /// The time by which it is told which objects were not used for long: a number that is larger at each call.
    pub(crate) fn now(&self) -> u64 {
        self.time.fetch_add(1, Relaxed)
    }

    /// Whether any object should be in VRAM and is not.
    fn any_astray(&self) -> bool {
        self.astray.load(Relaxed) != 0
    }

    /// Which objects in VRAM were used longest ago.
    fn turns(&self) -> &Mutex<Turns> {
        &self.turns
    }

    fn surfaces(&self) -> &Lent<Registers> {
        &self.surfaces
    }

    fn gtt(&self) -> &Lent<Gtt> {
        &self.gtt
    }

    fn count_moved(&self, bytes: u64) {
        self.moved.add(bytes, Relaxed);
    }

    fn count_system(&self, bytes: u64) {
        self.system.add(bytes, Relaxed);
    }

    fn discount_system(&self, bytes: u64) {
        self.system.fetch_sub(bytes, Relaxed);
    }

    /// One object more, or less, is astray.
    fn count_astray(&self, more: bool) {
        match more {
            true => self.astray.fetch_add(1, Relaxed),
            false => self.astray.fetch_sub(1, Relaxed),
        };
    }

    /// Size of the GTT window in bytes; also the limit for the size of one object.
    pub fn gtt_size(&self) -> u64 {
        self.layout.gtt.end - self.layout.gtt.start
    }

    /// Reserves addresses of the GTT window for what the driver itself keeps in system memory, as rings.
    ///
    /// Only addresses: the owner points the page table at the memory, from entry [`Memory::gtt_entry`] on, and
    /// clears the entries before it frees the memory and drops the range.
    ///
    /// Errors: `EINVAL` if size or alignment is not in whole pages; `ENOSPC`; `ENOMEM`.
    pub fn reserve_gtt(&self, size: u64, align: u64) -> Result<Range> {
        gtt::reserve(&self.gtt, size, align)
    }

    /// Index of the page table entry for `addr`, an address in the GTT window; 0 for another.
    pub fn gtt_entry(&self, addr: GpuAddr) -> usize {
        gtt::entry(self.layout.gtt.start, addr)
    }

    /// Takes their addresses in the GTT window from all objects, which get new ones when a job needs them: the page
    /// table may be lost.
    ///
    /// Errors: `EBUSY` if a job under way uses an object.
    pub fn vacate(&self) -> Result {
        let mut guard = self.gtt.lock();
        let (gtt, hardware) = guard.parts();
        hardware.map_or(Ok(()), |hardware| gtt.vacate(&hardware))
    }

    /// Addresses of the GTT window in use, in bytes.
    pub fn gtt_placed(&self) -> u64 {
        self.gtt.lock().parts().0.usage()
    }
}
