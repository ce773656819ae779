// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Constant buffers: sixteen for each of pixel, vertex and geometry shaders.
//!
//! A shader locks lines of a constant buffer and reads them as constants. A buffer has an address and a size in units of
//! 256 bytes; the size is what bounds the lines. A buffer of no size is not read, wherever its address leads. Mesa begins
//! each stream with sizes of zero, so that nothing is loaded ahead.
//!
//! A buffer that a stream leaves alone is as the driver or an earlier stream of the same client has set it. A buffer of
//! which the stream states only the size, other than zero, or only the address is refused at the next draw.

use super::{
    gfx::Checker,
    place::{
        Doing,
        SURFACE_UNIT, //
    },
    surface::Place,
    Reason, //
};
use crate::portable::regs::mmio::sq_alu_const_buffer_size_ps::DATA;

/// Constant buffers of a kind of shader.
const EACH: u32 = 16;
/// Kinds of shaders.
const KINDS: u32 = 3;
/// All constant buffers.
const ALL: usize = (EACH * KINDS) as usize;

/// A kind of shader that has constant buffers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Pixel,
    Vertex,
    Geometry,
}

/// The constant buffers that a stream has set.
#[derive(Debug)]
pub(super) struct ConstantBuffers {
    sizes: [u16; ALL],
    places: [Place; ALL],
    /// Buffers whose size has been stated, one bit each.
    sized: u64,
    /// Buffers whose address has been stated.
    placed: u64,
    /// Buffers that have changed since the last draw.
    changed: u64,
}

impl Default for ConstantBuffers {
    fn default() -> Self {
        Self {
            sizes: [0; ALL],
            places: [Place::default(); ALL],
            sized: 0,
            placed: 0,
            changed: 0,
        }
    }
}

/// Return the number of a buffer among all, and its bit.
pub(super) fn locate(kind: Kind, number: u32) -> (usize, u64) {
    let at = EACH.wrapping_mul(kind as u32).wrapping_add(number);
    (at as usize, 1u64.wrapping_shl(at))
}

impl ConstantBuffers {
    /// Track a write to the size of a buffer.
    #[inline]
    pub(super) fn set_size(&mut self, kind: Kind, number: u32, word: u32) -> Result<(), Reason> {
        if word & !DATA.mask() != 0 {
            return Err(Reason::RegisterBits);
        }
        let (at, bit) = locate(kind, number);
        if let Some(size) = self.sizes.get_mut(at) {
            *size = word as u16;
        }
        self.sized |= bit;
        self.changed |= bit;
        Ok(())
    }

    /// Track a write to the address of a buffer.
    pub(super) fn set_place(&mut self, kind: Kind, number: u32, place: Place) {
        let (at, bit) = locate(kind, number);
        if let Some(known) = self.places.get_mut(at) {
            *known = place;
        }
        self.placed |= bit;
        self.changed |= bit;
    }
}

impl Checker<'_> {
    /// Check what a draw may read of the constant buffers that have changed.
    pub(super) fn judge_constants(&mut self) -> Result<(), Reason> {
        let buffers = &mut self.constants;
        if buffers.changed & !buffers.sized != 0 {
            return Err(Reason::NoConstantSize);
        }
        let mut left = buffers.changed;
        buffers.changed = 0;
        while left != 0 {
            let at = left.trailing_zeros();
            let bit = 1u64.wrapping_shl(at);
            left &= !bit;
            let buffers = &self.constants;
            let size = buffers.sizes.get(at as usize).copied().unwrap_or(0);
            if size == 0 {
                continue;
            }
            let place = match buffers.places.get(at as usize) {
                Some(place) if buffers.placed & bit != 0 => *place,
                _ => return Err(Reason::NoConstants),
            };
            let bytes = u64::from(size).wrapping_mul(SURFACE_UNIT);
            let outside = Reason::ConstantBounds;
            self.claim(place, bytes, 1, Doing::Reads, outside)?;
        }
        Ok(())
    }
}
