// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What a submission waits for and what it signals, besides its objects.
//!
//! Fences of objects order submissions that share an object, without being asked. User space that wants to order by
//! itself names synchronisation objects ([`crate::corner::syncobj`]). The fences to wait for are looked up early, when
//! nothing is locked, and waited for before anything is; the objects to signal are held with all the memory that
//! takes, so that the commit only puts its fence in.

use kernel::{
    drm,
    prelude::*,
    sync::aref::ARef, //
};

use crate::{
    corner::{
        fence::Fence,
        syncobj::{
            self,
            Missing,
            Signals, //
        }, //
    },
    driver::{
        File,
        Shared, //
    },
    family::{
        Family,
        Isolation,
        Refusal, //
    },
    portable::lapidary_uapi::Reason,
    submit::stream::UserStream,
};

/// How long to wait for all synchronisation objects together, in milliseconds.
const SYNCS_MS: u32 = 30_000;
/// How long to wait before looking whether the device is still there.
const SLICE_MS: u32 = 100;

/// Fences to wait for, and objects to signal.
pub struct Syncs {
    before: KVec<ARef<Fence>>,
    after: Signals,
}

impl<F: Family, I: Isolation> UserStream<'_, F, I> {
    /// Looks up the synchronisation objects in `file`.
    ///
    /// # Errors
    ///
    /// After `refused` has been told why: `ENOENT` for a handle that is none, `ENODATA` for an object or a point that
    /// nothing submitted would signal, `EINVAL` for unknown flags and for a handle that is to be signalled twice.
    /// `ENOMEM`.
    pub fn syncs(
        &mut self,
        file: &drm::File<File<F>>,
        refused: impl Fn(Refusal, Error),
    ) -> Result<Syncs> {
        let refuse = |index: usize, reason, error| {
            refused(Refusal::new(index as u32, reason), error);
            error
        };
        let mut before = KVec::with_capacity(self.syncs.before.len(), GFP_KERNEL)?;
        for (index, sync) in self.syncs.before.iter().enumerate() {
            if sync.flags != 0 {
                return Err(refuse(index, Reason::SyncFlags, EINVAL));
            }
            let fence =
                syncobj::find(file, sync.handle, sync.point).map_err(|missing| match missing {
                    Missing::Handle => refuse(index, Reason::NoSyncobj, ENOENT),
                    Missing::Fence => refuse(index, Reason::NotSubmitted, ENODATA),
                })?;
            before.push(fence, GFP_KERNEL)?;
        }
        let mut after = Signals::new();
        for (index, sync) in self.syncs.after.iter().enumerate() {
            if sync.flags != 0 {
                return Err(refuse(index, Reason::SyncFlags, EINVAL));
            }
            let mut others = self.syncs.after.iter().take(index);
            if others.any(|other| other.handle == sync.handle) {
                return Err(refuse(index, Reason::SignalledTwice, EINVAL));
            }
            after.add(file, sync.handle, sync.point).map_err(|error| {
                if error == ENOENT {
                    return refuse(index, Reason::NoSyncobj, ENOENT);
                }
                error
            })?;
        }
        Ok(Syncs { before, after })
    }
}

impl Syncs {
    /// Waits for the fences. Those of context `own` are in order on the ring anyway, if it is the `only` one of this
    /// GPU. What became of the work behind a fence makes no difference.
    ///
    /// No lock is held.
    ///
    /// # Errors
    ///
    /// `ERESTARTSYS` if a signal arrives; `EBUSY` after 30 s, after `refused` has been told so; `ENODEV` at unbind.
    pub fn wait<F: Family>(
        &self,
        shared: &Shared<F>,
        own: u64,
        only: bool,
        refused: impl Fn(Refusal, Error),
    ) -> Result {
        let mut left = SYNCS_MS / SLICE_MS;
        for (index, fence) in self.before.iter().enumerate() {
            if only && syncobj::is_ordered(fence, own) {
                continue;
            }
            while !fence.wait(true, SLICE_MS)? {
                if shared.gone() {
                    return Err(ENODEV);
                }
                left = left.checked_sub(1).ok_or_else(|| {
                    refused(Refusal::new(index as u32, Reason::NotSignalled), EBUSY);
                    EBUSY
                })?;
            }
        }
        Ok(())
    }

    /// How many fences there are to wait for.
    pub fn waits(&self) -> usize {
        self.before.len()
    }

    /// The objects to signal get the submission's fence. Part of the commit.
    pub fn publish(&mut self, fence: &Fence) {
        self.after.publish(fence);
    }
}
