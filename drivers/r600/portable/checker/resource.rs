// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Resources: the buffers and textures that shaders fetch from (R6xx/R7xx 3.5, 3.6; packet `SET_RESOURCE`, 5.3.3.6).
//!
//! A resource has seven dwords. The last one says whether the others describe a buffer or a texture. There are 496 slots.
//! Pixel shaders have 160 of them, vertex shaders 160, fetch shaders 16 and geometry shaders 160. An instruction names a
//! slot, and the shader computes an index or coordinates. Whatever they are, the unit stays within the resource. So each
//! resource is judged when it is set, and no draw looks at it again.
//!
//! Only whole resources at the beginning of a slot are admitted, because half a resource would be joined with what lies
//! in the chip. Resources of no kind are refused, as Linux does (`drivers/gpu/drm/radeon/r600_cs.c`), because nothing
//! public says what a fetch from them does.
//!
//! Behind the packet there is one relocation marker for a buffer. For a texture there is one for the base level and one
//! for the other levels.

use core::cell::Cell;

use lapidary::portable::pm4::Body;

use super::{
    gfx::Checker,
    piece,
    texture::Texture,
    Object,
    Reason, //
};
use crate::portable::regs::{
    enums::resource_type,
    mmio::{
        sq_tex_resource_word6 as word6,
        SQ_TEX_RESOURCE_WORD0, //
    },
    pm4::set_resource, //
};

/// Dwords of a resource.
pub(super) const DWORDS: usize = 7;
/// Dwords of all slots.
const ALL: u32 = {
    assert!(matches!(
        SQ_TEX_RESOURCE_WORD0.at(0),
        Some(set_resource::BASE)
    ));
    assert!(matches!(
        SQ_TEX_RESOURCE_WORD0.index_of(set_resource::BASE + 4 * DWORDS as u32),
        Some(1)
    ));
    SQ_TEX_RESOURCE_WORD0.len() * DWORDS as u32
};

/// What is wrong with a resource: the number of the dword, and why.
pub(super) type Fault = (usize, Reason);

impl Checker<'_> {
    /// Check a packet that sets resources. The position of `body` is left behind the faulty dword.
    pub(super) fn set_resource(&mut self, body: &mut Body<'_>) -> Result<(), Reason> {
        let first = body.take()?;
        let dwords = body.len() as u32;
        if first.checked_add(dwords).is_none_or(|behind| behind > ALL) {
            return Err(Reason::ResourceSlot);
        }
        if first % DWORDS as u32 != 0 || dwords % DWORDS as u32 != 0 {
            return Err(Reason::PartialResource);
        }
        let mut slot = (first as usize).wrapping_div(DWORDS);
        while let Some(cells) = body.rest().first_chunk() {
            if let Err((dword, reason)) = self.resource(cells, body.position()) {
                body.skip(dword.wrapping_add(1))?;
                return Err(reason);
            }
            body.skip(DWORDS)?;
            self.residue
                .state(piece::RESOURCES.wrapping_add(slot), true);
            slot = slot.wrapping_add(1);
        }
        Ok(())
    }

    /// Check the resource in `cells`, of which the first is dword `at` of the stream.
    #[inline]
    fn resource(&mut self, cells: &[Cell<u32>; DWORDS], at: usize) -> Result<(), Fault> {
        let words = cells.each_ref().map(Cell::get);
        match word6::TYPE.get(words[6]) {
            resource_type::SQ_TEX_VTX_VALID_BUFFER => self.buffer(words, at),
            resource_type::SQ_TEX_VTX_VALID_TEXTURE => {
                let texture = Texture::new(&words, self.chip)?;
                self.texture(&texture, at)
            }
            _ => Err((6, Reason::ResourceType)),
        }
    }

    /// Take the next marker. Return the object that it names, and its number.
    #[inline]
    pub(super) fn object(&mut self) -> Result<(u32, &mut Object), Reason> {
        let number = self.stream.relocation(&mut self.position)?;
        let object = self
            .objects
            .get_mut(number as usize)
            .ok_or(Reason::BadRelocation)?;
        Ok((number, object))
    }
}
