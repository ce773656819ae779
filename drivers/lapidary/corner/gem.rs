// SPDX-License-Identifier: GPL-2.0 OR MIT

//! GEM objects of the type [`kernel::drm::gem::Object`], made and freed here.
//!
//! The kernel crate makes each of its objects with a shared-memory file, whether pages are needed or not. The file
//! costs more than the rest of an object together. The crate's function table has neither `mmap` nor `pin`, and drops
//! the driver's data only after file and reservation object are gone. But a driver cannot have objects of another
//! type, because the crate's traits for such types are sealed. So [`new`] makes a [`Twin`], which has the same layout
//! in memory and a function table of its own.
//!
//! A new object has no file. [`Pages::get`](super::pages::Pages::get) makes the file when pages are first needed. It
//! is freed with the object. An object that stays in VRAM all its life, or stands for foreign memory, never has one.
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

use crate::{
    corner::{
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
    },
    portable::numbers::Numbers,
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
    /// Return the list that the object is on while it is alive.
    fn roster(&self) -> Option<&Arc<Roster<Self>>>;

    /// Return the object's place on that list, made by [`Seat::new`].
    fn seat(&self) -> &Seat;

    /// Return where the object belongs on that list. Called also with the list locked.
    fn place(&self) -> Place;

    /// Release what the object holds. Called when the last reference is gone. The reservation object still exists,
    /// and the file if there is one. No lock is held.
    fn release(object: &gem::Object<Self>);

    /// Report where the pages from `first` on lie, in order, until `report` returns `false` or the object ends.
    ///
    /// Called by the page fault handler with the reservation lock held and all fences of kernel usage signalled.
    /// `first` is inside the object. May sleep and allocate.
    ///
    /// # Errors
    ///
    /// `ENOMEM` kills by OOM. `EINTR` and `EAGAIN` repeat the access. Every other error sends SIGBUS to the process.
    fn frames(
        object: &gem::Object<Self>,
        dev: &drm::Device<Self::Driver, drm::Registered>,
        first: usize,
        report: &mut dyn FnMut(Frame) -> bool,
    ) -> Result;
}

/// The memory layout of a [`gem::Object`].
///
/// The fields of that type are private to the kernel crate. It has the same fields, and behind them a marker of size
/// zero. Both types have the layout of C.
#[repr(C)]
#[pin_data]
struct Twin<T> {
    base: Opaque<bindings::drm_gem_object>,
    #[pin]
    data: T,
}

/// Create an object of `size` bytes, and enter it in its list. It has no file yet.
///
/// # Errors
///
/// `EINVAL` unless `size` is a multiple of the page size and not 0. `ENOMEM`, also if the mmap offset space has no
/// hole of that size. The errors of [`gem::DriverObject::new`]. After an error the object is not released; its data
/// is dropped.
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
    // SAFETY: `drm::Device` begins with the `struct drm_device`, which is alive. No other thread knows the object. It
    // is zeroed, as it has to be. The size is in whole pages.
    unsafe {
        (*raw).funcs = &Table::<T>::FUNCS;
        bindings::drm_gem_private_object_init(parent, raw, size);
    }
    // The offset is created here and not on request. A dma-buf is mapped without a request, and only mappings of an
    // object that has an offset are found when they must be removed.
    // SAFETY: The object has been made above.
    to_result(unsafe { bindings::drm_gem_create_mmap_offset(raw) }).map_err(|e| {
        // SAFETY: As above. The object has nothing else to release.
        unsafe { bindings::drm_gem_private_object_fini(raw) };
        // The offset space has no hole of that size.
        if e == ENOSPC {
            ENOMEM
        } else {
            e
        }
    })?;
    // SAFETY: It is not moved any more. It is seen only through `ARef` until `Table::free`.
    let twin = KBox::into_raw(unsafe { Pin::into_inner_unchecked(twin) });
    // SAFETY: The pointer comes from a box and points at the layout of a `gem::Object<T>`. We own the reference that
    // it was made with.
    let object = unsafe { ARef::from_raw(NonNull::new_unchecked(twin.cast::<gem::Object<T>>())) };
    if let Some(roster) = object.roster() {
        // SAFETY: `Table::free` removes it from the same list.
        unsafe { roster.enter(&object, blank) };
    }
    Ok(object)
}

/// Handles that [`look_up`] resolves under one lock.
const BATCH: usize = 8;

/// What [`look_up`] has found for an entry.
pub enum Found<T: gem::DriverObject> {
    /// An object whose handle has not come before.
    First(ARef<gem::Object<T>>),
    /// The object of an entry before. Its number counts those that were found first.
    Again(u32),
}

/// Pass what is found for `entries`, each of which has a `handle` of `file`, to `each` in order. Equal handles are found
/// by `numbers`, which begins, and are looked up once.
///
/// # Errors
///
/// `ENOENT` at the first invalid handle, and the first error of `each`. The entries before it have been passed.
pub fn look_up<D, T, R>(
    file: &drm::File<D::File>,
    entries: &[R],
    handle: fn(&R) -> u32,
    numbers: &mut Numbers<'_>,
    mut each: impl FnMut(&R, Found<T>) -> Result,
) -> Result
where
    D: drm::Driver<Object = gem::Object<T>>,
    T: gem::DriverObject<Driver = D>,
{
    let raw_file = ptr::from_ref(file).cast_mut().cast();
    for entries in entries.chunks(BATCH) {
        let mut handles = [0; BATCH];
        let mut objects = [ptr::null_mut(); BATCH];
        let mut of = [0; BATCH];
        let mut next = numbers.count();
        for (number, entry) in of.iter_mut().zip(entries) {
            let handle = handle(entry);
            *number = numbers.of(handle);
            // Those found in an earlier batch have no place here.
            if let Some(to) = handles.get_mut(number.wrapping_sub(next) as usize) {
                *to = handle;
            }
        }
        let new = numbers.count().wrapping_sub(next) as usize;
        let found = match new {
            0 => 0,
            // SAFETY: `drm::File` is a transparent wrapper of `struct drm_file`. Both arrays are as long as a batch.
            _ => unsafe {
                extra::lapidary_gem_look_up(raw_file, handles.as_ptr(), objects.as_mut_ptr(), new)
            },
        };
        let mut objects = objects.iter().take(found).map(|&raw| {
            // SAFETY: All objects of a file belong to its driver, whose object type is `T`. We own the reference.
            unsafe { ARef::from_raw(NonNull::from(gem::Object::<T>::from_raw(raw))) }
        });
        let mut pass = || -> Result {
            for (entry, &number) in entries.iter().zip(&of) {
                let found = if number == next {
                    next += 1;
                    Found::First(objects.next().ok_or(ENOENT)?)
                } else {
                    Found::Again(number)
                };
                each(entry, found)?;
            }
            Ok(())
        };
        let result = pass();
        // After an error the references that were not passed are dropped.
        objects.for_each(drop);
        result?;
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
    /// Only the DRM core may call this, when the last reference is gone.
    unsafe extern "C" fn free(raw: *mut bindings::drm_gem_object) {
        // SAFETY: The core passes objects that have this table, which `new` has made.
        let object = unsafe { gem::Object::<T>::from_raw(raw) };
        if let Some(roster) = object.roster() {
            roster.strike(object);
        }
        T::release(object);
        // SAFETY: There is no other reference. The object begins with `raw`, and `new` has taken it out of such a
        // box.
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

    /// More bytes than the mmap offset space has.
    const TOO_LARGE: usize = 1 << 41;

    /// Return the object's file, or null.
    fn file(object: &gem::Object<Object>) -> *mut bindings::file {
        // SAFETY: The object is alive.
        unsafe { (*object.as_raw()).filp }
    }

    /// Return whether the machine holds the last references to what it shares with its objects.
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
