// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Identifying a card. This only reads registers, unless the card has to be posted.
//!
//! [`identify`] reads from top to bottom. It ends with a [`Board`], a chip that answers and has been posted (see
//! [`post`](crate::post)). The board has the places of VRAM, of its reserved ranges, and of the window on system
//! memory. [`lapidary::amd::board`] has what is the same for all Radeons,
//! and [`lapidary::hardware::board`] what is the same for any device.

use kernel::{
    device::Core,
    io::{
        Io,
        IoBase, //
    },
    pci,
    prelude::*, //
};

use lapidary::{
    amd::{
        bios::Bios,
        board as radeon, //
    },
    family::Layout,
    hardware::board, //
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

/// A chip that has been identified.
pub(crate) type Board<'a> = radeon::Board<'a, Chipset, WINDOW>;

/// Implement [`lapidary::family::Family::identify`].
pub(crate) fn identify<'a>(
    pdev: &'a pci::Device<Core<'_>>,
    chipset: Chipset,
) -> Result<(Board<'a>, Layout)> {
    let registers = radeon::open::<WINDOW>(pdev, c"r500", module_parameters::evict.value())?;
    let window = registers.as_view();
    board::answers(pdev.as_ref(), is_dead(window))?;
    let bios = Bios::read(pdev)?;
    post::ensure(pdev.as_ref(), chipset, window, bios.as_deref())?;

    let vram = mc::vram(pdev.as_ref(), chipset, window)?;
    let gtt = mc::gtt(&vram);
    let reserved = display::reserved(window, &vram);
    let layout = board::layout(pdev, vram, gtt, reserved)?;
    board::introduce(pdev, chipset.name(), &layout, display::is_on(window));

    let board = Board {
        pdev,
        chipset,
        registers,
        layout: layout.clone(),
        bios,
    };
    Ok((board, layout))
}

/// Return whether the device has vanished from the bus, or is in a state without clocks or power.
///
/// No valid state of the status register has all bits set: its FIFO counter does not reach 127.
pub(crate) fn is_dead(window: Window<'_>) -> bool {
    window.read(RBBM_STATUS).into_raw() == u32::MAX
}
