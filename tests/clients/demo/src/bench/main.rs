// SPDX-License-Identifier: GPL-2.0 OR MIT

//! `submit-bench`: what submissions, waits and objects cost the CPU, for each driver of this machine.
//!
//! Counts, not times: guest instructions ([`meter`]; exact in a guest under `-icount shift=0` with one CPU),
//! register accesses and interrupts as the device model saw them, kernel memory allocations
//! ([`allocations`]). Where upstream's driver is bound to one device and ours to another of the same kind,
//! both are measured by turns. The table then shows ratios and whether the targets are reached, and the program
//! fails if one is not. A driver that upstream does not have is compared with one of ours ([`targets`]).
//!
//! In a round a row's action is done several times, then everything it causes gets time to happen, and what
//! was counted is divided by the number of times. The round that comes first is not counted.

mod allocations;
mod chrome9;
mod client;
mod meter;
mod radeon;
mod rows;
mod side;
mod table;
mod targets;

use allocations::Allocations;
use anyhow::{Context, Result, bail, ensure};
use clap::Parser;
use client::Op;
use meter::{Meter, ticks};
use rows::{Kind, Row};
use side::{Accesses, Side};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use table::{Line, Target, Values};
use targets::Reference;

/// How long after the last action of a round things may happen that it has caused. Upstream looks for hangs
/// half a second after a submission, ours gives back after a tenth.
const PAUSE: Duration = Duration::from_millis(600);

/// How often a round is tried.
const ATTEMPTS: usize = 8;

#[derive(Parser)]
#[command(about = "What submissions, waits and objects cost the CPU, driver by driver")]
struct Arguments {
    /// Counted rounds
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Folder of recorded submissions
    #[arg(long, env = lapidary_streams::VARIABLE)]
    streams: Option<PathBuf>,
    /// Write the table for programs there
    #[arg(long)]
    tsv: Option<PathBuf>,
    /// Only rows whose name contains one of these words
    only: Vec<String>,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(missed) => {
            eprintln!("submit-bench: {missed} targets missed");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("submit-bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Say how many targets were missed.
fn run(arguments: &Arguments) -> Result<usize> {
    ensure!(arguments.rounds > 0, "no rounds");
    let recordings = match &arguments.streams {
        Some(folder) => lapidary_streams::read_dir(folder)?,
        None => Vec::new(),
    };
    radeon::family::supply();
    let mut sides = Side::all()?;
    let reference = Reference::of(&sides)?;
    let meter = Meter::new()?;
    let trace = Allocations::new()?;
    let mut lines = Vec::new();
    for row in rows::all(&sides, recordings) {
        let wanted = |word: &String| row.name.contains(word.as_str());
        if arguments.only.is_empty() || arguments.only.iter().any(wanted) {
            let counts = measure(&row, &mut sides, &meter, trace.as_ref(), arguments.rounds)
                .with_context(|| row.name.clone())?;
            lines.extend(self::lines(&row, reference, &sides, counts));
        }
    }
    print!("{}", table::text(reference.name(), &lines));
    if let Some(path) = &arguments.tsv {
        std::fs::write(path, table::tsv(reference.name(), &lines))
            .with_context(|| path.display().to_string())?;
    }
    for side in &sides {
        let resets = side.client.resets()?;
        ensure!(resets == 0, "{}: the engine was reset", side.driver);
    }
    Ok(lines
        .iter()
        .filter(|line| line.verdict() == Some(false))
        .count())
}

/// What was counted on one side, per action, one value a round.
#[derive(Default)]
struct Counts {
    instructions: Vec<f64>,
    /// Of these, from entry to return of the action; the median of the round.
    entry_to_return: Vec<f64>,
    accesses: Vec<f64>,
    reads: Vec<f64>,
    writes: Vec<f64>,
    interrupts: Vec<f64>,
    allocations: Vec<f64>,
}

fn measure(
    row: &Row,
    sides: &mut [Side],
    meter: &Meter,
    trace: Option<&Allocations>,
    rounds: usize,
) -> Result<Vec<Counts>> {
    let mut ops: Vec<Op> = sides
        .iter()
        .map(|side| row.make(side))
        .collect::<Result<_>>()?;
    let mut counts: Vec<Counts> = sides.iter().map(|_| Counts::default()).collect();
    for round in 0..=rounds {
        for ((side, op), counts) in sides.iter_mut().zip(&mut ops).zip(&mut counts) {
            let mut unused = Counts::default();
            let counts = if round == 0 { &mut unused } else { counts };
            once(row, side, op, meter, counts).with_context(|| side.driver.clone())?;
        }
    }
    if let Some(trace) = trace {
        // What happens in this time anyway.
        let nothing = trace.during(&mut || pause(PAUSE))?;
        for _ in 0..rounds.min(3) {
            for ((side, op), counts) in sides.iter_mut().zip(&mut ops).zip(&mut counts) {
                let all = trace
                    .during(&mut || {
                        (0..row.times).try_for_each(&mut *op)?;
                        pause(PAUSE)
                    })
                    .with_context(|| side.driver.clone())?;
                let of_row = all.saturating_sub(nothing) as f64;
                counts.allocations.push(of_row / row.times as f64);
            }
        }
    }
    Ok(counts)
}

fn pause(length: Duration) -> Result<()> {
    std::thread::sleep(length);
    Ok(())
}

/// Do one round on one side. A round does not count if the engine is still at work at its end, because the host is
/// slow: what it has caused has not all happened. Nor does it count if a wait was over before it began.
fn once(row: &Row, side: &mut Side, op: &mut Op, meter: &Meter, counts: &mut Counts) -> Result<()> {
    for _ in 0..ATTEMPTS {
        let mut calls = Vec::with_capacity(row.times);
        let before = side.accesses()?;
        let instructions = meter.measure(PAUSE, &mut || {
            for i in 0..row.times {
                let begin = ticks();
                op(i)?;
                calls.push(ticks().wrapping_sub(begin));
            }
            Ok(())
        })?;
        let after = side.accesses()?;
        if row.kind == Kind::Wait && fewer_interrupts(before, after, row.times as u64) {
            // A client found the engine idle and did not have to wait.
            continue;
        }
        if side.accesses()? != after {
            while side.accesses()? != side.accesses()? {
                pause(PAUSE)?;
            }
            pause(PAUSE)?;
            continue;
        }
        let per_time = |count: u64| count as f64 / row.times as f64;
        counts.instructions.push(per_time(instructions));
        calls.sort_unstable();
        counts.entry_to_return.push(calls[calls.len() / 2] as f64);
        if let (Some(before), Some(after)) = (before, after) {
            let all = after.since(before);
            counts.reads.push(per_time(all.reads));
            counts.writes.push(per_time(all.writes));
            counts.accesses.push(per_time(all.reads + all.writes));
            counts.interrupts.push(per_time(all.interrupts));
        }
        return Ok(());
    }
    bail!("in no round the engine was at work when a client waited and idle at the end")
}

/// Return whether the model has sent fewer interrupts than `times`.
fn fewer_interrupts(before: Option<Accesses>, after: Option<Accesses>, times: u64) -> bool {
    match (before, after) {
        (Some(before), Some(after)) => after.since(before).interrupts < times,
        _ => false,
    }
}

/// Return the lines of one row.
fn lines(row: &Row, reference: Reference, sides: &[Side], counts: Vec<Counts>) -> Vec<Line> {
    let mut others = Counts::default();
    let mut ours = Counts::default();
    for (side, counts) in sides.iter().zip(counts) {
        if side.driver == reference.driver() {
            others = counts;
        } else {
            ours = counts;
        }
    }
    let targets = reference.targets(row.kind);
    let line = |quantity, others: Vec<f64>, ours: Vec<f64>, target| Line {
        row: row.name.clone(),
        quantity,
        others: Values::new(others),
        ours: Values::new(ours),
        target,
    };
    let all = [
        line(
            table::INSTRUCTIONS,
            others.instructions,
            ours.instructions,
            targets.instructions,
        ),
        line(
            "- entry to return",
            others.entry_to_return,
            ours.entry_to_return,
            targets.entry_to_return,
        ),
        line(
            table::REGISTERS,
            others.accesses,
            ours.accesses,
            targets.accesses,
        ),
        line("- reads", others.reads, ours.reads, targets.reads),
        line("- writes", others.writes, ours.writes, Target::None),
        line(
            table::INTERRUPTS,
            others.interrupts,
            ours.interrupts,
            targets.interrupts,
        ),
        line(
            table::ALLOCATIONS,
            others.allocations,
            ours.allocations,
            targets.allocations,
        ),
    ];
    // Across a sleep, what lies between entry and return says nothing.
    all.into_iter()
        .filter(|line| !line.quantity.starts_with("- entry") || row.kind != Kind::Wait)
        .collect()
}
