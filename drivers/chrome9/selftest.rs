// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The ring test.
//!
//! The ring executes a fence with a known number, which starts it, and then one with the number of the last fence. The test
//! looks for the first in memory and for the second in the register. That shows that the regulator fetches and executes
//! commands, goes on when its pause address moves, and that its writes reach memory. Afterwards the register has the number
//! that it had before a chip lost it.
//!
//! The generic driver tests afterwards that a buffer is executed and that the interrupt arrives.

use kernel::{
    device::Device,
    io::{
        poll,
        Io, //
    },
    prelude::*,
    time::Delta, //
};

use lapidary::family::Ring as _;

use crate::{
    regs::{
        mmio::ENGINE_STATUS,
        mmio_read::AGP_FETCH,
        Window, //
    },
    ring::Ring, //
};

/// The numbers that tests use in turn, so that each differs from what the one before has left.
const NUMBERS: [u32; 2] = [0x600d_1dea, 0x600d_beef];

/// How long the regulator may take. A real one takes microseconds; a model on a busy machine must first get a CPU.
const PATIENCE: Delta = Delta::from_millis(400);

/// Test whether `ring` runs. No job may be in it. Sleeps, for up to twice 400 ms.
///
/// # Errors
///
/// `EIO` after one line in the log; `EAGAIN` if the ring is not empty.
pub(crate) fn run(dev: &Device, window: Window<'_>, ring: &Ring<'_>) -> Result {
    let [one, other] = NUMBERS;
    let number = if ring.tested() == one { other } else { one };
    ring.test(number)?;
    await_number(dev, window, "starts and reports to memory", number, || {
        ring.tested()
    })?;
    ring.repeat()?;
    let last = ring.completed();
    await_number(dev, window, "goes on", last, || ring.number())
}

/// Wait until `read` returns `number`.
fn await_number(
    dev: &Device,
    window: Window<'_>,
    what: &str,
    number: u32,
    read: impl Fn() -> u32,
) -> Result {
    let done = poll::read_poll_timeout(
        || Ok(read()),
        |&found| found == number,
        Delta::from_micros(10),
        PATIENCE,
    );
    if done.is_err() {
        dev_err!(
            dev,
            "ring test failed: the regulator does not show that it {} (number {:#010x}, {:#010x} expected, status {:#010x}, fetch address {:#010x})\n",
            what,
            read(),
            number,
            window.read(ENGINE_STATUS).into_raw(),
            window.read(AGP_FETCH).into_raw()
        );
        return Err(EIO);
    }
    Ok(())
}
