// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Lapidary: the code that the drivers of all GPU families share.
//!
//! This crate is a module of its own (`lapidary.ko`) that does nothing by itself. A family module implements
//! [`family::Family`] and registers [`probe::Pci`] for it. The rest of this crate is generic over the family and is
//! compiled into the family module.
//!
//! - [`family`]: the traits between generic code and a family;
//! - [`driver`]: the types of the DRM driver, and their owners;
//! - [`probe`]: the PCI driver, and the order of probe and unbind;
//! - [`running`]: a running GPU;
//! - [`interrupt`], [`worker`]: notice that jobs are done, or that a ring hangs ([`watchdog`]);
//! - [`recovery`]: the reset after a hang; `notifier` tells user space;
//! - `sleep`: system sleep;
//! - [`client_record`]: the record of a client's work;
//! - [`submit`]: from the words of user space to the ring;
//! - [`timeline`]: the fences of a ring;
//! - [`waiting`]: until no job uses an object;
//! - [`lock`]: locks that generic code makes;
//! - [`memory`]: buffer objects in VRAM and GTT;
//! - [`allowance`]: the limits of one client;
//! - [`debugfs`], [`coredump`]: the state of a device, and of one that hangs, for developers;
//! - [`residency`]: creation and moves of objects, page faults, reclaim;
//! - [`radeon`]: the user-space interface of the Radeon families;
//! - [`hardware`]: hardware that families of different makers have in common;
//! - [`amd`]: code that the drivers of the Radeon families share;
//! - [`portable`]: code without kernel types, shared with the host tests;
//! - [`corner`]: the only folder that uses raw bindings.

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
pub mod hardware;
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
pub mod waiting;
pub mod watchdog;
pub mod worker;

/// The module itself. It keeps what all families use.
struct Library {
    _later: corner::later::Queue,
}

impl kernel::Module for Library {
    fn init(_module: &'static ThisModule) -> Result<Self> {
        Ok(Self {
            // SAFETY: Called once. The queue is dropped with the module.
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

/// Return after how many milliseconds without progress a ring counts as hung: 100 ms to 10 minutes.
pub fn hang_ms() -> u32 {
    module_parameters::hang_ms.value().clamp(100, 600_000)
}
