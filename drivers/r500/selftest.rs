// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Does the ring run?
//!
//! The test puts a write to a scratch register in the ring and looks for the value in two places:
//! in the register, which says that the command processor fetches and executes, and in memory,
//! which says that its way back works. A fence needs both. That an indirect buffer executes, and
//! that the interrupt arrives, the generic driver tests, in the way every later job goes.

use kernel::{
    device::Device,
    io::{
        poll,
        register::Array,
        Io, //
    },
    prelude::*,
    time::Delta, //
};

use lapidary::family::{
    Ring as _,
    Slot as _, //
};

use crate::{
    chip::Chip,
    portable::emit,
    regs::{
        mmio::*,
        Window, //
    },
    ring::{
        Ring,
        TEST, //
    },
    state, //
};

/// The value that the CPU leaves in the register, and the one that the ring writes.
const BEFORE: u32 = 0xcafe_dead;
const AFTER: u32 = 0x600d_1dea;

/// How long the command processor may take for what should take microseconds. One that is emulated on a busy machine
/// may have to wait for its turn.
const PATIENCE: Delta = Delta::from_millis(400);

/// Gives the engines their first state through the ring and tests on the way that it runs.
///
/// # Errors
///
/// `EIO` after one line in the log.
pub(crate) fn run(
    dev: &Device,
    chip: &dyn Chip,
    window: Window<'_>,
    ring: &Ring<'_>,
    pipes: u32,
) -> Result {
    window.write(SCRATCH_REG::at(TEST as usize), SCRATCH_REG::from(BEFORE));
    let read = || window.read(SCRATCH_REG::at(TEST as usize)).into_raw();

    let mut slot = ring.reserve(state::DWORDS + emit::SCRATCH_DWORDS)?;
    state::initial(&mut slot, pipes, chip.z_pipe_select()).map_err(|_| ENOSPC)?;
    emit::scratch(&mut slot, TEST, AFTER).map_err(|_| ENOSPC)?;
    slot.kick();

    let done = poll::read_poll_timeout(
        || Ok(read()),
        |value| *value == AFTER,
        Delta::from_micros(10),
        PATIENCE,
    );
    if done.is_err() {
        dev_err!(
            dev,
            "ring test failed: scratch register reads {:#010x}, status {:#010x}, read pointer {} of {}\n",
            read(),
            window.read(RBBM_STATUS).into_raw(),
            window.read(CP_RB_RPTR).into_raw(),
            ring.write_pointer()
        );
        return Err(EIO);
    }

    let reported = poll::read_poll_timeout(
        || Ok((ring.scratch(TEST), ring.read_pointer())),
        |&(value, read)| value == AFTER && read == ring.write_pointer(),
        Delta::from_micros(10),
        PATIENCE,
    );
    if reported.is_err() {
        dev_err!(
            dev,
            "ring test failed: command processor does not report: {:#010x} in memory, read pointer {} of {}\n",
            ring.scratch(TEST),
            ring.read_pointer(),
            ring.write_pointer()
        );
        return Err(EIO);
    }
    Ok(())
}
