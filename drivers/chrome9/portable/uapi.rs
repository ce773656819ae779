// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The user-space interface of Chrome9: layouts and numbers of `uapi/drm/chrome9_drm.h`, which says what they mean.
//!
//! A host test compares them with the header as a C compiler reads it. All structures consist of naturally aligned
//! integers without holes, and mean the same to 32-bit and 64-bit programs. Every bit pattern is a valid value, so they are
//! read from and written to user memory as they are.

/// Ioctl numbers, relative to `DRM_COMMAND_BASE` (0x40).
pub mod ioctl {
    /// [`GetParam`](super::GetParam), read and write.
    pub const GET_PARAM: u32 = 0;
    /// [`GemCreate`](super::GemCreate), read and write.
    pub const GEM_CREATE: u32 = 1;
    /// [`GemMmap`](super::GemMmap), read and write.
    pub const GEM_MMAP: u32 = 2;
    /// [`GemWait`](super::GemWait), write.
    pub const GEM_WAIT: u32 = 3;
    /// [`Submit`](super::Submit), write.
    pub const SUBMIT: u32 = 4;
}

/// Parameters of [`GetParam`].
pub mod param {
    /// PCI device number of the graphics function.
    pub const CHIP: u32 = 0;
    /// Bytes of the frame buffer.
    pub const FRAME_BUFFER_SIZE: u32 = 1;
    /// Bytes of the GART's addresses.
    pub const GART_SIZE: u32 = 2;
    /// [`MOST_DWORDS`](super::MOST_DWORDS).
    pub const MOST_DWORDS: u32 = 3;
    /// [`MOST_OBJECTS`](super::MOST_OBJECTS).
    pub const MOST_OBJECTS: u32 = 4;
    /// [`MOST_RELOCATIONS`](super::MOST_RELOCATIONS).
    pub const MOST_RELOCATIONS: u32 = 5;
    /// [`MOST_SYNCS`](super::MOST_SYNCS).
    pub const MOST_SYNCS: u32 = 6;
    /// Resets of the device.
    pub const RESETS: u32 = 7;
    /// Resets that submissions of the file have caused.
    pub const GUILTY_RESETS: u32 = 8;
    /// Refused submissions of the file.
    pub const REFUSALS: u32 = 9;
    /// Number of the reason of the last one.
    pub const REFUSAL_REASON: u32 = 10;
    /// Its position.
    pub const REFUSAL_POSITION: u32 = 11;
}

/// Flag of [`GemCreate`]: the object is in system pages.
pub const GEM_SYSTEM: u32 = 1 << 0;

/// The most dwords of a stream.
pub const MOST_DWORDS: u32 = 64 * 1024;
/// The most objects of a submission.
pub const MOST_OBJECTS: u32 = 4 * 1024;
/// The most relocations of a submission.
pub const MOST_RELOCATIONS: u32 = 16 * 1024;
/// The most synchronisation objects that a submission waits for, or signals.
pub const MOST_SYNCS: u32 = 256;
/// Dwords of a [`Relocation`].
pub const RELOCATION_DWORDS: u32 = 4;
/// Dwords that the regulator fetches at once. A stream has a multiple of these.
pub const UNIT_DWORDS: u32 = 4;

lapidary::uapi! {
    /// Argument of GET_PARAM.
    #[derive(Default)]
    GetParam {
        /// One of [`param`].
        param: u32,
        /// Must be 0.
        reserved: u32,
        /// The answer.
        value: u64,
    }

    /// Argument of GEM_CREATE.
    #[derive(Default)]
    GemCreate {
        /// Bytes. The answer is in whole pages.
        size: u64,
        /// [`GEM_SYSTEM`] or 0.
        flags: u32,
        /// The answer.
        handle: u32,
    }

    /// Argument of GEM_MMAP.
    #[derive(Default)]
    GemMmap {
        /// The object.
        handle: u32,
        /// Must be 0.
        reserved: u32,
        /// The answer: where `mmap` shows the object.
        offset: u64,
    }

    /// Argument of GEM_WAIT.
    #[derive(Default)]
    GemWait {
        /// The object.
        handle: u32,
        /// Must be 0.
        reserved: u32,
        /// When to give up, in nanoseconds of CLOCK_MONOTONIC.
        timeout_ns: i64,
    }

    /// An object of a submission.
    #[derive(Default)]
    Object {
        /// Its handle.
        handle: u32,
        /// Must be 0.
        reserved: u32,
    }

    /// A part of an address in a stream.
    #[derive(Default)]
    Relocation {
        /// Index of the dword in the stream.
        dword: u32,
        /// Index of the object in the list.
        object: u32,
        /// Bytes from the beginning of the object.
        offset: u32,
        /// Which address of the dword.
        field: u32,
    }

    /// A synchronisation object.
    #[derive(Default)]
    Sync {
        /// Its handle.
        handle: u32,
        /// Must be 0.
        reserved: u32,
        /// Point of its timeline; 0 for a binary object.
        point: u64,
    }

    /// Argument of SUBMIT.
    #[derive(Default)]
    Submit {
        /// Pointer to the dwords of the stream.
        stream: u64,
        /// Pointer to [`Object`]s.
        objects: u64,
        /// Pointer to [`Relocation`]s.
        relocations: u64,
        /// Pointer to [`Sync`]s to wait for.
        wait: u64,
        /// Pointer to [`Sync`]s to signal.
        signal: u64,
        /// Length of the stream.
        dwords: u32,
        /// Number of objects.
        object_count: u32,
        /// Number of relocations.
        relocation_count: u32,
        /// Number of objects to wait for.
        wait_count: u32,
        /// Number of objects to signal.
        signal_count: u32,
        /// Must be 0.
        flags: u32,
    }
}
