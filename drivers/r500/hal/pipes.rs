// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Pixel and Z pipes. The fuses say how many pixel pipes there are. Only the RV530 has two Z pipes behind one pixel
//! pipe (R5xx 9.1.15).

use kernel::io::Io;

use crate::{
    chip::Chipset,
    regs::{
        mmio,
        Window, //
    },
};

/// The pipes of a chip.
pub(crate) trait Hal {
    /// Set up what must be set before the pipes are counted.
    fn before(&self, _window: Window<'_>) {}

    /// Return the number of Z pipes.
    fn z_pipes(&self, _window: Window<'_>) -> u32 {
        1
    }

    /// Return the value that selects all Z pipes for register writes, on a chip that can select them.
    fn z_pipe_select(&self) -> Option<u32> {
        None
    }
}

/// Return the pipes of a chip.
pub(crate) fn of(chipset: Chipset) -> &'static dyn Hal {
    match chipset {
        Chipset::Rv530 => &Rv530,
        Chipset::Rv515 | Chipset::R520 | Chipset::Rv560 | Chipset::Rv570 | Chipset::R580 => &Rv515,
    }
}

/// The pipes of all chips but the RV530.
struct Rv515;

impl Hal for Rv515 {}

struct Rv530;

impl Hal for Rv530 {
    /// Give each FIFO between scan converter and Z unit its full size. Otherwise the second Z pipe starves.
    fn before(&self, window: Window<'_>) {
        window.write_reg(mmio::GB_FIFO_SIZE2::from(0xff));
    }

    /// Return 2 if the fuses have left both.
    fn z_pipes(&self, window: Window<'_>) -> u32 {
        const BOTH: u32 = 3;
        if window.read(mmio::GB_PIPE_SELECT2).z_pipes().get() == BOTH {
            2
        } else {
            1
        }
    }

    fn z_pipe_select(&self) -> Option<u32> {
        Some(3)
    }
}
