// SPDX-License-Identifier: GPL-2.0 OR MIT

//! `lapidary-runner`: runs the suite of `tests/suite` and prints one table.
//!
//! A suite is a list of steps. A *host step* is a command; a *guest step* is a job that
//! `scripts/boot` runs on a GPU model; a *comparison* lays the tests of two guest steps side by side, upstream's
//! driver and ours. Findings of the model's judge and kernel log lines of level warning or worse are declared in the
//! step that provokes them on purpose, or by the test in the guest that does, with their exact count. All others fail
//! the step.

mod compare;
mod cost;
mod guest;
mod host;
mod kmsg;
mod lines;
mod outcome;
mod schedule;
mod side_by_side;
mod suite;

use std::{
    path::{
        Path,
        PathBuf, //
    },
    process::ExitCode,
    time::Instant, //
};

use anyhow::Context;
use clap::Parser;

use crate::{
    compare::Row,
    cost::{
        Cost,
        Times, //
    },
    outcome::Outcome,
    side_by_side::Table,
    suite::{
        Kernel,
        Selection,
        Step,
        Suite, //
    },
};

/// Complaints of a step that are printed.
const SHOWN: usize = 40;

/// Runs the project's tests; to be started inside the Debian root, in the checkout.
#[derive(Parser)]
struct Args {
    /// The list of steps: a file, or a folder of them.
    #[arg(long, default_value = "tests/suite")]
    suite: PathBuf,
    /// Where each step's output goes, one folder a step.
    #[arg(long, default_value = "build/check")]
    out: PathBuf,
    /// Lists the steps and runs none.
    #[arg(long)]
    list: bool,
    /// Prints all rows of the comparisons, not only what is wrong with them.
    #[arg(long)]
    side_by_side: bool,
    /// Steps that run at a time.
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Runs what takes long, and nothing else.
    #[arg(long, conflicts_with = "debug")]
    long: bool,
    /// Runs all guest steps on the debug kernel, also those that take long, and nothing else.
    #[arg(long, conflicts_with = "without_debug")]
    debug: bool,
    /// There is no debug kernel: its steps are skipped for this reason.
    #[arg(long, value_name = "REASON")]
    without_debug: Option<String>,
    /// Runs only steps whose name contains one of these words.
    words: Vec<String>,
}

fn main() -> anyhow::Result<ExitCode> {
    let args = Args::parse();
    let mut suite = Suite::read(&args.suite)?;
    suite.select(if args.debug {
        Selection::Debug
    } else if args.long {
        Selection::Long
    } else {
        Selection::Check
    });
    let chosen = suite.chosen(&args.words);
    if args.list {
        for name in suite.names().filter(|name| chosen.contains(name)) {
            println!("{name}");
        }
        return Ok(ExitCode::SUCCESS);
    }

    let steps: Vec<_> = suite
        .steps()
        .filter(|step| chosen.contains(step.name()))
        .collect();
    anyhow::ensure!(
        !steps.is_empty(),
        "no step has such a name; --list shows them"
    );
    let tasks: Vec<_> = steps.iter().map(Step::task).collect();
    let begin = Instant::now();
    let results = schedule::run(&tasks, args.jobs, |at| {
        let name = steps[at].name();
        let dir = args.out.join(name);
        std::fs::create_dir_all(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
        let begin = Instant::now();
        let (outcome, compared) = run(&steps[at], &suite, &args, &dir)?;
        let cost = Cost {
            wall: begin.elapsed().as_secs(),
            cpu: outcome.cpu.as_secs(),
        };
        tell(name, &outcome, cost);
        anyhow::Ok((outcome, cost, compared))
    })?;

    let path = args.out.join("times");
    let mut times = Times::read(&path);
    let mut rows = Vec::new();
    let mut compared = Table::default();
    for (step, (outcome, cost, found)) in steps.iter().zip(results) {
        times.set(step.name(), cost);
        rows.push((step.name().to_owned(), outcome, cost));
        if let (Step::Compare(step), Some(found)) = (step, found) {
            compared.add(&step.chips.join(" "), found);
        }
    }
    times.write(&path)?;
    if args.side_by_side && !compared.is_empty() {
        print!("\n{}", compared.text());
    }
    Ok(outcome::table(&rows, begin.elapsed().as_secs()))
}

/// Run one step; what it leaves is in `dir`.
fn run(
    step: &Step<'_>,
    suite: &Suite,
    args: &Args,
    dir: &Path,
) -> anyhow::Result<(Outcome, Option<Vec<Row>>)> {
    match step {
        Step::Host(step) => Ok((host::run(step, dir)?, None)),
        Step::Guest(step) => {
            let debug = args.debug || step.kernel() == Kernel::Debug;
            let outcome = match &args.without_debug {
                Some(reason) if debug => Outcome::skip(reason),
                _ => guest::run(step, &suite.prelude, debug, dir)?,
            };
            Ok((outcome, None))
        }
        Step::Compare(step) => {
            let (outcome, rows) = compare::run(step, &args.out)?;
            let mut table = Table::default();
            table.add(&step.chips.join(" "), rows.clone());
            std::fs::write(dir.join("table"), table.text())?;
            Ok((outcome, Some(rows)))
        }
    }
}

/// Say what came of a step, on standard error, in one piece.
fn tell(name: &str, outcome: &Outcome, cost: Cost) {
    let mut text = format!("{name}: {} ({} s)\n", outcome.verdict(), cost.wall);
    let complaints = outcome.complaints.iter().take(SHOWN);
    for line in outcome.notes.iter().chain(complaints) {
        text += &format!("    {line}\n");
    }
    if outcome.complaints.len() > SHOWN {
        text += &format!("    and {} more\n", outcome.complaints.len() - SHOWN);
    }
    eprint!("{text}");
}
