// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A model of the R5xx family: RV515 and its kin.
//!
//! | file | what |
//! | --- | --- |
//! | [`host`] | register accesses: windows, waits |
//! | [`hdp`] | VRAM as the CPU sees it: apertures, surfaces |
//! | [`soft_reset`] | status, soft resets, engines that are stuck |
//! | [`regs`], [`classes`] | register files, and what the model makes of each register |
//! | [`cp`], [`packet`], [`fetch`], [`me_ram`], [`scratch`], [`cp_registers`] | the command processor |
//! | [`dma`] | its DMA engines |
//! | [`bus`], [`gart`], [`cache`] | GPU addresses: memory controller, page table, what is still in caches |
//! | [`firmware`] | how the card is posted |
//! | [`touched`] | what engines have touched, for tests |
//! | [`irq`] | interrupts |
//! | [`display`] | what a CRTC reads |
//! | [`kind`], [`fault`], [`unit`] | the kinds of misuse, the faults and the units of this family |
//! | [`chips`] | the chips there are, each with its PCI function and its ROM |
//! | [`bench`] | a chip without a server, for host programs |
//! | [`checkpoint`] | the whole state, to come back to |
//! | [`engine2d_api`] | the boundary to the 2D engine |
//! | [`engine3d`], [`draw`] | what a draw may touch, and how the rest of the chip asks |

pub mod bench;
mod bus;
mod cache;
mod checkpoint;
pub mod chips;
mod classes;
mod cp;
mod cp_registers;
mod display;
mod dma;
mod draw;
pub mod engine2d;
pub mod engine2d_api;
pub mod engine3d;
pub mod fault;
mod fetch;
pub mod firmware;
mod gart;
mod hdp;
mod host;
mod irq;
pub mod kind;
mod me_ram;
mod packet;
mod regs;
mod scratch;
mod soft_reset;
#[cfg(test)]
mod tests;
pub mod touched;
pub mod unit;

use std::fmt;
use std::time::Instant;

use lapidary_model::chip::{Chip, Options, State, Step};
use lapidary_model::machine::Machine;
use lapidary_model::registers::{Space, Touched};
use lapidary_registers::r500::{DATABASE, domain, mmio};
use lapidary_registers::{Domain, Field};

pub use self::checkpoint::Checkpoint;
pub use self::chips::{FAMILY, Variant};

use self::bus::Bus;
use self::cp::{Cp, Stream};
use self::engine2d_api::{Engine2d, Port};
use self::engine3d::{Engine3d, onchip::OnChip};
use self::kind::Kind;
use self::regs::{Pipe, REGISTERS};
use self::soft_reset::{Sequence, Stuck};
use self::unit::Unit;

/// The start of VRAM among GPU addresses that the firmware chooses.
pub const FIRMWARE_FB: u32 = 0xc000_0000;

/// Who accesses a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The CPU.
    Host,
    /// A packet.
    Packet {
        /// Of that stream.
        stream: Stream,
        /// Whether it is the packet's last write.
        last: bool,
    },
    /// A DMA engine.
    Dma,
    /// The card's firmware, before any driver.
    Firmware,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name().unwrap_or("the firmware"))
    }
}

impl Source {
    /// Return the name that findings and lists use. It is none for the firmware, whose accesses are not counted.
    fn name(self) -> Option<&'static str> {
        match self {
            Source::Host => Some("the CPU"),
            Source::Packet { stream, .. } => Some(stream.name()),
            Source::Dma => Some("a DMA engine"),
            Source::Firmware => None,
        }
    }
}

/// A chip of the family.
pub struct R5xx {
    variant: &'static Variant,
    options: Options,
    regs: Space,
    pipe: Pipe,
    pll: Space,
    bus: Bus,
    cp: Cp,
    dma: [dma::Engine; 2],
    engine2d: Box<dyn Engine2d>,
    engine3d: Engine3d,
    on_chip: OnChip,
    stuck: Stuck,
    sequence: Sequence,
    /// The ROM's image.
    firmware: Vec<u8>,
    start: Instant,
}

impl R5xx {
    /// Return a chip that has not been reset yet: call [`Chip::reset`] first.
    pub fn new(variant: &'static Variant, options: Options) -> R5xx {
        let engine3d = Engine3d::new(variant.pipes, variant.depth_units());
        R5xx {
            variant,
            options,
            regs: Space::new(
                &REGISTERS,
                "register",
                Domain::MMIO,
                variant.name,
                4,
                0x4000,
            ),
            pipe: Pipe::new(variant.name, 0x4000),
            pll: Space::new(
                &REGISTERS,
                "PLL register",
                domain::PLL,
                variant.name,
                1,
                0x40,
            ),
            bus: Bus::new(variant.mc, variant.name),
            cp: Cp::default(),
            dma: Default::default(),
            engine2d: Box::new(engine2d::Engine::default()),
            on_chip: OnChip::new(variant.name, &engine3d.pipes),
            engine3d,
            stuck: Stuck::default(),
            sequence: Sequence::default(),
            firmware: match options.state {
                State::Careless => firmware::careless_rom(variant, options.vram, FIRMWARE_FB),
                _ => firmware::rom(variant, options.vram),
            }
            .build(),
            start: Instant::now(),
        }
    }

    /// Let the 2D engine work, with a view of the rest of the chip.
    fn with_engine2d(&mut self, m: &mut Machine, f: impl FnOnce(&mut dyn Engine2d, &mut dyn Port)) {
        let mut view = View {
            regs: &mut self.regs,
            bus: &mut self.bus,
            m,
        };
        f(&mut *self.engine2d, &mut view);
    }

    fn tell_engine2d(&mut self, m: &mut Machine, offset: u32, value: u32) {
        if self.engine2d.owns(offset) {
            self.with_engine2d(m, |engine, port| {
                engine.register_written(port, offset, value)
            });
        }
    }
}

impl Chip for R5xx {
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
        let dma = self.dma_step(m);
        let cp = if self.dma.iter().any(dma::Engine::locks_streams) {
            Step::Idle
        } else {
            self.cp_step(m, Instant::now())
        };
        if dma { Step::More } else { cp }
    }

    fn busy(&self) -> bool {
        self.works()
    }

    fn listens(&self) -> bool {
        self.mode(Stream::Ring) != cp::Mode::Off
    }

    fn lose_power(&mut self, m: &mut Machine) {
        self.regs.reset();
        self.pll.reset();
        self.bus.reset();
        self.cp = Cp::default();
        self.dma = Default::default();
        self.engine2d.reset();
        self.engine3d.reset();
        self.on_chip = OnChip::new(self.variant.name, &self.engine3d.pipes);
        self.forget_resets();
        self.start = Instant::now();
        // Fuses and straps.
        // The window onto VRAM is made of two apertures.
        self.regs
            .set(mmio::CONFIG_APER_SIZE, (self.options.window / 2) as u32);
        self.regs.set(mmio::CONFIG_REG_APER_SIZE, 0x1_0000);
        let pipes = mmio::gb_pipe_select::MAX_PIPE.of(self.variant.pipes - 1)
            | mmio::gb_pipe_select::PIPE_MASK.of((1 << self.variant.pipes) - 1)
            | mmio::gb_pipe_select::BAD_PIPES.of((1 << self.variant.pipes) - 1);
        self.regs.set(mmio::GB_PIPE_SELECT, pipes);
        if self.regs.register(mmio::GB_PIPE_SELECT2).is_some() {
            self.regs.set(mmio::GB_PIPE_SELECT2, 3);
        }
        let layout = self.bus.layout;
        self.bus.mc.set(layout.status, layout.idle);
        m.functions[0].irq.reset();
    }

    fn reset(&mut self, m: &mut Machine) {
        self.lose_power(m);
        if self.options.state != State::Unposted {
            self.post(m);
        }
        match self.options.state {
            State::Crtc => self.light_crtc(m, 0, FIRMWARE_FB),
            State::Crtcs => {
                self.light_crtc(m, 0, FIRMWARE_FB);
                self.light_crtc(m, 1, FIRMWARE_FB);
            }
            State::Careless => self.leave(m),
            State::Posted | State::Unposted => {}
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
        if let Some(offset) = self.regs.find(name) {
            return Some(self.peek_register(offset));
        }
        [&self.bus.mc, &self.bus.pcie, &self.pll]
            .into_iter()
            .find_map(|s| Some(s.get(s.find(name)?)))
    }

    fn on_chip(&self, name: &str) -> Option<&[u32]> {
        self.on_chip.content(name)
    }

    fn touched(&self) -> Vec<Touched> {
        [&self.regs, &self.bus.mc, &self.bus.pcie, &self.pll]
            .into_iter()
            .flat_map(Space::touched)
            .collect()
    }

    fn describe(&self, offset: u32, value: u32) -> String {
        let window = |domain, index: u32, field: Field| {
            DATABASE.describe(domain, field.get(self.regs.get(index)), value)
        };
        match offset {
            mmio::PCIE_DATA => window(domain::PCIE, mmio::PCIE_INDEX, mmio::pcie_index::PCIE_ADDR),
            mmio::MC_IND_DATA => window(
                self.bus.layout.domain,
                mmio::MC_IND_INDEX,
                mmio::mc_ind_index::MC_IND_ADDR,
            ),
            mmio::CLOCK_CNTL_DATA => window(
                domain::PLL,
                mmio::CLOCK_CNTL_INDEX,
                mmio::clock_cntl_index::PLL_ADDR,
            ),
            _ => DATABASE.describe(Domain::MMIO, offset, value),
        }
    }
}

/// What the 2D engine sees of the chip.
struct View<'a> {
    regs: &'a mut Space,
    bus: &'a mut Bus,
    m: &'a mut Machine,
}

impl Port for View<'_> {
    fn read(&mut self, unit: Unit, address: u32, bytes: &mut [u8]) {
        self.bus.read(self.m, unit, address, bytes);
    }

    fn write(&mut self, unit: Unit, address: u32, bytes: &[u8]) {
        self.bus.write(self.m, unit, address, bytes);
    }

    fn register(&self, offset: u32) -> u32 {
        self.regs.get(offset)
    }

    fn set_register(&mut self, offset: u32, value: u32) {
        self.regs.set(offset, value);
    }

    fn finding(&mut self, kind: Kind, detail: fmt::Arguments<'_>) {
        self.m.finding(kind, detail);
    }

    fn trace(&mut self, line: fmt::Arguments<'_>) {
        self.m.trace.line(line);
    }

    fn count(&mut self, name: &'static str, n: u64) {
        self.m.counters.add(name, n);
    }
}
