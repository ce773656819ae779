// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The faults of a Chrome9, beside those of any card.
//!
//! A hang ends by what a driver has as a reset (decision 3): AGP_CONTROL.CLEAR_AGP, or INTERRUPT_COMMAND.STOP outside of a
//! critical section. There is no `lost-rptr`, because this chip writes no read pointer to memory.

use std::time::Duration;

pub use lapidary_model::fault::*;

lapidary_model::faults! {
    /// The command regulator stops taking what is in its queue.
    STUCK_REGULATOR = "stuck-regulator",
    /// The fetcher stops at the next header, until it is cleared. The regulator still takes what the CPU writes.
    HANG = "hang",
    /// At the first unit of the Nth branch from now (without N: of each) the fetcher stops, as by `hang`.
    HANG_BUFFER = "hang-buffer",
    /// The fetcher stops whenever it comes to SW_INSPECTION_1 with the value N: a test names its own job by it, which hangs
    /// each time it is executed.
    HANG_ON = "hang-on",
    /// A clear of a fetcher that hangs does not help.
    RESET_FAILS = "reset-fails",
    /// The next branch never ends: it is executed over and over until the fetcher is cleared.
    ENDLESS_BUFFER = "endless-buffer",
    /// The interrupt of a fence is raised in the status register and never sent to the CPU.
    LOST_INTERRUPT = "lost-interrupt",
    /// The number of a fence does not reach memory. FENCE_ID has it.
    LOST_WRITEBACK = "lost-writeback",
    /// A fence of a stream is made 500 ms later.
    LATE_FENCE = "late-fence",
    /// A fence of a stream is made only when the fetcher is cleared: a job that completes just as the driver gives it up.
    FENCE_AT_HALT = "fence-at-halt",
}

/// How long [`LATE_FENCE`] holds a stream.
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
