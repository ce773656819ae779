// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The system pages of a GEM object, and their addresses for the device.
//!
//! The pages are those of a shared-memory file. An object gets this file when its pages are first requested, and
//! keeps it. Most objects in VRAM never have one. [`Pages`] holds all pages in memory. New pages are zeroed. While
//! they are mapped for the device, it may access them at the addresses of [`Pages::addresses`].
//!
//! Two things end at different times. A device mapping must be gone when the device is unbound, because the IOMMU
//! then forgets the device. The pages themselves stay as long as the object or a CPU mapping.
//!
//! C: `shmem_file_setup()`, `drm_gem_get_pages()`, `drm_gem_huge_mnt_create()`, `dma_map_page_attrs()`.

use core::{
    ptr,
    slice, //
};

use kernel::{
    bindings,
    device,
    dma::DmaAddress,
    drm::{
        self,
        gem::{
            BaseObject,
            IntoGEMObject, //
        },
    },
    error::{
        from_err_ptr,
        to_result, //
    },
    page::PAGE_SIZE,
    prelude::*, //
};

use crate::corner::{
    extra,
    wc, //
};

const BOTH_WAYS: bindings::dma_data_direction = bindings::dma_data_direction::DMA_BIDIRECTIONAL;

/// Give the objects of `dev` files whose pages are allocated in pieces as large as fit into the object. Otherwise, or
/// if no such piece is free, each page is allocated by itself.
///
/// Only the cost depends on it. So the function reports no error, neither for a kernel that cannot do it
/// (`CONFIG_TRANSPARENT_HUGEPAGE`) nor for lack of memory.
pub fn in_large_pieces<D: drm::Driver>(dev: &drm::UnregisteredDevice<D>) {
    let dev: &drm::Device<D> = dev;
    let raw = ptr::from_ref(dev).cast_mut().cast::<bindings::drm_device>();
    // SAFETY: `drm::Device` begins with the `struct drm_device`, which is alive. No client has objects of a device
    // that is not registered, so no file is made at the same time.
    unsafe { extra::lapidary_gem_large_pieces(raw) };
}

/// Addresses of pages for one device.
///
/// # Invariants
///
/// `addresses` is empty, or holds the address of each page, mapped for `device`.
pub(super) struct Mapping {
    addresses: KVVec<DmaAddress>,
    /// Only for comparison.
    device: *const bindings::device,
}

impl Mapping {
    /// Return no addresses, with room for `count`.
    pub(super) fn new(count: usize) -> Result<Self> {
        Ok(Self {
            // Allocated here, because pages are mapped under locks, where allocation is not allowed.
            addresses: KVVec::with_capacity(count, GFP_KERNEL)?,
            device: ptr::null(),
        })
    }

    /// Return the addresses, one for each page. Empty while not mapped.
    pub(super) fn addresses(&self) -> &[DmaAddress] {
        &self.addresses
    }

    /// Map the pages, as [`Pages::map`] does.
    ///
    /// # Safety
    ///
    /// `pages` are held until there is no mapping any more. They are as many as there is room for.
    pub(super) unsafe fn map(
        &mut self,
        dev: &device::Device<device::Bound>,
        pages: &[*mut bindings::page],
    ) -> Result {
        let raw = raw_device(dev);
        if !self.addresses.is_empty() {
            return if ptr::eq(self.device, raw) {
                Ok(())
            } else {
                Err(EBUSY)
            };
        }
        let mut addresses = core::mem::take(&mut self.addresses);
        let mut result = Ok(());
        for &page in pages {
            match Self::map_page(raw, page) {
                // There is room, so this cannot fail and lose the mapping.
                Ok(addr) => drop(addresses.push_within_capacity(addr)),
                Err(e) => {
                    result = Err(e);
                    break;
                }
            }
        }
        if result.is_err() {
            // SAFETY: These mappings were made above, and no other code knows them yet.
            unsafe { Self::unmap_pages(raw, &addresses) };
            addresses.clear();
        } else {
            self.device = raw;
        }
        // INVARIANT: One address for each page, or none.
        self.addresses = addresses;
        result
    }

    fn map_page(dev: *mut bindings::device, page: *mut bindings::page) -> Result<DmaAddress> {
        // SAFETY: The device is bound, the page held.
        let addr = unsafe { bindings::dma_map_page_attrs(dev, page, 0, PAGE_SIZE, BOTH_WAYS, 0) };
        // SAFETY: `addr` is what the mapping function returned.
        if unsafe { extra::lapidary_dma_mapping_error(dev, addr) } {
            return Err(EIO);
        }
        // SAFETY: As above; it is mapped.
        if unsafe { extra::lapidary_dma_need_sync(dev, addr) } {
            // SAFETY: Mapped above. No other code has the address.
            unsafe { bindings::dma_unmap_page_attrs(dev, addr, PAGE_SIZE, BOTH_WAYS, 0) };
            return Err(EIO);
        }
        Ok(addr)
    }

    /// # Safety
    ///
    /// `addresses` are mappings of whole pages made for `dev`, which are not used any more.
    unsafe fn unmap_pages(dev: *mut bindings::device, addresses: &[DmaAddress]) {
        for &addr in addresses {
            // SAFETY: By the caller's promise.
            unsafe { bindings::dma_unmap_page_attrs(dev, addr, PAGE_SIZE, BOTH_WAYS, 0) };
        }
    }

    /// End the mapping, as [`Pages::unmap`] does.
    pub(super) fn unmap(&mut self, dev: &device::Device<device::Bound>) {
        let raw = raw_device(dev);
        if ptr::eq(self.device, raw) {
            self.device = ptr::null();
            // SAFETY: By the invariant they are mappings made for `dev`.
            unsafe { Self::unmap_pages(raw, &self.addresses) };
            self.addresses.clear();
        }
    }
}

/// All pages of one object, held in memory.
///
/// The owner releases it with [`Pages::put`]. Dropping it leaks the pages.
///
/// # Invariants
///
/// `pages` is what `drm_gem_get_pages()` returned for `object`, and `count` is its length. `mapping` maps these pages
/// and has room for all of them.
pub struct Pages {
    /// Only for comparison.
    object: *const bindings::drm_gem_object,
    pages: *mut *mut bindings::page,
    count: usize,
    mapping: Mapping,
}

// SAFETY: Neither pages nor mappings belong to a thread.
unsafe impl Send for Pages {}
// SAFETY: A shared reference only reads.
unsafe impl Sync for Pages {}

/// Return the C device. `device::Device` is a transparent wrapper of `struct device`.
fn raw_device(dev: &device::Device<device::Bound>) -> *mut bindings::device {
    ptr::from_ref(dev).cast_mut().cast()
}

impl Pages {
    /// Take all pages of `object` into memory. Pages that do not exist yet are allocated and zeroed, and with the
    /// first of them the file.
    ///
    /// May sleep and reclaim memory. Do not call it twice for one object without a `put` between. (This is harmless
    /// for memory safety, but the first `put` makes the pages swappable again.) The driver's objects get pages under
    /// their reservations. Without a reservation two concurrent callers still find the same file.
    ///
    /// # Errors
    ///
    /// `ENOMEM`; `ENFILE` if the machine has as many open files as it may (`fs.file-max`); `EINTR` if the caller is
    /// being killed.
    pub fn get<O: IntoGEMObject>(object: &O) -> Result<Self> {
        let raw = object.as_raw();
        let count = object.size() / PAGE_SIZE;
        let mapping = Mapping::new(count)?;
        // SAFETY: The object is alive.
        to_result(unsafe { extra::lapidary_gem_file(raw) })?;
        // SAFETY: The object is alive and has a file.
        let pages = from_err_ptr(unsafe { bindings::drm_gem_get_pages(raw) })?;
        // INVARIANT: The array is as long as the object. Nothing is mapped.
        Ok(Self {
            object: raw,
            pages,
            count,
            mapping,
        })
    }

    /// Return the number of pages.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Return the page frame number of page `index`, `None` behind the end.
    pub fn frame(&self, index: usize) -> Option<usize> {
        let &page = self.pages().get(index)?;
        // SAFETY: Every pointer in the array is a page that is held.
        Some(unsafe { extra::lapidary_page_to_pfn(page) })
    }

    fn pages(&self) -> &[*mut bindings::page] {
        // SAFETY: By the invariant there are `count` pointers, which do not change.
        unsafe { slice::from_raw_parts(self.pages, self.count) }
    }

    /// Return the pages as C functions take them: an array and its length.
    pub(super) fn list(&self) -> (*mut *mut bindings::page, usize) {
        (self.pages, self.count)
    }

    /// Return the addresses for the device, one for each page. Empty while not mapped.
    pub fn addresses(&self) -> &[DmaAddress] {
        self.mapping.addresses()
    }

    /// Make the pages accessible to `dev`, for reading and writing. Does nothing if they are already.
    ///
    /// Allocates no memory itself.
    ///
    /// # Errors
    ///
    /// `EBUSY` if they are mapped for another device; `EIO` if the device's DMA mask or the IOMMU does not allow it,
    /// or only by copying (which a GPU that keeps the pages for long cannot use).
    pub fn map(&mut self, dev: &device::Device<device::Bound>) -> Result {
        // SAFETY: By the invariant there are `count` pages, which are held until `put` finds them unmapped.
        unsafe {
            self.mapping
                .map(dev, slice::from_raw_parts(self.pages, self.count))
        }
    }

    /// End what [`Pages::map`] began. The page table entries are gone and the TLB is flushed, so the device does not
    /// use the addresses any more. Does nothing if `dev` has no mapping.
    pub fn unmap(&mut self, dev: &device::Device<device::Bound>) {
        self.mapping.unmap(dev);
    }

    /// Unpin the pages, which keep their content until the object is freed.
    ///
    /// They leak instead if `object` is another object, or if they are still mapped for a device.
    pub fn put<O: IntoGEMObject>(self, object: &O) {
        if !ptr::eq(self.object, object.as_raw()) || !self.addresses().is_empty() {
            kernel::pr_warn_once!("pages of an object leak: still mapped for a device\n");
            return;
        }
        // SAFETY: The array belongs to this object, which is alive, and is not used afterwards.
        unsafe { bindings::drm_gem_put_pages(object.as_raw(), self.pages, true, true) };
    }

    /// Free the pages. Their content is lost, and the next pages of `object` are zero again. The pages are not
    /// mapped.
    ///
    /// They leak instead if `object` is another object, or if they are still mapped for a device.
    pub fn discard<O: IntoGEMObject>(self, object: &O) {
        self.put(object);
        // SAFETY: The object is alive. It has a file because it had pages.
        unsafe { extra::lapidary_gem_discard(object.as_raw()) };
    }

    /// Fill the pages from device memory.
    ///
    /// # Errors
    ///
    /// `EINVAL` if `window` is shorter than the pages.
    pub fn read_device(&mut self, window: &wc::Window<'_>) -> Result {
        if window.size() / PAGE_SIZE < self.count {
            return Err(EINVAL);
        }
        // SAFETY: By the invariant there are `count` pages, which are held. The window is mapped and at least as
        // long.
        unsafe { extra::lapidary_pages_from_io(self.pages, self.count, window.address()) };
        Ok(())
    }

    /// Write the pages to device memory.
    ///
    /// # Errors
    ///
    /// `EINVAL` if `window` is shorter than the pages.
    pub fn write_device(&self, window: &wc::Window<'_>) -> Result {
        if window.size() / PAGE_SIZE < self.count {
            return Err(EINVAL);
        }
        // SAFETY: By the invariant there are `count` pages, which are held. The window is mapped and at least as
        // long.
        unsafe { extra::lapidary_pages_to_io(self.pages, self.count, window.address().cast_mut()) };
        Ok(())
    }
}

#[kunit_tests(lapidary_pages)]
mod tests {
    use super::*;
    use crate::corner::gem_kunit::Machine;

    #[test]
    fn pages_have_frames_and_addresses() -> Result {
        let machine = Machine::new()?;
        let object = machine.object(3 * PAGE_SIZE)?;
        let mut pages = Pages::get(&*object)?;
        assert!(pages.frame(0).is_some() && pages.frame(2).is_some());
        assert_eq!(pages.frame(3), None);
        assert!(pages.addresses().is_empty());
        pages.map(machine.dev())?;
        assert_eq!(pages.addresses().len(), 3);
        assert!(pages.addresses().iter().all(|a| a % PAGE_SIZE as u64 == 0));
        // A second call changes nothing.
        let before = pages.addresses()[0];
        pages.map(machine.dev())?;
        assert_eq!(pages.addresses()[0], before);
        assert_eq!(pages.addresses().len(), 3);
        pages.unmap(machine.dev());
        assert!(pages.addresses().is_empty());
        pages.unmap(machine.dev());
        pages.put(&*object);
        Ok(())
    }

    #[test]
    fn one_device_at_a_time() -> Result {
        let machine = Machine::new()?;
        let other = Machine::new()?;
        let object = machine.object(PAGE_SIZE)?;
        let mut pages = Pages::get(&*object)?;
        pages.map(machine.dev())?;
        assert_eq!(pages.map(other.dev()).err(), Some(EBUSY));
        pages.unmap(other.dev());
        assert_eq!(pages.addresses().len(), 1);
        pages.unmap(machine.dev());
        pages.put(&*object);
        Ok(())
    }

    #[test]
    fn pages_come_in_large_pieces() -> Result {
        const LARGE: usize = 256;

        let machine = Machine::new()?;
        in_large_pieces(machine.drm());
        let object = machine.object((LARGE + 1) * PAGE_SIZE)?;
        let pages = Pages::get(&*object)?;
        let first = pages.frame(0).ok_or(EINVAL)?;
        assert_eq!(first % LARGE, 0);
        assert!((0..LARGE).all(|i| pages.frame(i) == Some(first + i)));
        assert!(pages.frame(LARGE).is_some());
        pages.put(&*object);
        Ok(())
    }

    #[test]
    fn discarded_pages_are_gone() -> Result {
        let machine = Machine::new()?;
        let object = machine.object(2 * PAGE_SIZE)?;
        for _ in 0..2 {
            let pages = Pages::get(&*object)?;
            assert!(pages.frame(1).is_some());
            pages.discard(&*object);
        }
        Ok(())
    }

    #[test]
    fn content_survives_put_and_get() -> Result {
        let machine = Machine::new()?;
        let object = machine.object(PAGE_SIZE)?;
        let pages = Pages::get(&*object)?;
        let frame = pages.frame(0);
        pages.put(&*object);
        let pages = Pages::get(&*object)?;
        assert_eq!(pages.frame(0), frame);
        pages.put(&*object);
        Ok(())
    }
}
