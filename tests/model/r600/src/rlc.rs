// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The RLC, a controller with microcode of its own, which the interrupt block needs.
//!
//! The driver writes the microcode word by word (RLC_UCODE_ADDR, RLC_UCODE_DATA) and sets RLC_ENABLE. The model does
//! not execute it. It judges whether all of it is there.

use lapidary_model::machine::Machine;
use lapidary_registers::r600::mmio;

use crate::R6xx;
use crate::kind;
use crate::microcode::Memory;

/// State of the controller.
#[derive(Clone, Default)]
pub struct Rlc {
    /// Its microcode.
    pub code: Memory,
    enabled: bool,
}

impl Rlc {
    /// Return whether it runs.
    pub fn runs(&self) -> bool {
        self.enabled
    }

    /// Soft-reset the controller, which stops it. The microcode stays.
    pub fn reset(&mut self) {
        self.enabled = false;
    }
}

impl R6xx {
    /// Write a register of the controller. True if it is one of them.
    pub(crate) fn rlc_write(&mut self, m: &mut Machine, offset: u32, value: u32) -> bool {
        match offset {
            mmio::RLC_UCODE_ADDR => {
                self.rlc.code.seek(value);
                self.rlc.code.seek_read(value);
                self.regs.set(offset, value);
            }
            mmio::RLC_UCODE_DATA => self.rlc.code.write_here(value),
            mmio::RLC_CNTL => {
                let on = mmio::rlc_cntl::RLC_ENABLE.any(value);
                let words = self.variant.generation.rlc_words;
                if on && !self.rlc.runs() && self.rlc.code.filled() < words {
                    m.finding(
                        kind::NO_RLC,
                        format_args!(
                            "started with {} of {words} words of microcode",
                            self.rlc.code.filled()
                        ),
                    );
                }
                self.rlc.enabled = on;
                self.regs.set(offset, value);
            }
            _ => return false,
        }
        true
    }
}
