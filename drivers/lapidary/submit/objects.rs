// SPDX-License-Identifier: GPL-2.0 OR MIT

//! First step: the commands, and the objects that they may use.
//!
//! The family's user-space interface has copied the commands into a [`Workspace`] and looks the objects up. It says of
//! each where the GPU may find it and whether the client announces to write it. From here on the submission holds
//! references: closing a handle changes nothing for it.

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
    /// Adds the next object. The commands name it by its position in the list.
    ///
    /// # Errors
    ///
    /// `EINVAL` for a process's memory that may not stay in system memory; `ENOMEM` for more objects than there is room
    /// for.
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

    /// How many there are.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.uses.len()
    }
}

impl<'s, F: Family, I: Isolation<Note = Note<F>>> Objects<'s, F, I> {
    /// The first `words` dwords of the commands in `workspace`, without objects.
    pub fn new(workspace: Borrowed<'s, F, I>, words: usize) -> Self {
        Self {
            workspace,
            words,
            user: false,
        }
    }

    /// The list of objects with room for `count`, and what the interface has left in the workspace for itself. Once.
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

    /// Has `isolation` prove that the commands of `client` stay within these objects.
    ///
    /// # Errors
    ///
    /// `EINVAL` if they do not, after `refused` has been told why; `ENOMEM`.
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
        // What the commands do counts, not only what the client says they do.
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
