// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What a reset makes of the jobs under way, and who gets to video memory that should have been cleared.
//!
//! # Rings
//!
//! A ring executes its jobs one after the other. So of each ring only the oldest job under way may have begun, and all
//! behind it can be executed as if nothing had happened. When one ring hangs, no new jobs are taken, and the others get
//! [`SETTLE_MS`] to finish what they have begun, as a reset stops all of them. What has begun by then and not finished is
//! not executed again, because drawing twice is not drawing once (blending, counters, a picture that is its own source):
//! it ends with an error that is not its client's fault ([`Fate::Interrupted`]). The kernel's own jobs fill and copy; to
//! execute these twice does no harm.
//!
//! Jobs of different rings may depend on each other, always a later one on an earlier. So the jobs of all rings go
//! on their rings again in the order in which they were committed ([`oldest`]).
//!
//! # Memory
//!
//! Video memory holds what its last owner left in it until the clear of its next one has been executed. The GPU
//! executes jobs in order, so a job may be put on the ring as soon as the clear is there too ([`Content::Pending`]).
//! After a reset that order is not enough: the clear may have ended with an error, and then the jobs behind it would see
//! what it should have removed. So they fail with it ([`fate`]; those behind the clear of a memory on the chip likewise,
//! [`Memories`]), a job that is about to be committed begins anew
//! ([`Content::admits`]), and whoever needs the object next has it replaced before ([`Content::is_lost`]).

/// How often a job of the kernel may hang the ring until it counts as the cause.
pub const KERNEL_TRIES: u32 = 2;

/// For how long the other rings may go on when one hangs, in milliseconds.
pub const SETTLE_MS: u32 = 500;

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
    /// It relies on a clear that has failed: it is not executed, and its client is not to blame.
    Spoilt,
    /// It had begun when another ring hung, and did not finish: it ends with an error, and its client is not to blame.
    Interrupted,
}

/// Says what becomes of the job in which the ring has hung, the `hangs`th time. What was executed before a job of the
/// kernel may be the cause, so that it is tried again.
pub fn fate_of_hung(is_kernel: bool, hangs: u32) -> Fate {
    match is_kernel && hangs < KERNEL_TRIES {
        true => Fate::Again,
        false => Fate::Hung,
    }
}

/// What there is to say about a job that was under way at a reset, and is not the one in which a ring has hung.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// It is the kernel's own.
    pub is_kernel: bool,
    /// Its client is refused.
    pub is_banned: bool,
    /// Something that it relies on is lost, the clear of the job in which the ring has hung included.
    pub relies_on_lost: bool,
    /// Its ring may have begun to execute it.
    pub has_begun: bool,
}

/// Says what becomes of such a job.
pub fn fate(job: Standing) -> Fate {
    match job {
        Standing {
            is_banned: true, ..
        } => Fate::Cancelled,
        Standing {
            relies_on_lost: true,
            ..
        } => Fate::Spoilt,
        Standing {
            has_begun: true,
            is_kernel: false,
            ..
        } => Fate::Interrupted,
        _ => Fate::Again,
    }
}

/// Which ring's next job was committed first: the index in `next`, which has the numbers of these jobs in the order of all
/// commits, `None` for a ring that has no more. `None` if none has.
pub fn oldest(next: &[Option<u64>]) -> Option<usize> {
    (0..next.len())
        .filter_map(|ring| Some(((*next.get(ring)?)?, ring)))
        .min()
        .map(|(_, ring)| ring)
}
