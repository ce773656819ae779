// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Driver for AMD Radeon R6xx and R7xx (skeleton).
#![allow(dead_code)]

use kernel::prelude::*;

mod chip;
mod ids;
// The host's tests use more of it than the module does.
#[allow(dead_code, unreachable_pub)]
mod portable {
    pub mod regs;
}
mod regs;

struct Skeleton;

impl kernel::Module for Skeleton {
    fn init(_module: &'static ThisModule) -> Result<Self> {
        let _ = ids::TABLE;
        Ok(Self)
    }
}

module! {
    type: Skeleton,
    name: "r600",
    authors: ["The Lapidary authors"],
    description: "AMD Radeon R6xx and R7xx",
    license: "Dual MIT/GPL",
    params: {
        msi: i32 {
            default: -1,
            description: "Message-signalled interrupts: 1 on, 0 off, -1 as the chip takes them well",
        },
        evict: bool {
            default: false,
            description: "Take the display away from the driver of the firmware's frame buffer",
        },
    },
}
