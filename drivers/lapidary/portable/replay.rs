// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What a reset makes of the jobs under way, and who gets to video memory that should have been cleared.
//!
//! Video memory holds what its last owner left in it until the clear of its next one has been executed. The GPU
//! executes jobs in order, so a job may be put on the ring as soon as the clear is there too ([`Content::Pending`]).
//! After a reset that order is not enough: the clear may have ended with an error, and then the jobs behind it would see
//! what it should have removed. So they fail with it ([`fate`]; those behind the clear of a memory on the chip likewise,
//! [`Memories`]), a job that is about to be committed begins anew
//! ([`Content::admits`]), and whoever needs the object next has it replaced before ([`Content::is_lost`]).

/// How often a job of the kernel may hang the ring until it counts as the cause.
pub const KERNEL_TRIES: u32 = 2;

/// What is known about the memory of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Its clear is not on the ring yet: the object is being made.
    Unknown,
    /// Its clear is on the ring.
    Pending,
    /// It is the object's own.
    Own,
    /// Its clear has failed.
    Lost,
}

impl Content {
    /// Whether a job that uses the object may be put on the ring now.
    pub fn admits(self) -> bool {
        matches!(self, Self::Pending | Self::Own)
    }

    /// Whether the object has to get other memory before anybody uses it.
    pub fn is_lost(self) -> bool {
        self == Self::Lost
    }
}

/// Memories on the chip, as a set. Each has one owner at a time, and a number that the interface gives it.
///
/// The kernel's job that clears one for its new owner and the jobs of the owner behind it carry its number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memories(u8);

impl Memories {
    /// None.
    pub const NONE: Self = Self(0);

    /// The one with this number, 0 to 7; none for others.
    pub const fn one(number: u32) -> Self {
        Self(match 1u8.checked_shl(number) {
            Some(bit) => bit,
            None => 0,
        })
    }

    /// Those of both sets.
    #[must_use]
    pub const fn and(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// Whether any is in both sets.
    pub const fn meets(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }
}

/// What becomes of a job that was under way at a reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is executed again.
    Again,
    /// It hung the ring, and ends with an error.
    Hung,
    /// Its client has hung the ring: it is not executed.
    Cancelled,
    /// It relies on a clear that has failed: it is not executed, and nobody is to blame.
    Spoilt,
}

/// Says what becomes of the job in which the ring has hung, the `hangs`th time. What was executed before a job of the
/// kernel may be the cause, so that it is tried again.
pub fn fate_of_hung(is_kernel: bool, hangs: u32) -> Fate {
    match is_kernel && hangs < KERNEL_TRIES {
        true => Fate::Again,
        false => Fate::Hung,
    }
}

/// Says what becomes of another job: whether its client is refused, and whether anything that it relies on is lost,
/// the clear of the job in which the ring has hung included.
pub fn fate(is_banned: bool, relies_on_lost: bool) -> Fate {
    match (is_banned, relies_on_lost) {
        (true, _) => Fate::Cancelled,
        (false, true) => Fate::Spoilt,
        (false, false) => Fate::Again,
    }
}
