// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What a command table works on.

/// A card that is being posted.
///
/// The machine calls nothing else of a driver. It makes at most [`MOST_STEPS`](super::MOST_STEPS) writes and waits, and
/// twice as many reads, one after the other.
///
/// The program comes out of the card's flash. A [`Guard`](super::guard::Guard) before the card lets it write what
/// posting needs.
pub trait Card {
    /// Read the register at byte `offset` of the register window, a multiple of 4.
    ///
    /// None if there is no such register. The program stops then.
    fn read(&mut self, offset: u32) -> Option<u32>;

    /// Write the register at byte `offset`; None as with [`Card::read`].
    fn write(&mut self, offset: u32, value: u32) -> Option<()>;

    /// Write a register as a step of a port's program (see [`port`](super::port)). On some chips this takes more than a
    /// write.
    fn write_for_port(&mut self, offset: u32, value: u32) -> Option<()> {
        self.write(offset, value)
    }

    /// Read clock register `index`.
    fn read_pll(&mut self, index: u8) -> u32;

    /// Write clock register `index`.
    fn write_pll(&mut self, index: u8, value: u32);

    /// Read register `index` of the memory controller.
    fn read_mc(&mut self, index: u8) -> u32;

    /// Write register `index` of the memory controller.
    fn write_mc(&mut self, index: u8, value: u32);

    /// Wait at least `micros` microseconds, up to 255 000.
    fn wait(&mut self, micros: u32);
}
