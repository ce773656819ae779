// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The `test NAME ... VERDICT` lines that the guest's test programs print (`tests/harness`).

/// What a line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It passed.
    Ok,
    /// It failed.
    Failed(String),
    /// It failed as this driver is known to.
    Differs(String),
    /// It is not for this driver.
    LeftOut(String),
    /// It cannot run here.
    Skipped(String),
    /// The line has no end: the guest died, or something else wrote into it.
    Unclear(String),
}

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Name of the test.
    pub name: String,
    /// How it ended.
    pub verdict: Verdict,
    /// What it made the judge find, as declared.
    pub findings: String,
}

impl Verdict {
    /// Return one word.
    pub fn word(&self) -> &'static str {
        match self {
            Verdict::Ok => "ok",
            Verdict::Failed(_) => "FAILED",
            Verdict::Differs(_) => "differs",
            Verdict::LeftOut(_) => "left out",
            Verdict::Skipped(_) => "skipped",
            Verdict::Unclear(_) => "unclear",
        }
    }

    /// Return the reason, where there is one.
    pub fn reason(&self) -> &str {
        match self {
            Verdict::Ok => "",
            Verdict::Failed(reason)
            | Verdict::Differs(reason)
            | Verdict::LeftOut(reason)
            | Verdict::Skipped(reason)
            | Verdict::Unclear(reason) => reason,
        }
    }
}

/// Return all test lines of a job's output.
pub fn parse(job: &str) -> Vec<Line> {
    job.lines().filter_map(parse_line).collect()
}

fn parse_line(line: &str) -> Option<Line> {
    let (name, rest) = line.trim().strip_prefix("test ")?.split_once(" ...")?;
    let rest = rest.trim();
    let (verdict, findings) = match rest.rsplit_once(", findings: ") {
        Some((verdict, findings)) if !verdict.starts_with("FAILED") => (verdict, findings),
        _ => (rest, ""),
    };
    let after = |word: &str| {
        verdict
            .strip_prefix(word)
            .map(|text| text.trim().to_owned())
    };
    let verdict = if verdict == "ok" {
        Verdict::Ok
    } else if let Some(reason) = after("FAILED:") {
        Verdict::Failed(reason)
    } else if let Some(reason) = after("differs:") {
        Verdict::Differs(reason)
    } else if let Some(reason) = after("left out:") {
        Verdict::LeftOut(reason)
    } else if let Some(reason) = after("skipped:") {
        Verdict::Skipped(reason)
    } else {
        Verdict::Unclear(verdict.to_owned())
    };
    Some(Line {
        name: name.to_owned(),
        verdict,
        findings: findings.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verdict_is_understood() {
        let job = "noise\r\ntest a/b ... ok\r\ntest c ... ok, findings: hang × 1\r\n\
            test d ... differs: it may (got IO)\ntest e ... left out: none there\n\
            test f ... skipped: no display\ntest g ... FAILED: x, findings: y\ntest h ... \n";
        let words: Vec<_> = parse(job)
            .iter()
            .map(|line| {
                (
                    line.name.clone(),
                    line.verdict.word(),
                    line.findings.clone(),
                )
            })
            .collect();
        let expect = [
            ("a/b", "ok", ""),
            ("c", "ok", "hang × 1"),
            ("d", "differs", ""),
            ("e", "left out", ""),
            ("f", "skipped", ""),
            ("g", "FAILED", ""),
            ("h", "unclear", ""),
        ];
        assert_eq!(
            words,
            expect.map(|(a, b, c)| (a.to_owned(), b, c.to_owned()))
        );
    }
}
