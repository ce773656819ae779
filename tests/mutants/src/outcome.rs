// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What a run showed, and the table of all runs.

use std::{fmt, path::PathBuf};

use crate::list::Mutant;

/// A run of a step.
#[derive(Debug)]
pub struct Run {
    /// Whether the command exited with 0.
    pub ok: bool,
    /// Everything it printed.
    pub output: String,
    /// Where that is kept.
    pub log: PathBuf,
}

/// What a claim is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The test that was named failed.
    Caught,
    /// Some test failed, but not that one.
    Otherwise,
    /// Nothing failed.
    Survived,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Caught => "caught",
            Verdict::Otherwise => "caught, but not by that test",
            Verdict::Survived => "SURVIVED",
        })
    }
}

impl Verdict {
    /// Return what the claim is worth that a failure with `name` in its name is among `failed`.
    pub fn of<S: AsRef<str>>(failed: &[S], name: &str) -> Verdict {
        if failed.is_empty() {
            Verdict::Survived
        } else if failed.iter().any(|f| f.as_ref().contains(name)) {
            Verdict::Caught
        } else {
            Verdict::Otherwise
        }
    }
}

impl Run {
    /// Return whether all tests passed.
    pub fn passed(&self) -> bool {
        self.ok
    }

    /// Return whether the test with `name` in its name is among those that failed. Lines that tell of a failure say
    /// FAILED, or are indented (the runner's complaints).
    pub fn verdict(&self, name: &str) -> Verdict {
        let told = |line: &str| line.contains("FAILED") || line.starts_with("    ");
        if self.ok {
            Verdict::Survived
        } else if self.output.lines().any(|l| told(l) && l.contains(name)) {
            Verdict::Caught
        } else {
            Verdict::Otherwise
        }
    }
}

/// Return the table: feature, step, test, verdict.
pub fn markdown(rows: &[(&Mutant, &str, &str, Verdict)]) -> String {
    let mut text = String::from("| without | fails in | test | |\n| --- | --- | --- | --- |\n");
    for (mutant, step, name, verdict) in rows {
        text += &format!(
            "| {} | {step} | {} | {verdict} |\n",
            mutant.feature,
            name.replace('|', "\\|")
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(ok: bool, output: &str) -> Run {
        Run {
            ok,
            output: output.into(),
            log: PathBuf::new(),
        }
    }

    #[test]
    fn the_failure_that_was_named_counts() {
        assert_eq!(Verdict::of::<&str>(&[], "a"), Verdict::Survived);
        assert_eq!(Verdict::of(&["ba"], "a"), Verdict::Caught);
        assert_eq!(Verdict::of(&["b", "c"], "a"), Verdict::Otherwise);
    }

    #[test]
    fn only_lines_about_failures_count() {
        assert_eq!(run(true, "test a ... ok").verdict("a"), Verdict::Survived);
        let failed = run(
            false,
            "test a ... ok\ntest b ... FAILED\nstep: FAILED\n    lacks c\n",
        );
        assert_eq!(failed.verdict("test a"), Verdict::Otherwise);
        assert_eq!(failed.verdict("test b"), Verdict::Caught);
        assert_eq!(failed.verdict("lacks c"), Verdict::Caught);
    }
}
