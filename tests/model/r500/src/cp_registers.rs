// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The registers of the command processor: ring pointers, the starts of indirect buffers, microcode, pushed commands.

use std::time::Instant;

use lapidary_registers::r500::mmio;

use super::cp::{Buffer, Mode, QUEUE, Stream};
use super::me_ram::SEMAPHORE;
use super::{R5xx, Source};
use crate::fault;
use crate::kind;
use lapidary_model::amd::ring::{Delay, Verdict};
use lapidary_model::machine::Machine;

/// The bits of CP_RB_CNTL that must not change under a running CP.
const RING_SHAPE: u32 = mmio::cp_rb_cntl::RB_BUFSZ.mask() | mmio::cp_rb_cntl::BUF_SWAP.mask();

impl R5xx {
    /// Let the staged write pointer take effect.
    pub(super) fn commit_wptr(&mut self, m: &mut Machine) {
        let cntl = self.regs.get(mmio::CP_RB_CNTL);
        let give = mmio::cp_rb_cntl::RB_RPTR_WR_ENA
            .any(cntl)
            .then(|| self.regs.get(mmio::CP_RB_RPTR_WR));
        let (rptr, wptr) = (self.cp.ring.rptr, self.cp.ring.wptr);
        let written = self.cp.ring.written();
        match self.cp.ring.commit(self.ring_shape(), give) {
            Verdict::Good => {}
            Verdict::Outside => m.finding(
                kind::RING_POINTER,
                format_args!("write pointer {written:#x}"),
            ),
            // Without streams a write pointer that is made to match empties the ring (R5xx 4.8, step 5).
            Verdict::Overrun if written == rptr && self.mode(Stream::Ring) == Mode::Off => {}
            Verdict::Overrun => {
                m.finding(
                    kind::RING_OVERRUN,
                    format_args!("write pointer {wptr:#x} to {written:#x}, read pointer {rptr:#x}"),
                );
            }
        }
        if give.is_none() {
            m.counters.add("submissions", 1);
        }
    }

    /// Write a register of the CP. True if it is one of them.
    pub(super) fn cp_write(
        &mut self,
        m: &mut Machine,
        offset: u32,
        value: u32,
        source: Source,
    ) -> bool {
        match offset {
            mmio::CP_RB_WPTR => {
                self.wptr_matches();
                use mmio::cp_rb_wptr_delay::{PRE_WRITE_LIMIT, PRE_WRITE_TIMER};
                let delay = self.regs.get(mmio::CP_RB_WPTR_DELAY);
                let delay = Delay {
                    timer: PRE_WRITE_TIMER.get(delay),
                    limit: PRE_WRITE_LIMIT.get(delay),
                };
                if self.cp.ring.stage(value, delay, Instant::now()) {
                    self.commit_wptr(m);
                }
            }
            mmio::CP_RB_BASE | mmio::CP_RB_CNTL | mmio::CP_CSQ_MODE => {
                // Its time may have passed before the command processor's thread has looked.
                if self.cp.ring.due().is_some_and(|due| due <= Instant::now()) {
                    self.commit_wptr(m);
                }
                let gives = |cntl| mmio::cp_rb_cntl::RB_RPTR_WR_ENA.any(cntl);
                let ends =
                    offset == mmio::CP_RB_CNTL && gives(self.regs.get(offset)) && !gives(value);
                if ends && self.cp.ring.due().is_some() {
                    m.finding(
                        kind::RING_POINTER,
                        format_args!(
                            "RB_RPTR_WR_ENA cleared before the delayed pointers took effect"
                        ),
                    );
                }
                let size_changes =
                    offset != mmio::CP_RB_CNTL || (self.regs.get(offset) ^ value) & RING_SHAPE != 0;
                // Switching off is how a reset begins (R5xx 4.8, step 1).
                let off = offset == mmio::CP_CSQ_MODE && value == 0;
                if size_changes && !off && self.mode(Stream::Ring) != Mode::Off && self.cp_busy() {
                    let name = self.regs.register(offset).map_or("", |r| r.name);
                    m.finding(
                        kind::CP_RECONFIGURED,
                        format_args!("{name} = {value:#010x}"),
                    );
                }
                self.regs.set(offset, value);
            }
            mmio::CP_IB_BUFSZ => self.start(m, Stream::Ib1, value, source),
            mmio::CP_IB2_BUFSZ => self.start(m, Stream::Ib2, value, source),
            mmio::CP_RB_RPTR_WR => {
                // Nothing takes it over then (R5xx 4.8, step 5).
                if !mmio::cp_rb_cntl::RB_RPTR_WR_ENA.any(self.regs.get(mmio::CP_RB_CNTL)) {
                    m.finding(
                        kind::RING_POINTER,
                        format_args!("CP_RB_RPTR_WR = {value:#x} without RB_RPTR_WR_ENA"),
                    );
                }
                self.regs.set(offset, value);
            }
            mmio::CP_ME_RAM_ADDR => {
                // Its end holds semaphores, which a running CP waits for.
                if value < SEMAPHORE && self.mode(Stream::Ring) != Mode::Off {
                    m.finding(
                        kind::CP_RECONFIGURED,
                        format_args!("microcode is written while streams are on"),
                    );
                }
                self.cp.me.set_write_address(value);
            }
            mmio::CP_ME_RAM_RADDR => self.cp.me.set_read_address(value),
            mmio::CP_ME_RAM_DATAH => self.cp.me.write_high(value),
            mmio::CP_ME_RAM_DATAL => self.cp.me.write_low(value),
            mmio::CP_RESYNC_DATA => {
                self.regs.set(offset, value);
                let index = mmio::cp_resync_addr::INDEX.get(self.regs.get(mmio::CP_RESYNC_ADDR));
                if self.cp.resync.len() < 8 {
                    self.cp.resync.push_back((index, value));
                } else {
                    m.finding(kind::PUSH_OVERFLOW, format_args!("the resync FIFO holds 8"));
                }
            }
            _ => {
                if let Some(n) = mmio::SCRATCH_REG.index_of(offset) {
                    self.scratch(m, n, value);
                } else if let Some(s) = Stream::ALL
                    .iter()
                    .find(|s| s.aperture().index_of(offset).is_some())
                {
                    self.push(m, *s, value);
                } else {
                    return false;
                }
            }
        }
        true
    }

    /// Read a register of the CP, if it is one with a life of its own.
    pub(super) fn cp_read(&mut self, offset: u32) -> Option<u32> {
        Some(match offset {
            mmio::CP_ME_RAM_DATAH => self.cp.me.read_high(),
            mmio::CP_ME_RAM_DATAL => self.cp.me.read_low(),
            _ => return self.cp_peek(offset),
        })
    }

    /// Return the same without side effects.
    pub(super) fn cp_peek(&self, offset: u32) -> Option<u32> {
        Some(match offset {
            mmio::CP_RB_RPTR => self.cp.ring.rptr,
            mmio::CP_RB_WPTR => self.cp.ring.written(),
            mmio::CP_ME_RAM_ADDR => self.cp.me.write_address(),
            mmio::CP_ME_RAM_DATAH => (self.cp.me.held() >> 32) as u32,
            mmio::CP_ME_RAM_DATAL => self.cp.me.held() as u32,
            mmio::CP_CSQ_CNTL => {
                use mmio::cp_csq_cntl::{CSQ_CNT_INDIRECT, CSQ_CNT_PRIMARY};
                let stored = self.regs.get(offset);
                if self.mode(Stream::Ring) == Mode::Off {
                    return Some(stored);
                }
                let free = |s: Stream| (QUEUE - self.cp.queues[s as usize].len().min(QUEUE)) as u32;
                CSQ_CNT_INDIRECT.put(
                    CSQ_CNT_PRIMARY.put(stored, free(Stream::Ring)),
                    free(Stream::Ib1),
                )
            }
            mmio::CP_STAT => {
                use mmio::cp_stat::{
                    CMDSTRM_BUSY, CP_BUSY, CSF_INDIRECT_BUSY, CSF_INDIRECT2_BUSY, CSI_BUSY,
                };
                let mut stat = 0;
                if self.cp_busy() {
                    stat |= CMDSTRM_BUSY.mask() | CP_BUSY.mask() | CSI_BUSY.mask();
                }
                if self.cp.buffers[Stream::Ib1 as usize].is_some() {
                    stat |= CSF_INDIRECT_BUSY.mask();
                }
                if self.cp.buffers[Stream::Ib2 as usize].is_some() {
                    stat |= CSF_INDIRECT2_BUSY.mask();
                }
                for (engine, bit) in self
                    .dma
                    .iter()
                    .zip([mmio::cp_stat::GUIDMA_BUSY, mmio::cp_stat::VIDDMA_BUSY])
                {
                    if engine.active() {
                        stat |= bit.mask() | CP_BUSY.mask();
                    }
                }
                stat
            }
            _ => return None,
        })
    }

    /// Take what the host writes into the aperture of a stream.
    pub(super) fn push(&mut self, m: &mut Machine, stream: Stream, value: u32) {
        if self.mode(stream) != Mode::Push {
            m.finding(
                kind::PUSH_WITHOUT_PUSH_MODE,
                format_args!("{value:#010x} to the {}", stream.name()),
            );
            return;
        }
        let queue = &mut self.cp.queues[stream as usize];
        if queue.len() >= QUEUE {
            m.finding(
                kind::PUSH_OVERFLOW,
                format_args!("{value:#010x} to the {}", stream.name()),
            );
            return;
        }
        queue.push_back(value);
    }

    /// Begin an indirect buffer, whose size register was written (R5xx 4.6, 4.10).
    pub(super) fn start(&mut self, m: &mut Machine, stream: Stream, size: u32, source: Source) {
        let (base_at, size_at, parent) = match stream {
            Stream::Ib1 => (mmio::CP_IB_BASE, mmio::CP_IB_BUFSZ, Stream::Ring),
            _ => (mmio::CP_IB2_BASE, mmio::CP_IB2_BUFSZ, Stream::Ib1),
        };
        self.regs.set(size_at, size);
        let right = match source {
            Source::Packet { stream: from, .. } => from == parent,
            // In push mode the host itself may announce the buffer.
            Source::Host => self.mode(stream) == Mode::Push,
            Source::Dma | Source::Firmware => false,
        };
        let running = self.cp.buffers[stream as usize].is_some();
        if !right || running || self.mode(stream) == Mode::Off {
            m.finding(
                kind::IB_NESTING,
                format_args!("{} started from {source}", stream.name()),
            );
            return;
        }
        if let Source::Packet { last: false, .. } = source {
            m.finding(kind::IB_TRIGGER_NOT_LAST, format_args!("{}", stream.name()));
        }
        let size = mmio::cp_ib_bufsz::IB_BUFSZ.get(size);
        if size == 0 {
            return;
        }
        let endless = m.faults.take(fault::ENDLESS_BUFFER);
        let hangs = stream == Stream::Ib1 && m.faults.last(fault::HANG_BUFFER);
        m.counters.add("indirect_buffers", 1);
        self.cp.buffers[stream as usize] = Some(Buffer {
            base: self.regs.get(base_at) & !3,
            size,
            next: 0,
            endless,
            hangs,
            load: None,
        });
    }
}
