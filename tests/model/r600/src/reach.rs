// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The memory side of draws: what their footprints lead to.
//!
//! A footprint may be as large as memory and comes again with every draw. So what leads to memory is remembered until a
//! translation may have changed, and of a large one behind VM context 0 only some pages are looked at.

use lapidary_model::machine::{Machine, SPACE};
use lapidary_model::runs::Runs;

use crate::engine3d::area::Area;
use crate::kind;
use crate::mc::{Bus, Miss, Target};
use crate::touched::By;
use crate::vm::PAGE;

/// How many pages of an area are looked at. In a larger one they lie at equal distances, the last page among them.
const PAGES: u64 = 4096;

impl Bus {
    /// Judge what a unit of the 3D engine may touch in a draw, as if it did. What is left over from another buffer belongs to
    /// the footprint. That it leads nowhere is no finding, because no program need use it: it is counted. For the same reason
    /// the driver need not have invalidated what the TLB has of it.
    pub fn touch(&mut self, m: &mut Machine, area: &Area, stated: bool) {
        let (start, end) = (area.runs.start, area.runs.end());
        if self.journal.on() {
            let who = self.who(By::Client(area.client));
            for (does, write) in [(area.read, false), (area.write, true)] {
                if does {
                    self.journal.add(&m.objects, who, write, start, end);
                }
            }
        }
        if !m.in_object(SPACE, start, end - start) {
            m.finding(kind::OUTSIDE_OBJECTS, format_args!("{area}"));
        }
        let mut stale = None;
        let miss = self.unreachable(m, area, &mut stale);
        if !stated {
            m.counters
                .add("left_over_without_memory", u64::from(miss.is_some()));
        } else {
            for (kind, text) in stale.into_iter().chain(miss) {
                m.finding(kind, format_args!("{area}: {text}"));
            }
        }
        if !area.write {
            return;
        }
        for s in self.scanouts.into_iter().flatten() {
            if area.runs.touches(s.start, s.start + s.len) {
                m.finding(kind::SCANOUT_OVERWRITTEN, format_args!("{area}"));
            }
        }
        let (first, last) = self.frame_buffer();
        if start >= first && start <= last {
            self.read_ahead.drawn(Runs {
                start: start - first,
                ..area.runs
            });
        }
    }

    /// Return the first reason why not all of an area can be reached, and in `stale` an old entry of the TLB for it.
    fn unreachable(&mut self, m: &Machine, area: &Area, stale: &mut Option<Miss>) -> Option<Miss> {
        let key = (area.runs.start, area.runs.end(), area.write);
        if self.tlb.reached(key) {
            return None;
        }
        let miss = self.walk(m, area, stale);
        if miss.is_none() && stale.is_none() {
            self.tlb.remember(key);
        }
        miss
    }

    fn walk(&mut self, m: &Machine, area: &Area, stale: &mut Option<Miss>) -> Option<Miss> {
        let (start, end) = (area.runs.start, area.runs.end());
        let (first, last) = self.frame_buffer();
        if self.is_vram(start, end - 1) {
            // It is all there or not, apart from a memory controller that is closed.
            return self.look(m, start, area, stale).or_else(|| {
                (end - first > m.vram.len()).then(|| {
                    let text = format!("{:#012x} is beyond the end of VRAM", end - 1);
                    (kind::ADDRESS_UNMAPPED, text)
                })
            });
        }
        debug_assert!(first <= last);
        let (page, pages) = (start / PAGE, (end - 1) / PAGE - start / PAGE + 1);
        let step = pages.div_ceil(PAGES);
        let looks = (0..pages).step_by(step as usize).chain([pages - 1]);
        for n in looks {
            let miss = self.look(m, start.max((page + n) * PAGE), area, stale);
            if miss.is_some() {
                return miss;
            }
        }
        None
    }

    /// Return why an address cannot be reached.
    fn look(
        &mut self,
        m: &Machine,
        at: u64,
        area: &Area,
        stale: &mut Option<Miss>,
    ) -> Option<Miss> {
        for (does, write) in [(area.read, false), (area.write, true)] {
            if !does {
                continue;
            }
            match self.look_up(m, at, write, stale) {
                Ok(Target::Vram(offset)) if offset >= m.vram.len() => {
                    let text = format!("{at:#012x} is VRAM {offset:#x}, beyond its end");
                    return Some((kind::ADDRESS_UNMAPPED, text));
                }
                Ok(Target::Vram(_)) => {}
                Ok(Target::Ram(bus)) if !m.functions[0].pci.bus_master() => {
                    return Some((kind::BUS_MASTER_OFF, format!("{bus:#x}")));
                }
                Ok(Target::Ram(bus)) => {
                    if !m.functions[0].ram.read(bus, &mut [0]) {
                        let text = format!("{at:#012x} leads to bus address {bus:#x}, to nothing");
                        return Some((kind::DMA_FAULT, text));
                    }
                }
                Err(miss) => return Some(miss),
            }
        }
        None
    }
}
