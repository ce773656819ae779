// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The device is removed while clients use it, and put back. Every wait is short, nothing is left behind, and the device
//! works again.

use crate::{Interface, Job as _, device, engine_works};
use anyhow::{Context as _, Result, ensure};
use lapidary_harness::child::{self, Child, End};
use lapidary_harness::interface::{Buffer as _, Device as _};
use lapidary_harness::limit::{Limit, within};
use lapidary_harness::mapping::PAGE;
use lapidary_harness::sysfs::bound;
use lapidary_harness::{Context, patience};
use rustix::io::Errno;
use std::rc::Rc;
use std::time::Duration;

/// Bound of removing the device. Waits inside of calls end at once, and the driver gives the chip up after 100 ms.
pub const BOUND: Duration = Duration::from_secs(4);
/// Bound of a client's end after the removal, on a loaded host.
pub const LIMIT: Duration = Duration::from_secs(20);

/// What a client does until a call fails.
pub type Work<I> = fn(&Rc<<I as Interface>::Device>) -> Result<()>;

/// Keep the ring full.
///
/// # Errors
///
/// A call fails.
pub fn submitting<I: Interface>(device: &Rc<I::Device>) -> Result<()> {
    let bo = I::surface(device, 16, I::VIDEO)?;
    for colour in 0.. {
        I::fill(&bo, colour, 1).submit(device)?;
    }
    Ok(())
}

/// Wait for each job.
///
/// # Errors
///
/// A call fails.
pub fn waiting<I: Interface>(device: &Rc<I::Device>) -> Result<()> {
    let bo = I::surface(device, 16, I::SYSTEM)?;
    for colour in 0.. {
        I::fill(&bo, colour, 1).submit(device)?;
        bo.wait()?;
    }
    Ok(())
}

/// Make mappings and access them.
///
/// # Errors
///
/// A call fails.
pub fn faulting<I: Interface>(device: &Rc<I::Device>) -> Result<()> {
    loop {
        for place in [I::VIDEO, I::SYSTEM] {
            let bo = I::create(device, 64 * PAGE, place)?;
            let mapping = bo.map()?;
            for word in (0..mapping.len()).step_by(PAGE as usize / 4) {
                mapping.set(word, 1);
            }
        }
    }
}

/// Start a client that works until a call fails, which must be because the device is gone.
///
/// # Errors
///
/// There is no device, or no process.
pub fn client<I: Interface>(work: Work<I>) -> Result<Child> {
    // Opened here, since on a loaded host a child may begin late.
    let device = I::Device::open()?;
    child::spawn(move || {
        let error = match work(&device) {
            Ok(()) => return Ok(1),
            Err(error) => error,
        };
        let mut limit = Limit::new(LIMIT);
        while device.version().err() != Some(Errno::NODEV) {
            if !limit.pause() {
                return Err(error.context("the device has not gone"));
            }
        }
        Ok(0)
    })
}

/// Check how a client ended. One that accessed video memory at that moment has had a signal.
///
/// # Errors
///
/// It ended in another way, or did not.
pub fn ended_well(child: Child) -> Result<()> {
    let end = child.wait(LIMIT * patience())?;
    ensure!(
        [End::Exit(0), End::Signal(libc::SIGBUS)].contains(&end),
        "a client ended with {end:?}"
    );
    Ok(())
}

/// Count the resources and interrupts that are registered for the driver.
///
/// # Errors
///
/// The lists cannot be read.
pub fn claimed(driver: &str) -> Result<usize> {
    let text = std::fs::read_to_string("/proc/iomem")?;
    let interrupts = std::fs::read_to_string("/proc/interrupts")?;
    let lines = text.lines().chain(interrupts.lines());
    Ok(lines.filter(|line| line.ends_with(driver)).count())
}

fn start<I: Interface>(works: &[Work<I>]) -> Result<Vec<Child>> {
    works.iter().map(|&work| client::<I>(work)).collect()
}

/// Remove the device and put it back, several times, while clients do `works`.
///
/// # Errors
///
/// It takes too long, something is left, or the device does not work.
pub fn pulled_out<I: Interface>(context: &mut Context, works: &[Work<I>]) -> Result<()> {
    let client = device::<I>()?;
    let (pci, driver) = bound(&client)?;
    engine_works::<I>(&client)?;
    drop(client);
    for round in 0..3 {
        let clients = start::<I>(works)?;
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
        engine_works::<I>(&device::<I>()?).with_context(|| format!("round {round}, put back"))?;
    }
    Ok(())
}

/// Take the device away as its removal does, but leave it in its slot, `rounds` times while clients do `works`.
///
/// # Errors
///
/// As [`pulled_out`].
pub fn unbound<I: Interface>(works: &[Work<I>], rounds: u32) -> Result<()> {
    let client = device::<I>()?;
    let (pci, driver) = bound(&client)?;
    drop(client);
    for round in 0..rounds {
        let clients = start::<I>(works)?;
        std::thread::sleep(Duration::from_millis(200));
        within(BOUND, "unbinding", || pci.unbind(&driver))??;
        let ends: Result<()> = clients.into_iter().try_for_each(ended_well);
        let left = claimed(&driver);
        // The next test needs a device, whatever the result.
        pci.bind(&driver)?;
        ends.with_context(|| format!("round {round}"))?;
        ensure!(left? == 0, "round {round}: something is left");
        engine_works::<I>(&device::<I>()?).with_context(|| format!("round {round}"))?;
    }
    Ok(())
}
