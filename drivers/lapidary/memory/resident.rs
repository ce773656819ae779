// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Residency: system pages that are held in memory and mapped for the device.
//!
//! The pages of an object are held from when the CPU or the GPU first need them. They are released when the object is
//! freed or moves, or when the system needs them back. The page tables of the GPU that have entries for the pages are
//! their *users*. From the first user to the last, the pages are mapped for the device's DMA. Pages with users are
//! neither given back nor exchanged.
//!
//! This file does not depend on the kind of the users. The GTT window is one user, from when the object is given
//! addresses until it loses them, however many jobs use the addresses ([`super::gtt`]). An address space of a client
//! that maps the object would be another user, and would need no window.
//!
//! The lock is taken after that of a page table. No memory is allocated under it.

use kernel::{
    device::{
        Bound,
        Device, //
    },
    dma::DmaAddress,
    drm::gem::IntoGEMObject,
    new_mutex,
    prelude::*,
    sync::{
        atomic::{
            Atomic,
            Relaxed, //
        },
        lock::mutex::MutexGuard,
        Arc,
        Mutex, //
    }, //
};

use crate::{
    corner::{
        pages::Pages,
        userptr::{
            UserMemory,
            UserPages, //
        },
        wc, //
    },
    memory::source::Source, //
};

/// Pages that are read under the lock at a time.
const SOME: usize = 16;

/// The system pages of one object.
#[pin_data]
pub(crate) struct Resident {
    #[pin]
    source: Mutex<Source>,
    /// How many pages are held in memory.
    held: Atomic<usize>,
    /// The number of page tables that have entries for the pages. Written under the lock.
    users: Atomic<u32>,
}

/// The pages with their lock held.
pub(crate) struct Locked<'r> {
    source: MutexGuard<'r, Source>,
    resident: &'r Resident,
}

impl Resident {
    /// Make pages from `source`, without users.
    pub(crate) fn new(source: Source) -> impl PinInit<Self> {
        pin_init!(Self {
            source <- new_mutex!(source),
            held: Atomic::new(0),
            users: Atomic::new(0),
        })
    }

    /// Lock them. May sleep.
    pub(crate) fn lock(&self) -> Locked<'_> {
        Locked {
            source: self.source.lock(),
            resident: self,
        }
    }

    /// Trylock them.
    pub(crate) fn try_lock(&self) -> Option<Locked<'_>> {
        Some(Locked {
            source: self.source.try_lock()?,
            resident: self,
        })
    }

    /// Return whether the pages are mapped for the device. Without the lock the answer is a guess.
    pub(crate) fn is_mapped(&self) -> bool {
        self.users.load(Relaxed) != 0
    }

    /// Return the number of pages that are held in memory. Without the lock the answer is a guess.
    pub(crate) fn held(&self) -> usize {
        self.held.load(Relaxed)
    }

    /// Report the page frame numbers of the object's own pages, from page `first` on, if the pages are held.
    pub(crate) fn frames(&self, first: usize, report: &mut dyn FnMut(usize) -> bool) {
        let mut index = first;
        loop {
            // Outside of the lock, because `report` may allocate.
            let mut some = [0; SOME];
            let mut count = 0;
            if let Some(pages) = self.lock().source.own() {
                let frames = (index..).map_while(|index| pages.frame(index));
                for (to, frame) in some.iter_mut().zip(frames) {
                    *to = frame;
                    count += 1;
                }
            }
            for &frame in some.iter().take(count) {
                if !report(frame) {
                    return;
                }
            }
            if count < SOME {
                return;
            }
            index += count;
        }
    }

    /// Hold the pages of `object`, whose reservation the caller holds.
    ///
    /// # Errors
    ///
    /// As [`Pages::get`].
    pub(crate) fn hold<O: IntoGEMObject>(&self, object: &O) -> Result {
        if matches!(*self.lock().source, Source::Own(None)) {
            let pages = Pages::get(object)?;
            self.keep(pages);
        }
        Ok(())
    }

    /// Return the number of the process's pages that are held, if any are.
    pub(crate) fn number(&self) -> Option<usize> {
        match &*self.lock().source {
            Source::User(_, pages) => pages.as_ref().map(UserPages::number),
            _ => None,
        }
    }

    /// Pass the pages to `show`, if they are the object's own and held. Return whether they are. `show` does not
    /// allocate.
    pub(crate) fn show(&self, show: &mut dyn FnMut(&Pages)) -> bool {
        self.lock().source.own().map(show).is_some()
    }

    /// Fill the pages of `object`, whose reservation the caller holds, from device memory.
    ///
    /// # Errors
    ///
    /// As [`Pages::get`] and [`Pages::read_device`].
    pub(crate) fn read_device<O: IntoGEMObject>(
        &self,
        object: &O,
        window: &wc::Window<'_>,
    ) -> Result {
        let mut pages = Pages::get(object)?;
        let result = pages.read_device(window);
        if result.is_err() {
            pages.discard(object);
            return result;
        }
        self.keep(pages);
        Ok(())
    }

    /// Write the content of the pages of `object`, whose reservation the caller holds, to device memory.
    ///
    /// # Errors
    ///
    /// As [`Pages::get`] and [`Pages::write_device`].
    pub(crate) fn write_device<O: IntoGEMObject>(
        &self,
        object: &O,
        window: &wc::Window<'_>,
    ) -> Result {
        self.hold(object)?;
        let mut result = Err(EINVAL);
        self.show(&mut |pages| result = pages.write_device(window));
        result
    }

    /// Hold `pages` from now on.
    fn keep(&self, pages: Pages) {
        self.held.store(pages.len(), Relaxed);
        *self.lock().source = Source::Own(Some(pages));
    }
}

impl Locked<'_> {
    /// Allow one more user to write entries for the pages, which are held. For the first user the pages are mapped
    /// for the device.
    ///
    /// # Errors
    ///
    /// As [`Source::map`].
    pub(crate) fn enter(&mut self, dev: &Device<Bound>) -> Result {
        let users = self.resident.users.load(Relaxed);
        if users == 0 {
            self.source.map(dev)?;
        }
        self.resident.users.store(users + 1, Relaxed);
        Ok(())
    }

    /// End one [`Locked::enter`]. The user's page table has no entry for the pages, and its cache has been flushed.
    /// After the last user the pages are unmapped for the device.
    pub(crate) fn leave(&mut self, dev: &Device<Bound>) {
        let users = self.resident.users.load(Relaxed).saturating_sub(1);
        if users == 0 {
            self.source.unmap(dev);
        }
        self.resident.users.store(users, Relaxed);
    }

    /// Return the addresses for the device, one for each page. Empty without users, unless another driver has mapped
    /// the pages.
    pub(crate) fn addresses(&self) -> &[DmaAddress] {
        self.source.addresses()
    }

    /// Return the process to whose memory the pages belong, and the number of the pages that are held.
    pub(crate) fn process(&self) -> Option<(&Arc<UserMemory>, Option<usize>)> {
        match &*self.source {
            Source::User(memory, pages) => Some((memory, pages.as_ref().map(UserPages::number))),
            Source::Own(_) | Source::Foreign(_) => None,
        }
    }

    /// Hold these pages of the process instead of the returned ones.
    ///
    /// # Errors
    ///
    /// `ENOSPC` while the old pages have users; `EINVAL` if the pages do not belong to a process.
    pub(crate) fn exchange(&mut self, fresh: UserPages) -> Result<Option<UserPages>> {
        if self.resident.is_mapped() {
            return Err(ENOSPC);
        }
        match &mut *self.source {
            Source::User(_, pages) => Ok(pages.replace(fresh)),
            Source::Own(_) | Source::Foreign(_) => Err(EINVAL),
        }
    }

    /// Stop holding the pages and pass them to the caller. `None` if they are not the object's own, not held, or have
    /// users.
    pub(crate) fn give_up(&mut self) -> Option<Pages> {
        if self.resident.is_mapped() {
            return None;
        }
        let pages = self.source.take_own();
        self.resident.held.store(0, Relaxed);
        pages
    }

    /// Take all of it, because the object is being freed. There are no users.
    pub(crate) fn end(mut self) -> Source {
        core::mem::replace(&mut *self.source, Source::Own(None))
    }
}

#[kunit_tests(lapidary_resident)]
mod tests {
    use super::*;
    use crate::corner::gem_kunit::Machine;
    use kernel::page::PAGE_SIZE;

    fn own() -> Result<Pin<KBox<Resident>>> {
        KBox::pin_init(Resident::new(Source::Own(None)), GFP_KERNEL)
    }

    #[test]
    fn pages_are_mapped_from_the_first_user_to_the_last() -> Result {
        let machine = Machine::new()?;
        let object = machine.object(2 * PAGE_SIZE)?;
        let resident = own()?;
        // There are no pages to map.
        assert_eq!(resident.lock().enter(machine.dev()), Err(EINVAL));
        assert!(!resident.is_mapped());
        resident.hold(&*object)?;
        assert!(resident.held() == 2 && resident.lock().addresses().is_empty());
        resident.lock().enter(machine.dev())?;
        let first = resident.lock().addresses().first().copied();
        assert!(first.is_some() && resident.lock().addresses().len() == 2);
        resident.lock().enter(machine.dev())?;
        resident.lock().leave(machine.dev());
        assert!(resident.is_mapped());
        assert_eq!(resident.lock().addresses().first().copied(), first);
        resident.lock().leave(machine.dev());
        assert!(!resident.is_mapped() && resident.lock().addresses().is_empty());
        assert_eq!(resident.held(), 2);
        resident.lock().end().put(&*object);
        Ok(())
    }

    #[test]
    fn pages_with_users_are_not_given_back() -> Result {
        let machine = Machine::new()?;
        let object = machine.object(PAGE_SIZE)?;
        let resident = own()?;
        resident.hold(&*object)?;
        resident.lock().enter(machine.dev())?;
        assert!(resident.lock().give_up().is_none());
        assert_eq!(resident.held(), 1);
        resident.lock().leave(machine.dev());
        let pages = resident.lock().give_up().ok_or(EINVAL)?;
        assert_eq!((pages.len(), resident.held()), (1, 0));
        pages.put(&*object);
        Ok(())
    }

    #[test]
    fn a_locked_one_is_not_waited_for() -> Result {
        let resident = own()?;
        let locked = resident.lock();
        assert!(resident.try_lock().is_none());
        drop(locked);
        assert!(resident.try_lock().is_some());
        Ok(())
    }
}
