// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What `/proc/PID/fdinfo` says about a client: its name and id, the time of the engine, its memory. Tools like
//! `gputop` read these lines.

use crate::support::{self, Radeon, engine_works, fill};
use anyhow::{Context as _, Result, ensure};
use lapidary_guest::Client as _;
use lapidary_guest::{Bo, Domain};
use lapidary_harness::fdinfo::Lines;
use lapidary_harness::limit::{Limit, within};
use lapidary_harness::{Context, Test, skip};
use lapidary_uapi_shared::fdinfo;
use std::os::fd::{AsFd, FromRawFd, OwnedFd};
use std::time::{Duration, Instant};

const OURS: &str = "upstream's driver shows no engine time and one kind of memory only";
const MIB: u64 = 1 << 20;

pub fn tests() -> Vec<Test> {
    let ours = |name, body| Test::new(name, body).lapidary_only(OURS);
    vec![
        ours("fdinfo/who", fdinfo::who::<Radeon>),
        ours("fdinfo/engine_time", fdinfo::engine_time::<Radeon>).needs_control(),
        ours("fdinfo/engine_time_is_bounded", bounded),
        ours("fdinfo/memory", fdinfo::memory::<Radeon>),
        ours("fdinfo/resident", resident),
        ours("fdinfo/shared", shared),
        ours("fdinfo/active", fdinfo::active::<Radeon>).needs_control(),
        ours("fdinfo/many_objects", many),
        ours("fdinfo/shown_by_gputop", gputop),
    ]
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

/// With a thousand objects the file is still read quickly, and the sums are right.
fn many(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let objects: Vec<Bo> = (0..1000)
        .map(|_| device.create(4096, Domain::Gtt))
        .collect::<Result<_, _>>()?;
    let lines = within(Duration::from_secs(2), "adding up", || Lines::of(&device))??;
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
    let shares = lines.iter().filter_map(|line| share(line));
    let most = shares.fold(0.0, f64::max);
    ensure!(
        text.contains(" gfx ") && most > 10.0,
        "{most} % of the engine: {text:?}"
    );
    Ok(())
}

/// Return the percentage in a line of `gputop`. A hundred leaves no blank behind the bar before it.
fn share(line: &str) -> Option<f64> {
    let number = line.split('%').next()?.split_whitespace().last()?;
    number.trim_start_matches('|').parse().ok()
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

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn shares_of_any_width_are_read() {
        assert_eq!(share("78  4K  4K |  5.3% ####    | exe"), Some(5.3));
        assert_eq!(share("78  4K  4K |100.0% ########| exe"), Some(100.0));
        assert_eq!(share("78  4K  4K | exe"), None);
    }
}
