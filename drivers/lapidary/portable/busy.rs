// SPDX-License-Identifier: GPL-2.0 OR MIT

//! For how long an engine worked for whom.
//!
//! A ring executes one job after the other, and a job's time goes from when it is the first on the ring to its end.
//! The end is seen when somebody looks, perhaps at several ends at once; the time since the last look is then divided
//! equally among the jobs. So nothing is counted twice and the sum over all jobs is right, up to the time that passes
//! from the last end to the look that sees it.

/// The time of one ring. Times are in nanoseconds, on any clock that does not go back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Busy {
    /// What has passed until then has been counted.
    since: u64,
}

impl Busy {
    /// The ring was idle and has got a job.
    pub fn begin(&mut self, now: u64) {
        self.since = self.since.max(now);
    }

    /// A job is done, the first of `jobs` of which one sees it now: its share.
    pub fn end(&mut self, now: u64, jobs: u64) -> u64 {
        let share = now
            .saturating_sub(self.since)
            .checked_div(jobs)
            .unwrap_or(0);
        self.since = self.since.saturating_add(share);
        share
    }
}
