// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Debug messages that can be switched on while the driver runs.
//!
//! `dev_dbg!` of the kernel crate exists in debug builds only. DRM has its own switch, the parameter `debug` of the
//! module `drm`. With bit 1 (`echo 2 >/sys/module/drm/parameters/debug`) drivers explain what they refuse. Without it
//! a message costs one call and one test of a variable.

use core::ptr;

use kernel::{
    bindings,
    drm, //
};

use super::extra;

/// Log that a command stream is refused, at which dword and why. Rate limited.
pub fn refused<D: drm::Driver>(
    dev: &drm::Device<D, drm::Registered>,
    position: u32,
    reason: &'static str,
) {
    let raw = ptr::from_ref(dev).cast_mut().cast::<bindings::drm_device>();
    // SAFETY: `drm::Device` begins with the C device, which is alive; the text is given with its length.
    unsafe { extra::lapidary_refused(raw, position, reason.as_ptr().cast(), reason.len()) };
}
