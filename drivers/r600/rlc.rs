// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The run list controller (RLC).
//!
//! This small processor has microcode of its own. The driver uses it for one purpose: without it the chip writes no
//! interrupt vectors. It is halted while its microcode is written, one dword at a time. Its own ring of commands is not
//! used.
//!
//! The facts are from Linux' `radeon` (`r600_rlc_resume`).

use kernel::{
    io::Io,
    prelude::*, //
};

use crate::regs::{
    mmio::*,
    Window, //
};

/// Load `microcode`, and start the RLC. It has been halted ([`crate::hal::reset::Reset::halt_rlc`]).
pub(crate) fn start(window: Window<'_>, microcode: impl Iterator<Item = u32>) {
    window.write_reg(RLC_HB_CNTL::zeroed());
    window.write_reg(RLC_HB_BASE::zeroed());
    window.write_reg(RLC_HB_RPTR::zeroed());
    window.write_reg(RLC_HB_WPTR::zeroed());
    window.write_reg(RLC_HB_WPTR_LSB_ADDR::zeroed());
    window.write_reg(RLC_HB_WPTR_MSB_ADDR::zeroed());
    window.write_reg(RLC_MC_CNTL::zeroed());
    window.write_reg(RLC_UCODE_CNTL::zeroed());
    for (address, word) in (0u32..).zip(microcode) {
        window.write_reg(RLC_UCODE_ADDR::from(address));
        window.write_reg(RLC_UCODE_DATA::from(word));
    }
    window.write_reg(RLC_UCODE_ADDR::zeroed());
    window.write_reg(RLC_CNTL::zeroed().with_rlc_enable(true));
}

#[kunit_tests(r600_rlc)]
mod tests {
    use super::*;
    use crate::regs::fake;

    #[test]
    fn it_runs_with_the_last_word_written() -> Result {
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        window.write_reg(RLC_HB_BASE::from(u32::MAX));
        start(window, [5, 6, 7].into_iter());
        assert_eq!(window.read(RLC_UCODE_DATA).into_raw(), 7);
        assert_eq!(window.read(RLC_UCODE_ADDR).into_raw(), 0);
        assert_eq!(window.read(RLC_HB_BASE).into_raw(), 0);
        assert!(window.read(RLC_CNTL).rlc_enable());
        Ok(())
    }
}
