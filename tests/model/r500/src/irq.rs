// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Interrupts: pending bits, enables, and the one output to the CPU.
//!
//! `GEN_INT_STATUS` collects what happened, whether enabled or not; a one written to a bit acknowledges it. The
//! output is high while an enabled bit is pending. A packet raises the software interrupt by writing `SW_INT_SET`
//! there. The bit positions in `GEN_INT_CNTL` are those of `GEN_INT_STATUS`.
//!
//! The display has enables of its own in `DXMODE_INT_MASK`. What is pending there shows as one bit of the status that
//! cannot be acknowledged here, and needs no enable in `GEN_INT_CNTL`. No display interrupts by itself
//! ([`fault::DISPLAY_INTERRUPT`]).

use lapidary_registers::r500::mmio::{self, dxmode_int_mask, gen_int_cntl, gen_int_status};

use super::R5xx;
use crate::fault;
use lapidary_model::machine::Machine;

/// Bits that events set and the CPU acknowledges.
const STICKY: u32 = gen_int_status::SW_INT.mask()
    | gen_int_status::SCRATCH_INT_STAT.mask()
    | gen_int_status::GUIDMA_STAT.mask()
    | gen_int_status::VIDDMA_STAT.mask();

/// Bits that can reach the CPU.
const ENABLES: u32 = gen_int_cntl::SW_INT_EN.mask()
    | gen_int_cntl::SCRATCH_INT_EN.mask()
    | gen_int_cntl::GUIDMA_INT_EN.mask()
    | gen_int_cntl::VIDDMA_INT_EN.mask();

impl R5xx {
    /// Write `GEN_INT_STATUS`, which acknowledges and perhaps raises.
    pub(super) fn write_int_status(&mut self, m: &mut Machine, value: u32) {
        let status = self.regs.get(mmio::GEN_INT_STATUS) & !(value & STICKY);
        self.regs.set(mmio::GEN_INT_STATUS, status);
        self.update_interrupt(m);
        if gen_int_status::SW_INT_SET.any(value) {
            self.bus.completion(m, "software interrupt");
            self.raise(m, gen_int_status::SW_INT.mask());
        }
    }

    /// Write `DXMODE_INT_MASK`. A display whose source is off does not interrupt any more.
    pub(super) fn write_display_mask(&mut self, m: &mut Machine, value: u32) {
        self.regs.set(mmio::DXMODE_INT_MASK, value);
        if !dxmode_int_mask::D1MODE_VBLANK_INT_MASK.any(value) {
            let status = self.regs.get(mmio::GEN_INT_STATUS);
            let status = status & !gen_int_status::DISPLAY_INT_STAT.mask();
            self.regs.set(mmio::GEN_INT_STATUS, status);
            self.update_interrupt(m);
        }
    }

    /// Raise an event.
    pub(super) fn raise(&mut self, m: &mut Machine, mut bit: u32) {
        m.counters.add("interrupt_events", 1);
        if m.faults.take(fault::DISPLAY_INTERRUPT) {
            m.trace.line(format_args!("fault: display interrupts"));
            let mask = self.regs.get(mmio::DXMODE_INT_MASK);
            let mask = mask | dxmode_int_mask::D1MODE_VBLANK_INT_MASK.mask();
            self.regs.set(mmio::DXMODE_INT_MASK, mask);
            bit |= gen_int_status::DISPLAY_INT_STAT.mask();
        }
        let status = self.regs.get(mmio::GEN_INT_STATUS) | bit;
        self.regs.set(mmio::GEN_INT_STATUS, status);
        if status & self.regs.get(mmio::GEN_INT_CNTL) & ENABLES != 0
            && !m.functions[0].irq.level()
            && m.faults.take(fault::LOST_INTERRUPT)
        {
            m.trace.line(format_args!("fault: interrupt lost"));
            m.functions[0].irq.lose();
            return;
        }
        self.update_interrupt(m);
    }

    /// Update the interrupt after a change of status or enables.
    pub(super) fn update_interrupt(&mut self, m: &mut Machine) {
        let status = self.regs.get(mmio::GEN_INT_STATUS);
        let enables = self.regs.get(mmio::GEN_INT_CNTL) & ENABLES;
        let pending = status & (enables | gen_int_status::DISPLAY_INT_STAT.mask());
        m.interrupt(0, pending != 0);
    }
}
