// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Images of all kinds ([`lapidary_fuzz::roms`]), for both memory controllers.

use lapidary::portable::atom::guard::Rules;
use lapidary_fuzz::roms::{self, Family};
use lapidary_model_r500::chips::CHIPS;
use lapidary_registers::r500::{mmio, pcie, REGISTERS};

use crate::chip::{Chip, MemoryController};

const VRAM: u64 = 16 << 20;

fn family() -> Family {
    Family {
        device: 0x7142,
        pairs: &[
            mmio::MM_INDEX,
            mmio::MM_DATA,
            mmio::PCIE_INDEX,
            mmio::PCIE_DATA,
            mmio::MC_IND_INDEX,
            mmio::MC_IND_DATA,
            mmio::CLOCK_CNTL_INDEX,
            mmio::CLOCK_CNTL_DATA,
        ],
        registers: REGISTERS.iter().collect(),
        most: 0x4800,
        behind: pcie::PCIE_TX_GART_CNTL..=pcie::PCIE_TX_GART_ERROR,
        seeds: CHIPS
            .iter()
            .flat_map(|entry| [entry.rom(VRAM), entry.hostile_rom(VRAM)])
            .collect(),
    }
}

fn chip(controller: MemoryController) -> (Chip, &'static Rules) {
    (Chip::new(controller), controller.rules())
}

#[test]
fn any_image_ends_and_writes_what_posting_needs() {
    roms::any_image_ends(
        &family(),
        &[
            || chip(MemoryController::Rv515),
            || chip(MemoryController::R520),
        ],
    );
}

/// The fuzz has teeth: without the guard the chip objects at once.
#[test]
fn without_the_guard_it_is_noticed() {
    let objections = roms::unguarded(&family(), 50, || chip(MemoryController::R520));
    assert!(objections > 30, "{objections}");
}
