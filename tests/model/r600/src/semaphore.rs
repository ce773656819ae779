// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Semaphores in memory, by which the command processor and the DMA engine wait for each other.
//!
//! A semaphore is a count in a quadword. A signal adds one. A wait goes on as soon as the count is not zero, and takes
//! one. The manual says no more than that there are signals and waits (its section on MEM_SEMAPHORE); the count is what
//! Linux relies on, which makes one with 0 and signals it once for one wait. The bit WAIT_ON_SIGNAL, which Linux sets
//! and nothing public describes, changes nothing here.

use lapidary_model::machine::Machine;

use crate::R6xx;
use crate::fault;
use crate::unit::Unit;

impl R6xx {
    /// Signal the semaphore at an address.
    pub(crate) fn semaphore_signal(&mut self, m: &mut Machine, at: u64) {
        if m.faults.take(fault::LOST_SIGNAL) {
            m.trace.line(format_args!("fault: signal lost"));
            return;
        }
        let count = self.bus.read32(m, Unit::Semaphore, at);
        m.counters.add("semaphore_signals", 1);
        self.bus
            .write32(m, Unit::Semaphore, at, count.saturating_add(1));
    }

    /// Take one from the semaphore at an address. Return whether there was one.
    pub(crate) fn semaphore_taken(&mut self, m: &mut Machine, at: u64) -> bool {
        let count = self.bus.read32(m, Unit::Semaphore, at);
        let Some(left) = count.checked_sub(1) else {
            return false;
        };
        m.counters.add("semaphore_waits", 1);
        self.bus.write32(m, Unit::Semaphore, at, left);
        true
    }
}
