// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Guest steps: `scripts/boot` runs the job on a model; here its remains are judged.

use std::{
    collections::BTreeMap,
    fs::File,
    path::Path,
    process::Command, //
};

use anyhow::Context;

use crate::{
    cost, kmsg,
    outcome::Outcome,
    suite::{
        Declared,
        GuestStep, //
    },
};

/// How much longer everything may take on the debug kernel.
const DEBUG_PATIENCE: u64 = 4;

/// Run `step` with `prelude` before its job, on the debug kernel or on the usual one; console, job output, kernel log,
/// the judge's report and the leaks found land in `dir`.
pub fn run(step: &GuestStep, prelude: &str, debug: bool, dir: &Path) -> anyhow::Result<Outcome> {
    let patience = if debug { DEBUG_PATIENCE } else { 1 };
    let mut boot = Command::new("scripts/boot");
    boot.env("FLAVOUR", if debug { "debug" } else { "" });
    boot.arg("--out").arg(dir);
    boot.args(["--chip", &step.chip]);
    boot.args(["--timeout", &(step.timeout * patience).to_string()]);
    for arg in &step.model {
        boot.args(["--model", arg]);
    }
    if step.root {
        boot.arg("--root");
    }
    if step.gpu2 {
        boot.arg("--gpu2");
    }
    boot.args(["--cpus", &step.cpus.to_string()]);
    if step.instructions {
        boot.arg("--instructions");
    }
    if step.ram != 0 {
        boot.args(["--ram", &step.ram.to_string()]);
    }
    if step.swap != 0 {
        boot.args(["--swap", &step.swap.to_string()]);
    }
    if step.lives > 1 {
        boot.args(["--lives", &step.lives.to_string()]);
    }
    if !step.append.is_empty() {
        boot.args(["--append", &step.append]);
    }
    let log = File::create(dir.join("boot"))?;
    boot.args(["--", &step.script(prelude, patience)])
        .stdout(log.try_clone()?)
        .stderr(log);
    let (status, cpu) = cost::run(&mut boot).context("cannot run scripts/boot")?;

    let read = |name: &str| {
        let bytes = std::fs::read(dir.join(name)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let mut outcome = Outcome {
        cpu,
        ..Outcome::default()
    };
    let job = read("job");
    let log = read("dmesg");
    match status.code() {
        Some(0) => {}
        Some(125) => {
            outcome
                .complaints
                .push("the guest did not come to an end".into());
            outcome.complaints.extend(tail(&read("boot"), 5));
            outcome.complaints.extend(tail(&read("console"), 25));
        }
        _ => outcome.complaints.push(format!("the job failed: {status}")),
    }
    if step.counts {
        let counted = job.lines().filter(|line| outcome.count_line(line)).count();
        if counted == 0 {
            outcome.complaints.push("no test ran".into());
        }
        let failed = job.lines().filter(|line| line.contains("... FAILED"));
        outcome.complaints.extend(failed.map(str::to_owned));
    }
    if !status.success() && !job.contains("... FAILED") {
        outcome.complaints.extend(tail(&job, 25));
    }

    let records = kmsg::parse(&log);
    let records = kmsg::of_job(&records);
    if step.kunit {
        kmsg::kunit(records, &mut outcome);
    }
    for text in &step.expect {
        if !records.iter().any(|record| record.text.contains(text)) {
            outcome
                .complaints
                .push(format!("the kernel log lacks {text:?}"));
        }
    }
    outcome
        .complaints
        .extend(kmsg::judge(records, &step.kmsg, &read("declared-kmsg")));
    if step.chip != "none" {
        match reports(dir) {
            Ok(report) => outcome.complaints.extend(findings(&report, &step.findings)),
            Err(_) => outcome
                .complaints
                .push("the model left no report: it did not end by itself".into()),
        }
    }
    if debug {
        outcome.complaints.extend(leaks(&dir.join("kmemleak")));
    }
    outcome.settle();
    Ok(outcome)
}

/// Return the complaints about memory that nothing refers to any more, as the guest's kernel found it at the end.
fn leaks(path: &Path) -> Vec<String> {
    let Ok(text) = std::fs::read_to_string(path) else {
        return vec!["the guest has not looked for leaks".into()];
    };
    let leaks = text
        .lines()
        .filter(|line| line.starts_with("unreferenced"))
        .count();
    if leaks == 0 {
        return Vec::new();
    }
    let mut complaints = vec![format!(
        "{leaks} objects leaked; all are in {}",
        path.display()
    )];
    complaints.extend(text.lines().take(20).map(str::to_owned));
    complaints
}

/// Return what the models of all the guest's lives have reported: the last one's report has no number.
fn reports(dir: &Path) -> std::io::Result<String> {
    let mut all = std::fs::read_to_string(dir.join("report"))?;
    for life in 1.. {
        match std::fs::read_to_string(dir.join(format!("report.{life}"))) {
            Ok(report) => all += &report,
            Err(_) => break,
        }
    }
    Ok(all)
}

/// Return the complaints about findings that were not declared, and about declared ones that did not come.
///
/// A report line is `finding KIND COUNT detail…`; findings which a test in the guest accounted for
/// are not in the report any more.
fn findings(report: &str, declared: &[Declared]) -> Vec<String> {
    let mut counts: BTreeMap<&str, (u64, &str)> = BTreeMap::new();
    let mut complaints = Vec::new();
    for line in report.lines().filter(|line| !line.trim().is_empty()) {
        let mut words = line.splitn(4, ' ');
        match (
            words.next(),
            words.next(),
            words.next().map(str::parse::<u64>),
        ) {
            (Some("finding"), Some(kind), Some(Ok(count))) => {
                let entry = counts.entry(kind).or_insert((0, line));
                entry.0 += count;
            }
            _ => complaints.push(format!("the model's report is odd: {line}")),
        }
    }
    for declared in declared {
        let seen = counts.remove(declared.what.as_str()).map_or(0, |c| c.0);
        if seen != declared.count {
            complaints.push(format!(
                "finding {} declared {} times, seen {seen} times",
                declared.what, declared.count
            ));
        }
    }
    complaints.extend(
        counts
            .values()
            .map(|(_, line)| format!("undeclared {line}")),
    );
    complaints
}

fn tail(text: &str, lines: usize) -> Vec<String> {
    let mut tail: Vec<_> = text.lines().rev().take(lines).map(str::to_owned).collect();
    tail.reverse();
    tail
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leak_is_a_complaint() {
        let path = std::env::temp_dir().join(format!("lapidary-leaks-{}", std::process::id()));
        assert_eq!(leaks(&path).len(), 1);
        std::fs::write(&path, "").unwrap();
        assert!(leaks(&path).is_empty());
        std::fs::write(
            &path,
            "unreferenced object 0xff110000 (size 64):\n  comm x\n",
        )
        .unwrap();
        assert!(leaks(&path)[0].starts_with("1 objects leaked"));
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn findings_are_exact() {
        let report = "finding gart-fault 2 at 0x1000 by ring dword 7\nfinding ring-overrun 1\n";
        let declare = |count| {
            [Declared {
                what: "gart-fault".into(),
                count,
            }]
        };
        assert_eq!(
            findings(report, &declare(2)),
            ["undeclared finding ring-overrun 1"]
        );
        assert_eq!(findings(report, &declare(1)).len(), 2);
        assert_eq!(findings("", &declare(1)).len(), 1);
        assert_eq!(findings("panicked at\n", &[]).len(), 1);
    }
}
