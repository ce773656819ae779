// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Identifying a card. This only reads registers, unless the card has to be posted.
//!
//! [`identify`] reads from top to bottom. It ends with a [`Board`], a chip that answers and has been posted (see
//! [`post`](crate::post)). The board has the places of VRAM, of its reserved ranges, and of the window on system
//! memory. Each thing that can be wrong with a card at this point has one line in the log. On an error all resources
//! are released.

use kernel::{
    device::{
        Bound,
        Core, //
    },
    dma::{
        Device as _,
        DmaMask, //
    },
    io::{
        Io,
        IoBase, //
    },
    pci,
    prelude::*, //
};

use lapidary::{
    amd::bios::Bios,
    corner::{
        aperture,
        bus, //
    },
    family::Layout, //
};

use crate::{
    chip::Chipset,
    display, mc, module_parameters, post,
    regs::{
        mmio::*,
        Window,
        WINDOW, //
    },
};

/// BAR of the window on VRAM.
pub(crate) const VRAM_BAR: u32 = 0;
/// BAR of the registers.
const REGISTER_BAR: u32 = 2;

/// Capability number of PCI Express.
const PCI_EXPRESS: u8 = 0x10;

/// A chip that has been identified.
pub(crate) struct Board<'a> {
    pub(crate) pdev: &'a pci::Device<Bound>,
    pub(crate) chipset: Chipset,
    pub(crate) registers: pci::Bar<'a, WINDOW>,
    /// Where memory is.
    pub(crate) layout: Layout,
    /// The card's video BIOS, if it has one.
    pub(crate) bios: Option<Pin<KBox<Bios>>>,
}

/// Implement [`lapidary::family::Family::identify`].
pub(crate) fn identify<'a>(
    pdev: &'a pci::Device<Core<'_>>,
    chipset: Chipset,
) -> Result<(Board<'a>, Layout)> {
    if module_parameters::evict.value() {
        aperture::evict(pdev, c"r600")
            .inspect_err(|_| dev_err!(pdev, "firmware's frame buffer cannot be taken over\n"))?;
    }

    find(pdev)?;
    // System memory is reached through VM context 0, which takes 40-bit addresses.
    if !bus::has_capability(pdev, PCI_EXPRESS) {
        dev_err!(
            pdev,
            "no PCI Express capability: cards for AGP are not served\n"
        );
        return Err(ENODEV);
    }
    // SAFETY: The device is being probed. No other code sets up DMA on it.
    unsafe { pdev.dma_set_mask_and_coherent(DmaMask::new::<40>()) }
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
    let aperture_size = pdev.resource_len(VRAM_BAR)?;
    if aperture_size == 0 {
        dev_err!(pdev, "no memory BAR\n");
        return Err(ENODEV);
    }
    let registers = pdev
        .iomap_region_sized::<WINDOW>(REGISTER_BAR, c"r600")
        .inspect_err(|_| dev_err!(pdev, "registers are in use by another driver\n"))?;
    let window = registers.as_view();

    if is_dead(window) {
        dev_err!(pdev, "device does not answer: registers read all ones\n");
        return Err(ENODEV);
    }
    let bios = Bios::read(pdev)?;
    post::ensure(pdev.as_ref(), chipset, window, bios.as_deref())?;

    let vram = mc::vram(pdev.as_ref(), chipset, window)?;
    let gtt = mc::gtt(chipset, &vram).inspect_err(|_| {
        dev_err!(
            pdev,
            "VRAM at {:#x}..{:#x} leaves no room for system memory\n",
            vram.start,
            vram.end
        )
    })?;
    let start = pdev.resource_start(VRAM_BAR)?;
    let layout = Layout {
        aperture: start..start + aperture_size.min(vram.end - vram.start),
        reserved: display::reserved(window, &vram),
        vram,
        gtt,
    };

    dev_info!(
        pdev,
        "{}, {} MiB VRAM, {} MiB visible, {} MiB GTT, display {}\n",
        chipset.name(),
        (layout.vram.end - layout.vram.start) >> 20,
        (layout.aperture.end - layout.aperture.start) >> 20,
        (layout.gtt.end - layout.gtt.start) >> 20,
        if display::is_on(window) { "on" } else { "off" }
    );

    let board = Board {
        pdev,
        chipset,
        registers,
        layout: layout.clone(),
        bios,
    };
    Ok((board, layout))
}

/// Check that a card is in its slot.
///
/// # Errors
///
/// `ENODEV` if there is none, after a line in the log.
pub(crate) fn find(pdev: &pci::Device<Bound>) -> Result {
    if pdev.config_space().try_read16(0)? == u16::MAX {
        dev_err!(
            pdev,
            "device does not answer: configuration space reads all ones\n"
        );
        return Err(ENODEV);
    }
    Ok(())
}

/// Return whether the device has vanished from the bus, or is in a state without clocks or power.
///
/// No card has that much memory.
pub(crate) fn is_dead(window: Window<'_>) -> bool {
    window.read(CONFIG_MEMSIZE).into_raw() == u32::MAX
}
