// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The switches of a PCI device, restored when the driver unbinds, and the capabilities of the device.

use core::ptr;

use kernel::{
    bindings,
    device,
    dma::Device as _,
    pci,
    prelude::*, //
};

fn as_raw(pdev: &pci::Device<device::Bound>) -> *mut bindings::pci_dev {
    // `pci::Device` is a transparent wrapper of `struct pci_dev`.
    ptr::from_ref(pdev).cast_mut().cast()
}

/// The device answers accesses to its memory BARs while this exists.
///
/// The PCI core counts the users. Disabling leaves the BARs decoded, so a display that the firmware has set up keeps
/// working.
pub struct Enabled<'a>(&'a pci::Device<device::Bound>);

impl<'a> Enabled<'a> {
    /// Enable the device. It does not access memory by itself before there is a [`Master`], whatever firmware or
    /// another kernel has left in its command register.
    pub fn new(pdev: &'a pci::Device<device::Core<'_>>) -> Result<Self> {
        pdev.enable_device_mem()?;
        // SAFETY: The device is alive while it is bound. It is being probed, so no other thread changes its command
        // register.
        unsafe { bindings::pci_clear_master(as_raw(pdev)) };
        Ok(Self(pdev))
    }
}

impl Drop for Enabled<'_> {
    fn drop(&mut self) {
        // SAFETY: The device is alive while it is bound, and was enabled once by `new`.
        unsafe { bindings::pci_disable_device(as_raw(self.0)) }
    }
}

/// The device may access memory by itself while this exists.
pub struct Master<'a>(&'a pci::Device<device::Bound>);

impl<'a> Master<'a> {
    /// Allow the device to access memory, in pieces of any length: it reaches every page by an entry of a page table, so
    /// it has no bound on a contiguous piece. Without this the DMA layer assumes 64 KiB.
    pub fn new(pdev: &'a pci::Device<device::Core<'_>>) -> Self {
        // SAFETY: The device is being probed and is not a bus master yet. No other code sets up DMA on it.
        unsafe { pdev.dma_set_max_seg_size(u32::MAX) };
        pdev.set_master();
        Self(pdev)
    }
}

impl Drop for Master<'_> {
    fn drop(&mut self) {
        // SAFETY: The device is alive while it is bound.
        unsafe { bindings::pci_clear_master(as_raw(self.0)) }
    }
}

/// Keep a device that has a [`Master`] from accessing memory by itself, until [`let_go`].
///
/// For a device that is suspended or resumed. The power management core holds the device's lock, so no other thread
/// changes its command register.
pub fn hold_back(pdev: &pci::Device<device::Bound>) {
    // SAFETY: The device is alive while it is bound.
    unsafe { bindings::pci_clear_master(as_raw(pdev)) }
}

/// End what [`hold_back`] began. Called with the same lock held.
pub fn let_go(pdev: &pci::Device<device::Bound>) {
    // SAFETY: The device is alive while it is bound.
    unsafe { bindings::pci_set_master(as_raw(pdev)) }
}

/// Return whether the device has the PCI capability `id`. The PCI core bounds the walk, so a list that leads in a
/// circle ends.
pub fn has_capability(pdev: &pci::Device<device::Bound>, id: u8) -> bool {
    // SAFETY: The device is alive while it is bound.
    unsafe { bindings::pci_find_capability(as_raw(pdev), id.into()) != 0 }
}

/// Read the word at `offset` of the configuration space of a function with these ids, wherever it is in the computer. `None`
/// if there is none, or it does not answer.
pub fn word_of(vendor: u16, device: u16, offset: u8) -> Option<u16> {
    let mut word = u16::MAX;
    // SAFETY: The function takes numbers. It returns null or a device with a reference.
    let found = unsafe { bindings::pci_get_device(vendor.into(), device.into(), ptr::null_mut()) };
    if found.is_null() {
        return None;
    }
    // SAFETY: The device is alive, because there is a reference. The word is written before the function returns.
    let result = unsafe { bindings::pci_read_config_word(found, offset.into(), &mut word) };
    // SAFETY: The reference from above, which is not used any more.
    unsafe { bindings::pci_dev_put(found) };
    (result == 0 && word != u16::MAX).then_some(word)
}
