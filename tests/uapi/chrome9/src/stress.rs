// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Several processes and threads that make, map, draw, check and drop objects at the same time.

use crate::support::{WIDTH, copy, engine_works, fill, surface};
use anyhow::{Context as _, Result, bail, ensure};
use lapidary_chrome9_client::{Bo, Client as _, Device, Place, Submission};
use lapidary_harness::child::{self, End};
use lapidary_harness::mapping::PAGE;
use lapidary_harness::{Context, Test};
use std::time::Duration;

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("stress/processes", processes).limit(180),
        Test::new("stress/processes_killed_at_work", killed).limit(120),
        Test::new("stress/threads_of_one_client", threads).limit(120),
    ]
}

/// Run one client with a few objects, random operations, and a check of every result.
fn client(seed: u64, rounds: u32) -> Result<()> {
    const ROWS: u32 = 24;
    let device = Device::open()?;
    let mut random = fastrand::Rng::with_seed(seed);
    let make = |random: &mut fastrand::Rng| -> Result<(Bo, u32)> {
        let place = Place::ALL[random.usize(..2)];
        Ok((surface(&device, ROWS, place)?, 0))
    };
    let mut objects: Vec<(Bo, u32)> = (0..6).map(|_| make(&mut random)).collect::<Result<_>>()?;
    for round in 0..rounds {
        let (at, from) = (random.usize(..objects.len()), random.usize(..objects.len()));
        match random.u8(..5) {
            0 => objects[at] = make(&mut random)?,
            1 => {
                let colour = random.u32(..);
                device.submit(&fill(&objects[at].0, colour))?;
                objects[at].1 = colour;
            }
            2 if from != at => {
                device.submit(&copy(&objects[from].0, &objects[at].0))?;
                objects[at].1 = objects[from].1;
            }
            3 => {
                let colour = random.u32(..);
                let (bo, known) = &mut objects[at];
                bo.wait()?;
                bo.write(&vec![colour; (WIDTH * ROWS) as usize])?;
                *known = colour;
            }
            _ => {
                let (bo, colour) = &objects[at];
                bo.wait()?;
                let mapping = bo.map()?;
                for i in [0, mapping.len() / 2, (WIDTH * ROWS) as usize - 1] {
                    let seen = mapping.get(i);
                    ensure!(
                        seen == *colour,
                        "round {round}: dword {i} is {seen:#x}, expected {colour:#x}"
                    );
                }
            }
        }
    }
    Ok(())
}

fn processes(context: &mut Context) -> Result<()> {
    let children: Vec<_> = (1..=4)
        .map(|seed| child::spawn(move || client(seed * 0x1234_5677, 500).map(|()| 0)))
        .collect::<Result<_>>()?;
    for child in children {
        let end = child.wait(Duration::from_secs(150))?;
        ensure!(end == End::Exit(0), "a client ended with {end:?}");
    }
    engine_works(&context.device()?)
}

fn killed(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for round in 0..6 {
        let children: Vec<_> = (1..=3)
            .map(|seed| {
                child::spawn(move || client(seed * 0x7654_3217 + round, u32::MAX).map(|()| 0))
            })
            .collect::<Result<_>>()?;
        std::thread::sleep(Duration::from_millis(150 + 20 * round));
        for child in children {
            child.signal(libc::SIGKILL);
            let end = child.wait(Duration::from_secs(10))?;
            ensure!(
                end == End::Signal(libc::SIGKILL),
                "round {round}: a client ended by itself: {end:?}"
            );
        }
        engine_works(&device)?;
    }
    Ok(())
}

/// Threads that share a file: handles of one are handles of all.
fn threads(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let shared: &Device = &device;
    let hammer = move |worker: u32| -> Result<()> {
        for i in 0..200 {
            let handle = shared.create_raw(PAGE, i % 2)?.handle;
            shared.mmap_offset(handle)?;
            Submission::nothing()
                .issue(shared)
                .with_context(|| format!("thread {worker}, round {i}"))?;
            shared.wait(handle, Duration::from_secs(10))?;
            shared.close(handle)?;
        }
        Ok(())
    };
    let results: Vec<Result<()>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4)
            .map(|worker| scope.spawn(move || hammer(worker)))
            .collect();
        let join = |worker: std::thread::ScopedJoinHandle<'_, Result<()>>| {
            worker.join().unwrap_or_else(|_| bail!("a thread panicked"))
        };
        workers.into_iter().map(join).collect()
    });
    results.into_iter().collect::<Result<()>>()?;
    engine_works(&device)
}
