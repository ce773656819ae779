// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A job's use of an object, from the check of the job until its fence has signalled.

use kernel::{
    prelude::*,
    sync::{
        aref::ARef,
        Arc, //
    },
};

use crate::{
    corner::{
        fence::Fence,
        resv, //
    },
    family::{
        space::GpuAddr,
        Family, //
    },
    memory::{
        backing::Backing, //
        gtt,
        object::{
            At,
            Bo,
            Object, //
        },
        reached::{
            self,
            Located, //
        },
        renew::renew,
    },
    portable::replay::Content, //
};

/// Where an object may be for the GPU during a job.
#[derive(Clone, Copy, Debug)]
pub struct Places {
    /// In VRAM. If it may be there, it should be there.
    pub vram: bool,
    /// In system memory.
    pub system: bool,
}

/// A job's use of an object.
///
/// It holds a reference. From [`Use::place`] on the object keeps its address. Dropping it may sleep.
pub struct Use<F: Family> {
    object: ARef<Bo<F>>,
    addr: GpuAddr,
    placed: bool,
    /// The backing of an object that was placed in system pages. It keeps its address.
    backing: Option<Arc<Backing>>,
    /// For an object that is a process's memory: the number of the pages that the job is going to use.
    number: usize,
    /// When the object was placed, the result of its clear was not known yet.
    clearing: bool,
    writes: bool,
    /// The job wants the object in VRAM.
    vram: bool,
    /// The job can use the object in VRAM only.
    needs_vram: bool,
}

// SAFETY: `kernel::drm` 7.3 does not say it, but any thread may use and release an object: its reference count is
// atomic, its C part has its own locks, and its driver part is `Send` and `Sync`.
unsafe impl<F: Family> Send for Use<F> {}

impl<F: Family> Use<F> {
    /// Make a use without an address. `writes` is set as far as is known. `vram` is set if the job wants the object
    /// in VRAM. [`Use::again`] may set both later.
    pub fn new(object: ARef<Bo<F>>, writes: bool, vram: bool) -> Self {
        Self {
            object,
            addr: 0,
            placed: false,
            backing: None,
            number: 0,
            clearing: false,
            writes,
            vram,
            needs_vram: false,
        }
    }

    /// Return the object.
    pub fn object(&self) -> &Bo<F> {
        &self.object
    }

    /// Return the object, if it should be in VRAM for the job and is not.
    pub(crate) fn astray(&self) -> Option<&ARef<Bo<F>>> {
        (self.vram && self.object.is_astray()).then_some(&self.object)
    }

    /// Note that the job uses the object in another way, too. It writes the object if any of the uses does. It wants the
    /// object in VRAM if any of them does.
    #[inline]
    pub fn again(&mut self, writes: bool, vram: bool) {
        self.writes |= writes;
        self.vram |= vram;
    }

    /// Return whether the job writes the object.
    pub fn writes(&self) -> bool {
        self.writes
    }

    /// Note that the job writes the object.
    pub fn set_writes(&mut self) {
        self.writes = true;
    }

    /// Note that the job can use the object in VRAM only.
    pub fn set_needs_vram(&mut self) {
        self.needs_vram = true;
    }

    /// Return whether the job can use the object in VRAM only.
    pub(crate) fn needs_vram(&self) -> bool {
        self.needs_vram
    }

    /// Return the object, if it is in VRAM.
    pub(crate) fn in_vram(&self) -> Option<&ARef<Bo<F>>> {
        self.object.vram().is_some().then_some(&self.object)
    }

    /// Return the object, if the job can use it in VRAM only and it is elsewhere.
    pub(crate) fn misplaced(&self) -> Option<&ARef<Bo<F>>> {
        (self.needs_vram && self.object.vram().is_none()).then_some(&self.object)
    }

    /// Pin the pages of an object that is the calling process's memory. The caller holds no lock.
    ///
    /// # Errors
    ///
    /// As [`UserMemory::fetch`].
    pub fn fetch(&mut self) -> Result {
        let Some(user) = self.object.user() else {
            return Ok(());
        };
        let At::System(backing) = self.object.at() else {
            return Err(EINVAL);
        };
        self.number = user.fetch(backing.pages.number())?;
        Ok(())
    }

    /// Return whether the object's pinned pages are still current. This can change unless the invalidation lock is
    /// held.
    pub fn is_current(&self) -> bool {
        let user = self.object.user();
        user.is_none_or(|user| user.is_current(self.number))
    }

    /// Return whether the clear of the object has failed. This does not change until the object is placed again. Any
    /// context but interrupts.
    pub fn is_lost(&self) -> bool {
        self.object.content().is_lost()
    }

    /// Note that the job that clears the object is not executed any more. Its fence has not signalled yet.
    pub fn doom(&self) {
        self.object.doom();
    }

    /// Return whether the object's clear was cancelled ([`Use::doom`]) while this job was on the ring. Any context.
    pub fn is_doomed(&self) -> bool {
        self.object.is_doomed()
    }

    /// Make changes of the object's memory wait for `fence`. The caller holds the invalidation lock.
    pub fn guard(&self, fence: &Fence) {
        if let Some(user) = self.object.user() {
            user.guard(fence);
        }
    }

    /// Give the object an address for the job. The caller has locked its reservation. A second call does nothing.
    /// `now` is the time by which idle objects are found (see [`Memory::now`]). `shared` says whether clients share the
    /// address space. If they do not, an object in system pages is given no address in the window. Clients reach it from
    /// then on ([`reached`]).
    ///
    /// Return whether [`Use::is_lost`] may become true, because the object is being cleared.
    ///
    /// The use is dropped when the job's fence has signalled, or when there will be no job.
    ///
    /// # Errors
    ///
    /// `ENODEV` after unbind; `ENOSPC` if the GTT window has no room between the objects in use, or if other jobs use old
    /// pages of a process's memory, both of which may change when other [`Use`]s are dropped; `EIO` if the device cannot
    /// reach the object's pages, or if the object is being made; `EAGAIN` if a process has changed memory that the job
    /// uses; `EINTR` if the process is being killed; `ENOMEM`.
    pub fn place(&mut self, now: u64, shared: bool) -> Result<bool> {
        if self.placed {
            return Ok(self.clearing);
        }
        // Most objects have been cleared long ago, and stay so.
        self.clearing = self.object.content() != Content::Own;
        if self.clearing {
            renew(&self.object)?;
            self.object.check()?;
        }
        // It stays there under the reservation.
        match self.object.vram() {
            Some(start) => {
                self.object.set_reached();
                self.addr = start;
            }
            None if shared => self.place_pages(now)?,
            None => self.reach_pages()?,
        }
        self.object.set_used(now);
        self.placed = true;
        Ok(self.clearing)
    }

    /// As [`Use::place`], for an object in system pages.
    fn place_pages(&mut self, now: u64) -> Result {
        let At::System(backing) = self.object.at() else {
            return Err(EIO);
        };
        let gtt = self.object.memory().gtt();
        if let Some(user) = self.object.user() {
            // Pages that have changed already cannot be used.
            if !user.is_current(self.number) {
                return Err(EAGAIN);
            }
            drop(gtt::renew(gtt, &backing, self.number)?);
        }
        self.addr = match backing.window.again(now) {
            Some(addr) => addr,
            None => {
                let addr = gtt::place(gtt, &backing, &*self.object, now)?;
                Object::has_pages(&self.object);
                addr
            }
        };
        self.backing = Some(backing);
        Ok(())
    }

    /// As [`Use::place`], for an object in system pages that needs no address in the window.
    fn reach_pages(&mut self) -> Result {
        let At::System(backing) = self.object.at() else {
            return Err(EIO);
        };
        let memory = self.object.memory();
        if let Some(user) = self.object.user() {
            if !user.is_current(self.number) {
                return Err(EAGAIN);
            }
            if backing.pages.number() != Some(self.number) {
                if !resv::wait(&*self.object, 0)? {
                    return Err(ENOSPC);
                }
                self.object.displaced(&At::System(backing.clone()));
                drop(gtt::renew(memory.gtt(), &backing, self.number)?);
            }
        }
        reached::begin(memory.reached(), &backing, &*self.object)?;
        Object::has_pages(&self.object);
        Ok(())
    }

    /// Pass the place of the object to `enter`, which writes it into page tables of clients. Called after
    /// [`Use::place`].
    ///
    /// # Errors
    ///
    /// The errors of `enter`; `EINVAL` if the object is not placed.
    pub fn locate(&self, enter: impl FnOnce(&Located<'_>) -> Result) -> Result {
        match self.object.at() {
            _ if !self.placed => Err(EINVAL),
            At::Vram { start, size } => {
                let offset = start - self.object.memory().layout().vram.start;
                enter(&Located::in_vram(offset, size))
            }
            At::System(backing) => enter(&Located::in_system(&backing)),
        }
    }

    /// Give the address back, because there is no job for it.
    pub fn leave(&mut self) {
        self.placed = false;
        if let Some(backing) = self.backing.take() {
            backing.window.leave();
        }
    }

    /// Return the address of the object's first byte where clients share the address space, `None` before
    /// [`Use::place`].
    pub fn addr(&self) -> Option<GpuAddr> {
        self.placed.then_some(self.addr)
    }
}

impl<F: Family> Drop for Use<F> {
    fn drop(&mut self) {
        self.leave();
    }
}
