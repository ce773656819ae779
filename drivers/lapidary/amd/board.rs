// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A card on the bus.
//!
//! BAR 0 of a Radeon is a window on VRAM, BAR 2 has the registers. System memory is reached by page tables with 40-bit
//! addresses, which cards of PCI Express have. A family's `identify` reads from top to bottom: [`open`], whether the
//! chip answers, posting, where VRAM is, and what is the same for any device ([`crate::hardware::board`]). It ends with a
//! [`Board`].

use kernel::{
    device::{
        Bound,
        Core, //
    },
    dma::{
        Device as _,
        DmaMask, //
    },
    pci,
    prelude::*, //
};

use crate::{
    amd::bios::Bios,
    corner::{
        aperture,
        bus, //
    },
    family::Layout,
    hardware::board::{
        find,
        VRAM_BAR, //
    },
};

/// BAR of the registers.
const REGISTER_BAR: u32 = 2;

/// Capability number of PCI Express.
const PCI_EXPRESS: u8 = 0x10;

/// Bits of a bus address.
const ADDRESS_BITS: u32 = 40;

/// A chip that has been identified, with `WINDOW` bytes of registers.
pub struct Board<'a, C, const WINDOW: usize> {
    /// The device.
    pub pdev: &'a pci::Device<Bound>,
    /// Which chip it is.
    pub chipset: C,
    /// Its registers.
    pub registers: pci::Bar<'a, WINDOW>,
    /// Where memory is.
    pub layout: Layout,
    /// The card's video BIOS, if it has one.
    pub bios: Option<Pin<KBox<Bios>>>,
}

/// Take a card over from the firmware if `evict` is set, let it reach system memory, and map its registers for the driver
/// `name`.
///
/// # Errors
///
/// `ENODEV` if no card answers or it lacks what the driver needs; `EBUSY` if another driver has the registers; otherwise as
/// [`aperture::evict`]. Each after a line in the log.
pub fn open<'a, const WINDOW: usize>(
    pdev: &'a pci::Device<Core<'_>>,
    name: &'static CStr,
    evict: bool,
) -> Result<pci::Bar<'a, WINDOW>> {
    if evict {
        aperture::evict(pdev, name)
            .inspect_err(|_| dev_err!(pdev, "firmware's frame buffer cannot be taken over\n"))?;
    }
    find(pdev)?;
    if !bus::has_capability(pdev, PCI_EXPRESS) {
        dev_err!(
            pdev,
            "no PCI Express capability: the card has no way to system memory\n"
        );
        return Err(ENODEV);
    }
    // SAFETY: The device is being probed. No other code sets up DMA on it.
    unsafe { pdev.dma_set_mask_and_coherent(DmaMask::new::<ADDRESS_BITS>()) }
        .inspect_err(|_| dev_err!(pdev, "the platform has no memory that 40 bits address\n"))?;

    let register_size = pdev.resource_len(REGISTER_BAR)?;
    if register_size < WINDOW as u64 {
        dev_err!(
            pdev,
            "register BAR has {:#x} bytes, {:#x} are needed\n",
            register_size,
            WINDOW
        );
        return Err(ENODEV);
    }
    if pdev.resource_len(VRAM_BAR)? == 0 {
        dev_err!(pdev, "no memory BAR\n");
        return Err(ENODEV);
    }
    pdev.iomap_region_sized::<WINDOW>(REGISTER_BAR, name)
        .inspect_err(|_| dev_err!(pdev, "registers are in use by another driver\n"))
}
