// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The first commands: the engines' first state, and on the way whether the ring runs.

use kernel::{
    device::Device,
    prelude::*, //
};

use lapidary::amd::selftest;

use crate::{
    chip::Chipset,
    hal,
    portable::emit,
    ring::{
        Ring,
        TEST, //
    },
    state, //
};

/// Gives the engines their first state through the ring and tests on the way that it runs.
///
/// # Errors
///
/// `EIO` after one line in the log.
pub(crate) fn run(dev: &Device, chipset: Chipset, ring: &Ring<'_>, pipes: u32) -> Result {
    let dwords = state::DWORDS + emit::SCRATCH_DWORDS;
    selftest::run(dev, ring, dwords, |slot, value| {
        state::initial(slot, pipes, hal::pipes::of(chipset).z_pipe_select()).map_err(|_| ENOSPC)?;
        emit::scratch(slot, TEST, value).map_err(|_| ENOSPC)
    })
}
