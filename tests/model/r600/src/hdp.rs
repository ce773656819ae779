// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The host data path: how the CPU sees VRAM through BAR0.
//!
//! BAR0 shows what begins at the GPU address in HDP_NONSURFACE_BASE, which a driver sets to the start of VRAM. The CPU's
//! reads pass a cache that does not notice what engines write. It is flushed by a write of HDP_REG_COHERENCY_FLUSH_CNTL,
//! on R7xx by a write of HDP_DEBUG1 followed by a read of VRAM (public knowledge: Linux, `r600_mmio_hdp_flush`). The
//! model stores data at once and keeps a record instead, so that a read that comes too early is named, and still sees
//! the data. It sees the CPU's accesses only if VRAM is not mapped.

use std::collections::HashSet;

use lapidary_model::chip::Fuses;
use lapidary_model::machine::Machine;
use lapidary_model::marks::Marks;
use lapidary_model::runs::Runs;
use lapidary_registers::r600::mmio::{self, gb_tiling_config};

use crate::R6xx;
use crate::kind;

const PAGE: u64 = 4096;

/// Pages of VRAM of which the CPU may still see old bytes.
#[derive(Clone, Default)]
pub struct ReadAhead {
    pages: HashSet<u64>,
    /// VRAM offsets that draws may have written.
    draws: Marks,
    /// HDP_DEBUG1 was written and VRAM not read since.
    half_flushed: bool,
}

impl ReadAhead {
    /// Record that an engine has written a range of VRAM.
    pub fn written(&mut self, offset: u64, len: u64) {
        if len > 0 {
            self.pages.extend(offset / PAGE..=(offset + len - 1) / PAGE);
        }
    }

    /// Record that a draw may have written a pattern of VRAM offsets.
    pub fn drawn(&mut self, runs: Runs) {
        self.draws.add(runs);
    }

    /// Bring everything up to date.
    pub fn flush(&mut self) {
        self.pages.clear();
        self.draws.clear();
        self.half_flushed = false;
    }

    /// Do the first half of the flush on R7xx.
    pub fn half_flush(&mut self) {
        self.half_flushed = true;
    }

    /// Read a range as the CPU does, and return whether it may see old bytes.
    pub fn read(&mut self, offset: u64, len: u64) -> bool {
        if self.half_flushed {
            // This read is the second half.
            self.flush();
        }
        len > 0
            && (self.draws.touches(offset, len)
                || !self.pages.is_empty()
                    && (offset / PAGE..=(offset + len - 1) / PAGE).any(|p| self.pages.contains(&p)))
    }
}

impl R6xx {
    pub(crate) fn hdp_read(&mut self, m: &mut Machine, offset: u64, data: &mut [u8]) {
        let Some(at) = self.hdp_place(offset) else {
            data.fill(0xff);
            return;
        };
        if self.bus.read_ahead.read(at, data.len() as u64) {
            m.finding(
                kind::STALE_READ,
                format_args!("the CPU reads VRAM {at:#x}, which an engine has written"),
            );
        }
        if !m.vram.read(at, data) {
            data.fill(0xff);
            m.finding(kind::VRAM_RANGE, format_args!("read of {at:#x}"));
        }
    }

    pub(crate) fn hdp_write(&mut self, m: &mut Machine, offset: u64, data: &[u8]) {
        let Some(at) = self.hdp_place(offset) else {
            return;
        };
        if !m.vram.write(at, data) {
            m.finding(kind::VRAM_RANGE, format_args!("write of {at:#x}"));
        }
    }

    /// Return the offset in VRAM of an offset in BAR0; none while the bus interface keeps the CPU out.
    fn hdp_place(&self, offset: u64) -> Option<u64> {
        let open = self.regs.get(mmio::BIF_FB_EN);
        (mmio::bif_fb_en::FB_READ_EN.any(open) && mmio::bif_fb_en::FB_WRITE_EN.any(open))
            .then_some(offset)
    }

    /// Return a mask of the backends that work. Fuses that leave none cannot be true, and all work.
    pub(crate) fn live_backends(&self) -> u32 {
        let count = self.variant.backends;
        match Fuses::Nothing.dead(count) & !self.options.fuses.dead(count) {
            0 => Fuses::Nothing.dead(count),
            live => live,
        }
    }

    /// Judge which backends serve the pipes among which memory is tiled.
    fn judge_backends(&self, m: &mut Machine, who: &str) {
        let live = self.live_backends();
        let config = self.regs.get(mmio::GB_TILING_CONFIG);
        let map = gb_tiling_config::BACKEND_MAP.get(config);
        let pipes = 1u32 << gb_tiling_config::PIPE_TILING.get(config).min(3);
        for pipe in 0..pipes {
            let backend = (map >> (2 * pipe)) & 3;
            if (live >> backend) & 1 == 0 {
                m.finding(
                    kind::DEAD_BACKEND,
                    format_args!("{who} starts, backend {backend} serves pipe {pipe}"),
                );
            }
        }
    }

    /// Judge the host path when an engine is about to take commands. The CPU must find what the chip will read, and the
    /// units that know how memory is tiled must agree.
    pub(crate) fn judge_host_path(&self, m: &mut Machine, who: &str) {
        let base = u64::from(self.regs.get(mmio::HDP_NONSURFACE_BASE)) << 8;
        let (start, _) = self.bus.frame_buffer();
        if base != start {
            m.finding(
                kind::HOST_PATH_MISMATCH,
                format_args!(
                    "{who} starts, HDP_NONSURFACE_BASE leads to {base:#x}, VRAM is at {start:#x}"
                ),
            );
        }
        self.judge_backends(m, who);
        let whole = self.regs.get(mmio::GB_TILING_CONFIG) & 0xffff;
        for (name, register) in self.variant.generation.tiling_copies {
            let copy = self.regs.get(*register) & 0xffff;
            if copy != whole {
                m.finding(
                    kind::HOST_PATH_MISMATCH,
                    format_args!("{who} starts, {name} is {copy:#x}, GB_TILING_CONFIG {whole:#x}"),
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_old_until_a_flush() {
        let mut r = ReadAhead::default();
        assert!(!r.read(0, 4));
        r.written(0x1fff, 2);
        assert!(r.read(0x1000, 1) && r.read(0x2fff, 1) && !r.read(0x3000, 1) && !r.read(0x1000, 0));
        r.flush();
        assert!(!r.read(0x1000, 1));
    }

    #[test]
    fn draws_make_old_what_they_may_have_written() {
        let mut r = ReadAhead::default();
        r.drawn(Runs::one(0x1000, 0x100));
        assert!(r.read(0x10ff, 1) && !r.read(0x1100, 1));
        r.flush();
        assert!(!r.read(0x1000, 1));
    }

    #[test]
    fn the_flush_of_r7xx_ends_with_a_read() {
        let mut r = ReadAhead::default();
        r.half_flush();
        r.written(0x1000, 4);
        assert!(!r.read(0x5000, 4), "the read that flushes");
        assert!(!r.read(0x1000, 4));
        r.written(0x1000, 4);
        assert!(r.read(0x1000, 4), "one write of the register is one flush");
    }
}
