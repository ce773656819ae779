// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The GPU's address space.
//!
//! All engines of an R5xx use one 32-bit space of byte addresses. The memory controller divides it into a window on
//! VRAM (`MC_FB_LOCATION`), a window on system memory through the page table of the bus interface (see
//! [`gart`](crate::gart)), and an AGP window, which a PCI Express card does not use.
//!
//! The firmware has placed VRAM when it posted the card, and a display that is scanned out reads by these addresses. So
//! VRAM stays where it is, and the driver puts the system window where there is room.
//!
//! `CONFIG_MEMSIZE` says how much memory the card has. `HDP_FB_LOCATION` says where the host's window on VRAM (BAR 0)
//! begins. The manual has none of this. The facts are from Linux' `radeon` (`rv515_mc_program`,
//! `r100_vram_init_sizes`).

use core::ops::Range;

use kernel::{
    device::Device,
    io::{
        poll,
        register::{
            Array,
            RegisterArray, //
        },
        Io, //
    },
    page::PAGE_SIZE,
    prelude::*,
    sizes::{
        SZ_1M,
        SZ_32M,
        SZ_512M,
        SZ_64K, //
    },
    time::Delta, //
};

use lapidary::family::Layout;

use crate::{
    chip::Chipset,
    display,
    hal::memory::{
        self,
        FbLocation, //
    },
    regs::{
        mmio::*,
        Mc,
        Window, //
    },
};

/// A range of addresses as the GPU sees them.
pub(crate) type GpuRange = Range<u64>;

/// End of the GPU's address space.
const SPACE_END: u64 = 1 << 32;

/// Size of the window on system memory where there is room for it, and the smallest size that is used.
const GTT_SIZE: u64 = SZ_512M as u64;
const GTT_LEAST: u64 = SZ_32M as u64;

/// How long the memory controller may take to become idle. Linux waits as long (`radeon`: `usec_timeout`). The time is
/// long enough for several polls, also in a virtual machine whose CPU is not scheduled for some milliseconds.
const IDLE_TIME: Delta = Delta::from_millis(100);

/// Bytes of a page.
const PAGE: u64 = PAGE_SIZE as u64;

/// Alignment of the window on system memory.
const GTT_ALIGN: u64 = SZ_1M as u64;

/// Return VRAM in GPU addresses: where the firmware placed it, not longer than the card's memory.
///
/// # Errors
///
/// `ENODEV` if the placement makes no sense, after one line in the log.
pub(crate) fn vram(dev: &Device, chipset: Chipset, window: Window<'_>) -> Result<GpuRange> {
    pin_init::stack_pin_init!(let mc = Mc::new(window));
    let size = window.read(CONFIG_MEMSIZE).into_raw();
    let location = memory::of(chipset).fb_location(&mc);
    placed(location, size.into()).ok_or_else(|| {
        dev_err!(
            dev,
            "frame buffer at {:#06x}:{:#06x} (64 KiB units) with {} bytes of memory makes no sense\n",
            location.start,
            location.top,
            size
        );
        ENODEV
    })
}

/// Return where the firmware placed VRAM, in the form that [`restore`] takes.
pub(crate) fn location(chipset: Chipset, window: Window<'_>) -> FbLocation {
    pin_init::stack_pin_init!(let mc = Mc::new(window));
    memory::of(chipset).fb_location(&mc)
}

/// Put VRAM back to `location`, so that it is at `vram` again. The card has lost its settings, and posting may have
/// placed VRAM elsewhere.
///
/// # Errors
///
/// `EIO` after one line in the log if a display already reads from another place, or if the amount of memory differs.
pub(crate) fn restore(
    dev: &Device,
    chipset: Chipset,
    window: Window<'_>,
    location: FbLocation,
    vram: &GpuRange,
) -> Result {
    pin_init::stack_pin_init!(let mc = Mc::new(window));
    if memory::of(chipset).fb_location(&mc) != location {
        if display::is_on(window) {
            dev_err!(dev, "a display reads VRAM at another address than before\n");
            return Err(EIO);
        }
        await_idle(dev, chipset, &mc);
        memory::of(chipset).place_fb(&mc, location);
    }
    let size = window.read(CONFIG_MEMSIZE).into_raw();
    if placed(location, size.into()).as_ref() != Some(vram) {
        dev_err!(
            dev,
            "the card has another amount of memory than before: {:#x}\n",
            size
        );
        return Err(EIO);
    }
    Ok(())
}

/// Wait until no client of the memory controller accesses memory. Log a line if that does not happen.
fn await_idle(dev: &Device, chipset: Chipset, mc: &Mc<'_>) {
    let idle = poll::read_poll_timeout(
        || Ok(memory::of(chipset).is_idle(mc)),
        |idle| *idle,
        Delta::from_micros(10),
        IDLE_TIME,
    );
    if idle.is_err() {
        dev_warn!(dev, "memory controller does not become idle\n");
    }
}

/// Return the range of `size` bytes of memory at `location`, in whole pages; none if it is empty.
fn placed(location: FbLocation, size: u64) -> Option<GpuRange> {
    const UNIT: u64 = SZ_64K as u64;
    let start = u64::from(location.start) * UNIT;
    let end = (u64::from(location.top) + 1) * UNIT;
    let size = end.checked_sub(start)?.min(size);
    let size = size - size % PAGE;
    (size != 0).then_some(start..start + size)
}

/// Return the place of the window on system memory: behind VRAM, or before it.
///
/// Its size is the largest power of two up to 512 MiB for which there is room.
///
/// # Errors
///
/// `ENOSPC` if there are not 32 MiB on either side.
pub(crate) fn gtt(vram: &GpuRange) -> Result<GpuRange> {
    let mut size = GTT_SIZE;
    while size >= GTT_LEAST {
        let start = vram.end.next_multiple_of(GTT_ALIGN);
        if start + size <= SPACE_END {
            return Ok(start..start + size);
        }
        if size <= vram.start {
            let start = (vram.start - size) / GTT_ALIGN * GTT_ALIGN;
            return Ok(start..start + size);
        }
        size /= 2;
    }
    Err(ENOSPC)
}

/// Set up the windows of the address space. VRAM stays where it is. The host reaches it through all `bar_size` bytes of
/// BAR 0, without tiling. The AGP window is closed.
pub(crate) fn arrange(
    dev: &Device,
    chipset: Chipset,
    window: Window<'_>,
    layout: &Layout,
    bar_size: u64,
) {
    pin_init::stack_pin_init!(let mc = Mc::new(window));
    // A display always keeps the memory controller busy. It reads VRAM, whose window does not change.
    if !display::is_on(window) {
        await_idle(dev, chipset, &mc);
    }
    memory::of(chipset).close_agp(&mc);
    open_host_window(window, &layout.vram, bar_size);
    clear_surfaces(window, &layout.reserved);
}

/// Switch off the tiled surfaces of the host's window on VRAM. A surface that begins in a reserved range stays, and is
/// made to end with that range. `reserved` are offsets in VRAM.
///
/// A CPU that writes through a surface without knowing of it writes to other places. Clients' objects lie in all of
/// VRAM that is not reserved.
fn clear_surfaces(window: Window<'_>, reserved: &[Range<u64>]) {
    for index in 0..<SURFACE_INFO as RegisterArray>::SIZE {
        let (Some(lower), Some(upper), Some(info)) = (
            SURFACE_LOWER_BOUND::try_at(index),
            SURFACE_UPPER_BOUND::try_at(index),
            SURFACE_INFO::try_at(index),
        ) else {
            break;
        };
        let first = u64::from(window.read(lower).into_raw());
        let last = u64::from(window.read(upper).into_raw());
        let around = reserved.iter().filter(|range| range.contains(&first));
        // Reserved ranges are widened to whole pages.
        let end = around.map(|range| range.end.div_ceil(PAGE) * PAGE).max();
        match end.map(|end| u32::try_from(end - 1)) {
            Some(Ok(end)) if last > u64::from(end) => {
                if let Some(upper) = SURFACE_UPPER_BOUND::try_at(index) {
                    window.write(upper, end.into());
                }
            }
            Some(_) => {}
            None => window.write(info, SURFACE_INFO::zeroed()),
        }
    }
}

/// Let the host reach VRAM through all of BAR 0. Write only the registers that the firmware has set otherwise.
fn open_host_window(window: Window<'_>, vram: &GpuRange, bar_size: u64) {
    // CAST: VRAM lies below 4 GiB, so that 16 bits are left.
    let start = (vram.start >> 16) as u16;
    if window.read(HDP_FB_LOCATION).hdp_fb_start().get() != u32::from(start) {
        window.write_reg(HDP_FB_LOCATION::zeroed().with_hdp_fb_start(start));
    }
    // The host's window has two halves. The second answers only if it is enabled.
    if bar_size > u64::from(window.read(CONFIG_APER_SIZE).into_raw()) {
        let host_path = window.read(HOST_PATH_CNTL);
        if !host_path.hdp_aper_cntl() {
            window.write_reg(host_path.with_hdp_aper_cntl(true));
        }
    }
}

#[kunit_tests(r500_mc)]
mod tests {
    use super::*;
    use crate::regs::fake;

    #[test]
    fn surfaces_go_but_not_the_firmwares() -> Result {
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        let tiled = SURFACE_INFO::from(u32::MAX);
        window.write(SURFACE_INFO::at(0), tiled);
        window.write(SURFACE_LOWER_BOUND::at(0), 0x10_0000.into());
        window.write(SURFACE_UPPER_BOUND::at(0), 0x1f_ffff.into());
        window.write(SURFACE_INFO::at(7), tiled);
        window.write(SURFACE_LOWER_BOUND::at(7), 0x20_0000.into());
        window.write(SURFACE_UPPER_BOUND::at(7), 0x2f_ffff.into());

        clear_surfaces(window, &[0..0x4_0000, 0x10_0000..0x20_0000, 0..0]);
        let left = |index| Some(window.read(SURFACE_INFO::try_at(index)?).into_raw());
        assert_eq!(left(0), Some(u32::MAX));
        assert_eq!(left(7), Some(0));
        let upper = |index| Some(window.read(SURFACE_UPPER_BOUND::try_at(index)?).into_raw());
        assert_eq!(upper(0), Some(0x1f_ffff));

        // What is not reserved does not lie in it any more.
        clear_surfaces(window, &[0..0x10_0001, 0x10_0000..0x10_8001, 0..0]);
        assert_eq!((left(0), upper(0)), (Some(u32::MAX), Some(0x10_8fff)));
        clear_surfaces(window, &[0..0x10_0000, 0x10_0001..0x20_0000, 0..0]);
        assert_eq!(left(0), Some(0));
        Ok(())
    }

    #[test]
    fn vram_is_no_longer_than_its_window() {
        let location = FbLocation {
            start: 0xd000,
            top: 0xdfff,
        };
        assert_eq!(
            placed(location, 0x1000_0000),
            Some(0xd000_0000..0xe000_0000)
        );
        assert_eq!(
            placed(location, 0x2000_0000),
            Some(0xd000_0000..0xe000_0000)
        );
        assert_eq!(
            placed(location, 0x0800_0fff),
            Some(0xd000_0000..0xd800_0000)
        );
    }

    #[test]
    fn senseless_vram_is_refused() {
        assert_eq!(placed(FbLocation { start: 2, top: 0 }, 0x1000_0000), None);
        assert_eq!(
            placed(
                FbLocation {
                    start: 0,
                    top: 0xfff
                },
                0
            ),
            None
        );
        assert_eq!(
            placed(
                FbLocation {
                    start: 0,
                    top: 0xfff
                },
                0xfff
            ),
            None
        );
    }

    #[test]
    fn system_window_keeps_off_vram() {
        let cases = [
            (0..0x1000_0000, Some(0x1000_0000..0x3000_0000)),
            (0xd000_0000..0xe000_0000, Some(0xe000_0000..0x1_0000_0000)),
            (0xe000_0000..0xf000_0000, Some(0xc000_0000..0xe000_0000)),
            (0..0xf000_0000, Some(0xf000_0000..0x1_0000_0000)),
            (0..0xff00_0000, None),
        ];
        for (vram, want) in cases {
            assert_eq!(gtt(&vram).ok(), want);
        }
    }

    #[test]
    fn the_host_reaches_vram_through_the_whole_bar() -> Result {
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        let vram = 0xc000_0000..0xd000_0000;
        let other = HOST_PATH_CNTL::from(1);
        window.write_reg(CONFIG_APER_SIZE::from(0x800_0000));
        window.write_reg(HDP_FB_LOCATION::from(0x1234));
        window.write_reg(other);
        open_host_window(window, &vram, 0x800_0000);
        assert_eq!(window.read(HDP_FB_LOCATION).into_raw(), 0xc000);
        // One half is all there is.
        assert_eq!(window.read(HOST_PATH_CNTL).into_raw(), other.into_raw());
        open_host_window(window, &vram, 0x1000_0000);
        let both = other.with_hdp_aper_cntl(true);
        assert_eq!(window.read(HOST_PATH_CNTL).into_raw(), both.into_raw());
        Ok(())
    }
}
