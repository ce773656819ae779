// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Buffer objects and the two places where they can be.
//!
//! The GPU sees one space of addresses. One window of it is its own memory, VRAM; the CPU reaches the
//! first part of that through BAR0. Another window, GTT, goes through a page table to system memory
//! (R5xx: "PCIE GART"). An object lies in either:
//!
//! - in **VRAM** from the moment it is made ([`vram`]). The ring clears it before a client can see what the
//!   memory held for its last owner;
//! - in **system pages** that come into being, zeroed, when CPU or GPU first touch them ([`resident`]). They get
//!   addresses in the GTT window when a job needs them, and keep them until the window is full ([`gtt`]). Families whose
//!   clients have address spaces of their own need no window for that ([`reached`]).
//!
//! An object may move from one to the other: when there is no room for all that should be in VRAM, when the CPU touches
//! what it cannot see, when the machine goes to sleep. What moves, makes and clears objects puts commands on a ring,
//! and is above: [`crate::residency`]. [`object`] is the object itself.
//!
//! The CPU sees objects in VRAM as lines, however their pixels are arranged, if user space asks for it ([`surfaces`]).
//!
//! Some objects stand for memory of other drivers ([`foreign`], [`source`]); they always lie in system pages. So do
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
//! From outside to inside: an object's reservation; the turns of objects in VRAM; the list of all objects; its home;
//! the GTT window, or what clients reach; the pages of a [`backing::Backing`]; the range managers. The surface registers come directly behind
//! the reservation.
//!
//! Freeing an object takes no reservation, but all of the others. Who reclaims memory may be the one who drops the
//! last reference: therefore no memory is allocated under any of these locks but the reservation, and where memory is
//! reclaimed the others are only tried for.
//!
//! Who has locked objects (a submission) and needs others to make room only tries for those.

pub(crate) mod backing;
pub mod foreign;
pub mod gtt;
pub mod managers;
pub mod object;
pub mod reached;
pub(crate) mod renew;
pub(crate) mod resident;
pub(crate) mod source;
pub(crate) mod surface_registers;
pub mod surfaces;
pub(crate) mod turns;
pub mod usage;
pub mod vram;
pub(crate) mod windowed;

// For families and their user-space interfaces.
pub use self::{
    foreign::ForeignLease,
    managers::{
        Memory,
        MemoryLease, //
    },
    object::{
        Bo,
        Object,
        Status, //
    },
    reached::Located,
    surfaces::rearrange,
    usage::{
        Places,
        Use, //
    }, //
};

pub use crate::portable::placement::{
    Access,
    Domain,
    Request, //
};
