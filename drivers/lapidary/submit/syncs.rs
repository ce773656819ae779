// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The synchronisation objects that a submission waits for and signals, besides its objects.
//!
//! Fences of objects order submissions that share an object, without a request. A client that wants another order
//! names synchronisation objects ([`crate::corner::syncobj`]). The fences to wait for are looked up early, when
//! nothing is locked. The submission waits for them before it locks anything. It holds the objects to signal together
//! with all the memory that this needs, so the commit only puts its fence in.

use kernel::{
    drm,
    prelude::*,
    sync::aref::ARef, //
};

use crate::{
    corner::{
        fence::{
            Contexts,
            Fence, //
        },
        syncobj::{
            self,
            Missing,
            Signals, //
        }, //
    },
    driver::{
        DeviceData, //
        File,
    },
    family::{
        isolation::Refusal,
        Family, //
    },
    portable::reason::Reason, //
};

/// How long to wait for all synchronisation objects together, in milliseconds.
const SYNCS_MS: u32 = 30_000;
/// How long to wait before testing whether the device is still bound.
const SLICE_MS: u32 = 100;

/// Fences to wait for, and objects to signal. Most submissions have neither, and no list then.
pub struct Syncs {
    before: Option<KVec<ARef<Fence>>>,
    after: Option<Signals>,
}

/// A synchronisation object as a client names it.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Handle of the file.
    pub handle: u32,
    /// 0: there are no flags.
    pub flags: u32,
    /// Point on the timeline; 0 for a binary object.
    pub point: u64,
}

impl Syncs {
    /// Look up in `file` the fences to wait for (`before`) and the objects to signal (`after`).
    ///
    /// # Errors
    ///
    /// After `refused` has been called with the reason: `ENOENT` for an invalid handle; `ENODATA` for an object or a
    /// point that no submission so far would signal; `EINVAL` for flags, and for a handle that is to be signalled
    /// twice. Also `ENOMEM`.
    pub fn look_up<F: Family>(
        file: &drm::File<File<F>>,
        before: impl ExactSizeIterator<Item = Entry>,
        after: impl Iterator<Item = Entry> + Clone,
        refused: impl Fn(Refusal, Error),
    ) -> Result<Self> {
        let refuse = |index: usize, reason, error| {
            refused(Refusal::new(index as u32, reason), error);
            error
        };
        let mut fences = None;
        let waits = before.len();
        for (index, entry) in before.enumerate() {
            if entry.flags != 0 {
                return Err(refuse(index, Reason::SYNC_FLAGS, EINVAL));
            }
            let found = syncobj::find(file, entry.handle, entry.point);
            let fence = found.map_err(|missing| match missing {
                Missing::Handle => refuse(index, Reason::NO_SYNCOBJ, ENOENT),
                Missing::Fence => refuse(index, Reason::NOT_SUBMITTED, ENODATA),
            })?;
            let fences = match &mut fences {
                Some(fences) => fences,
                none => none.insert(KVec::with_capacity(waits, GFP_KERNEL)?),
            };
            fences.push(fence, GFP_KERNEL)?;
        }
        let mut signals = None;
        for (index, entry) in after.clone().enumerate() {
            if entry.flags != 0 {
                return Err(refuse(index, Reason::SYNC_FLAGS, EINVAL));
            }
            let mut others = after.clone().take(index);
            if others.any(|other| other.handle == entry.handle) {
                return Err(refuse(index, Reason::SIGNALLED_TWICE, EINVAL));
            }
            let signals = signals.get_or_insert_with(Signals::new);
            let added = signals.add(file, entry.handle, entry.point);
            added.map_err(|error| {
                if error == ENOENT {
                    return refuse(index, Reason::NO_SYNCOBJ, ENOENT);
                }
                error
            })?;
        }
        Ok(Self {
            before: fences,
            after: signals,
        })
    }

    /// Wait for the fences, except for those of the contexts `own`, which are this GPU's rings. Return for which of these
    /// the job has to wait, a bit for each. The result of the work behind a fence makes no difference.
    ///
    /// No lock is held.
    ///
    /// # Errors
    ///
    /// `ERESTARTSYS` if a signal arrives; `EBUSY` after 30 s, after `refused` has been called; `ENODEV` at unbind.
    pub fn wait<F: Family>(
        &self,
        data: &DeviceData<F>,
        own: Contexts,
        refused: impl Fn(Refusal, Error),
    ) -> Result<u32> {
        let mut rings = 0;
        let mut left = SYNCS_MS / SLICE_MS;
        for (index, fence) in self.before.iter().flatten().enumerate() {
            if let Some(pending) = syncobj::pending(fence, own) {
                rings |= pending;
                continue;
            }
            while !fence.wait(true, SLICE_MS)? {
                if data.gone() {
                    return Err(ENODEV);
                }
                left = left.checked_sub(1).ok_or_else(|| {
                    refused(Refusal::new(index as u32, Reason::NOT_SIGNALLED), EBUSY);
                    EBUSY
                })?;
            }
        }
        Ok(rings)
    }

    /// Return how many fences there are to wait for.
    pub fn waits(&self) -> usize {
        self.before.as_ref().map_or(0, |fences| fences.len())
    }

    /// Put the submission's fence into the objects to signal. Part of the commit.
    pub fn publish(&mut self, fence: &Fence) {
        if let Some(after) = &mut self.after {
            after.publish(fence);
        }
    }
}
