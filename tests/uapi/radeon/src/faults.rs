// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A device that misbehaves but does not hang: lost interrupts, lost and late reports, a device that fell off the bus.
//! The model does it on demand. Every wait is bounded, and the watchdog takes none of this for a hang.
//!
//! Tests that break the device give it a fresh probe at their end.

use crate::support::{self, Radeon, accelerates, engine_works, fill, fill_often};
use anyhow::{Context as _, Result, ensure};
use lapidary_guest::Client as _;
use lapidary_guest::abi;
use lapidary_guest::{Device, Domain, Errno};
use lapidary_harness::limit::{Limit, within};
use lapidary_harness::sysfs::Reprobe;
use lapidary_harness::{Context, Test, patience, refused, skip};
use lapidary_uapi_shared::{self as shared, faults};
use std::rc::Rc;
use std::time::{Duration, Instant};

const OWN: &str = "upstream's driver asks the chip for nothing that should be in memory";
/// INFO request of our own: the number of fences that a waiter found by polling and not by an interrupt.
const FENCES_POLLED: u32 = 0x4c50_0000;

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("faults/lost_interrupts", lost_interrupts)
            .needs_control()
            .lapidary_only("asks for a number of our own")
            .kernel("interrupts are lost", 1),
        Test::new("faults/lost_writeback", faults::lost_writeback::<Radeon>).needs_control(),
        Test::new("faults/late_fence", late_fence).needs_control(),
        Test::new("faults/many_late_fences", many_late_fences)
            .needs_control()
            .lapidary_only("upstream's driver has another limit"),
        Test::new("faults/a_wait_is_ended_by_its_interrupt", interrupted)
            .needs_control()
            .lapidary_only("upstream's driver waits in another way"),
        Test::new("faults/signal_while_waiting", signal_while_waiting).needs_control(),
        Test::new("faults/last_writeback", last_writeback)
            .needs_control()
            .lapidary_only(OWN)
            .kernel("fences do not arrive in memory", 1),
        Test::new("faults/no_writeback", no_writeback)
            .needs_control()
            .lapidary_only(OWN)
            .kernel("fences do not arrive in memory", 1),
        Test::new("faults/lost_read_pointer", lost_read_pointer)
            .needs_control()
            .lapidary_only(OWN),
        Test::new("faults/wait_times_out", wait_times_out)
            .needs_control()
            .lapidary_only("upstream's driver resets the GPU after 10 s")
            .limit(90),
        Test::new("faults/no_room", no_room)
            .needs_control()
            .lapidary_only("upstream's driver resets the GPU after 10 s")
            .limit(90),
        Test::new("faults/off_the_bus", off_the_bus)
            .needs_control()
            .lapidary_only("upstream's driver tries to reset what is not there")
            .kernel("does not answer: stopped until a new probe", 1),
    ]
}

fn polled(device: &Device) -> Result<u64> {
    let bytes = device
        .info_bytes(FENCES_POLLED, 0)
        .context("asking for polled fences")?;
    Ok(u64::from_le_bytes(bytes[..8].try_into()?))
}

/// Probe the device again after a fault. It must work then, and have nothing of the fault left.
fn after_reprobe(context: &mut Context, device: Rc<Device>, reprobe: &Reprobe) -> Result<()> {
    drop(device);
    shared::after_reprobe::<Radeon>(context, reprobe)?;
    accelerates(&*context.device()?)
}

fn last_writeback(context: &mut Context) -> Result<()> {
    // To know the chip.
    let _device = context.device()?;
    support::needs_kept_fences()?;
    faults::last_writeback::<Radeon>(context)
}

fn off_the_bus(context: &mut Context) -> Result<()> {
    faults::off_the_bus::<Radeon>(context)?;
    accelerates(&*context.device()?)
}

fn lost_interrupts(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let reprobe = Reprobe::of(&device)?;
    let bo = support::surface(&device, 16, Domain::Gtt)?;
    // The driver enables the interrupt only for a client that waits, so the work has to take a while.
    let before = polled(&device)?;
    context.control()?.fault("late-fence", 1)?;
    context.control()?.request("fault lost-interrupt")?;
    device.submit(&fill(&bo, 1))?;
    within(Duration::from_secs(4), "the wait", || bo.wait())??;
    ensure!(bo.read()?[0] == 1, "the wait ended before the work");
    ensure!(polled(&device)? > before, "no fence was counted as polled");
    // From now on waiters poll fences often. The driver concludes that an interrupt is lost after half a second only.
    let large = support::surface(&device, 4096, Domain::Vram)?;
    let long = fill_often(&large, 2, 40);
    within(
        Duration::from_secs(6),
        "20 later waits",
        || -> Result<()> {
            for _ in 0..20 {
                device.submit(&long)?;
                large.wait()?;
            }
            Ok(())
        },
    )??;
    ensure!(device.reset_counter()? == 0, "it was taken for a hang");
    drop((bo, large, long));
    after_reprobe(context, device, &reprobe)?;
    // And interrupts work again.
    let device = context.device()?;
    let bo = support::surface(&device, 16, Domain::Gtt)?;
    context.control()?.fault("late-fence", 1)?;
    device.submit(&fill(&bo, 1))?;
    bo.wait()?;
    ensure!(polled(&device)? == 0, "fences are still polled for");
    Ok(())
}

/// Without any write-back of fences jobs still complete, and waits are not much slower.
fn no_writeback(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    support::needs_kept_fences()?;
    let reprobe = Reprobe::of(&device)?;
    let bo = support::surface(&device, 16, Domain::Gtt)?;
    bo.wait()?;
    context.control()?.request("fault lost-writeback")?;
    device.submit(&fill(&bo, 1))?;
    bo.wait()?;
    for colour in 2..12 {
        device.submit(&fill(&bo, colour))?;
        within(Duration::from_millis(450), "a later wait", || bo.wait())??;
        ensure!(bo.read()?[0] == colour, "the wait ended before the work");
    }
    // More jobs than may be in flight: the submitter waits for room, and gets it.
    for colour in 0..600 {
        device.submit(&fill(&bo, colour))?;
    }
    ensure!(bo.read()?[0] == 599, "the last job is missing");
    ensure!(device.reset_counter()? == 0, "it was taken for a hang");
    drop(bo);
    after_reprobe(context, device, &reprobe)
}

/// Without write-back of the read pointer the ring does not become full.
fn lost_read_pointer(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let reprobe = Reprobe::of(&device)?;
    let bo = support::surface(&device, 16, Domain::Gtt)?;
    bo.wait()?;
    context.control()?.request("fault lost-rptr")?;
    // The ring takes some 1,600 jobs.
    for colour in 0..4000 {
        device.submit(&fill(&bo, colour))?;
    }
    ensure!(bo.read()?[0] == 3999, "the last job is missing");
    ensure!(device.reset_counter()? == 0, "it was taken for a hang");
    drop(bo);
    after_reprobe(context, device, &reprobe)
}

fn late_fence(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let bo = support::surface(&device, 16, Domain::Gtt)?;
    bo.wait()?;
    let resets = device.reset_counter()?;
    for colour in 1..4 {
        context.control()?.fault("late-fence", 1)?;
        let begin = Instant::now();
        device.submit(&fill(&bo, colour))?;
        bo.wait()?;
        ensure!(
            begin.elapsed() > Duration::from_millis(300),
            "the wait ended after {:?}",
            begin.elapsed()
        );
        ensure!(bo.read()?[0] == colour, "the wait ended before the work");
    }
    ensure!(device.reset_counter()? == resets, "it was taken for a hang");
    Ok(())
}

/// A wait that begins while the engine works lets an interrupt through at once, and only that one.
fn interrupted(context: &mut Context) -> Result<()> {
    const WAITS: u64 = 20;
    let device = context.device()?;
    let large = support::surface(&device, 4096, Domain::Vram)?;
    let long = fill_often(&large, 3, 40);
    large.wait()?;
    let before = context.control()?.quiet()?.get("irqs").unwrap_or(0);
    for _ in 0..WAITS {
        device.submit(&long)?;
        large.wait()?;
    }
    let seen = context.control()?.quiet()?.get("irqs").unwrap_or(0) - before;
    // A client that is not scheduled for a while finds the engine idle.
    ensure!(
        (WAITS / 2..=WAITS).contains(&seen),
        "{seen} interrupts for {WAITS} waits"
    );
    Ok(())
}

/// A ring that is busy for longer than the bound of a hang, but completes jobs, does not hang. No client waits
/// meanwhile.
fn many_late_fences(context: &mut Context) -> Result<()> {
    // 0.5 s each: together longer than any `hang_ms` that tests of hangs set.
    const MANY: u32 = 12;
    let device = context.device()?;
    let bo = support::surface(&device, 16, Domain::Gtt)?;
    bo.wait()?;
    let resets = device.reset_counter()?;
    context.control()?.fault("late-fence", MANY)?;
    let begin = Instant::now();
    for colour in 1..=MANY {
        device.submit(&fill(&bo, colour))?;
    }
    let mut limit = Limit::new(Duration::from_secs(20));
    while bo.is_busy()? {
        limit.rest("the jobs do not end")?;
    }
    ensure!(
        begin.elapsed() > Duration::from_secs(5),
        "the ring was busy for {:?} only",
        begin.elapsed()
    );
    ensure!(bo.read()?.iter().all(|&pixel| pixel == MANY), "the picture");
    ensure!(device.reset_counter()? == resets, "it was taken for a hang");
    ensure!(device.reset_status()?.flags == 0, "the client is banned");
    engine_works(&device)
}

/// A signal interrupts a wait, and the process can be killed in it.
fn signal_while_waiting(context: &mut Context) -> Result<()> {
    use lapidary_harness::child::{self, End};
    let device = context.device()?;
    let bo = support::surface(&device, 16, Domain::Gtt)?;
    bo.wait()?;
    context.control()?.fault("late-fence", 1)?;
    device.submit(&fill(&bo, 1))?;
    let child = child::spawn(|| {
        bo.wait()?;
        Ok(0)
    })?;
    std::thread::sleep(Duration::from_millis(100));
    child.signal(libc::SIGKILL);
    let end = child
        .wait(Duration::from_millis(350))
        .context("killing the one that waits")?;
    ensure!(
        end == End::Signal(libc::SIGKILL),
        "the waiting child ended with {end:?}"
    );
    bo.wait()?;
    Ok(())
}

/// Skip the test if the watchdog is not slower than all waits.
fn needs_slow_watchdog() -> Result<()> {
    let patience = std::env::var("LAPIDARY_HANG_MS").ok();
    if patience.and_then(|ms| ms.parse().ok()).unwrap_or(0) < 60_000 {
        return skip("LAPIDARY_HANG_MS does not say that hang_ms is a minute or more");
    }
    Ok(())
}

/// A wait ends with an error after 30 s. The watchdog must be slower than that.
fn wait_times_out(context: &mut Context) -> Result<()> {
    use lapidary_harness::child::{self, End};
    needs_slow_watchdog()?;
    let device = context.device()?;
    let reprobe = Reprobe::of(&device)?;
    let bo = support::surface(&device, 16, Domain::Gtt)?;
    bo.wait()?;
    context.control()?.fault("hang", 1)?;
    device.submit(&fill(&bo, 1))?;
    let (idle, domain) = (
        || bo.wait(),
        || crate::domains::set_domain(&device, bo.handle(), abi::DOMAIN_CPU, 0),
    );
    let waits: [&dyn Fn() -> Result<(), Errno>; 2] = [&idle, &domain];
    let mut children = Vec::new();
    for wait in waits {
        children.push(child::spawn(|| {
            let begin = Instant::now();
            refused("a wait for a hung GPU", wait(), Errno::BUSY)?;
            Ok(begin.elapsed().as_secs() as i32)
        })?);
    }
    for child in children {
        let end = child.wait(Duration::from_secs(33))?;
        ensure!(
            matches!(end, End::Exit(29..)),
            "the waiting child ended with {end:?}"
        );
    }
    ensure!(device.reset_counter()? == 0, "it was taken for a hang");
    // Unbinding a hung GPU takes no longer than usual.
    drop(bo);
    within(Duration::from_secs(3), "the new probe", || {
        after_reprobe(context, device, &reprobe)
    })?
}

/// Several clients wait for room on a full ring. Each can be killed. The waits of all end with an error after the same
/// 30 s, not one after the other.
fn no_room(context: &mut Context) -> Result<()> {
    use lapidary_harness::child::{self, End};
    needs_slow_watchdog()?;
    let device = context.device()?;
    let reprobe = Reprobe::of(&device)?;
    engine_works(&device)?;
    context.control()?.fault("hang", 1)?;
    let mut children = Vec::new();
    for _ in 0..4 {
        children.push(child::spawn(|| {
            loop {
                let begin = Instant::now();
                let Err(error) = device.submit(&support::nothing()) else {
                    continue;
                };
                ensure!(error == Errno::BUSY, "a submission: {error}");
                return Ok(begin.elapsed().as_secs() as i32);
            }
        })?);
    }
    // Together they fill the ring.
    std::thread::sleep(Duration::from_secs(2) * patience());
    for child in children.drain(..2) {
        child.signal(libc::SIGKILL);
        let end = child.wait(Duration::from_secs(10))?;
        ensure!(
            end == End::Signal(libc::SIGKILL),
            "the killed child ended with {end:?}"
        );
    }
    for child in children {
        let end = child.wait(Duration::from_secs(45))?;
        ensure!(
            matches!(end, End::Exit(29..)),
            "the waiting child ended with {end:?}"
        );
    }
    ensure!(device.reset_counter()? == 0, "it was taken for a hang");
    after_reprobe(context, device, &reprobe)
}
