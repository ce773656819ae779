// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Addresses in a stream: which object they mean, and how they get their values.
//!
//! An address has 32 bits and a location. A register or parameter takes some of its bits, and some take the location as well
//! (L583-590). In the stream all these bits are zero. A relocation names dword and object. The list is sorted like the stream,
//! so that the checker goes through both once.

use lapidary::portable::bits::Field;

use super::{
    Object,
    Reason, //
};
use crate::portable::{
    emit::Location,
    place::Place,
    regs::{
        mmio::{
            dstbase,
            hqv_source_luma, //
        },
        para_01::{
            coarse_z_1,
            rt0_2,
            z_1,
            z_18,
            z_19,
            z_2,
            z_3, //
        },
        para_02_stage::texture_control_1,
        para_03_mip::level_base,
        para_04::{
            vertex_buffer_high,
            vertex_buffer_low,
            vertex_format_1, //
        }, //
    }, //
};

/// How a part of an address goes into a dword.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Part {
    /// A base of the 2D engine, which reaches the frame buffer only.
    #[default]
    Base2d,
    /// Bits 31:8. The location is in another dword.
    Base,
    /// Location of the depth buffer.
    DepthLocation,
    /// Location of the stencil buffer.
    StencilLocation,
    /// Location of the coarse depth buffer.
    CoarseLocation,
    /// Location of a render target.
    TargetLocation,
    /// Location of a face of a texture.
    FaceLocation(u8),
    /// Bits 31:8 of a level of a texture, with its location.
    Level,
    /// Bits 25:2 of where a count of pixels is written.
    CountLow,
    /// Bits 31:26 of where a count of pixels is written, with the location.
    CountHigh,
    /// Location of the vertex buffer.
    VertexLocation,
    /// Bits 23:0 of the vertex buffer.
    VertexLow,
    /// Bits 31:24 of the vertex buffer.
    VertexHigh,
    /// Bits 28:4 of a surface of HQV, with its location. The manual prints no codes for that (L470, L500), so that only the
    /// frame buffer, which is 0 elsewhere, will do.
    Video,
}

/// Unit of bases of the 2D engine in bytes.
const UNIT_2D: u32 = 8;
/// Unit of surfaces of HQV in bytes.
const VIDEO_UNIT: u32 = 16;
/// Unit of bases of the 3D engine in bytes.
pub(super) const UNIT_3D: u32 = 256;
/// Unit of the address of a count of pixels in bytes.
const COUNT_UNIT: u32 = 4;
/// Unit of the vertex buffer: the manual gives none, and vertices are dwords.
const VERTEX_UNIT: u32 = 4;

/// Locations of the faces of a texture, in the order of fields.
const FACES: [Field; 6] = [
    texture_control_1::FACE_0_LOCATION,
    texture_control_1::FACE_1_LOCATION,
    texture_control_1::FACE_2_LOCATION,
    texture_control_1::FACE_3_LOCATION_ASSUMED,
    texture_control_1::FACE_4_LOCATION_ASSUMED,
    texture_control_1::FACE_5_LOCATION_ASSUMED,
];

impl Part {
    /// Return the bits of a dword that are the location, if it has one, and where the address is in it, if it has a part
    /// of that: which bits, and what the lowest of them counts.
    fn fields(self) -> (Option<Field>, Option<(Field, u32)>) {
        match self {
            Self::Base2d => (None, Some((dstbase::ADDRESS, 3))),
            Self::Base => (None, Some((z_1::BASE, 8))),
            Self::DepthLocation => (Some(z_2::LOCATION), None),
            Self::StencilLocation => (Some(z_3::STENCIL_LOCATION_ASSUMED), None),
            Self::CoarseLocation => (Some(coarse_z_1::LOCATION), None),
            Self::TargetLocation => (Some(rt0_2::LOCATION), None),
            Self::FaceLocation(face) => (FACES.get(usize::from(face)).copied(), None),
            Self::Level => (Some(level_base::LOCATION), Some((level_base::BASE, 8))),
            Self::CountLow => (None, Some((z_18::OCCLUSION_ADDRESS_LOW_ASSUMED, 2))),
            Self::CountHigh => (
                Some(z_19::LOCATION),
                Some((z_19::OCCLUSION_ADDRESS_HIGH, 26)),
            ),
            Self::VertexLocation => (Some(vertex_format_1::LOCATION), None),
            Self::VertexLow => (None, Some((vertex_buffer_low::ADDRESS_LOW, 0))),
            Self::VertexHigh => (None, Some((vertex_buffer_high::ADDRESS_HIGH, 24))),
            // All seven surfaces have the same fields.
            Self::Video => (
                Some(hqv_source_luma::LOCATION),
                Some((hqv_source_luma::ADDRESS, 4)),
            ),
        }
    }

    /// Return what the whole address is a multiple of, a power of two.
    const fn unit(self) -> u32 {
        match self {
            Self::Base2d => UNIT_2D,
            Self::Video => VIDEO_UNIT,
            Self::Base | Self::Level => UNIT_3D,
            Self::CountLow | Self::CountHigh => COUNT_UNIT,
            Self::VertexLow | Self::VertexHigh => VERTEX_UNIT,
            // The other part of the address has one.
            Self::DepthLocation
            | Self::StencilLocation
            | Self::CoarseLocation
            | Self::TargetLocation
            | Self::FaceLocation(_)
            | Self::VertexLocation => 1,
        }
    }

    /// Return whether a number of bytes is a multiple of the unit.
    const fn divides(self, bytes: u32) -> bool {
        bytes & self.unit().wrapping_sub(1) == 0
    }

    /// Return the bits that it takes of a dword.
    pub(super) fn mask(self) -> u32 {
        let (location, address) = self.fields();
        let location = location.map_or(0, Field::mask);
        location | address.map_or(0, |(field, _)| field.mask())
    }

    /// Return whether the object must be in the frame buffer.
    pub(super) const fn frame_buffer(self) -> bool {
        matches!(self, Self::Base2d | Self::Video)
    }

    /// Return the bits for a place.
    fn bits(self, place: Place) -> Option<u32> {
        if !self.divides(place.address)
            || self.frame_buffer() && place.location != Location::FrameBuffer
        {
            return None;
        }
        let (location, address) = self.fields();
        let location = location.map_or(0, |field| field.of(place.location.code()));
        let Some((field, shift)) = address else {
            return Some(location);
        };
        let units = place.address.wrapping_shr(shift);
        // Bases of the 2D engine and of HQV have fewer bits than addresses. The low parts of split addresses are meant to lose
        // some.
        if self.frame_buffer() && units > field.max() {
            return None;
        }
        Some(location | field.of(units))
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

impl Target {
    /// Return whether both lie in one object. A list may name an object twice.
    pub(super) fn shares_object(self, other: Self, objects: &[Object]) -> bool {
        let number = |target: Self| {
            let object = objects.get(target.object as usize);
            object.map_or(0, |object| object.number)
        };
        self.object == other.object || number(self) != 0 && number(self) == number(other)
    }
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

    /// Return whether the next relocation is that one.
    pub(super) fn is_next(&self, position: usize, field: u32) -> bool {
        matches!(self.left, [dword, _, _, other, ..] if (*dword as usize, *other) == (position, field))
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
