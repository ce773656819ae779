// SPDX-License-Identifier: GPL-2.0 OR MIT

//! CPU mappings of objects.
//!
//! A mapping is memory that the GPU writes behind the compiler's back, so it is only ever read and
//! written through volatile accesses, a dword at a time.

use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};
use std::ffi::c_void;
use std::os::fd::AsFd;

/// Bytes of a page.
pub const PAGE: u64 = 4096;

/// A shared CPU mapping; unmapped when dropped.
#[derive(Debug)]
pub struct Mapping {
    address: *mut c_void,
    bytes: usize,
}

impl Mapping {
    /// Map `bytes` of the device file at `offset` with the given flags, readable and writable.
    pub fn new(
        device: impl AsFd,
        offset: u64,
        bytes: usize,
        flags: MapFlags,
    ) -> Result<Mapping, Errno> {
        // SAFETY: a new mapping at an address of the kernel's choice touches no existing memory.
        let address = unsafe {
            rustix::mm::mmap(
                std::ptr::null_mut(),
                bytes,
                ProtFlags::READ | ProtFlags::WRITE,
                flags,
                device,
                offset,
            )?
        };
        Ok(Mapping { address, bytes })
    }

    /// Return the address of the first byte.
    pub fn address(&self) -> *mut c_void {
        self.address
    }

    /// Return the length in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Return the length in dwords.
    pub fn len(&self) -> usize {
        self.bytes / 4
    }

    /// Return true for a mapping without a dword.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn at(&self, index: usize) -> *mut u32 {
        assert!(
            index < self.len(),
            "dword {index} of a mapping of {}",
            self.len()
        );
        // SAFETY: the index was checked against the mapping's length.
        unsafe { self.address.cast::<u32>().add(index) }
    }

    /// Read one dword.
    pub fn get(&self, index: usize) -> u32 {
        // SAFETY: in bounds by `at`, aligned as mappings start at pages.
        unsafe { self.at(index).read_volatile() }
    }

    /// Write one dword.
    pub fn set(&self, index: usize, value: u32) {
        // SAFETY: as in `get`; the memory is shared with the GPU and there are no references to it.
        unsafe { self.at(index).write_volatile(value) }
    }

    /// Read `count` dwords from `first`.
    pub fn read(&self, first: usize, count: usize) -> Vec<u32> {
        (first..first + count).map(|i| self.get(i)).collect()
    }

    /// Write dwords from `first`.
    pub fn write(&self, first: usize, words: &[u32]) {
        for (i, &word) in words.iter().enumerate() {
            self.set(first + i, word);
        }
    }

    /// Give up ownership: the caller unmaps.
    pub fn leak(self) -> *mut c_void {
        let address = self.address;
        std::mem::forget(self);
        address
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours and no reference into it exists.
        let _ = unsafe { rustix::mm::munmap(self.address, self.bytes) };
    }
}
