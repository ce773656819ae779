// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The `radeon` uAPI between user space and the three Radeon families.
//!
//! It contains layouts, numbers and flags of the public header `drm/radeon_drm.h` (DRM driver `radeon`, 2.51.0), in
//! definitions of our own. A host test compares the size of every structure and the offset of every field with the
//! system's header. All structures consist of naturally aligned integers and mean the same to 32-bit and 64-bit
//! programs. Every bit pattern is a valid value, so they are read from and written to user memory as they are.

/// Ioctl numbers, relative to `DRM_COMMAND_BASE` (0x40).
pub mod ioctl {
    /// [`GemInfo`](super::GemInfo), read and write.
    pub const GEM_INFO: u32 = 0x1c;
    /// [`GemCreate`](super::GemCreate), read and write.
    pub const GEM_CREATE: u32 = 0x1d;
    /// [`GemMmap`](super::GemMmap), read and write.
    pub const GEM_MMAP: u32 = 0x1e;
    /// [`GemSetDomain`](super::GemSetDomain), read and write.
    pub const GEM_SET_DOMAIN: u32 = 0x23;
    /// [`GemWaitIdle`](super::GemWaitIdle), write.
    pub const GEM_WAIT_IDLE: u32 = 0x24;
    /// [`Cs`](super::Cs), read and write.
    pub const CS: u32 = 0x26;
    /// [`Info`](super::Info), read and write.
    pub const INFO: u32 = 0x27;
    /// [`GemTiling`](super::GemTiling), read and write.
    pub const GEM_SET_TILING: u32 = 0x28;
    /// [`GemTiling`](super::GemTiling), read and write.
    pub const GEM_GET_TILING: u32 = 0x29;
    /// [`GemBusy`](super::GemBusy), read and write.
    pub const GEM_BUSY: u32 = 0x2a;
    /// [`GemVa`](super::GemVa), read and write.
    pub const GEM_VA: u32 = 0x2b;
    /// [`GemOp`](super::GemOp), read and write.
    pub const GEM_OP: u32 = 0x2c;
    /// [`GemUserptr`](super::GemUserptr), read and write.
    pub const GEM_USERPTR: u32 = 0x2d;
}

/// Memory domains of an object, as a set.
pub mod domain {
    /// System memory that the GPU does not see.
    pub const CPU: u32 = 0x1;
    /// System memory that the GPU reaches through its address translation table.
    pub const GTT: u32 = 0x2;
    /// The card's own memory.
    pub const VRAM: u32 = 0x4;
}

/// Flags of [`GemCreate`].
pub mod gem {
    /// The object needs no copy in system memory.
    pub const NO_BACKING_STORE: u32 = 1 << 0;
    /// In GTT: uncached by the CPU.
    pub const GTT_UC: u32 = 1 << 1;
    /// In GTT: write-combined by the CPU.
    pub const GTT_WC: u32 = 1 << 2;
    /// The CPU is expected to access the object.
    pub const CPU_ACCESS: u32 = 1 << 3;
    /// The CPU is not expected to access the object.
    pub const NO_CPU_ACCESS: u32 = 1 << 4;
}

/// Flags of [`GemUserptr`].
pub mod userptr {
    /// The GPU only reads.
    pub const READONLY: u32 = 1 << 0;
    /// Anonymous memory only.
    pub const ANONONLY: u32 = 1 << 1;
    /// Validate the pages at once.
    pub const VALIDATE: u32 = 1 << 2;
    /// Follow changes of the address space.
    pub const REGISTER: u32 = 1 << 3;
}

/// Tiling flags of an object ([`GemTiling`]).
pub mod tiling {
    /// Macro blocks are tiled (R5xx 2.3).
    pub const MACRO: u32 = 0x1;
    /// Micro blocks are tiled (R5xx 2.2).
    pub const MICRO: u32 = 0x2;
    /// CPU accesses swap bytes of 16-bit units.
    pub const SWAP_16BIT: u32 = 0x4;
    /// CPU accesses swap bytes of 32-bit units.
    pub const SWAP_32BIT: u32 = 0x8;
    /// CPU mappings go through a surface register.
    pub const SURFACE: u32 = 0x10;
    /// 16-bit micro blocks are square (4x4 instead of 8x2).
    pub const MICRO_SQUARE: u32 = 0x20;
    /// Evergreen and newer: bank width.
    pub const EG_BANKW: crate::portable::bits::Field = crate::portable::bits::Field::new(11, 8);
    /// Evergreen and newer: bank height.
    pub const EG_BANKH: crate::portable::bits::Field = crate::portable::bits::Field::new(15, 12);
    /// Evergreen and newer: macro tile aspect ratio.
    pub const EG_MACRO_TILE_ASPECT: crate::portable::bits::Field =
        crate::portable::bits::Field::new(19, 16);
    /// Evergreen and newer: tile split.
    pub const EG_TILE_SPLIT: crate::portable::bits::Field =
        crate::portable::bits::Field::new(27, 24);
    /// Evergreen and newer: tile split of the stencil part.
    pub const EG_STENCIL_TILE_SPLIT: crate::portable::bits::Field =
        crate::portable::bits::Field::new(31, 28);
}

/// Operations and results of [`GemVa`].
pub mod va {
    /// Operation: map.
    pub const MAP: u32 = 1;
    /// Operation: unmap.
    pub const UNMAP: u32 = 2;
    /// Result: done.
    pub const RESULT_OK: u32 = 0;
    /// Result: failed.
    pub const RESULT_ERROR: u32 = 1;
    /// Result: the object is mapped already, at the address given back.
    pub const RESULT_VA_EXIST: u32 = 2;
    /// Page flag: valid.
    pub const PAGE_VALID: u32 = 1 << 0;
    /// Page flag: the GPU may read.
    pub const PAGE_READABLE: u32 = 1 << 1;
    /// Page flag: the GPU may write.
    pub const PAGE_WRITEABLE: u32 = 1 << 2;
    /// Page flag: in system memory.
    pub const PAGE_SYSTEM: u32 = 1 << 3;
    /// Page flag: CPU caches are snooped.
    pub const PAGE_SNOOPED: u32 = 1 << 4;
}

/// Operations of [`GemOp`].
pub mod gem_op {
    /// Ask for the domain given at creation.
    pub const GET_INITIAL_DOMAIN: u32 = 0;
    /// Change that domain.
    pub const SET_INITIAL_DOMAIN: u32 = 1;
}

/// Chunk ids of [`CsChunk`].
pub mod chunk {
    /// Array of [`CsReloc`](super::CsReloc).
    pub const RELOCS: u32 = 0x01;
    /// The command stream.
    pub const IB: u32 = 0x02;
    /// Flags, ring and priority.
    pub const FLAGS: u32 = 0x03;
    /// Constant engine stream (Southern Islands and newer).
    pub const CONST_IB: u32 = 0x04;
}

/// First dword of the flags chunk.
pub mod cs_flags {
    /// The tiling bits in the stream apply. Do not replace them by those of the objects.
    pub const KEEP_TILING: u32 = 0x01;
    /// Addresses in the stream are virtual addresses of the client.
    pub const USE_VM: u32 = 0x02;
    /// Last submission of a frame.
    pub const END_OF_FRAME: u32 = 0x04;
}

/// Second dword of the flags chunk.
pub mod cs_ring {
    /// Graphics.
    pub const GFX: u32 = 0;
    /// Compute.
    pub const COMPUTE: u32 = 1;
    /// Asynchronous DMA.
    pub const DMA: u32 = 2;
    /// Video decoder.
    pub const UVD: u32 = 3;
    /// Video encoder.
    pub const VCE: u32 = 4;
}

/// Bits of [`CsReloc::flags`] that hold the priority.
pub const RELOC_PRIORITY_MASK: u32 = 0xf;

/// Requests of [`Info`].
pub mod info {
    /// PCI device id.
    pub const DEVICE_ID: u32 = 0x00;
    /// Number of pixel pipes.
    pub const NUM_GB_PIPES: u32 = 0x01;
    /// Number of Z pipes.
    pub const NUM_Z_PIPES: u32 = 0x02;
    /// Whether commands may be submitted.
    pub const ACCEL_WORKING: u32 = 0x03;
    /// CRTC index of a mode object.
    pub const CRTC_FROM_ID: u32 = 0x04;
    /// As `ACCEL_WORKING`, with a grade.
    pub const ACCEL_WORKING2: u32 = 0x05;
    /// Tiling configuration (R6xx and newer).
    pub const TILING_CONFIG: u32 = 0x06;
    /// Ask for, or give back, the hierarchical Z memory.
    pub const WANT_HYPERZ: u32 = 0x07;
    /// Ask for, or give back, the colour mask memory.
    pub const WANT_CMASK: u32 = 0x08;
    /// Reference clock, kHz.
    pub const CLOCK_CRYSTAL_FREQ: u32 = 0x09;
    /// Number of render back ends (R6xx and newer).
    pub const NUM_BACKENDS: u32 = 0x0a;
    /// Number of tile pipes (R6xx and newer).
    pub const NUM_TILE_PIPES: u32 = 0x0b;
    /// Writes to GTT work.
    pub const FUSION_GART_WORKING: u32 = 0x0c;
    /// Map of pipes to back ends.
    pub const BACKEND_MAP: u32 = 0x0d;
    /// Lowest virtual address that a client may use.
    pub const VA_START: u32 = 0x0e;
    /// Longest indirect buffer in VM mode, dwords.
    pub const IB_VM_MAX_SIZE: u32 = 0x0f;
    /// Number of pipes for compute.
    pub const MAX_PIPES: u32 = 0x10;
    /// GPU clock counter, u64.
    pub const TIMESTAMP: u32 = 0x11;
    /// Number of shader engines.
    pub const MAX_SE: u32 = 0x12;
    /// Shader arrays per engine.
    pub const MAX_SH_PER_SE: u32 = 0x13;
    /// Direct framebuffer access is enabled.
    pub const FASTFB_WORKING: u32 = 0x14;
    /// Whether a ring (in) works.
    pub const RING_WORKING: u32 = 0x15;
    /// Tile modes, 32 dwords.
    pub const SI_TILE_MODE_ARRAY: u32 = 0x16;
    /// DMA by the command processor works on compute rings.
    pub const SI_CP_DMA_COMPUTE: u32 = 0x17;
    /// Macro tile modes, 16 dwords.
    pub const CIK_MACROTILE_MODE_ARRAY: u32 = 0x18;
    /// Set of enabled back ends.
    pub const SI_BACKEND_ENABLED_MASK: u32 = 0x19;
    /// Highest engine clock, kHz.
    pub const MAX_SCLK: u32 = 0x1a;
    /// Video encoder firmware version.
    pub const VCE_FW_VERSION: u32 = 0x1b;
    /// Video encoder feedback version.
    pub const VCE_FB_VERSION: u32 = 0x1c;
    /// Bytes moved so far, u64.
    pub const NUM_BYTES_MOVED: u32 = 0x1d;
    /// VRAM in use, bytes, u64.
    pub const VRAM_USAGE: u32 = 0x1e;
    /// GTT in use, bytes, u64.
    pub const GTT_USAGE: u32 = 0x1f;
    /// Number of compute units in use.
    pub const ACTIVE_CU_COUNT: u32 = 0x20;
    /// Temperature, thousandths of a degree.
    pub const CURRENT_GPU_TEMP: u32 = 0x21;
    /// Engine clock, MHz.
    pub const CURRENT_GPU_SCLK: u32 = 0x22;
    /// Memory clock, MHz.
    pub const CURRENT_GPU_MCLK: u32 = 0x23;
    /// A register (in: offset) of a short list.
    pub const READ_REG: u32 = 0x24;
    /// Unmapping of virtual addresses works.
    pub const VA_UNMAP_WORKING: u32 = 0x25;
    /// Number of GPU resets so far.
    pub const GPU_RESET_COUNTER: u32 = 0x26;
}

crate::uapi! {
    /// Sizes of the memories, all out.
    #[derive(Default)]
    GemInfo {
        /// Bytes that GTT can hold.
        gart_size: u64,
        /// Bytes of VRAM.
        vram_size: u64,
        /// Bytes of VRAM that the CPU can map.
        vram_visible: u64,
    }

    /// Makes an object.
    #[derive(Default)]
    GemCreate {
        /// In: bytes, rounded up to pages.
        size: u64,
        /// In: alignment in bytes.
        alignment: u64,
        /// Out: handle.
        handle: u32,
        /// In: [`domain`] set.
        initial_domain: u32,
        /// In: [`gem`] flags.
        flags: u32,
        /// Padding to a multiple of 8 bytes. The C structure has it implicitly.
        pad: u32,
    }

    /// Asks for the offset by which an object is mapped with `mmap`.
    #[derive(Default)]
    GemMmap {
        /// In: handle.
        handle: u32,
        /// Unused.
        pad: u32,
        /// In, unused.
        offset: u64,
        /// In, unused.
        size: u64,
        /// Out: offset for `mmap`.
        addr_ptr: u64,
    }

    /// Prepares an object for access from a domain.
    #[derive(Default)]
    GemSetDomain {
        /// In: handle.
        handle: u32,
        /// In: [`domain`] set.
        read_domains: u32,
        /// In: [`domain`] set; takes precedence if not zero.
        write_domain: u32,
    }

    /// Waits until the GPU is done with an object.
    #[derive(Default)]
    GemWaitIdle {
        /// In: handle.
        handle: u32,
        /// Unused.
        pad: u32,
    }

    /// Asks whether the GPU is done with an object.
    #[derive(Default)]
    GemBusy {
        /// In: handle.
        handle: u32,
        /// Out: current [`domain`].
        domain: u32,
    }

    /// Sets or asks for the tiling that is stored with an object.
    #[derive(Default)]
    GemTiling {
        /// In: handle.
        handle: u32,
        /// [`tiling`] flags.
        tiling_flags: u32,
        /// Bytes or pixels from line to line, as user space interprets it.
        pitch: u32,
    }

    /// Maps or unmaps an object in the client's virtual address space.
    #[derive(Default)]
    GemVa {
        /// In: handle.
        handle: u32,
        /// In: operation, out: result ([`va`]).
        operation: u32,
        /// In: must be 0.
        vm_id: u32,
        /// In: [`va`] page flags.
        flags: u32,
        /// In and out: virtual address.
        offset: u64,
    }

    /// Sets or asks for a value that is stored with an object.
    #[derive(Default)]
    GemOp {
        /// In: handle.
        handle: u32,
        /// In: [`gem_op`] operation.
        op: u32,
        /// In or out.
        value: u64,
    }

    /// Makes an object of user memory.
    #[derive(Default)]
    GemUserptr {
        /// In: page-aligned address.
        addr: u64,
        /// In: bytes, a multiple of the page size.
        size: u64,
        /// In: [`userptr`] flags.
        flags: u32,
        /// Out: handle.
        handle: u32,
    }

    /// Asks for a fact about device or client.
    #[derive(Default)]
    Info {
        /// In: [`info`] request.
        request: u32,
        /// Unused.
        pad: u32,
        /// In: user pointer to the answer, and for some requests to a question.
        value: u64,
    }

    /// Submits commands.
    #[derive(Default)]
    Cs {
        /// In: number of chunks.
        num_chunks: u32,
        /// Unused.
        cs_id: u32,
        /// In: user pointer to `num_chunks` 64-bit user pointers to [`CsChunk`].
        chunks: u64,
        /// Unused.
        gart_limit: u64,
        /// Unused.
        vram_limit: u64,
    }

    /// One part of a submission.
    #[derive(Default)]
    CsChunk {
        /// In: [`chunk`] id.
        chunk_id: u32,
        /// In: length of the data in dwords.
        length_dw: u32,
        /// In: user pointer to the data.
        chunk_data: u64,
    }

    /// One object of a submission.
    #[derive(Default)]
    CsReloc {
        /// In: handle.
        handle: u32,
        /// In: [`domain`] set for reading.
        read_domains: u32,
        /// In: [`domain`] set for writing; takes precedence if not zero.
        write_domain: u32,
        /// In: priority.
        flags: u32,
    }
}
