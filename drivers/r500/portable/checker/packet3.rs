// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Type-3 packets: which there are, and the operations of the 2D engine (R5xx 5.2.2). 3D packets are in
//! [`draw`](super::draw).
//!
//! Operations whose code has the top bit set begin with SETTINGS: a GUI control word, then what that
//! announces, in this order: pitch and offset of the source, of the destination, the source scissor, both
//! corners of the destination scissor, the brush, its alignment. Rectangles, points or characters follow.
//! The microcode turns all of it into register writes, so it ends in the same state and the same operations
//! as if the stream had written the registers ([`Engine2d`](super::engine2d::Engine2d)).

use core::cell::Cell;

use super::{
    hyperz::Memory,
    reason::Reason,
    surface::{
        coordinate,
        Area,
        Direction,
        Point, //
    },
    Checker,
    Role, //
};
use crate::portable::{
    pm4::HAS_SETTINGS,
    policy::Policy,
    regs::pm4::{
        bitblt,
        gui_control as gui,
        hostdata_blt,
        nextchar,
        op,
        paint,
        paint_multi,
        polyscanlines, //
    },
};

/// Walks through the body of a packet.
pub(super) struct Body<'a> {
    rest: &'a [Cell<u32>],
    /// Index in the stream of the first dword of `rest`.
    position: usize,
}

impl Body<'_> {
    pub(super) fn take(&mut self) -> Result<u32, Reason> {
        let (word, rest) = self.rest.split_first().ok_or(Reason::PacketLength)?;
        self.rest = rest;
        self.position = self.position.wrapping_add(1);
        Ok(word.get())
    }

    fn skip(&mut self, dwords: u32) -> Result<(), Reason> {
        self.rest = self
            .rest
            .get(dwords as usize..)
            .ok_or(Reason::PacketLength)?;
        self.position = self.position.wrapping_add(dwords as usize);
        Ok(())
    }

    fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Dwords that are left.
    pub(super) fn len(&self) -> usize {
        self.rest.len()
    }

    /// Index in the stream of the dword that comes next.
    pub(super) fn position(&self) -> usize {
        self.position
    }

    /// Nothing may be left.
    pub(super) fn end(&self) -> Result<(), Reason> {
        if self.is_empty() {
            Ok(())
        } else {
            Err(Reason::PacketLength)
        }
    }
}

impl Checker<'_> {
    /// A type-3 packet whose body starts at index `start` of the stream.
    pub(super) fn type3(
        &mut self,
        opcode: u8,
        start: usize,
        body: &[Cell<u32>],
    ) -> Result<(), Reason> {
        if opcode == op::NOP {
            return Ok(());
        }
        let mut body = Body {
            rest: body,
            position: start,
        };
        let result = self.operation(opcode, &mut body);
        if result.is_err() && self.position < body.position {
            // The dword that was taken last.
            self.position = body.position.saturating_sub(1);
        }
        result
    }

    fn operation(&mut self, opcode: u8, body: &mut Body<'_>) -> Result<(), Reason> {
        match opcode {
            // It sets up the scaler of the 3D engine, from which the 2D engine would then take its source; the
            // source types that use a palette are refused, so nobody can need it.
            op::LOAD_PALETTE => return Err(Reason::Palette),
            // They write registers that are tracked elsewhere, or feed a port that nobody uses.
            op::_3D_DRAW_128 | op::MPEG_INDEX => return Err(Reason::ForbiddenPacket),
            // They make the command processor wait for or depend on memory of anybody.
            op::PRED_EXEC | op::COND_EXEC | op::WAIT_SEMAPHORE | op::WAIT_MEM => {
                return Err(Reason::ForbiddenPacket)
            }
            op::INDX_BUFFER => return self.index_buffer(body),
            _ => self.nothing_due()?,
        }
        match opcode {
            op::_3D_DRAW_VBUF
            | op::_3D_DRAW_IMMD
            | op::_3D_DRAW_INDX
            | op::_3D_DRAW_VBUF_2
            | op::_3D_DRAW_IMMD_2
            | op::_3D_DRAW_INDX_2 => return self.draw_packet(opcode, body),
            op::_3D_LOAD_VBPNTR => return self.load_arrays(body),
            op::_3D_CLEAR_HIZ => return self.clear_memory(Memory::HiZ, body),
            op::_3D_CLEAR_ZMASK => return self.clear_memory(Memory::ZMask, body),
            op::_3D_CLEAR_CMASK => return self.clear_memory(Memory::CMask, body),
            op::PAINT
            | op::BITBLT
            | op::HOSTDATA_BLT
            | op::POLYLINE
            | op::POLYSCANLINES
            | op::NEXTCHAR
            | op::PAINT_MULTI
            | op::BITBLT_MULTI
            | op::TRANS_BITBLT
            | op::PLY_NEXTSCAN
            | op::SET_SCISSORS => {}
            _ => return Err(Reason::UnknownPacket),
        }
        if opcode & HAS_SETTINGS != 0 {
            self.settings(body)?;
        }
        match opcode {
            op::PAINT => self.paint(body),
            op::PAINT_MULTI => self.paint_multi(body),
            op::BITBLT => {
                self.blit(body)?;
                body.end()
            }
            op::BITBLT_MULTI => self.blits(body),
            op::TRANS_BITBLT => self.transparent_blit(body),
            op::HOSTDATA_BLT => self.characters(body),
            op::NEXTCHAR => self.next_character(body),
            op::POLYLINE => self.polyline(body),
            op::POLYSCANLINES => self.scanlines(body),
            op::PLY_NEXTSCAN => self.next_scanline(body),
            op::SET_SCISSORS => self.scissors(body),
            _ => Err(Reason::UnknownPacket),
        }
    }

    /// SETTINGS: GUI control word and what it announces.
    fn settings(&mut self, body: &mut Body<'_>) -> Result<(), Reason> {
        let word = body.take()?;
        let control = self.engine.set_control(word)?;
        // The length of such a brush depends on the type of pixels, which the microcode does not look at (R5xx,
        // `GUI_CONTROL`): what it takes for a brush and what for rectangles is not known.
        if gui::BRUSH_TYPE.get(word) == gui::brush_type::COLOR_8X8 {
            return Err(Reason::BrushType);
        }
        for (announced, role) in [
            (gui::SRC_PITCH_OFF, Role::Source),
            (gui::DST_PITCH_OFF, Role::Destination),
        ] {
            if announced.any(word) {
                let position = body.position;
                let surface = body.take()?;
                self.position = position;
                self.pitch_offset(role, surface)?;
            }
        }
        if gui::SRC_CLIPPING.any(word) {
            body.take()?;
        }
        if gui::DST_CLIPPING.any(word) {
            self.engine.set_scissor_top_left(body.take()?);
            self.engine.set_scissor_bottom_right(body.take()?);
        }
        body.skip(control.brush_dwords)?;
        if gui::BRUSH_FLAG.any(word) {
            body.take()?;
        }
        Ok(())
    }

    /// Rectangles by two corners. Whether the second one is inside is not written anywhere; it counts as
    /// inside.
    fn paint(&mut self, body: &mut Body<'_>) -> Result<(), Reason> {
        self.engine.forward()?;
        loop {
            let (word, other) = (body.take()?, body.take()?);
            let from = Point {
                x: coordinate(paint::top_left::LEFT.get(word))?,
                y: coordinate(paint::top_left::TOP.get(word))?,
            };
            let to = Point {
                x: coordinate(paint::botm_rite::RITE.get(other))?,
                y: coordinate(paint::botm_rite::BOTM.get(other))?,
            };
            if from.x >= to.x || from.y >= to.y {
                return Err(Reason::EmptyArea);
            }
            self.engine.fill(Area::hull(from, to), self.objects)?;
            if body.is_empty() {
                return Ok(());
            }
        }
    }

    /// Rectangles by corner and size.
    fn paint_multi(&mut self, body: &mut Body<'_>) -> Result<(), Reason> {
        let direction = self.engine.forward()?;
        loop {
            let corner = Point::from_x_y(body.take()?)?;
            let size = body.take()?;
            let area = Area::rectangle(
                corner,
                paint_multi::dst_w_h::DST_W.get(size),
                paint_multi::dst_w_h::DST_H.get(size),
                direction,
            )?;
            self.engine.fill(area, self.objects)?;
            if body.is_empty() {
                return Ok(());
            }
        }
    }

    /// One rectangle copied.
    fn blit(&mut self, body: &mut Body<'_>) -> Result<(), Reason> {
        let direction = self.engine.forward()?;
        let from = Point::from_x_y(body.take()?)?;
        let to = Point::from_x_y(body.take()?)?;
        let size = body.take()?;
        let size_bits = bitblt::src_w_h::SRC_W.mask() | bitblt::src_w_h::SRC_H.mask();
        if size & !size_bits != 0 {
            return Err(Reason::AreaRange);
        }
        let width = bitblt::src_w_h::SRC_W.get(size);
        let height = bitblt::src_w_h::SRC_H.get(size);
        let from = Area::rectangle(from, width, height, direction)?;
        let to = Area::rectangle(to, width, height, direction)?;
        self.engine.copy(from, to, self.objects)
    }

    fn blits(&mut self, body: &mut Body<'_>) -> Result<(), Reason> {
        loop {
            self.blit(body)?;
            if body.is_empty() {
                return Ok(());
            }
        }
    }

    /// A copy with colour compare.
    fn transparent_blit(&mut self, body: &mut Body<'_>) -> Result<(), Reason> {
        let compare = body.take()?;
        if compare & !Policy::ColorCompare.allowed_bits() != 0 {
            return Err(Reason::ForbiddenBits);
        }
        self.engine.forget_compare();
        // The two reference colours.
        body.skip(2)?;
        self.blit(body)?;
        body.end()
    }

    /// Bitmaps from the stream, each with corner, size, and number of dwords.
    fn characters(&mut self, body: &mut Body<'_>) -> Result<(), Reason> {
        let direction = self.engine.forward()?;
        // Foreground and background colour.
        body.skip(2)?;
        loop {
            let corner = Point::from_y_x(body.take()?)?;
            let size = body.take()?;
            let area = Area::rectangle(
                corner,
                hostdata_blt::size::WIDTH.get(size),
                hostdata_blt::size::HEIGHT.get(size),
                direction,
            )?;
            let expected = self.engine.upload(area, self.objects)?;
            let number = body.take()?;
            if number > hostdata_blt::number::NUMBER.max() {
                return Err(Reason::PacketLength);
            }
            if u64::from(number) != expected {
                return Err(Reason::HostDataCount);
            }
            body.skip(number)?;
            if body.is_empty() {
                return Ok(());
            }
        }
    }

    /// One bitmap with the current settings.
    fn next_character(&mut self, body: &mut Body<'_>) -> Result<(), Reason> {
        let direction = self.engine.forward()?;
        let corner = Point::from_y_x(body.take()?)?;
        let size = body.take()?;
        let area = Area::rectangle(
            corner,
            nextchar::dst_h_w::DST_W.get(size),
            nextchar::dst_h_w::DST_H.get(size),
            direction,
        )?;
        let expected = self.engine.upload(area, self.objects)?;
        if body.rest.len() as u64 != expected {
            return Err(Reason::HostDataCount);
        }
        Ok(())
    }

    /// Connected lines.
    fn polyline(&mut self, body: &mut Body<'_>) -> Result<(), Reason> {
        let mut from = Point::from_y_x(body.take()?)?;
        loop {
            let to = Point::from_y_x(body.take()?)?;
            self.engine.line(from, to, self.objects)?;
            if body.is_empty() {
                return Ok(());
            }
            from = to;
        }
    }

    /// Bands of horizontal spans.
    fn scanlines(&mut self, body: &mut Body<'_>) -> Result<(), Reason> {
        let direction = self.engine.forward()?;
        // The loop ends with the body, whatever the count says.
        let bands = body.take()?;
        let mut found = 0u32;
        while !body.is_empty() {
            let spans = body.take()?;
            if spans == 0 || spans > polyscanlines::num_line::NUM_LINE.max() {
                return Err(Reason::PacketLength);
            }
            let band = body.take()?;
            for _ in 0..spans {
                self.span(band, body.take()?, direction)?;
            }
            found = found.wrapping_add(1);
        }
        if found == 0 || found != bands {
            return Err(Reason::PacketLength);
        }
        Ok(())
    }

    /// One band of spans with the current settings.
    fn next_scanline(&mut self, body: &mut Body<'_>) -> Result<(), Reason> {
        let direction = self.engine.forward()?;
        let band = body.take()?;
        loop {
            self.span(band, body.take()?, direction)?;
            if body.is_empty() {
                return Ok(());
            }
        }
    }

    /// One span of a band. Whether the end is inside is not written anywhere; it counts as inside.
    fn span(&mut self, band: u32, segment: u32, direction: Direction) -> Result<(), Reason> {
        let start = coordinate(polyscanlines::segment::START.get(segment))?;
        let stop = coordinate(polyscanlines::segment::END.get(segment))?;
        if start >= stop {
            return Err(Reason::EmptyArea);
        }
        let corner = Point {
            x: start,
            y: coordinate(polyscanlines::height_top::TOP.get(band))?,
        };
        let width = stop.abs_diff(start).wrapping_add(1);
        let height = polyscanlines::height_top::HEIGHT.get(band);
        let area = Area::rectangle(corner, width, height, direction)?;
        self.engine.fill(area, self.objects)
    }

    fn scissors(&mut self, body: &mut Body<'_>) -> Result<(), Reason> {
        self.engine.set_scissor_top_left(body.take()?);
        self.engine.set_scissor_bottom_right(body.take()?);
        body.end()
    }
}
