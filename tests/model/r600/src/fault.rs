// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Faults of an R6xx or R7xx, beside those of any card.

use std::time::Duration;

pub use lapidary_model::fault::*;

lapidary_model::faults! {
    /// The command processor stops at the next packet, until a soft reset of the CP.
    HANG = "hang",
    /// At the first packet of the Nth indirect buffer from now (without N: of each) its engine stops, the command processor
    /// as by `hang`, the DMA engine as by `hang-dma`.
    HANG_BUFFER = "hang-buffer",
    /// The command processor stops whenever it comes to a NOP packet whose first dword is N: a test names its own job
    /// by it, which hangs each time it is executed.
    HANG_ON = "hang-on",
    /// The DMA engine stops at the next packet, until its soft reset.
    HANG_DMA = "hang-dma",
    /// A soft reset of something that hangs does not help.
    RESET_FAILS = "reset-fails",
    /// The next indirect buffer never ends: it is executed over and over until a soft reset of its engine.
    ENDLESS_BUFFER = "endless-buffer",
    /// An interrupt vector is written to the ring and the CPU is not interrupted.
    LOST_INTERRUPT = "lost-interrupt",
    /// A fence's value does not reach memory, and its interrupt does.
    LOST_WRITEBACK = "lost-writeback",
    /// A read pointer is not written back.
    LOST_RPTR = "lost-rptr",
    /// A fence is written 500 ms later.
    LATE_FENCE = "late-fence",
    /// A fence is written only when the command processor is halted: a job that completes just as the driver gives it
    /// up.
    FENCE_AT_HALT = "fence-at-halt",
    /// The write pointer of the interrupt ring that is written to memory lies N bytes behind the true one.
    LYING_WPTR = "lying-wptr",
    /// Before the next vector, vectors of a source that no driver asked for fill the interrupt ring.
    FULL_IH = "full-ih",
    /// A semaphore is not signalled.
    LOST_SIGNAL = "lost-signal",
    /// A flush of the TLB is never answered.
    TLB_SILENT = "tlb-silent",
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
