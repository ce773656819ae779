// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Rules of the 3D engine: parameters, the state that a draw needs, surfaces, textures, vertices.

pub mod forms;
pub mod state;
pub mod surfaces;
pub mod textures;
pub mod vertices;

use chrome9::portable::checker::Reason;
use chrome9::portable::emit::PAD;
use chrome9::portable::regs::{
    enums::{para_type, rt_format, texture_format},
    para_01::{self, coarse_z_1, enable_2, fast_z_clear_1, misc_1, ps_3, rt0_3, rt0_4, z_2, z_3},
    para_02_sample,
    para_02_stage::{self, texture_control_1 as control_1, texture_control_4 as control_4},
    para_04::{self, primitive_setting_1 as setting_1, primitive_setting_4 as setting_4},
};

use crate::rule::{Rule, PAGE};
use crate::scene3d::*;
use crate::support::*;

/// Return the position of the draw.
pub fn draw(stream: &Stream) -> usize {
    stream.value_of(DRAW)
}

/// Return the dword of a parameter with other data.
pub fn data(stream: &Stream, key: u32, value: u32) -> (usize, u32) {
    let at = stream.value_of(key);
    (at, (stream.words[at] & 0xff00_0000) | value)
}

/// Return a rule that other data of a parameter breaks.
pub fn other(reason: Reason, stream: &Stream, key: u32, value: u32) -> Rule {
    let (at, word) = data(stream, key, value);
    Rule::new(reason, stream, at, word)
}

/// Return a rule that other data of a parameter breaks, which shows at the draw.
pub fn late(reason: Reason, stream: &Stream, key: u32, value: u32) -> Rule {
    other(reason, stream, key, value).shows_at(draw(stream))
}

/// Return a rule that is broken because another parameter is set, which shows at the draw.
pub fn unset(reason: Reason, stream: &Stream, key: u32, instead: u32) -> Rule {
    let at = stream.value_of(key);
    let word = (instead << 24) | (stream.words[at] & 0x00ff_ffff);
    Rule::new(reason, stream, at, word).shows_at(draw(stream))
}

/// Return the data of a parameter.
pub fn value(scene: &Scene, key: u32) -> u32 {
    scene.params[&key].value
}

pub fn scene() -> Scene {
    Scene::default()
}

pub fn shaded() -> Scene {
    let mut scene = scene();
    scene.shader(&TEXTURE);
    scene
}

pub const ENABLE: u32 = 0x8001_0001;
/// Bits of sub-type and type of a setting.
pub fn table(sub_type: u32, first: u32) -> u32 {
    setting(para_type::TABLE, sub_type, first)
}
