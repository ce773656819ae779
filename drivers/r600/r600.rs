// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Driver for AMD Radeon R6xx and R7xx (HD 2000 to HD 4000 series): R600, RV610, RV635, RV670, RV770, RV730, RV710,
//! RV740 and their mobile forms.
//!
//! The chip takes commands from rings in system memory, which it reaches through its own page table. The graphics ring
//! feeds the command processor (CP), whose two processors run microcode. R7xx have a second ring, for a DMA engine. An
//! interrupt handler writes what happened to a third ring. This module finds, starts and stops such a chip. The generic
//! driver in `lapidary.ko` is what user space and the DRM core see.
//!
//! In the order in which a card is brought up:
//!
//! - [`ids`], [`chip`], [`hal`]: which devices there are, and what differs between them;
//! - [`probe`]: identifies a card; [`post`]: sets up a card that firmware has not posted; [`display`]: what the
//!   firmware shows, which stays;
//! - [`gpu`]: brings it up;
//! - [`golden`]: settings without a description; [`mc`], [`hdp`], [`vm`]: the GPU's address space, the host's way to
//!   VRAM, and the page table for system memory;
//! - [`engines`], [`firmware`], [`rlc`], [`cp`], [`dma`]: pipes and their shares, microcode, processors;
//! - [`ring`], [`selftest`]: the rings and their tests;
//! - [`irq`]: interrupts, while a thread waits for one;
//! - [`reset`], [`sleep`]: restart after a hang, suspend, and bring-up again after resume;
//! - [`clock`]: clock counter and temperature; [`dump`]: registers for developers;
//! - [`isolation`]: the commands of a client access only its own objects;
//! - [`regs`]: access to registers;
//! - [`portable`]: code without kernel types, shared with the host tests.

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
        Facts,
        Info,
        Radeon,
        RadeonFamily,
        Submitter, //
    },
    running::IsolationOf,
};

use chip::Generation;
use portable::regs::{
    mmio,
    mmio_r7xx, //
};

mod chip;
mod clock;
mod cp;
mod display;
mod dma;
mod dump;
mod engines;
mod firmware;
mod golden;
mod gpu;
mod hal;
mod hdp;
mod ids;
mod irq;
mod isolation;
mod mc;
mod neutral;
// The host's tests use more of it than the module does.
#[allow(dead_code, unreachable_pub)]
mod portable;
mod post;
mod probe;
mod regs;
mod reset;
mod ring;
mod rlc;
mod selftest;
mod sleep;
mod vm;

/// Reference clock of a card's PLLs in kHz, if its video BIOS does not say it. Nearly all cards have this one.
const CRYSTAL_KHZ: u32 = 27_000;

/// The family.
pub(crate) struct R600;

/// The driver tables that all cards of the family share.
static TABLES: Tables = Tables::new();

impl Family for R600 {
    type Module = LocalModule;
    type Chip = chip::Chipset;
    type Uapi = Radeon;
    type Board<'a> = probe::Board<'a>;
    type Gpu<'a> = gpu::Gpu<'a>;

    const IDS: pci::IdTable<Self::Chip> = ids::TABLE;
    const NAME: &'static CStr = c"r600";

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

impl RadeonFamily for R600 {
    fn rings(gpu: &Self::Gpu<'_>) -> Rings {
        match gpu.chipset.generation() {
            // As Linux, which never starts the DMA engine of R6xx.
            Generation::R6xx => Rings::GFX,
            Generation::R7xx => Rings::GFX_DMA,
        }
    }

    fn ring(ring: Ring, _priority: i32) -> usize {
        match ring {
            Ring::Dma => ring::DMA,
            _ => ring::GFX,
        }
    }

    fn facts(gpu: &Self::Gpu<'_>) -> Facts {
        let clocks = gpu.bios.as_ref().and_then(|bios| bios.clocks());
        let reference = clocks.map_or(CRYSTAL_KHZ, |clocks| clocks.reference_khz);
        Facts {
            crystal_khz: clock::counted_khz(gpu.chipset, gpu.window(), reference),
            clocks_khz: clocks.map(|clocks| (clocks.engine_khz, clocks.memory_khz)),
        }
    }

    fn info<'g>(gpu: &'g Self::Gpu<'_>, request: u32) -> Option<Info<'g>> {
        let engines = &gpu.engines;
        Some(Info::Word(match request {
            // These count the pipes of older chips.
            info::NUM_GB_PIPES | info::NUM_Z_PIPES => 0,
            info::TILING_CONFIG => engines.tiling,
            info::NUM_BACKENDS => engines.backends,
            info::NUM_TILE_PIPES => engines.tile_pipes,
            info::BACKEND_MAP => engines.backend_map,
            info::MAX_PIPES => engines.pipes,
            info::MAX_SE => 1,
            info::ACTIVE_CU_COUNT => engines.simds,
            info::TIMESTAMP => return Some(Info::Long(gpu.clock.count(gpu.window()))),
            _ => return None,
        }))
    }

    /// Allow the registers that say what is busy (Linux, `r600_get_allowed_info_register`).
    fn register(gpu: &Self::Gpu<'_>, offset: u32) -> Option<u32> {
        const ALLOWED: [u32; 5] = [
            // It has the same place on R6xx.
            mmio_r7xx::GRBM_STATUS,
            mmio::GRBM_STATUS2,
            mmio::SRBM_STATUS,
            mmio::DMA_STATUS_REG,
            mmio::UVD_STATUS,
        ];
        ALLOWED
            .contains(&offset)
            .then(|| regs::Far::new(gpu.window()).read(offset))
    }

    fn temperature(gpu: &Self::Gpu<'_>) -> i32 {
        clock::temperature(gpu.chipset, gpu.window())
    }

    fn client<'a>(
        _gpu: &Self::Gpu<'a>,
        submitter: Submitter,
    ) -> <IsolationOf<'a, Self> as Isolation>::Client {
        submitter
    }
}

type Driver = Pci<R600>;

lapidary::module_pci_driver! {
    type: Driver,
    name: "r600",
    authors: ["The Lapidary authors"],
    description: "AMD Radeon R6xx and R7xx",
    license: "Dual MIT/GPL",
    firmware: [
        "radeon/R600_pfp.bin",
        "radeon/R600_me.bin",
        "radeon/R600_rlc.bin",
        "radeon/RV610_pfp.bin",
        "radeon/RV610_me.bin",
        "radeon/RV635_pfp.bin",
        "radeon/RV635_me.bin",
        "radeon/RV670_pfp.bin",
        "radeon/RV670_me.bin",
        "radeon/R700_rlc.bin",
        "radeon/RV770_pfp.bin",
        "radeon/RV770_me.bin",
        "radeon/RV730_pfp.bin",
        "radeon/RV730_me.bin",
        "radeon/RV710_pfp.bin",
        "radeon/RV710_me.bin",
    ],
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
