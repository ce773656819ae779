// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Comparing a place in memory or a register with a value: WAIT_REG_MEM and COND_WRITE.

use lapidary_model::amd::swap::swapped;
use lapidary_model::machine::Machine;
use lapidary_registers::r600::enums::poll_function::*;

use crate::R6xx;
use crate::unit::Unit;

/// A place that can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A register, by byte offset.
    Register(u32),
    /// A dword in memory, with its byte swap.
    Memory {
        /// GPU address.
        at: u64,
        /// Two bits.
        swap: u32,
    },
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Poll {
    /// What is compared.
    pub place: Place,
    /// How, a `poll_function`.
    pub function: u32,
    /// With what.
    pub reference: u32,
    /// Which bits of both count.
    pub mask: u32,
}

impl Poll {
    /// Return whether a value passes. The reserved function never does.
    pub fn passes(&self, value: u32) -> bool {
        let (value, reference) = (value & self.mask, self.reference);
        match self.function {
            POLL_ALWAYS => true,
            POLL_LESS => value < reference,
            POLL_LESS_EQUAL => value <= reference,
            POLL_EQUAL => value == reference,
            POLL_NOT_EQUAL => value != reference,
            POLL_GREATER_EQUAL => value >= reference,
            POLL_GREATER => value > reference,
            _ => false,
        }
    }
}

impl R6xx {
    /// Return whether a comparison passes now.
    pub(crate) fn poll_satisfied(&mut self, m: &mut Machine, poll: Poll) -> bool {
        let value = match poll.place {
            Place::Register(offset) => self.peek_register(offset),
            Place::Memory { at, swap } => swapped(swap, self.bus.read32(m, Unit::Cp, at)),
        };
        poll.passes(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_compare_masked_values() {
        let poll = |function| Poll {
            place: Place::Register(0),
            function,
            reference: 5,
            mask: 0xff,
        };
        let passing = |value| {
            (0..8)
                .filter(|f| poll(*f).passes(value))
                .collect::<Vec<_>>()
        };
        assert_eq!(passing(0x104), [0, 1, 2, 4]);
        assert_eq!(passing(0x105), [0, 2, 3, 5]);
        assert_eq!(passing(0x106), [0, 4, 5, 6]);
    }
}
