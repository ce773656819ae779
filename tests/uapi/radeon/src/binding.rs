// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Taking the device away from its driver while clients use it, by sysfs, and giving it back.

use crate::support::{self, Reprobe, bound, engine_works, fill};
use anyhow::{Context as _, Result, ensure};
use lapidary_guest::Client as _;
use lapidary_guest::painter::painter;
use lapidary_guest::{Domain, Errno, abi};
use lapidary_harness::child::{self, End};
use lapidary_harness::mapping::PAGE;
use lapidary_harness::{Context, Test, refused};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(20);
const PROMISE: &str = "our driver can be taken away in use";

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("binding/idle", idle).lapidary_only(PROMISE),
        Test::new("binding/open_files", open_files).lapidary_only(PROMISE),
        Test::new("binding/mappings", mappings).lapidary_only(PROMISE),
        Test::new("binding/work_under_way", work_under_way)
            .needs_control()
            .lapidary_only(PROMISE),
        Test::new("binding/waiting_clients", waiting_clients)
            .needs_control()
            .lapidary_only(PROMISE),
        Test::new("binding/busy_clients", busy_clients)
            .lapidary_only(PROMISE)
            .limit(120),
    ]
}

/// Unbind and bind without clients, several times over.
fn idle(context: &mut Context) -> Result<()> {
    for round in 0..5 {
        let device = context.device()?;
        let (pci, driver) = bound(&device)?;
        let path = device.path().to_owned();
        drop(device);
        pci.unbind(&driver)?;
        ensure!(
            pci.driver().is_none() && !path.exists(),
            "round {round}: something is left"
        );
        pci.bind(&driver)?;
        engine_works(&context.device()?).with_context(|| format!("round {round}"))?;
    }
    Ok(())
}

fn open_files(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let (pci, driver) = bound(&device)?;
    let reprobe = Reprobe::of(&device)?;
    let bo = device.create(PAGE, Domain::Vram)?;
    let handle = bo.handle();
    engine_works(&device)?;
    pci.unbind(&driver)?;

    refused(
        "INFO",
        device.info(abi::info_request("DEVICE_ID")),
        Errno::NODEV,
    )?;
    refused("GEM_INFO", device.gem_info(), Errno::NODEV)?;
    refused(
        "GEM_CREATE",
        device.create_raw(PAGE, 0, abi::DOMAIN_GTT, 0),
        Errno::NODEV,
    )?;
    refused("GEM_MMAP", device.mmap_offset(handle), Errno::NODEV)?;
    refused("GEM_WAIT_IDLE", device.wait_idle(handle), Errno::NODEV)?;
    refused("GEM_BUSY", device.busy(handle).0, Errno::NODEV)?;
    refused("CS", device.submit(&support::nothing()), Errno::NODEV)?;
    refused("the version", device.version(), Errno::NODEV)?;
    drop((bo, device));

    reprobe.now()?;
    engine_works(&context.device()?).context("after binding again")
}

fn mappings(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let (pci, driver) = bound(&device)?;
    let reprobe = Reprobe::of(&device)?;
    let objects = [
        device.create(4 * PAGE, Domain::Vram)?,
        device.create(4 * PAGE, Domain::Gtt)?,
    ];
    let maps: Vec<_> = objects
        .iter()
        .map(|bo| bo.map())
        .collect::<Result<_, _>>()?;
    for map in &maps {
        map.set(0, 1);
    }
    pci.unbind(&driver)?;
    // Video memory is gone, touched before or not. A read gets a signal and nothing worse.
    for (map, what) in maps.iter().zip(["VRAM", "GTT"]) {
        for word in [0, 3 * PAGE as usize / 4] {
            let end = child::run(LIMIT, || {
                map.get(word);
                map.set(word, 2);
                Ok(0)
            })?;
            let allowed =
                end == End::Signal(libc::SIGBUS) || (what == "GTT" && end == End::Exit(0));
            ensure!(allowed, "{what}, dword {word}: {end:?}");
        }
    }
    reprobe.now()?;
    // The old mappings do not come back to life with the new driver.
    let end = child::run(LIMIT, || Ok((maps[0].get(0) & 1) as i32))?;
    ensure!(
        end == End::Signal(libc::SIGBUS),
        "the old mapping of VRAM after a new probe: {end:?}"
    );
    drop((maps, objects, device));
    engine_works(&context.device()?).context("after binding again")
}

fn work_under_way(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let (pci, driver) = bound(&device)?;
    let reprobe = Reprobe::of(&device)?;
    let bo = support::surface(&device, 16, Domain::Gtt)?;
    context.control()?.fault("late-fence", 1)?;
    for colour in 0..50 {
        device.submit(&fill(&bo, colour))?;
    }
    pci.unbind(&driver)?;
    drop((bo, device));
    context.control()?.clear_faults()?;
    reprobe.now()?;
    engine_works(&context.device()?).context("after binding again")
}

/// The wait of a client ends soon with an error when the device goes away.
fn waiting_clients(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let (pci, driver) = bound(&device)?;
    let reprobe = Reprobe::of(&device)?;
    let bo = support::surface(&device, 16, Domain::Gtt)?;
    context.control()?.fault("hang", 1)?;
    device.submit(&fill(&bo, 1))?;
    let child = child::spawn(|| {
        Ok(match bo.wait() {
            Ok(()) | Err(Errno::NODEV) => 0,
            Err(_) => 1,
        })
    })?;
    std::thread::sleep(Duration::from_millis(200));
    support::within(Duration::from_secs(4), "unbinding", || pci.unbind(&driver))??;
    let end = child.wait(Duration::from_secs(2))?;
    ensure!(end == End::Exit(0), "the waiting client ended with {end:?}");
    painter().is_stopped(context.control()?)?;
    context.control()?.clear_faults()?;
    drop((bo, device));
    reprobe.now()?;
    engine_works(&context.device()?).context("after binding again")
}

/// Return whether `condition` comes true within ten seconds, which is much longer than it takes, for loaded hosts.
fn soon(mut condition: impl FnMut() -> bool) -> bool {
    for _ in 0..1000 {
        if condition() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}

/// Several processes work while the device is taken away again and again.
fn busy_clients(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let (pci, driver) = bound(&device)?;
    let _reprobe = Reprobe::of(&device)?;
    drop(device);
    for round in 0..5 {
        let children: Vec<_> = (0..3)
            .map(|_| {
                child::spawn(|| {
                    loop {
                        let Ok(device) = lapidary_guest::Device::open() else {
                            continue;
                        };
                        while let Ok(()) = engine_works(&device) {}
                        // A call may fail a moment before the device is gone.
                        let gone = || device.gem_info() == Err(Errno::NODEV);
                        if !soon(gone) {
                            return Ok(1);
                        }
                    }
                })
            })
            .collect::<Result<_>>()?;
        std::thread::sleep(Duration::from_millis(300));
        pci.unbind(&driver)
            .with_context(|| format!("round {round}"))?;
        std::thread::sleep(Duration::from_millis(50));
        pci.bind(&driver)
            .with_context(|| format!("round {round}"))?;
        std::thread::sleep(Duration::from_millis(200));
        for child in children {
            child.signal(libc::SIGTERM);
            let end = child.wait(LIMIT)?;
            // A client that was looking at video memory just then got a signal.
            let allowed = [libc::SIGTERM, libc::SIGBUS]
                .map(End::Signal)
                .contains(&end);
            ensure!(allowed, "round {round}: a client ended with {end:?}");
        }
        engine_works(&context.device()?).with_context(|| format!("round {round}"))?;
    }
    Ok(())
}
