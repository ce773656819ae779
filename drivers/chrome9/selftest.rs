// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The ring test.
//!
//! The ring executes a fence with a known number, and one with the number of the last fence. The test looks for the first in
//! memory and for the second in the register. That shows that the regulator fetches and executes commands, and that its
//! writes reach memory. Afterwards the register has the number that it had before a chip lost it.
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

/// Test whether `ring` runs. No job may be in it. Sleeps, for up to 400 ms.
///
/// # Errors
///
/// `EIO` after one line in the log; `EAGAIN` if the ring is not empty.
pub(crate) fn run(dev: &Device, window: Window<'_>, ring: &Ring<'_>) -> Result {
    let [one, other] = NUMBERS;
    let number = if ring.tested() == one { other } else { one };
    let last = ring.completed();
    ring.test(number)?;
    let done = poll::read_poll_timeout(
        || Ok((ring.tested(), ring.number())),
        |&(tested, in_register)| tested == number && in_register == last,
        Delta::from_micros(10),
        PATIENCE,
    );
    if done.is_err() {
        dev_err!(
            dev,
            "ring test failed: number {:#010x} in memory, {:#010x} in the register, {:#010x} and {:#010x} expected (status {:#010x}, fetch address {:#010x})\n",
            ring.tested(),
            ring.number(),
            number,
            last,
            window.read(ENGINE_STATUS).into_raw(),
            window.read(AGP_FETCH).into_raw()
        );
        return Err(EIO);
    }
    Ok(())
}
