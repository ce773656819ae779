// SPDX-License-Identifier: GPL-2.0 OR MIT

//! `lapidary-mutants`: shows that the tests notice when a feature is taken away.
//!
//! A list (TOML) names features. For each it has an edit that removes or breaks the feature, and the tests that must
//! fail then. Each edit is made, one at a time, in a copy of the checkout under `build/`, and the tests run there. The
//! table says which claims hold. A claim that does not hold means that no test watches the feature.
//!
//! With `--writes` the list says which part of the driver to look at, and the program finds by itself what can be taken
//! away there (see [`sites`]). The list has the reasons for what no test can notice (see [`writes`]).

mod list;
mod outcome;
mod sites;
mod tree;
mod writes;

use std::{path::PathBuf, process::ExitCode};

use anyhow::{Context, Result, ensure};
use clap::Parser;

use crate::{list::List, outcome::Verdict, tree::Tree};

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
        edits(&args)?
    };
    Ok(if passed {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Make the edits of a list; say whether all were noticed.
fn edits(args: &Args) -> Result<bool> {
    let list = List::read(&args.list)?;
    let mutants: Vec<_> = list
        .mutant
        .iter()
        .filter(|m| args.wants(&m.feature))
        .collect();
    ensure!(!mutants.is_empty(), "no feature has such a name");

    let tree = Tree::of_head(&args.tree)?;
    for mutant in &mutants {
        tree.edit(mutant)
            .with_context(|| format!("feature {:?}", mutant.feature))?
            .undo()?;
    }
    if args.dry {
        println!("{} edits can be made", mutants.len());
        return Ok(true);
    }

    for command in &list.setup {
        tree.must(command, "setup")?;
    }
    // A test that fails without any edit proves nothing by failing.
    for step in &list.step {
        if mutants.iter().any(|m| m.caught.contains_key(&step.name)) {
            let run = tree.run(step)?;
            ensure!(
                run.passed(),
                "{} fails without any edit; its output is in {}",
                step.name,
                run.log.display()
            );
            eprintln!("{} passes without any edit", step.name);
        }
    }

    let mut rows = Vec::new();
    for mutant in &mutants {
        let edit = tree.edit(mutant)?;
        for (name, text) in &mutant.caught {
            let step = list.step(name)?;
            let verdict = tree.run(step)?.verdict(text);
            eprintln!("{}: {name}: {verdict}", mutant.feature);
            rows.push((*mutant, name.as_str(), text.as_str(), verdict));
        }
        edit.undo()?;
    }

    args.show(&outcome::markdown(&rows))?;
    let missed = rows.iter().filter(|r| r.3 != Verdict::Caught).count();
    println!("\n{} passed, {missed} failed", rows.len() - missed);
    Ok(missed == 0)
}
