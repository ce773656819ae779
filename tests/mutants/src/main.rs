// SPDX-License-Identifier: GPL-2.0 OR MIT

//! `lapidary-mutants`: shows that the tests notice when a feature is taken away.
//!
//! A list (TOML) names features. For each it has an edit that removes or breaks the feature, and the tests that must
//! fail then. Each edit is made, one at a time, in a copy of the checkout under `build/`, and the tests run there. The
//! table says which claims hold. A claim that does not hold means that no test watches the feature.
//!
//! With `--writes` the list says which part of the driver to look at, and the program finds by itself what can be taken
//! away there (see [`sites`]). The list has the reasons for what no test can notice (see [`writes`]).

mod edits;
mod functions;
mod guests;
mod list;
mod outcome;
mod parameter;
mod sites;
mod switch;
mod tree;
mod writes;

use std::{path::PathBuf, process::ExitCode};

use anyhow::{Context, Result};
use clap::Parser;

/// Takes features away, one at a time, and looks which tests fail; to be started inside the Debian root, in the
/// checkout.
#[derive(Parser)]
struct Args {
    /// The list of edits and of what must fail for each.
    list: PathBuf,
    /// The copy of the checkout (of HEAD) in which the edits are made.
    #[arg(long, default_value = "build/mutants")]
    tree: PathBuf,
    /// Where to write the table, in Markdown.
    #[arg(long)]
    table: Option<PathBuf>,
    /// Only checks that every edit can be made.
    #[arg(long)]
    dry: bool,
    /// The list is one of reasons: takes away each write to a register and each wait.
    #[arg(long)]
    writes: bool,
    /// Takes only features whose name contains one of these words.
    words: Vec<String>,
}

impl Args {
    /// Return whether a feature has been asked for.
    fn wants(&self, name: &str) -> bool {
        self.words.is_empty() || self.words.iter().any(|word| name.contains(word))
    }

    /// Show the table, and keep it where the caller wants it.
    fn show(&self, table: &str) -> Result<()> {
        if let Some(path) = &self.table {
            std::fs::write(path, table)
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        print!("{table}");
        Ok(())
    }
}

fn main() -> Result<ExitCode> {
    let args = Args::parse();
    let passed = if args.writes {
        writes::run(&args)?
    } else {
        edits::run(&args)?
    };
    Ok(if passed {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
