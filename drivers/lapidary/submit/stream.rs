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

use crate::portable::{
    cs::{
        Envelope,
        Extent,
        Flags,
        Placement,
        Rings,
        FLAGS_DWORDS, //
    },
    radeon_uapi::{
        Cs,
        CsChunk,
        CsReloc, //
    },
};

/// A relocation entry: which object, where it may be, how it is used.
#[derive(Clone, Copy)]
pub struct Reloc {
    /// Handle of the file that submits.
    pub handle: u32,
    /// Where it may be.
    pub placement: Placement,
}

/// A submission, copied from user space and not yet looked at.
pub struct UserStream {
    /// The command stream.
    pub(super) words: KVVec<u32>,
    /// The objects it uses.
    pub(super) relocs: KVVec<Reloc>,
    /// The tiling bits in the stream are meant.
    pub(super) keep_tiling: bool,
}

impl UserStream {
    /// Reads a submission for a chip that has `rings`. `None` if it has no commands: that does nothing and succeeds.
    ///
    /// # Errors
    ///
    /// `EFAULT` for user memory that is not there, `EINVAL` for numbers that make no sense, `ENOMEM`.
    pub fn read(cs: &Cs, rings: &Rings) -> Result<Option<Self>> {
        let mut envelope = Envelope::new(cs.num_chunks).map_err(|_| EINVAL)?;
        if cs.num_chunks == 0 {
            return Ok(None);
        }
        let mut pointers = UserSlice::new(
            user_ptr(cs.chunks)?,
            cs.num_chunks as usize * size_of::<u64>(),
        )
        .reader();
        for _ in 0..cs.num_chunks {
            let pointer: u64 = pointers.read()?;
            let mut chunk = CsChunk::default();
            UserSlice::new(user_ptr(pointer)?, size_of::<CsChunk>())
                .reader()
                .read_slice(chunk.as_mut_bytes())?;
            envelope.add(&chunk).map_err(|_| EINVAL)?;
        }

        let mut flags = [0u32; FLAGS_DWORDS as usize];
        if let Some(extent) = envelope.flags() {
            // The envelope bounds the length by that of the array.
            let flags = flags
                .get_mut(..extent.dwords as usize)
                .ok_or(EINVAL)?
                .as_mut_bytes();
            UserSlice::new(user_ptr(extent.pointer)?, flags.len())
                .reader()
                .read_slice(flags)?;
        }
        let flags = Flags::read(&flags);
        let Some(stream) = envelope.stream() else {
            return Ok(None);
        };
        flags.ring(rings).map_err(|_| EINVAL)?;

        let mut relocs = KVVec::with_capacity(envelope.num_relocs() as usize, GFP_KERNEL)?;
        if let Some(extent) = envelope.relocs() {
            let mut reader = UserSlice::new(user_ptr(extent.pointer)?, extent.bytes()).reader();
            for _ in 0..envelope.num_relocs() {
                let mut reloc = CsReloc::default();
                reader.read_slice(reloc.as_mut_bytes())?;
                let placement = Placement::new(&reloc).map_err(|_| EINVAL)?;
                relocs.push(
                    Reloc {
                        handle: reloc.handle,
                        placement,
                    },
                    GFP_KERNEL,
                )?;
            }
        }
        Ok(Some(Self {
            words: dwords(stream)?,
            relocs,
            keep_tiling: flags.keep_tiling,
        }))
    }
}

/// A pointer of user space, which always has 64 bits in this interface.
fn user_ptr(pointer: u64) -> Result<UserPtr> {
    Ok(UserPtr::from_addr(
        usize::try_from(pointer).map_err(|_| EFAULT)?,
    ))
}

/// Copies dwords.
fn dwords(extent: Extent) -> Result<KVVec<u32>> {
    let mut words = KVVec::from_elem(0u32, extent.dwords as usize, GFP_KERNEL)?;
    UserSlice::new(user_ptr(extent.pointer)?, extent.bytes())
        .reader()
        .read_slice(words.as_mut_slice().as_mut_bytes())?;
    Ok(words)
}
