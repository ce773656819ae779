// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Packets that access memory by themselves: `MEM_WRITE`, `COPY_DW`, `CP_DMA` and `WAIT_REG_MEM`.
//!
//! Forms that name a register are refused, but for two that stream-out needs. The number of vertices of a draw may be
//! copied from memory, and the handshake with the VGT may be waited for. Byte orders are refused, because every client has the chip's, and a copy that
//! exchanges bytes may access whole dwords. A wait that never ends is a hang, which the watchdog ends.

use lapidary::portable::pm4::Body;

use super::{
    gfx::Checker,
    place::{
        offset,
        Doing, //
    },
    Reason, //
};
use crate::portable::regs::{
    enums::poll_function,
    mmio::{
        self,
        cp_strmout_cntl::OFFSET_UPDATE_DONE, //
    },
    pm4::{
        copy_dw,
        cp_dma,
        mem_write,
        poll_interval,
        register::REGISTER,
        wait_reg_mem, //
    }, //
};

/// Bytes of a dword.
const DWORD: u64 = 4;
/// The register that says how much of a stream-out buffer a draw takes.
const VERTICES: u32 = mmio::VGT_STRMOUT_DRAW_OPAQUE_BUFFER_FILLED_SIZE;

impl Checker<'_> {
    /// Check a write of one dword or two.
    pub(super) fn mem_write(&mut self, body: &mut Body<'_>) -> Result<(), Reason> {
        use mem_write::control;
        let position = body.position();
        let (low, high) = (body.take()?, body.take()?);
        let others = control::WR_CONFIRM.mask() | control::DATA32.mask();
        let bytes = if control::DATA32.any(high) { 4 } else { 8 };
        let place = offset(low, high, others, bytes)?;
        let (_low, _high) = (body.take()?, body.take()?);
        body.end()?;
        self.access(position, place, bytes, Doing::Writes)
    }

    /// Check a copy of a dword from memory, to memory or to the register with the number of vertices of a draw. The
    /// marker of the source comes first.
    pub(super) fn copy_dword(&mut self, body: &mut Body<'_>) -> Result<(), Reason> {
        use copy_dw::control;
        let word = body.take()?;
        let memory = control::SRC_SPACE.mask() | control::DST_SPACE.mask();
        if word & !memory != 0 {
            return Err(Reason::ForbiddenBits);
        }
        if !control::SRC_SPACE.any(word) {
            return Err(Reason::RegisterAccess);
        }
        let source = body.position();
        let from = offset(body.take()?, body.take()?, 0, DWORD)?;
        if !control::DST_SPACE.any(word) {
            let to = (body.take()?, body.take()?);
            if to != (REGISTER.of(VERTICES >> 2), 0) {
                return Err(Reason::RegisterAccess);
            }
            body.end()?;
            return self.access(source, from, DWORD, Doing::Reads);
        }
        let destination = body.position();
        let to = offset(body.take()?, body.take()?, 0, DWORD)?;
        body.end()?;
        self.access(source, from, DWORD, Doing::Reads)?;
        self.access(destination, to, DWORD, Doing::Writes)
    }

    /// Check a copy by the copy unit of the CP. The marker of the source comes first.
    pub(super) fn cp_dma(&mut self, body: &mut Body<'_>) -> Result<(), Reason> {
        use cp_dma::{
            command,
            src_address_hi, //
        };
        let source = body.position();
        let sync = src_address_hi::CP_SYNC.mask();
        let from = offset(body.take()?, body.take()?, sync, 1)?;
        let destination = body.position();
        let to = offset(body.take()?, body.take()?, 0, 1)?;
        let word = body.take()?;
        if command::SRC_IS_REG.any(word) || command::DST_IS_REG.any(word) {
            return Err(Reason::RegisterAccess);
        }
        if word & !command::BYTE_COUNT.mask() != 0 {
            return Err(Reason::ForbiddenBits);
        }
        let bytes = command::BYTE_COUNT.get(word);
        // Nothing public says whether this copies nothing or as much as the field can say.
        if bytes == 0 {
            return Err(Reason::Nothing);
        }
        body.end()?;
        self.access(source, from, bytes.into(), Doing::Reads)?;
        self.access(destination, to, bytes.into(), Doing::Writes)
    }

    /// Check a wait for stream-out. It ends when the VGT has answered an event that the client has to send.
    fn wait_for_stream_out(word: u32, body: &mut Body<'_>) -> Result<(), Reason> {
        let done = OFFSET_UPDATE_DONE.mask();
        if word != poll_function::POLL_EQUAL {
            return Err(Reason::RegisterAccess);
        }
        let register = (body.take()?, body.take()?);
        if register != (REGISTER.of(mmio::CP_STRMOUT_CNTL >> 2), 0) {
            return Err(Reason::RegisterAccess);
        }
        if (body.take()?, body.take()?) != (done, done) {
            return Err(Reason::RegisterAccess);
        }
        if body.take()? & !poll_interval::INTERVAL.mask() != 0 {
            return Err(Reason::ForbiddenBits);
        }
        Ok(body.end()?)
    }

    /// Check a wait for a value in memory, or for stream-out.
    pub(super) fn wait(&mut self, body: &mut Body<'_>) -> Result<(), Reason> {
        use wait_reg_mem::control::{
            self,
            engine, //
        };
        let word = body.take()?;
        let known = control::FUNCTION.mask() | control::MEM_SPACE.mask() | control::ENGINE.mask();
        if word & !known != 0 {
            return Err(Reason::ForbiddenBits);
        }
        if control::MEM_SPACE.get(word) != control::mem_space::MEMORY {
            return Self::wait_for_stream_out(word, body);
        }
        let function = control::FUNCTION.get(word);
        let parser = control::ENGINE.get(word) == engine::PFP;
        if function > poll_function::POLL_GREATER
            || parser && function != poll_function::POLL_GREATER_EQUAL
        {
            return Err(Reason::PollFunction);
        }
        let position = body.position();
        let (low, high) = (body.take()?, body.take()?);
        let unit = wait_reg_mem::poll_address_lo::POLL_ADDRESS_LO.mask();
        let place = offset(low, high, 0, unit.wrapping_neg().into())?;
        let (_reference, _mask) = (body.take()?, body.take()?);
        if body.take()? & !poll_interval::INTERVAL.mask() != 0 {
            return Err(Reason::ForbiddenBits);
        }
        body.end()?;
        self.access(position, place, DWORD, Doing::Reads)
    }
}
