// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Several processes that make, map, draw, check and drop objects at the same time.

use crate::support::{PITCH, WIDTH, engine_works, surface};
use anyhow::{Context as _, Result, ensure};
use lapidary_guest::Client as _;
use lapidary_guest::painter::{Area, Rect, painter};
use lapidary_guest::{Bo, Device, Domain};
use lapidary_harness::child::{self, End};
use lapidary_harness::{Context, Test};
use std::rc::Rc;
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
    const ROWS: i32 = 24;
    let device = Device::open()?;
    let mut random = fastrand::Rng::with_seed(seed);
    let make = |random: &mut fastrand::Rng| -> Result<(Bo, u32)> {
        let domain = Domain::ALL[random.u64(..2) as usize];
        Ok((surface(&device, ROWS as u32, domain)?, 0))
    };
    let mut objects: Vec<(Bo, u32)> = (0..6).map(|_| make(&mut random)).collect::<Result<_>>()?;
    let all = Rect::new(0, 0, WIDTH, ROWS);
    for round in 0..rounds {
        let at = random.u64(..objects.len() as u64) as usize;
        let from = random.u64(..objects.len() as u64) as usize;
        match random.u64(..5) {
            0 => objects[at] = make(&mut random)?,
            1 => {
                let colour = random.u32(..);
                let mut stream = painter().stream();
                painter().fill(&mut stream, Area::new(&objects[at].0, PITCH), colour, all);
                device.submit(&stream).context("fill")?;
                objects[at].1 = colour;
            }
            2 if from != at => {
                let mut stream = painter().stream();
                let (source, target) = (
                    Area::new(&objects[from].0, PITCH),
                    Area::new(&objects[at].0, PITCH),
                );
                painter().copy(&mut stream, source, target, (0, 0), all);
                device.submit(&stream).context("copy")?;
                objects[at].1 = objects[from].1;
            }
            3 => {
                let colour = random.u32(..);
                objects[at].0.wait()?;
                let mapping = objects[at].0.map()?;
                (0..mapping.len()).for_each(|i| mapping.set(i, colour));
                objects[at].1 = colour;
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
        .map(|seed| child::spawn(move || client(seed * 0x1234_5677, 1500).map(|()| 0)))
        .collect::<Result<_>>()?;
    for child in children {
        let end = child.wait(Duration::from_secs(150))?;
        ensure!(end == End::Exit(0), "a client ended with {end:?}");
    }
    engine_works(&context.device()?)
}

fn killed(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let usage = |device: &Device| device.info(lapidary_guest::abi::info_request("VRAM_USAGE"));
    let before = usage(&device)?;
    for round in 0..10 {
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
    // The killed clients' memory is released.
    for _ in 0..100 {
        if usage(&device)? <= before {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    anyhow::bail!("{} bytes of VRAM in use, {before} before", usage(&device)?)
}

/// Threads that share a file: handles of one are handles of all.
fn threads(context: &mut Context) -> Result<()> {
    let path = context.device()?.path().to_owned();
    let device = Device::open_path(&path)?;
    let results: Vec<Result<()>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4)
            .map(|worker| {
                let device = &device;
                scope.spawn(move || hammer(device, worker))
            })
            .collect();
        workers
            .into_iter()
            .map(|worker| {
                worker
                    .join()
                    .unwrap_or_else(|_| anyhow::bail!("a thread panicked"))
            })
            .collect()
    });
    results.into_iter().collect::<Result<()>>()?;
    engine_works(&Rc::new(device))
}

fn hammer(device: &Device, worker: u32) -> Result<()> {
    for i in 0..400 {
        let handle = device.create_raw(4096, 0, if i % 2 == 0 { 2 } else { 4 }, 0)?;
        device.mmap_offset(handle)?;
        device
            .submit(&crate::support::nothing())
            .with_context(|| format!("thread {worker}, round {i}"))?;
        device.wait_idle(handle)?;
        device.close(handle)?;
    }
    Ok(())
}
