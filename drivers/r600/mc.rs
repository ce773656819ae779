// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The GPU's address space.
//!
//! All engines use one space of byte addresses. The memory controller says where VRAM is (`MC_VM_FB_LOCATION`). The
//! *system aperture*, which this driver lays over VRAM, is the part that is not translated. Everything else goes through
//! VM context 0 (see [`vm`](crate::vm)). An AGP window exists, too, and is closed. Addresses have 40 bits, of which the
//! driver uses 32, because some registers have no more.
//!
//! The firmware has placed VRAM when it posted the card, and a display that is scanned out reads by these addresses. So
//! VRAM stays where it is, and the driver puts the system window where there is room. If no display runs and the place
//! of VRAM has no room for it, the driver moves it to address zero.
//!
//! What must not happen while a client accesses memory is done between [`stop`] and [`resume`]. The displays pause, the
//! host's way to VRAM is closed, and the memory controller keeps its clients waiting.
//!
//! `CONFIG_MEMSIZE` says how much memory the card has, `HDP_NONSURFACE_BASE` where the host's window on VRAM (BAR 0)
//! begins. The facts are from Linux' `radeon` (`r600_mc_program`, `rv770_mc_program`, `rv515_mc_stop`).

use core::ops::Range;

use kernel::{
    device::Device,
    io::{
        poll,
        Io, //
    },
    page::PAGE_SIZE,
    prelude::*,
    sizes::{
        SZ_1G,
        SZ_1M,
        SZ_32M,
        SZ_512M, //
    },
    time::{
        delay::fsleep,
        Delta, //
    },
};

use lapidary::{
    family::Layout,
    portable::bits::RegArray, //
};

use crate::{
    chip::{
        Chipset,
        Generation, //
    },
    display,
    hal::memory,
    hdp,
    portable::regs,
    regs::{
        mmio::*,
        Far,
        Window, //
    },
};

pub(crate) use memory::Location;

/// A range of addresses as the GPU sees them.
pub(crate) type GpuRange = Range<u64>;

/// End of the addresses that the driver uses.
const SPACE_END: u64 = 1 << 32;

/// The most VRAM that is used, so that there is room for system memory.
const VRAM_MOST: u64 = 0xe000_0000;

/// The smallest window on system memory that is used.
const GTT_LEAST: u64 = SZ_32M as u64;

/// How long the memory controller may take to become idle. Linux waits as long (`radeon`: `usec_timeout`). The time is
/// long enough for several polls, also in a virtual machine whose CPU is not scheduled for some milliseconds.
const IDLE_TIME: Delta = Delta::from_millis(100);

/// Time in which accesses that have begun come to an end.
const SETTLE_TIME: Delta = Delta::from_micros(100);

/// Bytes of a page.
const PAGE: u64 = PAGE_SIZE as u64;

/// Alignment of the window on system memory.
const GTT_ALIGN: u64 = SZ_1M as u64;

/// The words of the host's surfaces.
const SURFACES: [RegArray; 5] = [
    regs::mmio::HDP_SURFACE_WORD0,
    regs::mmio::HDP_SURFACE_WORD1,
    regs::mmio::HDP_SURFACE_WORD2,
    regs::mmio::HDP_SURFACE_WORD3,
    regs::mmio::HDP_SURFACE_WORD4,
];

/// Format of the host's window: dwords, no tiling (Linux).
const HOST_FORMAT: u32 = 2 << 7;
/// Size of the host's window: all of VRAM.
const HOST_SIZE: u32 = 0x3fff_ffff;

/// Return VRAM in GPU addresses: where the firmware placed it, or where the driver will, not longer than the card's
/// memory.
///
/// # Errors
///
/// `ENODEV` if the placement makes no sense, after one line in the log.
pub(crate) fn vram(dev: &Device, chipset: Chipset, window: Window<'_>) -> Result<GpuRange> {
    let size = memory_size(window);
    let location = location(chipset, window);
    placed(location, size).ok_or_else(|| {
        dev_err!(
            dev,
            "VRAM at {:#06x}:{:#06x} (16 MiB units) with {:#x} bytes of memory makes no sense\n",
            location.base,
            location.top,
            size
        );
        ENODEV
    })
}

/// Return how much memory the card has, as far as it is used.
fn memory_size(window: Window<'_>) -> u64 {
    u64::from(window.read(CONFIG_MEMSIZE).into_raw()).min(VRAM_MOST)
}

/// Return where VRAM is, or where [`arrange`] will place it.
pub(crate) fn location(chipset: Chipset, window: Window<'_>) -> Location {
    let found = memory::of(chipset).location(window);
    choose(found, memory_size(window), display::is_on(window))
}

/// Return where `size` bytes of VRAM should be that are at `found`. They stay there if they fit or `shown`.
fn choose(found: Location, size: u64, shown: bool) -> Location {
    let whole = |range: GpuRange| range.end - range.start == size - size % PAGE;
    if shown || placed(found, size).is_some_and(whole) {
        return found;
    }
    Location {
        base: 0,
        // CAST: there are less than 4 GiB.
        top: (size.saturating_sub(1) >> 24) as u16,
    }
}

/// Return the range of `size` bytes of memory at `location`, in whole pages; none if it is empty or leaves the space.
fn placed(location: Location, size: u64) -> Option<GpuRange> {
    let start = u64::from(location.base) << 24;
    let end = (u64::from(location.top) + 1) << 24;
    let size = end.checked_sub(start)?.min(size);
    let size = size - size % PAGE;
    (size != 0 && start + size <= SPACE_END).then_some(start..start + size)
}

/// Return the place of the window on system memory: behind VRAM, or before it.
///
/// Its size is that of Linux, 512 MiB for R6xx and 1 GiB for R7xx, or the largest power of two for which there is room.
///
/// # Errors
///
/// `ENOSPC` if there are not 32 MiB on either side.
pub(crate) fn gtt(chipset: Chipset, vram: &GpuRange) -> Result<GpuRange> {
    let mut size = match chipset.generation() {
        Generation::R6xx => SZ_512M as u64,
        Generation::R7xx => SZ_1G as u64,
    };
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
    location: Location,
    vram: &GpuRange,
) -> Result {
    let hal = memory::of(chipset);
    if hal.location(window) != location {
        if display::is_on(window) {
            dev_err!(dev, "a display reads VRAM at another address than before\n");
            return Err(EIO);
        }
        let stopped = stop(chipset, window);
        stopped.warn(dev);
        hal.place(window, location);
        resume(chipset, window, stopped);
    }
    let size = memory_size(window);
    if placed(location, size).as_ref() != Some(vram) {
        dev_err!(
            dev,
            "the card has another amount of memory than before: {:#x}\n",
            size
        );
        return Err(EIO);
    }
    Ok(())
}

/// Set up the address space. VRAM is at `layout.vram`, and the host reaches it there without tiling. Nothing else is
/// reached without translation. The AGP window is closed.
///
/// Sleeps, for up to half a second if a display runs.
///
/// # Errors
///
/// `EINVAL` if `layout` does not fit the registers.
pub(crate) fn arrange(
    dev: &Device,
    chipset: Chipset,
    window: Window<'_>,
    layout: &Layout,
) -> Result {
    let hal = memory::of(chipset);
    let (first, last) = (layout.vram.start >> 12, (layout.vram.end - 1) >> 12);
    let (first, last) = (u32::try_from(first)?, u32::try_from(last)?);
    let location = location(chipset, window);

    clear_surfaces(window);
    hdp::prepare(chipset, window);
    let stopped = stop(chipset, window);
    stopped.warn(dev);
    if hal.location(window) != location {
        hal.place(window, location);
    }
    hal.set_aperture(window, first, last)?;
    hal.close_agp(window)?;
    // CAST: VRAM lies below 4 GiB.
    window.write_reg(HDP_NONSURFACE_BASE::from((layout.vram.start >> 8) as u32));
    window.write_reg(HDP_NONSURFACE_INFO::from(HOST_FORMAT));
    window.write_reg(HDP_NONSURFACE_SIZE::from(HOST_SIZE));
    resume(chipset, window, stopped);
    Ok(())
}

/// Switch off all tiled surfaces of the host's window on VRAM. A CPU that writes through a surface without knowing of it
/// writes to other places.
fn clear_surfaces(window: Window<'_>) {
    let far = Far::new(window);
    for words in SURFACES {
        for offset in (0..words.len()).filter_map(|index| words.at(index)) {
            far.write(offset, 0);
        }
    }
}

/// A memory controller without clients, and how it goes on.
#[must_use]
pub(crate) struct Stopped {
    display: display::Paused,
    /// Clients still had requests under way.
    busy: bool,
}

impl Stopped {
    /// Log a line if the memory controller has not become idle.
    fn warn(&self, dev: &Device) {
        if self.busy {
            dev_warn!(dev, "memory controller does not become idle\n");
        }
    }
}

/// Keep all clients from memory, the host and the displays included. The engines have been halted.
///
/// Sleeps, for at most 100 ms and the duration of two pictures for each display that runs. Does not fail: a controller
/// that never becomes idle is closed nevertheless.
pub(crate) fn stop(chipset: Chipset, window: Window<'_>) -> Stopped {
    let hal = memory::of(chipset);
    let display = display::pause(window);
    let idle = poll::read_poll_timeout(
        || Ok(memory::is_idle(window)),
        |idle| *idle,
        Delta::from_micros(10),
        IDLE_TIME,
    );
    window.write_reg(BIF_FB_EN::zeroed());
    hal.close(window, true);
    fsleep(SETTLE_TIME);
    Stopped {
        display,
        busy: idle.is_err(),
    }
}

/// Let clients access memory again.
pub(crate) fn resume(chipset: Chipset, window: Window<'_>, stopped: Stopped) {
    memory::of(chipset).close(window, false);
    window.write_reg(
        BIF_FB_EN::zeroed()
            .with_fb_read_en(true)
            .with_fb_write_en(true),
    );
    display::go_on(window, stopped.display);
}

#[kunit_tests(r600_mc)]
mod tests {
    use super::*;
    use crate::regs::{
        fake,
        mmio_r6xx,
        mmio_r7xx, //
    };

    const CHIPS: [Chipset; 2] = [Chipset::Rv670, Chipset::Rv770];

    /// 256 MiB from 0x1000_0000 on.
    const HIGH: Location = Location {
        base: 0x10,
        top: 0x1f,
    };

    fn layout(vram: GpuRange) -> Layout {
        Layout {
            aperture: 0..0,
            reserved: [0..0, 0..0, 0..0, 0..0],
            gtt: vram.end..vram.end + GTT_LEAST,
            vram,
        }
    }

    #[test]
    fn vram_is_no_longer_than_its_place() {
        assert_eq!(placed(HIGH, 0x1000_0000), Some(0x1000_0000..0x2000_0000));
        assert_eq!(placed(HIGH, 0x2000_0000), Some(0x1000_0000..0x2000_0000));
        assert_eq!(placed(HIGH, 0x0800_0fff), Some(0x1000_0000..0x1800_0000));
    }

    #[test]
    fn senseless_vram_is_refused() {
        let inverted = Location { base: 2, top: 0 };
        assert_eq!(placed(inverted, 0x1000_0000), None);
        assert_eq!(placed(HIGH, 0xfff), None);
        let beyond = Location {
            base: 0xff,
            top: 0x100,
        };
        assert_eq!(placed(beyond, 0x0200_0000), None);
    }

    #[test]
    fn vram_moves_only_if_it_must_and_may() {
        let whole = 0x1000_0000;
        assert_eq!(choose(HIGH, whole, false), HIGH);
        assert_eq!(choose(HIGH, 2 * whole, true), HIGH);
        let moved = Location { base: 0, top: 0x1f };
        assert_eq!(choose(HIGH, 2 * whole, false), moved);
        // The place as the chip has it without firmware, and one behind the driver's addresses.
        let none = Location { base: 0, top: 0 };
        assert_eq!(choose(none, 2 * whole, false), moved);
        let far = Location {
            base: 0x100,
            top: 0x10f,
        };
        assert_eq!(choose(far, 2 * whole, false), moved);
        // What has been moved stays.
        assert_eq!(choose(moved, 2 * whole, false), moved);
    }

    #[test]
    fn system_window_keeps_off_vram() {
        let (old, new) = (Chipset::R600, Chipset::Rv770);
        let cases = [
            (old, 0..0x1000_0000, Some(0x1000_0000..0x3000_0000)),
            (new, 0..0x1000_0000, Some(0x1000_0000..0x5000_0000)),
            (
                new,
                0xd000_0000..0xe000_0000,
                Some(0x9000_0000..0xd000_0000),
            ),
            (new, 0..0xe000_0000, Some(0xe000_0000..0x1_0000_0000)),
            (new, 0..0xff00_0000, None),
        ];
        for (chipset, vram, want) in cases {
            assert_eq!(gtt(chipset, &vram).ok(), want);
        }
    }

    #[test]
    fn nothing_but_vram_escapes_translation() -> Result {
        let device = fake::Device::new()?;
        for chipset in CHIPS {
            let mut memory = fake::Memory::new()?;
            let window = memory.window()?;
            let hal = memory::of(chipset);
            window.write_reg(CONFIG_MEMSIZE::from(0x1000_0000));
            hal.place(window, HIGH);
            window.try_write32(7, 0x2c14)?;
            window.try_write32(7, 0x2c24 + 31 * 24)?;
            arrange(
                device.dev(),
                chipset,
                window,
                &layout(0x1000_0000..0x2000_0000),
            )?;

            assert_eq!(hal.location(window), HIGH);
            let aperture = match chipset.generation() {
                Generation::R6xx => (
                    window
                        .read(mmio_r6xx::MC_VM_SYSTEM_APERTURE_LOW_ADDR)
                        .into_raw(),
                    window
                        .read(mmio_r6xx::MC_VM_SYSTEM_APERTURE_HIGH_ADDR)
                        .into_raw(),
                    window.read(mmio_r6xx::MC_VM_AGP_BOT).into_raw(),
                    window.read(mmio_r6xx::CITF_CNTL).into_raw(),
                ),
                Generation::R7xx => (
                    window
                        .read(mmio_r7xx::MC_VM_SYSTEM_APERTURE_LOW_ADDR)
                        .into_raw(),
                    window
                        .read(mmio_r7xx::MC_VM_SYSTEM_APERTURE_HIGH_ADDR)
                        .into_raw(),
                    window.read(mmio_r7xx::MC_VM_AGP_BOT).into_raw(),
                    window.read(mmio_r7xx::MC_CITF_CNTL).into_raw(),
                ),
            };
            assert_eq!(aperture, (0x1_0000, 0x1_ffff, 0x3_ffff, 0));
            assert_eq!(window.read(HDP_NONSURFACE_BASE).into_raw(), 0x10_0000);
            assert_eq!(window.read(HDP_NONSURFACE_SIZE).into_raw(), HOST_SIZE);
            let surfaces = (
                window.try_read32(0x2c14)?,
                window.try_read32(0x2c24 + 31 * 24)?,
            );
            assert_eq!(surfaces, (0, 0));
            assert_eq!(window.read(BIF_FB_EN).into_raw(), 3);
        }
        Ok(())
    }

    #[test]
    fn a_stopped_controller_has_no_client() -> Result {
        for chipset in CHIPS {
            let mut memory = fake::Memory::new()?;
            let window = memory.window()?;
            window.write_reg(BIF_FB_EN::from(3));
            let offset = match chipset.generation() {
                Generation::R6xx => 0x200c,
                Generation::R7xx => 0x25c0,
            };
            window.try_write32(0x10, offset)?;
            let stopped = stop(chipset, window);
            assert!(!stopped.busy);
            assert_eq!(window.read(BIF_FB_EN).into_raw(), 0);
            assert_eq!(window.try_read32(offset)?, 0x13);
            resume(chipset, window, stopped);
            assert_eq!(window.read(BIF_FB_EN).into_raw(), 3);
            assert_eq!(window.try_read32(offset)?, 0x10);
            for busy in 8..14 {
                window.write_reg(SRBM_STATUS::from(1 << busy));
                assert!(!memory::is_idle(window));
            }
            window.write_reg(SRBM_STATUS::from(!0x3f00));
            assert!(memory::is_idle(window));
        }
        Ok(())
    }

    #[test]
    fn vram_comes_back_where_it_was() -> Result {
        let device = fake::Device::new()?;
        let vram = 0x1000_0000..0x2000_0000;
        let put = |window, location| restore(device.dev(), Chipset::Rv770, window, location, &vram);
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        window.write_reg(CONFIG_MEMSIZE::from(0x1000_0000));
        put(window, HIGH)?;
        assert_eq!(memory::of(Chipset::Rv770).location(window), HIGH);
        // Another amount of memory, and a display that reads elsewhere.
        window.write_reg(CONFIG_MEMSIZE::from(0x0800_0000));
        assert_eq!(put(window, HIGH), Err(EIO));
        window.write_reg(CONFIG_MEMSIZE::from(0x1000_0000));
        window.write_reg(D1CRTC_CONTROL::zeroed().with_crtc_en(true));
        assert_eq!(put(window, HIGH), Ok(()));
        let other = Location { base: 0, top: 0xf };
        assert_eq!(put(window, other), Err(EIO));
        Ok(())
    }
}
