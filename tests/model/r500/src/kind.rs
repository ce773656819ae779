// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Kinds of misuse of an R5xx, beside those of any card.

pub use lapidary_model::kind::*;

lapidary_model::kinds! { FAMILY;
    /// WAIT_UNTIL, ISYNC_CNTL or RBBM_GUICNTL written by the CPU, where nothing queues them (R5xx 9.1.14).
    UNQUEUED_SYNC_REGISTER = "unqueued-sync-register",
    /// A command stream was started with no microcode in the micro-engine RAM.
    NO_MICROCODE = "no-microcode",
    /// A type-3 opcode that the manual does not have.
    UNDEFINED_PACKET = "undefined-packet",
    /// A packet body that is too short or too long for its opcode.
    PACKET_LENGTH = "packet-length",
    /// A packet that does not end inside its indirect buffer.
    PACKET_CROSSES_BUFFER = "packet-crosses-buffer",
    /// Reserved bits or a reserved enum value in a packet or register.
    RESERVED_VALUE = "reserved-value",
    /// A write of CP_IB_BUFSZ or CP_IB2_BUFSZ that is not the last register write of its packet (R5xx 4.10).
    IB_TRIGGER_NOT_LAST = "ib-trigger-not-last",
    /// An indirect buffer started from a stream that cannot start it (R5xx 4.6).
    IB_NESTING = "ib-nesting",
    /// The write pointer overtook the read pointer, or left no free slot (R5xx 4.4).
    RING_OVERRUN = "ring-overrun",
    /// A ring pointer at or beyond the size of the ring.
    RING_POINTER = "ring-pointer",
    /// CP control registers changed while the CP was running on them.
    CP_RECONFIGURED = "cp-reconfigured",
    /// The CP, or an engine that it feeds, was reset while CP_CSQ_CNTL still enabled the streams (R5xx 4.8, step 1).
    RESET_WHILE_ENABLED = "reset-while-enabled",
    /// A soft reset that is not gone through as it must be (R5xx 4.8, 9.1.9, 9.2.1).
    RESET_SEQUENCE = "reset-sequence",
    /// Data pushed to a stream that is not in push mode.
    PUSH_WITHOUT_PUSH_MODE = "push-without-push-mode",
    /// Data pushed to a command queue that had no room for it.
    PUSH_OVERFLOW = "push-overflow",
    /// An address that neither the frame buffer nor the GART window holds.
    ADDRESS_UNMAPPED = "address-unmapped",
    /// An address inside the GART window whose page-table entry does not permit the access.
    GART_FAULT = "gart-fault",
    /// A page-table entry changed in memory after the TLB had read it, and was used before an invalidation.
    GART_STALE_TLB = "gart-stale-tlb",
    /// The page table itself does not lie in VRAM.
    GART_TABLE = "gart-table",
    /// The window of the GART or its page table was moved while it translated.
    GART_MOVED = "gart-moved",
    /// A command stream was switched on while the AGP aperture lay over VRAM or over the GART window.
    AGP_OVER_MEMORY = "agp-over-memory",
    /// Memory was moved among GPU addresses while the memory controller was not idle, or command streams were on.
    MC_BUSY = "mc-busy",
    /// Data that another unit still held in its cache was read (R5xx 2D and 3D destination caches).
    STALE_READ = "stale-read",
    /// A completion was signalled to the CPU while a destination cache held unwritten data.
    COMPLETION_BEFORE_FLUSH = "completion-before-flush",
    /// A completion was signalled to the CPU after VRAM was drawn to and before the HDP read buffer was invalidated.
    COMPLETION_BEFORE_HDP_INVALIDATE = "completion-before-hdp-invalidate",
    /// A wait for an engine to be idle and clean with no flush that would ever clean it.
    WAIT_ON_DIRTY_CACHE = "wait-on-dirty-cache",
    /// A register that decides where the lines of a cache of the 3D engine go was changed while the cache held lines
    /// (R5xx 10.1).
    CACHE_NOT_EMPTY = "cache-not-empty",
    /// A wait for something that cannot happen.
    WAIT_FOREVER = "wait-forever",
    /// An engine wrote what a CRTC is scanning out.
    SCANOUT_OVERWRITTEN = "scanout-overwritten",
    /// The memory controller was moved under an active CRTC.
    SCANOUT_MOVED = "scanout-moved",
    /// A command stream was switched on while the CPU's way to VRAM was not straight: HDP_FB_LOCATION is not where
    /// VRAM lies, or HDP_APER_CNTL does not join the two apertures of BAR0 that VRAM needs both.
    HOST_PATH_MISMATCH = "host-path-mismatch",
    /// A CPU access through a surface register came out at memory that it is not for: beyond the surface's bounds, or
    /// in another place than the declared object that the CPU addressed.
    SURFACE_ESCAPE = "surface-escape",
    /// A surface the 2D engine cannot draw to or read from.
    ENGINE2D_BAD_SURFACE = "engine2d-bad-surface",
    /// A 2D operation that the manual does not describe.
    ENGINE2D_UNSUPPORTED = "engine2d-unsupported",
    /// An overlapping copy in the direction that reads what it has already written.
    ENGINE2D_OVERLAP = "engine2d-overlap",
    /// Host data that no operation waits for.
    HOST_DATA_UNEXPECTED = "host-data-unexpected",
    /// A new operation while one still waits for host data.
    HOST_DATA_MISSING = "host-data-missing",
    /// A new draw, or a wait for the 3D engine, while a draw still waits for indices or vertices.
    DRAW_DATA_MISSING = "draw-data-missing",
    /// A draw while register writes reach only some of the pipes: the others draw with other state (R5xx 10.7).
    PIPES_NOT_SELECTED = "pipes-not-selected",
    /// Indices or vertices that no draw waits for.
    DRAW_DATA_UNEXPECTED = "draw-data-unexpected",
    /// A memory on the chip was filled beyond its end.
    ON_CHIP_RANGE = "on-chip-range",
    /// A DMA descriptor that cannot be executed, or a wrong abort sequence (R5xx 4.7).
    DMA_DESCRIPTOR = "dma-descriptor",
}

#[cfg(test)]
mod tests {
    use super::ALL;

    #[test]
    fn names_are_distinct_words() {
        assert_eq!(super::mistakes(ALL), [""; 0]);
    }
}
