// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The fetcher: reads a stream from memory, 16 bytes at a time (L583-610).
//!
//! It goes from the start to the pause address, executes the unit there, and does what the pause's ID says: wait until the
//! pause address moves, go on at the start, or end. At the jump address it goes back to the start. A branch interrupts the
//! ring for a buffer elsewhere (L712-752).

use std::time::Instant;

use lapidary_model::machine::Machine;
use lapidary_registers::chrome9::para_10::{
    self, agp_pause_high as pause_high, agp_start_low as start_low, branch_control,
};
use lapidary_registers::chrome9::para_11::{self, branch_2, branch_3, branch_4};
use lapidary_registers::chrome9::{enums, mmio_read};

use crate::hang::Halt;
use crate::stream::Stream;
use crate::{Chrome9, bus, fault, kind};

/// Bytes that are fetched at once.
pub const UNIT: u64 = 16;
/// The fewest units that a move of the pause address has to add (decision 2; public drivers pad to it).
const SHORTEST_KICK: u64 = 5;
/// What a block ends at, in bytes from the start of the ring.
const BLOCK: u64 = 0x80;

/// What the fetcher does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// Nothing, until it is triggered.
    #[default]
    Off,
    /// It fetches.
    Running,
    /// It waits at the pause address.
    Paused,
}

/// Where a stream is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The next unit.
    pub at: u64,
    /// Memory that it is in.
    pub location: u32,
}

/// A branch under way.
#[derive(Clone, Copy, Debug)]
struct Branch {
    place: Place,
    start: u64,
    end: u64,
    /// It stops at its first unit: a fault.
    hangs: bool,
    /// It begins again at its end: a fault.
    endless: bool,
}

/// The fetcher.
#[derive(Default)]
pub struct Fetcher {
    state: State,
    ring: Place,
    branch: Option<Branch>,
    /// What the stream is in the middle of.
    pub stream: Stream,
    pause: u64,
    pause_id: u32,
    /// It is held (INTERRUPT_COMMAND.PAUSE).
    pub held: bool,
    /// It ends as soon as commands are not critical.
    stopping: bool,
    /// What faults have done to it.
    pub halt: Halt,
}

impl Fetcher {
    /// Return whether there is something to fetch.
    pub fn runs(&self) -> bool {
        self.busy() && !self.held && !self.halt.stands()
    }

    /// Return whether it is at work, held or not. A branch that the last unit has begun is work, too.
    pub fn busy(&self) -> bool {
        self.state == State::Running || self.in_branch()
    }

    /// Return whether it waits at the pause address.
    pub fn paused(&self) -> bool {
        self.state == State::Paused && !self.in_branch()
    }

    /// Return the address of the next unit.
    pub fn at(&self) -> u64 {
        self.branch.map_or(self.ring, |b| b.place).at
    }

    /// Return whether a branch is under way.
    pub fn in_branch(&self) -> bool {
        self.branch.is_some()
    }

    /// End at once. What holds it holds the next start, too, and so does a fault.
    pub fn clear(&mut self) {
        *self = Fetcher {
            pause: self.pause,
            pause_id: self.pause_id,
            held: self.held,
            halt: std::mem::take(&mut self.halt),
            ..Fetcher::default()
        };
    }
}

impl Chrome9 {
    fn ring_parameter(&self, sub_address: u32) -> u32 {
        self.parameters
            .get(enums::para_type::REGULATOR as u8, 0, sub_address)
    }

    /// Return an address that two parameters give: bits 23:4, and 31:24.
    pub(crate) fn ring_address(&self, low: u32) -> u64 {
        let high = self.ring_parameter(low + 1) & 0xff;
        (u64::from(high) << 24) | u64::from(self.ring_parameter(low) & 0xff_fff0)
    }

    /// Start at the start address.
    pub(crate) fn trigger(&mut self, m: &mut Machine) {
        self.trigger_at(m, self.ring_address(para_10::AGP_START_LOW));
    }

    /// Start at an address of the ring.
    pub(crate) fn trigger_at(&mut self, m: &mut Machine, start: u64) {
        if self.fetcher.state == State::Running {
            m.finding(
                kind::RING_RESTART,
                format_args!("it is at {:#x}", self.fetcher.at()),
            );
        }
        let location = start_low::LOCATION.get(self.ring_parameter(para_10::AGP_START_LOW));
        if location == enums::location::RESERVED {
            m.finding(
                kind::RESERVED_VALUE,
                format_args!("the ring's location is 11b"),
            );
            return;
        }
        self.fetcher.clear();
        self.take_pause();
        self.fetcher.ring = Place {
            at: start,
            location,
        };
        self.fetcher.state = State::Running;
        self.judge_kick(m, start.wrapping_sub(UNIT));
    }

    /// Take the pause address that the parameters have.
    fn take_pause(&mut self) {
        let high = self.ring_parameter(para_10::AGP_PAUSE_HIGH);
        self.fetcher.pause = self.ring_address(para_10::AGP_PAUSE_LOW);
        self.fetcher.pause_id = pause_high::PAUSE_ID.get(high);
    }

    /// Move the pause address to what the parameters have. A fetcher that waits goes on behind the old one.
    pub(crate) fn move_pause(&mut self, m: &mut Machine) {
        let old = self.fetcher.pause;
        self.take_pause();
        self.go_on(m, old);
    }

    /// Move the pause address by the port in the display's registers.
    pub(crate) fn move_pause_to(&mut self, m: &mut Machine, address: u32) {
        let old = self.fetcher.pause;
        self.fetcher.pause = u64::from(address) & !(UNIT - 1);
        self.go_on(m, old);
    }

    fn go_on(&mut self, m: &mut Machine, old: u64) {
        if self.fetcher.pause_id == pause_high::pause_id::RESERVED {
            m.finding(
                kind::RESERVED_VALUE,
                format_args!("AGP_PAUSE_HIGH.PAUSE_ID 3"),
            );
        }
        if self.fetcher.state == State::Off || self.fetcher.pause == old {
            return;
        }
        self.judge_kick(m, old);
        if self.fetcher.state == State::Paused {
            self.fetcher.state = State::Running;
        }
    }

    /// Judge how far the pause address has moved from the last unit before it.
    fn judge_kick(&self, m: &mut Machine, last: u64) {
        let start = self.ring_address(para_10::AGP_START_LOW);
        let pause = self.fetcher.pause;
        let added = pause.wrapping_sub(last);
        // Behind a jump the block begins at the start.
        let short = (added as i64) > 0 && added < SHORTEST_KICK * UNIT;
        let ragged = pause.wrapping_add(UNIT).wrapping_sub(start) % BLOCK != 0;
        if short || ragged {
            m.finding(
                kind::RING_KICK,
                format_args!("pause address {pause:#x} after {last:#x}, start {start:#x}"),
            );
        }
    }

    /// End when commands are not critical.
    pub(crate) fn stop_fetch(&mut self, m: &mut Machine) {
        self.fetcher.stopping = true;
        self.try_stop(m);
    }

    /// End if that was asked for and commands are not critical. The state is saved then, if the buffer's setting says so.
    pub(crate) fn try_stop(&mut self, m: &mut Machine) {
        let kind = enums::para_type::REGULATOR_MISC as u8;
        let misc = self.parameters.get(kind, 0, para_11::CR_MISC);
        if self.fetcher.stopping && !para_11::cr_misc::CRITICAL.any(misc) {
            self.clear_fetch(m);
            self.save(m);
        }
    }

    /// Begin the first branch or the second one.
    pub(crate) fn branch(&mut self, m: &mut Machine, first: u32) {
        if self.fetcher.in_branch() {
            m.finding(
                kind::NESTED_BRANCH,
                format_args!("at {:#x}", self.fetcher.at()),
            );
            return;
        }
        if !branch_control::ENABLE.any(self.ring_parameter(para_10::BRANCH_CONTROL)) {
            m.finding(
                kind::BRANCH_DISABLED,
                format_args!("at {:#x}", self.fetcher.at()),
            );
            return;
        }
        let get = |n| {
            let kind = enums::para_type::REGULATOR_MISC as u8;
            self.parameters.get(kind, 0, first + n)
        };
        let at = (u64::from(branch_3::ADDRESS_HIGH.get(get(1))) << 24)
            | (u64::from(branch_2::ADDRESS_LOW.get(get(0))) << 1);
        let location = branch_3::LOCATION.get(get(1));
        let size = u64::from(branch_4::SIZE.get(get(2)));
        if location == enums::location::RESERVED || at % UNIT != 0 || size == 0 {
            m.finding(
                kind::RESERVED_VALUE,
                format_args!("a branch to {at:#x}, location {location}, of {size:#x} units"),
            );
            return;
        }
        m.counters.add("branches", 1);
        m.counters.add("indirect_buffers", 1);
        self.parameters.next_stream();
        self.fetcher.branch = Some(Branch {
            place: Place { at, location },
            start: at,
            end: at + size * UNIT,
            hangs: m.faults.last(fault::HANG_BUFFER),
            endless: m.faults.take(fault::ENDLESS_BUFFER),
        });
    }

    /// Fetch a unit and execute it.
    pub(crate) fn fetch(&mut self, m: &mut Machine, now: Instant) {
        let in_branch = self.fetcher.in_branch();
        let place = self.fetcher.branch.map_or(self.fetcher.ring, |b| b.place);
        let end = self.ring_address(para_10::AGP_END_LOW);
        if !in_branch && place.at >= end {
            m.finding(
                kind::RING_END,
                format_args!("{:#x} is not before {end:#x}", place.at),
            );
            self.fetcher.clear();
            return;
        }
        let mut bytes = [0; UNIT as usize];
        if !bus::fetch(m, &mut self.gart, place, &mut bytes) {
            // What comes from nowhere are ones, which are no header. A real regulator would hang or worse.
            self.fetcher.clear();
            return;
        }
        let mut words = [0; 4];
        for (word, chunk) in words.iter_mut().zip(bytes.chunks_exact(4)) {
            *word = u32::from_le_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]);
        }
        let begins = |b: Branch| b.hangs && place.at == b.start;
        let begins = self.fetcher.branch.is_some_and(begins);
        if self.held_by_fault(m, now, begins, place.at, words) {
            return;
        }
        m.counters.add("units", 1);
        match &mut self.fetcher.branch {
            Some(branch) => branch.place.at += UNIT,
            None => self.fetcher.ring.at += UNIT,
        }
        self.stream_unit(m, place.at, words);
        if in_branch {
            let ended = self.fetcher.branch.filter(|b| b.place.at >= b.end);
            if let Some(mut branch) = ended {
                self.stream_end(m);
                self.parameters.next_stream();
                branch.place.at = branch.start;
                self.fetcher.branch = branch.endless.then_some(branch);
                if branch.endless {
                    self.fetcher.halt.rest_a_round(now);
                }
            }
        } else {
            self.after(m, place.at);
        }
    }

    /// Do what the addresses say that the unit of the ring at an address may be.
    fn after(&mut self, m: &mut Machine, at: u64) {
        let start = self.ring_address(para_10::AGP_START_LOW);
        // A branch that this unit has begun goes first, and the ring waits behind it.
        if at == self.fetcher.pause {
            match self.fetcher.pause_id {
                pause_high::pause_id::JUMP => self.fetcher.ring.at = start,
                pause_high::pause_id::STOP => {
                    self.stream_end(m);
                    self.fetcher.clear();
                }
                _ => self.fetcher.state = State::Paused,
            }
        } else if at == self.ring_address(para_10::AGP_JUMP_LOW) {
            self.fetcher.ring.at = start;
        }
    }

    /// Return what the CPU reads of the fetcher.
    pub(crate) fn read_fetcher(&mut self, m: &mut Machine, offset: u32, stored: u32) -> u32 {
        let setting = self.ring_parameter(para_10::READ_BACK_SETTING);
        let block = para_10::read_back_setting::BLOCK.get(setting);
        if block != para_10::read_back_setting::block::CR {
            m.finding(
                kind::READ_BACK_BLOCK,
                format_args!("{offset:#x} of block {block}"),
            );
        }
        match offset {
            mmio_read::AGP_FETCH => self.fetcher.at() as u32,
            mmio_read::AGP_STATE => mmio_read::agp_state::PAUSED.of(self.fetcher.paused().into()),
            mmio_read::CMDQ_STATE => 0,
            mmio_read::AGP_PAUSE => self.fetcher.pause as u32,
            mmio_read::AGP_JUMP => self.ring_address(para_10::AGP_JUMP_LOW) as u32,
            mmio_read::AGP_START => self.ring_address(para_10::AGP_START_LOW) as u32,
            _ => stored,
        }
    }
}
