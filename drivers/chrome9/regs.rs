// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Register access.
//!
//! The registers are in BAR 1, by byte offset (L533). Offsets that are read and written have different registers behind them
//! in the command regulator's part: [`mmio`] is for writing there, [`mmio_read`] for reading. The VGA sequencer's registers
//! ([`sr`]) are behind an index and a data register of one byte each, [`SequencerPair`].
//!
//! The generator defines registers from `registers/*.xml`.

use kernel::{
    io::{
        self,
        register::Register,
        Io,
        Region, //
    },
    prelude::*,
    sizes::SZ_64K, //
};

use lapidary::hardware::indirect::{
    Indirect,
    Pair,
    ServedBy, //
};

// Definitions of registers that `driver.list` names, generated from the register database.
include!(concat!(env!("CHROME9_GENERATED"), "/kernel.rs"));

/// Size in bytes of the part of BAR 1 that the driver accesses. Behind it is the 2D engine's window for data of the CPU.
pub(crate) const WINDOW: usize = SZ_64K;

/// The register window. Cheap to copy; accesses are 32 bits wide unless a function says otherwise.
pub(crate) type Window<'a> = io::Mmio<'a, Region<WINDOW>>;

/// Index and data of the VGA sequencer.
pub(crate) struct SequencerPair;

impl SequencerPair {
    /// The index, and behind it the data.
    const INDEX: usize = <mmio::VGA_SEQUENCER as Register>::OFFSET;
    const DATA: usize = Self::INDEX + 1;
}

impl Pair for SequencerPair {
    type Window<'a> = Window<'a>;

    fn read(window: Window<'_>, index: u32) -> u32 {
        // CAST: indices have eight bits.
        window.write8(index as u8, Self::INDEX);
        window.read8(Self::DATA).into()
    }

    fn write(window: Window<'_>, index: u32, value: u32) {
        // CAST: indices and registers have eight bits.
        window.write8(index as u8, Self::INDEX);
        window.write8(value as u8, Self::DATA);
    }
}

impl ServedBy<SequencerPair> for sr::Space {}

/// Registers of the VGA sequencer.
pub(crate) type Sequencer<'a> = Indirect<'a, SequencerPair>;

#[cfg(CONFIG_KUNIT = "y")]
pub(crate) mod fake {
    //! Registers without hardware, for the KUnit suites.

    pub(crate) use lapidary::corner::io_kunit::Device;

    /// A register window of plain memory.
    pub(crate) type Memory = lapidary::corner::io_kunit::Memory<{ super::WINDOW }>;
}

#[kunit_tests(chrome9_regs)]
mod tests {
    use super::*;
    use kernel::alloc::KBox;

    /// The index is one byte, and the data the next one. Their neighbours stay.
    #[test]
    fn the_sequencer_is_accessed_by_bytes() -> Result {
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        window.write_reg(mmio::VGA_SEQUENCER::from(0xaabb_ccdd));
        let sequencer = KBox::pin_init(Sequencer::new(window), GFP_KERNEL)?;
        sequencer.write(sr::SR6A::from(0x12));
        assert_eq!(window.read(mmio::VGA_SEQUENCER).into_raw(), 0xaabb_126a);
        let flush: sr::SR6F = sequencer.read();
        assert_eq!(flush.into_raw(), 0x12);
        assert_eq!(window.read(mmio::VGA_SEQUENCER).into_raw(), 0xaabb_126f);
        Ok(())
    }
}
