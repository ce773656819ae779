// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The card is removed while clients use it, or clients are killed while they use it, or the module is unloaded. Every
//! wait is short, nothing is left behind, and a card that is put in works.

use crate::support::{self, bound, engine_works, fill, settled, usage, within};
use anyhow::{Context as _, Result, ensure};
use lapidary_guest::Client as _;
use lapidary_guest::{Bo, Device, Domain, Errno};
use lapidary_harness::child::{self, Child, End};
use lapidary_harness::limit::Limit;
use lapidary_harness::machine::{self, Depth, Kind};
use lapidary_harness::{Context, Test, patience, refused};
use std::rc::Rc;
use std::time::Duration;

const PROMISE: &str = "our driver lets a card be pulled out in use";
/// Bound of removing the device. Waits inside of calls end at once, and the driver gives the chip up after 100 ms.
const BOUND: Duration = Duration::from_secs(4);
/// Bound of a client's end after the removal, on a loaded host.
const LIMIT: Duration = Duration::from_secs(20);

/// Return its tests.
pub fn tests() -> Vec<Test> {
    let test = |name, body| Test::new(name, body).lapidary_only(PROMISE);
    vec![
        test("removal/idle", |c| pulled_out(c, &[])).needs_control(),
        test("removal/while_submitting", |c| {
            pulled_out(c, &[submitting, submitting])
        })
        .needs_control(),
        test("removal/while_waiting", |c| {
            pulled_out(c, &[waiting, waiting])
        })
        .needs_control(),
        test("removal/while_faulting", |c| {
            pulled_out(c, &[faulting, faulting])
        })
        .needs_control(),
        test("removal/while_all_that", |c| {
            pulled_out(c, &[submitting, waiting, faulting, sharing])
        })
        .needs_control(),
        test("removal/while_asleep", while_asleep)
            .needs_control()
            .kernel("device does not answer", 1)
            .kernel("does not come back from sleep", 1)
            // The PCI core and the core of power management say the same.
            .kernel("Unable to change power state", 1)
            .kernel("pci_pm_resume returns", 1)
            .kernel("failed to resume async", 1),
        test("removal/what_is_left_is_dead", what_is_left).needs_control(),
        test("removal/unbinding_in_use", |c| {
            unbound(c, &[submitting, waiting, faulting, sharing], 4)
        })
        .limit(120),
        test("removal/killed_at_random", killed_at_random).limit(120),
        test("removal/module_stays_while_it_is_used", module_stays),
    ]
}

/// What a client does until a call fails.
pub type Work = fn(&Rc<Device>) -> Result<()>;

/// Keep the ring full.
fn submitting(device: &Rc<Device>) -> Result<()> {
    let bo = support::surface(device, 16, Domain::Vram)?;
    for colour in 0.. {
        device.submit(&fill(&bo, colour))?;
    }
    Ok(())
}

/// Wait for each job.
fn waiting(device: &Rc<Device>) -> Result<()> {
    let bo = support::surface(device, 16, Domain::Gtt)?;
    for colour in 0.. {
        device.submit(&fill(&bo, colour))?;
        bo.wait()?;
    }
    Ok(())
}

/// Make mappings and access them.
fn faulting(device: &Rc<Device>) -> Result<()> {
    loop {
        for domain in [Domain::Vram, Domain::Gtt] {
            let bo = device.create(1 << 18, domain)?;
            let mapping = bo.map()?;
            for word in (0..mapping.len()).step_by(1024) {
                mapping.set(word, 1);
            }
        }
    }
}

/// Pass objects to another client and back.
fn sharing(device: &Rc<Device>) -> Result<()> {
    let other = device.another()?;
    loop {
        let bo = support::surface(device, 16, Domain::Vram)?;
        let buffer = device.export(bo.handle())?;
        let handle = other.import(std::os::fd::AsFd::as_fd(&buffer))?;
        let there = Bo::adopt(other.clone(), handle, bo.size(), Domain::Vram);
        other.submit(&fill(&there, 7))?;
    }
}

/// Start a client that works until a call fails, which must be because the device is gone.
fn client(work: Work) -> Result<Child> {
    // Opened here, since on a loaded host a child may begin late.
    let device = Device::open()?;
    child::spawn(move || {
        let error = match work(&device) {
            Ok(()) => return Ok(1),
            Err(error) => error,
        };
        let mut limit = Limit::new(LIMIT);
        while device.gem_info() != Err(Errno::NODEV) {
            if !limit.pause() {
                return Err(error.context("the device has not gone"));
            }
        }
        Ok(0)
    })
}

/// Check how a client ended. One that accessed video memory at that moment has had a signal.
fn ended_well(child: Child) -> Result<()> {
    let end = child.wait(LIMIT * patience())?;
    ensure!(
        [End::Exit(0), End::Signal(libc::SIGBUS)].contains(&end),
        "a client ended with {end:?}"
    );
    Ok(())
}

/// Count the resources and interrupts that are registered for the driver.
fn claimed(driver: &str) -> Result<usize> {
    let text = std::fs::read_to_string("/proc/iomem")?;
    let interrupts = std::fs::read_to_string("/proc/interrupts")?;
    let lines = text.lines().chain(interrupts.lines());
    Ok(lines.filter(|line| line.ends_with(driver)).count())
}

/// Remove the card and put it back, several times, while clients do `works`.
pub fn pulled_out(context: &mut Context, works: &[Work]) -> Result<()> {
    let device = context.device()?;
    let (pci, driver) = bound(&device)?;
    engine_works(&device)?;
    drop(device);
    for round in 0..3 {
        let clients: Vec<_> = works
            .iter()
            .map(|&work| client(work))
            .collect::<Result<_>>()?;
        std::thread::sleep(Duration::from_millis(200));
        context.control()?.request("fault dead")?;
        // In some rounds the driver has time to notice.
        std::thread::sleep(Duration::from_millis(150 * round));
        within(BOUND, "removing the device", || pci.remove())??;
        for client in clients {
            ended_well(client).with_context(|| format!("round {round}"))?;
        }
        ensure!(claimed(&driver)? == 0, "round {round}: something is left");
        context.control()?.clear_faults()?;
        pci.rescan()?;
        engine_works(&context.device()?).with_context(|| format!("round {round}, put back"))?;
    }
    Ok(())
}

/// The card is gone at wake-up. What video memory held is not lost, and no client waits for the card.
fn while_asleep(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let (pci, driver) = bound(&device)?;
    let bo = support::surface(&device, 16, Domain::Vram)?;
    device.submit(&fill(&bo, 0x51ee_9000))?;
    context.control()?.fault("dead-asleep", 1)?;
    let clients = [client(submitting)?, client(waiting)?];
    std::thread::sleep(Duration::from_millis(100));
    machine::rehearse(Kind::Memory, Depth::Platform)?;
    refused("new work", device.submit(&support::nothing()), Errno::BUSY)?;
    let seen = within(BOUND, "reading", || bo.read())??;
    ensure!(
        seen.iter().all(|&pixel| pixel == 0x51ee_9000),
        "what was in video memory is {:#x}",
        seen[0]
    );
    within(BOUND, "removing the device", || pci.remove())??;
    for client in clients {
        ended_well(client)?;
    }
    ensure!(claimed(&driver)? == 0, "something is left");
    context.control()?.clear_faults()?;
    pci.rescan_awake()?;
    pci.bind(&driver)?;
    engine_works(&context.device()?).context("put back")
}

/// Files, objects, mappings and buffers of a card that is gone can be used without effect, and be closed.
fn what_is_left(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let (pci, _) = bound(&device)?;
    let objects = [
        device.create(65536, Domain::Vram)?,
        device.create(65536, Domain::Gtt)?,
    ];
    let maps: Vec<_> = objects.iter().map(Bo::map).collect::<Result<_, _>>()?;
    let buffer = device.export(objects[1].handle())?;
    for bo in &objects {
        device.submit(&fill(bo, 1))?;
    }
    context.control()?.request("fault dead")?;
    within(BOUND, "removing the device", || pci.remove())??;
    for (mapping, what) in maps.iter().zip(["VRAM", "GTT"]) {
        let end = child::run(LIMIT, || Ok(i32::from(mapping.get(0) == 0xdead_beef)))?;
        let allowed = end == End::Signal(libc::SIGBUS) || (what == "GTT" && end == End::Exit(0));
        ensure!(allowed, "{what}: {end:?}");
    }
    ensure!(device.submit(&support::nothing()) == Err(Errno::NODEV));
    ensure!(device.wait_idle(objects[0].handle()) == Err(Errno::NODEV));
    context.control()?.clear_faults()?;
    pci.rescan()?;
    // A buffer of the removed card is not an object of the new one.
    let fresh = context.device()?;
    engine_works(&fresh)?;
    drop((maps, objects, device));
    engine_works(&fresh)?;
    drop(buffer);
    engine_works(&fresh)
}

/// Take the device away as removal of the card does, but leave the card.
pub fn unbound(context: &mut Context, works: &[Work], rounds: u32) -> Result<()> {
    let device = context.device()?;
    let (pci, driver) = bound(&device)?;
    drop(device);
    for round in 0..rounds {
        let clients: Vec<_> = works
            .iter()
            .map(|&work| client(work))
            .collect::<Result<_>>()?;
        std::thread::sleep(Duration::from_millis(200));
        within(BOUND, "unbinding", || pci.unbind(&driver))??;
        let ends: Result<()> = clients.into_iter().try_for_each(ended_well);
        let left = claimed(&driver);
        // The next test needs a device, whatever the result.
        pci.bind(&driver)?;
        ends.with_context(|| format!("round {round}"))?;
        ensure!(left? == 0, "round {round}: something is left");
        engine_works(&context.device()?).with_context(|| format!("round {round}"))?;
    }
    Ok(())
}

/// Clients are killed at random moments, and none of their memory stays in use.
fn killed_at_random(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    engine_works(&device)?;
    let before = settled(&device)?;
    let mut random = fastrand::Rng::with_seed(0x6b11_0009);
    let works: [Work; 4] = [submitting, waiting, faulting, sharing];
    for _ in 0..40 {
        let clients: Vec<_> = (0..2)
            .map(|_| client(works[random.u64(..4) as usize]))
            .collect::<Result<_>>()?;
        for client in clients {
            std::thread::sleep(Duration::from_micros(random.u64(..30_000)));
            client.signal(libc::SIGKILL);
            let end = client.wait(LIMIT)?;
            ensure!(
                end == End::Signal(libc::SIGKILL),
                "a client ended with {end:?}"
            );
        }
    }
    engine_works(&device)?;
    // The worker releases a job's memory after the job.
    let mut limit = Limit::new(Duration::from_secs(5));
    loop {
        let now = usage(&device)?;
        if now == before {
            return Ok(());
        }
        limit.rest(&format!("{before:?} bytes were in use, now {now:?}"))?;
    }
}

/// Try to unload the module, which must be refused.
fn refuses_to_go(driver: &str, state: &str) -> Result<()> {
    let name = std::ffi::CString::new(driver)?;
    // SAFETY: plain system call.
    let gone = unsafe { libc::syscall(libc::SYS_delete_module, name.as_ptr(), libc::O_NONBLOCK) };
    let error = std::io::Error::last_os_error();
    ensure!(gone != 0, "{driver} could be unloaded with {state}");
    ensure!(
        error.raw_os_error() == Some(libc::EWOULDBLOCK),
        "unloading {driver} with {state}: {error}"
    );
    Ok(())
}

/// As long as a client holds a file, an object or a mapping of the driver, its module stays, bound or not.
fn module_stays(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let (pci, driver) = bound(&device)?;
    refuses_to_go(&driver, "an open file")?;
    refuses_to_go("lapidary", "a driver that uses it")?;
    let bo = support::surface(&device, 16, Domain::Gtt)?;
    device.submit(&fill(&bo, 1))?;
    refuses_to_go(&driver, "a job under way")?;
    let mapping = bo.map()?;
    let buffer = device.export(bo.handle())?;
    drop((bo, device));
    refuses_to_go(&driver, "a mapping and a buffer")?;
    drop(mapping);
    refuses_to_go(&driver, "a buffer")?;
    pci.unbind(&driver)?;
    let left = refuses_to_go(&driver, "a buffer of a device that is gone");
    pci.bind(&driver)?;
    left?;
    drop(buffer);
    engine_works(&context.device()?)
}
