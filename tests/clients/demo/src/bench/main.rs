// SPDX-License-Identifier: GPL-2.0 OR MIT

//! `submit-bench`: what a submission costs.
//!
//! For a small submission (8 dwords, one relocation) and a mixed one (500 dwords, two), and for the
//! query whether an object is busy:
//! - time stamp counter ticks from ioctl entry to return; in a guest under `-icount shift=0` one
//!   tick is one instruction, elsewhere it is time;
//! - register reads and writes that the device model saw, with nobody waiting;
//! - kernel memory allocations, from the `kmem` trace events.
//!
//! Prints a table, then one line a row for programs: `bench NAME KEY=VALUE…`.

mod allocations;
mod workload;

use allocations::Allocations;
use anyhow::{Context, Result, ensure};
use lapidary_guest::control::Control;
use lapidary_guest::submit::Envelope;
use lapidary_guest::{Bo, Device};
use std::arch::x86_64::_rdtsc;
use std::process::ExitCode;
use std::time::Duration;

/// Runs before anything is measured: caches, lazily made state.
const WARM_UP: usize = 16;
/// Measured runs. Few enough that the ring never fills and nobody has to wait for it.
const RUNS: usize = 64;

/// One row of the result.
struct Row {
    name: &'static str,
    minimum: u64,
    median: u64,
    reads: Option<f64>,
    writes: Option<f64>,
    allocations: Option<f64>,
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("submit-bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let device = Device::open_within(Duration::from_secs(10))?;
    let mut control = Control::find()?;
    let work = workload::Workload::new(&device)?;
    let mut rows = Vec::new();
    for (name, stream) in [("submit-8", work.small()), ("submit-500", work.mixed())] {
        let envelope = Envelope::of(&stream);
        rows.push(measure(name, &mut control, &work.target, || {
            envelope.submit(&device).context("submitting")
        })?);
    }
    rows.push(measure("busy", &mut control, &work.target, || {
        work.target.is_busy().map(drop).context("busy query")
    })?);
    report(&rows);
    ensure!(
        device.reset_counter()? == 0,
        "the engine was reset meanwhile"
    );
    Ok(())
}

fn measure(
    name: &'static str,
    control: &mut Option<Control>,
    target: &Bo,
    mut work: impl FnMut() -> Result<()>,
) -> Result<Row> {
    for _ in 0..WARM_UP {
        work()?;
    }
    settle(target)?;
    let before = control.as_mut().map(Control::counters).transpose()?;
    let mut ticks = Vec::with_capacity(RUNS);
    for _ in 0..RUNS {
        // SAFETY: reading the time stamp counter has no preconditions.
        let begin = unsafe { _rdtsc() };
        work()?;
        // SAFETY: as above.
        ticks.push(unsafe { _rdtsc() }.wrapping_sub(begin));
    }
    // Completion costs count too, so they get time to happen; nobody waits for them by ioctl.
    std::thread::sleep(Duration::from_millis(200));
    let after = control.as_mut().map(Control::counters).transpose()?;
    let per_run = |counter: &str| -> Result<Option<f64>> {
        match (&before, &after) {
            (Some(before), Some(after)) => {
                let difference = after.get(counter)?.wrapping_sub(before.get(counter)?);
                Ok(Some(difference as f64 / RUNS as f64))
            }
            _ => Ok(None),
        }
    };
    let (reads, writes) = (per_run("mmio_reads")?, per_run("mmio_writes")?);
    settle(target)?;
    let allocations = match Allocations::new()? {
        None => None,
        Some(mut trace) => {
            trace.start()?;
            for _ in 0..RUNS {
                work()?;
            }
            Some(trace.stop()? as f64 / RUNS as f64)
        }
    };
    settle(target)?;
    ticks.sort_unstable();
    Ok(Row {
        name,
        minimum: ticks[0],
        median: ticks[RUNS / 2],
        reads,
        writes,
        allocations,
    })
}

fn settle(target: &Bo) -> Result<()> {
    target.wait().context("waiting for the engine")?;
    std::thread::sleep(Duration::from_millis(100));
    Ok(())
}

fn report(rows: &[Row]) {
    let show = |value: Option<f64>| value.map_or("n/a".into(), |value| format!("{value:.2}"));
    println!(
        "per call           ticks (min)  ticks (median)   MMIO reads  MMIO writes  allocations"
    );
    for row in rows {
        println!(
            "{:<16} {:>13} {:>15} {:>12} {:>12} {:>12}",
            row.name,
            row.minimum,
            row.median,
            show(row.reads),
            show(row.writes),
            show(row.allocations)
        );
    }
    println!("(ticks are instructions in a guest under -icount shift=0)");
    for row in rows {
        println!(
            "bench {} ticks_min={} ticks_median={} mmio_reads={} mmio_writes={} allocations={}",
            row.name,
            row.minimum,
            row.median,
            show(row.reads),
            show(row.writes),
            show(row.allocations)
        );
    }
}
