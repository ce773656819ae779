// SPDX-License-Identifier: GPL-2.0 OR MIT

//! PM4 packets of this family (R6xx 5.2). [`lapidary::portable::pm4`] has what all families share.
//!
//! The register index of type 0 has 16 bits, so all registers of the first 256 KiB can be reached. There is no type 1,
//! and no way to send all values to one register. A packet of type 3 can be predicated. The state of the 3D pipe is
//! written by packets of type 3, one for each range of registers.

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
    mmio_r6xx::surface_base_update::bases,
    op,
    set_config_reg,
    set_context_reg,
    type0,
    type2,
    type3, //
};

/// The headers of this family.
pub struct R6xx;

impl Form for R6xx {
    const REGISTER: Field = type0::BASE_INDEX;
    const ONE_REGISTER: Option<Field> = None;
    const PAIR: Option<(Field, Field)> = None;
    const QUALIFIERS: u32 = type3::PREDICATE.mask();
}

/// The register database must agree with what all families share.
const _: () = {
    assert!(type0::TYPE.mask() == header::TYPE.mask());
    assert!(type2::TYPE.of(2) == FILLER);
    assert!(type0::COUNT.mask() == header::COUNT.mask());
    assert!(type3::COUNT.mask() == header::COUNT.mask());
    assert!(type3::IT_OPCODE.mask() == header::OPCODE.mask());
    assert!(op::NOP == pm4::NOP);
};

/// The addresses of surfaces that `SURFACE_BASE_UPDATE` tells the CP of: those that clients may write.
pub const SURFACE_BASES: u32 = bases::DEPTH_BASE.mask()
    | bases::COLOR0_BASE.mask()
    | bases::COLOR1_BASE.mask()
    | bases::COLOR2_BASE.mask()
    | bases::COLOR3_BASE.mask()
    | bases::COLOR4_BASE.mask()
    | bases::COLOR5_BASE.mask()
    | bases::COLOR6_BASE.mask()
    | bases::COLOR7_BASE.mask()
    | bases::STRMOUT_BASE0.mask()
    | bases::STRMOUT_BASE1.mask()
    | bases::STRMOUT_BASE2.mask()
    | bases::STRMOUT_BASE3.mask();

/// Decode a header, as [`Header::decode`].
#[inline]
pub const fn decode(word: u32) -> Header {
    Header::decode::<R6xx>(word)
}

/// Encode a header, as [`Header::encode`].
pub const fn encode(header: Header) -> Option<u32> {
    header.encode::<R6xx>()
}

/// Return the reserved bits that are set, as [`Header::reserved`].
#[inline]
pub const fn reserved_bits(word: u32) -> u32 {
    Header::reserved::<R6xx>(word)
}

/// Return the offset of a configuration register as `SET_CONFIG_REG` counts it. `register` is its byte offset.
#[inline]
pub const fn config(register: u32) -> u32 {
    set_config_reg::reg_offset::REG_OFFSET.of(register.wrapping_sub(set_config_reg::BASE) >> 2)
}

/// Return the offset of a context register as `SET_CONTEXT_REG` counts it. `register` is its byte offset.
#[inline]
pub const fn context(register: u32) -> u32 {
    set_context_reg::reg_offset::REG_OFFSET.of(register.wrapping_sub(set_context_reg::BASE) >> 2)
}
