// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The units of the chip that access memory.

use std::fmt;

/// Which unit of the chip makes an access. The judge and the coherency rules care.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Command fetch of the command processor, or of the DMA engine.
    Fetch,
    /// Write-backs: read pointers, scratch registers, the interrupt ring and its write pointer.
    WriteBack,
    /// The command processor, by packets that read or write memory: MEM_WRITE, COND_WRITE, WAIT_REG_MEM, COPY_DW.
    Cp,
    /// The command processor, at semaphores.
    Semaphore,
    /// The command processor, copying by CP_DMA.
    CpDma,
    /// End-of-pipe writes, and other events that write.
    Event,
    /// The asynchronous DMA engine.
    Dma,
}

impl Unit {
    /// Return whether what it touches is chosen by command streams, and so has to lie in the objects that a test
    /// declared. Fences and semaphores are the driver's own.
    pub fn is_engine(self) -> bool {
        match self {
            Unit::Fetch | Unit::WriteBack | Unit::Semaphore => false,
            Unit::Cp | Unit::CpDma | Unit::Event | Unit::Dma => true,
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unit::Fetch => "command fetch",
            Unit::WriteBack => "a write-back",
            Unit::Cp => "the CP",
            Unit::Semaphore => "a semaphore",
            Unit::CpDma => "CP_DMA",
            Unit::Event => "an event",
            Unit::Dma => "the DMA engine",
        })
    }
}
