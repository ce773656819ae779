// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The kernel log of a guest (`dmesg -r`): what is worth a complaint, and KUnit's results.

use std::collections::HashMap;

use crate::{
    outcome::Outcome,
    suite::Declared, //
};

/// Written to the log by the guest's init when the job starts.
const BEGIN: &str = "lapidary: job begins";

/// Severity from which a line must be declared (`KERN_WARNING`).
const WARNING: u32 = 4;

/// One record: severity 0 to 7 and text.
#[derive(Debug, PartialEq)]
pub struct Record<'a> {
    /// `KERN_EMERG` (0) to `KERN_DEBUG` (7).
    pub level: u32,
    /// The line without prefix.
    pub text: &'a str,
}

/// Split `<6>[   1.234567] text`; continuation lines count as their record's level.
pub fn parse(log: &str) -> Vec<Record<'_>> {
    let mut level = 6;
    log.lines()
        .map(|line| {
            let mut text = line;
            if let Some((prefix, rest)) = line.strip_prefix('<').and_then(|l| l.split_once('>')) {
                if let Ok(number) = prefix.parse::<u32>() {
                    level = number & 7;
                    text = rest;
                }
            }
            let text = match text.strip_prefix('[').and_then(|t| t.split_once("] ")) {
                Some((stamp, rest)) if stamp.trim().parse::<f64>().is_ok() => rest,
                _ => text,
            };
            Record { level, text }
        })
        .collect()
}

/// Return the part of the log that belongs to the job.
pub fn of_job<'a, 'b>(records: &'b [Record<'a>]) -> &'b [Record<'a>] {
    let begin = records.iter().position(|r| r.text.contains(BEGIN));
    begin.map_or(records, |at| &records[at + 1..])
}

/// Begins and ends the report of a warning or an oops, which has many lines.
const REPORT: (&str, &str) = ("[ cut here ]", "---[ end trace");

/// Split records into what is judged as one: each line by itself, and each report of a warning as a whole.
fn judged<'a, 'b>(records: &'b [Record<'a>]) -> impl Iterator<Item = &'b [Record<'a>]> {
    let mut rest = records;
    std::iter::from_fn(move || {
        let first = rest.first()?;
        let len = if first.text.contains(REPORT.0) {
            let end = rest.iter().position(|r| r.text.contains(REPORT.1));
            end.map_or(1, |at| at + 1)
        } else {
            1
        };
        let (one, others) = rest.split_at(len);
        rest = others;
        Some(one)
    })
}

/// Return the complaints about lines of level warning or worse that neither the step (`declared`) nor a test
/// in the guest (`claimed`: the exact text of lines it declared) accounts for. A report of a warning counts once, and one of
/// its lines accounts for all.
pub fn judge(records: &[Record<'_>], declared: &[Declared], claimed: &str) -> Vec<String> {
    let mut claims: HashMap<&str, u64> = HashMap::new();
    for claim in claimed.lines() {
        *claims.entry(claim).or_default() += 1;
    }
    let mut complaints = Vec::new();
    let mut seen = vec![0; declared.len()];
    for one in judged(records) {
        let has = |d: &Declared| one.iter().any(|r| r.text.contains(&d.what));
        let bad = || one.iter().filter(|r| r.level <= WARNING);
        if bad().next().is_none() {
            continue;
        }
        let mut texts = one.iter().map(|r| r.text);
        let claim = texts.find(|text| claims.get(text).is_some_and(|left| *left > 0));
        if let Some(left) = claim.and_then(|text| claims.get_mut(text)) {
            *left -= 1;
        } else if let Some(at) = declared.iter().position(has) {
            seen[at] += 1;
        } else {
            complaints.extend(bad().map(|r| format!("kernel log: {}", r.text)));
        }
    }
    for (declared, seen) in declared.iter().zip(seen) {
        if seen != declared.count {
            complaints.push(format!(
                "kernel log: {:?} declared {} times, seen {seen} times",
                declared.what, declared.count
            ));
        }
    }
    complaints
}

/// Count KUnit's results: the innermost `ok`/`not ok` lines.
pub fn kunit(records: &[Record<'_>], outcome: &mut Outcome) {
    let mut ran = false;
    for text in records.iter().map(|record| record.text) {
        let inner = text.trim_start();
        // Suites are at the left margin of KTAP, their cases further right.
        if inner.len() == text.len() {
            continue;
        }
        if inner.starts_with("ok ") {
            ran = true;
            outcome.passed += 1;
        } else if inner.starts_with("not ok ") {
            ran = true;
            outcome.failed += 1;
            outcome.complaints.push(format!("KUnit: {inner}"));
        }
    }
    if !ran {
        outcome.complaints.push("no KUnit case ran".into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "<4>[    0.1] at boot\n\
        <12>[    1.0] lapidary: job begins\n\
        <6>[    1.1] fine\n\
        <3>[    2.0] r500 0000:00:04.0: no microcode\n\
        <4>[    2.5] odd\n";

    #[test]
    fn only_the_job_counts() {
        let records = parse(LOG);
        assert_eq!(of_job(&records).len(), 3);
        assert_eq!(
            judge(of_job(&records), &[], ""),
            [
                "kernel log: r500 0000:00:04.0: no microcode",
                "kernel log: odd"
            ]
        );
    }

    #[test]
    fn a_report_of_a_warning_counts_once() {
        let log = "<6>[    1.0] ------------[ cut here ]------------\n\
            <4>[    1.0] WARNING: drivers/a.c:1 at a+0x1/0x2\n\
            <4>[    1.0] Modules linked in: b\n\
            <4>[    1.0] ---[ end trace 0000000000000000 ]---\n\
            <4>[    1.1] another line\n";
        let records = parse(log);
        let declare = |what: &str| {
            [Declared {
                what: what.into(),
                count: 1,
            }]
        };
        assert_eq!(
            judge(&records, &declare("WARNING: drivers/a.c"), ""),
            ["kernel log: another line"]
        );
        assert_eq!(judge(&records, &[], "").len(), 4, "all its lines are shown");
        assert_eq!(judge(&records, &declare("another line"), "").len(), 3);
        assert_eq!(judge(&records, &[], "Modules linked in: b\n").len(), 1);
        // One without an end is lines.
        let cut = parse(&log[..log.rfind("<4>[    1.0] ---").unwrap()]);
        assert_eq!(judge(&cut, &declare("WARNING: drivers/a.c"), "").len(), 1);
    }

    #[test]
    fn declarations_are_exact() {
        let records = parse(LOG);
        let declare = |count| {
            [Declared {
                what: "no microcode".into(),
                count,
            }]
        };
        assert!(judge(of_job(&records), &declare(1), "odd\n").is_empty());
        assert_eq!(judge(of_job(&records), &declare(2), "odd\n").len(), 1);
        assert_eq!(judge(of_job(&records), &declare(1), "").len(), 1);
    }

    #[test]
    fn kunit_cases_are_counted() {
        let records = parse(
            "<6>[ 1.0] KTAP version 1\n<6>[ 1.0]     # Subtest: ring\n\
             <6>[ 1.0]     ok 1 wraps\n<6>[ 1.0]     not ok 2 fills\n<6>[ 1.0] not ok 1 ring\n",
        );
        let mut outcome = Outcome::default();
        kunit(&records, &mut outcome);
        assert_eq!((outcome.passed, outcome.failed), (1, 1));
        let mut none = Outcome::default();
        kunit(&parse(LOG), &mut none);
        assert_eq!(none.complaints.len(), 1);
    }
}
