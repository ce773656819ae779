// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Addresses in a stream: which object they mean, and which dword takes the final value.
//!
//! Markers are those of all families ([`lapidary::portable::pm4`]). Which registers have one is Linux'
//! (`drivers/gpu/drm/radeon/r100.c`, `r300.c`). Without `RADEON_CS_KEEP_TILING_FLAGS` the tiling bits of registers come
//! from the object. For colour and depth these bits are in the pitch register and not in the address, so then the pitch
//! register has a marker as well.

use lapidary::portable::radeon::uapi::tiling;

use super::{
    buffer::Place,
    surface::{
        Surface,
        Tiling, //
    },
    Checker,
    FixupKind,
    Object,
    Reason,
    Role,
    OFFSET_UNIT,
    PITCH_UNIT, //
};
use crate::portable::regs::{
    mmio::{
        rb3d_colorpitch,
        tx_offset,
        zb_depthpitch, //
    },
    pm4::pitch_offset, //
};

impl Checker<'_> {
    /// Take the next relocation marker behind the packet. Return the number of its object, and the object.
    #[inline]
    fn relocation(&mut self) -> Result<(u32, &Object), Reason> {
        let number = self.stream.relocation(&mut self.position)?;
        let object = self
            .objects
            .get(number as usize)
            .ok_or(Reason::BadRelocation)?;
        Ok((number, object))
    }

    /// Put another value into the stream, at a position that has been checked.
    pub(super) fn replace(&mut self, position: usize, word: u32) -> Result<(), Reason> {
        Ok(self.stream.replace(position, word)?)
    }

    fn fixup(&mut self, position: usize, object: u32, kind: FixupKind) -> Result<(), Reason> {
        Ok(self.fixups.push(position, object, kind)?)
    }

    /// Check the dword at `position`, in which the bits of `offset` are an address.
    pub(super) fn address(
        &mut self,
        position: usize,
        word: u32,
        offset: u32,
    ) -> Result<Place, Reason> {
        let (number, object) = self.relocation()?;
        // Then adding the address of the object cannot overflow.
        if u64::from(word) >= object.size {
            return Err(Reason::OffsetBeyondObject);
        }
        self.fixup(position, number, FixupKind::Address)?;
        Ok(Place {
            object: number,
            offset,
        })
    }

    /// Check the value at the current position, of a register that is an address and nothing else.
    pub(super) fn plain_address(&mut self, word: u32) -> Result<Place, Reason> {
        self.address(self.position, word, word)
    }

    /// Check `TX_OFFSET` at the current position, which has address and tiling. Return also the word with the tiling
    /// that counts. Tiling bits that the stream sets are kept, as Linux does.
    pub(super) fn texture_address(&mut self, word: u32) -> Result<(u32, Place), Reason> {
        let place = self.address(self.position, word, word & tx_offset::TXOFFSET.mask())?;
        let mut checked = word;
        if !self.options.keep_tiling {
            let (macro_tiled, micro) = self.stored_tiling(place.object);
            checked |= tx_offset::MACRO_TILE.of(macro_tiled) | tx_offset::MICRO_TILE.of(micro);
            self.replace(self.position, checked)?;
        }
        Ok((checked, place))
    }

    /// Return the value of `RB3D_COLORPITCH` at the current position, with the tiling that counts.
    pub(super) fn color_pitch(&mut self, word: u32) -> Result<u32, Reason> {
        let Some((macro_tiled, micro)) = self.patched_tiling()? else {
            return Ok(word);
        };
        let word = rb3d_colorpitch::COLORTILE.put(word, macro_tiled);
        let word = rb3d_colorpitch::COLORMICROTILE.put(word, micro);
        self.replace(self.position, word)?;
        Ok(word)
    }

    /// Return the value of `ZB_DEPTHPITCH` at the current position, with the tiling that counts.
    pub(super) fn depth_pitch(&mut self, word: u32) -> Result<u32, Reason> {
        let Some((macro_tiled, micro)) = self.patched_tiling()? else {
            return Ok(word);
        };
        let word = zb_depthpitch::DEPTHMACROTILE.put(word, macro_tiled);
        let word = zb_depthpitch::DEPTHMICROTILE.put(word, micro);
        self.replace(self.position, word)?;
        Ok(word)
    }

    /// Return the tiling for a pitch register, from the object that its marker names. `None` if the stream's counts.
    fn patched_tiling(&mut self) -> Result<Option<(u32, u32)>, Reason> {
        if self.options.keep_tiling {
            return Ok(None);
        }
        let (number, _) = self.relocation()?;
        Ok(Some(self.stored_tiling(number)))
    }

    /// Return macro- and micro-tiling that are stored with an object, as the 3D registers code them.
    fn stored_tiling(&self, number: u32) -> (u32, u32) {
        let flags = self
            .objects
            .get(number as usize)
            .map_or(0, |object| object.tiling);
        let micro = if flags & tiling::MICRO != 0 {
            1
        } else if flags & tiling::MICRO_SQUARE != 0 {
            2
        } else {
            0
        };
        (u32::from(flags & tiling::MACRO != 0), micro)
    }

    /// Check the word at the current position, which has address, pitch and tiling of a surface of the 2D engine.
    #[inline(never)]
    pub(super) fn pitch_offset(&mut self, role: Role, word: u32) -> Result<(), Reason> {
        let (number, &object) = self.relocation()?;
        let mut checked = word;
        if !self.options.keep_tiling {
            // The engine cannot read micro-tiled memory as a source. With tiling bits of its own the client may try.
            if role == Role::Source && object.tiling & tiling::MICRO != 0 {
                return Err(Reason::MicroTiledSource);
            }
            let flag = |flag: u32| u32::from(object.tiling & flag != 0);
            checked = pitch_offset::TILE_MACRO.put(checked, flag(tiling::MACRO));
            checked = pitch_offset::TILE_MICRO.put(checked, flag(tiling::MICRO));
            self.replace(self.position, checked)?;
        }
        let surface = Surface::new(
            number,
            object.size,
            u64::from(pitch_offset::OFFSET.get(checked)).wrapping_mul(OFFSET_UNIT),
            u64::from(pitch_offset::PITCH.get(checked)).wrapping_mul(PITCH_UNIT),
            Tiling {
                macro_tiled: pitch_offset::TILE_MACRO.any(checked),
                micro_tiled: pitch_offset::TILE_MICRO.any(checked),
            },
        )?;
        match role {
            Role::Source => self.engine.set_source(surface),
            Role::Destination => self.engine.set_destination(surface),
        }
        self.fixup(self.position, number, FixupKind::PitchOffset)
    }
}
