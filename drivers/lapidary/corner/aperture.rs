// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Taking the display away from the firmware's framebuffer drivers.
//!
//! On a posted card a driver like simpledrm or efifb draws into the memory that the firmware left as scan-out. These
//! drivers keep their memory until another driver claims it. A driver that takes over the whole card evicts them with
//! this call.
//!
//! C header: `include/linux/aperture.h`.

use core::ptr;

use kernel::{
    bindings,
    device,
    error::to_result,
    pci,
    prelude::*, //
};

use crate::corner::extra;

/// Remove every generic driver that holds part of a memory BAR of `pdev` (and the VGA range, if the card owns it).
///
/// `name` appears in the log. Probe calls this before it touches the card. May sleep.
///
/// # Errors
///
/// The errors of the aperture helpers, for example for a device that cannot be removed.
pub fn evict(pdev: &pci::Device<device::Bound>, name: &'static CStr) -> Result {
    // `pci::Device` is a transparent wrapper of `struct pci_dev`.
    let raw = ptr::from_ref(pdev).cast_mut().cast::<bindings::pci_dev>();
    // SAFETY: `raw` is valid as long as `pdev` is, and `name` is static.
    to_result(unsafe { extra::lapidary_aperture_evict(raw, name.as_char_ptr()) })
}
