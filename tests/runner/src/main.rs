// SPDX-License-Identifier: GPL-2.0 OR MIT

//! `lapidary-runner`: runs the suite of `tests/suite.toml` and prints one table.
//!
//! A suite is a list of steps. A *host step* is a command; a *guest step* is a job that
//! `scripts/boot` runs on a GPU model; a *comparison* lays the tests of two guest steps side by side, upstream's
//! driver and ours. Whatever a step provokes on purpose (findings of the model's
//! judge, kernel log lines of level warning or worse) is declared in that step, or by the test in
//! the guest that provokes it, with its exact count; anything else fails the step.

mod compare;
mod guest;
mod host;
mod kmsg;
mod lines;
mod outcome;
mod side_by_side;
mod suite;

use std::{
    cell::RefCell,
    path::PathBuf,
    process::ExitCode,
    time::Instant, //
};

use anyhow::Context;
use clap::Parser;

use crate::{
    outcome::Outcome,
    side_by_side::Table,
    suite::{
        Kernel,
        Selection,
        Suite, //
    },
};

/// Complaints of a step that are printed.
const SHOWN: usize = 40;

/// Runs the project's tests; to be started inside the Debian root, in the checkout.
#[derive(Parser)]
struct Args {
    /// The list of steps.
    #[arg(long, default_value = "tests/suite.toml")]
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

    let mut rows = Vec::new();
    let mut run = |name: &str, step: &dyn Fn(&std::path::Path) -> anyhow::Result<Outcome>| {
        if !chosen.contains(name) {
            return Ok(());
        }
        let dir = args.out.join(name);
        std::fs::create_dir_all(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
        let begin = Instant::now();
        let outcome = step(&dir)?;
        let seconds = begin.elapsed().as_secs();
        eprintln!("{name}: {} ({seconds} s)", outcome.verdict());
        for line in &outcome.notes {
            eprintln!("    {line}");
        }
        for line in outcome.complaints.iter().take(SHOWN) {
            eprintln!("    {line}");
        }
        if outcome.complaints.len() > SHOWN {
            eprintln!("    and {} more", outcome.complaints.len() - SHOWN);
        }
        rows.push((name.to_owned(), outcome, seconds));
        anyhow::Ok(())
    };
    let (early, late): (Vec<_>, Vec<_>) = suite.host.iter().partition(|step| step.after.is_empty());
    for step in early {
        run(&step.name, &|dir| host::run(step, dir))?;
    }
    for step in &suite.guest {
        let debug = args.debug || step.kernel == Kernel::Debug;
        run(&step.name, &|dir| match &args.without_debug {
            Some(reason) if debug => Ok(Outcome::skip(reason)),
            _ => guest::run(step, &suite.prelude, debug, dir),
        })?;
    }
    for step in late {
        run(&step.name, &|dir| host::run(step, dir))?;
    }
    let compared = RefCell::new(Table::default());
    for step in &suite.compare {
        run(&step.name, &|dir| {
            let (outcome, rows) = compare::run(step, &args.out)?;
            let mut table = Table::default();
            table.add(&step.chips.join(" "), rows.clone());
            std::fs::write(dir.join("table"), table.text())?;
            compared.borrow_mut().add(&step.chips.join(" "), rows);
            Ok(outcome)
        })?;
    }

    anyhow::ensure!(
        !rows.is_empty(),
        "no step has such a name; --list shows them"
    );
    let compared = compared.into_inner();
    if args.side_by_side && !compared.is_empty() {
        print!("\n{}", compared.text());
    }
    Ok(outcome::table(&rows))
}
