// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Third step: all objects are locked.
//!
//! No other thread adds fences to them or moves them now. None of them has a pending fence that this GPU's rings do
//! not order ([`super::others`]). User memory is not accessed from here on, because a page fault on a mapping of a
//! locked object would wait for ever. From here on the submission waits only for jobs of this GPU, which the watchdog
//! ends.

use kernel::prelude::*;

use crate::{
    corner::exec,
    family::{
        isolation::Isolation,
        Family,
        Note, //
    },
    memory::{
        object::Bo,
        usage::Use, //
    },
    portable::residue::Residue,
    running::Running,
    submit::{
        addresses::Addresses,
        placed::Placed, //
    }, //
};

/// A proven submission with locked objects.
pub struct Locked<'e, F: Family, I: Isolation> {
    pub(super) words: &'e mut [u32],
    pub(super) fixups: &'e [I::Fixup],
    /// For each entry that a fixup may name, the index of its use.
    pub(super) targets: &'e [u32],
    pub(super) client: &'e I::Client,
    pub(super) residue: &'e Residue,
    pub(super) uses: &'e mut KVVec<Use<F>>,
    /// An object is a process's memory.
    pub(super) user: bool,
    pub(super) locked: exec::Locked<'e, Bo<F>>,
}

impl<'e, F: Family, I: Isolation<Note = Note<F>>> Locked<'e, F, I> {
    /// Return the uses of the objects.
    pub fn uses(&self) -> &[Use<F>] {
        self.uses
    }

    /// Give every object an address, and write the addresses into the commands, or let `isolation` enter the objects
    /// in the client's page tables. Objects that should be in VRAM have been moved there before, within a budget
    /// ([`crate::residency::to_vram`]). Waits if there is no room between the objects of jobs under way.
    ///
    /// # Errors
    ///
    /// `ENOMEM` if these objects do not fit together; `ERESTARTSYS` if a signal arrives; `EBUSY` after 30 s;
    /// otherwise as [`Use::place`] and [`Isolation::enter`].
    pub fn place(self, running: &Running<'_, F>, isolation: &'e I) -> Result<Placed<'e, F, I>> {
        let Self {
            words,
            fixups,
            targets,
            client,
            residue,
            uses,
            user,
            locked,
        } = self;
        let mut addresses = Addresses {
            uses,
            inside: running.data().placing.enter(),
            shared: I::SHARED,
            clearing: false,
        };
        match addresses.place(running) {
            Err(e) if e == ENOSPC => addresses.place_in_turn(running)?,
            result => result?,
        }
        // Neighbours often name the same entry.
        let (mut entry, mut addr) = (usize::MAX, 0);
        for &fixup in fixups {
            if I::target(fixup) != entry {
                entry = I::target(fixup);
                let target = *targets.get(entry).ok_or(EINVAL)?;
                let object = addresses.uses.get(target as usize).ok_or(EINVAL)?;
                addr = object.addr().ok_or(EINVAL)?;
            }
            I::place(fixup, addr, words)?;
        }
        if !I::SHARED {
            for item in addresses.uses.iter() {
                item.locate(|object| isolation.enter(client, item.object().note(), object))?;
            }
        }
        Ok(Placed {
            words,
            client,
            residue,
            isolation,
            addresses,
            user,
            locked,
        })
    }
}
