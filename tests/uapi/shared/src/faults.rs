// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A device that misbehaves but does not hang. The model does it on demand. Every wait is bounded, and the watchdog takes
//! none of this for a hang.

use crate::{Interface, Job as _, after_reprobe, device, engine_works};
use anyhow::{Context as _, Result, ensure};
use lapidary_harness::interface::Buffer as _;
use lapidary_harness::limit::within;
use lapidary_harness::sysfs::Reprobe;
use lapidary_harness::{Context, refused};
use rustix::io::Errno;
use std::time::Duration;

/// The bound of a hang (module parameter `hang_ms`, 5 s if not set) and time to notice it.
const BOUND: Duration = Duration::from_secs(8);

/// Lose the reports of one job, and submit `jobs` fills. The wait for them ends within `limit`.
fn lost<I: Interface>(context: &mut Context, jobs: u32, limit: Duration) -> Result<()> {
    let device = device::<I>()?;
    let bo = I::surface(&device, 16, I::USUAL)?;
    bo.wait()?;
    let resets = I::resets(&device)?;
    context.control()?.fault("lost-writeback", 1)?;
    for colour in 1..=jobs {
        I::fill(&bo, colour, 1).submit(&device)?;
    }
    within(limit, "the wait", || bo.wait())??;
    ensure!(bo.read()?[0] == jobs, "the wait ended before the work");
    ensure!(I::resets(&device)? == resets, "it was taken for a hang");
    engine_works::<I>(&device)
}

/// After a lost write-back the next one completes both jobs.
pub fn lost_writeback<I: Interface>(context: &mut Context) -> Result<()> {
    lost::<I>(context, 2, Duration::from_secs(4))
}

/// The last write-back is lost. The driver reads the chip's register, long before the job would count as hung.
pub fn last_writeback<I: Interface>(context: &mut Context) -> Result<()> {
    let reprobe = Reprobe::of(device::<I>()?)?;
    lost::<I>(context, 1, Duration::from_millis(1400))?;
    after_reprobe::<I>(context, &reprobe)
}

/// The device is off the bus: every register reads all ones and nothing runs.
pub fn off_the_bus<I: Interface>(context: &mut Context) -> Result<()> {
    let device = device::<I>()?;
    let reprobe = Reprobe::of(&device)?;
    let bo = I::surface(&device, 16, I::SYSTEM)?;
    engine_works::<I>(&device)?;
    context.control()?.request("fault dead")?;
    let _ = I::fill(&bo, 1, 1).submit(&device);
    within(BOUND, "the wait", || bo.wait())?.context("the wait")?;
    refused("new work", I::nothing().submit(&device), Errno::BUSY)?;
    drop((bo, device));
    after_reprobe::<I>(context, &reprobe)
}
