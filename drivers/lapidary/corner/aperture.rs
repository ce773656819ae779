// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Taking the display away from the firmware's framebuffer drivers.
//!
//! On a posted card a driver like simpledrm or efifb draws into the memory that the firmware left as
//! scan-out. The default of these drivers is to leave it alone; whoever wants the whole card evicts it
//! with this call.
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

/// Removes every generic driver that holds part of a memory BAR of `pdev` (and the VGA range, if the
/// card owns it).
///
/// `name` appears in the log. To be called in probe before anything else touches the card. May sleep.
///
/// Errors: what the aperture helpers report, as a device that could not be removed.
pub fn evict(pdev: &pci::Device<device::Bound>, name: &'static CStr) -> Result {
    // `pci::Device` is a transparent wrapper of `struct pci_dev`.
    let raw = ptr::from_ref(pdev).cast_mut().cast::<bindings::pci_dev>();
    // SAFETY: `raw` is valid as long as `pdev` is, `name` for ever.
    to_result(unsafe { extra::lapidary_aperture_evict(raw, name.as_char_ptr()) })
}
