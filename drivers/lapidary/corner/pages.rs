// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The system pages of a GEM object, and their addresses for the device.
//!
//! They are those of a shared-memory file, which an object gets when its pages are first asked for, and keeps. Most
//! objects of VRAM never have one. [`Pages`] holds all pages in memory, zeroed when they are new; while it is mapped,
//! the device may reach them under the addresses of [`Pages::addresses`].
//!
//! Two things end at different times: a device mapping must be gone when the device is unbound (the
//! IOMMU forgets the device then), the pages themselves stay as long as the object or a CPU mapping.
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

/// Gives the objects of `dev` files whose pages are allocated in pieces as large as fit into the object. Without, or
/// where such a piece is not to be had, each page is allocated for itself.
///
/// Only the cost depends on it. So there is no error: not where the kernel cannot do so
/// (`CONFIG_TRANSPARENT_HUGEPAGE`), nor where there is no memory for it.
pub fn in_large_pieces<D: drm::Driver>(dev: &drm::UnregisteredDevice<D>) {
    let dev: &drm::Device<D> = dev;
    let raw = ptr::from_ref(dev).cast_mut().cast::<bindings::drm_device>();
    // SAFETY: `drm::Device` begins with the `struct drm_device`, which is alive. No client has objects of a device that
    // is not registered, so that no file is made at the same time.
    unsafe { extra::lapidary_gem_large_pieces(raw) };
}

/// Addresses of pages for one device.
///
/// # Invariants
///
/// `addresses` is empty, or holds the address of each page, mapped for `device`.
pub(super) struct Mapping {
    addresses: KVVec<DmaAddress>,
    /// Only to compare with.
    device: *const bindings::device,
}

impl Mapping {
    /// No addresses, with room for `count`.
    pub(super) fn new(count: usize) -> Result<Self> {
        Ok(Self {
            // Now, for there is no other time: what is mapped is mapped under locks.
            addresses: KVVec::with_capacity(count, GFP_KERNEL)?,
            device: ptr::null(),
        })
    }

    /// The addresses, one for each page; empty while not mapped.
    pub(super) fn addresses(&self) -> &[DmaAddress] {
        &self.addresses
    }

    /// As [`Pages::map`].
    ///
    /// # Safety
    ///
    /// `pages` are held until there is no mapping any more; they are as many as there is room for.
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
                // There is room: this cannot fail and lose the mapping.
                Ok(addr) => drop(addresses.push_within_capacity(addr)),
                Err(e) => {
                    result = Err(e);
                    break;
                }
            }
        }
        if result.is_err() {
            // SAFETY: They are mappings made above, which nobody knows yet.
            unsafe { Self::unmap_pages(raw, &addresses) };
            addresses.clear();
        } else {
            self.device = raw;
        }
        // INVARIANT: One round for each page, or none.
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
            // SAFETY: Mapped above; nobody else has the address.
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

    /// As [`Pages::unmap`].
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
/// Whoever has it gives it back with [`Pages::put`]; merely dropping it leaks the pages.
///
/// # Invariants
///
/// `pages` is what `drm_gem_get_pages()` returned for `object`, `count` its length. `mapping` is theirs. It has room
/// for all of them.
pub struct Pages {
    /// Only to compare with.
    object: *const bindings::drm_gem_object,
    pages: *mut *mut bindings::page,
    count: usize,
    mapping: Mapping,
}

// SAFETY: Neither pages nor mappings are tied to a thread.
unsafe impl Send for Pages {}
// SAFETY: A shared reference only reads.
unsafe impl Sync for Pages {}

/// `device::Device` is a transparent wrapper of `struct device`.
fn raw_device(dev: &device::Device<device::Bound>) -> *mut bindings::device {
    ptr::from_ref(dev).cast_mut().cast()
}

impl Pages {
    /// Takes hold of all pages of `object`; those that do not exist yet are allocated, zeroed, and with the first of
    /// them the file.
    ///
    /// May sleep and reclaim memory. Not to be called twice for one object without a `put` between (harmless for memory
    /// safety, but the first `put` makes the pages swappable again). The driver's objects get pages under their
    /// reservations; without one, two callers at once still find the same file.
    ///
    /// Errors: `ENOMEM`; `ENFILE` if the machine has as many open files as it may (`fs.file-max`); `EINTR` if the
    /// caller is being killed.
    pub fn get<O: IntoGEMObject>(object: &O) -> Result<Self> {
        let raw = object.as_raw();
        let count = object.size() / PAGE_SIZE;
        let mapping = Mapping::new(count)?;
        // SAFETY: The object is alive.
        to_result(unsafe { extra::lapidary_gem_file(raw) })?;
        // SAFETY: The object is alive and has a file.
        let pages = from_err_ptr(unsafe { bindings::drm_gem_get_pages(raw) })?;
        // INVARIANT: The array is as long as the object; nothing is mapped.
        Ok(Self {
            object: raw,
            pages,
            count,
            mapping,
        })
    }

    /// The number of pages.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Page frame number of page `index`, `None` behind the end.
    pub fn frame(&self, index: usize) -> Option<usize> {
        let &page = self.pages().get(index)?;
        // SAFETY: Every pointer in the array is a page that is held.
        Some(unsafe { extra::lapidary_page_to_pfn(page) })
    }

    fn pages(&self) -> &[*mut bindings::page] {
        // SAFETY: By the invariant there are `count` pointers, which nobody changes.
        unsafe { slice::from_raw_parts(self.pages, self.count) }
    }

    /// The pages as C functions want them: an array and its length.
    pub(super) fn list(&self) -> (*mut *mut bindings::page, usize) {
        (self.pages, self.count)
    }

    /// Addresses for the device, one for each page; empty while not mapped.
    pub fn addresses(&self) -> &[DmaAddress] {
        self.mapping.addresses()
    }

    /// Makes the pages reachable for `dev`, for reading and writing. Nothing happens if they are already.
    ///
    /// Allocates no memory itself.
    ///
    /// Errors: `EBUSY` if another device has them; `EIO` if the device's DMA mask or the IOMMU
    /// does not allow it, or only by copying (which a GPU that keeps the pages for long cannot use).
    pub fn map(&mut self, dev: &device::Device<device::Bound>) -> Result {
        // SAFETY: By the invariant there are `count` pages, which are held until `put` finds them unmapped.
        unsafe {
            self.mapping
                .map(dev, slice::from_raw_parts(self.pages, self.count))
        }
    }

    /// Ends what [`Pages::map`] began. The device must not use the addresses any more: the page table
    /// entries are gone and flushed. Nothing happens if `dev` has no mapping.
    pub fn unmap(&mut self, dev: &device::Device<device::Bound>) {
        self.mapping.unmap(dev);
    }

    /// Lets go of the pages, which keep their content until the object is freed.
    ///
    /// They leak instead if `object` is not theirs, or if they are still mapped for a device.
    pub fn put<O: IntoGEMObject>(self, object: &O) {
        if !ptr::eq(self.object, object.as_raw()) || !self.addresses().is_empty() {
            kernel::pr_warn_once!("pages of an object leak: still mapped for a device\n");
            return;
        }
        // SAFETY: The array belongs to this object, which is alive, and is not used afterwards.
        unsafe { bindings::drm_gem_put_pages(object.as_raw(), self.pages, true, true) };
    }

    /// Frees the pages: their content is lost, and the next ones of `object` are zero again. There is no mapping of
    /// them.
    ///
    /// They leak instead if `object` is not theirs, or if they are still mapped for a device.
    pub fn discard<O: IntoGEMObject>(self, object: &O) {
        self.put(object);
        // SAFETY: The object is alive, and has a file: it had pages.
        unsafe { extra::lapidary_gem_discard(object.as_raw()) };
    }

    /// Fills the pages from device memory.
    ///
    /// Errors: `EINVAL` if `window` is shorter than the pages.
    pub fn read_device(&mut self, window: &wc::Window<'_>) -> Result {
        if window.size() / PAGE_SIZE < self.count {
            return Err(EINVAL);
        }
        // SAFETY: By the invariant there are `count` pages, which are held; the window is mapped and as long.
        unsafe { extra::lapidary_pages_from_io(self.pages, self.count, window.address()) };
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
        // A second time changes nothing.
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
