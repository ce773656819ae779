// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Which registers the card's video BIOS may write.
//!
//! ASIC_Init comes out of a flash chip, and a flash chip can be written by anybody who had the card. So the machine that
//! runs it does not reach the chip itself but a [`Guard`], which lets through what posting needs: clocks, memory
//! controller, host data path, the size of memory, pins, the link, the electrical settings of outputs, and words that the
//! BIOS keeps for itself. Whatever makes the chip access memory by an address is not among it: command processor, DMA
//! and drawing engines, page table, AGP window, surfaces, scan-out, VGA memory, capture. Neither are interrupts. Some of
//! these may be switched off.
//!
//! A write that is not on the list is dropped and counted. The program goes on: real programs also set up what this
//! driver sets up by itself afterwards, and a write that never happens does no harm. Reads are free.
//!
//! Four index registers lead to others. The guard follows them: it remembers what the program has written to them, and
//! judges a write to the data register by the register behind it. It does not ask the chip, whose index registers need
//! not read back what was written.
//!
//! No table of a real card was at hand. The list is from what posting is for, by names of the register database;
//! Documentation/r500/posting.md says what to do if a card needs more.

use lapidary::portable::atom::Card;

use super::{
    policy::Registers::{
        self,
        Array,
        Block,
        One, //
    },
    regs::{
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
    },
};

/// Values that a program may write to a register.
#[derive(Clone, Copy, Debug)]
enum Values {
    /// All of them.
    Any,
    /// Those that have these bits clear.
    Without(u32),
    /// An AGP window that begins behind its end, which is none.
    ClosedWindow,
}

use Values::{Any, ClosedWindow, Without};

/// Only zero.
const ZERO: Values = Without(u32::MAX);

/// In the register window, by byte offset. Index and data registers are [`Guard`]'s own business.
const WINDOW: &[(Registers, Values)] = &[
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
const PCIE: &[(Registers, Values)] = &[
    // The page table may be switched off, and its latched error cleared.
    (One(pcie::PCIE_TX_GART_CNTL), ZERO),
    (One(pcie::PCIE_TX_GART_ERROR), ZERO),
    // The physical layer and the link, if they have the numbers that they have on all later chips (Linux,
    // `bif_3_0_d.h`: PCIE_P_*, PCIE_LC_*). Between them lies the sender's address of requests, by which an IOMMU
    // knows the card.
    (Block(0x40, 0x5f), Any),
    (Block(0xa0, 0xbf), Any),
];

/// The last register of the memory controller that a program may write: an operand of its own kind has eight bits.
const MC_LAST: u32 = 0xff;

/// In the memory controller, by index; the first row that has a register decides.
const MC_RV515: &[(Registers, Values)] = &[
    (One(mc_rv515::MC_AGP_LOCATION), ClosedWindow),
    (One(mc_rv515::MC_AGP_BASE), ZERO),
    (One(mc_rv515::MC_AGP_BASE_2), ZERO),
    (Block(0, MC_LAST), Any),
];

/// The same for the controller that the other chips have.
const MC_R520: &[(Registers, Values)] = &[
    (One(mc_r520::MC_AGP_LOCATION), ClosedWindow),
    (One(mc_r520::MC_AGP_BASE), ZERO),
    (One(mc_r520::MC_AGP_BASE_2), ZERO),
    (Block(0, MC_LAST), Any),
];

impl Values {
    const fn have(self, value: u32) -> bool {
        match self {
            Any => true,
            Without(bits) => value & bits == 0,
            ClosedWindow => {
                use mc_r520::mc_agp_location::{MC_AGP_START, MC_AGP_TOP};
                MC_AGP_START.get(value) > MC_AGP_TOP.get(value)
            }
        }
    }
}

/// Whether `registers` has the one at `offset`.
fn has(registers: Registers, offset: u32) -> bool {
    match registers {
        One(register) => register == offset,
        Array(array) => array.index_of(offset).is_some(),
        Block(first, last) => first <= offset && offset <= last,
    }
}

/// Which memory controller a chip has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryController {
    /// That of the RV515.
    Rv515,
    /// That of all the others.
    R520,
}

/// A register that a program wanted to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the register window, by byte offset.
    Window(u32),
    /// In the PCIE space, by index.
    Pcie(u32),
    /// In the memory controller, by index.
    Mc(u32),
}

impl Place {
    /// The name of its space, for a log line.
    pub const fn space(self) -> &'static str {
        match self {
            Self::Window(_) => "register",
            Self::Pcie(_) => "PCIE register",
            Self::Mc(_) => "MC register",
        }
    }

    /// Its number there.
    pub const fn number(self) -> u32 {
        match self {
            Self::Window(number) | Self::Pcie(number) | Self::Mc(number) => number,
        }
    }
}

/// Writes that were dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// How many.
    pub count: u32,
    /// Where the first one went.
    pub first: Place,
}

/// A card of which a program reaches what posting needs.
pub struct Guard<'a> {
    card: &'a mut dyn Card,
    controller: MemoryController,
    /// What the program has written to index registers; nothing is known of those that it has not written.
    mm: Option<u32>,
    pcie: Option<u32>,
    mc: Option<u32>,
    dropped: Option<Dropped>,
}

impl<'a> Guard<'a> {
    /// Stands before `card`, which has that memory controller.
    pub fn new(card: &'a mut dyn Card, controller: MemoryController) -> Self {
        Self {
            card,
            controller,
            mm: None,
            pcie: None,
            mc: None,
            dropped: None,
        }
    }

    /// What has been dropped so far.
    pub fn dropped(&self) -> Option<Dropped> {
        self.dropped
    }

    /// Whether `value` may be written to `place`. Counts it if not.
    fn allows(&mut self, place: Place, value: u32) -> bool {
        let (list, number) = match (place, self.controller) {
            (Place::Window(offset), _) => (WINDOW, offset),
            (Place::Pcie(index), _) => (PCIE, index),
            (Place::Mc(index), MemoryController::Rv515) => (MC_RV515, index),
            (Place::Mc(index), MemoryController::R520) => (MC_R520, index),
        };
        let row = list.iter().find(|(registers, _)| has(*registers, number));
        let allowed = row.is_some_and(|(_, values)| values.have(value));
        if !allowed {
            let so_far = self.dropped.unwrap_or(Dropped {
                count: 0,
                first: place,
            });
            self.dropped = Some(Dropped {
                count: so_far.count.saturating_add(1),
                ..so_far
            });
        }
        allowed
    }

    /// The register that a write to `offset` reaches in the end.
    fn behind(&self, offset: u32) -> Place {
        let place = match offset {
            mmio::PCIE_DATA => self
                .pcie
                .map(|word| Place::Pcie(pcie_index::PCIE_ADDR.get(word))),
            mmio::MC_IND_DATA => self
                .mc
                .map(|word| Place::Mc(mc_ind_index::MC_IND_ADDR.get(word))),
            _ => None,
        };
        // A data register whose index is not known is on no list.
        place.unwrap_or(Place::Window(offset))
    }

    /// Writes, or drops; `write` is the card's way to do it.
    fn put(
        &mut self,
        offset: u32,
        value: u32,
        write: fn(&mut dyn Card, u32, u32) -> Option<()>,
    ) -> Option<()> {
        match offset {
            mmio::MM_INDEX => self.mm = Some(value),
            mmio::PCIE_INDEX => self.pcie = Some(value),
            mmio::MC_IND_INDEX => self.mc = Some(value),
            mmio::MM_DATA => match self.mm {
                // Memory on the card. Nothing is in it before the card is posted.
                Some(word) if mm_index::MM_APER.any(word) => {}
                Some(word) => {
                    let behind = mm_index::MM_ADDR.get(word) & !3;
                    if behind > mmio::MM_DATA {
                        return self.put(behind, value, write);
                    }
                    // The pair itself is on no list.
                    self.allows(Place::Window(behind), value);
                    return Some(());
                }
                None => {
                    self.allows(Place::Window(offset), value);
                    return Some(());
                }
            },
            _ => {
                if !self.allows(self.behind(offset), value) {
                    return Some(());
                }
            }
        }
        write(self.card, offset, value)
    }
}

impl Card for Guard<'_> {
    fn read(&mut self, offset: u32) -> Option<u32> {
        self.card.read(offset)
    }

    fn write(&mut self, offset: u32, value: u32) -> Option<()> {
        self.put(offset, value, |card, offset, value| {
            card.write(offset, value)
        })
    }

    fn write_for_port(&mut self, offset: u32, value: u32) -> Option<()> {
        self.put(offset, value, |card, offset, value| {
            card.write_for_port(offset, value)
        })
    }

    fn read_pll(&mut self, index: u8) -> u32 {
        self.card.read_pll(index)
    }

    fn write_pll(&mut self, index: u8, value: u32) {
        self.card.write_pll(index, value);
    }

    fn read_mc(&mut self, index: u8) -> u32 {
        // The card's way there uses the index register.
        self.mc = None;
        self.card.read_mc(index)
    }

    fn write_mc(&mut self, index: u8, value: u32) {
        self.mc = None;
        if self.allows(Place::Mc(index.into()), value) {
            self.card.write_mc(index, value);
        }
    }

    fn wait(&mut self, micros: u32) {
        self.card.wait(micros);
    }
}
