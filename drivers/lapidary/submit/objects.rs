// SPDX-License-Identifier: GPL-2.0 OR MIT

//! First step: the commands, and the objects that they may use.
//!
//! The family's user-space interface has copied the commands into a [`Workspace`] and looked up the objects. It
//! states for each object where it may be for the GPU, and whether the client announces to write it. From here on the
//! submission holds references, so closing a handle does not affect it.
//!
//! Commands name an object by the position of its entry in the client's list. Several entries may name the same object.
//! The proof is about entries. All steps after it handle each object once ([`Use`]), so a list says which object an
//! entry names. Only an object with several handles may occur several times among the uses.

use core::{
    iter::Zip,
    slice, //
};

use kernel::{
    drm::gem::BaseObject,
    prelude::*, //
};

use crate::{
    corner::{
        gem::Found,
        prime::Shareable, //
    },
    family::{
        isolation::{
            Isolation,
            Refusal, //
        },
        Family,
        Note,
        ScratchOf, //
    },
    memory::{
        object::Object,
        usage::{
            Places,
            Use, //
        }, //
    },
    portable::numbers::Numbers,
    submit::{
        checked::Checked,
        workspace::{
            Borrowed,
            Workspace, //
        }, //
    }, //
};

/// Commands that are not proven yet, and objects for them.
pub struct Objects<'s, F: Family, I: Isolation> {
    workspace: Borrowed<'s, F, I>,
    words: usize,
    /// Entries of the client's list.
    entries: usize,
    /// One of the objects is a process's memory.
    user: bool,
}

/// The list of entries, to be filled.
pub struct Entries<'e, F: Family, I: Isolation> {
    rest: Zip<slice::IterMut<'e, I::Object>, slice::IterMut<'e, u32>>,
    uses: &'e mut KVVec<Use<F>>,
    count: &'e mut usize,
    user: &'e mut bool,
}

impl<F: Family, I: Isolation<Note = Note<F>>> Entries<'_, F, I> {
    /// Add the next entry. The commands name it by its position in the list.
    ///
    /// # Errors
    ///
    /// `EINVAL` for a process's memory that must not be in system memory, and for an object that is not [`Found`] in this
    /// list; `ENOMEM` for more entries than there is room for.
    #[inline(always)]
    pub fn add(&mut self, found: Found<Object<F>>, places: Places, writes: bool) -> Result {
        let (fact, target) = self.rest.next().ok_or(ENOMEM)?;
        let index = match found {
            Found::First(object) => {
                let use_ = Use::new(object, false, false);
                self.uses.push_within_capacity(use_).map_err(|_| ENOMEM)?;
                self.uses.len() - 1
            }
            Found::Again(number) => number as usize,
        };
        let item = self.uses.get_mut(index).ok_or(EINVAL)?;
        let object = item.object();
        *fact = I::object(object.size() as u64, object.note());
        *target = index as u32;
        if object.is_private() {
            *self.user = true;
            if !places.system {
                return Err(EINVAL);
            }
        }
        item.again(writes, places.vram);
        *self.count += 1;
        Ok(())
    }

    /// Return the number of entries.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        *self.count
    }
}

impl<'s, F: Family, I: Isolation<Note = Note<F>>> Objects<'s, F, I> {
    /// Take the first `words` dwords of the commands in `workspace`, without objects.
    pub fn new(workspace: Borrowed<'s, F, I>, words: usize) -> Self {
        Self {
            workspace,
            words,
            entries: 0,
            user: false,
        }
    }

    /// Return the list of entries with room for `count`, the memory of the interface in the workspace, and the numbers by
    /// which the list finds objects again. Called once.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub fn entries(
        &mut self,
        count: usize,
    ) -> Result<(&ScratchOf<F>, Numbers<'_>, Entries<'_, F, I>)> {
        let Workspace {
            uapi,
            facts,
            targets,
            uses,
            handles,
            ..
        } = &mut *self.workspace;
        uses.reserve(count, GFP_KERNEL)?;
        let (facts, targets) = (facts.room(count)?, targets.room(count)?);
        let entries = Entries {
            rest: Iterator::zip(facts.iter_mut(), targets.iter_mut()),
            uses,
            count: &mut self.entries,
            user: &mut self.user,
        };
        Ok((uapi, handles.begin(count)?, entries))
    }

    /// Let `isolation` prove that the commands of `client` stay within these objects.
    ///
    /// # Errors
    ///
    /// `EINVAL` if they do not, after `refused` has been called with the reason; `ENOMEM`.
    pub fn prove(
        self,
        isolation: &I,
        client: I::Client,
        refused: impl FnOnce(Refusal),
    ) -> Result<Checked<'s, F, I>> {
        let mut workspace = self.workspace;
        let Workspace {
            words,
            fixups,
            facts,
            targets,
            uses,
            residue,
            ..
        } = &mut *workspace;
        let facts = facts.filled_mut(self.entries);
        let proof = isolation
            .prove(
                words.filled_mut(self.words),
                facts,
                &client,
                fixups.room(I::most_fixups(self.words))?,
                residue,
            )
            .map_err(|refusal| {
                refused(refusal);
                EINVAL
            })?;
        // The writes of the commands count, not only those that the client announces.
        for (fact, &target) in facts.iter().zip(targets.filled(self.entries)) {
            if I::writes(fact) {
                uses.get_mut(target as usize).ok_or(EINVAL)?.set_writes();
            }
            if I::needs_vram(fact) {
                uses.get_mut(target as usize)
                    .ok_or(EINVAL)?
                    .set_needs_vram();
            }
        }
        Ok(Checked {
            workspace,
            proof,
            client,
            entries: self.entries,
            user: self.user,
        })
    }
}
