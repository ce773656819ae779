// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Waiting until no job uses an object, for a client.
//!
//! At unbind and after a hang our own fences signal, so a wait ends at once. Fences of other drivers do not signal then,
//! and unbind waits for the client's call. So a long wait is a sequence of short ones.

use kernel::{
    prelude::*,
    time::Msecs, //
};

use crate::{
    corner::resv,
    family::Family,
    memory::object::Bo,
    running::Running, //
};

/// How long to wait before testing whether the device is still bound, in milliseconds. Each test costs a waiter some
/// thousand instructions, and matters only to a client that waits for another driver.
pub const SLICE_MS: Msecs = 1_000;

/// Wait until no job uses `object`, whatever the result of the jobs. `left` returns for how many milliseconds to wait from
/// now on. Return whether no job uses the object. The CPU sees then what the jobs have written.
///
/// # Errors
///
/// `ERESTARTSYS` if a signal arrives; `ENODEV` at unbind.
pub fn until_idle<F: Family>(
    running: &Running<'_, F>,
    object: &Bo<F>,
    mut left: impl FnMut() -> Msecs,
) -> Result<bool> {
    running.look();
    let mut announced = false;
    loop {
        let slice = left().min(SLICE_MS);
        if slice != 0 && !announced {
            running.announce(object);
            announced = true;
        }
        if resv::wait(object, slice)? {
            if announced {
                running.reap();
            }
            running.flush_host_path([object].into_iter());
            return Ok(true);
        }
        if slice == 0 {
            return Ok(false);
        }
        if running.data().gone() {
            return Err(ENODEV);
        }
    }
}
