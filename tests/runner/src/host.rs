// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Host steps: a command with a time limit, its output in a file.

use std::{
    fs::File,
    path::Path,
    process::Command, //
};

use anyhow::Context;

use crate::{
    cost,
    outcome::Outcome,
    suite::HostStep, //
};

/// Run `step`; its output goes to `dir/output`.
pub fn run(step: &HostStep, dir: &Path) -> anyhow::Result<Outcome> {
    let path = dir.join("output");
    let output = File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
    let top = std::env::current_dir()?;
    let environment = step.env.iter().map(|(name, value)| {
        let value = value.replace("$TOP", &top.to_string_lossy());
        (name, value)
    });
    // coreutils' timeout ends the whole process group of the command.
    let mut command = Command::new("timeout");
    command
        .args(["-k", "10", &step.timeout.to_string()])
        .args(&step.run)
        .envs(environment)
        .current_dir(Path::new(".").join(&step.dir))
        .stdout(output.try_clone()?)
        .stderr(output);
    let (status, cpu) = cost::run(&mut command)
        .with_context(|| format!("{}: cannot run {:?}", step.name, step.run))?;

    let text = String::from_utf8_lossy(&std::fs::read(&path)?).into_owned();
    let mut outcome = Outcome {
        cpu,
        ..Outcome::default()
    };
    if step.counts {
        let closing = text
            .lines()
            .filter(|line| line.starts_with("test result:") || line.contains(" passed, "));
        let counted = closing.filter(|line| outcome.count_line(line)).count();
        if counted == 0 {
            outcome.complaints.push("no test ran".into());
        }
        let failed = text.lines().filter(|line| line.contains("... FAILED"));
        outcome.complaints.extend(failed.map(str::to_owned));
    }
    if !status.success() {
        let tail: Vec<_> = text.lines().rev().take(15).map(str::to_owned).collect();
        outcome.complaints.extend(tail.into_iter().rev());
        outcome
            .complaints
            .push(format!("{status}; all of it is in {}", path.display()));
    }
    outcome.settle();
    Ok(outcome)
}
