// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The checker of user command streams.
//!
//! R5xx has one flat address space for all clients: VRAM and the GART window. A client that could write any register or
//! send any packet could read and write the memory of all others. So the checker walks once through the driver's copy
//! of a client's stream before it is executed. The checker
//!
//! - admits only packets and registers of an allow-list ([`policy`](super::policy));
//! - demands that every address is relative to an object. Behind the packet with the address stands a marker (a NOP
//!   with one dword) that names a relocation entry. The address becomes a [`Fixup`];
//! - tracks the state of the engine as far as it decides which bytes an operation touches, and demands that all of them
//!   lie within the objects.
//!
//! The result does not depend on where the objects are. Fixups insert the addresses later, when the objects have been
//! locked and placed. The form of streams is that of Linux' `radeon` driver, see [`lapidary::portable::pm4`].
//!
//! A stream must itself set the state that decides where an operation reads and writes, because the registers hold what
//! another client has left. State that the stream has not set is unknown. An operation that needs it is refused.
//!
//! | file | what |
//! | --- | --- |
//! | `mod`, `registers`, `packet3` | the walk: packets, register writes |
//! | `relocate`, `buffer` | addresses and the objects that they mean |
//! | `engine2d`, `surface` | what the 2D engine touches |
//! | `layout`, `format` | how many bytes tiled pictures and texels take |
//! | `color`, `depth`, `texture`, `vertex` | what a draw touches |
//! | `cache` | registers that may change only while a cache is empty |
//! | `draw` | 3D packets, and the check of a draw |
//! | `pipes`, `hyperz` | what all clients share: pipes and memories on the chip |
//! | `reason` | refusals |
//!
//! `Documentation/r500/checker.md` explains the rules and where they differ from Linux'.

mod buffer;
mod cache;
mod color;
mod depth;
mod draw;
mod engine2d;
mod format;
mod hyperz;
mod layout;
mod packet3;
mod pipes;
mod reason;
mod registers;
mod relocate;
mod surface;
mod texture;
mod vertex;

pub use lapidary::portable::pm4::max_fixups;
pub use reason::{
    Reason,
    Refusal, //
};

use core::cell::Cell;

use lapidary::portable::pm4::{
    Fixups,
    Kind,
    Stream, //
};

use self::{
    cache::Caches,
    color::Color,
    depth::Depth,
    draw::Scissor,
    engine2d::Engine2d,
    pipes::Pipes,
    texture::Textures,
    vertex::Vertices, //
};
use super::{
    pm4::{
        self,
        Header,
        R5xx, //
    },
    policy::{
        self,
        Policy, //
    },
    regs::{
        mmio,
        pm4::pitch_offset, //
    }, //
};

/// Unit of the offset in pitch and offset words, bytes.
const OFFSET_UNIT: u64 = 1024;
/// Unit of the pitch in pitch and offset words, bytes.
const PITCH_UNIT: u64 = 64;

/// An object that a stream may use. A relocation entry names it.
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

/// A chip of the family. Chips differ in what a stream may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Chip {
    /// RV515 and its relatives.
    #[default]
    Rv515,
    /// R520.
    R520,
    /// RV530, the only one with two Z pipes behind one pixel pipe.
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
    /// Keep the tiling bits in the stream (`RADEON_CS_KEEP_TILING_FLAGS`). Otherwise those of the objects replace them.
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
    /// Added in units of 1 KiB to the offset field of a pitch and offset word.
    #[default]
    PitchOffset,
    /// Added to the dword, whose low bits are not part of the address.
    Address,
}

/// A dword of a checked stream that depends on where an object lies.
pub type Fixup = lapidary::portable::pm4::Fixup<FixupKind>;

/// The least alignment of an object's address in bytes. Objects are page aligned.
const OBJECT_ALIGNMENT: u64 = 4096;

impl Kind for FixupKind {
    /// `None` also if the address is not a multiple of the dword's unit.
    #[inline]
    fn apply(self, word: u32, address: u64) -> Option<u32> {
        match self {
            Self::PitchOffset => {
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
            Self::Address => {
                if address % OBJECT_ALIGNMENT != 0 {
                    return None;
                }
                word.checked_add(u32::try_from(address).ok()?)
            }
        }
    }
}

/// Check `words`, and change what has to be changed in them. No dword is read again after it was changed.
///
/// `objects` are those of the relocation entries, in order. Their `access` is filled in. `fixups` must be as long as
/// [`max_fixups`] says. Return the number of fixups. Nothing in `words` may be executed unless this succeeds.
///
/// # Errors
///
/// [`Refusal`] says what is wrong with the stream and where. User space gets `EINVAL`.
pub fn check(
    words: &mut [u32],
    objects: &mut [Object],
    options: Options,
    fixups: &mut [Fixup],
) -> Result<usize, Refusal> {
    let mut checker = Checker {
        stream: Stream::new(words),
        objects,
        fixups: Fixups::new(fixups),
        options,
        position: 0,
        engine: Engine2d::new(),
        color: Color::new(),
        depth: Depth::default(),
        caches: Caches::default(),
        scissor: None,
        raster_changed: true,
        textures: Textures::new(),
        vertices: Vertices::default(),
        indices_due: 0,
        writes_due: 0,
        guarded: false,
        pipes: Pipes::new(&options),
    };
    match checker.run() {
        Ok(()) => Ok(checker.fixups.count()),
        Err(reason) => Err(Refusal {
            position: checker.position as u32,
            reason,
        }),
    }
}

/// Return how many registers for host data there are from `register` on. The one for the last dword follows them.
fn host_data_from(register: u32) -> usize {
    const { assert!(matches!(mmio::HOST_DATA.at(7), Some(last) if last + 4 == mmio::HOST_DATA_LAST)) };
    (mmio::HOST_DATA_LAST.wrapping_sub(register) >> 2) as usize
}

/// Which surface a pitch and offset word describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Source,
    Destination,
}

struct Checker<'a> {
    /// The stream, which is checked in place.
    stream: Stream<'a>,
    objects: &'a mut [Object],
    fixups: Fixups<'a, FixupKind>,
    options: Options,
    /// Index of the dword that is being checked.
    position: usize,
    engine: Engine2d,
    color: Color,
    depth: Depth,
    caches: Caches,
    scissor: Option<Scissor>,
    /// Colour, depth or scissor have changed since they were checked.
    raster_changed: bool,
    textures: Textures,
    vertices: Vertices,
    /// Dwords of indices that a draw waits for. The next packet must bring them.
    indices_due: u32,
    /// Register writes that must come before the next draw.
    writes_due: u32,
    /// Every register has to be checked: an operation waits for host data or indices, register writes are due before a
    /// draw, or register writes do not reach all pipes.
    guarded: bool,
    pipes: Pipes,
}

/// The state lies on the caller's stack. A kernel thread has 16 KiB of it.
const _: () = assert!(core::mem::size_of::<Checker<'static>>() <= 2048);

impl Checker<'_> {
    fn run(&mut self) -> Result<(), Reason> {
        let stream = self.stream.words();
        let mut start = 0;
        while let Some(header) = stream.get(start).map(Cell::get) {
            self.position = start;
            if !pm4::is_write(header) {
                start = self.packet(start, header)?;
                continue;
            }
            let (register, count, one_register) = pm4::write_of(header);
            // A stream is not longer than memory, a packet not longer than its count field can say.
            let first = start.wrapping_add(1);
            let end = first.wrapping_add(count);
            // Most packets of a stream write registers that do not concern memory.
            let registers = if one_register { 1 } else { count };
            let free = registers <= policy::free_from(register);
            start = if free && !self.guarded {
                end
            } else if let (1, Some(value)) = (count, stream.get(first)) {
                // Many of the other packets have one value.
                self.position = first;
                self.stream.pass(end);
                self.register(register, policy::of(register), value.get())?;
                // Skip the markers that belong to the packet.
                self.stream.next()
            } else {
                self.write(start, register, end, one_register)?
            };
        }
        // Of what was free only the length has been looked at.
        if start > stream.len() {
            return Err(Reason::Truncated);
        }
        self.engine.finish()?;
        if self.indices_due != 0 {
            return Err(Reason::IndicesDue);
        }
        self.pipes.all()
    }

    /// Check a type-0 packet whose values start at index `start`, the current position, and end before `end`. Return the
    /// index of the next packet.
    #[inline(never)]
    fn write(
        &mut self,
        start: usize,
        register: u32,
        end: usize,
        one_register: bool,
    ) -> Result<usize, Reason> {
        let first = start.wrapping_add(1);
        let values = self.stream.values(first, end)?;
        if one_register {
            self.repeated(register, first, values)?;
        } else {
            self.consecutive(register, first, values)?;
        }
        Ok(self.stream.next())
    }

    /// Check a packet of another kind. Return the index of the next one.
    fn packet(&mut self, start: usize, header: u32) -> Result<usize, Reason> {
        match self.stream.packet::<R5xx>(start, header)? {
            (
                Header::Type0 {
                    register,
                    one_register,
                    ..
                },
                _,
            ) => return self.write(start, register, self.stream.next(), one_register),
            (Header::Type1 { .. }, _) => return Err(Reason::Type1),
            (Header::Type2, _) => {}
            (Header::Type3 { opcode, .. }, body) => {
                self.type3(opcode, start.wrapping_add(1), body)?;
                self.note_guard();
            }
        }
        Ok(self.stream.next())
    }

    /// Note whether every register has to be checked.
    fn note_guard(&mut self) {
        let waiting = self.engine.not_host_data().is_err() || self.indices_due != 0;
        self.guarded = waiting || self.writes_due != 0 || self.pipes.all().is_err();
    }

    /// Refuse anything but the data that an operation waits for.
    fn nothing_due(&self) -> Result<(), Reason> {
        if !self.guarded {
            return Ok(());
        }
        self.engine.not_host_data()?;
        if self.indices_due != 0 {
            return Err(Reason::IndicesDue);
        }
        Ok(())
    }

    /// Check values for consecutive registers. `start` is the index of the first value.
    fn consecutive(
        &mut self,
        first: u32,
        start: usize,
        values: &[Cell<u32>],
    ) -> Result<(), Reason> {
        let mut register = first;
        let mut position = start;
        let mut rest = values;
        while let Some(value) = rest.first() {
            let free = if self.guarded {
                0
            } else {
                policy::free_from(register)
            };
            let step = if free == 0 {
                self.position = position;
                let policy = policy::of(register);
                if policy == Policy::HostData {
                    let dwords = host_data_from(register).min(rest.len());
                    self.host_data(dwords)?;
                    dwords
                } else {
                    self.register(register, policy, value.get())?;
                    1
                }
            } else {
                free
            };
            rest = rest.get(step..).unwrap_or_default();
            position = position.wrapping_add(step);
            // No overflow: dword indices of 13 and 14 bits.
            register = register.wrapping_add((step as u32).wrapping_mul(4));
        }
        Ok(())
    }

    /// Check values that are all for one register.
    fn repeated(
        &mut self,
        register: u32,
        start: usize,
        values: &[Cell<u32>],
    ) -> Result<(), Reason> {
        let policy = policy::of(register);
        let mut position = start;
        if policy == Policy::HostData {
            self.position = position;
            return self.host_data(values.len());
        }
        for value in values {
            self.position = position;
            self.register(register, policy, value.get())?;
            position = position.wrapping_add(1);
        }
        Ok(())
    }
}
