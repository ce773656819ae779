// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Memory shared between drivers: dma-bufs of our objects, and objects around the dma-bufs of others.
//!
//! An *exporter* owns the pages. An *importer* attaches its device to the buffer and asks for the pages' addresses as
//! that device sees them. Both use one reservation object, that of the exporter, so each finds the other's fences
//! there.
//!
//! # Export
//!
//! The core makes the dma-buf ([`Ops::export`]). When a device attaches, the object is pinned. It moves to system
//! pages, if it is not there, and stays. Importers are not asked to detach later, so the object stays pinned until
//! the last device has detached.
//!
//! # Import
//!
//! [`Import`] is the attachment of our device to a foreign buffer, with the addresses. The addresses end at unbind
//! ([`Import::unmap`]). The attachment ends when the object is freed. A buffer of our own device is not imported; the
//! core returns the object itself.
//!
//! C: `drm_gem_prime_import_dev()`, which keeps the mapping until the object is freed, even if the device is unbound
//! first.

use core::{
    marker::PhantomData,
    ptr::{
        self,
        NonNull, //
    },
};

use kernel::{
    bindings, device,
    dma::DmaAddress,
    drm::{
        self,
        gem::{
            self,
            IntoGEMObject, //
        },
    },
    error::{
        from_err_ptr,
        to_result, //
    },
    impl_has_work, new_mutex, new_work,
    page::PAGE_SIZE,
    prelude::*,
    sync::{
        aref::ARef,
        atomic::{
            Atomic,
            Full, //
        },
        Arc,
        Mutex,
        UniqueArc, //
    },
    types::ScopeGuard,
    workqueue::{
        Work,
        WorkItem, //
    },
};

use crate::corner::{
    extra,
    gem::Backed,
    later,
    pages::Pages, //
};

const BOTH_WAYS: bindings::dma_data_direction = bindings::dma_data_direction::DMA_BIDIRECTIONAL;

/// An object that other drivers may use, and that may stand for other drivers' memory.
pub trait Shareable: Backed {
    /// Return whether the memory belongs to a process. Such memory is neither exported nor mapped.
    fn is_private(&self) -> bool;

    /// Keep the object in system pages until [`Shareable::unpin`]. Pins are counted.
    ///
    /// Called with the reservation locked. `dev` is the device while it is registered. May sleep and wait for fences.
    ///
    /// # Errors
    ///
    /// `ENODEV` if the content was lost with the device; `ENOMEM`.
    fn pin(
        object: &gem::Object<Self>,
        dev: Option<&drm::Device<Self::Driver, drm::Registered>>,
    ) -> Result;

    /// End one pin. Called with the reservation locked.
    fn unpin(object: &gem::Object<Self>);

    /// Pass the pages of a pinned object to `show`. They stay as long as the object is pinned.
    ///
    /// # Errors
    ///
    /// `EINVAL` if it is not in system pages of its own.
    fn pages(object: &gem::Object<Self>, show: &mut dyn FnMut(&Pages)) -> Result;

    /// Return the size in bytes of the largest buffer that the device can reach as a whole.
    fn most(dev: &drm::Device<Self::Driver, drm::Registered>) -> u64;

    /// Make an object for a foreign buffer that is not larger than [`Shareable::most`].
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    fn import(
        dev: &drm::Device<Self::Driver, drm::Registered>,
        import: Arc<Import>,
    ) -> Result<ARef<gem::Object<Self>>>;
}

/// A foreign buffer that our device is attached to.
///
/// # Invariants
///
/// While `attached` is set, `attach` is our attachment to a buffer, and we own a reference to that buffer. `table` is
/// the mapping of the attachment, or `None` after the mapping has ended. `addresses` holds the address of each page
/// in that mapping.
#[pin_data(PinnedDrop)]
pub struct Import {
    #[pin]
    work: Work<Import>,
    attach: NonNull<bindings::dma_buf_attachment>,
    /// Locked while the mapping ends, so that the attachment stays until then.
    #[pin]
    table: Mutex<Option<Table>>,
    attached: Atomic<bool>,
    addresses: KVVec<DmaAddress>,
}

/// The mapping of an attachment.
struct Table(NonNull<bindings::sg_table>);

// SAFETY: Mappings do not belong to a thread.
unsafe impl Send for Table {}
// SAFETY: Attachments do not belong to a thread.
unsafe impl Send for Import {}
// SAFETY: A shared reference reads what does not change, or takes the lock.
unsafe impl Sync for Import {}

impl Import {
    /// Attach `dev` to `buffer` and map it.
    ///
    /// # Errors
    ///
    /// `EINVAL` for a buffer that is empty or does not consist of whole pages; the errors of the exporter; `ENOMEM`.
    ///
    /// # Safety
    ///
    /// `buffer` is a live dma-buf whose reservation the caller does not hold. `dev` outlives the result, and the
    /// mapping ends ([`Import::unmap`]) before `dev` is unbound.
    unsafe fn new(
        dev: &device::Device<device::Bound>,
        buffer: *mut bindings::dma_buf,
    ) -> Result<Arc<Self>> {
        // SAFETY: The buffer is alive.
        let size = unsafe { (*buffer).size };
        if size == 0 || size % PAGE_SIZE != 0 {
            return Err(EINVAL);
        }
        let pages = size / PAGE_SIZE;
        let mut addresses = KVVec::from_elem(0, pages, GFP_KERNEL)?;
        let raw = ptr::from_ref(dev).cast_mut().cast();
        // SAFETY: Buffer and device are alive.
        let attach = from_err_ptr(unsafe { bindings::dma_buf_attach(buffer, raw) })?;
        // SAFETY: As above. We own the attachment.
        let attach = ScopeGuard::new_with_data(attach, |attach| unsafe {
            bindings::dma_buf_detach(buffer, attach)
        });
        // SAFETY: The attachment is alive. This thread does not hold the reservation.
        let table = unsafe { bindings::dma_buf_map_attachment_unlocked(*attach, BOTH_WAYS) };
        let table = from_err_ptr(table)?;
        let table = ScopeGuard::new_with_data(table, |table| {
            // SAFETY: The mapping just made.
            unsafe { bindings::dma_buf_unmap_attachment_unlocked(*attach, table, BOTH_WAYS) }
        });
        // SAFETY: The table is mapped. The array has room for that many addresses.
        to_result(unsafe {
            bindings::drm_prime_sg_to_dma_addr_array(*table, addresses.as_mut_ptr(), pages as c_int)
        })?;
        // The exporter maps less than the buffer has.
        if addresses.contains(&0) {
            return Err(EINVAL);
        }
        let (mine, mapping) = (
            NonNull::new(*attach).ok_or(EINVAL)?,
            Table(NonNull::new(*table).ok_or(EINVAL)?),
        );
        let import = UniqueArc::pin_init(
            pin_init!(Self {
                work <- new_work!("lapidary::Import"),
                attach: mine,
                table <- new_mutex!(Some(mapping)),
                attached: Atomic::new(true),
                addresses,
            }),
            GFP_KERNEL,
        )?;
        // SAFETY: The buffer is alive. The result owns the reference.
        unsafe { extra::lapidary_dma_buf_get(buffer) };
        // INVARIANT: The result owns both now.
        table.dismiss();
        attach.dismiss();
        Ok(import.into())
    }

    /// Return the size of the buffer in bytes.
    pub fn size(&self) -> usize {
        self.addresses.len() * PAGE_SIZE
    }

    /// Return the address of each page for our device, until [`Import::unmap`].
    pub fn addresses(&self) -> &[DmaAddress] {
        &self.addresses
    }

    /// End the attachment now.
    fn end(&self) {
        self.unmap();
        if self.attached.xchg(false, Full) {
            // SAFETY: By the invariant we own attachment and reference. Nothing is mapped any more.
            unsafe {
                let buffer = (*self.attach.as_ptr()).dmabuf;
                bindings::dma_buf_detach(buffer, self.attach.as_ptr());
                bindings::dma_buf_put(buffer);
            }
        }
    }

    /// End the attachment some time later, from any context. The addresses are not used any more.
    pub fn release(self: Arc<Self>) {
        later::run(self);
    }

    /// End the mapping. The device must not use the addresses any more. Takes the reservation of the buffer, so the
    /// caller may hold no reservation and no lock that is taken under one. A second call waits for the first one.
    pub fn unmap(&self) {
        let mut mapped = self.table.lock();
        if let Some(Table(table)) = mapped.take() {
            // SAFETY: By the invariant it is the mapping of this attachment.
            unsafe {
                bindings::dma_buf_unmap_attachment_unlocked(
                    self.attach.as_ptr(),
                    table.as_ptr(),
                    BOTH_WAYS,
                )
            };
        }
    }
}

impl_has_work! {
    impl HasWork<Self> for Import { self.work }
}

impl WorkItem for Import {
    type Pointer = Arc<Import>;

    fn run(this: Arc<Import>) {
        this.end();
    }
}

#[pinned_drop]
impl PinnedDrop for Import {
    fn drop(self: Pin<&mut Self>) {
        self.end();
    }
}

/// Return the pointer that stands for an error.
fn error<T>(error: Error) -> *mut T {
    // SAFETY: It only computes.
    unsafe { bindings::ERR_PTR(error.to_errno() as isize) }.cast()
}

/// The callbacks for objects with data `T`.
pub(super) struct Ops<T>(PhantomData<T>);

impl<T: Shareable> Ops<T> {
    /// # Safety
    ///
    /// `raw` is in an object with data `T`.
    unsafe fn object<'a>(raw: *mut bindings::drm_gem_object) -> &'a gem::Object<T> {
        // SAFETY: By the caller's promise.
        unsafe { gem::Object::<T>::from_raw(raw) }
    }

    /// Return the pages of a pinned object as C functions take them.
    fn list(object: &gem::Object<T>) -> Result<(*mut *mut bindings::page, c_uint)> {
        let mut list = (ptr::null_mut(), 0);
        T::pages(object, &mut |pages| list = pages.list())?;
        Ok((list.0, list.1.try_into()?))
    }

    /// Call `f` with the device while it is registered.
    ///
    /// # Safety
    ///
    /// As [`Ops::object`]. The device has been registered.
    unsafe fn with_device<R>(
        raw: *mut bindings::drm_gem_object,
        f: impl FnOnce(Option<&drm::Device<T::Driver, drm::Registered>>) -> R,
    ) -> R {
        // SAFETY: By the caller's promise.
        let dev = unsafe { drm::Device::<T::Driver, drm::Ioctl>::from_raw((*raw).dev) };
        let guard = dev.registration_guard();
        f(guard.as_deref())
    }

    /// Make a dma-buf.
    ///
    /// # Safety
    ///
    /// Only the DRM core may call this and the callbacks below.
    pub(super) unsafe extern "C" fn export(
        raw: *mut bindings::drm_gem_object,
        flags: c_int,
    ) -> *mut bindings::dma_buf {
        // SAFETY: The core passes objects that have this table.
        if unsafe { Self::object(raw) }.is_private() {
            return error(EPERM);
        }
        // SAFETY: As above.
        unsafe { bindings::drm_gem_prime_export(raw, flags) }
    }

    /// # Safety
    ///
    /// As [`Ops::export`], with the reservation locked.
    pub(super) unsafe extern "C" fn pin(raw: *mut bindings::drm_gem_object) -> c_int {
        // SAFETY: As in `export`. A device to which another can attach has been registered.
        let result = unsafe {
            let object = Self::object(raw);
            Self::with_device(raw, |dev| T::pin(object, dev))
        };
        result.map_or_else(Error::to_errno, |()| 0)
    }

    /// # Safety
    ///
    /// As [`Ops::pin`], once for each time that `pin` has succeeded.
    pub(super) unsafe extern "C" fn unpin(raw: *mut bindings::drm_gem_object) {
        // SAFETY: As in `export`.
        T::unpin(unsafe { Self::object(raw) });
    }

    /// # Safety
    ///
    /// As [`Ops::pin`], for a pinned object.
    pub(super) unsafe extern "C" fn get_sg_table(
        raw: *mut bindings::drm_gem_object,
    ) -> *mut bindings::sg_table {
        // SAFETY: As in `export`.
        let object = unsafe { Self::object(raw) };
        let table = Self::list(object).and_then(|(list, count)| {
            // SAFETY: The device is alive with its object, and `list` has `count` pages.
            from_err_ptr(unsafe { bindings::drm_prime_pages_to_sg((*raw).dev, list, count) })
        });
        table.unwrap_or_else(error)
    }

    /// Map the object for the kernel, which pins it.
    ///
    /// # Safety
    ///
    /// As [`Ops::pin`], with `map` to be filled.
    pub(super) unsafe extern "C" fn vmap(
        raw: *mut bindings::drm_gem_object,
        map: *mut bindings::iosys_map,
    ) -> c_int {
        // SAFETY: As in `pin`.
        let pinned = unsafe { Self::pin(raw) };
        if pinned != 0 {
            return pinned;
        }
        // SAFETY: As in `export`.
        let object = unsafe { Self::object(raw) };
        let result = Self::list(object).and_then(|(list, count)| {
            // SAFETY: `list` has `count` pages, which stay as long as the object is pinned.
            let address = unsafe { extra::lapidary_pages_vmap(list, count) };
            if address.is_null() {
                return Err(ENOMEM);
            }
            // SAFETY: The caller passes `map` to be filled.
            unsafe {
                (*map).__bindgen_anon_1.vaddr = address;
                (*map).is_iomem = false;
            }
            Ok(())
        });
        if let Err(e) = result {
            T::unpin(object);
            return e.to_errno();
        }
        0
    }

    /// # Safety
    ///
    /// As [`Ops::pin`], with the `map` that `vmap` has filled.
    pub(super) unsafe extern "C" fn vunmap(
        raw: *mut bindings::drm_gem_object,
        map: *mut bindings::iosys_map,
    ) {
        // SAFETY: The address comes from `vmap`, which pinned the object.
        unsafe {
            extra::lapidary_pages_vunmap((*map).__bindgen_anon_1.vaddr);
            Self::unpin(raw);
        }
    }

    /// Make an object of a dma-buf, for the driver's table.
    ///
    /// # Safety
    ///
    /// Only the DRM core may call this, for a device of `T::Driver` that has been registered.
    pub(super) unsafe extern "C" fn import(
        dev: *mut bindings::drm_device,
        buffer: *mut bindings::dma_buf,
    ) -> *mut bindings::drm_gem_object {
        // SAFETY: Both are alive. The private data of a buffer that was exported from this device is an object of
        // this device.
        unsafe {
            if bindings::drm_gem_is_prime_exported_dma_buf(dev, buffer) {
                let own = (*buffer).priv_.cast::<bindings::drm_gem_object>();
                bindings::drm_gem_object_get(own);
                return own;
            }
        }
        // SAFETY: By the caller's promise.
        let dev = unsafe { drm::Device::<T::Driver, drm::Ioctl>::from_raw(dev) };
        let Some(guard) = dev.registration_guard() else {
            return error(ENODEV);
        };
        let parent =
            AsRef::<<T::Driver as drm::Driver>::ParentDevice<device::Bound>>::as_ref(&*guard);
        // Tested before the exporter allocates memory for it.
        // SAFETY: The buffer is alive.
        if unsafe { (*buffer).size } as u64 > T::most(&guard) {
            return error(ENOMEM);
        }
        // SAFETY: `T` ends the mapping before the device is unbound, and an object keeps its device.
        let object = unsafe { Import::new(parent.as_ref(), buffer) }
            .and_then(|import| T::import(&guard, import.clone()).map(|object| (import, object)));
        match object {
            Ok((import, object)) => {
                let raw = IntoGEMObject::as_raw(&*object);
                // SAFETY: No other thread has the object yet. The buffer lives as long as the import, which the
                // object owns.
                unsafe {
                    (*raw).import_attach = import.attach.as_ptr();
                    (*raw).resv = (*buffer).resv;
                }
                let _ = ARef::into_raw(object);
                raw
            }
            Err(e) => error(e),
        }
    }
}

#[kunit_tests(lapidary_prime)]
mod tests {
    use super::*;
    use crate::corner::gem_kunit::{
        Machine,
        Object, //
    };
    use kernel::{
        sync::atomic::{
            Acquire,
            Relaxed,
            Release, //
        },
        time::{
            delay::fsleep,
            Delta, //
        },
        workqueue, //
    };

    /// A dma-buf of an object.
    struct Buffer(*mut bindings::dma_buf);

    impl Buffer {
        fn of(object: &gem::Object<Object>) -> Result<Self> {
            // SAFETY: The object has the table of this file.
            let raw = unsafe { Ops::<Object>::export(IntoGEMObject::as_raw(object), 0) };
            Ok(Self(from_err_ptr(raw)?))
        }
    }

    impl Drop for Buffer {
        fn drop(&mut self) {
            // SAFETY: We own the reference.
            unsafe { bindings::dma_buf_put(self.0) }
        }
    }

    #[test]
    fn one_device_imports_what_another_exports() -> Result {
        let (owner, guest) = (Machine::new()?, Machine::new()?);
        let object = owner.object(3 * PAGE_SIZE)?;
        let buffer = Buffer::of(&object)?;
        assert_eq!(object.pins.load(Relaxed), 0);
        // SAFETY: Unmapped below.
        let import = unsafe { Import::new(guest.dev(), buffer.0) }?;
        assert_eq!(object.pins.load(Relaxed), 1);
        assert_eq!(import.size(), 3 * PAGE_SIZE);
        // There is no IOMMU between them, so the addresses are those of the pages.
        object.with_pages(|pages| {
            for (index, &address) in import.addresses().iter().enumerate() {
                let frame = pages.frame(index).ok_or(EINVAL)?;
                assert_eq!(address, (frame * PAGE_SIZE) as DmaAddress);
            }
            Ok(())
        })?;
        // The owner may drop the object first: the buffer holds the object, and the import holds the buffer.
        drop(object);
        drop(buffer);
        assert_eq!(owner.released.load(Relaxed), 0);
        import.unmap();
        import.unmap();
        drop(import);
        Ok(())
    }

    #[test]
    fn who_ends_an_import_waits_for_an_end_under_way() -> Result {
        let (owner, guest) = (Machine::new()?, Machine::new()?);
        let object = owner.object(PAGE_SIZE)?;
        let buffer = Buffer::of(&object)?;
        // SAFETY: Unmapped below.
        let import = unsafe { Import::new(guest.dev(), buffer.0) }?;
        let ended = Arc::new(Atomic::new(false), GFP_KERNEL)?;
        let (other, done) = (import.clone(), ended.clone());
        // SAFETY: The buffer is alive, and this thread does not hold its reservation.
        let lock = unsafe { &raw mut (*(*buffer.0).resv).lock };
        // SAFETY: As above.
        to_result(unsafe { bindings::ww_mutex_lock(lock, ptr::null_mut()) })?;
        let spawned = workqueue::system_long().try_spawn(GFP_KERNEL, move || {
            other.unmap();
            drop(other);
            done.store(true, Release);
        });
        // It cannot continue without the reservation.
        let mut under_way = false;
        for _ in 0..1_000 {
            under_way = import.table.try_lock().is_none();
            if under_way {
                break;
            }
            fsleep(Delta::from_millis(1));
        }
        // SAFETY: Locked above.
        unsafe { bindings::ww_mutex_unlock(lock) };
        spawned?;
        assert!(under_way);
        import.unmap();
        while !ended.load(Acquire) {
            fsleep(Delta::from_millis(1));
        }
        Ok(())
    }

    #[test]
    fn the_kernel_sees_the_same_bytes() -> Result {
        let machine = Machine::new()?;
        let object = machine.object(2 * PAGE_SIZE)?;
        let buffer = Buffer::of(&object)?;
        let map = || -> Result<bindings::iosys_map> {
            let mut map = bindings::iosys_map::default();
            // SAFETY: The buffer is alive, and this thread does not hold its reservation.
            to_result(unsafe { bindings::dma_buf_vmap_unlocked(buffer.0, &mut map) })?;
            Ok(map)
        };
        let mut first = map()?;
        assert_eq!(object.pins.load(Relaxed), 1);
        // SAFETY: It is mapped, and no other code uses it.
        unsafe {
            let bytes = first.__bindgen_anon_1.vaddr.cast::<u8>();
            bytes.add(2 * PAGE_SIZE - 1).write_volatile(0x5a);
            bindings::dma_buf_vunmap_unlocked(buffer.0, &mut first);
        }
        assert_eq!(object.pins.load(Relaxed), 0);
        let mut second = map()?;
        // SAFETY: As above.
        unsafe {
            let bytes = second.__bindgen_anon_1.vaddr.cast::<u8>();
            assert_eq!(bytes.add(2 * PAGE_SIZE - 1).read_volatile(), 0x5a);
            bindings::dma_buf_vunmap_unlocked(buffer.0, &mut second);
        }
        Ok(())
    }

    #[test]
    fn private_memory_is_not_exported() -> Result {
        let machine = Machine::new()?;
        let object = machine.object(PAGE_SIZE)?;
        object.private.store(true, Relaxed);
        assert_eq!(Buffer::of(&object).err(), Some(EPERM));
        Ok(())
    }
}
