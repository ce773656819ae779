// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Fences of another driver: those of `vgem`, the DRM core's virtual device, which signal when a test says so.
//!
//! Objects are made on its primary node, because render nodes make no pictures. A fence is attached to such an
//! object, and a dma-buf of the object gives it out as a file.

use crate::abi;
use crate::device::{Device, ioctl_raw};
use anyhow::{Context, Result, bail};
use rustix::io::Errno;
use std::os::fd::{AsFd, FromRawFd, OwnedFd};
use std::path::PathBuf;

/// The virtual device.
#[derive(Debug)]
pub struct Vgem(Device);

/// A pending fence; it signals when told to, or by itself after ten seconds.
#[derive(Debug)]
pub struct VgemFence<'v> {
    vgem: &'v Vgem,
    number: u32,
    /// The fence as a file.
    pub file: OwnedFd,
}

impl Vgem {
    /// The device, whose module is loaded.
    pub fn open() -> Result<Vgem> {
        for minor in 0..64 {
            let path = PathBuf::from(format!("/dev/dri/card{minor}"));
            match Device::open_path(&path) {
                Ok(device) if device.version().is_ok_and(|v| v.name == "vgem") => {
                    return Ok(Vgem(device));
                }
                _ => {}
            }
        }
        bail!("no device of driver vgem: is its module loaded?")
    }

    /// A new pending fence.
    pub fn fence(&self) -> Result<VgemFence<'_>> {
        let mut dumb = abi::CreateDumb {
            width: 32,
            height: 32,
            bpp: 32,
            ..Default::default()
        };
        self.0
            .ioctl(abi::MODE_CREATE_DUMB, &mut dumb)
            .context("an object of vgem")?;
        let mut attach = abi::VgemFenceAttach {
            handle: dumb.handle,
            flags: abi::VGEM_FENCE_WRITE,
            ..Default::default()
        };
        self.0
            .ioctl(abi::VGEM_FENCE_ATTACH, &mut attach)
            .context("a fence of vgem")?;
        let buffer = self.0.export(dumb.handle)?;
        let mut export = abi::ExportSyncFile {
            flags: abi::DMA_BUF_SYNC_RW,
            fd: -1,
        };
        // SAFETY: the argument is the structure of this number.
        let file = unsafe {
            ioctl_raw(
                buffer.as_fd(),
                abi::DMA_BUF_EXPORT_SYNC_FILE,
                std::ptr::from_mut(&mut export).cast(),
            )?;
            OwnedFd::from_raw_fd(export.fd)
        };
        self.0.close(dumb.handle)?;
        Ok(VgemFence {
            vgem: self,
            number: attach.out_fence,
            file,
        })
    }
}

impl VgemFence<'_> {
    /// Signals it. `ETIMEDOUT` if it has done so by itself.
    pub fn signal(&self) -> Result<(), Errno> {
        let mut argument = abi::VgemFenceSignal {
            fence: self.number,
            flags: 0,
        };
        self.vgem
            .0
            .ioctl(abi::VGEM_FENCE_SIGNAL, &mut argument)
            .map(drop)
    }
}
