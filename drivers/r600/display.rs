// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The display that the firmware left running.
//!
//! A posted card usually shows something: a VGA text screen, which the VGA core reads from 256 KiB of VRAM, or a frame
//! buffer, which one of the two CRTCs scans out. This driver does not drive the display and keeps that picture. It
//! reads from registers where the picture lies, reserves that VRAM, and changes no register that the picture depends
//! on. While the memory controller is set up the displays read nothing ([`pause`]). Then the screen is blank for some
//! pictures.
//!
//! The driver does switch off the interrupts of the display. The firmware serves none once an operating system runs.
//!
//! Names and fields are those of Linux' `radeon` (`r500_reg.h`, `r600d.h`, `rv515_mc_stop`).

use core::ops::Range;

use kernel::{
    io::{
        poll,
        Io, //
    },
    prelude::*,
    time::Delta, //
};

use lapidary::portable::scanout;

use crate::{
    chip::Chipset,
    hal,
    mc::GpuRange,
    regs::{
        mmio::*,
        Window, //
    },
};

/// Rows are reserved in multiples of the tallest tile, for a tiled frame buffer: eight pipes with eight rows each.
const TILE_ROWS: u64 = 64;

/// Time in which a display begins its next picture.
const PICTURE_TIME: Delta = Delta::from_millis(100);

/// Scan-out of one CRTC.
type Scanout = scanout::Scanout<TILE_ROWS>;

/// Return whether a CRTC is on.
pub(crate) fn is_on(window: Window<'_>) -> bool {
    window.read(D1CRTC_CONTROL).crtc_en() || window.read(D2CRTC_CONTROL).crtc_en()
}

/// Return the ranges of VRAM that must not change, as [`scanout::reserved`].
pub(crate) fn reserved(window: Window<'_>, vram: &GpuRange) -> [Range<u64>; 4] {
    let vga = window.read(VGA_MEMORY_BASE_ADDRESS).into_raw();
    let first = window.read(D1CRTC_CONTROL).crtc_en().then(|| Scanout {
        address: window.read(D1GRPH_PRIMARY_SURFACE_ADDRESS).into_raw(),
        pitch: window.read(D1GRPH_PITCH).into_raw(),
        rows: window.read(D1GRPH_Y_END).into_raw(),
        depth: window.read(D1GRPH_CONTROL).grph_depth().get(),
    });
    let second = window.read(D2CRTC_CONTROL).crtc_en().then(|| Scanout {
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
pub(crate) fn silence(chipset: Chipset, window: Window<'_>) {
    window.write_reg(DXMODE_INT_MASK::zeroed());
    window.write_reg(D1GRPH_INTERRUPT_CONTROL::zeroed());
    window.write_reg(D2GRPH_INTERRUPT_CONTROL::zeroed());
    hal::display::of(chipset).silence_plugs(window);
    window.write_reg(D1MODE_VBLANK_STATUS::zeroed().with_d1mode_vblank_ack(true));
    window.write_reg(D2MODE_VBLANK_STATUS::zeroed().with_d2mode_vblank_ack(true));
    window.write_reg(D1MODE_VLINE_STATUS::zeroed().with_d1mode_vline_ack(true));
    window.write_reg(D2MODE_VLINE_STATUS::zeroed().with_d2mode_vline_ack(true));
}

/// Displays that read no memory, and how they go on.
#[must_use]
pub(crate) struct Paused {
    first: bool,
    second: bool,
    vga: VGA_RENDER_CONTROL,
}

/// Let no display read memory.
///
/// Sleeps until the displays that run have ended their pictures, for up to 100 ms each.
pub(crate) fn pause(window: Window<'_>) -> Paused {
    let vga = window.read(VGA_RENDER_CONTROL);
    window.write_reg(VGA_RENDER_CONTROL::zeroed());
    let reads = |enabled: bool, disabled: bool| enabled && !disabled;
    let control = window.read(D1CRTC_CONTROL);
    let first = reads(control.crtc_en(), control.crtc_disp_read_request_disable());
    let control = window.read(D2CRTC_CONTROL);
    let second = reads(control.crtc_en(), control.crtc_disp_read_request_disable());
    if first {
        read_first(window, false);
        next_picture(|| window.read(D1CRTC_STATUS_FRAME_COUNT).into_raw());
    }
    if second {
        read_second(window, false);
        next_picture(|| window.read(D2CRTC_STATUS_FRAME_COUNT).into_raw());
    }
    Paused { first, second, vga }
}

/// Let the displays read memory again.
pub(crate) fn go_on(window: Window<'_>, paused: Paused) {
    if paused.first {
        read_first(window, true);
    }
    if paused.second {
        read_second(window, true);
    }
    window.write_reg(paused.vga);
}

/// Let the first display read memory from its next picture on, or not.
fn read_first(window: Window<'_>, on: bool) {
    window.write_reg(D1CRTC_UPDATE_LOCK::from(1));
    window.update(D1CRTC_CONTROL, |control| {
        control.with_crtc_disp_read_request_disable(!on)
    });
    window.write_reg(D1CRTC_UPDATE_LOCK::from(0));
}

/// As [`read_first`], for the second display.
fn read_second(window: Window<'_>, on: bool) {
    window.write_reg(D2CRTC_UPDATE_LOCK::from(1));
    window.update(D2CRTC_CONTROL, |control| {
        control.with_crtc_disp_read_request_disable(!on)
    });
    window.write_reg(D2CRTC_UPDATE_LOCK::from(0));
}

/// Wait until the number of pictures shown, `count`, changes. A display that does not count is not waited for any
/// longer.
fn next_picture(count: impl Fn() -> u32) {
    let before = count();
    let _ = poll::read_poll_timeout(
        || Ok(count()),
        |now| *now != before,
        Delta::from_micros(100),
        PICTURE_TIME,
    );
}

#[kunit_tests(r600_display)]
mod tests {
    use super::*;
    use crate::regs::fake;

    const VRAM: GpuRange = 0x1000_0000..0x2000_0000;

    #[test]
    fn each_display_has_its_own_scanout() -> Result {
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        window.write_reg(VGA_MEMORY_BASE_ADDRESS::from(0x1008_0000));
        window.write_reg(D1GRPH_PRIMARY_SURFACE_ADDRESS::from(0x1010_0000));
        window.write_reg(D1GRPH_PITCH::from(1024));
        window.write_reg(D1GRPH_Y_END::from(768));
        window.write_reg(D1GRPH_CONTROL::from(2));
        window.write_reg(D2GRPH_PRIMARY_SURFACE_ADDRESS::from(0x1080_0000));
        window.write_reg(D2GRPH_PITCH::from(512));
        window.write_reg(D2GRPH_Y_END::from(512));
        window.write_reg(D2GRPH_CONTROL::from(1));
        let vga = [0..0x4_0000, 0x8_0000..0xc_0000];
        let first = 0x10_0000..0x10_0000 + 1024 * 768 * 4;
        let second = 0x80_0000..0x80_0000 + 512 * 512 * 2;
        let kept = |first, second| {
            let [low, high] = vga.clone();
            reserved(window, &VRAM) == [low, high, first, second]
        };

        assert!(!is_on(window) && kept(0..0, 0..0));
        window.write_reg(D1CRTC_CONTROL::zeroed().with_crtc_en(true));
        assert!(is_on(window) && kept(first.clone(), 0..0));
        window.write_reg(D2CRTC_CONTROL::zeroed().with_crtc_en(true));
        assert!(is_on(window) && kept(first, second.clone()));
        window.write_reg(D1CRTC_CONTROL::zeroed());
        assert!(is_on(window) && kept(0..0, second));
        Ok(())
    }

    /// Only what has read memory before reads it afterwards.
    #[test]
    fn a_paused_display_goes_on() -> Result {
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        let on = D1CRTC_CONTROL::zeroed().with_crtc_en(true);
        window.write_reg(on);
        let quiet = D2CRTC_CONTROL::zeroed()
            .with_crtc_en(true)
            .with_crtc_disp_read_request_disable(true);
        window.write_reg(quiet);
        window.write_reg(VGA_RENDER_CONTROL::from(0x3_0000));

        let paused = pause(window);
        assert!(window.read(D1CRTC_CONTROL).crtc_en());
        assert!(window.read(D1CRTC_CONTROL).crtc_disp_read_request_disable());
        assert_eq!(window.read(VGA_RENDER_CONTROL).into_raw(), 0);
        go_on(window, paused);
        assert_eq!(window.read(D1CRTC_CONTROL).into_raw(), on.into_raw());
        assert_eq!(window.read(D2CRTC_CONTROL).into_raw(), quiet.into_raw());
        assert_eq!(window.read(D1CRTC_UPDATE_LOCK).into_raw(), 0);
        assert_eq!(window.read(VGA_RENDER_CONTROL).into_raw(), 0x3_0000);
        Ok(())
    }

    #[test]
    fn a_silent_display_has_no_source_left() -> Result {
        for chipset in [
            Chipset::R600,
            Chipset::Rv635,
            Chipset::Rv770,
            Chipset::Rv730,
        ] {
            let mut memory = fake::Memory::new()?;
            let window = memory.window()?;
            window.write_reg(DXMODE_INT_MASK::from(u32::MAX));
            window.write_reg(D1GRPH_INTERRUPT_CONTROL::from(u32::MAX));
            let plugs = hal::display::of(chipset).plugs();
            for control in plugs {
                window.try_write32(hal::display::PLUG_ENABLE, *control as usize)?;
            }
            silence(chipset, window);
            assert_eq!(window.read(DXMODE_INT_MASK).into_raw(), 0);
            assert_eq!(window.read(D1GRPH_INTERRUPT_CONTROL).into_raw(), 0);
            assert!(plugs.len() >= 3);
            for control in plugs {
                let value = window.try_read32(*control as usize)?;
                assert_eq!(value, hal::display::PLUG_ACK);
            }
            assert!(window.read(D1MODE_VBLANK_STATUS).d1mode_vblank_ack());
            assert!(window.read(D2MODE_VBLANK_STATUS).d2mode_vblank_ack());
        }
        Ok(())
    }
}
