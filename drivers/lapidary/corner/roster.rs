// SPDX-License-Identifier: GPL-2.0 OR MIT

//! All objects of a device, without references to them.
//!
//! Eviction must find a victim without holding a reference to every object. A [`Roster`] lists all objects. An object
//! is entered when it is made. It is removed when its last reference is dropped, before any part of it is freed. So
//! the memory of a listed object can be read while the list is locked. [`Entry::keep`] turns an entry into a
//! reference, unless the object is being freed.
//!
//! # Order
//!
//! Each object has one [`Place`] in one tree. Objects in device memory stand in the order of their addresses. Objects
//! whose system pages can be given back stand in the order in which they were used, and [`Names::next`] finds the
//! least recently used. A job that uses an object does not touch the list. The object keeps its place and only
//! records a later time. [`Names::next`] sees that when it reaches the object, and moves the object to its new place.
//! No object was used earlier than its place says, so the order is exact all the same. A use costs one store, and one
//! move in the tree if memory is needed afterwards.
//!
//! Only [`Names::each`] walks over all objects. The number of pages that can be given back is counted.

use core::{
    ops::Deref,
    ptr::NonNull, //
};

use kernel::{
    drm::gem::{
        self,
        BaseObject,
        IntoGEMObject, //
    },
    page::PAGE_SIZE,
    prelude::*,
    rbtree::{
        RBTree,
        RBTreeNodeReservation, //
    },
    sync::{
        aref::ARef,
        atomic::{
            Atomic,
            Relaxed, //
        },
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
    portable::placement::Way, //
};

/// Where an object stands among all of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// Neither in device memory nor with pages that can be given back.
    Apart,
    /// In device memory, from this address on.
    Device(u64),
    /// With those whose system pages can be given back; it was last used at this time.
    Pages(u64),
}

/// Position of the queue number in a key, above address or time. The queue of the pages has the greatest number.
const QUEUE: u32 = 62;

impl Place {
    const fn queue(self) -> u64 {
        match self {
            Self::Apart => 0,
            Self::Device(_) => 1,
            Self::Pages(_) => 2,
        }
    }

    /// Return the key. It grows with the address, and with the time.
    const fn key(self) -> u64 {
        let value = match self {
            Self::Apart => 0,
            Self::Device(value) | Self::Pages(value) => value,
        };
        self.queue() << QUEUE | value & ((1 << QUEUE) - 1)
    }
}

/// The place of an object on its list, as a field of the object.
///
/// Written with the list locked.
pub struct Seat(Atomic<u64>);

impl Seat {
    /// Make a seat apart from all queues.
    pub const fn new() -> Self {
        Self(Atomic::new(Place::Apart.key()))
    }

    /// Return whether this is the right seat for `place`. In the queue of the pages the time does not matter (see
    /// [`Names::next`]).
    pub fn suits(&self, place: Place) -> bool {
        let key = self.0.load(Relaxed);
        match place {
            Place::Pages(_) => key >> QUEUE == place.queue(),
            _ => key == place.key(),
        }
    }
}

impl Default for Seat {
    fn default() -> Self {
        Self::new()
    }
}

struct Name<T: Backed>(NonNull<gem::Object<T>>);

// SAFETY: A name is used to look at an object, which any thread may do.
unsafe impl<T: Backed> Send for Name<T> {}

struct List<T: Backed> {
    /// Ordered by place, and then by address in kernel memory.
    names: RBTree<Key, Name<T>>,
    len: usize,
}

/// A list of objects.
///
/// Locking: an inner mutex. No memory is allocated under it, so it may be taken in reclaim.
///
/// # Invariants
///
/// Every name points to an object whose memory is valid at least until the object is removed. It stands where the
/// object's seat says.
#[pin_data]
pub struct Roster<T: Backed> {
    #[pin]
    list: Mutex<List<T>>,
    /// Pages of the objects whose pages can be given back.
    pages: Atomic<usize>,
    /// Objects in device memory.
    device: Atomic<usize>,
}

/// Memory for one entry.
pub(super) struct Blank<T: Backed>(RBTreeNodeReservation<Key, Name<T>>);

impl<T: Backed> Roster<T> {
    /// Make an empty list.
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
                pages: Atomic::new(0),
                device: Atomic::new(0),
            }),
            GFP_KERNEL,
        )
    }

    /// Allocate memory for one entry.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub(super) fn blank() -> Result<Blank<T>> {
        Ok(Blank(RBTreeNodeReservation::new(GFP_KERNEL)?))
    }

    /// Enter an object.
    ///
    /// # Safety
    ///
    /// The object is removed before its memory is freed, and it is not entered twice.
    pub(super) unsafe fn enter(&self, object: &gem::Object<T>, blank: Blank<T>) {
        let mut list = self.list.lock();
        let key = object.place().key();
        object.seat().0.store(key, Relaxed);
        self.count(object, 0, key);
        // INVARIANT: By the caller's promise.
        let node = blank.0.into_node((key, name(object)), Name(object.into()));
        list.len += 1;
        let old = list.names.insert(node);
        drop(list);
        drop(old);
    }

    /// Remove an object, if it is on the list.
    pub(super) fn strike(&self, object: &gem::Object<T>) {
        let mut list = self.list.lock();
        let key = object.seat().0.load(Relaxed);
        let old = list.names.remove_node(&(key, name(object)));
        if old.is_some() {
            list.len -= 1;
            self.count(object, key, 0);
        }
        drop(list);
        drop(old);
    }

    /// Move the object to where [`Backed::place`] says, if it is on the list. To be called when the place has
    /// changed, except for the time of its last use. The caller holds the lock that keeps the object in its place.
    pub fn arrange(&self, object: &gem::Object<T>) {
        if !object.seat().suits(object.place()) {
            let mut list = self.list.lock();
            self.seat(&mut list, object, object.place().key());
        }
    }

    /// Give an object another seat.
    fn seat(&self, list: &mut List<T>, object: &gem::Object<T>, key: u64) {
        let old = object.seat().0.load(Relaxed);
        if let Some(node) = list.names.remove_node(&(old, name(object))) {
            object.seat().0.store(key, Relaxed);
            self.count(object, old, key);
            let node = node.into_reservation();
            // INVARIANT: It was on the list, and is on it again.
            list.names
                .insert(node.into_node((key, name(object)), Name(object.into())));
        }
    }

    /// Count that an object moves from one queue to another.
    fn count(&self, object: &gem::Object<T>, from: u64, to: u64) {
        let tell = |place: Place, sum: &Atomic<usize>, amount| {
            let is_in = |key: u64| key >> QUEUE == place.queue();
            match (is_in(from), is_in(to)) {
                (false, true) => sum.add(amount, Relaxed),
                (true, false) => drop(sum.fetch_sub(amount, Relaxed)),
                _ => {}
            }
        };
        tell(Place::Device(0), &self.device, 1);
        tell(Place::Pages(0), &self.pages, object.size() / PAGE_SIZE);
    }

    /// Return the number of objects in device memory. Any context. Exact only while the list is locked.
    pub fn device_len(&self) -> usize {
        self.device.load(Relaxed)
    }

    /// Return the number of pages of the objects whose pages can be given back. Any context.
    pub fn pages(&self) -> usize {
        self.pages.load(Relaxed)
    }

    /// Lock the list.
    pub fn lock(&self) -> Names<'_, T> {
        Names {
            roster: self,
            list: self.list.lock(),
        }
    }

    /// Trylock the list.
    pub fn try_lock(&self) -> Option<Names<'_, T>> {
        Some(Names {
            list: self.list.try_lock()?,
            roster: self,
        })
    }
}

/// A locked list.
///
/// References that are taken while it is locked must not be dropped before it is unlocked.
pub struct Names<'a, T: Backed> {
    roster: &'a Roster<T>,
    list: MutexGuard<'a, List<T>>,
}

impl<T: Backed> Names<'_, T> {
    /// Return the number of objects.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.list.len
    }

    /// Return the object with this key, if there is one.
    pub fn find(&self, key: Key) -> Option<Entry<'_, T>> {
        let name = self.list.names.get(&key)?;
        // SAFETY: By the invariant the memory is valid while the list is locked.
        Some(Entry(unsafe { name.0.as_ref() }))
    }

    /// Call `look` for all objects, in no particular order.
    pub fn each(&self, look: &mut dyn FnMut(Entry<'_, T>)) {
        for name in self.list.names.values() {
            // SAFETY: By the invariant the memory is valid while the list is locked.
            look(Entry(unsafe { name.0.as_ref() }));
        }
    }

    /// Call `look` for the objects in device memory, one neighbour after the other, until it returns `false`. The
    /// walk goes upwards from address `from` on, or downwards from below it. `look` receives the address under which
    /// an object stands.
    pub fn in_device(
        &mut self,
        from: u64,
        way: Way,
        look: &mut dyn FnMut(u64, Entry<'_, T>) -> bool,
    ) {
        let names = &mut self.list.names;
        let first = (Place::Device(from).key(), 0);
        let mut next = if way == Way::Down && names.cursor_lower_bound(&first).is_none() {
            names.cursor_back_mut()
        } else {
            match (way, names.cursor_lower_bound_mut(&first)) {
                (Way::Down, Some(cursor)) => cursor.move_prev(),
                (_, cursor) => cursor,
            }
        };
        while let Some(cursor) = next {
            let (&(key, _), name) = cursor.current();
            let addr = key & ((1 << QUEUE) - 1);
            // SAFETY: By the invariant the memory is valid while the list is locked.
            let entry = Entry(unsafe { name.0.as_ref() });
            if key != Place::Device(addr).key() || !look(addr, entry) {
                return;
            }
            next = match way {
                Way::Up => cursor.move_next(),
                Way::Down => cursor.move_prev(),
            };
        }
    }

    /// Return the least recently used object among those whose pages can be given back. It becomes the last one, as
    /// if it had been used at `now`. So a caller that cannot take its pages does not meet it again at once. `now` is
    /// not before any use.
    ///
    /// Look at `looks` objects at most, and count them. `None` if those were not enough, or if there is no such
    /// object.
    pub fn next(&mut self, now: u64, looks: &mut usize) -> Option<Entry<'_, T>> {
        while let Some(left) = looks.checked_sub(1) {
            let first = (Place::Pages(0).key(), 0);
            let (key, name) = {
                let cursor = self.list.names.cursor_lower_bound(&first)?;
                let (&(key, _), name) = cursor.current();
                (key, name.0)
            };
            *looks = left;
            // SAFETY: By the invariant the memory is valid while the list is locked.
            let object = unsafe { name.as_ref() };
            let used = match object.place() {
                Place::Pages(used) => Place::Pages(used).key(),
                // The object has another place already, and is about to be moved on the list.
                _ => key,
            };
            let roster = self.roster;
            if used <= key {
                roster.seat(&mut self.list, object, Place::Pages(now).key());
                return Some(Entry(object));
            }
            roster.seat(&mut self.list, object, used);
        }
        None
    }
}

/// Where an object stands on its list. A later object may have the same key. An object in device memory keeps its key
/// until it moves.
pub type Key = (u64, usize);

/// Return the present [`Key`] of an object.
pub fn key<T: Backed>(object: &gem::Object<T>) -> Key {
    (object.seat().0.load(Relaxed), name(object))
}

/// Return a number that tells an object from all others that are on a list at the same time.
fn name<T: Backed>(object: &gem::Object<T>) -> usize {
    core::ptr::from_ref(object).addr()
}

/// An object on a locked list. Its data can be read.
pub struct Entry<'a, T: Backed>(&'a gem::Object<T>);

impl<T: Backed> Deref for Entry<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0
    }
}

impl<T: Backed> Entry<'_, T> {
    /// Return the present [`Key`] of the object.
    pub fn key(&self) -> Key {
        key(self.0)
    }

    /// Return a reference to the object, `None` if the last reference is gone.
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
    use crate::corner::gem_kunit::{
        Machine,
        Object, //
    };
    use kernel::drm::gem::Object as Gem;

    #[test]
    fn objects_are_listed_until_their_last_reference_goes() -> Result {
        let machine = Machine::new()?;
        let first = machine.object(PAGE_SIZE)?;
        let second = machine.object(PAGE_SIZE)?;
        assert_eq!(machine.roster.lock().len(), 2);
        let keys = [key(&first), key(&second)];
        for wanted in keys {
            let found = machine.roster.lock().find(wanted).map(|entry| entry.key());
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
        // The object that was kept is still there.
        assert_eq!(machine.roster.lock().len(), 1);
        drop(kept);
        assert_eq!(machine.roster.lock().len(), 0);
        assert!(machine.roster.lock().find(keys[0]).is_none());
        machine.roster.lock().each(&mut |_| unreachable!());
        Ok(())
    }

    /// Make objects of one page, each in its place.
    fn placed(machine: &Machine, places: &[Place]) -> Result<KVec<ARef<Gem<Object>>>> {
        let mut objects = KVec::new();
        for &place in places {
            let object = machine.object(PAGE_SIZE)?;
            object.stand(place);
            machine.roster.arrange(&object);
            objects.push(object, GFP_KERNEL)?;
        }
        Ok(objects)
    }

    #[test]
    fn neighbours_in_device_memory_are_found_in_order() -> Result {
        let machine = Machine::new()?;
        let places = [
            Place::Pages(1),
            Place::Device(0x3000),
            Place::Device(0),
            Place::Apart,
            Place::Device(0x9000),
            Place::Device(0x5000),
        ];
        let objects = placed(&machine, &places)?;
        let walk = |from, way, most: usize| -> Result<KVec<u64>> {
            let mut seen = KVec::with_capacity(8, GFP_KERNEL)?;
            machine.roster.lock().in_device(from, way, &mut |addr, _| {
                drop(seen.push_within_capacity(addr));
                seen.len() < most
            });
            Ok(seen)
        };
        assert!(*walk(0, Way::Up, 8)? == [0, 0x3000, 0x5000, 0x9000]);
        assert!(*walk(0x3001, Way::Up, 8)? == [0x5000, 0x9000]);
        assert!(*walk(0x3000, Way::Up, 2)? == [0x3000, 0x5000]);
        assert!(walk(0x9001, Way::Up, 8)?.is_empty());
        assert!(*walk(0x5000, Way::Down, 8)? == [0x3000, 0]);
        assert!(*walk(u64::MAX >> 2, Way::Down, 1)? == [0x9000]);
        assert!(walk(0, Way::Down, 8)?.is_empty());
        // One object moves, one leaves, and the walk still finds all others.
        objects[1].stand(Place::Device(0x7000));
        machine.roster.arrange(&objects[1]);
        objects[0].stand(Place::Apart);
        machine.roster.arrange(&objects[0]);
        drop(objects);
        let objects = placed(&machine, &places[4..])?;
        assert!(*walk(0, Way::Up, 8)? == [0x5000, 0x9000]);
        assert!(*walk(u64::MAX >> 2, Way::Down, 8)? == [0x9000, 0x5000]);
        drop(objects);
        assert!(walk(0, Way::Up, 8)?.is_empty());
        assert!(walk(u64::MAX >> 2, Way::Down, 8)?.is_empty());
        Ok(())
    }

    /// Return which of `objects` the list returns next.
    fn next(
        machine: &Machine,
        objects: &[ARef<Gem<Object>>],
        now: u64,
        looks: &mut usize,
    ) -> Option<usize> {
        let mut names = machine.roster.lock();
        let entry = names.next(now, looks)?;
        objects
            .iter()
            .position(|object| core::ptr::eq(&**object, entry.0))
    }

    #[test]
    fn whose_pages_were_used_longest_ago_comes_first() -> Result {
        let machine = Machine::new()?;
        let places = [
            Place::Pages(5),
            Place::Device(0),
            Place::Pages(3),
            Place::Apart,
            Place::Pages(4),
            Place::Pages(3),
        ];
        let objects = placed(&machine, &places)?;
        assert_eq!(machine.roster.pages(), 4);
        // They are used again, in another order, without a call to the list.
        objects[0].stand(Place::Pages(11));
        objects[2].stand(Place::Pages(13));
        objects[4].stand(Place::Pages(12));
        let mut looks = 100;
        for (now, who) in [(20, 5), (21, 0), (22, 4), (23, 2), (24, 5)] {
            assert_eq!(next(&machine, &objects, now, &mut looks), Some(who));
        }
        // One look for each object, and one more for each that was used meanwhile.
        assert_eq!(looks, 100 - 5 - 3);
        // An object that was returned comes last, until it is used.
        objects[4].stand(Place::Pages(30));
        for (now, who) in [(31, 0), (32, 2), (33, 5), (34, 4)] {
            assert_eq!(next(&machine, &objects, now, &mut looks), Some(who));
        }
        objects[0].stand(Place::Apart);
        machine.roster.arrange(&objects[0]);
        assert_eq!(machine.roster.pages(), 3);
        assert_eq!(next(&machine, &objects, 35, &mut looks), Some(2));
        drop(objects);
        assert_eq!(machine.roster.pages(), 0);
        assert_eq!(next(&machine, &[], 36, &mut looks), None);
        Ok(())
    }

    #[test]
    fn no_more_objects_are_looked_at_than_allowed() -> Result {
        let machine = Machine::new()?;
        let objects = placed(&machine, &[Place::Pages(1); 6])?;
        for object in &objects {
            object.stand(Place::Pages(2));
        }
        let mut looks = 4;
        assert_eq!(next(&machine, &objects, 9, &mut looks), None);
        assert_eq!(looks, 0);
        assert_eq!(next(&machine, &objects, 9, &mut looks), None);
        // The second walk does not look again at what the first has moved.
        let mut looks = 3;
        assert!(next(&machine, &objects, 9, &mut looks).is_some());
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
