// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Taking the device away from its driver while clients use it, by sysfs, and giving it back.

use crate::support::{Reprobe, bound, engine_works, fill, surface, within};
use anyhow::{Context as _, Result, ensure};
use lapidary_chrome9_client::abi::Param;
use lapidary_chrome9_client::{Client as _, Device, Errno, Place, Submission};
use lapidary_harness::child::{self, End};
use lapidary_harness::mapping::PAGE;
use lapidary_harness::{Context, Test, refused};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(20);

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("binding/idle", idle),
        Test::new("binding/open_files_are_dead", open_files),
        Test::new("binding/mappings_are_dead", mappings),
        Test::new("binding/work_under_way", work_under_way).needs_control(),
        Test::new("binding/waiting_clients", waiting_clients).needs_control(),
        Test::new("binding/busy_clients", busy_clients).limit(120),
        Test::new("binding/a_module_in_use_stays", module_stays),
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
    let bo = device.create(PAGE, Place::FrameBuffer)?;
    let handle = bo.handle();
    engine_works(&device)?;
    pci.unbind(&driver)?;
    for param in Param::ALL {
        refused("GET_PARAM", device.param(param), Errno::NODEV)?;
    }
    refused("GEM_CREATE", device.create_raw(PAGE, 0), Errno::NODEV)?;
    refused("GEM_MMAP", device.mmap_offset(handle), Errno::NODEV)?;
    let wait = device.wait(handle, LIMIT);
    refused("GEM_WAIT", wait, Errno::NODEV)?;
    let submit = Submission::nothing().issue(&device);
    refused("SUBMIT", submit, Errno::NODEV)?;
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
        device.create(4 * PAGE, Place::FrameBuffer)?,
        device.create(4 * PAGE, Place::System)?,
    ];
    let maps: Vec<_> = objects
        .iter()
        .map(|bo| bo.map())
        .collect::<Result<_, _>>()?;
    for map in &maps {
        map.set(0, 1);
    }
    pci.unbind(&driver)?;
    // The frame buffer is gone, touched before or not. A read gets a signal and nothing worse.
    for (map, place) in maps.iter().zip(Place::ALL) {
        for word in [0, 3 * PAGE as usize / 4] {
            let end = child::run(LIMIT, || {
                map.get(word);
                map.set(word, 2);
                Ok(0)
            })?;
            let allowed =
                end == End::Signal(libc::SIGBUS) || (place == Place::System && end == End::Exit(0));
            ensure!(allowed, "{place}, dword {word}: {end:?}");
        }
    }
    reprobe.now()?;
    // The old mappings do not come back to life with the new driver.
    let end = child::run(LIMIT, || Ok((maps[0].get(0) & 1) as i32))?;
    ensure!(
        end == End::Signal(libc::SIGBUS),
        "the old mapping after a new probe: {end:?}"
    );
    drop((maps, objects, device));
    engine_works(&context.device()?).context("after binding again")
}

fn work_under_way(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let (pci, driver) = bound(&device)?;
    let reprobe = Reprobe::of(&device)?;
    let bo = surface(&device, 16, Place::System)?;
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

/// The wait of a client ends soon when the device goes away.
fn waiting_clients(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let (pci, driver) = bound(&device)?;
    let reprobe = Reprobe::of(&device)?;
    let bo = surface(&device, 16, Place::FrameBuffer)?;
    bo.wait()?;
    context.control()?.fault("hang", 1)?;
    device.submit(&fill(&bo, 1))?;
    let child = child::spawn(|| {
        Ok(match bo.wait() {
            Ok(()) | Err(Errno::NODEV) => 0,
            Err(_) => 1,
        })
    })?;
    std::thread::sleep(Duration::from_millis(200));
    within(Duration::from_secs(4), "unbinding", || pci.unbind(&driver))??;
    let end = child.wait(Duration::from_secs(2))?;
    ensure!(end == End::Exit(0), "the waiting client ended with {end:?}");
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
    for round in 0..4 {
        let children: Vec<_> = (0..3)
            .map(|_| {
                child::spawn(|| {
                    loop {
                        let Ok(device) = Device::open() else {
                            continue;
                        };
                        while let Ok(()) = engine_works(&device) {}
                        // A call may fail a moment before the device is gone.
                        if !soon(|| device.param(Param::Chip) == Err(Errno::NODEV)) {
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
            // A client that was looking at the frame buffer just then got a signal.
            let allowed = [libc::SIGTERM, libc::SIGBUS]
                .map(End::Signal)
                .contains(&end);
            ensure!(allowed, "round {round}: a client ended with {end:?}");
        }
        engine_works(&context.device()?).with_context(|| format!("round {round}"))?;
    }
    Ok(())
}

/// A file keeps the module, and a mapping without a file does, too.
fn module_stays(context: &mut Context) -> Result<()> {
    let remove = || {
        let name = c"chrome9";
        // SAFETY: a plain system call with the name of a module.
        let answer =
            unsafe { libc::syscall(libc::SYS_delete_module, name.as_ptr(), libc::O_NONBLOCK) };
        match answer {
            0 => Ok(()),
            _ => Err(lapidary_harness::node::last_errno()),
        }
    };
    let device = context.device()?;
    refused("with a file", remove(), Errno::AGAIN)?;
    let bo = device.create(PAGE, Place::System)?;
    let mapping = bo.map()?;
    mapping.set(0, 3);
    drop((bo, device));
    refused("with a mapping", remove(), Errno::AGAIN)?;
    ensure!(mapping.get(0) == 3, "the mapping is dead");
    drop(mapping);
    engine_works(&context.device()?)
}
