// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Heaps: what comes out is what a plain sort says.

use lapidary::portable::heap::{sort, Least};
use proptest::prelude::*;

fn least(items: &[(u64, u64)], room: usize) -> Vec<(u64, u64)> {
    // What is in the room before does not matter, be it the least of all.
    let mut room = vec![(0, 0); room];
    let mut least = Least::new(&mut room);
    for &item in items {
        least.offer(item);
    }
    let count = least.finish();
    room.truncate(count);
    room
}

#[test]
fn the_least_come_last() {
    let items = [(5, 0), (3, 1), (9, 2), (3, 0), (7, 4)];
    assert_eq!(least(&items, 3), [(5, 0), (3, 1), (3, 0)]);
    assert_eq!(least(&items, 1), [(3, 0)]);
    assert_eq!(least(&items[..2], 3), [(5, 0), (3, 1)]);
}

#[test]
fn no_room_and_no_items() {
    assert_eq!(least(&[(1, 1)], 0), []);
    assert_eq!(least(&[], 4), []);
    sort(&mut [0u64; 0], |item| *item);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn the_least_are_found(
        items in prop::collection::vec((0..40u64, 0..4u64), 0..100),
        room in 0..30usize,
    ) {
        let mut want = items.clone();
        want.sort_unstable();
        want.truncate(room);
        want.reverse();
        prop_assert_eq!(least(&items, room), want);
    }

    #[test]
    fn sorting_is_by_the_key_and_loses_nothing(
        items in prop::collection::vec((0..1000u64, 0..20u64), 0..100),
    ) {
        let mut sorted = items.clone();
        sort(&mut sorted, |item| item.1);
        prop_assert!(sorted.is_sorted_by_key(|item| item.1));
        let mut want = items;
        want.sort_unstable();
        sorted.sort_unstable();
        prop_assert_eq!(sorted, want);
    }
}
