// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Stretches of consecutive pages.

use lapidary::portable::mapping::runs;
use proptest::prelude::*;

const PAGE: u64 = 4096;
const CPU_PAGE: usize = 4096;

fn found(addresses: &[u64]) -> Vec<(u64, usize)> {
    runs(addresses, CPU_PAGE).collect()
}

#[test]
fn consecutive_pages_are_one_run() {
    assert_eq!(found(&[]), []);
    assert_eq!(found(&[PAGE, 2 * PAGE, 3 * PAGE]), [(PAGE, 3)]);
    assert_eq!(
        found(&[PAGE, 3 * PAGE, 2 * PAGE]),
        [(PAGE, 1), (3 * PAGE, 1), (2 * PAGE, 1)]
    );
    assert_eq!(found(&[PAGE, PAGE]), [(PAGE, 1), (PAGE, 1)]);
}

#[test]
fn the_last_page_of_all_is_followed_by_none() {
    let last = u64::MAX - (PAGE - 1);
    assert_eq!(found(&[last, 0]), [(last, 1), (0, 1)]);
}

#[test]
fn a_large_page_has_several_entries() {
    let large = 4 * CPU_PAGE;
    let follows = [PAGE, 5 * PAGE, 10 * PAGE];
    assert_eq!(
        runs(&follows, large).collect::<Vec<_>>(),
        [(PAGE, 8), (10 * PAGE, 4)]
    );
}

proptest! {
    #[test]
    fn runs_are_all_pages_in_order_and_as_long_as_can_be(pages in prop::collection::vec(0..8u64, 0..40)) {
        let addresses: Vec<u64> = pages.iter().map(|page| page * PAGE).collect();
        let runs = found(&addresses);
        let all: Vec<u64> = runs
            .iter()
            .flat_map(|&(start, count)| (0..count as u64).map(move |page| start + page * PAGE))
            .collect();
        prop_assert_eq!(all, addresses);
        for pair in runs.windows(2) {
            let (start, count) = pair[0];
            prop_assert_ne!(start + count as u64 * PAGE, pair[1].0);
        }
    }
}
