// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What a stream may do with parameters of types 01h, 02h and 04h, by sub-address. Tables of type 03h are in the checker.
//!
//! A draw depends on nearly all of them, and the engine keeps what another client has set. So most are *free* and *needed*: any
//! value will do, but the stream has to set it before its first draw.

use lapidary::portable::bits::Registers;

use crate::portable::regs::{
    para_01,
    para_02_general,
    para_02_sample,
    para_02_stage,
    para_04, //
};

/// What the checker does when a stream sets a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// Refuses the stream: the database does not have it, or only that its text is lost.
    Unknown,
    /// Nothing: no value of it makes the chip access memory. A draw needs it.
    Free,
    /// Nothing. No draw needs it.
    Tag,
    /// Admits only zero, with which public drivers begin: what it means is lost in the text. A draw needs it.
    Lost,
    /// Admits only zero. No draw needs it.
    Zero,
    /// Keeps the value. A draw needs it.
    Kept,
    /// Keeps the value. Whether a draw needs it depends on others.
    Perhaps,
}

/// Sub-addresses of a type.
pub const SUB_ADDRESSES: usize = 0x100;

/// Sub-addresses that a draw needs, a bit each.
pub type Needed = [u32; SUB_ADDRESSES / 32];

type List = &'static [(Registers, Parameter)];
type Table = [Parameter; SUB_ADDRESSES];

/// Return the registers from one to another, both included.
const fn block(first: u32, last: u32) -> Registers {
    Registers::Block(first, last)
}

const fn one(parameter: u32) -> Registers {
    Registers::One(parameter)
}

/// Type 01h.
pub const ATTRIBUTES: List = &[
    (one(para_01::ENABLE_1), Parameter::Kept),
    (one(para_01::ENABLE_2), Parameter::Kept),
    (one(para_01::ENABLE_3), Parameter::Kept),
    (block(para_01::Z_1, para_01::Z_3), Parameter::Perhaps),
    (one(para_01::Z_4), Parameter::Kept),
    (block(para_01::Z_5, para_01::Z_6), Parameter::Lost),
    (block(para_01::Z_7, para_01::Z_12), Parameter::Free),
    (block(para_01::Z_13, para_01::Z_14), Parameter::Tag),
    (block(para_01::Z_15, para_01::Z_17), Parameter::Free),
    (block(para_01::Z_18, para_01::Z_19), Parameter::Perhaps),
    (
        block(para_01::STENCIL_1, para_01::STENCIL_4),
        Parameter::Free,
    ),
    (one(para_01::FAST_Z_CLEAR_1), Parameter::Kept),
    (
        block(para_01::FAST_Z_CLEAR_2, para_01::COARSE_Z_2),
        Parameter::Perhaps,
    ),
    (block(para_01::ALPHA_1, para_01::ALPHA_13), Parameter::Free),
    (block(para_01::RT0_1, para_01::RT0_4), Parameter::Perhaps),
    (block(para_01::RT1_1, para_01::RT1_4), Parameter::Perhaps),
    (block(para_01::RT2_1, para_01::RT2_4), Parameter::Perhaps),
    (block(para_01::RT3_1, para_01::RT3_4), Parameter::Perhaps),
    (one(para_01::FOG_1), Parameter::Kept),
    (block(para_01::FOG_2, para_01::FOG_4), Parameter::Free),
    (one(para_01::RESERVED_74), Parameter::Zero),
    (block(para_01::FOG_6, para_01::FOG_9), Parameter::Free),
    (block(para_01::MISC_1, para_01::MISC_4), Parameter::Kept),
    (block(para_01::MISC_5, para_01::MISC_11), Parameter::Free),
    (block(para_01::PS_1, para_01::PS_2), Parameter::Free),
    (one(para_01::PS_3), Parameter::Kept),
    (block(para_01::PS_4, para_01::PS_11), Parameter::Free),
    (one(para_01::SW_INSPECTION_01), Parameter::Tag),
];

/// Type 02h, sub-types 00h to 0Fh.
pub const STAGES: List = &[
    (
        block(para_02_stage::FACE_0_BASE, para_02_stage::FACE_5_BASE),
        Parameter::Perhaps,
    ),
    (one(para_02_stage::TEXTURE_CONTROL_1), Parameter::Kept),
    (
        block(
            para_02_stage::TEXTURE_CONTROL_2,
            para_02_stage::TEXTURE_CONTROL_4,
        ),
        Parameter::Kept,
    ),
    (one(para_02_stage::TEXTURE_CONTROL_5), Parameter::Kept),
    (
        block(
            para_02_stage::SW_INSPECTION_STAGE_1,
            para_02_stage::SW_INSPECTION_STAGE_2,
        ),
        Parameter::Tag,
    ),
];

/// Type 02h, sub-types 20h to 2Fh.
pub const SAMPLES: List = &[
    (one(para_02_sample::LEVEL_CONTROL_1), Parameter::Kept),
    (one(para_02_sample::FILTER_CONTROL_1), Parameter::Kept),
    (one(para_02_sample::FILTER_CONTROL_2), Parameter::Free),
    (
        block(
            para_02_sample::BORDER_CONTROL_1,
            para_02_sample::BORDER_CONTROL_2,
        ),
        Parameter::Free,
    ),
];

/// Type 02h, sub-type FEh.
pub const GENERAL: List = &[
    (one(para_02_general::TEXTURE_GENERAL), Parameter::Kept),
    (
        block(
            para_02_general::TEXTURES_012,
            para_02_general::COORDINATE_CONTROL,
        ),
        Parameter::Free,
    ),
    (one(para_02_general::CLIP_PLANES), Parameter::Kept),
    (
        block(para_02_general::SETS_A_B, para_02_general::SETS_I_J),
        Parameter::Free,
    ),
    (
        block(
            para_02_general::COEFFICIENT_1,
            para_02_general::COEFFICIENT_4,
        ),
        Parameter::Free,
    ),
];

/// Type 04h.
pub const PRIMITIVES: List = &[
    (one(para_04::VERTEX_FORMAT_1), Parameter::Kept),
    (
        block(para_04::VERTEX_FORMAT_2, para_04::VERTEX_FORMAT_16),
        Parameter::Free,
    ),
    (one(para_04::VERTEX_FORMAT_17), Parameter::Kept),
    (one(para_04::PRIMITIVE_SETTING_1), Parameter::Kept),
    (
        block(para_04::VERTEX_BUFFER_LOW, para_04::VERTEX_BUFFER_HIGH),
        Parameter::Perhaps,
    ),
    (
        block(para_04::PRIMITIVE_SETTING_4, para_04::FVF_MASK_2),
        Parameter::Kept,
    ),
    (
        block(para_04::PRIMITIVE_START, para_04::POINT_HEIGHT),
        Parameter::Free,
    ),
    (
        block(para_04::INDEX_MAX_LOW, para_04::INDEX_BOUNDS_HIGH),
        Parameter::Perhaps,
    ),
    (one(para_04::POINT_SPRITE), Parameter::Kept),
    (
        block(para_04::VIEWPORT_SCALE_X, para_04::VIEWPORT_HIGH_Z),
        Parameter::Free,
    ),
    (
        block(para_04::CLAMP_UPPER, para_04::CLAMP_HIGH),
        Parameter::Free,
    ),
    (one(para_04::VERTEX_INSPECTION), Parameter::Tag),
];

/// Spread a list. Offsets of parameters count one by one, those of the lists' registers four by four.
const fn spread(list: List) -> (Table, Needed) {
    let mut table = [Parameter::Unknown; SUB_ADDRESSES];
    let mut needed = [0; SUB_ADDRESSES / 32];
    let mut entry = 0;
    while entry < list.len() {
        let (registers, policy) = list[entry];
        let mut at = 0;
        while at < SUB_ADDRESSES {
            if registers.has(at as u32) {
                table[at] = policy;
                if matches!(policy, Parameter::Free | Parameter::Lost | Parameter::Kept) {
                    needed[at / 32] |= 1 << (at % 32);
                }
            }
            at += 1;
        }
        entry += 1;
    }
    (table, needed)
}

/// A list as the checker uses it.
struct Parameters {
    table: Table,
    needed: Needed,
}

impl Parameters {
    const fn new(list: List) -> Self {
        let (table, needed) = spread(list);
        Self { table, needed }
    }

    #[inline]
    fn of(&'static self, sub_address: u32) -> (Parameter, &'static Needed) {
        let policy = self.table.get(sub_address as usize).copied();
        (policy.unwrap_or(Parameter::Unknown), &self.needed)
    }
}

static ATTRIBUTE: Parameters = Parameters::new(ATTRIBUTES);
static STAGE: Parameters = Parameters::new(STAGES);
static SAMPLE: Parameters = Parameters::new(SAMPLES);
static ALL_TEXTURES: Parameters = Parameters::new(GENERAL);
static PRIMITIVE: Parameters = Parameters::new(PRIMITIVES);

/// Return what the checker does with a parameter of type 01h, and which of them a draw needs.
pub fn attribute(sub_address: u32) -> (Parameter, &'static Needed) {
    ATTRIBUTE.of(sub_address)
}

/// As [`attribute`], of type 02h, sub-types 00h to 0Fh.
pub fn stage(sub_address: u32) -> (Parameter, &'static Needed) {
    STAGE.of(sub_address)
}

/// As [`attribute`], of type 02h, sub-types 20h to 2Fh.
pub fn sample(sub_address: u32) -> (Parameter, &'static Needed) {
    SAMPLE.of(sub_address)
}

/// As [`attribute`], of type 02h, sub-type FEh.
pub fn general(sub_address: u32) -> (Parameter, &'static Needed) {
    ALL_TEXTURES.of(sub_address)
}

/// As [`attribute`], of type 04h.
pub fn primitive(sub_address: u32) -> (Parameter, &'static Needed) {
    PRIMITIVE.of(sub_address)
}
