// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The job that seemed to hang completes at the moment that the engine is halted for the reset. No client is blamed.

use super::{Artist, BOUND, Culprit};
use crate::support::{Radeon, engine_works, needs_kept_fences, within};
use anyhow::{Result, ensure};
use lapidary_guest::Client as _;
use lapidary_guest::Domain;
use lapidary_harness::Context;
use lapidary_uapi_shared::Interface as _;

/// A job takes too long, and completes just as the command processor is stopped, so that another client's is the oldest
/// when the driver looks for the guilty one. No client is blamed. Whether the fence's number still reaches memory or
/// only the register makes no difference.
pub(super) fn done(context: &mut Context, reported: bool) -> Result<()> {
    let slow = Culprit::new(context.device()?)?;
    if !reported {
        needs_kept_fences()?;
    }
    let mut next = Artist::new(slow.device.another()?, Domain::Vram)?;
    let resets = slow.device.reset_counter()?;
    // The second time there is nothing behind it.
    for (round, behind) in [5, 0].into_iter().enumerate() {
        context.control()?.fault("fence-at-halt", 1)?;
        if !reported {
            context.control()?.fault("lost-writeback", 1)?;
        }
        slow.submit(7)?;
        for seed in 0..behind {
            next.step(seed)?;
            slow.submit(8 + seed)?;
        }
        next.check()?;
        let seen = within(BOUND, "the slow one's wait", || slow.bo.read())??;
        ensure!(
            seen.iter().all(|&pixel| pixel == 7 + behind),
            "the slow one's picture"
        );
        // Its fence comes before the reset; a new job begins behind it.
        engine_works(&slow.device)?;
        let seen = slow.device.reset_counter()? - resets;
        ensure!(seen == round as u32 + 1, "{seen} resets in round {round}");
    }
    for device in [&slow.device, &next.device] {
        Radeon::is_innocent(device)?;
    }
    slow.submit(1)?;
    next.step(9)?;
    next.check()?;
    engine_works(&slow.device)
}
