// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Buffer objects and their CPU mappings.
//!
//! A mapping is memory that the GPU writes behind the compiler's back, so it is only ever read and
//! written through volatile accesses, a dword at a time.

use crate::device::{Device, Domain};
use anyhow::{Result, ensure};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};
use std::ffi::c_void;
use std::rc::Rc;

/// Bytes of a page.
pub const PAGE: u64 = 4096;

/// An object of one client; closed when dropped.
#[derive(Debug)]
pub struct Bo {
    device: Rc<Device>,
    handle: u32,
    size: u64,
    domain: Domain,
}

impl Bo {
    /// Takes over a handle that the client holds.
    pub fn adopt(device: Rc<Device>, handle: u32, size: u64, domain: Domain) -> Bo {
        Bo {
            device,
            handle,
            size,
            domain,
        }
    }

    /// The client's name for it.
    pub fn handle(&self) -> u32 {
        self.handle
    }

    /// Bytes asked for at creation.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Where it was made.
    pub fn domain(&self) -> Domain {
        self.domain
    }

    /// The client.
    pub fn device(&self) -> &Rc<Device> {
        &self.device
    }

    /// Waits until the GPU is done with it.
    pub fn wait(&self) -> Result<(), Errno> {
        self.device.wait_idle(self.handle)
    }

    /// True while the GPU works on it.
    pub fn is_busy(&self) -> Result<bool, Errno> {
        match self.device.busy(self.handle).0 {
            Ok(()) => Ok(false),
            Err(Errno::BUSY) => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// Maps all of it, shared.
    pub fn map(&self) -> Result<Mapping, Errno> {
        let offset = self.device.mmap_offset(self.handle)?;
        Mapping::new(
            &self.device,
            offset,
            self.size.next_multiple_of(PAGE) as usize,
            MapFlags::SHARED,
        )
    }

    /// Writes dwords from its start, through a mapping of its own.
    pub fn write(&self, words: &[u32]) -> Result<()> {
        ensure!(
            words.len() as u64 * 4 <= self.size,
            "{} dwords into {} bytes",
            words.len(),
            self.size
        );
        self.map()?.write(0, words);
        Ok(())
    }

    /// Waits for the GPU, then reads all whole dwords.
    pub fn read(&self) -> Result<Vec<u32>> {
        self.wait()?;
        Ok(self.map()?.read(0, (self.size / 4) as usize))
    }
}

impl Drop for Bo {
    fn drop(&mut self) {
        // A device that was unbound refuses everything; nothing is left to release then.
        let _ = self.device.close(self.handle);
    }
}

/// A shared CPU mapping; unmapped when dropped.
#[derive(Debug)]
pub struct Mapping {
    address: *mut c_void,
    bytes: usize,
}

impl Mapping {
    /// Maps `bytes` of the device file at `offset` with the given flags, readable and writable.
    pub fn new(
        device: &Device,
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

    /// First byte.
    pub fn address(&self) -> *mut c_void {
        self.address
    }

    /// Length in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Length in dwords.
    pub fn len(&self) -> usize {
        self.bytes / 4
    }

    /// True for a mapping without a dword.
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

    /// Reads one dword.
    pub fn get(&self, index: usize) -> u32 {
        // SAFETY: in bounds by `at`, aligned as mappings start at pages.
        unsafe { self.at(index).read_volatile() }
    }

    /// Writes one dword.
    pub fn set(&self, index: usize, value: u32) {
        // SAFETY: as in `get`; the memory is shared with the GPU and nobody holds references to it.
        unsafe { self.at(index).write_volatile(value) }
    }

    /// Reads `count` dwords from `first`.
    pub fn read(&self, first: usize, count: usize) -> Vec<u32> {
        (first..first + count).map(|i| self.get(i)).collect()
    }

    /// Writes dwords from `first`.
    pub fn write(&self, first: usize, words: &[u32]) {
        for (i, &word) in words.iter().enumerate() {
            self.set(first + i, word);
        }
    }

    /// Gives up ownership: the caller unmaps.
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
