// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The record of what engines have drawn and what has not been flushed yet.
//!
//! The 2D and 3D engines write through destination caches. Until such a cache is flushed, what was drawn is not
//! promised to be seen by any other unit or by the CPU. And what the CPU reads through the VRAM BAR passes a read
//! buffer in the host data path, which keeps old bytes until `HOST_PATH_CNTL` tells it to drop them. The model stores
//! data at once and keeps this record instead, so that a unit that reads too early is named, and still sees the data.
//!
//! Textures are read through a cache of their own, which nothing but `TX_INVALTAGS` empties: what was fetched before
//! its memory changed may be served again from there.
//!
//! The caches of the 3D engine also have a say in what registers may be written: while they hold a line, dirty or not,
//! the registers that decide where it goes must not change. A flush leaves lines where they are, a free drops them.
//!
//! What the 2D engine draws is kept in lines of 64 bytes. A draw of the 3D engine is not executed: what it may have
//! written is kept as patterns (see [`Runs`]), the last few hundred of them.

use std::collections::HashSet;

use super::engine3d::area::Client;
use crate::unit::Unit;
use lapidary_model::lines::Lines;
use lapidary_model::marks::Marks;
use lapidary_model::runs::Runs;

const PAGE: u64 = 4096;

/// What is in whose cache.
#[derive(Default)]
pub struct Caches {
    /// GPU addresses that the 2D engine has drawn.
    engine2d: Lines,
    /// GPU addresses in the colour cache of the 3D engine.
    color: Marks,
    /// GPU addresses in the depth cache.
    depth: Marks,
    /// Whether the colour cache has any line, dirty or not.
    holds_color: bool,
    /// The same of the depth cache.
    holds_depth: bool,
    /// What textures were fetched since their cache was emptied.
    fetched: Marks,
    /// What of that has changed since.
    outdated: Marks,
    /// Pages of VRAM that were written behind the back of the host read buffer.
    host: HashSet<u64>,
    /// VRAM offsets that draws have written behind its back.
    host_draws: Marks,
}

impl Caches {
    /// Record that a unit has written GPU addresses.
    pub fn written(&mut self, unit: Unit, address: u64, len: u64) {
        match unit {
            Unit::Engine2d => self.engine2d.add(address, len),
            Unit::Engine3d => self.color.add(Runs::one(address, len)),
            Unit::Host | Unit::Fetch | Unit::Cp | Unit::Dma | Unit::Index | Unit::ZPass => {}
        }
        if !self.fetched.is_empty() {
            self.outdate(&Runs::one(address, len));
        }
    }

    /// Record that a draw has read or written pixels of a target.
    pub fn filled(&mut self, client: Client) {
        match client {
            Client::Color(_) | Client::Resolve => self.holds_color = true,
            Client::Depth => self.holds_depth = true,
            Client::Vertex(_) | Client::Texture(_) => {}
        }
    }

    /// Free the lines of the colour cache.
    pub fn free_color(&mut self) {
        self.holds_color = false;
    }

    /// Free the lines of the depth cache.
    pub fn free_depth(&mut self) {
        self.holds_depth = false;
    }

    /// Return whether the colour cache holds lines.
    pub fn holds_color(&self) -> bool {
        self.holds_color
    }

    /// Return whether the depth cache holds lines.
    pub fn holds_depth(&self) -> bool {
        self.holds_depth
    }

    /// Record that a draw may have written a pattern of GPU addresses.
    pub fn drawn(&mut self, client: Client, runs: Runs) {
        match client {
            Client::Depth => self.depth.add(runs),
            _ => self.color.add(runs),
        }
        self.outdate(&runs);
    }

    /// Record that a draw may have written a pattern of VRAM offsets.
    pub fn vram_drawn(&mut self, runs: Runs) {
        self.host_draws.add(runs);
    }

    fn outdate(&mut self, runs: &Runs) {
        for changed in self.fetched.remove_met(runs) {
            self.outdated.add(changed);
        }
    }

    /// Return whether a texture that is fetched may come from its cache as it was before its memory changed.
    pub fn texture_outdated(&self, runs: &Runs) -> bool {
        self.outdated.meets(runs)
    }

    /// Record that a texture was fetched.
    pub fn texture_fetched(&mut self, runs: Runs) {
        self.fetched.add(runs);
    }

    /// Empty the texture cache.
    pub fn invalidate_textures(&mut self) {
        self.fetched = Marks::default();
        self.outdated = Marks::default();
    }

    /// Record that a unit other than the CPU has written VRAM offsets.
    pub fn vram_written(&mut self, offset: u64, len: u64) {
        if len > 0 {
            self.host.extend(offset / PAGE..=(offset + len - 1) / PAGE);
        }
    }

    /// Return which other unit still holds what `unit` wants to read.
    pub fn holder(&self, unit: Unit, address: u64, len: u64) -> Option<&'static str> {
        if unit != Unit::Engine2d && self.engine2d.touches(address, len) {
            return Some("the 2D destination cache");
        }
        if unit != Unit::Engine3d && self.color.touches(address, len) {
            return Some("the colour cache");
        }
        if unit != Unit::Engine3d && self.depth.touches(address, len) {
            return Some("the depth cache");
        }
        None
    }

    /// Return which other unit still holds what a unit of the 3D engine wants to read. Colour and depth share pixels
    /// only where a program means to, and then by halves: that is not looked at.
    pub fn holder_of(&self, client: Client, runs: &Runs) -> Option<&'static str> {
        if !self.engine2d.is_empty() && runs.iter().any(|(s, e)| self.engine2d.touches(s, e - s)) {
            return Some("the 2D destination cache");
        }
        match client {
            Client::Vertex(_) | Client::Texture(_) if self.color.meets(runs) => {
                Some("the colour cache")
            }
            Client::Vertex(_) | Client::Texture(_) if self.depth.meets(runs) => {
                Some("the depth cache")
            }
            _ => None,
        }
    }

    /// Return whether the host's read buffer may hold old bytes of a range of VRAM.
    pub fn host_stale(&self, offset: u64, len: u64) -> bool {
        len > 0
            && (self.host_draws.touches(offset, len)
                || !self.host.is_empty()
                    && (offset / PAGE..=(offset + len - 1) / PAGE).any(|p| self.host.contains(&p)))
    }

    /// Flush the 2D destination cache.
    pub fn flush_2d(&mut self) {
        self.engine2d.clear();
    }

    /// Flush the colour cache.
    pub fn flush_color(&mut self) {
        self.color = Marks::default();
    }

    /// Flush the depth cache.
    pub fn flush_depth(&mut self) {
        self.depth = Marks::default();
    }

    /// Drop the host's read buffer.
    pub fn invalidate_host(&mut self) {
        self.host.clear();
        self.host_draws = Marks::default();
    }

    /// Return whether the 2D engine holds anything.
    pub fn dirty_2d(&self) -> bool {
        !self.engine2d.is_empty()
    }

    /// Return whether the 3D engine holds anything.
    pub fn dirty_3d(&self) -> bool {
        !self.color.is_empty() || !self.depth.is_empty()
    }

    /// Return a GPU address that some engine still holds.
    pub fn dirty(&self) -> Option<u64> {
        let drawn = || self.color.first().or_else(|| self.depth.first());
        self.engine2d.example().or_else(drawn)
    }

    /// Return a VRAM offset whose old bytes the host may still see.
    pub fn host_dirty(&self) -> Option<u64> {
        let page = self.host.iter().min().map(|p| p * PAGE);
        page.or_else(|| self.host_draws.first())
    }

    /// Make everything clean, after a reset or after a finding that has named it.
    pub fn clear(&mut self) {
        self.flush_2d();
        self.flush_color();
        self.flush_depth();
        self.free_color();
        self.free_depth();
        self.invalidate_host();
        self.invalidate_textures();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_cache_is_coherent_with_its_engine() {
        let mut c = Caches::default();
        c.written(Unit::Engine2d, 0x1000, 16);
        assert_eq!(c.holder(Unit::Engine2d, 0x1000, 4), None);
        assert!(c.holder(Unit::Fetch, 0x1000, 4).is_some());
        c.flush_color();
        c.flush_depth();
        assert!(c.dirty_2d());
        c.flush_2d();
        assert_eq!(c.holder(Unit::Fetch, 0x1000, 4), None);
    }

    #[test]
    fn draws_leave_colour_and_depth() {
        let mut c = Caches::default();
        let rows = Runs {
            start: 0x1000,
            len: 64,
            stride: 256,
            rows: 4,
        };
        c.drawn(Client::Color(0), rows);
        c.drawn(Client::Depth, Runs::one(0x8000, 64));
        assert!(c.dirty_3d() && c.dirty() == Some(0x1000));
        assert!(c.holder(Unit::Index, 0x1100, 4).is_some());
        assert!(
            c.holder(Unit::Index, 0x1040, 4).is_none(),
            "between the rows"
        );
        let all = Runs::one(0, 0x10000);
        assert_eq!(
            c.holder_of(Client::Texture(0), &all),
            Some("the colour cache")
        );
        assert_eq!(c.holder_of(Client::Depth, &all), None);
        c.flush_color();
        assert_eq!(
            c.holder_of(Client::Vertex(3), &all),
            Some("the depth cache")
        );
        c.flush_depth();
        assert!(!c.dirty_3d());
    }

    #[test]
    fn a_flush_keeps_lines_that_a_free_drops() {
        let mut c = Caches::default();
        c.filled(Client::Vertex(0));
        c.filled(Client::Texture(0));
        assert!(!c.holds_color() && !c.holds_depth());
        c.filled(Client::Resolve);
        c.flush_color();
        assert!(c.holds_color() && !c.holds_depth());
        c.free_color();
        c.filled(Client::Depth);
        assert!(!c.holds_color() && c.holds_depth());
        c.free_depth();
        assert!(!c.holds_depth());
    }

    #[test]
    fn textures_go_out_of_date() {
        let mut c = Caches::default();
        c.texture_fetched(Runs::one(0x1000, 0x100));
        c.texture_fetched(Runs::one(0x2000, 0x100));
        c.written(Unit::Engine2d, 0x10f0, 4);
        assert!(c.texture_outdated(&Runs::one(0x1000, 4)));
        assert!(!c.texture_outdated(&Runs::one(0x2000, 0x100)));
        c.drawn(Client::Color(0), Runs::one(0x2000, 4));
        assert!(c.texture_outdated(&Runs::one(0x2000, 0x100)));
        c.invalidate_textures();
        assert!(!c.texture_outdated(&Runs::one(0, 0x10000)));
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
