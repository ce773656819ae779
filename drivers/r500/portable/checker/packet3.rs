// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Type-3 packets: which there are, and how their bodies are read. [`draw`](super::draw) checks the 3D packets.
//!
//! A stream may not have packets that drive the 2D engine (R5xx 5.2.2). The microcode of the command processor turns
//! them into register writes, and its program is not documented. It is not known which fields of a control word it
//! reads, how many dwords it takes for a brush, and how it reads a corner that the manual leaves open. Register writes
//! do the same, and all known clients use those.

use core::cell::Cell;

use lapidary::portable::pm4::Body;

use super::{
    hyperz::Memory,
    reason::Reason,
    Checker, //
};
use crate::portable::regs::pm4::op;

impl Checker<'_> {
    /// Check a type-3 packet whose body starts at index `start` of the stream.
    pub(super) fn type3(
        &mut self,
        opcode: u8,
        start: usize,
        body: &[Cell<u32>],
    ) -> Result<(), Reason> {
        if opcode == op::NOP {
            return Ok(());
        }
        let mut body = Body::new(body, start);
        let result = self.operation(opcode, &mut body);
        if result.is_err() && self.position < body.position() {
            // An error is reported for the dword that was taken last.
            self.position = body.position().saturating_sub(1);
        }
        result
    }

    fn operation(&mut self, opcode: u8, body: &mut Body<'_>) -> Result<(), Reason> {
        match opcode {
            op::PAINT
            | op::PAINT_MULTI
            | op::BITBLT
            | op::BITBLT_MULTI
            | op::TRANS_BITBLT
            | op::HOSTDATA_BLT
            | op::NEXTCHAR
            | op::POLYLINE
            | op::POLYSCANLINES
            | op::PLY_NEXTSCAN
            | op::SET_SCISSORS
            | op::LOAD_PALETTE => Err(Reason::Packet2d),
            // They write registers that are tracked elsewhere, or feed a port that no client uses.
            op::_3D_DRAW_128 | op::MPEG_INDEX => Err(Reason::ForbiddenPacket),
            // They make the command processor wait for, or depend on, memory at any address.
            op::PRED_EXEC | op::COND_EXEC | op::WAIT_SEMAPHORE | op::WAIT_MEM => {
                Err(Reason::ForbiddenPacket)
            }
            op::INDX_BUFFER => self.index_buffer(body),
            _ => {
                self.nothing_due()?;
                self.drawing(opcode, body)
            }
        }
    }

    /// Check a packet for the 3D pipeline. No operation may wait for data before it.
    fn drawing(&mut self, opcode: u8, body: &mut Body<'_>) -> Result<(), Reason> {
        match opcode {
            op::_3D_DRAW_VBUF
            | op::_3D_DRAW_IMMD
            | op::_3D_DRAW_INDX
            | op::_3D_DRAW_VBUF_2
            | op::_3D_DRAW_IMMD_2
            | op::_3D_DRAW_INDX_2 => self.draw_packet(opcode, body),
            op::_3D_LOAD_VBPNTR => self.load_arrays(body),
            op::_3D_CLEAR_HIZ => self.clear_memory(Memory::HiZ, body),
            op::_3D_CLEAR_ZMASK => self.clear_memory(Memory::ZMask, body),
            op::_3D_CLEAR_CMASK => self.clear_memory(Memory::CMask, body),
            _ => Err(Reason::UnknownPacket),
        }
    }
}
