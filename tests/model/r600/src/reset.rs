// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Status of the blocks, and soft resets.
//!
//! GRBM_SOFT_RESET reaches the graphics engine, SRBM_SOFT_RESET the system blocks. A block is held in reset while its
//! bit is set. What it loses it loses when the bit is set.
//!
//! | bit | loses |
//! | --- | --- |
//! | GRBM: CP | streams, what is under way in them, the read pointer; not the write pointer, not the microcode |
//! | SRBM: DMA | the DMA engine's ring and work |
//! | SRBM: RLC | it stops |
//! | SRBM: IH | the pointers of the interrupt ring |
//! | SRBM: VMC | the TLBs |

use lapidary_model::machine::Machine;
use lapidary_registers::Field;
use lapidary_registers::r600::mmio::{self, grbm_soft_reset};
use lapidary_registers::r600::{mmio_r6xx, mmio_r7xx};

use crate::R6xx;
use crate::fault;
use crate::ih::Ih;
use crate::kind;

/// SRBM_SOFT_RESET, in which the two register maps have the DMA engine's bit at different places.
pub struct SystemReset {
    /// The register.
    pub register: u32,
    dma: Field,
    rlc: Field,
    ih: Field,
    vmc: Field,
}

/// R6xx.
pub static SYSTEM_R6XX: SystemReset = {
    use mmio_r6xx::srbm_soft_reset as bit;
    SystemReset {
        register: mmio_r6xx::SRBM_SOFT_RESET,
        dma: bit::SOFT_RESET_DMA,
        rlc: bit::SOFT_RESET_RLC,
        ih: bit::SOFT_RESET_IH,
        vmc: bit::SOFT_RESET_VMC,
    }
};

/// R7xx.
pub static SYSTEM_R7XX: SystemReset = {
    use mmio_r7xx::srbm_soft_reset as bit;
    SystemReset {
        register: mmio_r7xx::SRBM_SOFT_RESET,
        dma: bit::SOFT_RESET_DMA,
        rlc: bit::SOFT_RESET_RLC,
        ih: bit::SOFT_RESET_IH,
        vmc: bit::SOFT_RESET_VMC,
    }
};

impl R6xx {
    pub(crate) fn cp_in_reset(&self) -> bool {
        grbm_soft_reset::SOFT_RESET_CP.any(self.regs.get(mmio::GRBM_SOFT_RESET))
    }

    pub(crate) fn dma_in_reset(&self) -> bool {
        let bits = self.variant.generation.srbm;
        bits.dma.any(self.regs.get(bits.register))
    }

    /// Return what GRBM_STATUS reads.
    pub(crate) fn grbm_status(&self) -> u32 {
        // Both maps have these at the same places.
        use mmio_r7xx::grbm_status::{CMDFIFO_AVAIL, CP_BUSY, GUI_ACTIVE};
        let mut status = CMDFIFO_AVAIL.of(0xf);
        if self.cp_busy() {
            status |= CP_BUSY.mask() | GUI_ACTIVE.mask();
        }
        status
    }

    pub(crate) fn grbm_soft_reset(&mut self, m: &mut Machine, value: u32) {
        let sets = value & !self.regs.get(mmio::GRBM_SOFT_RESET);
        self.regs.set(mmio::GRBM_SOFT_RESET, value);
        if !grbm_soft_reset::SOFT_RESET_CP.any(sets) {
            return;
        }
        if self.cp_runs() && self.cp_busy() {
            m.finding(
                kind::RESET_WHILE_ENABLED,
                format_args!("the CP, with its micro-engine running"),
            );
        }
        if m.faults.take(fault::RESET_FAILS) {
            m.trace.line(format_args!("fault: the reset does not help"));
            return;
        }
        self.cp.reset();
    }

    pub(crate) fn srbm_soft_reset(&mut self, m: &mut Machine, value: u32) {
        let bits = self.variant.generation.srbm;
        let sets = value & !self.regs.get(bits.register);
        self.regs.set(bits.register, value);
        if bits.dma.any(sets) {
            if self.dma_enabled() && self.dma_busy() {
                m.finding(
                    kind::RESET_WHILE_ENABLED,
                    format_args!("the DMA engine, with its ring enabled"),
                );
            }
            if m.faults.take(fault::RESET_FAILS) {
                m.trace.line(format_args!("fault: the reset does not help"));
            } else {
                self.dma.reset();
            }
        }
        if bits.rlc.any(sets) {
            self.rlc.reset();
        }
        if bits.ih.any(sets) {
            self.ih = Ih::default();
            self.update_interrupt(m);
        }
        if bits.vmc.any(sets) {
            self.bus.tlb.clear();
        }
    }
}
