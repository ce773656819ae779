// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What a client uses, for tools like `gputop`.
//!
//! `/proc/PID/fdinfo/FD` of an open device file shows how long the engines have worked for it, and how much memory of
//! each kind its objects have. Names and units are those of `Documentation/gpu/drm-usage-stats.rst` in the kernel
//! source. The DRM core writes the lines that identify the client.

use core::ptr::{
    self,
    NonNull, //
};

use kernel::{
    bindings,
    drm::{
        self,
        gem, //
    },
    prelude::*,
    sync::aref::ARef, //
};

use super::{
    extra,
    resv, //
};

/// Names of the kinds of memory in the lines.
const REGIONS: [&CStr; 3] = [c"vram", c"gtt", c"cpu"];

/// A kind of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Region {
    /// Memory of the card.
    Vram,
    /// System memory that the GPU reaches.
    Gtt,
    /// System memory that the GPU does not reach.
    Cpu,
}

/// How an object is accounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Where it is, or will be.
    pub region: Region,
    /// It has memory there.
    pub resident: bool,
}

/// A driver whose clients are accounted for.
pub trait Accounts: drm::Driver<Object = gem::Object<Self::Content>> {
    /// The driver's part of its objects.
    type Content: gem::DriverObject<Driver = Self>;

    /// Return for how many nanoseconds the graphics engine has worked for a client. Never decreases.
    fn engine(file: &Self::File) -> u64;

    /// Return how an object is accounted. May sleep; no lock is held.
    fn share(object: &gem::Object<Self::Content>) -> Share;
}

/// The objects of one client, by handle. The iterator returns the objects that exist when it reaches them.
pub struct Objects<'f, T: Accounts> {
    file: &'f drm::File<T::File>,
    handle: u32,
}

impl<'f, T: Accounts> Objects<'f, T> {
    /// Return the objects of `file`.
    pub fn of(file: &'f drm::File<T::File>) -> Self {
        // 0 is no handle.
        Self { file, handle: 1 }
    }
}

impl<T: Accounts> Iterator for Objects<'_, T> {
    type Item = (u32, ARef<gem::Object<T::Content>>);

    fn next(&mut self) -> Option<Self::Item> {
        let raw_file = ptr::from_ref(self.file).cast_mut().cast();
        // SAFETY: `drm::File` is a transparent wrapper of `struct drm_file`, and the handle is written.
        let raw = unsafe { extra::lapidary_gem_next(raw_file, &mut self.handle) };
        if raw.is_null() {
            return None;
        }
        let handle = self.handle;
        self.handle = handle.checked_add(1)?;
        // SAFETY: All objects of a file belong to its driver, whose object type is `T::Content`. We own the
        // reference.
        let object = unsafe {
            let object = <gem::Object<T::Content> as gem::IntoGEMObject>::from_raw(raw);
            ARef::from_raw(NonNull::from(object))
        };
        Some((handle, object))
    }
}

/// Return the sizes by region.
fn stats<T: Accounts>(file: &drm::File<T::File>) -> [bindings::drm_memory_stats; REGIONS.len()] {
    let mut stats = [bindings::drm_memory_stats::default(); REGIONS.len()];
    for (_, object) in Objects::<T>::of(file) {
        let size = gem::BaseObject::size(&*object) as u64;
        let share = T::share(&object);
        let raw = gem::IntoGEMObject::as_raw(&*object);
        // SAFETY: The object is alive.
        let shared = unsafe { extra::lapidary_gem_is_shared(raw) };
        let Some(stats) = stats.get_mut(share.region as usize) else {
            continue;
        };
        match shared {
            true => stats.shared += size,
            false => stats.private += size,
        }
        if share.resident {
            stats.resident += size;
        }
        if resv::wait(&*object, 0) == Ok(false) {
            stats.active += size;
        }
    }
    stats
}

/// # Safety
///
/// Only the DRM core may call this, for an open file of a registered device of driver `T`.
pub(super) unsafe extern "C" fn show<T: Accounts>(
    printer: *mut bindings::drm_printer,
    raw: *mut bindings::drm_file,
) {
    // SAFETY: By the contract. The file stays open meanwhile.
    let file = unsafe { drm::File::<T::File>::from_raw(raw) };
    // SAFETY: The printer is the core's.
    unsafe { extra::lapidary_show_engine(printer, T::engine(file.inner().get_ref())) };
    let supported = bindings::drm_gem_object_status_DRM_GEM_OBJECT_RESIDENT
        | bindings::drm_gem_object_status_DRM_GEM_OBJECT_ACTIVE;
    for (stats, region) in stats::<T>(file).iter().zip(REGIONS) {
        // SAFETY: As above.
        unsafe {
            bindings::drm_print_memory_stats(printer, stats, supported, region.as_char_ptr());
        }
    }
}
