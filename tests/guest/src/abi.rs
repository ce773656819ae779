// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Numbers and layouts of the user interface: all `radeon` ioctls that are alive in interface version 2.51, our own
//! additions, and those of the DRM core that `lapidary_harness` uses.
//!
//! Source: the public headers `radeon_drm.h` and `lapidary_drm.h` (facts; definitions are our own). All
//! structures but [`Version`] are naturally aligned and have the same layout for 32-bit and 64-bit user space.

pub use lapidary_harness::drm::*;
use lapidary_harness::layout;
pub use lapidary_harness::syncobj::Sync;

/// The kernel reads and writes the argument.
const BOTH_WAYS: u32 = 3;

/// Sizes of the memory pools.
pub const RADEON_GEM_INFO: u64 = read_write::<GemInfo>(COMMAND_BASE + 0x1c);
/// New object.
pub const RADEON_GEM_CREATE: u64 = read_write::<GemCreate>(COMMAND_BASE + 0x1d);
/// Offset to map an object at.
pub const RADEON_GEM_MMAP: u64 = read_write::<GemMmap>(COMMAND_BASE + 0x1e);
/// In the header, never implemented.
pub const RADEON_GEM_PREAD: u64 = request(BOTH_WAYS, COMMAND_BASE + 0x21, 32);
/// In the header, never implemented.
pub const RADEON_GEM_PWRITE: u64 = request(BOTH_WAYS, COMMAND_BASE + 0x22, 32);
/// Wait until an object may be touched in a domain.
pub const RADEON_GEM_SET_DOMAIN: u64 = read_write::<GemSetDomain>(COMMAND_BASE + 0x23);
/// Wait until the GPU is done with an object.
pub const RADEON_GEM_WAIT_IDLE: u64 = write_only::<GemWaitIdle>(COMMAND_BASE + 0x24);
/// Submit commands.
pub const RADEON_CS: u64 = read_write::<Cs>(COMMAND_BASE + 0x26);
/// Ask for one number.
pub const RADEON_INFO: u64 = read_write::<Info>(COMMAND_BASE + 0x27);
/// Store tiling flags with an object.
pub const RADEON_GEM_SET_TILING: u64 = read_write::<GemTiling>(COMMAND_BASE + 0x28);
/// Read them back.
pub const RADEON_GEM_GET_TILING: u64 = read_write::<GemTiling>(COMMAND_BASE + 0x29);
/// Is the GPU done with an object, and where is it.
pub const RADEON_GEM_BUSY: u64 = read_write::<GemBusy>(COMMAND_BASE + 0x2a);
/// Virtual address spaces (not on R5xx).
pub const RADEON_GEM_VA: u64 = read_write::<GemVa>(COMMAND_BASE + 0x2b);
/// Get or set the initial domain.
pub const RADEON_GEM_OP: u64 = read_write::<GemOp>(COMMAND_BASE + 0x2c);
/// Object over user memory.
pub const RADEON_GEM_USERPTR: u64 = read_write::<GemUserptr>(COMMAND_BASE + 0x2d);

layout! {
    /// `drm_lapidary_reset_status`.
    ResetStatus = 16 {
        /// Resets that this file caused.
        guilty: u32,
        /// Resets that others caused.
        innocent: u32,
        /// All of the device.
        resets: u32,
        /// Bit 0: banned.
        flags: u32,
    }
}

/// `drm_lapidary_last_refusal` begins with these, and a text follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastRefusal {
    /// Refusals so far.
    pub count: u64,
    /// Number of the reason.
    pub reason: u32,
    /// Where.
    pub position: u32,
    /// What CS answered, positive.
    pub error: u32,
    /// The reason for people.
    pub text: String,
}

layout! {
    /// `drm_radeon_gem_info`, bytes.
    GemInfo = 24 {
        /// GPU-addressable system memory.
        gart_size: u64,
        /// Video memory.
        vram_size: u64,
        /// The part of it that the CPU can map.
        vram_visible: u64,
    }
}
layout! {
    /// `drm_radeon_gem_create`.
    GemCreate = 32 {
        /// Bytes; rounded up to pages.
        size: u64,
        /// Bytes, 0 for a page.
        alignment: u64,
        /// Out.
        handle: u32,
        /// Domain bits.
        initial_domain: u32,
        /// `FLAG_*`.
        flags: u32,
        /// Alignment.
        pad: u32,
    }
}
layout! {
    /// `drm_radeon_gem_mmap`.
    GemMmap = 32 {
        /// Object.
        handle: u32,
        /// Alignment.
        pad: u32,
        /// Unused.
        offset: u64,
        /// Unused.
        size: u64,
        /// Out: offset for mmap(2) on the device file.
        addr_ptr: u64,
    }
}
layout! {
    /// `drm_radeon_gem_set_domain`.
    GemSetDomain = 12 {
        /// Object.
        handle: u32,
        /// Domain bits.
        read_domains: u32,
        /// Domain bits, wins if not 0.
        write_domain: u32,
    }
}
layout! {
    /// `drm_radeon_gem_wait_idle`.
    GemWaitIdle = 8 {
        /// Object.
        handle: u32,
        /// Alignment.
        pad: u32,
    }
}
layout! {
    /// `drm_radeon_gem_busy`.
    GemBusy = 8 {
        /// Object.
        handle: u32,
        /// Out: where it is.
        domain: u32,
    }
}
layout! {
    /// `drm_radeon_gem_set_tiling` and `_get_tiling`.
    GemTiling = 12 {
        /// Object.
        handle: u32,
        /// `TILING_*`.
        flags: u32,
        /// Bytes a row.
        pitch: u32,
    }
}
layout! {
    /// `drm_radeon_gem_va`.
    GemVa = 24 {
        /// Object.
        handle: u32,
        /// 1 map, 2 unmap.
        operation: u32,
        /// Address space.
        vm_id: u32,
        /// Page flags.
        flags: u32,
        /// Address.
        offset: u64,
    }
}
layout! {
    /// `drm_radeon_gem_op`.
    GemOp = 16 {
        /// Object.
        handle: u32,
        /// 0 get, 1 set the initial domain.
        op: u32,
        /// Domain bits.
        value: u64,
    }
}
layout! {
    /// `drm_radeon_gem_userptr`.
    GemUserptr = 24 {
        /// User address.
        addr: u64,
        /// Bytes.
        size: u64,
        /// Flags.
        flags: u32,
        /// Out.
        handle: u32,
    }
}
layout! {
    /// `drm_radeon_info`.
    Info = 16 {
        /// `INFO_*`.
        request: u32,
        /// Alignment.
        pad: u32,
        /// User pointer to the answer (and to the question, for some requests).
        value: u64,
    }
}
layout! {
    /// `drm_radeon_cs`.
    Cs = 32 {
        /// Length of the array of pointers.
        num_chunks: u32,
        /// Ignored.
        cs_id: u32,
        /// User pointer to an array of user pointers to [`CsChunk`].
        chunks: u64,
        /// Ignored.
        gart_limit: u64,
        /// Ignored.
        vram_limit: u64,
    }
}
layout! {
    /// `drm_radeon_cs_chunk`.
    CsChunk = 16 {
        /// `CHUNK_*`.
        chunk_id: u32,
        /// Dwords of data.
        length_dw: u32,
        /// User pointer.
        chunk_data: u64,
    }
}
layout! {
    /// `drm_radeon_cs_reloc`: one entry of the relocation chunk, four dwords.
    CsReloc = 16 {
        /// Object.
        handle: u32,
        /// Domain bits the GPU may read it in.
        read_domains: u32,
        /// Domain bits the GPU may write it in; wins if not 0.
        write_domain: u32,
        /// Bits 3:0: priority.
        flags: u32,
    }
}

/// Chunk id: relocations.
pub const CHUNK_RELOCS: u32 = 1;
/// Chunk id: commands.
pub const CHUNK_IB: u32 = 2;
/// Chunk id: flags, ring, priority.
pub const CHUNK_FLAGS: u32 = 3;
/// Chunk id: constant commands (later families).
pub const CHUNK_CONST_IB: u32 = 4;

/// Chunk id of our own: synchronisation objects to wait for.
pub const CHUNK_SYNC_IN: u32 = 0x4c50_0000;
/// Chunk id of our own: synchronisation objects to signal.
pub const CHUNK_SYNC_OUT: u32 = 0x4c50_0001;

/// Flag of a submission: do not patch tiling bits in.
pub const CS_KEEP_TILING: u32 = 1;
/// Flag of a submission: addresses are virtual (later families).
pub const CS_USE_VM: u32 = 2;
/// Flag of a submission: last one of a frame.
pub const CS_END_OF_FRAME: u32 = 4;

/// Ring ids of the flags chunk.
pub const RING_GFX: u32 = 0;
/// Ring for compute.
pub const RING_COMPUTE: u32 = 1;
/// Ring of the DMA engine.
pub const RING_DMA: u32 = 2;
/// Ring of the video decoder.
pub const RING_UVD: u32 = 3;
/// Ring of the video encoder.
pub const RING_VCE: u32 = 4;

/// Domain bit: not reachable by the GPU.
pub const DOMAIN_CPU: u32 = 1;
/// Domain bit: system memory through the GART.
pub const DOMAIN_GTT: u32 = 2;
/// Domain bit: video memory.
pub const DOMAIN_VRAM: u32 = 4;

/// Object flag: write-combined system memory.
pub const FLAG_GTT_WC: u32 = 4;
/// GEM_CREATE: the CPU will not access the object.
pub const FLAG_NO_CPU_ACCESS: u32 = 0x10;

/// Tiling flag: macro tiles.
pub const TILING_MACRO: u32 = 1;
/// Tiling flag: micro tiles.
pub const TILING_MICRO: u32 = 2;
/// Tiling flag: the CPU sees the bytes of 16-bit units swapped.
pub const TILING_SWAP_16BIT: u32 = 4;
/// Tiling flag: the CPU sees the bytes of 32-bit units swapped.
pub const TILING_SWAP_32BIT: u32 = 8;
/// Tiling flag: the CPU sees lines.
pub const TILING_SURFACE: u32 = 0x10;

/// Requests of [`Info`], with the number of bytes of their answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InfoRequest {
    /// Number.
    pub id: u32,
    /// Name as in the header, without prefix.
    pub name: &'static str,
    /// Bytes written through the pointer.
    pub bytes: usize,
    /// The pointer is read first.
    pub input: bool,
}

const fn info(id: u32, name: &'static str, bytes: usize, input: bool) -> InfoRequest {
    InfoRequest {
        id,
        name,
        bytes,
        input,
    }
}

/// Every request of the interface, by number.
pub const INFO_REQUESTS: [InfoRequest; 39] = [
    info(0x00, "DEVICE_ID", 4, false),
    info(0x01, "NUM_GB_PIPES", 4, false),
    info(0x02, "NUM_Z_PIPES", 4, false),
    info(0x03, "ACCEL_WORKING", 4, false),
    info(0x04, "CRTC_FROM_ID", 4, true),
    info(0x05, "ACCEL_WORKING2", 4, false),
    info(0x06, "TILING_CONFIG", 4, false),
    info(0x07, "WANT_HYPERZ", 4, true),
    info(0x08, "WANT_CMASK", 4, true),
    info(0x09, "CLOCK_CRYSTAL_FREQ", 4, false),
    info(0x0a, "NUM_BACKENDS", 4, false),
    info(0x0b, "NUM_TILE_PIPES", 4, false),
    info(0x0c, "FUSION_GART_WORKING", 4, false),
    info(0x0d, "BACKEND_MAP", 4, false),
    info(0x0e, "VA_START", 4, false),
    info(0x0f, "IB_VM_MAX_SIZE", 4, false),
    info(0x10, "MAX_PIPES", 4, false),
    info(0x11, "TIMESTAMP", 8, false),
    info(0x12, "MAX_SE", 4, false),
    info(0x13, "MAX_SH_PER_SE", 4, false),
    info(0x14, "FASTFB_WORKING", 4, false),
    info(0x15, "RING_WORKING", 4, true),
    info(0x16, "SI_TILE_MODE_ARRAY", 128, false),
    info(0x17, "SI_CP_DMA_COMPUTE", 4, false),
    info(0x18, "CIK_MACROTILE_MODE_ARRAY", 64, false),
    info(0x19, "SI_BACKEND_ENABLED_MASK", 4, false),
    info(0x1a, "MAX_SCLK", 4, false),
    info(0x1b, "VCE_FW_VERSION", 4, false),
    info(0x1c, "VCE_FB_VERSION", 4, false),
    info(0x1d, "NUM_BYTES_MOVED", 8, false),
    info(0x1e, "VRAM_USAGE", 8, false),
    info(0x1f, "GTT_USAGE", 8, false),
    info(0x20, "ACTIVE_CU_COUNT", 4, false),
    info(0x21, "CURRENT_GPU_TEMP", 4, false),
    info(0x22, "CURRENT_GPU_SCLK", 4, false),
    info(0x23, "CURRENT_GPU_MCLK", 4, false),
    info(0x24, "READ_REG", 4, true),
    info(0x25, "VA_UNMAP_WORKING", 4, false),
    info(0x26, "GPU_RESET_COUNTER", 4, false),
];

/// Requests of our own drivers, which others refuse.
pub const LAPIDARY_INFO_REQUESTS: [InfoRequest; 4] = [
    info(0x4c50_0000, "FENCES_POLLED", 8, false),
    info(0x4c50_0001, "FEATURES", 8, false),
    info(0x4c50_0002, "RESET_STATUS", 16, false),
    info(0x4c50_0003, "LAST_REFUSAL", 128, false),
];

/// Look a request up by name, at compile time; a wrong name does not compile.
pub const fn info_request(name: &str) -> InfoRequest {
    let mut i = 0;
    while i < INFO_REQUESTS.len() {
        let candidate = INFO_REQUESTS[i].name.as_bytes();
        let wanted = name.as_bytes();
        let mut same = candidate.len() == wanted.len();
        let mut j = 0;
        while same && j < wanted.len() {
            same = candidate[j] == wanted[j];
            j += 1;
        }
        if same {
            return INFO_REQUESTS[i];
        }
        i += 1;
    }
    panic!("no such request")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_header() {
        assert_eq!(RADEON_GEM_INFO, 0xc018_645c);
        assert_eq!(RADEON_GEM_CREATE, 0xc020_645d);
        assert_eq!(RADEON_GEM_MMAP, 0xc020_645e);
        assert_eq!(RADEON_GEM_PREAD, 0xc020_6461);
        assert_eq!(RADEON_GEM_PWRITE, 0xc020_6462);
        assert_eq!(RADEON_GEM_SET_DOMAIN, 0xc00c_6463);
        assert_eq!(RADEON_GEM_WAIT_IDLE, 0x4008_6464);
        assert_eq!(RADEON_CS, 0xc020_6466);
        assert_eq!(RADEON_INFO, 0xc010_6467);
        assert_eq!(RADEON_GEM_SET_TILING, 0xc00c_6468);
        assert_eq!(RADEON_GEM_GET_TILING, 0xc00c_6469);
        assert_eq!(RADEON_GEM_BUSY, 0xc008_646a);
        assert_eq!(RADEON_GEM_VA, 0xc018_646b);
        assert_eq!(RADEON_GEM_OP, 0xc010_646c);
        assert_eq!(RADEON_GEM_USERPTR, 0xc018_646d);
    }

    #[test]
    fn info_requests_are_in_order() {
        for (i, request) in INFO_REQUESTS.iter().enumerate() {
            assert_eq!(request.id as usize, i);
        }
        assert_eq!(info_request("GPU_RESET_COUNTER").id, 0x26);
    }
}
