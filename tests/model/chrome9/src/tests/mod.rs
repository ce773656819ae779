// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Tests of the whole chip, without a guest: registers are written as a CPU would write them, and the chip is stepped by
//! hand.

mod display;
mod engine2d;
mod engine3d;
mod faults;
mod gart;
mod hqv;
mod older_chip;
mod properties;
mod registers;
mod regulator;
mod replay;
mod ring;
mod state;
mod vga;
mod waits;

use lapidary_model::chip::{Chip, Step};
use lapidary_model::machine::Machine;
use lapidary_registers::chrome9::mmio;

use crate::chips::DISPLAY;
use crate::kind::Kind;
use crate::{Chrome9, bench};

const VRAM: u64 = 8 << 20;
/// Where guest RAM lies on the bus.
const RAM: u64 = 0x1_2340_0000;

struct Bench {
    chip: Chrome9,
    m: Machine,
}

impl Bench {
    /// Return a chip with bus mastering and a page of guest RAM.
    fn new() -> Bench {
        let (chip, mut m) = bench::chip(VRAM);
        m.functions[DISPLAY].ram.map_anonymous(RAM, 0x1000).unwrap();
        Bench { chip, m }
    }

    fn read(&mut self, offset: u32) -> u32 {
        self.chip.read(&mut self.m, offset)
    }

    /// Write without letting the chip work.
    fn post(&mut self, offset: u32, value: u32) {
        self.chip.write(&mut self.m, offset, value, u32::MAX);
    }

    /// Write, and let the chip work until it has nothing to do.
    fn write(&mut self, offset: u32, value: u32) {
        self.post(offset, value);
        self.run();
    }

    /// Let the chip work, as long as it can be waited for.
    fn run(&mut self) {
        for _ in 0..1 << 20 {
            if self.chip.step(&mut self.m) != Step::More {
                return;
            }
        }
        panic!("it does not come to an end");
    }

    /// Write parameters of a type through the window of the regulator.
    fn parameters(&mut self, kind: u32, values: &[u32]) {
        self.write(mmio::CR_SETTING, kind << 16);
        for value in values {
            self.write(mmio::CR_SPACE.base(), *value);
        }
    }

    /// Take the kinds of findings, each as often as it came.
    fn found(&mut self) -> Vec<Kind> {
        let found = self.m.judge.take().into_iter();
        found
            .flat_map(|f| std::iter::repeat_n(f.kind, f.count as usize))
            .collect()
    }

    fn bytes(&self, at: u64, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        assert!(self.m.vram.read(at, &mut bytes));
        bytes
    }
}
