// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The ring of interrupt vectors runs full, its write pointer lies, and the page table's cache is not flushed.

use super::Ring;
use anyhow::{Context as _, Result, ensure};
use lapidary_guest::{Bo, Client as _, Device, Domain};
use lapidary_harness::mapping::PAGE;
use lapidary_harness::{Context, Test};
use lapidary_uapi_radeon::support::{Reprobe, engine_works, within};
use std::rc::Rc;
use std::time::Duration;

/// Why upstream's driver is left out.
const OTHER: &str = "upstream's driver has other interrupts";
/// Most interrupts of one wait.
const FEW: u64 = 20;

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("r600/life/the_ring_of_vectors_runs_full", full)
            .finding("ih-overflow", 1)
            .lapidary_only(OTHER),
        Test::new("r600/life/the_pointer_of_vectors_lies", lies)
            .needs_control()
            .lapidary_only(OTHER),
        Test::new("r600/life/the_page_table_is_not_flushed", silent)
            .needs_control()
            .kernel("no invalidation of cached entries", 1)
            .lapidary_only("upstream's driver does not say so"),
    ]
}

/// Submit a job that takes a while, and sleep until it is done. Return how many interrupts came.
fn wait(context: &mut Context, device: &Rc<Device>, bo: &Bo, value: u32) -> Result<u64> {
    let irqs = |context: &mut Context| -> Result<u64> {
        Ok(context.control()?.quiet()?.get("irqs").unwrap_or(0))
    };
    let before = irqs(context)?;
    context.control()?.fault("late-fence", 1)?;
    device.submit(&Ring::Cp.fill(bo, value))?;
    within(Duration::from_secs(4), "the wait", || bo.wait())??;
    ensure!(
        bo.read()?.iter().all(|&word| word == value),
        "the wait ended before the work"
    );
    Ok(irqs(context)? - before)
}

/// Return a page that is idle.
fn page(device: &Rc<Device>) -> Result<Bo> {
    let bo = device.create(PAGE, Domain::Gtt)?;
    bo.wait()?;
    Ok(bo)
}

/// Vectors that the driver did not ask for fill the ring. The vector of the job is the last of them, and is not lost; and
/// later ones come as before.
fn full(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let bo = page(&device)?;
    let resets = device.reset_counter()?;
    context.control()?.fault("full-ih", 1)?;
    for value in 1..5 {
        let irqs = wait(context, &device, &bo, value)?;
        ensure!((1..=FEW).contains(&irqs), "wait {value}: {irqs} interrupts");
    }
    ensure!(device.reset_counter()? == resets, "it was taken for a hang");
    engine_works(&device)
}

/// The pointer that the chip reports in memory lies behind the true one, by a vector, by half of one, by more than the
/// ring has, and with bits that no pointer has.
fn lies(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let bo = page(&device)?;
    let reprobe = Reprobe::of(&device)?;
    let resets = device.reset_counter()?;
    for (value, behind) in [16u64, 1, 8, 0x4000, 0x1234_5670, 0xffff_ffff]
        .into_iter()
        .enumerate()
    {
        let control = context.control()?;
        control.request(&format!("fault lying-wptr {behind}"))?;
        let irqs = wait(context, &device, &bo, value as u32 + 1)
            .with_context(|| format!("behind by {behind:#x}"))?;
        ensure!(irqs <= FEW, "behind by {behind:#x}: {irqs} interrupts");
        context.control()?.clear_faults()?;
    }
    ensure!(device.reset_counter()? == resets, "it was taken for a hang");
    drop(bo);
    drop(device);
    reprobe.now()?;
    let device = context.device()?;
    let bo = page(&device)?;
    let irqs = wait(context, &device, &bo, 1)?;
    ensure!(irqs == 1, "{irqs} interrupts after a new probe");
    engine_works(&device)
}

/// The chip does not answer when it is asked to forget what it has cached of the page table. Objects are made, moved and
/// closed all the same, in bounded time.
fn silent(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    engine_works(&device)?;
    context.control()?.request("fault tlb-silent")?;
    within(Duration::from_secs(10), "20 objects", || {
        for value in 1..=20 {
            let bo = page(&device)?;
            device.submit(&Ring::Cp.fill(&bo, value))?;
            bo.wait()?;
        }
        Ok::<(), anyhow::Error>(())
    })??;
    context.control()?.clear_faults()?;
    engine_works(&device)
}
