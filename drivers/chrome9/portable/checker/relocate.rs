// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Addresses in a stream: which object they mean, and how they get their values.
//!
//! An address has 32 bits and a location. A register or parameter takes some of its bits, and some take the location as well
//! (L583-590). In the stream all these bits are zero. A relocation names dword and object. The list is sorted like the stream,
//! so that the checker goes through both once.

use super::{
    Object,
    Reason, //
};
use crate::portable::{
    emit::Location,
    place::Place,
    regs::mmio::dstbase, //
};

/// How a part of an address goes into a dword.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Part {
    /// A base of the 2D engine, which reaches the frame buffer only.
    #[default]
    Base2d,
}

/// Unit of bases of the 2D engine in bytes.
const UNIT_2D: u32 = 8;

impl Part {
    /// Return whether the unit of the address divides a number of bytes. Units are powers of two.
    const fn divides(self, bytes: u32) -> bool {
        let unit = match self {
            Self::Base2d => UNIT_2D,
        };
        bytes & unit.wrapping_sub(1) == 0
    }

    /// Return the bits that it takes of a dword.
    pub(super) const fn mask(self) -> u32 {
        match self {
            Self::Base2d => dstbase::ADDRESS.mask(),
        }
    }

    /// Return whether the object must be in the frame buffer.
    pub(super) const fn frame_buffer(self) -> bool {
        match self {
            Self::Base2d => true,
        }
    }

    /// Return the bits for a place.
    fn bits(self, place: Place) -> Option<u32> {
        if !self.divides(place.address)
            || self.frame_buffer() && place.location != Location::FrameBuffer
        {
            return None;
        }
        match self {
            Self::Base2d => {
                let units = place.address / UNIT_2D;
                (units <= dstbase::ADDRESS.max()).then_some(dstbase::ADDRESS.of(units))
            }
        }
    }
}

/// A dword of a checked stream that takes a part of an address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fixup {
    dword: u32,
    object: u32,
    offset: u32,
    part: Part,
}

impl Fixup {
    /// Return the index of the object.
    pub fn object(self) -> usize {
        self.object as usize
    }

    /// Return the index of the dword.
    pub fn dword(self) -> usize {
        self.dword as usize
    }

    /// Return `word`, which is what the dword has so far, with the address put in. `object` is where the object lies.
    ///
    /// `None` if it cannot be: the address has too many bits, or is no multiple of its unit, or the engine does not reach the
    /// location.
    pub fn apply(self, word: u32, object: Place) -> Option<u32> {
        let bits = self.part.bits(object.behind(self.offset)?)?;
        // The checker has seen zeroes there.
        Some(word & !self.part.mask() | bits)
    }
}

/// Return the most fixups that a stream with so many relocations has: one for each.
pub const fn most_fixups(relocations: usize) -> usize {
    relocations
}

/// A relocation, as the checker uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Target {
    /// Index of the object.
    pub(super) object: u32,
    /// Byte in it, less than its size.
    pub(super) offset: u32,
}

/// Dwords of a relocation.
const DWORDS: usize = 4;

/// The relocations that the stream has not come to, and the fixups so far.
pub(super) struct Relocations<'a> {
    left: &'a [u32],
    /// Index of the next one.
    index: usize,
    fixups: &'a mut [Fixup],
    count: usize,
}

impl<'a> Relocations<'a> {
    /// Check that relocations are sorted and lead into objects. An error has the index of the relocation.
    pub(super) fn new(
        all: &'a [u32],
        objects: &[Object],
        fixups: &'a mut [Fixup],
    ) -> Result<Self, (usize, Reason)> {
        let mut chunks = all.chunks_exact(DWORDS);
        let mut last = None;
        for (index, relocation) in chunks.by_ref().enumerate() {
            let fault = |reason| Err((index, reason));
            let [dword, object, offset, field] = *relocation else {
                return fault(Reason::RelocationLength);
            };
            let place = Some((dword, field));
            if place <= last {
                return fault(Reason::RelocationOrder);
            }
            last = place;
            match objects.get(object as usize) {
                None => return fault(Reason::RelocationObject),
                Some(object) if u64::from(offset) >= object.size => {
                    return fault(Reason::RelocationOffset)
                }
                Some(_) => {}
            }
        }
        if !chunks.remainder().is_empty() {
            return Err((all.len() / DWORDS, Reason::RelocationLength));
        }
        Ok(Self {
            left: all,
            index: 0,
            fixups,
            count: 0,
        })
    }

    /// Take the relocation for an address in the dword `word` at `position`. An error says where: a relocation's index, or
    /// the position.
    pub(super) fn take(
        &mut self,
        position: usize,
        word: u32,
        field: u32,
        part: Part,
        objects: &mut [Object],
    ) -> Result<Target, (usize, Reason)> {
        let [dword, object, offset, index] = match self.left {
            [a, b, c, d, ..] => [*a, *b, *c, *d],
            _ => return Err((position, Reason::NoRelocation)),
        };
        let (place, wanted) = ((dword as usize, index), (position, field));
        if place < wanted {
            return Err((self.index, Reason::RelocationUnused));
        }
        if place > wanted {
            return Err((position, Reason::NoRelocation));
        }
        if word & part.mask() != 0 {
            return Err((position, Reason::AddressBits));
        }
        if !part.divides(offset) {
            return Err((self.index, Reason::RelocationAlignment));
        }
        let fixup = Fixup {
            dword,
            object,
            offset,
            part,
        };
        *self
            .fixups
            .get_mut(self.count)
            .ok_or((position, Reason::TooManyFixups))? = fixup;
        if let Some(object) = objects.get_mut(object as usize) {
            object.access.frame_buffer |= part.frame_buffer();
        }
        self.count = self.count.wrapping_add(1);
        self.index = self.index.wrapping_add(1);
        self.left = self.left.get(DWORDS..).unwrap_or_default();
        Ok(Target { object, offset })
    }

    /// Return the number of fixups, if no relocation is left. An error has the index of the first that is.
    pub(super) fn finish(&self) -> Result<usize, (usize, Reason)> {
        if self.left.is_empty() {
            Ok(self.count)
        } else {
            Err((self.index, Reason::RelocationUnused))
        }
    }
}
