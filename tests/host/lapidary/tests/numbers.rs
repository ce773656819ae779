// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Equal handles of a list get one number, and different ones never do.

use std::collections::HashMap;

use lapidary::portable::numbers::{slots, Numbers, Slot};
use proptest::prelude::*;

/// Return the numbers of `handles`.
fn numbers(table: &mut [Slot], lists: &mut u64, handles: &[u32]) -> Vec<u32> {
    let mut numbers = Numbers::begin(table, lists);
    handles.iter().map(|&handle| numbers.of(handle)).collect()
}

#[test]
fn equal_handles_have_one_number() {
    let (mut table, mut lists) = ([Slot::default(); 64], 0);
    let mut list = |handles: &[u32]| numbers(&mut table, &mut lists, handles);
    assert_eq!(list(&[7, 9, 7, 7, 9, 8]), [0, 1, 0, 0, 1, 2]);
    // Another list has numbers of its own.
    assert_eq!(list(&[9, 8, 7, 9]), [0, 1, 2, 0]);
    // Nothing is left of a handle 0, which the slots begin with.
    assert_eq!(list(&[0, 0, 1]), [0, 0, 1]);
}

#[test]
fn handles_that_displace_each_other_are_new() {
    let (mut table, mut lists) = ([Slot::default(); 64], 0);
    assert_eq!(
        numbers(&mut table, &mut lists, &[1, 65, 65, 1, 1]),
        [0, 1, 1, 2, 2]
    );
}

#[test]
fn without_a_table_all_are_new() {
    assert_eq!(numbers(&mut [], &mut 0, &[3, 3, 3]), [0, 1, 2]);
}

#[test]
fn the_count_is_the_next_number() {
    let (mut table, mut lists) = ([Slot::default(); 64], 0);
    let mut numbers = Numbers::begin(&mut table, &mut lists);
    assert_eq!(numbers.count(), 0);
    assert_eq!((numbers.of(5), numbers.count()), (0, 1));
    assert_eq!((numbers.of(5), numbers.count()), (0, 1));
    assert_eq!((numbers.of(6), numbers.count()), (1, 2));
}

#[test]
fn a_table_is_a_power_of_two() {
    for entries in (0..10_000).chain([usize::MAX - 1, usize::MAX]) {
        let slots = slots(entries);
        assert!(slots.is_power_of_two() && (64..=4096).contains(&slots));
        assert!(slots >= entries.min(4096));
    }
}

proptest! {
    /// Lists share one table, of which each takes a part.
    #[test]
    fn different_handles_have_different_numbers(
        lists in prop::collection::vec((0..3usize, prop::collection::vec(0..300u32, 0..100)), 1..8),
    ) {
        let (mut table, mut count) = ([Slot::default(); 256], 0);
        for (size, handles) in lists {
            let table = &mut table[..64 << size];
            let mut of = HashMap::new();
            let mut next = 0;
            for (&handle, number) in handles.iter().zip(numbers(table, &mut count, &handles)) {
                prop_assert_eq!(*of.entry(number).or_insert(handle), handle);
                // Numbers are given in order.
                prop_assert!(number <= next);
                next = next.max(number + 1);
            }
        }
    }

    /// Handles that follow one another do not displace each other.
    #[test]
    fn all_equal_handles_are_found(
        first in any::<u32>(),
        handles in prop::collection::vec(0..64u32, 0..200),
    ) {
        let handles: Vec<u32> = handles.iter().map(|handle| first.wrapping_add(*handle)).collect();
        let mut table = [Slot::default(); 64];
        let mut of = HashMap::new();
        for (&handle, number) in handles.iter().zip(numbers(&mut table, &mut 0, &handles)) {
            prop_assert_eq!(*of.entry(handle).or_insert(number), number);
        }
    }
}
