// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Posting on the models: the driver's interpreter runs the ROM that the model's own interpreter runs, and the cards must
//! be the same afterwards.

use lapidary::portable::atom::{guard::Guard, post, Card, Stopped, Why, MEMORY};
use lapidary_model::{
    chip::{Chip as _, Fuses, Options, State},
    machine::Machine,
    memory::Vram,
    pci::Facts,
};
use lapidary_model_r600::{chips::CHIPS, R6xx, Variant};
use lapidary_registers::{r600::mmio, Database};

use crate::{generations, mmio_of};

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
            fuses: Fuses::Whole,
        });
        chip.reset(&mut machine);
        Self {
            chip,
            machine,
            waited: 0,
        }
    }

    /// Return all that the model knows by name.
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

/// A ROM that also tries to reach the computer's memory posts the card all the same, and no more.
#[test]
fn a_hostile_rom_only_posts() {
    for entry in CHIPS {
        let (rules, database) = generations()[usize::from(entry.generation.is_r7xx)];
        // The program uses the pair of all registers.
        let left = |card: &Model| -> Vec<(String, u32)> {
            let registers = card.registers(database).into_iter();
            registers.filter(|(name, _)| name != "MM_INDEX").collect()
        };
        let rom = entry.hostile_rom(VRAM);
        let posted = left(&Model::new(entry, State::Posted));

        let mut card = Model::new(entry, State::Unposted);
        let mut guard = Guard::new(&mut card, rules);
        post(&rom, &mut vec![0; MEMORY], &mut guard).expect("it comes to its end");
        let dropped = guard.dropped().expect("it has tried");
        assert_eq!(
            (dropped.count, dropped.name, dropped.number),
            (10, "register", mmio::CP_RB_BASE)
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

#[test]
fn an_endless_rom_is_stopped() {
    for entry in CHIPS {
        let mut card = Model::new(entry, State::Unposted);
        let stopped = post(&entry.endless_rom(VRAM), &mut vec![0; MEMORY], &mut card);
        assert!(matches!(
            stopped,
            Err(Stopped {
                table: 0,
                why: Why::TooLong,
                ..
            })
        ));
    }
}
