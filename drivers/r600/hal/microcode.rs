// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Which microcode images a chip takes.
//!
//! The names are those of linux-firmware. All chips of a generation share the image of the RLC. RV740 takes the images of
//! RV730, as in Linux (`r600_init_microcode`).

use kernel::prelude::*;

use crate::chip::{
    Chipset,
    Generation, //
};

/// Names of the images of a chip.
#[derive(Clone, Copy)]
pub(crate) struct Names {
    /// The prefetch parser of the CP.
    pub(crate) pfp: &'static CStr,
    /// The micro engine of the CP.
    pub(crate) me: &'static CStr,
    /// The RLC.
    pub(crate) rlc: &'static CStr,
}

/// Return the images of `chipset`.
pub(crate) fn of(chipset: Chipset) -> Names {
    let (pfp, me) = match chipset {
        Chipset::R600 => (c"radeon/R600_pfp.bin", c"radeon/R600_me.bin"),
        Chipset::Rv610 => (c"radeon/RV610_pfp.bin", c"radeon/RV610_me.bin"),
        Chipset::Rv635 => (c"radeon/RV635_pfp.bin", c"radeon/RV635_me.bin"),
        Chipset::Rv670 => (c"radeon/RV670_pfp.bin", c"radeon/RV670_me.bin"),
        Chipset::Rv770 => (c"radeon/RV770_pfp.bin", c"radeon/RV770_me.bin"),
        Chipset::Rv730 | Chipset::Rv740 => (c"radeon/RV730_pfp.bin", c"radeon/RV730_me.bin"),
        Chipset::Rv710 => (c"radeon/RV710_pfp.bin", c"radeon/RV710_me.bin"),
    };
    let rlc = match chipset.generation() {
        Generation::R6xx => c"radeon/R600_rlc.bin",
        Generation::R7xx => c"radeon/R700_rlc.bin",
    };
    Names { pfp, me, rlc }
}
