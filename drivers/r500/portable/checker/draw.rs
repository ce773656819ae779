// SPDX-License-Identifier: GPL-2.0 OR MIT

//! 3D packets: vertex arrays, draws, index buffers, fills of memories on the chip (R5xx 5.2.3).
//!
//! At a draw the checker combines the state of colour, depth, textures and vertices. It decides which bytes the draw
//! may touch, and all of them must lie in the objects. Clients set two bounds generously, and the checker narrows them
//! in the stream: the right edge of the scissor, where columns beyond the pitch of a small buffer would leave its
//! object, and the largest index. A narrowed bound never makes a draw touch more.

use lapidary::portable::pm4::Body;

use super::{
    buffer::{
        Buffer,
        Place, //
    },
    color,
    depth::Use,
    hyperz::{
        self,
        Memory, //
    },
    Checker,
    Object,
    Reason, //
};
use crate::portable::regs::{
    mmio::{
        self,
        sc_scissor1 as scissor,
        vap_vf_cntl as control,
        vap_vtx_aos_attr as attributes,
        vap_vtx_num_arrays as arrays, //
    },
    pm4::{
        _3d_clear_hiz,
        indx_buffer,
        op, //
    },
};

/// The most vertex arrays.
const ARRAYS: u32 = 16;
/// The bits of an attribute word that are for the first array of the pair.
const FIRST_OF_PAIR: u32 = attributes::VTX_AOS_COUNT0.mask() | attributes::VTX_AOS_STRIDE0.mask();

/// The scissor as a stream has set it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scissor {
    word: u32,
    /// The dword that sets it.
    position: usize,
    /// A draw has used it.
    used: bool,
}

impl Scissor {
    pub(super) fn new(word: u32, position: usize) -> Self {
        Self {
            word,
            position,
            used: false,
        }
    }
}

/// Note the smallest number of columns that fit, for a buffer that is touched in squares of `1 << square` pixels.
/// Its rows consist of whole squares.
fn narrow(
    fitting: &mut u64,
    buffer: Buffer,
    square: u32,
    lines: u64,
    objects: &[Object],
    outside: Reason,
) -> Result<(), Reason> {
    let rest = 1u64.wrapping_shl(square).wrapping_sub(1);
    let lines = lines.wrapping_add(rest) & !rest;
    let columns = buffer.columns(lines, objects)?.ok_or(outside)?;
    *fitting = (columns & !rest).min(*fitting);
    Ok(())
}

impl Checker<'_> {
    /// Check that colour and depth of a draw stay in the objects, wherever it draws within the scissor.
    fn check_raster(&mut self) -> Result<(), Reason> {
        let targets = self.color.used(self.depth.helps_color()?)?;
        let depth = self.depth.used()?;
        let samples = self.color.samples()?;
        let resolved = self.color.resolved()?;
        let colors = targets != 0 || resolved.is_some();
        self.caches.set_used(colors, depth != Use::No);
        if !colors && depth == Use::No {
            return Ok(());
        }
        let edge = self.scissor.ok_or(Reason::NoScissor)?;
        let lines = u64::from(scissor::YS1.get(edge.word)).wrapping_add(1);
        let right = scissor::XS1.get(edge.word);
        let mut fitting = u64::MAX;

        for target in 0..color::TARGETS {
            if targets & 1u32.wrapping_shl(target as u32) != 0 {
                let buffer = self.color.buffer(target)?;
                narrow(
                    &mut fitting,
                    buffer,
                    0,
                    lines,
                    self.objects,
                    Reason::ColorBounds,
                )?;
                buffer.place.writes(self.objects);
            }
        }
        if let Some(buffer) = resolved {
            narrow(
                &mut fitting,
                buffer,
                0,
                lines,
                self.objects,
                Reason::ResolveBounds,
            )?;
            buffer.place.writes(self.objects);
        }
        if depth != Use::No {
            let (buffer, square) = self.depth.buffer(samples)?;
            narrow(
                &mut fitting,
                buffer,
                square,
                lines,
                self.objects,
                Reason::DepthBounds,
            )?;
            if depth == Use::Writes {
                buffer.place.writes(self.objects);
            } else {
                buffer.place.reads(self.objects);
            }
        }

        let mut edge = edge;
        if u64::from(right) >= fitting {
            // Draws before this one would be clipped too.
            if edge.used {
                return Err(Reason::ScissorBounds);
            }
            // At least one column fits, and fewer than the edge says: 13 bits.
            edge.word = scissor::XS1.put(edge.word, fitting.wrapping_sub(1) as u32);
            self.replace(edge.position, edge.word)?;
        }
        edge.used = true;
        self.scissor = Some(edge);
        Ok(())
    }

    /// Check a draw whose control word is `word`, with `data` dwords of vertices or indices behind it. With this packet
    /// vertices must come in the way `walk`.
    fn draw(&mut self, walk: u32, word: u32, data: usize) -> Result<(), Reason> {
        use control::{
            prim_type,
            prim_walk, //
        };
        // Two indices in one would bypass the bounds. Reuse may be off with indices only (R5xx 10.10).
        if control::RSVD_PREV_USED.any(word)
            || control::DUAL_INDEX_MODE.any(word)
            || control::VTX_REUSE_DIS.any(word) && walk != prim_walk::INDEXES
        {
            return Err(Reason::ForbiddenBits);
        }
        match control::PRIM_TYPE.get(word) {
            prim_type::POINTS
            | prim_type::LINES
            | prim_type::LINE_STRIP
            | prim_type::TRIANGLES
            | prim_type::TRIANGLE_FAN
            | prim_type::TRIANGLE_STRIP
            | prim_type::LINE_LOOP
            | prim_type::QUADS
            | prim_type::QUAD_STRIP
            | prim_type::POLYGON => {}
            _ => return Err(Reason::PrimitiveType),
        }
        if control::PRIM_WALK.get(word) != walk {
            return Err(Reason::PrimitiveWalk);
        }
        let count = if control::USE_ALT_NUM_VERTS.any(word) {
            self.vertices.count()?
        } else {
            control::NUM_VERTICES.get(word)
        };
        if count == 0 {
            return Err(Reason::NoVertices);
        }
        self.pipes.all()?;
        if self.writes_due != 0 {
            return Err(Reason::WritesDue);
        }
        match walk {
            prim_walk::VERTEX_DATA => {
                if self.vertices.data(count)? != data as u64 {
                    return Err(Reason::VertexData);
                }
            }
            prim_walk::VERTEX_LIST => {
                if data != 0 {
                    return Err(Reason::PacketLength);
                }
                self.vertices.counted(count)?;
            }
            _ => {
                // 24 bits.
                let dwords = if control::INDEX_SIZE.any(word) {
                    count
                } else {
                    count.div_ceil(2)
                };
                if data == 0 {
                    self.indices_due = dwords;
                } else if data as u64 != u64::from(dwords) {
                    return Err(Reason::IndexData);
                }
                if let Some((position, max)) = self.vertices.indexed()? {
                    self.replace(position, max)?;
                }
            }
        }
        if self.raster_changed {
            self.check_raster()?;
            self.raster_changed = false;
        }
        self.caches.draw();
        self.textures.check(self.objects)
    }

    /// Check a draw packet, with or without the vertex format that earlier chips needed.
    pub(super) fn draw_packet(&mut self, opcode: u8, body: &mut Body<'_>) -> Result<(), Reason> {
        use control::prim_walk;
        if matches!(
            opcode,
            op::_3D_DRAW_VBUF | op::_3D_DRAW_IMMD | op::_3D_DRAW_INDX
        ) {
            body.take()?;
        }
        let walk = match opcode {
            op::_3D_DRAW_VBUF | op::_3D_DRAW_VBUF_2 => prim_walk::VERTEX_LIST,
            op::_3D_DRAW_IMMD | op::_3D_DRAW_IMMD_2 => prim_walk::VERTEX_DATA,
            _ => prim_walk::INDEXES,
        };
        let word = body.take()?;
        self.draw(walk, word, body.len())
    }

    /// Check `3D_LOAD_VBPNTR`, which loads the vertex arrays.
    pub(super) fn load_arrays(&mut self, body: &mut Body<'_>) -> Result<(), Reason> {
        self.pipes.all()?;
        let word = body.take()?;
        let number = arrays::VTX_NUM_ARRAYS.get(word);
        if number == 0 || number > ARRAYS {
            return Err(Reason::ArrayCount);
        }
        // The vertex cache must not serve what another client has left in it.
        if arrays::VC_DIS_CACHE_INVLD.any(word) {
            return Err(Reason::ForbiddenBits);
        }
        self.vertices.start_arrays();
        let mut left = number;
        while left > 0 {
            let position = body.position();
            let attribute = body.take()?;
            if left == 1 {
                // The second array of the pair does not exist. Nothing of it is fetched, even if the chip counts by
                // pairs.
                self.replace(position, attribute & FIRST_OF_PAIR)?;
            }
            for (count, stride) in [
                (attributes::VTX_AOS_COUNT0, attributes::VTX_AOS_STRIDE0),
                (attributes::VTX_AOS_COUNT1, attributes::VTX_AOS_STRIDE1),
            ] {
                if left == 0 {
                    break;
                }
                left = left.wrapping_sub(1);
                let place = self.body_address(body)?;
                let length = place.length(self.objects);
                let (count, stride) = (count.get(attribute), stride.get(attribute));
                self.vertices.add_array(count, stride, length)?;
                place.reads(self.objects);
            }
        }
        // The second address of the last pair may be present and unused. It is replaced then.
        if number % 2 == 1 && body.len() == 1 {
            let position = body.position();
            body.take()?;
            self.replace(position, 0)?;
        }
        Ok(body.end()?)
    }

    /// Check `INDX_BUFFER`, which loads the indices of the draw before. It could write any value to any register.
    pub(super) fn index_buffer(&mut self, body: &mut Body<'_>) -> Result<(), Reason> {
        use indx_buffer::{
            buffer_size,
            control as target, //
        };
        if self.indices_due == 0 {
            return Err(Reason::UnexpectedIndices);
        }
        let word = body.take()?;
        let port = mmio::VAP_PORT_IDX.at(0).ok_or(Reason::IndexTarget)?;
        let expected = target::ONE_REG_WR.put(target::DESTINATION.of(port >> 2), 1);
        if word != expected {
            return Err(Reason::IndexTarget);
        }
        let place = self.body_address(body)?;
        let dwords = body.take()?;
        if dwords != self.indices_due || dwords > buffer_size::BUFFER_SIZE.max() {
            return Err(Reason::IndexData);
        }
        if u64::from(dwords).wrapping_mul(4) > place.length(self.objects) {
            return Err(Reason::IndexBounds);
        }
        place.reads(self.objects);
        self.indices_due = 0;
        Ok(body.end()?)
    }

    /// Take a dword of a packet's body that is an address.
    fn body_address(&mut self, body: &mut Body<'_>) -> Result<Place, Reason> {
        let position = body.position();
        let word = body.take()?;
        // The address must be that of a dword.
        if word % 4 != 0 {
            return Err(Reason::ForbiddenBits);
        }
        self.address(position, word, word)
    }

    /// Check `3D_CLEAR_HIZ`, `3D_CLEAR_ZMASK` or `3D_CLEAR_CMASK`.
    pub(super) fn clear_memory(
        &mut self,
        memory: Memory,
        body: &mut Body<'_>,
    ) -> Result<(), Reason> {
        use _3d_clear_hiz::count::COUNT;
        self.pipes.all()?;
        let start = body.take()?;
        let count = body.take()?;
        if count > COUNT.max() {
            return Err(Reason::OnChipBounds);
        }
        hyperz::clear(memory, start, count, &self.options)?;
        body.take()?;
        Ok(body.end()?)
    }
}
