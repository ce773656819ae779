// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The memory controller. The RV515's has other register numbers than that of all the others.

use kernel::prelude::*;

use crate::{
    chip::Chipset,
    regs::{
        mc_r520,
        mc_rv515,
        Mc, //
    },
};

/// Where the memory controller places the frame buffer in the GPU's 32-bit address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FbLocation {
    /// First address, in units of 64 KiB.
    pub(crate) start: u16,
    /// Last address, in units of 64 KiB; the unit itself belongs to the frame buffer.
    pub(crate) top: u16,
}

/// A memory controller.
pub(crate) trait Hal {
    /// Reads where the firmware placed the frame buffer.
    fn fb_location(&self, mc: &Mc<'_>) -> FbLocation;

    /// Places the frame buffer. No engine and no display accesses memory meanwhile.
    fn place_fb(&self, mc: &Mc<'_>, location: FbLocation);

    /// Closes the AGP window, which nothing uses on a PCI Express card and which must not lie over
    /// the GART's.
    fn close_agp(&self, mc: &Mc<'_>);

    /// Returns whether no client of the memory controller has a request under way. Never the case while a
    /// display is scanned out.
    fn is_idle(&self, mc: &Mc<'_>) -> bool;
}

/// The memory controller of a chip.
pub(crate) fn of(chipset: Chipset) -> &'static dyn Hal {
    match chipset {
        Chipset::Rv515 => &Rv515,
        Chipset::R520 | Chipset::Rv530 | Chipset::Rv560 | Chipset::Rv570 | Chipset::R580 => &R520,
    }
}

/// Value of an AGP location register that opens no window: its start lies behind everything.
const AGP_CLOSED: u32 = u32::MAX;

struct Rv515;

impl Hal for Rv515 {
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

    fn is_idle(&self, mc: &Mc<'_>) -> bool {
        mc.read::<mc_rv515::MC_STATUS>().mc_idle()
    }
}

/// That of all but the RV515.
struct R520;

impl Hal for R520 {
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

    fn is_idle(&self, mc: &Mc<'_>) -> bool {
        mc.read::<mc_r520::MC_STATUS>().mc_idle()
    }
}
