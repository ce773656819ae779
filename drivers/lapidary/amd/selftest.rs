// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The ring test.
//!
//! The ring executes a write of a known value. The test looks for the value in two places. In the register that is
//! written it shows that the engine fetches and executes commands. In the page of reports it shows that the engine's
//! writes reach memory. A fence needs both. An engine without such a register is looked at in memory only.
//!
//! The generic driver tests afterwards that an indirect buffer is executed and that the interrupt arrives. That test
//! takes the way of all later jobs.

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

/// How long the engine may take. A real one takes microseconds; a model on a busy machine must first get a CPU.
const PATIENCE: Delta = Delta::from_millis(400);

/// Test whether `ring` runs.
///
/// `commands` writes at most `dwords` dwords. The last command writes the value that it is given to where
/// [`Engine::test`] looks.
///
/// Sleeps, for up to twice 400 ms. No other job may be in the ring.
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
        |value| value.is_none_or(|value| value == AFTER),
        Delta::from_micros(10),
        PATIENCE,
    );
    if done.is_err() {
        dev_err!(
            dev,
            "{} ring test failed: commands are not executed (value {:#010x}, status {:#010x}, read pointer {} of {})\n",
            engine.name(),
            engine.test().unwrap_or(0),
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
            "{} ring test failed: reports do not reach memory (value {:#010x}, read pointer {} of {})\n",
            engine.name(),
            ring.tested(),
            ring.read_pointer(),
            ring.write_pointer()
        );
        return Err(EIO);
    }
    Ok(())
}
