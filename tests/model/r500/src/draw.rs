// SPDX-License-Identifier: GPL-2.0 OR MIT

//! How draws reach the 3D engine: packets, the registers that start and feed it, and the counter of visible pixels.
//!
//! All draw packets amount to a write of `VAP_VF_CNTL` followed by data for a port; what the packet does not carry
//! may come by an `INDX_BUFFER` packet or by writes of the port itself (R5xx 5.2.3, 6.4.1).

use lapidary_registers::r500::mmio;

use super::R5xx;
use super::engine3d::{Fed, onchip, targets};
use crate::kind;
use crate::unit::Unit;
use lapidary_model::machine::Machine;

impl R5xx {
    /// Draw by a packet: `vf_cntl` goes to `VAP_VF_CNTL`, and `data` are the dwords after it.
    pub(super) fn draw(&mut self, m: &mut Machine, vf_cntl: u32, data: &[u32]) {
        self.regs.set(mmio::VAP_VF_CNTL, vf_cntl);
        self.begin_draw(m, vf_cntl);
        if !data.is_empty() {
            self.feed_draw(m, data);
        }
    }

    fn begin_draw(&mut self, m: &mut Machine, vf_cntl: u32) {
        self.judge_unfinished(m);
        if !self.engine3d.pipes.all_selected() {
            m.finding(
                kind::PIPES_NOT_SELECTED,
                format_args!(
                    "SU_REG_DEST {:#x}, FG_ZBREG_DEST {:#x}",
                    self.regs.get(mmio::SU_REG_DEST),
                    self.regs.get(mmio::FG_ZBREG_DEST)
                ),
            );
        }
        let what = self.engine3d.trigger(&self.regs, vf_cntl);
        m.counters.add("draws_not_executed", 1);
        if m.trace.on() {
            let what = what.as_deref().unwrap_or("nothing");
            m.trace.line(format_args!("draw, not executed: {what}"));
        }
        self.judge_areas(m);
    }

    /// Judge a draw that waits for data and holds up everything behind it. Here it is given up.
    pub(super) fn judge_unfinished(&mut self, m: &mut Machine) {
        if let Some(n) = self.engine3d.missing() {
            m.finding(
                kind::DRAW_DATA_MISSING,
                format_args!("a draw still waits for {n} dwords"),
            );
            self.engine3d.abandon();
        }
    }

    /// Feed the draw that has begun with data.
    pub(super) fn feed_draw(&mut self, m: &mut Machine, words: &[u32]) {
        match self.engine3d.feed(&self.regs, words) {
            Fed::More => {}
            Fed::Complete => self.judge_areas(m),
            Fed::Unwanted => {
                self.judge_areas(m);
                m.finding(
                    kind::DRAW_DATA_UNEXPECTED,
                    format_args!("{} dwords, more than a draw waits for", words.len()),
                );
            }
        }
    }

    /// Let the memory side judge what the engine has found out.
    fn judge_areas(&mut self, m: &mut Machine) {
        let areas = self.engine3d.take_areas();
        if m.trace.on() {
            for area in &areas {
                m.trace.line(format_args!("  {area}"));
            }
        }
        self.bus.touch(m, &areas);
        self.engine3d.give_back(areas);
    }

    /// Write a register of the 3D pipe.
    pub(super) fn write_pipe(&mut self, m: &mut Machine, offset: u32, value: u32) {
        let old = self.regs.get(offset);
        self.regs.set(offset, value);
        if offset == mmio::VAP_VF_CNTL {
            self.begin_draw(m, value);
            return;
        }
        if is_port(offset) {
            self.feed_draw(m, &[value]);
            return;
        }
        self.judge_full_cache(m, offset, old, value);
        self.engine3d.written(offset, old, value);
        match offset {
            mmio::GA_IDLE => self.latch_idle(),
            mmio::GA_SOFT_RESET => self.raster_reset(m, value),
            mmio::ZB_ZPASS_ADDR => self.write_passed(m, value),
            mmio::TX_INVALTAGS => self.bus.caches.invalidate_textures(),
            mmio::ZB_ZCACHE_CTLSTAT => {
                use mmio::zb_zcache_ctlstat::{ZC_FLUSH, ZC_FREE};
                if ZC_FLUSH.any(value) {
                    self.bus.caches.flush_depth();
                }
                if ZC_FREE.any(value) && self.engine3d.pipes.reaches_all(offset) {
                    self.bus.caches.free_depth();
                }
            }
            mmio::RB3D_DSTCACHE_CTLSTAT => {
                use mmio::rb3d_dstcache_ctlstat::{
                    DC_FINISH, DC_FLUSH, DC_FREE, dc_flush, dc_free,
                };
                if DC_FLUSH.get(value) >= dc_flush::FLUSH {
                    self.bus.caches.flush_color();
                }
                if DC_FREE.get(value) >= dc_free::FREE && self.engine3d.pipes.reaches_all(offset) {
                    self.bus.caches.free_color();
                }
                if DC_FINISH.any(value) {
                    self.resync(m);
                }
            }
            _ => {}
        }
    }

    /// Judge a change of a register that decides where the lines of a cache go while there are some.
    fn judge_full_cache(&self, m: &mut Machine, offset: u32, old: u32, value: u32) {
        let changed = old ^ value;
        let of_color = self.bus.caches.holds_color()
            && targets::bound_to_color_cache(&self.regs, offset) & changed != 0;
        let of_depth =
            self.bus.caches.holds_depth() && targets::bound_to_depth_cache(offset) & changed != 0;
        if of_color || of_depth {
            let cache = if of_color { "colour" } else { "depth" };
            let name = self.regs.register(offset).map_or("", |r| r.name);
            m.finding(
                kind::CACHE_NOT_EMPTY,
                format_args!("{name} = {value:#010x} with lines in the {cache} cache"),
            );
        }
    }

    /// Let every selected depth unit write its counter, all to the same address.
    fn write_passed(&mut self, m: &mut Machine, address: u32) {
        let address = address & mmio::zb_zpass_addr::ZPASS_ADDR.mask();
        let units = self.engine3d.depth_selected();
        for unit in (0..32).filter(|u| (units >> u) & 1 != 0) {
            let count = self.engine3d.passed(&self.regs, unit);
            m.trace.line(format_args!(
                "depth unit {unit} writes its counter, {count}, to {address:#010x}"
            ));
            self.bus.write32(m, Unit::ZPass, address, count);
        }
    }

    /// Fill a memory on the chip by a packet, whose body is start, count and value.
    pub(super) fn clear_on_chip(&mut self, m: &mut Machine, opcode: u8, body: &[u32]) {
        use lapidary_registers::r500::pm4::_3d_clear_hiz::count::COUNT;
        m.counters.add("clears_on_chip", 1);
        let Some((what, size)) = onchip::capacity(opcode, self.variant.name, &self.engine3d.pipes)
        else {
            return;
        };
        let (start, count) = (body[0], COUNT.get(body[1]));
        let value = body[2];
        m.trace.line(format_args!(
            "clear: {count} of {size} dwords of {what} from {start} become {value:#010x}"
        ));
        self.on_chip.fill(opcode, start, count, value);
        if body[1] != COUNT.of(count) {
            m.finding(
                kind::RESERVED_VALUE,
                format_args!("count {:#010x}", body[1]),
            );
        }
        if u64::from(start) + u64::from(count) > u64::from(size) {
            m.finding(
                kind::ON_CHIP_RANGE,
                format_args!("{count} dwords from {start} of {what}, which has {size}"),
            );
        }
    }
}

/// Return the ports that take indices and vertices, and their aliases.
pub(super) fn is_port(offset: u32) -> bool {
    let last = mmio::VAP_PORT_IDX.base() + 4 * (mmio::VAP_PORT_IDX.len() - 1);
    (mmio::VAP_PORT_DATA.base()..=last).contains(&offset) || offset == mmio::VAP_PORT_DATA_IDX_128
}
