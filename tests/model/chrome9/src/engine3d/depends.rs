// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What a draw depends on beside the memory that it touches: state that decides on its pixels.
//!
//! Nothing is drawn, but a draw that uses a parameter which nobody has written has no defined result (decision 16). Each
//! function asks for the parameters of a feature that is switched on.

use lapidary_registers::chrome9::enums::{blend_operand, blend_operand_a};
use lapidary_registers::chrome9::para_01::{
    self, alpha_2, alpha_3, alpha_4, alpha_5, enable_1, enable_2, fog_1, ps_3,
};
use lapidary_registers::chrome9::para_02_general::{self as general, texture_general};
use lapidary_registers::chrome9::para_03_alu::ALU_INSTRUCTION;
use lapidary_registers::chrome9::para_03_stipple::STIPPLE;
use lapidary_registers::chrome9::para_03_tau::TAU_INSTRUCTION;
use lapidary_registers::chrome9::para_04::{self, primitive_setting_4 as shape};

use super::state::State;
use super::targets;

/// Sub-types of tables.
const STIPPLE_TABLE: u8 = 0x14;
const ALU_TABLE: u8 = 0x20;
const TAU_TABLE: u8 = 0x21;
/// Dwords of an instruction of the ALU (L1361).
const ALU_DWORDS: u32 = 4;

/// Ask for all parameters of what is switched on.
pub fn ask(state: &State<'_>) {
    let first = state.attribute(para_01::ENABLE_1);
    let second = state.attribute(para_01::ENABLE_2);
    state.attribute(para_01::ENABLE_3);
    let all = |list: &[u32]| {
        for sub_address in list {
            state.attribute(*sub_address);
        }
    };
    // A bit for each target that is switched on.
    let targets = (1u32 << targets::count(state)) - 1;
    let of_targets = |lowest: u32| first & (lowest * targets) != 0;
    if of_targets(enable_1::BLEND_RT0.mask()) {
        blending(state);
    }
    if of_targets(enable_1::ALPHA_TEST_RT0.mask()) {
        all(&[para_01::ALPHA_1]);
    }
    if of_targets(enable_1::FOG_RT0.mask()) {
        fog(state);
    }
    if enable_2::Z_TEST.any(second) || enable_2::Z_WRITE.any(second) {
        all(&[
            para_01::Z_4,
            para_01::Z_8,
            para_01::Z_9,
            para_01::Z_10,
            para_01::Z_11,
            para_01::Z_12,
            para_01::Z_15,
            para_01::Z_16,
            para_01::Z_17,
        ]);
    }
    if enable_2::STENCIL_TEST.any(second) {
        all(&[
            para_01::STENCIL_1,
            para_01::STENCIL_2,
            para_01::STENCIL_3,
            para_01::STENCIL_4,
        ]);
    }
    if enable_2::STIPPLE.any(second) {
        for row in 0..STIPPLE.len() {
            state.table(STIPPLE_TABLE, row);
        }
    }
    if enable_2::LINE_PATTERN.any(second) {
        all(&[para_01::MISC_5, para_01::MISC_6]);
    }
    if enable_2::CLIPPING.any(second) {
        all(&[para_01::MISC_9, para_01::MISC_10]);
    }
    if enable_2::PIXEL_SHADER.any(second) {
        shader(state);
    }
    vertices(state, second);
}

/// Ask for what blending needs, with the constants that its operands name.
fn blending(state: &State<'_>) {
    let get = |i| state.attribute(i);
    let (a, b) = (get(para_01::ALPHA_2), get(para_01::ALPHA_3));
    let (c, d) = (get(para_01::ALPHA_4), get(para_01::ALPHA_5));
    let color = |field: lapidary_registers::Field, word| field.get(word) == blend_operand::CONSTANT;
    let alpha =
        |field: lapidary_registers::Field, word| field.get(word) == blend_operand_a::CONSTANT;
    let needs = [
        (color(alpha_2::CA, a), [para_01::ALPHA_6, para_01::ALPHA_7]),
        (color(alpha_2::FCA, a), [para_01::ALPHA_7, para_01::ALPHA_8]),
        (color(alpha_3::CB, b), [para_01::ALPHA_9, para_01::ALPHA_10]),
        (
            color(alpha_3::FCB, b),
            [para_01::ALPHA_10, para_01::ALPHA_11],
        ),
        (
            alpha(alpha_4::AA, c) || alpha(alpha_4::FAA, c),
            [para_01::ALPHA_12, para_01::ALPHA_12],
        ),
        (
            alpha(alpha_5::AB, d) || alpha(alpha_5::FAB, d),
            [para_01::ALPHA_13, para_01::ALPHA_13],
        ),
    ];
    for (_, constants) in needs.iter().filter(|n| n.0) {
        constants.iter().for_each(|i| {
            get(*i);
        });
    }
}

/// Ask for what fog needs.
fn fog(state: &State<'_>) {
    use fog_1::mode::{EXPONENTIAL, EXPONENTIAL_2, LINEAR};
    let control = state.attribute(para_01::FOG_1);
    let mut needs = vec![para_01::FOG_2, para_01::FOG_3];
    match fog_1::MODE.get(control) {
        LINEAR => needs.extend([
            para_01::FOG_4,
            para_01::FOG_6,
            para_01::FOG_7,
            para_01::FOG_8,
        ]),
        EXPONENTIAL | EXPONENTIAL_2 => needs.push(para_01::FOG_9),
        _ => {}
    }
    for i in needs {
        state.attribute(i);
    }
    if fog_1::FROM_SHADER.any(control) {
        state.wrong("fog of the shader, and fog of a target".into());
    }
}

/// Ask for the pixel shader's program and inputs.
fn shader(state: &State<'_>) {
    for i in para_01::PS_1..=para_01::PS_11 {
        state.attribute(i);
    }
    let control = state.attribute(para_01::PS_3);
    let alu = ps_3::ALU_LENGTH.get(control) * ALU_DWORDS;
    let tau = ps_3::TAU_LENGTH.get(control);
    if alu > ALU_INSTRUCTION.len() || tau > TAU_INSTRUCTION.len() {
        state.wrong(format!("PS_3 = {control:#x}: a program that is too long"));
    }
    for dword in 0..alu.min(ALU_INSTRUCTION.len()) {
        state.table(ALU_TABLE, dword);
    }
    for dword in 0..tau.min(TAU_INSTRUCTION.len()) {
        state.table(TAU_TABLE, dword);
    }
    let count = texture_general::COUNT.get(state.general(general::TEXTURE_GENERAL));
    let routes = [
        general::TEXTURES_012,
        general::TEXTURES_345,
        general::TEXTURES_67,
    ];
    for sub_address in routes.iter().take(count.div_ceil(3) as usize) {
        state.general(*sub_address);
    }
}

/// Ask for what becomes of vertices.
fn vertices(state: &State<'_>, enable: u32) {
    use shape::type_::{POINT, TRIANGLE_POINT};
    for sub_address in [
        para_04::FVF_MASK_1,
        para_04::FVF_MASK_2,
        para_04::VERTEX_FORMAT_17,
        para_04::VERTEX_MASK_1,
        para_04::VERTEX_MASK_2,
    ] {
        state.primitive(sub_address);
    }
    let setting = state.primitive(para_04::PRIMITIVE_SETTING_4);
    if [POINT, TRIANGLE_POINT].contains(&shape::TYPE.get(setting)) {
        state.primitive(para_04::POINT_WIDTH);
        state.primitive(para_04::POINT_HEIGHT);
        state.primitive(para_04::POINT_SPRITE);
    }
    if shape::SHADING.get(setting) == shape::shading::SOLID {
        state.attribute(para_01::MISC_7);
        state.attribute(para_01::MISC_8);
    }
    if enable_2::CLIP_TO_SCREEN.any(enable) {
        let viewport = para_04::VIEWPORT_SCALE_X..=para_04::VIEWPORT_HIGH_Z;
        for sub_address in viewport.chain(para_04::CLAMP_UPPER..=para_04::CLAMP_HIGH) {
            state.primitive(sub_address);
        }
    }
}
