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
    submit::{
        placed::{
            Placed,
            Taken, //
        },
        placing::Patience, //
    },
};

/// How long to wait for a fence of another driver, in milliseconds.
const FOREIGN_MS: u32 = 30_000;
/// How long to wait for the objects of other jobs, in milliseconds.
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
        let mut left = FOREIGN_MS / SLICE_MS;
        for item in self.uses.iter() {
            if only && self.locked.is_private(item.object()) {
                continue;
            }
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

    /// Brings objects to VRAM that should be there, gives every object an address and writes the addresses into the
    /// commands. Waits if there is no room between the objects of jobs under way.
    ///
    /// # Errors
    ///
    /// `ENOMEM` if these objects do not fit together, `ERESTARTSYS` if a signal arrives, `EBUSY` after 30 s; otherwise
    /// as [`Use::place`].
    pub fn place(self, running: &Running<'_, F>) -> Result<Placed<'e, F>> {
        let Self {
            words,
            fixups,
            uses,
            locked,
        } = self;
        pressure::bring_home(running, uses)?;
        let mut taken = Taken {
            uses,
            inside: running.shared().placing.enter(),
        };
        match taken.place(running) {
            Err(e) if e == ENOSPC => taken.place_in_turn(running)?,
            result => result?,
        }
        for &fixup in fixups {
            let object = taken.uses.get(I::target(fixup)).ok_or(EINVAL)?;
            I::place(fixup, object.addr().ok_or(EINVAL)?, words)?;
        }
        Ok(Placed {
            words,
            taken,
            locked,
        })
    }
}

impl<F: Family> Taken<'_, F> {
    /// Gives every object an address. Errors: as [`Use::place`].
    fn place(&mut self, running: &Running<'_, F>) -> Result {
        let now = running.shared().memory.now();
        self.uses.iter_mut().try_for_each(|item| item.place(now))
    }

    /// The same where there is no room yet. Errors: as [`Locked::place`].
    fn place_in_turn(&mut self, running: &Running<'_, F>) -> Result {
        let patience = Patience::new(ROOM_MS);
        self.give_back();
        self.inside.take_turn(&patience)?;
        loop {
            let (gone, dropped) = (self.inside.gone(), running.dropped());
            match self.place(running) {
                Err(e) if e == ENOSPC => {}
                result => return result,
            }
            if !self.inside.wait_for_others(gone, &patience)? {
                running.wait_for_drop(dropped, patience.left()?)?;
            }
        }
    }
}
