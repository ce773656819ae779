// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The faults of a Chrome9, beside those of any card.

pub use lapidary_model::fault::*;

lapidary_model::faults! {
    /// The command regulator stops taking what is in its queue.
    STUCK_REGULATOR = "stuck-regulator",
}
