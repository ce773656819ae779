// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The registers: one aperture, of which the CPU sees the first 64 KiB in its BAR and all through MM_INDEX.

pub use lapidary_model::registers::Registers;
use lapidary_registers::r600::{R6XX, R7XX};

use crate::classes::class;

/// Words of the aperture.
pub const WORDS: usize = 0x1_0000;

/// R6xx.
pub static REGISTERS_R6XX: Registers = Registers {
    database: &R6XX,
    class,
};

/// R7xx.
pub static REGISTERS_R7XX: Registers = Registers {
    database: &R7XX,
    class,
};
