// SPDX-License-Identifier: GPL-2.0 OR MIT

//! System sleep of a PCI driver.
//!
//! `kernel::pci::Adapter` registers probe and remove only. [`Adapter`] adds the callbacks of the power management
//! core and of a reboot, and leaves the rest to it.
//!
//! The core has many callbacks, and a driver of a device without wake-up has few things to do. The machine sleeps in
//! RAM, freezes for a snapshot, or is switched off after a snapshot. In each case the driver makes the device quiet,
//! power and registers may be lost, and later the driver brings the device up again. So three calls stand for nine
//! callbacks:
//!
//! | call | callbacks | the system at that moment |
//! | --- | --- | --- |
//! | [`Sleeper::prepare`] | `prepare` | user space is frozen; disks and swap still work |
//! | [`Sleeper::sleep`] | `suspend`, `freeze`, `poweroff` | no allocation waits for a disk any more |
//! | [`Sleeper::wake`] | `resume`, `thaw`, `restore` | as before; interrupts are delivered |
//!
//! The PCI core saves and restores configuration space and sets the power state by itself, after `sleep` and before
//! `wake`. A `sleep` that fails is not followed by a `wake`. The device lock is held in all of them, so none runs
//! concurrently with probe or unbind.
//!
//! C header: `include/linux/pm.h`.

use core::marker::PhantomData;

use kernel::{
    bindings,
    device::{
        self,
        BoundInternal, //
    },
    driver::{
        DriverLayout,
        RegistrationOps, //
    },
    error::from_result,
    pci,
    prelude::*,
    types::Opaque, //
};

/// A PCI driver whose device sleeps when the system does.
pub trait Sleeper: pci::Driver {
    /// Prepare for the sleep of the system. What needs much memory is done here. The driver undoes it by itself if
    /// necessary, because no other call follows if the system stays awake.
    ///
    /// # Errors
    ///
    /// After any error the system stays awake.
    fn prepare(this: Pin<&Self::Data<'_>>) -> Result;

    /// Make the device quiet: no access to memory, no interrupt, no state in it that must not be lost.
    ///
    /// # Errors
    ///
    /// After any error the system stays awake, and the device is as it was.
    fn sleep(this: Pin<&Self::Data<'_>>) -> Result;

    /// Bring the device up again, whatever it has lost.
    ///
    /// # Errors
    ///
    /// The system wakes up after an error, too.
    fn wake(this: Pin<&Self::Data<'_>>) -> Result;

    /// Make the device quiet until the machine or another kernel starts. Called when the system reboots, is switched
    /// off, or starts another kernel.
    fn shutdown(this: Pin<&Self::Data<'_>>);
}

/// Declares a module that is one PCI driver, as `kernel::module_pci_driver!` does, whose device sleeps with the system.
#[macro_export]
macro_rules! module_pci_driver {
    ($($f:tt)*) => {
        ::kernel::module_driver!(<T>, $crate::corner::pm::Adapter<T>, { $($f)* });
    };
}

/// Registers `T` as [`pci::Adapter`] does, with its sleep.
pub struct Adapter<T: Sleeper>(PhantomData<fn() -> T>);

// SAFETY: The driver structure, its data and the place of the `struct device_driver` are those of `pci::Adapter`.
unsafe impl<T: Sleeper> DriverLayout for Adapter<T> {
    type DriverType = <pci::Adapter<T> as DriverLayout>::DriverType;
    type DriverData<'bound> = T::Data<'bound>;
    const DEVICE_DRIVER_OFFSET: usize = <pci::Adapter<T> as DriverLayout>::DEVICE_DRIVER_OFFSET;
}

// SAFETY: Both calls are passed on to `pci::Adapter`.
unsafe impl<T: Sleeper + 'static> RegistrationOps for Adapter<T> {
    unsafe fn register(
        driver: &Opaque<Self::DriverType>,
        name: &'static CStr,
        module: &'static ThisModule,
    ) -> Result {
        // SAFETY: No other thread has the structure before it is registered. The table is constant.
        unsafe {
            (*driver.get()).driver.pm = &Self::OPS;
            (*driver.get()).shutdown = Some(Self::shutdown);
        }
        // SAFETY: By the caller's promise.
        unsafe { <pci::Adapter<T> as RegistrationOps>::register(driver, name, module) }
    }

    unsafe fn unregister(driver: &Opaque<Self::DriverType>) {
        // SAFETY: By the caller's promise.
        unsafe { <pci::Adapter<T> as RegistrationOps>::unregister(driver) }
    }
}

impl<T: Sleeper + 'static> Adapter<T> {
    const OPS: bindings::dev_pm_ops = bindings::dev_pm_ops {
        prepare: Some(Self::prepare),
        suspend: Some(Self::sleep),
        freeze: Some(Self::sleep),
        poweroff: Some(Self::sleep),
        resume: Some(Self::wake),
        thaw: Some(Self::wake),
        restore: Some(Self::wake),
        ..pin_init::zeroed()
    };

    /// Return the driver's data.
    ///
    /// # Safety
    ///
    /// `dev` is bound to a driver that was registered by this adapter, and stays bound for `'a`.
    unsafe fn data<'a>(dev: *mut bindings::device) -> Pin<&'a T::Data<'a>> {
        // SAFETY: `device::Device` is a transparent wrapper of `struct device`, which is bound by the caller's
        // promise. Probe has stored data of this type, and unbind has not taken it yet.
        unsafe { (*dev.cast::<device::Device<BoundInternal>>()).drvdata_borrow::<T::Data<'a>>() }
    }

    /// # Safety
    ///
    /// Only the power management core may call this, for a device bound to this driver and with the device locked.
    unsafe extern "C" fn prepare(dev: *mut bindings::device) -> c_int {
        // SAFETY: By the contract. The device lock excludes unbind.
        from_result(|| T::prepare(unsafe { Self::data(dev) }).map(|()| 0))
    }

    /// # Safety
    ///
    /// As [`Self::prepare`].
    unsafe extern "C" fn sleep(dev: *mut bindings::device) -> c_int {
        // SAFETY: As above.
        from_result(|| T::sleep(unsafe { Self::data(dev) }).map(|()| 0))
    }

    /// # Safety
    ///
    /// As [`Self::prepare`].
    unsafe extern "C" fn wake(dev: *mut bindings::device) -> c_int {
        // SAFETY: As above.
        from_result(|| T::wake(unsafe { Self::data(dev) }).map(|()| 0))
    }

    /// # Safety
    ///
    /// Only the PCI core may call this, for a device bound to this driver and with the device locked.
    unsafe extern "C" fn shutdown(pdev: *mut bindings::pci_dev) {
        // SAFETY: By the contract.
        T::shutdown(unsafe { Self::data(&raw mut (*pdev).dev) })
    }
}

#[kunit_tests(lapidary_pm)]
mod tests {
    use super::*;
    use kernel::{
        device_id::IdArray,
        sync::atomic::{
            Atomic,
            Relaxed, //
        }, //
    };

    /// A driver that counts its calls, and fails to sleep if it is told to.
    struct Counting;

    struct Counts {
        prepare: Atomic<u32>,
        sleep: Atomic<u32>,
        wake: Atomic<u32>,
        shutdown: Atomic<u32>,
        refuse: Atomic<bool>,
    }

    static NO_IDS: IdArray<pci::DeviceId, (), 0> = IdArray::new([]);

    impl pci::Driver for Counting {
        type IdInfo = ();
        type Data<'bound> = Counts;
        const ID_TABLE: pci::IdTable<()> = &NO_IDS;

        fn probe<'bound>(
            _dev: &'bound pci::Device<device::Core<'_>>,
            _info: Option<&'bound ()>,
        ) -> impl PinInit<Counts, Error> + 'bound {
            Err::<Counts, Error>(ENODEV)
        }
    }

    impl Sleeper for Counting {
        fn prepare(this: Pin<&Counts>) -> Result {
            this.prepare.add(1, Relaxed);
            Ok(())
        }

        fn sleep(this: Pin<&Counts>) -> Result {
            this.sleep.add(1, Relaxed);
            if this.refuse.load(Relaxed) {
                return Err(EBUSY);
            }
            Ok(())
        }

        fn wake(this: Pin<&Counts>) -> Result {
            this.wake.add(1, Relaxed);
            Ok(())
        }

        fn shutdown(this: Pin<&Counts>) {
            this.shutdown.add(1, Relaxed);
        }
    }

    type Ops = Adapter<Counting>;

    /// Call `callback` for `dev`.
    fn call(
        callback: Option<unsafe extern "C" fn(*mut bindings::device) -> c_int>,
        dev: &Opaque<bindings::pci_dev>,
    ) -> c_int {
        let Some(callback) = callback else { return 1 };
        // SAFETY: The device has data of the driver's type, and no other thread knows of it.
        unsafe { callback(&raw mut (*dev.get()).dev) }
    }

    #[test]
    fn every_callback_reaches_the_driver() -> Result {
        let counts = KBox::new(
            Counts {
                prepare: Atomic::new(0),
                sleep: Atomic::new(0),
                wake: Atomic::new(0),
                shutdown: Atomic::new(0),
                refuse: Atomic::new(false),
            },
            GFP_KERNEL,
        )?;
        let dev = KBox::init(
            pin_init::init_zeroed::<Opaque<bindings::pci_dev>>(),
            GFP_KERNEL,
        )?;
        // SAFETY: The device is not shared. The adapter uses only the pointer to its data, which is valid until the
        // end of the test.
        unsafe {
            bindings::dev_set_drvdata(
                &raw mut (*dev.get()).dev,
                (&raw const *counts).cast_mut().cast(),
            );
        }

        let ops = &Ops::OPS;
        assert!(call(ops.prepare, &dev) == 0);
        for sleep in [ops.suspend, ops.freeze, ops.poweroff] {
            assert!(call(sleep, &dev) == 0);
        }
        for wake in [ops.resume, ops.thaw, ops.restore] {
            assert!(call(wake, &dev) == 0);
        }
        counts.refuse.store(true, Relaxed);
        assert!(call(ops.suspend, &dev) == EBUSY.to_errno());
        // SAFETY: As in `call`.
        unsafe { Ops::shutdown(dev.get()) };

        assert_eq!(counts.prepare.load(Relaxed), 1);
        assert_eq!(counts.sleep.load(Relaxed), 4);
        assert_eq!(counts.wake.load(Relaxed), 3);
        assert_eq!(counts.shutdown.load(Relaxed), 1);
        Ok(())
    }

    #[test]
    fn registration_adds_the_callbacks() -> Result {
        let driver = KBox::init(
            pin_init::init_zeroed::<Opaque<bindings::pci_driver>>(),
            GFP_KERNEL,
        )?;
        // SAFETY: The structure is zeroed, stays where it is, and is unregistered below. It matches no device.
        unsafe {
            <Ops as RegistrationOps>::register(
                &driver,
                c"lapidary-kunit",
                kernel::module::this_module::<crate::LocalModule>(),
            )?;
            let pm = (*driver.get()).driver.pm;
            let shutdown = (*driver.get()).shutdown;
            <Ops as RegistrationOps>::unregister(&driver);
            assert!(!pm.is_null());
            assert!(shutdown.is_some());
        }
        Ok(())
    }
}
