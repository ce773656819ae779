// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Surface registers: tiled VRAM as the CPU sees it.
//!
//! Eight ranges of the host's window on VRAM can be *surfaces*. The host sees a surface as lines of a given pitch
//! although its memory is tiled, or with the bytes of each 16-bit or 32-bit unit in the other order. Bounds are offsets
//! in the window (R5xx 9.1.10, which names no fields; those are Linux', `r100_set_surface_reg`).
//!
//! The chip compares the bounds with the address that the host sends, not with the translated one. A client could
//! therefore reach others' memory through wrong bounds. Portable code computes them, [`cpu_surface`].

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

use lapidary::family::{
    self,
    Arrangement,
    Surface, //
};

use crate::{
    portable::cpu_surface::{
        self,
        CpuSurface, //
    },
    regs::{
        mmio::{
            SURFACE_INFO,
            SURFACE_LOWER_BOUND,
            SURFACE_UPPER_BOUND, //
        },
        RegisterIo,
        Window, //
    },
};

/// Bytes next to a client's memory in which the driver keeps nothing.
pub(crate) const GUARD: u64 = cpu_surface::LONGEST_ROW;

/// The surface registers, but for those that the firmware uses.
pub(crate) struct Surfaces<'a> {
    window: Window<'a>,
    usable: u32,
}

impl<'a> Surfaces<'a> {
    /// Return the registers. Those that are switched off now can be used.
    pub(crate) fn new(window: Window<'a>) -> Self {
        let mut usable = 0;
        for index in 0..<SURFACE_INFO as RegisterArray>::SIZE {
            if let Some(info) = SURFACE_INFO::try_at(index) {
                usable |= u32::from(window.read(info).into_raw() == 0) << index;
            }
        }
        Self { window, usable }
    }
}

/// Write a register and wait until the write has arrived. The host's later accesses to VRAM come behind it.
fn write_info<'w>(window: impl RegisterIo<'w>, index: usize, info: SURFACE_INFO) {
    if let Some(at) = SURFACE_INFO::try_at(index) {
        window.write(at, info);
    }
    if let Some(at) = SURFACE_INFO::try_at(index) {
        window.read(at);
    }
}

/// Set surface `index` to `values`, or switch it off.
fn set<'w>(window: impl RegisterIo<'w>, index: usize, values: Option<CpuSurface>) {
    let (Some(lower), Some(upper)) = (
        SURFACE_LOWER_BOUND::try_at(index),
        SURFACE_UPPER_BOUND::try_at(index),
    ) else {
        return;
    };
    // Off meanwhile: the old tiling must not meet the new range, nor the new tiling the old range.
    write_info(window, index, SURFACE_INFO::zeroed());
    if let Some(values) = values {
        window.write(lower, values.lower.into());
        window.write(upper, values.upper.into());
        write_info(window, index, values.info.into());
    }
}

/// Return the values for `surface`; `None` if the CPU sees its memory without translation.
fn values(surface: &Surface) -> Option<CpuSurface> {
    let Arrangement { flags, pitch } = surface.arrangement;
    CpuSurface::new(surface.range.clone(), flags, pitch)
}

impl family::Surfaces for Surfaces<'_> {
    fn usable(&self) -> u32 {
        self.usable
    }

    fn reorders(&self, surface: &Surface) -> bool {
        values(surface).is_some()
    }

    fn set(&self, index: u32, surface: Option<&Surface>) {
        set(self.window, index as usize, surface.and_then(values));
    }
}

#[kunit_tests(r500_surface)]
mod tests {
    use super::*;
    use crate::regs::fake;
    use family::Surfaces as _;
    use lapidary::portable::radeon::uapi::tiling;

    #[test]
    fn a_register_of_the_firmware_is_not_used() -> Result {
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        window.write(SURFACE_INFO::at(3), SURFACE_INFO::from(1 << 16));
        let surfaces = Surfaces::new(window);
        assert_eq!(surfaces.usable(), 0b1111_0111);
        Ok(())
    }

    /// Three pages in rows of 5,120 bytes: two rows.
    #[test]
    fn bounds_are_inclusive_and_of_whole_rows() -> Result {
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        let surfaces = Surfaces::new(window);
        let surface = Surface {
            range: 0x1000..0x4000,
            arrangement: Arrangement {
                flags: tiling::SURFACE | tiling::MICRO,
                pitch: 1280,
            },
        };
        assert!(surfaces.reorders(&surface));
        surfaces.set(5, Some(&surface));
        let lower = window.read(SURFACE_LOWER_BOUND::at(5)).into_raw();
        let upper = window.read(SURFACE_UPPER_BOUND::at(5)).into_raw();
        assert_eq!((lower, upper), (0x1000, 0x37ff));
        let info = window.read(SURFACE_INFO::at(5)).into_raw();
        assert_eq!(info, 1 << 17 | 160);
        surfaces.set(5, None);
        assert_eq!(window.read(SURFACE_INFO::at(5)).into_raw(), 0);
        Ok(())
    }

    /// The surface is off while the bounds change, and each write to its switch arrives before the next access.
    #[test]
    fn a_surface_is_off_while_it_changes() -> Result {
        use fake::Access::{
            Read,
            Write, //
        };
        let log = fake::Log::new();
        let values = CpuSurface::new(0x1000..0x4000, tiling::SURFACE | tiling::MICRO, 1280);
        set(log.registers(), 2, values);
        let (info, lower, upper) = (0xb2c, 0xb24, 0xb28);
        let want = [
            Write(info, 0),
            Read(info),
            Write(lower, 0x1000),
            Write(upper, 0x37ff),
            Write(info, 1 << 17 | 160),
            Read(info),
        ];
        assert_eq!(log.take().as_slice(), want.as_slice());
        Ok(())
    }

    #[test]
    fn less_than_a_row_is_no_surface() -> Result {
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        let surfaces = Surfaces::new(window);
        let surface = Surface {
            range: 0x1000..0x2000,
            arrangement: Arrangement {
                flags: tiling::SURFACE | tiling::MACRO,
                pitch: 3840,
            },
        };
        assert!(!surfaces.reorders(&surface));
        surfaces.set(5, Some(&surface));
        assert_eq!(window.read(SURFACE_INFO::at(5)).into_raw(), 0);
        Ok(())
    }
}
