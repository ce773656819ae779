// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Time limits for a machine that may stand still.
//!
//! A guest whose host is busy elsewhere does nothing for seconds, but its clocks go on. What it did not get to do in
//! that time is no fault of the driver. So time is counted here by looking often, and however much has passed since the
//! last look, no more than [`GAP`] of it counts.

use crate::patience;
use anyhow::{Result, bail, ensure};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What is counted between two looks, at most.
pub const GAP: Duration = Duration::from_millis(100);
/// How long to sleep between two looks.
pub const ROUND: Duration = Duration::from_millis(5);

/// Time as it is counted here.
#[derive(Debug)]
struct Count {
    seen: Instant,
    counted: Duration,
}

impl Count {
    fn new() -> Count {
        Count {
            seen: Instant::now(),
            counted: Duration::ZERO,
        }
    }

    /// Look at the clock; all that was counted.
    fn look(&mut self) -> Duration {
        let now = Instant::now();
        self.counted += (now - self.seen).min(GAP);
        self.seen = now;
        self.counted
    }
}

/// The time that something may take, for a loop that asks again and again.
#[derive(Debug)]
pub struct Limit {
    count: Count,
    limit: Duration,
}

impl Limit {
    /// Make a limit that counts from now on.
    pub fn new(limit: Duration) -> Limit {
        Limit {
            count: Count::new(),
            limit,
        }
    }

    /// Return whether it is over. To be asked every few milliseconds: more than [`GAP`] since the last time does not
    /// count.
    pub fn is_over(&mut self) -> bool {
        self.count.look() > self.limit
    }

    /// Sleep for a moment; `false`, and at once, if the time is over.
    pub fn pause(&mut self) -> bool {
        let left = !self.is_over();
        if left {
            std::thread::sleep(ROUND);
        }
        left
    }

    /// Pause as [`Limit::pause`] does, and return an error that says `complaint` if the time is over.
    pub fn rest(&mut self, complaint: &str) -> Result<()> {
        if !self.pause() {
            bail!("{complaint} (for {} s)", self.limit.as_secs_f32());
        }
        Ok(())
    }
}

/// Repeat `attempt` until it succeeds. Its last error if the time is over before.
pub fn insist<T>(limit: Duration, mut attempt: impl FnMut() -> Result<T>) -> Result<T> {
    let mut limit = Limit::new(limit);
    loop {
        match attempt() {
            Ok(answer) => return Ok(answer),
            Err(error) => limit.rest(&error.to_string())?,
        }
    }
}

/// Run `work`, which must not fork, nor take longer than `limit` (four times that on the debug kernel).
pub fn within<T>(limit: Duration, what: &str, work: impl FnOnce() -> T) -> Result<T> {
    let limit = limit * patience();
    let (answer, taken) = timed(work);
    ensure!(taken <= limit, "{what} took {taken:?}, more than {limit:?}");
    Ok(answer)
}

/// Do `work`; its answer, and how long it took (to a few milliseconds). `work` must not fork, since a thread of this
/// process looks at the clock meanwhile.
pub fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    /// Ends the thread, also if `work` panics.
    struct End<'a>(&'a AtomicBool);
    impl Drop for End<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let end = End(&ended);
        // Before the thread, which may begin late on a loaded host.
        let mut count = Count::new();
        let ended = &ended;
        let clock = scope.spawn(move || {
            while !ended.load(Ordering::Relaxed) {
                std::thread::sleep(ROUND);
                count.look();
            }
            count.look()
        });
        let answer = work();
        drop(end);
        (answer, clock.join().expect("it only counts"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_ends() {
        let mut limit = Limit::new(Duration::from_millis(50));
        let error = loop {
            if let Err(error) = limit.rest("no event") {
                break error;
            }
        };
        assert_eq!(error.to_string(), "no event (for 0.05 s)");
    }

    #[test]
    fn standing_still_does_not_count() {
        let mut limit = Limit::new(Duration::from_millis(250));
        for _ in 0..2 {
            std::thread::sleep(Duration::from_millis(300));
            assert!(!limit.is_over());
        }
        std::thread::sleep(Duration::from_millis(300));
        assert!(limit.is_over());
    }

    #[test]
    fn work_takes_its_time() {
        let (answer, taken) = timed(|| {
            std::thread::sleep(Duration::from_millis(200));
            7
        });
        assert_eq!(answer, 7);
        // Of that, the thread may have slept through a part on a loaded host, but a look at the end counts in any case.
        assert!(taken >= GAP, "{taken:?}");
    }

    #[test]
    fn a_panic_comes_through() {
        let result = std::panic::catch_unwind(|| timed(|| panic!("as it should")));
        assert!(result.is_err());
    }
}
