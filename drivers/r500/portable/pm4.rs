// SPDX-License-Identifier: GPL-2.0 OR MIT

//! PM4 packets of this family (R5xx 5.1). [`lapidary::portable::pm4`] has what all families share.
//!
//! The register index of type 0 has 13 bits, so registers from 0x8000 on cannot be reached.

use lapidary::portable::{
    bits::Field,
    pm4::{
        self,
        header,
        Form, //
    },
};

pub use pm4::{
    operation,
    Header,
    FILLER, //
};

use super::regs::pm4::{
    op,
    type0,
    type1,
    type3, //
};

/// The headers of this family.
pub struct R5xx;

impl Form for R5xx {
    const REGISTER: Field = type0::BASE_INDEX;
    const ONE_REGISTER: Option<Field> = Some(type0::ONE_REG_WR);
    const PAIR: Option<(Field, Field)> = Some((type1::REG_INDEX1, type1::REG_INDEX2));
    const QUALIFIERS: u32 = 0;
}

/// The register database must agree with what all families share.
const _: () = {
    assert!(type0::TYPE.mask() == header::TYPE.mask());
    assert!(type0::COUNT.mask() == header::COUNT.mask());
    assert!(type3::COUNT.mask() == header::COUNT.mask());
    assert!(type3::IT_OPCODE.mask() == header::OPCODE.mask());
    assert!(op::NOP == pm4::NOP);
};

/// Decode a header, as [`Header::decode`].
#[inline]
pub const fn decode(word: u32) -> Header {
    Header::decode::<R5xx>(word)
}

/// Encode a header, as [`Header::encode`].
pub const fn encode(header: Header) -> Option<u32> {
    header.encode::<R5xx>()
}

/// Return the reserved bits that are set, as [`Header::reserved`].
#[inline]
pub const fn reserved_bits(word: u32) -> u32 {
    Header::reserved::<R5xx>(word)
}

/// Return whether this is a plain type-0 header, as [`header::is_write`].
#[inline]
pub const fn is_write(word: u32) -> bool {
    header::is_write::<R5xx>(word)
}

/// Return the contents of a type-0 header, as [`header::write_of`].
#[inline]
pub const fn write_of(word: u32) -> (u32, usize, bool) {
    header::write_of::<R5xx>(word)
}

/// Return a type-0 header, as [`header::write`].
#[inline]
pub const fn write(register: u32, count: u32) -> u32 {
    header::write::<R5xx>(register, count)
}

/// Return the type-0 header for `count` values, all for the register at byte offset `register`. Otherwise as [`write`].
#[inline]
pub const fn write_one(register: u32, count: u32) -> u32 {
    type0::ONE_REG_WR.put(write(register, count), 1)
}
