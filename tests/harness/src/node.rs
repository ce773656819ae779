// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A client of any DRM driver: one open node, and what the DRM core answers on it.
//!
//! Two nodes are two clients, also of one device. Dropping one closes the file and with it every handle.

use crate::drm;
use anyhow::{Context, Result, bail};
use rustix::io::Errno;
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::path::{Path, PathBuf};

/// Answer of the version ioctl.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverVersion {
    /// Interface version.
    pub number: (u32, u32, u32),
    /// Driver name.
    pub name: String,
    /// Human description.
    pub description: String,
}

/// An open node.
#[derive(Debug)]
pub struct Node {
    file: File,
    path: PathBuf,
}

/// Issue an ioctl; the kernel's error as it is, except that interrupted calls are repeated.
///
/// # Safety
///
/// `argument` must be what `request` makes the kernel read and write.
pub unsafe fn ioctl_raw(
    fd: BorrowedFd<'_>,
    request: u64,
    argument: *mut libc::c_void,
) -> Result<i32, Errno> {
    loop {
        // SAFETY: the descriptor is open; the caller vouches for the argument.
        let answer = unsafe { libc::ioctl(fd.as_raw_fd(), request as libc::Ioctl, argument) };
        if answer >= 0 {
            return Ok(answer);
        }
        let error = last_errno();
        if error != Errno::INTR {
            return Err(error);
        }
    }
}

/// Return the calling thread's `errno`.
pub fn last_errno() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}

impl Node {
    /// Open a node, whatever its driver.
    pub fn open(path: &Path) -> Result<Node> {
        let file = File::options()
            .read(true)
            .write(true)
            .open(path)
            .with_context(|| format!("opening {}", path.display()))?;
        Ok(Node {
            file,
            path: path.to_owned(),
        })
    }

    /// Open the first render node whose driver calls itself `name`.
    pub fn of_driver(name: &str) -> Result<Node> {
        let mut seen = Vec::new();
        for minor in 128..192 {
            let path = PathBuf::from(format!("/dev/dri/renderD{minor}"));
            let Ok(node) = Node::open(&path) else {
                continue;
            };
            match node.version() {
                Ok(version) if version.name == name => return Ok(node),
                Ok(version) => seen.push(format!("{} is {}", path.display(), version.name)),
                Err(error) => seen.push(format!("{}: {error}", path.display())),
            }
        }
        if seen.is_empty() {
            seen.push("none at all".into());
        }
        bail!("no render node of driver {name} ({})", seen.join(", "))
    }

    /// Return its file in `/dev/dri`.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Issue one ioctl whose argument is `T`.
    ///
    /// `request` must be the number that belongs to `T`; the size encoded in it is checked, so that
    /// the kernel cannot write beyond the argument.
    pub fn ioctl<T: zerocopy::FromBytes + zerocopy::IntoBytes>(
        &self,
        request: u64,
        argument: &mut T,
    ) -> Result<i32, Errno> {
        assert!(
            ((request >> 16) & 0x3fff) as usize <= size_of::<T>(),
            "argument too small for {request:#x}"
        );
        // SAFETY: the DRM core copies exactly as many bytes as the number says, and all bit
        // patterns of `T` are valid. Pointers inside are checked by the kernel against our own
        // address space; the typed wrappers make them from live buffers.
        unsafe {
            ioctl_raw(
                self.file.as_fd(),
                request,
                std::ptr::from_mut(argument).cast(),
            )
        }
    }

    /// Return the driver's version, name and description.
    pub fn version(&self) -> Result<DriverVersion, Errno> {
        let (mut name, mut desc, mut date) = ([0u8; 64], [0u8; 128], [0u8; 64]);
        let mut version = drm::Version {
            name_len: name.len(),
            name: name.as_mut_ptr() as usize,
            date_len: date.len(),
            date: date.as_mut_ptr() as usize,
            desc_len: desc.len(),
            desc: desc.as_mut_ptr() as usize,
            ..Default::default()
        };
        self.ioctl(drm::VERSION, &mut version)?;
        let text = |bytes: &[u8], len: usize| {
            String::from_utf8_lossy(&bytes[..bytes.len().min(len)]).into_owned()
        };
        Ok(DriverVersion {
            number: (version.major, version.minor, version.patch),
            name: text(&name, version.name_len),
            description: text(&desc, version.desc_len),
        })
    }

    /// Return a capability of the DRM core.
    pub fn capability(&self, capability: u64) -> Result<u64, Errno> {
        let mut argument = drm::GetCap {
            capability,
            value: 0,
        };
        self.ioctl(drm::GET_CAP, &mut argument)?;
        Ok(argument.value)
    }

    /// Drop a handle.
    pub fn close(&self, handle: u32) -> Result<(), Errno> {
        self.ioctl(drm::GEM_CLOSE, &mut drm::GemClose { handle, pad: 0 })
            .map(drop)
    }

    /// Return a dma-buf descriptor for the object, readable and writable, closed on exec.
    pub fn export(&self, handle: u32) -> Result<OwnedFd, Errno> {
        let flags = (libc::O_RDWR | libc::O_CLOEXEC) as u32;
        let mut argument = drm::PrimeHandle {
            handle,
            flags,
            fd: -1,
        };
        self.ioctl(drm::PRIME_HANDLE_TO_FD, &mut argument)?;
        // SAFETY: the kernel has just made this descriptor for us.
        Ok(unsafe { OwnedFd::from_raw_fd(argument.fd) })
    }

    /// Return a handle for a dma-buf.
    pub fn import(&self, buffer: BorrowedFd<'_>) -> Result<u32, Errno> {
        let mut argument = drm::PrimeHandle {
            fd: buffer.as_raw_fd(),
            ..Default::default()
        };
        self.ioctl(drm::PRIME_FD_TO_HANDLE, &mut argument)?;
        Ok(argument.handle)
    }
}

impl AsFd for Node {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
