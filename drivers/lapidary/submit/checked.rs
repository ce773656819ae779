// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Second step: the commands are proven harmless.
//!
//! The words are the driver's own copy, which no client can change. They do not contain addresses yet.

use kernel::prelude::*;

use crate::{
    corner::exec::Exec,
    family::{
        isolation::{
            Isolation,
            Proof, //
        },
        Family, //
    },
    memory::usage::Use,
    submit::{
        locked::Locked,
        others::Others,
        workspace::{
            Borrowed,
            Workspace, //
        }, //
    }, //
};

/// Commands that stay within their objects, wherever those are.
pub struct Checked<'s, F: Family, I: Isolation> {
    pub(super) workspace: Borrowed<'s, F, I>,
    pub(super) proof: Proof,
    /// The client for which the proof holds.
    pub(super) client: I::Client,
    /// Entries that the commands may name.
    pub(super) entries: usize,
    /// An object is a process's memory.
    pub(super) user: bool,
}

impl<F: Family, I: Isolation> Checked<'_, F, I> {
    /// Return the number of dwords of the commands.
    pub fn dwords(&self) -> usize {
        self.proof.dwords
    }

    /// Return the number of entries for objects. Several may name one object.
    pub fn entries(&self) -> usize {
        self.entries
    }

    /// Lock the objects while none of them has a fence of `others`, and call `then`. Before that, pin the pages of
    /// objects that are memory of the calling process, and wait for fences of `others` with nothing locked.
    ///
    /// # Errors
    ///
    /// `ERESTARTSYS` if a signal arrives; `ENOMEM`; as [`Use::fetch`], [`Others::wait`] and `then`.
    pub fn lock<R>(
        &mut self,
        others: &mut Others<'_, F>,
        then: impl FnOnce(Locked<'_, F, I>) -> Result<R>,
    ) -> Result<R> {
        loop {
            let Workspace {
                words,
                fixups,
                targets,
                uses,
                residue,
                ..
            } = &mut *self.workspace;
            if self.user {
                uses.iter_mut().try_for_each(Use::fetch)?;
            }
            {
                pin_init::stack_pin_init!(let exec = Exec::new(uses.len()));
                let locked = exec.lock(uses, Use::object)?;
                if others.are_done(uses, &locked) {
                    return then(Locked {
                        words: words.filled_mut(self.proof.dwords),
                        fixups: fixups.filled(self.proof.fixups),
                        targets: targets.filled(self.entries),
                        client: &self.client,
                        residue,
                        uses,
                        user: self.user,
                        locked,
                    });
                }
            }
            others.wait(uses)?;
        }
    }
}
