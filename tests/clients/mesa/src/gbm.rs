// SPDX-License-Identifier: GPL-2.0 OR MIT

//! libgbm, loaded at run time: buffers that a display could show.
//!
//! Source of names, types and constants: the public header gbm.h.

use anyhow::{Context, Result, ensure};
use libloading::{Library, Symbol};
use std::ffi::c_void;
use std::fs::File;
use std::os::fd::AsRawFd;

/// `GBM_FORMAT_XRGB8888`, the letters XR24.
pub const XRGB8888: u32 = u32::from_le_bytes(*b"XR24");
/// `GBM_BO_USE_RENDERING`.
const USE_RENDERING: u32 = 4;

/// A GBM device over a render node.
pub struct Gbm {
    library: Library,
    device: *mut c_void,
    /// Open as long as the device is in use.
    _node: File,
}

/// A swap chain.
#[derive(Clone, Copy)]
pub struct Surface(*mut c_void);

impl Surface {
    /// Return what EGL wants.
    pub fn as_ptr(self) -> *mut c_void {
        self.0
    }
}

impl Gbm {
    /// Open libgbm and a device on `node`.
    pub fn open(node: File) -> Result<Gbm> {
        type CreateDevice = unsafe extern "C" fn(i32) -> *mut c_void;
        // SAFETY: libgbm has no initialisers with conditions; the type is the header's.
        let (library, device) = unsafe {
            let library = Library::new("libgbm.so.1").context("libgbm")?;
            let create: Symbol<'_, CreateDevice> = library.get(b"gbm_create_device")?;
            let device = create(node.as_raw_fd());
            (library, device)
        };
        ensure!(!device.is_null(), "gbm_create_device failed");
        Ok(Gbm {
            library,
            device,
            _node: node,
        })
    }

    /// Return what EGL takes for its native display.
    pub fn as_ptr(&self) -> *mut c_void {
        self.device
    }

    /// Return a swap chain of this size.
    pub fn surface(&self, width: u32, height: u32) -> Result<Surface> {
        type Create = unsafe extern "C" fn(*mut c_void, u32, u32, u32, u32) -> *mut c_void;
        // SAFETY: the header's type, and a device that is open.
        let surface = unsafe {
            let create: Symbol<'_, Create> = self.library.get(b"gbm_surface_create")?;
            create(self.device, width, height, XRGB8888, USE_RENDERING)
        };
        ensure!(!surface.is_null(), "gbm_surface_create failed");
        Ok(Surface(surface))
    }

    /// Take the buffer that the last swap showed and give it back at once; its bytes a row.
    pub fn cycle(&self, surface: Surface) -> Result<u32> {
        type Lock = unsafe extern "C" fn(*mut c_void) -> *mut c_void;
        type Stride = unsafe extern "C" fn(*mut c_void) -> u32;
        type Release = unsafe extern "C" fn(*mut c_void, *mut c_void);
        // SAFETY: the header's types, a surface that exists, and the buffer it lends.
        unsafe {
            let lock: Symbol<'_, Lock> = self.library.get(b"gbm_surface_lock_front_buffer")?;
            let stride: Symbol<'_, Stride> = self.library.get(b"gbm_bo_get_stride")?;
            let release: Symbol<'_, Release> = self.library.get(b"gbm_surface_release_buffer")?;
            let buffer = lock(surface.0);
            ensure!(!buffer.is_null(), "no front buffer after a swap");
            let bytes = stride(buffer);
            release(surface.0, buffer);
            Ok(bytes)
        }
    }
}
