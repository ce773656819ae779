// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Lapidary: what the drivers of all GPU families share.
//!
//! This crate is a module of its own (`lapidary.ko`) that does nothing by itself. A family module implements
//! [`family::Family`] and registers [`probe::Pci`] for it; the rest of this crate is generic over the family
//! and is compiled into the family module.
//!
//! - [`family`]: the seams;
//! - [`driver`]: the DRM driver's types, and who owns what;
//! - [`probe`]: the PCI driver, probe and unbind order;
//! - [`running`]: a GPU that runs;
//! - [`interrupt`], [`worker`]: what notices that jobs are done, or that a ring hangs ([`watchdog`]);
//! - [`recovery`]: what happens when it hangs; `notifier`: user space is told;
//! - `sleep`: a GPU that sleeps with the system;
//! - [`client_record`]: what is remembered about a client's work;
//! - [`submit`]: the way of a submission from user words to the ring;
//! - [`timeline`]: the fences of a ring;
//! - [`lock`]: locks that generic code makes;
//! - [`memory`]: buffer objects in VRAM and GTT;
//! - [`allowance`]: what one client may have at most;
//! - [`debugfs`], [`coredump`]: what a developer sees of a device, and of one that hangs;
//! - [`residency`]: objects are made and moved, page faults, reclaim;
//! - [`radeon`]: the user-space interface of the Radeon families;
//! - [`amd`]: what the drivers of the Radeon families share;
//! - [`portable`]: code without kernel types, shared with the host tests;
//! - [`corner`]: the only place for raw bindings.

use kernel::prelude::*;

pub mod allowance;
pub mod amd;
pub mod client_record;
pub(crate) mod coredump;
pub mod corner;
pub(crate) mod debugfs;
pub mod driver;
pub mod family;
pub mod hangs;
pub mod interrupt;
pub mod lock;
pub mod memory;
mod notifier;
pub mod portable;
pub mod probe;
pub mod radeon;
pub mod recovery;
pub mod residency;
pub mod running;
mod sleep;
pub mod submit;
pub mod timeline;
pub mod watchdog;
pub mod worker;

/// The module itself: it keeps what all families use.
struct Library {
    _later: corner::later::Queue,
}

impl kernel::Module for Library {
    fn init(_module: &'static ThisModule) -> Result<Self> {
        Ok(Self {
            // SAFETY: Once; dropped with the module.
            _later: unsafe { corner::later::Queue::new() }?,
        })
    }
}

module! {
    type: Library,
    name: "lapidary",
    authors: ["The Lapidary authors"],
    description: "Shared library of the Lapidary GPU drivers",
    license: "Dual MIT/GPL",
    imports_ns: ["DMA_BUF"],
    params: {
        hang_ms: u32 {
            default: 5000,
            description: "Milliseconds without progress after which a ring counts as hung",
        },
    },
}

/// Milliseconds without progress after which a ring counts as hung: 100 ms to 10 minutes.
pub fn hang_ms() -> u32 {
    module_parameters::hang_ms.value().clamp(100, 600_000)
}
