// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Hardware lent to state that outlives it.
//!
//! The memory managers live as long as the last object, the page table and the permission to map DMA only
//! as long as the device is bound. While bound, the managers have a loan of both; when it ends, they clear
//! up behind themselves first. A mutex decides who comes first: the end of the loan or an object that is
//! being freed; both find a consistent state.

use core::{
    marker::PhantomData,
    mem::transmute, //
};

use kernel::{
    device,
    prelude::*,
    sync::{
        lock::mutex::MutexGuard,
        Arc,
        Mutex, //
    },
};

use crate::{
    family::{
        space::Space,
        surfaces::Surfaces, //
    },
    lock::shared_mutex, //
};

/// What is lent.
#[derive(Clone, Copy)]
pub struct Hardware<'a> {
    /// The device that does DMA.
    pub dev: &'a device::Device<device::Bound>,
    /// Its page table.
    pub space: &'a dyn Space,
    /// How the CPU sees tiled objects.
    pub surfaces: Option<&'a dyn Surfaces>,
}

/// State that uses the hardware while there is some.
pub trait Tenant: Send + Unpin {
    /// The loan ends: nothing may refer to `hardware` any more on return. Called with the state locked.
    fn leave(&mut self, hardware: &Hardware<'_>);
}

struct Inner<T> {
    hardware: Option<Hardware<'static>>,
    tenant: T,
}

/// A tenant and, at times, its hardware, behind one mutex.
///
/// # Invariants
///
/// `hardware` is `Some` only as long as a [`Lease`] for it exists.
#[pin_data]
pub struct Lent<T: Tenant> {
    #[pin]
    inner: Mutex<Inner<T>>,
}

// SAFETY: A device, a `Space` and `Surfaces` are `Sync`, references to them can be sent; the tenant is `Send`.
unsafe impl<T: Tenant> Send for Inner<T> {}

impl<T: Tenant> Lent<T> {
    /// Makes a tenant without hardware.
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

    /// Locks both.
    pub fn lock(&self) -> Guard<'_, T> {
        Guard(self.inner.lock())
    }

    /// Locks both, unless somebody else has.
    pub fn try_lock(&self) -> Option<Guard<'_, T>> {
        self.inner.try_lock().map(Guard)
    }

    /// Lends `hardware` until the lease is dropped.
    ///
    /// Errors: `EBUSY` if there is a lease already.
    ///
    /// # Safety
    ///
    /// The lease is dropped, not leaked, before `'a` ends.
    pub unsafe fn lend<'a>(self: &Arc<Self>, hardware: Hardware<'a>) -> Result<Lease<'a, T>> {
        let mut inner = self.inner.lock();
        if inner.hardware.is_some() {
            return Err(EBUSY);
        }
        // SAFETY: Only the lifetime changes. By the invariant nobody sees the reference after the lease is
        // gone, which by the caller's promise is within `'a`.
        inner.hardware = Some(unsafe { transmute::<Hardware<'a>, Hardware<'static>>(hardware) });
        drop(inner);
        // INVARIANT: There was none.
        Ok(Lease {
            lent: self.clone(),
            _lifetime: PhantomData,
        })
    }
}

/// A locked [`Lent`].
pub struct Guard<'a, T: Tenant>(MutexGuard<'a, Inner<T>>);

impl<T: Tenant> Guard<'_, T> {
    /// The tenant, and the hardware while it is lent.
    pub fn parts(&mut self) -> (&mut T, Option<Hardware<'_>>) {
        let inner = &mut *self.0;
        (&mut inner.tenant, inner.hardware)
    }
}

/// While this exists the hardware is lent.
pub struct Lease<'a, T: Tenant> {
    lent: Arc<Lent<T>>,
    _lifetime: PhantomData<Hardware<'a>>,
}

impl<T: Tenant> Drop for Lease<'_, T> {
    fn drop(&mut self) {
        let mut inner = self.lent.inner.lock();
        let inner = &mut *inner;
        if let Some(hardware) = inner.hardware.take() {
            inner.tenant.leave(&hardware);
        }
    }
}

#[kunit_tests(lapidary_lent)]
mod tests {
    use super::*;
    use crate::corner::gem_kunit::Machine;
    use kernel::dma::DmaAddress;

    /// A page table that nobody reads.
    struct Nothing;

    impl Space for Nothing {
        fn map(&self, _first: usize, _addr: DmaAddress, _pages: usize) -> Result {
            Ok(())
        }

        fn unmap(&self, _first: usize, _count: usize) {}

        fn flush(&self) {}
    }

    /// Counts how often it had to leave.
    struct Guest(u32);

    impl Tenant for Guest {
        fn leave(&mut self, _hardware: &Hardware<'_>) {
            self.0 += 1;
        }
    }

    /// How often the tenant has left, and whether there is hardware.
    fn state(lent: &Lent<Guest>) -> (u32, bool) {
        let mut guard = lent.lock();
        let (guest, hardware) = guard.parts();
        (guest.0, hardware.is_some())
    }

    fn lend<'a>(lent: &Arc<Lent<Guest>>, machine: &'a Machine) -> Result<Lease<'a, Guest>> {
        let (dev, space) = (machine.dev(), &Nothing);
        // SAFETY: All tests drop the lease.
        unsafe {
            lent.lend(Hardware {
                dev,
                space,
                surfaces: None,
            })
        }
    }

    #[test]
    fn hardware_is_there_while_it_is_lent() -> Result {
        let machine = Machine::new()?;
        let lent = Lent::new(Guest(0))?;
        assert!(state(&lent) == (0, false));
        for round in 0..3 {
            let lease = lend(&lent, &machine)?;
            assert!(state(&lent) == (round, true));
            drop(lease);
            assert!(state(&lent) == (round + 1, false));
        }
        Ok(())
    }

    #[test]
    fn it_is_lent_once_at_a_time() -> Result {
        let machine = Machine::new()?;
        let lent = Lent::new(Guest(0))?;
        let lease = lend(&lent, &machine)?;
        assert!(lend(&lent, &machine).err() == Some(EBUSY));
        // The refusal has not ended the loan.
        assert!(state(&lent) == (0, true));
        drop(lease);
        assert!(state(&lent) == (1, false));
        Ok(())
    }
}
