// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Addresses of surfaces, buffers and programs in registers: one dword in units of 256 bytes.
//!
//! A register with an address is written before or after the registers that say how large the surface is. So the checker
//! remembers where the address leads, and compares sizes when all is known. The same holds for what the final address
//! must be a multiple of: it is added to the fixup that has already been noted.

use super::{
    gfx::Checker,
    place::{
        Doing,
        Form,
        SURFACE_UNIT, //
    },
    Reason, //
};

/// Where the address in a register leads.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    /// Number of the object.
    object: u32,
    /// Units of 256 bytes from its beginning.
    offset: u32,
    /// Number of the fixup.
    fixup: u32,
}

impl Place {
    /// A place of which the stream has stated nothing.
    pub(super) const NONE: Self = Self {
        object: 0,
        offset: 0,
        fixup: 0,
    };

    /// Return whether another address leads to the same place.
    pub(super) fn is_at(self, other: Self) -> bool {
        (self.object, self.offset) == (other.object, other.offset)
    }
}

impl Checker<'_> {
    /// Take the marker of the address `word`, which is dword `position`. Its offset must be in the object.
    pub(super) fn surface_address(&mut self, position: usize, word: u32) -> Result<Place, Reason> {
        let number = self.stream.relocation(&mut self.position)?;
        let object = self
            .objects
            .get(number as usize)
            .ok_or(Reason::BadRelocation)?;
        // A dword in units of 256 bytes: 40 bits.
        if u64::from(word).wrapping_mul(SURFACE_UNIT) >= object.size {
            return Err(Reason::OffsetBeyondObject);
        }
        let fixup = self.fixups.count() as u32;
        let form = Form::Surface { alignment: 0 };
        self.fixups.push(position, number, form)?;
        Ok(Place {
            object: number,
            offset: word,
            fixup,
        })
    }

    /// Check that `bytes` bytes from `place` on lie in its object, and note what is done with them. The address must be
    /// a multiple of `alignment`, a power of two.
    ///
    /// # Errors
    ///
    /// `outside`; [`Reason::TiledOffset`].
    pub(super) fn claim(
        &mut self,
        place: Place,
        bytes: u64,
        alignment: u64,
        doing: Doing,
        outside: Reason,
    ) -> Result<(), Reason> {
        let object = self
            .objects
            .get_mut(place.object as usize)
            .ok_or(Reason::BadRelocation)?;
        let offset = u64::from(place.offset).wrapping_mul(SURFACE_UNIT);
        if offset & alignment.wrapping_sub(1) != 0 {
            return Err(Reason::TiledOffset);
        }
        match offset.checked_add(bytes) {
            Some(end) if end <= object.size => {}
            _ => return Err(outside),
        }
        doing.note(object);
        let unit = alignment.trailing_zeros() as u8;
        if let Some(Form::Surface { alignment }) = self.fixups.kind_mut(place.fixup as usize) {
            *alignment = unit.max(*alignment);
        }
        Ok(())
    }
}
