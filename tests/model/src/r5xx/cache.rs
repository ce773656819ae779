// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The book of what engines have drawn and nobody has flushed.
//!
//! The 2D and 3D engines write through destination caches. Until such a cache is flushed, what was drawn is not promised to be seen by
//! any other unit or by the CPU. And what the CPU reads through the VRAM BAR passes a read buffer in the host data path, which keeps old bytes
//! until `HOST_PATH_CNTL` tells it to drop them. The model stores data at once and keeps this book instead, so that
//! whoever looks too early is named, and still sees the data.
//!
//! The book is kept in lines of 64 bytes.

use std::collections::{HashMap, HashSet};

use crate::memory::Unit;

const LINE: u64 = 64;
const PAGE: u64 = 4096;

/// The lines of some pages, as one bit each.
#[derive(Default)]
pub struct Lines {
    pages: HashMap<u64, u64>,
}

impl Lines {
    /// Adds the lines that a range of addresses touches.
    pub fn add(&mut self, address: u64, len: u64) {
        for (page, mask) in pages(address, len) {
            *self.pages.entry(page).or_default() |= mask;
        }
    }

    /// Whether a range touches any of the lines.
    pub fn touches(&self, address: u64, len: u64) -> bool {
        !self.pages.is_empty()
            && pages(address, len)
                .any(|(page, mask)| self.pages.get(&page).is_some_and(|have| have & mask != 0))
    }

    /// Whether there is no line.
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// Removes all.
    pub fn clear(&mut self) {
        self.pages.clear();
    }

    /// One of the addresses, for a message.
    pub fn example(&self) -> Option<u64> {
        let (page, mask) = self.pages.iter().min_by_key(|(page, _)| **page)?;
        Some(page * PAGE + u64::from(mask.trailing_zeros()) * LINE)
    }
}

/// The pages that a range touches, each with a bit for every line.
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

/// What is in whose cache.
#[derive(Default)]
pub struct Caches {
    /// GPU addresses that the 2D engine has drawn.
    engine2d: Lines,
    /// GPU addresses that the 3D engine has drawn.
    engine3d: Lines,
    /// Pages of VRAM that were written behind the back of the host read buffer.
    host: HashSet<u64>,
}

impl Caches {
    /// A unit has written GPU addresses.
    pub fn written(&mut self, unit: Unit, address: u64, len: u64) {
        match unit {
            Unit::Engine2d => self.engine2d.add(address, len),
            Unit::Engine3d => self.engine3d.add(address, len),
            Unit::Host | Unit::Fetch | Unit::Cp | Unit::Dma => {}
        }
    }

    /// A unit other than the CPU has written VRAM offsets.
    pub fn vram_written(&mut self, offset: u64, len: u64) {
        if len > 0 {
            self.host.extend(offset / PAGE..=(offset + len - 1) / PAGE);
        }
    }

    /// Which other unit still holds what `unit` wants to read.
    pub fn holder(&self, unit: Unit, address: u64, len: u64) -> Option<&'static str> {
        if unit != Unit::Engine2d && self.engine2d.touches(address, len) {
            return Some("the 2D destination cache");
        }
        if unit != Unit::Engine3d && self.engine3d.touches(address, len) {
            return Some("the 3D destination cache");
        }
        None
    }

    /// Whether the host's read buffer may hold old bytes of a range of VRAM.
    pub fn host_stale(&self, offset: u64, len: u64) -> bool {
        len > 0
            && !self.host.is_empty()
            && (offset / PAGE..=(offset + len - 1) / PAGE).any(|p| self.host.contains(&p))
    }

    /// The 2D destination cache is flushed.
    pub fn flush_2d(&mut self) {
        self.engine2d.clear();
    }

    /// The 3D destination caches are flushed.
    pub fn flush_3d(&mut self) {
        self.engine3d.clear();
    }

    /// The host's read buffer is dropped.
    pub fn invalidate_host(&mut self) {
        self.host.clear();
    }

    /// Whether the 2D engine holds anything.
    pub fn dirty_2d(&self) -> bool {
        !self.engine2d.is_empty()
    }

    /// Whether the 3D engine holds anything.
    pub fn dirty_3d(&self) -> bool {
        !self.engine3d.is_empty()
    }

    /// A GPU address that some engine still holds.
    pub fn dirty(&self) -> Option<u64> {
        self.engine2d.example().or_else(|| self.engine3d.example())
    }

    /// A VRAM offset whose old bytes the host may still see.
    pub fn host_dirty(&self) -> Option<u64> {
        self.host.iter().min().map(|p| p * PAGE)
    }

    /// Everything is clean: after a reset, and after a finding that has named it.
    pub fn clear(&mut self) {
        self.flush_2d();
        self.flush_3d();
        self.invalidate_host();
    }
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

    #[test]
    fn the_own_cache_is_coherent_with_its_engine() {
        let mut c = Caches::default();
        c.written(Unit::Engine2d, 0x1000, 16);
        assert_eq!(c.holder(Unit::Engine2d, 0x1000, 4), None);
        assert!(c.holder(Unit::Fetch, 0x1000, 4).is_some());
        c.flush_3d();
        assert!(c.dirty_2d());
        c.flush_2d();
        assert_eq!(c.holder(Unit::Fetch, 0x1000, 4), None);
    }

    #[test]
    fn host_pages() {
        let mut c = Caches::default();
        c.vram_written(0x1fff, 2);
        assert!(
            c.host_stale(0x1000, 1)
                && c.host_stale(0x2fff, 1)
                && !c.host_stale(0x3000, 1)
                && !c.host_stale(0, 0)
        );
        assert_eq!(c.host_dirty(), Some(0x1000));
        c.invalidate_host();
        assert_eq!(c.host_dirty(), None);
    }
}
