// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Sleep: leaving a card that may lose its power, and starting it again.
//!
//! In D3hot, let alone without power, a card forgets its registers, and its memory is not refreshed. The PCI core
//! brings back configuration space and D0; everything else is done here, as if the card had just been found, with two
//! differences: nobody has posted it, so the driver does ([`post`]), and everybody relies on what was found at the
//! first time — where VRAM and the window on system memory are, how many pipes there are — so that has to come out the
//! same.
//!
//! The order is that of [`gpu::bring_up`](crate::gpu::bring_up). No firmware file is asked for and no memory taken:
//! user space, and the disks, are not there yet.

use kernel::prelude::*;

use lapidary::{
    corner::bus,
    family::Gpu as _, //
};

use crate::{
    cp,
    display,
    gpu::{
        map_ring,
        Gpu, //
    },
    mc,
    post,
    probe, //
};

impl Gpu<'_> {
    /// Implements [`lapidary::family::Gpu::suspend`].
    pub(crate) fn fall_asleep(&self) -> Result {
        self.picture.save(display::is_on(self.window()))?;
        self.quiesce();
        Ok(())
    }

    /// Implements [`lapidary::family::Gpu::resume`].
    pub(crate) fn awake(&self) -> Result {
        let (pdev, chipset, window) = (self.pdev, self.chipset, self.window());
        let dev = pdev.as_ref();
        // Of a card that was pulled out meanwhile not even the registers need to read all ones: nobody has given them
        // their addresses again.
        probe::find(pdev)?;
        if probe::is_dead(window) {
            dev_err!(dev, "device does not answer: registers read all ones\n");
            return Err(ENODEV);
        }
        // The PCI core has made it a master of the bus again. A card that has lost its settings has no page table that
        // bounds what it reaches, and is about to be posted. If it fails it stays held back.
        bus::hold_back(pdev);
        post::ensure(dev, chipset, window, self.bios.as_deref())?;
        self.irq.renew();
        cp::stop(window);
        mc::restore(dev, chipset, window, self.location, &self.layout.vram)?;
        mc::arrange(dev, chipset, window, &self.layout, self.bar_size);
        self.picture.restore();
        self.gart.restart();
        bus::let_go(pdev);
        map_ring(&self.gart, &self.ring, self.ring_entry)?;
        self.restart()
    }
}
