// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What this driver adds to the `radeon` interface: layouts and numbers of `uapi/drm/lapidary_drm.h`.
//!
//! A host test compares them with the header as a C compiler reads it. All structures consist of naturally aligned
//! integers without holes, and mean the same to 32-bit and 64-bit programs.

/// Requests of INFO.
pub mod info {
    /// Fences that a thread waited for and no interrupt announced, u64.
    pub const FENCES_POLLED: u32 = 0x4c50_0000;
    /// Set of [`feature`](super::feature) bits, u64.
    pub const FEATURES: u32 = 0x4c50_0001;
    /// [`ResetStatus`](super::ResetStatus) of the file.
    pub const RESET_STATUS: u32 = 0x4c50_0002;
    /// [`LastRefusal`](super::LastRefusal) of the file.
    pub const LAST_REFUSAL: u32 = 0x4c50_0003;
}

/// The features.
pub mod feature {
    /// CS takes the chunks for synchronisation objects, with points of timelines.
    pub const SYNCOBJ: u64 = 1 << 0;
    /// INFO answers `RESET_STATUS`.
    pub const RESET_STATUS: u64 = 1 << 1;
    /// INFO answers `LAST_REFUSAL`.
    pub const LAST_REFUSAL: u64 = 1 << 2;
    /// `/proc/PID/fdinfo` of a file shows engine time and memory.
    pub const FDINFO: u64 = 1 << 3;
}

/// Chunks of CS.
pub mod chunk {
    /// Array of [`Sync`](super::Sync): wait for these before the commands run.
    pub const SYNC_IN: u32 = 0x4c50_0000;
    /// Array of [`Sync`](super::Sync): these signal when the commands are done.
    pub const SYNC_OUT: u32 = 0x4c50_0001;
}

/// Bits of [`ResetStatus::flags`].
pub mod reset_status {
    /// Submissions of this file are refused from now on.
    pub const BANNED: u32 = 1 << 0;
}

/// The most entries of a chunk of [`Sync`].
pub const MAX_SYNCS: u32 = 256;
/// Bytes of [`LastRefusal::text`].
pub const TEXT_BYTES: usize = 104;
/// [`LastRefusal::position`] where there is none.
pub use crate::portable::reason::NO_POSITION;

crate::uapi! {
    /// One synchronisation object of a submission.
    #[derive(Default)]
    Sync {
        /// Handle of the file.
        handle: u32,
        /// Must be 0.
        flags: u32,
        /// Point on the timeline; 0 for a binary object.
        point: u64,
    }

    /// How resets of the GPU have affected a file.
    #[derive(Default)]
    ResetStatus {
        /// Resets that a submission of this file caused.
        guilty: u32,
        /// Resets that other files caused while submissions of this file were under way.
        innocent: u32,
        /// Resets of the device, as `GPU_RESET_COUNTER`.
        resets: u32,
        /// [`reset_status`] bits.
        flags: u32,
    }

    /// Why the last refused submission of a file was refused.
    LastRefusal {
        /// Refusals so far. If 0, the other fields have no meaning.
        count: u64,
        /// Number of the reason. Its meaning never changes.
        reason: u32,
        /// Index of the dword, chunk, or entry at fault, depending on the reason. [`NO_POSITION`] where there is
        /// none.
        position: u32,
        /// The error that CS answered, positive.
        error: u32,
        /// 0.
        pad: u32,
        /// The reason in a few words, terminated by a zero.
        text: [u8; TEXT_BYTES],
    }
}

/// Dwords of a [`Sync`].
pub const SYNC_DWORDS: u32 = 4;

impl LastRefusal {
    /// Return as much of `text`, which is ASCII, as fits before the final zero.
    pub fn text(text: &str) -> [u8; TEXT_BYTES] {
        let mut bytes = [0; TEXT_BYTES];
        for (to, from) in bytes.iter_mut().take(TEXT_BYTES - 1).zip(text.bytes()) {
            *to = from;
        }
        bytes
    }
}
