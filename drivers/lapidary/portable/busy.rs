// SPDX-License-Identifier: GPL-2.0 OR MIT

//! How long an engine worked for each client.
//!
//! A ring executes one job after the other. A job's time begins when the job is the first on the ring, and ends with
//! the job. The driver sees the end when it looks at the ring, and it may see several ends at once. It then divides
//! the time since the last look equally among these jobs. So no time is counted twice. The sum over all jobs is
//! right, except for the time between the last end and the look that sees it.

/// The time of one ring. Times are in nanoseconds, on any clock that does not run backwards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Busy {
    /// The time until here has been counted.
    since: u64,
}

impl Busy {
    /// Begin to count: the ring was idle and has a job from `now` on.
    pub fn begin(&mut self, now: u64) {
        self.since = self.since.max(now);
    }

    /// Return the time of a job that is done. It is the first of the `jobs` that one look found done.
    pub fn end(&mut self, now: u64, jobs: u64) -> u64 {
        let share = now
            .saturating_sub(self.since)
            .checked_div(jobs)
            .unwrap_or(0);
        self.since = self.since.saturating_add(share);
        share
    }
}
