// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Guests that load the modules with a fault.
//!
//! The modules are built once, with all faults, and have a parameter that says which of them to have (see
//! [`crate::parameter`]). One guest is enough for the KUnit suites, since it can load the modules again for each fault.
//! Any other step has a guest for each fault, because a chip keeps what was written to it.

use std::fs;

use anyhow::{Context, Result, bail, ensure};

use crate::{
    outcome::Run,
    parameter::{NONE, PARAMETER, only, with_fault},
    tree::Tree,
};

/// Seconds that a guest may take for the KUnit suites with all faults.
const KUNIT_LIMIT: u64 = 3600;
/// Seconds that a step may take; its guest has a limit of its own.
const STEP_LIMIT: u64 = 900;
/// Where the guests of the KUnit suites leave what they print, below the copy.
const KUNIT_OUT: &str = "build/guests/kunit-each";

/// The modules, and the suite that has the steps.
pub struct Guests<'a> {
    /// The copy of the checkout.
    pub tree: &'a Tree,
    /// Where the suite is, below the checkout.
    pub suite: &'a str,
    /// The module that all drivers need.
    pub library: &'a str,
    /// The drivers. A step loads one of them.
    pub drivers: &'a [&'a str],
}

impl Guests<'_> {
    /// Run a step with a fault. With `stop` it ends with the first test that fails.
    ///
    /// # Errors
    ///
    /// There is no such step, or it cannot be run.
    pub fn run(&self, step: &str, fault: isize, stop: bool) -> Result<Run> {
        self.step(step, |suite| {
            with_fault(suite, step, self.library, self.drivers, fault, stop)
        })
    }

    /// Run a step with modules that have no parameter.
    ///
    /// # Errors
    ///
    /// There is no such step, or it cannot be run.
    pub fn run_plain(&self, step: &str) -> Result<Run> {
        self.step(step, |suite| only(suite, step))
    }

    /// Run a step, as `change` leaves the suite.
    fn step(&self, name: &str, change: impl Fn(&str) -> Result<String>) -> Result<Run> {
        let suite = fs::read_to_string(self.tree.checkout().join(self.suite))?;
        let suite = change(&suite).with_context(|| format!("in {}", self.suite))?;
        let file = "build/mutant-suite.toml";
        fs::write(self.tree.checkout().join(file), suite)?;
        let run = [
            "build/target/release/lapidary-runner",
            "--suite",
            file,
            "--out",
            "build/guests",
        ]
        .map(String::from);
        self.tree.command(&run, "", STEP_LIMIT, name)
    }

    /// Run the KUnit suites of library and driver with each of `faults`. Return what failed with each.
    ///
    /// # Errors
    ///
    /// The guest cannot be run, or a suite fails without a fault.
    pub fn kunit(&self, driver: &str, faults: &[isize]) -> Result<Vec<Vec<String>>> {
        // The control comes first, and last again: a fault that leaves something behind must not fail those after it.
        let mut left = vec![NONE];
        left.extend(faults);
        left.push(NONE);
        let mut results = Vec::new();
        while !left.is_empty() {
            let words = [
                "scripts/boot",
                "--out",
                KUNIT_OUT,
                "--chip",
                "none",
                "--append",
                "kunit.enable=1 log_buf_len=1M",
                "--timeout",
                &KUNIT_LIMIT.to_string(),
                "--",
                &kunit_job(self.library, driver, &left),
            ]
            .map(String::from);
            self.tree
                .command(&words, "", KUNIT_LIMIT + 60, "kunit-each")?;
            let output = fs::read(self.tree.checkout().join(KUNIT_OUT).join("job"))?;
            let shown = kunit_results(&String::from_utf8_lossy(&output));
            ensure!(
                !shown.is_empty(),
                "the guest for the KUnit suites did nothing; what it left is in {KUNIT_OUT} of the copy"
            );
            left.drain(..shown.len().min(left.len()));
            results.extend(shown);
        }
        let results = controlled(results)?;
        eprintln!("the KUnit suites of {driver} pass without a fault, before and after");
        Ok(results.into_iter().map(|(_, failed)| failed).collect())
    }
}

/// What failed with a fault.
type Failed = (isize, Vec<String>);

/// Return the results of faults, without those of the controls around them, which must have passed.
fn controlled(mut results: Vec<Failed>) -> Result<Vec<Failed>> {
    let last = results.pop();
    let first = results.drain(..1.min(results.len())).next();
    for control in [first, last] {
        match control {
            Some((NONE, failed)) if failed.is_empty() => {}
            Some((NONE, failed)) => bail!("KUnit fails without a fault: {failed:?}"),
            _ => bail!("KUnit was not run without a fault, before and after"),
        }
    }
    Ok(results)
}

/// Load library and driver once for each of `faults`, and show what the suites said.
fn kunit_job(library: &str, driver: &str, faults: &[isize]) -> String {
    let mut job = String::new();
    let faults: Vec<_> = faults.iter().map(isize::to_string).collect();
    job += &format!("for fault in {}; do\n", faults.join(" "));
    job += "echo \"fault $fault\"\n";
    job += "dmesg -c >/dev/null\n";
    job += &format!("load {library} {PARAMETER}=$fault || echo 'not loaded'\n");
    job += &format!("load {driver} {PARAMETER}=$fault || echo 'not loaded'\n");
    job += "dmesg -c | grep -E '   (not )?ok |BUG|Oops|panic|WARNING'\n";
    job += &format!("rmmod {driver} {library} || exit 1\necho done\ndone\n");
    job
}

/// Return the faults that such a job has run with, each with what failed.
///
/// The last one that began and did not end has taken the guest down.
fn kunit_results(output: &str) -> Vec<Failed> {
    let mut results: Vec<Failed> = Vec::new();
    let mut passed = 0;
    let mut ended = true;
    for line in output.lines() {
        if let Some(fault) = line.strip_prefix("fault ").and_then(|s| s.parse().ok()) {
            results.push((fault, Vec::new()));
            passed = 0;
            ended = false;
        } else if let Some((_, failed)) = results.last_mut() {
            let said = line.split_once("] ").map_or(line, |(_, said)| said);
            let case = |ok: &str| {
                let case = said.strip_prefix("   ")?.trim_start().strip_prefix(ok)?;
                Some(case.split_once(' ')?.1.to_owned())
            };
            if line == "done" {
                ended = true;
                if passed == 0 && failed.is_empty() {
                    failed.push("no case ran".into());
                }
            } else if case("ok ").is_some() {
                passed += 1;
            } else if said.starts_with("ok ") || said.starts_with("not ok ") {
                // A whole suite.
            } else {
                failed.push(case("not ok ").unwrap_or_else(|| said.trim().to_owned()));
            }
        }
    }
    if let (false, Some((_, failed))) = (ended, results.last_mut()) {
        failed.push("the guest dies".into());
    }
    results
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_that_fail_are_told_by_fault() {
        let output = "fault -1\n[ 1.0]     ok 1 a\n[ 1.0] ok 1 s\ndone\n\
            fault 3\n[ 2.0]     not ok 1 a\n[ 2.0]     ok 2 b\n[ 2.0]     not ok 3 c\n[ 2.0] not ok 1 s\ndone\n\
            fault 4\ndone\n\
            fault 5\n[ 3.0] BUG: x\n";
        let failed = |names: &[&str]| names.iter().map(|name| name.to_string()).collect();
        assert_eq!(
            kunit_results(output),
            [
                (-1, failed(&[])),
                (3, failed(&["a", "c"])),
                (4, failed(&["no case ran"])),
                (5, failed(&["BUG: x", "the guest dies"])),
            ]
        );
    }

    #[test]
    fn faults_count_only_between_controls_that_pass() {
        let failed = || vec!["a".to_owned()];
        let run = |results: &[Failed]| controlled(results.to_vec()).ok();
        let all = [(NONE, vec![]), (3, failed()), (4, vec![]), (NONE, vec![])];
        assert_eq!(run(&all), Some(all[1..3].to_vec()));
        assert_eq!(
            run(&[(NONE, failed()), (3, vec![]), (NONE, failed())]),
            None
        );
        assert_eq!(run(&[(NONE, vec![]), (3, vec![]), (NONE, failed())]), None);
        assert_eq!(run(&[(NONE, vec![]), (3, vec![])]), None);
        assert_eq!(run(&[(NONE, vec![])]), None);
    }
}
