// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Images of all kinds ([`lapidary_fuzz::roms`]), for both generations.

use lapidary::portable::atom::guard::Rules;
use lapidary_fuzz::roms::{self, Family};
use lapidary_model_r600::chips::CHIPS;
use lapidary_registers::r600::{self as facts, mmio};
use r600::portable::posting;

use crate::{chip::Chip, mmio_of};

const VRAM: u64 = 16 << 20;

fn family() -> Family {
    Family {
        device: 0x9440,
        pairs: &[
            mmio::MM_INDEX,
            mmio::MM_DATA,
            mmio::PCIE_PORT_INDEX,
            mmio::PCIE_PORT_DATA,
        ],
        registers: mmio_of(&facts::R6XX).chain(mmio_of(&facts::R7XX)).collect(),
        // Some lie behind the last register.
        most: 0xffff,
        // The physical layer begins at 0xa0.
        behind: 0x98..=0xa8,
        seeds: CHIPS
            .iter()
            .flat_map(|entry| [entry.rom(VRAM), entry.hostile_rom(VRAM)])
            .collect(),
    }
}

fn r6xx() -> (Chip, &'static Rules) {
    (Chip::new(&facts::R6XX), &posting::R6XX)
}

fn r7xx() -> (Chip, &'static Rules) {
    (Chip::new(&facts::R7XX), &posting::R7XX)
}

#[test]
fn any_image_ends_and_writes_what_posting_needs() {
    roms::any_image_ends(&family(), &[r6xx, r7xx]);
}

/// The fuzz has teeth: without the guard the chip objects at once.
#[test]
fn without_the_guard_it_is_noticed() {
    for chip in [r6xx, r7xx] {
        let objections = roms::unguarded(&family(), 50, chip);
        assert!(objections > 30, "{objections}");
    }
}
