// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Synchronisation objects: the DRM core's ioctls, and the chunks by which a submission names them.

use crate::abi;
use crate::device::{Device, ioctl_raw};
use crate::submit::Chunk;
use rustix::io::Errno;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::rc::Rc;
use std::time::Duration;

/// A synchronisation object of one client; destroyed when dropped.
#[derive(Debug)]
pub struct Syncobj {
    device: Rc<Device>,
    handle: u32,
}

impl Syncobj {
    /// A new one, without a fence or signalled.
    pub fn new(device: &Rc<Device>, signalled: bool) -> Result<Syncobj, Errno> {
        let mut argument = abi::SyncobjCreate {
            handle: 0,
            flags: u32::from(signalled),
        };
        device.ioctl(abi::SYNCOBJ_CREATE, &mut argument)?;
        Ok(Syncobj {
            device: device.clone(),
            handle: argument.handle,
        })
    }

    /// Its handle.
    pub fn handle(&self) -> u32 {
        self.handle
    }

    /// Waits until it has signalled; `point` 0 for binary objects. `Ok(false)` at the end of `limit`. An object
    /// without a fence is `EINVAL` unless `submit` says to wait for one.
    pub fn wait(&self, point: u64, limit: Duration, submit: bool) -> Result<bool, Errno> {
        let mut now = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: writes one structure of ours.
        unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
        let end = Duration::new(now.tv_sec as u64, now.tv_nsec as u32) + limit;
        let mut argument = abi::SyncobjTimelineWait {
            handles: std::ptr::from_ref(&self.handle) as u64,
            points: std::ptr::from_ref(&point) as u64,
            timeout_nsec: end.as_nanos() as i64,
            count_handles: 1,
            flags: if submit {
                abi::SYNCOBJ_WAIT_FOR_SUBMIT
            } else {
                0
            },
            ..Default::default()
        };
        match self.device.ioctl(abi::SYNCOBJ_TIMELINE_WAIT, &mut argument) {
            Ok(_) => Ok(true),
            Err(Errno::TIME) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The last point that has signalled.
    pub fn point(&self) -> Result<u64, Errno> {
        let mut point = 0u64;
        let mut argument = abi::SyncobjTimelineArray {
            handles: std::ptr::from_ref(&self.handle) as u64,
            points: std::ptr::from_mut(&mut point) as u64,
            count_handles: 1,
            flags: 0,
        };
        self.device.ioctl(abi::SYNCOBJ_QUERY, &mut argument)?;
        Ok(std::hint::black_box(point))
    }

    /// Takes its fence away.
    pub fn reset(&self) -> Result<(), Errno> {
        let mut argument = abi::SyncobjArray {
            handles: std::ptr::from_ref(&self.handle) as u64,
            count_handles: 1,
            pad: 0,
        };
        self.device
            .ioctl(abi::SYNCOBJ_RESET, &mut argument)
            .map(drop)
    }

    /// Its present fence as a file.
    pub fn export_fence(&self) -> Result<OwnedFd, Errno> {
        let mut argument = abi::SyncobjHandle {
            handle: self.handle,
            flags: 1,
            ..Default::default()
        };
        self.device
            .ioctl(abi::SYNCOBJ_HANDLE_TO_FD, &mut argument)?;
        // SAFETY: the kernel has just made this descriptor for us.
        Ok(unsafe { OwnedFd::from_raw_fd(argument.fd) })
    }

    /// Takes the fence from a file.
    pub fn import_fence(&self, fence: BorrowedFd<'_>) -> Result<(), Errno> {
        let mut argument = abi::SyncobjHandle {
            handle: self.handle,
            flags: 1,
            fd: fence.as_raw_fd(),
            ..Default::default()
        };
        self.device
            .ioctl(abi::SYNCOBJ_FD_TO_HANDLE, &mut argument)
            .map(drop)
    }

    /// The object itself as a file, for another client.
    pub fn export(&self) -> Result<OwnedFd, Errno> {
        let mut argument = abi::SyncobjHandle {
            handle: self.handle,
            ..Default::default()
        };
        self.device
            .ioctl(abi::SYNCOBJ_HANDLE_TO_FD, &mut argument)?;
        // SAFETY: the kernel has just made this descriptor for us.
        Ok(unsafe { OwnedFd::from_raw_fd(argument.fd) })
    }

    /// The object behind a file, for this client.
    pub fn import(device: &Rc<Device>, file: BorrowedFd<'_>) -> Result<Syncobj, Errno> {
        let mut argument = abi::SyncobjHandle {
            fd: file.as_raw_fd(),
            ..Default::default()
        };
        device.ioctl(abi::SYNCOBJ_FD_TO_HANDLE, &mut argument)?;
        Ok(Syncobj {
            device: device.clone(),
            handle: argument.handle,
        })
    }

    /// The entry of a submission for it.
    pub fn at(&self, point: u64) -> abi::Sync {
        abi::Sync {
            handle: self.handle,
            flags: 0,
            point,
        }
    }
}

impl Drop for Syncobj {
    fn drop(&mut self) {
        let mut argument = abi::SyncobjDestroy {
            handle: self.handle,
            pad: 0,
        };
        // The file may be dead by now.
        let _ = self.device.ioctl(abi::SYNCOBJ_DESTROY, &mut argument);
    }
}

/// The state of a file with a fence: 0 pending, 1 signalled, negative for an error.
pub fn fence_status(fence: BorrowedFd<'_>) -> Result<i32, Errno> {
    let mut argument = abi::SyncFileInfo::default();
    // SAFETY: the argument is the structure of this number; no array is asked for.
    unsafe {
        ioctl_raw(
            fence.as_fd(),
            abi::SYNC_FILE_INFO,
            std::ptr::from_mut(&mut argument).cast(),
        )?;
    }
    Ok(argument.status)
}

/// A chunk of a submission: wait for these.
pub fn before(entries: &[abi::Sync]) -> Chunk {
    chunk(abi::CHUNK_SYNC_IN, entries)
}

/// A chunk of a submission: signal these.
pub fn after(entries: &[abi::Sync]) -> Chunk {
    chunk(abi::CHUNK_SYNC_OUT, entries)
}

fn chunk(id: u32, entries: &[abi::Sync]) -> Chunk {
    let words = entries
        .iter()
        .flat_map(|e| [e.handle, e.flags, e.point as u32, (e.point >> 32) as u32])
        .collect();
    Chunk::new(id, words)
}
