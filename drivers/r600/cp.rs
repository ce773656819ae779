// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Starting and stopping the command processor.
//!
//! The command processor (CP) consists of a prefetch parser, which fetches dwords from the ring and from indirect buffers
//! that packets in the ring name, and of the micro engine, which executes packets. Both have microcode. Both are halted
//! while it is written. The host tells the CP where the ring is, and moves the write pointer. The CP moves the read
//! pointer and reports it to memory. It also sends writes of scratch registers there.
//!
//! The first packet in the ring initialises the micro engine. It must be there before the micro engine runs.
//!
//! Register fields and the order are Linux' (`r600_cp_load_microcode`, `r600_cp_resume`, `r600_cp_start`).

use kernel::{
    io::Io,
    prelude::*,
    time::{
        delay::fsleep,
        Delta, //
    },
};

use crate::{
    firmware::Images,
    hal::reset::{
        self,
        PROCESSOR_TIME, //
    },
    regs::{
        mmio::*,
        Window, //
    },
};

/// The read pointer is reported every 2^n qwords, and when the ring runs empty. The value is Linux', for a page.
const REPORT_BLOCK: u32 = 9;

/// Size and report block of the ring while microcode is written.
const NO_RING: u32 = 3;
const NO_REPORT: u32 = 15;

/// Time for the pointers to take their values.
const POINTER_TIME: Delta = Delta::from_millis(1);

/// Bits of the debug word, which have no published names. Linux sets them.
const DEBUG: u32 = 1 << 27 | 1 << 28;

/// All status sources of the micro engine, and no halt bit.
const RUN: u32 = 0xff;

/// Where the ring is and where the CP reports to. Addresses are the GPU's.
pub(crate) struct Setup {
    /// Start of the ring, in units of 256 bytes.
    pub(crate) ring: u32,
    /// Logarithm of the ring's size in qwords.
    pub(crate) order: u32,
    /// Where the read pointer is reported; aligned to a dword.
    pub(crate) read_pointer: u64,
    /// Where scratch registers are sent to, in units of 256 bytes.
    pub(crate) scratch: u32,
}

/// Write the microcode of both processors, which are halted.
pub(crate) fn load(window: Window<'_>, images: &Images) {
    window.write_reg(
        CP_RB_CNTL::zeroed()
            .with_rb_no_update(true)
            .with_const_rb_blksz::<NO_REPORT>()
            .with_const_rb_bufsz::<NO_RING>(),
    );
    reset::reset_pipe(
        window,
        GRBM_SOFT_RESET::zeroed().with_soft_reset_cp(true),
        PROCESSOR_TIME,
    );
    window.write_reg(CP_ME_RAM_WADDR::zeroed());
    for word in images.me() {
        window.write_reg(CP_ME_RAM_DATA::from(word));
    }
    window.write_reg(CP_PFP_UCODE_ADDR::zeroed());
    for word in images.pfp() {
        window.write_reg(CP_PFP_UCODE_DATA::from(word));
    }
    window.write_reg(CP_PFP_UCODE_ADDR::zeroed());
    window.write_reg(CP_ME_RAM_WADDR::zeroed());
    window.write_reg(CP_ME_RAM_RADDR::zeroed());
}

/// Set up an empty ring. The processors have their microcode and stay halted.
///
/// # Errors
///
/// `EINVAL` if a value does not fit its register.
pub(crate) fn prepare(window: Window<'_>, setup: &Setup) -> Result {
    let control = CP_RB_CNTL::zeroed()
        .try_with_rb_bufsz(setup.order)?
        .with_const_rb_blksz::<REPORT_BLOCK>();

    reset::reset_pipe(
        window,
        GRBM_SOFT_RESET::zeroed().with_soft_reset_cp(true),
        PROCESSOR_TIME,
    );
    window.write_reg(control);
    window.write_reg(CP_SEM_WAIT_TIMER::zeroed());
    window.write_reg(CP_RB_WPTR_DELAY::zeroed());
    // Both pointers at 0: the ring looks empty.
    window.write_reg(control.with_rb_rptr_wr_ena(true));
    window.write_reg(CP_RB_RPTR_WR::zeroed());
    window.write_reg(CP_RB_WPTR::zeroed());

    let high = u32::try_from(setup.read_pointer >> 32)?;
    window.write_reg(CP_RB_RPTR_ADDR::from(setup.read_pointer as u32));
    window.write_reg(CP_RB_RPTR_ADDR_HI::from(high));
    window.write_reg(SCRATCH_ADDR::from(setup.scratch));
    window.write_reg(SCRATCH_UMSK::from(0xff));
    fsleep(POINTER_TIME);
    window.write_reg(control);
    window.write_reg(CP_RB_BASE::from(setup.ring));
    window.write_reg(CP_DEBUG::from(DEBUG));
    Ok(())
}

/// Let both processors run. The packet that initialises the micro engine is in the ring.
pub(crate) fn run(window: Window<'_>) {
    window.write_reg(CP_ME_CNTL::from(RUN));
}

#[kunit_tests(r600_cp)]
mod tests {
    use super::*;
    use crate::regs::fake;

    #[test]
    fn a_prepared_processor_knows_its_ring() -> Result {
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        for offset in (0..0x1_0000).step_by(4) {
            window.try_write32(u32::MAX, offset)?;
        }
        let setup = Setup {
            ring: 0x20_0000,
            order: 15,
            read_pointer: 0x3_2004_0040,
            scratch: 0x20_0400,
        };
        prepare(window, &setup)?;
        assert_eq!(window.read(CP_RB_BASE).into_raw(), 0x20_0000);
        assert_eq!(window.read(CP_RB_RPTR_ADDR).into_raw(), 0x2004_0040);
        assert_eq!(window.read(CP_RB_RPTR_ADDR_HI).into_raw(), 3);
        assert_eq!(window.read(SCRATCH_ADDR).into_raw(), 0x20_0400);
        assert_eq!(window.read(SCRATCH_UMSK).into_raw(), 0xff);
        assert_eq!(window.read(CP_RB_RPTR_WR).into_raw(), 0);
        assert_eq!(window.read(CP_RB_WPTR).into_raw(), 0);
        assert_eq!(window.read(GRBM_SOFT_RESET).into_raw(), 0);
        let control = window.read(CP_RB_CNTL);
        assert_eq!(control.rb_bufsz().get(), 15);
        assert!(!control.rb_no_update());
        assert!(!control.rb_rptr_wr_ena());
        run(window);
        let halts = window.read(CP_ME_CNTL);
        assert!(!halts.me_halt() && !halts.pfp_halt());
        Ok(())
    }
}
