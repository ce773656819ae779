// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Whose turn it is to give way.
//!
//! To find the one that was used longest ago, all have to be looked at. So one walk finds many, in memory that is
//! there from the beginning, and the next walk comes when all of those had their turn: a walk over n costs each of them
//! a constant share.
//!
//! A turn counts only if what stands at its address was not used since. All others were used later then, or could not
//! give way when the walk came to them.

use kernel::prelude::*;

use crate::{
    family::space::GpuAddr,
    portable::heap::Least, //
};

/// When something was used, and its address.
pub(crate) type Turn = (u64, GpuAddr);

/// What the last walk has found and who has not had its turn yet.
pub(crate) struct Turns {
    /// Whose turn it is next is the last of the first [`Turns::waiting`].
    found: KVVec<Turn>,
    waiting: usize,
}

impl Turns {
    /// One walk finds `most`, and at least one.
    pub(crate) fn new(most: usize) -> Result<Self> {
        Ok(Self {
            found: KVVec::from_elem((0, 0), most.max(1), GFP_KERNEL)?,
            waiting: 0,
        })
    }

    /// Whose turn it is: of those that wait, the one used longest ago. It does not wait any more.
    pub(crate) fn next(&mut self) -> Option<Turn> {
        self.waiting = self.waiting.checked_sub(1)?;
        self.found.get(self.waiting).copied()
    }

    /// It waits again: the last that [`Turns::next`] has named and that was not put back.
    pub(crate) fn put_back(&mut self, turn: Turn) {
        if let Some(place) = self.found.get_mut(self.waiting) {
            *place = turn;
            self.waiting += 1;
        }
    }

    /// Finds those whose turn it is. `walk` offers all that could give way; says whether there are any.
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
