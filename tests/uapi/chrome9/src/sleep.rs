// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Sleep of the machine, as a rehearsal (`/sys/power/pm_test`), which makes the same calls of the driver. The chip loses its
//! registers. The content of objects is there afterwards, and clients go on.

use crate::support::{engine_works, fill, submit_late, surface};
use anyhow::{Context as _, Result, ensure};
use lapidary_chrome9_client::{Bo, Client as _, Place};
use lapidary_harness::machine::{self, Depth, Kind};
use lapidary_harness::{Context, Test};

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("sleep/devices_in_memory", |c| {
            contents(c, Kind::Memory, Depth::Devices)
        }),
        Test::new("sleep/platform_in_memory", |c| {
            contents(c, Kind::Memory, Depth::Platform)
        }),
        Test::new("sleep/platform_on_disk", |c| {
            contents(c, Kind::Disk, Depth::Platform)
        }),
        Test::new("sleep/work_under_way", work_under_way).needs_control(),
    ]
}

fn contents(context: &mut Context, kind: Kind, depth: Depth) -> Result<()> {
    let device = context.device()?;
    let mut random = fastrand::Rng::with_seed(11);
    let mut known: Vec<(Bo, Vec<u32>)> = Vec::new();
    for i in 0..12 {
        let bo = device.create(4096 << (i % 6), Place::ALL[i % 2])?;
        let words: Vec<u32> = (0..bo.size() / 4).map(|_| random.u32(..)).collect();
        bo.write(&words)?;
        known.push((bo, words));
    }
    let drawn = surface(&device, 64, Place::System)?;
    device.submit(&fill(&drawn, 0x5eed))?;
    let mapping = drawn.map()?;
    for round in 0..2 {
        machine::rehearse(kind, depth).with_context(|| format!("round {round}"))?;
        for (i, (bo, words)) in known.iter().enumerate() {
            let same = bo.read()? == *words;
            ensure!(same, "round {round}: object {i} in {}", bo.place());
        }
        drawn.wait()?;
        ensure!(mapping.get(9) == 0x5eed, "round {round}: what was drawn");
        device.submit(&fill(&drawn, 0x5eed))?;
        engine_works(&device).with_context(|| format!("round {round}"))?;
    }
    Ok(())
}

/// The machine goes to sleep while jobs are under way. All of them are done.
fn work_under_way(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let bo = surface(&device, 64, Place::FrameBuffer)?;
    bo.wait()?;
    submit_late(context, &device, &fill(&bo, 1))?;
    for colour in 2..30 {
        device.submit(&fill(&bo, colour))?;
    }
    machine::rehearse(Kind::Memory, Depth::Platform)?;
    ensure!(bo.read()?.iter().all(|&word| word == 29), "the last job");
    engine_works(&device)
}
