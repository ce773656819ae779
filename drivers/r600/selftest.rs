// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The first commands in the rings. They start the micro engine of the CP, and test that both engines execute and
//! report.

use kernel::{
    device::Device,
    prelude::*, //
};

use lapidary::{
    amd::selftest,
    family::{
        GpuAddr,
        Ring as _,
        Slot as _, //
    },
};

use crate::{
    chip::Generation,
    cp,
    portable::{
        dma,
        emit, //
    },
    regs::Window,
    ring::{
        Ring,
        DMA_SHAPE,
        TEST, //
    },
};

/// Let the CP run, and test its ring. It has been prepared, and `ring` is empty. The chip has `contexts` sets of state.
///
/// # Errors
///
/// `EIO` after one line in the log.
pub(crate) fn gfx(
    dev: &Device,
    window: Window<'_>,
    generation: Generation,
    contexts: u32,
    ring: &Ring<'_>,
) -> Result {
    let mut slot = ring.reserve(emit::ME_INITIALIZE_DWORDS)?;
    emit::me_initialize(&mut slot, generation, contexts).map_err(|_| ENOSPC)?;
    slot.kick();
    cp::run(window);
    selftest::run(dev, ring, emit::SCRATCH_DWORDS, |slot, value| {
        emit::scratch(slot, TEST, value).map_err(|_| ENOSPC)
    })
}

/// Test the DMA ring, which is at GPU address `start`.
///
/// # Errors
///
/// `EIO` after one line in the log.
pub(crate) fn dma(dev: &Device, ring: &Ring<'_>, start: GpuAddr) -> Result {
    let place = ring.report_address(start, DMA_SHAPE.test);
    selftest::run(dev, ring, dma::WRITE_DWORDS, |slot, value| {
        dma::write(slot, place, value).map_err(|_| ENOSPC)
    })
}
