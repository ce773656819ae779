// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Several processes and threads that make, map, draw, check and drop objects at the same time.

use crate::support::Chrome9;
use anyhow::{Context as _, Result};
use lapidary_chrome9_client::{Device, Submission};
use lapidary_harness::Test;
use lapidary_harness::mapping::PAGE;
use lapidary_uapi_shared::stress;
use std::time::Duration;

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("stress/processes", |_| stress::processes::<Chrome9>(500)).limit(180),
        Test::new("stress/processes_killed_at_work", |_| {
            stress::killed::<Chrome9>(6)
        })
        .limit(120),
        Test::new("stress/threads_of_one_client", |_| {
            stress::threads::<Chrome9>(200, hammer)
        })
        .limit(120),
    ]
}

fn hammer(device: &Device, round: u32) -> Result<()> {
    let handle = device.create_raw(PAGE, round % 2)?.handle;
    device.mmap_offset(handle)?;
    let nothing = Submission::nothing();
    nothing.issue(device).context("submitting")?;
    device.wait(handle, Duration::from_secs(10))?;
    Ok(device.close(handle)?)
}
