// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Rules of footprints, each by the smallest state that shows it.

use lapidary_registers::Domain;
use lapidary_registers::r600::mmio;

use super::area::{Client, Ring, Stage};
use super::*;
use crate::kind::{self, Kind};

mod errata;
mod fetches;
mod programs;
mod targets;

/// An area in short: who, whether it reads and writes, first byte and the one behind the last.
pub type Short = (Client, bool, bool, u64, u64);

/// Registers of a chip, and its engine.
pub struct Set {
    regs: Space,
    chip: &'static Variant,
    engine: Engine3d,
}

impl Set {
    /// Return a chip with eight banks and so many pipes as it has, one sample, a scissor of 64 by 64 pixels, and
    /// programs that it can run.
    pub fn new(chip: &'static str) -> Set {
        let chip = Variant::by_name(chip).unwrap();
        let regs = Space::new(
            chip.generation.registers,
            "register",
            Domain::MMIO,
            chip.name,
            4,
            WORDS,
        );
        let mut set = Set {
            regs,
            chip,
            engine: Engine3d::default(),
        };
        let corner = 64 | (64 << 16);
        for (register, value) in [
            // Eight pipes.
            (mmio::GB_TILING_CONFIG, (3 << 1) | (1 << 4)),
            (mmio::PA_SC_SCREEN_SCISSOR_BR, corner),
            (mmio::PA_SC_WINDOW_SCISSOR_BR, corner),
            (mmio::PA_SC_GENERIC_SCISSOR_BR, corner),
            (mmio::SQ_PGM_EXPORTS_PS, 2),
        ] {
            set.put(register, value);
        }
        set
    }

    /// Write a register.
    pub fn put(&mut self, register: u32, value: u32) -> &mut Set {
        let changed = self.regs.get(register) != value;
        self.regs.set(register, value);
        self.engine.written(register, changed);
        self
    }

    /// Write the words of a resource.
    pub fn resource(&mut self, slot: u32, words: [u32; 7]) -> &mut Set {
        for (n, word) in (0..).zip(words) {
            self.put(0x38000 + slot * 28 + n * 4, word);
        }
        self
    }

    fn found(&mut self) -> Vec<&Found> {
        self.engine.work_out(&self.regs, self.chip);
        let geometry = State::new(&self.regs, self.chip).geometry();
        self.engine.found(geometry).collect()
    }

    /// Return all areas of a draw, except for programs.
    pub fn areas(&mut self) -> Vec<Short> {
        let all = self.all();
        let program = |a: &Short| matches!(a.0, Client::Program(_));
        all.into_iter().filter(|a| !program(a)).collect()
    }

    /// Return all areas of a draw.
    pub fn all(&mut self) -> Vec<Short> {
        self.found()
            .iter()
            .flat_map(|f| &f.pieces)
            .map(|p| {
                let a = p.area;
                (a.client, a.read, a.write, a.runs.start, a.runs.end())
            })
            .collect()
    }

    /// Return the kinds of all that is wrong.
    pub fn kinds(&mut self) -> Vec<Kind> {
        let of = |f: &&Found| {
            f.complaints
                .iter()
                .map(|(kind, _)| *kind)
                .collect::<Vec<_>>()
        };
        self.found().iter().flat_map(of).collect()
    }
}

#[test]
fn what_has_changed_is_worked_out_again() {
    let mut set = Set::new("rv770");
    assert_eq!(set.areas(), []);
    set.resource(0, [0x1000, 0xff, 0, 0, 0, 0, 3 << 30]);
    let buffer = |end| (Client::Buffer(0), true, false, 0x1000, end);
    assert_eq!(set.areas(), [buffer(0x1100)]);
    set.put(0x38004, 0x1ff);
    assert_eq!(set.areas(), [buffer(0x1200)]);
    set.put(mmio::PA_SC_SCREEN_SCISSOR_BR, 0);
    assert_eq!(set.areas(), [], "no pixel shader runs");
    set.engine.forget();
    set.put(mmio::PA_SC_SCREEN_SCISSOR_BR, 64 | (64 << 16));
    assert_eq!(set.areas(), [buffer(0x1200)]);
}

#[test]
fn what_the_buffer_has_not_stated_is_left_over() {
    let mut set = Set::new("rv770");
    set.resource(0, [0x1000, 0xff, 0, 0, 0, 0, 3 << 30]);
    let left = |set: &mut Set| {
        set.found();
        let found: Vec<&Found> = set.engine.found(false).collect();
        let of = |p: &&Piece| matches!(p.area.client, Client::Buffer(_));
        let piece = found.iter().flat_map(|f| &f.pieces).find(of).unwrap();
        set.engine.left_over(piece)
    };
    assert!(!left(&mut set));
    set.engine.buffer_begins();
    assert!(left(&mut set));
    // The same value counts as a statement.
    set.put(0x38000, 0x1000);
    assert!(!left(&mut set));
}
