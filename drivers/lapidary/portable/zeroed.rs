// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Which pages of video memory are free, and which of these are known to be zero.
//!
//! A page is taken, stale or zero. A stale page holds the data of its last owner. A page becomes zero in one way
//! only: its owner gives it back and states that it is zero since a [`Zeroed::life`] that has not ended. When video
//! memory may have lost its content, the life ends ([`Zeroed::forget`]), and all zero pages become stale.
//!
//! Addresses, sizes and alignments are in bytes and whole pages. Time grows with the number of pages, 64 at a time.

use core::ops::{
    DerefMut,
    Range, //
};

use super::placement::PAGE;

/// Pages in a word.
const BITS: usize = 64;

/// Return how many words one set of pages takes for `bytes` of video memory.
pub const fn words(bytes: u64) -> usize {
    bytes.div_ceil(PAGE * BITS as u64) as usize
}

/// Return the first of the pages `from..to` that is in the set (or that is not, if `inside` is false); `to` if there
/// is none.
fn next(set: &[u64], from: usize, to: usize, inside: bool) -> usize {
    let mut at = from;
    while at < to {
        let Some(&word) = set.get(at / BITS) else {
            return to;
        };
        let word = if inside { word } else { !word };
        let bit = at % BITS;
        let rest = word >> bit;
        if rest != 0 {
            return at.saturating_add(rest.trailing_zeros() as usize).min(to);
        }
        at = at.saturating_sub(bit).saturating_add(BITS);
    }
    to
}

/// Add the pages to the set, or remove them from it. Return by how many pages the set has changed.
fn put(set: &mut [u64], pages: &Range<usize>, inside: bool) -> u64 {
    let mut changed = 0u64;
    let mut at = pages.start;
    while at < pages.end {
        let bit = at % BITS;
        let word = at.saturating_sub(bit);
        let end = pages.end.saturating_sub(word).min(BITS);
        let below = |bits: usize| {
            1u64.checked_shl(bits as u32)
                .map_or(u64::MAX, |top| top.wrapping_sub(1))
        };
        let mask = below(end) & !below(bit);
        if let Some(word) = set.get_mut(at / BITS) {
            let old = *word;
            *word = if inside { old | mask } else { old & !mask };
            changed = changed.saturating_add(u64::from((old ^ *word).count_ones()));
        }
        at = word.saturating_add(BITS);
    }
    changed
}

/// The pages of video memory. Two sets of pages lie in memory of the caller.
pub struct Zeroed<S> {
    start: u64,
    count: usize,
    /// Free and zero; free and not known to be zero.
    zero: S,
    stale: S,
    /// How many pages are zero.
    zeros: u64,
    /// No page below this one is zero.
    low: usize,
    life: u64,
}

impl<S: DerefMut<Target = [u64]>> Zeroed<S> {
    /// Make all pages of the `bytes` from `start` on free and stale. Both sets have [`words`]. Their initial content
    /// does not matter.
    pub fn new(start: u64, bytes: u64, mut zero: S, mut stale: S) -> Self {
        let count = (bytes / PAGE) as usize;
        zero.fill(0);
        stale.fill(0);
        put(&mut stale, &(0..count), true);
        Self {
            start,
            count,
            zero,
            stale,
            zeros: 0,
            low: count,
            life: 1,
        }
    }

    /// Return the indices of the pages in a range of addresses, limited to existing pages.
    fn pages(&self, range: &Range<u64>) -> Range<usize> {
        let index = |addr: u64| {
            let page = addr.saturating_sub(self.start) / PAGE;
            usize::try_from(page).unwrap_or(usize::MAX).min(self.count)
        };
        index(range.start)..index(range.end)
    }

    fn address(&self, page: usize) -> u64 {
        self.start
            .saturating_add((page as u64).saturating_mul(PAGE))
    }

    /// Return the present life of video memory. All zero pages became zero in it. Never 0.
    pub fn life(&self) -> u64 {
        self.life
    }

    /// Return how many bytes are free and zero.
    pub fn zeros(&self) -> u64 {
        self.zeros.saturating_mul(PAGE)
    }

    /// Take the pages, whatever their state. They have an owner from now on.
    pub fn take(&mut self, range: &Range<u64>) {
        let pages = self.pages(range);
        self.zeros = self
            .zeros
            .saturating_sub(put(&mut self.zero, &pages, false));
        put(&mut self.stale, &pages, false);
    }

    /// Give back pages that were taken. They are zero since the life in `zero`, or stale.
    pub fn give(&mut self, range: &Range<u64>, zero: Option<u64>) {
        let pages = self.pages(range);
        if zero == Some(self.life) {
            self.zeros = self.zeros.saturating_add(put(&mut self.zero, &pages, true));
            self.low = self.low.min(pages.start);
        } else {
            put(&mut self.stale, &pages, true);
        }
    }

    /// Return the lowest address in `span` at a multiple of `align` from which on `size` bytes are free and zero.
    pub fn find(&mut self, size: u64, align: u64, span: &Range<u64>) -> Option<u64> {
        let span = self.pages(span);
        let count = usize::try_from(size / PAGE)
            .ok()
            .filter(|&count| count != 0)?;
        if span.start <= self.low {
            self.low = next(&self.zero, self.low, self.count, true);
        }
        let mut from = span.start.max(self.low);
        loop {
            let first = next(&self.zero, from, span.end, true);
            if first >= span.end {
                return None;
            }
            let addr = self
                .address(first)
                .checked_next_multiple_of(align.max(PAGE))?;
            let start = usize::try_from(addr.checked_sub(self.start)? / PAGE).ok()?;
            let end = start.checked_add(count).filter(|&end| end <= span.end)?;
            from = next(&self.zero, start, end, false);
            if from == end {
                return Some(addr);
            }
        }
    }

    /// Return the first stale pages in `span` that are adjacent, at most `most` bytes of them.
    pub fn stale(&self, span: &Range<u64>, most: u64) -> Option<Range<u64>> {
        let span = self.pages(span);
        let most = usize::try_from(most / PAGE).unwrap_or(usize::MAX);
        let first = next(&self.stale, span.start, span.end, true);
        let end = first.saturating_add(most).min(span.end);
        let end = next(&self.stale, first, end, false);
        (first < end).then(|| self.address(first)..self.address(end))
    }

    /// Begin a new life, in which no page is zero: video memory may hold anything.
    pub fn forget(&mut self) {
        self.life = self.life.saturating_add(1);
        for (zero, stale) in self.zero.iter_mut().zip(self.stale.iter_mut()) {
            *stale |= *zero;
            *zero = 0;
        }
        self.zeros = 0;
        self.low = self.count;
    }
}
