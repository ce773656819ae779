// SPDX-License-Identifier: GPL-2.0 OR MIT

//! First step: copy in.
//!
//! Everything a submission says is read from user memory exactly once, here. The numbers are judged before they are
//! used ([`crate::portable::cs`]); nothing is interpreted yet.

use kernel::{
    prelude::*,
    uaccess::{
        UserPtr,
        UserSlice, //
    },
};

use zerocopy::IntoBytes;

use crate::{
    family::{
        Family,
        Isolation,
        Refusal, //
    },
    portable::{
        cs::{
            self,
            Envelope,
            Extent,
            Flags,
            Rings,
            FLAGS_DWORDS, //
        },
        lapidary_uapi::{
            Reason,
            Sync,
            NO_POSITION, //
        },
        radeon_uapi::{
            Cs,
            CsChunk, //
        },
    },
    submit::workspace::Lease,
};

/// Chunks whose addresses are read at once.
const BATCH: usize = 8;

/// A submission, copied from user space and not yet looked at.
pub struct UserStream<'s, F: Family, I: Isolation> {
    /// Words and relocation entries are in here, as many as the numbers below say.
    pub(super) space: Lease<'s, F, I>,
    pub(super) words: usize,
    pub(super) relocs: usize,
    flags: Flags,
    pub(super) syncs: Syncs,
}

/// Synchronisation objects as the client names them.
#[derive(Default)]
pub(super) struct Syncs {
    /// To wait for.
    pub(super) before: KVec<Sync>,
    /// To signal.
    pub(super) after: KVec<Sync>,
}

impl<'s, F: Family, I: Isolation> UserStream<'s, F, I> {
    /// Reads a submission for a chip that has `rings` into `space`. `None` if it has no commands: that does nothing
    /// and succeeds.
    ///
    /// # Errors
    ///
    /// `EFAULT` for user memory that is not there; `EINVAL` for numbers that make no sense, after `refused` has been
    /// told which; `ENOMEM`.
    pub fn read(
        mut space: Lease<'s, F, I>,
        cs: &Cs,
        rings: &Rings,
        refused: impl Fn(Refusal, Error),
    ) -> Result<Option<Self>> {
        let refuse = |position, error| {
            refused(Refusal::new(position, Reason::Envelope(error)), EINVAL);
            EINVAL
        };
        let envelope = read_envelope(cs, refuse)?;
        let mut flags = [0u32; FLAGS_DWORDS as usize];
        if let Some(extent) = envelope.flags() {
            // The envelope bounds the length by that of the array.
            let flags = flags.get_mut(..extent.dwords as usize).ok_or(EINVAL)?;
            read(extent.pointer, flags.as_mut_bytes())?;
        }
        let flags = Flags::read(&flags);
        let Some(stream) = envelope.stream() else {
            return Ok(None);
        };
        flags.ring(rings).map_err(|e| refuse(NO_POSITION, e))?;

        let relocs = envelope.num_relocs() as usize;
        if let Some(extent) = envelope.relocs() {
            read(extent.pointer, space.relocs.room(relocs)?.as_mut_bytes())?;
        }
        let words = stream.dwords as usize;
        read(stream.pointer, space.words.room(words)?.as_mut_bytes())?;
        Ok(Some(Self {
            space,
            words,
            relocs,
            flags,
            syncs: Syncs {
                before: read_syncs(envelope.sync_in())?,
                after: read_syncs(envelope.sync_out())?,
            },
        }))
    }

    /// What the client asks for besides.
    pub fn flags(&self) -> Flags {
        self.flags
    }
}

/// Reads which chunks there are, and judges their lengths.
fn read_envelope(cs: &Cs, refuse: impl Fn(u32, cs::Error) -> Error) -> Result<Envelope> {
    let mut envelope = Envelope::new(cs.num_chunks).map_err(|e| refuse(NO_POSITION, e))?;
    let mut index = 0;
    // Bounded by the envelope.
    let mut left = cs.num_chunks as usize;
    let mut pointers = UserSlice::new(user_ptr(cs.chunks)?, left * size_of::<u64>()).reader();
    while left != 0 {
        let mut batch = [0u64; BATCH];
        let batch = batch.get_mut(..left.min(BATCH)).ok_or(EINVAL)?;
        pointers.read_slice(batch.as_mut_bytes())?;
        for &pointer in batch.iter() {
            let mut chunk = CsChunk::default();
            read(pointer, chunk.as_mut_bytes())?;
            envelope.add(&chunk).map_err(|e| refuse(index, e))?;
            index += 1;
        }
        left -= batch.len();
    }
    envelope.finish().map_err(|e| refuse(NO_POSITION, e))?;
    Ok(envelope)
}

/// Reads entries of which the envelope has bounded the number. Most submissions have none.
fn read_syncs(extent: Option<Extent>) -> Result<KVec<Sync>> {
    let mut entries = KVec::new();
    if let Some(extent) = extent {
        entries.resize(
            extent.bytes() / size_of::<Sync>(),
            Sync::default(),
            GFP_KERNEL,
        )?;
        read(extent.pointer, entries.as_mut_slice().as_mut_bytes())?;
    }
    Ok(entries)
}

/// A pointer of user space, which always has 64 bits in this interface.
fn user_ptr(pointer: u64) -> Result<UserPtr> {
    Ok(UserPtr::from_addr(
        usize::try_from(pointer).map_err(|_| EFAULT)?,
    ))
}

/// Fills `to` from user memory.
fn read(from: u64, to: &mut [u8]) -> Result {
    UserSlice::new(user_ptr(from)?, to.len())
        .reader()
        .read_slice(to)
}
