// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Other drivers that export dma-bufs. vgem's objects are plain memory, and it attaches fences that user space signals.
//! udmabuf turns a piece of a memory file into a buffer.
//!
//! Source of the numbers: the public headers `drm_mode.h`, `vgem_drm.h`, `udmabuf.h` and `dma-buf.h`.

use crate::drm;
use crate::node::{Node, ioctl_raw};
use crate::skip;
use anyhow::{Context, Result, bail};
use rustix::fs::{MemfdFlags, SealFlags};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};
use std::ffi::c_void;
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Dumb buffers: new one.
const CREATE_DUMB: u64 = drm::request(3, 0xb2, 32);
/// Dumb buffers: offset for mmap.
const MAP_DUMB: u64 = drm::request(3, 0xb3, 16);
/// vgem: attach a fence that is pending.
const FENCE_ATTACH: u64 = drm::request(3, 0x41, 16);
/// vgem: signal it.
const FENCE_SIGNAL: u64 = drm::request(1, 0x42, 8);
/// dma-buf: its fences as a file, `_IOWR('b', 2, 8 bytes)`.
const EXPORT_SYNC_FILE: u64 = 0xc008_6202;
/// udmabuf: `_IOW('u', 0x42, 24 bytes)`.
const UDMABUF_CREATE: u64 = 0x4018_7542;

#[repr(C)]
#[derive(Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
struct CreateDumb {
    height: u32,
    width: u32,
    bpp: u32,
    flags: u32,
    handle: u32,
    pitch: u32,
    size: u64,
}

#[repr(C)]
#[derive(Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
struct MapDumb {
    handle: u32,
    pad: u32,
    offset: u64,
}

#[repr(C)]
#[derive(Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
struct FenceAttach {
    handle: u32,
    flags: u32,
    out: u32,
    pad: u32,
}

#[repr(C)]
#[derive(Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
struct FenceSignal {
    fence: u32,
    flags: u32,
}

/// A client of vgem.
#[derive(Debug)]
pub struct Vgem(Arc<Node>);

impl Vgem {
    /// Open vgem, after loading its module if need be. Skip the test if the kernel has none.
    pub fn open() -> Result<Vgem> {
        if !PathBuf::from("/sys/module/vgem").exists() {
            // Ours in the initramfs; a machine with another way has loaded it.
            let _ = Command::new("load").arg("vgem").status();
        }
        // Its dumb buffers are for primary nodes only.
        for minor in 0..16 {
            let path = PathBuf::from(format!("/dev/dri/card{minor}"));
            let Ok(device) = Node::open(&path) else {
                continue;
            };
            if device.version().is_ok_and(|v| v.name == "vgem") {
                return Ok(Vgem(Arc::new(device)));
            }
        }
        skip("there is no vgem")
    }

    /// Return it as a client of the DRM core.
    pub fn node(&self) -> &Arc<Node> {
        &self.0
    }

    /// Return a new object of `bytes`, whole pages.
    pub fn create(&self, bytes: u64) -> Result<u32, Errno> {
        let mut argument = CreateDumb {
            width: (bytes / 4) as u32,
            height: 1,
            bpp: 32,
            ..Default::default()
        };
        self.0.ioctl(CREATE_DUMB, &mut argument)?;
        Ok(argument.handle)
    }

    /// Map an object.
    pub fn map(&self, handle: u32, bytes: u64) -> Result<View, Errno> {
        let mut argument = MapDumb {
            handle,
            ..Default::default()
        };
        self.0.ioctl(MAP_DUMB, &mut argument)?;
        View::new(self.0.as_fd(), argument.offset, bytes)
    }

    /// Attach a pending fence to an object, as of a writer or of a reader. `EBUSY` if a fence of another user
    /// conflicts. vgem signals it by itself after ten seconds.
    pub fn attach_fence(&self, handle: u32, write: bool) -> Result<u32, Errno> {
        let mut argument = FenceAttach {
            handle,
            flags: u32::from(write),
            ..Default::default()
        };
        self.0.ioctl(FENCE_ATTACH, &mut argument)?;
        Ok(argument.out)
    }

    /// Return a pending fence without an object.
    pub fn fence(&self) -> Result<VgemFence<'_>> {
        #[repr(C)]
        struct Export {
            flags: u32,
            fd: i32,
        }
        /// Those of readers and of writers.
        const ALL: u32 = 3;
        let handle = self.create(4096)?;
        let number = self.attach_fence(handle, true)?;
        let buffer = self.0.export(handle)?;
        let mut export = Export { flags: ALL, fd: -1 };
        // SAFETY: the argument is what the number stands for.
        unsafe {
            ioctl_raw(
                buffer.as_fd(),
                EXPORT_SYNC_FILE,
                std::ptr::from_mut(&mut export).cast(),
            )
        }
        .context("the fences of a dma-buf as a file")?;
        self.0.close(handle)?;
        Ok(VgemFence {
            vgem: self,
            number,
            // SAFETY: the kernel has just made this descriptor for us.
            file: unsafe { OwnedFd::from_raw_fd(export.fd) },
        })
    }

    /// Signal such a fence.
    pub fn signal(&self, fence: u32) -> Result<(), Errno> {
        let mut argument = FenceSignal { fence, flags: 0 };
        self.0.ioctl(FENCE_SIGNAL, &mut argument).map(drop)
    }
}

/// A fence of vgem. It signals when told to, or by itself after ten seconds.
#[derive(Debug)]
pub struct VgemFence<'v> {
    vgem: &'v Vgem,
    number: u32,
    /// The fence as a file.
    pub file: OwnedFd,
}

impl VgemFence<'_> {
    /// Signal it. `ETIMEDOUT` if it has done so by itself.
    pub fn signal(&self) -> Result<(), Errno> {
        self.vgem.signal(self.number)
    }
}

/// Memory of a file, and a dma-buf of it.
#[derive(Debug)]
pub struct MemoryFile {
    file: OwnedFd,
    bytes: u64,
}

impl MemoryFile {
    /// Make a file of `bytes` zeros, whole pages, that cannot shrink.
    pub fn new(bytes: u64) -> Result<MemoryFile> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = rustix::fs::memfd_create("test", flags)?;
        rustix::fs::ftruncate(&file, bytes)?;
        rustix::fs::fcntl_add_seals(&file, SealFlags::SHRINK)?;
        Ok(MemoryFile { file, bytes })
    }

    /// Map it, without the help of any buffer.
    pub fn map(&self) -> Result<View, Errno> {
        View::new(self.file.as_fd(), 0, self.bytes)
    }

    /// Return a dma-buf of all of it; `None` if the kernel has no udmabuf.
    pub fn buffer(&self) -> Result<Option<OwnedFd>> {
        #[repr(C)]
        struct Create {
            memfd: i32,
            flags: u32,
            offset: u64,
            size: u64,
        }
        const CLOEXEC: u32 = 1;
        let Ok(maker) = File::options().write(true).read(true).open("/dev/udmabuf") else {
            return Ok(None);
        };
        let mut argument = Create {
            memfd: self.file.as_raw_fd(),
            flags: CLOEXEC,
            offset: 0,
            size: self.bytes,
        };
        // SAFETY: the argument is what the number stands for.
        let fd = unsafe {
            ioctl_raw(
                maker.as_fd(),
                UDMABUF_CREATE,
                std::ptr::from_mut(&mut argument).cast(),
            )
        }
        .context("making a dma-buf of a memory file")?;
        // SAFETY: the kernel has just made this descriptor for us.
        Ok(Some(unsafe { OwnedFd::from_raw_fd(fd) }))
    }
}

/// Return whether a dma-buf is idle: no fence of a writer is pending, and for `write` none of a reader either.
pub fn is_idle(buffer: BorrowedFd<'_>, write: bool) -> Result<bool> {
    let events = if write { libc::POLLOUT } else { libc::POLLIN };
    let mut poll = libc::pollfd {
        fd: buffer.as_raw_fd(),
        events,
        revents: 0,
    };
    // SAFETY: one descriptor, which is open.
    match unsafe { libc::poll(&mut poll, 1, 0) } {
        0 => Ok(false),
        1 if poll.revents == events => Ok(true),
        _ => bail!("polling a dma-buf: {:#x}", poll.revents),
    }
}

/// A shared mapping of any file; unmapped when dropped. Accessed through volatile reads and writes.
#[derive(Debug)]
pub struct View {
    address: *mut c_void,
    bytes: usize,
}

impl View {
    /// Map `bytes` from `offset`.
    pub fn new(file: BorrowedFd<'_>, offset: u64, bytes: u64) -> Result<View, Errno> {
        let bytes = bytes as usize;
        // SAFETY: a new mapping at an address of the kernel's choice.
        let address = unsafe {
            rustix::mm::mmap(
                std::ptr::null_mut(),
                bytes,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
                file,
                offset,
            )?
        };
        Ok(View { address, bytes })
    }

    /// Return the address of the first byte.
    pub fn address(&self) -> *mut c_void {
        self.address
    }

    /// Return all dwords.
    pub fn read(&self) -> Vec<u32> {
        let first = self.address.cast::<u32>();
        (0..self.bytes / 4)
            // SAFETY: inside the mapping.
            .map(|i| unsafe { first.add(i).read_volatile() })
            .collect()
    }

    /// Write dwords from the start; no more than there are.
    pub fn write(&self, words: &[u32]) {
        let first = self.address.cast::<u32>();
        for (i, &word) in words.iter().enumerate().take(self.bytes / 4) {
            // SAFETY: inside the mapping.
            unsafe { first.add(i).write_volatile(word) };
        }
    }
}

impl Drop for View {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours and no reference into it exists.
        let _ = unsafe { rustix::mm::munmap(self.address, self.bytes) };
    }
}
