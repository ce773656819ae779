// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Runs of bytes at equal distances: the pattern in which a unit may touch memory.
//!
//! A surface is usually a single run; a part of one is a run for each row. Everything is kept as such a pattern,
//! however large the surface, so that a draw costs the same whether it covers four pixels or four million.

/// Runs of bytes: `rows` times `len`, `stride` apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Runs {
    /// First address.
    pub start: u64,
    /// Bytes of a run.
    pub len: u64,
    /// From one run to the next.
    pub stride: u64,
    /// How many.
    pub rows: u64,
}

impl Runs {
    /// Return a single run.
    pub fn one(start: u64, len: u64) -> Runs {
        Runs {
            start,
            len,
            stride: len,
            rows: 1,
        }
    }

    /// Return the address behind the last byte; the start if there is none.
    pub fn end(&self) -> u64 {
        if self.is_empty() {
            return self.start;
        }
        self.start + (self.rows - 1) * self.stride + self.len
    }

    /// Return whether there is no byte.
    pub fn is_empty(&self) -> bool {
        self.len == 0 || self.rows == 0
    }

    /// Return whether there is no gap.
    pub fn is_dense(&self) -> bool {
        self.rows <= 1 || self.stride <= self.len
    }

    /// Return the same bytes as few runs as possible.
    pub fn merged(self) -> Runs {
        if self.is_dense() {
            Runs::one(self.start, self.end() - self.start)
        } else {
            self
        }
    }

    /// Return each run's start and end. Dense runs come as one.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> + use<> {
        let r = self.merged();
        (0..r.rows).map(move |i| {
            let start = r.start + i * r.stride;
            (start, start + r.len)
        })
    }

    /// Return whether a range of addresses shares a byte with them.
    pub fn touches(&self, start: u64, end: u64) -> bool {
        if start >= end || self.is_empty() || end <= self.start || start >= self.end() {
            return false;
        }
        let r = self.merged();
        if r.rows == 1 {
            return true;
        }
        // The first run that ends behind `start`: does it begin before `end`?
        let before = start.saturating_sub(r.start);
        let i = if before < r.len {
            0
        } else {
            (before - r.len) / r.stride + 1
        };
        i < r.rows && r.start + i * r.stride < end
    }

    /// Return whether two patterns share a byte.
    pub fn meets(&self, other: &Runs) -> bool {
        let (few, many) = if self.merged().rows <= other.merged().rows {
            (self, other)
        } else {
            (other, self)
        };
        many.touches(few.start, few.end()) && few.iter().any(|(s, e)| many.touches(s, e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn runs(start: u64, len: u64, stride: u64, rows: u64) -> Runs {
        Runs {
            start,
            len,
            stride,
            rows,
        }
    }

    #[test]
    fn gaps_are_not_touched() {
        let r = runs(100, 10, 32, 3);
        assert_eq!(r.end(), 174);
        assert!(r.touches(109, 110) && r.touches(0, 101) && r.touches(173, 1000));
        assert!(!r.touches(110, 132) && !r.touches(142, 164) && !r.touches(174, 200));
        assert!(!r.touches(50, 100) && !r.touches(105, 105));
        assert_eq!(
            r.iter().collect::<Vec<_>>(),
            [(100, 110), (132, 142), (164, 174)]
        );
    }

    #[test]
    fn dense_runs_are_one() {
        assert_eq!(runs(8, 16, 16, 4).merged(), Runs::one(8, 64));
        assert_eq!(runs(8, 16, 0, 4).merged(), Runs::one(8, 16));
        assert!(runs(8, 0, 16, 4).is_empty() && runs(8, 4, 16, 0).is_empty());
    }

    proptest! {
        #[test]
        fn the_shortcuts_agree_with_counting(
            a in (0u64..40, 1u64..12, 0u64..20, 1u64..6),
            b in (0u64..40, 1u64..12, 0u64..20, 1u64..6),
        ) {
            let (a, b) = (runs(a.0, a.1, a.2, a.3), runs(b.0, b.1, b.2, b.3));
            let bytes = |r: &Runs| -> std::collections::BTreeSet<u64> {
                (0..r.rows).flat_map(|i| {
                    let s = r.start + i * r.stride;
                    s..s + r.len
                }).collect()
            };
            let (x, y) = (bytes(&a), bytes(&b));
            prop_assert_eq!(a.meets(&b), !x.is_disjoint(&y));
            prop_assert_eq!(a.end(), x.last().unwrap() + 1);
            prop_assert_eq!(a.touches(b.start, b.end()), x.iter().any(|v| *v >= b.start && *v < b.end()));
        }
    }
}
