// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Taking the device away from its driver while clients use it, by sysfs, and giving it back.

use crate::{Interface, Job as _, after_reprobe, device, engine_works, late};
use anyhow::{Context as _, Result, ensure};
use lapidary_harness::child::{self, End};
use lapidary_harness::control::Control;
use lapidary_harness::interface::{Buffer as _, Device as _};
use lapidary_harness::limit::within;
use lapidary_harness::mapping::PAGE;
use lapidary_harness::sysfs::{Reprobe, bound};
use lapidary_harness::{Context, refused};
use rustix::io::Errno;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(20);

/// Unbind and bind without clients, several times over.
pub fn idle<I: Interface>(_: &mut Context) -> Result<()> {
    for round in 0..5 {
        let client = device::<I>()?;
        let (pci, driver) = bound(&client)?;
        let path = client.path().to_owned();
        drop(client);
        pci.unbind(&driver)?;
        ensure!(
            pci.driver().is_none() && !path.exists(),
            "round {round}: something is left"
        );
        pci.bind(&driver)?;
        engine_works::<I>(&device::<I>()?).with_context(|| format!("round {round}"))?;
    }
    Ok(())
}

/// On a file of a device that is gone every call is refused. `calls` makes the interface's own, with the handle of an
/// object.
pub fn open_files<I: Interface>(
    context: &mut Context,
    calls: impl FnOnce(&I::Device, u32) -> Result<()>,
) -> Result<()> {
    let device = device::<I>()?;
    let reprobe = Reprobe::of(&device)?;
    let bo = I::create(&device, PAGE, I::VIDEO)?;
    engine_works::<I>(&device)?;
    reprobe.unbind()?;
    calls(&device, bo.handle())?;
    let submission = I::nothing().submit(&device);
    refused("a submission", submission, Errno::NODEV)?;
    refused("the version", device.version(), Errno::NODEV)?;
    drop((bo, device));
    after_reprobe::<I>(context, &reprobe)
}

/// A mapping of video memory is dead, also after a new probe.
pub fn mappings<I: Interface>(context: &mut Context) -> Result<()> {
    let device = device::<I>()?;
    let reprobe = Reprobe::of(&device)?;
    let places = [I::VIDEO, I::SYSTEM];
    let objects = places.map(|place| I::create(&device, 4 * PAGE, place));
    let objects = objects.into_iter().collect::<Result<Vec<_>, _>>()?;
    let maps: Vec<_> = objects
        .iter()
        .map(|bo| bo.map())
        .collect::<Result<_, _>>()?;
    for map in &maps {
        map.set(0, 1);
    }
    reprobe.unbind()?;
    // Video memory is gone, touched before or not. A read gets a signal and nothing worse.
    for (map, place) in maps.iter().zip(places) {
        for word in [0, 3 * PAGE as usize / 4] {
            let end = child::run(LIMIT, || {
                map.get(word);
                map.set(word, 2);
                Ok(0)
            })?;
            let allowed =
                end == End::Signal(libc::SIGBUS) || (place == I::SYSTEM && end == End::Exit(0));
            ensure!(allowed, "{place:?}, dword {word}: {end:?}");
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
    after_reprobe::<I>(context, &reprobe)
}

/// The device goes away with jobs on its ring.
pub fn work_under_way<I: Interface>(context: &mut Context) -> Result<()> {
    let device = device::<I>()?;
    let reprobe = Reprobe::of(&device)?;
    let bo = I::surface(&device, 16, I::SYSTEM)?;
    late(context)?;
    for colour in 0..50 {
        I::fill(&bo, colour, 1).submit(&device)?;
    }
    reprobe.unbind()?;
    drop((bo, device));
    after_reprobe::<I>(context, &reprobe)
}

/// The wait of a client ends soon when the device goes away. `stopped` checks that the chip does nothing any more.
pub fn waiting_clients<I: Interface>(
    context: &mut Context,
    stopped: impl FnOnce(&mut Control) -> Result<()>,
) -> Result<()> {
    let device = device::<I>()?;
    let reprobe = Reprobe::of(&device)?;
    let bo = I::surface(&device, 16, I::USUAL)?;
    bo.wait()?;
    context.control()?.fault("hang", 1)?;
    I::fill(&bo, 1, 1).submit(&device)?;
    let child = child::spawn(|| {
        Ok(match bo.wait() {
            Ok(()) | Err(Errno::NODEV) => 0,
            Err(_) => 1,
        })
    })?;
    std::thread::sleep(Duration::from_millis(200));
    within(Duration::from_secs(4), "unbinding", || reprobe.unbind())??;
    let end = child.wait(Duration::from_secs(2))?;
    ensure!(end == End::Exit(0), "the waiting client ended with {end:?}");
    stopped(context.control()?)?;
    drop((bo, device));
    after_reprobe::<I>(context, &reprobe)
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

/// Work on one client after the other, as long as there is a device. Return when calls fail and the device is not gone.
fn work<I: Interface>() -> Result<i32> {
    loop {
        let Ok(device) = I::Device::open() else {
            continue;
        };
        while let Ok(()) = engine_works::<I>(&device) {}
        // A call may fail a moment before the device is gone.
        if !soon(|| device.version() == Err(Errno::NODEV)) {
            return Ok(1);
        }
    }
}

/// Several processes work while the device is taken away again and again.
pub fn busy_clients<I: Interface>(_: &mut Context) -> Result<()> {
    let reprobe = Reprobe::of(device::<I>()?)?;
    for round in 0..5 {
        let children: Vec<_> = (0..3)
            .map(|_| child::spawn(work::<I>))
            .collect::<Result<_>>()?;
        std::thread::sleep(Duration::from_millis(300));
        let place = || format!("round {round}");
        reprobe.unbind().with_context(place)?;
        std::thread::sleep(Duration::from_millis(50));
        reprobe.now().with_context(place)?;
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
        engine_works::<I>(&device::<I>()?).with_context(place)?;
    }
    Ok(())
}
