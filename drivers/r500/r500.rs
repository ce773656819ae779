// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Driver for AMD Radeon R5xx (X1000 series): RV515, R520, RV530, RV560, RV570, R580 and their mobile forms.
//!
//! The chip takes commands from a ring in system memory, which it reaches through its own page table, and executes them
//! with a 2D and a 3D engine. This module finds, starts and stops such a chip. The generic driver in `lapidary.ko` is
//! what user space and the DRM core see.
//!
//! In the order in which a card is brought up:
//!
//! - [`ids`], [`chip`], [`hal`]: which devices there are, and what differs between them;
//! - [`probe`]: identifies a card; [`post`]: sets up a card that firmware has not posted; [`display`]: what the
//!   firmware shows, which stays;
//! - [`gpu`]: brings it up;
//! - [`mc`], [`gart`]: the GPU's address space, and the page table for system memory;
//! - [`pipes`], [`firmware`], [`cp`]: pixel pipes, microcode, command processor;
//! - [`ring`], [`state`], [`selftest`]: the command ring, the engines' first state, and the ring test;
//! - [`irq`]: interrupts, while a thread waits for one;
//! - [`sleep`]: suspend, and bring-up again after resume;
//! - [`surface`]: tiled memory as the CPU sees it;
//! - [`isolation`]: the commands of a client access only its own objects;
//! - [`regs`]: access to registers;
//! - [`portable`]: code without kernel types, shared with the host tests.
//!
//! References of the form "R5xx 4.8" are to chapters of AMD's "Radeon R5xx Acceleration".

use kernel::{
    device::Core,
    pci,
    prelude::*, //
};

use lapidary::{
    corner::extend::Tables,
    family::{
        Family,
        Isolation,
        Layout, //
    },
    memory::Memory,
    portable::radeon::{
        envelope::{
            Ring,
            Rings, //
        },
        uapi::info, //
    },
    probe::Pci,
    radeon::{
        owners::Resource,
        Facts,
        Info,
        Radeon,
        RadeonFamily,
        Submitter, //
    },
    running::IsolationOf,
};

use portable::onchip;

mod chip;
mod cp;
mod display;
mod dump;
mod firmware;
mod gart;
mod gpu;
mod hal;
mod ids;
mod irq;
mod isolation;
mod mc;
mod pipes;
// The host's tests use more of it than the module does.
#[allow(dead_code, unreachable_pub)]
mod portable;
mod post;
mod probe;
mod regs;
mod reset;
mod ring;
mod selftest;
mod sleep;
mod state;
mod surface;

/// Reference clock of a card's PLLs in kHz, if its video BIOS does not say it. Nearly all cards have this one.
const CRYSTAL_KHZ: u32 = 27_000;

/// The family.
pub(crate) struct R500;

/// The driver tables that all cards of the family share.
static TABLES: Tables = Tables::new();

impl Family for R500 {
    type Module = LocalModule;
    type Chip = chip::Chipset;
    type Uapi = Radeon;
    type Board<'a> = probe::Board<'a>;
    type Gpu<'a> = gpu::Gpu<'a>;

    const IDS: pci::IdTable<Self::Chip> = ids::TABLE;
    const NAME: &'static CStr = c"r500";

    fn tables() -> &'static Tables {
        &TABLES
    }

    fn irq_types(chip: &Self::Chip) -> pci::IrqTypes {
        irq::types(*chip, module_parameters::msi.value())
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

impl RadeonFamily for R500 {
    const CLEAR_DWORDS: usize = 2 * onchip::MOST_DWORDS;

    fn rings(_gpu: &Self::Gpu<'_>) -> Rings {
        Rings::GFX
    }

    fn ring(_ring: Ring, _priority: i32) -> usize {
        0
    }

    fn facts(gpu: &Self::Gpu<'_>) -> Facts {
        let clocks = gpu.bios.as_ref().and_then(|bios| bios.clocks());
        Facts {
            crystal_khz: clocks.map_or(CRYSTAL_KHZ, |clocks| clocks.reference_khz),
            clocks_khz: clocks.map(|clocks| (clocks.engine_khz, clocks.memory_khz)),
        }
    }

    fn info<'g>(gpu: &'g Self::Gpu<'_>, request: u32) -> Option<Info<'g>> {
        Some(Info::Word(match request {
            info::NUM_GB_PIPES => gpu.pipes.pixel,
            info::NUM_Z_PIPES => gpu.pipes.z,
            info::MAX_SE | info::ACTIVE_CU_COUNT => 1,
            _ => return None,
        }))
    }

    fn client<'a>(
        _gpu: &Self::Gpu<'a>,
        submitter: Submitter,
    ) -> <IsolationOf<'a, Self> as Isolation>::Client {
        submitter
    }

    fn clear(gpu: &Self::Gpu<'_>, resource: Resource, out: &mut [u32]) -> Result<usize> {
        gpu.on_chip().clear(resource, out)
    }
}

type Driver = Pci<R500>;

lapidary::module_pci_driver! {
    type: Driver,
    name: "r500",
    authors: ["The Lapidary authors"],
    description: "AMD Radeon R5xx",
    license: "Dual MIT/GPL",
    firmware: ["radeon/R520_cp.bin"],
    imports_ns: ["DMA_BUF"],
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
