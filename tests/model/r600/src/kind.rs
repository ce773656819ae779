// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Kinds of misuse of an R6xx or R7xx, beside those of any card.

pub use lapidary_model::kind::*;

lapidary_model::kinds! { FAMILY;
    /// The micro-engine or the prefetch parser was started without all of its microcode.
    NO_MICROCODE = "no-microcode",
    /// The first packet after the micro-engine was started is not ME_INITIALIZE.
    NOT_INITIALIZED = "not-initialized",
    /// The RLC was started without all of its microcode, or the interrupt ring was switched on before the RLC.
    NO_RLC = "no-rlc",
    /// A type-3 opcode or an operation of the DMA engine that nothing public describes.
    UNDEFINED_PACKET = "undefined-packet",
    /// A packet body that is too short or too long for its opcode.
    PACKET_LENGTH = "packet-length",
    /// A packet that does not end inside its indirect buffer.
    PACKET_CROSSES_BUFFER = "packet-crosses-buffer",
    /// Reserved bits or a reserved value in a packet or register.
    RESERVED_VALUE = "reserved-value",
    /// A SET packet that names registers outside of its range.
    SET_RANGE = "set-range",
    /// An indirect buffer started from a stream that cannot start it.
    IB_NESTING = "ib-nesting",
    /// An indirect buffer whose address or place in the ring the engine cannot take.
    IB_ALIGNMENT = "ib-alignment",
    /// The write pointer overtook the read pointer, or left no free slot.
    RING_OVERRUN = "ring-overrun",
    /// A ring pointer at or beyond the size of the ring.
    RING_POINTER = "ring-pointer",
    /// Registers of a ring were changed while its engine was running on them.
    RING_RECONFIGURED = "ring-reconfigured",
    /// A soft reset of an engine that still takes commands.
    RESET_WHILE_ENABLED = "reset-while-enabled",
    /// An address that neither the frame buffer nor VM context 0 holds.
    ADDRESS_UNMAPPED = "address-unmapped",
    /// An address in the window of VM context 0 whose page-table entry does not permit the access.
    VM_FAULT = "vm-fault",
    /// A page-table entry changed in memory after the TLB had read it, and was used before an invalidation.
    VM_STALE_TLB = "vm-stale-tlb",
    /// The page table itself does not lie in VRAM.
    VM_TABLE = "vm-table",
    /// The window of VM context 0 or its page table was moved while it translated.
    VM_MOVED = "vm-moved",
    /// Memory was moved among GPU addresses while the memory controller was not idle, or an engine took commands.
    MC_BUSY = "mc-busy",
    /// An engine went to memory while the memory controller was closed to clients (BLACKOUT).
    MC_BLACKOUT = "mc-blackout",
    /// The CPU read VRAM that an engine had written, and the host data path had not been flushed since.
    STALE_READ = "stale-read",
    /// A wait for something that cannot happen.
    WAIT_FOREVER = "wait-forever",
    /// An engine wrote what a CRTC is scanning out.
    SCANOUT_OVERWRITTEN = "scanout-overwritten",
    /// An engine took commands while the CPU's way to VRAM led elsewhere (HDP_NONSURFACE_BASE), or while the tiling
    /// configuration differed between the units that have a copy of it.
    HOST_PATH_MISMATCH = "host-path-mismatch",
    /// An engine took commands while a pipe was served by a render backend that the fuses say does not work.
    DEAD_BACKEND = "dead-backend",
    /// A copy of the DMA engine or of CP_DMA that the engine cannot execute.
    COPY_UNSUPPORTED = "copy-unsupported",
    /// An interrupt vector was lost because the interrupt ring was full.
    IH_OVERFLOW = "ih-overflow",
    /// A draw in an indirect buffer of an R6xx before START_3D_CMDBUF (not in the manual; Linux and Mesa begin with it).
    NO_START_3D = "no-start-3d",
    /// A draw packet whose VGT_DRAW_INITIATOR takes indices from elsewhere (seed 891, 912, 934, 949, 981).
    DRAW_SOURCE = "draw-source",
    /// Indices whose number does not fit the packet, or whose address or type is none (seed 880-988, 902).
    DRAW_INDICES = "draw-indices",
    /// Indices in the packet of a draw with instances, which hangs real chips (Mesa, `r600_state_common.c`).
    INSTANCED_IMMEDIATE = "instanced-immediate",
    /// A surface of a format that is reserved (seed 404, 534, 546).
    SURFACE_FORMAT = "surface-format",
    /// A surface whose tiling is reserved, or is not for its unit, its format or its samples (seed 399, 534, 546).
    SURFACE_TILING = "surface-tiling",
    /// A surface whose address, pitch or number of lines is not aligned as its tiling wants (Linux, `r600_cs.c`).
    SURFACE_ALIGNMENT = "surface-alignment",
    /// A view whose first slice, layer or level is behind its last, or whose last one does not exist (seed 425, 545).
    VIEW_RANGE = "view-range",
    /// A program that wants more general purpose registers than its kind of shader has, or shares that are more than all
    /// (seed 355).
    GPR_DEMAND = "gpr-demand",
    /// A pixel shader without an export, which does not end (seed 491-499).
    NO_PIXEL_EXPORT = "no-pixel-export",
    /// A ring or scratch memory that does not hold one element, or that a geometry shader needs and that is not there
    /// (seed 1429).
    RING_TOO_SMALL = "ring-too-small",
    /// Stream-out to a buffer whose base the CP of an R7xx has not been told: it hangs (Mesa, `r600_streamout.c`).
    STREAM_OUT_BASE = "stream-out-base",
    /// Surface synchronisation of an RV6xx by a base that was written and not announced (seed 1134).
    SURFACE_NOT_ANNOUNCED = "surface-not-announced",
    /// Numbers of threads that the chip does not take (seed 1425, 1453).
    THREAD_COUNT = "thread-count",
    /// The vertex cache is on in a chip that has none (seed 352).
    NO_VERTEX_CACHE = "no-vertex-cache",
    /// ReZ with ZFUNC not equal and depth writes (seed 1463).
    REZ_NOT_EQUAL = "rez-not-equal",
    /// Fog on a target of 32-bit floats (seed 1473).
    FOG_OF_FLOATS = "fog-of-floats",
    /// A copy from depth to colour without the state that RV610, RV620, RV630 and RV635 need for it (seed 1479-1492).
    DEPTH_COPY_STATE = "depth-copy-state",
    /// More targets with eight samples than the chip can draw (seed 1494-1500).
    EIGHT_SAMPLES = "eight-samples",
}

#[cfg(test)]
mod tests {
    use super::ALL;

    #[test]
    fn names_are_distinct_words() {
        assert_eq!(super::mistakes(ALL), [""; 0]);
    }
}
