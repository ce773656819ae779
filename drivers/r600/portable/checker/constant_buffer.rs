// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Constant buffers: sixteen for each of pixel, vertex and geometry shaders.
//!
//! A shader locks lines of a constant buffer and reads them as constants. A buffer has an address and a size in units of
//! 256 bytes; the size is what bounds the lines. A buffer of no size is not read, wherever its address leads. Mesa begins
//! each stream with sizes of zero, so that nothing is loaded ahead.
//!
//! A buffer that a stream leaves alone is as the driver or an earlier stream of the same client has set it. A buffer of
//! which the stream states only the size, other than zero, or only the address is refused at the next draw.

use lapidary::portable::bits::RegArray;

use super::{
    gfx::Checker,
    place::{
        Doing,
        SURFACE_UNIT, //
    },
    surface::Place,
    Reason, //
};
use crate::portable::regs::mmio::{
    self,
    sq_alu_const_buffer_size_ps::DATA, //
};

/// Constant buffers of a kind of shader.
const EACH: u32 = 16;
/// All constant buffers: those of pixel shaders, of vertex shaders, and of geometry shaders.
const ALL: usize = 3 * EACH as usize;

/// The address of the first of them.
const FIRST_PLACE: u32 = register(mmio::SQ_ALU_CONST_CACHE_PS);
/// The size of the first of them.
const FIRST_SIZE: u32 = register(mmio::SQ_ALU_CONST_BUFFER_SIZE_PS);

/// Return the first register of `array`. The compiler evaluates this.
const fn register(array: RegArray) -> u32 {
    match array.at(0) {
        Some(register) if array.len() == EACH => register,
        _ => panic!("sixteen for each kind of shader"),
    }
}

/// The registers lie in the order that the numbers of constant buffers have.
const _: () = {
    assert!(register(mmio::SQ_ALU_CONST_CACHE_VS) == FIRST_PLACE + 4 * EACH);
    assert!(register(mmio::SQ_ALU_CONST_CACHE_GS) == FIRST_PLACE + 8 * EACH);
    assert!(register(mmio::SQ_ALU_CONST_BUFFER_SIZE_VS) == FIRST_SIZE + 4 * EACH);
    assert!(register(mmio::SQ_ALU_CONST_BUFFER_SIZE_GS) == FIRST_SIZE + 8 * EACH);
};

/// Return the number of the constant buffer whose address is `register`.
pub(super) fn with_place(register: u32) -> u32 {
    register.wrapping_sub(FIRST_PLACE).wrapping_div(4)
}

/// Return the number of the constant buffer whose size is `register`.
pub(super) fn with_size(register: u32) -> u32 {
    register.wrapping_sub(FIRST_SIZE).wrapping_div(4)
}

/// Return the bit of buffer `number`.
fn bit(number: u32) -> u64 {
    1u64.wrapping_shl(number)
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

impl ConstantBuffers {
    /// Track a write to the size of buffer `number`.
    #[inline]
    pub(super) fn set_size(&mut self, number: u32, word: u32) -> Result<(), Reason> {
        if word & !DATA.mask() != 0 {
            return Err(Reason::RegisterBits);
        }
        if let Some(size) = self.sizes.get_mut(number as usize) {
            *size = word as u16;
        }
        self.sized |= bit(number);
        self.changed |= bit(number);
        Ok(())
    }

    /// Track a write to the address of buffer `number`.
    #[inline]
    pub(super) fn set_place(&mut self, number: u32, place: Place) {
        if let Some(known) = self.places.get_mut(number as usize) {
            *known = place;
        }
        self.placed |= bit(number);
        self.changed |= bit(number);
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
            let number = left.trailing_zeros();
            left &= !bit(number);
            let buffers = &self.constants;
            let size = buffers.sizes.get(number as usize).copied().unwrap_or(0);
            if size == 0 {
                continue;
            }
            let place = match buffers.places.get(number as usize) {
                Some(place) if buffers.placed & bit(number) != 0 => *place,
                _ => return Err(Reason::NoConstants),
            };
            let bytes = u64::from(size).wrapping_mul(SURFACE_UNIT);
            let outside = Reason::ConstantBounds;
            self.claim(place, bytes, 1, Doing::Reads, outside)?;
        }
        Ok(())
    }
}
