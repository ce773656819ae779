// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Buffer objects.

use crate::device::{Device, Domain};
use crate::painter;
use anyhow::Result;
use lapidary_harness::interface::Buffer;
use lapidary_harness::mapping::{Mapping, PAGE};
use rustix::io::Errno;
use rustix::mm::MapFlags;
use std::rc::Rc;

/// An object of one client; closed when dropped.
#[derive(Debug)]
pub struct Bo {
    device: Rc<Device>,
    handle: u32,
    size: u64,
    domain: Domain,
    address: Result<Option<u64>, Errno>,
}

impl Bo {
    /// Take over a handle that the client holds. In a family whose clients have address spaces the object is mapped.
    pub fn adopt(device: Rc<Device>, handle: u32, size: u64, domain: Domain) -> Bo {
        Bo::adopt_by(device, handle, size, domain, painter::map)
    }

    /// Take over a handle, and map the object by `map`.
    pub(crate) fn adopt_by(
        device: Rc<Device>,
        handle: u32,
        size: u64,
        domain: Domain,
        map: impl FnOnce(&Bo) -> Result<Option<u64>, Errno>,
    ) -> Bo {
        let mut bo = Bo {
            device,
            handle,
            size,
            domain,
            address: Ok(None),
        };
        bo.address = map(&bo);
        bo
    }

    /// Return its address in the client's address space; `None` if clients have none.
    ///
    /// # Errors
    ///
    /// The error of mapping it, as on a device that is gone.
    pub fn address(&self) -> Result<Option<u64>, Errno> {
        self.address
    }

    /// Return the client's name for it.
    pub fn handle(&self) -> u32 {
        self.handle
    }

    /// Return the bytes asked for at creation.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Return where it was made.
    pub fn domain(&self) -> Domain {
        self.domain
    }

    /// Return the client.
    pub fn device(&self) -> &Rc<Device> {
        &self.device
    }

    /// Wait until the GPU is done with it.
    pub fn wait(&self) -> Result<(), Errno> {
        self.device.wait_idle(self.handle)
    }

    /// Return true while the GPU works on it.
    pub fn is_busy(&self) -> Result<bool, Errno> {
        match self.device.busy(self.handle).0 {
            Ok(()) => Ok(false),
            Err(Errno::BUSY) => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// Map all of it, shared.
    pub fn map(&self) -> Result<Mapping, Errno> {
        let offset = self.device.mmap_offset(self.handle)?;
        Mapping::new(
            &self.device,
            offset,
            self.size.next_multiple_of(PAGE) as usize,
            MapFlags::SHARED,
        )
    }

    /// Write dwords from its start, through a mapping of its own.
    pub fn write(&self, words: &[u32]) -> Result<()> {
        Buffer::write(self, words)
    }

    /// Wait for the GPU, then read all whole dwords.
    pub fn read(&self) -> Result<Vec<u32>> {
        Buffer::read(self)
    }
}

impl Buffer for Bo {
    type Device = Device;
    type Place = Domain;

    fn handle(&self) -> u32 {
        self.handle()
    }

    fn size(&self) -> u64 {
        self.size()
    }

    fn place(&self) -> Domain {
        self.domain()
    }

    fn device(&self) -> &Rc<Device> {
        self.device()
    }

    fn wait(&self) -> Result<(), Errno> {
        self.wait()
    }

    fn is_busy(&self) -> Result<bool, Errno> {
        self.is_busy()
    }

    fn map(&self) -> Result<Mapping, Errno> {
        self.map()
    }
}

impl Drop for Bo {
    fn drop(&mut self) {
        // A device that was unbound refuses everything; nothing is left to release then.
        let _ = self.device.close(self.handle);
    }
}
