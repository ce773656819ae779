// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Free pages that are zero: what is found is free and zero, and what is free and zero is found. The judge is a plain
//! list of pages.

use lapidary::portable::placement::PAGE;
use lapidary::portable::zeroed::{words, Zeroed};
use proptest::prelude::*;
use std::ops::Range;

/// Addresses begin at a page that is no multiple of any alignment here.
const START: u64 = 3 * PAGE;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Page {
    Taken,
    Stale,
    Zero,
}

#[derive(Clone, Debug)]
enum Step {
    /// Takes a piece if all of it is free.
    Take(u64, u64),
    /// Takes what is found.
    Find(u64, u64, u64, u64),
    /// Takes what is stale.
    Clean(u64, u64, u64),
    /// Gives one of those back that were taken: zero or not.
    Give(usize, bool),
    Forget,
}

fn steps(count: u64) -> impl Strategy<Value = Vec<Step>> {
    let place = move || (0..count, 1..=count);
    let step = prop_oneof![
        1 => place().prop_map(|(at, len)| Step::Take(at, len)),
        4 => (1..=count / 2 + 1, 1..9u64, 0..=count, 0..=count)
            .prop_map(|(len, align, a, b)| Step::Find(len, align, a.min(b), a.max(b))),
        4 => (1..=count, 0..=count, 0..=count)
            .prop_map(|(most, a, b)| Step::Clean(most, a.min(b), a.max(b))),
        8 => (any::<usize>(), any::<bool>()).prop_map(|(which, zero)| Step::Give(which, zero)),
        1 => Just(Step::Forget),
    ];
    prop::collection::vec(step, 0..120)
}

fn bytes(pages: &Range<u64>) -> Range<u64> {
    START + pages.start * PAGE..START + pages.end * PAGE
}

/// The pages as the list has them.
struct List(Vec<Page>);

impl List {
    fn all(&self, pages: &Range<u64>, what: impl Fn(Page) -> bool) -> bool {
        self.0
            .get(pages.start as usize..pages.end as usize)
            .is_some_and(|pages| pages.iter().all(|&page| what(page)))
    }

    fn set(&mut self, pages: &Range<u64>, what: Page) {
        self.0[pages.start as usize..pages.end as usize].fill(what);
    }

    /// Return the lowest place of so many zero pages.
    fn find(&self, len: u64, align: u64, span: &Range<u64>) -> Option<u64> {
        (span.start..span.end).find(|&at| {
            (START / PAGE + at) % align == 0
                && at + len <= span.end
                && self.all(&(at..at + len), |page| page == Page::Zero)
        })
    }

    fn stale(&self, most: u64, span: &Range<u64>) -> Option<Range<u64>> {
        let is_stale = |&at: &u64| self.0[at as usize] == Page::Stale;
        let first = (span.start..span.end).find(is_stale)?;
        let end = (first..span.end.min(first + most)).take_while(is_stale);
        Some(first..first + end.count() as u64)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn it_is_what_the_list_says(
        (count, steps) in (1..300u64).prop_flat_map(|count| (Just(count), steps(count))),
    ) {
        let room = words(count * PAGE);
        // What is in the memory before does not matter.
        let mut pages = Zeroed::new(START, count * PAGE, vec![u64::MAX; room], vec![0x5a5a; room]);
        let mut list = List(vec![Page::Stale; count as usize]);
        // The owner of a piece knows since when it was zero.
        let mut owned: Vec<(Range<u64>, u64)> = Vec::new();
        for step in steps {
            let life = pages.life();
            match step {
                Step::Take(at, len) => {
                    let piece = at..(at + len).min(count);
                    if list.all(&piece, |page| page != Page::Taken) {
                        pages.take(&bytes(&piece));
                        list.set(&piece, Page::Taken);
                        owned.push((piece, life));
                    }
                }
                Step::Find(len, align, from, to) => {
                    let found = pages.find(len * PAGE, align * PAGE, &bytes(&(from..to)));
                    let found = found.map(|addr| (addr - START) / PAGE);
                    prop_assert_eq!(found, list.find(len, align, &(from..to)));
                    if let Some(at) = found {
                        pages.take(&bytes(&(at..at + len)));
                        list.set(&(at..at + len), Page::Taken);
                        owned.push((at..at + len, life));
                    }
                }
                Step::Clean(most, from, to) => {
                    let found = pages.stale(&bytes(&(from..to)), most * PAGE);
                    let want = list.stale(most, &(from..to));
                    prop_assert_eq!(&found, &want.as_ref().map(bytes));
                    if let Some(piece) = want {
                        pages.take(&bytes(&piece));
                        list.set(&piece, Page::Taken);
                        owned.push((piece, life));
                    }
                }
                Step::Give(which, zero) => {
                    if !owned.is_empty() {
                        let (piece, since) = owned.swap_remove(which % owned.len());
                        pages.give(&bytes(&piece), zero.then_some(since));
                        let kept = zero && since == life;
                        list.set(&piece, if kept { Page::Zero } else { Page::Stale });
                    }
                }
                Step::Forget => {
                    pages.forget();
                    for page in &mut list.0 {
                        if *page == Page::Zero {
                            *page = Page::Stale;
                        }
                    }
                }
            }
            let zeros = list.0.iter().filter(|&&page| page == Page::Zero).count();
            prop_assert_eq!(pages.zeros(), zeros as u64 * PAGE);
        }
    }
}

#[test]
fn at_first_nothing_is_zero_and_all_is_stale() {
    let (size, room) = (130 * PAGE, words(130 * PAGE));
    let mut pages = Zeroed::new(START, size, vec![0; room], vec![0; room]);
    assert_eq!(room, 3);
    assert_eq!(pages.find(PAGE, PAGE, &(0..u64::MAX)), None);
    assert_eq!(
        pages.stale(&(0..u64::MAX), u64::MAX),
        Some(START..START + size)
    );
}

#[test]
fn what_was_zero_in_an_earlier_life_is_not() {
    let (size, room) = (64 * PAGE, words(64 * PAGE));
    let mut pages = Zeroed::new(START, size, vec![0; room], vec![0; room]);
    let all = START..START + size;
    pages.take(&all);
    let life = pages.life();
    pages.forget();
    pages.give(&all, Some(life));
    assert_eq!(pages.find(PAGE, PAGE, &all), None);
    pages.take(&all);
    pages.give(&all, Some(pages.life()));
    assert_eq!(pages.find(size, PAGE, &all), Some(START));
    assert_eq!(pages.find(0, PAGE, &all), None);
    assert_eq!(pages.find(size + PAGE, PAGE, &all), None);
}
