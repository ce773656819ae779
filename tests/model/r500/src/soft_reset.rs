// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Soft resets: what each loses, and how an engine that is stuck comes free (R5xx 4.8, 9.1.9, 9.1.11, 9.2.1).
//!
//! `RBBM_SOFT_RESET` holds a block in reset while its bit is set. What the block loses it loses when the bit is set;
//! idle it is when the bit is cleared ("necessary to get VAP to go idle").
//!
//! | bit | loses |
//! | --- | --- |
//! | CP, CP_NO_DMA | the streams and what is under way in them, the read pointer; not the write pointer, not the microcode |
//! | CP, CP_DMA | the DMA engines' work |
//! | VAP | a draw that waits for data |
//! | GA | the raster pipe's work; one that is stuck beyond it needs `GA_SOFT_RESET` besides |
//! | E2 | 2D work, host data that an operation waits for, the 2D cache |
//! | RB | what is in the caches of colour, depth and 2D |
//! | HDP | what the host has read ahead |
//!
//! Registers keep their values. The other bits have no effect here.
//!
//! A driver that recovers has to keep the order, since hardware forgives less than the model can show. These are
//! findings:
//!
//! - a block is reset while `CP_CSQ_CNTL` still lets streams run;
//! - a reset is released before a read has made sure that it arrived;
//! - streams are switched on while a block is held in reset or an engine is still stuck, or when the write pointer was
//!   not made to match after a reset of the CP;
//! - a count for `GA_SOFT_RESET` is too small;
//! - the memory controller is reset while a display reads.

use lapidary_registers::r500::mmio::rbbm_soft_reset as bit;
use lapidary_registers::r500::mmio::{self, ga_soft_reset, rbbm_status};

use super::cp::Mode;
use super::{R5xx, Source, cp, dma};
use crate::fault;
use crate::kind;
use lapidary_model::machine::Machine;

/// Soft resets of the command streams.
const CP: u32 = bit::SOFT_RESET_CP.mask() | bit::SOFT_RESET_CP_NO_DMA.mask();
/// Soft resets of the DMA engines.
const DMA: u32 = bit::SOFT_RESET_CP.mask() | bit::SOFT_RESET_CP_DMA.mask();
/// Soft resets of what streams feed.
const ENGINES: u32 = bit::SOFT_RESET_VAP.mask()
    | bit::SOFT_RESET_GA.mask()
    | bit::SOFT_RESET_E2.mask()
    | bit::SOFT_RESET_RB.mask();
/// The smallest count that the manual names for a raster reset (R5xx 9.2.1 says twice that).
const RASTER_CLOCKS: u32 = 0x100;
/// Free entries of an idle command FIFO.
const CMDFIFO: u32 = 64;

/// Engines that do not come to an end by themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stuck {
    vap: bool,
    ga: bool,
    /// Beyond what a reset of GA reaches.
    raster: bool,
    e2: bool,
}

impl Stuck {
    /// Return whether the 3D engine is stuck.
    pub fn in_3d(self) -> bool {
        self.vap || self.ga
    }

    /// Return whether the 2D engine is stuck.
    pub fn in_2d(self) -> bool {
        self.e2
    }

    fn any(self) -> bool {
        self.in_3d() || self.in_2d()
    }

    fn status(self) -> u32 {
        use rbbm_status::{E2_BUSY, GA_BUSY, RB2D_BUSY, RB3D_BUSY, RE_BUSY, VAP_BUSY};
        [
            (self.vap, VAP_BUSY.mask()),
            (self.ga, GA_BUSY.mask()),
            (self.raster, RE_BUSY.mask() | RB3D_BUSY.mask()),
            (self.e2, E2_BUSY.mask() | RB2D_BUSY.mask()),
        ]
        .iter()
        .filter(|(is, _)| *is)
        .fold(0, |all, (_, bits)| all | bits)
    }
}

/// What the sequence of a recovery has come to.
#[derive(Default)]
pub struct Sequence {
    /// A reset was asserted by the CPU, and has not been read back.
    unread: bool,
    /// The CP was reset, and its write pointer not written since.
    stale_wptr: bool,
    /// GA was reset since it got stuck.
    ga_reset: bool,
}

impl R5xx {
    /// Return what is busy.
    pub(super) fn status(&self) -> u32 {
        use rbbm_status::{CMDFIFO_AVAIL, CP_CMDSTRM_BUSY, GUI_ACTIVE, VAP_BUSY};
        let mut busy = self.stuck.status();
        if self.cp_busy() {
            busy |= CP_CMDSTRM_BUSY.mask();
        }
        if self.engine3d.missing().is_some() {
            busy |= VAP_BUSY.mask();
        }
        if busy != 0 {
            busy |= GUI_ACTIVE.mask();
        }
        CMDFIFO_AVAIL.of(CMDFIFO) | busy
    }

    /// Return whether a stream that waits for an engine has to wait. This is the moment at which an engine that never
    /// ends is noticed.
    pub(super) fn waits_for_stuck(&mut self, m: &mut Machine, for_2d: bool, for_3d: bool) -> bool {
        let before = self.stuck;
        if for_3d && m.faults.take(fault::HANG_3D) {
            self.stuck.vap = true;
            self.stuck.ga = true;
        }
        if for_3d && m.faults.take(fault::HANG_RASTER) {
            self.stuck.ga = true;
            self.stuck.raster = true;
        }
        if for_2d && m.faults.take(fault::HANG_2D) {
            self.stuck.e2 = true;
        }
        if self.stuck != before {
            self.sequence.ga_reset = false;
            m.trace.line(format_args!("fault: stuck: {:?}", self.stuck));
        }
        (for_2d && self.stuck.in_2d()) || (for_3d && self.stuck.in_3d())
    }

    /// Write `RBBM_SOFT_RESET`.
    pub(super) fn soft_reset(&mut self, m: &mut Machine, value: u32, source: Source) {
        let old = self.regs.get(mmio::RBBM_SOFT_RESET);
        let (rising, falling) = (value & !old, old & !value);
        if falling != 0 && self.sequence.unread {
            m.finding(
                kind::RESET_SEQUENCE,
                format_args!(
                    "RBBM_SOFT_RESET {old:#x} released before a read made sure that it arrived"
                ),
            );
        }
        self.sequence.unread = rising != 0 && source == Source::Host;
        self.regs.set(mmio::RBBM_SOFT_RESET, value);
        if rising != 0 {
            self.latch_idle();
        }
        let csq = self.regs.get(mmio::CP_CSQ_CNTL);
        if rising & (CP | ENGINES) != 0 && cp::modes(csq).0 != Mode::Off {
            m.finding(
                kind::RESET_WHILE_ENABLED,
                format_args!("RBBM_SOFT_RESET {value:#x}, CP_CSQ_CNTL {csq:#010x}"),
            );
        }
        self.assert(m, rising);
        self.release(m, falling);
    }

    /// Let blocks lose what they had.
    fn assert(&mut self, m: &mut Machine, bits: u32) {
        if bits & CP != 0 {
            let was_working = self.cp.working();
            self.cp.reset();
            self.sequence.stale_wptr = true;
            m.counters.add("cp_resets", 1);
            if was_working && m.faults.take(fault::RESET_FAILS) {
                m.trace.line(format_args!("fault: still stuck"));
                self.cp.hang();
            }
        }
        if bits & DMA != 0 {
            self.dma = Default::default();
        }
        if bit::SOFT_RESET_E2.any(bits) {
            self.engine2d.reset();
            self.bus.caches.flush_2d();
        }
        if bit::SOFT_RESET_VAP.any(bits) {
            self.engine3d.abandon();
        }
        if bit::SOFT_RESET_RB.any(bits) {
            self.bus.caches.flush_2d();
            self.bus.caches.flush_color();
            self.bus.caches.flush_depth();
            self.bus.caches.free_color();
            self.bus.caches.free_depth();
        }
        if bit::SOFT_RESET_HDP.any(bits) {
            self.bus.caches.invalidate_host();
        }
        if bit::SOFT_RESET_MC.any(bits) && self.bus.scanouts.iter().any(Option::is_some) {
            m.finding(
                kind::SCANOUT_MOVED,
                format_args!("the memory controller is reset under a display"),
            );
        }
    }

    /// Let blocks begin anew.
    fn release(&mut self, m: &mut Machine, bits: u32) {
        let mut free = self.stuck;
        if bit::SOFT_RESET_VAP.any(bits) {
            free.vap = false;
        }
        if bit::SOFT_RESET_GA.any(bits) {
            self.sequence.ga_reset = true;
            free.ga = free.raster;
        }
        if bit::SOFT_RESET_E2.any(bits) {
            free.e2 = false;
        }
        self.come_free(m, free);
    }

    fn come_free(&mut self, m: &mut Machine, free: Stuck) {
        if free != self.stuck && m.faults.take(fault::RESET_FAILS) {
            m.trace.line(format_args!("fault: still stuck"));
        } else {
            self.stuck = free;
        }
    }

    /// Write `GA_SOFT_RESET`, which resets the raster pipe for so many cycles.
    pub(super) fn raster_reset(&mut self, m: &mut Machine, value: u32) {
        let count = ga_soft_reset::COUNT.get(value);
        if count < RASTER_CLOCKS {
            m.finding(
                kind::RESET_SEQUENCE,
                format_args!("GA_SOFT_RESET for {count:#x} cycles"),
            );
            return;
        }
        if self.stuck.raster && !self.sequence.ga_reset {
            m.finding(
                kind::RESET_SEQUENCE,
                format_args!("GA_SOFT_RESET of a busy pipe, and not GA in RBBM_SOFT_RESET before"),
            );
            return;
        }
        self.engine3d.abandon();
        let free = Stuck {
            ga: false,
            raster: false,
            ..self.stuck
        };
        self.come_free(m, free);
    }

    /// Record that `RBBM_SOFT_RESET` is read.
    pub(super) fn soft_reset_read(&mut self) {
        self.sequence.unread = false;
    }

    /// Record that the CPU has written the write pointer.
    pub(super) fn wptr_matches(&mut self) {
        self.sequence.stale_wptr = false;
    }

    /// Judge that streams are about to be switched on. After a reset, the whole sequence must have been gone through.
    pub(super) fn judge_restart(&mut self, m: &mut Machine, csq: u32) {
        let off = |v| cp::modes(v).0 == Mode::Off;
        if off(csq) || !off(self.regs.get(mmio::CP_CSQ_CNTL)) {
            return;
        }
        let held = self.regs.get(mmio::RBBM_SOFT_RESET) & (CP | ENGINES);
        if held != 0 {
            m.finding(
                kind::RESET_SEQUENCE,
                format_args!("streams switched on with RBBM_SOFT_RESET {held:#x}"),
            );
        }
        if self.stuck.any() {
            m.finding(
                kind::RESET_SEQUENCE,
                format_args!(
                    "streams switched on with an engine still stuck, RBBM_STATUS {:#010x}",
                    self.status()
                ),
            );
        }
        let pending = self.cp.ring.pending(self.ring_shape());
        if std::mem::take(&mut self.sequence.stale_wptr) && pending > 0 {
            m.finding(
                kind::RESET_SEQUENCE,
                format_args!("streams switched on with a write pointer from before the reset"),
            );
        }
    }

    /// Latch the idle units in GA_IDLE: all units of the pipe, or all but those that are stuck.
    pub(super) fn latch_idle(&mut self) {
        let units = self.regs.register(mmio::GA_IDLE).map_or(0, |r| r.mask());
        let stuck = if self.stuck.in_3d() {
            mmio::ga_idle::GA_IDLE.mask()
        } else {
            0
        };
        self.regs.set(mmio::GA_IDLE, units & !stuck);
    }

    /// Return whether the command streams are held in reset.
    pub(super) fn in_reset(&self) -> bool {
        self.regs.get(mmio::RBBM_SOFT_RESET) & CP != 0
    }

    /// Go back to the state after power-on, with nothing stuck and no sequence under way.
    pub(super) fn forget_resets(&mut self) {
        self.stuck = Stuck::default();
        self.sequence = Sequence::default();
    }

    /// Return whether anything is under way.
    pub(super) fn works(&self) -> bool {
        self.cp_busy() || self.stuck.any() || self.dma.iter().any(dma::Engine::active)
    }
}
