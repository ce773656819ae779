// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The command processor: three streams of dwords, cut into packets (R5xx chapter 4).
//!
//! The ring (primary stream) starts the first indirect buffer, that one starts the second; each is consumed to its
//! end before its parent goes on. A stream is either pulled from memory or pushed by the host through its aperture.
//! What is fetched goes into an assembly until a packet is complete, so a packet may be longer than what the host has
//! announced so far, and even longer than the ring.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use lapidary_registers::RegArray;
use lapidary_registers::r500::pm4::op;
use lapidary_registers::r500::{DATABASE, mmio};

use super::draw::is_port;
use super::me_ram::MeRam;
use super::packet;
use super::{R5xx, Source};
use crate::fault::{self, LATE};
use crate::kind;
use crate::unit::Unit;
use lapidary_model::amd::ring::{Ring, Shape};
use lapidary_model::chip::Step;
use lapidary_model::judge::Doing;
use lapidary_model::machine::Machine;

/// How long until a semaphore in memory is looked at again.
const POLL: Duration = Duration::from_millis(1);
/// How long an endless buffer rests between its rounds, so that the host's processor stays free.
const ROUND: Duration = Duration::from_millis(1);
/// Dwords of an index buffer that one step moves.
const LOAD: u32 = 1024;
/// Entries of the command stream queue, which the streams share.
pub(super) const QUEUE: usize = 128;

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

    /// Return the name for messages.
    pub fn name(self) -> &'static str {
        match self {
            Stream::Ring => "ring",
            Stream::Ib1 => "IB1",
            Stream::Ib2 => "IB2",
        }
    }

    pub(super) fn aperture(self) -> RegArray {
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
pub(super) struct Buffer {
    pub(super) base: u32,
    pub(super) size: u32,
    pub(super) next: u32,
    pub(super) endless: bool,
    /// The CP hangs at its first packet.
    pub(super) hangs: bool,
    /// Its dwords are not packets but data for a register.
    pub(super) load: Option<Load>,
}

/// Where the data of an INDX_BUFFER packet goes.
#[derive(Clone, Copy)]
pub(super) struct Load {
    /// Byte offset of the (next) register.
    pub(super) register: u32,
    /// Distance to the one after it, 0 or 4.
    pub(super) step: u32,
    /// Dwords still to be dropped.
    pub(super) skip: u32,
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
    /// Engines that are stuck to be idle.
    Stuck {
        /// The 2D engine.
        for_2d: bool,
        /// The 3D engine.
        for_3d: bool,
    },
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
    pub(super) buffers: [Option<Buffer>; 3],
    pub(super) queues: [VecDeque<u32>; 3],
    pub(super) assembly: [Vec<u32>; 3],
    pub(super) assembly_at: [u32; 3],
    pub(super) held: Option<(Instant, Stream, Vec<u32>)>,
    /// A packet that is executed when the streams are switched off.
    pub(super) at_halt: Option<(Stream, Vec<u32>)>,
    pub(super) rest: Option<Instant>,
    pub(super) hung: bool,
    pub(super) told_microcode: bool,
    pub(super) resync: VecDeque<(u32, u32)>,
}

impl Cp {
    /// Soft-reset the streams. Microcode and the write pointer survive.
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

    /// Stop all work until a soft reset.
    pub fn hang(&mut self) {
        self.hung = true;
    }

    /// Return whether a stream has something under way, apart from the ring's pointers.
    pub(super) fn working(&self) -> bool {
        self.hung
            || self.wait.is_some()
            || self.held.is_some()
            || self.at_halt.is_some()
            || self.buffers.iter().any(Option::is_some)
            || self.queues.iter().any(|q| !q.is_empty())
            || self.assembly.iter().any(|a| !a.is_empty())
    }
}

/// Return the modes of the ring and of the indirect streams.
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
    /// Return whether the CP has anything to do or is stuck.
    pub(super) fn cp_busy(&self) -> bool {
        let (primary, _) = modes(self.regs.get(mmio::CP_CSQ_CNTL));
        let ring = primary == Mode::Pull && self.cp.ring.pending(self.ring_shape()) > 0;
        ring || self.cp.working()
    }

    /// Return what the ring's control register says of it.
    pub(super) fn ring_shape(&self) -> Shape {
        use mmio::cp_rb_cntl::{RB_BLKSZ, RB_BUFSZ};
        let cntl = self.regs.get(mmio::CP_RB_CNTL);
        Shape::of(RB_BUFSZ.get(cntl), RB_BLKSZ.get(cntl))
    }

    pub(super) fn mode(&self, stream: Stream) -> Mode {
        let (primary, indirect) = modes(self.regs.get(mmio::CP_CSQ_CNTL));
        if stream == Stream::Ring {
            primary
        } else {
            indirect
        }
    }

    /// Do a bounded piece of the command processor's work.
    pub(super) fn cp_step(&mut self, m: &mut Machine, now: Instant) -> Step {
        let mut later = Step::Idle;
        if let Some(due) = self.cp.ring.due() {
            if due > now {
                later = Step::At(due);
            } else {
                self.commit_wptr(m);
            }
        }
        let stands = self.cp.hung || self.cp.at_halt.is_some();
        if stands || self.in_reset() || self.mode(Stream::Ring) == Mode::Off {
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
            Wait::Stuck { for_2d, for_3d } => {
                !(for_2d && self.stuck.in_2d() || for_3d && self.stuck.in_3d())
            }
            Wait::Dma(engines) => !self
                .dma
                .iter()
                .enumerate()
                .any(|(i, e)| engines & (1 << i) != 0 && e.active()),
        }
    }

    /// Take what a stream has, up to the end of its packet, and execute the packet if that completes it. False if
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
                    kind::NO_MICROCODE,
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
        if let Some(load) = self.cp.buffers[i].and_then(|b| b.load) {
            self.load(m, stream, load, available);
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
        let late = m.faults.armed(fault::LATE_FENCE) && self.writes_scratch(&words);
        if late && m.faults.take(fault::LATE_FENCE) {
            m.trace.line(format_args!("fault: late fence"));
            self.cp.held = Some((now + LATE, stream, words));
            return true;
        }
        let at_halt = m.faults.armed(fault::FENCE_AT_HALT) && self.writes_scratch(&words);
        if at_halt && m.faults.take(fault::FENCE_AT_HALT) {
            m.trace.line(format_args!("fault: fence at halt"));
            self.cp.at_halt = Some((stream, words));
            return false;
        }
        if words[0] >> 30 == 3
            && packet::opcode(words[0]) == op::NOP
            && words.get(1).map(|w| u64::from(*w)) == m.faults.value(fault::HANG_ON)
            && m.faults.armed(fault::HANG_ON)
        {
            m.trace.line(format_args!("fault: hang on {words:x?}"));
            self.cp.hung = true;
            return false;
        }
        self.execute(m, stream, &words);
        true
    }

    /// Bring a piece of an index buffer to its register.
    fn load(&mut self, m: &mut Machine, stream: Stream, mut load: Load, available: u32) {
        let words = self.take_as(m, stream, available.min(LOAD), Unit::Index);
        m.counters.add("indices_loaded", words.len() as u64);
        let skip = (load.skip as usize).min(words.len());
        load.skip -= skip as u32;
        let words = &words[skip..];
        if load.step == 0 && is_port(load.register & 0x7ffc) {
            self.feed_draw(m, words);
        } else {
            for word in words {
                let source = Source::Packet { stream, last: true };
                self.write_register(m, load.register & 0x7ffc, *word, source);
                load.register += load.step;
            }
        }
        if let Some(b) = &mut self.cp.buffers[stream as usize] {
            b.load = Some(load);
        }
    }

    /// End an indirect buffer that is exhausted, or handle a stream that has run dry. True if something changed by
    /// that.
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
                kind::PACKET_CROSSES_BUFFER,
                format_args!(
                    "{} of {} ends after {left} dwords",
                    packet::name(header),
                    stream.name()
                ),
            );
        }
        true
    }

    /// Prepare for a write to `CP_CSQ_CNTL`.
    pub(super) fn halt(&mut self, m: &mut Machine, csq: u32) {
        if modes(csq).0 == Mode::Off {
            if let Some((stream, words)) = self.cp.at_halt.take() {
                self.execute(m, stream, &words);
            }
        }
    }

    fn execute(&mut self, m: &mut Machine, stream: Stream, words: &[u32]) {
        m.counters.add("packets", 1);
        let address = self.cp.assembly_at[stream as usize];
        if m.trace.on() {
            let options = lapidary_decoder::Options {
                base: address.into(),
                ring: None,
            };
            for line in lapidary_decoder::decode_stream(&DATABASE, words, options) {
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
}
