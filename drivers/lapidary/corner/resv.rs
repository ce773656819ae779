// SPDX-License-Identifier: GPL-2.0 OR MIT

//! `dma_resv`: the fences of one object, seen without its lock.

use kernel::{
    bindings,
    drm::gem::IntoGEMObject,
    prelude::*,
    time::{
        msecs_to_jiffies,
        Msecs, //
    },
};

/// Waits until no job that uses `object` is pending, at most `timeout` milliseconds; says whether that is so.
///
/// With a timeout of 0 it only looks. Interruptible.
///
/// # Errors
///
/// `ERESTARTSYS` if a signal arrives.
pub fn wait<O: IntoGEMObject>(object: &O, timeout: Msecs) -> Result<bool> {
    let usage = bindings::dma_resv_usage_DMA_RESV_USAGE_READ;
    // SAFETY: The object is alive, and its reservation with it.
    if unsafe { bindings::dma_resv_test_signaled((*object.as_raw()).resv, usage) } {
        return Ok(true);
    }
    if timeout == 0 {
        return Ok(false);
    }
    let jiffies = msecs_to_jiffies(timeout);
    // SAFETY: As above.
    let left =
        unsafe { bindings::dma_resv_wait_timeout((*object.as_raw()).resv, usage, true, jiffies) };
    if left < 0 {
        return Err(Error::from_errno(
            left.try_into().unwrap_or(EINVAL.to_errno()),
        ));
    }
    Ok(left > 0)
}
