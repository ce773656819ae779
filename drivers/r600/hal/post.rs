// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Posting by the video BIOS. The rules for what it may write differ because registers of the generations have other
//! places.

use lapidary::portable::atom::guard::Rules;

use crate::{
    chip::{
        Chipset,
        Generation, //
    },
    portable::posting, //
};

/// Return what the video BIOS of a card with `chipset` may write.
pub(crate) fn rules(chipset: Chipset) -> &'static Rules {
    match chipset.generation() {
        Generation::R6xx => &posting::R6XX,
        Generation::R7xx => &posting::R7XX,
    }
}
