// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What a command table works on.

/// A card that is being posted: the family's access to it.
///
/// The machine calls nothing else of a driver. It makes at most [`MOST_STEPS`](super::MOST_STEPS) writes and waits, and
/// twice as many reads, one after the other.
///
/// The program comes out of the card's flash. A driver stands a guard before its registers that lets through what
/// posting needs.
pub trait Card {
    /// Reads the register at byte `offset` of the register window, a multiple of 4.
    ///
    /// None if there is no such register: the program stops.
    fn read(&mut self, offset: u32) -> Option<u32>;

    /// Writes the register at byte `offset`; None as with [`Card::read`].
    fn write(&mut self, offset: u32, value: u32) -> Option<()>;

    /// Writes a register as a step of a port's program (see [`port`](super::port)). Some chips want it done otherwise.
    fn write_for_port(&mut self, offset: u32, value: u32) -> Option<()> {
        self.write(offset, value)
    }

    /// Reads clock register `index`.
    fn read_pll(&mut self, index: u8) -> u32;

    /// Writes clock register `index`.
    fn write_pll(&mut self, index: u8, value: u32);

    /// Reads register `index` of the memory controller.
    fn read_mc(&mut self, index: u8) -> u32;

    /// Writes register `index` of the memory controller.
    fn write_mc(&mut self, index: u8, value: u32);

    /// Waits at least so many microseconds, up to 255 000.
    fn wait(&mut self, micros: u32);
}
