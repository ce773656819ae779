// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A PCI device's switches, put back when the driver goes, and its capabilities.

use core::ptr;

use kernel::{
    bindings,
    device,
    pci,
    prelude::*, //
};

fn as_raw(pdev: &pci::Device<device::Bound>) -> *mut bindings::pci_dev {
    // `pci::Device` is a transparent wrapper of `struct pci_dev`.
    ptr::from_ref(pdev).cast_mut().cast()
}

/// The device answers accesses to its memory BARs while this exists.
///
/// Disabling is by count, and leaves the BARs decoded: a display that the firmware has set up goes on.
pub struct Enabled<'a>(&'a pci::Device<device::Bound>);

impl<'a> Enabled<'a> {
    /// Enables the device. It does not access memory by itself, whatever firmware or another kernel has left, before
    /// there is a [`Master`].
    pub fn new(pdev: &'a pci::Device<device::Core<'_>>) -> Result<Self> {
        pdev.enable_device_mem()?;
        // SAFETY: The device is alive while it is bound. It is being probed: nobody else changes its command register.
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
    /// Lets the device access memory.
    pub fn new(pdev: &'a pci::Device<device::Core<'_>>) -> Self {
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

/// Keeps a device that has a [`Master`] from accessing memory by itself, until [`let_go`].
///
/// For a device that sleeps or wakes up: the power management core holds its lock, so that nobody else changes its
/// command register.
pub fn hold_back(pdev: &pci::Device<device::Bound>) {
    // SAFETY: The device is alive while it is bound.
    unsafe { bindings::pci_clear_master(as_raw(pdev)) }
}

/// Ends what [`hold_back`] began, with the lock held.
pub fn let_go(pdev: &pci::Device<device::Bound>) {
    // SAFETY: The device is alive while it is bound.
    unsafe { bindings::pci_set_master(as_raw(pdev)) }
}

/// Whether the device has the PCI capability `id`. The PCI core bounds the walk: a list that leads in a circle ends.
pub fn has_capability(pdev: &pci::Device<device::Bound>, id: u8) -> bool {
    // SAFETY: The device is alive while it is bound.
    unsafe { bindings::pci_find_capability(as_raw(pdev), id.into()) != 0 }
}
