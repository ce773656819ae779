// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A model of VIA Chrome9 HCM, the graphics of VX855 and VX875.
//!
//! | file | what |
//! | --- | --- |
//! | [`bench`] | a chip for tests without a guest |
//! | [`chips`] | the chips there are, and their PCI functions |
//! | [`host`] | register accesses of the CPU: which act at once, and which pass the command regulator |
//! | [`queue`] | writes that the regulator has not taken yet |
//! | [`regulator`] | the two windows, parameters, command queues in memory, fences |
//! | [`fetch`], [`stream`], [`hang`] | streams in memory: where they are, what they say, and how faults hold them |
//! | [`state`] | saved state |
//! | [`vga`] | VGA registers |
//! | [`gart`] | the sequencer, and pages of system memory behind it |
//! | [`engine2d`] | the 2D engine |
//! | [`engine3d`] | the 3D engine: which memory a draw may touch |
//! | [`hqv`] | the scaler of video: which memory a picture may touch |
//! | [`display`], [`wait`] | vertical blanks and flips; what the regulator waits for |
//! | [`irq`] | interrupts |
//! | [`regs`], [`classes`] | registers and parameters, and what the model makes of each |
//! | [`bus`] | memory as the units reach it |
//! | [`kind`], [`fault`], [`unit`] | the kinds of misuse, the faults and the units of this family |
//!
//! The chip has no memory of its own. What the firmware takes from the computer's memory as frame buffer is memory of the
//! model here, which QEMU maps behind BAR0.

pub mod bench;
mod bus;
pub mod chips;
mod classes;
mod display;
mod engine2d;
pub mod engine3d;
pub mod fault;
mod fetch;
mod gart;
mod hang;
mod host;
pub mod hqv;
mod irq;
pub mod kind;
mod queue;
mod regs;
mod regulator;
mod state;
mod stream;
#[cfg(test)]
mod tests;
pub mod unit;
mod vga;
mod wait;

use std::time::Instant;

use lapidary_model::chip::{Chip, Options, Step};
use lapidary_model::machine::Machine;
use lapidary_model::registers::{Space, Touched};
use lapidary_registers::Domain;
use lapidary_registers::chrome9::{DATABASE, enums, mmio, para_10, parameters};

pub use self::bus::{FRAME_BUFFER, GART};
pub use self::chips::FAMILY;

use self::chips::DISPLAY;
use self::display::Display;
use self::engine2d::Engine2d;
use self::engine3d::Engine3d;
use self::fetch::Fetcher;
use self::gart::Gart;
use self::queue::Queue;
use self::regs::Parameters;
use self::regulator::Window;
use self::unit::Unit;
use self::vga::Vga;

/// The name that findings and lists use for the CPU.
const CPU: &str = "the CPU";

/// The chip.
pub struct Chrome9 {
    options: Options,
    regs: Space,
    reads: Space,
    parameters: Parameters,
    /// Of the CPU, and of streams.
    windows: [[Window; 2]; 2],
    queue: Queue,
    engine2d: Engine2d,
    engine3d: Engine3d,
    fetcher: Fetcher,
    gart: Gart,
    vga: Vga,
    display: Display,
    /// Until when the regulator waits.
    stalled: Option<Instant>,
    /// Numbers in the queue of fences.
    fences: Vec<u32>,
}

impl Chrome9 {
    /// Return a chip that has not been reset yet: call [`Chip::reset`] first.
    pub fn new(options: Options) -> Chrome9 {
        Chrome9 {
            options,
            regs: regs::register_space(),
            reads: regs::read_space(),
            parameters: Parameters::default(),
            windows: Default::default(),
            queue: Queue::default(),
            engine2d: Engine2d::default(),
            engine3d: Engine3d::default(),
            fetcher: Fetcher::default(),
            gart: Gart::default(),
            vga: Vga::default(),
            display: Display::dark(),
            stalled: None,
            fences: Vec::new(),
        }
    }
}

impl Chip for Chrome9 {
    fn read(&mut self, m: &mut Machine, offset: u32) -> u32 {
        self.read_register(m, offset)
    }

    fn write(&mut self, m: &mut Machine, offset: u32, value: u32, mask: u32) {
        if vga::PORTS.contains(&offset) {
            self.write_vga(m, offset, value, mask);
            return;
        }
        self.write_register(m, offset, (value & mask) | (self.regs.get(offset) & !mask));
    }

    fn step(&mut self, m: &mut Machine) -> Step {
        if m.faults.armed(fault::DEAD) || m.functions[DISPLAY].pci.power_state() == 3 {
            return Step::Idle;
        }
        let now = Instant::now();
        self.blank(m, now);
        if let Some(until) = self.stall(now) {
            return Step::At(until);
        }
        if !m.faults.armed(fault::STUCK_REGULATOR) {
            if let Some(write) = self.queue.pop() {
                self.execute(m, write);
                return Step::More;
            }
            if self.fetcher.runs() {
                if let Some(until) = self.fetcher.halt.rests(now) {
                    return Step::At(self.next_blank(now).map_or(until, |b| b.min(until)));
                }
                self.fetch(m, now);
                return Step::More;
            }
        }
        self.next_blank(now).map_or(Step::Idle, Step::At)
    }

    fn busy(&self) -> bool {
        !self.queue.is_empty()
            || self.engine2d.busy()
            || self.fetcher.busy()
            || self.stalled.is_some()
    }

    fn listens(&self) -> bool {
        self.fetcher.paused()
    }

    fn lose_power(&mut self, m: &mut Machine) {
        self.regs.reset();
        self.reads.reset();
        self.parameters.reset();
        self.windows = Default::default();
        self.queue = Queue::default();
        self.engine2d = Engine2d::default();
        self.engine3d.abandon();
        self.fetcher = Fetcher::default();
        self.gart.reset();
        self.vga.reset();
        self.display = Display::dark();
        self.stalled = None;
        self.fences.clear();
        // The only default of a parameter that the manual prints (L609), but for depths of FIFOs.
        let regulator = enums::para_type::REGULATOR as u8;
        self.parameters.preset(
            regulator,
            para_10::BRANCH_CONTROL,
            para_10::branch_control::ENABLE.mask(),
        );
        m.functions[DISPLAY].irq.reset();
    }

    fn reset(&mut self, m: &mut Machine) {
        self.lose_power(m);
        self.display = Display::left_by(self.options.state, Instant::now());
    }

    fn vram_read(&mut self, m: &mut Machine, offset: u64, data: &mut [u8]) {
        bus::read(m, Unit::Host, offset, data);
    }

    fn vram_write(&mut self, m: &mut Machine, offset: u64, data: &[u8]) {
        bus::write(m, Unit::Host, offset, data);
    }

    fn faults(&self) -> &'static [fault::Fault] {
        fault::ALL
    }

    fn peek(&self, _: &Machine, name: &str) -> Option<u32> {
        [&self.regs, &self.reads]
            .into_iter()
            .find_map(|s| Some(s.get(s.find(name)?)))
            .or_else(|| self.gart.sequencer.peek(name))
            .or_else(|| self.vga.peek(name))
            .or_else(|| self.parameters.peek(name))
    }

    fn on_chip(&self, _: &str) -> Option<&[u32]> {
        None
    }

    fn touched(&self) -> Vec<Touched> {
        let spaces = [&self.regs, &self.reads];
        let registers = spaces.into_iter().flat_map(Space::touched);
        let parameters = self.parameters.touched();
        let indexed = [self.gart.sequencer.touched(), self.vga.touched()];
        registers
            .chain(parameters)
            .chain(indexed.into_iter().flatten())
            .collect()
    }

    /// Describe an access of the CPU. A parameter of the regulator's window is described as that, by the setting that was
    /// written last.
    fn describe(&self, offset: u32, value: u32) -> String {
        if mmio::CR_SPACE.index_of(offset).is_some() {
            let kind = mmio::cr_setting::HPARATYPE.get(self.regs.get(mmio::CR_SETTING));
            if let Some(domain) = parameters(kind as u8, 0) {
                let (sub_address, data) = (
                    mmio::cr_space::SUB_ADDRESS.get(value),
                    mmio::cr_space::DATA.get(value),
                );
                return format!("CR_SPACE: {}", DATABASE.describe(domain, sub_address, data));
            }
        }
        DATABASE.describe(Domain::MMIO, host::canonical(offset), value)
    }
}
