// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The chips of the family: what each of them is, its PCI function and its ROM.

use lapidary_model::amd::card;
use lapidary_model::atom::clocks::Clocks;
use lapidary_model::atom::dump;
use lapidary_model::chip::{Chip, Options, State};
use lapidary_model::family::{Entry, Family};
use lapidary_model::pci::Facts;

use crate::bus::{MC_R520, MC_RV515, McLayout};
use crate::regs::REGISTERS;
use crate::{R5xx, firmware};

/// The family.
pub static FAMILY: Family = Family {
    name: "r500",
    registers: &REGISTERS,
    chips: || CHIPS.iter().map(|c| *c as &dyn Entry).collect(),
};

/// Every chip of it.
pub static CHIPS: &[&Variant] = &[&RV515, &R520, &RV530, &RV560, &RV570, &R580];

/// What makes one chip of the family.
pub struct Variant {
    /// Name in the register database.
    pub name: &'static str,
    pub(crate) mc: &'static McLayout,
    /// Number of pixel pipes, 1 to 4.
    pub(crate) pipes: u32,
    /// PCI device number of one card that has it.
    pub device: u16,
    /// What that card runs at, by its maker's public specification.
    pub(crate) clocks: Clocks,
}

/// RV515: one pipe, and a memory controller of its own kind.
pub static RV515: Variant = Variant {
    name: "rv515",
    mc: &MC_RV515,
    pipes: 1,
    device: 0x7142,
    clocks: Clocks {
        engine: 45_000,
        memory: 25_000,
    },
};
/// R520: four pipes.
pub static R520: Variant = Variant {
    name: "r520",
    mc: &MC_R520,
    pipes: 4,
    device: 0x7100,
    clocks: Clocks {
        engine: 62_500,
        memory: 75_000,
    },
};
/// RV530: one pipe with two depth pipes.
pub static RV530: Variant = Variant {
    name: "rv530",
    mc: &MC_R520,
    pipes: 1,
    device: 0x71c0,
    clocks: Clocks {
        engine: 59_000,
        memory: 69_000,
    },
};
/// RV560: two pipes.
pub static RV560: Variant = Variant {
    name: "rv560",
    mc: &MC_R520,
    pipes: 2,
    device: 0x7291,
    clocks: Clocks {
        engine: 57_500,
        memory: 67_500,
    },
};
/// RV570: three pipes.
pub static RV570: Variant = Variant {
    name: "rv570",
    mc: &MC_R520,
    pipes: 3,
    device: 0x7280,
    clocks: Clocks {
        engine: 57_500,
        memory: 69_000,
    },
};
/// R580: four pipes.
pub static R580: Variant = Variant {
    name: "r580",
    mc: &MC_R520,
    pipes: 4,
    device: 0x7240,
    clocks: Clocks {
        engine: 65_000,
        memory: 100_000,
    },
};

impl Variant {
    /// Return the chip of that name.
    pub fn by_name(name: &str) -> Option<&'static Variant> {
        CHIPS.iter().copied().find(|c| c.name == name)
    }

    /// Make the chip; it must be reset before use.
    pub fn chip(&'static self, options: Options) -> R5xx {
        R5xx::new(self, options)
    }

    /// Return the synthetic ROM of a card with it, whose ASIC_Init sets up that much VRAM.
    pub fn rom(&self, vram: u64) -> Vec<u8> {
        firmware::rom(self, vram).build()
    }

    /// Return the same, but for an ASIC_Init that does what it must and no more: see [`State::Careless`].
    pub fn careless_rom(&self, vram: u64) -> Vec<u8> {
        firmware::careless_rom(self, vram, firmware::ELSEWHERE).build()
    }

    /// Return the same, but for an ASIC_Init that does not end.
    pub fn endless_rom(&self, vram: u64) -> Vec<u8> {
        firmware::endless_rom(self, vram).build()
    }

    /// Return the same, but for an ASIC_Init that also tries to reach the computer's memory.
    pub fn hostile_rom(&self, vram: u64) -> Vec<u8> {
        firmware::hostile_rom(self, vram).build()
    }

    /// Return the number of units that test depth. Each raster pipe has one, but RV530's only pipe has two (its straps
    /// say so).
    pub(crate) fn depth_units(&self) -> u32 {
        if self.name == "rv530" { 2 } else { self.pipes }
    }
}

impl Entry for Variant {
    fn name(&self) -> &'static str {
        self.name
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
            "synthetic" if options.state == State::Careless => Some(self.careless_rom(vram)),
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
