// SPDX-License-Identifier: GPL-2.0 OR MIT

//! How often a process may hang the GPU.
//!
//! A hang stops the work of all clients for seconds. The file whose job hung is refused from then on. But its process
//! can open the device again, or fork a child that does. So a log keeps each hang for [`WINDOW`], with the process
//! that submitted the job and the user of that process. There are three limits:
//!
//! | hangs in the last ten minutes | refused |
//! | --- | --- |
//! | [`OF_PROCESS`] of one process | this process |
//! | [`OF_NEWCOMERS`] of one user | processes of this user that began after the first of these hangs |
//! | [`OF_USER`] of one user | all processes of this user |
//!
//! A process is refused for all files through which it submits. The second limit is for a program that is started
//! again and again, and for one that forks. Older processes of the user are not refused by it. The third limit is for
//! a user who has started many processes beforehand.
//!
//! The log has a fixed size. When it is full, a new hang overwrites the oldest.

/// For how long a hang counts, in nanoseconds: ten minutes.
pub const WINDOW: u64 = 600_000_000_000;
/// Hangs of one process within [`WINDOW`] from which on it is refused.
pub const OF_PROCESS: usize = 3;
/// Hangs of one user within [`WINDOW`] from which on processes are refused that began after the first of them.
pub const OF_NEWCOMERS: usize = 6;
/// Hangs of one user within [`WINDOW`] from which on all processes of the user are refused.
pub const OF_USER: usize = 12;
/// Hangs that the log keeps. With the usual time limit of a hang, 5 s, fewer fit into [`WINDOW`].
pub const KEPT: usize = 128;

/// A process, as the limits count it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Process {
    /// The user it belongs to.
    pub user: u32,
    /// Its number. An earlier process may have had the same.
    pub id: u32,
    /// When it began, in nanoseconds on the clock of all times in this file.
    pub began: u64,
}

/// A hang in the log.
#[derive(Clone, Copy, Debug)]
pub struct Hang {
    at: u64,
    by: Process,
}

/// The hangs of one device, in memory of the caller: [`KEPT`] places, all of them `None` at first.
#[derive(Clone, Debug)]
pub struct Log<M>(M);

impl<M: AsRef<[Option<Hang>]> + AsMut<[Option<Hang>]>> Log<M> {
    /// Make an empty log.
    pub fn new(memory: M) -> Self {
        Self(memory)
    }

    /// Record that a job that `by` submitted has hung the GPU. `now`, here and below, is in nanoseconds and does not
    /// decrease.
    pub fn record(&mut self, now: u64, by: Process) {
        let places = self.0.as_mut().iter_mut();
        // A free place is less than all others.
        if let Some(place) = places.min_by_key(|place| place.map(|hang| hang.at)) {
            *place = Some(Hang { at: now, by });
        }
    }

    /// Return the hangs that count.
    fn recent(&self, now: u64) -> impl Iterator<Item = &Hang> {
        let counts = move |hang: &&Hang| now.saturating_sub(hang.at) < WINDOW;
        self.0.as_ref().iter().flatten().filter(counts)
    }

    /// Return whether no hang counts any more. Then no process is refused until the next hang.
    pub fn is_quiet(&self, now: u64) -> bool {
        self.recent(now).next().is_none()
    }

    /// Return whether submissions of `who` are refused.
    pub fn refuses(&self, now: u64, who: &Process) -> bool {
        let (mut of_process, mut of_user, mut first) = (0usize, 0usize, u64::MAX);
        for hang in self.recent(now) {
            if hang.by.user == who.user {
                of_user = of_user.saturating_add(1);
                first = first.min(hang.at);
            }
            of_process = of_process.saturating_add(usize::from(hang.by == *who));
        }
        of_process >= OF_PROCESS
            || of_user >= OF_USER
            || (of_user >= OF_NEWCOMERS && who.began > first)
    }
}
