// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What was measured, as a table of ratios.

use std::fmt::Write as _;

/// Instructions of all processes.
pub const INSTRUCTIONS: &str = "instructions";
/// Register reads and writes.
pub const REGISTERS: &str = "register accesses";
/// Interrupts.
pub const INTERRUPTS: &str = "interrupts";
/// Memory allocations.
pub const ALLOCATIONS: &str = "allocations";

/// Values of one quantity on one side, sorted.
#[derive(Clone, Debug, Default)]
pub struct Values(Vec<f64>);

impl Values {
    /// Take the values of all rounds.
    pub fn new(mut values: Vec<f64>) -> Values {
        values.sort_unstable_by(f64::total_cmp);
        Values(values)
    }

    /// Return the middle one; of an even number the lower of the two.
    pub fn median(&self) -> Option<f64> {
        self.0.get(self.0.len().checked_sub(1)? / 2).copied()
    }

    /// Return the least and the greatest.
    pub fn range(&self) -> Option<(f64, f64)> {
        Some((*self.0.first()?, *self.0.last()?))
    }
}

/// What has to be reached.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// At most this many times the median of the driver that ours is compared with.
    Ratio(f64),
    /// At most this number, whatever that driver has.
    Most(f64),
    /// Nothing: for information.
    None,
}

/// One line of the table.
#[derive(Clone, Debug)]
pub struct Line {
    /// What was done.
    pub row: String,
    /// What was counted, per time it was done.
    pub quantity: &'static str,
    /// On the driver that ours is compared with; empty if it was not there.
    pub others: Values,
    /// On ours; empty if it was not there.
    pub ours: Values,
    /// What has to be reached.
    pub target: Target,
}

impl Line {
    /// Return our median in the other driver's.
    pub fn ratio(&self) -> Option<f64> {
        let (ours, others) = (self.ours.median()?, self.others.median()?);
        (others != 0.0).then(|| ours / others)
    }

    /// Return whether the target was reached; `None` if there is none, or nothing to judge by.
    pub fn verdict(&self) -> Option<bool> {
        match self.target {
            Target::Ratio(most) => Some(self.ratio()? <= most),
            Target::Most(most) => Some(self.ours.median()? <= most),
            Target::None => None,
        }
    }

    fn target_text(&self) -> String {
        match self.target {
            Target::Ratio(most) => format!("<= {most:.2}x"),
            Target::Most(most) => format!("<= {most}"),
            Target::None => String::new(),
        }
    }

    fn verdict_text(&self) -> &'static str {
        match self.verdict() {
            Some(true) => "ok",
            Some(false) => "MISSED",
            None => "",
        }
    }
}

fn number(value: Option<f64>) -> String {
    match value {
        None => "-".into(),
        Some(value) if value >= 1000.0 => format!("{value:.0}"),
        Some(value) => format!("{value:.1}"),
    }
}

/// Return how far the rounds lie apart, in percent of the median.
fn spread(values: &Values) -> String {
    match (values.range(), values.median()) {
        (Some((least, most)), Some(median)) if median != 0.0 => {
            format!("{:.1}%", (most - least) / median * 100.0)
        }
        _ => "-".into(),
    }
}

/// Return the table for people: one line a row, and what was missed in words. `others` is the name of the driver that ours
/// is compared with.
pub fn text(others: &str, lines: &[Line]) -> String {
    let short: String = others.chars().take(5).collect();
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{:<26} {:^36} {:^14} {:^12} {:^14}",
        "", "instructions", "registers", "interrupts", "allocations"
    );
    let _ = writeln!(
        out,
        "{:<26} {:>8} {:>6} {:>8} {:>6} {:>5} {:>7} {:>6} {:>6} {:>5} {:>7} {:>6}",
        "per",
        others,
        "spread",
        "ours",
        "spread",
        "ratio",
        short,
        "ours",
        short,
        "ours",
        short,
        "ours"
    );
    let mut rows: Vec<&str> = lines.iter().map(|line| line.row.as_str()).collect();
    rows.dedup();
    for row in rows {
        let of = |quantity: &str| {
            lines
                .iter()
                .find(|line| line.row == row && line.quantity == quantity)
        };
        let medians = |quantity: &str| match of(quantity) {
            Some(line) => [line.others.median(), line.ours.median()].map(number),
            None => [None, None].map(number),
        };
        let _ = write!(out, "{row:<26}");
        if let Some(line) = of(INSTRUCTIONS) {
            let ratio = line
                .ratio()
                .map_or("-".into(), |ratio| format!("{ratio:.2}"));
            let _ = write!(
                out,
                " {:>8} {:>6} {:>8} {:>6} {ratio:>5}",
                number(line.others.median()),
                spread(&line.others),
                number(line.ours.median()),
                spread(&line.ours),
            );
        }
        let [others, ours] = medians(REGISTERS);
        let _ = write!(out, " {others:>7} {ours:>6}");
        let [others, ours] = medians(INTERRUPTS);
        let _ = write!(out, " {others:>6} {ours:>5}");
        let [others, ours] = medians(ALLOCATIONS);
        let _ = write!(out, " {others:>7} {ours:>6}");
        let judged = lines.iter().filter(|line| line.row == row);
        let mut verdicts = judged
            .filter_map(|line| Some((line, line.verdict()?)))
            .peekable();
        if verdicts.peek().is_some() {
            let missed: Vec<String> = verdicts
                .filter(|(_, reached)| !reached)
                .map(|(line, _)| format!("{} {}", line.quantity, line.target_text()))
                .collect();
            let verdict = match missed[..] {
                [] => "  ok".into(),
                _ => format!("  MISSED: {}", missed.join(", ")),
            };
            out.push_str(&verdict);
        }
        out.push('\n');
    }
    out
}

/// Return the table for programs: tab-separated, one line a quantity, `-` for what is not there.
pub fn tsv(others: &str, lines: &[Line]) -> String {
    let exact = |value: Option<f64>| value.map_or("-".into(), |v| format!("{v}"));
    let mut out = format!(
        "row\tquantity\t{others}\t{others}_min\t{others}_max\tours\tours_min\tours_max\tratio\ttarget\tverdict\n",
    );
    for line in lines {
        let mut fields = vec![line.row.clone(), line.quantity.to_owned()];
        for side in [&line.others, &line.ours] {
            fields.push(exact(side.median()));
            fields.push(exact(side.range().map(|r| r.0)));
            fields.push(exact(side.range().map(|r| r.1)));
        }
        fields.push(exact(line.ratio()));
        fields.push(line.target_text());
        fields.push(line.verdict_text().to_owned());
        for field in &mut fields {
            if field.is_empty() {
                field.push('-');
            }
        }
        let _ = writeln!(out, "{}", fields.join("\t"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(others: &[f64], ours: &[f64], target: Target) -> Line {
        Line {
            row: "cs".into(),
            quantity: INSTRUCTIONS,
            others: Values::new(others.to_vec()),
            ours: Values::new(ours.to_vec()),
            target,
        }
    }

    #[test]
    fn medians_are_judged() {
        let good = line(
            &[100.0, 90.0, 900.0],
            &[80.0, 10.0, 81.0],
            Target::Ratio(0.8),
        );
        assert_eq!(good.ratio(), Some(0.8));
        assert_eq!(good.verdict(), Some(true));
        let bad = line(&[100.0], &[80.1], Target::Ratio(0.8));
        assert_eq!(bad.verdict(), Some(false));
        assert_eq!(line(&[], &[7.0], Target::Most(6.0)).verdict(), Some(false));
        assert_eq!(line(&[], &[6.0], Target::Most(6.0)).verdict(), Some(true));
    }

    #[test]
    fn what_is_missed_is_said() {
        let missed = text("upstream", &[line(&[10.0], &[9.0], Target::Ratio(0.8))]);
        assert!(missed.contains("MISSED: instructions <= 0.80x"), "{missed}");
        let reached = text("upstream", &[line(&[10.0], &[8.0], Target::Ratio(0.8))]);
        assert!(reached.trim_end().ends_with("  ok"), "{reached}");
    }

    #[test]
    fn nothing_is_judged_without_two_sides() {
        assert_eq!(line(&[], &[1.0], Target::Ratio(0.8)).verdict(), None);
        assert_eq!(line(&[0.0], &[1.0], Target::Ratio(0.8)).ratio(), None);
        assert_eq!(line(&[1.0], &[1.0], Target::None).verdict(), None);
    }

    #[test]
    fn both_forms_have_a_line_each() {
        let lines = [
            line(&[2000.0, 2001.0], &[1500.0], Target::Ratio(0.8)),
            line(&[2.0], &[], Target::Most(1.0)),
        ];
        // One row, below two lines of headings.
        assert_eq!(text("upstream", &lines).lines().count(), 3);
        let tsv = tsv("upstream", &lines);
        let fields: Vec<&str> = tsv.lines().nth(1).unwrap().split('\t').collect();
        assert_eq!(
            fields,
            [
                "cs",
                "instructions",
                "2000",
                "2000",
                "2001",
                "1500",
                "1500",
                "1500",
                "0.75",
                "<= 0.80x",
                "ok"
            ]
        );
    }
}
