// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What `/proc/PID/fdinfo` says about a client: its name and id, the time of the engine, its memory. Tools like
//! `gputop` read these lines.

use crate::support::{self, engine_works, fill};
use anyhow::{Context as _, Result, ensure};
use lapidary_guest::Client as _;
use lapidary_guest::{Bo, Device, Domain};
use lapidary_harness::limit::Limit;
use lapidary_harness::sysfs::PciDevice;
use lapidary_harness::{Context, Test, skip};
use std::collections::BTreeMap;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::time::{Duration, Instant};

const OURS: &str = "upstream's driver shows no engine time and one kind of memory only";
const MIB: u64 = 1 << 20;

pub fn tests() -> Vec<Test> {
    let ours = |name, body| Test::new(name, body).lapidary_only(OURS);
    vec![
        ours("fdinfo/who", who),
        ours("fdinfo/engine_time", engine_time).needs_control(),
        ours("fdinfo/engine_time_is_bounded", bounded),
        ours("fdinfo/memory", memory),
        ours("fdinfo/resident", resident),
        ours("fdinfo/shared", shared),
        ours("fdinfo/active", active).needs_control(),
        ours("fdinfo/many_objects", many),
        ours("fdinfo/shown_by_gputop", gputop),
    ]
}

/// The lines of one client, by key.
pub struct Lines(BTreeMap<String, String>);

impl Lines {
    pub fn of(device: &Device) -> Result<Lines> {
        let path = format!("/proc/self/fdinfo/{}", device.as_fd().as_raw_fd());
        let text = std::fs::read_to_string(&path).context(path)?;
        Ok(Lines(
            text.lines()
                .filter_map(|line| line.split_once(':'))
                .map(|(key, value)| (key.to_owned(), value.trim().to_owned()))
                .collect(),
        ))
    }

    fn get(&self, key: &str) -> Result<&str> {
        let value = self.0.get(key);
        Ok(value.with_context(|| format!("no line {key}"))?)
    }

    /// Return the nanoseconds of the engine.
    fn engine(&self) -> Result<u64> {
        let value = self.get("drm-engine-gfx")?;
        let number = value.strip_suffix(" ns").context("no unit")?;
        Ok(number.parse()?)
    }

    /// Return the bytes of one line.
    pub fn bytes(&self, key: &str) -> Result<u64> {
        let value = self.get(key)?;
        let (number, unit) = value.split_once(' ').unwrap_or((value, "B"));
        let scale = match unit {
            "B" => 1,
            "KiB" => 1 << 10,
            "MiB" => 1 << 20,
            _ => anyhow::bail!("{key}: {value}"),
        };
        Ok(number.parse::<u64>()? * scale)
    }
}

fn who(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let other = device.another()?;
    let (lines, others) = (Lines::of(&device)?, Lines::of(&other)?);
    ensure!(lines.get("drm-driver")? == "radeon", "the driver's name");
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
fn engine_time(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let other = device.another()?;
    let bo = support::surface(&device, 16, Domain::Gtt)?;
    bo.wait()?;
    let mut last = Lines::of(&device)?.engine()?;
    for colour in 1..4 {
        context.control()?.fault("late-fence", 1)?;
        let begin = Instant::now();
        device.submit(&fill(&bo, colour))?;
        bo.wait()?;
        let limit = begin.elapsed().as_nanos() as u64;
        let now = Lines::of(&device)?.engine()?;
        let taken = now - last;
        ensure!(
            (300_000_000..=limit).contains(&taken),
            "{taken} ns of {limit} for a job that takes 300 ms"
        );
        last = now;
    }
    ensure!(
        Lines::of(&other)?.engine()? == 0,
        "another client is charged"
    );
    Ok(())
}

/// Many short jobs of two clients together are never charged more than the time that passes, and it never goes back.
fn bounded(context: &mut Context) -> Result<()> {
    let first = context.device()?;
    let second = first.another()?;
    let objects = [
        support::surface(&first, 16, Domain::Gtt)?,
        support::surface(&second, 16, Domain::Gtt)?,
    ];
    for bo in &objects {
        bo.wait()?;
    }
    let begin = Instant::now();
    let mut last = [0, 0];
    for round in 0..200 {
        for (device, bo) in [&first, &second].into_iter().zip(&objects) {
            device.submit(&fill(bo, round))?;
        }
        for (device, last) in [&first, &second].into_iter().zip(&mut last) {
            let now = Lines::of(device)?.engine()?;
            ensure!(now >= *last, "engine time went from {last} to {now}");
            *last = now;
        }
    }
    for bo in &objects {
        bo.wait()?;
    }
    let limit = begin.elapsed().as_nanos() as u64;
    let sum = Lines::of(&first)?.engine()? + Lines::of(&second)?.engine()?;
    ensure!(
        sum > 0 && sum <= limit,
        "{sum} ns are charged for {limit} ns"
    );
    Ok(())
}

fn memory(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for (domain, region) in [(Domain::Vram, "vram"), (Domain::Gtt, "gtt")] {
        let total = format!("drm-total-{region}");
        let resident = format!("drm-resident-{region}");
        let bo = device.create(MIB, domain)?;
        // Few words: under QEMU each is a message to the model if the card's interrupt is INTx.
        bo.map()?.set(0, 7);
        let lines = Lines::of(&device)?;
        ensure!(lines.bytes(&total)? == MIB, "{total}: {:?}", lines.0);
        ensure!(lines.bytes(&resident)? == MIB, "{resident}: {:?}", lines.0);
        ensure!(
            lines.bytes(&format!("drm-shared-{region}"))? == 0,
            "not shared yet"
        );
        drop(bo);
        ensure!(
            Lines::of(&device)?.bytes(&total)? == 0,
            "{total} after closing"
        );
    }
    Ok(())
}

/// System memory is resident from its first use until it is given back, video memory always, and what others have
/// stays.
fn resident(context: &mut Context) -> Result<()> {
    const PAGES: u64 = 1 << 20;
    let device = context.device()?;
    let lines = || -> Result<[u64; 2]> {
        let lines = Lines::of(&device)?;
        Ok([
            lines.bytes("drm-resident-gtt")?,
            lines.bytes("drm-resident-vram")?,
        ])
    };
    let [touched, untouched, submitted] = [(); 3].map(|()| device.create(PAGES, Domain::Gtt));
    let (touched, untouched, submitted) = (touched?, untouched?, submitted?);
    let there = device.create(PAGES, Domain::Vram)?;
    ensure!(lines()? == [0, PAGES], "of new objects: {:?}", lines()?);
    touched.map()?.set(0, 7);
    ensure!(lines()? == [PAGES, PAGES], "touched: {:?}", lines()?);
    device.submit(&fill(&submitted, 3))?;
    submitted.wait()?;
    there.wait()?;
    ensure!(lines()? == [2 * PAGES, PAGES], "used: {:?}", lines()?);
    let mut limit = Limit::new(Duration::from_secs(2));
    while lines()? != [0, PAGES] {
        std::fs::write("/proc/sys/vm/drop_caches", "2").context("asking for memory")?;
        limit.rest("they are not given back")?;
    }
    ensure!(touched.map()?.get(0) == 7, "what was written is lost");
    ensure!(lines()? == [PAGES, PAGES], "touched again: {:?}", lines()?);
    drop((touched, untouched, submitted));
    ensure!(lines()? == [0, PAGES], "after closing: {:?}", lines()?);
    Ok(())
}

fn shared(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let other = device.another()?;
    let bo = device.create(MIB, Domain::Gtt)?;
    let buffer = device.export(bo.handle())?;
    let handle = other.import(buffer.as_fd())?;
    for client in [&device, &other] {
        let lines = Lines::of(client)?;
        ensure!(
            lines.bytes("drm-total-gtt")? == MIB && lines.bytes("drm-shared-gtt")? == MIB,
            "a shared object: {:?}",
            lines.0
        );
    }
    other.close(handle)?;
    Ok(())
}

fn active(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let bo = support::surface(&device, 16, Domain::Gtt)?;
    let idle = device.create(MIB, Domain::Gtt)?;
    bo.wait()?;
    idle.wait()?;
    ensure!(
        Lines::of(&device)?.bytes("drm-active-gtt")? == 0,
        "active without work"
    );
    context.control()?.fault("late-fence", 1)?;
    device.submit(&fill(&bo, 1))?;
    let busy = Lines::of(&device)?.bytes("drm-active-gtt")?;
    ensure!(busy == bo.size(), "{busy} bytes active of {}", bo.size());
    bo.wait()?;
    ensure!(
        Lines::of(&device)?.bytes("drm-active-gtt")? == 0,
        "active after the work"
    );
    Ok(())
}

/// With a thousand objects the file is still read quickly, and the sums are right.
fn many(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let objects: Vec<Bo> = (0..1000)
        .map(|_| device.create(4096, Domain::Gtt))
        .collect::<Result<_, _>>()?;
    let lines = support::within(Duration::from_secs(2), "adding up", || Lines::of(&device))??;
    ensure!(lines.bytes("drm-total-gtt")? == 4096 * 1000, "the sum");
    drop(objects);
    engine_works(&device)
}

/// The distribution's `gputop` shows the client while it draws. It is there if the guest was booted with the Debian
/// root.
fn gputop(context: &mut Context) -> Result<()> {
    use std::process::{Command, Stdio};
    let has_root = Command::new("root")
        .args(["test", "-x", "/usr/bin/gputop"])
        .stderr(Stdio::null())
        .status();
    if !has_root.is_ok_and(|status| status.success()) {
        return skip("no gputop here");
    }
    let device = context.device()?;
    let bo = support::surface(&device, 16, Domain::Vram)?;
    // It prints as much as its terminal has room for, and nothing without one.
    let (_terminal, input) = terminal()?;
    let mut tool = Command::new("root")
        .args(["gputop", "-n", "4", "-d", "1"])
        .stdin(input)
        .stdout(Stdio::piped())
        .spawn()?;
    // What it prints fits a pipe.
    while tool.try_wait()?.is_none() {
        for colour in 0..50 {
            device.submit(&fill(&bo, colour))?;
        }
        bo.wait()?;
    }
    let mut text = String::new();
    let mut out = tool.stdout.take().context("no output")?;
    std::io::Read::read_to_string(&mut out, &mut text)?;
    let me = std::process::id().to_string();
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| line.split_whitespace().next() == Some(&me))
        .collect();
    ensure!(!lines.is_empty(), "we are not in {text:?}");
    // This client has had most of the engine, and the tool names the engine.
    let share = |line: &&str| {
        let number = line.split('%').next()?.split_whitespace().last()?;
        number.parse::<f64>().ok()
    };
    let most = lines.iter().filter_map(share).fold(0.0, f64::max);
    ensure!(
        text.contains(" gfx ") && most > 10.0,
        "{most} % of the engine: {text:?}"
    );
    Ok(())
}

/// Return both ends of a new terminal of 40 lines.
fn terminal() -> Result<(OwnedFd, OwnedFd)> {
    let (mut master, mut slave) = (-1, -1);
    let size = libc::winsize {
        ws_row: 40,
        ws_col: 120,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    // SAFETY: two descriptors are written, and a size is read.
    let answer = unsafe {
        libc::openpty(
            &mut master,
            &mut slave,
            std::ptr::null_mut(),
            std::ptr::null(),
            &size,
        )
    };
    ensure!(
        answer == 0,
        "no terminal: {}",
        std::io::Error::last_os_error()
    );
    // SAFETY: the two are new, and nothing else owns them.
    Ok(unsafe { (OwnedFd::from_raw_fd(master), OwnedFd::from_raw_fd(slave)) })
}
