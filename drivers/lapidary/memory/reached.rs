// SPDX-License-Identifier: GPL-2.0 OR MIT

//! System pages that clients reach in address spaces of their own.
//!
//! A job in such an address space needs no addresses in the GTT window. Its objects are made resident, and the family
//! enters them in the page tables of the client ([`Isolation::enter`](crate::family::Isolation::enter)). All page
//! tables of clients together are one user of the pages ([`super::resident`]). The use lasts from the first job that
//! needs the object until the family has removed its entries from all page tables
//! ([`Uapi::displaced`](crate::family::Uapi::displaced)). Jobs in between find the object in place and take no lock.
//!
//! Whether the pages are reached changes under the object's reservation, and at unbind. No memory is allocated under
//! the lock, which is taken before that of the pages.

use kernel::{
    device::{
        Bound,
        Device, //
    },
    drm::gem::IntoGEMObject,
    page::PAGE_SIZE,
    prelude::*,
    rbtree::{
        RBTree,
        RBTreeNodeReservation, //
    },
    sync::{
        atomic::Relaxed,
        Arc, //
    },
    types::CovariantForLt, //
};

use crate::{
    corner::lent::{
        Guard,
        Lent,
        Tenant, //
    },
    memory::backing::Backing,
    portable::mapping::{
        runs,
        Target,
        GPU_PAGE, //
    }, //
};

/// The place of an object while a job is placed, which the family writes into a client's page table.
pub struct Located<'l>(At<'l>);

enum At<'l> {
    /// Offset from the start of VRAM, and size, in bytes.
    Vram(u64, u64),
    System(&'l Backing),
}

impl<'l> Located<'l> {
    /// Return the place of `size` bytes from `offset` in VRAM on.
    pub(crate) fn in_vram(offset: u64, size: u64) -> Self {
        Self(At::Vram(offset, size))
    }

    /// Return the place in system pages, which are mapped for the device.
    pub(crate) fn in_system(backing: &'l Backing) -> Self {
        Self(At::System(backing))
    }

    /// Report the object piece by piece, from its first byte on. `each` receives where the piece is, and how many 4 KiB
    /// pages it has. The pages are locked meanwhile, so `each` must not allocate.
    ///
    /// # Errors
    ///
    /// The first error of `each`.
    pub fn pieces(&self, each: &mut dyn FnMut(Target, usize) -> Result) -> Result {
        match self.0 {
            At::Vram(offset, size) => each(
                Target::Vram(offset),
                usize::try_from(size)?.div_ceil(GPU_PAGE),
            ),
            At::System(backing) => {
                let pages = backing.pages.lock();
                for (start, entries) in runs(pages.addresses(), PAGE_SIZE) {
                    each(Target::System(start), entries)?;
                }
                Ok(())
            }
        }
    }
}

/// The backings that clients reach, by their addresses in kernel memory.
pub struct Reached {
    backings: RBTree<usize, Arc<Backing>>,
}

impl Reached {
    /// Make an empty set.
    pub(crate) fn new() -> Self {
        Self {
            backings: RBTree::new(),
        }
    }

    /// Return the number of backings.
    #[cfg(CONFIG_KUNIT)]
    fn count(&self) -> usize {
        self.backings.iter().count()
    }
}

impl Tenant for Reached {
    type Hardware = CovariantForLt!(&'_ Device<Bound>);

    /// End all uses. The GPU is quiet, so its page tables have no meaning any more.
    fn leave(&mut self, dev: &&Device<Bound>) {
        let mut next = self.backings.cursor_front_mut();
        while let Some(cursor) = next {
            let (other, node) = cursor.remove_current();
            next = other;
            end_locked(&node.to_key_value().1, dev);
        }
    }
}

/// Return the key of a backing.
fn key(backing: &Arc<Backing>) -> usize {
    Arc::as_ptr(backing) as usize
}

/// End the use of the pages by clients. Called with the lock held.
fn end_locked(backing: &Backing, dev: &Device<Bound>) {
    backing.reached.store(false, Relaxed);
    backing.pages.lock().leave(dev);
}

/// Hold the pages of `backing`, which belongs to `object`, and map them for the device until [`end`]. The caller holds
/// the reservation.
///
/// # Errors
///
/// `ENODEV` after unbind; as [`Resident::hold`](super::resident::Resident::hold) and
/// [`Locked::enter`](super::resident::Locked::enter); `ENOMEM`.
pub(crate) fn begin<O: IntoGEMObject>(
    reached: &Lent<Reached>,
    backing: &Arc<Backing>,
    object: &O,
) -> Result {
    if backing.reached.load(Relaxed) {
        return Ok(());
    }
    backing.pages.hold(object)?;
    let node = RBTreeNodeReservation::new(GFP_KERNEL)?;
    let mut guard = reached.lock();
    let (reached, dev) = guard.parts();
    backing.pages.lock().enter(dev.ok_or(ENODEV)?)?;
    backing.reached.store(true, Relaxed);
    reached
        .backings
        .insert(node.into_node(key(backing), backing.clone()));
    Ok(())
}

/// End what [`begin`] began. No page table of a client has an entry for the pages. Does nothing if they are not reached.
pub(crate) fn end(reached: &Lent<Reached>, backing: &Arc<Backing>) {
    if backing.reached.load(Relaxed) {
        finish(&mut reached.lock(), backing);
    }
}

/// As [`end`], but with a trylock. Return whether the pages are not reached any more.
pub(crate) fn try_end(reached: &Lent<Reached>, backing: &Arc<Backing>) -> bool {
    if !backing.reached.load(Relaxed) {
        return true;
    }
    let guard = reached.try_lock();
    guard.map(|mut guard| finish(&mut guard, backing)).is_some()
}

/// As [`end`], with the lock in `guard`.
fn finish(guard: &mut Guard<'_, Reached>, backing: &Arc<Backing>) {
    let (reached, dev) = guard.parts();
    // Unbind may have ended it.
    if let (Some(dev), Some(_)) = (dev, reached.backings.remove(&key(backing))) {
        end_locked(backing, dev);
    }
}

#[kunit_tests(lapidary_reached)]
mod tests {
    use super::*;
    use crate::{
        corner::{
            gem_kunit::Machine,
            lent::Loan, //
        },
        memory::gtt, //
    };

    const PAGE: u64 = PAGE_SIZE as u64;

    fn lend<'a>(reached: &Arc<Lent<Reached>>, machine: &'a Machine) -> Result<Loan<'a, Reached>> {
        // SAFETY: All tests drop the loan.
        unsafe { reached.lend(machine.dev()) }
    }

    fn count(reached: &Lent<Reached>) -> usize {
        reached.lock().parts().0.count()
    }

    #[test]
    fn pages_are_reached_until_the_entries_are_gone() -> Result {
        let machine = Machine::new()?;
        let reached = Lent::new(Reached::new())?;
        let loan = lend(&reached, &machine)?;
        let object = machine.object(3 * PAGE_SIZE)?;
        let backing = Backing::new(3 * PAGE, PAGE)?;
        end(&reached, &backing);
        assert!(try_end(&reached, &backing) && !backing.pages.is_mapped());
        for _ in 0..2 {
            begin(&reached, &backing, &*object)?;
            begin(&reached, &backing, &*object)?;
            assert!(backing.pages.is_mapped() && backing.pages.held() == 3);
            assert_eq!(count(&reached), 1);
            end(&reached, &backing);
            assert!(!backing.pages.is_mapped() && count(&reached) == 0);
        }
        backing.pages.lock().end().put(&*object);
        drop(loan);
        Ok(())
    }

    #[test]
    fn the_window_is_another_user() -> Result {
        let machine = Machine::new()?;
        let reached = Lent::new(Reached::new())?;
        let loan = lend(&reached, &machine)?;
        let object = machine.object(PAGE_SIZE)?;
        let backing = Backing::new(PAGE, PAGE)?;
        begin(&reached, &backing, &*object)?;
        backing.pages.lock().enter(machine.dev())?;
        end(&reached, &backing);
        assert!(backing.pages.is_mapped());
        backing.pages.lock().leave(machine.dev());
        assert!(!backing.pages.is_mapped());
        backing.pages.lock().end().put(&*object);
        drop(loan);
        Ok(())
    }

    #[test]
    fn reclaim_waits_for_no_lock_and_takes_no_reached_page() -> Result {
        let machine = Machine::new()?;
        let reached = Lent::new(Reached::new())?;
        let loan = lend(&reached, &machine)?;
        let object = machine.object(2 * PAGE_SIZE)?;
        let backing = Backing::new(2 * PAGE, PAGE)?;
        let window = gtt::tests::window(4)?;
        begin(&reached, &backing, &*object)?;
        assert_eq!(gtt::relinquish(&window, &backing, &*object), None);
        let guard = reached.lock();
        assert!(!try_end(&reached, &backing));
        drop(guard);
        assert!(backing.pages.is_mapped());
        assert!(try_end(&reached, &backing) && !backing.pages.is_mapped());
        assert_eq!(gtt::relinquish(&window, &backing, &*object), Some(2));
        drop(loan);
        Ok(())
    }

    #[test]
    fn the_end_of_the_loan_ends_all() -> Result {
        let machine = Machine::new()?;
        let reached = Lent::new(Reached::new())?;
        let object = machine.object(2 * PAGE_SIZE)?;
        let backings = [Backing::new(PAGE, PAGE)?, Backing::new(PAGE, PAGE)?];
        let [one, other] = &backings;
        assert_eq!(begin(&reached, one, &*object), Err(ENODEV));
        assert!(!one.pages.is_mapped());
        let loan = lend(&reached, &machine)?;
        begin(&reached, one, &*object)?;
        begin(&reached, other, &*object)?;
        assert_eq!(count(&reached), 2);
        drop(loan);
        assert_eq!(count(&reached), 0);
        // The objects go later than the device.
        for backing in &backings {
            assert!(!backing.pages.is_mapped() && backing.pages.held() == 2);
            end(&reached, backing);
            assert_eq!(begin(&reached, backing, &*object), Err(ENODEV));
            backing.pages.lock().end().put(&*object);
        }
        Ok(())
    }

    #[test]
    fn the_pieces_of_an_object_are_all_of_it() -> Result {
        let machine = Machine::new()?;
        let reached = Lent::new(Reached::new())?;
        let loan = lend(&reached, &machine)?;
        let object = machine.object(5 * PAGE_SIZE)?;
        let backing = Backing::new(5 * PAGE, PAGE)?;
        begin(&reached, &backing, &*object)?;
        // Under the pages' lock nothing is allocated.
        let mut all = KVec::with_capacity(5, GFP_KERNEL)?;
        Located::in_system(&backing).pieces(&mut |target, pages| {
            let Target::System(start) = target else {
                return Err(EINVAL);
            };
            for page in 0..pages as u64 {
                all.push_within_capacity(start + page * PAGE)
                    .map_err(|_| EINVAL)?;
            }
            Ok(())
        })?;
        assert!(all[..] == *backing.pages.lock().addresses() && all.len() == 5);
        let mut calls = 0;
        let refused = Located::in_system(&backing).pieces(&mut |_, _| {
            calls += 1;
            Err(ENOSPC)
        });
        assert_eq!((refused, calls), (Err(ENOSPC), 1));
        let mut found = None;
        Located::in_vram(3 * PAGE, 2 * PAGE).pieces(&mut |target, pages| {
            found = Some((target, pages));
            Ok(())
        })?;
        assert!(found == Some((Target::Vram(3 * PAGE), 2)));
        end(&reached, &backing);
        backing.pages.lock().end().put(&*object);
        drop(loan);
        Ok(())
    }
}
