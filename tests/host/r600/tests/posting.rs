// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What a video BIOS may write on R6xx and R7xx, by whatever way, and that the models' ROMs need no more.

use lapidary::portable::atom::{
    guard::{Dropped, Guard, Rules, WINDOW},
    post, Card, MEMORY,
};
use lapidary_model::{
    chip::{Chip as _, Options, State},
    machine::Machine,
    memory::Vram,
    pci::Facts,
};
use lapidary_model_r600::{chips::CHIPS, R6xx, Variant};
use lapidary_registers::{
    r600::{self as facts, mmio, mmio_r6xx, mmio_r7xx},
    Database, Domain, Register,
};
use r600::portable::posting;

/// The rules of each generation, and its registers.
fn generations() -> [(&'static Rules, &'static Database); 2] {
    [
        (&posting::R6XX, &facts::R6XX),
        (&posting::R7XX, &facts::R7XX),
    ]
}

/// The registers with byte offsets.
fn mmio_of(database: &'static Database) -> impl Iterator<Item = &'static Register> {
    let all = database.registers.iter();
    all.filter(|register| register.domain == Domain::MMIO)
}

/// Where registers end.
const END: u32 = 0x4_0000;

/// A chip that only stores, in its window and behind the pair of the bus interface.
struct Chip {
    words: Vec<u32>,
    port: Vec<u32>,
}

impl Chip {
    fn new() -> Self {
        Self {
            words: vec![0; END as usize / 4],
            port: vec![0; 1 << 8],
        }
    }

    fn word(&self, offset: u32) -> u32 {
        self.words[offset as usize / 4]
    }
}

impl Card for Chip {
    fn read(&mut self, offset: u32) -> Option<u32> {
        (offset < END).then(|| self.word(offset))
    }

    fn write(&mut self, offset: u32, value: u32) -> Option<()> {
        if offset >= END {
            return None;
        }
        match offset {
            mmio::MM_DATA => {
                let to = self.word(mmio::MM_INDEX);
                // With the highest bit set it is memory on the card.
                if to >> 31 == 0 {
                    self.write(to & !3, value)?;
                }
            }
            mmio::PCIE_PORT_DATA => {
                let index = self.word(mmio::PCIE_PORT_INDEX) & 0xff;
                self.port[index as usize] = value;
            }
            _ => self.words[offset as usize / 4] = value,
        }
        Some(())
    }

    fn write_for_port(&mut self, offset: u32, value: u32) -> Option<()> {
        self.write(offset, value)
    }

    fn read_pll(&mut self, _index: u8) -> u32 {
        0
    }

    fn write_pll(&mut self, index: u8, value: u32) {
        panic!("clock {index:#x} = {value:#x}: there are none");
    }

    fn read_mc(&mut self, _index: u8) -> u32 {
        0
    }

    fn write_mc(&mut self, index: u8, value: u32) {
        panic!("memory controller {index:#x} = {value:#x}: there is none");
    }

    fn wait(&mut self, _micros: u32) {}
}

/// What a program comes to: what was dropped, and the chip afterwards.
fn run(rules: &'static Rules, program: impl FnOnce(&mut Guard<'_>)) -> (Option<Dropped>, Chip) {
    let mut chip = Chip::new();
    let mut guard = Guard::new(&mut chip, rules);
    program(&mut guard);
    let dropped = guard.dropped();
    (dropped, chip)
}

/// The ways to a register: an operand, a port, the pair of all registers. Return whether the write arrives by all of
/// them, or by none.
fn arrives(rules: &'static Rules, offset: u32, value: u32) -> bool {
    let ways = [
        run(rules, |guard| {
            guard.write(offset, value);
        }),
        run(rules, |guard| {
            guard.write_for_port(offset, value);
        }),
        run(rules, |guard| {
            guard.write(mmio::MM_INDEX, offset | 2);
            guard.write(mmio::MM_DATA, value);
        }),
    ];
    let results = ways.map(|(dropped, chip)| match dropped {
        None => {
            assert_eq!(chip.word(offset), value, "{offset:#x}");
            true
        }
        Some(dropped) => {
            let one = Dropped {
                count: 1,
                name: WINDOW,
                number: offset,
            };
            assert_eq!((dropped, chip.word(offset)), (one, 0), "{offset:#x}");
            false
        }
    });
    assert!(
        results.windows(2).all(|two| two[0] == two[1]),
        "{offset:#x}"
    );
    results[0]
}

#[test]
fn what_posting_needs_arrives() {
    for (rules, _) in generations() {
        for offset in [
            mmio::CONFIG_MEMSIZE,
            mmio::BIF_FB_EN,
            mmio::HDP_NONSURFACE_BASE,
            mmio::BIOS_SCRATCH.at(7).unwrap(),
        ] {
            assert!(arrives(rules, offset, !0), "{offset:#x}");
        }
    }
    for offset in [
        mmio_r6xx::CG_SPLL_FUNC_CNTL,
        mmio_r6xx::MC_VM_FB_LOCATION,
        mmio_r6xx::RAMCFG,
    ] {
        assert!(arrives(&posting::R6XX, offset, !0), "{offset:#x}");
    }
    for offset in [
        mmio_r7xx::MPLL_CNTL_MODE,
        mmio_r7xx::MC_VM_FB_LOCATION,
        mmio_r7xx::MC_SEQ_MISC0,
    ] {
        assert!(arrives(&posting::R7XX, offset, !0), "{offset:#x}");
    }
}

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

#[test]
fn what_reaches_memory_or_interrupts_is_dropped() {
    for (rules, database) in generations() {
        let (mut dropped, mut arrived) = (0, 0);
        for register in mmio_of(database) {
            let harmful = BLOCKS.contains(&register.block)
                || NAMES.iter().any(|part| register.name.contains(part))
                    && !register.name.starts_with("HDP_NONSURFACE");
            let pair = [
                mmio::MM_INDEX,
                mmio::MM_DATA,
                mmio::PCIE_PORT_INDEX,
                mmio::PCIE_PORT_DATA,
            ];
            if pair.contains(&register.offset) {
                continue;
            }
            // The bit that halts the command processor stays clear.
            let value = match register.offset {
                mmio::CP_ME_CNTL => !mmio::cp_me_cntl::ME_HALT.mask(),
                _ => !0,
            };
            let arrives = arrives(rules, register.offset, value);
            assert!(!(arrives && harmful), "{}", register.name);
            dropped += u32::from(!arrives);
            arrived += u32::from(arrives);
        }
        assert!(dropped > 400 && arrived > 20, "{dropped}, {arrived}");
    }
}

#[test]
fn engines_may_be_switched_off() {
    for (rules, _) in generations() {
        let halt = mmio::cp_me_cntl::ME_HALT.mask();
        for (offset, off, on) in [
            (mmio::CP_ME_CNTL, halt, 0xff),
            (mmio::DMA_RB_CNTL, 0x1e, 0x1f),
            (mmio::RLC_CNTL, 0, 1),
            (mmio::IH_RB_CNTL, 0x100, 0x101),
            (mmio::VM_CONTEXT_CNTL.at(6).unwrap(), 0x10, 0x11),
            (mmio::D1CRTC_CONTROL, 0x100, 0x101),
            (mmio::D2GRPH_ENABLE, 0, 1),
            (mmio::VGA_RENDER_CONTROL, 0x1, 0x1_0000),
        ] {
            assert!(arrives(rules, offset, off), "{offset:#x}");
            assert!(!arrives(rules, offset, on), "{offset:#x}");
        }
    }
    assert!(arrives(&posting::R6XX, mmio_r6xx::MC_VM_AGP_BOT, !0));
    assert!(!arrives(&posting::R6XX, mmio_r6xx::MC_VM_AGP_BASE, 1));
    assert!(!arrives(&posting::R7XX, mmio_r7xx::MC_VM_AGP_BASE, 1));
}

#[test]
fn the_bus_interface_gives_its_link_only() {
    for (rules, _) in generations() {
        let (dropped, chip) = run(rules, |guard| {
            for index in 0..0x100 {
                guard.write(mmio::PCIE_PORT_INDEX, index);
                guard.write(mmio::PCIE_PORT_DATA, 7);
            }
        });
        assert_eq!(dropped.map(|dropped| dropped.count), Some(0x100 - 0x20));
        for (index, value) in chip.port.iter().enumerate() {
            assert_eq!(*value == 7, (0xa0..0xc0).contains(&index), "{index:#x}");
        }
        let (dropped, _) = run(rules, |guard| {
            guard.write_pll(1, 1);
            guard.write_mc(1, 1);
        });
        assert_eq!(dropped.map(|dropped| dropped.count), Some(2));
    }
}

const VRAM: u64 = 16 << 20;

/// A modelled card as the driver reaches it.
struct Model {
    chip: R6xx,
    machine: Machine,
    waited: u32,
}

impl Model {
    fn new(entry: &'static Variant, state: State) -> Self {
        let vram = Vram::new(VRAM).expect("memory for VRAM");
        let mut machine = Machine::new(vram, &[Facts::default()]);
        let mut chip = entry.chip(Options {
            vram: VRAM,
            window: VRAM,
            trapped: false,
            state,
        });
        chip.reset(&mut machine);
        Self {
            chip,
            machine,
            waited: 0,
        }
    }

    /// All that the model knows by name.
    fn registers(&self, database: &'static Database) -> Vec<(String, u32)> {
        mmio_of(database)
            .filter_map(|register| {
                let name = register.name.to_string();
                let value = self.chip.peek(&self.machine, &name)?;
                Some((name, value))
            })
            .collect()
    }
}

impl Card for Model {
    fn read(&mut self, offset: u32) -> Option<u32> {
        (offset < 0x1_0000).then(|| self.chip.read(&mut self.machine, offset))
    }

    fn write(&mut self, offset: u32, value: u32) -> Option<()> {
        (offset < 0x1_0000).then(|| self.chip.write(&mut self.machine, offset, value, u32::MAX))
    }

    fn write_for_port(&mut self, offset: u32, value: u32) -> Option<()> {
        self.write(offset, value)
    }

    fn read_pll(&mut self, _index: u8) -> u32 {
        0
    }

    fn write_pll(&mut self, _index: u8, _value: u32) {}

    fn read_mc(&mut self, _index: u8) -> u32 {
        0
    }

    fn write_mc(&mut self, _index: u8, _value: u32) {}

    fn wait(&mut self, micros: u32) {
        self.waited += micros;
    }
}

#[test]
fn an_unposted_card_becomes_a_posted_one() {
    for entry in CHIPS {
        let (rules, database) = generations()[usize::from(entry.generation.is_r7xx)];
        let mut card = Model::new(entry, State::Unposted);
        let unposted = card.registers(database);
        let mut guard = Guard::new(&mut card, rules);
        post(&entry.rom(VRAM), &mut vec![!0; MEMORY], &mut guard).expect("it comes to its end");
        assert_eq!(guard.dropped(), None, "{}", entry.name);
        let posted = Model::new(entry, State::Posted).registers(database);
        assert!(posted.len() > 100, "{} registers", posted.len());
        assert_ne!(unposted, posted);
        for (ours, firmwares) in card.registers(database).iter().zip(&posted) {
            assert_eq!(ours, firmwares, "{}", entry.name);
        }
        // Two PLLs lock.
        assert!(card.waited >= 400, "{}", card.waited);
        assert_eq!(card.machine.judge.take(), vec![], "{}", entry.name);
    }
}
