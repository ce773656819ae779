// SPDX-License-Identifier: GPL-2.0 OR MIT

//! First step: the commands, and the objects that they may use.
//!
//! The family's user-space interface has copied the commands into a [`Workspace`] and looked up the objects. It
//! states for each object where it may be for the GPU, and whether the client announces to write it. From here on the
//! submission holds references, so closing a handle does not affect it.

use core::slice;

use kernel::{
    drm::gem::BaseObject,
    prelude::*,
    sync::aref::ARef, //
};

use crate::{
    corner::prime::Shareable,
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
        object::Bo,
        usage::{
            Places,
            Use, //
        }, //
    },
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
    /// One of the objects is a process's memory.
    user: bool,
}

/// The list of objects, to be filled.
pub struct Entries<'e, F: Family, I: Isolation> {
    facts: slice::IterMut<'e, I::Object>,
    uses: &'e mut KVVec<Use<F>>,
    user: &'e mut bool,
}

impl<F: Family, I: Isolation<Note = Note<F>>> Entries<'_, F, I> {
    /// Add the next object. The commands name it by its position in the list.
    ///
    /// # Errors
    ///
    /// `EINVAL` for a process's memory that must not be in system memory; `ENOMEM` for more objects than there is
    /// room for.
    #[inline(always)]
    pub fn add(&mut self, object: ARef<Bo<F>>, places: Places, writes: bool) -> Result {
        if let Some(fact) = self.facts.next() {
            *fact = I::object(object.size() as u64, object.note());
        }
        if object.is_private() {
            *self.user = true;
            if !places.system {
                return Err(EINVAL);
            }
        }
        self.uses
            .push_within_capacity(Use::new(object, writes, places.vram))
            .map_err(|_| ENOMEM)
    }

    /// Return the number of objects.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.uses.len()
    }
}

impl<'s, F: Family, I: Isolation<Note = Note<F>>> Objects<'s, F, I> {
    /// Take the first `words` dwords of the commands in `workspace`, without objects.
    pub fn new(workspace: Borrowed<'s, F, I>, words: usize) -> Self {
        Self {
            workspace,
            words,
            user: false,
        }
    }

    /// Return the list of objects with room for `count`, and the memory of the interface in the workspace. Called
    /// once.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub fn entries(&mut self, count: usize) -> Result<(&ScratchOf<F>, Entries<'_, F, I>)> {
        let Workspace {
            uapi, facts, uses, ..
        } = &mut *self.workspace;
        uses.reserve(count, GFP_KERNEL)?;
        let entries = Entries {
            facts: facts.room(count)?.iter_mut(),
            uses,
            user: &mut self.user,
        };
        Ok((uapi, entries))
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
            uses,
            ..
        } = &mut *workspace;
        let facts = facts.filled_mut(uses.len());
        let proof = isolation
            .prove(
                words.filled_mut(self.words),
                facts,
                &client,
                fixups.room(I::most_fixups(self.words))?,
            )
            .map_err(|refusal| {
                refused(refusal);
                EINVAL
            })?;
        // The writes of the commands count, not only those that the client announces.
        for (object, fact) in uses.iter_mut().zip(facts.iter()) {
            if I::writes(fact) {
                object.set_writes();
            }
        }
        Ok(Checked {
            workspace,
            proof,
            client,
            user: self.user,
        })
    }
}
