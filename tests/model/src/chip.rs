// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What a chip model is to the rest of the program.

use std::time::Instant;

use crate::fault::Fault;
use crate::machine::Machine;
use crate::registers::Touched;

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
    /// Read a register; `offset` is a multiple of 4. Registers of several functions lie at offsets that their windows
    /// tell apart ([`crate::pci::Window::Registers`]).
    fn read(&mut self, m: &mut Machine, offset: u32) -> u32;

    /// Write the bytes of a register that `mask` selects; `offset` is a multiple of 4.
    fn write(&mut self, m: &mut Machine, offset: u32, value: u32, mask: u32);

    /// Do a bounded piece of work (at most one packet).
    fn step(&mut self, m: &mut Machine) -> Step;

    /// Return to the state after power-on (and after the firmware, if the card is a posted one).
    fn reset(&mut self, m: &mut Machine);

    /// Return whether it has work under way.
    fn busy(&self) -> bool;

    /// Return whether it takes commands: work would begin without another register write.
    fn listens(&self) -> bool;

    /// Lose the power and get it back: everything is lost, also what the firmware has done. VRAM is the
    /// caller's.
    fn lose_power(&mut self, m: &mut Machine);

    /// Serve a read of VRAM through its BAR (seen only if it is not mapped).
    fn vram_read(&mut self, m: &mut Machine, offset: u64, data: &mut [u8]);

    /// Serve a write of VRAM through its BAR (seen only if it is not mapped).
    fn vram_write(&mut self, m: &mut Machine, offset: u64, data: &[u8]);

    /// Serve a read of a doorbell. A chip whose functions have a window of doorbells answers.
    fn doorbell_read(&mut self, _: &mut Machine, _offset: u64, _data: &mut [u8]) {}

    /// Serve a write of a doorbell. A chip whose functions have a window of doorbells does something.
    fn doorbell_write(&mut self, _: &mut Machine, _offset: u64, _data: &[u8]) {}

    /// Return the faults that it has beside those of any card.
    fn faults(&self) -> &'static [Fault];

    /// Return the value of a register by name, without side effects and without judgement.
    fn peek(&self, m: &Machine, name: &str) -> Option<u32>;

    /// Return what a memory inside the chip holds, one that no address leads to, by name.
    fn on_chip(&self, name: &str) -> Option<&[u32]>;

    /// Return the registers that were touched since the model began, in the order of their places. Accesses of the
    /// firmware do not count.
    fn touched(&self) -> Vec<Touched>;

    /// Return what a register access means, by name: for the trace.
    fn describe(&self, offset: u32, value: u32) -> String;
}

/// In what state the firmware has left the card.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// Memory is up, no display.
    #[default]
    Posted,
    /// Memory is up and a CRTC shows a picture from the start of VRAM.
    Crtc,
    /// The same, and the second CRTC shows another picture from elsewhere in VRAM.
    Crtcs,
    /// Memory is up. Everything else that no specification promises differs from what a driver wants, as a careless
    /// firmware leaves it, or a kernel that was replaced.
    Careless,
    /// Nothing was initialised.
    Unposted,
}

impl State {
    /// Return the state of that name, as the command line uses it.
    ///
    /// # Errors
    /// One line that names the states there are.
    pub fn by_name(name: &str) -> Result<State, String> {
        Ok(match name {
            "posted" => State::Posted,
            "crtc" => State::Crtc,
            "crtcs" => State::Crtcs,
            "careless" => State::Careless,
            "unposted" => State::Unposted,
            _ => return Err("there are posted, crtc, crtcs, careless, unposted".into()),
        })
    }
}

/// Which of the units that a chip has work. The fuses of a card say it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fuses {
    /// All.
    #[default]
    Whole,
    /// Every second one, but of each kind one at least, as in a card that is sold as a smaller one.
    Half,
    /// None: fuses that cannot be true.
    Nothing,
}

impl Fuses {
    /// Return the fuses of that name, as the command line uses it.
    ///
    /// # Errors
    /// One line that names those there are.
    pub fn by_name(name: &str) -> Result<Fuses, String> {
        Ok(match name {
            "whole" => Fuses::Whole,
            "half" => Fuses::Half,
            "nothing" => Fuses::Nothing,
            _ => return Err("there are whole, half, nothing".into()),
        })
    }

    /// Return a mask of the units that do not work, of `units` (at most 32) numbered from 0.
    pub fn dead(self, units: u32) -> u32 {
        let all = 1u32.checked_shl(units).unwrap_or(0).wrapping_sub(1);
        match self {
            Fuses::Whole => 0,
            Fuses::Half => all & 0xaaaa_aaaa,
            Fuses::Nothing => all,
        }
    }
}

/// What a chip is built with.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Bytes of VRAM.
    pub vram: u64,
    /// Bytes of the window through which the CPU sees its beginning, a power of two.
    pub window: u64,
    /// The model sees the CPU's accesses to VRAM, since QEMU does not map it.
    pub trapped: bool,
    /// What the firmware did.
    pub state: State,
    /// Which units work, of a chip whose family has such fuses.
    pub fuses: Fuses,
}

#[cfg(test)]
mod tests {
    use super::Fuses;

    #[test]
    fn one_unit_of_each_kind_is_left_of_half_a_chip() {
        assert_eq!([1, 2, 4, 8].map(|n| Fuses::Half.dead(n)), [0, 2, 0xa, 0xaa]);
        assert_eq!(Fuses::Whole.dead(8), 0);
        assert_eq!(Fuses::Nothing.dead(4), 0xf);
        assert_eq!(Fuses::Nothing.dead(32), u32::MAX);
    }
}
