// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The calls of libdrm_radeon, loaded at run time.
//!
//! Source of names and layouts: the public headers radeon_bo.h, radeon_bo_gem.h, radeon_cs.h,
//! radeon_cs_gem.h and radeon_surface.h (facts; the definitions are our own). Of the structures only the
//! public beginning is declared, and they are only ever reached through the library's pointers.

use anyhow::{Context, Result};
use libloading::Library;
use std::ffi::{c_char, c_int, c_void};

/// Opaque: `radeon_bo_manager`.
pub type BoManager = c_void;
/// Opaque: `radeon_cs_manager`.
pub type CsManager = c_void;
/// Opaque: `radeon_surface_manager`.
pub type SurfaceManager = c_void;

/// The public part of `radeon_bo`.
#[repr(C)]
pub struct RawBo {
    /// Mapping, after `radeon_bo_map`.
    pub ptr: *mut c_void,
    /// As given to `radeon_bo_open`.
    pub flags: u32,
    /// GEM handle.
    pub handle: u32,
    /// Bytes.
    pub size: u32,
}

/// The public part of `radeon_cs`.
#[repr(C)]
pub struct RawCs {
    /// Command words.
    pub packets: *mut u32,
    /// How many are written.
    pub cdw: u32,
    /// How many there is room for.
    pub ndw: u32,
    /// Announced by `radeon_cs_begin`, 0 outside of a section.
    pub section_ndw: u32,
    /// Written since.
    pub section_cdw: u32,
}

macro_rules! library {
    ($($name:ident($($argument:ty),*) $(-> $answer:ty)?;)*) => {
        /// The library and its calls.
        pub struct Radeon {
            $(
                #[doc = concat!("`radeon_", stringify!($name), "`.")]
                pub $name: unsafe extern "C" fn($($argument),*) $(-> $answer)?,
            )*
            /// Keeps the calls where they are.
            _library: Library,
        }

        impl Radeon {
            /// Load the library and find all of its calls.
            pub fn load() -> Result<Radeon> {
                // SAFETY: the library has no initialisers with conditions; each type is the header's.
                unsafe {
                    let library = Library::new("libdrm_radeon.so.1").context("libdrm_radeon")?;
                    Ok(Radeon {
                        $(
                            $name: *library
                                .get(concat!("radeon_", stringify!($name)).as_bytes())
                                .context(concat!("radeon_", stringify!($name)))?,
                        )*
                        _library: library,
                    })
                }
            }
        }
    };
}

library! {
    bo_manager_gem_ctor(c_int) -> *mut BoManager;
    bo_manager_gem_dtor(*mut BoManager);
    bo_open(*mut BoManager, u32, u32, u32, u32, u32) -> *mut RawBo;
    bo_ref(*mut RawBo);
    bo_unref(*mut RawBo) -> *mut RawBo;
    bo_map(*mut RawBo, c_int) -> c_int;
    bo_unmap(*mut RawBo) -> c_int;
    bo_wait(*mut RawBo) -> c_int;
    bo_is_busy(*mut RawBo, *mut u32) -> c_int;
    bo_is_static(*mut RawBo) -> c_int;
    bo_set_tiling(*mut RawBo, u32, u32) -> c_int;
    bo_get_tiling(*mut RawBo, *mut u32, *mut u32) -> c_int;
    bo_is_referenced_by_cs(*mut RawBo, *mut RawCs) -> c_int;
    bo_get_handle(*mut RawBo) -> u32;
    gem_set_domain(*mut RawBo, u32, u32) -> c_int;
    gem_get_kernel_name(*mut RawBo, *mut u32) -> c_int;
    cs_manager_gem_ctor(c_int) -> *mut CsManager;
    cs_manager_gem_dtor(*mut CsManager);
    cs_create(*mut CsManager, u32) -> *mut RawCs;
    cs_begin(*mut RawCs, u32, *const c_char, *const c_char, c_int) -> c_int;
    cs_end(*mut RawCs, *const c_char, *const c_char, c_int) -> c_int;
    cs_emit(*mut RawCs) -> c_int;
    cs_erase(*mut RawCs) -> c_int;
    cs_destroy(*mut RawCs) -> c_int;
    cs_need_flush(*mut RawCs) -> c_int;
    cs_get_id(*mut RawCs) -> u32;
    cs_set_limit(*mut RawCs, u32, u32);
    cs_write_reloc(*mut RawCs, *mut RawBo, u32, u32, u32) -> c_int;
    cs_space_set_flush(*mut RawCs, Option<unsafe extern "C" fn(*mut c_void)>, *mut c_void);
    cs_space_add_persistent_bo(*mut RawCs, *mut RawBo, u32, u32);
    cs_space_reset_bos(*mut RawCs);
    cs_space_check(*mut RawCs) -> c_int;
    cs_space_check_with_bo(*mut RawCs, *mut RawBo, u32, u32) -> c_int;
    surface_manager_new(c_int) -> *mut SurfaceManager;
    surface_manager_free(*mut SurfaceManager);
}
