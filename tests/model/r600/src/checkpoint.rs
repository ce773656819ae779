// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A state of the chip to come back to: registers and microcode, with nothing under way.
//!
//! A test that executes thousands of streams a second, each from the same beginning, has no time to reset the chip
//! and to set it up again through its registers.

use crate::R6xx;
use crate::cp::Cp;
use crate::dma;
use crate::draw::Stated;
use crate::ih::Ih;
use crate::microcode::Memory;
use crate::rlc::Rlc;
use crate::touched::{Detail, Touch};

/// What the chip held when it was taken. Work under way is not part of it.
pub struct Checkpoint {
    regs: Vec<u32>,
    pfp: Memory,
    me: Memory,
    rlc: Rlc,
}

impl R6xx {
    /// Return the present state of an idle chip.
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            regs: self.regs.values().into(),
            pfp: self.cp.pfp.clone(),
            me: self.cp.me.clone(),
            rlc: self.rlc.clone(),
        }
    }

    /// Take what engines have touched, and choose how fine the journal is from now on. The first call only switches it on.
    pub fn accesses(&mut self, detail: Detail) -> Vec<Touch> {
        self.bus.detail = detail;
        if !self.bus.journal.on() {
            self.bus.journal.begin();
        }
        self.bus.journal.take()
    }

    /// Go back to a state of the same chip: idle, the micro-engine initialised, translations forgotten, both rings and
    /// the ring of interrupts empty from their start.
    pub fn restore(&mut self, state: &Checkpoint) {
        self.regs.load(&state.regs);
        self.cp = Cp::default();
        self.cp.pfp.clone_from(&state.pfp);
        self.cp.me.clone_from(&state.me);
        self.cp.initialized = true;
        self.dma = dma::Engine::default();
        self.ih = Ih::default();
        self.rlc.clone_from(&state.rlc);
        self.engine3d.forget();
        self.stated = Stated::default();
        self.bus.tlb.clear();
        self.bus.read_ahead.flush();
        self.bus.scanouts = [None; 2];
        self.bus.journal.take();
        self.bus.configure(&self.regs);
    }
}
