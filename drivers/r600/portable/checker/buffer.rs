// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Resources that are buffers: vertices, texels of buffer textures, constants that shaders index, and rings of the
//! geometry stages.
//!
//! A fetch computes index times stride plus an offset of its own. The size is the number of the last byte that belongs
//! to the buffer. The fetch unit compares with it, from the resource's address on (R6xx/R7xx 2.4).
//! A fetch beyond it gives zero, or the last element with `CLAMP_X`.
//!
//! The checker assumes that the unit compares all bytes of an element, so that no byte behind the size is accessed,
//! whatever the shader does. The manual does not say which byte is compared. If it were the first one, a fetch could read
//! the rest of an element of at most 16 bytes behind an object. Linux' driver assumes the same. The format in the
//! resource does not matter, because a fetch may name another.
//!
//! Mesa gives as size what is left of an object behind the address. If an application binds a buffer behind the end of
//! an object, this wraps. Linux reduces the size then to what is left (`drivers/gpu/drm/radeon/r600_cs.c`), one byte too
//! many. Here it is reduced to the last byte of the object. An address behind the end is refused.

use super::{
    gfx::Checker,
    place::{
        Doing,
        Form, //
    },
    resource::{
        Fault,
        DWORDS, //
    },
    Reason, //
};
use crate::portable::regs::mmio::{
    sq_vtx_constant_word2 as word2,
    sq_vtx_constant_word3 as word3,
    sq_vtx_constant_word6 as word6, //
};

impl Checker<'_> {
    /// Check the buffer in `words`, of which the first is dword `at` of the stream.
    #[inline]
    pub(super) fn buffer(&mut self, words: [u32; DWORDS], at: usize) -> Result<(), Fault> {
        const { assert!(word2::BASE_ADDRESS_HI.mask() == 0xff) };
        let [low, size, mode, request, unused, none, kind] = words;
        // A fetch that exchanges bytes may access more than the bytes of the element.
        if word2::ENDIAN_SWAP.any(mode) {
            return Err((2, Reason::ByteOrder));
        }
        if request & !word3::MEM_REQUEST_SIZE.mask() != 0 {
            return Err((3, Reason::ForbiddenBits));
        }
        if unused | none != 0 {
            return Err((if unused != 0 { 4 } else { 5 }, Reason::ForbiddenBits));
        }
        if kind & !word6::TYPE.mask() != 0 {
            return Err((6, Reason::ForbiddenBits));
        }
        let offset = u64::from(low) | (u64::from(word2::BASE_ADDRESS_HI.get(mode)) << 32);
        let (number, object) = self.object().map_err(|reason| (6, reason))?;
        let left = object.size.saturating_sub(offset);
        if left == 0 {
            return Err((0, Reason::BufferBounds));
        }
        Doing::Reads.note(object);
        if u64::from(size) >= left {
            // Less than 2^32.
            let last = left.wrapping_sub(1) as u32;
            self.stream
                .replace(at.wrapping_add(1), last)
                .map_err(|fault| (1, fault.into()))?;
        }
        self.fixups
            .push(at, number, Form::Second)
            .map_err(|fault| (0, fault.into()))
    }
}
