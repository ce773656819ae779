// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A chip that only stores, and notes each write that posting must never make.
//!
//! It knows index and data registers as a chip does, so that it sees where a write arrives, by whatever way it came.
//! What it objects to is said here in other words than in the driver's list: by block and by what names mean.

use lapidary::portable::atom::{guard::Rules, Card};
use lapidary_fuzz::roms;
use lapidary_registers::{
    r500::{self as facts, mmio, pcie},
    Domain,
};
use r500::portable::posting;

/// Bytes of the register window.
const WINDOW: u32 = 0x1_0000;

/// Blocks that posting has nothing to do with: command processor, DMA, reset and engines.
const BLOCKS: [&str; 14] = [
    "CP", "DMA", "RBBM", "E2", "3D", "CB", "FG", "GA", "GB", "RS", "SC", "SU", "TX", "US",
];
/// The same, by parts of names: what has an address, routes the bus, or interrupts.
const NAMES: [&str; 17] = [
    "ADDRESS",
    "SURFACE",
    "INT_CNTL",
    "INT_CONTROL",
    "INT_MASK",
    "INTERRUPT",
    "VBLANK",
    "VLINE",
    "VGA_HDP",
    "MSI_",
    "AIC_",
    "BUS_CNTL",
    "CONFIG_",
    "SEPROM",
    "VIPH",
    "CUR_",
    "GRPH_",
];

/// Which memory controller a chip has.
#[derive(Clone, Copy, Debug)]
pub enum MemoryController {
    /// That of the RV515.
    Rv515,
    /// That of all others.
    R520,
}

impl MemoryController {
    /// Return the driver's rules for such a chip.
    pub fn rules(self) -> &'static Rules {
        match self {
            Self::Rv515 => &posting::RV515,
            Self::R520 => &posting::R520,
        }
    }
}

pub struct Chip {
    controller: MemoryController,
    pub window: Vec<u32>,
    pub pcie: Vec<u32>,
    pub mc: Vec<u32>,
    pub pll: Vec<u32>,
    /// Where writes arrived that must not be made.
    pub objections: Vec<String>,
    pub reads: u64,
    pub writes: u64,
    pub waited: u64,
}

impl Chip {
    pub fn new(controller: MemoryController) -> Self {
        Self {
            controller,
            window: vec![0; WINDOW as usize / 4],
            pcie: vec![0; 1 << 11],
            mc: vec![0; 1 << 16],
            pll: vec![0; 1 << 6],
            objections: Vec::new(),
            reads: 0,
            writes: 0,
            waited: 0,
        }
    }

    fn object(&mut self, what: String) {
        if self.objections.len() < 8 {
            self.objections.push(what);
        }
    }

    /// Store `value` in the register at `offset` of the window, which is no data register.
    fn store(&mut self, offset: u32, value: u32) {
        match facts::DATABASE.by_offset(Domain::MMIO, offset) {
            Some((register, _)) => {
                let name = register.name;
                let off = match name {
                    "GEN_INT_CNTL" => value == 0,
                    "D1GRPH_ENABLE" | "D2GRPH_ENABLE" | "D1CRTC_CONTROL" | "D2CRTC_CONTROL" => {
                        value & 1 == 0
                    }
                    "D1VGA_CONTROL" | "D2VGA_CONTROL" => value & 1 == 0,
                    "VGA_RENDER_CONTROL" => value & 0x3_0000 == 0,
                    "CONFIG_MEMSIZE" => true,
                    _ if BLOCKS.contains(&register.block)
                        || ["VAP", "ZB"].contains(&register.block) =>
                    {
                        false
                    }
                    _ => {
                        !NAMES.iter().any(|part| name.contains(part))
                            && !name.starts_with("D1CRTC_")
                    }
                };
                if !off {
                    self.object(format!("{name} = {value:#x}"));
                }
            }
            // The pixel PLLs have holes between them.
            None if (0x400..0x490).contains(&offset) => {}
            None => self.object(format!(
                "{offset:#x} = {value:#x}, which is not in the database"
            )),
        }
        self.window[offset as usize / 4] = value;
    }

    fn store_pcie(&mut self, index: u32, value: u32) {
        let index = index & 0x7ff;
        let switched_off =
            [pcie::PCIE_TX_GART_CNTL, pcie::PCIE_TX_GART_ERROR].contains(&index) && value == 0;
        if !switched_off && !matches!(index, 0x40..0x60 | 0xa0..0xc0) {
            self.object(format!("PCIE {index:#x} = {value:#x}"));
        }
        self.pcie[index as usize] = value;
    }

    fn store_mc(&mut self, index: u32, value: u32) {
        let agp = match self.controller {
            MemoryController::Rv515 => 2,
            MemoryController::R520 => 5,
        };
        let index = index & 0xffff;
        let open = index == agp && value & 0xffff <= value >> 16;
        let based = (agp + 1..agp + 3).contains(&index) && value != 0;
        if open || based || index > 0xff {
            self.object(format!("MC {index:#x} = {value:#x}"));
        }
        self.mc[index as usize] = value;
    }

    fn word(&self, offset: u32) -> u32 {
        self.window[offset as usize / 4]
    }

    fn arrive(&mut self, offset: u32, value: u32) -> Option<()> {
        if offset >= WINDOW {
            return None;
        }
        assert_eq!(offset % 4, 0);
        match offset {
            mmio::MM_INDEX | mmio::PCIE_INDEX | mmio::MC_IND_INDEX | mmio::CLOCK_CNTL_INDEX => {
                self.window[offset as usize / 4] = value;
            }
            mmio::MM_DATA => {
                let to = self.word(mmio::MM_INDEX);
                // With the highest bit set it is memory on the card.
                if to >> 31 == 0 {
                    self.arrive(to & !3, value)?;
                }
            }
            mmio::PCIE_DATA => self.store_pcie(self.word(mmio::PCIE_INDEX), value),
            mmio::MC_IND_DATA => self.store_mc(self.word(mmio::MC_IND_INDEX), value),
            mmio::CLOCK_CNTL_DATA => {
                let index = self.word(mmio::CLOCK_CNTL_INDEX) & 0x3f;
                self.pll[index as usize] = value;
            }
            _ => self.store(offset, value),
        }
        Some(())
    }

    fn give(&self, offset: u32) -> Option<u32> {
        if offset >= WINDOW {
            return None;
        }
        Some(match offset {
            mmio::MM_DATA => match self.word(mmio::MM_INDEX) {
                to if to >> 31 != 0 || to & !3 == mmio::MM_DATA => 0,
                to => self.give(to & !3).unwrap_or(0),
            },
            mmio::PCIE_DATA => self.pcie[self.word(mmio::PCIE_INDEX) as usize & 0x7ff],
            mmio::MC_IND_DATA => self.mc[self.word(mmio::MC_IND_INDEX) as usize & 0xffff],
            mmio::CLOCK_CNTL_DATA => self.pll[self.word(mmio::CLOCK_CNTL_INDEX) as usize & 0x3f],
            _ => self.word(offset),
        })
    }
}

impl roms::Chip for Chip {
    fn fill(&mut self, mut word: impl FnMut() -> u32) {
        self.window.fill_with(&mut word);
    }

    fn objections(&self) -> &[String] {
        &self.objections
    }

    fn cost(&self) -> [u64; 3] {
        [self.reads, self.writes, self.waited]
    }
}

impl Card for Chip {
    fn read(&mut self, offset: u32) -> Option<u32> {
        self.reads += 1;
        self.give(offset)
    }

    fn write(&mut self, offset: u32, value: u32) -> Option<()> {
        self.writes += 1;
        self.arrive(offset, value)
    }

    fn read_pll(&mut self, index: u8) -> u32 {
        self.reads += 1;
        self.window[mmio::CLOCK_CNTL_INDEX as usize / 4] = index.into();
        self.pll[usize::from(index) & 0x3f]
    }

    fn write_pll(&mut self, index: u8, value: u32) {
        self.writes += 1;
        self.window[mmio::CLOCK_CNTL_INDEX as usize / 4] = index.into();
        self.pll[usize::from(index) & 0x3f] = value;
    }

    fn read_mc(&mut self, index: u8) -> u32 {
        self.reads += 1;
        self.window[mmio::MC_IND_INDEX as usize / 4] = 0;
        self.mc[usize::from(index)]
    }

    fn write_mc(&mut self, index: u8, value: u32) {
        self.writes += 1;
        self.window[mmio::MC_IND_INDEX as usize / 4] = 0;
        self.store_mc(index.into(), value);
    }

    fn wait(&mut self, micros: u32) {
        assert!(micros <= 255_000);
        self.waited += u64::from(micros);
    }
}
