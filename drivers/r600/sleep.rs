// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Sleep: suspend, and bring-up again after resume.
//!
//! In D3hot and without power a card loses its registers, and its memory is not refreshed. The PCI core restores
//! configuration space and D0. The driver does everything else, as at probe, with two differences. The firmware has not
//! posted the card, so the driver does ([`post`]). And what was found at probe must come out the same, because the
//! generic driver relies on it: where VRAM and the window on system memory are, and how many pipes there are.
//!
//! The order is that of [`gpu::bring_up`](crate::gpu::bring_up). No firmware file is requested and no memory allocated,
//! because user space and the disks do not run yet.

use kernel::prelude::*;

use lapidary::{
    corner::bus,
    family::Gpu as _,
    hardware::board, //
};

use crate::{
    display,
    golden,
    gpu::{
        self,
        Gpu, //
    },
    mc,
    post,
    probe,
    reset, //
};

impl Gpu<'_> {
    /// Implement [`lapidary::family::Gpu::suspend`].
    pub(crate) fn fall_asleep(&self) -> Result {
        self.picture.save(display::is_on(self.window()))?;
        self.quiesce();
        Ok(())
    }

    /// Implement [`lapidary::family::Gpu::resume`].
    pub(crate) fn awake(&self) -> Result {
        let (pdev, chipset, window) = (self.pdev, self.chipset, self.window());
        let dev = pdev.as_ref();
        // The registers of a card that was pulled out need not even read all ones: its BARs have no addresses.
        board::find(pdev)?;
        board::answers(dev, probe::is_dead(window))?;
        // The PCI core has made the card a master of the bus again. It has lost its page table, which bounds what it
        // reaches, and runs its video BIOS next. On an error it does not become a master.
        bus::hold_back(pdev);
        post::ensure(dev, chipset, window, self.bios.as_deref())?;
        display::silence(chipset, window);
        reset::halt(chipset, window);
        mc::restore(dev, chipset, window, self.location, &self.layout.vram)?;
        golden::program(chipset, window);
        mc::arrange(dev, chipset, window, &self.layout)?;
        self.picture.restore();
        self.gart.restart();
        bus::let_go(pdev);
        gpu::map(
            &self.gart,
            &self.rings,
            &self.irq,
            &self.neutral,
            &self.places,
        )?;
        self.restart()
    }
}
