// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Starting and stopping the DMA engine of R7xx.
//!
//! The engine fetches packets from a ring of its own, and from indirect buffers. It copies and fills memory while the
//! graphics engine draws. It has no microcode. Its pointers count bytes.
//!
//! R6xx have such an engine, too. Linux does not use it there, and neither does this driver.
//!
//! Register fields and the order are Linux' (`r600_dma_resume`, `r600_dma_stop`).

use kernel::{
    io::Io,
    prelude::*, //
};

use crate::{
    chip::Chipset,
    hal,
    regs::{
        mmio::*,
        Window, //
    },
};

/// Form of the packets in the ring.
const MODE: u32 = 1;

/// Where the ring is and where the engine reports to. Addresses are the GPU's.
pub(crate) struct Setup {
    /// Start of the ring, in units of 256 bytes.
    pub(crate) ring: u32,
    /// Logarithm of the ring's size in dwords.
    pub(crate) order: u32,
    /// Where the read pointer is reported; aligned to a dword.
    pub(crate) read_pointer: u64,
}

/// Start the engine on an empty ring. It has been [`stop`]ped.
///
/// # Errors
///
/// `EINVAL` if a value does not fit its register.
pub(crate) fn start(chipset: Chipset, window: Window<'_>, setup: &Setup) -> Result {
    hal::reset::of(chipset).reset_dma(window);
    window.write_reg(DMA_SEM_INCOMPLETE_TIMER_CNTL::zeroed());
    window.write_reg(DMA_SEM_WAIT_FAIL_TIMER_CNTL::zeroed());
    let control = DMA_RB_CNTL::zeroed()
        .try_with_dma_rb_size(setup.order)?
        .with_dma_rptr_writeback_enable(true);
    window.write_reg(control.with_dma_rptr_writeback_enable(false));
    window.write_reg(DMA_RB_RPTR::zeroed());
    window.write_reg(DMA_RB_WPTR::zeroed());
    let high = u32::try_from(setup.read_pointer >> 32)?;
    window.write_reg(DMA_RB_RPTR_ADDR_HI::from(high));
    window.write_reg(DMA_RB_RPTR_ADDR_LO::from(setup.read_pointer as u32));
    window.write_reg(DMA_RB_BASE::from(setup.ring));
    window.write_reg(DMA_IB_CNTL::zeroed().with_dma_ib_enable(true));
    window.write_reg(DMA_CNTL::zeroed());
    window.write_reg(DMA_MODE::from(MODE));
    window.write_reg(control.with_dma_rb_enable(true));
    Ok(())
}

/// Stop fetching.
pub(crate) fn stop(window: Window<'_>) {
    window.write_reg(DMA_RB_CNTL::zeroed());
}

#[kunit_tests(r600_dma)]
mod tests {
    use super::*;
    use crate::regs::fake;

    #[test]
    fn a_started_engine_knows_its_ring() -> Result {
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        for offset in (0..0x1_0000).step_by(4) {
            window.try_write32(u32::MAX, offset)?;
        }
        let setup = Setup {
            ring: 0x20_0000,
            order: 14,
            read_pointer: 0x3_2004_0040,
        };
        start(Chipset::Rv770, window, &setup)?;
        assert_eq!(window.read(DMA_RB_BASE).into_raw(), 0x20_0000);
        assert_eq!(window.read(DMA_RB_RPTR_ADDR_LO).into_raw(), 0x2004_0040);
        assert_eq!(window.read(DMA_RB_RPTR_ADDR_HI).into_raw(), 3);
        assert_eq!(window.read(DMA_RB_RPTR).into_raw(), 0);
        assert_eq!(window.read(DMA_RB_WPTR).into_raw(), 0);
        assert_eq!(window.read(DMA_MODE).into_raw(), 1);
        assert!(window.read(DMA_IB_CNTL).dma_ib_enable());
        let control = window.read(DMA_RB_CNTL);
        assert_eq!(control.dma_rb_size().get(), 14);
        assert!(control.dma_rb_enable() && control.dma_rptr_writeback_enable());
        stop(window);
        assert!(!window.read(DMA_RB_CNTL).dma_rb_enable());
        Ok(())
    }
}
