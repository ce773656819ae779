// SPDX-License-Identifier: GPL-2.0 OR MIT

//! PM4 packets: how a dword stream tells the command processor what to do (R5xx 5.1).
//!
//! A stream is a sequence of packets. The first dword of a packet is its header; the two top bits of that
//! give the type, which decides how many body dwords follow and what they mean:
//!
//! | type | header | body |
//! | --- | --- | --- |
//! | 0 | 12:0 register (dword index), 15 all to one register, 29:16 length - 1 | values for consecutive registers, or all for one |
//! | 1 | 10:0 and 21:11 registers (dword indices) | one value for each of the two |
//! | 2 | nothing | none: a filler |
//! | 3 | 15:8 operation, 29:16 length - 1 | depends on the operation |
//!
//! The register index of type 0 has 13 bits, so registers from 0x8000 on cannot be reached.

use lapidary::portable::bits::Field;

use super::regs::pm4::{
    type0,
    type1,
    type2,
    type3, //
};

/// Header: packet type. In the same place in all four.
const TYPE: Field = type0::TYPE;

/// The longest body of a packet, in dwords.
pub const MAX_BODY: u32 = type0::COUNT.max() + 1;

/// A filler of one dword (type 2).
pub const FILLER: u32 = type2::TYPE.of(2);

/// What the header of a packet says.
///
/// Registers are given by byte offset, lengths in dwords. Reserved bits are not part of it; see
/// [`reserved_bits`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Header {
    /// Write to consecutive registers, or several times to one.
    Type0 {
        /// Byte offset of the first register.
        register: u32,
        /// Number of values, 1 to [`MAX_BODY`].
        count: u32,
        /// Whether all values go to the first register.
        one_register: bool,
    },
    /// Write to two registers.
    Type1 {
        /// Byte offset of the register for the first value.
        first: u32,
        /// Byte offset of the register for the second value.
        second: u32,
    },
    /// Nothing.
    Type2,
    /// Do an operation.
    Type3 {
        /// Operation, one of `regs::pm4::op`.
        opcode: u8,
        /// Length of the body, 1 to [`MAX_BODY`].
        count: u32,
    },
}

impl Header {
    /// Reads a header. Every dword is a header of some kind.
    #[inline]
    pub const fn decode(word: u32) -> Self {
        match TYPE.get(word) {
            0 => Self::Type0 {
                register: type0::BASE_INDEX.get(word) << 2,
                count: type0::COUNT.get(word).wrapping_add(1),
                one_register: type0::ONE_REG_WR.any(word),
            },
            1 => Self::Type1 {
                first: type1::REG_INDEX1.get(word) << 2,
                second: type1::REG_INDEX2.get(word) << 2,
            },
            2 => Self::Type2,
            _ => Self::Type3 {
                opcode: type3::IT_OPCODE.get(word) as u8,
                count: type3::COUNT.get(word).wrapping_add(1),
            },
        }
    }

    /// Writes a header, or `None` if a register is unaligned or out of reach, or a length is 0 or too long.
    pub const fn encode(self) -> Option<u32> {
        match self {
            Self::Type0 {
                register,
                count,
                one_register,
            } => {
                if !reachable(register, type0::BASE_INDEX) || !countable(count) {
                    return None;
                }
                Some(if one_register {
                    write_one(register, count)
                } else {
                    write(register, count)
                })
            }
            Self::Type1 { first, second } => {
                if !reachable(first, type1::REG_INDEX1) || !reachable(second, type1::REG_INDEX2) {
                    return None;
                }
                let word = type1::REG_INDEX1.put(type1::TYPE.of(1), first >> 2);
                Some(type1::REG_INDEX2.put(word, second >> 2))
            }
            Self::Type2 => Some(FILLER),
            Self::Type3 { opcode, count } => {
                if !countable(count) {
                    return None;
                }
                Some(operation(opcode, count))
            }
        }
    }

    /// Number of dwords that follow the header.
    #[inline]
    pub const fn body(self) -> u32 {
        match self {
            Self::Type0 { count, .. } | Self::Type3 { count, .. } => count,
            Self::Type1 { .. } => 2,
            Self::Type2 => 0,
        }
    }
}

const fn reachable(register: u32, index: Field) -> bool {
    register & 3 == 0 && register >> 2 <= index.max()
}

const fn countable(count: u32) -> bool {
    count >= 1 && count <= MAX_BODY
}

/// The reserved bits that are set in a header. The contents of a filler do not count.
#[inline]
pub const fn reserved_bits(word: u32) -> u32 {
    const RESERVED0: u32 = !(type0::BASE_INDEX.mask()
        | type0::ONE_REG_WR.mask()
        | type0::COUNT.mask()
        | type0::TYPE.mask());
    const RESERVED1: u32 =
        !(type1::REG_INDEX1.mask() | type1::REG_INDEX2.mask() | type1::TYPE.mask());
    const RESERVED3: u32 = !(type3::IT_OPCODE.mask() | type3::COUNT.mask() | type3::TYPE.mask());
    word & match TYPE.get(word) {
        0 => RESERVED0,
        1 => RESERVED1,
        2 => 0,
        _ => RESERVED3,
    }
}

/// Whether this is a type-0 header without reserved bits. [`Header::decode`] for those who want just that, and
/// fast.
#[inline]
pub const fn is_write(word: u32) -> bool {
    word & !(type0::BASE_INDEX.mask() | type0::ONE_REG_WR.mask() | type0::COUNT.mask()) == 0
}

/// What such a header says: byte offset of the first register, number of values, and whether all go to that
/// register.
#[inline]
pub const fn write_of(word: u32) -> (u32, usize, bool) {
    (
        type0::BASE_INDEX.get(word) << 2,
        type0::COUNT.get(word).wrapping_add(1) as usize,
        type0::ONE_REG_WR.any(word),
    )
}

/// Type-0 header: `count` values for the registers from byte offset `register` on.
///
/// Bits that do not fit are dropped, so that this can be used in constants and needs no error path; use
/// [`Header::encode`] for values that are not constants.
#[inline]
pub const fn write(register: u32, count: u32) -> u32 {
    type0::COUNT.put(type0::BASE_INDEX.of(register >> 2), count.wrapping_sub(1))
}

/// Type-0 header: `count` values, all for the register at byte offset `register`. As [`write`] otherwise.
#[inline]
pub const fn write_one(register: u32, count: u32) -> u32 {
    type0::ONE_REG_WR.put(write(register, count), 1)
}

/// Type-3 header: operation `opcode` with a body of `count` dwords. As [`write`] otherwise.
#[inline]
pub const fn operation(opcode: u8, count: u32) -> u32 {
    type3::COUNT.put(
        type3::IT_OPCODE.put(type3::TYPE.of(3), opcode as u32),
        count.wrapping_sub(1),
    )
}
