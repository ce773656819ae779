// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Engine time: nothing is counted twice, and nothing that belongs to a job is lost.

use lapidary::portable::busy::Busy;
use proptest::prelude::*;

#[test]
fn a_job_takes_from_the_beginning_to_its_end() {
    let mut busy = Busy::default();
    busy.begin(100);
    assert_eq!(busy.end(150, 1), 50);
    // Idle until 1000.
    busy.begin(1000);
    assert_eq!(busy.end(1010, 1), 10);
    // The next was on the ring already.
    assert_eq!(busy.end(1040, 1), 30);
}

#[test]
fn several_ends_at_one_look_are_equal() {
    let mut busy = Busy::default();
    busy.begin(0);
    let shares: Vec<u64> = (1..=4).rev().map(|left| busy.end(400, left)).collect();
    assert_eq!(shares, [100, 100, 100, 100]);
    assert_eq!(busy.end(401, 1), 1);
}

#[test]
fn a_clock_that_stands_gives_nothing() {
    let mut busy = Busy::default();
    busy.begin(u64::MAX);
    assert_eq!(busy.end(5, 1), 0);
    assert_eq!(busy.end(u64::MAX, 0), 0);
}

proptest! {
    /// Looks at some times, each of which sees some ends: all shares together are the time of the last look.
    #[test]
    fn the_sum_is_the_time(looks in prop::collection::vec((0u64..1_000_000, 1u64..9), 1..50)) {
        let (mut busy, mut now, mut sum) = (Busy::default(), 7, 0);
        busy.begin(now);
        for (pause, ends) in looks {
            now += pause;
            for left in (1..=ends).rev() {
                sum += busy.end(now, left);
            }
            prop_assert_eq!(sum, now - 7);
        }
    }
}
