// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The order of eviction.
//!
//! To find the least recently used object, all have to be looked at. So one walk finds many objects, in memory that
//! is allocated beforehand. The next walk follows when all of those had their turn. So a walk over n objects costs
//! each of the found ones a constant share.
//!
//! A turn is valid only if the object at its address was not used since. All others were used later, or could not be
//! evicted during the walk.

use kernel::prelude::*;

use crate::{
    family::space::GpuAddr,
    portable::heap::Least, //
};

/// When something was used, and its address.
pub(crate) type Turn = (u64, GpuAddr);

/// The objects that the last walk has found and that have not had their turn yet.
pub(crate) struct Turns {
    /// The next turn is the last of the first [`Turns::waiting`] entries.
    found: KVVec<Turn>,
    waiting: usize,
}

impl Turns {
    /// Make an empty list. One walk finds `most`, and at least one.
    pub(crate) fn new(most: usize) -> Result<Self> {
        Ok(Self {
            found: KVVec::from_elem((0, 0), most.max(1), GFP_KERNEL)?,
            waiting: 0,
        })
    }

    /// Take the next turn: of those that wait, the least recently used.
    pub(crate) fn next(&mut self) -> Option<Turn> {
        self.waiting = self.waiting.checked_sub(1)?;
        self.found.get(self.waiting).copied()
    }

    /// Put back the last turn that [`Turns::next`] has returned and that was not put back. It waits again.
    pub(crate) fn put_back(&mut self, turn: Turn) {
        if let Some(place) = self.found.get_mut(self.waiting) {
            *place = turn;
            self.waiting += 1;
        }
    }

    /// Find the next turns. `walk` offers all that could be evicted. Return whether there are any.
    pub(crate) fn find(&mut self, walk: impl FnOnce(&mut Least<'_, Turn>)) -> bool {
        let mut least = Least::new(&mut self.found);
        walk(&mut least);
        self.waiting = least.finish();
        self.waiting != 0
    }
}

#[kunit_tests(lapidary_turns)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_have_their_turn_one_after_the_other() -> Result {
        let mut turns = Turns::new(3)?;
        assert_eq!(turns.next(), None);
        let mut walks = 0;
        let mut find = |turns: &mut Turns, all: &[u64]| {
            walks += 1;
            turns.find(|least| all.iter().for_each(|&used| least.offer((used, 100 - used))))
        };
        assert!(find(&mut turns, &[5, 2, 9, 4, 1]));
        assert_eq!(turns.next(), Some((1, 99)));
        assert_eq!(turns.next(), Some((2, 98)));
        turns.put_back((2, 98));
        turns.put_back((1, 99));
        for used in [1, 2, 4] {
            assert_eq!(turns.next(), Some((used, 100 - used)));
        }
        assert_eq!(turns.next(), None);
        assert!(find(&mut turns, &[9]));
        assert_eq!((turns.next(), turns.next()), (Some((9, 91)), None));
        assert!(!find(&mut turns, &[]));
        assert_eq!(walks, 3);
        Ok(())
    }
}
