// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A chip that only stores, and notes each write that posting must never make.
//!
//! It follows the pairs of index and data registers, so that it sees where a write arrives, by whatever way it came. What it
//! objects to is said here in other words than in the driver's list: by block, and by what names mean.

use lapidary::portable::atom::Card;
use lapidary_fuzz::roms;
use lapidary_registers::{r600::mmio, Database, Domain, Register};

/// Where registers end.
const END: u32 = 0x4_0000;

/// Blocks that have addresses, execute commands or interrupt, in other words than those of the driver's list.
const BLOCKS: [&str; 18] = [
    "CB",
    "CP",
    "DB",
    "DMA",
    "GRBM",
    "IH",
    "PA",
    "RLC",
    "SC",
    "SPI",
    "SQ",
    "SX",
    "TA",
    "TC",
    "UVD",
    "VGT",
    "VM",
    "CONSTANTS",
];
/// The same by parts of names.
const NAMES: [&str; 11] = [
    "ADDRESS",
    "SURFACE_",
    "INT_CONTROL",
    "INT_CNTL",
    "INT_MASK",
    "INTERRUPT",
    "TLB",
    "VM_CONTEXT",
    "AGP_BASE",
    "CRTC_CONTROL",
    "GRPH_ENABLE",
];

/// Return whether a register has an address, executes commands or interrupts.
pub fn is_harmful(register: &Register) -> bool {
    BLOCKS.contains(&register.block)
        || NAMES.iter().any(|part| register.name.contains(part))
            && !register.name.starts_with("HDP_NONSURFACE")
}

/// Return whether `value` only switches a harmful register off.
fn is_off(name: &str, value: u32) -> bool {
    match name {
        "CP_ME_CNTL" => value & (1 << 28) != 0,
        "MC_VM_AGP_BASE" => value == 0,
        "DMA_RB_CNTL" | "RLC_CNTL" | "IH_RB_CNTL" | "VM_CONTEXT_CNTL" | "D1CRTC_CONTROL"
        | "D2CRTC_CONTROL" | "D1GRPH_ENABLE" | "D2GRPH_ENABLE" => value & 1 == 0,
        _ => false,
    }
}

pub struct Chip {
    database: &'static Database,
    words: Vec<u32>,
    pub port: Vec<u32>,
    /// Where writes arrived that must not be made.
    objections: Vec<String>,
    reads: u64,
    writes: u64,
    waited: u64,
}

impl Chip {
    pub fn new(database: &'static Database) -> Self {
        Self {
            database,
            words: vec![0; END as usize / 4],
            port: vec![0; 1 << 8],
            objections: Vec::new(),
            reads: 0,
            writes: 0,
            waited: 0,
        }
    }

    pub fn word(&self, offset: u32) -> u32 {
        self.words[offset as usize / 4]
    }

    fn object(&mut self, what: String) {
        if self.objections.len() < 8 {
            self.objections.push(what);
        }
    }

    /// Store `value` in the register at `offset`, which is no data register.
    fn store(&mut self, offset: u32, value: u32) {
        match self.database.by_offset(Domain::MMIO, offset) {
            Some((register, _)) if is_harmful(register) && !is_off(register.name, value) => {
                self.object(format!("{} = {value:#x}", register.name));
            }
            Some(_) => {}
            // The pixel PLLs, clocks and power, and the memory controller have registers without names.
            None if matches!(offset, 0x400..0x488 | 0x600..0x800 | 0x2000..0x2c00) => {}
            None => self.object(format!(
                "{offset:#x} = {value:#x}, which is not in the database"
            )),
        }
        self.words[offset as usize / 4] = value;
    }

    fn arrive(&mut self, offset: u32, value: u32) -> Option<()> {
        if offset >= END {
            return None;
        }
        match offset {
            mmio::MM_INDEX | mmio::PCIE_PORT_INDEX => self.words[offset as usize / 4] = value,
            mmio::MM_DATA => {
                let to = self.word(mmio::MM_INDEX);
                // With the highest bit set it is memory on the card.
                if to >> 31 == 0 && to & !3 != mmio::MM_DATA {
                    self.arrive(to & !3, value)?;
                }
            }
            mmio::PCIE_PORT_DATA => {
                let index = self.word(mmio::PCIE_PORT_INDEX) & 0xff;
                // The physical layer and the link.
                if !(0xa0..0xc0).contains(&index) {
                    self.object(format!("PCIE port {index:#x} = {value:#x}"));
                }
                self.port[index as usize] = value;
            }
            _ => self.store(offset, value),
        }
        Some(())
    }
}

impl roms::Chip for Chip {
    fn fill(&mut self, mut word: impl FnMut() -> u32) {
        self.words.fill_with(&mut word);
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
        (offset < END).then(|| self.word(offset))
    }

    fn write(&mut self, offset: u32, value: u32) -> Option<()> {
        self.writes += 1;
        self.arrive(offset, value)
    }

    fn write_for_port(&mut self, offset: u32, value: u32) -> Option<()> {
        self.write(offset, value)
    }

    fn read_pll(&mut self, _index: u8) -> u32 {
        self.reads += 1;
        0
    }

    fn write_pll(&mut self, index: u8, value: u32) {
        self.object(format!("clock {index:#x} = {value:#x}: there are none"));
    }

    fn read_mc(&mut self, _index: u8) -> u32 {
        self.reads += 1;
        0
    }

    fn write_mc(&mut self, index: u8, value: u32) {
        self.object(format!(
            "memory controller {index:#x} = {value:#x}: there is none"
        ));
    }

    fn wait(&mut self, micros: u32) {
        assert!(micros <= 255_000);
        self.waited += u64::from(micros);
    }
}
