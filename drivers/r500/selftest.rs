// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The first commands in the ring. They set the first state of the engines and test that the CP runs.

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

/// Set the first state of the engines through the ring, and test that the CP executes and reports.
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
