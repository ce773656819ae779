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
    driver::File,
    family::{
        self,
        Family,
        Isolation, //
    },
    memory::Bo,
    submit::{
        checked::Checked,
        stream::UserStream, //
    },
};

/// A submission whose handles have been looked up.
pub struct Objects<F: Family> {
    pub(super) stream: UserStream,
    /// One for each relocation entry; an object may occur several times.
    pub(super) objects: KVVec<ARef<Bo<F>>>,
    facts: KVVec<family::Object>,
}

impl UserStream {
    /// Looks the handles up in `file`.
    ///
    /// # Errors
    ///
    /// `ENOENT` for a handle that is none, `ENOMEM`.
    pub fn look_up<F: Family>(self, file: &drm::File<File<F>>) -> Result<Objects<F>> {
        let count = self.relocs.len();
        let mut objects = KVVec::with_capacity(count, GFP_KERNEL)?;
        let mut facts = KVVec::with_capacity(count, GFP_KERNEL)?;
        for reloc in self.relocs.iter() {
            let object = Bo::<F>::lookup_handle(file, reloc.handle)?;
            let fact = family::Object {
                size: object.size() as u64,
                tiling: object.tiling().0,
                ..Default::default()
            };
            facts.push(fact, GFP_KERNEL)?;
            objects.push(object, GFP_KERNEL)?;
        }
        Ok(Objects {
            stream: self,
            objects,
            facts,
        })
    }
}

impl<F: Family> Objects<F> {
    /// Has `isolation` prove that the commands stay within these objects.
    ///
    /// # Errors
    ///
    /// `EINVAL` if they do not, `ENOMEM`.
    pub fn prove<I: Isolation>(self, isolation: &I) -> Result<Checked<F, I>> {
        let Self {
            stream,
            objects,
            mut facts,
        } = self;
        let mut relocs = stream.relocs;
        let mut words = KVVec::from_elem(0u32, stream.words.len(), GFP_KERNEL)?;
        let mut fixups = KVVec::new();
        let used = isolation.prove(
            &stream.words,
            &mut facts,
            stream.keep_tiling,
            &mut words,
            &mut fixups,
        )?;
        words.truncate(used);
        // What the commands do counts, not what the client says they do.
        for (reloc, fact) in relocs.iter_mut().zip(facts.iter()) {
            reloc.placement.write |= fact.writes;
        }
        Ok(Checked {
            words,
            fixups,
            objects,
            relocs,
        })
    }
}
