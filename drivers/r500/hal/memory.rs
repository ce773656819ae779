// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The memory controller. On the RV515 its registers have other numbers than on all other chips.

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
    /// Read where the firmware placed the frame buffer.
    fn fb_location(&self, mc: &Mc<'_>) -> FbLocation;

    /// Place the frame buffer. No engine and no display accesses memory meanwhile.
    fn place_fb(&self, mc: &Mc<'_>, location: FbLocation);

    /// Close the AGP window. A PCI Express card does not use it, and it must not overlap the GART's window.
    fn close_agp(&self, mc: &Mc<'_>);

    /// Return whether no client of the memory controller has a request under way. While a display is scanned out it is
    /// never idle.
    fn is_idle(&self, mc: &Mc<'_>) -> bool;
}

/// Return the memory controller of a chip.
pub(crate) fn of(chipset: Chipset) -> &'static dyn Hal {
    match chipset {
        Chipset::Rv515 => &Rv515,
        Chipset::R520 | Chipset::Rv530 | Chipset::Rv560 | Chipset::Rv570 | Chipset::R580 => &R520,
    }
}

/// Value of an AGP location register that opens no window: its start is the last address.
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

/// The memory controller of all chips but the RV515.
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
