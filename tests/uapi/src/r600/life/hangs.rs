// SPDX-License-Identifier: GPL-2.0 OR MIT

//! One of two rings hangs. What the other ring and other clients do is done all the same.

use super::{Ring, WAYS, Writer, device};
use anyhow::{Context as _, Result, ensure};
use lapidary_guest::{Bo, Device, Domain, Errno};
use lapidary_harness::mapping::PAGE;
use lapidary_harness::{Context, Test, refused};
use lapidary_uapi_radeon::recovery::OWN;
use lapidary_uapi_radeon::support::{engine_works, within};
use std::os::fd::AsFd;
use std::rc::Rc;
use std::time::Duration;

/// The bound of a hang, of a reset, and time for a loaded machine.
const BOUND: Duration = Duration::from_secs(20);
/// Steps of each client behind a hang.
const STEPS: u32 = 6;

pub fn tests() -> Vec<Test> {
    let test = |name, body| {
        Test::new(name, body)
            .needs_control()
            .hangs(1)
            .lapidary_only(OWN)
    };
    vec![
        test("r600/life/the_cp_hangs_while_dma_copies", |c| {
            survived(c, Ring::Cp, "hang")
        }),
        test("r600/life/dma_hangs_while_the_cp_copies", |c| {
            survived(c, Ring::Dma, "hang-dma")
        }),
        test("r600/life/an_endless_buffer_of_the_cp", |c| {
            survived(c, Ring::Cp, "endless-buffer")
        }),
        test("r600/life/an_endless_buffer_of_dma", |c| {
            survived(c, Ring::Dma, "endless-buffer")
        }),
        test("r600/life/who_waits_for_hung_dma_is_innocent", |c| {
            waited(c, Ring::Dma, "hang-dma")
        }),
        test("r600/life/who_waits_for_a_hung_cp_is_innocent", |c| {
            waited(c, Ring::Cp, "hang")
        }),
        test("r600/life/a_semaphore_is_never_signalled", unsignalled),
    ]
}

/// Check that a client is refused on both rings, and that this is known to be its fault.
fn is_refused(device: &Device, bo: &Bo) -> Result<()> {
    for ring in [Ring::Cp, Ring::Dma] {
        let name = format!("new work of the guilty for {ring:?}");
        refused(&name, device.submit(&ring.fill(bo, 9)), Errno::CANCELED)?;
    }
    let status = device.reset_status()?;
    ensure!(
        status.flags & 1 == 1 && status.guilty == 1,
        "the guilty is told {status:?}"
    );
    Ok(())
}

/// Check that a client is not refused.
fn is_innocent(device: &Device) -> Result<()> {
    let status = device.reset_status()?;
    ensure!(
        status.flags & 1 == 0 && status.guilty == 0,
        "an innocent is told {status:?}"
    );
    Ok(())
}

/// Return clients that use the rings in all ways, and have done so.
fn writers(device: &Device) -> Result<Vec<Writer>> {
    let mut writers = Vec::new();
    for (rings, domain) in WAYS.into_iter().zip(Domain::ALL.into_iter().cycle()) {
        let mut writer = Writer::new(device.another()?, rings, domain)?;
        writer.step()?;
        writer.check()?;
        writers.push(writer);
    }
    Ok(writers)
}

/// Let all clients make some steps, and check them.
fn all_write(writers: &mut [Writer]) -> Result<()> {
    for _ in 0..STEPS {
        for writer in &mut *writers {
            writer.step()?;
        }
    }
    for writer in writers {
        writer.check()?;
        is_innocent(&writer.device)?;
    }
    Ok(())
}

/// Hang `ring` by the model's `fault` while four clients use both rings.
fn survived(context: &mut Context, ring: Ring, fault: &str) -> Result<()> {
    let device = device(context)?;
    let guilty = device.another()?;
    let target = guilty.create(PAGE, Domain::Gtt)?;
    target.wait()?;
    let mut writers = writers(&device)?;
    let resets = device.reset_counter()?;
    // No job of the kernel is to take the fault.
    context.control()?.quiet()?;
    within(BOUND, "all of it", || {
        context.control()?.fault(fault, 1)?;
        guilty.submit(&ring.fill(&target, 1))?;
        for value in 2..5 {
            for ring in [Ring::Cp, Ring::Dma] {
                guilty.submit(&ring.fill(&target, value))?;
            }
        }
        all_write(&mut writers)?;
        Ok::<(), anyhow::Error>(target.wait()?)
    })??;
    ensure!(
        device.reset_counter()? == resets + 1,
        "{} resets after {resets}",
        device.reset_counter()?
    );
    ensure!(
        target.read()?.iter().all(|&word| word < 2),
        "jobs of the guilty were executed"
    );
    is_refused(&guilty, &target)?;
    all_write(&mut writers).context("after the reset")?;
    engine_works(&device)
}

/// Give `client` another client's object.
fn shared(client: &Rc<Device>, bo: &Bo) -> Result<Bo> {
    let buffer = bo.device().export(bo.handle())?;
    let handle = client.import(buffer.as_fd())?;
    Ok(Bo::adopt(client.clone(), handle, bo.size(), bo.domain()))
}

/// Hang `ring` in a job behind which another client's job waits on the other ring. Only the first client is refused,
/// and the second one's job is done.
fn waited(context: &mut Context, ring: Ring, fault: &str) -> Result<()> {
    let other = match ring {
        Ring::Cp => Ring::Dma,
        Ring::Dma => Ring::Cp,
    };
    let device = device(context)?;
    let (guilty, innocent) = (device.another()?, device.another()?);
    let from = guilty.create(PAGE, Domain::Gtt)?;
    from.write(&[0x5eed; PAGE as usize / 4])?;
    let (seen, to) = (
        shared(&innocent, &from)?,
        innocent.create(PAGE, Domain::Gtt)?,
    );
    to.wait()?;
    let mut writers = writers(&device)?;
    let resets = device.reset_counter()?;
    context.control()?.quiet()?;
    within(BOUND, "all of it", || {
        context.control()?.fault(fault, 1)?;
        guilty.submit(&ring.fill(&from, 1))?;
        innocent.submit(&other.copy(&seen, &to))?;
        all_write(&mut writers)?;
        Ok::<(), anyhow::Error>(to.wait()?)
    })??;
    ensure!(
        to.read()?.iter().all(|&word| word == 0x5eed),
        "the job that waited was not executed"
    );
    is_innocent(&innocent)?;
    is_refused(&guilty, &from)?;
    ensure!(device.reset_counter()? == resets + 1, "not one reset");
    innocent.submit(&other.copy(&seen, &to))?;
    to.wait()?;
    engine_works(&device)
}

/// The signal for which a job waits in its ring is lost. That ring hangs, and only the client of that job is refused.
fn unsignalled(context: &mut Context) -> Result<()> {
    let device = device(context)?;
    let unlucky = device.another()?;
    let (from, to) = (
        unlucky.create(PAGE, Domain::Gtt)?,
        unlucky.create(PAGE, Domain::Gtt)?,
    );
    from.wait()?;
    to.wait()?;
    let mut writers = writers(&device)?;
    let resets = device.reset_counter()?;
    context.control()?.quiet()?;
    within(BOUND, "all of it", || {
        context.control()?.fault("lost-signal", 1)?;
        unlucky.submit(&Ring::Dma.fill(&from, 7))?;
        unlucky.submit(&Ring::Cp.copy(&from, &to))?;
        all_write(&mut writers)?;
        Ok::<(), anyhow::Error>(to.wait()?)
    })??;
    ensure!(
        from.read()?.iter().all(|&word| word == 7),
        "the job that was to be waited for was not executed"
    );
    is_refused(&unlucky, &from)?;
    ensure!(device.reset_counter()? == resets + 1, "not one reset");
    all_write(&mut writers).context("after the reset")?;
    engine_works(&device)
}
