// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The two DMA engines of the command processor: one for GUI work, one for video capture (R5xx 4.7, 4.14).
//!
//! An engine executes descriptors of four dwords: source, destination, command, nothing. They come from a table in
//! the frame buffer whose address the host queues, until one says "end of list"; or one at a time through three
//! registers. A side may be register space. A table's `CP_SYNC` bit keeps the command streams from running while the
//! engine works.

use std::collections::VecDeque;

use lapidary_registers::Field;
use lapidary_registers::r500::mmio::{self, gen_int_status};
use lapidary_registers::r500::pm4::dma_command;

use super::{R5xx, Source};
use crate::kind;
use crate::unit::Unit;
use lapidary_model::machine::Machine;

/// Entries of an engine's queue, as `QUEUE_FREE` counts them for the host. A command stream waits for room, which the
/// model grants by letting the queue grow.
const QUEUE: usize = 16;
/// The most that the queue grows to.
const LONGEST: usize = 1 << 14;
/// Bytes that one step moves.
const PIECE: u32 = 64 << 10;

/// The registers of one engine.
pub struct Ports {
    table: u32,
    status: u32,
    source: u32,
    destination: u32,
    command: u32,
    descriptor: u32,
    direct: [u32; 3],
    queue_free: Field,
    abort: Field,
    active: Field,
    interrupt: Field,
}

/// The engines in the order GUI, video.
pub static PORTS: [Ports; 2] = [
    Ports {
        table: mmio::DMA_GUI_TABLE_ADDR,
        status: mmio::DMA_GUI_STATUS,
        source: mmio::DMA_GUI_SRC_ADDR,
        destination: mmio::DMA_GUI_DST_ADDR,
        command: mmio::DMA_GUI_COMMAND,
        descriptor: mmio::DMA_GUI_ACT_DSCRPTR,
        direct: [
            mmio::CP_GUI_SRC_ADDR,
            mmio::CP_GUI_DST_ADDR,
            mmio::CP_GUI_COMMAND,
        ],
        queue_free: mmio::dma_gui_status::QUEUE_FREE,
        abort: mmio::dma_gui_status::ABORT_EN,
        active: mmio::dma_gui_status::ACTIVE,
        interrupt: gen_int_status::GUIDMA_STAT,
    },
    Ports {
        table: mmio::DMA_VID_TABLE_ADDR,
        status: mmio::DMA_VID_STATUS,
        source: mmio::DMA_VID_SRC_ADDR,
        destination: mmio::DMA_VID_DST_ADDR,
        command: mmio::DMA_VID_COMMAND,
        descriptor: mmio::DMA_VID_ACT_DSCRPTR,
        direct: [
            mmio::CP_VID_SRC_ADDR,
            mmio::CP_VID_DST_ADDR,
            mmio::CP_VID_COMMAND,
        ],
        queue_free: mmio::dma_vid_status::QUEUE_FREE,
        abort: mmio::dma_vid_status::ABORT_EN,
        active: mmio::dma_vid_status::ACTIVE,
        interrupt: gen_int_status::VIDDMA_STAT,
    },
];

/// What is left of a descriptor.
#[derive(Clone, Copy)]
struct Descriptor {
    source: u32,
    destination: u32,
    command: u32,
    left: u32,
}

impl Descriptor {
    fn new([source, destination, command]: [u32; 3]) -> Descriptor {
        let by_words = word_wise(command);
        let mask = if by_words { !3 } else { u32::MAX };
        Descriptor {
            source: source & mask,
            destination: destination & mask,
            command,
            left: dma_command::BYTE_COUNT.get(command) & mask,
        }
    }
}

/// Return whether the unit of transfer is the dword: a side is register space or does not advance.
fn word_wise(command: u32) -> bool {
    dma_command::SAS.any(command)
        || dma_command::DAS.any(command)
        || dma_command::SAIC.any(command)
        || dma_command::DAIC.any(command)
}

/// Where an engine's next descriptor comes from.
#[derive(Clone, Copy)]
enum Next {
    /// From memory.
    Table(u32),
    /// It was the last.
    End,
}

/// What waits for an engine.
#[derive(Clone, Copy)]
enum Job {
    /// A descriptor table: its address and CP_SYNC.
    Table(u32),
    /// A descriptor given directly.
    Direct(Descriptor),
}

/// State of one engine.
#[derive(Default)]
pub struct Engine {
    queue: VecDeque<Job>,
    running: Option<(Descriptor, Next)>,
    sync: bool,
    aborted: bool,
}

impl Engine {
    /// Return whether anything is under way or waits.
    pub fn active(&self) -> bool {
        !self.aborted && (self.running.is_some() || !self.queue.is_empty())
    }

    /// Return whether the command streams must wait for it.
    pub fn locks_streams(&self) -> bool {
        self.sync && self.active()
    }
}

impl R5xx {
    /// Write a register. True if it is one of the engines'.
    pub(super) fn dma_write(
        &mut self,
        m: &mut Machine,
        offset: u32,
        value: u32,
        source: Source,
    ) -> bool {
        for (i, p) in PORTS.iter().enumerate() {
            if offset == p.table {
                self.regs.set(offset, value);
                self.dma_queue(m, i, Job::Table(value), source);
                return true;
            }
            if offset == p.status {
                let engine = &mut self.dma[i];
                let abort = p.abort.any(value);
                if abort {
                    engine.queue.clear();
                    engine.running = None;
                }
                engine.aborted = abort;
                self.regs.set(offset, value & p.abort.mask());
                return true;
            }
            if offset == p.direct[2] {
                self.regs.set(offset, value);
                let d = Descriptor::new([
                    self.regs.get(p.direct[0]),
                    self.regs.get(p.direct[1]),
                    value,
                ]);
                self.dma_queue(m, i, Job::Direct(d), source);
                return true;
            }
        }
        false
    }

    fn dma_queue(&mut self, m: &mut Machine, i: usize, job: Job, source: Source) {
        let room = if source == Source::Host {
            QUEUE
        } else {
            LONGEST
        };
        let engine = &mut self.dma[i];
        if engine.aborted {
            m.finding(
                kind::DMA_DESCRIPTOR,
                format_args!("work for engine {i}, whose ABORT_EN is set"),
            );
        } else if engine.queue.len() >= room {
            m.finding(
                kind::DMA_DESCRIPTOR,
                format_args!("the queue of engine {i} is full"),
            );
        } else {
            engine.queue.push_back(job);
        }
    }

    /// Return what a register of the engines reads.
    pub(super) fn dma_peek(&self, offset: u32) -> Option<u32> {
        let (i, p) = PORTS.iter().enumerate().find(|(_, p)| p.status == offset)?;
        let engine = &self.dma[i];
        let free = QUEUE.saturating_sub(engine.queue.len()) as u32;
        let word = p.active.put(self.regs.get(offset), engine.active().into());
        Some(p.queue_free.put(word, free))
    }

    /// Do a piece of work of both engines; true if there is more.
    pub(super) fn dma_step(&mut self, m: &mut Machine) -> bool {
        let mut more = false;
        for i in 0..self.dma.len() {
            if self.dma[i].aborted {
                continue;
            }
            match self.dma[i].running.take() {
                Some((d, next)) => self.dma_move(m, i, d, next),
                None => match self.dma[i].queue.pop_front() {
                    None => continue,
                    Some(Job::Table(table)) => {
                        self.dma[i].sync = mmio::dma_gui_table_addr::CP_SYNC.any(table);
                        self.dma_fetch(m, i, table & mmio::dma_gui_table_addr::TABLE_ADDR.mask());
                    }
                    Some(Job::Direct(d)) => {
                        self.dma[i].sync = false;
                        self.dma[i].running = Some((d, Next::End));
                    }
                },
            }
            more |= self.dma[i].active();
        }
        more
    }

    fn dma_fetch(&mut self, m: &mut Machine, i: usize, at: u32) {
        let words = [0, 4, 8].map(|o| self.bus.read32(m, Unit::Dma, at.wrapping_add(o)));
        let p = &PORTS[i];
        for (register, value) in [p.source, p.destination, p.command, p.descriptor]
            .into_iter()
            .zip(words.into_iter().chain([at]))
        {
            self.regs.set(register, value);
        }
        m.counters.add("dma_descriptors", 1);
        let last = dma_command::EOL.any(words[2]);
        // A table that never ends runs until it is aborted, a descriptor a step.
        let next = if last {
            Next::End
        } else {
            Next::Table(at.wrapping_add(16))
        };
        self.dma[i].running = Some((Descriptor::new(words), next));
    }

    /// Move a piece of a descriptor.
    fn dma_move(&mut self, m: &mut Machine, i: usize, mut d: Descriptor, next: Next) {
        let n = d.left.min(PIECE);
        if n > 0 {
            if word_wise(d.command) {
                self.dma_words(m, &mut d, n / 4);
            } else {
                let mut bytes = vec![0; n as usize];
                self.bus.read(m, Unit::Dma, d.source, &mut bytes);
                self.bus.write(m, Unit::Dma, d.destination, &bytes);
                d.source = d.source.wrapping_add(n);
                d.destination = d.destination.wrapping_add(n);
            }
            d.left -= n;
            m.counters.add("dma_bytes", n.into());
        }
        if d.left > 0 {
            self.dma[i].running = Some((d, next));
            return;
        }
        match next {
            Next::Table(at) => self.dma_fetch(m, i, at),
            Next::End => {
                if !dma_command::INTDIS.any(d.command) {
                    self.raise(m, PORTS[i].interrupt.mask());
                }
            }
        }
    }

    fn dma_words(&mut self, m: &mut Machine, d: &mut Descriptor, n: u32) {
        for _ in 0..n {
            let word = if dma_command::SAS.any(d.command) {
                self.read_register(m, d.source & 0xfffc, Source::Dma)
            } else {
                self.bus.read32(m, Unit::Dma, d.source)
            };
            if dma_command::DAS.any(d.command) {
                let offset = d.destination & 0xfffc;
                // An engine that starts engines would never end.
                if PORTS
                    .iter()
                    .any(|p| offset == p.table || offset == p.direct[2] || offset == p.status)
                {
                    m.finding(
                        kind::DMA_DESCRIPTOR,
                        format_args!("a descriptor writes the engine's own register {offset:#06x}"),
                    );
                } else {
                    self.write_register(m, offset, word, Source::Dma);
                }
            } else {
                self.bus.write32(m, Unit::Dma, d.destination, word);
            }
            if !dma_command::SAIC.any(d.command) {
                d.source = d.source.wrapping_add(4);
            }
            if !dma_command::DAIC.any(d.command) {
                d.destination = d.destination.wrapping_add(4);
            }
        }
    }
}
