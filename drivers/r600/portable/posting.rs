// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Which registers the card's video BIOS may write on an R6xx or R7xx, as rules for the
//! [guard](lapidary::portable::atom::guard).
//!
//! The rules allow what posting needs: clocks, pixel PLLs, memory controller, the host's way to memory, the size of
//! memory, the link, and words that the BIOS keeps for itself. They do not allow what makes the chip access memory by an
//! address: command processor, DMA engine, page table, scan-out, VGA memory. Interrupts are not allowed either. Some of
//! these may be switched off. An AGP window has no base but zero, and the driver closes it before an engine runs.
//!
//! Outputs are not on the lists, as they are for R5xx. R600, RV610 and RV670 have another generation of them than RV635
//! and R7xx, and both generations have the same offsets in part: 0x7800 is a DAC on one and an HDMI encoder on the other,
//! and HDMI encoders can interrupt. Nothing public says where the transmitters of the later generation are. This driver
//! shows nothing, so an output that stays as reset has left it does no harm.
//!
//! No table of a real card was at hand. The lists follow from what posting is for. A write that they lack is dropped
//! with a warning.

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
            Any,
            With,
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
    mmio::{
        self,
        cp_me_cntl,
        d1crtc_control,
        d1grph_enable,
        d1vga_control,
        dma_rb_cntl,
        ih_rb_cntl,
        mm_index,
        rlc_cntl,
        vga_render_control,
        vm_context_cntl, //
    },
    mmio_r6xx,
    mmio_r7xx, //
};

/// Only zero.
const ZERO: Values = Values::ZERO;

/// The pixel PLLs and the pixel clocks of both displays. Linux has them at the same offsets from R5xx to R7xx
/// (`r500_reg.h`: EXT1_PPLL_REF_DIV_SRC to PCLK_CRTC2_CNTL, `atombios_crtc.c`: spread spectrum). None has an address.
const PIXEL_PLL_FIRST: u32 = 0x400;
const PIXEL_PLL_LAST: u32 = 0x484;

/// What both generations have, in the order of `rows!`: before and behind the rows of one generation.
macro_rules! rows {
    ($($row:expr,)*) => {
        &[
            $($row,)*
            // Words that the BIOS keeps for itself.
            (Array(mmio::BIOS_SCRATCH), Any),
            // How much memory there is, and the host's way to it.
            (One(mmio::CONFIG_MEMSIZE), Any),
            (One(mmio::CONFIG_CNTL), Any),
            (One(mmio::BIF_FB_EN), Any),
            (Block(mmio::HDP_HOST_PATH_CNTL, mmio::HDP_NONSURFACE_SIZE), Any),
            (One(mmio::HDP_MEM_COHERENCY_FLUSH_CNTL), Any),
            (One(mmio::HDP_REG_COHERENCY_FLUSH_CNTL), Any),
            (Block(PIXEL_PLL_FIRST, PIXEL_PLL_LAST), Any),
            // The bus interface and the ROM.
            (One(mmio::BUS_CNTL), Any),
            (One(mmio::ROM_CNTL), Any),
            (One(mmio::MC_CONFIG), Any),
            // Off is allowed: engines, interrupts, page table, VGA, both displays.
            (One(mmio::CP_ME_CNTL), With(cp_me_cntl::ME_HALT.mask())),
            (One(mmio::DMA_RB_CNTL), Without(dma_rb_cntl::DMA_RB_ENABLE.mask())),
            (One(mmio::RLC_CNTL), Without(rlc_cntl::RLC_ENABLE.mask())),
            (One(mmio::IH_RB_CNTL), Without(ih_rb_cntl::IH_RB_ENABLE.mask())),
            (Array(mmio::VM_CONTEXT_CNTL), Without(vm_context_cntl::ENABLE_CONTEXT.mask())),
            (One(mmio::VGA_RENDER_CONTROL), Without(vga_render_control::VGA_VSTATUS_CNTL.mask())),
            (One(mmio::D1VGA_CONTROL), Without(d1vga_control::MODE_ENABLE.mask())),
            (One(mmio::D2VGA_CONTROL), Without(d1vga_control::MODE_ENABLE.mask())),
            (One(mmio::D1CRTC_CONTROL), Without(d1crtc_control::CRTC_EN.mask())),
            (One(mmio::D2CRTC_CONTROL), Without(d1crtc_control::CRTC_EN.mask())),
            (One(mmio::D1GRPH_ENABLE), Without(d1grph_enable::GRPH_ENABLE.mask())),
            (One(mmio::D2GRPH_ENABLE), Without(d1grph_enable::GRPH_ENABLE.mask())),
        ]
    };
}

/// What R6xx may write, by byte offset.
const WINDOW_R6XX: &[Row] = rows! {
    // Clocks and power.
    (Block(mmio_r6xx::CG_SPLL_FUNC_CNTL, mmio_r6xx::CG_THERMAL_CTRL), Any),
    // The memory controller, but for the caches of translations.
    (One(mmio_r6xx::MC_VM_AGP_BASE), ZERO),
    (Block(mmio_r6xx::MC_VM_FB_LOCATION, mmio_r6xx::MC_VM_SYSTEM_APERTURE_DEFAULT_ADDR), Any),
    (Block(mmio_r6xx::CHMAP, mmio_r6xx::CITF_CNTL), Any),
    (Block(mmio_r6xx::RS_DQ_RD_RET_CONF, MC_LAST), Any),
};

/// What R7xx may write, by byte offset.
const WINDOW_R7XX: &[Row] = rows! {
    // Clocks and power.
    (Block(mmio_r7xx::CG_SPLL_FUNC_CNTL, mmio_r7xx::CG_THERMAL_CTRL), Any),
    // The memory controller, but for the caches of translations.
    (One(mmio_r7xx::MC_VM_AGP_BASE), ZERO),
    (Block(mmio_r7xx::MC_SHARED_CHMAP, mmio_r7xx::MC_VM_SYSTEM_APERTURE_DEFAULT_ADDR), Any),
    (One(mmio_r7xx::MC_CITF_CNTL), Any),
    (Block(mmio_r7xx::MC_ARB_RAMCFG, MC_LAST), Any),
};

/// The last register of the memory controller, which ends where the host data path begins.
const MC_LAST: u32 = mmio::HDP_HOST_PATH_CNTL - 4;

/// The physical layer and the link (Linux, `r600d.h`: PCIE_LC_*).
const PORT: &[Row] = &[(Block(0xa0, 0xbf), Any)];

/// The bus interface.
const BUS: Space = Space {
    name: "PCIE port register",
    rows: PORT,
    pair: Some(Pair {
        index: mmio::PCIE_PORT_INDEX,
        data: mmio::PCIE_PORT_DATA,
        number: lapidary::portable::bits::Field::new(7, 0),
    }),
};

/// Clocks and memory controller have no space of their own.
const NONE: Space = Space {
    name: "register",
    rows: &[],
    pair: None,
};

/// The pair that leads to all registers and to VRAM.
const BACK: BackPair = BackPair {
    pair: Pair {
        index: mmio::MM_INDEX,
        data: mmio::MM_DATA,
        number: mm_index::ADDR,
    },
    memory: mm_index::MM_APER,
};

/// Return the rules of a generation that may write `window`.
const fn rules(window: &'static [Row]) -> Rules {
    Rules {
        window,
        back: BACK,
        spaces: Spaces::new(&[BUS]),
        clocks: NONE,
        memory_controller: NONE,
    }
}

/// The rules for R6xx.
pub static R6XX: Rules = rules(WINDOW_R6XX);

/// The rules for R7xx.
pub static R7XX: Rules = rules(WINDOW_R7XX);
