// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The commands that make the chip neutral between clients, in memory of their own.
//!
//! The CP executes them as an indirect buffer, which costs the submitter four dwords. They are written once, at probe.
//! [`portable::neutral`](crate::portable::neutral) says which they are.

use kernel::{
    device::{
        Bound,
        Device, //
    },
    dma::DmaAddress,
    prelude::*, //
};

use lapidary::{
    corner::buffer::Buffer,
    family::{
        GpuAddr,
        Ib, //
    },
    portable::sink::SliceSink,
};

use crate::{
    chip::Chipset,
    portable::neutral, //
};

/// Bytes of the window on system memory that the commands take.
pub(crate) const BYTES: usize = neutral::DWORDS * size_of::<u32>();

/// The commands, and the empty program that they name.
pub(crate) struct Neutral {
    memory: Buffer,
    ib: Ib,
}

impl Neutral {
    /// Write the commands for a `chipset`. Their memory will be mapped at `start`, a multiple of 4096.
    ///
    /// # Errors
    ///
    /// `ENOMEM`; `EINVAL` if the address does not fit.
    pub(crate) fn new(dev: &Device<Bound>, chipset: Chipset, start: GpuAddr) -> Result<Self> {
        let mut memory = Buffer::new(dev, neutral::DWORDS)?;
        let mut words = KVec::from_elem(0, neutral::DWORDS, GFP_KERNEL)?;
        let (program, commands) = words.split_at_mut(neutral::PROGRAM_DWORDS);
        program.copy_from_slice(&neutral::PROGRAM);
        let mut out = SliceSink::new(commands);
        let (generation, base_update) = (chipset.generation(), chipset.base_update());
        neutral::emit(&mut out, generation, base_update, start).map_err(|_| EINVAL)?;
        let ib = Ib {
            addr: start + (neutral::PROGRAM_DWORDS * size_of::<u32>()) as u64,
            len: u32::try_from(out.written())?,
            vmid: 0,
        };
        memory.write(0, &words)?;
        Ok(Self { memory, ib })
    }

    /// Return the memory to be mapped for the chip, with its length in bytes.
    pub(crate) fn piece(&self) -> (DmaAddress, usize) {
        (self.memory.dma_address(), BYTES)
    }

    /// Return the commands.
    pub(crate) fn ib(&self) -> Ib {
        self.ib
    }
}
