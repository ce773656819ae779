// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What a step came to, and the table of all of them.

use std::{
    process::ExitCode,
    time::Duration, //
};

use crate::cost::Cost;

/// Result of one step.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Tests that passed.
    pub passed: u64,
    /// Tests that failed.
    pub failed: u64,
    /// Tests that could not run here.
    pub skipped: u64,
    /// What was wrong, a line each. A step with complaints has failed even if no test did.
    pub complaints: Vec<String>,
    /// What else there is to say, a line each.
    pub notes: Vec<String>,
    /// Time of all processors that it took.
    pub cpu: Duration,
}

impl Outcome {
    /// Return a step that cannot run here, and why.
    pub fn skip(reason: &str) -> Self {
        Self {
            skipped: 1,
            notes: vec![format!("skipped: {reason}")],
            ..Self::default()
        }
    }

    /// Make the counts agree with the complaints: the step itself counts as a test where it ran
    /// none, and as a failed one where it complains although no test failed.
    pub fn settle(&mut self) {
        if !self.complaints.is_empty() {
            self.failed = self.failed.max(1);
        } else if self.passed + self.failed == 0 {
            self.passed = 1;
        }
    }

    /// Add the counts of a closing line of a test program, if it is one.
    ///
    /// Understood are `test result: ok. N passed; N failed; N ignored; …` (libtest) and
    /// `N passed, N failed[, N skipped]`.
    pub fn count_line(&mut self, line: &str) -> bool {
        let line = line.strip_prefix("test result:").unwrap_or(line);
        let line = line.trim_start_matches(|c: char| !c.is_ascii_digit());
        let mut counts = [None; 3];
        for part in line.split([',', ';']) {
            let mut words = part.split_whitespace();
            let (Some(number), Some(word)) = (words.next(), words.next()) else {
                continue;
            };
            let Ok(number) = number.parse::<u64>() else {
                continue;
            };
            match word {
                "passed" => counts[0] = Some(number),
                "failed" => counts[1] = Some(number),
                "skipped" | "ignored" => counts[2] = Some(number),
                _ => {}
            }
        }
        let [Some(passed), Some(failed), skipped] = counts else {
            return false;
        };
        self.passed += passed;
        self.failed += failed;
        self.skipped += skipped.unwrap_or(0);
        true
    }

    /// Return one word for the log.
    pub fn verdict(&self) -> &'static str {
        if self.failed > 0 {
            "FAILED"
        } else if self.passed == 0 && self.skipped > 0 {
            "skipped"
        } else {
            "ok"
        }
    }
}

/// Print the table of a run that took `seconds`, and the closing line; the exit code says whether all is well.
pub fn table(rows: &[(String, Outcome, Cost)], seconds: u64) -> ExitCode {
    let width = rows.iter().map(|(name, ..)| name.len()).max().unwrap_or(0);
    println!(
        "\n{:width$}  {:>6} {:>6} {:>7} {:>7} {:>7}",
        "step", "passed", "failed", "skipped", "seconds", "cpu"
    );
    let mut cpu = 0;
    let mut sum = Outcome::default();
    for (name, outcome, cost) in rows {
        println!(
            "{name:width$}  {:>6} {:>6} {:>7} {:>7} {:>7}  {}",
            outcome.passed,
            outcome.failed,
            outcome.skipped,
            cost.wall,
            cost.cpu,
            if outcome.failed == 0 { "" } else { "FAILED" }
        );
        cpu += cost.cpu;
        sum.passed += outcome.passed;
        sum.failed += outcome.failed;
        sum.skipped += outcome.skipped;
    }
    println!("{:width$}  {:>30} {cpu:>7}", "all", seconds);
    let lines = failures(rows);
    if !lines.is_empty() {
        println!("\nfailed:");
        lines.iter().for_each(|line| println!("  {line}"));
    }
    println!(
        "\n{} passed, {} failed, {} skipped",
        sum.passed, sum.failed, sum.skipped
    );
    if sum.failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Return what was wrong with each failed step, in few lines, for a reader who sees only the end of the output.
fn failures(rows: &[(String, Outcome, Cost)]) -> Vec<String> {
    /// Complaints of a step that are repeated.
    const FEW: usize = 20;
    let failed = rows.iter().filter(|(_, outcome, _)| outcome.failed > 0);
    failed
        .flat_map(|(name, outcome, _)| {
            let few = outcome.complaints.iter().take(FEW);
            let lines: Vec<_> = few.map(|line| format!("{name}: {line}")).collect();
            match lines.is_empty() {
                true => vec![format!("{name}: see its output")],
                false => lines,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_lines_are_counted() {
        let mut outcome = Outcome::default();
        assert!(outcome.count_line("test result: ok. 3 passed; 1 failed; 2 ignored; 0 measured"));
        assert!(outcome.count_line("10 passed, 2 failed"));
        assert!(!outcome.count_line("10 passed"));
        assert!(!outcome.count_line("test ring::wraps ... ok"));
        assert_eq!(
            (outcome.passed, outcome.failed, outcome.skipped),
            (13, 3, 2)
        );
    }

    #[test]
    fn the_end_says_what_failed() {
        let row = |name: &str, failed, complaints: &[&str]| {
            let outcome = Outcome {
                failed,
                complaints: complaints.iter().map(|&text| text.into()).collect(),
                ..Outcome::default()
            };
            (name.to_owned(), outcome, Cost::default())
        };
        let rows = [
            row("good", 0, &[]),
            row("bad", 2, &["this", "that"]),
            row("mute", 1, &[]),
        ];
        assert_eq!(
            failures(&rows),
            ["bad: this", "bad: that", "mute: see its output"]
        );
    }

    #[test]
    fn a_complaint_is_a_failure() {
        let mut bad = Outcome {
            complaints: vec!["undeclared finding".into()],
            ..Outcome::default()
        };
        bad.settle();
        assert_eq!((bad.passed, bad.failed), (0, 1));
        let mut good = Outcome::default();
        good.settle();
        assert_eq!((good.passed, good.failed), (1, 0));
    }
}
