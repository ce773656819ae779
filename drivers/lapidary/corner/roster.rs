// SPDX-License-Identifier: GPL-2.0 OR MIT

//! All objects of a device, without keeping them.
//!
//! Whoever looks for an object that could give way to another must find it without holding a reference to every
//! object there is. A [`Roster`] knows them all: an object is entered when it is made and struck out by whoever
//! drops the last reference, before anything of it goes. So what is on the list is memory that can be looked at
//! while the list is locked, and [`Entry::keep`] turns it into a reference unless it is on its way out.

use core::{
    ops::Deref,
    ptr::NonNull, //
};

use kernel::{
    drm::gem::{
        self,
        IntoGEMObject, //
    },
    prelude::*,
    rbtree::{
        RBTree,
        RBTreeNodeReservation, //
    },
    sync::{
        aref::ARef,
        lock::mutex::MutexGuard,
        Arc,
        Mutex, //
    },
};

use crate::{
    corner::{
        extra,
        gem::Backed, //
    },
    lock::shared_mutex,
};

struct Name<T: Backed>(NonNull<gem::Object<T>>);

// SAFETY: A name is used to look at an object, which any thread may do.
unsafe impl<T: Backed> Send for Name<T> {}

struct List<T: Backed> {
    /// By address in kernel memory.
    names: RBTree<usize, Name<T>>,
    len: usize,
}

/// A list of objects.
///
/// Locking: an inner mutex. No memory is allocated under it, so that it may be taken where memory is reclaimed.
///
/// # Invariants
///
/// Every name points to an object whose memory is valid at least until it is struck out.
#[pin_data]
pub struct Roster<T: Backed> {
    #[pin]
    list: Mutex<List<T>>,
}

/// Memory for one entry.
pub(super) struct Blank<T: Backed>(RBTreeNodeReservation<usize, Name<T>>);

impl<T: Backed> Roster<T> {
    /// An empty list.
    pub fn new() -> Result<Arc<Self>> {
        Arc::pin_init(
            pin_init!(Self {
                list <- shared_mutex!(
                    List {
                        names: RBTree::new(),
                        len: 0,
                    },
                    "roster.list",
                ),
            }),
            GFP_KERNEL,
        )
    }

    /// Memory for one entry. Errors: `ENOMEM`.
    pub(super) fn blank() -> Result<Blank<T>> {
        Ok(Blank(RBTreeNodeReservation::new(GFP_KERNEL)?))
    }

    /// Enters an object.
    ///
    /// # Safety
    ///
    /// It is struck out before its memory is freed, and not entered twice.
    pub(super) unsafe fn enter(&self, object: &gem::Object<T>, blank: Blank<T>) {
        // INVARIANT: By the caller's promise.
        let node = blank.0.into_node(name(object), Name(NonNull::from(object)));
        let mut list = self.list.lock();
        list.len += 1;
        let old = list.names.insert(node);
        drop(list);
        drop(old);
    }

    /// Strikes an object out, if it is on the list.
    pub(super) fn strike(&self, object: &gem::Object<T>) {
        let key = name(object);
        let mut list = self.list.lock();
        let old = list.names.remove_node(&key);
        list.len -= usize::from(old.is_some());
        drop(list);
        drop(old);
    }

    /// Locks the list.
    pub fn lock(&self) -> Names<'_, T> {
        Names(self.list.lock())
    }

    /// Locks the list if nobody else has locked it.
    pub fn try_lock(&self) -> Option<Names<'_, T>> {
        self.list.try_lock().map(Names)
    }
}

/// A locked list.
pub struct Names<'a, T: Backed>(MutexGuard<'a, List<T>>);

impl<T: Backed> Names<'_, T> {
    /// The number of objects.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.0.len
    }

    /// The object with this [`name`], if it is on the list.
    pub fn find(&self, name: usize) -> Option<Entry<'_, T>> {
        let name = self.0.names.get(&name)?;
        // SAFETY: By the invariant the memory is valid while the list is locked.
        Some(Entry(unsafe { name.0.as_ref() }))
    }

    /// Looks at all of them, in no particular order.
    ///
    /// References that `look` takes must not be dropped before the list is unlocked.
    pub fn each(&self, look: &mut dyn FnMut(Entry<'_, T>)) {
        for name in self.0.names.values() {
            // SAFETY: By the invariant the memory is valid while the list is locked.
            look(Entry(unsafe { name.0.as_ref() }));
        }
    }
}

/// Tells an object from all others that are on a list at the same time. One that comes later may have the same name.
pub fn name<T: Backed>(object: &gem::Object<T>) -> usize {
    core::ptr::from_ref(object).addr()
}

/// An object on a locked list: its data can be looked at.
pub struct Entry<'a, T: Backed>(&'a gem::Object<T>);

impl<T: Backed> Deref for Entry<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0
    }
}

impl<T: Backed> Entry<'_, T> {
    /// See [`name`].
    pub fn name(&self) -> usize {
        name(self.0)
    }

    /// A reference to the object; `None` if the last one is gone.
    pub fn keep(&self) -> Option<ARef<gem::Object<T>>> {
        // SAFETY: The memory is valid.
        if !unsafe { extra::lapidary_gem_get_unless_zero(self.0.as_raw()) } {
            return None;
        }
        // SAFETY: The reference was taken just now.
        Some(unsafe { ARef::from_raw(NonNull::from(self.0)) })
    }
}

#[kunit_tests(lapidary_roster)]
mod tests {
    use super::*;
    use crate::corner::gem_kunit::Machine;
    use kernel::page::PAGE_SIZE;

    #[test]
    fn objects_are_listed_until_their_last_reference_goes() -> Result {
        let machine = Machine::new()?;
        let first = machine.object(PAGE_SIZE)?;
        let second = machine.object(PAGE_SIZE)?;
        assert_eq!(machine.roster.lock().len(), 2);
        let names = [name(&first), name(&second)];
        for wanted in names {
            let found = machine.roster.lock().find(wanted).map(|entry| entry.name());
            assert_eq!(found, Some(wanted));
        }
        let kept = {
            let mut kept = KVec::with_capacity(2, GFP_KERNEL)?;
            let names = machine.roster.lock();
            names.each(&mut |entry| drop(kept.push_within_capacity(entry.keep())));
            drop(names);
            assert_eq!(kept.len(), 2);
            kept.remove(0).map_err(|_| EINVAL)?
        };
        drop((first, second));
        // The one that was kept is still there.
        assert_eq!(machine.roster.lock().len(), 1);
        drop(kept);
        assert_eq!(machine.roster.lock().len(), 0);
        assert!(machine.roster.lock().find(names[0]).is_none());
        machine.roster.lock().each(&mut |_| unreachable!());
        Ok(())
    }

    #[test]
    fn a_locked_list_is_not_tried_for_in_vain() -> Result {
        let machine = Machine::new()?;
        let guard = machine.roster.lock();
        assert!(machine.roster.try_lock().is_none());
        drop(guard);
        assert!(machine.roster.try_lock().is_some());
        Ok(())
    }
}
