// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What differs between the chips of the family.
//!
//! All R5xx share one command processor, one 2D engine and one register map. They differ in the
//! number of pixel pipes (which the chip reports in fuses), in the memory controller (the RV515's
//! has other register numbers than that of all the others), in one FIFO set-up of the RV530, and in
//! whether message-signalled interrupts can be relied on.
//!
//! [`Chipset`] names the chips, [`ids`](crate::ids) says which PCI device is which, and [`Chip`] is
//! what the rest of the driver asks. The facts are Linux' (`radeon`: `rv515.c`, `r520.c`, `r420.c`,
//! `radeon_irq_kms.c`).

use kernel::{
    io::Io,
    prelude::*, //
};

use crate::{
    portable::posting::MemoryController,
    regs::{
        mc_r520,
        mc_rv515,
        mmio,
        Mc,
        Window, //
    }, //
};

/// A chip of the R5xx family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chipset {
    /// RV505, RV515, RV516, RV550 and their mobile forms (M52, M54, M62, M64, M71): Radeon X1300,
    /// X1550, X2300.
    Rv515,
    /// R520 and its mobile form (M58): Radeon X1800.
    R520,
    /// RV530, RV535 and their mobile forms (M56, M66): Radeon X1600, X1650 Pro.
    Rv530,
    /// RV560: Radeon X1650 XT.
    Rv560,
    /// RV570: Radeon X1950 Pro, X1950 GT.
    Rv570,
    /// R580, R580+ and the mobile form (M59): Radeon X1900, X1950 XTX.
    R580,
}

impl Chipset {
    /// The sequences of this chip.
    pub(crate) fn chip(self) -> &'static dyn Chip {
        match self {
            Chipset::Rv515 => &Rv515,
            Chipset::R520 => &const { R520::new("R520") },
            Chipset::Rv530 => &R520 {
                name: "RV530",
                splits_z: true,
            },
            Chipset::Rv560 => &const { R520::new("RV560") },
            Chipset::Rv570 => &const { R520::new("RV570") },
            Chipset::R580 => &const { R520::new("R580") },
        }
    }
}

/// Where the memory controller places the frame buffer in the GPU's 32-bit address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FbLocation {
    /// First address, in units of 64 KiB.
    pub(crate) start: u16,
    /// Last address, in units of 64 KiB; the unit itself belongs to the frame buffer.
    pub(crate) top: u16,
}

/// What the rest of the driver asks of a chip.
pub(crate) trait Chip: Sync {
    /// The chip's name, as people write it.
    fn name(&self) -> &'static str;

    /// Whether message-signalled interrupts are used when nobody asks for anything else.
    fn msi_by_default(&self) -> bool {
        true
    }

    /// Which memory controller it has.
    fn memory_controller(&self) -> MemoryController {
        MemoryController::R520
    }

    /// Reads where the firmware placed the frame buffer.
    fn fb_location(&self, mc: &Mc<'_>) -> FbLocation;

    /// Places the frame buffer. Nobody accesses memory.
    fn place_fb(&self, mc: &Mc<'_>, location: FbLocation);

    /// Closes the AGP window, which nothing uses on a PCI Express card and which must not lie over
    /// the GART's.
    fn close_agp(&self, mc: &Mc<'_>);

    /// Whether no client of the memory controller has a request under way. Never the case while a
    /// display is scanned out.
    fn mc_idle(&self, mc: &Mc<'_>) -> bool;

    /// Whether a register has to be read before the video BIOS' way through an index and a data
    /// register writes it (Linux, `atom.c`: `atom_iio_execute`).
    fn port_reads_first(&self) -> bool {
        false
    }

    /// Sets up what must be right before the pipes are counted.
    fn before_pipes(&self, _window: Window<'_>) {}

    /// Number of Z pipes.
    fn z_pipes(&self, _window: Window<'_>) -> u32 {
        1
    }

    /// What selects all Z pipes for register writes, on a chip that can select them.
    fn z_pipe_select(&self) -> Option<u32> {
        None
    }
}

/// Value of an AGP location register that opens no window: its start lies behind everything.
const AGP_CLOSED: u32 = u32::MAX;

struct Rv515;

impl Chip for Rv515 {
    fn name(&self) -> &'static str {
        "RV515"
    }

    /// The chip is known to lose a re-arm now and then, after which no interrupt arrives any more.
    fn msi_by_default(&self) -> bool {
        false
    }

    fn memory_controller(&self) -> MemoryController {
        MemoryController::Rv515
    }

    fn port_reads_first(&self) -> bool {
        true
    }

    fn fb_location(&self, mc: &Mc<'_>) -> FbLocation {
        let location: mc_rv515::MC_FB_LOCATION = mc.read();
        FbLocation {
            start: location.mc_fb_start().cast::<u16>().get(),
            top: location.mc_fb_top().cast::<u16>().get(),
        }
    }

    fn place_fb(&self, mc: &Mc<'_>, location: FbLocation) {
        mc.write(
            mc_rv515::MC_FB_LOCATION::zeroed()
                .with_mc_fb_start(location.start)
                .with_mc_fb_top(location.top),
        );
    }

    fn close_agp(&self, mc: &Mc<'_>) {
        mc.write(mc_rv515::MC_AGP_LOCATION::from(AGP_CLOSED));
        mc.write(mc_rv515::MC_AGP_BASE::zeroed());
        mc.write(mc_rv515::MC_AGP_BASE_2::zeroed());
    }

    fn mc_idle(&self, mc: &Mc<'_>) -> bool {
        mc.read::<mc_rv515::MC_STATUS>().mc_idle()
    }
}

/// All but the RV515, between which only the fuses differ, and the RV530's second Z pipe.
struct R520 {
    name: &'static str,
    /// The one raster pipe may feed two Z pipes (R5xx 9.1.15).
    splits_z: bool,
}

impl R520 {
    const fn new(name: &'static str) -> Self {
        Self {
            name,
            splits_z: false,
        }
    }
}

impl Chip for R520 {
    fn name(&self) -> &'static str {
        self.name
    }

    fn fb_location(&self, mc: &Mc<'_>) -> FbLocation {
        let location: mc_r520::MC_FB_LOCATION = mc.read();
        FbLocation {
            start: location.mc_fb_start().cast::<u16>().get(),
            top: location.mc_fb_top().cast::<u16>().get(),
        }
    }

    fn place_fb(&self, mc: &Mc<'_>, location: FbLocation) {
        mc.write(
            mc_r520::MC_FB_LOCATION::zeroed()
                .with_mc_fb_start(location.start)
                .with_mc_fb_top(location.top),
        );
    }

    fn close_agp(&self, mc: &Mc<'_>) {
        mc.write(mc_r520::MC_AGP_LOCATION::from(AGP_CLOSED));
        mc.write(mc_r520::MC_AGP_BASE::zeroed());
        mc.write(mc_r520::MC_AGP_BASE_2::zeroed());
    }

    fn mc_idle(&self, mc: &Mc<'_>) -> bool {
        mc.read::<mc_r520::MC_STATUS>().mc_idle()
    }

    /// Gives every FIFO between scan converter and Z unit its full size, without which the second Z
    /// pipe starves.
    fn before_pipes(&self, window: Window<'_>) {
        if self.splits_z {
            window.write_reg(mmio::GB_FIFO_SIZE2::from(0xff));
        }
    }

    /// Both of the RV530's, if the fuses left both.
    fn z_pipes(&self, window: Window<'_>) -> u32 {
        const BOTH: u32 = 3;
        if self.splits_z && window.read(mmio::GB_PIPE_SELECT2).z_pipes().get() == BOTH {
            2
        } else {
            1
        }
    }

    fn z_pipe_select(&self) -> Option<u32> {
        self.splits_z.then_some(3)
    }
}
