// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Registers that show a developer what the chip is doing: which units are busy, how far the processors are in rings and
//! indirect buffers, which interrupts are on.
//!
//! Reading them has no side effects. Names are those of the register database, so that a decoder knows their fields.

use crate::{
    chip::{
        Chipset,
        Generation, //
    },
    portable::regs::{
        mmio,
        mmio_r6xx,
        mmio_r7xx, //
    },
    regs::{
        Far,
        Window, //
    },
};

/// Call `report` with name and value of each register.
pub(crate) fn dump(
    chipset: Chipset,
    window: Window<'_>,
    report: &mut dyn FnMut(&'static str, u32),
) {
    let far = Far::new(window);
    macro_rules! report {
        ($map:ident: $($name:ident)*) => {
            { $(report(stringify!($name), far.read($map::$name));)* }
        };
    }
    match chipset.generation() {
        Generation::R6xx => report!(mmio_r6xx: GRBM_STATUS),
        Generation::R7xx => report!(mmio_r7xx: GRBM_STATUS),
    }
    report!(
        mmio: GRBM_STATUS2 SRBM_STATUS
        CP_STAT CP_BUSY_STAT CP_STALLED_STAT1 CP_STALLED_STAT2 CP_ME_CNTL
        CP_RB_BASE CP_RB_CNTL CP_RB_RPTR_ADDR CP_RB_RPTR CP_RB_WPTR
        CP_INT_CNTL CP_INT_STATUS
        SCRATCH_UMSK SCRATCH_ADDR
        DMA_RB_CNTL DMA_RB_RPTR DMA_RB_WPTR DMA_STATUS_REG DMA_CNTL
        RLC_CNTL IH_CNTL IH_RB_CNTL IH_RB_RPTR IH_RB_WPTR
        VM_L2_STATUS VM_CONTEXT0_REQUEST_RESPONSE
        CC_GC_SHADER_PIPE_CONFIG CC_RB_BACKEND_DISABLE GB_TILING_CONFIG
        HDP_HOST_PATH_CNTL
    );
}
