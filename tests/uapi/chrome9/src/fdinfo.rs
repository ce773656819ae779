// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What `/proc/PID/fdinfo` says about a client: its name and id, the time of the engine, its memory.

use crate::support::{bound, fill, submit_late, surface};
use anyhow::{Context as _, Result, bail, ensure};
use lapidary_chrome9_client::{Client as _, Device, Place};
use lapidary_harness::{Context, Test};
use std::collections::BTreeMap;
use std::os::fd::{AsFd, AsRawFd};
use std::time::Instant;

const MIB: u64 = 1 << 20;

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("fdinfo/who", who),
        Test::new("fdinfo/engine_time", engine_time).needs_control(),
        Test::new("fdinfo/memory", memory),
        Test::new("fdinfo/active", active).needs_control(),
    ]
}

/// The lines of one client, by key.
struct Lines(BTreeMap<String, String>);

impl Lines {
    fn of(device: &Device) -> Result<Lines> {
        let path = format!("/proc/self/fdinfo/{}", device.as_fd().as_raw_fd());
        let text = std::fs::read_to_string(&path).context(path)?;
        let lines = text.lines().filter_map(|line| line.split_once(':'));
        let lines = lines.map(|(key, value)| (key.to_owned(), value.trim().to_owned()));
        Ok(Lines(lines.collect()))
    }

    fn get(&self, key: &str) -> Result<&str> {
        let value = self.0.get(key);
        Ok(value.with_context(|| format!("no line {key}"))?)
    }

    /// Return the nanoseconds of the engine.
    fn engine(&self) -> Result<u64> {
        let value = self.get("drm-engine-gfx")?;
        Ok(value.strip_suffix(" ns").context("no unit")?.parse()?)
    }

    /// Return the bytes of one line.
    fn bytes(&self, key: &str) -> Result<u64> {
        let value = self.get(key)?;
        let (number, unit) = value.split_once(' ').unwrap_or((value, "B"));
        let scale = match unit {
            "B" => 1,
            "KiB" => 1 << 10,
            "MiB" => MIB,
            _ => bail!("{key}: {value}"),
        };
        Ok(number.parse::<u64>()? * scale)
    }
}

fn who(context: &mut Context) -> Result<()> {
    let (device, other) = context.devices()?;
    let (lines, others) = (Lines::of(&device)?, Lines::of(&other)?);
    ensure!(lines.get("drm-driver")? == "chrome9", "the driver's name");
    let (pci, _) = bound(&device)?;
    ensure!(lines.get("drm-pdev")? == pci.address(), "the device");
    ensure!(
        lines.get("drm-client-id")? != others.get("drm-client-id")?,
        "two clients have one number"
    );
    ensure!(lines.engine()? == 0, "a new client has engine time");
    Ok(())
}

/// A job that takes a while is charged to its client, and to no other.
fn engine_time(context: &mut Context) -> Result<()> {
    let (device, other) = context.devices()?;
    let bo = surface(&device, 16, Place::FrameBuffer)?;
    bo.wait()?;
    let before = Lines::of(&device)?.engine()?;
    let begin = Instant::now();
    submit_late(context, &device, &fill(&bo, 1))?;
    bo.wait()?;
    let most = begin.elapsed().as_nanos() as u64;
    let taken = Lines::of(&device)?.engine()? - before;
    ensure!(
        (300_000_000..=most).contains(&taken),
        "{taken} ns of {most} for a job that takes 500 ms"
    );
    ensure!(Lines::of(&other)?.engine()? == 0, "another is charged");
    Ok(())
}

fn memory(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for (place, region) in [(Place::FrameBuffer, "vram"), (Place::System, "gtt")] {
        let total = format!("drm-total-{region}");
        let resident = format!("drm-resident-{region}");
        let bo = device.create(MIB, place)?;
        let mapping = bo.map()?;
        for at in (0..mapping.len()).step_by(1024) {
            mapping.set(at, 7);
        }
        let lines = Lines::of(&device)?;
        ensure!(lines.bytes(&total)? == MIB, "{total}: {:?}", lines.0);
        ensure!(lines.bytes(&resident)? == MIB, "{resident}: {:?}", lines.0);
        drop((mapping, bo));
        let left = Lines::of(&device)?.bytes(&total)?;
        ensure!(left == 0, "{left} bytes of {total} after closing");
    }
    Ok(())
}

fn active(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let bo = surface(&device, 16, Place::FrameBuffer)?;
    let idle = device.create(MIB, Place::FrameBuffer)?;
    bo.wait()?;
    idle.wait()?;
    let bytes = || Lines::of(&device)?.bytes("drm-active-vram");
    ensure!(bytes()? == 0, "active without work");
    submit_late(context, &device, &fill(&bo, 1))?;
    ensure!(bytes()? == bo.size(), "{} bytes are active", bytes()?);
    bo.wait()?;
    ensure!(bytes()? == 0, "active after the work");
    Ok(())
}
