// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What a reset does with the jobs under way, and which jobs may use video memory whose clear has failed.
//!
//! # Rings
//!
//! A ring executes its jobs one after the other. So on each ring only the oldest job under way may have begun. It has not
//! begun as long as it waits for another ring ([`Behind`]). All jobs behind it can be executed as if nothing had
//! happened. When one ring hangs, no new jobs are accepted, and the
//! other rings have [`SETTLE_MS`] to finish the jobs that they have begun, because a reset stops all rings. A job
//! that has begun by then and has not finished is not executed again: drawing twice is not drawing once (blending,
//! counters, a picture that is its own source). It ends with an error that is not its client's fault
//! ([`Fate::Interrupted`]). The kernel's own jobs fill and copy. Executing these twice does no harm.
//!
//! Jobs of different rings may depend on each other, always a later job on an earlier one. So the jobs of all rings
//! are put on their rings again in the order in which they were committed ([`oldest`]).
//!
//! # Memory
//!
//! Video memory holds the data of its last owner until the clear for its next owner has been executed. The GPU
//! executes jobs in order. So a job may be put on the ring as soon as the clear is there ([`Content::Pending`]).
//!
//! After a reset that order is not enough, because the clear may have ended with an error. The jobs behind it would
//! then see the data of the last owner. So they fail, too ([`fate`]). The same holds for jobs behind the clear of a
//! memory on the chip ([`Memories`]). A job that is about to be committed starts again ([`Content::admits`]). The
//! next user of the object first replaces its memory ([`Content::is_lost`]).

/// How often a job of the kernel may hang the ring until it counts as the cause.
pub const KERNEL_TRIES: u32 = 2;

/// For how long the other rings may continue when one ring hangs, in milliseconds.
pub const SETTLE_MS: u32 = 500;

/// The most rings of a GPU.
pub const RINGS: usize = 8;

/// The jobs of other rings that a job waits for in its ring, before it begins. The job comes behind all jobs that have
/// been committed to those rings before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Behind {
    /// The last job of each ring that is waited for; 0 for a ring that is not waited for.
    jobs: [u64; RINGS],
}

impl Behind {
    /// Wait for no ring.
    pub const NONE: Self = Self { jobs: [0; RINGS] };

    /// Wait for job `job` of ring `ring`, too, and for those before it.
    pub fn add(&mut self, ring: usize, job: u64) {
        if let Some(last) = self.jobs.get_mut(ring) {
            *last = job.max(*last);
        }
    }

    /// Return the rings that are waited for.
    pub fn rings(self) -> impl Iterator<Item = usize> {
        (0..RINGS).filter(move |ring| self.jobs.get(*ring).is_some_and(|job| *job != 0))
    }

    /// Return whether all jobs that are waited for are done. `done` has the number of the last job that is done on each
    /// ring.
    pub fn is_over(self, done: &[u64; RINGS]) -> bool {
        self.jobs.iter().zip(done).all(|(job, done)| job <= done)
    }
}

/// What is known about the memory of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Its clear is not on the ring yet: the object is being made.
    Unknown,
    /// Its clear is on the ring.
    Pending,
    /// The memory holds the object's own content.
    Own,
    /// Its clear has failed.
    Lost,
}

impl Content {
    /// Return whether a job that uses the object may be put on the ring now.
    pub fn admits(self) -> bool {
        matches!(self, Self::Pending | Self::Own)
    }

    /// Return whether the object needs other memory before its next use.
    pub fn is_lost(self) -> bool {
        self == Self::Lost
    }
}

/// A set of memories on the chip. Each has one owner at a time, and a number that the interface assigns.
///
/// A number is carried by the kernel's job that clears the memory for its new owner, and by the jobs of the owner
/// behind it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memories(u8);

impl Memories {
    /// The empty set.
    pub const NONE: Self = Self(0);

    /// Return the memory with this number, 0 to 7. Empty for other numbers.
    pub const fn one(number: u32) -> Self {
        Self(match 1u8.checked_shl(number) {
            Some(bit) => bit,
            None => 0,
        })
    }

    /// Return the memories of both sets together.
    #[must_use]
    pub const fn and(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// Return whether any memory is in both sets.
    pub const fn meets(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }
}

/// What happens to a job that was under way at a reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is executed again.
    Again,
    /// It hung the ring. It ends with an error.
    Hung,
    /// Its client has hung the ring. It is not executed.
    Cancelled,
    /// It relies on a clear that has failed. It is not executed, and its client is not guilty.
    Spoilt,
    /// It had begun when another ring hung, and did not finish. It ends with an error, and its client is not guilty.
    Interrupted,
}

/// Return the fate of the job in which the ring has hung for the `hangs`th time. A job of the kernel is tried again,
/// because the cause may be a job executed before it.
pub fn fate_of_hung(is_kernel: bool, hangs: u32) -> Fate {
    match is_kernel && hangs < KERNEL_TRIES {
        true => Fate::Again,
        false => Fate::Hung,
    }
}

/// The facts about a job that was under way at a reset, and is not the one in which a ring has hung.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// It is the kernel's own.
    pub is_kernel: bool,
    /// Its client is refused.
    pub is_banned: bool,
    /// Something that it relies on is lost. This includes the clear by the job in which the ring has hung.
    pub relies_on_lost: bool,
    /// Its ring may have begun to execute it.
    pub has_begun: bool,
}

/// Return the fate of such a job.
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

/// Return which ring's next job was committed first, as an index in `next`. `next` has the numbers of these jobs in
/// the order of all commits, `None` for a ring that has no more jobs. `None` if no ring has one.
pub fn oldest(next: &[Option<u64>]) -> Option<usize> {
    (0..next.len())
        .filter_map(|ring| Some(((*next.get(ring)?)?, ring)))
        .min()
        .map(|(_, ring)| ring)
}
