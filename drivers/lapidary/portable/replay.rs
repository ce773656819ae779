// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What a reset makes of the jobs under way, and who gets to video memory that should have been cleared.
//!
//! Video memory holds what its last owner left in it until the clear of its next one has been executed. The GPU
//! executes jobs in order, so a job may be put on the ring as soon as the clear is there too ([`Content::Pending`]).
//! After a reset that order is not enough: the clear may have ended with an error, and then the jobs behind it would see
//! what it should have removed. So they fail with it ([`fate`]), a job that is about to be committed begins anew
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
