// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What a chip model is to the rest of the program, and the table of chips there are.

use std::fmt;
use std::time::Instant;

use crate::machine::Machine;
use crate::pci::Identity;
use crate::r5xx;

/// What a call of [`Chip::step`] has left to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Nothing, until a register is written.
    Idle,
    /// Something, at once.
    More,
    /// Something, at that time.
    At(Instant),
}

/// A chip: registers with side effects, and work that goes on by itself.
///
/// Calls come from several threads, one at a time. None may block, panic or run without bound, whatever the guest does.
pub trait Chip: Send {
    /// Reads a register; `offset` is a multiple of 4.
    fn read(&mut self, m: &mut Machine, offset: u32) -> u32;

    /// Writes the bytes of a register that `mask` selects; `offset` is a multiple of 4.
    fn write(&mut self, m: &mut Machine, offset: u32, value: u32, mask: u32);

    /// Does a bounded piece of work (at most one packet).
    fn step(&mut self, m: &mut Machine) -> Step;

    /// Back to the state after power-on (and after the firmware, if the card is a posted one).
    fn reset(&mut self, m: &mut Machine);

    /// Whether it has work under way.
    fn busy(&self) -> bool;

    /// Whether it takes commands: work would begin without another register write.
    fn listens(&self) -> bool;

    /// The card loses its power and gets it back: everything is gone, also what the firmware has done. VRAM is the
    /// caller's.
    fn lose_power(&mut self, m: &mut Machine);

    /// The CPU reads VRAM through its BAR (seen only if it is not mapped).
    fn vram_read(&mut self, m: &mut Machine, offset: u64, data: &mut [u8]);

    /// The CPU writes VRAM through its BAR (seen only if it is not mapped).
    fn vram_write(&mut self, m: &mut Machine, offset: u64, data: &[u8]);

    /// The value of a register by name, without side effects and without judgement.
    fn peek(&self, m: &Machine, name: &str) -> Option<u32>;

    /// What a memory inside the chip holds, one that no address leads to, by name.
    fn on_chip(&self, name: &str) -> Option<&[u32]>;

    /// The registers that somebody has touched since the model began, in the order of their places. What firmware does
    /// does not count.
    fn touched(&self) -> Vec<Touched>;

    /// What a register access means, by name: for the trace.
    fn describe(&self, offset: u32, value: u32) -> String;
}

/// A register that somebody has read or written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touched {
    /// Its name, with an index in brackets if it is one of an array.
    pub name: String,
    /// Its block.
    pub block: &'static str,
    /// Whether hardware does something there that the model does not.
    pub missing: bool,
    /// What the model makes of it, in one word.
    pub class: &'static str,
    /// Number of reads.
    pub reads: u32,
    /// Number of writes.
    pub writes: u32,
    /// Who was first.
    pub first: String,
}

impl fmt::Display for Touched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {} {} {} {} {}",
            self.block, self.name, self.class, self.reads, self.writes, self.first
        )
    }
}

/// In what state the firmware has left the card.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum State {
    /// Memory is up, no display.
    #[default]
    Posted,
    /// Memory is up and a CRTC shows a picture from the start of VRAM.
    Crtc,
    /// The same, and the second CRTC shows another picture from elsewhere in VRAM.
    Crtcs,
    /// Memory is up. Everything else that nobody promises is otherwise than a driver wants it: what a careless
    /// firmware leaves, and what a kernel that was replaced had set going.
    Careless,
    /// Nothing was initialised.
    Unposted,
}

/// What a chip is built with.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Bytes of VRAM.
    pub vram: u64,
    /// Bytes of the window through which the CPU sees its beginning, a power of two.
    pub window: u64,
    /// The CPU's accesses to VRAM are seen, since nobody maps it.
    pub trapped: bool,
    /// What the firmware did.
    pub state: State,
}

/// One chip that the model knows.
pub struct Entry {
    /// Name for the command line.
    pub name: &'static str,
    variant: &'static r5xx::Variant,
}

/// Every chip.
pub static CHIPS: &[Entry] = &[
    Entry {
        name: "rv515",
        variant: &r5xx::RV515,
    },
    Entry {
        name: "r520",
        variant: &r5xx::R520,
    },
    Entry {
        name: "rv530",
        variant: &r5xx::RV530,
    },
    Entry {
        name: "rv560",
        variant: &r5xx::RV560,
    },
    Entry {
        name: "rv570",
        variant: &r5xx::RV570,
    },
    Entry {
        name: "r580",
        variant: &r5xx::R580,
    },
];

impl Entry {
    /// The chip of that name.
    pub fn by_name(name: &str) -> Option<&'static Entry> {
        CHIPS.iter().find(|e| e.name == name)
    }

    /// Makes the chip; it must be reset before use.
    pub fn build(&self, options: Options) -> Box<dyn Chip> {
        Box::new(r5xx::R5xx::new(self.variant, options))
    }

    /// The same, as what it is: for a bench without a server.
    pub fn chip(&self, options: Options) -> r5xx::R5xx {
        r5xx::R5xx::new(self.variant, options)
    }

    /// The synthetic ROM of a card with it, whose ASIC_Init sets up that much VRAM.
    pub fn rom(&self, vram: u64) -> Vec<u8> {
        r5xx::firmware::rom(self.variant, vram).build()
    }

    /// The same, but for an ASIC_Init that does what it must and no more: see [`State::Careless`].
    pub fn careless_rom(&self, vram: u64) -> Vec<u8> {
        r5xx::firmware::careless_rom(self.variant, vram, r5xx::firmware::ELSEWHERE).build()
    }

    /// The same, but for an ASIC_Init that does not end.
    pub fn endless_rom(&self, vram: u64) -> Vec<u8> {
        r5xx::firmware::endless_rom(self.variant, vram).build()
    }

    /// The same, but for an ASIC_Init that also tries to reach the computer's memory.
    pub fn hostile_rom(&self, vram: u64) -> Vec<u8> {
        r5xx::firmware::hostile_rom(self.variant, vram).build()
    }

    /// Its PCI function, with that window onto VRAM (a power of two) and a ROM of that many bytes.
    pub fn identity(&self, window: u64, rom: u64) -> Identity {
        Identity {
            vendor: 0x1002,
            device: self.variant.device,
            revision: 0,
            vram_bar: window,
            register_bar: 0x1_0000,
            io_bar: 0x100,
            rom,
        }
    }
}
