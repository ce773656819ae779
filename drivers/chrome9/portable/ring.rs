// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Arithmetic of a ring without a write pointer.
//!
//! The regulator fetches up to a pause address and waits there. The host puts a block behind it and moves the pause address
//! to the block's last unit, which makes the regulator go on (L583-604). Five rules shape the blocks:
//!
//! - Public drivers let each block end at a multiple of [`BLOCK`] bytes, and the VX855 needs five units at least.
//! - At the jump address the regulator goes back to the start. It is the ring's last unit, and never moves: an address that was
//!   left from an earlier round would be met in the middle of a later block.
//! - A block's fence is its last two units, behind the padding. What came behind a fence would still be fetched when the block
//!   counts as done, and a pause address that a later round puts there would end this one too early.
//! - No block ends with the ring's last unit, because a regulator that pauses there goes on behind the ring's end.
//! - The first block is done before the register moves the pause address ([`Ring::pause_address`]). That register does not
//!   pass the regulator (L103), so it overtakes the parameters that start the ring.
//!
//! Positions count bytes since the ring was started, and never wrap. What is done is told by the caller, and not trusted: a
//! position that is not between the oldest and the newest counts as no progress.

use super::{
    emit::{
        parameter,
        Location,
        UNIT, //
    },
    regs::para_10::{
        self,
        agp_control,
        agp_pause_high::{
            self,
            pause_id, //
        }, //
        agp_start_low,
    },
};

/// What a block ends at a multiple of, in bytes.
pub const BLOCK: u32 = 0x80;
/// The fewest blocks of a ring: one to use, one at its end, one that separates the oldest from the newest, and one more.
const FEWEST: u32 = 4;
/// Bits of an address in the lower of its two parameters.
const LOW_BITS: u32 = 24;
/// Threshold of reads of commands, as public drivers have it.
const READ_THRESHOLD: u32 = 0xa;

/// Parameters of type 10h that describe a ring and start it: [`Ring::start`].
pub const START_PARAMETERS: usize = 9;

/// A ring in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ring {
    address: u32,
    bytes: u32,
    location: Location,
    /// Behind the newest block.
    next: u64,
    /// Behind the newest block that is known to be done.
    done: u64,
}

/// A piece of the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Offset in the ring, in bytes.
    pub at: u32,
    /// Its bytes, a multiple of [`BLOCK`].
    pub bytes: u32,
    /// Bytes from this offset to the ring's end are skipped and have to be padded first; 0: none are.
    pub skipped: u32,
    /// Where the skipped bytes begin.
    pub skipped_at: u32,
    /// Its position, to be given to [`Ring::retire`] when it is done.
    pub end: u64,
}

impl Ring {
    /// Return a ring of `bytes` bytes at an address. Both are multiples of [`BLOCK`], and the ring has at least four blocks and
    /// ends within 32 bits.
    pub const fn new(address: u32, bytes: u32, location: Location) -> Option<Self> {
        if address % BLOCK != 0 || bytes % BLOCK != 0 || bytes / BLOCK < FEWEST {
            return None;
        }
        if address.checked_add(bytes).is_none() {
            return None;
        }
        Some(Self {
            address,
            bytes,
            location,
            next: 0,
            done: 0,
        })
    }

    /// Return the ring without blocks, as for a regulator that has been stopped.
    pub const fn emptied(&self) -> Self {
        Self {
            next: 0,
            done: 0,
            ..*self
        }
    }

    /// Return the most bytes of a block. It always fits into an idle ring: at most as much as its length is skipped before it,
    /// and one block separates the oldest from the newest.
    pub const fn most(&self) -> u32 {
        (self.bytes.saturating_sub(BLOCK) / 2) & BLOCK.wrapping_neg()
    }

    /// Take note that everything up to a position is done.
    pub fn retire(&mut self, position: u64) {
        if position > self.done && position <= self.next {
            self.done = position;
        }
    }

    /// Return whether everything is done.
    pub const fn is_idle(&self) -> bool {
        self.done == self.next
    }

    /// Reserve a block for so many dwords. None if it is longer than [`Ring::most`], or if what is not done leaves no room.
    pub fn reserve(&mut self, dwords: u32) -> Option<Block> {
        let bytes = dwords
            .checked_mul(4)?
            .max(1)
            .checked_next_multiple_of(BLOCK)?;
        if bytes > self.most() {
            return None;
        }
        // The remainder is below the ring's length, so it fits.
        let at = self.next.checked_rem(u64::from(self.bytes))? as u32;
        let room = self.bytes.checked_sub(at)?;
        // The last block of the ring has the jump address in it.
        let skipped = if bytes.checked_add(BLOCK)? > room {
            room
        } else {
            0
        };
        let end = self
            .next
            .checked_add(u64::from(skipped))?
            .checked_add(u64::from(bytes))?;
        let used = end.checked_sub(self.done)?;
        // A block that would end where the oldest one begins has the same pause address as the one before that.
        if used.checked_add(u64::from(BLOCK))? > u64::from(self.bytes) {
            return None;
        }
        self.next = end;
        Some(Block {
            at: if skipped == 0 { at } else { 0 },
            bytes,
            skipped,
            skipped_at: at,
            end,
        })
    }

    /// Return the pause address of a block: its last unit.
    fn pause(&self, block: &Block) -> u32 {
        self.address
            .wrapping_add(block.at)
            .wrapping_add(block.bytes)
            .wrapping_sub(UNIT)
    }

    /// Return parameters that move the pause address to the end of a block. The second one takes effect.
    pub fn kick(&self, block: &Block) -> [u32; 2] {
        self.pauses(block, pause_id::PAUSE)
    }

    /// Return the pause address that makes the regulator go on to the end of a block, for the register that takes all of it
    /// at once (L235).
    pub fn pause_address(&self, block: &Block) -> u32 {
        self.pause(block)
    }

    /// Return the offset behind the newest block, and the one behind the newest block that is done, in bytes.
    pub const fn offsets(&self) -> (u32, u32) {
        (self.offset(self.next), self.offset(self.done))
    }

    const fn offset(&self, position: u64) -> u32 {
        match position.checked_rem(self.bytes as u64) {
            Some(offset) => offset as u32,
            None => 0,
        }
    }

    /// Return parameters that end the fetch with a block.
    pub fn stop(&self, block: &Block) -> [u32; 2] {
        self.pauses(block, pause_id::STOP)
    }

    fn pauses(&self, block: &Block, id: u32) -> [u32; 2] {
        let pause = self.pause(block);
        [
            parameter(para_10::AGP_PAUSE_LOW, pause),
            parameter(
                para_10::AGP_PAUSE_HIGH,
                agp_pause_high::ADDRESS_HIGH.of(pause >> LOW_BITS)
                    | agp_pause_high::PAUSE_ID.of(id),
            ),
        ]
    }

    /// Return parameters that describe the ring and start the fetch, which ends at the first block.
    pub fn start(&self, first: &Block) -> [u32; START_PARAMETERS] {
        let end = self.address.wrapping_add(self.bytes);
        let jump = end.wrapping_sub(UNIT);
        let [pause_low, pause_high] = self.kick(first);
        [
            parameter(
                para_10::AGP_START_LOW,
                self.address | agp_start_low::LOCATION.of(self.location.code()),
            ),
            parameter(para_10::AGP_START_HIGH, self.address >> LOW_BITS),
            parameter(para_10::AGP_END_LOW, end),
            parameter(para_10::AGP_END_HIGH, end >> LOW_BITS),
            pause_low,
            pause_high,
            parameter(para_10::AGP_JUMP_LOW, jump),
            parameter(para_10::AGP_JUMP_HIGH, jump >> LOW_BITS),
            parameter(
                para_10::AGP_CONTROL,
                agp_control::READ_THRESHOLD.of(READ_THRESHOLD) | agp_control::TRIGGER.mask(),
            ),
        ]
    }
}
