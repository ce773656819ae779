// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A device on the bus, until all of it has its place.
//!
//! Each thing that can be wrong with a device at this point has one line in the log. On an error all resources are
//! released.

use core::ops::Range;

use kernel::{
    device::{
        Bound,
        Device, //
    },
    io::Io,
    pci,
    prelude::*, //
};

use crate::family::{
    GpuAddr,
    Layout, //
};

/// BAR of the window on VRAM.
pub const VRAM_BAR: u32 = 0;

/// Check that a card is in its slot.
///
/// # Errors
///
/// `ENODEV` if there is none, after a line in the log.
pub fn find(pdev: &pci::Device<Bound>) -> Result {
    if pdev.config_space().try_read16(0)? == u16::MAX {
        dev_err!(
            pdev,
            "device does not answer: configuration space reads all ones\n"
        );
        return Err(ENODEV);
    }
    Ok(())
}

/// Check that the chip answers, which a family has seen by its registers.
///
/// # Errors
///
/// `ENODEV` if `dead` is set, after a line in the log.
pub fn answers(dev: &Device, dead: bool) -> Result {
    if dead {
        dev_err!(dev, "device does not answer: registers read all ones\n");
        return Err(ENODEV);
    }
    Ok(())
}

/// Return where memory is: VRAM with the `reserved` ranges at `vram`, the window on system memory at `gtt`.
///
/// # Errors
///
/// That of `gtt`, after a line in the log; `EINVAL` without BARs.
pub fn layout(
    pdev: &pci::Device<Bound>,
    vram: Range<GpuAddr>,
    gtt: Result<Range<GpuAddr>>,
    reserved: [Range<u64>; 4],
) -> Result<Layout> {
    let gtt = gtt.inspect_err(|_| {
        dev_err!(
            pdev,
            "VRAM at {:#x}..{:#x} leaves no room for system memory\n",
            vram.start,
            vram.end
        )
    })?;
    let start = pdev.resource_start(VRAM_BAR)?;
    let bytes = pdev.resource_len(VRAM_BAR)?;
    Ok(Layout {
        aperture: start..start + bytes.min(vram.end - vram.start),
        reserved,
        vram,
        gtt,
    })
}

/// Say in the log which chip it is, and what memory it has.
pub fn introduce(pdev: &pci::Device<Bound>, chip: &str, layout: &Layout, display: bool) {
    dev_info!(
        pdev,
        "{}, {} MiB VRAM, {} MiB visible, {} MiB GTT, display {}\n",
        chip,
        (layout.vram.end - layout.vram.start) >> 20,
        (layout.aperture.end - layout.aperture.start) >> 20,
        (layout.gtt.end - layout.gtt.start) >> 20,
        if display { "on" } else { "off" }
    );
}
