// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Does a ring run?
//!
//! The test puts a write of a known value in the ring, and looks for the value in two places. It looks in the register
//! that is written, which says that the engine fetches and executes. And it looks in the page of reports, which says that
//! the engine's way back to memory works. A fence needs both. That an indirect buffer executes, and that the interrupt
//! arrives, the generic driver tests, in the way every later job goes.

use kernel::{
    device::Device,
    io::poll,
    prelude::*,
    time::Delta, //
};

use crate::{
    amd::ring::{
        Engine,
        Ring,
        Slot, //
    },
    family::{
        Ring as _,
        Slot as _, //
    },
};

/// The value that the CPU leaves in the register, and the one that the ring writes.
const BEFORE: u32 = 0xcafe_dead;
const AFTER: u32 = 0x600d_1dea;

/// How long the engine may take for what should take microseconds. One that is emulated on a busy machine
/// may have to wait for its turn.
const PATIENCE: Delta = Delta::from_millis(400);

/// Tests whether `ring` runs. `commands` has at most `dwords` dwords, and ends with a write of the value to where
/// [`Engine::test`] looks.
///
/// # Errors
///
/// `EIO` after one line in the log; those of `commands`.
pub fn run<E: Engine>(
    dev: &Device,
    ring: &Ring<E>,
    dwords: usize,
    commands: impl FnOnce(&mut Slot<'_, E>, u32) -> Result,
) -> Result {
    let engine = ring.engine();
    engine.set_test(BEFORE);

    let mut slot = ring.reserve(dwords)?;
    commands(&mut slot, AFTER)?;
    slot.kick();

    let done = poll::read_poll_timeout(
        || Ok(engine.test()),
        |value| *value == AFTER,
        Delta::from_micros(10),
        PATIENCE,
    );
    if done.is_err() {
        dev_err!(
            dev,
            "ring test failed: scratch register reads {:#010x}, status {:#010x}, read pointer {} of {}\n",
            engine.test(),
            engine.status(),
            engine.read_pointer(),
            ring.write_pointer()
        );
        return Err(EIO);
    }

    let reported = poll::read_poll_timeout(
        || Ok((ring.tested(), ring.read_pointer())),
        |&(value, read)| value == AFTER && read == ring.write_pointer(),
        Delta::from_micros(10),
        PATIENCE,
    );
    if reported.is_err() {
        dev_err!(
            dev,
            "ring test failed: command processor does not report: {:#010x} in memory, read pointer {} of {}\n",
            ring.tested(),
            ring.read_pointer(),
            ring.write_pointer()
        );
        return Err(EIO);
    }
    Ok(())
}
