// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Packet headers.
//!
//! The first dword of a packet is its header. The two top bits give the type, which decides how many body dwords follow
//! and what they mean:
//!
//! | type | header | body |
//! | --- | --- | --- |
//! | 0 | register (dword index), perhaps a bit for "all to one register", 29:16 length - 1 | values for consecutive registers, or all for one |
//! | 1 | two registers (dword indices); R5xx only | one value for each of the two |
//! | 2 | nothing | none: a filler |
//! | 3 | 15:8 operation, 29:16 length - 1, low bits qualify the operation | depends on the operation |

use crate::portable::bits::Field;

/// Packet type. All four have it in the same place.
pub const TYPE: Field = Field::new(31, 30);
/// Types 0 and 3: length of the body less one.
pub const COUNT: Field = Field::new(29, 16);
/// Type 3: the operation.
pub const OPCODE: Field = Field::new(15, 8);

/// The longest body of a packet, in dwords.
pub const MAX_BODY: u32 = COUNT.max() + 1;

/// A filler of one dword (type 2).
pub const FILLER: u32 = TYPE.of(2);

/// The operation that does nothing, on all families.
pub const NOP: u8 = 0x10;

/// The parts of a header that differ from family to family.
pub trait Form {
    /// Type 0: dword index of the first register.
    const REGISTER: Field;
    /// Type 0: the bit that sends all values to the first register, if there is one.
    const ONE_REGISTER: Option<Field>;
    /// Type 1: dword indices of the registers for the first and the second value, if there are such packets.
    const PAIR: Option<(Field, Field)>;
    /// Type 3: bits that qualify an operation.
    const QUALIFIERS: u32;
}

/// What the header of a packet says.
///
/// Registers are given by byte offset, lengths in dwords. Reserved bits ([`Header::reserved`]) and the bits that
/// qualify an operation are not part of it.
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
        /// The operation, a number of the family's.
        opcode: u8,
        /// Length of the body, 1 to [`MAX_BODY`].
        count: u32,
    },
}

impl Header {
    /// Decode a header of form `F`. Every dword is a header of some kind.
    ///
    /// For a family without type 1 such a header names register 0 twice.
    #[inline]
    pub const fn decode<F: Form>(word: u32) -> Self {
        match TYPE.get(word) {
            0 => Self::Type0 {
                register: F::REGISTER.get(word) << 2,
                count: COUNT.get(word).wrapping_add(1),
                one_register: match F::ONE_REGISTER {
                    Some(bit) => bit.any(word),
                    None => false,
                },
            },
            1 => match F::PAIR {
                Some((first, second)) => Self::Type1 {
                    first: first.get(word) << 2,
                    second: second.get(word) << 2,
                },
                None => Self::Type1 {
                    first: 0,
                    second: 0,
                },
            },
            2 => Self::Type2,
            _ => Self::Type3 {
                opcode: OPCODE.get(word) as u8,
                count: COUNT.get(word).wrapping_add(1),
            },
        }
    }

    /// Encode a header. `None` if the family has no headers of that kind, if a register is unaligned or out of reach,
    /// or if a length is 0 or too long.
    pub const fn encode<F: Form>(self) -> Option<u32> {
        match self {
            Self::Type0 {
                register,
                count,
                one_register,
            } => {
                if !reachable(register, F::REGISTER) || !countable(count) {
                    return None;
                }
                let word = write::<F>(register, count);
                match (one_register, F::ONE_REGISTER) {
                    (false, _) => Some(word),
                    (true, Some(bit)) => Some(bit.put(word, 1)),
                    (true, None) => None,
                }
            }
            Self::Type1 { first, second } => {
                let Some((field1, field2)) = F::PAIR else {
                    return None;
                };
                if !reachable(first, field1) || !reachable(second, field2) {
                    return None;
                }
                let word = field1.put(TYPE.of(1), first >> 2);
                Some(field2.put(word, second >> 2))
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

    /// Return the number of dwords that follow the header.
    #[inline]
    pub const fn body(self) -> u32 {
        match self {
            Self::Type0 { count, .. } | Self::Type3 { count, .. } => count,
            Self::Type1 { .. } => 2,
            Self::Type2 => 0,
        }
    }

    /// Return the reserved bits that are set in the header `word`. The contents of a filler do not count.
    #[inline]
    pub const fn reserved<F: Form>(word: u32) -> u32 {
        word & !match TYPE.get(word) {
            0 => TYPE.mask() | writes::<F>(),
            1 => match F::PAIR {
                Some((first, second)) => TYPE.mask() | first.mask() | second.mask(),
                None => TYPE.mask(),
            },
            2 => u32::MAX,
            _ => TYPE.mask() | COUNT.mask() | OPCODE.mask() | F::QUALIFIERS,
        }
    }
}

const fn reachable(register: u32, index: Field) -> bool {
    register & 3 == 0 && register >> 2 <= index.max()
}

const fn countable(count: u32) -> bool {
    count >= 1 && count <= MAX_BODY
}

/// Return the bits of a type-0 header, but for the type.
const fn writes<F: Form>() -> u32 {
    let one_register = match F::ONE_REGISTER {
        Some(bit) => bit.mask(),
        None => 0,
    };
    F::REGISTER.mask() | COUNT.mask() | one_register
}

/// Return whether this is a type-0 header without reserved bits. It replaces [`Header::decode`] in the most frequent
/// case, because it is faster.
#[inline]
pub const fn is_write<F: Form>(word: u32) -> bool {
    word & !writes::<F>() == 0
}

/// Return the byte offset of the first register in the header of a write ([`is_write`]), the number of values, and whether all are for that
/// register.
#[inline]
pub const fn write_of<F: Form>(word: u32) -> (u32, usize, bool) {
    let one_register = match F::ONE_REGISTER {
        Some(bit) => bit.any(word),
        None => false,
    };
    (
        F::REGISTER.get(word) << 2,
        COUNT.get(word).wrapping_add(1) as usize,
        one_register,
    )
}

/// Return whether this is a type-3 header without reserved bits. It replaces [`Header::decode`] where such are the most
/// frequent, because it is faster.
#[inline]
pub const fn is_operation<F: Form>(word: u32) -> bool {
    word & !(COUNT.mask() | OPCODE.mask() | F::QUALIFIERS) == TYPE.mask()
}

/// Return the operation of such a header, and the length of the body.
#[inline]
pub const fn operation_of(word: u32) -> (u8, usize) {
    (
        OPCODE.get(word) as u8,
        COUNT.get(word).wrapping_add(1) as usize,
    )
}

/// Return the type-0 header for `count` values for the registers from byte offset `register` on.
///
/// Bits that do not fit are dropped, so that this can be used in constants and needs no error path. Use
/// [`Header::encode`] for values that are not constants.
#[inline]
pub const fn write<F: Form>(register: u32, count: u32) -> u32 {
    COUNT.put(F::REGISTER.of(register >> 2), count.wrapping_sub(1))
}

/// Return the type-3 header for operation `opcode` with a body of `count` dwords. Otherwise as [`write`].
#[inline]
pub const fn operation(opcode: u8, count: u32) -> u32 {
    COUNT.put(OPCODE.put(TYPE.of(3), opcode as u32), count.wrapping_sub(1))
}
