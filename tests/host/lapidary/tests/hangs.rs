// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Budgets of hangs: what a process and a user can cost others, and whom the budgets leave alone.

use lapidary::portable::hangs::{Hang, Process, KEPT, OF_NEWCOMERS, OF_PROCESS, OF_USER, WINDOW};
use proptest::collection::vec;
use proptest::prelude::*;

type Log = lapidary::portable::hangs::Log<Vec<Option<Hang>>>;

const SECOND: u64 = 1_000_000_000;

fn process(user: u32, id: u32, began: u64) -> Process {
    Process { user, id, began }
}

/// Let `who` hang the GPU if it is not refused; say whether it was let.
fn hang(log: &mut Log, now: u64, who: Process) -> bool {
    let allowed = !log.refuses(now, &who);
    if allowed {
        log.record(now, who);
    }
    allowed
}

#[test]
fn nobody_is_refused_without_a_hang() {
    let log = Log::new(vec![None; KEPT]);
    assert!(log.is_quiet(0));
    assert!(!log.refuses(0, &process(0, 0, 0)));
    assert!(!log.refuses(u64::MAX, &process(1000, 7, 5)));
}

#[test]
fn a_process_is_refused_at_its_budget_and_for_the_window() {
    let mut log = Log::new(vec![None; KEPT]);
    let who = process(1000, 7, 5);
    for turn in 0..OF_PROCESS as u64 {
        assert!(hang(&mut log, turn * SECOND, who), "hang {turn}");
    }
    let last = OF_PROCESS as u64 * SECOND;
    assert!(log.refuses(last, &who));
    assert!(log.refuses(WINDOW - 1, &who));
    // The first does not count any more.
    assert!(!log.refuses(WINDOW, &who));
    assert!(!log.is_quiet(WINDOW));
    assert!(log.is_quiet(WINDOW + last));
}

#[test]
fn another_process_of_the_same_number_begins_anew() {
    let mut log = Log::new(vec![None; KEPT]);
    for _ in 0..OF_PROCESS {
        log.record(0, process(1000, 7, 5));
    }
    assert!(log.refuses(1, &process(1000, 7, 5)));
    assert!(!log.refuses(1, &process(1000, 7, 6)));
}

#[test]
fn children_share_the_users_budget() {
    let mut log = Log::new(vec![None; KEPT]);
    let mut now = 100 * SECOND;
    let mut let_through = 0;
    // A program that forks a child for each hang.
    for child in 0..100 {
        now += SECOND;
        let_through += usize::from(hang(&mut log, now, process(1000, child, now - 1)));
    }
    assert_eq!(let_through, OF_NEWCOMERS);
    // Earlier processes of the user, and other users, go on.
    assert!(!log.refuses(now, &process(1000, 500, 7)));
    assert!(!log.refuses(now, &process(1001, 501, now)));
}

#[test]
fn processes_begun_beforehand_share_a_budget_too() {
    let mut log = Log::new(vec![None; KEPT]);
    let mut now = 2 * WINDOW;
    let mut let_through = 0;
    for child in 0..100 {
        now += SECOND;
        let_through += usize::from(hang(&mut log, now, process(1000, child, 7)));
    }
    assert_eq!(let_through, OF_USER);
    assert!(log.refuses(now, &process(1000, 500, 7)));
    assert!(!log.refuses(now, &process(1001, 501, 7)));
}

#[test]
fn what_is_forgotten_is_the_oldest() {
    let mut log = Log::new(vec![None; KEPT]);
    let who = process(1000, 7, 5);
    for _ in 0..OF_PROCESS {
        log.record(1, who);
    }
    for other in 0..(KEPT - OF_PROCESS) as u32 {
        log.record(2, process(2000 + other, other, 0));
        assert!(log.refuses(2, &who));
    }
    log.record(3, process(1, 1, 0));
    assert!(!log.refuses(3, &who));
}

/// Return attempts of a few processes of a few users. Each is how long after the one before, and by whom.
fn attempts() -> impl Strategy<Value = Vec<(u64, Process)>> {
    let who = (0..3u32, 0..6u32, 0..4u64)
        .prop_map(|(user, id, began)| process(user, id, began * WINDOW / 2));
    vec((0..60 * SECOND, who), 0..200)
}

proptest! {
    /// In no stretch of the window's length a process or a user has more hangs than its budget, however it goes about
    /// it.
    #[test]
    fn budgets_hold_in_every_window(attempts in attempts()) {
        let mut log = Log::new(vec![None; KEPT]);
        let mut now = 0;
        let mut done: Vec<(u64, Process)> = Vec::new();
        for (pause, who) in attempts {
            now += pause;
            if hang(&mut log, now, who) {
                done.push((now, who));
            }
            let recent = || done.iter().filter(|(at, _)| now - at < WINDOW);
            prop_assert!(recent().filter(|(_, by)| *by == who).count() <= OF_PROCESS);
            prop_assert!(recent().filter(|(_, by)| by.user == who.user).count() <= OF_USER);
        }
    }

    /// A refused process, or its user, has spent a budget. None is refused for longer than the window.
    #[test]
    fn nobody_is_refused_for_another_user(attempts in attempts(), began in 0..2 * WINDOW) {
        let mut log = Log::new(vec![None; KEPT]);
        let mut now = 0;
        let mut of_user = [Vec::new(), Vec::new(), Vec::new()];
        for (pause, who) in attempts {
            now += pause;
            if hang(&mut log, now, who) {
                of_user[who.user as usize].push(now);
            }
            for (user, times) in of_user.iter().enumerate() {
                // A process without a hang of its own.
                let bystander = process(user as u32, 1000, began);
                let recent: Vec<u64> = times.iter().copied().filter(|at| now - at < WINDOW).collect();
                let newcomer = recent.first().is_some_and(|&first| began > first);
                let spent = recent.len() >= if newcomer { OF_NEWCOMERS } else { OF_USER };
                prop_assert_eq!(log.refuses(now, &bystander), spent);
            }
            prop_assert!(!log.refuses(now, &process(3, 0, now)));
            prop_assert!(!log.refuses(now + WINDOW, &who));
            prop_assert!(log.is_quiet(now + WINDOW));
        }
    }
}
