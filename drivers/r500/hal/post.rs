// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What posting by the video BIOS has to know of a chip.

use crate::{
    chip::Chipset,
    portable::posting::MemoryController, //
};

/// A chip that is posted.
pub(crate) trait Hal {
    /// Returns the memory controller that the BIOS sets up: which of its registers may be written differs.
    fn memory_controller(&self) -> MemoryController;

    /// Returns whether a register has to be read before the video BIOS' way through an index and a data register writes
    /// it (Linux, `atom.c`: `atom_iio_execute`).
    fn port_reads_first(&self) -> bool;
}

/// What posting has to know of a chip.
pub(crate) fn of(chipset: Chipset) -> &'static dyn Hal {
    match chipset {
        Chipset::Rv515 => &Rv515,
        Chipset::R520 | Chipset::Rv530 | Chipset::Rv560 | Chipset::Rv570 | Chipset::R580 => &R520,
    }
}

struct Rv515;

impl Hal for Rv515 {
    fn memory_controller(&self) -> MemoryController {
        MemoryController::Rv515
    }

    fn port_reads_first(&self) -> bool {
        true
    }
}

/// All but the RV515.
struct R520;

impl Hal for R520 {
    fn memory_controller(&self) -> MemoryController {
        MemoryController::R520
    }

    fn port_reads_first(&self) -> bool {
        false
    }
}
