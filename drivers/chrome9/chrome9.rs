// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Driver for VIA Chrome9 HCM, the graphics of the VX855 and VX875 chip sets.
//!
//! The chip has no memory of its own. Firmware takes a part of the computer's memory as frame buffer. Other pages are reached
//! through the GART. The command regulator fetches commands from a ring, and from buffers that the ring names. It has no write
//! pointer: it pauses at an address, and goes on when the host moves that address. This module finds, starts and stops such a
//! chip. The generic driver in `lapidary.ko` is what the DRM core sees, and [`interface`] what user space sees.
//!
//! In the order in which a chip is brought up:
//!
//! - [`chip`]: which devices there are;
//! - [`probe`]: identifies one, and finds its frame buffer;
//! - [`gpu`]: brings it up; [`restart`]: after a hang, and after sleep;
//! - [`gart`]: the table of system pages;
//! - [`cr`]: the CPU's window on the command regulator;
//! - [`ring`], [`selftest`]: the ring, and whether it is fetched;
//! - [`irq`]: interrupts, while a thread waits for one;
//! - [`isolation`]: the commands of a client access only its own objects;
//! - [`interface`]: the user-space interface;
//! - [`regs`]: access to registers;
//! - [`portable`]: code without kernel types, shared with the host tests.
//!
//! References of the form "L561" are to lines of the text of VIA's "Open Graphics Programming Manual, Chrome9 HCM, Part II".

use kernel::{
    device::Core,
    pci,
    prelude::*, //
};

use lapidary::{
    corner::extend::Tables,
    family::{
        Family,
        Layout, //
    },
    memory::Memory,
    probe::Pci, //
};

mod chip;
mod cr;
mod dump;
mod gart;
mod gpu;
mod interface;
mod irq;
mod isolation;
// The host's tests use more of it than the module does.
#[allow(dead_code, unreachable_pub, unused_imports)]
mod portable;
mod probe;
mod regs;
mod restart;
mod ring;
mod selftest;

/// The family.
pub(crate) struct Chrome9;

/// The driver tables that all devices of the family share.
static TABLES: Tables = Tables::new();

impl Family for Chrome9 {
    type Module = LocalModule;
    type Chip = chip::Chipset;
    type Uapi = interface::Interface;
    type Board<'a> = probe::Board<'a>;
    type Gpu<'a> = gpu::Gpu<'a>;

    const IDS: pci::IdTable<Self::Chip> = chip::TABLE;
    const NAME: &'static CStr = c"chrome9";

    fn tables() -> &'static Tables {
        &TABLES
    }

    fn irq_types(_chip: &Self::Chip) -> pci::IrqTypes {
        irq::types(module_parameters::msi.value())
    }

    fn identify<'a>(
        pdev: &'a pci::Device<Core<'_>>,
        chip: &'a Self::Chip,
    ) -> Result<(Self::Board<'a>, Layout)> {
        probe::identify(pdev, *chip)
    }

    fn bring_up<'a>(board: Self::Board<'a>, memory: &Memory) -> impl PinInit<Self::Gpu<'a>, Error> {
        gpu::bring_up(board, memory)
    }
}

type Driver = Pci<Chrome9>;

lapidary::module_pci_driver! {
    type: Driver,
    name: "chrome9",
    authors: ["The Lapidary authors"],
    description: "VIA Chrome9 HCM",
    license: "Dual MIT/GPL",
    imports_ns: ["DMA_BUF"],
    params: {
        msi: bool {
            default: false,
            description: "Message-signalled interrupts",
        },
        evict: bool {
            default: false,
            description: "Take the display away from the driver of the firmware's frame buffer",
        },
    },
}
