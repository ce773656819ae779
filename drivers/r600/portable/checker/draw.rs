// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Draws and their indices (R6xx 5.3.2), and predication.
//!
//! At a draw the checker judges the groups of state that the stream has written since the last draw: targets, constant
//! buffers, rings, stream-out buffers. Vertices and textures are fetched through resources, which have been judged when
//! they were written, so that indices may have any value. Indices in memory must lie in their object; their width must
//! have been stated by the stream. Indices in the packet must be as many as the packet says.
//!
//! Draws may be predicated by a result in memory. Everything else must be executed as it is checked, so only draws and
//! markers may be predicated. A result is two counts of eight bytes for each render backend, or four counts of stream-out
//! (Mesa, `src/gallium/drivers/r600/r600_query.c`).

use lapidary::portable::pm4::Body;

use super::{
    gfx::Checker,
    piece,
    place::{
        offset,
        Doing, //
    },
    Reason, //
};
use crate::portable::regs::{
    enums::{
        vgt_index,
        vgt_swap, //
    },
    mmio::{
        vgt_dma_index_type as index_type,
        vgt_draw_initiator::{
            self as initiator,
            source_select, //
        },
        vgt_primitive_type::prim_type, //
    },
    pm4::{
        op,
        set_predication::control::{
            self,
            pred_op, //
        }, //
    },
};

/// Address bit 0 of indices is not there.
const INDEX_UNIT: u64 = 2;
/// Bytes of a dword.
const DWORD: u64 = 4;
/// What the address of a result must be a multiple of.
const RESULT_UNIT: u64 = 16;
/// Bytes of a result of stream-out.
const STREAM_OUT_RESULT: u64 = 32;

/// Groups of state that are judged at a draw, one bit each.
pub(super) mod group {
    pub(in super::super) const TARGETS: u32 = 1;
    pub(in super::super) const CONSTANTS: u32 = 1 << 1;
    pub(in super::super) const RINGS: u32 = 1 << 2;
    pub(in super::super) const STREAM_OUT: u32 = 1 << 3;
    /// What a draw needs from its own stream.
    pub(in super::super) const NEEDED: u32 = TARGETS | RINGS;
}

/// Return whether packets with this operation may be predicated.
pub(super) fn may_be_predicated(opcode: u8) -> bool {
    matches!(
        opcode,
        op::NOP
            | op::DRAW_INDEX
            | op::DRAW_INDEX_AUTO
            | op::DRAW_INDEX_IMMD
            | op::DRAW_INDEX_IMMD_BE
    )
}

/// Check a value for `VGT_PRIMITIVE_TYPE`. The 2D primitives and those with flags are not described anywhere.
pub(super) fn primitive(word: u32) -> Result<(), Reason> {
    use prim_type::*;
    match word {
        DI_PT_NONE | DI_PT_POINTLIST | DI_PT_LINELIST | DI_PT_LINESTRIP | DI_PT_TRILIST
        | DI_PT_TRIFAN | DI_PT_TRISTRIP | DI_PT_LINELIST_ADJ | DI_PT_LINESTRIP_ADJ
        | DI_PT_TRILIST_ADJ | DI_PT_TRISTRIP_ADJ | DI_PT_RECTLIST | DI_PT_LINELOOP
        | DI_PT_QUADLIST | DI_PT_QUADSTRIP | DI_PT_POLYGON => Ok(()),
        _ => Err(Reason::PrimitiveType),
    }
}

impl Checker<'_> {
    /// Check `INDEX_TYPE`. Byte orders are refused, because every client has the chip's.
    pub(super) fn index_type(&mut self, body: &mut Body<'_>) -> Result<(), Reason> {
        let word = body.take()?;
        body.end()?;
        if word & !(index_type::INDEX_TYPE.mask() | index_type::SWAP_MODE.mask()) != 0 {
            return Err(Reason::ForbiddenBits);
        }
        if index_type::SWAP_MODE.get(word) != vgt_swap::VGT_DMA_SWAP_NONE {
            return Err(Reason::ForbiddenBits);
        }
        self.index_bytes = Some(match index_type::INDEX_TYPE.get(word) {
            vgt_index::VGT_INDEX_16 => 2,
            vgt_index::VGT_INDEX_32 => 4,
            _ => return Err(Reason::IndexType),
        });
        Ok(())
    }

    /// Return the bytes of `count` indices.
    fn indices(&self, count: u32) -> Result<u64, Reason> {
        let each = self.index_bytes.ok_or(Reason::IndexType)?;
        if count == 0 {
            return Err(Reason::NoIndices);
        }
        Ok(u64::from(count).wrapping_mul(each.into()))
    }

    /// Check a draw packet.
    pub(super) fn draw(&mut self, opcode: u8, body: &mut Body<'_>) -> Result<(), Reason> {
        match opcode {
            op::DRAW_INDEX => {
                let position = body.position();
                let place = offset(body.take()?, body.take()?, 0, INDEX_UNIT)?;
                let count = body.take()?;
                initiates(body.take()?, source_select::DI_SRC_SEL_DMA, false)?;
                body.end()?;
                let bytes = self.indices(count)?;
                self.access(position, place, bytes, Doing::Reads)?;
            }
            op::DRAW_INDEX_AUTO => {
                let count = body.take()?;
                let word = body.take()?;
                body.end()?;
                initiates(word, source_select::DI_SRC_SEL_AUTO_INDEX, true)?;
                // Otherwise the number of vertices is that of a stream-out buffer.
                if count == 0 && !initiator::USE_OPAQUE.any(word) {
                    return Err(Reason::NoIndices);
                }
            }
            _ => {
                let count = body.take()?;
                initiates(body.take()?, source_select::DI_SRC_SEL_IMMEDIATE, false)?;
                let bytes = self.indices(count)?;
                if opcode == op::DRAW_INDEX_IMMD_BE && self.index_bytes != Some(2) {
                    return Err(Reason::IndexType);
                }
                if bytes.div_ceil(DWORD) != body.len() as u64 {
                    return Err(Reason::IndexData);
                }
            }
        }
        self.judge()
    }

    /// Judge the groups of state that have changed since the last draw.
    fn judge(&mut self) -> Result<(), Reason> {
        self.idle = false;
        self.residue.draw();
        if self.changed == 0 {
            return Ok(());
        }
        if self.changed & group::TARGETS != 0 {
            self.judge_targets()?;
        }
        if self.changed & group::CONSTANTS != 0 {
            self.judge_constants()?;
        }
        if self.changed & group::RINGS != 0 {
            self.judge_rings()?;
        }
        if self.changed & group::STREAM_OUT != 0 {
            self.judge_stream_out()?;
        }
        self.changed = 0;
        Ok(())
    }

    /// Check `SET_PREDICATION`.
    pub(super) fn predication(&mut self, body: &mut Body<'_>) -> Result<(), Reason> {
        let position = body.position();
        let (low, high) = (body.take()?, body.take()?);
        body.end()?;
        let bytes = match control::PRED_OP.get(high) {
            pred_op::CLEAR if low == 0 && high == 0 => {
                self.residue.state(piece::PREDICATION, false);
                return Ok(());
            }
            pred_op::CLEAR => return Err(Reason::ForbiddenBits),
            pred_op::ZPASS => RESULT_UNIT.wrapping_mul(self.backends().into()),
            pred_op::PRIMCOUNT => STREAM_OUT_RESULT,
            _ => return Err(Reason::Predication),
        };
        let others = control::DRAW_VISIBLE.mask()
            | control::HINT_NOWAIT_DRAW.mask()
            | control::PRED_OP.mask()
            | control::CONTINUE.mask();
        let place = offset(low, high, others, RESULT_UNIT)?;
        self.residue.state(piece::PREDICATION, true);
        self.access(position, place, bytes, Doing::Reads)
    }
}

/// Check what begins a draw whose indices come from `source`. With `counted` their number may be that of a stream-out
/// buffer.
fn initiates(word: u32, source: u32, counted: bool) -> Result<(), Reason> {
    let opaque = match counted {
        true => initiator::USE_OPAQUE.mask(),
        false => 0,
    };
    if word & !opaque != initiator::SOURCE_SELECT.of(source) {
        return Err(Reason::DrawInitiator);
    }
    Ok(())
}
