// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Second step: handles become objects.
//!
//! From here on the submission holds references: closing a handle changes nothing for it.

use kernel::{
    drm::{
        self,
        gem::BaseObject, //
    },
    prelude::*,
    sync::aref::ARef, //
};

use crate::{
    corner::{
        gem,
        prime::Shared, //
    },
    driver::File,
    family::{
        Family,
        Isolation,
        Refusal, //
    },
    memory::{
        Bo,
        Use, //
    },
    portable::{
        cs::Placement,
        lapidary_uapi::Reason,
        radeon_uapi::{
            domain,
            CsReloc, //
        },
    },
    submit::{
        checked::Checked,
        stream::UserStream,
        workspace::{
            Lease,
            Workspace, //
        }, //
    },
};

/// A submission whose handles have been looked up.
pub struct Objects<'s, F: Family, I: Isolation> {
    space: Lease<'s, F, I>,
    words: usize,
    /// Number of objects, one for each relocation entry.
    objects: usize,
    /// One of them is a process's memory.
    user: bool,
}

impl<'s, F: Family, I: Isolation> UserStream<'s, F, I> {
    /// Looks the handles up in `file`.
    ///
    /// # Errors
    ///
    /// After `refused` has been told why: `EINVAL` for an entry that allows no memory the GPU can reach, `ENOENT` for a
    /// handle that is none. `ENOMEM`.
    pub fn look_up(
        self,
        file: &drm::File<File<F>>,
        refused: impl Fn(Refusal, Error),
    ) -> Result<Objects<'s, F, I>> {
        let Self {
            mut space,
            words,
            relocs: count,
            ..
        } = self;
        let Workspace {
            relocs,
            facts,
            uses,
            ..
        } = &mut *space;
        uses.reserve(count, GFP_KERNEL)?;
        let facts = facts.room(count)?;
        let mut facts = facts.iter_mut();
        let mut user = false;
        let each = |reloc: &CsReloc, object: ARef<Bo<F>>| {
            let placement = Placement::new(reloc).map_err(|error| {
                let index = uses.len() as u32;
                refused(Refusal::new(index, Reason::Envelope(error)), EINVAL);
                EINVAL
            })?;
            if let Some(fact) = facts.next() {
                *fact = I::object(object.size() as u64, object.tiling().0);
            }
            if object.is_private() {
                user = true;
                if placement.domains & domain::GTT == 0 {
                    return Err(EINVAL);
                }
            }
            let vram = placement.domains & domain::VRAM != 0;
            uses.push_within_capacity(Use::new(object, placement.write, vram))
                .map_err(|_| ENOMEM)
        };
        gem::look_up(file, relocs.filled(count), |reloc| reloc.handle, each).inspect_err(
            |&error| {
                if error == ENOENT {
                    let index = uses.len() as u32;
                    refused(Refusal::new(index, Reason::NoObject), error);
                }
            },
        )?;
        Ok(Objects {
            space,
            words,
            objects: count,
            user,
        })
    }
}

impl<'s, F: Family, I: Isolation> Objects<'s, F, I> {
    /// Has `isolation` prove that the commands of `client` stay within these objects.
    ///
    /// # Errors
    ///
    /// `EINVAL` if they do not, after `refused` has been told why; `ENOMEM`.
    pub fn prove(
        self,
        isolation: &I,
        client: &I::Client,
        refused: impl FnOnce(Refusal),
    ) -> Result<Checked<'s, F, I>> {
        let mut space = self.space;
        let Workspace {
            words,
            fixups,
            facts,
            uses,
            ..
        } = &mut *space;
        let facts = facts.filled_mut(self.objects);
        let proof = isolation
            .prove(
                words.filled_mut(self.words),
                facts,
                client,
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
            space,
            proof,
            user: self.user,
        })
    }
}
