// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What a client leaves in the chip: no draw finds memory that an earlier stream has named, and the chip is not made
//! neutral without need.

use lapidary::portable::residue::{Residue, PIECES};
use proptest::prelude::*;

/// What a stream does, in order.
#[derive(Clone, Copy, Debug)]
enum Act {
    /// State a piece, which names memory or not.
    State(usize, bool),
    Draw,
}
use Act::{Draw, State};

fn residue(acts: &[Act]) -> Residue {
    let mut residue = Residue::default();
    for act in acts {
        match *act {
            State(piece, memory) => residue.state(piece, memory),
            Draw => residue.draw(),
        }
    }
    residue
}

/// Return before which of `streams` the chip must be made neutral.
fn follow(streams: &[Vec<Act>]) -> Vec<bool> {
    let mut all = Residue::default();
    streams
        .iter()
        .map(|acts| all.follow(&residue(acts)))
        .collect()
}

/// Return before which of `streams` the chip must be made neutral, by a chip that remembers for each piece which stream
/// has named memory there.
fn chip(streams: &[Vec<Act>]) -> Vec<bool> {
    let mut pieces = vec![None; PIECES];
    let mut neutral = Vec::new();
    for (number, acts) in streams.iter().enumerate() {
        let mut after = pieces.clone();
        let mut stale = false;
        for act in acts {
            match *act {
                State(piece, memory) => after[piece] = memory.then_some(number),
                Draw => stale |= after.iter().flatten().any(|set_by| *set_by != number),
            }
        }
        if stale {
            // The stream again, on the neutral chip.
            after = vec![None; PIECES];
            for act in acts {
                if let State(piece, memory) = *act {
                    after[piece] = memory.then_some(number);
                }
            }
        }
        pieces = after;
        neutral.push(stale);
    }
    neutral
}

#[test]
fn what_is_stated_again_before_the_first_draw_is_not_stale() {
    let first = vec![State(5, true), Draw];
    assert_eq!(follow(&[first.clone(), first.clone()]), [false, false]);
    assert_eq!(
        follow(&[first.clone(), vec![State(5, false), Draw]]),
        [false, false]
    );
    let late = vec![State(4, true), Draw, State(5, true)];
    assert_eq!(follow(&[first, late]), [false, true]);
}

#[test]
fn a_stream_without_a_draw_finds_nothing_and_leaves_all() {
    let streams = [
        vec![State(5, true)],
        vec![],
        vec![State(6, true)],
        vec![Draw],
        vec![Draw],
    ];
    assert_eq!(follow(&streams), [false, false, false, true, false]);
}

#[test]
fn what_is_cleared_at_the_end_is_not_left() {
    let streams = [vec![State(5, true), Draw, State(5, false)], vec![Draw]];
    assert_eq!(follow(&streams), [false, false]);
}

#[test]
fn all_pieces_count_and_no_others() {
    for piece in [0, 63, 64, PIECES - 1] {
        assert_eq!(
            follow(&[vec![State(piece, true)], vec![Draw]]),
            [false, true]
        );
    }
    assert_eq!(
        follow(&[vec![State(PIECES, true)], vec![Draw]]),
        [false, false]
    );
}

fn some_streams() -> impl Strategy<Value = Vec<Vec<Act>>> {
    let act = prop_oneof![
        3 => (0usize..6, any::<bool>()).prop_map(|(p, m)| State(p * 100, m)),
        1 => Just(Draw),
    ];
    prop::collection::vec(prop::collection::vec(act, 0..8), 0..8)
}

proptest! {
    #[test]
    fn no_draw_finds_what_an_earlier_stream_named(streams in some_streams()) {
        prop_assert_eq!(follow(&streams), chip(&streams));
    }

    /// The checkers use one residue for one stream after the other.
    #[test]
    fn nothing_is_left_of_a_cleared_one(streams in some_streams()) {
        let mut all = Residue::default();
        for acts in &streams {
            let mut one = residue(acts);
            all.follow(&one);
            one.clear();
            prop_assert_eq!(one, Residue::default());
        }
        all.clear();
        prop_assert_eq!(all, Residue::default());
    }
}
