// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Fifth step: the objects are where the job uses them, and the commands name their addresses.
//!
//! The addresses stay as they are until the job's fence has signalled, because the job keeps the objects placed.

use kernel::{
    prelude::*,
    sync::aref::ARef, //
};

use crate::{
    corner::{
        exec::{
            self,
            Usage, //
        },
        fence::Fence, //
    },
    family::Family,
    memory::{
        self,
        Bo, //
    },
    running::Running,
    submit::{
        job::Job,
        stream::Reloc,
        Load, //
    },
};

/// Commands with addresses, and the objects that lie there.
pub struct Placed<'e, F: Family> {
    pub(super) words: &'e [u32],
    pub(super) relocs: &'e KVVec<Reloc>,
    pub(super) locked: exec::Locked<'e, Bo<F>>,
    pub(super) placed: KVVec<memory::Placed<F>>,
}

impl<F: Family> Placed<'_, F> {
    /// Reserves everything else, and commits.
    ///
    /// # Errors
    ///
    /// As [`Job::prepare`]. Nothing has happened then.
    pub fn submit(self, running: &Running<'_, F>, ring: usize) -> Result<ARef<Fence>> {
        let Self {
            words,
            relocs,
            locked,
            placed,
        } = self;
        let job = Job::prepare(running, ring, words, Load::Placed(placed))?;
        Ok(job.commit(|fence| {
            locked.attach(fence, |index| match relocs.get(index) {
                Some(reloc) if !reloc.placement.write => Usage::Read,
                _ => Usage::Write,
            });
        }))
    }
}
