// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What the DRM core answers for every driver: names, handles, dma-bufs, synchronisation objects.
//!
//! Source: the public headers `drm.h` and `sync_file.h` (facts; definitions are our own). All structures but
//! [`Version`] are naturally aligned and have the same layout for 32-bit and 64-bit user space.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Direction bits of an ioctl number: user space writes.
const WRITE: u32 = 1;
/// Direction bits of an ioctl number: user space reads back.
const READ: u32 = 2;
/// First driver-private number.
pub const COMMAND_BASE: u32 = 0x40;

/// Build an ioctl request of the DRM type letter.
pub const fn request(direction: u32, nr: u32, size: usize) -> u64 {
    ((direction << 30) | ((size as u32) << 16) | ((b'd' as u32) << 8) | nr) as u64
}

/// Return the request whose argument `T` is read and written by the kernel.
pub const fn read_write<T>(nr: u32) -> u64 {
    request(READ | WRITE, nr, size_of::<T>())
}

/// Return the request whose argument `T` is only read by the kernel.
pub const fn write_only<T>(nr: u32) -> u64 {
    request(WRITE, nr, size_of::<T>())
}

/// Return the number of a driver-private ioctl with `size` bytes of argument, whether there is one or not.
pub const fn private(nr: u32, size: usize) -> u64 {
    request(READ | WRITE, COMMAND_BASE + nr, size)
}

/// Defines an argument's layout and has its size checked.
#[macro_export]
macro_rules! layout {
    ($(#[$doc:meta])* $name:ident = $size:literal { $($(#[$fdoc:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[repr(C)]
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq,
            zerocopy::FromBytes, zerocopy::IntoBytes, zerocopy::Immutable, zerocopy::KnownLayout,
        )]
        pub struct $name { $($(#[$fdoc])* pub $field: $type,)* }
        const _: () = assert!(size_of::<$name>() == $size);
    };
}

/// DRM core: driver version and names.
pub const VERSION: u64 = read_write::<Version>(0x00);
/// DRM core: drop a handle.
pub const GEM_CLOSE: u64 = write_only::<GemClose>(0x09);
/// DRM core: ask for a capability.
pub const GET_CAP: u64 = read_write::<GetCap>(0x0c);
/// DRM core: handle to dma-buf descriptor.
pub const PRIME_HANDLE_TO_FD: u64 = read_write::<PrimeHandle>(0x2d);

/// DRM core: dma-buf descriptor to handle.
pub const PRIME_FD_TO_HANDLE: u64 = read_write::<PrimeHandle>(0x2e);

/// DRM core: new synchronisation object.
pub const SYNCOBJ_CREATE: u64 = read_write::<SyncobjCreate>(0xbf);
/// DRM core: drop a handle of one.
pub const SYNCOBJ_DESTROY: u64 = read_write::<SyncobjDestroy>(0xc0);
/// DRM core: object or its fence to a file.
pub const SYNCOBJ_HANDLE_TO_FD: u64 = read_write::<SyncobjHandle>(0xc1);
/// DRM core: the other way.
pub const SYNCOBJ_FD_TO_HANDLE: u64 = read_write::<SyncobjHandle>(0xc2);
/// DRM core: take the fences away.
pub const SYNCOBJ_RESET: u64 = read_write::<SyncobjArray>(0xc4);
/// DRM core: wait for points; 0 for binary objects.
pub const SYNCOBJ_TIMELINE_WAIT: u64 = read_write::<SyncobjTimelineWait>(0xca);
/// DRM core: how far timelines are.
pub const SYNCOBJ_QUERY: u64 = read_write::<SyncobjTimelineArray>(0xcb);
/// DRM core: copy a fence from one object or point to another.
pub const SYNCOBJ_TRANSFER: u64 = read_write::<SyncobjTransfer>(0xcc);
/// Flag of the wait: there may be no fence yet.
pub const SYNCOBJ_WAIT_FOR_SUBMIT: u32 = 2;
/// Files with fences: state.
pub const SYNC_FILE_INFO: u64 =
    (((READ | WRITE) << 30) | ((size_of::<SyncFileInfo>() as u32) << 16) | 0x3e04) as u64;

/// `drm_get_cap`: dumb buffers.
pub const CAP_DUMB_BUFFER: u64 = 1;
/// `drm_get_cap`: prime import and export.
pub const CAP_PRIME: u64 = 5;
/// `drm_get_cap`: synchronisation objects.
pub const CAP_SYNCOBJ: u64 = 0x13;
/// `drm_get_cap`: with timelines.
pub const CAP_SYNCOBJ_TIMELINE: u64 = 0x14;

/// `drm_version`: three string buffers of the caller, filled by the kernel. The one structure here that is not the
/// same for 32-bit and 64-bit user space.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct Version {
    /// Interface version.
    pub major: u32,
    /// Interface version, minor.
    pub minor: u32,
    /// Interface version, patch.
    pub patch: u32,
    /// Alignment.
    #[cfg(target_pointer_width = "64")]
    pub pad: u32,
    /// Buffer size in, string length out.
    pub name_len: usize,
    /// User pointer.
    pub name: usize,
    /// Buffer size in, string length out.
    pub date_len: usize,
    /// User pointer.
    pub date: usize,
    /// Buffer size in, string length out.
    pub desc_len: usize,
    /// User pointer.
    pub desc: usize,
}

layout! {
    /// `drm_gem_close`.
    GemClose = 8 {
        /// Handle to drop.
        handle: u32,
        /// Alignment.
        pad: u32,
    }
}
layout! {
    /// `drm_get_cap`.
    GetCap = 16 {
        /// Which.
        capability: u64,
        /// Answer.
        value: u64,
    }
}
layout! {
    /// `drm_prime_handle`.
    PrimeHandle = 12 {
        /// Handle.
        handle: u32,
        /// Descriptor flags.
        flags: u32,
        /// Descriptor.
        fd: i32,
    }
}
layout! {
    /// `drm_syncobj_create`.
    SyncobjCreate = 8 {
        /// Out.
        handle: u32,
        /// 1: signalled.
        flags: u32,
    }
}
layout! {
    /// `drm_syncobj_destroy`.
    SyncobjDestroy = 8 {
        /// Object.
        handle: u32,
        /// Alignment.
        pad: u32,
    }
}
layout! {
    /// `drm_syncobj_handle`.
    SyncobjHandle = 24 {
        /// Object.
        handle: u32,
        /// 1: its fence is meant.
        flags: u32,
        /// File.
        fd: i32,
        /// Alignment.
        pad: u32,
        /// Point, with a flag that is not used here.
        point: u64,
    }
}
layout! {
    /// `drm_syncobj_transfer`.
    SyncobjTransfer = 32 {
        /// From this object.
        src_handle: u32,
        /// To this.
        dst_handle: u32,
        /// From this point.
        src_point: u64,
        /// To this.
        dst_point: u64,
        /// Flags.
        flags: u32,
        /// Alignment.
        pad: u32,
    }
}
layout! {
    /// `drm_syncobj_array`.
    SyncobjArray = 16 {
        /// User pointer.
        handles: u64,
        /// Length.
        count_handles: u32,
        /// Alignment.
        pad: u32,
    }
}
layout! {
    /// `drm_syncobj_timeline_wait`.
    SyncobjTimelineWait = 48 {
        /// User pointer.
        handles: u64,
        /// User pointer.
        points: u64,
        /// Absolute, monotonic clock.
        timeout_nsec: i64,
        /// Length of both.
        count_handles: u32,
        /// `SYNCOBJ_WAIT_*`.
        flags: u32,
        /// Out.
        first_signaled: u32,
        /// Alignment.
        pad: u32,
        /// A hint, 0 for none.
        deadline_nsec: u64,
    }
}
layout! {
    /// `drm_syncobj_timeline_array`.
    SyncobjTimelineArray = 24 {
        /// User pointer.
        handles: u64,
        /// User pointer.
        points: u64,
        /// Length of both.
        count_handles: u32,
        /// Flags.
        flags: u32,
    }
}
layout! {
    /// `sync_file_info`.
    SyncFileInfo = 56 {
        /// Out: a name.
        name: [u64; 4],
        /// Out: 0 pending, 1 signalled, negative for an error.
        status: i32,
        /// Must be 0.
        flags: u32,
        /// Length of the array.
        num_fences: u32,
        /// Must be 0.
        pad: u32,
        /// User pointer.
        sync_fence_info: u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_header() {
        #[cfg(target_pointer_width = "64")]
        assert_eq!(VERSION, 0xc040_6400);
        #[cfg(target_pointer_width = "32")]
        assert_eq!(VERSION, 0xc024_6400);
        assert_eq!(GEM_CLOSE, 0x4008_6409);
        assert_eq!(GET_CAP, 0xc010_640c);
        assert_eq!(PRIME_HANDLE_TO_FD, 0xc00c_642d);
        assert_eq!(PRIME_FD_TO_HANDLE, 0xc00c_642e);
        assert_eq!(SYNCOBJ_CREATE, 0xc008_64bf);
        assert_eq!(SYNCOBJ_HANDLE_TO_FD, 0xc018_64c1);
        assert_eq!(SYNCOBJ_TIMELINE_WAIT, 0xc030_64ca);
        assert_eq!(SYNCOBJ_QUERY, 0xc018_64cb);
        assert_eq!(SYNC_FILE_INFO, 0xc038_3e04);
    }
}
