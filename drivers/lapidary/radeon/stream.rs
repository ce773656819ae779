// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A submission as CS receives it. It is copied in, and its handles are looked up.
//!
//! All of a submission is read from user memory exactly once, here. The numbers are checked before they are used
//! ([`crate::portable::radeon::envelope`]). The commands are not interpreted. The result is the input of
//! [`crate::submit`].

use kernel::{
    prelude::*,
    uaccess::{
        UserPtr,
        UserSlice, //
    },
};

use zerocopy::IntoBytes;

use crate::{
    corner::{
        gather::gather,
        gem::{
            self,
            Found, //
        }, //
    },
    family::{
        isolation::{
            Isolation,
            Refusal, //
        },
        Note, //
    },
    memory::{
        object::Object,
        usage::Places, //
    },
    portable::{
        radeon::{
            additions::{
                Sync, //
                NO_POSITION,
            },
            envelope::{
                self,
                Envelope,
                Extent,
                Flags,
                Relocation,
                Ring,
                Rings, //
                FLAGS_DWORDS,
            },
            uapi::{
                domain,
                Cs,
                CsChunk,
                CsReloc, //
            }, //
        },
        reason::Reason, //
    },
    radeon::{
        ClientFile,
        RadeonFamily, //
    },
    submit::{
        objects::Objects,
        syncs::{
            self,
            Syncs, //
        },
        workspace::Borrowed, //
    }, //
};

/// Chunks that are read together.
const BATCH: usize = 8;

/// A submission that is copied from user space and not checked yet.
pub(super) struct UserStream<'s, F: RadeonFamily, I: Isolation> {
    /// Holds words and relocation entries. The numbers below say how many.
    workspace: Borrowed<'s, F, I>,
    words: usize,
    relocs: usize,
    flags: Flags,
    ring: Ring,
    /// Synchronisation objects to wait for.
    before: Option<KVec<Sync>>,
    /// Synchronisation objects to signal.
    after: Option<KVec<Sync>>,
}

impl<'s, F: RadeonFamily, I: Isolation<Note = Note<F>>> UserStream<'s, F, I> {
    /// Read a submission into `workspace`. `None` if it has no commands. Such a submission does nothing and succeeds.
    ///
    /// # Errors
    ///
    /// `EFAULT` for user memory that does not exist; `EINVAL` for invalid numbers, after `refused` has been called
    /// with the reason; `ENOMEM`.
    pub(super) fn read(
        mut workspace: Borrowed<'s, F, I>,
        cs: &Cs,
        rings: &Rings,
        refused: impl Fn(Refusal, Error),
    ) -> Result<Option<Self>> {
        let refuse = |position, error: envelope::Error| {
            refused(Refusal::new(position, error.reason()), EINVAL);
            EINVAL
        };
        let envelope = read_envelope(cs, refuse)?;
        let mut flags = [0u32; FLAGS_DWORDS as usize];
        if let Some(extent) = envelope.flags() {
            // The envelope limits the length to that of the array.
            let flags = flags.get_mut(..extent.dwords as usize).ok_or(EINVAL)?;
            read(extent.pointer, flags.as_mut_bytes())?;
        }
        let flags = Flags::read(&flags);
        let Some(stream) = envelope.stream() else {
            return Ok(None);
        };
        let ring = flags.ring(rings).map_err(|e| refuse(NO_POSITION, e))?;

        let relocs = envelope.num_relocs() as usize;
        if let Some(extent) = envelope.relocs() {
            read(extent.pointer, workspace.uapi.room(relocs)?.as_mut_bytes())?;
        }
        let words = stream.dwords as usize;
        read(stream.pointer, workspace.words.room(words)?.as_mut_bytes())?;
        Ok(Some(Self {
            workspace,
            words,
            relocs,
            flags,
            ring,
            before: read_syncs(envelope.sync_in())?,
            after: read_syncs(envelope.sync_out())?,
        }))
    }

    /// Return the options of the submission.
    pub(super) fn flags(&self) -> Flags {
        self.flags
    }

    /// Return the ring that the commands are for.
    pub(super) fn ring(&self) -> Ring {
        self.ring
    }

    /// Look up the synchronisation objects in `file`.
    ///
    /// # Errors
    ///
    /// As [`Syncs::look_up`].
    pub(super) fn syncs(
        &self,
        file: &ClientFile<F>,
        refused: impl Fn(Refusal, Error),
    ) -> Result<Syncs> {
        let entry = |sync: &Sync| syncs::Entry {
            handle: sync.handle,
            flags: sync.flags,
            point: sync.point,
        };
        let before = self.before.as_deref().unwrap_or(&[]).iter();
        let after = self.after.as_deref().unwrap_or(&[]).iter();
        Syncs::look_up(file, before.map(entry), after.map(entry), refused)
    }

    /// Look up the handles of the relocation entries in `file`.
    ///
    /// # Errors
    ///
    /// After `refused` has been called with the reason: `EINVAL` for an entry that allows no memory the GPU can
    /// reach, `ENOENT` for an invalid handle. Also `ENOMEM`.
    pub(super) fn look_up(
        self,
        file: &ClientFile<F>,
        refused: impl Fn(Refusal, Error),
    ) -> Result<Objects<'s, F, I>> {
        let mut objects = Objects::new(self.workspace, self.words);
        let (relocs, mut numbers, mut entries) = objects.entries(self.relocs)?;
        let at = |index: usize, reason| Refusal::new(index as u32, reason);
        let each = |reloc: &CsReloc, found: Found<Object<F>>| {
            let relocation = Relocation::new(reloc).map_err(|error| {
                refused(at(entries.len(), error.reason()), EINVAL);
                EINVAL
            })?;
            let places = Places {
                vram: relocation.domains & domain::VRAM != 0,
                system: relocation.domains & domain::GTT != 0,
            };
            entries.add(found, places, relocation.write)
        };
        let relocs = relocs.filled(self.relocs);
        let result = gem::look_up(file, relocs, |reloc| reloc.handle, &mut numbers, each);
        result.inspect_err(|&error| {
            if error == ENOENT {
                refused(at(entries.len(), Reason::NO_OBJECT), error);
            }
        })?;
        Ok(objects)
    }
}

/// Read which chunks there are, and check their lengths.
fn read_envelope(cs: &Cs, refuse: impl Fn(u32, envelope::Error) -> Error) -> Result<Envelope> {
    let mut envelope = Envelope::new(cs.num_chunks).map_err(|e| refuse(NO_POSITION, e))?;
    // Bounded by the envelope.
    let all = cs.num_chunks as usize;
    let mut index = 0;
    while index < all {
        let mut chunks = [CsChunk::default(); BATCH];
        let chunks = chunks.get_mut(..(all - index).min(BATCH)).ok_or(EINVAL)?;
        let array = cs.chunks.checked_add((index * size_of::<u64>()) as u64);
        gather(array.ok_or(EFAULT)?, chunks)?;
        for chunk in chunks.iter() {
            envelope.add(chunk).map_err(|e| refuse(index as u32, e))?;
            index += 1;
        }
    }
    envelope.finish().map_err(|e| refuse(NO_POSITION, e))?;
    Ok(envelope)
}

/// Read entries whose number the envelope has limited. Most submissions have none, and no list then: an empty one would
/// cost a call that frees it.
fn read_syncs(extent: Option<Extent>) -> Result<Option<KVec<Sync>>> {
    let Some(extent) = extent else {
        return Ok(None);
    };
    let mut entries = KVec::new();
    entries.resize(
        extent.bytes() / size_of::<Sync>(),
        Sync::default(),
        GFP_KERNEL,
    )?;
    read(extent.pointer, entries.as_mut_slice().as_mut_bytes())?;
    Ok(Some(entries))
}

/// Convert a pointer of user space, which always has 64 bits in this interface.
fn user_ptr(pointer: u64) -> Result<UserPtr> {
    Ok(UserPtr::from_addr(
        usize::try_from(pointer).map_err(|_| EFAULT)?,
    ))
}

/// Fill `to` from user memory.
fn read(from: u64, to: &mut [u8]) -> Result {
    UserSlice::new(user_ptr(from)?, to.len())
        .reader()
        .read_slice(to)
}
