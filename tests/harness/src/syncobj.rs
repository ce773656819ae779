// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Synchronisation objects: the DRM core's ioctls, and how a submission to our own drivers names them.

use crate::drm;
use crate::layout;
use crate::node::{Node, ioctl_raw};
use rustix::io::Errno;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

layout! {
    /// `drm_lapidary_sync`: an object as a submission names it.
    Sync = 16 {
        /// Synchronisation object.
        handle: u32,
        /// Must be 0.
        flags: u32,
        /// Point, 0 for binary objects.
        point: u64,
    }
}

/// A synchronisation object of one client; destroyed when dropped.
#[derive(Debug)]
pub struct Syncobj {
    node: Arc<Node>,
    handle: u32,
}

impl Syncobj {
    /// Return a new one, without a fence or signalled.
    pub fn new(node: &Arc<Node>, signalled: bool) -> Result<Syncobj, Errno> {
        let mut argument = drm::SyncobjCreate {
            handle: 0,
            flags: u32::from(signalled),
        };
        node.ioctl(drm::SYNCOBJ_CREATE, &mut argument)?;
        Ok(Syncobj {
            node: node.clone(),
            handle: argument.handle,
        })
    }

    /// Return its handle.
    pub fn handle(&self) -> u32 {
        self.handle
    }

    /// Wait until it has signalled; `point` 0 for binary objects. `Ok(false)` at the end of `limit`. An object
    /// without a fence is `EINVAL` unless `submit` says to wait for one.
    pub fn wait(&self, point: u64, limit: Duration, submit: bool) -> Result<bool, Errno> {
        let mut now = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: writes one structure of ours.
        unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
        let end = Duration::new(now.tv_sec as u64, now.tv_nsec as u32) + limit;
        let mut argument = drm::SyncobjTimelineWait {
            handles: std::ptr::from_ref(&self.handle) as u64,
            points: std::ptr::from_ref(&point) as u64,
            timeout_nsec: end.as_nanos() as i64,
            count_handles: 1,
            flags: if submit {
                drm::SYNCOBJ_WAIT_FOR_SUBMIT
            } else {
                0
            },
            ..Default::default()
        };
        match self.node.ioctl(drm::SYNCOBJ_TIMELINE_WAIT, &mut argument) {
            Ok(_) => Ok(true),
            Err(Errno::TIME) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Return the last point that has signalled.
    pub fn point(&self) -> Result<u64, Errno> {
        let mut point = 0u64;
        let mut argument = drm::SyncobjTimelineArray {
            handles: std::ptr::from_ref(&self.handle) as u64,
            points: std::ptr::from_mut(&mut point) as u64,
            count_handles: 1,
            flags: 0,
        };
        self.node.ioctl(drm::SYNCOBJ_QUERY, &mut argument)?;
        Ok(std::hint::black_box(point))
    }

    /// Take its fence away.
    pub fn reset(&self) -> Result<(), Errno> {
        let mut argument = drm::SyncobjArray {
            handles: std::ptr::from_ref(&self.handle) as u64,
            count_handles: 1,
            pad: 0,
        };
        self.node.ioctl(drm::SYNCOBJ_RESET, &mut argument).map(drop)
    }

    /// Return its present fence as a file.
    pub fn export_fence(&self) -> Result<OwnedFd, Errno> {
        let mut argument = drm::SyncobjHandle {
            handle: self.handle,
            flags: 1,
            ..Default::default()
        };
        self.node.ioctl(drm::SYNCOBJ_HANDLE_TO_FD, &mut argument)?;
        // SAFETY: the kernel has just made this descriptor for us.
        Ok(unsafe { OwnedFd::from_raw_fd(argument.fd) })
    }

    /// Take the fence from a file.
    pub fn import_fence(&self, fence: BorrowedFd<'_>) -> Result<(), Errno> {
        let mut argument = drm::SyncobjHandle {
            handle: self.handle,
            flags: 1,
            fd: fence.as_raw_fd(),
            ..Default::default()
        };
        self.node
            .ioctl(drm::SYNCOBJ_FD_TO_HANDLE, &mut argument)
            .map(drop)
    }

    /// Return the object itself as a file, for another client.
    pub fn export(&self) -> Result<OwnedFd, Errno> {
        let mut argument = drm::SyncobjHandle {
            handle: self.handle,
            ..Default::default()
        };
        self.node.ioctl(drm::SYNCOBJ_HANDLE_TO_FD, &mut argument)?;
        // SAFETY: the kernel has just made this descriptor for us.
        Ok(unsafe { OwnedFd::from_raw_fd(argument.fd) })
    }

    /// Return the object behind a file, for this client.
    pub fn import(node: &Arc<Node>, file: BorrowedFd<'_>) -> Result<Syncobj, Errno> {
        let mut argument = drm::SyncobjHandle {
            fd: file.as_raw_fd(),
            ..Default::default()
        };
        node.ioctl(drm::SYNCOBJ_FD_TO_HANDLE, &mut argument)?;
        Ok(Syncobj {
            node: node.clone(),
            handle: argument.handle,
        })
    }

    /// Return the entry of a submission for it.
    pub fn at(&self, point: u64) -> Sync {
        Sync {
            handle: self.handle,
            flags: 0,
            point,
        }
    }
}

impl Drop for Syncobj {
    fn drop(&mut self) {
        let mut argument = drm::SyncobjDestroy {
            handle: self.handle,
            pad: 0,
        };
        // The file may be dead by now.
        let _ = self.node.ioctl(drm::SYNCOBJ_DESTROY, &mut argument);
    }
}

/// Return the state of a file with a fence: 0 pending, 1 signalled, negative for an error.
pub fn fence_status(fence: BorrowedFd<'_>) -> Result<i32, Errno> {
    let mut argument = drm::SyncFileInfo::default();
    // SAFETY: the argument is the structure of this number; no array is asked for.
    unsafe {
        ioctl_raw(
            fence.as_fd(),
            drm::SYNC_FILE_INFO,
            std::ptr::from_mut(&mut argument).cast(),
        )?;
    }
    Ok(argument.status)
}
