// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Our definitions of the `radeon` uAPI are those of the system's header: sizes, offsets, numbers, codes.

use std::mem::{align_of, offset_of, size_of};

use lapidary::portable::radeon::uapi::{self as ours, *};
use zerocopy::{FromBytes, IntoBytes};

#[allow(
    clippy::all,
    clippy::undocumented_unsafe_blocks,
    dead_code,
    missing_docs,
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals
)]
mod system {
    include!(concat!(env!("OUT_DIR"), "/radeon_drm.rs"));
}

/// Compares a structure field by field, by type as well as by offset.
macro_rules! same_layout {
    ($ours:ident, $theirs:ident: $($field:ident),+) => {
        assert_eq!(size_of::<$ours>(), size_of::<system::$theirs>(), stringify!($theirs));
        assert_eq!(align_of::<$ours>(), align_of::<system::$theirs>(), stringify!($theirs));
        $(
            assert_eq!(
                offset_of!($ours, $field),
                offset_of!(system::$theirs, $field),
                concat!(stringify!($theirs), ".", stringify!($field))
            );
        )+
        // A value moves over field by field: the types are the same, and no field of the header is missing.
        let ours = $ours::default();
        #[allow(clippy::needless_update)]
        let _ = system::$theirs { $($field: ours.$field),+ };
    };
}

#[test]
fn layouts_are_the_same() {
    same_layout!(GemInfo, drm_radeon_gem_info: gart_size, vram_size, vram_visible);
    same_layout!(GemCreate, drm_radeon_gem_create: size, alignment, handle, initial_domain, flags);
    same_layout!(GemMmap, drm_radeon_gem_mmap: handle, pad, offset, size, addr_ptr);
    same_layout!(GemSetDomain, drm_radeon_gem_set_domain: handle, read_domains, write_domain);
    same_layout!(GemWaitIdle, drm_radeon_gem_wait_idle: handle, pad);
    same_layout!(GemBusy, drm_radeon_gem_busy: handle, domain);
    same_layout!(GemTiling, drm_radeon_gem_set_tiling: handle, tiling_flags, pitch);
    same_layout!(GemTiling, drm_radeon_gem_get_tiling: handle, tiling_flags, pitch);
    same_layout!(GemVa, drm_radeon_gem_va: handle, operation, vm_id, flags, offset);
    same_layout!(GemOp, drm_radeon_gem_op: handle, op, value);
    same_layout!(GemUserptr, drm_radeon_gem_userptr: addr, size, flags, handle);
    same_layout!(Info, drm_radeon_info: request, pad, value);
    same_layout!(Cs, drm_radeon_cs: num_chunks, cs_id, chunks, gart_limit, vram_limit);
    same_layout!(CsChunk, drm_radeon_cs_chunk: chunk_id, length_dw, chunk_data);
    same_layout!(CsReloc, drm_radeon_cs_reloc: handle, read_domains, write_domain, flags);
}

const READ: u32 = 2;
const WRITE: u32 = 1;

/// Return Linux' ioctl code, made of direction, size of the argument, driver letter and number.
fn code<T>(direction: u32, number: u32) -> u32 {
    (direction << 30) | ((size_of::<T>() as u32) << 16) | (u32::from(b'd') << 8) | (0x40 + number)
}

#[test]
fn ioctl_codes_are_the_same() {
    let both = READ | WRITE;
    for (name, ours, system) in [
        (
            "GEM_INFO",
            code::<GemInfo>(both, ioctl::GEM_INFO),
            system::IOCTL_GEM_INFO,
        ),
        (
            "GEM_CREATE",
            code::<GemCreate>(both, ioctl::GEM_CREATE),
            system::IOCTL_GEM_CREATE,
        ),
        (
            "GEM_MMAP",
            code::<GemMmap>(both, ioctl::GEM_MMAP),
            system::IOCTL_GEM_MMAP,
        ),
        (
            "GEM_SET_DOMAIN",
            code::<GemSetDomain>(both, ioctl::GEM_SET_DOMAIN),
            system::IOCTL_GEM_SET_DOMAIN,
        ),
        (
            "GEM_WAIT_IDLE",
            code::<GemWaitIdle>(WRITE, ioctl::GEM_WAIT_IDLE),
            system::IOCTL_GEM_WAIT_IDLE,
        ),
        ("CS", code::<Cs>(both, ioctl::CS), system::IOCTL_CS),
        ("INFO", code::<Info>(both, ioctl::INFO), system::IOCTL_INFO),
        (
            "GEM_SET_TILING",
            code::<GemTiling>(both, ioctl::GEM_SET_TILING),
            system::IOCTL_GEM_SET_TILING,
        ),
        (
            "GEM_GET_TILING",
            code::<GemTiling>(both, ioctl::GEM_GET_TILING),
            system::IOCTL_GEM_GET_TILING,
        ),
        (
            "GEM_BUSY",
            code::<GemBusy>(both, ioctl::GEM_BUSY),
            system::IOCTL_GEM_BUSY,
        ),
        (
            "GEM_VA",
            code::<GemVa>(both, ioctl::GEM_VA),
            system::IOCTL_GEM_VA,
        ),
        (
            "GEM_OP",
            code::<GemOp>(both, ioctl::GEM_OP),
            system::IOCTL_GEM_OP,
        ),
        (
            "GEM_USERPTR",
            code::<GemUserptr>(both, ioctl::GEM_USERPTR),
            system::IOCTL_GEM_USERPTR,
        ),
    ] {
        assert_eq!(ours, system, "{name}: {ours:#x} and {system:#x}");
    }
}

/// Compares constants of one module by their common name.
macro_rules! same_numbers {
    ($module:ident, $prefix:ident: $($name:ident),+ $(,)?) => {
        $(
            paste_names!($module, $prefix, $name);
        )+
    };
}

/// The system's constant `PREFIX_NAME`; names cannot be joined by an ordinary macro, so the header's list is
/// searched by text.
macro_rules! paste_names {
    ($module:ident, $prefix:ident, $name:ident) => {
        let theirs = constant(concat!(stringify!($prefix), stringify!($name)));
        assert_eq!(ours::$module::$name, theirs, stringify!($name));
    };
}

/// Return a constant of the translated header, by name.
fn constant(name: &str) -> u32 {
    let text = include_str!(concat!(env!("OUT_DIR"), "/radeon_drm.rs"));
    let start = format!("pub const {name}: u32 = ");
    let rest = text
        .split_once(&start)
        .unwrap_or_else(|| panic!("the header has no {name}"))
        .1;
    let value = rest
        .split(';')
        .next()
        .expect("split gives one part at least");
    value
        .trim()
        .parse()
        .unwrap_or_else(|_| panic!("{name} is {value}"))
}

#[test]
fn numbers_are_the_same() {
    same_numbers!(domain, RADEON_GEM_DOMAIN_: CPU, GTT, VRAM);
    same_numbers!(gem, RADEON_GEM_: NO_BACKING_STORE, GTT_UC, GTT_WC, CPU_ACCESS, NO_CPU_ACCESS);
    same_numbers!(userptr, RADEON_GEM_USERPTR_: READONLY, ANONONLY, VALIDATE, REGISTER);
    same_numbers!(tiling, RADEON_TILING_: MACRO, MICRO, SWAP_16BIT, SWAP_32BIT, SURFACE, MICRO_SQUARE);
    same_numbers!(
        va, RADEON_VA_: MAP, UNMAP, RESULT_OK, RESULT_ERROR, RESULT_VA_EXIST,
    );
    same_numbers!(
        va, RADEON_VM_: PAGE_VALID, PAGE_READABLE, PAGE_WRITEABLE, PAGE_SYSTEM, PAGE_SNOOPED,
    );
    same_numbers!(gem_op, RADEON_GEM_OP_: GET_INITIAL_DOMAIN, SET_INITIAL_DOMAIN);
    same_numbers!(chunk, RADEON_CHUNK_ID_: RELOCS, IB, FLAGS, CONST_IB);
    assert_eq!(
        cs_flags::KEEP_TILING,
        constant("RADEON_CS_KEEP_TILING_FLAGS")
    );
    same_numbers!(cs_flags, RADEON_CS_: USE_VM, END_OF_FRAME);
    same_numbers!(cs_ring, RADEON_CS_RING_: GFX, COMPUTE, DMA, UVD, VCE);
    assert_eq!(RELOC_PRIORITY_MASK, constant("RADEON_RELOC_PRIO_MASK"));
    same_numbers!(
        info, RADEON_INFO_:
        DEVICE_ID, NUM_GB_PIPES, NUM_Z_PIPES, ACCEL_WORKING, CRTC_FROM_ID, ACCEL_WORKING2,
        TILING_CONFIG, WANT_HYPERZ, WANT_CMASK, CLOCK_CRYSTAL_FREQ, NUM_BACKENDS, NUM_TILE_PIPES,
        FUSION_GART_WORKING, BACKEND_MAP, VA_START, IB_VM_MAX_SIZE, MAX_PIPES, TIMESTAMP, MAX_SE,
        MAX_SH_PER_SE, FASTFB_WORKING, RING_WORKING, SI_TILE_MODE_ARRAY, SI_CP_DMA_COMPUTE,
        CIK_MACROTILE_MODE_ARRAY, SI_BACKEND_ENABLED_MASK, MAX_SCLK, VCE_FW_VERSION, VCE_FB_VERSION,
        NUM_BYTES_MOVED, VRAM_USAGE, GTT_USAGE, ACTIVE_CU_COUNT, CURRENT_GPU_TEMP, CURRENT_GPU_SCLK,
        CURRENT_GPU_MCLK, READ_REG, VA_UNMAP_WORKING, GPU_RESET_COUNTER,
    );
    for (field, name) in [
        (tiling::EG_BANKW, "EG_BANKW"),
        (tiling::EG_BANKH, "EG_BANKH"),
        (tiling::EG_MACRO_TILE_ASPECT, "EG_MACRO_TILE_ASPECT"),
        (tiling::EG_TILE_SPLIT, "EG_TILE_SPLIT"),
        (tiling::EG_STENCIL_TILE_SPLIT, "EG_STENCIL_TILE_SPLIT"),
    ] {
        let shift = constant(&format!("RADEON_TILING_{name}_SHIFT"));
        let mask = constant(&format!("RADEON_TILING_{name}_MASK"));
        assert_eq!(field.mask(), mask << shift, "{name}");
    }
}

/// Structures are read from and written to user memory as bytes.
#[test]
fn structures_are_bytes() {
    let bytes: [u8; 16] = std::array::from_fn(|i| i as u8);
    let reloc = CsReloc::read_from_bytes(&bytes).expect("the size is right");
    assert_eq!(reloc.handle, 0x0302_0100);
    assert_eq!(reloc.flags, 0x0f0e_0d0c);
    assert_eq!(reloc.as_bytes(), bytes);
    assert!(CsReloc::read_from_bytes(&bytes[1..]).is_err());
}
