// SPDX-License-Identifier: GPL-2.0 OR MIT

//! How long and how often a submission waits for work of others, on a clock that only waits set forward.

use std::cell::{Cell, RefCell};

use lapidary::portable::others::{End, Rounds, MOST, ROUNDS, SLICE};
use proptest::collection::vec;
use proptest::prelude::*;

/// A clock that waits set forward, and what was waited for: which fence, and for how long.
#[derive(Default)]
struct World {
    now: Cell<i64>,
    waits: RefCell<Vec<(u32, u32)>>,
}

impl World {
    /// Do one round of waiting for fences that take so many milliseconds each from the first wait for them on.
    fn round(&self, rounds: &mut Rounds, fences: &[u32]) -> Result<(), End<()>> {
        let mut left = fences.to_vec();
        let wait = |fence: &usize, most: u32| {
            self.waits.borrow_mut().push((*fence as u32, most));
            let waited = left[*fence].min(most);
            left[*fence] -= waited;
            self.now.set(self.now.get() + i64::from(waited));
            Ok(left[*fence] == 0)
        };
        rounds.round(0..fences.len(), || self.now.get(), wait)
    }
}

#[test]
fn all_fences_are_waited_for_in_slices() {
    let (world, mut rounds) = (World::default(), Rounds::new());
    assert_eq!(world.round(&mut rounds, &[SLICE + 1, 0, 7]), Ok(()));
    let waits = [(0, SLICE), (0, SLICE), (1, SLICE), (2, SLICE)];
    assert_eq!(*world.waits.borrow(), waits);
    assert_eq!(world.now.get(), i64::from(SLICE + 1 + 7));
}

#[test]
fn a_fence_that_never_signals_is_given_up_after_thirty_seconds() {
    let (world, mut rounds) = (World::default(), Rounds::new());
    assert_eq!(world.round(&mut rounds, &[u32::MAX]), Err(End::Spent));
    assert_eq!(world.now.get(), 30_000);
    // And no other is begun.
    let before = world.waits.borrow().len();
    assert_eq!(world.round(&mut rounds, &[0]), Err(End::Spent));
    assert_eq!(world.waits.borrow().len(), before);
    // A look that finds nothing is as good as ever.
    assert_eq!(world.round(&mut rounds, &[]), Ok(()));
}

#[test]
fn the_time_of_all_rounds_counts_together() {
    let (world, mut rounds) = (World::default(), Rounds::new());
    for _ in 0..29 {
        assert_eq!(world.round(&mut rounds, &[600, 400]), Ok(()));
    }
    assert_eq!(world.round(&mut rounds, &[600, 450]), Err(End::Spent));
    assert_eq!(world.now.get(), 30_000);
    // The last slice was as long as what was left.
    assert_eq!(world.waits.borrow().last(), Some(&(1, SLICE)));
    let (world, mut rounds) = (World::default(), Rounds::new());
    assert_eq!(world.round(&mut rounds, &[MOST - 30]), Ok(()));
    assert_eq!(world.round(&mut rounds, &[SLICE]), Err(End::Spent));
    assert_eq!(world.waits.borrow().last(), Some(&(0, 30)));
}

#[test]
fn rounds_that_take_no_time_have_an_end() {
    let (world, mut rounds) = (World::default(), Rounds::new());
    for round in 0..1_000 {
        assert_eq!(world.round(&mut rounds, &[0]), Ok(()), "round {round}");
    }
    assert_eq!(world.round(&mut rounds, &[0]), Err(End::Spent));
    assert_eq!(world.round(&mut rounds, &[]), Err(End::Spent));
    assert_eq!(world.waits.borrow().len(), 1_000);
    // Nor do they begin anew.
    assert_eq!(world.round(&mut rounds, &[0]), Err(End::Spent));
}

#[test]
fn a_wait_that_fails_ends_the_round() {
    let mut waits = 0;
    let result = Rounds::new().round(
        0..3,
        || 0,
        |_, _| {
            waits += 1;
            (waits != 2).then_some(true).ok_or("gone")
        },
    );
    assert_eq!((result, waits), (Err(End::Failed("gone")), 2));
}

#[test]
fn clocks_without_sense_end_nothing_early_and_nothing_late() {
    let never = |spent| Rounds::new().round(0..1, || spent, |_, most| Err::<bool, _>(most));
    assert_eq!(never(i64::MIN), Err(End::Failed(SLICE)));
    assert_eq!(never(-1), Err(End::Failed(SLICE)));
    assert_eq!(never(i64::MAX), Err(End::Spent));
}

proptest! {
    #[test]
    fn nothing_makes_it_wait_longer(rounds in vec(vec(0u32..40_000, 0..4), 0..1_100)) {
        let (world, mut left) = (World::default(), Rounds::new());
        let mut done = 0;
        let mut needed = 0;
        for fences in &rounds {
            let ended = world.round(&mut left, fences);
            prop_assert!(world.now.get() <= i64::from(MOST));
            needed += fences.iter().map(|&ms| u64::from(ms)).sum::<u64>();
            if ended.is_err() {
                prop_assert!(done == ROUNDS || needed >= u64::from(MOST));
                break;
            }
            done += 1;
            prop_assert!(done <= ROUNDS && needed <= u64::from(MOST));
        }
        for (_, most) in world.waits.borrow().iter() {
            prop_assert!((1..=SLICE).contains(most));
        }
    }
}
