// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Posting by the video BIOS. The rules for what it may write differ because the RV515 has a memory controller of its
//! own.

use lapidary::portable::atom::guard::Rules;

use crate::{
    chip::Chipset,
    portable::posting, //
};

/// What differs in posting.
pub(crate) trait Hal {
    /// Return what the video BIOS may write.
    fn rules(&self) -> &'static Rules;

    /// Return whether a register must be read before a port's program writes it (Linux, `atom.c`: `atom_iio_execute`).
    fn port_reads_first(&self) -> bool;
}

/// Return how `chipset` is posted.
pub(crate) fn of(chipset: Chipset) -> &'static dyn Hal {
    match chipset {
        Chipset::Rv515 => &Rv515,
        Chipset::R520 | Chipset::Rv530 | Chipset::Rv560 | Chipset::Rv570 | Chipset::R580 => &R520,
    }
}

struct Rv515;

impl Hal for Rv515 {
    fn rules(&self) -> &'static Rules {
        &posting::RV515
    }

    fn port_reads_first(&self) -> bool {
        true
    }
}

/// All chips but the RV515.
struct R520;

impl Hal for R520 {
    fn rules(&self) -> &'static Rules {
        &posting::R520
    }

    fn port_reads_first(&self) -> bool {
        false
    }
}
