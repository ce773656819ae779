// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Third step: the commands are proven harmless.
//!
//! The words here are the driver's own copy: nobody can change them any more. They still lack addresses.

use core::pin::Pin;

use kernel::prelude::*;

use crate::{
    corner::exec::Exec,
    family::{
        Family,
        Isolation,
        Proof, //
    },
    memory::{
        Bo,
        Use, //
    },
    submit::{
        locked::Locked,
        workspace::{
            Lease,
            Workspace, //
        }, //
    },
};

/// Commands that stay within their objects, wherever those are.
pub struct Checked<'s, F: Family, I: Isolation> {
    pub(super) space: Lease<'s, F, I>,
    pub(super) proof: Proof,
}

impl<F: Family, I: Isolation> Checked<'_, F, I> {
    /// Dwords of the commands.
    pub fn dwords(&self) -> usize {
        self.proof.dwords
    }

    /// Uses of objects, one for each relocation entry.
    pub fn objects(&self) -> usize {
        self.space.uses.len()
    }

    /// Room for the locks of all objects, for [`Checked::lock`].
    pub fn exec(&self) -> impl PinInit<Exec<Bo<F>>> + use<F, I> {
        Exec::new(self.space.uses.len())
    }

    /// Gets the pages of objects that are memory of the calling process.
    ///
    /// # Errors
    ///
    /// As [`Use::fetch`].
    pub fn fetch(&mut self) -> Result {
        self.space.uses.iter_mut().try_for_each(Use::fetch)
    }

    /// Locks the objects, until `exec` is dropped.
    ///
    /// # Errors
    ///
    /// `ERESTARTSYS` if a signal arrives, `ENOMEM`.
    pub fn lock<'e>(&'e mut self, exec: Pin<&'e mut Exec<Bo<F>>>) -> Result<Locked<'e, F, I>> {
        let Workspace {
            words,
            fixups,
            uses,
            ..
        } = &mut *self.space;
        let locked = exec.lock(uses, Use::object)?;
        Ok(Locked {
            words: words.filled_mut(self.proof.dwords),
            fixups: fixups.filled(self.proof.fixups),
            uses,
            locked,
        })
    }
}
