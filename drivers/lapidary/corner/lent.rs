// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Hardware lent to state that outlives it.
//!
//! The memory managers live as long as the last object. The page table and the permission to map DMA live only as
//! long as the device is bound. While it is bound, a manager borrows what it needs of both. When the loan ends, the
//! manager first cleans up after itself. A mutex orders the end of the loan and the free of an object. Either of
//! them, as the second, finds a consistent state.

use core::{
    marker::PhantomData,
    mem::{
        transmute_copy,
        ManuallyDrop, //
    }, //
};

use kernel::{
    prelude::*,
    sync::{
        lock::mutex::MutexGuard,
        Arc,
        Mutex, //
    },
    types::{
        CovariantForLt,
        ForLt, //
    }, //
};

use crate::lock::shared_mutex;

/// State that uses hardware while there is some.
pub trait Tenant: Send + Unpin {
    /// What it borrows.
    type Hardware: CovariantForLt;

    /// End the loan. On return nothing may refer to `hardware` any more. Called with the state locked.
    fn leave(&mut self, hardware: &HardwareOf<'_, Self>);
}

/// What tenant `T` borrows for a time.
pub type HardwareOf<'a, T> = <<T as Tenant>::Hardware as ForLt>::Of<'a>;

struct Inner<T: Tenant> {
    hardware: Option<HardwareOf<'static, T>>,
    tenant: T,
}

// The mutex pins it, and nothing in it depends on being pinned.
impl<T: Tenant> Unpin for Inner<T> {}

/// A tenant and, at times, its hardware, behind one mutex.
///
/// # Invariants
///
/// `hardware` is `Some` only as long as a [`Loan`] for it exists.
#[pin_data]
pub struct Lent<T: Tenant> {
    #[pin]
    inner: Mutex<Inner<T>>,
}

impl<T: Tenant> Lent<T> {
    /// Make a tenant without hardware.
    pub fn new(tenant: T) -> Result<Arc<Self>> {
        Arc::pin_init(
            pin_init!(Self {
                inner <- shared_mutex!(
                    Inner {
                        hardware: None,
                        tenant,
                    },
                    "lent.inner",
                ),
            }),
            GFP_KERNEL,
        )
    }

    /// Lock both.
    pub fn lock(&self) -> Guard<'_, T> {
        Guard(self.inner.lock())
    }

    /// Lock both, unless another thread holds the lock.
    pub fn try_lock(&self) -> Option<Guard<'_, T>> {
        self.inner.try_lock().map(Guard)
    }

    /// Lend `hardware` until the loan is dropped.
    ///
    /// # Errors
    ///
    /// `EBUSY` if there is a loan already.
    ///
    /// # Safety
    ///
    /// The caller drops the loan, and does not leak it, before `'a` ends.
    pub unsafe fn lend<'a>(self: &Arc<Self>, hardware: HardwareOf<'a, T>) -> Result<Loan<'a, T>> {
        let mut inner = self.inner.lock();
        if inner.hardware.is_some() {
            return Err(EBUSY);
        }
        let hardware = ManuallyDrop::new(hardware);
        // SAFETY: Only the lifetime changes, so both types have the same layout, and the original is not used again.
        // By the invariant no code sees the copy after the loan is gone, which by the caller's promise is within
        // `'a`.
        let hardware =
            unsafe { transmute_copy::<HardwareOf<'a, T>, HardwareOf<'static, T>>(&hardware) };
        inner.hardware = Some(hardware);
        drop(inner);
        // INVARIANT: There was no loan.
        Ok(Loan {
            lent: self.clone(),
            _lifetime: PhantomData,
        })
    }
}

/// A locked [`Lent`].
pub struct Guard<'a, T: Tenant>(MutexGuard<'a, Inner<T>>);

impl<T: Tenant> Guard<'_, T> {
    /// Return the tenant, and the hardware while it is lent.
    pub fn parts(&mut self) -> (&mut T, Option<&HardwareOf<'_, T>>) {
        let inner = &mut *self.0;
        let hardware = inner.hardware.as_ref().map(T::Hardware::cast_ref);
        (&mut inner.tenant, hardware)
    }
}

/// The hardware is lent while this exists.
pub struct Loan<'a, T: Tenant> {
    lent: Arc<Lent<T>>,
    _lifetime: PhantomData<&'a ()>,
}

impl<T: Tenant> Drop for Loan<'_, T> {
    fn drop(&mut self) {
        let mut inner = self.lent.inner.lock();
        let inner = &mut *inner;
        if let Some(hardware) = inner.hardware.take() {
            inner.tenant.leave(T::Hardware::cast_ref(&hardware));
        }
    }
}

#[kunit_tests(lapidary_lent)]
mod tests {
    use super::*;

    /// The thing that is lent.
    struct Thing(u32);

    /// Counts how often it had to leave, and adds up the things that it borrowed.
    struct Guest(u32, u32);

    impl Tenant for Guest {
        type Hardware = CovariantForLt!(&Thing);

        fn leave(&mut self, thing: &&Thing) {
            self.0 += 1;
            self.1 += thing.0;
        }
    }

    /// Return how often the tenant has left, and whether there is hardware.
    fn state(lent: &Lent<Guest>) -> (u32, bool) {
        let mut guard = lent.lock();
        let (guest, hardware) = guard.parts();
        (guest.0, hardware.is_some())
    }

    fn lend<'a>(lent: &Arc<Lent<Guest>>, thing: &'a Thing) -> Result<Loan<'a, Guest>> {
        // SAFETY: All tests drop the loan.
        unsafe { lent.lend(thing) }
    }

    #[test]
    fn hardware_is_there_while_it_is_lent() -> Result {
        let thing = Thing(7);
        let lent = Lent::new(Guest(0, 0))?;
        assert!(state(&lent) == (0, false));
        for round in 0..3 {
            let loan = lend(&lent, &thing)?;
            assert!(state(&lent) == (round, true));
            drop(loan);
            assert!(state(&lent) == (round + 1, false));
        }
        // It has seen the hardware each time.
        assert_eq!(lent.lock().parts().0 .1, 3 * 7);
        Ok(())
    }

    #[test]
    fn it_is_lent_once_at_a_time() -> Result {
        let thing = Thing(7);
        let lent = Lent::new(Guest(0, 0))?;
        let loan = lend(&lent, &thing)?;
        assert!(lend(&lent, &thing).err() == Some(EBUSY));
        // The refusal has not ended the loan.
        assert!(state(&lent) == (0, true));
        drop(loan);
        assert!(state(&lent) == (1, false));
        Ok(())
    }
}
