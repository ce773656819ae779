// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What a run has looked at: a fuzz that looks at nothing finds nothing.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use lapidary_model_r500::{bench::Who, kind::Kind};
use r500::portable::checker::Reason;

use crate::support::readings::Reading;

/// Units that must be seen at work, by the names that the model gives them.
const UNITS: [&str; 8] = [
    "Engine2d",
    "Index",
    "ZPass",
    "vertex array",
    "texture",
    "colour target",
    "depth buffer",
    "resolve target",
];

/// Submissions of one sort.
#[derive(Clone, Copy, Debug, Default)]
pub struct Share {
    pub all: u64,
    pub admitted: u64,
}

impl Share {
    pub fn count(&mut self, admitted: bool) {
        self.all += 1;
        self.admitted += u64::from(admitted);
    }

    fn add(&mut self, other: Self) {
        self.all += other.all;
        self.admitted += other.admitted;
    }

    /// In per cent.
    pub fn percent(self) -> u64 {
        100 * self.admitted / self.all.max(1)
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} of {} ({} %)",
            self.admitted,
            self.all,
            self.percent()
        )
    }
}

/// Counters of a run or of a part of it.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// As they were made.
    pub whole: Share,
    /// Spoilt ones.
    pub spoilt: Share,
    /// Two in one.
    pub spliced: Share,
    /// Recorded ones.
    pub recorded: Share,
    /// Random words.
    pub garbage: Share,
    /// Run on the model.
    pub executed: u64,
    /// Objects that were touched, and those of them that were touched to their last byte.
    pub bounds: Share,
    /// Let through, but too large for the model's memory.
    pub too_large: u64,
    /// Streams in which a unit has touched memory.
    units: BTreeMap<String, u64>,
    reasons: BTreeMap<Reason, u64>,
    /// Streams that were let through, and those of them that stay inside by a reading that the checker does not bear.
    costs: BTreeMap<Reading, Share>,
    kinds: BTreeMap<Kind, (u64, String)>,
}

impl Report {
    pub fn refused(&mut self, reason: Reason) {
        *self.reasons.entry(reason).or_default() += 1;
    }

    /// A stream leaves its objects by a reading that the checker does not bear, or does not.
    pub fn would_cost(&mut self, reading: Reading, leaves: bool) {
        self.costs.entry(reading).or_default().count(!leaves);
    }

    /// A unit of the model has touched memory.
    pub fn touched(&mut self, who: &Who) {
        // Units that there are several of count as one.
        let name = who.to_string();
        let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == ' ');
        match self.units.get_mut(name) {
            Some(count) => *count += 1,
            None => drop(self.units.insert(name.into(), 1)),
        }
    }

    /// A finding of the model that is not a break, with the first one's detail.
    pub fn found(&mut self, kind: Kind, count: u64, detail: &str) {
        let (all, _) = self.kinds.entry(kind).or_insert_with(|| (0, detail.into()));
        *all += count;
    }

    /// Return all submissions that were judged.
    pub fn streams(&self) -> u64 {
        let sorts = [
            self.whole,
            self.spoilt,
            self.spliced,
            self.recorded,
            self.garbage,
        ];
        sorts.iter().map(|share| share.all).sum()
    }

    pub fn add(&mut self, other: &Self) {
        self.whole.add(other.whole);
        self.spoilt.add(other.spoilt);
        self.spliced.add(other.spliced);
        self.recorded.add(other.recorded);
        self.garbage.add(other.garbage);
        self.executed += other.executed;
        self.too_large += other.too_large;
        self.bounds.add(other.bounds);
        for (unit, count) in &other.units {
            *self.units.entry(unit.clone()).or_default() += count;
        }
        for (reading, share) in &other.costs {
            self.costs.entry(*reading).or_default().add(*share);
        }
        for (reason, count) in &other.reasons {
            *self.reasons.entry(*reason).or_default() += count;
        }
        for (kind, (count, detail)) in &other.kinds {
            self.found(*kind, *count, detail);
        }
    }

    /// Reasons that no stream was refused for, other than those that only a caller's mistake can have.
    pub fn missing(&self) -> BTreeSet<Reason> {
        Reason::ALL
            .iter()
            .copied()
            .filter(|reason| {
                !matches!(reason, Reason::TooManyFixups) && !self.reasons.contains_key(reason)
            })
            .collect()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "streams  {}", self.streams())?;
        writeln!(f, "whole    {}", self.whole)?;
        writeln!(f, "spoilt   {}", self.spoilt)?;
        writeln!(f, "spliced  {}", self.spliced)?;
        writeln!(f, "recorded {}", self.recorded)?;
        writeln!(f, "garbage  {}", self.garbage)?;
        writeln!(
            f,
            "executed {}, {} too large",
            self.executed, self.too_large
        )?;
        writeln!(f, "touched to the last byte: {} objects", self.bounds)?;
        for (unit, count) in &self.units {
            writeln!(f, "  touched {count:10} {unit}")?;
        }
        let mut reasons: Vec<_> = self.reasons.iter().collect();
        reasons.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        for (reason, count) in reasons {
            writeln!(f, "  refused {count:10} {reason:?}")?;
        }
        for (reading, share) in &self.costs {
            writeln!(f, "  by {reading:?} would stay inside {share}")?;
        }
        for (kind, (count, detail)) in &self.kinds {
            writeln!(f, "  found   {count:10} {}: {detail}", kind.name())?;
        }
        Ok(())
    }
}

impl Report {
    /// Fail if the generator and the checker have drifted apart, so that a run looks at next to nothing.
    pub fn expect_substance(&self) {
        let streams = self.streams();
        // Shares of few streams say nothing.
        if streams < 50_000 {
            return;
        }
        let least = [
            ("whole", self.whole, 45),
            ("spoilt", self.spoilt, 15),
            ("spliced", self.spliced, 10),
            ("touched to the last byte", self.bounds, 20),
        ];
        for (sort, share, percent) in least {
            assert!(share.percent() >= percent, "{sort}: {share} only");
        }
        assert!(
            self.too_large * 100 < self.executed,
            "the model is too small"
        );
        for unit in UNITS {
            let seen = self.units.get(unit).copied().unwrap_or(0);
            assert!(seen * 200 > streams, "{unit} worked in {seen} streams only");
        }
        // Streams of a round resemble each other, so a short run has few chances of a rare reason.
        let rare = if streams < 1_000_000 { 3 } else { 0 };
        let missing = self.missing();
        assert!(
            missing.len() <= rare,
            "no stream was refused for {missing:?}"
        );
    }
}
