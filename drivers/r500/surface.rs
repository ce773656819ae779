// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Surface registers: tiled VRAM as the CPU sees it.
//!
//! Eight ranges of the host's window on VRAM can be *surfaces*, which the host sees as lines of a given pitch although
//! their memory is tiled, or with the bytes of each 16-bit or 32-bit unit in the other order. Bounds are offsets in the
//! window and multiples of 64 bytes (R5xx 9.1.10, which names no fields; those are Linux', `r100_set_surface_reg`).
//!
//! The tiles are those of 16-bit and 32-bit pixels. Blocks of memory have to be whole in a line: the pitch is a
//! multiple of 16 bytes in micro tiles, of 256 in macro tiles and of 128 in both.

use kernel::{
    io::{
        register::{
            Array,
            RegisterArray, //
        },
        Io, //
    },
    prelude::*,
};

use lapidary::{
    family::{
        self,
        Surface, //
    },
    portable::radeon_uapi::tiling,
};

use crate::regs::{
    mmio::{
        SURFACE_INFO,
        SURFACE_LOWER_BOUND,
        SURFACE_UPPER_BOUND, //
    },
    Window, //
};

/// Bytes that one unit of the pitch stands for.
const UNIT: u32 = 8;

/// The surface registers, but for those that the firmware uses.
pub(crate) struct Surfaces<'a> {
    window: Window<'a>,
    usable: u32,
}

impl<'a> Surfaces<'a> {
    /// Those that are switched off now can be used.
    pub(crate) fn new(window: Window<'a>) -> Self {
        let mut usable = 0;
        for index in 0..<SURFACE_INFO as RegisterArray>::SIZE {
            if let Some(info) = SURFACE_INFO::try_at(index) {
                usable |= u32::from(window.read(info).into_raw() == 0) << index;
            }
        }
        Self { window, usable }
    }

    /// Writes one register, and waits until the write has arrived: the host's accesses to VRAM come behind it.
    fn write_info(&self, index: usize, info: SURFACE_INFO) {
        if let Some(at) = SURFACE_INFO::try_at(index) {
            self.window.write(at, info);
        }
        if let Some(at) = SURFACE_INFO::try_at(index) {
            self.window.read(at);
        }
    }
}

/// What to write for a surface: `None` if the flags ask for nothing, or for what the chip cannot do.
fn info(flags: u32, pitch: u32) -> Option<SURFACE_INFO> {
    let (grouped, micro) = (flags & tiling::MACRO != 0, flags & tiling::MICRO != 0);
    let swap = match flags {
        flags if flags & tiling::SWAP_32BIT != 0 => 2,
        flags if flags & tiling::SWAP_16BIT != 0 => 1,
        _ => 0,
    };
    if flags & tiling::SURFACE == 0 || !grouped && !micro && swap == 0 {
        return None;
    }
    let block = match (grouped, micro) {
        (true, false) => 256,
        (true, true) => 128,
        (false, true) => 16,
        (false, false) => UNIT,
    };
    let tiled = grouped || micro;
    if tiled && (pitch == 0 || pitch % block != 0) {
        return None;
    }
    let info = SURFACE_INFO::zeroed()
        .with_tile_macro(grouped)
        .with_tile_micro(micro)
        .try_with_ap0_swp(swap)
        .ok()?
        .try_with_ap1_swp(swap)
        .ok()?;
    match tiled {
        true => info.try_with_pitchsel(pitch / UNIT).ok(),
        false => Some(info),
    }
}

impl family::Surfaces for Surfaces<'_> {
    fn usable(&self) -> u32 {
        self.usable
    }

    fn reorders(&self, surface: &Surface) -> bool {
        info(surface.flags, surface.pitch).is_some()
            && u32::try_from(surface.range.end).is_ok()
            && !surface.range.is_empty()
    }

    fn set(&self, index: u32, surface: Option<&Surface>) {
        let index = index as usize;
        let (Some(lower), Some(upper)) = (
            SURFACE_LOWER_BOUND::try_at(index),
            SURFACE_UPPER_BOUND::try_at(index),
        ) else {
            return;
        };
        // Not with the old tiling in the new range, nor the other way round.
        self.write_info(index, SURFACE_INFO::zeroed());
        if let Some(surface) = surface {
            if let Some(info) = info(surface.flags, surface.pitch) {
                // CAST: `reorders` says that it fits.
                let (start, end) = (surface.range.start as u32, surface.range.end as u32);
                self.window.write(lower, start.into());
                self.window.write(upper, end.wrapping_sub(1).into());
                self.write_info(index, info);
            }
        }
    }
}

#[kunit_tests(r500_surface)]
mod tests {
    use super::*;
    use crate::regs::fake;
    use family::Surfaces as _;

    fn raw(flags: u32, pitch: u32) -> Option<u32> {
        info(flags | tiling::SURFACE, pitch).map(|info| info.into_raw())
    }

    #[test]
    fn flags_become_fields() {
        assert_eq!(raw(tiling::MACRO, 256), Some(1 << 16 | 32));
        assert_eq!(raw(tiling::MICRO, 16), Some(1 << 17 | 2));
        assert_eq!(raw(tiling::MACRO | tiling::MICRO, 128), Some(3 << 16 | 16));
        assert_eq!(raw(tiling::SWAP_16BIT, 7), Some(1 << 20 | 1 << 22));
        assert_eq!(raw(tiling::SWAP_32BIT, 0), Some(2 << 20 | 2 << 22));
    }

    #[test]
    fn what_cannot_be_is_no_surface() {
        assert_eq!(raw(0, 256), None);
        assert!(info(tiling::MACRO, 256).is_none());
        for pitch in [0, 128, 255, 4096, 1 << 31, u32::MAX] {
            assert_eq!(raw(tiling::MACRO, pitch), None);
        }
        assert_eq!(raw(tiling::MICRO, 8), None);
    }

    #[test]
    fn a_register_of_the_firmware_is_not_used() -> Result {
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        window.write(SURFACE_INFO::at(3), SURFACE_INFO::from(1 << 16));
        let surfaces = Surfaces::new(window);
        assert_eq!(surfaces.usable(), 0b1111_0111);
        Ok(())
    }

    #[test]
    fn bounds_are_inclusive() -> Result {
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        let surfaces = Surfaces::new(window);
        let surface = Surface {
            range: 0x1000..0x3000,
            flags: tiling::SURFACE | tiling::MACRO,
            pitch: 512,
        };
        assert!(surfaces.reorders(&surface));
        surfaces.set(5, Some(&surface));
        let lower = window.read(SURFACE_LOWER_BOUND::at(5)).into_raw();
        let upper = window.read(SURFACE_UPPER_BOUND::at(5)).into_raw();
        assert_eq!((lower, upper), (0x1000, 0x2fff));
        let info = window.read(SURFACE_INFO::at(5)).into_raw();
        assert_eq!(info, 1 << 16 | 64);
        surfaces.set(5, None);
        assert_eq!(window.read(SURFACE_INFO::at(5)).into_raw(), 0);
        Ok(())
    }
}
