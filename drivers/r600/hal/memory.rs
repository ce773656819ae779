// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The memory controller. Both generations have the same registers at different places. That of R7xx is called by its
//! blocks, and its bits for the geometry of the memory lie elsewhere.
//!
//! The facts are from Linux' `radeon` (`r600_mc_program`, `rv770_mc_program`, `rv515_mc_stop`).

use kernel::{
    io::Io,
    prelude::*, //
};

use crate::{
    chip::{
        Chipset,
        Generation, //
    },
    regs::{
        mmio::SRBM_STATUS,
        Window, //
    },
};

/// Where the memory controller places VRAM in the GPU's address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Location {
    /// First address, in units of 16 MiB.
    pub(crate) base: u16,
    /// Last address, in units of 16 MiB; the unit itself belongs to VRAM.
    pub(crate) top: u16,
}

/// A memory controller.
pub(crate) trait Hal: Sync {
    /// Read where VRAM is.
    fn location(&self, window: Window<'_>) -> Location;

    /// Place VRAM. No client accesses memory meanwhile.
    fn place(&self, window: Window<'_>, location: Location);

    /// Set the system aperture to the pages from `first` to `last`, of 4 KiB. What lies there is not translated.
    ///
    /// # Errors
    ///
    /// `EINVAL` if a number does not fit.
    fn set_aperture(&self, window: Window<'_>, first: u32, last: u32) -> Result;

    /// Close the AGP window, which a PCI Express card does not use.
    fn close_agp(&self, window: Window<'_>) -> Result;

    /// Keep clients from memory, or let them access it again.
    fn close(&self, window: Window<'_>, closed: bool);
}

/// Return the memory controller of a chip.
pub(crate) fn of(chipset: Chipset) -> &'static dyn Hal {
    match chipset.generation() {
        Generation::R6xx => &R6xx,
        Generation::R7xx => &R7xx,
    }
}

/// Return whether no client of the memory controller has a request under way. The host is a client, too.
pub(crate) fn is_idle(window: Window<'_>) -> bool {
    let status = window.read(SRBM_STATUS);
    let busy = status.vmc_busy()
        || status.mcb_busy()
        || status.mcdz_busy()
        || status.mcdy_busy()
        || status.mcdx_busy()
        || status.mcdw_busy();
    !busy
}

/// Address of an AGP window that is closed: it begins and ends at the last address.
const AGP_CLOSED: u32 = 0x3_ffff;

/// Both bits keep clients from memory.
const BLACKOUT: u32 = 3;

/// Implements [`Hal`] for the generation whose registers are in a module of [`crate::regs`].
macro_rules! hal {
    ($name:ident, $map:ident, $control:ident) => {
        struct $name;

        impl Hal for $name {
            fn location(&self, window: Window<'_>) -> Location {
                let location = window.read(crate::regs::$map::MC_VM_FB_LOCATION);
                Location {
                    base: location.fb_base().cast::<u16>().get(),
                    top: location.fb_top().cast::<u16>().get(),
                }
            }

            fn place(&self, window: Window<'_>, location: Location) {
                window.write_reg(
                    crate::regs::$map::MC_VM_FB_LOCATION::zeroed()
                        .with_fb_base(location.base)
                        .with_fb_top(location.top),
                );
            }

            fn set_aperture(&self, window: Window<'_>, first: u32, last: u32) -> Result {
                use crate::regs::$map::*;
                let low = MC_VM_SYSTEM_APERTURE_LOW_ADDR::zeroed();
                let high = MC_VM_SYSTEM_APERTURE_HIGH_ADDR::zeroed();
                let default = MC_VM_SYSTEM_APERTURE_DEFAULT_ADDR::zeroed();
                window.write_reg(low.try_with_logical_page_number(first)?);
                window.write_reg(high.try_with_logical_page_number(last)?);
                // No address of the aperture is without memory.
                window.write_reg(default.try_with_physical_page_number(first)?);
                Ok(())
            }

            fn close_agp(&self, window: Window<'_>) -> Result {
                use crate::regs::$map::*;
                window.write_reg(MC_VM_AGP_BASE::zeroed());
                window.write_reg(MC_VM_AGP_TOP::zeroed().try_with_agp_top(AGP_CLOSED)?);
                window.write_reg(MC_VM_AGP_BOT::zeroed().try_with_agp_bot(AGP_CLOSED)?);
                Ok(())
            }

            fn close(&self, window: Window<'_>, closed: bool) {
                window.update(crate::regs::$map::$control, |control| match closed {
                    true => control.with_const_blackout::<{ BLACKOUT }>(),
                    false => control.with_const_blackout::<0>(),
                });
            }
        }
    };
}

hal!(R6xx, mmio_r6xx, CITF_CNTL);
hal!(R7xx, mmio_r7xx, MC_CITF_CNTL);
