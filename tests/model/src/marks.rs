// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A bounded record of what draws may have touched, as patterns of bytes.
//!
//! A draw is not executed, so what it may have written is kept as patterns ([`Runs`]), the last few hundred of them.

use crate::runs::Runs;

/// How many patterns are remembered; beyond that the oldest is forgotten.
const PATTERNS: usize = 256;

/// Patterns of bytes.
#[derive(Clone, Default)]
pub struct Marks {
    runs: Vec<Runs>,
}

impl Marks {
    /// Remember a pattern.
    pub fn add(&mut self, runs: Runs) {
        let covered = |have: &Runs| {
            *have == runs || have.is_dense() && have.start <= runs.start && runs.end() <= have.end()
        };
        if runs.is_empty() || self.runs.iter().rev().any(covered) {
            return;
        }
        if self.runs.len() >= PATTERNS {
            self.runs.remove(0);
        }
        self.runs.push(runs);
    }

    /// Return whether a range of so many bytes shares one with any of them.
    pub fn touches(&self, start: u64, len: u64) -> bool {
        self.runs
            .iter()
            .any(|r| r.touches(start, start.saturating_add(len)))
    }

    /// Return whether a pattern shares a byte with any of them.
    pub fn meets(&self, runs: &Runs) -> bool {
        self.runs.iter().any(|r| r.meets(runs))
    }

    /// Return the lowest address.
    pub fn first(&self) -> Option<u64> {
        self.runs.iter().map(|r| r.start).min()
    }

    /// Return whether there is none.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Forget those that share a byte with a pattern, and return them.
    pub fn remove_met(&mut self, runs: &Runs) -> Vec<Runs> {
        let (met, still) = self.runs.iter().partition(|f| f.meets(runs));
        self.runs = still;
        met
    }

    /// Forget all.
    pub fn clear(&mut self) {
        self.runs.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_bounded() {
        let mut m = Marks::default();
        for i in 0..1000 {
            m.add(Runs::one(i * 64, 32));
        }
        assert_eq!(m.runs.len(), PATTERNS);
        m.add(Runs::one(999 * 64, 16));
        assert_eq!(m.runs.len(), PATTERNS);
        assert!(m.touches(999 * 64 + 31, 1) && !m.touches(0, 32));
    }
}
