// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The memory of a submission, which is used again for the next one.
//!
//! A submission needs room for the client's words, for handles, objects and fixups. Most submissions resemble the one
//! before. So the memory of a few submissions is kept in a [`Stash`]. The submitter takes a [`Workspace`] from there.
//! If it is large enough, nothing is allocated or cleared.
//!
//! The old content of a buffer is never read, because each step writes the part that it passes on.

use kernel::prelude::*;

use crate::{
    corner::stash::{
        self,
        Reusable, //
    },
    family::{
        isolation::Isolation,
        Family,
        ScratchOf, //
    },
    memory::usage::Use,
    portable::{
        numbers::{
            self,
            Numbers,
            Slot, //
        },
        residue::Residue, //
    }, //
};

/// Elements of the largest buffer that is kept. Clients' streams are shorter, but they may be longer.
const LARGEST: usize = 32 * 1024;
/// Elements of the smallest buffer.
const SMALLEST: usize = 64;

/// A buffer whose old contents do not matter.
pub struct Scratch<T>(KVVec<T>);

impl<T: Copy + Default> Scratch<T> {
    /// Return the first `len` elements, to be written. They keep their old values.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub fn room(&mut self, len: usize) -> Result<&mut [T]> {
        if self.0.len() < len {
            let all = len.max(SMALLEST).next_power_of_two();
            self.0.resize(all, T::default(), GFP_KERNEL)?;
        }
        self.0.get_mut(..len).ok_or(EINVAL)
    }

    /// Return the first `len` elements, which have been written. Fewer if there was no room for so many.
    pub fn filled(&self, len: usize) -> &[T] {
        self.0.get(..len).unwrap_or(&[])
    }

    /// As [`Scratch::filled`], to be changed.
    pub fn filled_mut(&mut self, len: usize) -> &mut [T] {
        self.0.get_mut(..len).unwrap_or(&mut [])
    }
}

impl<T: Copy + Default> Reusable for Scratch<T> {
    fn new() -> Self {
        Self(KVVec::new())
    }

    fn trim(&mut self) {
        if self.0.len() > LARGEST {
            self.0 = KVVec::new();
        }
    }
}

/// The memory of one submission.
pub struct Workspace<F: Family, I: Isolation> {
    /// The memory that the user-space interface needs until it has looked up the objects.
    pub uapi: ScratchOf<F>,
    /// Commands of the client, which are proven in place, or of the kernel.
    pub words: Scratch<u32>,
    pub(crate) fixups: Scratch<I::Fixup>,
    /// Objects as the proof sees them, in the order in which the commands name them.
    pub(crate) facts: Scratch<I::Object>,
    /// For each of these, the index of its use.
    pub(crate) targets: Scratch<u32>,
    /// The objects as the job uses them. An object with several handles may occur several times.
    pub(crate) uses: KVVec<Use<F>>,
    pub(crate) handles: Handles,
    /// What the commands of a client leave in the chip.
    pub(crate) residue: Residue,
}

/// The memory in which handles that a client repeats are found.
pub(crate) struct Handles {
    slots: Scratch<Slot>,
    lists: u64,
}

impl Handles {
    /// Begin a list of `entries` handles.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub(crate) fn begin(&mut self, entries: usize) -> Result<Numbers<'_>> {
        let slots = self.slots.room(numbers::slots(entries))?;
        Ok(Numbers::begin(slots, &mut self.lists))
    }
}

/// Workspaces that no submission uses at the moment.
pub type Stash<F, I> = stash::Stash<Workspace<F, I>>;

/// A workspace of one submission.
pub type Borrowed<'s, F, I> = stash::Borrowed<'s, Workspace<F, I>>;

impl<F: Family, I: Isolation> Reusable for Workspace<F, I> {
    fn new() -> Self {
        Self {
            uapi: ScratchOf::<F>::new(),
            words: Scratch::new(),
            fixups: Scratch::new(),
            facts: Scratch::new(),
            targets: Scratch::new(),
            uses: KVVec::new(),
            handles: Handles {
                slots: Scratch::new(),
                lists: 0,
            },
            residue: Residue::default(),
        }
    }

    fn trim(&mut self) {
        self.uses.clear();
        if self.uses.capacity() > LARGEST {
            self.uses = KVVec::new();
        }
        self.uapi.trim();
        self.words.trim();
        self.fixups.trim();
        self.facts.trim();
        self.targets.trim();
    }
}

#[kunit_tests(lapidary_workspace)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_grows_and_keeps_what_it_has() -> Result {
        let mut scratch = Scratch::<u32>::new();
        assert!(scratch.filled(1).is_empty());
        assert!(scratch.room(0)?.is_empty());
        scratch.room(3)?.copy_from_slice(&[1, 2, 3]);
        assert!(scratch.room(SMALLEST + 1)?.len() == SMALLEST + 1);
        assert!(scratch.filled(3) == [1, 2, 3]);
        assert!(scratch.filled_mut(2) == [1, 2]);
        assert!(scratch.filled(usize::MAX).is_empty());
        Ok(())
    }

    #[test]
    fn unusual_amounts_are_given_back() -> Result {
        let mut scratch = Scratch::<u32>::new();
        scratch.room(LARGEST)?;
        scratch.trim();
        assert!(scratch.filled(LARGEST).len() == LARGEST);
        scratch.room(LARGEST + 1)?;
        scratch.trim();
        assert!(scratch.filled(1).is_empty());
        Ok(())
    }
}
