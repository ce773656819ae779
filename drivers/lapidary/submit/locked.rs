// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Fourth step: all objects are locked.
//!
//! Nobody else adds fences to them or moves them now. User memory is not touched from here on: a page fault on a
//! mapping of a locked object would wait for ever.

use kernel::prelude::*;

use crate::{
    corner::exec,
    driver::Shared,
    family::{
        Family,
        Isolation, //
    },
    memory::{
        pressure,
        Bo,
        Use, //
    },
    running::Running,
    submit::placed::Placed,
};

/// How long to wait for a fence of another driver, in milliseconds.
const FOREIGN_MS: u32 = 30_000;
/// How long to wait for the objects of another job, in milliseconds.
const ROOM_MS: u32 = 30_000;
/// How long to wait before looking whether the device is still there.
const SLICE_MS: u32 = 100;

/// A proven submission with locked objects.
pub struct Locked<'e, F: Family, I: Isolation> {
    pub(super) words: &'e mut [u32],
    pub(super) fixups: &'e [I::Fixup],
    pub(super) uses: &'e mut KVVec<Use<F>>,
    pub(super) locked: exec::Locked<'e, Bo<F>>,
}

impl<'e, F: Family, I: Isolation> Locked<'e, F, I> {
    /// Waits for work of others on the objects. Fences of context `own` are in order on the ring anyway; if it is the
    /// `only` one of this GPU, objects that no other driver knows have no others.
    ///
    /// # Errors
    ///
    /// `ERESTARTSYS` if a signal arrives, `EBUSY` after 30 s, `ENODEV` at unbind.
    pub fn wait(&self, shared: &Shared<F>, own: u64, only: bool) -> Result {
        for item in self.uses.iter() {
            if only && self.locked.is_private(item.object()) {
                continue;
            }
            let mut left = FOREIGN_MS / SLICE_MS;
            while let Some(fence) = self.locked.foreign(item.object(), item.writes(), own) {
                while !fence.wait(true, SLICE_MS)? {
                    if shared.gone() {
                        return Err(ENODEV);
                    }
                    left = left.checked_sub(1).ok_or(EBUSY)?;
                }
            }
        }
        Ok(())
    }

    /// Brings objects to VRAM that should be there, gives every object an address and writes the addresses into the commands. Waits if there is no room between the
    /// objects of jobs under way.
    ///
    /// # Errors
    ///
    /// `ENOMEM` if these objects do not fit together, `ERESTARTSYS` if a signal arrives, `EBUSY` after 30 s; otherwise
    /// as [`Use::place`].
    pub fn place(self, running: &Running<'_, F>) -> Result<Placed<'e, F>> {
        pressure::bring_home(running, self.uses)?;
        let now = running.shared().memory.now();
        let mut dropped = running.dropped();
        for item in self.uses.iter_mut() {
            while let Err(error) = item.place(now) {
                if error != ENOSPC {
                    return Err(error);
                }
                running.wait_for_drop(dropped, ROOM_MS)?;
                dropped = running.dropped();
            }
        }
        for &fixup in self.fixups {
            let object = self.uses.get(I::target(fixup)).ok_or(EINVAL)?;
            I::place(fixup, object.addr().ok_or(EINVAL)?, self.words)?;
        }
        Ok(Placed {
            words: self.words,
            uses: self.uses,
            locked: self.locked,
        })
    }
}
