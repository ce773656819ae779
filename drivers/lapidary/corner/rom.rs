// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A card's PCI expansion ROM.
//!
//! The ROM has a BAR of its own, which is decoded only while the ROM is read. Its content depends on the card, and
//! can be changed by a flash tool.

use core::ptr;

use kernel::{
    bindings,
    device,
    pci,
    prelude::*, //
};

/// The ROM in the address space of the CPU.
///
/// # Invariants
///
/// `start` is what `pci_map_rom()` has returned for `pdev`: `size` readable bytes.
struct Mapped<'a> {
    pdev: &'a pci::Device<device::Bound>,
    start: *mut c_void,
    size: usize,
}

impl<'a> Mapped<'a> {
    fn new(pdev: &'a pci::Device<device::Bound>) -> Result<Self> {
        let mut size = 0;
        // SAFETY: `pci::Device` is a transparent wrapper of `struct pci_dev`, and the device is bound.
        let start = unsafe { bindings::pci_map_rom(raw(pdev), &mut size) };
        if start.is_null() {
            return Err(ENXIO);
        }
        // INVARIANT: As `pci_map_rom()` returned it.
        Ok(Self { pdev, start, size })
    }
}

impl Drop for Mapped<'_> {
    fn drop(&mut self) {
        // SAFETY: By the invariant.
        unsafe { bindings::pci_unmap_rom(raw(self.pdev), self.start) }
    }
}

fn raw(pdev: &pci::Device<device::Bound>) -> *mut bindings::pci_dev {
    ptr::from_ref(pdev).cast_mut().cast()
}

/// Copy the expansion ROM of `pdev`, at most its first `most` bytes. For probe time.
///
/// # Errors
///
/// `ENXIO` if the card has none or it cannot be mapped, `ENOMEM`.
pub fn read(pdev: &pci::Device<device::Core<'_>>, most: usize) -> Result<KVVec<u8>> {
    let rom = Mapped::new(pdev)?;
    let len = rom.size.min(most);
    let mut image = KVVec::from_elem(0u8, len, GFP_KERNEL)?;
    // SAFETY: By the invariant of `rom` that many bytes can be read. The copy is as long.
    unsafe { bindings::memcpy_fromio(image.as_mut_ptr().cast(), rom.start, len) };
    Ok(image)
}
