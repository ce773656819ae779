// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Which registers the card's video BIOS may write on an R5xx, as rules for the
//! [guard](lapidary::portable::atom::guard).
//!
//! The rules allow what posting needs: clocks, memory controller, host data path, the size of memory, pins, the link,
//! the electrical settings of outputs, and words that the BIOS keeps for itself. They do not allow what makes the chip
//! access memory by an address: command processor, DMA and drawing engines, page table, AGP window, surfaces, scan-out,
//! VGA memory, capture. Interrupts are not allowed either. Some of these may be switched off.
//!
//! No table of a real card was at hand. The lists follow from what posting is for. Documentation/r500/posting.md says
//! what to do if a card needs more.

use lapidary::portable::{
    atom::guard::{
        BackPair,
        Pair,
        Row,
        Rules,
        Space,
        Spaces,
        Values::{
            self,
            Above,
            Any,
            Without, //
        }, //
    },
    bits::Registers::{
        Array,
        Block,
        One, //
    }, //
};

use super::regs::{
    mc_r520,
    mc_rv515,
    mmio::{
        self,
        d1crtc_control,
        d1grph_enable,
        d1vga_control,
        mc_ind_index,
        mm_index,
        pcie_index,
        vga_render_control, //
    },
    pcie, //
};

/// Only zero.
const ZERO: Values = Values::ZERO;

/// In the register window, by byte offset.
const WINDOW: &[Row] = &[
    // Words that the BIOS keeps for itself.
    (Array(mmio::BIOS_SCRATCH), Any),
    // Clocks: no clock register has an address.
    (One(mmio::CLOCK_CNTL_INDEX), Any),
    (One(mmio::CLOCK_CNTL_DATA), Any),
    (
        Block(mmio::EXT1_PPLL_REF_DIV_SRC, mmio::PCLK_CRTC2_CNTL),
        Any,
    ),
    // How much memory there is, and the host's way to it.
    (One(mmio::CONFIG_MEMSIZE), Any),
    (One(mmio::HOST_PATH_CNTL), Any),
    (One(mmio::HDP_FB_LOCATION), Any),
    // Pins of the board: straps, voltage.
    (Block(mmio::GPIOPAD_MASK, mmio::GPIOPAD_EN), Any),
    // Off is allowed: interrupts, VGA, both displays.
    (One(mmio::GEN_INT_CNTL), ZERO),
    (
        One(mmio::VGA_RENDER_CONTROL),
        Without(vga_render_control::VGA_VSTATUS_CNTL.mask()),
    ),
    (
        One(mmio::D1VGA_CONTROL),
        Without(d1vga_control::MODE_ENABLE.mask()),
    ),
    (
        One(mmio::D2VGA_CONTROL),
        Without(d1vga_control::MODE_ENABLE.mask()),
    ),
    (
        One(mmio::D1CRTC_CONTROL),
        Without(d1crtc_control::CRTC_MASTER_EN.mask()),
    ),
    (
        One(mmio::D2CRTC_CONTROL),
        Without(d1crtc_control::CRTC_MASTER_EN.mask()),
    ),
    (
        One(mmio::D1GRPH_ENABLE),
        Without(d1grph_enable::GRPH_ENABLE.mask()),
    ),
    (
        One(mmio::D2GRPH_ENABLE),
        Without(d1grph_enable::GRPH_ENABLE.mask()),
    ),
    // Outputs: power, levels, pins. They show what a display reads, and read nothing themselves.
    (One(mmio::DACA_ENABLE), Any),
    (One(mmio::DACA_SOURCE_SELECT), Any),
    (One(mmio::DACA_FORCE_OUTPUT_CNTL), Any),
    (One(mmio::DACA_POWERDOWN), Any),
    (One(mmio::TMDSA_CNTL), Any),
    (One(mmio::TMDSA_SOURCE_SELECT), Any),
    (One(mmio::TMDSA_BIT_DEPTH_CONTROL), Any),
    (One(mmio::TMDSA_DCBALANCER_CONTROL), Any),
    (One(mmio::TMDSA_DATA_SYNCHRONIZATION), Any),
    (One(mmio::TMDSA_CLOCK_ENABLE), Any),
    (One(mmio::TMDSA_TRANSMITTER_ENABLE), Any),
    (One(mmio::TMDSA_TRANSMITTER_CONTROL), Any),
    (One(mmio::DVOA_BIT_DEPTH_CONTROL), Any),
    (One(mmio::DACB_ENABLE), Any),
    (One(mmio::DACB_SOURCE_SELECT), Any),
    (One(mmio::DACB_FORCE_OUTPUT_CNTL), Any),
    (One(mmio::DACB_POWERDOWN), Any),
    (One(mmio::LVTMA_CNTL), Any),
    (One(mmio::LVTMA_SOURCE_SELECT), Any),
    (One(mmio::LVTMA_COLOR_FORMAT), Any),
    (One(mmio::LVTMA_BIT_DEPTH_CONTROL), Any),
    (One(mmio::LVTMA_DCBALANCER_CONTROL), Any),
    (One(mmio::LVTMA_PWRSEQ_CNTL), Any),
    (One(mmio::LVDS_BACKLIGHT_CNTL), Any),
    (One(mmio::LVTMA_CLOCK_ENABLE), Any),
    (One(mmio::LVTMA_TRANSMITTER_ENABLE), Any),
    (One(mmio::LVTMA_TRANSMITTER_CONTROL), Any),
    (Block(mmio::DC_GPIO_DDC1_MASK, mmio::DC_GPIO_DDC3_EN), Any),
    (Block(mmio::DC_GPIO_HPD_MASK, mmio::DC_GPIO_HPD_EN), Any),
    (One(mmio::DOUT_POWER_MANAGEMENT_CNTL), Any),
];

/// Behind the PCIE pair, by index.
const PCIE: &[Row] = &[
    // The page table may be switched off, and its latched error cleared.
    (One(pcie::PCIE_TX_GART_CNTL), ZERO),
    (One(pcie::PCIE_TX_GART_ERROR), ZERO),
    // The physical layer and the link, if they have the numbers that they have on all later chips (Linux,
    // `bif_3_0_d.h`: PCIE_P_*, PCIE_LC_*). Between them lies the sender's address of requests, by which an IOMMU
    // knows the card.
    (Block(0x40, 0x5f), Any),
    (Block(0xa0, 0xbf), Any),
];

/// The last register of the memory controller that a program may write. The index of an operand has eight bits.
const MC_LAST: u32 = 0xff;

/// In the memory controller of the RV515, by index.
const MC_RV515: &[Row] = &[
    // An AGP window that begins behind its end.
    (
        One(mc_rv515::MC_AGP_LOCATION),
        Above(
            mc_rv515::mc_agp_location::MC_AGP_START,
            mc_rv515::mc_agp_location::MC_AGP_TOP,
        ),
    ),
    (One(mc_rv515::MC_AGP_BASE), ZERO),
    (One(mc_rv515::MC_AGP_BASE_2), ZERO),
    (Block(0, MC_LAST), Any),
];

/// In the memory controller of the other chips, by index.
const MC_R520: &[Row] = &[
    (
        One(mc_r520::MC_AGP_LOCATION),
        Above(
            mc_r520::mc_agp_location::MC_AGP_START,
            mc_r520::mc_agp_location::MC_AGP_TOP,
        ),
    ),
    (One(mc_r520::MC_AGP_BASE), ZERO),
    (One(mc_r520::MC_AGP_BASE_2), ZERO),
    (Block(0, MC_LAST), Any),
];

/// The clocks, by index: no clock register has an address. The pair that leads there is on the list of the window.
const CLOCKS: Space = Space {
    name: "PLL register",
    rows: &[(Block(0, 0xff), Any)],
    pair: None,
};

/// The bus interface.
const BUS: Space = Space {
    name: "PCIE register",
    rows: PCIE,
    pair: Some(Pair {
        index: mmio::PCIE_INDEX,
        data: mmio::PCIE_DATA,
        number: pcie_index::PCIE_ADDR,
    }),
};

/// Return the space of a memory controller of which `rows` may be written.
const fn memory_controller(rows: &'static [Row]) -> Space {
    Space {
        name: "MC register",
        rows,
        pair: Some(Pair {
            index: mmio::MC_IND_INDEX,
            data: mmio::MC_IND_DATA,
            number: mc_ind_index::MC_IND_ADDR,
        }),
    }
}

/// The pair that leads to the window and to VRAM.
const BACK: BackPair = BackPair {
    pair: Pair {
        index: mmio::MM_INDEX,
        data: mmio::MM_DATA,
        number: mm_index::MM_ADDR,
    },
    memory: mm_index::MM_APER,
};

/// The rules for the RV515, which has a memory controller of its own.
pub static RV515: Rules = Rules {
    window: WINDOW,
    back: BACK,
    spaces: Spaces::new(&[BUS, memory_controller(MC_RV515)]),
    clocks: CLOCKS,
    memory_controller: memory_controller(MC_RV515),
};

/// The rules for all other chips.
pub static R520: Rules = Rules {
    window: WINDOW,
    back: BACK,
    spaces: Spaces::new(&[BUS, memory_controller(MC_R520)]),
    clocks: CLOCKS,
    memory_controller: memory_controller(MC_R520),
};
