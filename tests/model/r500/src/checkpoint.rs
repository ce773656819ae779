// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A state of the chip to come back to: registers and microcode, with nothing under way.
//!
//! A test that executes thousands of streams a second, each from the same beginning, has no time to reset the chip
//! and to set it up again through its registers.

use super::me_ram::MeRam;
use super::touched::Touch;
use super::{Cp, R5xx};

/// What the chip held when it was taken. Work under way and caches are not part of it.
pub struct Checkpoint {
    regs: Vec<u32>,
    pll: Vec<u32>,
    mc: Vec<u32>,
    pcie: Vec<u32>,
    me: MeRam,
}

impl R5xx {
    /// Return the present state of an idle chip.
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            regs: self.regs.values().into(),
            pll: self.pll.values().into(),
            mc: self.bus.mc.values().into(),
            pcie: self.bus.pcie.values().into(),
            me: self.cp.me.clone(),
        }
    }

    /// Take what engines have touched. The first call only switches this on.
    pub fn accesses(&mut self) -> Vec<Touch> {
        if !self.bus.journal.on() {
            self.bus.journal.begin();
        }
        self.bus.journal.take()
    }

    /// Go back to a state of the same chip: idle, caches clean, translations forgotten, the ring empty from its start.
    pub fn restore(&mut self, state: &Checkpoint) {
        self.regs.load(&state.regs);
        self.pll.load(&state.pll);
        self.bus.mc.load(&state.mc);
        self.bus.pcie.load(&state.pcie);
        self.bus.gart.invalidate();
        self.bus.caches.clear();
        self.bus.scanouts = [None; 2];
        self.bus.journal.take();
        self.dma = Default::default();
        self.engine2d.reset();
        self.engine3d.reset();
        self.forget_resets();
        self.cp = Cp::default();
        self.cp.me.clone_from(&state.me);
    }
}
