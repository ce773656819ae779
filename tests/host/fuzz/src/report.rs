// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What a run has looked at: a fuzz that looks at nothing finds nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use lapidary_model::kind::Kind;

/// Submissions of one sort.
#[derive(Clone, Copy, Debug, Default)]
pub struct Share {
    /// How many.
    pub all: u64,
    /// How many of them were admitted, or are what else the share is of.
    pub admitted: u64,
}

impl Share {
    /// Count one.
    pub fn count(&mut self, admitted: bool) {
        self.all += 1;
        self.admitted += u64::from(admitted);
    }

    fn add(&mut self, other: Self) {
        self.all += other.all;
        self.admitted += other.admitted;
    }

    /// Return whether nothing was counted.
    pub fn is_empty(self) -> bool {
        self.all == 0
    }

    /// Return the admitted part in per cent.
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

/// Counters of a run or of a part of it. `R` are the reasons of the checker.
#[derive(Clone, Debug)]
pub struct Report<R> {
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
    /// Admitted, but too large for the model's memory.
    pub too_large: u64,
    /// Streams in which a unit has touched memory.
    units: BTreeMap<String, u64>,
    reasons: BTreeMap<R, u64>,
    /// What a family counts beside, by what it is called.
    shares: BTreeMap<String, Share>,
    kinds: BTreeMap<Kind, (u64, String)>,
}

impl<R> Default for Report<R> {
    fn default() -> Self {
        Report {
            whole: Share::default(),
            spoilt: Share::default(),
            spliced: Share::default(),
            recorded: Share::default(),
            garbage: Share::default(),
            executed: 0,
            bounds: Share::default(),
            too_large: 0,
            units: BTreeMap::new(),
            reasons: BTreeMap::new(),
            shares: BTreeMap::new(),
            kinds: BTreeMap::new(),
        }
    }
}

impl<R: Copy + Ord + fmt::Debug> Report<R> {
    /// Count a refusal.
    pub fn refused(&mut self, reason: R) {
        *self.reasons.entry(reason).or_default() += 1;
    }

    /// Count something that a family counts beside: one, and whether it holds.
    pub fn share(&mut self, name: &str, holds: bool) {
        match self.shares.get_mut(name) {
            Some(share) => share.count(holds),
            None => {
                let mut share = Share::default();
                share.count(holds);
                self.shares.insert(name.into(), share);
            }
        }
    }

    /// Return what was counted by [`share`](Self::share).
    pub fn of(&self, name: &str) -> Share {
        self.shares.get(name).copied().unwrap_or_default()
    }

    /// Count a unit of the model that has touched memory. Units that there are several of, with numbers behind their
    /// names, count as one.
    pub fn touched(&mut self, unit: &str) {
        let name = unit.trim_end_matches(|c: char| c.is_ascii_digit() || c == ' ');
        match self.units.get_mut(name) {
            Some(count) => *count += 1,
            None => drop(self.units.insert(name.into(), 1)),
        }
    }

    /// Count a finding of the model that is not a break, with the first one's detail.
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

    /// Add the counters of another part of the run.
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
        for (name, share) in &other.shares {
            self.shares.entry(name.clone()).or_default().add(*share);
        }
        for (reason, count) in &other.reasons {
            *self.reasons.entry(*reason).or_default() += count;
        }
        for (kind, (count, detail)) in &other.kinds {
            self.found(*kind, *count, detail);
        }
    }

    /// Fail if a share, which has a name, is below so many percent, or if too many streams did not fit into the model.
    ///
    /// # Panics
    /// If so.
    pub fn expect_shares(&self, least: &[(&str, Share, u64)]) {
        for (name, share, percent) in least {
            assert!(share.percent() >= *percent, "{name}: {share} only");
        }
        assert!(
            self.too_large * 100 < self.executed,
            "the model is too small"
        );
    }

    /// Fail if there are reasons in `all`, other than those in `never`, that no stream was refused for. Streams of a
    /// round resemble each other, so a run of less than a million has few chances of a rare reason: it may miss `rare`.
    ///
    /// # Panics
    /// If so.
    pub fn expect_reasons(&self, all: &[R], never: &[R], rare: usize) {
        let rare = if self.streams() < 1_000_000 { rare } else { 0 };
        let seen = |reason: &&R| self.reasons.contains_key(reason) || never.contains(reason);
        let missing: BTreeSet<R> = all.iter().filter(|reason| !seen(reason)).copied().collect();
        assert!(
            missing.len() <= rare,
            "no stream was refused for {missing:?}"
        );
    }

    /// Fail if a unit was at work in less than one of `n` streams.
    ///
    /// # Panics
    /// If so.
    pub fn expect_units(&self, units: &[&str], n: u64) {
        for unit in units {
            let seen = self.units.get(*unit).copied().unwrap_or(0);
            assert!(
                seen * n > self.streams(),
                "{unit} worked in {seen} streams only"
            );
        }
    }
}

impl<R: fmt::Debug> fmt::Display for Report<R>
where
    R: Copy + Ord,
{
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
        for (name, share) in &self.shares {
            writeln!(f, "  {name} {share}")?;
        }
        for (kind, (count, detail)) in &self.kinds {
            writeln!(f, "  found   {count:10} {}: {detail}", kind.name())?;
        }
        Ok(())
    }
}
