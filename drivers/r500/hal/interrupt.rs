// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Interrupts: whether message-signalled interrupts are reliable.

use crate::chip::Chipset;

/// The interrupts of a chip.
pub(crate) trait Hal {
    /// Return whether message-signalled interrupts are used unless the module's parameter says otherwise.
    fn msi_by_default(&self) -> bool;
}

/// Return the interrupts of a chip.
pub(crate) fn of(chipset: Chipset) -> &'static dyn Hal {
    match chipset {
        Chipset::Rv515 => &Rv515,
        Chipset::R520 | Chipset::Rv530 | Chipset::Rv560 | Chipset::Rv570 | Chipset::R580 => &R520,
    }
}

struct Rv515;

impl Hal for Rv515 {
    /// Return false: the chip sometimes loses a re-arm, and then no interrupt arrives any more.
    fn msi_by_default(&self) -> bool {
        false
    }
}

/// All chips but the RV515.
struct R520;

impl Hal for R520 {
    fn msi_by_default(&self) -> bool {
        true
    }
}
