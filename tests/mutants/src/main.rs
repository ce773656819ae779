// SPDX-License-Identifier: GPL-2.0 OR MIT

//! `lapidary-mutants`: shows that the tests notice when a feature is taken away.
//!
//! A list (TOML) names features. For each it has an edit that removes or breaks the feature, and the tests that must
//! fail then. Each edit is made, one at a time, in a copy of the checkout under `build/`; the tests run there; the
//! table says which claims hold. A claim that does not hold means that nothing watches the feature, whatever the
//! tests' number.

mod list;
mod outcome;
mod tree;

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
    /// Takes only features whose name contains one of these words.
    words: Vec<String>,
}

fn main() -> Result<ExitCode> {
    let args = Args::parse();
    let list = List::read(&args.list)?;
    let wanted = |name: &str| args.words.is_empty() || args.words.iter().any(|w| name.contains(w));
    let mutants: Vec<_> = list.mutant.iter().filter(|m| wanted(&m.feature)).collect();
    ensure!(!mutants.is_empty(), "no feature has such a name");

    let tree = Tree::of_head(&args.tree)?;
    for mutant in &mutants {
        tree.edit(mutant)
            .with_context(|| format!("feature {:?}", mutant.feature))?
            .undo()?;
    }
    if args.dry {
        println!("{} edits can be made", mutants.len());
        return Ok(ExitCode::SUCCESS);
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

    let table = outcome::markdown(&rows);
    if let Some(path) = &args.table {
        std::fs::write(path, &table).with_context(|| format!("cannot write {}", path.display()))?;
    }
    print!("{table}");
    let missed = rows.iter().filter(|r| r.3 != Verdict::Caught).count();
    println!("\n{} passed, {missed} failed", rows.len() - missed);
    Ok(if missed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
