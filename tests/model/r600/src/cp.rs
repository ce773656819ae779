// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The command processor: a ring and two levels of indirect buffers, cut into packets.
//!
//! The ring starts the first indirect buffer, that one starts the second; each is consumed to its end before its parent
//! goes on. What is fetched goes into an assembly until a packet is complete, so a packet may be longer than what the
//! host has announced so far. The prefetch parser (PFP) and the micro-engine (ME) work as one here: nothing is fetched
//! ahead.

use std::time::{Duration, Instant};

use lapidary_model::amd::ring::{Delay, Ring, Shape, Verdict};
use lapidary_model::amd::swap::swapped;
use lapidary_model::chip::Step;
use lapidary_model::judge::Doing;
use lapidary_model::machine::Machine;
use lapidary_registers::r600::mmio::{self, cp_me_cntl, cp_rb_cntl};
use lapidary_registers::r600::pm4::op;

use crate::fault::{self, LATE};
use crate::kind;
use crate::microcode::Memory;
use crate::packet;
use crate::poll::Poll;
use crate::unit::Unit;
use crate::{R6xx, Source};

/// How long until something in memory is looked at again.
pub const POLL: Duration = Duration::from_millis(1);
/// How long an endless buffer rests between its rounds, so that the host's processor stays free.
const ROUND: Duration = Duration::from_millis(1);

/// One of the three streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// The ring.
    Ring,
    /// The first indirect buffer.
    Ib1,
    /// The second.
    Ib2,
}

impl Stream {
    /// Return the name for messages.
    pub fn name(self) -> &'static str {
        match self {
            Stream::Ring => "ring",
            Stream::Ib1 => "IB1",
            Stream::Ib2 => "IB2",
        }
    }

    /// Return the stream that an INDIRECT_BUFFER packet in this one starts, if one can.
    fn child(self) -> Option<Stream> {
        match self {
            Stream::Ring => Some(Stream::Ib1),
            Stream::Ib1 => Some(Stream::Ib2),
            Stream::Ib2 => None,
        }
    }
}

/// A started indirect buffer.
#[derive(Clone, Copy)]
struct Buffer {
    base: u64,
    size: u32,
    next: u32,
    endless: bool,
    /// The CP hangs at its first packet.
    hangs: bool,
}

/// What the CP waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// A semaphore.
    Semaphore(u64),
    /// A place to have a value.
    Poll(Poll),
}

/// State of the command processor.
#[derive(Default)]
pub struct Cp {
    ring: Ring,
    /// The micro-engine's microcode.
    pub me: Memory,
    /// The prefetch parser's microcode.
    pub pfp: Memory,
    /// What is being waited for.
    pub wait: Option<Wait>,
    /// Dwords to pass over in a stream, for conditional execution.
    pub skip: [u32; 3],
    /// The predicate of packets that ask for it, if one is set: whether they are executed.
    pub predicate: Option<bool>,
    buffers: [Option<Buffer>; 3],
    assembly: [Vec<u32>; 3],
    assembly_at: [u64; 3],
    held: Option<(Instant, Stream, Vec<u32>)>,
    /// A packet that is executed when the micro-engine is halted.
    at_halt: Option<(Stream, Vec<u32>)>,
    rest: Option<Instant>,
    hung: bool,
    /// ME_INITIALIZE has been executed since the last reset.
    pub initialized: bool,
    /// Source and destination of the last CP_DMA, each its lower and its upper dword.
    pub copied: [u32; 4],
}

impl Cp {
    /// Soft-reset the CP. The microcode and the write pointer stay.
    pub fn reset(&mut self) {
        let (me, pfp) = (std::mem::take(&mut self.me), std::mem::take(&mut self.pfp));
        let mut ring = std::mem::take(&mut self.ring);
        ring.reset();
        *self = Cp {
            me,
            pfp,
            ring,
            ..Cp::default()
        };
    }

    /// Return whether a first-level indirect buffer is being executed.
    pub fn in_buffer(&self) -> bool {
        self.buffers[Stream::Ib1 as usize].is_some()
    }

    /// Return whether something is under way, apart from the ring's pointers.
    fn working(&self) -> bool {
        self.hung
            || self.wait.is_some()
            || self.held.is_some()
            || self.at_halt.is_some()
            || self.buffers.iter().any(Option::is_some)
            || self.assembly.iter().any(|a| !a.is_empty())
    }
}

impl R6xx {
    fn ring_shape(&self) -> Shape {
        use cp_rb_cntl::{RB_BLKSZ, RB_BUFSZ};
        let cntl = self.regs.get(mmio::CP_RB_CNTL);
        Shape::of(RB_BUFSZ.get(cntl), RB_BLKSZ.get(cntl))
    }

    /// Return whether the micro-engine takes packets.
    pub(crate) fn cp_runs(&self) -> bool {
        !cp_me_cntl::ME_HALT.any(self.regs.get(mmio::CP_ME_CNTL))
    }

    /// Return whether the CP has anything to do or is stuck.
    pub(crate) fn cp_busy(&self) -> bool {
        self.cp.working() || self.cp_runs() && self.cp.ring.pending(self.ring_shape()) > 0
    }

    /// Do a bounded piece of the command processor's work.
    pub(crate) fn cp_step(&mut self, m: &mut Machine, now: Instant) -> Step {
        let mut later = Step::Idle;
        if let Some(due) = self.cp.ring.due() {
            if due > now {
                later = Step::At(due);
            } else {
                self.commit_wptr(m);
            }
        }
        let stands = self.cp.hung || self.cp.at_halt.is_some();
        if stands || self.cp_in_reset() || !self.cp_runs() {
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
            let satisfied = match wait {
                Wait::Semaphore(at) => self.semaphore_taken(m, at),
                Wait::Poll(poll) => self.poll_satisfied(m, poll),
            };
            if !satisfied {
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

    fn available(&self, stream: Stream) -> u32 {
        match self.cp.buffers[stream as usize] {
            Some(b) => b.size - b.next,
            None if stream == Stream::Ring => self.cp.ring.pending(self.ring_shape()),
            None => 0,
        }
    }

    /// Return where the next dword of a stream lies.
    fn address(&self, stream: Stream) -> u64 {
        match self.cp.buffers[stream as usize] {
            Some(b) => b.base + u64::from(b.next) * 4,
            None => self.ring_base() + u64::from(self.cp.ring.position(self.ring_shape())) * 4,
        }
    }

    fn ring_base(&self) -> u64 {
        u64::from(self.regs.get(mmio::CP_RB_BASE)) << 8
    }

    /// Take what a stream has, up to the end of its packet, and execute the packet if that completes it. False if
    /// there was nothing to take.
    fn pull(&mut self, m: &mut Machine, stream: Stream, now: Instant) -> bool {
        let i = stream as usize;
        let available = self.available(stream);
        if available == 0 {
            return self.end_of_buffer(m, stream, now);
        }
        if self.cp.skip[i] > 0 {
            let n = self.cp.skip[i].min(available);
            self.cp.skip[i] -= n;
            self.take(m, stream, n);
            return true;
        }
        let begins = self.cp.buffers[i].is_some_and(|b| b.hangs && b.next == 0);
        if begins || (self.cp.assembly[i].is_empty() && m.faults.take(fault::HANG)) {
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
        let fence = packet::is_fence(&words);
        if fence && m.faults.take(fault::LATE_FENCE) {
            m.trace.line(format_args!("fault: late fence"));
            self.cp.held = Some((now + LATE, stream, words));
            return true;
        }
        if fence && m.faults.take(fault::FENCE_AT_HALT) {
            m.trace.line(format_args!("fault: fence at halt"));
            self.cp.at_halt = Some((stream, words));
            return false;
        }
        if packet::opcode(words[0]) == Some(op::NOP)
            && m.faults.armed(fault::HANG_ON)
            && words.get(1).map(|w| u64::from(*w)) == m.faults.value(fault::HANG_ON)
        {
            m.trace.line(format_args!("fault: hang on {words:x?}"));
            self.cp.hung = true;
            return false;
        }
        self.execute(m, stream, &words);
        true
    }

    /// Consume `n` dwords, which must be available.
    fn take(&mut self, m: &mut Machine, stream: Stream, n: u32) -> Vec<u32> {
        let mut words = Vec::with_capacity(n as usize);
        let at = self.address(stream);
        if let Some(b) = &mut self.cp.buffers[stream as usize] {
            b.next += n;
            self.fetch(m, at, n, &mut words);
        } else {
            let shape = self.ring_shape();
            let to_end = n.min(shape.size - self.cp.ring.position(shape));
            self.fetch(m, at, to_end, &mut words);
            self.fetch(m, self.ring_base(), n - to_end, &mut words);
            if self.cp.ring.advance(n, shape) {
                self.write_back_rptr(m);
            }
        }
        m.counters.add("fetched_dwords", n.into());
        words
    }

    fn fetch(&mut self, m: &mut Machine, at: u64, n: u32, words: &mut Vec<u32>) {
        let mut bytes = vec![0; n as usize * 4];
        if n > 0 {
            self.bus.read(m, Unit::Fetch, at, &mut bytes);
        }
        let swap = cp_rb_cntl::BUF_SWAP.get(self.regs.get(mmio::CP_RB_CNTL));
        words.extend(
            bytes
                .chunks_exact(4)
                .map(|b| swapped(swap, u32::from_le_bytes([b[0], b[1], b[2], b[3]]))),
        );
    }

    fn write_back_rptr(&mut self, m: &mut Machine) {
        let cntl = self.regs.get(mmio::CP_RB_CNTL);
        if cp_rb_cntl::RB_NO_UPDATE.any(cntl) || m.faults.take(fault::LOST_RPTR) {
            return;
        }
        let low = self.regs.get(mmio::CP_RB_RPTR_ADDR);
        let high = self.regs.get(mmio::CP_RB_RPTR_ADDR_HI) & 0xff;
        let at = u64::from(low & !3) | (u64::from(high) << 32);
        let value = swapped(low, self.cp.ring.rptr);
        m.counters.add("rptr_writebacks", 1);
        self.bus.write32(m, Unit::WriteBack, at, value);
    }

    /// End an indirect buffer that is exhausted, or handle the ring that has run dry. True if something changed by
    /// that.
    fn end_of_buffer(&mut self, m: &mut Machine, stream: Stream, now: Instant) -> bool {
        let i = stream as usize;
        let Some(buffer) = &mut self.cp.buffers[i] else {
            return false;
        };
        if buffer.endless {
            buffer.next = 0;
            self.cp.assembly[i].clear();
            self.cp.rest = Some(now + ROUND);
            return true;
        }
        self.cp.buffers[i] = None;
        self.cp.skip[i] = 0;
        let left = std::mem::take(&mut self.cp.assembly[i]);
        if let Some(header) = left.first() {
            m.finding(
                kind::PACKET_CROSSES_BUFFER,
                format_args!(
                    "{} of {} ends after {} dwords",
                    packet::name(*header),
                    stream.name(),
                    left.len()
                ),
            );
        }
        true
    }

    /// Execute an INDIRECT_BUFFER packet.
    pub(crate) fn start_buffer(&mut self, m: &mut Machine, from: Stream, base: u64, size: u32) {
        let Some(stream) = from.child() else {
            m.finding(
                kind::IB_NESTING,
                format_args!("an indirect buffer from {}", from.name()),
            );
            return;
        };
        if size == 0 {
            return;
        }
        let endless = m.faults.take(fault::ENDLESS_BUFFER);
        let hangs = stream == Stream::Ib1 && m.faults.last(fault::HANG_BUFFER);
        m.counters.add("indirect_buffers", 1);
        if stream == Stream::Ib1 {
            self.client_begins();
        }
        self.cp.buffers[stream as usize] = Some(Buffer {
            base,
            size,
            next: 0,
            endless,
            hangs,
        });
    }

    fn execute(&mut self, m: &mut Machine, stream: Stream, words: &[u32]) {
        m.counters.add("packets", 1);
        let address = self.cp.assembly_at[stream as usize];
        if m.trace.on() {
            let options = lapidary_decoder::Options {
                base: address,
                ..Default::default()
            };
            let database = self.variant.generation.registers.database;
            for line in lapidary_decoder::decode_stream(database, words, options) {
                m.trace.line(format_args!("{:<4} {line}", stream.name()));
            }
        }
        m.judge.doing(Some(Doing {
            stream: stream.name(),
            address,
            header: words[0],
            name: packet::name,
        }));
        let first = self.cp.buffers[Stream::Ib1 as usize].filter(|_| stream == Stream::Ib1);
        self.bus.packet = first.map(|b| (address.wrapping_sub(b.base) / 4) as u32);
        self.packet(m, stream, words);
        self.bus.packet = None;
        m.judge.doing(None);
    }

    /// Let the staged write pointer take effect.
    fn commit_wptr(&mut self, m: &mut Machine) {
        let gives = cp_rb_cntl::RB_RPTR_WR_ENA.any(self.regs.get(mmio::CP_RB_CNTL));
        let give = gives.then(|| self.regs.get(mmio::CP_RB_RPTR_WR));
        let (rptr, wptr) = (self.cp.ring.rptr, self.cp.ring.wptr);
        let written = self.cp.ring.written();
        match self.cp.ring.commit(self.ring_shape(), give) {
            Verdict::Good => {}
            Verdict::Outside => m.finding(
                kind::RING_POINTER,
                format_args!("write pointer {written:#x}"),
            ),
            // While the micro-engine is halted, a write pointer that is made to match empties the ring.
            Verdict::Overrun if written == rptr && !self.cp_runs() => {}
            Verdict::Overrun => m.finding(
                kind::RING_OVERRUN,
                format_args!("write pointer {wptr:#x} to {written:#x}, read pointer {rptr:#x}"),
            ),
        }
        if give.is_none() {
            m.counters.add("submissions", 1);
        }
    }

    /// Write a register of the CP. True if it is one of them.
    pub(crate) fn cp_write(
        &mut self,
        m: &mut Machine,
        offset: u32,
        value: u32,
        source: Source,
    ) -> bool {
        match offset {
            mmio::CP_RB_WPTR => {
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
            mmio::CP_RB_BASE | mmio::CP_RB_CNTL => {
                if self.cp_runs() && self.cp_busy() {
                    let name = self.regs.register(offset).map_or("", |r| r.name);
                    m.finding(
                        kind::RING_RECONFIGURED,
                        format_args!("{name} = {value:#010x}"),
                    );
                }
                self.regs.set(offset, value);
            }
            mmio::CP_ME_CNTL => {
                self.start_or_halt(m, value);
                self.regs.set(offset, value);
            }
            mmio::CP_PFP_UCODE_ADDR => {
                self.load_at(m, offset, value, |cp| &mut cp.pfp);
                self.cp.pfp.seek_read(value);
            }
            mmio::CP_ME_RAM_RADDR => self.cp.me.seek_read(value),
            mmio::CP_ME_RAM_WADDR => self.load_at(m, offset, value, |cp| &mut cp.me),
            mmio::CP_PFP_UCODE_DATA => self.cp.pfp.write_here(value),
            mmio::CP_ME_RAM_DATA => self.cp.me.write_here(value),
            mmio::CP_INT_STATUS => self.cp_interrupt(m, value),
            _ => match mmio::SCRATCH_REG.index_of(offset) {
                Some(n) => self.scratch(m, n, value, source),
                None => return false,
            },
        }
        true
    }

    /// Write the address of a memory for microcode.
    fn load_at(
        &mut self,
        m: &mut Machine,
        offset: u32,
        value: u32,
        memory: fn(&mut Cp) -> &mut Memory,
    ) {
        if self.cp_runs() {
            m.finding(
                kind::RING_RECONFIGURED,
                format_args!("microcode is loaded while the micro-engine runs"),
            );
        }
        memory(&mut self.cp).seek(value);
        self.regs.set(offset, value);
    }

    fn start_or_halt(&mut self, m: &mut Machine, value: u32) {
        let halts = cp_me_cntl::ME_HALT.any(value);
        if halts {
            if let Some((stream, words)) = self.cp.at_halt.take() {
                self.execute(m, stream, &words);
            }
            return;
        }
        if self.cp_runs() {
            return;
        }
        let g = self.variant.generation;
        let (pfp, me) = (self.cp.pfp.filled(), self.cp.me.filled());
        if pfp < g.pfp_words || me < g.me_words {
            m.finding(
                kind::NO_MICROCODE,
                format_args!(
                    "{pfp} of {} words for the PFP, {me} of {} for the ME",
                    g.pfp_words, g.me_words
                ),
            );
        }
        self.judge_host_path(m, "the CP");
    }

    /// Return what a register of the CP reads, if it is one with a life of its own.
    pub(crate) fn cp_peek(&self, offset: u32) -> Option<u32> {
        Some(match offset {
            mmio::CP_RB_RPTR => self.cp.ring.rptr,
            mmio::CP_RB_WPTR => self.cp.ring.written(),
            _ => return None,
        })
    }

    /// Write a scratch register, and copy it to memory if the mask says so.
    fn scratch(&mut self, m: &mut Machine, n: u32, value: u32, source: Source) {
        if let Some(offset) = mmio::SCRATCH_REG.at(n) {
            self.regs.set(offset, value);
        }
        let mask = mmio::scratch_umsk::MASK.get(self.regs.get(mmio::SCRATCH_UMSK));
        // The CPU's own writes are not copied.
        if mask & (1 << n) == 0 || source == Source::Host {
            return;
        }
        if m.faults.take(fault::LOST_WRITEBACK) {
            m.trace.line(format_args!(
                "fault: write-back of scratch register {n} lost"
            ));
            return;
        }
        m.counters.add("scratch_writebacks", 1);
        let base = u64::from(self.regs.get(mmio::SCRATCH_ADDR)) << 8;
        self.bus
            .write32(m, Unit::WriteBack, base + u64::from(n) * 4, value);
    }
}
