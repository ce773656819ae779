// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The card is removed while clients use it, or clients are killed while they use it, or the module is unloaded. Every
//! wait is short, nothing is left behind, and a card that is put in works.

use crate::support::{self, Radeon, bound, engine_works, fill, settled, usage, within};
use anyhow::{Context as _, Result, ensure};
use lapidary_guest::Client as _;
use lapidary_guest::{Bo, Device, Domain, Errno};
use lapidary_harness::child::{self, End};
use lapidary_harness::limit::Limit;
use lapidary_harness::machine::{self, Depth, Kind};
use lapidary_harness::{Context, Test, refused};
use lapidary_uapi_shared::removal::{
    BOUND, LIMIT, Work, claimed, client, ended_well, faulting, submitting, waiting,
};
pub use lapidary_uapi_shared::removal::{pulled_out, unbound};
use std::rc::Rc;
use std::time::Duration;

const PROMISE: &str = "our driver lets a card be pulled out in use";

/// Return its tests.
pub fn tests() -> Vec<Test> {
    let test = |name, body| Test::new(name, body).lapidary_only(PROMISE);
    vec![
        test("removal/idle", |c| pulled_out::<Radeon>(c, &[])).needs_control(),
        test("removal/while_submitting", |c| {
            pulled_out::<Radeon>(c, &[submitting::<Radeon>, submitting::<Radeon>])
        })
        .needs_control(),
        test("removal/while_waiting", |c| {
            pulled_out::<Radeon>(c, &[waiting::<Radeon>, waiting::<Radeon>])
        })
        .needs_control(),
        test("removal/while_faulting", |c| {
            pulled_out::<Radeon>(c, &[faulting::<Radeon>, faulting::<Radeon>])
        })
        .needs_control(),
        test("removal/while_all_that", |c| {
            pulled_out::<Radeon>(
                c,
                &[
                    submitting::<Radeon>,
                    waiting::<Radeon>,
                    faulting::<Radeon>,
                    sharing,
                ],
            )
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
        test("removal/unbinding_in_use", |_| {
            unbound::<Radeon>(
                &[
                    submitting::<Radeon>,
                    waiting::<Radeon>,
                    faulting::<Radeon>,
                    sharing,
                ],
                4,
            )
        })
        .limit(120),
        test("removal/killed_at_random", killed_at_random).limit(120),
        test("removal/module_stays_while_it_is_used", module_stays),
    ]
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

/// The card is gone at wake-up. What video memory held is not lost, and no client waits for the card.
fn while_asleep(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let (pci, driver) = bound(&device)?;
    let bo = support::surface(&device, 16, Domain::Vram)?;
    device.submit(&fill(&bo, 0x51ee_9000))?;
    context.control()?.fault("dead-asleep", 1)?;
    let clients = [
        client::<Radeon>(submitting::<Radeon>)?,
        client::<Radeon>(waiting::<Radeon>)?,
    ];
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

/// Clients are killed at random moments, and none of their memory stays in use.
fn killed_at_random(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    engine_works(&device)?;
    let before = settled(&device)?;
    let mut random = fastrand::Rng::with_seed(0x6b11_0009);
    let works: [Work<Radeon>; 4] = [
        submitting::<Radeon>,
        waiting::<Radeon>,
        faulting::<Radeon>,
        sharing,
    ];
    for _ in 0..40 {
        let clients: Vec<_> = (0..2)
            .map(|_| client::<Radeon>(works[random.u64(..4) as usize]))
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
