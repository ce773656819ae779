// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A device that misbehaves but does not hang: late and lost reports, a device that fell off the bus. The model does it on
//! demand. Every wait is bounded, and the watchdog takes none of this for a hang.

use crate::support::{
    Chrome9, Reprobe, after_reprobe, engine_works, fill, submit_late, surface, within,
};
use anyhow::{Result, ensure};
use lapidary_chrome9_client::abi::Param;
use lapidary_chrome9_client::{Client as _, Place};
use lapidary_harness::{Context, Test};
use lapidary_uapi_shared::faults;
use std::time::Duration;

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("faults/late_fences_are_no_hang", late).needs_control(),
        Test::new(
            "faults/a_lost_report_comes_with_the_next",
            faults::lost_writeback::<Chrome9>,
        )
        .needs_control(),
        Test::new(
            "faults/the_last_report_is_read_of_the_chip",
            faults::last_writeback::<Chrome9>,
        )
        .needs_control()
        .kernel("fences do not arrive in memory", 1),
        Test::new("faults/lost_interrupts", lost_interrupts)
            .needs_control()
            .kernel("interrupts are lost", 1),
        Test::new("faults/a_regulator_that_rests_goes_on", rests).needs_control(),
        Test::new("faults/off_the_bus", faults::off_the_bus::<Chrome9>)
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
