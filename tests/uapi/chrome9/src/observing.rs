// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What a developer sees from outside: tracepoints of submissions, refusals and moves, and the driver's files in debugfs.

use crate::support::{engine_works, fill, refused_for, surface};
use anyhow::{Context as _, Result, ensure};
use lapidary_chrome9_client::abi::Param;
use lapidary_chrome9_client::{Client as _, Errno, Place, Submission, reason};
use lapidary_harness::mapping::PAGE;
use lapidary_harness::syncobj::Syncobj;
use lapidary_harness::trace::Tracing;
use lapidary_harness::{Context, Test, debugfs};

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("observing/submissions_are_traced", submissions),
        Test::new("observing/refusals_are_traced", refusals),
        Test::new("observing/moves_are_traced", moves),
        Test::new("observing/files_show_clients_and_objects", files),
        Test::new("observing/registers_have_names", registers),
    ]
}

fn submissions(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let bo = surface(&device, 16, Place::FrameBuffer)?;
    let done = Syncobj::new(&device, true)?;
    bo.wait()?;
    engine_works(&device)?;
    let work = fill(&bo, 5);
    let tracing = Tracing::on()?;
    for _ in 0..3 {
        Submission::of(&work).after(done.at(0)).issue(&device)?;
    }
    bo.wait()?;
    let submits = tracing.lines("lapidary_submit")?;
    let dwords = format!(" dwords={} ", work.words().len());
    let ours = submits.iter().filter(|line| {
        line.contains(&dwords) && line.contains(" objects=1 ") && line.ends_with("waits=1")
    });
    ensure!(ours.count() == 3, "{submits:?}, expected{dwords}");
    let commits = tracing.lines("lapidary_commit")?;
    ensure!(commits.len() == 3, "{commits:?}");
    Ok(())
}

fn refusals(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let tracing = Tracing::on()?;
    let mut bad = Submission::nothing();
    bad.words[2] = 1;
    let why = (reason::NO_HEADER, 2);
    refused_for("a dword", &device, &bad, Errno::INVAL, why)?;
    let lines = tracing.lines("lapidary_refused")?;
    let expected = format!("reason={:#x} position=2", reason::NO_HEADER);
    ensure!(
        lines.len() == 1 && lines[0].contains(&expected) && lines[0].ends_with(" error=-22"),
        "{lines:?}, expected {expected}"
    );
    ensure!(tracing.lines("lapidary_submit")?.is_empty(), "it went on");
    Ok(())
}

fn moves(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let bo = device.create(64 * PAGE, Place::System)?;
    bo.write(&[7])?;
    let tracing = Tracing::on()?;
    device.submit(&fill(&bo, 1))?;
    bo.wait()?;
    let lines = tracing.lines("lapidary_move")?;
    let moved = lines
        .iter()
        .filter(|line| line.starts_with(&format!("size={} ", 64 * PAGE)));
    ensure!(moved.count() == 1, "{lines:?}");
    Ok(())
}

fn files(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    engine_works(&device)?;
    let objects = [
        device.create(5 * PAGE, Place::FrameBuffer)?,
        device.create(7 * PAGE, Place::System)?,
    ];
    let mut bad = Submission::nothing();
    bad.words[0] = 0;
    let why = (reason::NO_HEADER, 0);
    refused_for("a dword", &device, &bad, Errno::INVAL, why)?;
    for name in debugfs::FILES {
        ensure!(!debugfs::read(&device, name)?.is_empty(), "{name} is empty");
    }
    let clients = debugfs::read(&device, "clients")?;
    let me = format!("pid {}:", std::process::id());
    let line = clients.lines().find(|line| line.contains(&me));
    let line = line.with_context(|| format!("no {me} in {clients}"))?;
    ensure!(
        line.contains("guilty 0 innocent 0, refused 1, objects 2 of 49152 bytes"),
        "{line}"
    );
    let list = debugfs::read(&device, "objects")?;
    for (bo, what, made) in [
        (
            &objects[0],
            "20480 bytes in vram",
            "made for the frame buffer",
        ),
        (&objects[1], "28672 bytes in gtt", "made in system pages"),
    ] {
        let begin = format!("handle {}: {what}", bo.handle());
        let line = list.lines().find(|line| line.contains(&begin));
        let line = line.with_context(|| format!("no `{begin}` in {list}"))?;
        ensure!(line.contains(made), "{line}, expected {made}");
    }
    let resets = debugfs::read(&device, "resets")?;
    let count = format!("resets: {}\n", device.param(Param::Resets)?);
    ensure!(
        resets.contains("working: 1") && resets.contains(&count),
        "{resets}"
    );
    Ok(())
}

fn registers(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let registers = debugfs::read(&device, "registers")?;
    for name in ["ENGINE_STATUS", "AGP_FETCH", "AGP_PAUSE", "FENCE_ID"] {
        let name = format!("{name} ");
        ensure!(registers.contains(&name), "no {name}in {registers}");
    }
    Ok(())
}
