// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What a test provoked against what it declared: findings of the model's judge, kernel log records.

use super::DECLARED_KMSG;
use crate::control::Finding;
use crate::kmsg::Record;
use anyhow::{Context as _, Result};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;

/// What the log says when the kernel itself is at fault.
const KERNEL_FAULTS: [&str; 6] = [
    "BUG:",
    "WARNING:",
    "Oops",
    "UBSAN",
    "general protection",
    "Call Trace",
];
/// Undeclared records that a complaint names; the rest are counted.
const SHOWN: usize = 4;

/// Return whether the record shows a fault of the kernel itself.
pub fn is_fault(record: &Record) -> bool {
    KERNEL_FAULTS.iter().any(|sign| record.text.contains(sign))
}

/// Describe findings in words.
pub fn describe(findings: &[Finding]) -> String {
    let list: Vec<String> = findings
        .iter()
        .map(|f| {
            format!("finding {} × {} {}", f.kind, f.count, f.detail)
                .trim()
                .to_owned()
        })
        .collect();
    list.join("; ")
}

/// Return how often `kind` was found.
pub fn count_findings(findings: &[Finding], kind: &str) -> u64 {
    findings
        .iter()
        .filter(|finding| finding.kind == kind)
        .map(|finding| finding.count)
        .sum()
}

/// Return how many records contain `text`.
pub fn count_records(records: &[Record], text: &str) -> u64 {
    records
        .iter()
        .filter(|record| record.text.contains(text))
        .count() as u64
}

/// Return what was found and not declared, and what was declared and not found so often.
pub fn compare_findings(
    findings: &[Finding],
    declared: &[(&str, u64)],
) -> (Vec<String>, Vec<String>) {
    let mut complaints = Vec::new();
    let undeclared: Vec<Finding> = findings
        .iter()
        .filter(|finding| !declared.iter().any(|&(kind, _)| kind == finding.kind))
        .cloned()
        .collect();
    if !undeclared.is_empty() {
        complaints.push(describe(&undeclared));
    }
    let mut missing = Vec::new();
    for &(kind, count) in declared {
        let seen = count_findings(findings, kind);
        if seen != count {
            missing.push(format!("finding {kind}: declared {count}, seen {seen}"));
        }
    }
    (complaints, missing)
}

/// Return what was logged and not declared, and what was declared and not logged so often.
pub fn compare_records(records: &[Record], declared: &[(&str, u64)]) -> (Vec<String>, Vec<String>) {
    let mut complaints: Vec<String> = records
        .iter()
        .filter(|record| !declared.iter().any(|&(text, _)| record.text.contains(text)))
        .map(|record| format!("kernel log: {}", record.text))
        .collect();
    if complaints.len() > SHOWN {
        let more = complaints.len() - SHOWN;
        complaints.truncate(SHOWN);
        complaints.push(format!("and {more} more records"));
    }
    let mut missing = Vec::new();
    for &(text, count) in declared {
        let seen = count_records(records, text);
        if seen != count {
            missing.push(format!(
                "kernel log {text:?}: declared {count}, seen {seen}"
            ));
        }
    }
    (complaints, missing)
}

/// Return the records that the declarations account for.
pub fn declared<'a>(records: &'a [Record], declared: &[(&str, u64)]) -> Vec<&'a Record> {
    let mut left: BTreeMap<&str, u64> = declared.iter().copied().collect();
    let mut known = Vec::new();
    for record in records {
        if let Some((_, count)) = left
            .iter_mut()
            .find(|(text, count)| **count > 0 && record.text.contains(**text))
        {
            *count -= 1;
            known.push(record);
        }
    }
    known
}

/// Append the texts of `records` to [`DECLARED_KMSG`].
pub fn remember<'a>(records: impl IntoIterator<Item = &'a Record>) -> Result<()> {
    let mut lines = String::new();
    for record in records {
        lines.push_str(&record.text);
        lines.push('\n');
    }
    if lines.is_empty() {
        return Ok(());
    }
    let mut file = File::options()
        .append(true)
        .create(true)
        .open(DECLARED_KMSG)
        .context(DECLARED_KMSG)?;
    file.write_all(lines.as_bytes()).context(DECLARED_KMSG)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(kind: &str, count: u64) -> Finding {
        Finding {
            kind: kind.into(),
            count,
            detail: "at packet 3".into(),
        }
    }

    fn record(text: &str) -> Record {
        Record {
            level: 3,
            sequence: 1,
            text: text.into(),
        }
    }

    /// Return the complaints of both kinds.
    fn all((undeclared, missing): (Vec<String>, Vec<String>)) -> Vec<String> {
        undeclared.into_iter().chain(missing).collect()
    }

    #[test]
    fn findings_must_match_exactly() {
        let seen = [finding("hang", 1), finding("hang", 1)];
        assert!(all(compare_findings(&seen, &[("hang", 2)])).is_empty());
        assert_eq!(
            all(compare_findings(&seen, &[("hang", 1)])),
            ["finding hang: declared 1, seen 2"]
        );
        assert_eq!(
            all(compare_findings(&[], &[("hang", 1)])),
            ["finding hang: declared 1, seen 0"]
        );
        assert_eq!(
            all(compare_findings(&seen[..1], &[])),
            ["finding hang × 1 at packet 3"]
        );
    }

    #[test]
    fn records_must_match_exactly() {
        let seen = [record("r500: ring is stuck"), record("BUG: something")];
        let complaints = all(compare_records(&seen, &[("is stuck", 1)]));
        assert_eq!(complaints, ["kernel log: BUG: something"]);
        assert_eq!(
            all(compare_records(&seen[..1], &[("is stuck", 2)])),
            ["kernel log \"is stuck\": declared 2, seen 1"]
        );
        assert!(all(compare_records(&[], &[])).is_empty());
    }
}
