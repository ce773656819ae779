// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What `kernel::drm::Driver` cannot express: entries of the C driver table that it leaves empty.
//!
//! `kernel::drm` builds one `struct drm_driver` per driver type, in a constant. Before a device is registered
//! we copy that table and its file operations to storage that the family module owns, change the copy, and let
//! the device point to it. This is the step `kernel::drm` itself takes when it swaps its allocation table.

use kernel::{
    bindings,
    drm,
    prelude::*,
    sync::SetOnce, //
};

use super::fdinfo::{
    self,
    Accounts, //
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
    /// Empty storage.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        Self {
            fops: SetOnce::new(),
            driver: SetOnce::new(),
        }
    }

    /// Lets `dev` use the patched tables: `/proc/PID/fdinfo` shows what a client uses, and clients get
    /// synchronisation objects.
    ///
    /// The first device of a family fills the storage; the tables of all devices of a family are equal.
    ///
    /// # Errors
    ///
    /// `EAGAIN` if another device of the family fills the storage at this moment.
    pub(crate) fn install<T: Accounts>(&'static self, dev: &drm::UnregisteredDevice<T>) -> Result {
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
        self.fops.populate(Static(fops));
        driver.fops = &self.fops.as_ref().ok_or(EAGAIN)?.0;
        self.driver.populate(Static(driver));
        let driver = &self.driver.as_ref().ok_or(EAGAIN)?.0;
        // SAFETY: The device is not registered, hence nobody else uses the pointer; the table is static.
        unsafe { (*raw).driver = driver };
        Ok(())
    }
}
