// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Lapidary: what the drivers of all GPU families share.
//!
//! This crate is a module of its own (`lapidary.ko`) that does nothing by itself. A family module implements
//! [`family::Family`] and registers [`driver::Pci`] for it; the rest of this crate is generic over the family
//! and is compiled into the family module.
//!
//! - [`family`]: the seams;
//! - [`driver`]: PCI and DRM driver, probe and unbind order;
//! - [`submit`]: the way of a submission from user words to the ring;
//! - [`timeline`]: fences of a ring, watchdog, interrupts;
//! - [`memory`]: buffer objects in VRAM and GTT;
//! - [`radeon`]: the user-space interface of the Radeon families;
//! - [`portable`]: code without kernel types, shared with the host tests;
//! - [`corner`]: the only place for raw bindings.

use kernel::prelude::*;

pub mod corner;
pub mod family;
pub mod memory;
pub mod portable;

/// Every module needs an entry point; a library has nothing to do in it.
struct Library;

impl kernel::Module for Library {
    fn init(_module: &'static ThisModule) -> Result<Self> {
        Ok(Self)
    }
}

module! {
    type: Library,
    name: "lapidary",
    authors: ["The Lapidary authors"],
    description: "Shared library of the Lapidary GPU drivers",
    license: "Dual MIT/GPL",
}
