// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Several clients use both rings at once: undisturbed, while the machine sleeps, and while the card is taken away.

use super::{Ring, WAYS, Writer, device};
use anyhow::{Context as _, Result, ensure};
use lapidary_guest::{Device, Domain};
use lapidary_harness::child::{self, Child, End};
use lapidary_harness::machine::{self, Depth, Kind};
use lapidary_harness::mapping::PAGE;
use lapidary_harness::{Context, Test, patience};
use lapidary_uapi_radeon::removal;
use lapidary_uapi_radeon::sleep::PROMISE;
use lapidary_uapi_radeon::support::{Radeon, engine_works};
use lapidary_uapi_radeon::userptr::{Memory, VALIDATE, WRITABLE};
use std::rc::Rc;
use std::time::Duration;

/// Time for a client's end on a loaded host.
const LIMIT: Duration = Duration::from_secs(40);
/// Steps of a client that is not disturbed.
const STEPS: u32 = 300;
/// Steps after which it looks.
const LOOK: u32 = 20;

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("r600/life/clients_on_both_rings", clients),
        Test::new("r600/life/process_memory_on_both_rings", process_memory)
            .lapidary_only("upstream's page table does not let the GPU write a process's memory"),
    ]
}

pub fn last_tests() -> Vec<Test> {
    vec![
        Test::new("r600/life/sleep_while_both_rings_work", asleep)
            .lapidary_only(PROMISE)
            .limit(120),
        Test::new("r600/life/pulled_out_while_both_rings_work", |c| {
            device(c)?;
            removal::pulled_out::<Radeon>(c, &[on_both, on_both])
        })
        .needs_control()
        .lapidary_only("our driver lets a card be pulled out in use"),
        Test::new("r600/life/unbound_while_both_rings_work", |c| {
            device(c)?;
            removal::unbound::<Radeon>(&[on_both, on_both], 3)
        })
        .lapidary_only("our driver can be taken away in use")
        .limit(120),
    ]
}

/// Start a process that runs `work` with a client of its own.
fn client(device: &Device, work: impl FnOnce(&Rc<Device>) -> Result<()>) -> Result<Child> {
    let device = device.another()?;
    child::spawn(move || work(&device).map(|()| 0))
}

fn all_end(clients: Vec<Child>) -> Result<()> {
    for client in clients {
        let end = client.wait(LIMIT * patience())?;
        ensure!(end == End::Exit(0), "a client ended with {end:?}");
    }
    Ok(())
}

/// Let four processes work, each from ring to ring in its own way.
fn clients(context: &mut Context) -> Result<()> {
    let device = device(context)?;
    let mut all = Vec::new();
    for (rings, domain) in WAYS.into_iter().zip(Domain::ALL.into_iter().cycle()) {
        all.push(client(&device, move |device| {
            let mut writer = Writer::new(device.clone(), rings, domain)?;
            for step in 0..STEPS {
                writer.step()?;
                if step % LOOK == 0 {
                    writer.check().with_context(|| format!("step {step}"))?;
                }
            }
            writer.check()
        })?);
    }
    all_end(all)?;
    engine_works(&device)
}

/// Processes let both rings write to their own memory. Jobs that wait for the other ring and jobs that do not meet.
fn process_memory(context: &mut Context) -> Result<()> {
    let device = device(context)?;
    let mut all = Vec::new();
    for number in 0..4 {
        all.push(client(&device, move |device| {
            let memory = Memory::new(PAGE)?;
            let bo = memory.object(device, WRITABLE | VALIDATE)?;
            for round in 1..=STEPS {
                let value = (number << 16) | round;
                let [first, second] = match round % 2 {
                    0 => [Ring::Dma, Ring::Cp],
                    _ => [Ring::Cp, Ring::Dma],
                };
                device.submit(&first.fill(&bo, 0))?;
                device.submit(&second.fill(&bo, value))?;
                if round % LOOK == 0 {
                    bo.wait()?;
                    let seen = memory.read();
                    let wrong = seen.iter().find(|&&word| word != value);
                    ensure!(wrong.is_none(), "round {round}: {wrong:x?}");
                }
            }
            bo.wait()?;
            Ok(())
        })?);
    }
    all_end(all)?;
    engine_works(&device)
}

/// Use both rings until a call fails.
fn on_both(device: &Rc<Device>) -> Result<()> {
    let mut writers = Vec::new();
    for (rings, domain) in WAYS.into_iter().zip(Domain::ALL.into_iter().cycle()) {
        writers.push(Writer::new(device.clone(), rings, domain)?);
    }
    loop {
        for writer in &mut writers {
            writer.step()?;
        }
    }
}

/// Clients that use both rings all the time do not notice that the machine sleeps.
fn asleep(context: &mut Context) -> Result<()> {
    let device = device(context)?;
    let mut all = Vec::new();
    for (rings, domain) in WAYS.into_iter().zip(Domain::ALL.into_iter().cycle()) {
        all.push(client(&device, move |device| {
            let mut writer = Writer::new(device.clone(), rings, domain)?;
            loop {
                for _ in 0..4 {
                    writer.step()?;
                }
                writer.check()?;
            }
        })?);
    }
    for (kind, depth) in [
        (Kind::Memory, Depth::Devices),
        (Kind::Memory, Depth::Platform),
        (Kind::Disk, Depth::Platform),
        (Kind::Memory, Depth::Platform),
    ] {
        std::thread::sleep(Duration::from_millis(200));
        machine::rehearse(kind, depth)?;
    }
    std::thread::sleep(Duration::from_millis(300));
    for client in all {
        client.signal(libc::SIGTERM);
        let end = client.wait(LIMIT)?;
        ensure!(
            end == End::Signal(libc::SIGTERM),
            "a client ended with {end:?}"
        );
    }
    engine_works(&device)
}
