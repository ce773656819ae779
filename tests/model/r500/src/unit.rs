// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The units of the chip that access memory.

/// Which unit of the chip makes an access. The judge and the coherency rules care.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// The CPU, through a BAR.
    Host,
    /// Command fetch of the command processor.
    Fetch,
    /// Write-backs of the command processor (read pointer, scratch registers) and its reads of semaphores.
    Cp,
    /// The 2D engine.
    Engine2d,
    /// The 3D engine.
    Engine3d,
    /// The CP's DMA engines.
    Dma,
    /// The command processor, fetching indices for a draw (or whatever else an INDX_BUFFER packet brings).
    Index,
    /// The depth units, writing their counters.
    ZPass,
}

impl Unit {
    /// Return whether what it touches is chosen by command streams, and so has to lie in the objects that a test
    /// declared.
    pub fn is_engine(self) -> bool {
        match self {
            Unit::Host | Unit::Fetch | Unit::Cp => false,
            Unit::Engine2d | Unit::Engine3d | Unit::Dma | Unit::Index | Unit::ZPass => true,
        }
    }
}
