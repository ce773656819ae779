// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A model of the R6xx and R7xx family.
//!
//! | file | what |
//! | --- | --- |
//! | [`chips`] | the chips there are, each with its PCI function and its ROM |
//! | [`firmware`] | how the card is posted |
//! | [`host`] | the front door of the registers |
//! | [`regs`], [`classes`] | the registers, and what the model makes of each |
//! | [`mc`], [`vm`] | GPU addresses: memory controller, page table |
//! | [`hdp`] | VRAM as the CPU sees it |
//! | [`cp`], [`packet`], [`event`], [`counts`], [`poll`], [`semaphore`] | the command processor |
//! | [`dma`], [`tiling`] | the DMA engine, and where tiled elements lie |
//! | [`ih`], [`rlc`], [`microcode`] | interrupts, and the controller that they need |
//! | [`reset`] | status and soft resets |
//! | [`display`] | what a CRTC reads |
//! | [`draw`], [`engine3d`], [`reach`] | how draws begin, which bytes they may touch, and what those lead to |
//! | [`bench`], [`checkpoint`], [`touched`] | a chip without a server, for host programs; what engines have touched |
//! | [`kind`], [`fault`], [`unit`] | the kinds of misuse, the faults and the units of this family |

pub mod bench;
mod checkpoint;
pub mod chips;
mod classes;
mod counts;
mod cp;
mod display;
mod dma;
mod draw;
pub mod engine3d;
mod event;
pub mod fault;
pub mod firmware;
mod hdp;
mod host;
mod ih;
pub mod kind;
mod mc;
mod microcode;
mod packet;
mod poll;
mod reach;
mod regs;
mod reset;
mod rlc;
mod semaphore;
#[cfg(test)]
mod tests;
pub mod tiling;
pub mod touched;
pub mod unit;
mod vm;

use std::time::Instant;

use lapidary_model::chip::{Chip, Options, State, Step};
use lapidary_model::machine::Machine;
use lapidary_model::registers::{Space, Touched};
use lapidary_registers::Domain;
use lapidary_registers::r600::mmio;

pub use self::chips::{FAMILY, Variant};

use self::cp::{Cp, Stream};
use self::draw::Stated;
use self::engine3d::Engine3d;
use self::ih::Ih;
use self::mc::Bus;
use self::regs::WORDS;
use self::rlc::Rlc;

/// Who accesses a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The CPU.
    Host,
    /// A packet of that stream.
    Packet(Stream),
    /// The card's firmware, before any driver.
    Firmware,
}

impl Source {
    /// Return the name that findings and lists use. It is none for the firmware, whose accesses are not counted.
    fn name(self) -> Option<&'static str> {
        match self {
            Source::Host => Some("the CPU"),
            Source::Packet(stream) => Some(stream.name()),
            Source::Firmware => None,
        }
    }
}

/// A chip of the family.
pub struct R6xx {
    variant: &'static Variant,
    options: Options,
    regs: Space,
    bus: Bus,
    cp: Cp,
    dma: dma::Engine,
    ih: Ih,
    rlc: Rlc,
    engine3d: Engine3d,
    stated: Stated,
    /// The GPU clock when it was captured last.
    captured: u64,
    /// The ROM's image.
    firmware: Vec<u8>,
    start: Instant,
}

impl R6xx {
    /// Return a chip that has not been reset yet: call [`Chip::reset`] first.
    pub fn new(variant: &'static Variant, options: Options) -> R6xx {
        let g = variant.generation;
        let regs = Space::new(
            g.registers,
            "register",
            Domain::MMIO,
            variant.name,
            4,
            WORDS,
        );
        R6xx {
            variant,
            options,
            regs,
            bus: Bus::new(g.mc),
            cp: Cp::default(),
            dma: dma::Engine::default(),
            ih: Ih::default(),
            rlc: Rlc::default(),
            engine3d: Engine3d::default(),
            stated: Stated::default(),
            captured: 0,
            firmware: firmware::rom(variant, options.vram).build(),
            start: Instant::now(),
        }
    }
}

impl Chip for R6xx {
    fn read(&mut self, m: &mut Machine, offset: u32) -> u32 {
        self.read_register(m, offset, Source::Host)
    }

    fn write(&mut self, m: &mut Machine, offset: u32, value: u32, mask: u32) {
        let value = if mask == u32::MAX {
            value
        } else {
            value & mask | self.regs.get(offset) & !mask
        };
        self.write_register(m, offset, value, Source::Host);
    }

    fn step(&mut self, m: &mut Machine) -> Step {
        if m.faults.armed(fault::DEAD) || m.functions[0].pci.power_state() == 3 {
            return Step::Idle;
        }
        let now = Instant::now();
        let was_busy = self.cp_busy();
        let steps = (self.dma_step(m, now), self.cp_step(m, now));
        if was_busy && !self.cp_busy() {
            self.became_idle(m);
        }
        match steps {
            (Step::More, _) | (_, Step::More) => Step::More,
            (Step::At(a), Step::At(b)) => Step::At(a.min(b)),
            (Step::At(a), Step::Idle) | (Step::Idle, Step::At(a)) => Step::At(a),
            (Step::Idle, Step::Idle) => Step::Idle,
        }
    }

    fn busy(&self) -> bool {
        self.cp_busy() || self.dma_busy()
    }

    fn listens(&self) -> bool {
        self.cp_runs() || self.dma_enabled()
    }

    fn lose_power(&mut self, m: &mut Machine) {
        self.regs.reset();
        self.bus = Bus::new(self.variant.generation.mc);
        self.cp = Cp::default();
        self.dma = dma::Engine::default();
        self.ih = Ih::default();
        self.rlc = Rlc::default();
        self.engine3d = Engine3d::default();
        self.stated = Stated::default();
        self.captured = 0;
        self.start = Instant::now();
        for (register, value) in self.variant.straps(self.options.fuses) {
            self.regs.set(register, value);
        }
        self.regs
            .set(mmio::CP_ME_CNTL, mmio::cp_me_cntl::ME_HALT.mask());
        self.bus.configure(&self.regs);
        m.functions[0].irq.reset();
    }

    fn reset(&mut self, m: &mut Machine) {
        self.lose_power(m);
        if self.options.state != State::Unposted {
            self.post(m);
        }
        match self.options.state {
            State::Crtc => self.light_crtc(m, 0),
            State::Crtcs => {
                self.light_crtc(m, 0);
                self.light_crtc(m, 1);
            }
            State::Careless | State::Posted | State::Unposted => {}
        }
    }

    fn vram_read(&mut self, m: &mut Machine, offset: u64, data: &mut [u8]) {
        self.hdp_read(m, offset, data);
    }

    fn vram_write(&mut self, m: &mut Machine, offset: u64, data: &[u8]) {
        self.hdp_write(m, offset, data);
    }

    fn faults(&self) -> &'static [fault::Fault] {
        fault::ALL
    }

    fn peek(&self, _m: &Machine, name: &str) -> Option<u32> {
        Some(self.peek_register(self.regs.find(name)?))
    }

    fn on_chip(&self, name: &str) -> Option<&[u32]> {
        match name {
            "pfp" => Some(self.cp.pfp.words()),
            "me" => Some(self.cp.me.words()),
            "rlc" => Some(self.rlc.code.words()),
            "cp-dma" => Some(&self.cp.copied),
            _ => None,
        }
    }

    fn touched(&self) -> Vec<Touched> {
        self.regs.touched()
    }

    fn describe(&self, offset: u32, value: u32) -> String {
        let database = self.variant.generation.registers.database;
        let at = match offset {
            mmio::MM_DATA => mmio::mm_index::ADDR.get(self.regs.get(mmio::MM_INDEX)) & !3,
            _ => offset,
        };
        database.describe(Domain::MMIO, at, value)
    }
}
