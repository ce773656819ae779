// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What `/proc/PID/fdinfo` says about a client: its name and id, the time of the engine, its memory.

use crate::{Interface, Job as _, device, late};
use anyhow::{Result, ensure};
use lapidary_harness::Context;
use lapidary_harness::fdinfo::Lines;
use lapidary_harness::interface::{Buffer as _, Device as _};
use lapidary_harness::sysfs::PciDevice;
use std::time::Instant;

const MIB: u64 = 1 << 20;

/// Return the name of the memory of a place.
fn region<I: Interface>(place: I::Place) -> &'static str {
    if place == I::VIDEO { "vram" } else { "gtt" }
}

/// A new client has a name and a number, and nothing else.
pub fn who<I: Interface>(_: &mut Context) -> Result<()> {
    let device = device::<I>()?;
    let other = device.another()?;
    let (lines, others) = (Lines::of(&device)?, Lines::of(&other)?);
    ensure!(lines.get("drm-driver")? == I::NAME, "the driver's name");
    ensure!(
        lines.get("drm-pdev")? == PciDevice::of(&device)?.address(),
        "the device: {}",
        lines.get("drm-pdev")?
    );
    ensure!(
        lines.get("drm-client-id")? != others.get("drm-client-id")?,
        "two clients have one number"
    );
    ensure!(
        lines.engine()? == 0 && others.engine()? == 0,
        "a new client has engine time"
    );
    for region in ["vram", "gtt", "cpu"] {
        for kind in ["total", "shared", "active", "resident"] {
            let key = format!("drm-{kind}-{region}");
            ensure!(lines.bytes(&key)? == 0, "{key} of a new client");
        }
    }
    Ok(())
}

/// A job that takes a while is charged to its client, and to no other.
pub fn engine_time<I: Interface>(context: &mut Context) -> Result<()> {
    let device = device::<I>()?;
    let other = device.another()?;
    let bo = I::surface(&device, 16, I::USUAL)?;
    bo.wait()?;
    let mut last = Lines::of(&device)?.engine()?;
    for colour in 1..4 {
        late(context)?;
        let begin = Instant::now();
        I::fill(&bo, colour, 1).submit(&device)?;
        bo.wait()?;
        let most = begin.elapsed().as_nanos() as u64;
        let now = Lines::of(&device)?.engine()?;
        let taken = now - last;
        ensure!(
            (300_000_000..=most).contains(&taken),
            "{taken} ns of {most} for a job that takes longer than 300 ms"
        );
        last = now;
    }
    ensure!(Lines::of(&other)?.engine()? == 0, "another is charged");
    Ok(())
}

/// An object that was touched is counted where it is, as its client's alone, until it is closed.
pub fn memory<I: Interface>(_: &mut Context) -> Result<()> {
    let device = device::<I>()?;
    for place in [I::VIDEO, I::SYSTEM] {
        let key = |kind| format!("drm-{kind}-{}", region::<I>(place));
        let bo = I::create(&device, MIB, place)?;
        // Few words: under QEMU each may be a message to the model.
        bo.map()?.set(0, 7);
        let lines = Lines::of(&device)?;
        for (kind, bytes) in [("total", MIB), ("resident", MIB), ("shared", 0)] {
            let key = key(kind);
            ensure!(lines.bytes(&key)? == bytes, "{key}: {:?}", lines.0);
        }
        drop(bo);
        let left = Lines::of(&device)?.bytes(&key("total"))?;
        ensure!(left == 0, "{left} bytes in {place:?} after closing");
    }
    Ok(())
}

/// An object is active while the engine has work for it.
pub fn active<I: Interface>(context: &mut Context) -> Result<()> {
    let device = device::<I>()?;
    let bo = I::surface(&device, 16, I::USUAL)?;
    let idle = I::create(&device, MIB, I::USUAL)?;
    bo.wait()?;
    idle.wait()?;
    let key = format!("drm-active-{}", region::<I>(I::USUAL));
    let bytes = || Lines::of(&device)?.bytes(&key);
    ensure!(bytes()? == 0, "active without work");
    late(context)?;
    I::fill(&bo, 1, 1).submit(&device)?;
    let busy = bytes()?;
    ensure!(busy == bo.size(), "{busy} bytes active of {}", bo.size());
    bo.wait()?;
    ensure!(bytes()? == 0, "active after the work");
    Ok(())
}
