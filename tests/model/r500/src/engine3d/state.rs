// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The registers as a raster pipe sees them.
//!
//! Behind the setup unit there are up to four pipes, each with its own copy of the registers of SC, RS, TX, US, FG,
//! ZB and CB. `SU_REG_DEST` says which pipes a write reaches (R5xx 10.7), and on RV530, whose one pipe has two depth
//! units, `FG_ZBREG_DEST` which of these. That serves occlusion counters; but whatever else is written in that time
//! leaves the pipes different from each other, and each draws with what it has.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use lapidary_registers::RegArray;
use lapidary_registers::r500::mmio;

use lapidary_model::registers::Space;

/// First register behind the selection.
const FIRST: u32 = mmio::TX_INVALTAGS;
/// The registers of depth and stencil.
const DEPTH: RangeInclusive<u32> = mmio::ZB_CNTL..=mmio::ZB_STENCILREFMASK_BF;
/// The registers of geometry assembly and setup, which are there once.
const SETUP: RangeInclusive<u32> = mmio::GA_POINT_S0..=mmio::SU_REG_DEST;

/// Which pipes there are, and what they do not share.
pub struct Pipes {
    raster: u32,
    depth: u32,
    select: u32,
    select_depth: u32,
    /// By pipe and register: what this pipe has, where it differs.
    own: BTreeMap<(u32, u32), u32>,
}

impl Pipes {
    /// Return a chip with so many raster pipes and depth units, all selected.
    pub fn new(raster: u32, depth: u32) -> Pipes {
        Pipes {
            raster,
            depth,
            select: u32::MAX,
            select_depth: u32::MAX,
            own: BTreeMap::new(),
        }
    }

    /// Make all pipes equal again.
    pub fn reset(&mut self) {
        *self = Pipes::new(self.raster, self.depth);
    }

    /// Return the number of raster pipes.
    pub fn raster(&self) -> u32 {
        self.raster
    }

    /// Return the number of depth units. There is one in each raster pipe, except on RV530.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    fn split_depth(&self) -> bool {
        self.depth != self.raster
    }

    /// Return how many different views there may be.
    fn count(&self) -> u32 {
        self.raster.max(self.depth)
    }

    /// Return which of them a write to a register reaches.
    fn reached(&self, offset: u32) -> u32 {
        let all = (1 << self.count()) - 1;
        if !self.split_depth() {
            self.select & all
        } else if self.select & 1 == 0 {
            0
        } else if DEPTH.contains(&offset) {
            self.select_depth & all
        } else {
            all
        }
    }

    /// Return whether a write to a register reaches every pipe and every depth unit.
    pub fn reaches_all(&self, offset: u32) -> bool {
        self.reached(offset) == (1 << self.count()) - 1
    }

    /// Act on a write to a register. `old` is what all pipes had before, unless they had their own.
    pub fn written(&mut self, offset: u32, old: u32, value: u32) {
        match offset {
            mmio::SU_REG_DEST => self.select = mmio::su_reg_dest::SELECT.get(value),
            mmio::FG_ZBREG_DEST => self.select_depth = mmio::fg_zbreg_dest::PIPES.get(value),
            mmio::GB_PIPE_SELECT2 => {}
            _ if offset < FIRST || SETUP.contains(&offset) => {}
            _ => {
                let reached = self.reached(offset);
                if self.own.is_empty() && reached == (1 << self.count()) - 1 {
                    return;
                }
                for pipe in 0..self.count() {
                    if reached & (1 << pipe) != 0 {
                        self.own.remove(&(pipe, offset));
                    } else {
                        self.own.entry((pipe, offset)).or_insert(old);
                    }
                }
                // Back in step: every own value equals the common one, or is gone.
                self.own.retain(|(_, o), v| *o != offset || *v != value);
            }
        }
    }

    /// Return whether a write reaches all pipes and all depth units.
    pub fn all_selected(&self) -> bool {
        let all = |count: u32| (1 << count) - 1;
        let depth = !self.split_depth() || self.select_depth & all(self.depth) == all(self.depth);
        depth && self.select & all(self.raster) == all(self.raster)
    }

    /// Return the depth units that a write to a register of theirs reaches now, one bit each.
    pub fn depth_selected(&self) -> u32 {
        self.reached(*DEPTH.start())
    }

    /// Return the views that differ: usually one.
    pub fn views(&self) -> impl Iterator<Item = u32> {
        let n = if self.own.is_empty() { 1 } else { self.count() };
        0..n
    }
}

/// The state of one pipe.
#[derive(Clone, Copy)]
pub struct State<'a> {
    regs: &'a Space,
    pipes: &'a Pipes,
    pipe: u32,
}

impl<'a> State<'a> {
    /// Return what that pipe sees.
    pub fn new(regs: &'a Space, pipes: &'a Pipes, pipe: u32) -> State<'a> {
        State { regs, pipes, pipe }
    }

    /// Return a register's value.
    pub fn get(&self, offset: u32) -> u32 {
        if !self.pipes.own.is_empty() {
            if let Some(v) = self.pipes.own.get(&(self.pipe, offset)) {
                return *v;
            }
        }
        self.regs.get(offset)
    }

    /// Return the value of an element of an array; 0 beyond its end.
    pub fn at(&self, array: RegArray, i: u32) -> u32 {
        array.at(i).map_or(0, |offset| self.get(offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lapidary_registers::Domain;

    fn values(regs: &Space, pipes: &Pipes, offset: u32) -> Vec<u32> {
        (0..pipes.count())
            .map(|p| State::new(regs, pipes, p).get(offset))
            .collect()
    }

    fn write(regs: &mut Space, pipes: &mut Pipes, offset: u32, value: u32) {
        let old = regs.get(offset);
        regs.set(offset, value);
        pipes.written(offset, old, value);
    }

    #[test]
    fn pipes_that_a_write_does_not_reach_keep_their_value() {
        let mut regs = Space::new(
            &crate::regs::REGISTERS,
            "register",
            Domain::MMIO,
            "r580",
            4,
            0x4000,
        );
        let mut p = Pipes::new(4, 4);
        write(&mut regs, &mut p, mmio::SC_SCISSOR1, 1);
        write(&mut regs, &mut p, mmio::SU_REG_DEST, 2);
        write(&mut regs, &mut p, mmio::SC_SCISSOR1, 2);
        assert_eq!(values(&regs, &p, mmio::SC_SCISSOR1), [1, 2, 1, 1]);
        assert_eq!(p.views().count(), 4);
        // The vertex unit lies before the pipes.
        write(&mut regs, &mut p, mmio::VAP_VTX_SIZE, 5);
        assert_eq!(values(&regs, &p, mmio::VAP_VTX_SIZE), [5; 4]);
        write(&mut regs, &mut p, mmio::SU_REG_DEST, 15);
        write(&mut regs, &mut p, mmio::SC_SCISSOR1, 3);
        assert_eq!(values(&regs, &p, mmio::SC_SCISSOR1), [3; 4]);
        assert_eq!(p.views().count(), 1);
    }

    #[test]
    fn one_pipe_with_two_depth_units() {
        let mut regs = Space::new(
            &crate::regs::REGISTERS,
            "register",
            Domain::MMIO,
            "rv530",
            4,
            0x4000,
        );
        let mut p = Pipes::new(1, 2);
        write(&mut regs, &mut p, mmio::FG_ZBREG_DEST, 2);
        write(&mut regs, &mut p, mmio::ZB_DEPTHOFFSET, 0x100);
        write(&mut regs, &mut p, mmio::SC_SCISSOR1, 7);
        assert_eq!(values(&regs, &p, mmio::ZB_DEPTHOFFSET), [0, 0x100]);
        assert_eq!(values(&regs, &p, mmio::SC_SCISSOR1), [7, 7]);
        assert_eq!(p.depth_selected(), 2);
        write(&mut regs, &mut p, mmio::SU_REG_DEST, 0);
        assert_eq!(p.depth_selected(), 0);
    }
}
