// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Buffer objects.

use crate::device::{Device, Place};
use anyhow::Result;
use lapidary_harness::interface::Buffer;
use lapidary_harness::mapping::Mapping;
use lapidary_harness::patience;
use rustix::io::Errno;
use rustix::mm::MapFlags;
use std::rc::Rc;
use std::time::Duration;

/// How long [`Bo::wait`] waits.
const LONG: Duration = Duration::from_secs(25);

/// An object of one client; closed when dropped.
#[derive(Debug)]
pub struct Bo {
    device: Rc<Device>,
    handle: u32,
    size: u64,
    place: Place,
}

impl Bo {
    /// Take over a handle that the client holds.
    pub fn adopt(device: Rc<Device>, handle: u32, size: u64, place: Place) -> Bo {
        Bo {
            device,
            handle,
            size,
            place,
        }
    }

    /// Return the client's name for it.
    pub fn handle(&self) -> u32 {
        self.handle
    }

    /// Return its bytes, whole pages.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Return where it was made.
    pub fn place(&self) -> Place {
        self.place
    }

    /// Return the client.
    pub fn device(&self) -> &Rc<Device> {
        &self.device
    }

    /// Wait until nothing uses it.
    pub fn wait(&self) -> Result<(), Errno> {
        self.device.wait(self.handle, LONG * patience())
    }

    /// Return true while a submission uses it.
    pub fn is_busy(&self) -> Result<bool, Errno> {
        match self.device.wait_until(self.handle, 0) {
            Ok(()) => Ok(false),
            Err(Errno::TIMEDOUT) => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// Map all of it, shared.
    pub fn map(&self) -> Result<Mapping, Errno> {
        let offset = self.device.mmap_offset(self.handle)?;
        Mapping::new(&self.device, offset, self.size as usize, MapFlags::SHARED)
    }

    /// Write dwords from its start, through a mapping of its own.
    pub fn write(&self, words: &[u32]) -> Result<()> {
        Buffer::write(self, words)
    }

    /// Wait until nothing uses it, then read all dwords.
    pub fn read(&self) -> Result<Vec<u32>> {
        Buffer::read(self)
    }
}

impl Buffer for Bo {
    type Device = Device;
    type Place = Place;

    fn handle(&self) -> u32 {
        self.handle()
    }

    fn size(&self) -> u64 {
        self.size()
    }

    fn place(&self) -> Place {
        self.place()
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
