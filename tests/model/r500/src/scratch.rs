// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Scratch registers: eight words by which the command processor tells the CPU how far it is (R5xx 4.9).
//!
//! A write goes to the register and, if the mask says so, to memory. It can also be put off until the colour back ends
//! have signalled that what was drawn before is done ("resynchronised").

use lapidary_registers::r500::mmio;

use super::{R5xx, packet};
use crate::fault;
use crate::unit::Unit;
use lapidary_model::machine::Machine;

impl R5xx {
    /// Write a scratch register, and copy it to memory if the mask says so (R5xx 4.9).
    pub(super) fn scratch(&mut self, m: &mut Machine, n: u32, value: u32) {
        if let Some(offset) = mmio::SCRATCH_REG.at(n) {
            self.regs.set(offset, value);
        }
        let mask = mmio::scratch_umsk::MASK.get(self.regs.get(mmio::SCRATCH_UMSK));
        if mask & (1 << n) == 0 {
            return;
        }
        if m.faults.take(fault::LOST_WRITEBACK) {
            m.trace.line(format_args!(
                "fault: write-back of scratch register {n} lost"
            ));
            return;
        }
        self.bus.completion(m, "scratch write-back");
        m.counters.add("scratch_writebacks", 1);
        let address = self.regs.get(mmio::SCRATCH_ADDR) & mmio::scratch_addr::ADDR.mask();
        self.bus
            .write32(m, Unit::Cp, address.wrapping_add(n * 4), value);
    }

    /// Write the oldest resynchronised write to its scratch register, since the colour back ends have signalled.
    pub(super) fn resync(&mut self, m: &mut Machine) {
        if let Some((n, value)) = self.cp.resync.pop_front() {
            self.scratch(m, n, value);
        }
    }

    pub(super) fn writes_scratch(&self, words: &[u32]) -> bool {
        packet::registers(words).any(|offset| mmio::SCRATCH_REG.index_of(offset).is_some())
    }
}
