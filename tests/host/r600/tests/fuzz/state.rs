// SPDX-License-Identifier: GPL-2.0 OR MIT

//! State that is not supposed to matter for what memory a draw accesses.
//!
//! Which registers are free to write is taken from the policy itself, and they get any value. A register that is free
//! by mistake shows in what the model accesses.

use std::sync::LazyLock;

use lapidary_registers::r600::{
    mmio,
    pm4::{op, set_config_reg, set_context_reg},
};
use r600::portable::policy::{self, Policy};

use crate::scene::{rarely, Scene};

/// All registers that a stream may write.
pub static WRITABLE: LazyLock<Vec<u32>> = LazyLock::new(|| {
    let config = (set_config_reg::BASE..set_config_reg::END).step_by(4);
    let context = (set_context_reg::BASE..set_context_reg::END).step_by(4);
    let all = config.chain(context);
    all.filter(|register| !policy::of(*register).refuses())
        .collect()
});

/// Those of them whose value the checker does not look at.
static FREE: LazyLock<Vec<u32>> = LazyLock::new(|| {
    let free = |register: &u32| matches!(policy::of(*register), Policy::Free | Policy::Newer);
    WRITABLE.iter().copied().filter(free).collect()
});

/// Append values for registers that are free to write.
pub fn harmless(s: &mut Scene<'_>) {
    s.any_values(&FREE);
}

/// Append viewport, indices and clipping, as Mesa has them.
pub fn pipeline(s: &mut Scene<'_>) {
    s.piece();
    s.on()
        .writes(
            mmio::PA_CL_VPORT_XSCALE.at(0).expect("sixteen"),
            &[0x4280_0000; 6],
        )
        .write(mmio::PA_CL_VTE_CNTL, 0x43f)
        .writes(mmio::VGT_MAX_VTX_INDX, &[u32::MAX, 0, 0, 0])
        .write(mmio::VGT_MULTI_PRIM_IB_RESET_EN, 0)
        .write(mmio::PA_SU_SC_MODE_CNTL, 0x240);
    let offset = s.rng.u32(..);
    if rarely(s.rng, 8) {
        s.on().write(mmio::VGT_INDX_OFFSET, offset);
    }
    // Shares of registers and threads (Mesa, r600_state.c).
    if !rarely(s.rng, 16) {
        s.on().writes(
            mmio::SQ_CONFIG + 4,
            &[
                0x4038_0038,
                0x0038_0038,
                0x1010_3064,
                0x0080_0080,
                0x0080_0080,
            ],
        );
    }
}

/// Append the first packets of a stream.
pub fn begin(s: &mut Scene<'_>) {
    s.piece();
    if !s.r7xx() {
        s.on().packet(op::START_3D_CMDBUF, &[0]);
    }
    s.on()
        .packet(op::CONTEXT_CONTROL, &[0x8000_0000, 0x8000_0000]);
    s.on().write(mmio::WAIT_UNTIL, 0x8000);
}

/// Write caches back and wait for draws, as at the end of a stream of Mesa.
pub fn end(s: &mut Scene<'_>) {
    s.piece();
    let all = if s.r7xx() { 0x1f90_7ffc } else { 0x980_0000 };
    s.on()
        .packet(op::EVENT_WRITE, &[0x16])
        .packet(op::SURFACE_SYNC, &[all, u32::MAX, 0, 10])
        .write(mmio::WAIT_UNTIL, 0x8000);
}
