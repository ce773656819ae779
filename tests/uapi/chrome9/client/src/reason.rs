// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Numbers of reasons for which submissions are refused, as `Documentation/chrome9/uapi.md` lists them: those that tests
//! provoke.

/// Submissions of this file have hung the chip.
pub const BANNED: u32 = 0x001;
/// The process, or its user, has hung the chip too often.
pub const HUNG_TOO_OFTEN: u32 = 0x002;
/// Flags of the submission that do not exist.
pub const FLAGS: u32 = 0x121;
/// A stream without dwords.
pub const EMPTY: u32 = 0x122;
/// A stream that ends within a unit.
pub const UNITS: u32 = 0x123;
/// A stream that is too long.
pub const TOO_LONG: u32 = 0x124;
/// Too many objects.
pub const OBJECTS: u32 = 0x125;
/// Too many relocations.
pub const RELOCATIONS: u32 = 0x126;
/// Too many synchronisation objects.
pub const SYNCS: u32 = 0x127;
/// A reserved field of an object or a synchronisation object is not zero.
pub const RESERVED: u32 = 0x128;
/// No object has the handle.
pub const NO_OBJECT: u32 = 0x204;
/// No synchronisation object has the handle.
pub const NO_SYNCOBJ: u32 = 0x301;
/// Nothing submitted so far would signal the object, or the point.
pub const NOT_SUBMITTED: u32 = 0x302;
/// A synchronisation object is to be signalled twice.
pub const SIGNALLED_TWICE: u32 = 0x304;

/// Neither a header nor padding.
pub const NO_HEADER: u32 = 0x4003;
/// A header that does not exist.
pub const UNKNOWN_HEADER: u32 = 0x4004;
/// A header for the kernel.
pub const FORBIDDEN_HEADER: u32 = 0x4005;
/// A branch.
pub const NESTED_BRANCH: u32 = 0x4006;
/// A count that is 0.
pub const EMPTY_HEADER: u32 = 0x4008;
/// A count beyond the stream's end.
pub const TRUNCATED: u32 = 0x4009;
/// Parameters with which the regulator is programmed.
pub const KERNEL_TYPE: u32 = 0x400c;
/// Relocations in a wrong order, or two of the same place.
pub const RELOCATION_ORDER: u32 = 0x4021;
/// A relocation to an object that is not listed.
pub const RELOCATION_OBJECT: u32 = 0x4022;
/// A relocation beyond its object.
pub const RELOCATION_OFFSET: u32 = 0x4023;
/// A relocation to an offset that is no multiple of 8.
pub const RELOCATION_ALIGNMENT: u32 = 0x4024;
/// A relocation of what is no address.
pub const RELOCATION_UNUSED: u32 = 0x4025;
/// An address without a relocation.
pub const NO_RELOCATION: u32 = 0x4026;
/// An address that is not zero.
pub const ADDRESS_BITS: u32 = 0x4027;
/// A register beyond those of the 2D engine.
pub const PAIR_RANGE: u32 = 0x4101;
/// A pattern of 8 x 8 pixels.
pub const PATTERN_REGISTER: u32 = 0x4104;
/// A rectangle beyond its destination's object.
pub const DESTINATION_BOUNDS: u32 = 0x4132;
/// A rectangle beyond its source's object.
pub const SOURCE_BOUNDS: u32 = 0x4134;
/// A copy that would read what it has written.
pub const COPY_OVERLAP: u32 = 0x4135;
/// Too much data of the CPU.
pub const HOST_EXCESS: u32 = 0x4145;
/// Too little data of the CPU.
pub const HOST_MISSING: u32 = 0x4146;
/// A register that is none of HQV.
pub const VIDEO_RANGE: u32 = 0x4301;
/// A picture for which the stream does not wait.
pub const VIDEO_UNFINISHED: u32 = 0x4303;
/// A picture without one of its registers.
pub const NO_VIDEO: u32 = 0x4320;
/// An empty window of a picture.
pub const VIDEO_WINDOW: u32 = 0x4330;
/// A source that ends before its window.
pub const LUMA_BOUNDS: u32 = 0x4333;
/// A destination that ends before its windows.
pub const PICTURE_BOUNDS: u32 = 0x4335;
/// The last of the reasons that say which register a command lacks.
pub const STATE: std::ops::RangeInclusive<u32> = 0x4120..=0x412b;
