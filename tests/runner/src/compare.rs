// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The same tests on two drivers, side by side.
//!
//! A row is fine if both passed, if both could not run, or if one of them is known to differ and the reason is
//! kept at the test. Every other difference is unexplained, and fails the step. (A test that is known to fail must
//! fail, so an explanation that is no longer needed shows where the test runs.)

use std::{
    collections::BTreeMap,
    path::Path, //
};

use anyhow::Context;

use crate::{
    lines::{
        self,
        Line,
        Verdict, //
    },
    outcome::Outcome,
    suite::CompareStep,
};

/// A test on both drivers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// One word for upstream's driver.
    pub upstream: &'static str,
    /// One word for ours.
    pub ours: &'static str,
    /// What it made the judge find, on either.
    pub findings: String,
    /// Why the two may differ.
    pub reason: String,
    /// What is wrong with the row, if anything.
    pub complaint: Option<String>,
}

/// Compare the outputs of the jobs below `out`.
pub fn run(step: &CompareStep, out: &Path) -> anyhow::Result<(Outcome, Vec<Row>)> {
    let read = |names: &[String]| {
        let mut all = Vec::new();
        for name in names {
            let path = out.join(name).join("job");
            let bytes = std::fs::read(&path)
                .with_context(|| format!("{}: {}", step.name, path.display()))?;
            all.extend(lines::parse(&String::from_utf8_lossy(&bytes)));
        }
        anyhow::Ok(all)
    };
    let wanted =
        |line: &Line| step.only.is_empty() || step.only.iter().any(|word| line.name.contains(word));
    let upstream: Vec<_> = read(&step.upstream)?.into_iter().filter(wanted).collect();
    let ours: Vec<_> = read(&step.ours)?.into_iter().filter(wanted).collect();
    let rows = rows(&upstream, &ours);
    let mut outcome = Outcome::default();
    if !rows
        .iter()
        .any(|row| row.upstream == "ok" && row.ours == "ok")
    {
        outcome
            .complaints
            .push("no test passed on both drivers".into());
    }
    for row in &rows {
        if let Some(complaint) = &row.complaint {
            outcome.failed += 1;
            outcome
                .complaints
                .push(format!("{}: {complaint}", row.name));
        }
    }
    outcome.settle();
    Ok((outcome, rows))
}

/// Return the rows in upstream's order, then what only ours has.
fn rows(upstream: &[Line], ours: &[Line]) -> Vec<Row> {
    let by_name = |lines: &[Line]| -> BTreeMap<String, Line> {
        lines
            .iter()
            .map(|line| (line.name.clone(), line.clone()))
            .collect()
    };
    let (first, second) = (by_name(upstream), by_name(ours));
    let names = upstream
        .iter()
        .chain(ours.iter().filter(|line| !first.contains_key(&line.name)));
    names
        .map(|line| row(&line.name, first.get(&line.name), second.get(&line.name)))
        .collect()
}

fn row(name: &str, upstream: Option<&Line>, ours: Option<&Line>) -> Row {
    let word = |line: Option<&Line>| line.map_or("–", |line| line.verdict.word());
    let of = |who: &str, line: Option<&Line>| match line {
        Some(line) if !line.findings.is_empty() => Some(format!("{who}: {}", line.findings)),
        _ => None,
    };
    let findings: Vec<_> = [of("upstream", upstream), of("ours", ours)]
        .into_iter()
        .flatten()
        .collect();
    let (reason, complaint) = explain(upstream.map(|l| &l.verdict), ours.map(|l| &l.verdict));
    Row {
        name: name.to_owned(),
        upstream: word(upstream),
        ours: word(ours),
        findings: findings.join("; "),
        reason,
        complaint,
    }
}

/// Return why the two may differ, and what is wrong.
fn explain(upstream: Option<&Verdict>, ours: Option<&Verdict>) -> (String, Option<String>) {
    let (Some(upstream), Some(ours)) = (upstream, ours) else {
        return (String::new(), Some("ran on one driver only".into()));
    };
    for (who, verdict) in [("upstream", upstream), ("ours", ours)] {
        if let Verdict::Failed(reason) | Verdict::Unclear(reason) = verdict {
            return (
                String::new(),
                Some(format!("{} on {who}: {reason}", verdict.word())),
            );
        }
    }
    let excused = |verdict: &Verdict| matches!(verdict, Verdict::Differs(_) | Verdict::LeftOut(_));
    match (upstream, ours) {
        (Verdict::Ok, Verdict::Ok) => (String::new(), None),
        (Verdict::Skipped(why), Verdict::Skipped(_)) => (why.clone(), None),
        (Verdict::LeftOut(_), Verdict::LeftOut(_)) => (
            String::new(),
            Some("left out on both: it never runs".into()),
        ),
        (first, second) if excused(first) && excused(second) => (
            format!("{}; ours: {}", first.reason(), second.reason()),
            None,
        ),
        (first, _) if excused(first) => (first.reason().to_owned(), None),
        (_, second) if excused(second) => (second.reason().to_owned(), None),
        (first, second) => {
            let complaint = format!("{} and {}, without a reason", first.word(), second.word());
            (String::new(), Some(complaint))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compare(upstream: &str, ours: &str) -> Row {
        let parse = |verdict: &str| lines::parse(&format!("test a ... {verdict}"));
        let rows = rows(&parse(upstream), &parse(ours));
        assert_eq!(rows.len(), 1);
        rows.into_iter().next().unwrap()
    }

    #[test]
    fn agreement_and_known_differences_are_fine() {
        for (upstream, ours, reason) in [
            ("ok", "ok", ""),
            ("skipped: no display", "skipped: no display", "no display"),
            ("differs: it may (IO)", "ok", "it may (IO)"),
            ("left out: ours alone", "ok", "ours alone"),
            ("ok", "left out: upstream's alone", "upstream's alone"),
            ("left out: ours alone", "skipped: no display", "ours alone"),
        ] {
            let row = compare(upstream, ours);
            assert_eq!((row.complaint, row.reason.as_str()), (None, reason));
        }
    }

    #[test]
    fn everything_else_is_not() {
        for (upstream, ours) in [
            ("ok", "FAILED: x"),
            ("FAILED: x", "ok"),
            ("differs: it may (IO)", "FAILED: x"),
            ("ok", "skipped: no display"),
            ("left out: a", "left out: b"),
            ("ok", ""),
        ] {
            assert!(
                compare(upstream, ours).complaint.is_some(),
                "{upstream}, {ours}"
            );
        }
        let line = lines::parse("test a ... ok");
        assert!(rows(&line, &[])[0].complaint.is_some());
        assert!(rows(&[], &line)[0].complaint.is_some());
    }

    #[test]
    fn findings_are_named() {
        assert_eq!(
            compare("ok, findings: hang × 1", "ok").findings,
            "upstream: hang × 1"
        );
    }
}
