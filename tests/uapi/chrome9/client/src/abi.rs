// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Numbers and layouts of `uapi/drm/chrome9_drm.h`, read by user space.
//!
//! All structures are the same for 32-bit and 64-bit programs, and have no holes.

use lapidary_harness::drm::{COMMAND_BASE, read_write, write_only};
use lapidary_harness::layout;

pub use lapidary_harness::syncobj::Sync;

/// Name of the driver, as the DRM core reports it.
pub const NAME: &str = "chrome9";

/// The calls, from the first private number on.
pub const CALLS: [u64; 5] = [GET_PARAM, GEM_CREATE, GEM_MMAP, GEM_WAIT, SUBMIT];
/// Ask for a number.
pub const GET_PARAM: u64 = read_write::<GetParam>(COMMAND_BASE);
/// Create an object.
pub const GEM_CREATE: u64 = read_write::<GemCreate>(COMMAND_BASE + 1);
/// Ask for an object's offset in the device file.
pub const GEM_MMAP: u64 = read_write::<GemMmap>(COMMAND_BASE + 2);
/// Wait until an object is idle.
pub const GEM_WAIT: u64 = write_only::<GemWait>(COMMAND_BASE + 3);
/// Execute a stream.
pub const SUBMIT: u64 = write_only::<Submit>(COMMAND_BASE + 4);

/// What can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Param {
    /// PCI device number of the graphics function.
    Chip,
    /// Bytes of the frame buffer that the driver may use.
    FrameBufferSize,
    /// Bytes of addresses behind the GART.
    GartSize,
    /// The most dwords of a stream.
    MostDwords,
    /// The most objects of a submission.
    MostObjects,
    /// The most relocations of a submission.
    MostRelocations,
    /// The most synchronisation objects of each kind.
    MostSyncs,
    /// Resets of the device.
    Resets,
    /// Resets that this client has caused.
    GuiltyResets,
    /// Refused submissions of this client.
    Refusals,
    /// Reason of the last one.
    RefusalReason,
    /// Its position.
    RefusalPosition,
}

impl Param {
    /// All of them, by number.
    pub const ALL: [Param; 12] = [
        Param::Chip,
        Param::FrameBufferSize,
        Param::GartSize,
        Param::MostDwords,
        Param::MostObjects,
        Param::MostRelocations,
        Param::MostSyncs,
        Param::Resets,
        Param::GuiltyResets,
        Param::Refusals,
        Param::RefusalReason,
        Param::RefusalPosition,
    ];

    /// Return its number.
    pub const fn number(self) -> u32 {
        self as u32
    }
}

/// Flag of a new object: it is in system pages.
pub const GEM_SYSTEM: u32 = 1;
/// Position of a refusal that is about none.
pub const NOWHERE: u32 = u32::MAX;

layout! {
    /// `drm_chrome9_get_param`.
    GetParam = 16 {
        /// [`Param`].
        param: u32,
        /// Must be 0.
        reserved: u32,
        /// Out.
        value: u64,
    }
}
layout! {
    /// `drm_chrome9_gem_create`.
    GemCreate = 16 {
        /// Bytes; out: in whole pages.
        size: u64,
        /// [`GEM_SYSTEM`].
        flags: u32,
        /// Out.
        handle: u32,
    }
}
layout! {
    /// `drm_chrome9_gem_mmap`.
    GemMmap = 16 {
        /// Object.
        handle: u32,
        /// Must be 0.
        reserved: u32,
        /// Out.
        offset: u64,
    }
}
layout! {
    /// `drm_chrome9_gem_wait`.
    GemWait = 16 {
        /// Object.
        handle: u32,
        /// Must be 0.
        reserved: u32,
        /// Absolute, monotonic clock.
        timeout_ns: i64,
    }
}
layout! {
    /// `drm_chrome9_object`.
    Object = 8 {
        /// Handle.
        handle: u32,
        /// Must be 0.
        reserved: u32,
    }
}
layout! {
    /// `drm_chrome9_relocation`.
    Relocation = 16 {
        /// Index in the stream.
        dword: u32,
        /// Index in the list of objects.
        object: u32,
        /// Bytes from the beginning of the object.
        offset: u32,
        /// Which of the addresses that have a part in the dword.
        field: u32,
    }
}
layout! {
    /// `drm_chrome9_submit`.
    Submit = 64 {
        /// User pointer to dwords.
        stream: u64,
        /// User pointer to [`Object`]s.
        objects: u64,
        /// User pointer to [`Relocation`]s.
        relocations: u64,
        /// User pointer to [`Sync`]s: wait for these.
        wait: u64,
        /// User pointer to [`Sync`]s: signal these.
        signal: u64,
        /// Length.
        dwords: u32,
        /// Length.
        object_count: u32,
        /// Length.
        relocation_count: u32,
        /// Length.
        wait_count: u32,
        /// Length.
        signal_count: u32,
        /// Must be 0.
        flags: u32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_header() {
        assert_eq!(GET_PARAM, 0xc010_6440);
        assert_eq!(GEM_CREATE, 0xc010_6441);
        assert_eq!(GEM_MMAP, 0xc010_6442);
        assert_eq!(GEM_WAIT, 0x4010_6443);
        assert_eq!(SUBMIT, 0x4040_6444);
    }

    #[test]
    fn parameters_are_numbered_in_their_order() {
        for (number, param) in Param::ALL.iter().enumerate() {
            assert_eq!(param.number() as usize, number);
        }
    }
}
