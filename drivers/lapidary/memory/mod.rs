// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Buffer objects and the two places where they can be.
//!
//! The GPU sees one address space. One window of it is its own memory, VRAM. The CPU reaches the first part of VRAM
//! through BAR0. Another window, GTT, maps system memory by a page table
//! ([`crate::hardware::gart`]). An object lies in
//! either:
//!
//! - in **VRAM** from its creation ([`vram`]). The ring clears it before a client can see the data of the last owner;
//! - in **system pages**. They are allocated, zeroed, when CPU or GPU first touch them ([`resident`]). They are given
//!   addresses in the GTT window when a job needs them, and keep them until the window is full ([`gtt`]). A family
//!   whose clients have address spaces of their own needs no window for that ([`reached`]).
//!
//! An object may move from one to the other: when there is not enough VRAM, when the CPU touches what it cannot see,
//! and when the machine sleeps. Moving, creating and clearing objects puts commands on a ring. The code for this is
//! above, in [`crate::residency`]. [`object`] is the object itself.
//!
//! If user space requests it, the CPU sees objects in VRAM as lines, however their pixels are arranged
//! ([`surfaces`]).
//!
//! Some objects stand for memory of other drivers ([`foreign`], [`source`]). They are always in system pages. Objects
//! that other drivers use are in system pages while they are used.
//!
//! # Lifetimes
//!
//! [`Memory`] is shared by the DRM device and every object, and outlives the binding of the device. The page table
//! and the right to do DMA are lent to it while the device is bound (see [`crate::corner::lent`]).
//!
//! # Locks
//!
//! From outside to inside: an object's reservation; the turns of objects in VRAM; the list of all objects; its home;
//! the GTT window, or the pages that clients reach; the pages of a [`backing::Backing`]; the range managers. The surface
//! registers come directly behind the reservation.
//!
//! Freeing an object takes no reservation, but all of the other locks. A thread that reclaims memory may drop the
//! last reference. So no memory is allocated under any of these locks except the reservation, and reclaim only uses
//! trylock.
//!
//! A thread that has locked objects (a submission) and has to evict others only uses trylock for these.

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
    foreign::ForeignLoan,
    managers::{
        Memory,
        MemoryLoan, //
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
