// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A cache of things that are costly to make and can be used again.
//!
//! A [`Stash`] keeps a few things that are not in use. [`Stash::take`] returns one of them, or a new one, as a
//! [`Borrowed`]. When the [`Borrowed`] is dropped, the thing returns to the stash, or is freed if the stash is full.

use core::{
    mem::{
        self,
        ManuallyDrop, //
    },
    ops::{
        Deref,
        DerefMut, //
    },
};

use kernel::{
    prelude::*,
    sync::SpinLock, //
};

use crate::lock::shared_spinlock;

/// Things that a stash keeps: about as many as there are concurrent users.
const KEPT: usize = 4;

/// A thing that can be used again.
pub trait Reusable {
    /// Make a new one. Cheap, because it allocates its memory when it is used.
    fn new() -> Self;

    /// Drop what the last user has left in it, and unusually large memory. May sleep.
    fn trim(&mut self);
}

/// Things that are not in use.
#[pin_data]
pub struct Stash<T> {
    #[pin]
    kept: SpinLock<[Option<KBox<T>>; KEPT]>,
}

impl<T: Reusable> Stash<T> {
    /// Make an empty stash.
    pub fn new() -> impl PinInit<Self> {
        pin_init!(Self {
            kept <- shared_spinlock!([const { None }; KEPT], "stash.kept"),
        })
    }

    /// Take a thing from the stash, or make one.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub fn take(&self) -> Result<Borrowed<'_, T>> {
        let kept = self.kept.lock().iter_mut().find_map(Option::take);
        let thing = match kept {
            Some(thing) => thing,
            None => KBox::new(T::new(), GFP_KERNEL)?,
        };
        Ok(Borrowed {
            stash: self,
            thing: ManuallyDrop::new(thing),
        })
    }

    /// Keep `thing` if there is room. Otherwise return it.
    fn keep(&self, thing: KBox<T>) -> Option<KBox<T>> {
        let mut kept = self.kept.lock();
        match kept.iter_mut().find(|slot| slot.is_none()) {
            Some(slot) => mem::replace(slot, Some(thing)),
            None => Some(thing),
        }
    }
}

/// A thing in use. Dropping it may sleep.
pub struct Borrowed<'s, T: Reusable> {
    stash: &'s Stash<T>,
    thing: ManuallyDrop<KBox<T>>,
}

impl<T: Reusable> Deref for Borrowed<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.thing
    }
}

impl<T: Reusable> DerefMut for Borrowed<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.thing
    }
}

impl<T: Reusable> Drop for Borrowed<'_, T> {
    fn drop(&mut self) {
        self.thing.trim();
        // SAFETY: `self` is not used any more.
        let thing = unsafe { ManuallyDrop::take(&mut self.thing) };
        // A thing that does not fit is freed here, not under the lock.
        drop(self.stash.keep(thing));
    }
}

#[kunit_tests(lapidary_stash)]
mod tests {
    use super::*;

    struct Count {
        trims: u32,
    }

    impl Reusable for Count {
        fn new() -> Self {
            Self { trims: 0 }
        }

        fn trim(&mut self) {
            self.trims += 1;
        }
    }

    #[test]
    fn things_are_used_again() -> Result {
        let stash = KBox::pin_init(Stash::<Count>::new(), GFP_KERNEL)?;
        let first = stash.take()?;
        let second = stash.take()?;
        assert!(first.trims == 0 && second.trims == 0);
        drop(first);
        assert!(stash.take()?.trims == 1);
        assert!(stash.take()?.trims == 2);
        Ok(())
    }

    #[test]
    fn only_a_few_are_kept() -> Result {
        let stash = KBox::pin_init(Stash::<Count>::new(), GFP_KERNEL)?;
        let mut loans = KVec::new();
        for _ in 0..KEPT + 3 {
            loans.push(stash.take()?, GFP_KERNEL)?;
        }
        drop(loans);
        let mut again = KVec::new();
        for _ in 0..KEPT + 1 {
            again.push(stash.take()?, GFP_KERNEL)?;
        }
        let used = again.iter().filter(|loan| loan.trims == 1).count();
        assert!(used == KEPT);
        Ok(())
    }
}
