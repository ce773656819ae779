// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The display that the firmware left running.
//!
//! A posted card usually shows something: a VGA text screen, which the VGA core reads from 256 KiB of VRAM, or a frame
//! buffer, which one of the two CRTCs scans out. This driver does not drive the display and keeps that picture. It
//! reads from registers where the picture lies, reserves that VRAM, and changes no register that the picture depends
//! on.
//!
//! It does switch off the interrupts of the display. The firmware serves none once an operating system runs. A pending
//! interrupt that is never acknowledged would hold the interrupt line of all devices that share it.
//!
//! The manual has no display registers. Names and fields are those of Linux' `radeon` (`r500_reg.h`, `rs600d.h`).

use core::ops::Range;

use kernel::{
    io::Io,
    prelude::*, //
};

use lapidary::portable::scanout;

use crate::{
    mc::GpuRange,
    regs::{
        mmio::*,
        Window, //
    },
};

/// Rows are reserved in multiples of the tallest tile, for a tiled frame buffer.
const TILE_ROWS: u64 = 16;

/// Scan-out of one CRTC.
type Scanout = scanout::Scanout<TILE_ROWS>;

/// Return whether a CRTC is on.
pub(crate) fn is_on(window: Window<'_>) -> bool {
    window.read(D1CRTC_CONTROL).crtc_master_en() || window.read(D2CRTC_CONTROL).crtc_master_en()
}

/// Return the ranges of VRAM that must not change, as [`scanout::reserved`].
pub(crate) fn reserved(window: Window<'_>, vram: &GpuRange) -> [Range<u64>; 4] {
    let vga = window.read(VGA_MEMORY_BASE_ADDRESS).into_raw();
    let first = window
        .read(D1CRTC_CONTROL)
        .crtc_master_en()
        .then(|| Scanout {
            address: window.read(D1GRPH_PRIMARY_SURFACE_ADDRESS).into_raw(),
            pitch: window.read(D1GRPH_PITCH).into_raw(),
            rows: window.read(D1GRPH_Y_END).into_raw(),
            depth: window.read(D1GRPH_CONTROL).grph_depth().get(),
        });
    let second = window
        .read(D2CRTC_CONTROL)
        .crtc_master_en()
        .then(|| Scanout {
            address: window.read(D2GRPH_PRIMARY_SURFACE_ADDRESS).into_raw(),
            pitch: window.read(D2GRPH_PITCH).into_raw(),
            rows: window.read(D2GRPH_Y_END).into_raw(),
            depth: window.read(D2GRPH_CONTROL).grph_depth().get(),
        });
    scanout::reserved(vga, [first, second], vram)
}

/// Switch off the display's interrupts and acknowledge those pending. The picture does not depend on them.
///
/// Any context.
pub(crate) fn silence(window: Window<'_>) {
    window.write_reg(DXMODE_INT_MASK::zeroed());
    window.update(DC_HOT_PLUG_DETECT1_INT_CONTROL, |hpd| {
        hpd.with_int_en(false).with_int_ack(true)
    });
    window.update(DC_HOT_PLUG_DETECT2_INT_CONTROL, |hpd| {
        hpd.with_int_en(false).with_int_ack(true)
    });
    window.write_reg(D1MODE_VBLANK_STATUS::zeroed().with_vblank_ack(true));
    window.write_reg(D2MODE_VBLANK_STATUS::zeroed().with_vblank_ack(true));
}

#[kunit_tests(r500_display)]
mod tests {
    use super::*;
    use crate::regs::fake;

    const VRAM: GpuRange = 0xd000_0000..0xe000_0000;

    #[test]
    fn each_display_has_its_own_scanout() -> Result {
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        window.write_reg(VGA_MEMORY_BASE_ADDRESS::from(0xd008_0000));
        window.write_reg(D1GRPH_PRIMARY_SURFACE_ADDRESS::from(0xd010_0000));
        window.write_reg(D1GRPH_PITCH::from(1024));
        window.write_reg(D1GRPH_Y_END::from(768));
        window.write_reg(D1GRPH_CONTROL::from(2));
        window.write_reg(D2GRPH_PRIMARY_SURFACE_ADDRESS::from(0xd080_0000));
        window.write_reg(D2GRPH_PITCH::from(512));
        window.write_reg(D2GRPH_Y_END::from(480));
        window.write_reg(D2GRPH_CONTROL::from(1));
        let vga = [0..0x4_0000, 0x8_0000..0xc_0000];
        let first = 0x10_0000..0x10_0000 + 1024 * 768 * 4;
        let second = 0x80_0000..0x80_0000 + 512 * 480 * 2;
        let kept = |first, second| {
            let [low, high] = vga.clone();
            reserved(window, &VRAM) == [low, high, first, second]
        };

        assert!(!is_on(window) && kept(0..0, 0..0));
        window.write_reg(D1CRTC_CONTROL::zeroed().with_crtc_master_en(true));
        assert!(is_on(window) && kept(first.clone(), 0..0));
        window.write_reg(D2CRTC_CONTROL::zeroed().with_crtc_master_en(true));
        assert!(is_on(window) && kept(first, second.clone()));
        window.write_reg(D1CRTC_CONTROL::zeroed());
        assert!(is_on(window) && kept(0..0, second));
        Ok(())
    }

    #[test]
    fn a_silent_display_has_no_source_left() -> Result {
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        window.write_reg(DXMODE_INT_MASK::from(u32::MAX));
        let plugs = DC_HOT_PLUG_DETECT1_INT_CONTROL::zeroed().with_int_en(true);
        window.write_reg(plugs);
        window.write_reg(DC_HOT_PLUG_DETECT2_INT_CONTROL::from(plugs.into_raw()));
        silence(window);
        assert_eq!(window.read(DXMODE_INT_MASK).into_raw(), 0);
        let first = window.read(DC_HOT_PLUG_DETECT1_INT_CONTROL);
        assert!(!first.int_en() && first.int_ack());
        let second = window.read(DC_HOT_PLUG_DETECT2_INT_CONTROL);
        assert!(!second.int_en() && second.int_ack());
        assert!(window.read(D1MODE_VBLANK_STATUS).vblank_ack());
        assert!(window.read(D2MODE_VBLANK_STATUS).vblank_ack());
        Ok(())
    }
}
