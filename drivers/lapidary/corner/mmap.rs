// SPDX-License-Identifier: GPL-2.0 OR MIT

//! CPU mappings of objects.
//!
//! A mapping starts empty. The fault handler enters its pages from wherever the object lies at that moment, either a
//! part of BAR0, write-combined, or pages of system memory. The handler sees only page frame numbers (`VM_PFNMAP`),
//! so a process can neither pin nor copy-on-write what it maps. Private mappings are therefore refused.
//!
//! `mremap`, `fork` and partial `munmap` only split, move and copy the range. Each part holds a reference to the
//! object. The handler counts pages from the object's mmap offset, not from the start of the range.
//!
//! When the device is unplugged, the core removes all entries. The handler then enters none and returns SIGBUS.

use core::marker::PhantomData;

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
    mm::virt::{
        self,
        VmaNew, //
    },
    page::PAGE_SIZE,
    prelude::*, //
};

use crate::corner::{
    extra,
    gem::{
        Backed,
        Frame, //
    },
    prime::Shareable, //
};

/// Pages entered by one fault at most. A sequential reader faults once in 64 KiB.
const AROUND: usize = 16;

const NOPAGE: bindings::vm_fault_t = bindings::vm_fault_reason_VM_FAULT_NOPAGE;
const RETRY: bindings::vm_fault_t = bindings::vm_fault_reason_VM_FAULT_RETRY;
const SIGBUS: bindings::vm_fault_t = bindings::vm_fault_reason_VM_FAULT_SIGBUS;
const OOM: bindings::vm_fault_t = bindings::vm_fault_reason_VM_FAULT_OOM;

/// Any of the bits that say that no entry was made (`VM_FAULT_ERROR`).
const FAILED: bindings::vm_fault_t = OOM
    | SIGBUS
    | bindings::vm_fault_reason_VM_FAULT_SIGSEGV
    | bindings::vm_fault_reason_VM_FAULT_HWPOISON
    | bindings::vm_fault_reason_VM_FAULT_HWPOISON_LARGE
    | bindings::vm_fault_reason_VM_FAULT_FALLBACK;

/// Remove all page table entries of `object` from all address spaces. The next access is a fault.
///
/// A caller that holds the reservation knows that no entry is made until it releases the reservation.
pub fn zap<O: IntoGEMObject>(object: &O) {
    // SAFETY: The object is alive, and so is its device.
    unsafe { extra::lapidary_gem_unmap(object.as_raw()) };
}

/// The operations of mappings of objects with data `T`.
pub(super) struct Ops<T>(PhantomData<T>);

impl<T: Shareable> Ops<T> {
    /// The `mmap` object function. Decide whether the kind of mapping is allowed, and mark the mapping. A mapping of
    /// another driver's memory is passed on to that driver.
    ///
    /// # Safety
    ///
    /// Only the DRM core may call this, for a mapping in the making.
    pub(super) unsafe extern "C" fn prepare(
        raw: *mut bindings::drm_gem_object,
        vma: *mut bindings::vm_area_struct,
    ) -> c_int {
        // SAFETY: The core passes objects whose functions are those of objects with data `T`.
        let object = unsafe { gem::Object::<T>::from_raw(raw) };
        if object.is_private() {
            return EPERM.to_errno();
        }
        // SAFETY: The object is alive. The field does not change after the object has been made.
        let attach = unsafe { (*raw).import_attach };
        if !attach.is_null() {
            // SAFETY: The mapping is in the making and we may pass it on. The attachment lives as long as the object.
            // On success the mapping holds the buffer instead of the object.
            return unsafe {
                let first = (*vma).vm_pgoff - (*raw).vma_node.vm_node.start as usize;
                (*vma).vm_ops = core::ptr::null();
                (*vma).vm_private_data = core::ptr::null_mut();
                let result = bindings::dma_buf_mmap((*attach).dmabuf, vma, first);
                if result == 0 {
                    // The DRM core requires this, and some exporters do not do it themselves.
                    extra::lapidary_vma_fixed(vma);
                    bindings::drm_gem_object_put(raw);
                }
                result
            };
        }
        // SAFETY: The mapping is in the making.
        let flags = unsafe { VmaNew::from_raw(vma) }.flags();
        // Without VM_SHARED a store would have to copy the page, but only the number of the page is known.
        if flags & (virt::flags::SHARED | virt::flags::MAYWRITE) == virt::flags::MAYWRITE {
            return EINVAL.to_errno();
        }
        // SAFETY: As above.
        unsafe { extra::lapidary_vma_raw_pages(vma) };
        0
    }

    pub(super) const OPS: bindings::vm_operations_struct = bindings::vm_operations_struct {
        open: Some(bindings::drm_gem_vm_open),
        close: Some(bindings::drm_gem_vm_close),
        fault: Some(Self::fault),
        ..pin_init::zeroed()
    };

    /// # Safety
    ///
    /// Only the fault path may call this, for a mapping made by `drm_gem_mmap()`.
    unsafe extern "C" fn fault(vmf: *mut bindings::vm_fault) -> bindings::vm_fault_t {
        // SAFETY: `vmf` is valid. Its mapping is locked for reading and holds a reference to an object whose
        // functions are those of `Backed` objects with data `T`.
        let (fault, object) = unsafe {
            let at = &(*vmf).__bindgen_anon_1;
            let fault = Fault {
                vma: at.vma,
                address: at.address,
                pgoff: at.pgoff,
                flags: (*vmf).flags,
            };
            (
                fault,
                gem::Object::<T>::from_raw((*at.vma).vm_private_data.cast()),
            )
        };
        match fault.handle(object) {
            Ok(()) => NOPAGE,
            Err(code) => code,
        }
    }
}

/// One page fault.
///
/// # Invariants
///
/// `vma` is locked for reading, or the handler is about to return [`RETRY`].
struct Fault {
    vma: *mut bindings::vm_area_struct,
    address: usize,
    pgoff: usize,
    flags: bindings::fault_flag,
}

impl Fault {
    fn handle<T: Backed>(&self, object: &gem::Object<T>) -> Result<(), bindings::vm_fault_t> {
        let raw = object.as_raw();
        // SAFETY: The object is alive. Its offset does not change while it is mapped.
        let start = unsafe { (*raw).vma_node.vm_node.start };
        let first = (self.pgoff as u64).checked_sub(start).ok_or(SIGBUS)? as usize;
        if first >= object.size() / PAGE_SIZE {
            return Err(SIGBUS);
        }

        let _locked = self.lock(object)?.idle(self, object)?;

        // SAFETY: An object that is mapped belongs to a device that has been registered.
        let dev = unsafe { drm::Device::<T::Driver, drm::Ioctl>::from_raw((*raw).dev) };
        let guard = dev.registration_guard().ok_or(SIGBUS)?;

        // SAFETY: The mapping is locked.
        let (prot, end) = unsafe {
            let vma = &*self.vma;
            (
                vma.vm_page_prot,
                vma.__bindgen_anon_1.__bindgen_anon_1.vm_end,
            )
        };
        let mut address = self.address;
        let mut done: usize = 0;
        let mut result = Err(SIGBUS);
        let entered = T::frames(object, &guard, first, &mut |frame| {
            let (frame, prot) = match frame {
                // SAFETY: The function only computes.
                Frame::Vram(frame) => (frame, unsafe { extra::lapidary_pgprot_vram(prot) }),
                Frame::Ram(frame) => (frame, prot),
            };
            // SAFETY: The mapping is locked, shared and raw, `address` lies in it, and the frame belongs to the
            // object by the contract of `Backed`.
            let code = unsafe { bindings::vmf_insert_pfn_prot(self.vma, address, frame, prot) };
            // Only the result for the faulting page counts. The other pages are read-ahead.
            if done == 0 {
                result = if code & FAILED == 0 {
                    Ok(())
                } else {
                    Err(code)
                };
            }
            done += 1;
            address += PAGE_SIZE;
            code & FAILED == 0 && done < AROUND && address < end
        });
        match entered {
            Ok(()) => result,
            Err(e) if e == ENOMEM => Err(OOM),
            Err(e) if e == EINTR || e == EAGAIN || e == ERESTARTSYS => Err(NOPAGE),
            Err(_) => Err(SIGBUS),
        }
    }

    /// Return whether the handler may drop the lock of the address space and have the fault repeated.
    fn may_retry(&self) -> bool {
        self.flags & bindings::fault_flag_FAULT_FLAG_ALLOW_RETRY != 0
            && self.flags & bindings::fault_flag_FAULT_FLAG_TRIED == 0
    }

    /// Wait with `wait` and have the fault repeated. The lock of the address space is released for the wait, because
    /// other threads need it.
    fn retry<T: Backed>(
        &self,
        object: &gem::Object<T>,
        wait: impl FnOnce(*mut bindings::dma_resv),
    ) -> bindings::vm_fault_t {
        if self.flags & bindings::fault_flag_FAULT_FLAG_RETRY_NOWAIT == 0 {
            // The mapping may be freed as soon as the lock is released, and with it two references: that to the
            // object, and that to the file, which keeps device and module.
            let object: kernel::sync::aref::ARef<gem::Object<T>> = object.into();
            // SAFETY: The mapping is still locked, and has a file.
            let file = unsafe { bindings::get_file((*self.vma).vm_file) };
            // SAFETY: The fault path holds the lock of the address space for reading, and expects it to be released
            // when it is told to retry. (Faults under a mapping's own lock do not reach this function: the core
            // repeats them under the big lock if there is no `map_pages`.)
            unsafe { bindings::mmap_read_unlock((*self.vma).vm_mm) };
            // SAFETY: The object is alive.
            wait(unsafe { (*object.as_raw()).resv });
            drop(object);
            // SAFETY: The reference was taken above. The last one is dropped when the task is back in user space.
            unsafe { bindings::fput(file) };
        }
        RETRY
    }

    /// Lock the reservation. Its holder may be waiting for memory or for the GPU. So the first attempt is a trylock,
    /// and other threads of the process need not wait as well.
    fn lock<'a, T: Backed>(
        &self,
        object: &'a gem::Object<T>,
    ) -> Result<Locked<'a, T>, bindings::vm_fault_t> {
        // SAFETY: The object and its reservation are alive.
        let lock = unsafe { &raw mut (*(*object.as_raw()).resv).lock };
        // SAFETY: As above.
        if unsafe { bindings::ww_mutex_trylock(lock, core::ptr::null_mut()) } == 0 {
            if self.may_retry() {
                return Err(self.retry(object, |resv| {
                    // SAFETY: `retry` holds a reference to the object.
                    unsafe {
                        let lock = &raw mut (*resv).lock;
                        if bindings::ww_mutex_lock_interruptible(lock, core::ptr::null_mut()) == 0 {
                            bindings::ww_mutex_unlock(lock);
                        }
                    }
                }));
            }
            // SAFETY: As above.
            if unsafe { bindings::ww_mutex_lock_interruptible(lock, core::ptr::null_mut()) } != 0 {
                return Err(NOPAGE);
            }
        }
        Ok(Locked(object))
    }
}

/// An object whose reservation is locked by the fault handler.
struct Locked<'a, T: Backed>(&'a gem::Object<T>);

impl<T: Backed> Locked<'_, T> {
    fn resv(&self) -> *mut bindings::dma_resv {
        // SAFETY: The object is alive.
        unsafe { (*self.0.as_raw()).resv }
    }

    /// Wait until the kernel's own use of the object (clears and moves) ends.
    fn idle(self, fault: &Fault, object: &gem::Object<T>) -> Result<Self, bindings::vm_fault_t> {
        const KERNEL: bindings::dma_resv_usage = bindings::dma_resv_usage_DMA_RESV_USAGE_KERNEL;
        const FOREVER: usize = isize::MAX as usize;

        // SAFETY: The reservation is alive, here and below.
        if unsafe { bindings::dma_resv_test_signaled(self.resv(), KERNEL) } {
            return Ok(self);
        }
        if fault.may_retry() {
            // Unlock before `retry`, which may drop the last reference to the object.
            drop(self);
            return Err(fault.retry(object, |resv| {
                // SAFETY: `retry` holds a reference to the object. The result is ignored, because the repeated fault
                // tests again.
                unsafe { bindings::dma_resv_wait_timeout(resv, KERNEL, true, FOREVER) };
            }));
        }
        // SAFETY: As above.
        match unsafe { bindings::dma_resv_wait_timeout(self.resv(), KERNEL, true, FOREVER) } {
            left if left > 0 => Ok(self),
            _ => Err(NOPAGE),
        }
    }
}

impl<T: Backed> Drop for Locked<'_, T> {
    fn drop(&mut self) {
        // SAFETY: Locked by `Fault::lock`.
        unsafe { bindings::dma_resv_unlock(self.resv()) };
    }
}

#[kunit_tests(lapidary_mmap)]
mod tests {
    use super::*;
    use crate::corner::gem_kunit::{
        Machine,
        Object, //
    };
    use bindings::{
        fault_flag_FAULT_FLAG_ALLOW_RETRY as ALLOW_RETRY,
        fault_flag_FAULT_FLAG_TRIED as TRIED, //
    };

    #[test]
    fn a_private_mapping_is_refused_and_left_alone() -> Result {
        let machine = Machine::new()?;
        let object = machine.object(PAGE_SIZE)?;
        let mut vma = KBox::new(pin_init::zeroed::<bindings::vm_area_struct>(), GFP_KERNEL)?;
        let private = virt::flags::MAYREAD | virt::flags::MAYWRITE;
        vma.__bindgen_anon_2.vm_flags = private;
        // SAFETY: Object and mapping are alive. No other thread knows of the mapping.
        let code = unsafe { Ops::<Object>::prepare(object.as_raw(), &mut *vma) };
        assert_eq!(code, EINVAL.to_errno());
        // SAFETY: All variants of the union are flags.
        assert_eq!(unsafe { vma.__bindgen_anon_2.vm_flags }, private);
        Ok(())
    }

    #[test]
    fn a_fault_is_repeated_once_and_only_where_it_may_be() {
        let may = |flags| {
            let fault = Fault {
                vma: core::ptr::null_mut(),
                address: 0,
                pgoff: 0,
                flags,
            };
            fault.may_retry()
        };
        assert!(may(ALLOW_RETRY));
        assert!(!may(ALLOW_RETRY | TRIED));
        assert!(!may(0));
        assert!(!may(TRIED));
    }
}
