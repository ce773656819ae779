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
    sizes::SZ_64K, //
};

use lapidary::indirect::{
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
