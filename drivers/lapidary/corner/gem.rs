// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What [`kernel::drm::gem::Object`] leaves out: CPU mappings, sharing with other drivers, and a last
//! word before an object goes.
//!
//! The object functions of the kernel crate are fixed and have neither `mmap` nor `pin`, and they drop the driver's
//! data only after shared-memory file and reservation object are gone. An object made by [`new`] points at a table of
//! its own instead, which adds these and passes everything else on to the kernel crate's table.

use core::{
    cell::UnsafeCell,
    ptr, //
};

use kernel::{
    bindings,
    drm::{
        self,
        gem::{
            self,
            BaseObject,
            IntoGEMObject, //
        },
    },
    page::PAGE_SIZE,
    prelude::*,
    sync::{
        aref::ARef,
        Arc, //
    },
};

use crate::corner::{
    extra, mmap,
    prime::{
        self,
        Shared, //
    },
    roster::{
        Place,
        Roster,
        Seat, //
    },
};

/// Where a page of an object lies at the moment.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Frame {
    /// Device memory, by page frame number: mapped write-combined.
    Vram(usize),
    /// System memory, by page frame number: mapped as ordinary memory.
    Ram(usize),
}

/// Driver data of an object made by [`new`].
///
/// # Safety
///
/// - [`Backed::frames`] reports only frames that belong to the object until it is released.
/// - The fields behind [`Backed::hook`] and [`Backed::seat`] are not used otherwise.
/// - [`Backed::roster`] gives the same answer each time.
pub unsafe trait Backed: gem::DriverObject {
    /// The object's hook, made by [`Hook::new`].
    fn hook(&self) -> &Hook;

    /// The list that the object is on, while it is alive.
    fn roster(&self) -> Option<&Arc<Roster<Self>>>;

    /// Its place on that list, made by [`Seat::new`].
    fn seat(&self) -> &Seat;

    /// Where it is to stand on that list. Called also with the list locked.
    fn place(&self) -> Place;

    /// The last reference is gone. File and reservation object are still there; no lock is held.
    fn release(object: &gem::Object<Self>);

    /// Says where the pages from `first` on lie, one after the other, until `report` returns `false` or
    /// the object ends.
    ///
    /// Called by the page fault handler with the reservation lock held and all fences of kernel usage
    /// signalled. `first` is inside the object. May sleep and allocate.
    ///
    /// # Errors
    ///
    /// `ENOMEM` kills by OOM, `EINTR` and `EAGAIN` let the access be tried again, everything else gives
    /// the process a SIGBUS.
    fn frames(
        object: &gem::Object<Self>,
        dev: &drm::Device<Self::Driver, drm::Registered>,
        first: usize,
        report: &mut dyn FnMut(Frame) -> bool,
    ) -> Result;
}

/// Remembers the kernel crate's function table of one object.
///
/// # Invariants
///
/// Null, or a valid table that lives as long as the module that made the object. Written only by [`new`].
pub struct Hook(UnsafeCell<*const bindings::drm_gem_object_funcs>);

// SAFETY: A pointer to constant data.
unsafe impl Send for Hook {}
// SAFETY: Written once, before the object is shared.
unsafe impl Sync for Hook {}

impl Hook {
    /// An empty hook.
    pub const fn new() -> Self {
        Self(UnsafeCell::new(ptr::null()))
    }

    fn base(&self) -> *const bindings::drm_gem_object_funcs {
        // SAFETY: Written before the object was shared.
        unsafe { *self.0.get() }
    }
}

impl Default for Hook {
    fn default() -> Self {
        Self::new()
    }
}

/// Creates an object of `size` bytes, and enters it in its list.
///
/// Errors: `EINVAL` unless `size` is a multiple of the page size and not 0; `ENOMEM`; what
/// [`gem::DriverObject::new`] reports.
pub fn new<T: Shared>(
    dev: &drm::Device<T::Driver>,
    size: usize,
    args: T::Args,
) -> Result<ARef<gem::Object<T>>> {
    if size == 0 || size % PAGE_SIZE != 0 {
        return Err(EINVAL);
    }
    let blank = Roster::<T>::blank()?;
    // `ENOSPC` is what the shared-memory file system says when there is no memory for an inode.
    let full = |e| if e == ENOSPC { ENOMEM } else { e };
    let object = gem::Object::<T>::new(dev, size, args).map_err(full)?;
    // Now, and not when somebody asks for it: a dma-buf is mapped without asking, and only what has its place in the
    // file is found when its mappings have to go.
    object.create_mmap_offset().map_err(full)?;
    let raw = IntoGEMObject::as_raw(&*object);
    // SAFETY: The object has no handle and is in no list yet, so nobody else uses the table or the hook.
    // INVARIANT: The kernel crate's table is a constant.
    unsafe {
        object.hook().0.get().write((*raw).funcs);
        (*raw).funcs = &Table::<T>::FUNCS;
    }
    if let Some(roster) = object.roster() {
        // SAFETY: `Table::free` strikes it out of the same list.
        unsafe { roster.enter(&object, blank) };
    }
    Ok(object)
}

/// Handles that [`look_up`] turns into objects at once.
const BATCH: usize = 8;

/// Passes on the objects of `entries`, each of which has a `handle` of `file`, in order.
///
/// # Errors
///
/// `ENOENT` at the first handle that is none, and the first error of `each`; the entries before have been passed on.
pub fn look_up<D, T, R>(
    file: &drm::File<D::File>,
    entries: &[R],
    handle: fn(&R) -> u32,
    mut each: impl FnMut(&R, ARef<gem::Object<T>>) -> Result,
) -> Result
where
    D: drm::Driver<Object = gem::Object<T>>,
    T: gem::DriverObject<Driver = D>,
{
    let raw_file = ptr::from_ref(file).cast_mut().cast();
    for entries in entries.chunks(BATCH) {
        let mut handles = [0; BATCH];
        let mut objects = [ptr::null_mut(); BATCH];
        for (to, entry) in handles.iter_mut().zip(entries) {
            *to = handle(entry);
        }
        // SAFETY: `drm::File` is a transparent wrapper of `struct drm_file`; both arrays are as long as a batch.
        let found = unsafe {
            extra::lapidary_gem_look_up(
                raw_file,
                handles.as_ptr(),
                objects.as_mut_ptr(),
                entries.len(),
            )
        };
        let mut result = Ok(());
        for (entry, &raw) in entries.iter().zip(&objects).take(found) {
            // SAFETY: All objects of a file belong to its driver, of which `T` is the object type; the reference
            // is ours.
            let object =
                unsafe { ARef::from_raw(ptr::NonNull::from(gem::Object::<T>::from_raw(raw))) };
            if result.is_ok() {
                result = each(entry, object);
            }
        }
        result?;
        if found < entries.len() {
            return Err(ENOENT);
        }
    }
    Ok(())
}

struct Table<T>(T);

impl<T: Shared> Table<T> {
    const FUNCS: bindings::drm_gem_object_funcs = bindings::drm_gem_object_funcs {
        free: Some(Self::free),
        open: Some(Self::open),
        close: Some(Self::close),
        export: Some(prime::Ops::<T>::export),
        pin: Some(prime::Ops::<T>::pin),
        unpin: Some(prime::Ops::<T>::unpin),
        get_sg_table: Some(prime::Ops::<T>::get_sg_table),
        vmap: Some(prime::Ops::<T>::vmap),
        vunmap: Some(prime::Ops::<T>::vunmap),
        mmap: Some(mmap::Ops::<T>::prepare),
        vm_ops: &mmap::Ops::<T>::OPS,
        ..pin_init::zeroed()
    };

    /// # Safety
    ///
    /// `raw` is in an object made by [`new`], which is alive for `'a`.
    unsafe fn object<'a>(
        raw: *mut bindings::drm_gem_object,
    ) -> (&'a gem::Object<T>, &'a bindings::drm_gem_object_funcs) {
        // SAFETY: By the caller's promise; `new` has filled the hook.
        unsafe {
            let object = gem::Object::<T>::from_raw(raw);
            (object, &*object.hook().base())
        }
    }

    /// # Safety
    ///
    /// Only to be called by the DRM core, when the last reference is gone.
    unsafe extern "C" fn free(raw: *mut bindings::drm_gem_object) {
        // SAFETY: The core passes objects that have this table; it is alive until the base is called.
        let (object, base) = unsafe { Self::object(raw) };
        let free = base.free;
        if let Some(roster) = object.roster() {
            roster.strike(object);
        }
        T::release(object);
        if let Some(free) = free {
            // SAFETY: As the core would have called it.
            unsafe { free(raw) };
        }
    }

    /// # Safety
    ///
    /// Only to be called by the DRM core.
    unsafe extern "C" fn open(
        raw: *mut bindings::drm_gem_object,
        file: *mut bindings::drm_file,
    ) -> c_int {
        // SAFETY: The core passes objects that have this table.
        let (_, base) = unsafe { Self::object(raw) };
        // SAFETY: As the core would have called it.
        base.open.map_or(0, |open| unsafe { open(raw, file) })
    }

    /// # Safety
    ///
    /// Only to be called by the DRM core.
    unsafe extern "C" fn close(raw: *mut bindings::drm_gem_object, file: *mut bindings::drm_file) {
        // SAFETY: The core passes objects that have this table.
        let (_, base) = unsafe { Self::object(raw) };
        if let Some(close) = base.close {
            // SAFETY: As the core would have called it.
            unsafe { close(raw, file) };
        }
    }
}

#[kunit_tests(lapidary_gem)]
mod tests {
    use super::*;
    use crate::corner::gem_kunit::Machine;
    use kernel::sync::atomic::Relaxed;

    #[test]
    fn refuses_sizes_that_are_not_whole_pages() -> Result {
        let machine = Machine::new()?;
        assert_eq!(machine.object(0).err(), Some(EINVAL));
        assert_eq!(machine.object(PAGE_SIZE + 1).err(), Some(EINVAL));
        assert_eq!(machine.object(usize::MAX).err(), Some(EINVAL));
        assert_eq!(machine.released.load(Relaxed), 0);
        Ok(())
    }

    #[test]
    fn an_object_has_its_place_in_the_file_from_the_beginning() -> Result {
        let machine = Machine::new()?;
        let object = machine.object(PAGE_SIZE)?;
        // SAFETY: The object is alive.
        let start = unsafe { (*object.as_raw()).vma_node.vm_node.start };
        assert!(start != 0);
        assert_eq!(object.create_mmap_offset()?, start * PAGE_SIZE as u64);
        Ok(())
    }

    #[test]
    fn the_last_reference_releases_once() -> Result {
        let machine = Machine::new()?;
        let first = machine.object(PAGE_SIZE)?;
        let second = first.clone();
        drop(first);
        assert_eq!(machine.released.load(Relaxed), 0);
        drop(second);
        assert_eq!(machine.released.load(Relaxed), 1);
        Ok(())
    }
}
