// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Numbers of reasons for which submissions are refused, as `Documentation/chrome9/uapi.md` lists them.

/// Submissions of this file have hung the chip.
pub const BANNED: u32 = 0x001;
/// No object has the handle.
pub const NO_OBJECT: u32 = 0x204;
/// No synchronisation object has the handle.
pub const NO_SYNCOBJ: u32 = 0x301;
/// Nothing submitted so far would signal the object, or the point.
pub const NOT_SUBMITTED: u32 = 0x302;
/// A reserved field of a synchronisation object is not zero.
pub const SYNC_RESERVED: u32 = 0x303;
/// A synchronisation object is to be signalled twice.
pub const SIGNALLED_TWICE: u32 = 0x304;
