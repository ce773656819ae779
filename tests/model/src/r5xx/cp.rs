// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The command processor: three streams of dwords, cut into packets (R5xx chapter 4).
//!
//! The ring (primary stream) starts the first indirect buffer, that one starts the second; each is consumed to its end before its parent
//! goes on. A stream is either pulled from memory or pushed by the host through its aperture. What is fetched
//! goes into an assembly until a packet is complete, so a packet may be longer than what the host has announced so far,
//! and even longer than the ring.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use lapidary_registers::RegArray;
use lapidary_registers::r500::mmio;

use super::me_ram::MeRam;
use super::packet;
use super::ring::{self, Ring, Verdict};
use super::{R5xx, Source};
use crate::chip::Step;
use crate::fault::{Fault, LATE};
use crate::judge::{Doing, Kind};
use crate::machine::Machine;
use crate::memory::Unit;

/// How long until a semaphore in memory is looked at again.
const POLL: Duration = Duration::from_millis(1);
/// How long an endless buffer rests between its rounds, so that the host's processor stays free.
const ROUND: Duration = Duration::from_millis(1);
/// Entries of the command stream queue, which the streams share.
const QUEUE: usize = 128;

/// One of the three streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// The ring, or what is pushed in its place.
    Ring,
    /// The first indirect buffer.
    Ib1,
    /// The second.
    Ib2,
}

impl Stream {
    /// The order of nesting.
    pub const ALL: [Stream; 3] = [Stream::Ring, Stream::Ib1, Stream::Ib2];

    /// For messages.
    pub fn name(self) -> &'static str {
        match self {
            Stream::Ring => "ring",
            Stream::Ib1 => "IB1",
            Stream::Ib2 => "IB2",
        }
    }

    fn aperture(self) -> RegArray {
        match self {
            Stream::Ring => mmio::CP_CSQ_APER_PRIMARY,
            Stream::Ib1 => mmio::CP_CSQ_APER_INDIRECT,
            Stream::Ib2 => mmio::CP_CSQ_APER_INDIRECT2,
        }
    }
}

/// How a stream gets its data (R5xx 4.11).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Not at all.
    Off,
    /// The host pushes it.
    Push,
    /// The CP fetches it.
    Pull,
}

/// A started indirect buffer.
#[derive(Clone, Copy)]
struct Buffer {
    base: u32,
    size: u32,
    next: u32,
    endless: bool,
}

/// What the CP waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// A semaphore in the micro-engine RAM to be zero; then it takes a value.
    Semaphore(u32, Option<u32>),
    /// A dword in memory to be zero.
    Memory(u32),
    /// DMA engines (a bit each) to be idle.
    Dma(u8),
}

/// State of the command processor.
#[derive(Default)]
pub struct Cp {
    /// The ring's pointers.
    pub ring: Ring,
    /// The micro-engine's RAM.
    pub me: MeRam,
    /// What is being waited for.
    pub wait: Option<Wait>,
    /// Dwords to pass over in a stream, for conditional execution.
    pub skip: [u32; 3],
    buffers: [Option<Buffer>; 3],
    queues: [VecDeque<u32>; 3],
    assembly: [Vec<u32>; 3],
    assembly_at: [u32; 3],
    held: Option<(Instant, Stream, Vec<u32>)>,
    rest: Option<Instant>,
    hung: bool,
    told_microcode: bool,
    resync: VecDeque<(u32, u32)>,
}

impl Cp {
    /// A soft reset of the streams. Microcode and the write pointer survive.
    pub fn reset(&mut self) {
        let me = std::mem::take(&mut self.me);
        let mut ring = std::mem::take(&mut self.ring);
        ring.reset();
        *self = Cp {
            me,
            ring,
            ..Cp::default()
        };
    }

    /// Nothing goes on until a soft reset.
    pub fn hang(&mut self) {
        self.hung = true;
    }

    /// Whether a stream has something under way, apart from the ring's pointers.
    fn working(&self) -> bool {
        self.hung
            || self.wait.is_some()
            || self.held.is_some()
            || self.buffers.iter().any(Option::is_some)
            || self.queues.iter().any(|q| !q.is_empty())
            || self.assembly.iter().any(|a| !a.is_empty())
    }
}

/// The modes of the ring and of the indirect streams.
pub fn modes(csq_cntl: u32) -> (Mode, Mode) {
    use mmio::cp_csq_cntl::{CSQ_MODE, csq_mode};
    match CSQ_MODE.get(csq_cntl) {
        csq_mode::PRIPIO_INDDIS => (Mode::Push, Mode::Off),
        csq_mode::PRIBM_INDDIS => (Mode::Pull, Mode::Off),
        csq_mode::PRIPIO_INDBM => (Mode::Push, Mode::Pull),
        csq_mode::PRIBM_INDBM => (Mode::Pull, Mode::Pull),
        csq_mode::PRIPIO_INDPIO => (Mode::Push, Mode::Push),
        _ => (Mode::Off, Mode::Off),
    }
}

impl R5xx {
    /// Whether the CP has anything to do or is stuck.
    pub(super) fn cp_busy(&self) -> bool {
        let (primary, _) = modes(self.regs.get(mmio::CP_CSQ_CNTL));
        let ring =
            primary == Mode::Pull && self.cp.ring.pending(self.regs.get(mmio::CP_RB_CNTL)) > 0;
        ring || self.cp.working()
    }

    fn mode(&self, stream: Stream) -> Mode {
        let (primary, indirect) = modes(self.regs.get(mmio::CP_CSQ_CNTL));
        if stream == Stream::Ring {
            primary
        } else {
            indirect
        }
    }

    /// A bounded piece of the command processor's work.
    pub(super) fn cp_step(&mut self, m: &mut Machine, now: Instant) -> Step {
        let mut later = Step::Idle;
        if let Some(due) = self.cp.ring.due() {
            if due > now {
                later = Step::At(due);
            } else {
                self.commit_wptr(m);
            }
        }
        if self.cp.hung || self.in_reset() || self.mode(Stream::Ring) == Mode::Off {
            return later;
        }
        if let Some((due, stream, words)) = self.cp.held.take() {
            if due > now {
                self.cp.held = Some((due, stream, words));
                return Step::At(due);
            }
            self.execute(m, stream, &words);
            return Step::More;
        }
        if let Some(rest) = self.cp.rest.take_if(|r| *r > now) {
            self.cp.rest = Some(rest);
            return Step::At(rest);
        }
        if let Some(wait) = self.cp.wait {
            if !self.satisfied(m, wait) {
                return Step::At(now + POLL);
            }
            self.cp.wait = None;
        }
        for stream in [Stream::Ib2, Stream::Ib1, Stream::Ring] {
            if stream != Stream::Ring && self.cp.buffers[stream as usize].is_none() {
                continue;
            }
            return if self.pull(m, stream, now) {
                Step::More
            } else {
                later
            };
        }
        later
    }

    fn satisfied(&mut self, m: &mut Machine, wait: Wait) -> bool {
        match wait {
            Wait::Semaphore(at, then) => {
                let free = self.cp.me.word(at) == 0;
                if let (true, Some(value)) = (free, then) {
                    self.cp.me.set_word(at, value);
                }
                free
            }
            Wait::Memory(address) => self.bus.read32(m, Unit::Cp, address) == 0,
            Wait::Dma(engines) => !self
                .dma
                .iter()
                .enumerate()
                .any(|(i, e)| engines & (1 << i) != 0 && e.active()),
        }
    }

    /// Takes what a stream has, up to the end of its packet, and executes the packet if that completes it. False if
    /// there was nothing to take.
    fn pull(&mut self, m: &mut Machine, stream: Stream, now: Instant) -> bool {
        let i = stream as usize;
        let available = self.available(stream);
        if available == 0 {
            return self.end_of_buffer(m, stream, now);
        }
        if !self.cp.me.loaded() {
            if !std::mem::replace(&mut self.cp.told_microcode, true) {
                m.finding(
                    Kind::NoMicrocode,
                    format_args!("the {} has {available} dwords", stream.name()),
                );
            }
            return false;
        }
        if self.cp.skip[i] > 0 {
            let n = self.cp.skip[i].min(available);
            self.cp.skip[i] -= n;
            self.take(m, stream, n);
            return true;
        }
        if self.cp.assembly[i].is_empty() && m.faults.take(Fault::Hang) {
            m.trace.line(format_args!("fault: hang"));
            self.cp.hung = true;
            return false;
        }
        let have = self.cp.assembly[i].len() as u32;
        let need = match self.cp.assembly[i].first() {
            Some(header) => packet::length(*header) - have,
            None => 1,
        };
        if have == 0 {
            self.cp.assembly_at[i] = self.address(stream);
        }
        let words = self.take(m, stream, need.min(available));
        let assembly = &mut self.cp.assembly[i];
        assembly.extend(words);
        if (assembly.len() as u32) < packet::length(assembly[0]) {
            return true;
        }
        let words = std::mem::take(assembly);
        if self.writes_scratch(&words) && m.faults.take(Fault::LateFence) {
            m.trace.line(format_args!("fault: late fence"));
            self.cp.held = Some((now + LATE, stream, words));
            return true;
        }
        self.execute(m, stream, &words);
        true
    }

    /// An indirect buffer is exhausted, or a stream has run dry. True if something changed by that.
    fn end_of_buffer(&mut self, m: &mut Machine, stream: Stream, now: Instant) -> bool {
        let i = stream as usize;
        let Some(buffer) = &mut self.cp.buffers[i] else {
            return false;
        };
        if buffer.next < buffer.size {
            return false; // pushed data that has not come yet
        }
        if buffer.endless {
            buffer.next = 0;
            self.cp.assembly[i].clear();
            self.cp.rest = Some(now + ROUND);
            return true;
        }
        let left = self.cp.assembly[i].len();
        self.cp.buffers[i] = None;
        self.cp.skip[i] = 0;
        if left > 0 {
            let header = self.cp.assembly[i][0];
            self.cp.assembly[i].clear();
            m.finding(
                Kind::PacketCrossesBuffer,
                format_args!(
                    "{} of {} ends after {left} dwords",
                    packet::name(header),
                    stream.name()
                ),
            );
        }
        true
    }

    fn available(&self, stream: Stream) -> u32 {
        let i = stream as usize;
        let pushed = self.cp.queues[i].len() as u32;
        let left = self.cp.buffers[i].map_or(0, |b| b.size - b.next);
        match (self.mode(stream), stream) {
            (Mode::Off, _) => 0,
            (Mode::Push, Stream::Ring) => pushed,
            (Mode::Push, _) => pushed.min(left),
            (Mode::Pull, Stream::Ring) => self.cp.ring.pending(self.regs.get(mmio::CP_RB_CNTL)),
            (Mode::Pull, _) => left,
        }
    }

    /// Where the next dword of a pulled stream lies; 0 for a pushed one.
    fn address(&self, stream: Stream) -> u32 {
        match (self.mode(stream), self.cp.buffers[stream as usize]) {
            (Mode::Pull, Some(b)) => b.base.wrapping_add(b.next.wrapping_mul(4)),
            (Mode::Pull, None) => self
                .regs
                .get(mmio::CP_RB_BASE)
                .wrapping_add(self.cp.ring.rptr * 4),
            _ => 0,
        }
    }

    /// Consumes `n` dwords, which must be available.
    fn take(&mut self, m: &mut Machine, stream: Stream, n: u32) -> Vec<u32> {
        let i = stream as usize;
        let mut words = Vec::with_capacity(n as usize);
        let pulled = self.mode(stream) == Mode::Pull;
        if !pulled {
            words.extend(self.cp.queues[i].drain(..(n as usize).min(self.cp.queues[i].len())));
        }
        let at = self.address(stream);
        if let Some(b) = &mut self.cp.buffers[i] {
            b.next += n;
            if pulled {
                self.fetch(m, at, n, &mut words);
            }
        } else if pulled {
            let cntl = self.regs.get(mmio::CP_RB_CNTL);
            let to_end = n.min(ring::size(cntl) - self.cp.ring.rptr);
            self.fetch(m, at, to_end, &mut words);
            self.fetch(m, self.regs.get(mmio::CP_RB_BASE), n - to_end, &mut words);
            if self.cp.ring.advance(n, cntl) {
                self.write_back_rptr(m);
            }
        }
        m.counters.add("fetched_dwords", n.into());
        words
    }

    fn fetch(&mut self, m: &mut Machine, at: u32, n: u32, words: &mut Vec<u32>) {
        let mut bytes = vec![0; n as usize * 4];
        if n > 0 {
            self.bus.read(m, Unit::Fetch, at, &mut bytes);
        }
        let swap = mmio::cp_rb_cntl::BUF_SWAP.get(self.regs.get(mmio::CP_RB_CNTL));
        words.extend(
            bytes
                .chunks_exact(4)
                .map(|b| swapped(swap, u32::from_le_bytes([b[0], b[1], b[2], b[3]]))),
        );
    }

    fn write_back_rptr(&mut self, m: &mut Machine) {
        let cntl = self.regs.get(mmio::CP_RB_CNTL);
        if mmio::cp_rb_cntl::RB_NO_UPDATE.any(cntl) || m.faults.take(Fault::LostRptr) {
            return;
        }
        let address = self.regs.get(mmio::CP_RB_RPTR_ADDR);
        let value = swapped(
            mmio::cp_rb_rptr_addr::RB_RPTR_SWAP.get(address),
            self.cp.ring.rptr,
        );
        m.counters.add("rptr_writebacks", 1);
        self.bus.write32(
            m,
            Unit::Cp,
            address & mmio::cp_rb_rptr_addr::RB_RPTR_ADDR.mask(),
            value,
        );
    }

    fn execute(&mut self, m: &mut Machine, stream: Stream, words: &[u32]) {
        m.counters.add("packets", 1);
        let address = self.cp.assembly_at[stream as usize];
        if m.trace.on() {
            let options = lapidary_decoder::Options {
                base: address.into(),
                ring: None,
            };
            for line in lapidary_decoder::decode_stream(words, options) {
                m.trace.line(format_args!("{:<4} {line}", stream.name()));
            }
        }
        m.judge.doing(Some(Doing {
            stream: stream.name(),
            address: address.into(),
            header: words[0],
            name: packet::name,
        }));
        self.packet(m, stream, words);
        m.judge.doing(None);
    }

    /// The staged write pointer takes effect.
    fn commit_wptr(&mut self, m: &mut Machine) {
        let cntl = self.regs.get(mmio::CP_RB_CNTL);
        let give = mmio::cp_rb_cntl::RB_RPTR_WR_ENA
            .any(cntl)
            .then(|| self.regs.get(mmio::CP_RB_RPTR_WR));
        let (rptr, wptr) = (self.cp.ring.rptr, self.cp.ring.wptr);
        let written = self.cp.ring.written();
        match self.cp.ring.commit(cntl, give) {
            Verdict::Good => {}
            Verdict::Outside => m.finding(
                Kind::RingPointer,
                format_args!("write pointer {written:#x}"),
            ),
            Verdict::Overrun => {
                m.finding(
                    Kind::RingOverrun,
                    format_args!("write pointer {wptr:#x} to {written:#x}, read pointer {rptr:#x}"),
                );
            }
        }
        if give.is_none() {
            m.counters.add("submissions", 1);
        }
    }

    /// A register of the CP was written. True if it is one of them.
    pub(super) fn cp_write(
        &mut self,
        m: &mut Machine,
        offset: u32,
        value: u32,
        source: Source,
    ) -> bool {
        match offset {
            mmio::CP_RB_WPTR => {
                let delay = self.regs.get(mmio::CP_RB_WPTR_DELAY);
                if self.cp.ring.stage(value, delay, Instant::now()) {
                    self.commit_wptr(m);
                }
            }
            mmio::CP_RB_BASE | mmio::CP_RB_CNTL | mmio::CP_CSQ_MODE => {
                let size_changes =
                    offset != mmio::CP_RB_CNTL || (self.regs.get(offset) ^ value) & RING_SHAPE != 0;
                if size_changes && self.mode(Stream::Ring) != Mode::Off && self.cp_busy() {
                    let name = self.regs.register(offset).map_or("", |r| r.name);
                    m.finding(Kind::CpReconfigured, format_args!("{name} = {value:#010x}"));
                }
                self.regs.set(offset, value);
            }
            mmio::CP_IB_BUFSZ => self.start(m, Stream::Ib1, value, source),
            mmio::CP_IB2_BUFSZ => self.start(m, Stream::Ib2, value, source),
            mmio::CP_ME_RAM_ADDR => self.cp.me.set_write_address(value),
            mmio::CP_ME_RAM_RADDR => self.cp.me.set_read_address(value),
            mmio::CP_ME_RAM_DATAH => self.cp.me.write_high(value),
            mmio::CP_ME_RAM_DATAL => self.cp.me.write_low(value),
            mmio::CP_RESYNC_DATA => {
                self.regs.set(offset, value);
                let index = mmio::cp_resync_addr::INDEX.get(self.regs.get(mmio::CP_RESYNC_ADDR));
                if self.cp.resync.len() < 8 {
                    self.cp.resync.push_back((index, value));
                } else {
                    m.finding(Kind::PushOverflow, format_args!("the resync FIFO holds 8"));
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

    /// A register of the CP is read, if it is one with a life of its own.
    pub(super) fn cp_read(&mut self, offset: u32) -> Option<u32> {
        Some(match offset {
            mmio::CP_ME_RAM_DATAH => self.cp.me.read_high(),
            mmio::CP_ME_RAM_DATAL => self.cp.me.read_low(),
            _ => return self.cp_peek(offset),
        })
    }

    /// The same without side effects.
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

    /// The host writes into the aperture of a stream.
    fn push(&mut self, m: &mut Machine, stream: Stream, value: u32) {
        if self.mode(stream) != Mode::Push {
            m.finding(
                Kind::PushWithoutPushMode,
                format_args!("{value:#010x} to the {}", stream.name()),
            );
            return;
        }
        let queue = &mut self.cp.queues[stream as usize];
        if queue.len() >= QUEUE {
            m.finding(
                Kind::PushOverflow,
                format_args!("{value:#010x} to the {}", stream.name()),
            );
            return;
        }
        queue.push_back(value);
    }

    /// A size register was written: an indirect buffer begins (R5xx 4.6, 4.10).
    fn start(&mut self, m: &mut Machine, stream: Stream, size: u32, source: Source) {
        let (base_at, size_at, parent) = match stream {
            Stream::Ib1 => (mmio::CP_IB_BASE, mmio::CP_IB_BUFSZ, Stream::Ring),
            _ => (mmio::CP_IB2_BASE, mmio::CP_IB2_BUFSZ, Stream::Ib1),
        };
        self.regs.set(size_at, size);
        let right = match source {
            Source::Packet { stream: from, .. } => from == parent,
            // In push mode the host itself may announce the buffer.
            Source::Host => self.mode(stream) == Mode::Push,
            Source::Dma => false,
        };
        let running = self.cp.buffers[stream as usize].is_some();
        if !right || running || self.mode(stream) == Mode::Off {
            m.finding(
                Kind::IbNesting,
                format_args!("{} started from {source}", stream.name()),
            );
            return;
        }
        if let Source::Packet { last: false, .. } = source {
            m.finding(Kind::IbTriggerNotLast, format_args!("{}", stream.name()));
        }
        let size = mmio::cp_ib_bufsz::IB_BUFSZ.get(size);
        if size == 0 {
            return;
        }
        let endless = m.faults.take(Fault::EndlessBuffer);
        m.counters.add("indirect_buffers", 1);
        self.cp.buffers[stream as usize] = Some(Buffer {
            base: self.regs.get(base_at) & !3,
            size,
            next: 0,
            endless,
        });
    }

    /// A scratch register is written: it is copied to memory if the mask says so (R5xx 4.9).
    fn scratch(&mut self, m: &mut Machine, n: u32, value: u32) {
        if let Some(offset) = mmio::SCRATCH_REG.at(n) {
            self.regs.set(offset, value);
        }
        let mask = mmio::scratch_umsk::MASK.get(self.regs.get(mmio::SCRATCH_UMSK));
        if mask & (1 << n) == 0 {
            return;
        }
        if m.faults.take(Fault::LostWriteback) {
            m.trace.line(format_args!(
                "fault: write-back of scratch register {n} lost"
            ));
            return;
        }
        self.bus.completion(m, "scratch write-back");
        m.counters.add("scratch_writebacks", 1);
        let address = self.regs.get(mmio::SCRATCH_ADDR) & mmio::scratch_addr::ADDR.mask();
        self.bus
            .write32(m, Unit::Cp, address.wrapping_add(n * 4), value);
    }

    /// The colour back ends have signalled: the oldest resynchronised write goes to its scratch register.
    pub(super) fn resync(&mut self, m: &mut Machine) {
        if let Some((n, value)) = self.cp.resync.pop_front() {
            self.scratch(m, n, value);
        }
    }

    fn writes_scratch(&self, words: &[u32]) -> bool {
        packet::registers(words).any(|offset| mmio::SCRATCH_REG.index_of(offset).is_some())
    }
}

/// The bits of CP_RB_CNTL that must not change under a running CP.
const RING_SHAPE: u32 = mmio::cp_rb_cntl::RB_BUFSZ.mask() | mmio::cp_rb_cntl::BUF_SWAP.mask();

/// Applies one of the four byte swaps to a dword.
fn swapped(swap: u32, word: u32) -> u32 {
    use mmio::cp_rb_cntl::buf_swap;
    match swap {
        buf_swap::SWAP_16BIT => ((word & 0x00ff_00ff) << 8) | ((word >> 8) & 0x00ff_00ff),
        buf_swap::SWAP_32BIT => word.swap_bytes(),
        buf_swap::SWAP_HALF => word.rotate_left(16),
        _ => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swaps() {
        assert_eq!(
            [0, 1, 2, 3].map(|s| swapped(s, 0x1122_3344)),
            [0x1122_3344, 0x2211_4433, 0x4433_2211, 0x3344_1122]
        );
    }
}
