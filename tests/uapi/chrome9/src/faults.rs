// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A device that misbehaves but does not hang: late and lost reports, a device that fell off the bus. The model does it on
//! demand. Every wait is bounded, and the watchdog takes none of this for a hang.

use crate::support::{Reprobe, after_reprobe, engine_works, fill, submit_late, surface, within};
use anyhow::{Context as _, Result, ensure};
use lapidary_chrome9_client::abi::Param;
use lapidary_chrome9_client::{Client as _, Errno, Place, Submission};
use lapidary_harness::{Context, Test, refused};
use std::time::Duration;

/// The bound of a hang (module parameter `hang_ms`, 5 s if not set) and time to notice it.
const BOUND: Duration = Duration::from_secs(8);

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("faults/late_fences_are_no_hang", late).needs_control(),
        Test::new("faults/a_lost_report_comes_with_the_next", lost_writeback).needs_control(),
        Test::new("faults/the_last_report_is_read_of_the_chip", last_writeback)
            .needs_control()
            .kernel("fences do not arrive in memory", 1),
        Test::new("faults/lost_interrupts", lost_interrupts)
            .needs_control()
            .kernel("interrupts are lost", 1),
        Test::new("faults/a_regulator_that_rests_goes_on", rests).needs_control(),
        Test::new("faults/off_the_bus", off_the_bus)
            .needs_control()
            .kernel("does not answer: stopped until a new probe", 1),
    ]
}

/// A ring that is busy for longer than the bound of a hang, but completes jobs, does not hang.
fn late(context: &mut Context) -> Result<()> {
    const MANY: u32 = 8;
    let device = context.device()?;
    let bo = surface(&device, 16, Place::FrameBuffer)?;
    bo.wait()?;
    let resets = device.param(Param::Resets)?;
    context.control()?.fault("late-fence", MANY)?;
    for colour in 1..=MANY {
        device.submit(&fill(&bo, colour))?;
    }
    let seen = bo.read()?;
    ensure!(seen.iter().all(|&pixel| pixel == MANY), "the picture");
    let after = device.param(Param::Resets)?;
    ensure!(after == resets, "it was taken for a hang");
    engine_works(&device)
}

/// After a lost write-back the next one completes both jobs.
fn lost_writeback(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let bo = surface(&device, 16, Place::FrameBuffer)?;
    bo.wait()?;
    let resets = device.param(Param::Resets)?;
    context.control()?.fault("lost-writeback", 1)?;
    device.submit(&fill(&bo, 1))?;
    device.submit(&fill(&bo, 2))?;
    within(Duration::from_secs(4), "the wait", || bo.wait())??;
    ensure!(bo.read()?[0] == 2, "the wait ended before the work");
    let after = device.param(Param::Resets)?;
    ensure!(after == resets, "it was taken for a hang");
    engine_works(&device)
}

/// The last write-back is lost. The driver reads the chip's register, long before the job would count as hung.
fn last_writeback(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let reprobe = Reprobe::of(&device)?;
    let bo = surface(&device, 16, Place::FrameBuffer)?;
    bo.wait()?;
    context.control()?.fault("lost-writeback", 1)?;
    device.submit(&fill(&bo, 1))?;
    within(Duration::from_millis(1400), "the wait", || bo.wait())??;
    ensure!(bo.read()?[0] == 1, "the wait ended before the work");
    ensure!(device.param(Param::Resets)? == 0, "taken for a hang");
    engine_works(&device)?;
    drop((bo, device));
    after_reprobe(context, &reprobe)
}

fn lost_interrupts(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let reprobe = Reprobe::of(&device)?;
    let bo = surface(&device, 16, Place::FrameBuffer)?;
    bo.wait()?;
    context.control()?.request("fault lost-interrupt")?;
    for colour in 1..4 {
        submit_late(context, &device, &fill(&bo, colour))?;
        within(Duration::from_secs(4), "the wait", || bo.wait())??;
        ensure!(bo.read()?[0] == colour, "the wait ended before the work");
    }
    drop((bo, device));
    after_reprobe(context, &reprobe)?;
    // And interrupts work again.
    let device = context.device()?;
    let bo = surface(&device, 16, Place::FrameBuffer)?;
    bo.wait()?;
    submit_late(context, &device, &fill(&bo, 1))?;
    within(Duration::from_millis(800), "the wait", || bo.wait())??;
    Ok(())
}

/// The regulator takes nothing from its queue for less time than a hang.
fn rests(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let bo = surface(&device, 16, Place::FrameBuffer)?;
    bo.wait()?;
    context.control()?.request("fault stuck-regulator")?;
    for colour in 1..20 {
        device.submit(&fill(&bo, colour))?;
    }
    std::thread::sleep(Duration::from_millis(200));
    ensure!(bo.is_busy()?, "it does not rest");
    context.control()?.clear_faults()?;
    ensure!(bo.read()?[0] == 19, "the last job is missing");
    engine_works(&device)
}

/// The device is off the bus: every register reads all ones and nothing runs.
fn off_the_bus(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let reprobe = Reprobe::of(&device)?;
    let bo = surface(&device, 16, Place::System)?;
    engine_works(&device)?;
    context.control()?.request("fault dead")?;
    let _ = device.submit(&fill(&bo, 1));
    within(BOUND, "the wait", || bo.wait())?.context("the wait")?;
    let new = Submission::nothing().issue(&device);
    refused("new work", new, Errno::BUSY)?;
    drop((bo, device));
    after_reprobe(context, &reprobe)
}
