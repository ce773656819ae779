// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Draws: mostly legal ones, with all the state that they need.

use chrome9::portable::policy;
use chrome9::portable::regs::{
    enums::{rt_format, texture_format},
    para_01::{self, enable_2, misc_1, rt0_4, z_2, z_3},
    para_02_general,
    para_02_stage::texture_control_1::kind,
    para_04::{self, primitive_setting_1 as setting_1, primitive_setting_4::type_},
};
use fastrand::Rng;

use crate::scene::{extent, pick, rarely};
use crate::scene3d::*;
use crate::support::Stream;

/// Offsets of surfaces are below that.
const MOST: u32 = 64 << 10;
/// The key of the enables.
const ENABLE: u32 = 0x8001_0001;
/// The last column and row of windows.
const LAST: u32 = 96;

const TARGET_FORMATS: [u32; 8] = [
    rt_format::ARGB8888,
    rt_format::RGB565,
    rt_format::AL88,
    rt_format::YUV,
    rt_format::R32F,
    rt_format::BGRA4444,
    rt_format::ABGR_2_10_10_10,
    rt_format::R16F,
];
const TEXTURE_FORMATS: [u32; 10] = [
    texture_format::ARGB8888_ASSUMED,
    texture_format::T1_ASSUMED,
    texture_format::L2_ASSUMED,
    texture_format::A4_ASSUMED,
    texture_format::L8_ASSUMED,
    texture_format::RGB565_ASSUMED,
    texture_format::DXT1_ASSUMED,
    texture_format::DXT4_5_ASSUMED,
    texture_format::YUV,
    texture_format::AI44,
];
const DEPTH_FORMATS: [u32; 4] = [
    z_3::format::Z16,
    z_3::format::Z32_ASSUMED,
    z_3::format::Z32F_ASSUMED,
    z_3::format::Z24S8_ASSUMED,
];

/// Return a place for a surface.
fn at(rng: &mut Rng, objects: u32) -> At {
    let offset = match rng.u32(..4) {
        0..=1 => 0,
        2 => 256 * rng.u32(..16),
        _ => rng.u32(..MOST) / 256 * 256,
    };
    (rng.u32(..objects), offset)
}

/// Return a pitch for so many pixels: often just enough, rarely less.
fn pitch(rng: &mut Rng, pixels: u32, bytes: u32) -> u32 {
    let least = (pixels * bytes).div_ceil(32).max(1);
    match rng.u32(..8) {
        0 => least,
        1 => rng.u32(1..=least),
        _ => least + extent(rng, 16),
    }
    .min(0x1ff)
}

/// Set windows. Return the columns of the wider one.
fn windows(rng: &mut Rng, scene: &mut Scene) -> u32 {
    let last = |rng: &mut Rng| extent(rng, LAST) - 1;
    let (right, bottom) = (last(rng), last(rng));
    scene.window(right, bottom);
    let mut columns = right + 1;
    if rarely(rng, 3) {
        let (right, bottom) = (last(rng), last(rng));
        let first = |rng: &mut Rng, last: u32| misc_1::TOP.of(rng.u32(..=last));
        let rows = first(rng, bottom) | misc_1::BOTTOM.of(bottom);
        let across = first(rng, right) | misc_1::BOTTOM.of(right);
        scene
            .set(attribute(para_01::MISC_3), rows)
            .set(attribute(para_01::MISC_4), across);
        columns = columns.max(right + 1);
    }
    columns
}

fn surfaces(rng: &mut Rng, scene: &mut Scene, objects: u32) {
    let columns = windows(rng, scene);
    let count = if rarely(rng, 3) { rng.u32(1..=4) } else { 1 };
    scene.also(ENABLE, enable_2::RT_COUNT.of(count - 1));
    for number in 0..count {
        let layout = pick(rng, &[0, 0, TILED, TILED_16]);
        let format = pick(rng, &TARGET_FORMATS);
        let pitch = pitch(rng, columns, 4);
        let place = at(rng, objects);
        scene.target(number, place, format, pitch, layout);
    }
    if rarely(rng, 4) {
        let gamma = pick(rng, &[0, 1, 1, 1, 2, 3]);
        scene.also(attribute(para_01::RT0_4), rt0_4::SRGB.of(gamma));
    }
    if rng.bool() {
        let pitch = pitch(rng, columns, 4);
        let stencil = rarely(rng, 3);
        let format = if stencil && !rarely(rng, 8) {
            z_3::format::Z24S8_ASSUMED
        } else {
            pick(rng, &DEPTH_FORMATS)
        };
        let place = at(rng, objects);
        scene.depth(place, format, pitch);
        scene.also(ENABLE, enable_2::Z_WRITE.of(rng.u32(..2)));
        if stencil {
            let place = at(rng, objects);
            scene.stencil(place);
        }
        if rarely(rng, 6) {
            let length = pick(rng, &[0, 1, 2, 3, 4, 4, 4, 5]);
            scene.set(attribute(para_01::FAST_Z_CLEAR_1), 1 | (length << 8));
        }
        if rarely(rng, 4) {
            let bits = z_2::READ_CACHE.mask() | z_2::CLEAR_READ_CACHE.mask();
            scene.also(attribute(para_01::Z_2), bits);
        }
    }
    if rarely(rng, 6) {
        let pitch = rng.u32(1..=columns + 8);
        let place = at(rng, objects);
        scene.coarse(place, pitch.min(0x1ff));
        scene.also(ENABLE, enable_2::COARSE_Z_WRITE.of(rng.u32(..2)));
    }
    if rarely(rng, 4) {
        scene.set(attribute(para_01::ENABLE_3), pick(rng, &[0, 1, 2, 3, 3, 3]));
    }
    if rarely(rng, 6) {
        scene
            .also(ENABLE, enable_2::TEXTURE_CACHE.mask())
            .set(stage(ALL, 0), pick(rng, &[0, 1, 1, 5, 9, 0x81]));
    }
    if rarely(rng, 4) {
        let (object, _) = at(rng, objects);
        scene.count((object, 4 * rng.u32(..256)));
    }
}

fn texture(rng: &mut Rng, objects: u32) -> Texture {
    let power = rarely(rng, 3);
    let side = |rng: &mut Rng| {
        if power {
            1 << rng.u32(..8)
        } else {
            extent(rng, 128)
        }
    };
    let size = (side(rng), side(rng));
    let kind = pick(
        rng,
        &[
            kind::TEXTURE_2D,
            kind::TEXTURE_2D,
            kind::VOLUME,
            kind::CUBE,
            8,
            9,
            10,
            11,
        ],
    );
    let volume = kind & 3 == kind::VOLUME;
    let length = if power {
        1 << rng.u32(..3)
    } else {
        rng.u32(1..5)
    };
    let tiles = pick(rng, &[0, 0, TEXTURE_TILED, TEXTURE_TILED_16]);
    let exponents = size.0.ilog2() | (size.1.ilog2() << 4) | (length.ilog2() << 8);
    let layout = if power {
        0x8000 | exponents | tiles
    } else {
        tiles
    };
    Texture {
        at: at(rng, objects),
        kind,
        format: pick(rng, &TEXTURE_FORMATS),
        size,
        length,
        layout,
        faces: 256 * rng.u32(..64),
        last: if volume && !rarely(rng, 8) || rng.bool() {
            0
        } else {
            rng.u32(1..=8)
        },
        levels: 256 * rng.u32(..16),
        absolute: if kind & 3 == kind::CUBE {
            rarely(rng, 8)
        } else {
            rng.bool()
        },
    }
}

fn shader(rng: &mut Rng, scene: &mut Scene, objects: u32) {
    let common = texture(rng, objects);
    scene.shader(&common);
    for _ in 0..rng.u32(..4) {
        let (number, texture) = (rng.u32(..16), texture(rng, objects));
        scene.texture(number, &texture);
    }
    if rarely(rng, 4) {
        let bits = rng.u32(..) & 0x001f_6db1;
        scene.set(sample(rng.u32(..16), 0x31), bits);
    }
    if rarely(rng, 8) {
        let table = rng.usize(..scene.tables.len());
        scene.tables.remove(table);
    }
    for (_, _, values) in &mut scene.tables {
        for value in values {
            *value = match rng.u32(..16) {
                0 => 0xffff_ffff,
                1 => 0x7f80_0001,
                _ => rng.u32(..) & 0x0fff_ffff,
            };
        }
    }
}

fn vertices(rng: &mut Rng, scene: &mut Scene, objects: u32) {
    let mut mask = [0xf0_0000u32, 0];
    for _ in 0..rng.u32(..6) {
        mask[rng.usize(..2)] |= 1 << rng.u32(..24);
    }
    let length: u32 = mask.iter().map(|word| word.count_ones()).sum();
    scene
        .set(primitive(para_04::FVF_MASK_1), mask[0])
        .set(primitive(para_04::FVF_MASK_2), mask[1]);
    let (kind, corners) = pick(
        rng,
        &[
            (type_::TRIANGLE, 3),
            (type_::TRIANGLE, 3),
            (type_::LINE, 2),
            (type_::POINT, 1),
            (type_::WIREFRAME, 3),
            (type_::TRIANGLE_POINT, 3),
        ],
    );
    let shading = rng.u32(..5) << 12;
    scene.set(primitive(para_04::PRIMITIVE_SETTING_4), kind | shading);
    let fast = corners > 1 && rarely(rng, 4);
    let (cycle, count) = if fast {
        // The new vertex in the place of the last corner.
        let even = if corners == 3 {
            setting_1::EVEN_A.of(2) | setting_1::EVEN_B.of(3)
        } else {
            setting_1::EVEN_A.of(2)
        };
        let odd = if corners == 3 {
            setting_1::ODD_A.of(2) | setting_1::ODD_B.of(3)
        } else {
            setting_1::ODD_A.of(2)
        };
        let cycle = setting_1::FAST_CYCLE.mask() | even | odd;
        (cycle, corners + rng.u32(..6))
    } else {
        (0, corners * rng.u32(1..5))
    };
    scene
        .set(primitive(para_04::PRIMITIVE_SETTING_1), cycle)
        .set(primitive(para_04::VERTEX_COUNT), count);
    let tests = pick(rng, &[0x54_0000, 0xa8_0000, 0xfc_0000, 0x94_0000]);
    if rng.bool() {
        scene.set(primitive(para_04::VERTEX_FORMAT_1), tests | length);
        scene.data = (0..count * length)
            .map(|_| match rng.u32(..8) {
                0 => 0x7fc0_0000,
                1 => 0xfe82_0420,
                2 => 0xff80_0000,
                _ => rng.u32(..),
            })
            .map(|word| if word >> 16 == 0xf1c5 { 0 } else { word })
            .collect();
        return;
    }
    let most = extent(rng, 200);
    let least = if rng.bool() { 0 } else { rng.u32(..=most) };
    let wide = rng.bool();
    let (object, offset) = at(rng, objects);
    let place = (object, offset + 4 * rng.u32(..8));
    let step = if rarely(rng, 4) {
        rng.u32(1..256)
    } else {
        length
    };
    scene.indexed(place, step, most, wide);
    scene
        .place(primitive(para_04::VERTEX_FORMAT_1), tests | length, place)
        .also(primitive(para_04::PRIMITIVE_SETTING_1), cycle)
        .set(primitive(para_04::INDEX_MIN_LOW), least);
    let indices: Vec<u32> = (0..count.next_multiple_of(2))
        .map(|_| rng.u32(least..=most))
        .collect();
    scene.data = if wide {
        indices[..count as usize].to_vec()
    } else {
        indices
            .chunks(2)
            .map(|pair| pair[0] | (pair[1] << 16))
            .collect()
    };
}

/// Give parameters that may have any value some.
fn any_values(rng: &mut Rng, scene: &mut Scene) {
    let types = [
        (
            attribute(0),
            policy::attribute as Lookup,
            policy::ATTRIBUTE_VALUES,
        ),
        (stage(ALL, 0), policy::general, policy::GENERAL_VALUES),
        (primitive(0), policy::primitive, policy::PRIMITIVE_VALUES),
    ];
    for _ in 0..rng.u32(1..12) {
        let (first, lookup, values) = pick(rng, &types);
        let sub_address = if rarely(rng, 8) { 0 } else { rng.u32(..0xaa) };
        // Some that the checker keeps may have many values, too.
        let free = lookup(sub_address).0 == policy::Parameter::Free
            || [para_01::Z_4, para_01::FOG_1, para_02_general::CLIP_PLANES].contains(&sub_address);
        let value = match rng.u32(..6) {
            4 => rng.u32(..) & 0x0087_00ff,
            5 => rng.u32(..) & 0x0000_ffff,
            0 => 0x00ff_ffff,
            1 => 1 << rng.u32(..24),
            _ => rng.u32(..0x0100_0000),
        };
        if free && !policy::reserved(values, sub_address, value) {
            scene.set(first + sub_address, value);
        }
    }
    if rarely(rng, 3) {
        let bits = rng.u32(..) & 0x007f_ffff;
        scene.set(attribute(para_01::ENABLE_1), bits);
    }
    if rarely(rng, 4) {
        // Fog of a target, by the shader, by depth and otherwise, and depth of the shader.
        scene
            .set(attribute(para_01::ENABLE_1), 0x100 << rng.u32(..4))
            .set(
                attribute(para_01::FOG_1),
                pick(rng, &[0, 2, 4, 0x42, 0x15, 0x80]),
            )
            .set(
                attribute(para_01::Z_4),
                pick(rng, &[0, 0x7_0000, 0x80_0000]),
            );
    }
    if rarely(rng, 3) {
        scene.also(ENABLE, rng.u32(..) & 0x00fe_08a2);
    }
}

type Lookup = fn(u32) -> (policy::Parameter, &'static policy::Needed);

/// Append draws.
pub fn add(rng: &mut Rng, stream: &mut Stream, objects: u32) {
    let mut scene = Scene::default();
    surfaces(rng, &mut scene, objects);
    vertices(rng, &mut scene, objects);
    if rarely(rng, 4) {
        shader(rng, &mut scene, objects);
    }
    if rarely(rng, 3) {
        any_values(rng, &mut scene);
    }
    if rarely(rng, 8) {
        let bit = 1 << rng.u32(..24);
        scene.params.entry(ENABLE).or_default().value ^= bit;
    }
    scene.state(stream);
    scene.draw(stream);
    for _ in 0..rng.u32(..3) {
        again(rng, &mut scene, stream, objects);
    }
}

/// Append a draw after only some of the state has been set again.
fn again(rng: &mut Rng, scene: &mut Scene, stream: &mut Stream, objects: u32) {
    let before = scene.clone();
    match rng.u32(..5) {
        0 => {
            let place = at(rng, objects);
            scene.target(0, place, pick(rng, &TARGET_FORMATS), 16, 0);
        }
        1 => drop(windows(rng, scene)),
        2 => vertices(rng, scene, objects),
        3 => {
            let texture = texture(rng, objects);
            scene.texture(rng.u32(..16), &texture);
        }
        _ => {
            let place = at(rng, objects);
            scene.coarse(place, 64);
        }
    }
    let mut changed = scene.clone();
    changed.tables.clear();
    changed.params.retain(|key, param| {
        let same = |other: &Param| other.value == param.value && other.parts == param.parts;
        !before.params.get(key).is_some_and(same)
    });
    changed.state(stream);
    changed.draw(stream);
}

#[test]
fn a_scene_is_admitted() {
    let mut scene = Scene::default();
    scene.shader(&TEXTURE);
    let stream = scene.stream();
    let objects = vec![crate::scene::generous(); 2];
    let checked = crate::support::run(&stream.words, &stream.relocations, &objects);
    assert!(checked.is_ok(), "{checked:?}");
}
