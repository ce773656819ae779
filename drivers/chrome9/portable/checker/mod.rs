// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The checker of clients' streams.
//!
//! All clients share the frame buffer and the addresses behind the GART, and the engines keep no clients apart. So the checker
//! walks once through the driver's copy of a stream before the regulator fetches it. The checker
//!
//! - admits only headers, registers and parameters of an allow-list;
//! - demands that every address is relative to an object. A relocation names the dword. It becomes a [`Fixup`];
//! - tracks the state of the engines as far as it decides which bytes a command touches, and demands that all of them lie in
//!   the objects.
//!
//! The result does not depend on where the objects are. Fixups put the addresses in later, when the objects have places.
//!
//! Engines keep their state from stream to stream, and the stream before may be another client's. So state that a stream has not
//! set is unknown, and a command that depends on it is refused. This goes for colours too, which are data of the other client.
//!
//! | file | what |
//! | --- | --- |
//! | `mod` | objects, and the check |
//! | `stream` | the walk: headers, what they count, padding |
//! | `relocate` | addresses and the objects that they mean |
//! | `engine2d` | registers of the 2D engine, and what a command needs |
//! | `blit` | which bytes a blit touches, and how much data it takes |
//! | `parameter` | parameters of the 3D engine, by type |
//! | `attribute`, `texture`, `table`, `primitive` | those of types 01h, 02h, 03h, and 04h with 00h |
//! | `video`, `picture` | registers of HQV, and what a picture touches |
//! | `pixels`, `stage`, `format` | what a draw touches of render targets, depth and stencil, and of textures |
//! | `draw` | the check of a draw |
//! | `set` | which parameters are set |
//! | `reason` | refusals |
//!
//! `Documentation/chrome9/checker.md` explains the rules.

mod attribute;
mod blit;
mod draw;
mod engine2d;
mod format;
mod parameter;
mod picture;
mod pixels;
mod primitive;
mod reason;
mod relocate;
mod set;
mod stage;
mod stream;
mod table;
mod texture;
mod video;

pub use reason::{
    Reason,
    Refusal, //
};
pub use relocate::{
    most_fixups,
    Fixup, //
};

use self::{
    attribute::Attributes,
    engine2d::Engine2d,
    primitive::Primitives,
    relocate::{
        Part,
        Relocations,
        Target, //
    },
    table::Tables,
    texture::Textures,
    video::Video, //
};

/// An object that a stream may use. Relocations name it by its position in the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Object {
    /// Size in bytes.
    pub size: u64,
    /// Tells objects apart: entries of a list that have the same number name one object. An entry with 0 is an object of its
    /// own.
    pub number: u64,
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
    /// Only the frame buffer will do as its place.
    pub frame_buffer: bool,
}

/// Check a stream.
///
/// `relocations` are four dwords each, in the order of `struct drm_chrome9_relocation`. `objects` are those that they name;
/// `access` of each is filled in. `fixups` must be as long as [`most_fixups`] says. Return the number of fixups. Nothing of the
/// stream may be executed unless this succeeds.
///
/// # Errors
///
/// [`Refusal`] says what is wrong and where. User space gets `EINVAL`.
pub fn check(
    stream: &[u32],
    relocations: &[u32],
    objects: &mut [Object],
    fixups: &mut [Fixup],
) -> Result<usize, Refusal> {
    // An index that has no 32 bits cannot be: streams lie in memory of the kernel, and relocations too.
    let refusal = |(position, reason): (usize, Reason)| Refusal {
        position: position as u32,
        reason,
    };
    for object in objects.iter_mut() {
        object.access = Access::default();
    }
    let relocations = Relocations::new(relocations, objects, fixups).map_err(refusal)?;
    let mut checker = Checker {
        stream,
        objects,
        relocations,
        position: 0,
        engine2d: Engine2d::UNKNOWN,
        attributes: Attributes::UNKNOWN,
        textures: Textures::UNKNOWN,
        tables: Tables::UNKNOWN,
        primitives: Primitives::UNKNOWN,
        video: Video::UNKNOWN,
    };
    match checker.run() {
        Ok(fixups) => Ok(fixups),
        Err(reason) => Err(refusal((checker.position, reason))),
    }
}

struct Checker<'a> {
    stream: &'a [u32],
    objects: &'a mut [Object],
    relocations: Relocations<'a>,
    /// What is being checked: the index of a dword, or of a relocation if the reason for a refusal says so.
    position: usize,
    engine2d: Engine2d,
    attributes: Attributes,
    textures: Textures,
    tables: Tables,
    primitives: Primitives,
    video: Video,
}

/// The state lies on the caller's stack. A kernel thread has 16 KiB of it.
const _: () = assert!(core::mem::size_of::<Checker<'static>>() <= 3072);

impl Checker<'_> {
    /// Refuse at a position.
    fn at<T>(&mut self, position: usize, reason: Reason) -> Result<T, Reason> {
        self.position = position;
        Err(reason)
    }

    /// Take the relocation for an address in `word`, the dword at the current position.
    fn address(&mut self, word: u32, field: u32, part: Part) -> Result<Target, Reason> {
        let taken = self
            .relocations
            .take(self.position, word, field, part, self.objects);
        taken.map_err(|(position, reason)| {
            self.position = position;
            reason
        })
    }

    /// As [`address`](Self::address), if there is a relocation. Without one the bits must be zero too.
    fn optional_address(
        &mut self,
        word: u32,
        field: u32,
        part: Part,
    ) -> Result<Option<Target>, Reason> {
        if self.relocations.is_next(self.position, field) {
            return self.address(word, field, part).map(Some);
        }
        if word & part.mask() != 0 {
            return Err(Reason::NoRelocation);
        }
        Ok(None)
    }
}
