// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Posting on the model: the driver's interpreter runs the ROM that the model's own interpreter runs, and the cards
//! must be the same afterwards.

use lapidary::portable::atom::{
    guard::{Guard, Rules},
    post, run, Card, Stopped, Why, MEMORY,
};
use lapidary_model::{
    chip::{Chip, Fuses, Options, State},
    machine::Machine,
    memory::Vram,
    pci::Facts,
};
use lapidary_model_r500::{chips::CHIPS, Variant};
use lapidary_registers::r500::{self as facts, mmio};
use r500::portable::posting;

const VRAM: u64 = 16 << 20;

/// A modelled card as the driver reaches it.
struct Model {
    chip: Box<dyn Chip>,
    machine: Machine,
    waited: u32,
}

impl Model {
    fn new(entry: &'static Variant, state: State) -> Self {
        let vram = Vram::new(VRAM).expect("memory for VRAM");
        let mut machine = Machine::new(vram, &[Facts::default()]);
        let mut chip = Box::new(entry.chip(Options {
            vram: VRAM,
            window: VRAM,
            trapped: false,
            state,
            fuses: Fuses::Whole,
        }));
        chip.reset(&mut machine);
        Self {
            chip,
            machine,
            waited: 0,
        }
    }

    fn load(&mut self, offset: u32) -> u32 {
        self.chip.read(&mut self.machine, offset)
    }

    fn store(&mut self, offset: u32, value: u32) {
        self.chip.write(&mut self.machine, offset, value, u32::MAX);
    }

    /// Return all that the model knows by name.
    fn registers(&self) -> Vec<(String, u32)> {
        facts::REGISTERS
            .iter()
            .flat_map(|register| match register.len {
                1 => vec![register.name.to_string()],
                len => (0..len)
                    .map(|i| format!("{}[{i}]", register.name))
                    .collect(),
            })
            .filter_map(|name| {
                let value = self.chip.peek(&self.machine, &name)?;
                Some((name, value))
            })
            .collect()
    }
}

impl Card for Model {
    fn read(&mut self, offset: u32) -> Option<u32> {
        (offset < 0x1_0000).then(|| self.load(offset))
    }

    fn write(&mut self, offset: u32, value: u32) -> Option<()> {
        (offset < 0x1_0000).then(|| self.store(offset, value))
    }

    fn read_pll(&mut self, index: u8) -> u32 {
        self.store(mmio::CLOCK_CNTL_INDEX, index.into());
        self.load(mmio::CLOCK_CNTL_DATA)
    }

    fn write_pll(&mut self, index: u8, value: u32) {
        use mmio::clock_cntl_index::PLL_WR_EN;
        self.store(mmio::CLOCK_CNTL_INDEX, u32::from(index) | PLL_WR_EN.mask());
        self.store(mmio::CLOCK_CNTL_DATA, value);
    }

    fn read_mc(&mut self, index: u8) -> u32 {
        self.store(mmio::MC_IND_INDEX, 0x7f_0000 | u32::from(index));
        self.load(mmio::MC_IND_DATA)
    }

    fn write_mc(&mut self, index: u8, value: u32) {
        self.store(mmio::MC_IND_INDEX, 0xff_0000 | u32::from(index));
        self.store(mmio::MC_IND_DATA, value);
    }

    fn wait(&mut self, micros: u32) {
        self.waited += micros;
    }
}

/// Return the rules for the chip with that name.
fn rules(name: &str) -> &'static Rules {
    match name {
        "rv515" => &posting::RV515,
        _ => &posting::R520,
    }
}

#[test]
fn an_unposted_card_becomes_a_posted_one() {
    for entry in CHIPS {
        let mut card = Model::new(entry, State::Unposted);
        let unposted = card.registers();
        let mut guard = Guard::new(&mut card, rules(entry.name));
        post(&entry.rom(VRAM), &mut vec![!0; MEMORY], &mut guard).expect("it comes to its end");
        assert_eq!(guard.dropped(), None, "{}", entry.name);
        let posted = Model::new(entry, State::Posted).registers();
        assert!(posted.len() > 100, "{} registers", posted.len());
        assert_ne!(unposted, posted);
        for (ours, firmwares) in card.registers().iter().zip(&posted) {
            assert_eq!(ours, firmwares, "{}", entry.name);
        }
        // Two PLLs lock.
        assert!(card.waited >= 400, "{}", card.waited);
        assert_eq!(card.machine.judge.take(), vec![], "{}", entry.name);
    }
}

/// A ROM that also tries to reach the computer's memory posts the card all the same, and no more.
#[test]
fn a_hostile_rom_only_posts() {
    /// Registers by which the program tries it, and one by which it tells what it has read.
    const OWN: [&str; 2] = ["MM_INDEX", "BIOS_SCRATCH[3]"];
    let left = |card: &Model| -> Vec<(String, u32)> {
        let registers = card.registers().into_iter();
        registers
            .filter(|(name, _)| !OWN.contains(&name.as_str()))
            .collect()
    };
    for entry in CHIPS {
        let rom = entry.hostile_rom(VRAM);
        let posted = left(&Model::new(entry, State::Posted));

        let mut card = Model::new(entry, State::Unposted);
        let mut guard = Guard::new(&mut card, rules(entry.name));
        post(&rom, &mut vec![0; MEMORY], &mut guard).expect("it comes to its end");
        let dropped = guard.dropped().expect("it has tried");
        assert_eq!(
            (dropped.count, dropped.name, dropped.number),
            (9, "register", mmio::CP_RB_BASE)
        );
        assert_eq!(left(&card), posted, "{}", entry.name);
        assert_eq!(card.machine.judge.take(), vec![], "{}", entry.name);

        let mut open = Model::new(entry, State::Unposted);
        post(&rom, &mut vec![0; MEMORY], &mut open).expect("it comes to its end");
        let changed = left(&open)
            .iter()
            .zip(&posted)
            .filter(|(a, b)| a != b)
            .count();
        assert!(changed >= 5, "{}: {changed}", entry.name);
    }
}

/// A table that gives an answer: the engine clock, from the dividers that posting has left.
#[test]
fn parameters_come_back() {
    let entry = Variant::by_name("rv515").expect("it is there");
    let mut card = Model::new(entry, State::Posted);
    let mut memory = vec![0; MEMORY];
    let get_engine_clock = 48;
    run(
        &entry.rom(VRAM),
        get_engine_clock,
        &[0],
        &mut memory,
        &mut card,
    )
    .expect("it comes to its end");
    assert_eq!(memory[0], 45_000);
}

#[test]
fn an_endless_rom_is_stopped() {
    let entry = Variant::by_name("r580").expect("it is there");
    let mut card = Model::new(entry, State::Unposted);
    let stopped = post(&entry.endless_rom(VRAM), &mut vec![0; MEMORY], &mut card);
    let table = 0;
    assert!(matches!(
        stopped,
        Err(Stopped { table: t, why: Why::TooLong, .. }) if t == table
    ));
}
