// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Files in the DRM device's folder in debugfs, `/sys/kernel/debug/dri/<PCI address>/`, which only root can enter.
//!
//! A file is a function that prints the present state while the device is registered. Like an ioctl, it runs behind
//! the guard that unbind waits for. The DRM core creates the files and removes them with the device.

use core::ptr;

use kernel::{
    bindings,
    drm,
    fmt,
    prelude::*,
    seq_file::SeqFile,
    seq_print, //
};

use super::{
    extra,
    fdinfo::Accounts, //
};

/// The text of a file, as it is being printed.
pub struct Page<'p>(&'p SeqFile);

impl fmt::Write for Page<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // On overflow seq_file allocates more memory and prints the file again.
        seq_print!(self.0, "{}", text);
        Ok(())
    }
}

/// A file.
pub struct File<D: drm::Driver> {
    /// Its name.
    pub name: &'static CStr,
    /// Print the content. May sleep, but not for long, because unbind waits for it.
    pub show: Show<D>,
}

/// Prints what a file shows.
pub type Show<D> = for<'a> fn(
    &drm::Device<D, drm::Registered>,
    &<D as drm::Driver>::RegistrationData<'a>,
    &mut Page<'_>,
) -> fmt::Result;

/// Add `files` to the folder of `dev`. Without debugfs, or without memory, the files are missing; this is no error.
pub fn add<D: drm::Driver>(dev: &drm::UnregisteredDevice<D>, files: &'static [File<D>]) {
    let dev: &drm::Device<D> = dev;
    let raw = ptr::from_ref(dev).cast_mut().cast::<bindings::drm_device>();
    for file in files {
        // SAFETY: The device is alive, and the file is static and of the device's driver.
        unsafe {
            extra::lapidary_debugfs_add(
                raw,
                file.name.as_char_ptr(),
                Some(show::<D>),
                ptr::from_ref(file).cast_mut().cast(),
            )
        };
    }
}

/// # Safety
///
/// Only the DRM core may call this, for a file that [`add`] has added to a device of driver `D` that has been
/// registered.
unsafe extern "C" fn show<D: drm::Driver>(seq: *mut bindings::seq_file, _: *mut c_void) -> c_int {
    let mut data = ptr::null_mut();
    // SAFETY: By the contract. `data` is the pointer that `add` has passed.
    let (dev, file) = unsafe {
        let raw = extra::lapidary_debugfs_device(seq, &mut data);
        let dev: &drm::Device<D, drm::Ioctl> = drm::Device::from_raw(raw);
        (dev, &*data.cast::<File<D>>())
    };
    let Some(guard) = dev.registration_guard() else {
        return ENODEV.to_errno();
    };
    // SAFETY: The core passes the sequence to this call only.
    let mut page = Page(unsafe { SeqFile::from_raw(seq) });
    match guard.registration_data_with(|reg| (file.show)(&guard, reg, &mut page)) {
        Ok(()) => 0,
        Err(_) => EIO.to_errno(),
    }
}

/// An open file of the device, as the DRM core sees it.
pub struct Client<'c, T: Accounts> {
    /// The core's number of the client.
    pub id: u64,
    /// The process that opened the file, or that used it last.
    pub pid: i32,
    /// The file.
    pub file: &'c drm::File<T::File>,
}

/// Call `each` for every open file of `dev`. No file can be opened or closed meanwhile.
///
/// # Errors
///
/// The first error of `each`.
pub fn clients<T: Accounts, E>(
    dev: &drm::Device<T, drm::Registered>,
    mut each: impl FnMut(Client<'_, T>) -> Result<(), E>,
) -> Result<(), E> {
    let raw = ptr::from_ref(dev).cast_mut().cast::<bindings::drm_device>();
    // SAFETY: The device is alive, and the lock is released below.
    unsafe { extra::lapidary_clients_lock(raw) };
    let mut result = Ok(());
    let mut last = ptr::null_mut();
    while result.is_ok() {
        // SAFETY: The list is locked, and `last` is in it or null.
        last = unsafe { extra::lapidary_client_next(raw, last) };
        if last.is_null() {
            break;
        }
        let mut pid = 0;
        // SAFETY: The file is open while it is in the list, and its driver is `T`.
        let (id, file) = unsafe {
            let id = extra::lapidary_client_id(last, &mut pid);
            (id, drm::File::<T::File>::from_raw(last))
        };
        result = each(Client { id, pid, file });
    }
    // SAFETY: Locked above.
    unsafe { extra::lapidary_clients_unlock(raw) };
    result
}

/// Return the core's number of a client, as fdinfo shows it.
pub fn client_id<T: drm::file::DriverFile>(file: &drm::File<T>) -> u64 {
    let raw = ptr::from_ref(file).cast_mut().cast();
    // SAFETY: `drm::File` is a transparent wrapper of `struct drm_file`, which is open.
    unsafe { extra::lapidary_client_id(raw, ptr::null_mut()) }
}
