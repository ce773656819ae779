// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Faults of an R5xx, beside those of any card.

use std::time::Duration;

pub use lapidary_model::fault::*;

lapidary_model::faults! {
    /// The command processor stops at the next packet, until a soft reset of the CP.
    HANG = "hang",
    /// At the first packet of the Nth indirect buffer from now (without N: of each) the command processor stops, as
    /// by `hang`.
    HANG_BUFFER = "hang-buffer",
    /// The command processor stops whenever it comes to a NOP packet whose first dword is N: a test names its own job
    /// by it, which hangs each time it is executed.
    HANG_ON = "hang-on",
    /// The 3D engine never ends: the next wait for it does not return. VAP and GA are busy until both are soft reset.
    HANG_3D = "hang-3d",
    /// The same beyond GA: after its soft reset it is still busy, until GA_SOFT_RESET is written as well (R5xx 9.1.9).
    HANG_RASTER = "hang-raster",
    /// The 2D engine never ends: the next wait for it does not return, until E2 is soft reset.
    HANG_2D = "hang-2d",
    /// A soft reset of something that hangs does not help.
    RESET_FAILS = "reset-fails",
    /// The next indirect buffer never ends: it is executed over and over until a soft reset of the CP.
    ENDLESS_BUFFER = "endless-buffer",
    /// An interrupt is raised in the status register and never sent to the CPU.
    LOST_INTERRUPT = "lost-interrupt",
    /// With the next event that can interrupt, the vertical blanking of display 1 interrupts, too, and goes on until its
    /// source is switched off in DXMODE_INT_MASK, as if a system management routine had switched it on.
    DISPLAY_INTERRUPT = "display-interrupt",
    /// A write-back of a scratch register does not reach memory.
    LOST_WRITEBACK = "lost-writeback",
    /// A read pointer is not written back.
    LOST_RPTR = "lost-rptr",
    /// A scratch register that would be written is written 500 ms later.
    LATE_FENCE = "late-fence",
    /// A scratch register that would be written is written only when the streams are switched off: a job that completes
    /// just as the driver gives it up.
    FENCE_AT_HALT = "fence-at-halt",
}

/// How long [`LATE_FENCE`] holds a command stream.
pub const LATE: Duration = Duration::from_millis(500);

#[cfg(test)]
mod tests {
    use super::ALL;

    #[test]
    fn names_lead_back() {
        for f in ALL {
            assert_eq!(super::by_name(ALL, f.name()), Ok(*f));
        }
    }
}
