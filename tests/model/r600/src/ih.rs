// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The interrupt handler block (IH): a ring in memory into which the chip writes a vector for each interrupt.
//!
//! A vector has four dwords: the number of the source, its data, and two that are zero. The chip keeps the write
//! pointer and copies it to memory, the driver keeps the read pointer. Both count bytes. The output to the CPU is high
//! as long as the pointers differ. MSI is an edge; with RPTR_REARM a write of the read pointer arms it again. If the
//! ring is full, the write pointer goes on and bit 0 of it tells, until the driver clears it. (Public knowledge: Linux,
//! `r600.c`.)

use lapidary_model::machine::Machine;
use lapidary_registers::r600::mmio::{self, ih_cntl, ih_rb_cntl};

use crate::R6xx;
use crate::fault;
use crate::kind;
use crate::unit::Unit;

/// Bytes of a vector.
const VECTOR: u32 = 16;
/// The bit of the write pointer that tells of an overflow.
const OVERFLOW: u32 = 1;

/// Numbers of sources.
pub mod source {
    /// CP_INT_STATUS, by a packet from the ring.
    pub const CP_RING: u32 = 176;
    /// The same, from the first indirect buffer.
    pub const CP_IB1: u32 = 177;
    /// The same, from the second one.
    pub const CP_IB2: u32 = 178;
    /// An end-of-pipe event.
    pub const CP_EOP: u32 = 181;
    /// A trap packet of the DMA engine.
    pub const DMA_TRAP: u32 = 224;
    /// The graphics engine has become idle.
    pub const GUI_IDLE: u32 = 233;
}

/// State of the block.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ih {
    /// Where the next vector goes, in bytes.
    pub wptr: u32,
    /// How far the driver has read, in bytes.
    pub rptr: u32,
    overflow: bool,
}

impl Ih {
    /// Return what reading the write pointer yields.
    pub fn reported(&self) -> u32 {
        self.wptr | if self.overflow { OVERFLOW } else { 0 }
    }
}

impl R6xx {
    fn ih_mask(&self) -> u32 {
        let size = ih_rb_cntl::IH_RB_SIZE.get(self.regs.get(mmio::IH_RB_CNTL));
        (4 << size.clamp(2, 24)) - 1
    }

    /// Put the vector of a source that interrupts into the ring.
    pub(crate) fn vector(&mut self, m: &mut Machine, source: u32, data: u32) {
        let cntl = self.regs.get(mmio::IH_RB_CNTL);
        if !ih_rb_cntl::IH_RB_ENABLE.any(cntl) {
            return;
        }
        if m.faults.take(fault::FULL_IH) {
            m.trace
                .line(format_args!("fault: the ring of vectors fills"));
            for _ in 0..self.ih_mask() / VECTOR {
                self.enter(m, source::GUI_IDLE, 0);
            }
        }
        self.enter(m, source, data);
        self.report_wptr(m);
        if !m.functions[0].irq.level() && m.faults.take(fault::LOST_INTERRUPT) {
            m.trace.line(format_args!("fault: interrupt lost"));
            m.functions[0].irq.lose();
            return;
        }
        self.update_interrupt(m);
    }

    /// Write a vector to the ring.
    fn enter(&mut self, m: &mut Machine, source: u32, data: u32) {
        let cntl = self.regs.get(mmio::IH_RB_CNTL);
        let mask = self.ih_mask();
        let base = u64::from(self.regs.get(mmio::IH_RB_BASE)) << 8;
        let at = base + u64::from(self.ih.wptr & mask);
        let mut bytes = [0; VECTOR as usize];
        bytes[..4].copy_from_slice(&source.to_le_bytes());
        bytes[4..8].copy_from_slice(&data.to_le_bytes());
        m.trace
            .line(format_args!("interrupt vector {source}, data {data:#x}"));
        self.bus.write(m, Unit::WriteBack, at, &bytes);
        self.ih.wptr = (self.ih.wptr + VECTOR) & mask;
        if self.ih.wptr == self.ih.rptr {
            m.finding(
                kind::IH_OVERFLOW,
                format_args!("the ring of {} bytes is full", mask + 1),
            );
            self.ih.overflow = ih_rb_cntl::IH_WPTR_OVERFLOW_ENABLE.any(cntl);
            self.ih.rptr = (self.ih.wptr + VECTOR) & mask;
        }
    }

    fn report_wptr(&mut self, m: &mut Machine) {
        let cntl = self.regs.get(mmio::IH_RB_CNTL);
        if !ih_rb_cntl::IH_WPTR_WRITEBACK_ENABLE.any(cntl) {
            return;
        }
        let mut value = self.ih.reported();
        if let Some(behind) = m.faults.value(fault::LYING_WPTR) {
            if m.faults.armed(fault::LYING_WPTR) {
                value = value.wrapping_sub(behind as u32);
            }
        }
        let low = self.regs.get(mmio::IH_RB_WPTR_ADDR_LO) & !3;
        let high = self.regs.get(mmio::IH_RB_WPTR_ADDR_HI) & 0xff;
        let at = u64::from(low) | (u64::from(high) << 32);
        self.bus.write32(m, Unit::WriteBack, at, value);
    }

    /// Update the interrupt after a change of pointers or enables.
    pub(crate) fn update_interrupt(&mut self, m: &mut Machine) {
        let on = ih_cntl::ENABLE_INTR.any(self.regs.get(mmio::IH_CNTL))
            && ih_rb_cntl::IH_RB_ENABLE.any(self.regs.get(mmio::IH_RB_CNTL));
        m.interrupt(0, on && self.ih.wptr != self.ih.rptr);
    }

    /// Write a register of the block. True if it is one of them.
    pub(crate) fn ih_write(&mut self, m: &mut Machine, offset: u32, value: u32) -> bool {
        match offset {
            mmio::IH_RB_CNTL => {
                if ih_rb_cntl::IH_WPTR_OVERFLOW_CLEAR.any(value) {
                    self.ih.overflow = false;
                }
                if ih_rb_cntl::IH_RB_ENABLE.any(value) && !self.rlc.runs() {
                    m.finding(
                        kind::NO_RLC,
                        format_args!("the interrupt ring is switched on"),
                    );
                }
                let kept = value & !ih_rb_cntl::IH_WPTR_OVERFLOW_CLEAR.mask();
                self.regs.set(offset, kept);
                self.update_interrupt(m);
            }
            mmio::IH_CNTL => {
                self.regs.set(offset, value);
                self.update_interrupt(m);
            }
            mmio::IH_RB_RPTR => {
                if value & !self.ih_mask() != 0 || value % VECTOR != 0 {
                    m.finding(kind::RING_POINTER, format_args!("IH_RB_RPTR = {value:#x}"));
                }
                self.ih.rptr = value & self.ih_mask();
                self.update_interrupt(m);
                if ih_cntl::RPTR_REARM.any(self.regs.get(mmio::IH_CNTL)) {
                    m.rearm(0);
                }
            }
            mmio::IH_RB_WPTR => {
                self.ih.wptr = value & self.ih_mask() & !(VECTOR - 1);
                self.update_interrupt(m);
            }
            _ => return false,
        }
        true
    }
}
