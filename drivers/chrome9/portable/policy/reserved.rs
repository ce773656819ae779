// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Fields of parameters of which the manual has not all values, or a largest one. What the engine makes of the others is not
//! known, so that streams may not set them.
//!
//! Fields that decide which memory is touched are not here: the checker knows their values.

use lapidary::portable::bits::Field;

use crate::portable::regs::{
    enums::{
        blend_modify,
        blend_operand as operand,
        blend_operand_a as operand_a,
        texture_filter as filter,
        texture_perspective as perspective,
        texture_wrap as wrap, //
    },
    para_01::{
        self,
        alpha_2,
        alpha_3,
        alpha_4,
        alpha_5,
        coarse_z_1,
        fog_1,
        rt0_4, //
    },
    para_02_general::{
        self,
        clip_planes,
        sets_a_b,
        texture_general,
        textures_012,
        textures_345,
        textures_67, //
    },
    para_02_sample::{
        self,
        filter_control_1,
        filter_control_2,
        level_control_1, //
    },
    para_02_stage::{
        self,
        texture_control_4,
        texture_control_5, //
    },
    para_04::{
        self,
        primitive_setting_4, //
    },
};

/// A field of a parameter, and a bit for each value that it may have.
pub type Values = (u32, Field, u32);

/// Return a bit for each value.
const fn bits(values: &[u32]) -> u32 {
    let mut bits = 0;
    let mut at = 0;
    while at < values.len() {
        bits |= 1 << values[at];
        at += 1;
    }
    bits
}

/// Return a bit for each value up to the largest.
const fn up_to(most: u32) -> u32 {
    u32::MAX.wrapping_shr(31 - most)
}

/// The most textures (L1292), sets of coordinates of a vertex, and the greatest anisotropy (L1271).
const TEXTURES: u32 = 8;
const SETS: u32 = 10;
const ANISOTROPY: u32 = 16;
/// The greatest level, and the greatest exponent of a size (L1176-1178, L1268-1270).
const LEVEL: u32 = 11;

const OPERAND: u32 = bits(&[
    operand::SOURCE,
    operand::DESTINATION,
    operand::SOURCE_ALPHA,
    operand::DESTINATION_ALPHA,
    operand::CONSTANT,
    operand::MIN,
    operand::MAX,
    operand::ALPHA_SATURATE,
]);
const OPERAND_A: u32 = bits(&[
    operand_a::ZERO,
    operand_a::SOURCE_ALPHA,
    operand_a::DESTINATION_ALPHA,
    operand_a::MIN,
    operand_a::MAX,
    operand_a::ALPHA_SATURATE,
    operand_a::CONSTANT,
]);
const MODIFY: u32 = bits(&[blend_modify::PLAIN, blend_modify::ONE_LESS]);
const SRGB: u32 = bits(&[
    rt0_4::srgb::LINEAR,
    rt0_4::srgb::GAMMA_2_2,
    rt0_4::srgb::TABLE,
]);
const FILTER: u32 = bits(&[
    filter::NEAREST,
    filter::LINEAR,
    filter::ANISOTROPIC,
    filter::FILTER_4X4,
]);
const WRAP: u32 = bits(&[
    wrap::BORDER,
    wrap::CLAMP,
    wrap::REPEAT,
    wrap::MIRROR,
    wrap::MIRROR_ONCE,
]);
const PERSPECTIVE: u32 = bits(&[
    perspective::NONE,
    perspective::PERSPECTIVE,
    perspective::PROJECTION,
]);

/// Type 01h.
pub const ATTRIBUTE_VALUES: &[Values] = &[
    (
        para_01::COARSE_Z_1,
        coarse_z_1::MERGE,
        bits(&[
            coarse_z_1::merge::OPTIMIZED,
            coarse_z_1::merge::CONSERVATIVE,
            coarse_z_1::merge::CONSERVATIVE_MIN,
        ]),
    ),
    (para_01::ALPHA_2, alpha_2::CA_MODIFY, MODIFY),
    (para_01::ALPHA_2, alpha_2::CA, OPERAND),
    (para_01::ALPHA_2, alpha_2::FCA_MODIFY, MODIFY),
    (para_01::ALPHA_2, alpha_2::FCA, OPERAND),
    (para_01::ALPHA_3, alpha_3::CB_MODIFY, MODIFY),
    (para_01::ALPHA_3, alpha_3::CB, OPERAND),
    (para_01::ALPHA_3, alpha_3::FCB_MODIFY, MODIFY),
    (para_01::ALPHA_3, alpha_3::FCB, OPERAND),
    (para_01::ALPHA_4, alpha_4::AA_RESERVED, bits(&[0])),
    (para_01::ALPHA_4, alpha_4::AA, OPERAND_A),
    (para_01::ALPHA_4, alpha_4::FAA_MODIFY, MODIFY),
    (para_01::ALPHA_4, alpha_4::FAA, OPERAND_A),
    (para_01::ALPHA_5, alpha_5::AB_RESERVED, bits(&[0])),
    (para_01::ALPHA_5, alpha_5::AB, OPERAND_A),
    (para_01::ALPHA_5, alpha_5::FAB_MODIFY, MODIFY),
    (para_01::ALPHA_5, alpha_5::FAB, OPERAND_A),
    (para_01::RT0_4, rt0_4::SRGB, SRGB),
    (para_01::RT1_4, rt0_4::SRGB, SRGB),
    (para_01::RT2_4, rt0_4::SRGB, SRGB),
    (para_01::RT3_4, rt0_4::SRGB, SRGB),
    (
        para_01::FOG_1,
        fog_1::MODE,
        bits(&[
            fog_1::mode::LOCAL,
            fog_1::mode::LINEAR,
            fog_1::mode::EXPONENTIAL,
            fog_1::mode::EXPONENTIAL_2,
        ]),
    ),
];

/// Type 02h, sub-types 00h to 0Fh.
pub const STAGE_VALUES: &[Values] = &[
    (
        para_02_stage::TEXTURE_CONTROL_4,
        texture_control_4::LENGTH_EXPONENT,
        up_to(LEVEL),
    ),
    (
        para_02_stage::TEXTURE_CONTROL_4,
        texture_control_4::HEIGHT_EXPONENT,
        up_to(LEVEL),
    ),
    (
        para_02_stage::TEXTURE_CONTROL_4,
        texture_control_4::WIDTH_EXPONENT,
        up_to(LEVEL),
    ),
    (
        para_02_stage::TEXTURE_CONTROL_5,
        texture_control_5::DEPTH_MODE,
        bits(&[
            texture_control_5::depth_mode::D3D,
            texture_control_5::depth_mode::LUMINANCE,
            texture_control_5::depth_mode::INTENSITY,
            texture_control_5::depth_mode::ALPHA,
        ]),
    ),
];

/// Type 02h, sub-types 20h to 2Fh.
pub const SAMPLE_VALUES: &[Values] = &[
    (
        para_02_sample::LEVEL_CONTROL_1,
        level_control_1::MAX_LEVEL,
        up_to(LEVEL),
    ),
    (
        para_02_sample::LEVEL_CONTROL_1,
        level_control_1::MIN_LEVEL,
        up_to(LEVEL),
    ),
    (
        para_02_sample::FILTER_CONTROL_1,
        filter_control_1::MAX_ANISOTROPY,
        up_to(ANISOTROPY),
    ),
    (
        para_02_sample::FILTER_CONTROL_1,
        filter_control_1::MAG_S,
        FILTER,
    ),
    (
        para_02_sample::FILTER_CONTROL_1,
        filter_control_1::MIN_S,
        FILTER,
    ),
    (
        para_02_sample::FILTER_CONTROL_1,
        filter_control_1::MAG_T,
        FILTER,
    ),
    (
        para_02_sample::FILTER_CONTROL_1,
        filter_control_1::MIN_T,
        FILTER,
    ),
    (
        para_02_sample::FILTER_CONTROL_1,
        filter_control_1::MIP,
        bits(&[
            filter_control_1::mip::LEVEL_0,
            filter_control_1::mip::NEAREST,
            filter_control_1::mip::LINEAR,
            filter_control_1::mip::DITHER,
        ]),
    ),
    (
        para_02_sample::FILTER_CONTROL_2,
        filter_control_2::MAG_R,
        FILTER,
    ),
    (
        para_02_sample::FILTER_CONTROL_2,
        filter_control_2::MIN_R,
        FILTER,
    ),
    (
        para_02_sample::FILTER_CONTROL_2,
        filter_control_2::WRAP_R,
        WRAP,
    ),
    (
        para_02_sample::FILTER_CONTROL_2,
        filter_control_2::WRAP_T,
        WRAP,
    ),
    (
        para_02_sample::FILTER_CONTROL_2,
        filter_control_2::WRAP_S,
        WRAP,
    ),
];

/// Type 02h, sub-type FEh.
pub const GENERAL_VALUES: &[Values] = &[
    (
        para_02_general::TEXTURE_GENERAL,
        texture_general::COUNT,
        up_to(TEXTURES),
    ),
    (
        para_02_general::CLIP_PLANES,
        clip_planes::SOURCE_1,
        up_to(SETS - 1),
    ),
    (
        para_02_general::CLIP_PLANES,
        clip_planes::SOURCE_2,
        up_to(SETS - 1),
    ),
    (para_02_general::SETS_A_B, sets_a_b::COUNT, up_to(SETS)),
    (
        para_02_general::TEXTURE_GENERAL,
        texture_general::FIFOS,
        bits(&[
            texture_general::fifos::SL_SF_LL,
            texture_general::fifos::SL_LL_SF,
            texture_general::fifos::LL_SF_SL,
        ]),
    ),
    (
        para_02_general::TEXTURES_012,
        textures_012::PERSPECTIVE_2,
        PERSPECTIVE,
    ),
    (
        para_02_general::TEXTURES_012,
        textures_012::PERSPECTIVE_1,
        PERSPECTIVE,
    ),
    (
        para_02_general::TEXTURES_012,
        textures_012::PERSPECTIVE_0,
        PERSPECTIVE,
    ),
    (
        para_02_general::TEXTURES_345,
        textures_345::PERSPECTIVE_5,
        PERSPECTIVE,
    ),
    (
        para_02_general::TEXTURES_345,
        textures_345::PERSPECTIVE_4,
        PERSPECTIVE,
    ),
    (
        para_02_general::TEXTURES_345,
        textures_345::PERSPECTIVE_3,
        PERSPECTIVE,
    ),
    (
        para_02_general::TEXTURES_67,
        textures_67::PERSPECTIVE_7,
        PERSPECTIVE,
    ),
    (
        para_02_general::TEXTURES_67,
        textures_67::PERSPECTIVE_6,
        PERSPECTIVE,
    ),
];

/// Type 04h.
pub const PRIMITIVE_VALUES: &[Values] = &[(
    para_04::PRIMITIVE_SETTING_4,
    primitive_setting_4::SHADING,
    bits(&[
        primitive_setting_4::shading::SOLID,
        primitive_setting_4::shading::FLAT_A,
        primitive_setting_4::shading::FLAT_B,
        primitive_setting_4::shading::FLAT_C,
        primitive_setting_4::shading::GOURAUD,
    ]),
)];

/// Return whether a parameter has a value that is in none of the lists for one of its fields.
pub fn reserved(list: &[Values], sub_address: u32, word: u32) -> bool {
    list.iter().any(|(parameter, field, values)| {
        let allowed = values.checked_shr(field.get(word)).unwrap_or(0);
        *parameter == sub_address && allowed & 1 == 0
    })
}
