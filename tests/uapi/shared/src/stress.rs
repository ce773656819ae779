// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Several processes and threads that make, map, draw, check and drop objects at the same time.

use crate::{Interface, Job as _, WIDTH, device, engine_works};
use anyhow::{Context as _, Result, bail, ensure};
use lapidary_harness::child::{self, End};
use lapidary_harness::interface::{Buffer as _, Device as _};
use std::time::Duration;

/// Run one client with a few objects, random operations, and a check of every result.
fn client<I: Interface>(seed: u64, rounds: u32) -> Result<()> {
    const ROWS: u32 = 24;
    let device = I::Device::open()?;
    let mut random = fastrand::Rng::with_seed(seed);
    let make = |random: &mut fastrand::Rng| -> Result<(I::Bo, u32)> {
        let place = [I::VIDEO, I::SYSTEM][random.usize(..2)];
        Ok((I::surface(&device, ROWS, place)?, 0))
    };
    let mut objects: Vec<(I::Bo, u32)> =
        (0..6).map(|_| make(&mut random)).collect::<Result<_>>()?;
    for round in 0..rounds {
        let (at, from) = (random.usize(..objects.len()), random.usize(..objects.len()));
        match random.u8(..5) {
            0 => objects[at] = make(&mut random)?,
            1 => {
                let colour = random.u32(..);
                let fill = I::fill(&objects[at].0, colour, 1);
                fill.submit(&device).context("fill")?;
                objects[at].1 = colour;
            }
            2 if from != at => {
                let copy = I::copy(&objects[from].0, &objects[at].0);
                copy.submit(&device).context("copy")?;
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

/// Let four processes work for `rounds` operations each.
pub fn processes<I: Interface>(rounds: u32) -> Result<()> {
    let children: Vec<_> = (1..=4)
        .map(|seed| child::spawn(move || client::<I>(seed * 0x1234_5677, rounds).map(|()| 0)))
        .collect::<Result<_>>()?;
    for child in children {
        let end = child.wait(Duration::from_secs(150))?;
        ensure!(end == End::Exit(0), "a client ended with {end:?}");
    }
    engine_works::<I>(&device::<I>()?)
}

/// Kill three processes at work, `rounds` times.
pub fn killed<I: Interface>(rounds: u64) -> Result<()> {
    let device = device::<I>()?;
    for round in 0..rounds {
        let children: Vec<_> = (1..=3)
            .map(|seed| {
                child::spawn(move || client::<I>(seed * 0x7654_3217 + round, u32::MAX).map(|()| 0))
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
        engine_works::<I>(&device)?;
    }
    Ok(())
}

/// Threads that share a file: handles of one are handles of all. `hammer` makes one round of calls.
pub fn threads<I: Interface>(
    rounds: u32,
    hammer: impl Fn(&I::Device, u32) -> Result<()> + Sync,
) -> Result<()>
where
    I::Device: Sync,
{
    let device = device::<I>()?;
    let (shared, hammer) = (&*device, &hammer);
    let work = move |worker: u32| -> Result<()> {
        for i in 0..rounds {
            hammer(shared, i).with_context(|| format!("thread {worker}, round {i}"))?;
        }
        Ok(())
    };
    let results: Vec<Result<()>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4)
            .map(|worker| scope.spawn(move || work(worker)))
            .collect();
        let join = |worker: std::thread::ScopedJoinHandle<'_, Result<()>>| {
            worker.join().unwrap_or_else(|_| bail!("a thread panicked"))
        };
        workers.into_iter().map(join).collect()
    });
    results.into_iter().collect::<Result<()>>()?;
    engine_works::<I>(&device)
}
