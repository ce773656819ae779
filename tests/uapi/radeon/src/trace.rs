// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The driver's tracepoints, as tracefs shows them.

use crate::support::{self, nothing};
use anyhow::{Context as _, Result, ensure};
use lapidary_guest::Client as _;
use lapidary_guest::painter::painter;
use lapidary_guest::submit::{Chunk, before};
use lapidary_guest::{Domain, Errno};
use lapidary_harness::syncobj::Syncobj;
use lapidary_harness::trace::{self, Tracing};
use lapidary_harness::{Context, Test, refused};
use std::path::Path;

const EVENTS: [&str; 6] = [
    "lapidary_submit",
    "lapidary_commit",
    "lapidary_signalled",
    "lapidary_move",
    "lapidary_reset",
    "lapidary_refused",
];

pub fn tests() -> Vec<Test> {
    let ours = |name, body| Test::new(name, body).lapidary_only("the events are our driver's");
    vec![
        ours("trace/submissions", submissions),
        ours("trace/refusals", refusals),
        ours("trace/moves", moves),
        ours("trace/off", off),
    ]
}

/// Return the value behind `NAME=`.
fn value<'l>(line: &'l str, name: &str) -> Result<&'l str> {
    let key = format!("{name}=");
    line.split(' ')
        .find_map(|word| word.strip_prefix(&key))
        .with_context(|| format!("no {name} in `{line}`"))
}

fn submissions(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let done = Syncobj::new(&device, true)?;
    let bo = support::surface(&device, 16, Domain::Gtt)?;
    bo.wait()?;
    let tracing = Tracing::on()?;
    let words = support::fillers(24);
    for _ in 0..3 {
        support::envelope(Chunk::commands(&words))
            .with(before(&[done.at(0)]))
            .submit(&device)?;
    }
    support::engine_works(&device)?;
    let submits = tracing.lines("lapidary_submit")?;
    let ours = submits.iter().filter(|line| {
        line.contains(" dwords=24 ") && line.contains(" objects=0 ") && line.ends_with("waits=1")
    });
    ensure!(ours.count() == 3, "{submits:?}");
    let commits = tracing.lines("lapidary_commit")?;
    ensure!(commits.len() >= 4, "{commits:?}");
    let signalled = tracing.lines("lapidary_signalled")?;
    // The last one may signal a little later.
    for line in &commits[..3] {
        let fence = value(line, "fence")?;
        let end = format!("fence={fence} error=0");
        ensure!(signalled.contains(&end), "no `{end}` in {signalled:?}");
    }
    Ok(())
}

fn refusals(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let tracing = Tracing::on()?;
    let (bad, reason) = match painter().forbidden().first() {
        Some(forbidden) => {
            let mut words = support::fillers(3);
            words.extend(&forbidden.words);
            let reason = format!("reason={:#x} position=3", forbidden.reason);
            (support::envelope(Chunk::commands(&words)), reason)
        }
        None => (support::refused_envelope(), "reason=0x106 ".to_owned()),
    };
    refused("a bad submission", bad.submit(&device), Errno::INVAL)?;
    let lines = tracing.lines("lapidary_refused")?;
    ensure!(
        lines.len() == 1 && lines[0].contains(&reason) && lines[0].ends_with(" error=-22"),
        "{lines:?}, without {reason}"
    );
    ensure!(tracing.lines("lapidary_submit")?.is_empty(), "it went on");
    Ok(())
}

/// Use more objects than VRAM holds, so that some have to move.
fn moves(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let tracing = Tracing::on()?;
    let size = 8 << 20;
    let count = device.gem_info()?.vram_size / size + 2;
    let objects = (0..count)
        .map(|_| device.create(size, Domain::Vram))
        .collect::<Result<Vec<_>, _>>()?;
    for bo in &objects {
        bo.wait()?;
    }
    support::engine_works(&device)?;
    let lines = tracing.lines("lapidary_move")?;
    ensure!(
        lines
            .iter()
            .any(|line| line.starts_with(&format!("size={size} "))),
        "no object of {count} has moved: {lines:?}"
    );
    Ok(())
}

/// Without enabled events nothing is traced.
fn off(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    drop(Tracing::on()?);
    trace::forget()?;
    device.submit(&nothing())?;
    for event in EVENTS {
        ensure!(
            Path::new(trace::EVENTS).join(event).exists(),
            "there is no {event}"
        );
        ensure!(trace::lines(event)?.is_empty(), "{event} is traced");
    }
    Ok(())
}
