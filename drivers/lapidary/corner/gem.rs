// SPDX-License-Identifier: GPL-2.0 OR MIT

//! GEM objects of the type [`kernel::drm::gem::Object`], made and freed here.
//!
//! The kernel crate makes each of its objects with a shared-memory file, whether pages are wanted or not; the file
//! costs more than everything else about an object. Its function table has neither `mmap` nor `pin`, and drops the
//! driver's data only after file and reservation object are gone. But a driver cannot have objects of another type: the
//! crate's traits for such types are sealed. So [`new`] makes a [`Twin`], which is the same in memory, with a function
//! table of its own.
//!
//! Such an object has no file. [`Pages::get`](super::pages::Pages::get) makes it when pages are first wanted; it goes
//! with the object. An object that lives and dies in VRAM, or stands for memory of others, never has one.
//!
//! C: `drm_gem_private_object_init()`, `drm_gem_object_release()`.

use core::{
    mem::{
        align_of,
        size_of, //
    },
    ptr::{
        self,
        NonNull, //
    },
};

use kernel::{
    bindings,
    drm::{
        self,
        gem::{
            self,
            IntoGEMObject, //
        },
    },
    error::to_result,
    page::PAGE_SIZE,
    prelude::*,
    sync::{
        aref::ARef,
        Arc, //
    },
    types::Opaque, //
};

use crate::corner::{
    extra, mmap,
    prime::{
        self,
        Shareable, //
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
/// [`gem::DriverObject::open`] and [`gem::DriverObject::close`] are not called.
///
/// # Safety
///
/// - [`Backed::frames`] reports only frames that belong to the object until it is released.
/// - The field behind [`Backed::seat`] is not used otherwise.
/// - [`Backed::roster`] gives the same answer each time.
pub unsafe trait Backed: gem::DriverObject {
    /// The list that the object is on, while it is alive.
    fn roster(&self) -> Option<&Arc<Roster<Self>>>;

    /// Its place on that list, made by [`Seat::new`].
    fn seat(&self) -> &Seat;

    /// Where it is to stand on that list. Called also with the list locked.
    fn place(&self) -> Place;

    /// The last reference is gone. The reservation object is still there, and the file, if it has one; no lock is held.
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

/// What a [`gem::Object`] is in memory.
///
/// The fields of that type are the kernel crate's own. It has the same ones, and a marker that takes no room behind
/// them; both have the layout of C.
#[repr(C)]
#[pin_data]
struct Twin<T> {
    base: Opaque<bindings::drm_gem_object>,
    #[pin]
    data: T,
}

/// Creates an object of `size` bytes, and enters it in its list. It has no file yet.
///
/// # Errors
///
/// `EINVAL` unless `size` is a multiple of the page size and not 0; `ENOMEM`, also if there is no place of that size to
/// map it; what [`gem::DriverObject::new`] reports. The object is not released then, its data is dropped.
pub fn new<T: Shareable>(
    dev: &drm::Device<T::Driver>,
    size: usize,
    args: T::Args,
) -> Result<ARef<gem::Object<T>>> {
    const {
        assert!(size_of::<Twin<T>>() == size_of::<gem::Object<T>>());
        assert!(align_of::<Twin<T>>() == align_of::<gem::Object<T>>());
    }
    if size == 0 || size % PAGE_SIZE != 0 {
        return Err(EINVAL);
    }
    let blank = Roster::<T>::blank()?;
    let twin = KBox::pin_init(
        try_pin_init!(Twin {
            base <- Opaque::init_zeroed(),
            data <- T::new(dev, size, args),
        }),
        GFP_KERNEL,
    )?;
    let raw = twin.base.get();
    let parent = ptr::from_ref(dev).cast_mut().cast();
    // SAFETY: `drm::Device` begins with the `struct drm_device`, which is alive. Nobody else knows the object, which is
    // zero, as it has to be. The size is in whole pages.
    unsafe {
        (*raw).funcs = &Table::<T>::FUNCS;
        bindings::drm_gem_private_object_init(parent, raw, size);
    }
    // Now, and not when somebody asks for it: a dma-buf is mapped without asking, and only what has its place in the
    // file is found when its mappings have to go.
    // SAFETY: The object has been made above.
    to_result(unsafe { bindings::drm_gem_create_mmap_offset(raw) }).map_err(|e| {
        // SAFETY: As above; it has nothing else that would have to go.
        unsafe { bindings::drm_gem_private_object_fini(raw) };
        // There is no place.
        if e == ENOSPC {
            ENOMEM
        } else {
            e
        }
    })?;
    // SAFETY: It is not moved any more: it is seen through `ARef` only until `Table::free`.
    let twin = KBox::into_raw(unsafe { Pin::into_inner_unchecked(twin) });
    // SAFETY: The pointer comes from a box. What it points at is what a `gem::Object<T>` is, and the reference that it
    // was made with is ours.
    let object = unsafe { ARef::from_raw(NonNull::new_unchecked(twin.cast::<gem::Object<T>>())) };
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
            let object = unsafe { ARef::from_raw(NonNull::from(gem::Object::<T>::from_raw(raw))) };
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

impl<T: Shareable> Table<T> {
    const FUNCS: bindings::drm_gem_object_funcs = bindings::drm_gem_object_funcs {
        free: Some(Self::free),
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
    /// Only to be called by the DRM core, when the last reference is gone.
    unsafe extern "C" fn free(raw: *mut bindings::drm_gem_object) {
        // SAFETY: The core passes objects that have this table, which `new` has made.
        let object = unsafe { gem::Object::<T>::from_raw(raw) };
        if let Some(roster) = object.roster() {
            roster.strike(object);
        }
        T::release(object);
        // SAFETY: Nobody has the object any more. It begins with `raw`, and `new` has taken it out of such a box.
        unsafe {
            bindings::drm_gem_object_release(raw);
            drop(KBox::from_raw(raw.cast::<Twin<T>>()));
        }
    }
}

#[kunit_tests(lapidary_gem)]
mod tests {
    use super::*;
    use crate::corner::{
        gem_kunit::{
            Machine,
            Object, //
        },
        pages::Pages,
    };
    use kernel::{
        drm::gem::BaseObject,
        sync::atomic::Relaxed, //
    };

    /// More than there are places for.
    const TOO_LARGE: usize = 1 << 41;

    /// The object's file, or null.
    fn file(object: &gem::Object<Object>) -> *mut bindings::file {
        // SAFETY: The object is alive.
        unsafe { (*object.as_raw()).filp }
    }

    /// Whether the machine is the last to have what it gives its objects.
    fn is_left_alone(machine: Machine) -> bool {
        Arc::into_unique_or_drop(machine.released).is_some()
            && Arc::into_unique_or_drop(machine.roster).is_some()
    }

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
    fn the_kernel_crate_finds_what_was_made() -> Result {
        let machine = Machine::new()?;
        let object = machine.object(3 * PAGE_SIZE)?;
        let twin = ptr::from_ref(&*object).cast::<Twin<Object>>();
        // SAFETY: It was made as one.
        let (base, data) = unsafe { ((*twin).base.get(), &raw const (*twin).data) };
        assert!(ptr::eq(object.as_raw(), base));
        assert!(ptr::eq(&raw const **object, data));
        // SAFETY: The object is alive.
        let found = unsafe { gem::Object::<Object>::from_raw(base) };
        assert!(ptr::eq(found, &*object));
        assert_eq!(object.size(), 3 * PAGE_SIZE);
        let dev: &drm::Device<_> = machine.drm();
        assert!(ptr::eq(object.dev(), dev));
        Ok(())
    }

    #[test]
    fn what_fails_on_the_way_leaves_nothing() -> Result {
        for (size, result, want) in [(PAGE_SIZE, Err(EPERM), EPERM), (TOO_LARGE, Ok(()), ENOMEM)] {
            let machine = Machine::new()?;
            assert_eq!(machine.object_if(size, result).err(), Some(want));
            assert_eq!(machine.released.load(Relaxed), 0);
            let mut names = 0;
            machine.roster.lock().each(&mut |_| names += 1);
            assert_eq!(names, 0);
            assert!(is_left_alone(machine));
        }
        Ok(())
    }

    #[test]
    fn a_file_comes_with_the_first_pages_and_stays() -> Result {
        let machine = Machine::new()?;
        let object = machine.object(2 * PAGE_SIZE)?;
        assert!(file(&object).is_null());
        Pages::get(&*object)?.put(&*object);
        let first = file(&object);
        assert!(!first.is_null());
        Pages::get(&*object)?.discard(&*object);
        Pages::get(&*object)?.put(&*object);
        assert!(ptr::eq(file(&object), first));
        Ok(())
    }

    #[test]
    fn the_file_goes_with_the_object() -> Result {
        let machine = Machine::new()?;
        let object = machine.object(PAGE_SIZE)?;
        Pages::get(&*object)?.put(&*object);
        let file = file(&object);
        // SAFETY: The object has the file, which is alive.
        let count = || unsafe { (*file).f_ref.refcnt.counter };
        let alone = count();
        // SAFETY: As above.
        unsafe { bindings::get_file(file) };
        assert_eq!(count(), alone + 1);
        drop(object);
        assert_eq!(count(), alone);
        // SAFETY: The reference taken above.
        unsafe { bindings::fput(file) };
        assert!(is_left_alone(machine));
        Ok(())
    }

    #[test]
    fn an_object_goes_without_a_file() -> Result {
        let machine = Machine::new()?;
        drop(machine.object(PAGE_SIZE)?);
        assert!(is_left_alone(machine));
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
