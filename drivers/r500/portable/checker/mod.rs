// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The checker of user command streams.
//!
//! R5xx has one flat address space for all clients: VRAM and the GART window. Whoever may write any register
//! or send any packet can read and write everybody's memory. So a client's stream is not executed as it is:
//! the checker walks through it once, copies it, and
//!
//! - lets only packets and registers of an allow-list through ([`policy`](super::policy));
//! - demands that every address is relative to an object: the packet that carries it is followed by a marker
//!   (a NOP with one dword) that names a relocation entry, and becomes a [`Fixup`];
//! - tracks the state of the engine as far as it decides which bytes an operation touches, and demands that
//!   all of them lie within the objects.
//!
//! The result does not depend on where the objects are: fixups put the addresses in later, when the objects
//! have been locked and placed. The form of streams is that of Linux' `radeon` driver
//! (`drivers/gpu/drm/radeon/r300.c`, `r100.c`): markers follow the whole packet, one for each address, in
//! the order of the addresses in the packet; a marker's dword is four times the number of the entry.
//!
//! What a stream must say itself before a 2D operation, because the registers hold what somebody else has left:
//! a control word (`DP_GUI_MASTER_CNTL` or the first dword of SETTINGS) that takes pitch and offset from the
//! stream and not from the default; these, after or in it; the direction (`DP_CNTL`; ascending for packets)
//! after it, unless it was ascending before; corners, anew for each operation; and that colour compare does
//! not read the source, unless the operation has one.
//!
//! 3D packets and registers are refused: they are not checked yet.

mod engine2d;
mod packet3;
mod reason;
mod surface;

pub use reason::{
    Reason,
    Refusal, //
};

use lapidary::portable::radeon_uapi::tiling;

use self::{
    engine2d::Engine2d,
    surface::{
        Point,
        Surface,
        Tiling, //
    }, //
};
use super::{
    pm4::{
        self,
        Header, //
    },
    policy::{
        self,
        Policy, //
    },
    regs::pm4::{
        op,
        pitch_offset, //
    }, //
};

/// Unit of the offset in pitch and offset words, bytes.
const OFFSET_UNIT: u64 = 1024;
/// Unit of the pitch in pitch and offset words, bytes.
const PITCH_UNIT: u64 = 64;
/// Markers count dwords of the relocation chunk; entries have four.
const MARKER_UNIT: u32 = 4;
/// Header of a relocation marker.
const MARKER: u32 = pm4::operation(op::NOP, 1);

/// An object that a stream may use: what its relocation entry stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Object {
    /// Size in bytes.
    pub size: u64,
    /// Tiling flags that are stored with the object ([`tiling`]).
    pub tiling: u32,
    /// What the stream does with the object; filled in by [`check`].
    pub access: Access,
}

/// What a stream does with an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// It is read.
    pub reads: bool,
    /// It is written, and perhaps read.
    pub writes: bool,
}

/// A chip of the family, as far as it decides what a stream may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Chip {
    /// RV515 and its relatives.
    #[default]
    Rv515,
    /// R520.
    R520,
    /// RV530, which alone has two Z pipes behind one pixel pipe.
    Rv530,
    /// RV560.
    Rv560,
    /// RV570.
    Rv570,
    /// R580.
    R580,
}

/// How to check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The tiling bits in the stream are meant. Without this they are replaced by those of the objects
    /// (`RADEON_CS_KEEP_TILING_FLAGS`).
    pub keep_tiling: bool,
    /// The client owns the memories of hierarchical Z and depth compression (`RADEON_INFO_WANT_HYPERZ`).
    pub hyperz: bool,
    /// The client owns the memory of colour compression (`RADEON_INFO_WANT_CMASK`).
    pub cmask: bool,
    /// The chip.
    pub chip: Chip,
    /// Pixel pipes that work, 1 to 4; anything else counts as 1.
    pub pixel_pipes: u8,
    /// Z pipes of an RV530 that work, 1 or 2; anything else counts as 1.
    pub z_pipes: u8,
}

/// How the address of an object goes into a dword.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FixupKind {
    /// In units of 1 KiB into the offset field of a pitch and offset word.
    #[default]
    PitchOffset,
    /// Added to the dword, whose low bits are not part of the address.
    Address,
}

/// A dword of a checked stream that depends on where an object lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fixup {
    /// Index of the dword.
    pub dword: u32,
    /// Number of the object.
    pub object: u32,
    /// What to do with the address.
    pub kind: FixupKind,
}

/// What the address of an object is a multiple of at least. Objects are page aligned.
const OBJECT_ALIGNMENT: u64 = 4096;

impl Fixup {
    /// The final value of the dword, which is `word` in the checked stream, for an object that lies at GPU
    /// address `address`.
    ///
    /// `None` if the address is not a multiple of what the dword counts in or too high for it; objects are
    /// page aligned and end within 4 GiB, so that means a bug elsewhere.
    pub fn apply(&self, word: u32, address: u64) -> Option<u32> {
        match self.kind {
            FixupKind::PitchOffset => {
                if address % OFFSET_UNIT != 0 {
                    return None;
                }
                let offset =
                    u64::from(pitch_offset::OFFSET.get(word)).checked_add(address / OFFSET_UNIT)?;
                if offset > u64::from(pitch_offset::OFFSET.max()) {
                    return None;
                }
                Some(pitch_offset::OFFSET.put(word, offset as u32))
            }
            FixupKind::Address => {
                if address % OBJECT_ALIGNMENT != 0 {
                    return None;
                }
                word.checked_add(u32::try_from(address).ok()?)
            }
        }
    }
}

/// The most fixups that a stream of `dwords` dwords can have: each takes a dword of its own and a marker.
pub const fn max_fixups(dwords: usize) -> usize {
    dwords / 3
}

/// Copies `stream` to the start of `out` and checks it; no dword is looked at twice.
///
/// `objects` are those of the relocation entries, in order; their `access` is filled in. `out` must be as long
/// as the stream, `fixups` as [`max_fixups`] says. Returns the number of fixups. Nothing in `out` may be
/// executed unless this succeeds.
///
/// # Errors
///
/// [`Refusal`]: what is wrong with the stream and where. User space gets `EINVAL`.
pub fn check(
    stream: &[u32],
    objects: &mut [Object],
    options: Options,
    out: &mut [u32],
    fixups: &mut [Fixup],
) -> Result<usize, Refusal> {
    let mut checker = Checker {
        stream,
        out,
        objects,
        fixups,
        num_fixups: 0,
        keep_tiling: options.keep_tiling,
        position: 0,
        marker: 0,
        engine: Engine2d::new(),
    };
    match checker.run() {
        Ok(()) => Ok(checker.num_fixups),
        Err(reason) => Err(Refusal {
            position: checker.position as u32,
            reason,
        }),
    }
}

/// Which surface a pitch and offset word describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Source,
    Destination,
}

struct Checker<'a> {
    stream: &'a [u32],
    out: &'a mut [u32],
    objects: &'a mut [Object],
    fixups: &'a mut [Fixup],
    num_fixups: usize,
    keep_tiling: bool,
    /// Index of the dword that is looked at.
    position: usize,
    /// Index of the next relocation marker of the packet that is looked at.
    marker: usize,
    engine: Engine2d,
}

impl Checker<'_> {
    fn run(&mut self) -> Result<(), Reason> {
        let copy = self
            .out
            .get_mut(..self.stream.len())
            .ok_or(Reason::OutputTooShort)?;
        for (to, from) in copy.iter_mut().zip(self.stream) {
            *to = *from;
        }
        let mut start = 0;
        while let Some(&header) = self.stream.get(start) {
            self.position = start;
            let decoded = Header::decode(header);
            // A stream is no longer than memory, a packet no longer than its count field says.
            let end = start.wrapping_add(1).wrapping_add(decoded.body() as usize);
            let body = self
                .stream
                .get(start.wrapping_add(1)..end)
                .ok_or(Reason::Truncated)?;
            if pm4::reserved_bits(header) != 0 {
                return Err(Reason::ReservedHeaderBits);
            }
            self.marker = end;
            match decoded {
                Header::Type0 {
                    register,
                    one_register,
                    ..
                } => self.type0(register, one_register, start.wrapping_add(1), body)?,
                Header::Type1 { .. } => return Err(Reason::Type1),
                Header::Type2 => {}
                Header::Type3 { opcode, .. } => {
                    self.type3(opcode, start.wrapping_add(1), body)?;
                }
            }
            start = end;
        }
        self.engine.finish()
    }

    /// Values for consecutive registers, or all for one. `start` is the index of the first value.
    fn type0(
        &mut self,
        first: u32,
        one_register: bool,
        start: usize,
        values: &[u32],
    ) -> Result<(), Reason> {
        let step = if one_register { 0 } else { 4 };
        let mut register = first;
        let mut before = Policy::Forbidden;
        for (i, &value) in values.iter().enumerate() {
            let policy = policy::of(register);
            // A write without effect on the state, after another such write, is as legal as that was.
            if policy != Policy::Free || before != Policy::Free {
                self.position = start.wrapping_add(i);
                self.register(register, policy, value)?;
                before = policy;
            }
            // 13 + 14 bits of dword indices: far from any overflow.
            register = register.wrapping_add(step);
        }
        Ok(())
    }

    fn register(&mut self, register: u32, policy: Policy, value: u32) -> Result<(), Reason> {
        match policy {
            Policy::HostData => return self.engine.host_data(),
            Policy::HostDataLast => return self.engine.host_data_last(),
            _ => self.engine.not_host_data()?,
        }
        if value & !policy.allowed_bits() != 0 && policy != Policy::Forbidden {
            return Err(Reason::ForbiddenBits);
        }
        let engine = &mut self.engine;
        match policy {
            Policy::Forbidden if policy::is_3d(register) => return Err(Reason::State3d),
            Policy::Forbidden => return Err(Reason::ForbiddenRegister),
            Policy::Free
            | Policy::WaitUntil
            | Policy::CacheControl
            | Policy::ColorCacheControl
            | Policy::ZCacheControl
            | Policy::HostSwap => {}
            Policy::SourcePitchOffset => self.pitch_offset(Role::Source, value)?,
            Policy::DestinationPitchOffset => self.pitch_offset(Role::Destination, value)?,
            Policy::Control => {
                engine.set_control(value)?;
            }
            Policy::Direction => engine.set_direction(value),
            Policy::LineDirection => engine.forget_direction(),
            Policy::ColorCompare => engine.set_compare(value),
            Policy::ScissorTopLeft => engine.set_scissor_top_left(value),
            Policy::ScissorBottomRight => engine.set_scissor_bottom_right(value),
            Policy::SourceCorner => engine.set_source_corner(Point::from_y_x(value)?),
            Policy::DestinationCorner => engine.set_destination_corner(Point::from_y_x(value)?),
            // All 16 bits count, though the engine has 14: more is never less.
            Policy::HeightWidth => engine.rectangle(value & 0xffff, value >> 16, self.objects)?,
            Policy::WidthHeight => engine.rectangle(value >> 16, value & 0xffff, self.objects)?,
            Policy::LineStart => engine.set_line_start(Point::from_y_x(value)?),
            Policy::LineEnd => engine.line_to(Point::from_y_x(value)?, self.objects)?,
            Policy::HostData | Policy::HostDataLast => {}
        }
        Ok(())
    }

    /// The object that the next relocation marker behind the packet names.
    fn relocation(&mut self) -> Result<u32, Reason> {
        let index = self.marker.wrapping_add(1);
        let (Some(&MARKER), Some(&dword)) = (self.stream.get(self.marker), self.stream.get(index))
        else {
            return Err(Reason::MissingRelocation);
        };
        if dword % MARKER_UNIT != 0 {
            self.position = index;
            return Err(Reason::BadRelocation);
        }
        self.marker = index.wrapping_add(1);
        Ok(dword / MARKER_UNIT)
    }

    /// A word with address, pitch and tiling of a surface, at the current position.
    fn pitch_offset(&mut self, role: Role, word: u32) -> Result<(), Reason> {
        let number = self.relocation()?;
        let object = self
            .objects
            .get(number as usize)
            .ok_or(Reason::BadRelocation)?;

        let mut checked = word;
        if !self.keep_tiling {
            // The engine cannot read micro-tiled memory as a source; with the client's own tiling bits that
            // is the client's business.
            if role == Role::Source && object.tiling & tiling::MICRO != 0 {
                return Err(Reason::MicroTiledSource);
            }
            let flag = |flag: u32| u32::from(object.tiling & flag != 0);
            checked = pitch_offset::TILE_MACRO.put(checked, flag(tiling::MACRO));
            checked = pitch_offset::TILE_MICRO.put(checked, flag(tiling::MICRO));
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

        *self
            .out
            .get_mut(self.position)
            .ok_or(Reason::OutputTooShort)? = checked;
        *self
            .fixups
            .get_mut(self.num_fixups)
            .ok_or(Reason::TooManyFixups)? = Fixup {
            dword: self.position as u32,
            object: number,
            kind: FixupKind::PitchOffset,
        };
        self.num_fixups = self.num_fixups.wrapping_add(1);
        Ok(())
    }
}
