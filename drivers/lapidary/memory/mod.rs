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
//! Where a new object goes is decided in [`placement`]; [`object`] is the object itself.
//!
//! # Lifetimes
//!
//! [`Memory`] is shared by the DRM device and every object, and outlives the binding of the device. The
//! page table and the right to do DMA are lent to it while the device is bound, see
//! [`crate::corner::lent`].
//!
//! # Locks
//!
//! From outside to inside: an object's reservation; the GTT window; a [`gtt::Slot`]; the range managers.
//! Freeing an object takes no reservation.

use kernel::{
    device,
    prelude::*,
    sync::{
        atomic::{
            Atomic,
            Relaxed, //
        },
        Arc, //
    },
};

use crate::{
    corner::{
        lent::{
            Hardware,
            Lease,
            Lent, //
        },
        mm::Range, //
    },
    family::{
        GpuAddr,
        Layout,
        Space, //
    },
};

pub mod gtt;
pub mod object;
pub mod placement;
pub mod vram;

pub use object::{
    create,
    Bo,
    Object,
    Use, //
};
pub use placement::{
    Access,
    Domain,
    Request, //
};

use gtt::Gtt;
use vram::Vram;

/// The memory of one GPU.
pub struct Memory {
    layout: Layout,
    vram: Vram,
    gtt: Arc<Lent<Gtt>>,
    /// Bytes in objects that live in system pages.
    system: Atomic<u64>,
    /// Counts placements in the GTT window: the time by which it tells what was used long ago.
    placements: Atomic<u64>,
}

/// While this exists, objects in system pages can be placed in the GTT window.
pub type GttLease<'bound> = Lease<'bound, Gtt>;

impl Memory {
    /// Makes the managers of the memory that `layout` describes, with the reserved ranges taken out.
    ///
    /// Errors: `EINVAL` if a range is empty, unaligned, wraps, or if a reserved one lies outside of VRAM;
    /// `ENOMEM`.
    pub fn new(layout: &Layout) -> Result<Arc<Self>> {
        let memory = Self {
            vram: Vram::new(layout)?,
            gtt: Lent::new(Gtt::new(layout)?)?,
            system: Atomic::new(0),
            placements: Atomic::new(0),
            layout: layout.clone(),
        };
        Ok(Arc::new(memory, GFP_KERNEL)?)
    }

    /// Lends the page table of the GTT window, and the device for DMA mappings, until the lease is dropped.
    ///
    /// Dropping the lease clears the page table entries of all objects and ends their DMA mappings;
    /// later placements in the window fail with `ENODEV`. To be dropped after the DRM device has been
    /// unplugged and the GPU is quiet, before `space` goes.
    ///
    /// Errors: `EBUSY` if there is a lease already.
    ///
    /// # Safety
    ///
    /// The lease is dropped, not leaked, before `'bound` ends.
    pub unsafe fn lend<'bound>(
        &self,
        dev: &'bound device::Device<device::Bound>,
        space: &'bound dyn Space,
    ) -> Result<GttLease<'bound>> {
        // SAFETY: By the caller's promise.
        unsafe { self.gtt.lend(Hardware { dev, space }) }
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
        self.gtt.lock().parts().0.reserve(size, align)
    }

    /// Index of the page table entry for `addr`, an address in the GTT window; 0 for another.
    pub fn gtt_entry(&self, addr: GpuAddr) -> usize {
        gtt::entry(self.layout.gtt.start, addr)
    }

    /// Addresses of the GTT window in use, in bytes.
    pub fn gtt_placed(&self) -> u64 {
        self.gtt.lock().parts().0.usage()
    }
}
