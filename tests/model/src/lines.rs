// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A set of cache lines of 64 bytes, by address.

use std::collections::HashMap;

const LINE: u64 = 64;
const PAGE: u64 = 4096;

/// The lines of some pages, as one bit each.
#[derive(Default)]
pub struct Lines {
    pages: HashMap<u64, u64>,
}

impl Lines {
    /// Add the lines that a range of addresses touches.
    pub fn add(&mut self, address: u64, len: u64) {
        for (page, mask) in pages(address, len) {
            *self.pages.entry(page).or_default() |= mask;
        }
    }

    /// Return whether a range touches any of the lines.
    pub fn touches(&self, address: u64, len: u64) -> bool {
        !self.pages.is_empty()
            && pages(address, len)
                .any(|(page, mask)| self.pages.get(&page).is_some_and(|have| have & mask != 0))
    }

    /// Return whether there is no line.
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// Remove all.
    pub fn clear(&mut self) {
        self.pages.clear();
    }

    /// Return one of the addresses, for a message.
    pub fn example(&self) -> Option<u64> {
        let (page, mask) = self.pages.iter().min_by_key(|(page, _)| **page)?;
        Some(page * PAGE + u64::from(mask.trailing_zeros()) * LINE)
    }
}

/// Return the pages that a range touches, each with a bit for every line.
fn pages(address: u64, len: u64) -> impl Iterator<Item = (u64, u64)> {
    let end = address.saturating_add(len);
    let first = address / PAGE;
    let last = if len == 0 {
        first
    } else {
        (end - 1) / PAGE + 1
    };
    (first..last).map(move |page| {
        let start = page * PAGE;
        let from = address.max(start) - start;
        let to = (end - start).min(PAGE);
        let (low, high) = (from / LINE, (to - 1) / LINE);
        (page, (u64::MAX >> (63 - (high - low))) << low)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_sixty_four_bytes() {
        let mut l = Lines::default();
        l.add(4096 - 64, 65);
        assert!(l.touches(4096 - 1, 1) && l.touches(4096, 1) && l.touches(4096 + 63, 1));
        assert!(!l.touches(4096 + 64, 4096) && !l.touches(0, 4096 - 64) && !l.touches(4096, 0));
        assert_eq!(l.example(), Some(4096 - 64));
    }

    #[test]
    fn whole_pages_have_all_lines() {
        assert_eq!(pages(4096, 4096).collect::<Vec<_>>(), vec![(1, u64::MAX)]);
        assert_eq!(pages(u64::MAX - 10, 100).count(), 1);
    }
}
