// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The asynchronous DMA engine: a second ring, with packets of its own.
//!
//! A header has the operation in bits 31:28, a tiled bit 23, a semaphore bit 22 and a count in bits 15:0. Pointers
//! count bytes. The engine copies dwords between linear and tiled places, writes and fills dwords, waits for
//! semaphores and signals them, writes fences, and traps. It takes indirect buffers of one level. R7xx has copy packets
//! with one dword more than R6xx. (Public knowledge: Linux, `r600_dma.c`, `rv770_dma.c`, `r600_cs.c`.)

use std::time::Instant;

use lapidary_model::chip::Step;
use lapidary_model::judge::Doing;
use lapidary_model::machine::Machine;
use lapidary_registers::r600::R7XX;
use lapidary_registers::r600::dma::write::tiled_info;
use lapidary_registers::r600::dma::{header, op};
use lapidary_registers::r600::mmio::{self, dma_cntl, dma_ib_cntl, dma_rb_cntl};

use crate::R6xx;
use crate::cp::POLL;
use crate::fault;
use crate::ih::source;
use crate::kind;
use crate::tiling::Tiled;
use crate::unit::Unit;

/// Bits of a position in the ring, in bytes.
const POINTER: u32 = 0x3_fffc;
/// Dwords that one step copies.
const PIECE: u32 = 4096;

/// State of the engine.
#[derive(Clone, Default)]
pub struct Engine {
    /// Where it fetches next, in dwords.
    rptr: u32,
    /// Up to where it fetches, in dwords.
    wptr: u32,
    buffer: Option<Buffer>,
    copy: Option<Copy>,
    waits: Option<u64>,
    held: Option<(Instant, Vec<u32>)>,
    hung: bool,
}

#[derive(Clone, Copy)]
struct Buffer {
    base: u64,
    size: u32,
    next: u32,
    /// It is executed again when it ends.
    endless: bool,
}

/// A copy under way, so many dwords of which are done.
#[derive(Clone, Copy)]
struct Copy {
    from: Place,
    to: Place,
    dwords: u32,
    done: u32,
}

/// One side of a copy.
#[derive(Clone, Copy)]
enum Place {
    Linear(u64),
    Tiled(Tiled),
    Value(u32),
}

impl Place {
    fn at(&self, dword: u32) -> u64 {
        match self {
            Place::Linear(base) => base + u64::from(dword) * 4,
            Place::Tiled(tiled) => tiled.address(dword),
            Place::Value(_) => 0,
        }
    }
}

impl Engine {
    /// Soft-reset the engine.
    pub fn reset(&mut self) {
        *self = Engine::default();
    }

    /// Return whether something is under way, apart from the ring's pointers.
    fn working(&self) -> bool {
        self.hung
            || self.buffer.is_some()
            || self.copy.is_some()
            || self.waits.is_some()
            || self.held.is_some()
    }
}

/// Return the operation in a header.
fn operation(first: u32) -> u8 {
    header::OP.get(first) as u8
}

/// Return the dwords of the packet that a header begins. An operation that does not exist is its header.
fn length(first: u32, r7xx: bool) -> u32 {
    let (tiled, count) = (header::TILED.any(first), header::COUNT.get(first));
    match operation(first) {
        op::WRITE if tiled => 5 + count,
        op::WRITE => 3 + count,
        op::COPY if tiled => 7,
        op::COPY if r7xx => 5,
        op::COPY | op::FENCE => 4,
        op::CONSTANT_FILL if r7xx => 4,
        op::INDIRECT_BUFFER | op::SEMAPHORE => 3,
        _ => 1,
    }
}

fn name(first: u32) -> String {
    let engine = R7XX.engine("dma");
    match engine.and_then(|e| e.packet(first)) {
        Some(p) => format!("{} of the DMA engine, {first:#010x}", p.name),
        None => format!("operation {:#x} of the DMA engine", operation(first)),
    }
}

impl R6xx {
    fn dma_size(&self) -> u32 {
        1 << dma_rb_cntl::DMA_RB_SIZE
            .get(self.regs.get(mmio::DMA_RB_CNTL))
            .clamp(2, 16)
    }

    fn dma_pending(&self) -> u32 {
        self.dma.wptr.wrapping_sub(self.dma.rptr) & (self.dma_size() - 1)
    }

    pub(crate) fn dma_enabled(&self) -> bool {
        dma_rb_cntl::DMA_RB_ENABLE.any(self.regs.get(mmio::DMA_RB_CNTL))
    }

    /// Return whether the engine has anything to do or is stuck.
    pub(crate) fn dma_busy(&self) -> bool {
        self.dma.working() || self.dma_enabled() && self.dma_pending() > 0
    }

    /// Do a bounded piece of the engine's work.
    pub(crate) fn dma_step(&mut self, m: &mut Machine, now: Instant) -> Step {
        if self.dma.hung || self.dma_in_reset() || !self.dma_enabled() {
            return Step::Idle;
        }
        if let Some((due, words)) = self.dma.held.take() {
            if due > now {
                self.dma.held = Some((due, words));
                return Step::At(due);
            }
            self.dma_execute(m, &words);
            return Step::More;
        }
        if let Some(at) = self.dma.waits {
            if !self.semaphore_taken(m, at) {
                return Step::At(now + POLL);
            }
            self.dma.waits = None;
        }
        if self.dma.copy.is_some() {
            self.dma_copy(m);
            return Step::More;
        }
        if let Some(buffer) = self.dma.buffer {
            return self.dma_from_buffer(m, buffer, now);
        }
        let pending = self.dma_pending();
        if pending == 0 {
            return Step::Idle;
        }
        let base = u64::from(self.regs.get(mmio::DMA_RB_BASE)) << 8;
        let size = self.dma_size();
        let fetch = |s: &mut Self, m: &mut Machine, n: u32| {
            let at = base + u64::from((s.dma.rptr + n) & (size - 1)) * 4;
            s.bus.read32(m, Unit::Fetch, at)
        };
        let first = fetch(self, m, 0);
        let len = length(first, self.variant.generation.is_r7xx);
        if len > pending {
            // The rest has not come yet.
            return Step::Idle;
        }
        let words: Vec<u32> = (0..len).map(|n| fetch(self, m, n)).collect();
        let at = self.dma.rptr;
        self.dma.rptr = (self.dma.rptr + len) & (size - 1);
        m.counters.add("dma_fetched_dwords", len.into());
        if operation(first) == op::INDIRECT_BUFFER && (at + len) % 8 != 0 {
            m.finding(
                kind::IB_ALIGNMENT,
                format_args!(
                    "INDIRECT_BUFFER ends at dword {:#x} of the DMA ring",
                    at + len
                ),
            );
        }
        self.dma_packet(m, words, now);
        self.dma_write_back(m);
        Step::More
    }

    fn dma_write_back(&mut self, m: &mut Machine) {
        let cntl = self.regs.get(mmio::DMA_RB_CNTL);
        if !dma_rb_cntl::DMA_RPTR_WRITEBACK_ENABLE.any(cntl) || m.faults.take(fault::LOST_RPTR) {
            return;
        }
        let low = self.regs.get(mmio::DMA_RB_RPTR_ADDR_LO) & !3;
        let high = self.regs.get(mmio::DMA_RB_RPTR_ADDR_HI) & 0xff;
        let at = u64::from(low) | (u64::from(high) << 32);
        let value = self.dma.rptr << 2;
        self.bus.write32(m, Unit::WriteBack, at, value);
    }

    fn dma_from_buffer(&mut self, m: &mut Machine, mut buffer: Buffer, now: Instant) -> Step {
        let left = buffer.size - buffer.next;
        if left == 0 {
            buffer.next = 0;
            self.dma.buffer = buffer.endless.then_some(buffer);
            return match buffer.endless {
                true => Step::At(now + POLL),
                false => Step::More,
            };
        }
        let fetch = |s: &mut Self, m: &mut Machine, n: u32| {
            let at = buffer.base + u64::from(buffer.next + n) * 4;
            s.bus.read32(m, Unit::Fetch, at)
        };
        let first = fetch(self, m, 0);
        let len = length(first, self.variant.generation.is_r7xx);
        if len > left {
            m.finding(
                kind::PACKET_CROSSES_BUFFER,
                format_args!("{} has {left} of {len} dwords", name(first)),
            );
            self.dma.buffer = None;
            return Step::More;
        }
        let words: Vec<u32> = (0..len).map(|n| fetch(self, m, n)).collect();
        buffer.next += len;
        m.counters.add("dma_fetched_dwords", len.into());
        self.dma.buffer = Some(buffer);
        self.dma_packet(m, words, now);
        Step::More
    }

    fn dma_packet(&mut self, m: &mut Machine, words: Vec<u32>, now: Instant) {
        if m.faults.take(fault::HANG_DMA) {
            m.trace.line(format_args!("fault: hang of the DMA engine"));
            self.dma.hung = true;
            return;
        }
        let fence = operation(words[0]) == op::FENCE;
        if fence && m.faults.take(fault::LATE_FENCE) {
            m.trace.line(format_args!("fault: late fence"));
            self.dma.held = Some((now + fault::LATE, words));
            return;
        }
        self.dma_execute(m, &words);
    }

    fn dma_execute(&mut self, m: &mut Machine, words: &[u32]) {
        m.counters.add("dma_packets", 1);
        m.judge.doing(Some(Doing {
            stream: "DMA",
            address: 0,
            header: words[0],
            name,
        }));
        if m.trace.on() {
            m.trace
                .line(format_args!("DMA  {}: {words:08x?}", name(words[0])));
        }
        self.dma_operation(m, words);
        m.judge.doing(None);
    }

    fn dma_operation(&mut self, m: &mut Machine, words: &[u32]) {
        let wide = |low: u32, high: u32| u64::from(low) | (u64::from(high & 0xff) << 32);
        let count = header::COUNT.get(words[0]);
        match operation(words[0]) {
            op::NOP => {}
            op::WRITE if header::TILED.any(words[0]) => {
                let Some(tiled) = self.dma_tiled(m, words) else {
                    return;
                };
                for (dword, word) in (0..).zip(&words[5..]) {
                    self.bus.write32(m, Unit::Dma, tiled.address(dword), *word);
                }
            }
            op::WRITE => {
                let at = wide(words[1] & !3, words[2]);
                let bytes: Vec<u8> = words[3..].iter().flat_map(|w| w.to_le_bytes()).collect();
                self.bus.write(m, Unit::Dma, at, &bytes);
            }
            op::COPY => self.dma_begin_copy(m, words),
            op::CONSTANT_FILL if self.variant.generation.is_r7xx => {
                self.dma.copy = Some(Copy {
                    from: Place::Value(words[2]),
                    to: Place::Linear(wide(words[1] & !3, words[3] >> 16)),
                    dwords: count,
                    done: 0,
                });
            }
            op::INDIRECT_BUFFER => {
                let enabled = dma_ib_cntl::DMA_IB_ENABLE.any(self.regs.get(mmio::DMA_IB_CNTL));
                if self.dma.buffer.is_some() || !enabled {
                    m.finding(
                        kind::IB_NESTING,
                        format_args!("an indirect buffer of the DMA engine"),
                    );
                    return;
                }
                if words[1] & 0x1f != 0 {
                    m.finding(kind::IB_ALIGNMENT, format_args!("at {:#010x}", words[1]));
                }
                m.counters.add("dma_indirect_buffers", 1);
                m.counters.add("indirect_buffers", 1);
                self.dma.buffer = Some(Buffer {
                    base: wide(words[1] & !0x1f, words[2]),
                    size: words[2] >> 16,
                    next: 0,
                    endless: m.faults.take(fault::ENDLESS_BUFFER),
                });
                if m.faults.last(fault::HANG_BUFFER) {
                    m.trace.line(format_args!("fault: hang of the DMA engine"));
                    self.dma.hung = true;
                }
            }
            op::SEMAPHORE => {
                let at = wide(words[1] & !3, words[2]);
                if header::SIGNAL.any(words[0]) {
                    self.semaphore_signal(m, at);
                } else {
                    self.dma.waits = Some(at);
                }
            }
            op::FENCE => {
                if m.faults.take(fault::LOST_WRITEBACK) {
                    m.trace.line(format_args!("fault: fence lost"));
                    return;
                }
                m.counters.add("dma_fences", 1);
                let at = wide(words[1] & !3, words[2]);
                self.bus.write32(m, Unit::WriteBack, at, words[3]);
            }
            op::TRAP => {
                m.counters.add("interrupt_events", 1);
                if dma_cntl::TRAP_ENABLE.any(self.regs.get(mmio::DMA_CNTL)) {
                    self.vector(m, source::DMA_TRAP, 0);
                }
            }
            _ => m.finding(kind::UNDEFINED_PACKET, format_args!("{}", name(words[0]))),
        }
    }

    /// Return the tiled side of a packet; none if the engine cannot do it.
    fn dma_tiled(&self, m: &mut Machine, words: &[u32]) -> Option<Tiled> {
        let config = self.regs.get(mmio::GB_TILING_CONFIG);
        Tiled::of(words, config, self.variant)
            .inspect_err(|why| m.finding(kind::COPY_UNSUPPORTED, format_args!("{why}")))
            .ok()
    }

    fn dma_begin_copy(&mut self, m: &mut Machine, words: &[u32]) {
        let wide = |low: u32, high: u32| u64::from(low & !3) | (u64::from(high & 0xff) << 32);
        let dwords = header::COUNT.get(words[0]);
        let (from, to) = if header::TILED.any(words[0]) {
            let Some(tiled) = self.dma_tiled(m, words) else {
                return;
            };
            let tiled = Place::Tiled(tiled);
            let linear = Place::Linear(wide(words[5], words[6]));
            if tiled_info::DETILE.any(words[2]) {
                (tiled, linear)
            } else {
                (linear, tiled)
            }
        } else if self.variant.generation.is_r7xx {
            (
                Place::Linear(wide(words[2], words[4])),
                Place::Linear(wide(words[1], words[3])),
            )
        } else {
            (
                Place::Linear(wide(words[2], words[3])),
                Place::Linear(wide(words[1], words[3] >> 16)),
            )
        };
        self.dma.copy = Some(Copy {
            from,
            to,
            dwords,
            done: 0,
        });
    }

    /// Do a piece of the copy that is under way.
    fn dma_copy(&mut self, m: &mut Machine) {
        let Some(mut copy) = self.dma.copy.take() else {
            return;
        };
        let n = (copy.dwords - copy.done).min(PIECE);
        match (copy.from, copy.to) {
            (Place::Linear(from), Place::Linear(to)) => {
                let offset = u64::from(copy.done) * 4;
                let mut bytes = vec![0; n as usize * 4];
                self.bus.read(m, Unit::Dma, from + offset, &mut bytes);
                self.bus.write(m, Unit::Dma, to + offset, &bytes);
            }
            (Place::Value(value), Place::Linear(to)) => {
                let offset = u64::from(copy.done) * 4;
                let bytes = value.to_le_bytes().repeat(n as usize);
                self.bus.write(m, Unit::Dma, to + offset, &bytes);
            }
            (from, to) => {
                for dword in copy.done..copy.done + n {
                    let word = self.bus.read32(m, Unit::Dma, from.at(dword));
                    self.bus.write32(m, Unit::Dma, to.at(dword), word);
                }
            }
        }
        copy.done += n;
        m.counters.add("dma_copied_dwords", n.into());
        if copy.done < copy.dwords {
            self.dma.copy = Some(copy);
        }
    }

    /// Write a register of the engine. True if it is one of them.
    pub(crate) fn dma_write(&mut self, m: &mut Machine, offset: u32, value: u32) -> bool {
        match offset {
            mmio::DMA_RB_WPTR => {
                let mask = self.dma_size() - 1;
                if value & !POINTER != 0 || value >> 2 > mask {
                    m.finding(kind::RING_POINTER, format_args!("DMA_RB_WPTR = {value:#x}"));
                }
                let new = (value >> 2) & mask;
                let added = new.wrapping_sub(self.dma.wptr) & mask;
                if self.dma_enabled() && self.dma_pending() + added > mask {
                    m.finding(
                        kind::RING_OVERRUN,
                        format_args!(
                            "DMA write pointer {:#x} to {new:#x}, read pointer {:#x}",
                            self.dma.wptr, self.dma.rptr
                        ),
                    );
                }
                self.dma.wptr = new;
                if self.dma_enabled() {
                    m.counters.add("dma_submissions", 1);
                }
            }
            mmio::DMA_RB_RPTR => self.dma.rptr = (value >> 2) & (self.dma_size() - 1),
            mmio::DMA_RB_BASE | mmio::DMA_RB_CNTL => {
                let on = dma_rb_cntl::DMA_RB_ENABLE;
                let off = offset == mmio::DMA_RB_CNTL && !on.any(value);
                if self.dma_enabled() && self.dma_busy() && !off {
                    let name = self.regs.register(offset).map_or("", |r| r.name);
                    m.finding(
                        kind::RING_RECONFIGURED,
                        format_args!("{name} = {value:#010x}"),
                    );
                }
                let starts = offset == mmio::DMA_RB_CNTL && on.any(value) && !self.dma_enabled();
                self.regs.set(offset, value);
                if starts {
                    self.judge_host_path(m, "the DMA engine");
                }
            }
            _ => return false,
        }
        true
    }

    /// Return what a register of the engine reads, if it is one with a life of its own.
    pub(crate) fn dma_peek(&self, offset: u32) -> Option<u32> {
        Some(match offset {
            mmio::DMA_RB_RPTR => self.dma.rptr << 2,
            mmio::DMA_RB_WPTR => self.dma.wptr << 2,
            mmio::DMA_STATUS_REG => mmio::dma_status_reg::DMA_IDLE.of((!self.dma_busy()).into()),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths() {
        let header = |op: u8, tiled: u32, count: u32| {
            header::OP.of(op.into()) | header::TILED.of(tiled) | count
        };
        assert_eq!(length(header(op::WRITE, 0, 3), true), 6);
        assert_eq!(length(header(op::WRITE, 1, 3), true), 8);
        assert_eq!(length(header(op::CONSTANT_FILL, 0, 3), true), 4);
        assert_eq!(length(header(op::CONSTANT_FILL, 0, 3), false), 1);
        assert_eq!(length(header(op::COPY, 0, 9), true), 5);
        assert_eq!(length(header(op::COPY, 0, 9), false), 4);
        assert_eq!(length(header(op::COPY, 1, 9), false), 7);
        assert_eq!(length(header(op::FENCE, 0, 0), true), 4);
        assert_eq!(length(header(op::SEMAPHORE, 0, 0), true), 3);
        assert_eq!(length(header(op::NOP, 0, 7), true), 1);
    }
}
