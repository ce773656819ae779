// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What `kernel::drm::Driver` cannot express: entries of the C driver table that it leaves empty.
//!
//! `kernel::drm` builds one `struct drm_driver` per driver type, in a constant. Before a device is registered we copy
//! that table and its file operations to storage that the family module owns. We change the copy and let the device
//! point to it. `kernel::drm` itself does the same when it swaps its allocation table.

use kernel::{
    bindings,
    drm,
    prelude::*,
    sync::SetOnce, //
};

use super::{
    fdinfo::{
        self,
        Accounts, //
    },
    prime::{
        self,
        Shareable, //
    },
};

/// Storage for one family's patched driver table.
pub struct Tables {
    fops: SetOnce<Static<bindings::file_operations>>,
    driver: SetOnce<Static<bindings::drm_driver>>,
}

/// A C table that is never written after it has been published.
struct Static<T>(T);

// SAFETY: The tables hold function pointers and pointers to static data, and are only read.
unsafe impl<T> Send for Static<T> {}
// SAFETY: As above.
unsafe impl<T> Sync for Static<T> {}

impl Tables {
    /// Make empty storage.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        Self {
            fops: SetOnce::new(),
            driver: SetOnce::new(),
        }
    }

    /// Make `dev` use the patched tables. With them `/proc/PID/fdinfo` shows what a client uses, clients have
    /// synchronisation objects, and dma-bufs of other drivers become objects.
    ///
    /// The first device of a family fills the storage. The tables of all devices of a family are equal.
    ///
    /// # Errors
    ///
    /// `EAGAIN` if another device of the family fills the storage at this moment.
    pub(crate) fn install<T>(&'static self, dev: &drm::UnregisteredDevice<T>) -> Result
    where
        T: Accounts,
        T::Content: Shareable<Driver = T>,
    {
        let dev: &drm::Device<T> = dev;
        // `drm::Device` is `repr(C)` and starts with the `struct drm_device`.
        let raw = core::ptr::from_ref(dev)
            .cast_mut()
            .cast::<bindings::drm_device>();

        // SAFETY: The device is alive and its driver table and file operations are static.
        let (mut driver, mut fops) = unsafe { (*(*raw).driver, *(*(*raw).driver).fops) };

        fops.show_fdinfo = Some(bindings::drm_show_fdinfo);
        driver.show_fdinfo = Some(fdinfo::show::<T>);
        driver.driver_features |= bindings::drm_driver_feature_DRIVER_SYNCOBJ
            | bindings::drm_driver_feature_DRIVER_SYNCOBJ_TIMELINE;
        driver.gem_prime_import = Some(prime::Ops::<T::Content>::import);
        self.fops.populate(Static(fops));
        driver.fops = &self.fops.as_ref().ok_or(EAGAIN)?.0;
        self.driver.populate(Static(driver));
        let driver = &self.driver.as_ref().ok_or(EAGAIN)?.0;
        // SAFETY: The device is not registered, hence no other thread uses the pointer. The table is static.
        unsafe { (*raw).driver = driver };
        Ok(())
    }
}

#[kunit_tests(lapidary_extend)]
mod tests {
    use super::*;
    use crate::corner::gem_kunit::{
        Driver,
        Machine, //
    };

    static TABLES: Tables = Tables::new();

    /// Return the driver table of a device.
    fn table(machine: &Machine) -> &'static bindings::drm_driver {
        let dev: &drm::Device<Driver> = machine.drm();
        let raw = core::ptr::from_ref(dev).cast::<bindings::drm_device>();
        // SAFETY: The device is alive, and all driver tables here are static.
        unsafe { &*(*raw).driver }
    }

    #[test]
    fn devices_get_one_table_that_has_more() -> Result {
        let (first, second) = (Machine::new()?, Machine::new()?);
        let before = table(&first);
        assert!(core::ptr::eq(before, table(&second)));
        assert!(before.show_fdinfo.is_none());

        TABLES.install(first.drm())?;
        TABLES.install(second.drm())?;
        let after = table(&first);
        assert!(core::ptr::eq(after, table(&second)));
        assert!(!core::ptr::eq(after, before));
        assert!(after.show_fdinfo.is_some());
        let syncobj = bindings::drm_driver_feature_DRIVER_SYNCOBJ;
        assert!(before.driver_features & syncobj == 0);
        assert!(after.driver_features & syncobj != 0);
        // The entries of the original table are unchanged.
        assert!(after.driver_features & before.driver_features == before.driver_features);
        assert!(core::ptr::eq(after.name, before.name));
        // SAFETY: Tables of file operations are static.
        let (old, new) = unsafe { (&*before.fops, &*after.fops) };
        assert!(old.show_fdinfo.is_none() && new.show_fdinfo.is_some());
        assert!(old.unlocked_ioctl.is_some() && new.unlocked_ioctl.is_some());
        Ok(())
    }
}
