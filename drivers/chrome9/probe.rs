// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Identifying a chip. This only reads registers.
//!
//! [`identify`] reads from top to bottom. It ends with a [`Board`], a chip that answers and whose frame buffer is known. The
//! firmware has set up the chip, because it takes the frame buffer from the computer's memory.
//! [`lapidary::hardware::board`] has what is the same for any device.

use core::ops::Range;

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
    corner::{
        aperture,
        bus, //
    },
    family::Layout,
    hardware::board, //
};

use crate::{
    chip::{
        Chipset,
        VENDOR, //
    },
    cr, module_parameters,
    portable::{
        frame_buffer,
        place::GART,
        pte, //
    },
    regs::{
        mmio::*,
        Window,
        WINDOW, //
    },
};

/// BAR of the registers.
const REGISTER_BAR: u32 = 1;

/// Bytes of the GART's addresses. The table has a thousandth of it, in the frame buffer.
const GART_BYTES: u64 = 256 << 20;

/// A chip that has been identified.
pub(crate) struct Board<'a> {
    /// The device.
    pub(crate) pdev: &'a pci::Device<Bound>,
    /// Its registers.
    pub(crate) registers: pci::Bar<'a, WINDOW>,
    /// Where memory is.
    pub(crate) layout: Layout,
}

/// Implement [`lapidary::family::Family::identify`].
pub(crate) fn identify<'a>(
    pdev: &'a pci::Device<Core<'_>>,
    chipset: Chipset,
) -> Result<(Board<'a>, Layout)> {
    if module_parameters::evict.value() {
        aperture::evict(pdev, c"chrome9")
            .inspect_err(|_| dev_err!(pdev, "firmware's frame buffer cannot be taken over\n"))?;
    }
    board::find(pdev)?;
    // SAFETY: The device is being probed. No other code sets up DMA on it.
    unsafe { pdev.dma_set_mask_and_coherent(DmaMask::new::<{ pte::ADDRESS_BITS }>()) }
        .inspect_err(|_| dev_err!(pdev, "the platform has no memory that the GART reaches\n"))?;
    let registers = pdev
        .iomap_region_sized::<WINDOW>(REGISTER_BAR, c"chrome9")
        .inspect_err(|_| dev_err!(pdev, "registers are missing, or in use by another driver\n"))?;
    let window = registers.as_view();
    board::answers(pdev.as_ref(), cr::is_dead(window))?;

    let vram = 0..frame_buffer_bytes(pdev, chipset)?;
    let reserved = shown(window, vram.end);
    let display = reserved.iter().any(|range| range.start != 0);
    let layout = board::layout(pdev, vram, Ok(GART..GART + GART_BYTES), reserved)?;
    board::introduce(pdev, chipset.name(), &layout, display);
    let board = Board {
        pdev,
        registers,
        layout: layout.clone(),
    };
    Ok((board, layout))
}

/// Return the bytes of the frame buffer: what the host bridge says (decision 9), or the length of BAR 0 if there is no such
/// function, as far as the CPU sees it.
///
/// # Errors
///
/// `ENODEV` if there is none, after a line in the log.
fn frame_buffer_bytes(pdev: &pci::Device<Bound>, chipset: Chipset) -> Result<u64> {
    let seen = pdev.resource_len(board::VRAM_BAR)?;
    let word = bus::word_of(VENDOR, chipset.host_bridge(), frame_buffer::SIZE_OFFSET);
    let bytes = word.and_then(frame_buffer::bytes).unwrap_or(seen);
    // All of it has to be seen: the CPU moves objects.
    let bytes = bytes.min(seen);
    if bytes == 0 {
        dev_err!(pdev, "no frame buffer\n");
        return Err(ENODEV);
    }
    Ok(bytes)
}

/// Return the ranges that firmware's displays may show, as offsets in the frame buffer of `bytes`.
fn shown(window: Window<'_>, bytes: u64) -> [Range<u64>; 4] {
    let first = window.read(CRT_START_ADDRESS).address();
    let second = window.read(SECOND_DISPLAY_START_ADDRESS);
    // The second address has units of 8 bytes.
    let second = u64::from(u32::from(second.address())) << 3;
    frame_buffer::shown([u64::from(u32::from(first)), second], bytes)
}
