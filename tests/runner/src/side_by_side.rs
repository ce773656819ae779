// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The table of all comparisons of a run: test, upstream, ours, findings, reason; one row for all chips on which
//! a test came out alike.

use std::fmt::Write;

use crate::compare::Row;

/// Rows of several chips, merged.
#[derive(Debug, Default)]
pub struct Table {
    chips: Vec<String>,
    rows: Vec<(Row, Vec<String>)>,
}

impl Table {
    /// Add what was compared on one chip.
    pub fn add(&mut self, chip: &str, rows: Vec<Row>) {
        self.chips.push(chip.to_owned());
        for row in rows {
            let same = self.rows.iter_mut().find(|(known, _)| *known == row);
            if let Some((_, chips)) = same {
                chips.push(chip.to_owned());
                continue;
            }
            // Beside its name's other rows, so that what differs between chips is seen together.
            let last = self
                .rows
                .iter()
                .rposition(|(known, _)| known.name == row.name);
            let at = last.map_or(self.rows.len(), |last| last + 1);
            self.rows.insert(at, (row, vec![chip.to_owned()]));
        }
    }

    /// Return whether nothing was compared.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Return the table as text, with a closing line of counts.
    pub fn text(&self) -> String {
        let name = self
            .rows
            .iter()
            .map(|(row, _)| row.name.len())
            .max()
            .unwrap_or(0)
            .max(4);
        let chips = self.chips.join(" ").chars().count().max(5);
        let mut text = String::new();
        let mut line = |cells: [&str; 5], reason: &str| {
            let [a, b, c, d, e] = cells;
            let whole = format!("{a:name$}  {b:chips$}  {c:8}  {d:8}  {e:8}  {reason}");
            let _ = writeln!(text, "{}", whole.trim_end());
        };
        line(["test", "chips", "upstream", "ours", "findings"], "reason");
        let (mut alike, mut explained, mut open) = (0, 0, 0);
        for (row, on) in &self.rows {
            let on = if *on == self.chips {
                "all".to_owned()
            } else {
                on.join(" ")
            };
            let findings = if row.findings.is_empty() {
                "none"
            } else {
                row.findings.as_str()
            };
            let (reason, count) = match &row.complaint {
                Some(complaint) => (format!("UNEXPLAINED: {complaint}"), &mut open),
                None if row.upstream == row.ours => (row.reason.clone(), &mut alike),
                None => (row.reason.clone(), &mut explained),
            };
            *count += 1;
            line([&row.name, &on, row.upstream, row.ours, findings], &reason);
        }
        let _ = writeln!(
            text,
            "\n{alike} alike, {explained} differ with a reason, {open} without"
        );
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, ours: &'static str) -> Row {
        Row {
            name: name.into(),
            upstream: "ok",
            ours,
            findings: String::new(),
            reason: String::new(),
            complaint: (ours != "ok").then(|| "no reason".into()),
        }
    }

    #[test]
    fn chips_that_agree_share_a_row() {
        let mut table = Table::default();
        table.add("rv515", vec![row("a", "ok"), row("b", "ok")]);
        table.add("r520", vec![row("a", "ok"), row("b", "FAILED")]);
        let text = table.text();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 6);
        assert_eq!(lines[1], "a     all         ok        ok        none");
        assert_eq!(lines[2], "b     rv515       ok        ok        none");
        assert_eq!(
            lines[3],
            "b     r520        ok        FAILED    none      UNEXPLAINED: no reason"
        );
        assert_eq!(lines[5], "2 alike, 0 differ with a reason, 1 without");
    }
}
