// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Stream-out: up to four buffers that vertices are written to, and the packets that keep count of what they hold.
//!
//! A buffer has an address in units of 256 bytes, a size and a distance of vertices in dwords. The chip writes no vertex
//! that would end behind the size. Where it goes on writing is a count of the chip. `STRMOUT_BUFFER_UPDATE` sets the count,
//! from the packet or from memory, or stores it to memory. R7xx also wants the address in a packet of its own, RV610 to
//! RV670 want to be told which addresses have been written.
//!
//! A buffer that a stream leaves alone is as the driver or an earlier stream of the same client has set it. Otherwise the
//! stream states address, size and distance before the next draw. A buffer of no size needs neither of the others.
//!
//! The packets are described by Mesa (`src/gallium/drivers/r600/r600_streamout.c`) and Linux
//! (`drivers/gpu/drm/radeon/r600_cs.c`).

use lapidary::portable::pm4::Body;

use super::{
    gfx::Checker,
    place::{
        offset,
        Doing, //
    },
    surface::Place,
    Reason, //
};
use crate::portable::{
    pm4::SURFACE_BASES,
    regs::pm4::{
        mmio_r7xx::strmout_base_update::buffer,
        strmout_buffer_update::control::{
            self,
            offset_source, //
        }, //
    },
    Generation, //
};

/// Number of buffers.
const BUFFERS: usize = 4;
/// Bytes of a dword.
const DWORD: u64 = 4;

/// One buffer.
#[derive(Clone, Copy, Debug, Default)]
struct Buffer {
    size: Option<u32>,
    stride: Option<u32>,
    base: Option<Place>,
}

/// The stream-out buffers that a stream has set.
#[derive(Debug, Default)]
pub(super) struct StreamOut {
    buffers: [Buffer; BUFFERS],
    /// Buffers that have changed since the last draw, one bit each.
    changed: u32,
}

impl StreamOut {
    /// Note that buffer `number` has changed, and return it.
    fn changes(&mut self, number: u32) -> Option<&mut Buffer> {
        self.changed |= 1u32.wrapping_shl(number);
        self.buffers.get_mut(number as usize)
    }

    /// Track a write to `VGT_STRMOUT_BUFFER_SIZE_n`.
    pub(super) fn set_size(&mut self, number: u32, word: u32) {
        if let Some(buffer) = self.changes(number) {
            buffer.size = Some(word);
        }
    }

    /// Track a write to `VGT_STRMOUT_VTX_STRIDE_n`.
    pub(super) fn set_stride(&mut self, number: u32, word: u32) {
        if let Some(buffer) = self.changes(number) {
            buffer.stride = Some(word);
        }
    }

    /// Track a write to `VGT_STRMOUT_BUFFER_BASE_n`.
    pub(super) fn set_base(&mut self, number: u32, place: Place) {
        if let Some(buffer) = self.changes(number) {
            buffer.base = Some(place);
        }
    }

    fn buffer(&self, number: u32) -> Buffer {
        self.buffers
            .get(number as usize)
            .copied()
            .unwrap_or_default()
    }
}

impl Checker<'_> {
    /// Check what a draw may write to the stream-out buffers that have changed.
    pub(super) fn judge_stream_out(&mut self) -> Result<(), Reason> {
        for number in 0..BUFFERS as u32 {
            if self.stream_out.changed & 1u32.wrapping_shl(number) == 0 {
                continue;
            }
            let buffer = self.stream_out.buffer(number);
            let size = buffer.size.ok_or(Reason::StreamOutState)?;
            if size == 0 {
                continue;
            }
            let (Some(base), Some(_)) = (buffer.base, buffer.stride) else {
                return Err(Reason::StreamOutState);
            };
            let bytes = u64::from(size).wrapping_mul(DWORD);
            let outside = Reason::StreamOutBounds;
            self.claim(base, bytes, 1, Doing::Writes, outside)?;
        }
        self.stream_out.changed = 0;
        Ok(())
    }

    /// Check `STRMOUT_BUFFER_UPDATE`.
    pub(super) fn stream_out_update(&mut self, body: &mut Body<'_>) -> Result<(), Reason> {
        let word = body.take()?;
        let known = control::STORE_BUFFER_FILLED_SIZE.mask()
            | control::OFFSET_SOURCE.mask()
            | control::SELECT_BUFFER.mask();
        if word & !known != 0 {
            return Err(Reason::ForbiddenBits);
        }
        let destination = body.position();
        let to = (body.take()?, body.take()?);
        let source = body.position();
        let from = (body.take()?, body.take()?);
        body.end()?;
        if control::STORE_BUFFER_FILLED_SIZE.any(word) {
            let place = offset(to.0, to.1, 0, DWORD)?;
            self.access(destination, place, DWORD, Doing::Writes)?;
        } else if to != (0, 0) {
            return Err(Reason::ForbiddenBits);
        }
        match control::OFFSET_SOURCE.get(word) {
            offset_source::FROM_MEM => {
                let place = offset(from.0, from.1, 0, DWORD)?;
                self.access(source, place, DWORD, Doing::Reads)
            }
            offset_source::FROM_PACKET => {
                let (dwords, zero) = from;
                if zero != 0 {
                    return Err(Reason::ForbiddenBits);
                }
                let buffer = self.stream_out.buffer(control::SELECT_BUFFER.get(word));
                let size = buffer.size.ok_or(Reason::StreamOutState)?;
                if dwords > size {
                    return Err(Reason::StreamOutOffset);
                }
                Ok(())
            }
            _ if from != (0, 0) => Err(Reason::ForbiddenBits),
            _ => Ok(()),
        }
    }

    /// Check `STRMOUT_BASE_UPDATE`, which repeats the address of a buffer.
    pub(super) fn stream_out_base(&mut self, body: &mut Body<'_>) -> Result<(), Reason> {
        if self.chip.generation == Generation::R6xx {
            return Err(Reason::OtherGeneration);
        }
        let word = body.take()?;
        if word & !buffer::BUFFER.mask() != 0 {
            return Err(Reason::ForbiddenBits);
        }
        let position = body.position();
        let base = body.take()?;
        body.end()?;
        let place = self.surface_address(position, base)?;
        let bound = self.stream_out.buffer(buffer::BUFFER.get(word)).base;
        if !bound.is_some_and(|bound| bound.is_at(place)) {
            return Err(Reason::StreamOutBase);
        }
        self.claim(place, DWORD, 1, Doing::Writes, Reason::StreamOutBounds)
    }

    /// Check `SURFACE_BASE_UPDATE`, which tells the CP which addresses have been written.
    pub(super) fn surface_base_update(&mut self, body: &mut Body<'_>) -> Result<(), Reason> {
        if !self.chip.base_update {
            return Err(Reason::OtherGeneration);
        }
        if body.take()? & !SURFACE_BASES != 0 {
            return Err(Reason::ForbiddenBits);
        }
        Ok(body.end()?)
    }
}
