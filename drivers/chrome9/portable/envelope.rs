// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The numbers of a submission, before anything that they count is read.

use lapidary::portable::reason::Reason as Text;

use super::uapi::{
    Object,
    Submit,
    Sync,
    MOST_DWORDS,
    MOST_OBJECTS,
    MOST_RELOCATIONS,
    MOST_SYNCS,
    UNIT_DWORDS, //
};

/// Why the numbers of a submission, or an entry of its lists, are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// Flags that do not exist.
    Flags,
    /// A stream without dwords.
    Empty,
    /// A stream that is not a whole number of units.
    Units,
    /// More dwords than a stream may have.
    TooLong,
    /// More objects than a submission may have.
    Objects,
    /// More relocations than a submission may have.
    Relocations,
    /// More synchronisation objects than a submission may have.
    Syncs,
    /// A reserved field of an entry is not zero.
    Reserved,
}

impl Error {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Flags,
        Self::Empty,
        Self::Units,
        Self::TooLong,
        Self::Objects,
        Self::Relocations,
        Self::Syncs,
        Self::Reserved,
    ];

    /// Return number and text for user space. The meaning of a number never changes.
    pub const fn reason(self) -> Text {
        match self {
            Self::Flags => Text::new(0x121, "unknown flags"),
            Self::Empty => Text::new(0x122, "the stream is empty"),
            Self::Units => Text::new(0x123, "the stream ends within a unit of four dwords"),
            Self::TooLong => Text::new(0x124, "the stream is too long"),
            Self::Objects => Text::new(0x125, "too many objects"),
            Self::Relocations => Text::new(0x126, "too many relocations"),
            Self::Syncs => Text::new(0x127, "too many synchronisation objects"),
            Self::Reserved => Text::new(0x128, "a reserved field is not zero"),
        }
    }
}

/// Check the numbers of a submission.
///
/// # Errors
///
/// The first that applies, in the order of [`Error::ALL`].
pub const fn check(submit: &Submit) -> Result<(), Error> {
    if submit.flags != 0 {
        return Err(Error::Flags);
    }
    if submit.dwords == 0 {
        return Err(Error::Empty);
    }
    if submit.dwords % UNIT_DWORDS != 0 {
        return Err(Error::Units);
    }
    if submit.dwords > MOST_DWORDS {
        return Err(Error::TooLong);
    }
    if submit.object_count > MOST_OBJECTS {
        return Err(Error::Objects);
    }
    if submit.relocation_count > MOST_RELOCATIONS {
        return Err(Error::Relocations);
    }
    if submit.wait_count > MOST_SYNCS || submit.signal_count > MOST_SYNCS {
        return Err(Error::Syncs);
    }
    Ok(())
}

/// Return the first of `objects` whose reserved field is not zero.
pub fn reserved(objects: &[Object]) -> Option<usize> {
    objects.iter().position(|object| object.reserved != 0)
}

/// Return the first of `syncs` whose reserved field is not zero.
pub fn reserved_sync(syncs: &[Sync]) -> Option<usize> {
    syncs.iter().position(|sync| sync.reserved != 0)
}
