// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Halting the chip, and restarting it after a hang or a loss of its state.
//!
//! [`halt`] ends with a chip that accesses no memory. The processors are halted, and the rings are not fetched. If an
//! engine does not become idle, everything that takes commands is reset. Meanwhile no client of the memory controller
//! may access memory, so the display is stopped for that time. The order is that of Linux' `r600_gpu_soft_reset`.
//!
//! [`Gpu::restart`] begins with a halted chip. The registers that clients cannot write are set as at the first start
//! ([`engines`]). Then [`start`] does what it does at the first start, too: the RLC and the CP receive their microcode,
//! because a reset may have spoilt it; the ring of interrupt vectors and the rings are emptied; the engines are started
//! and tested. Page table and clocks keep their state.

use kernel::{
    device::Device,
    io::{
        poll,
        Io, //
    },
    prelude::*,
    time::{
        delay::fsleep,
        Delta, //
    },
};

use lapidary::hardware::board;

use crate::{
    chip::Chipset,
    cp,
    dma,
    engines,
    firmware::Images,
    gpu::{
        Gpu,
        Places, //
    },
    hal,
    irq::{
        self,
        Irq, //
    },
    mc,
    probe::is_dead,
    regs::{
        mmio::*,
        Window, //
    },
    ring::{
        Ring,
        DMA,
        GFX, //
    },
    rlc,
    selftest, //
};

/// Time for the engines to become idle.
const IDLE_TIME: Delta = Delta::from_millis(20);

/// Time for the processors to halt.
const HALT_TIME: Delta = Delta::from_millis(10);

/// Halt all engines, so that they no longer access memory and do not interrupt.
///
/// Does nothing when repeated and never fails. Sleeps for less than 100 ms.
pub(crate) fn halt(chipset: Chipset, window: Window<'_>) {
    let hal = hal::reset::of(chipset);
    window.write_reg(CP_INT_CNTL::zeroed());
    window.write_reg(DMA_CNTL::zeroed());
    irq::silence(window);
    let answers = !is_dead(window);
    // Let the engines finish their commands.
    let idle = answers
        && poll::read_poll_timeout(
            || Ok(hal.is_busy(window)),
            |busy| !busy,
            Delta::from_micros(10),
            IDLE_TIME,
        )
        .is_ok();
    hal.halt_cp(window);
    window.write_reg(SCRATCH_UMSK::zeroed());
    dma::stop(window);
    hal.halt_rlc(window);
    if idle || !answers {
        return;
    }
    fsleep(HALT_TIME);
    let stopped = mc::stop(chipset, window);
    hal.reset_engines(window);
    mc::resume(chipset, window, stopped);
}

/// What [`start`] starts.
pub(crate) struct Parts<'p, 'a> {
    pub(crate) images: &'p Images,
    pub(crate) irq: &'p Irq<'a>,
    pub(crate) rings: &'p [Pin<KBox<Ring<'a>>>],
    pub(crate) gfx: &'p cp::Setup,
    pub(crate) dma: Option<&'p dma::Setup>,
    pub(crate) places: &'p Places,
    /// Sets of state of the graphics pipe.
    pub(crate) contexts: u32,
}

/// Start the halted processors with empty rings, and test the rings.
///
/// The registers that clients cannot write have been set, and the page table is in force. Allocates nothing. Sleeps for
/// at most 1 s: some times 15 ms for resets, twice 400 ms for ring tests, and some thousand register accesses.
///
/// # Errors
///
/// `EIO` if a ring test fails, after one line in the log.
pub(crate) fn start(
    dev: &Device,
    chipset: Chipset,
    window: Window<'_>,
    parts: Parts<'_, '_>,
) -> Result {
    hal::reset::of(chipset).halt_rlc(window);
    rlc::start(window, parts.images.rlc());
    parts.irq.start(parts.places.vectors)?;
    parts.rings.iter().for_each(|ring| ring.empty());
    if let Some(ring) = parts.rings.get(GFX) {
        cp::load(window, parts.images);
        cp::prepare(window, parts.gfx)?;
        selftest::gfx(dev, window, chipset.generation(), parts.contexts, ring)?;
    }
    if let (Some(ring), Some(setup)) = (parts.rings.get(DMA), parts.dma) {
        dma::start(chipset, window, setup)?;
        selftest::dma(dev, ring, parts.places.dma)?;
    }
    Ok(())
}

impl Gpu<'_> {
    /// Set the registers that clients cannot write, and [`start`] the processors.
    ///
    /// The page table is in force and the card is posted. Allocates nothing.
    ///
    /// # Errors
    ///
    /// `ENODEV` for a device that does not answer, `ETIMEDOUT` if the engines do not become idle, `EIO` if a ring test
    /// fails; each after one line in the log.
    pub(crate) fn restart(&self) -> Result {
        let (dev, chipset, window) = (self.pdev.as_ref(), self.chipset, self.window());
        board::answers(dev, is_dead(window))?;
        engines::set_up(chipset, window)
            .inspect_err(|_| dev_err!(dev, "engines do not become idle after a reset\n"))?;
        let parts = Parts {
            images: &self.images,
            irq: &self.irq,
            rings: &self.rings,
            gfx: &self.gfx,
            dma: self.dma.as_ref(),
            places: &self.places,
            contexts: self.engines.contexts,
        };
        start(dev, chipset, window, parts)
    }
}
