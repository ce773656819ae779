// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Starting and stopping the command processor.
//!
//! The command processor (CP) fetches dwords from a ring in memory, and from indirect buffers that packets in the ring
//! name. It turns them into register writes to the engines (R5xx 4.1). The host tells the CP where the ring is, and
//! moves the write pointer. The CP moves the read pointer and reports it to memory (R5xx 4.4).
//!
//! Starting the CP follows the manual's rules for a clean reset (R5xx 4.8). [`stop`] switches fetching off and resets.
//! [`start`] programs place and size of the ring, the addresses of the reports, and a delay. The delay gives the
//! chipset time to bring new contents of the ring to memory before the CP reads them (R5xx 4.5). Then it makes both
//! pointers equal and switches fetching on.
//!
//! Register fields are Linux' (`r100_cp_init`), because the manual names only the registers.

use kernel::{
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

use crate::{
    portable::regs::mmio::{
        cp_csq_cntl::csq_mode,
        cp_rb_cntl::max_fetch, //
    },
    probe::is_dead,
    regs::{
        mmio::*,
        Window, //
    },
};

/// First entries of the two indirect streams in the CP's queue of fetched dwords. The entries before belong to the
/// ring.
const INDIRECT1_START: u32 = 77;
const INDIRECT2_START: u32 = 77;

/// The read pointer is reported every 2^n qwords, and when the ring runs empty.
const REPORT_BLOCK: u32 = 7;

/// A new write pointer takes effect after this many clocks, or after this many writes (R5xx 4.5).
const PRE_WRITE_TIMER: u32 = 64;
const PRE_WRITE_LIMIT: u32 = 15;

/// Time for a soft reset to reach every unit. This is much more than needed: the clocks are some hundred MHz.
const RESET_TIME: Delta = Delta::from_micros(50);

/// Length of a reset of the 3D pipe, and the time in which it must not be accessed afterwards (R5xx 9.2.1, 9.4.1).
const RASTER_RESET_CLOCKS: u32 = 0x200;
const RASTER_RESET_TIME: Delta = Delta::from_millis(1);

/// Time for the engines to become idle.
const IDLE_TIME: Delta = Delta::from_millis(20);

/// Where the ring is and where the CP reports to. Addresses are the GPU's.
pub(crate) struct Setup {
    /// Start of the ring, aligned to its size.
    pub(crate) ring: u32,
    /// Logarithm of the ring's size in qwords.
    pub(crate) order: u32,
    /// Where the read pointer is reported; aligned to a dword.
    pub(crate) read_pointer: u32,
    /// Where scratch registers are copied to; aligned to 32 bytes.
    pub(crate) scratch: u32,
}

/// Start the CP on an empty ring. Its microcode is loaded, and it has been [`stop`]ped.
pub(crate) fn start(window: Window<'_>, setup: &Setup) -> Result {
    let control = CP_RB_CNTL::zeroed()
        .try_with_rb_bufsz(setup.order)?
        .with_const_rb_blksz::<REPORT_BLOCK>()
        .with_const_max_fetch::<{ max_fetch::DWORDS_8 }>();

    // No delay yet: the pointers must be set before the next step.
    window.write_reg(CP_RB_WPTR_DELAY::zeroed());
    window.write_reg(CP_RB_BASE::from(setup.ring));
    // Both pointers at 0: the ring looks empty. The read pointer takes its new value when the write pointer is written,
    // and only while it is enabled to (R5xx 4.8).
    window.write_reg(control.with_rb_no_update(true).with_rb_rptr_wr_ena(true));
    window.write_reg(CP_RB_RPTR_WR::zeroed());
    window.write_reg(CP_RB_WPTR::zeroed());

    window.write_reg(CP_RB_RPTR_ADDR::from(setup.read_pointer));
    window.write_reg(SCRATCH_ADDR::from(setup.scratch));
    window.write_reg(SCRATCH_UMSK::from(0xff));
    // Step 6 of R5xx 4.8: from here on only the CP moves the read pointer, and reports it.
    window.write_reg(control);
    fsleep(RESET_TIME);

    window.write_reg(
        CP_RB_WPTR_DELAY::zeroed()
            .with_const_pre_write_timer::<PRE_WRITE_TIMER>()
            .with_const_pre_write_limit::<PRE_WRITE_LIMIT>(),
    );
    window.write_reg(
        CP_CSQ_MODE::zeroed()
            .with_const_indirect1_start::<INDIRECT1_START>()
            .with_const_indirect2_start::<INDIRECT2_START>(),
    );
    // Both the ring and indirect buffers are fetched from memory ("pull", R5xx 4.11).
    window.write_reg(CP_CSQ_CNTL::zeroed().with_const_csq_mode::<{ csq_mode::PRIBM_INDBM }>());
    Ok(())
}

/// Stop the CP and the engines that it has started, so that they no longer access memory.
///
/// Does nothing when repeated and never fails. Sleeps for less than 100 ms. The display and the memory controller are
/// not reset.
pub(crate) fn stop(window: Window<'_>) {
    // Steps 1 and 2 of R5xx 4.8; the others are `start`.
    window.write_reg(CP_CSQ_CNTL::zeroed());
    window.write_reg(CP_CSQ_MODE::zeroed());
    window.write_reg(SCRATCH_UMSK::zeroed());
    if is_dead(window) {
        return;
    }

    // Let the engines finish their commands. A reset in the middle may leave one unit of the 3D pipe waiting for
    // another without end.
    let idle = wait_idle(window);
    let reset = RBBM_SOFT_RESET::zeroed().with_soft_reset_cp(true);
    let reset = match idle {
        Ok(()) => reset,
        Err(_) => reset
            .with_soft_reset_vap(true)
            .with_soft_reset_re(true)
            .with_soft_reset_pp(true)
            .with_soft_reset_e2(true)
            .with_soft_reset_rb(true)
            .with_soft_reset_ga(true),
    };
    soft_reset(window, reset);
    if idle.is_err() {
        // The second half of a raster reset. After the first half the front end takes register writes again.
        reset_3d(window);
    }
}

/// Assert and de-assert `reset`. The read ensures that the first write has arrived when the time begins.
fn soft_reset(window: Window<'_>, reset: RBBM_SOFT_RESET) {
    window.write_reg(reset);
    let _ = window.read(RBBM_SOFT_RESET);
    fsleep(RESET_TIME);
    window.write_reg(RBBM_SOFT_RESET::zeroed());
    let _ = window.read(RBBM_SOFT_RESET);
    fsleep(RESET_TIME);
}

/// Reset the 3D pipe (R5xx 9.2.1). It loses all state and is idle afterwards.
pub(crate) fn reset_3d(window: Window<'_>) {
    window.write_reg(GA_SOFT_RESET::zeroed().with_const_count::<RASTER_RESET_CLOCKS>());
    fsleep(RASTER_RESET_TIME);
}

/// Wait until no engine is busy.
///
/// # Errors
///
/// `ETIMEDOUT`; `EIO` from a device that does not answer.
pub(crate) fn wait_idle(window: Window<'_>) -> Result {
    let status = poll::read_poll_timeout(
        || Ok(window.read(RBBM_STATUS)),
        |status| !status.gui_active() || status.into_raw() == u32::MAX,
        Delta::from_micros(10),
        IDLE_TIME,
    )?;
    if status.into_raw() == u32::MAX {
        return Err(EIO);
    }
    Ok(())
}

#[kunit_tests(r500_cp)]
mod tests {
    use super::*;
    use crate::regs::fake;

    #[test]
    fn a_stopped_processor_fetches_and_reports_nothing() -> Result {
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        window.write_reg(CP_CSQ_CNTL::from(u32::MAX));
        window.write_reg(CP_CSQ_MODE::from(u32::MAX));
        window.write_reg(SCRATCH_UMSK::from(0xff));
        stop(window);
        assert_eq!(window.read(CP_CSQ_CNTL).into_raw(), 0);
        assert_eq!(window.read(CP_CSQ_MODE).into_raw(), 0);
        assert_eq!(window.read(SCRATCH_UMSK).into_raw(), 0);
        // No engine was busy, so the 3D pipe keeps its state.
        assert_eq!(window.read(GA_SOFT_RESET).into_raw(), 0);
        assert_eq!(window.read(RBBM_SOFT_RESET).into_raw(), 0);
        Ok(())
    }

    #[test]
    fn a_busy_pipe_is_reset_and_no_reset_stays() -> Result {
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        window.write_reg(RBBM_STATUS::zeroed().with_gui_active(true));
        window.write_reg(RBBM_SOFT_RESET::from(u32::MAX));
        stop(window);
        assert_eq!(window.read(RBBM_SOFT_RESET).into_raw(), 0);
        assert_eq!(window.read(GA_SOFT_RESET).count().get(), 0x200);
        Ok(())
    }

    #[test]
    fn a_started_processor_knows_its_ring() -> Result {
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        for offset in (0..0x1_0000).step_by(4) {
            window.try_write32(u32::MAX, offset)?;
        }
        let setup = Setup {
            ring: 0x2000_0000,
            order: 15,
            read_pointer: 0x2004_0040,
            scratch: 0x2004_0000,
        };
        start(window, &setup)?;
        assert_eq!(window.read(CP_RB_BASE).into_raw(), 0x2000_0000);
        assert_eq!(window.read(CP_RB_RPTR_ADDR).into_raw(), 0x2004_0040);
        assert_eq!(window.read(SCRATCH_ADDR).into_raw(), 0x2004_0000);
        assert_eq!(window.read(SCRATCH_UMSK).into_raw(), 0xff);
        assert_eq!(window.read(CP_RB_RPTR_WR).into_raw(), 0);
        assert_eq!(window.read(CP_RB_WPTR).into_raw(), 0);
        let control = window.read(CP_RB_CNTL);
        assert_eq!(control.rb_bufsz().get(), 15);
        assert!(!control.rb_no_update());
        assert!(!control.rb_rptr_wr_ena());
        let delay = window.read(CP_RB_WPTR_DELAY);
        assert_eq!(delay.pre_write_timer().get(), 64);
        assert_eq!(delay.pre_write_limit().get(), 15);
        let queue = window.read(CP_CSQ_MODE);
        assert_eq!(queue.indirect1_start().get(), 77);
        assert_eq!(queue.indirect2_start().get(), 77);
        let mode = window.read(CP_CSQ_CNTL).csq_mode().get();
        assert_eq!(mode, csq_mode::PRIBM_INDBM);
        Ok(())
    }

    #[test]
    fn a_busy_engine_is_told() -> Result {
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        assert!(wait_idle(window).is_ok());
        window.write_reg(RBBM_STATUS::zeroed().with_gui_active(true));
        assert_eq!(wait_idle(window).err(), Some(ETIMEDOUT));
        window.write_reg(RBBM_STATUS::from(u32::MAX));
        assert_eq!(wait_idle(window).err(), Some(EIO));
        Ok(())
    }
}
