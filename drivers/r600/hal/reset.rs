// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Halting and resetting the engines.
//!
//! `GRBM_SOFT_RESET` resets the blocks of the graphics pipe, `SRBM_SOFT_RESET` those around it. The bit of the DMA
//! engine is another one on R7xx, which also have a halt bit for the prefetch parser, and lack the 2D block and the
//! shader memory exporter. On R7xx the RLC is reset before it is halted.
//!
//! The facts are from Linux' `radeon` (`r600_gpu_soft_reset`, `r600_rlc_stop`, `r700_cp_stop`).

use kernel::{
    io::Io,
    prelude::*,
    time::{
        delay::fsleep,
        Delta, //
    },
};

use crate::{
    chip::{
        Chipset,
        Generation, //
    },
    regs::{
        mmio::*,
        mmio_r6xx,
        mmio_r7xx,
        Window, //
    },
};

/// Time for a reset to reach every unit of a block.
const BLOCK_TIME: Delta = Delta::from_micros(50);

/// The same for the processors, the CP and the RLC.
pub(crate) const PROCESSOR_TIME: Delta = Delta::from_millis(15);

/// How engines are halted and reset.
pub(crate) trait Reset: Sync {
    /// Return whether the graphics engine is busy.
    fn is_busy(&self, window: Window<'_>) -> bool;

    /// Halt the processors of the CP.
    fn halt_cp(&self, window: Window<'_>);

    /// Halt the RLC.
    fn halt_rlc(&self, window: Window<'_>);

    /// Reset the DMA engine, which is idle.
    fn reset_dma(&self, window: Window<'_>);

    /// Reset everything that takes commands, and what reports for it. All processors are halted.
    fn reset_engines(&self, window: Window<'_>);
}

/// Return how engines of `chipset` are reset.
pub(crate) fn of(chipset: Chipset) -> &'static dyn Reset {
    match chipset.generation() {
        Generation::R6xx => &R6xx,
        Generation::R7xx => &R7xx,
    }
}

/// The blocks of the graphics pipe that all chips have.
fn pipe() -> GRBM_SOFT_RESET {
    GRBM_SOFT_RESET::zeroed()
        .with_soft_reset_cp(true)
        .with_soft_reset_cb(true)
        .with_soft_reset_db(true)
        .with_soft_reset_pa(true)
        .with_soft_reset_sc(true)
        .with_soft_reset_spi(true)
        .with_soft_reset_sh(true)
        .with_soft_reset_sx(true)
        .with_soft_reset_tc(true)
        .with_soft_reset_ta(true)
        .with_soft_reset_vc(true)
        .with_soft_reset_vgt(true)
}

/// Assert and de-assert `reset` for `time` each. The read ensures that the first write has arrived when the time begins.
pub(crate) fn reset_pipe(window: Window<'_>, reset: GRBM_SOFT_RESET, time: Delta) {
    window.write_reg(reset);
    let _ = window.read(GRBM_SOFT_RESET);
    fsleep(time);
    window.write_reg(GRBM_SOFT_RESET::zeroed());
    let _ = window.read(GRBM_SOFT_RESET);
}

struct R6xx;

impl R6xx {
    fn reset_blocks(window: Window<'_>, reset: mmio_r6xx::SRBM_SOFT_RESET, time: Delta) {
        window.write_reg(reset);
        let _ = window.read(mmio_r6xx::SRBM_SOFT_RESET);
        fsleep(time);
        window.write_reg(mmio_r6xx::SRBM_SOFT_RESET::zeroed());
        let _ = window.read(mmio_r6xx::SRBM_SOFT_RESET);
    }
}

impl Reset for R6xx {
    fn is_busy(&self, window: Window<'_>) -> bool {
        window.read(mmio_r6xx::GRBM_STATUS).gui_active()
    }

    fn halt_cp(&self, window: Window<'_>) {
        window.write_reg(CP_ME_CNTL::zeroed().with_me_halt(true));
    }

    fn halt_rlc(&self, window: Window<'_>) {
        window.write_reg(RLC_CNTL::zeroed());
    }

    fn reset_dma(&self, window: Window<'_>) {
        let reset = mmio_r6xx::SRBM_SOFT_RESET::zeroed().with_soft_reset_dma(true);
        Self::reset_blocks(window, reset, BLOCK_TIME);
    }

    fn reset_engines(&self, window: Window<'_>) {
        let pipe = pipe().with_soft_reset_cr(true).with_soft_reset_smx(true);
        reset_pipe(window, pipe, BLOCK_TIME);
        let blocks = mmio_r6xx::SRBM_SOFT_RESET::zeroed()
            .with_soft_reset_grbm(true)
            .with_soft_reset_ih(true)
            .with_soft_reset_rlc(true)
            .with_soft_reset_sem(true);
        Self::reset_blocks(window, blocks, BLOCK_TIME);
    }
}

struct R7xx;

impl R7xx {
    fn reset_blocks(window: Window<'_>, reset: mmio_r7xx::SRBM_SOFT_RESET, time: Delta) {
        window.write_reg(reset);
        let _ = window.read(mmio_r7xx::SRBM_SOFT_RESET);
        fsleep(time);
        window.write_reg(mmio_r7xx::SRBM_SOFT_RESET::zeroed());
        let _ = window.read(mmio_r7xx::SRBM_SOFT_RESET);
    }
}

impl Reset for R7xx {
    fn is_busy(&self, window: Window<'_>) -> bool {
        window.read(mmio_r7xx::GRBM_STATUS).gui_active() || !window.read(DMA_STATUS_REG).dma_idle()
    }

    fn halt_cp(&self, window: Window<'_>) {
        window.write_reg(CP_ME_CNTL::zeroed().with_me_halt(true).with_pfp_halt(true));
    }

    fn halt_rlc(&self, window: Window<'_>) {
        let reset = mmio_r7xx::SRBM_SOFT_RESET::zeroed().with_soft_reset_rlc(true);
        Self::reset_blocks(window, reset, PROCESSOR_TIME);
        window.write_reg(RLC_CNTL::zeroed());
    }

    fn reset_dma(&self, window: Window<'_>) {
        let reset = mmio_r7xx::SRBM_SOFT_RESET::zeroed().with_soft_reset_dma(true);
        Self::reset_blocks(window, reset, BLOCK_TIME);
    }

    fn reset_engines(&self, window: Window<'_>) {
        reset_pipe(window, pipe(), BLOCK_TIME);
        let blocks = mmio_r7xx::SRBM_SOFT_RESET::zeroed()
            .with_soft_reset_grbm(true)
            .with_soft_reset_ih(true)
            .with_soft_reset_rlc(true)
            .with_soft_reset_sem(true)
            .with_soft_reset_dma(true);
        Self::reset_blocks(window, blocks, BLOCK_TIME);
    }
}
