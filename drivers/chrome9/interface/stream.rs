// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A submission as SUBMIT receives it. It is copied in, and its handles are looked up.
//!
//! All of a submission is read from user memory exactly once, here. The numbers are checked before they are used
//! ([`crate::portable::envelope`]). The commands are not interpreted. The result is the input of [`lapidary::submit`].

use kernel::{
    prelude::*,
    uaccess::{
        UserPtr,
        UserSlice, //
    },
};

use zerocopy::IntoBytes;

use lapidary::{
    corner::gem,
    family::Refusal,
    memory::Places,
    portable::reason::{
        Reason,
        NO_POSITION, //
    },
    running::IsolationOf,
    submit::{
        admission::Client,
        objects::Objects,
        syncs::{
            Entry,
            Syncs, //
        },
        workspace::Borrowed, //
    },
};

use crate::{
    interface::ClientFile,
    portable::{
        envelope::{
            self,
            Error as Fault, //
        },
        uapi::{
            Object,
            Submit,
            Sync,
            RELOCATION_DWORDS, //
        },
    },
    Chrome9, //
};

/// The memory of a submission.
type Workspace<'s, 'a> = Borrowed<'s, Chrome9, IsolationOf<'a, Chrome9>>;
/// The commands and objects of a submission.
type Found<'s, 'a> = Objects<'s, Chrome9, IsolationOf<'a, Chrome9>>;

/// A submission that is copied from user space and not checked yet.
pub(super) struct UserStream<'s, 'a> {
    /// Holds the stream with its relocations behind it, and the objects.
    workspace: Workspace<'s, 'a>,
    words: usize,
    objects: usize,
    relocations: u32,
    wait: KVec<Sync>,
    signal: KVec<Sync>,
}

impl<'s, 'a> UserStream<'s, 'a> {
    /// Read a submission into `workspace`.
    ///
    /// # Errors
    ///
    /// `EFAULT` for user memory that does not exist; `EINVAL` for numbers that are refused, which `client` is told; `ENOMEM`.
    pub(super) fn read(
        mut workspace: Workspace<'s, 'a>,
        submit: &Submit,
        client: &Client<'_, Chrome9>,
    ) -> Result<Self> {
        let refuse = |position, fault: Fault| {
            client.refuse(Refusal::new(position, fault.reason()), EINVAL);
            EINVAL
        };
        envelope::check(submit).map_err(|fault| refuse(NO_POSITION, fault))?;

        // The numbers are bounded, as has been checked.
        let objects = submit.object_count as usize;
        let list = workspace.uapi.room(objects)?;
        read(submit.objects, list.as_mut_bytes())?;
        if let Some(index) = envelope::reserved(list) {
            return Err(refuse(index as u32, Fault::Reserved));
        }
        let dwords = submit.dwords as usize;
        let behind = submit.relocation_count as usize * RELOCATION_DWORDS as usize;
        let words = dwords + behind;
        let (stream, relocations) = workspace.words.room(words)?.split_at_mut(dwords);
        read(submit.stream, stream.as_mut_bytes())?;
        read(submit.relocations, relocations.as_mut_bytes())?;
        let syncs = |pointer, count| {
            let list = read_syncs(pointer, count)?;
            match envelope::reserved_sync(&list) {
                Some(index) => Err(refuse(index as u32, Fault::Reserved)),
                None => Ok(list),
            }
        };
        Ok(Self {
            wait: syncs(submit.wait, submit.wait_count)?,
            signal: syncs(submit.signal, submit.signal_count)?,
            workspace,
            words,
            objects,
            relocations: submit.relocation_count,
        })
    }

    /// Return the number of relocations.
    pub(super) fn relocations(&self) -> u32 {
        self.relocations
    }

    /// Look up the synchronisation objects in `file`.
    ///
    /// # Errors
    ///
    /// As [`Syncs::look_up`].
    pub(super) fn syncs(&self, file: &ClientFile, client: &Client<'_, Chrome9>) -> Result<Syncs> {
        let entry = |sync: &Sync| Entry {
            handle: sync.handle,
            flags: 0,
            point: sync.point,
        };
        let (wait, signal) = (self.wait.iter().map(entry), self.signal.iter().map(entry));
        Syncs::look_up(file, wait, signal, |refusal, error| {
            client.refuse(refusal, error)
        })
    }

    /// Look up the objects in `file`.
    ///
    /// # Errors
    ///
    /// `ENOENT` for an invalid handle, which `client` is told; `ENOMEM`.
    pub(super) fn look_up(
        self,
        file: &ClientFile,
        client: &Client<'_, Chrome9>,
    ) -> Result<Found<'s, 'a>> {
        // An object that was made for the frame buffer should be there. Commands that need another there say so.
        const PLACES: Places = Places {
            vram: true,
            system: true,
        };

        let mut objects = Objects::new(self.workspace, self.words);
        let (list, mut numbers, mut entries) = objects.entries(self.objects)?;
        let list = list.filled(self.objects);
        let each = |_: &Object, found| entries.add(found, PLACES, false);
        let result = gem::look_up(file, list, |object| object.handle, &mut numbers, each);
        result.inspect_err(|&error| {
            if error == ENOENT {
                let position = entries.len() as u32;
                client.refuse(Refusal::new(position, Reason::NO_OBJECT), error);
            }
        })?;
        Ok(objects)
    }
}

/// Read synchronisation objects, whose number has been checked.
fn read_syncs(pointer: u64, count: u32) -> Result<KVec<Sync>> {
    let mut list = KVec::new();
    if count != 0 {
        list.resize(count as usize, Sync::default(), GFP_KERNEL)?;
        read(pointer, list.as_mut_slice().as_mut_bytes())?;
    }
    Ok(list)
}

/// Fill `to` from user memory. Nothing is read for nothing.
fn read(from: u64, to: &mut [u8]) -> Result {
    if to.is_empty() {
        return Ok(());
    }
    let pointer = UserPtr::from_addr(usize::try_from(from).map_err(|_| EFAULT)?);
    UserSlice::new(pointer, to.len()).reader().read_slice(to)
}
