// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Registers that show a developer what the chip is doing: which engines are busy, how far the regulator is in the ring, the
//! last fence, which interrupts are on.
//!
//! Reading them has no side effects. Names are those of the register database, so that a decoder knows their fields.

use kernel::io::Io;

use crate::regs::{
    mmio::*,
    mmio_read::*,
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
        ENGINE_STATUS
        AGP_FETCH AGP_STATE AGP_PAUSE CMDQ_STATE
        FENCE_ID
        INTERRUPT_FLAGS_MASKS_CONTROL ADDRESS_FLIP_STATUS INTERRUPT_FLAGS_MASKS_CONTROL_2
    );
}
