// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Events: `EVENT_WRITE` and `EVENT_WRITE_EOP`.
//!
//! An event goes down the pipe behind the draws. Some events make a unit write counts to memory. Each render backend
//! writes a count of pixels of its own, 16 bytes from that of the backend before. Mesa begins a query with such a write
//! and ends it with another one 8 bytes behind, so the last backend writes 8 bytes (`r600_query.c`). Pipeline statistics
//! are 8 counts of 8 bytes, stream-out statistics two.
//!
//! An event at the end of the pipe writes a number or a time. A client may not interrupt with it, because interrupts are
//! for the kernel's fences.

use lapidary::portable::pm4::Body;

use super::{
    gfx::Checker,
    place::{
        offset,
        Doing, //
    },
    Reason, //
};
use crate::portable::{
    regs::{
        enums::{
            event_index,
            vgt_event, //
        },
        pm4::{
            event,
            event_write_eop::control::{
                self,
                data_sel,
                int_sel, //
            }, //
        },
    },
    Generation, //
};

/// Bytes from the count of a render backend to that of the next.
const BACKEND_STEP: u64 = 16;
/// Bytes of a count.
const COUNT: u64 = 8;
/// Counts of pipeline statistics.
const PIPELINE_COUNTS: u64 = 8;
/// Counts of stream-out statistics.
const STREAM_OUT_COUNTS: u64 = 2;
/// The most render backends of a chip.
const MOST_BACKENDS: u32 = 8;

/// Return event and index that a dword says.
fn read(word: u32) -> Result<(u32, u32), Reason> {
    if word & !(event::EVENT_TYPE.mask() | event::EVENT_INDEX.mask()) != 0 {
        return Err(Reason::ForbiddenBits);
    }
    Ok((event::EVENT_TYPE.get(word), event::EVENT_INDEX.get(word)))
}

impl Checker<'_> {
    /// Check an event without time stamp.
    pub(super) fn event_write(&mut self, body: &mut Body<'_>) -> Result<(), Reason> {
        let (event, index) = read(body.take()?)?;
        let (needed, bytes) = self.untimed(event)?;
        if index != needed {
            return Err(Reason::EventIndex);
        }
        if body.is_empty() != (bytes == 0) {
            return Err(Reason::EventAddress);
        }
        if bytes == 0 {
            return Ok(());
        }
        let position = body.position();
        let place = offset(body.take()?, body.take()?, 0, COUNT)?;
        body.end()?;
        self.access(position, place, bytes, Doing::Writes)
    }

    /// Return the index of an event, and how many bytes it writes.
    fn untimed(&self, event: u32) -> Result<(u32, u64), Reason> {
        Ok(match event {
            vgt_event::VS_PARTIAL_FLUSH | vgt_event::PS_PARTIAL_FLUSH => {
                (event_index::PARTIAL_FLUSH_EVENT, 0)
            }
            vgt_event::CACHE_FLUSH
            | vgt_event::CACHE_FLUSH_AND_INV_EVENT
            | vgt_event::PIPELINESTAT_START
            | vgt_event::PIPELINESTAT_STOP
            | vgt_event::SO_VGTSTREAMOUT_FLUSH
            | vgt_event::VGT_FLUSH
            | vgt_event::SQ_NON_EVENT
            | vgt_event::DB_CACHE_FLUSH_AND_INV => (event_index::ANY_EVENT, 0),
            vgt_event::FLUSH_AND_INV_DB_META | vgt_event::FLUSH_AND_INV_CB_META
                if self.chip.generation == Generation::R7xx =>
            {
                (event_index::ANY_EVENT, 0)
            }
            vgt_event::ZPASS_DONE => (event_index::ZPASS_EVENT, self.zpass_bytes()),
            vgt_event::SAMPLE_PIPELINESTAT => {
                (event_index::PIPELINESTAT_EVENT, PIPELINE_COUNTS * COUNT)
            }
            vgt_event::SAMPLE_STREAMOUTSTATS => {
                (event_index::STREAMOUTSTATS_EVENT, STREAM_OUT_COUNTS * COUNT)
            }
            _ => return Err(Reason::UnknownEvent),
        })
    }

    /// Return one more than the highest number of a render backend.
    pub(super) fn backends(&self) -> u32 {
        match self.chip.backends {
            backends @ 1..=MOST_BACKENDS => backends,
            _ => MOST_BACKENDS,
        }
    }

    /// Return the number of bytes from the count of the first backend to the end of that of the last.
    fn zpass_bytes(&self) -> u64 {
        let last = self.backends().wrapping_sub(1);
        BACKEND_STEP.wrapping_mul(last.into()).wrapping_add(COUNT)
    }

    /// Check an event with time stamp.
    pub(super) fn event_write_eop(&mut self, body: &mut Body<'_>) -> Result<(), Reason> {
        let (event, index) = read(body.take()?)?;
        match event {
            vgt_event::CACHE_FLUSH_TS
            | vgt_event::CACHE_FLUSH_AND_INV_TS_EVENT
            | vgt_event::BOTTOM_OF_PIPE_TS => {}
            _ => return Err(Reason::UnknownEvent),
        }
        if index != event_index::TS_EVENT {
            return Err(Reason::EventIndex);
        }
        let position = body.position();
        let (low, high) = (body.take()?, body.take()?);
        if control::INT_SEL.get(high) != int_sel::INT_NONE {
            return Err(Reason::Interrupt);
        }
        let bytes = match control::DATA_SEL.get(high) {
            // Nothing is written. The place is checked all the same.
            data_sel::DATA_NONE | data_sel::DATA_32 => 4,
            data_sel::DATA_64 | data_sel::DATA_CLOCK => 8,
            _ => return Err(Reason::ForbiddenBits),
        };
        let place = offset(low, high, control::DATA_SEL.mask(), bytes)?;
        let (_low, _high) = (body.take()?, body.take()?);
        body.end()?;
        self.access(position, place, bytes, Doing::Writes)
    }
}
