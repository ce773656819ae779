// SPDX-License-Identifier: GPL-2.0 OR MIT

//! How the programs ended: the `test NAME ... VERDICT` lines of a guest's job.

use anyhow::{Context, Result, ensure};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Verdicts by program.
pub struct Verdicts(BTreeMap<String, String>);

impl Verdicts {
    /// Read a job's output.
    pub fn read(path: &Path) -> Result<Verdicts> {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let verdicts = Verdicts::parse(&text);
        ensure!(!verdicts.0.is_empty(), "{}: no tests", path.display());
        Ok(verdicts)
    }

    fn parse(text: &str) -> Verdicts {
        let lines = text.lines().filter_map(|line| {
            let (name, verdict) = line.strip_prefix("test ")?.split_once(" ... ")?;
            Some((name.to_owned(), verdict.trim().to_owned()))
        });
        Verdicts(lines.collect())
    }

    /// Return the test that a recording belongs to: of its name, or, where one test runs several programs, of the
    /// longest name that the recording's begins with.
    fn test(&self, program: &str) -> Option<(&String, &String)> {
        self.0
            .iter()
            .filter(|(name, _)| {
                let rest = program.strip_prefix(name.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
            })
            .max_by_key(|(name, _)| name.len())
    }

    /// Return how the recorded program ended; `Err` with the reason if it did not pass.
    pub fn of(&self, program: &str) -> Result<String, String> {
        match self.test(program) {
            Some((_, verdict)) if verdict == "ok" => Ok("ok".into()),
            // What the test declares, neither more nor less.
            Some((_, verdict)) if verdict.starts_with("ok, findings: ") => Ok("declared".into()),
            Some((_, verdict)) => Err(verdict.clone()),
            None => Err("no test of that name".into()),
        }
    }

    /// Return the tests that were skipped, with the reason. They leave no recording.
    pub fn skipped(&self) -> BTreeMap<&str, &str> {
        let reasons = self.0.iter().filter_map(|(name, verdict)| {
            Some((name.as_str(), verdict.strip_prefix("skipped: ")?))
        });
        reasons.collect()
    }

    /// Return the tests that ran, and that none of the recordings belongs to.
    pub fn without(&self, programs: &BTreeSet<&String>) -> Vec<String> {
        let recorded: BTreeSet<&String> = programs
            .iter()
            .filter_map(|program| self.test(program).map(|(name, _)| name))
            .collect();
        let skipped = self.skipped();
        let lost = (self.0.keys())
            .filter(|name| !recorded.contains(name) && !skipped.contains_key(name.as_str()));
        lost.cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recordings_find_their_test() {
        let verdicts = Verdicts::parse(
            "noise\ntest two ... ok\ntest two-clients ... FAILED: x\ntest three ... ok, findings: y × 1\n3 passed\n",
        );
        assert_eq!(verdicts.of("three"), Ok("declared".into()));
        assert_eq!(verdicts.of("two"), Ok("ok".into()));
        assert_eq!(verdicts.of("two-clients-uniforms"), Err("FAILED: x".into()));
        assert_eq!(verdicts.of("twofold"), Err("no test of that name".into()));
        let programs = ["two".to_owned(), "two-clients-a".to_owned()];
        assert_eq!(verdicts.without(&programs.iter().collect()), ["three"]);
    }

    #[test]
    fn a_skipped_test_leaves_no_recording() {
        let verdicts = Verdicts::parse("test one ... ok\ntest two ... skipped: no OpenGL 3.3\n");
        assert_eq!(
            verdicts.skipped().into_iter().collect::<Vec<_>>(),
            [("two", "no OpenGL 3.3")]
        );
        assert_eq!(verdicts.without(&BTreeSet::new()), ["one"]);
        assert_eq!(verdicts.of("two"), Err("skipped: no OpenGL 3.3".into()));
    }
}
