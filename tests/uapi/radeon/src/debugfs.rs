// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The driver's files in debugfs. They show what clients have done, only root can open them, and they disappear with
//! the device.

use crate::support::{self, PITCH, Reprobe, WIDTH, engine_works, within};
use anyhow::{Context as _, Result, ensure};
use lapidary_guest::Client as _;
use lapidary_guest::painter::{Area, Rect, painter};
use lapidary_guest::{Domain, Errno};
use lapidary_harness::debugfs::{FILES, path, read};
use lapidary_harness::{Context, Test, refused};
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

const OURS: &str = "the files are our driver's";

pub fn tests() -> Vec<Test> {
    let ours = |name, body| Test::new(name, body).lapidary_only(OURS);
    vec![
        ours("debugfs/for_root", for_root),
        ours("debugfs/state", state),
        ours("debugfs/what_is_under_way", under_way).needs_control(),
        ours("debugfs/while_working", while_working),
        ours("debugfs/unbind", unbind),
    ]
}

fn for_root(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let mode = std::fs::metadata("/sys/kernel/debug")?.permissions().mode();
    ensure!(mode & 0o077 == 0, "debugfs is open to others: {mode:o}");
    let _object = device.create(4096, Domain::Gtt)?;
    for name in FILES {
        ensure!(!read(&device, name)?.is_empty(), "{name} is empty");
        let path = path(&device, name)?;
        let mode = std::fs::metadata(&path)?.permissions().mode();
        ensure!(mode & 0o222 == 0, "{name} can be written: {mode:o}");
    }
    Ok(())
}

fn state(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    engine_works(&device)?;
    let objects = [
        device.create(5 << 12, Domain::Vram)?,
        device.create(7 << 12, Domain::Gtt)?,
    ];
    let bad = support::refused_envelope();
    refused("a bad submission", bad.submit(&device), Errno::INVAL)?;

    let me = format!("pid {}:", std::process::id());
    let clients = read(&device, "clients")?;
    let line = clients
        .lines()
        .find(|line| line.contains(&me))
        .with_context(|| format!("not there: {me} in {clients}"))?;
    ensure!(
        line.contains("guilty 0 innocent 0, refused 1, objects 2 of 49152 bytes")
            && !line.contains("engine 0 ns"),
        "{line}"
    );
    let list = read(&device, "objects")?;
    for (bo, what) in objects
        .iter()
        .zip(["20480 bytes in vram", "28672 bytes in gtt"])
    {
        let line = format!("handle {}: {what}", bo.handle());
        ensure!(list.contains(&line), "no `{line}` in {list}");
    }
    let resets = read(&device, "resets")?;
    ensure!(
        resets.contains("working: 1")
            && resets.contains(&format!("resets: {}\n", device.reset_counter()?)),
        "{resets}"
    );
    let registers = read(&device, "registers")?;
    for name in painter().registers() {
        let name = format!("{name} ");
        ensure!(registers.contains(&name), "no {name}in {registers}");
    }
    let memory = read(&device, "memory")?;
    ensure!(
        memory.contains("vram: ") && memory.contains("gtt: "),
        "{memory}"
    );
    Ok(())
}

fn number(text: &str, before: &str) -> Result<u64> {
    let rest = text
        .split(before)
        .nth(1)
        .with_context(|| format!("no `{before}` in {text}"))?;
    let word = rest
        .split_whitespace()
        .next()
        .context("nothing behind it")?;
    match word.strip_prefix("0x") {
        Some(digits) => Ok(u64::from_str_radix(digits, 16)?),
        None => Ok(word.parse()?),
    }
}

/// A job on the ring shows in the fences, in the ring's dwords, and as a busy object.
fn under_way(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let bo = support::surface(&device, 16, Domain::Gtt)?;
    bo.wait()?;
    engine_works(&device)?;
    let before = read(&device, "fences")?;
    ensure!(
        number(&before, "committed ")? == number(&before, "signalled ")?,
        "{before}"
    );
    let mut work = painter().stream();
    painter().fill(
        &mut work,
        Area::new(&bo, PITCH),
        5,
        Rect::new(0, 0, WIDTH, 16),
    );
    context.control()?.fault("late-fence", 1)?;
    device.submit(&work)?;
    let fences = read(&device, "fences")?;
    let rings = read(&device, "rings")?;
    let objects = read(&device, "objects")?;
    ensure!(
        number(&fences, "committed ")? == number(&before, "committed ")? + 1
            && number(&fences, "signalled ")? == number(&before, "signalled ")?,
        "{fences}"
    );
    let line = format!("handle {}:", bo.handle());
    let line = objects
        .lines()
        .find(|l| l.contains(&line))
        .context("no such object")?;
    ensure!(line.ends_with("busy"), "{line}");
    // The job's number is what its fence writes.
    let seqno = format!(" {:08x}", number(&fences, "committed ")?);
    ensure!(rings.contains(&seqno), "no{seqno} in {rings}");
    bo.wait()?;
    Ok(())
}

/// Files are read while clients come, work and go.
fn while_working(context: &mut Context) -> Result<()> {
    use lapidary_harness::child;
    let device = context.device()?;
    let child = child::spawn(|| {
        for _ in 0..40 {
            let client = device.another()?;
            let _objects = (0..8)
                .map(|_| client.create(4096, Domain::Gtt))
                .collect::<Result<Vec<_>, _>>()?;
            client.submit(&support::nothing())?;
        }
        Ok(0)
    })?;
    for _ in 0..20 {
        for name in FILES {
            read(&device, name)?;
        }
    }
    let end = child.wait(Duration::from_secs(15))?;
    ensure!(end == child::End::Exit(0), "the clients ended with {end:?}");
    Ok(())
}

fn unbind(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let reprobe = Reprobe::of(&device)?;
    let mut open: Vec<std::fs::File> = FILES
        .iter()
        .map(|name| Ok(std::fs::File::open(path(&device, name)?)?))
        .collect::<Result<_>>()?;
    within(Duration::from_secs(5), "the new probe", || reprobe.now())??;
    for (file, name) in open.iter_mut().zip(FILES) {
        let mut text = String::new();
        ensure!(
            file.read_to_string(&mut text).is_err(),
            "{name} of the device that is gone: {text}"
        );
    }
    drop(device);
    let device = context.device()?;
    engine_works(&device)?;
    for name in FILES {
        read(&device, name)?;
    }
    Ok(())
}
