// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Registers that show a developer what the chip is doing: which units are busy, how far the command processor is in
//! ring and indirect buffer, what it has written for the host, which interrupts are on.
//!
//! Reading them has no side effects. Names are those of the register database, so that a decoder knows their fields.

use kernel::io::Io;

use crate::regs::{
    mmio::*,
    Window, //
};

/// Call `report` with name and value of each register.
pub(crate) fn dump(window: Window<'_>, report: &mut dyn FnMut(&'static str, u32)) {
    macro_rules! report {
        ($($name:ident)*) => {
            $(report(stringify!($name), window.read($name).into_raw());)*
        };
    }
    report!(
        RBBM_STATUS CP_STAT
        CP_RB_BASE CP_RB_CNTL CP_RB_RPTR_ADDR CP_RB_RPTR CP_RB_WPTR
        CP_IB_BASE CP_IB_BUFSZ
        CP_CSQ_CNTL CP_CSQ_MODE
        SCRATCH_UMSK SCRATCH_ADDR
        GEN_INT_CNTL GEN_INT_STATUS
        GB_PIPE_SELECT GB_TILE_CONFIG
        HOST_PATH_CNTL
    );
}
