// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Third step: the commands are proven harmless.
//!
//! The words here are the driver's own copy: nobody can change them any more. They still lack addresses.

use core::pin::Pin;

use kernel::{
    prelude::*,
    sync::aref::ARef, //
};

use crate::{
    corner::exec::{
        self,
        Exec, //
    },
    family::{
        Family,
        Isolation, //
    },
    memory::Bo,
    submit::{
        locked::Locked,
        stream::Reloc, //
    },
};

/// Commands that stay within their objects, wherever those are.
pub struct Checked<F: Family, I: Isolation> {
    pub(super) words: KVVec<u32>,
    pub(super) fixups: KVVec<I::Fixup>,
    pub(super) objects: KVVec<ARef<Bo<F>>>,
    pub(super) relocs: KVVec<Reloc>,
}

impl<F: Family, I: Isolation> Checked<F, I> {
    /// Room for the locks of all objects, for [`Checked::lock`].
    pub fn exec(&self) -> impl PinInit<Exec<Bo<F>>> + use<F, I> {
        Exec::new(self.objects.len())
    }

    /// Locks the objects, until `exec` is dropped.
    ///
    /// # Errors
    ///
    /// `ERESTARTSYS` if a signal arrives, `ENOMEM`.
    pub fn lock<'e>(&'e mut self, exec: Pin<&'e mut Exec<Bo<F>>>) -> Result<Locked<'e, F, I>> {
        let locked: exec::Locked<'e, Bo<F>> = exec.lock(&self.objects)?;
        Ok(Locked {
            words: &mut self.words,
            fixups: &self.fixups,
            relocs: &self.relocs,
            locked,
        })
    }
}
