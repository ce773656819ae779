// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The unsafe corner: safe abstractions over C interfaces that `kernel` does not wrap in 7.3.
//!
//! No code outside this folder calls raw bindings. Each file is one abstraction, written so that its users need no
//! `unsafe`.

pub mod aperture;
pub mod buffer;
pub mod bus;
pub mod coredump;
pub mod debug;
pub mod debugfs;
pub mod events;
pub mod exec;
pub mod extend;
#[doc(hidden)]
pub mod extra;
pub mod fdinfo;
pub mod fence;
pub mod gather;
pub mod gem;
#[cfg(CONFIG_KUNIT = "y")]
pub(crate) mod gem_kunit;
#[cfg(CONFIG_KUNIT = "y")]
pub mod io_kunit;
pub mod ioctl;
pub(crate) mod later;
pub mod lent;
pub mod mm;
pub mod mmap;
pub mod pages;
pub mod pm;
pub mod prime;
pub mod resv;
pub mod rom;
pub mod roster;
pub mod shrinker;
pub mod stash;
pub mod syncobj;
pub mod userptr;
pub mod wc;
pub mod wedge;
pub mod workqueue;
