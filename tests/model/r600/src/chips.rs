// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The chips of the family: what each of them is, its PCI function and its ROM.

use lapidary_model::amd::card;
use lapidary_model::atom::clocks::Clocks;
use lapidary_model::atom::dump;
use lapidary_model::chip::{Chip, Fuses, Options};
use lapidary_model::family::{Entry, Family};
use lapidary_model::pci::Facts;
use lapidary_registers::r600::{mmio, mmio_r6xx, mmio_r7xx};

use crate::mc::{self, Layout};
use crate::regs::{REGISTERS_R6XX, REGISTERS_R7XX, Registers};
use crate::reset::{SYSTEM_R6XX, SYSTEM_R7XX, SystemReset};
use crate::{R6xx, firmware};

/// The family.
pub static FAMILY: Family = Family {
    name: "r600",
    registers: &REGISTERS_R7XX,
    chips: || CHIPS.iter().map(|c| *c as &dyn Entry).collect(),
};

/// Every chip of it.
pub static CHIPS: &[&Variant] = &[
    &R600, &RV610, &RV635, &RV670, &RV770, &RV730, &RV710, &RV740,
];

/// What R6xx and R7xx differ in.
pub struct Generation {
    /// It is R7xx.
    pub is_r7xx: bool,
    /// Its registers.
    pub registers: &'static Registers,
    /// The places of its memory controller's registers.
    pub mc: &'static Layout,
    /// GRBM_STATUS.
    pub grbm_status: u32,
    /// SRBM_SOFT_RESET.
    pub srbm: &'static SystemReset,
    /// Words of the prefetch parser's microcode.
    pub pfp_words: usize,
    /// Words of the micro-engine's microcode.
    pub me_words: usize,
    /// Words of the RLC's microcode.
    pub rlc_words: usize,
    /// What the registers of the memory read: register and value.
    memory: &'static [(u32, u32)],
    /// Units that have a copy of the lower half of GB_TILING_CONFIG.
    pub(crate) tiling_copies: &'static [(&'static str, u32)],
}

/// R6xx.
pub static R6XX: Generation = Generation {
    is_r7xx: false,
    registers: &REGISTERS_R6XX,
    mc: &mc::R6XX,
    grbm_status: mmio_r6xx::GRBM_STATUS,
    srbm: &SYSTEM_R6XX,
    pfp_words: 576,
    me_words: 3 * 1792,
    rlc_words: 768,
    memory: &[
        // Eight banks, rows of 2 KiB, eight channels of 32 bits.
        (mmio_r6xx::RAMCFG, 0x0000_0005),
        (mmio_r6xx::CHMAP, 0x0000_3000),
    ],
    tiling_copies: &[
        ("HDP_TILING_CONFIG", mmio::HDP_TILING_CONFIG),
        ("DMA_TILING_CONFIG", mmio_r6xx::DMA_TILING_CONFIG),
    ],
};

/// R7xx.
pub static R7XX: Generation = Generation {
    is_r7xx: true,
    registers: &REGISTERS_R7XX,
    mc: &mc::R7XX,
    grbm_status: mmio_r7xx::GRBM_STATUS,
    srbm: &SYSTEM_R7XX,
    pfp_words: 848,
    me_words: 1360,
    rlc_words: 1024,
    memory: &[
        (mmio_r7xx::MC_ARB_RAMCFG, 0x0000_0009),
        (mmio_r7xx::MC_SHARED_CHMAP, 0x0000_3000),
    ],
    tiling_copies: &[
        ("HDP_TILING_CONFIG", mmio::HDP_TILING_CONFIG),
        ("DMA_TILING_CONFIG", mmio_r7xx::DMA_TILING_CONFIG),
        ("DMA_TILING_CONFIG2", mmio_r7xx::DMA_TILING_CONFIG2),
    ],
};

/// What makes one chip of the family.
pub struct Variant {
    /// Name in the register database.
    pub name: &'static str,
    /// R6xx or R7xx.
    pub generation: &'static Generation,
    /// PCI device number of one card that has it.
    pub device: u16,
    /// What that card runs at, by its maker's public specification.
    pub(crate) clocks: Clocks,
    /// Quad pipes, of eight that the family could have.
    pub pipes: u32,
    /// SIMDs, of sixteen.
    pub simds: u32,
    /// Render backends, of eight. Each writes a counter of its own.
    pub backends: u32,
    /// General purpose registers of a SIMD, which the kinds of shaders share (Linux, `r600.c`, `rv770.c`).
    pub gprs: u32,
    /// It has a vertex cache (Linux, `r600.c`).
    pub vertex_cache: bool,
}

/// R600: four pipes, four SIMDs, four backends, eight tile pipes.
pub static R600: Variant = Variant {
    name: "r600",
    generation: &R6XX,
    device: 0x9400,
    clocks: Clocks {
        engine: 74_300,
        memory: 82_800,
    },
    pipes: 4,
    simds: 4,
    backends: 4,
    gprs: 256,
    vertex_cache: true,
};
/// RV610: one pipe, two SIMDs, one backend; no vertex cache.
pub static RV610: Variant = Variant {
    name: "rv610",
    generation: &R6XX,
    device: 0x94c3,
    clocks: Clocks {
        engine: 52_500,
        memory: 40_000,
    },
    pipes: 1,
    simds: 2,
    backends: 1,
    gprs: 128,
    vertex_cache: false,
};
/// RV635: two pipes, three SIMDs, one backend.
pub static RV635: Variant = Variant {
    name: "rv635",
    generation: &R6XX,
    device: 0x9598,
    clocks: Clocks {
        engine: 72_500,
        memory: 80_000,
    },
    pipes: 2,
    simds: 3,
    backends: 1,
    gprs: 128,
    vertex_cache: true,
};
/// RV670: four pipes, four SIMDs, four backends.
pub static RV670: Variant = Variant {
    name: "rv670",
    generation: &R6XX,
    device: 0x9501,
    clocks: Clocks {
        engine: 77_500,
        memory: 112_500,
    },
    pipes: 4,
    simds: 4,
    backends: 4,
    gprs: 192,
    vertex_cache: true,
};
/// RV770: four pipes, ten SIMDs, four backends, eight tile pipes.
pub static RV770: Variant = Variant {
    name: "rv770",
    generation: &R7XX,
    device: 0x9440,
    clocks: Clocks {
        engine: 75_000,
        memory: 90_000,
    },
    pipes: 4,
    simds: 10,
    backends: 4,
    gprs: 256,
    vertex_cache: true,
};
/// RV730: two pipes, eight SIMDs, two backends, four tile pipes.
pub static RV730: Variant = Variant {
    name: "rv730",
    generation: &R7XX,
    device: 0x9490,
    clocks: Clocks {
        engine: 75_000,
        memory: 100_000,
    },
    pipes: 2,
    simds: 8,
    backends: 2,
    gprs: 128,
    vertex_cache: true,
};
/// RV710: two pipes, two SIMDs, one backend; no vertex cache.
pub static RV710: Variant = Variant {
    name: "rv710",
    generation: &R7XX,
    device: 0x9540,
    clocks: Clocks {
        engine: 60_000,
        memory: 50_000,
    },
    pipes: 2,
    simds: 2,
    backends: 1,
    gprs: 256,
    vertex_cache: false,
};
/// RV740: four pipes, eight SIMDs, four backends, four tile pipes.
pub static RV740: Variant = Variant {
    name: "rv740",
    generation: &R7XX,
    device: 0x94b3,
    clocks: Clocks {
        engine: 75_000,
        memory: 80_000,
    },
    pipes: 4,
    simds: 8,
    backends: 4,
    gprs: 256,
    vertex_cache: true,
};

impl Variant {
    /// Return the chip of that name.
    pub fn by_name(name: &str) -> Option<&'static Variant> {
        CHIPS.iter().copied().find(|c| c.name == name)
    }

    /// Return what reads as fuses and straps: register and value. What a chip does not have is fused off, too.
    pub(crate) fn straps(&self, fuses: Fuses) -> impl Iterator<Item = (u32, u32)> {
        use mmio::cc_gc_shader_pipe_config::{INACTIVE_QD_PIPES, INACTIVE_SIMDS};
        use mmio::cc_rb_backend_disable::BACKEND_DISABLE;
        let without = |n: u32| (0xff << n) | fuses.dead(n);
        [
            (
                mmio::CC_GC_SHADER_PIPE_CONFIG,
                INACTIVE_QD_PIPES.of(without(self.pipes))
                    | INACTIVE_SIMDS.of(fuses.dead(self.simds)),
            ),
            (
                mmio::CC_RB_BACKEND_DISABLE,
                BACKEND_DISABLE.of(without(self.backends)),
            ),
        ]
        .into_iter()
        .chain(self.generation.memory.iter().copied())
    }

    /// Make the chip; it must be reset before use.
    pub fn chip(&'static self, options: Options) -> R6xx {
        R6xx::new(self, options)
    }

    /// Return the synthetic ROM of a card with it, whose ASIC_Init sets up that much VRAM.
    pub fn rom(&self, vram: u64) -> Vec<u8> {
        firmware::rom(self, vram).build()
    }

    /// Return the same, but for an ASIC_Init that does not end.
    pub fn endless_rom(&self, vram: u64) -> Vec<u8> {
        firmware::endless_rom(self, vram).build()
    }

    /// Return the same, but for an ASIC_Init that also tries to reach the computer's memory.
    pub fn hostile_rom(&self, vram: u64) -> Vec<u8> {
        firmware::hostile_rom(self, vram).build()
    }
}

impl Entry for Variant {
    fn name(&self) -> &'static str {
        self.name
    }

    fn has_fuses(&self) -> bool {
        true
    }

    fn build(&'static self, options: Options) -> Box<dyn Chip> {
        Box::new(self.chip(options))
    }

    fn functions(&self, options: Options, rom: Vec<u8>) -> Vec<Facts> {
        vec![card::function(self.device, options, rom)]
    }

    fn image(&self, name: &str, options: Options) -> Option<Vec<u8>> {
        let vram = options.vram;
        match name {
            "synthetic" => Some(self.rom(vram)),
            "endless" => Some(self.endless_rom(vram)),
            "hostile" => Some(self.hostile_rom(vram)),
            _ => None,
        }
    }

    fn dump<'a>(&self, bytes: &'a [u8]) -> Result<&'a [u8], String> {
        dump::check(bytes).map_err(|e| e.to_string())
    }
}
