// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The host data path (HDP): how the CPU's accesses reach VRAM.
//!
//! The path collects what the CPU writes, and reads ahead. The driver flushes it where the engines or the CPU depend on
//! what the other has written. On R6xx a write to a register does that. On R7xx that register is not reliable. There the
//! driver writes to `HDP_DEBUG1`, and the next read of VRAM waits for the flush.
//!
//! The facts are from Linux' `radeon` (`r600_pcie_gart_tlb_flush`, `r600_mmio_hdp_flush`, `rv770_mc_program`).

use kernel::{
    io::Io,
    prelude::*, //
};

use crate::{
    chip::{
        Chipset,
        Generation, //
    },
    regs::{
        mmio::*,
        RegisterIo,
        Window, //
    },
};

/// Flush the host data path. On R7xx the flush is complete after the next read of VRAM.
///
/// One register write. Any context.
pub(crate) fn flush<'a>(chipset: Chipset, window: impl RegisterIo<'a>) {
    match chipset.generation() {
        Generation::R6xx => window.write_reg(HDP_MEM_COHERENCY_FLUSH_CNTL::from(1)),
        Generation::R7xx => window.write_reg(HDP_DEBUG1::from(0)),
    }
}

/// Get the path ready after its surfaces have changed.
pub(crate) fn prepare(chipset: Chipset, window: Window<'_>) {
    match chipset.generation() {
        Generation::R6xx => window.write_reg(HDP_REG_COHERENCY_FLUSH_CNTL::from(0)),
        Generation::R7xx => {
            let _ = window.read(HDP_DEBUG1);
        }
    }
}

#[kunit_tests(r600_hdp)]
mod tests {
    use super::*;
    use crate::regs::fake::{
        Access::Write,
        Log, //
    };

    #[test]
    fn a_flush_is_one_write() {
        let log = Log::new();
        flush(Chipset::Rv610, log.registers());
        flush(Chipset::Rv730, log.registers());
        assert_eq!(log.take().as_slice(), [Write(0x5480, 1), Write(0x2f34, 0)]);
    }
}
