// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Rules of the 3D engine: parameters, the state that a draw needs, surfaces, textures, vertices.

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
fn draw(stream: &Stream) -> usize {
    stream.value_of(DRAW)
}

/// Return the dword of a parameter with other data.
fn data(stream: &Stream, key: u32, value: u32) -> (usize, u32) {
    let at = stream.value_of(key);
    (at, (stream.words[at] & 0xff00_0000) | value)
}

/// Return a rule that other data of a parameter breaks.
fn other(reason: Reason, stream: &Stream, key: u32, value: u32) -> Rule {
    let (at, word) = data(stream, key, value);
    Rule::new(reason, stream, at, word)
}

/// Return a rule that other data of a parameter breaks, which shows at the draw.
fn late(reason: Reason, stream: &Stream, key: u32, value: u32) -> Rule {
    other(reason, stream, key, value).shows_at(draw(stream))
}

/// Return a rule that is broken because another parameter is set, which shows at the draw.
fn unset(reason: Reason, stream: &Stream, key: u32, instead: u32) -> Rule {
    let at = stream.value_of(key);
    let word = (instead << 24) | (stream.words[at] & 0x00ff_ffff);
    Rule::new(reason, stream, at, word).shows_at(draw(stream))
}

/// Return the data of a parameter.
fn value(scene: &Scene, key: u32) -> u32 {
    scene.params[&key].value
}

fn scene() -> Scene {
    Scene::default()
}

fn shaded() -> Scene {
    let mut scene = scene();
    scene.shader(&TEXTURE);
    scene
}

const ENABLE: u32 = 0x8001_0001;
/// Bits of sub-type and type of a setting.
fn table(sub_type: u32, first: u32) -> u32 {
    setting(para_type::TABLE, sub_type, first)
}

pub fn forms(rules: &mut Vec<Rule>) {
    let stream = scene().stream();
    let draw = draw(&stream);
    for (at, kind) in [(2, 0x0001_0000), (draw + 2, 0)] {
        for bits in [1, 0x80, 0x100, 0x8000, 0x0100_0000, 0x8000_0000] {
            rules.push(Rule::new(Reason::SettingBits, &stream, at, kind | bits));
        }
        for (kind, reason) in [
            (0x05, Reason::ReservedType),
            (0x0f, Reason::ReservedType),
            (0x10, Reason::KernelType),
            (0x11, Reason::KernelType),
            (0x12, Reason::ReservedType),
            (0xfd, Reason::ReservedType),
            (0xfe, Reason::ForbiddenType),
            (0xff, Reason::ReservedType),
        ] {
            rules.push(Rule::new(reason, &stream, at, kind << 16));
        }
    }
    rules.extend([
        Rule::new(Reason::HeaderBits, &stream, draw + 3, 1),
        Rule::new(Reason::EmptyHeader, &stream, draw + 1, 0),
        Rule::new(Reason::Truncated, &stream, draw + 1, 17),
        Rule::new(Reason::VertexData, &stream, draw + 1, 14).shows_at(draw),
        Rule::new(Reason::VertexData, &stream, draw + 1, 16).shows_at(draw),
        // A draw through header 2 ends where the next header begins. Fifteen dwords are no whole unit.
        Rule::new(Reason::NotPadding, &stream, draw + 2, 0x0030_0000).shows_at(draw + 4),
    ]);
    // Vertices that are not counted: four of three dwords... as many as fill whole units.
    let mut scene = scene();
    scene
        .set(primitive(para_04::VERTEX_COUNT), 4)
        .set(
            primitive(para_04::PRIMITIVE_SETTING_4),
            setting_4::type_::POINT,
        )
        .also(primitive(para_04::VERTEX_FORMAT_1), 0);
    let mut stream = Stream::new();
    scene.state(&mut stream);
    let header = stream.words.len();
    stream.open(0).words(&VERTEX.repeat(4)).pad();
    assert_eq!(stream.words.len(), header + 24);
    rules.extend([
        Rule::new(Reason::HeaderInParameters, &stream, header + 5, head(0, 0)),
        Rule::new(
            Reason::HeaderInParameters,
            &stream,
            header + 23,
            head(0x82, 0),
        ),
        // It begins a unit.
        Rule::new(Reason::VertexData, &stream, header + 20, head(6, 0)).shows_at(header),
    ]);
    let mut longer = stream.clone();
    longer.words(&[head(0, 0), 1, 0, PAD, 0x6c, 0, PAD, PAD]);
    rules.push(Rule::new(Reason::VertexData, &longer, header + 24, PAD).shows_at(header));
    // Sub-types.
    let stream = shaded().stream();
    for (first, reason, bad) in [
        (
            key(para_type::TEXTURE, ALL, 0),
            Reason::SubType,
            &[0x10, 0x1f, 0x30, 0x3f, 0xfd, 0xff][..],
        ),
        (
            entry(0x15, 0),
            Reason::SubType,
            &[0x01, 0x0f, 0x13, 0x16, 0x18, 0x1f, 0x23, 0xff],
        ),
    ] {
        let at = stream.value_of(first) - 2;
        for sub_type in bad {
            let word = (stream.words[at] & 0x00ff_ffff) | (sub_type << 24);
            rules.push(Rule::new(reason, &stream, at, word));
        }
    }
    // Tables.
    for (sub_type, first, entries) in TABLES {
        if [0x20, 0x21].contains(&sub_type) {
            continue;
        }
        let at = stream.value_of(entry(sub_type, first)) - 2;
        let last = stream.value_of(entry(sub_type, first + entries as u32 - 1));
        rules.push(
            Rule::new(Reason::TableRange, &stream, at, table(sub_type, first + 1)).shows_at(last),
        );
    }
    let alu = stream.value_of(entry(0x20, 0));
    rules.extend([
        Rule::new(Reason::HeaderInParameters, &stream, alu + 1, head(3, 0x43c)),
        Rule::new(
            Reason::HeaderInParameters,
            &stream,
            alu + 14,
            head(0xff, 0x43c),
        ),
        Rule::new(Reason::ForbiddenHeader, &stream, alu + 4, head(6, 0)),
    ]);
    let palette = stream.value_of(entry(0, 0));
    rules.push(Rule::new(
        Reason::NestedBranch,
        &stream,
        palette + 4,
        head(0x82, 0),
    ));
    // Parameters.
    let scene = shaded();
    let stream = scene.stream();
    for (key, unknown) in [
        (
            ENABLE,
            &[
                0x03, 0x0f, 0x2b, 0x32, 0x40, 0x4f, 0x54, 0x57, 0x79, 0x8b, 0x9b, 0xa9, 0xab,
            ][..],
        ),
        (
            stage(3, para_02_stage::TEXTURE_CONTROL_2),
            &[0x06, 0x17, 0x19, 0x23, 0x31, 0x52],
        ),
        (
            sample(3, para_02_sample::LEVEL_CONTROL_1),
            &[0x00, 0x2f, 0x33, 0x34, 0x37, 0x51],
        ),
        (key(para_type::TEXTURE, ALL, 1), &[0x06, 0x07, 0x0f, 0x14]),
        (
            primitive(para_04::POINT_WIDTH),
            &[0x11, 0x1f, 0x30, 0x3f, 0x49, 0x4f, 0x53, 0xa9],
        ),
    ] {
        let at = stream.value_of(key);
        for sub_address in unknown {
            let word = (stream.words[at] & 0x00ff_ffff) | (sub_address << 24);
            rules.push(Rule::new(Reason::UnknownParameter, &stream, at, word));
        }
    }
    for sub_address in [para_01::Z_5, para_01::Z_6, para_01::RESERVED_74] {
        for bit in [0, 23] {
            rules.push(other(
                Reason::LostParameter,
                &stream,
                attribute(sub_address),
                1 << bit,
            ));
        }
    }
}

pub fn bits(rules: &mut Vec<Rule>) {
    let mut scene = shaded();
    scene
        .depth((0, 0), z_3::format::Z24S8_ASSUMED, 4)
        .stencil((0, 0))
        .coarse((0, 0), 16)
        .count((0, 0))
        .indexed((1, 0), 5, 9, true);
    scene.texture(0, &Texture { last: 1, ..TEXTURE });
    let stream = scene.stream();
    for (key, bits) in [
        (attribute(para_01::ENABLE_1), &[23][..]),
        (attribute(para_01::ENABLE_3), &[2, 23]),
        (attribute(para_01::Z_2), &[2, 8, 23]),
        (attribute(para_01::Z_3), &[0, 4, 7, 15, 22]),
        (attribute(para_01::Z_19), &[8, 21]),
        (attribute(para_01::FAST_Z_CLEAR_1), &[1, 7, 16, 23]),
        (attribute(para_01::COARSE_Z_1), &[14, 18, 19]),
        (attribute(para_01::RT0_2), &[0, 19]),
        (attribute(para_01::RT0_3), &[10, 11, 13, 14]),
        (attribute(para_01::RT0_4), &[7, 12, 14, 17]),
        (attribute(para_01::PS_3), &[9, 13, 22]),
        (stage(0, para_02_stage::TEXTURE_CONTROL_1), &[13, 18, 22]),
        (stage(0, para_02_stage::TEXTURE_CONTROL_3), &[12, 23]),
        (
            stage(0, para_02_stage::TEXTURE_CONTROL_4),
            &[12, 14, 18, 23],
        ),
        (stage(0, para_02_stage::TEXTURE_CONTROL_5), &[2, 7, 9, 10]),
        (sample(0, para_02_sample::LEVEL_CONTROL_1), &[22, 23]),
        (sample(0, para_02_sample::FILTER_CONTROL_1), &[21, 23]),
        (key(para_type::TEXTURE, ALL, 0), &[8, 23]),
        (entry(LEVELS, 0), &[24, 29]),
        (primitive(para_04::VERTEX_FORMAT_1), &[6, 14]),
        (primitive(para_04::VERTEX_FORMAT_17), &[18, 21]),
        (primitive(para_04::PRIMITIVE_SETTING_1), &[2, 7, 22]),
        (primitive(para_04::VERTEX_BUFFER_HIGH), &[16, 23]),
        (primitive(para_04::PRIMITIVE_SETTING_4), &[16, 23]),
        (primitive(para_04::INDEX_BOUNDS_HIGH), &[16, 23]),
        (primitive(para_04::POINT_SPRITE), &[10, 23]),
    ] {
        let at = stream.value_of(key);
        for bit in bits {
            let word = stream.words[at] | (1 << bit);
            rules.push(Rule::new(Reason::ParameterBits, &stream, at, word));
        }
    }
    let enable = value(&scene, ENABLE);
    for count in 4..=7 {
        let word = enable_2::RT_COUNT.put(enable, count);
        rules.push(other(Reason::TargetCount, &stream, ENABLE, word));
    }
    rules.push(other(
        Reason::VertexCache,
        &stream,
        ENABLE,
        enable | enable_2::VERTEX_CACHE.mask(),
    ));
    for length in [5, 15] {
        rules.push(other(
            Reason::FastClear,
            &stream,
            attribute(para_01::FAST_Z_CLEAR_1),
            fast_z_clear_1::INDEX_LENGTH.of(length),
        ));
    }
    for word in [ps_3::ALU_LENGTH.of(97), ps_3::TAU_LENGTH.of(33)] {
        rules.push(other(
            Reason::ShaderLength,
            &stream,
            attribute(para_01::PS_3),
            word,
        ));
    }
    for sub_address in para_01::MISC_1..=para_01::MISC_4 {
        for (first, last) in [(0, 2049), (16, 15), (0, 4095)] {
            rules.push(other(
                Reason::WindowRange,
                &stream,
                attribute(sub_address),
                misc_1::TOP.of(first) | misc_1::BOTTOM.of(last),
            ));
        }
    }
}

pub fn reserved(rules: &mut Vec<Rule>) {
    let mut scene = shaded();
    scene
        .coarse((0, 0), 16)
        // The last that there are.
        .set(primitive(para_04::VERTEX_FORMAT_3), 0x31_322f);
    let stream = scene.stream();
    for (key, bits) in [
        (attribute(para_01::COARSE_Z_1), &[3 << 12][..]),
        (
            attribute(para_01::ALPHA_2),
            &[4 << 4, 2 << 8, 9 << 10, 3 << 14],
        ),
        (
            attribute(para_01::ALPHA_3),
            &[15 << 2, 2 << 6, 4 << 8, 3 << 12],
        ),
        (
            attribute(para_01::ALPHA_4),
            &[3 << 4, 2 << 8, 6 << 10, 1 << 14],
        ),
        (
            attribute(para_01::ALPHA_5),
            &[10 << 2, 3 << 6, 4 << 8, 2 << 12],
        ),
        (attribute(para_01::RT0_4), &[3 << 4]),
        (attribute(para_01::FOG_1), &[1, 3, 7]),
        (
            stage(1, para_02_stage::TEXTURE_CONTROL_5),
            &[1 << 11, 7 << 11],
        ),
        (
            sample(1, para_02_sample::FILTER_CONTROL_1),
            &[3, 5, 4 << 4, 7 << 13],
        ),
        (
            sample(1, para_02_sample::FILTER_CONTROL_2),
            &[4, 5 << 3, 6 << 6, 4 << 16, 4 << 19],
        ),
        (key(para_type::TEXTURE, ALL, 0), &[3 << 2]),
        (key(para_type::TEXTURE, ALL, 1), &[3 << 5, 3 << 13, 3 << 21]),
        (key(para_type::TEXTURE, ALL, 3), &[3 << 5, 3 << 13]),
        (primitive(para_04::PRIMITIVE_SETTING_4), &[5 << 12, 7 << 12]),
        (
            primitive(para_04::VERTEX_FORMAT_2),
            &[0x30, 0x33 << 8, 0x3f << 16],
        ),
        (
            primitive(para_04::VERTEX_FORMAT_14),
            &[0x3f, 0x30 << 8, 0x33 << 16],
        ),
        (
            primitive(para_04::VERTEX_FORMAT_15),
            &[0x30, 0x30 << 6, 0x33 << 12, 0x30 << 18],
        ),
        (
            primitive(para_04::VERTEX_FORMAT_16),
            &[0x33, 0x33 << 6, 0x30 << 12, 0x3f << 18],
        ),
        (
            primitive(para_04::VERTEX_FORMAT_17),
            &[0x30, 0x33 << 6, 0x30 << 12],
        ),
        (entry(0x15, 0), &[0x8000_0000]),
        (entry(0x17, 0), &[0x8000_0000]),
        (entry(0x17, 2), &[0xc000_0000]),
    ] {
        let at = stream.value_of(key);
        for bits in bits {
            let word = stream.words[at] | bits;
            rules.push(Rule::new(Reason::ReservedValue, &stream, at, word));
        }
    }
}

pub fn needed(rules: &mut Vec<Rule>) {
    let scene = scene();
    let stream = scene.stream();
    const TAG: u32 = 0xaa;
    let targets = para_01::RT0_1..=para_01::RT0_4;
    for key in scene.params.keys() {
        let sub_address = key & 0xff;
        let (reason, instead) = match (key >> 8) & 0xffff {
            0x0100 if targets.contains(&sub_address) => continue,
            0x0100 if sub_address == para_01::RESERVED_74 => continue,
            0x0100 => (Reason::NoAttribute, TAG),
            0x0400 => (Reason::NoPrimitive, TAG),
            _ => (Reason::NoGeneral, if sub_address == 1 { 2 } else { 1 }),
        };
        rules.push(unset(reason, &stream, *key, instead));
    }
    // What only some draws need. Parameters with addresses have others with as many bits in their places.
    for (sub_address, instead) in [
        (para_01::RT0_1, para_01::FAST_Z_CLEAR_2),
        (para_01::RT0_2, para_01::COARSE_Z_1),
        (para_01::RT0_3, TAG),
        (para_01::RT0_4, TAG),
    ] {
        rules.push(unset(
            Reason::NoTarget,
            &stream,
            attribute(sub_address),
            instead,
        ));
    }
    let enable = value(&scene, ENABLE);
    for (bits, reason) in [
        (enable_2::RT_COUNT.of(1), Reason::NoTarget),
        (enable_2::RT_COUNT.of(3), Reason::NoTarget),
        (enable_2::Z_TEST.mask(), Reason::NoDepth),
        (enable_2::Z_WRITE.mask(), Reason::NoDepth),
        (enable_2::STENCIL_TEST.mask(), Reason::NoDepth),
        (enable_2::COARSE_Z_TEST.mask(), Reason::NoCoarseDepth),
        (enable_2::COARSE_Z_WRITE.mask(), Reason::NoCoarseDepth),
        (enable_2::STIPPLE.mask(), Reason::NoTable),
        (enable_2::PIXEL_SHADER.mask(), Reason::NoTable),
    ] {
        rules.push(late(reason, &stream, ENABLE, enable | bits));
    }
    rules.extend([
        late(
            Reason::NoDepth,
            &stream,
            attribute(para_01::FAST_Z_CLEAR_1),
            fast_z_clear_1::ENABLE.mask(),
        ),
        late(
            Reason::NoIndexBounds,
            &stream,
            primitive(para_04::PRIMITIVE_SETTING_1),
            setting_1::INDEX_MODE.mask(),
        ),
    ]);
    let mut depth = scene.clone();
    depth.depth((1, 0), z_3::format::Z24S8_ASSUMED, 4);
    let stream = depth.stream();
    for (sub_address, instead) in [
        (para_01::Z_1, para_01::FAST_Z_CLEAR_2),
        (para_01::Z_2, para_01::COARSE_Z_1),
        (para_01::Z_3, TAG),
    ] {
        rules.push(unset(
            Reason::NoDepth,
            &stream,
            attribute(sub_address),
            instead,
        ));
    }
    let enable = value(&depth, ENABLE);
    rules.push(late(
        Reason::NoStencil,
        &stream,
        ENABLE,
        enable | enable_2::STENCIL_TEST.mask(),
    ));
    depth.stencil((1, 1024));
    rules.push(unset(
        Reason::NoStencil,
        &depth.stream(),
        attribute(para_01::FAST_Z_CLEAR_2),
        para_01::COARSE_Z_2,
    ));
    let mut coarse = scene.clone();
    coarse.coarse((1, 0), 16);
    rules.push(unset(
        Reason::NoCoarseDepth,
        &coarse.stream(),
        attribute(para_01::COARSE_Z_2),
        para_01::FAST_Z_CLEAR_2,
    ));
    shader_needs(rules);
}

/// Add the rules of what a shader needs.
fn shader_needs(rules: &mut Vec<Rule>) {
    let stream = shaded().stream();
    for number in [0, 7, 15] {
        for sub_address in [
            para_02_stage::TEXTURE_CONTROL_2,
            para_02_stage::TEXTURE_CONTROL_3,
            para_02_stage::TEXTURE_CONTROL_4,
            para_02_stage::TEXTURE_CONTROL_5,
        ] {
            rules.push(unset(
                Reason::NoStage,
                &stream,
                stage(number, sub_address),
                para_02_stage::SW_INSPECTION_STAGE_1,
            ));
        }
        for sub_address in [
            para_02_sample::LEVEL_CONTROL_1,
            para_02_sample::FILTER_CONTROL_1,
            para_02_sample::FILTER_CONTROL_2,
            para_02_sample::BORDER_CONTROL_1,
            para_02_sample::BORDER_CONTROL_2,
        ] {
            let instead = if sub_address == para_02_sample::FILTER_CONTROL_2 {
                para_02_sample::BORDER_CONTROL_1
            } else {
                para_02_sample::FILTER_CONTROL_2
            };
            rules.push(unset(
                Reason::NoSample,
                &stream,
                sample(number, sub_address),
                instead,
            ));
        }
    }
    // Tables. Another one gets the entries.
    let mut all = shaded();
    all.also(ENABLE, enable_2::STIPPLE.mask())
        .also(attribute(para_01::RT0_4), rt0_4::SRGB.of(2))
        .also(stage(2, para_02_stage::TEXTURE_CONTROL_5), 1 << 8)
        .also(sample(3, para_02_sample::FILTER_CONTROL_1), 3 << 7);
    let palette = texture_format::AI44;
    all.texture(
        1,
        &Texture {
            format: palette,
            ..TEXTURE
        },
    );
    let stream = all.stream();
    for (sub_type, first, instead) in [
        (0x00, 0, table(0x12, 0)),
        (0x11, 0, table(0x14, 0)),
        (0x12, 0, table(0x14, 0)),
        (0x14, 0, table(0x12, 0)),
        (0x15, 0, table(0x12, 0)),
        (0x17, 0, table(0x12, 0)),
        (0x20, 0, table(0x20, 1)),
        (0x21, 0, table(0x21, 1)),
        (0x22, 0, table(0x20, 0)),
        (0x22, 0x80, table(0x20, 0x80)),
    ] {
        let at = stream.value_of(entry(sub_type, first)) - 2;
        rules.push(Rule::new(Reason::NoTable, &stream, at, instead).shows_at(draw(&stream)));
    }
    // Longer programs than the stream has, and what makes a table needed.
    let mut less = shaded();
    less.tables
        .retain(|(sub_type, _, _)| [0x20, 0x21, 0x22].contains(sub_type));
    let stream = less.stream();
    rules.extend([
        late(
            Reason::NoTable,
            &stream,
            attribute(para_01::PS_3),
            0x0004_0005,
        ),
        late(
            Reason::NoTable,
            &stream,
            attribute(para_01::PS_3),
            0x0005_0004,
        ),
        late(
            Reason::NoTable,
            &stream,
            attribute(para_01::RT0_4),
            0xc0f | rt0_4::SRGB.of(2),
        ),
        late(
            Reason::NoTable,
            &stream,
            attribute(para_01::RT0_4),
            0xc0f | rt0_4::DEGAMMA.of(1),
        ),
        late(
            Reason::NoTable,
            &stream,
            stage(9, para_02_stage::TEXTURE_CONTROL_5),
            texture_format::IA44 << 16,
        ),
    ]);
    for shift in [4, 7, 10, 13] {
        rules.push(late(
            Reason::NoTable,
            &stream,
            sample(9, para_02_sample::FILTER_CONTROL_1),
            3 << shift,
        ));
    }
}

pub fn caches(rules: &mut Vec<Rule>) {
    let mut scene = scene();
    scene
        .depth((1, 0), z_3::format::Z16, 4)
        .set(attribute(para_01::ENABLE_3), 3)
        .set(key(para_type::TEXTURE, ALL, 0), 1)
        .also(
            attribute(para_01::Z_2),
            z_2::READ_CACHE.mask() | z_2::CLEAR_READ_CACHE.mask(),
        )
        .also(ENABLE, enable_2::TEXTURE_CACHE.mask())
        .coarse((1, 0), 16);
    let stream = scene.stream();
    let depth = value(&scene, attribute(para_01::Z_2));
    let coarse = value(&scene, attribute(para_01::COARSE_Z_1));
    let again = coarse & !coarse_z_1::RESET_TAGS.mask();
    rules.extend([
        late(Reason::ColorCache, &stream, attribute(para_01::ENABLE_3), 1),
        late(
            Reason::DepthCache,
            &stream,
            attribute(para_01::Z_2),
            depth & !z_2::CLEAR_READ_CACHE.mask(),
        ),
        late(
            Reason::TextureCache,
            &stream,
            key(para_type::TEXTURE, ALL, 0),
            0,
        ),
        late(
            Reason::CoarseCache,
            &stream,
            attribute(para_01::COARSE_Z_1),
            again,
        ),
    ]);
    // Another buffer behind a draw.
    let mut stream = scene.stream();
    let mut second = Scene {
        params: Default::default(),
        ..scene.clone()
    };
    second.place(attribute(para_01::COARSE_Z_1), coarse, (1, 0));
    second.state(&mut stream);
    second.draw(&mut stream);
    rules.push(late(
        Reason::CoarseCache,
        &stream,
        attribute(para_01::COARSE_Z_1),
        again,
    ));
    let mut stream = scene.stream();
    stream.open(setting(para_type::ATTRIBUTE, 0, 0));
    stream.note(attribute(para_01::COARSE_Z_2));
    stream.words(&[para_01::FAST_Z_CLEAR_2 << 24]).pad();
    let at = stream.value_of(attribute(para_01::COARSE_Z_2));
    stream.relocations.push([at as u32, 1, 0, 0]);
    second.draw(&mut stream);
    let shows = draw(&stream);
    rules.push(
        Rule::new(Reason::CoarseCache, &stream, at, para_01::COARSE_Z_2 << 24).shows_at(shows),
    );
}

pub fn surfaces(rules: &mut Vec<Rule>) {
    let windows = [
        (para_01::MISC_1, misc_1::BOTTOM.of(8)),
        (para_01::MISC_2, misc_1::BOTTOM.of(16)),
        (para_01::MISC_3, misc_1::BOTTOM.of(8)),
        (para_01::MISC_4, misc_1::BOTTOM.of(16)),
    ];
    let format = |format| rt0_3::FORMAT.of(format) | rt0_3::PITCH.of(2);
    // 8 rows of 64 bytes: four targets, the last without a byte to spare.
    for number in 0..4 {
        let mut scene = scene();
        for other in 0..number {
            scene.target(other, (1, 0), rt_format::RGB565, 2, 0);
        }
        scene
            .target(number, (0, 0), rt_format::ARGB8888, 2, 0)
            .also(ENABLE, enable_2::RT_COUNT.of(number));
        let stream = scene.stream();
        let first = attribute(para_01::RT0_1 + 8 * number);
        let exact = |rule: Rule| rule.with_objects(&[512, PAGE]);
        for (sub_address, word) in windows {
            rules.push(exact(late(
                Reason::TargetBounds,
                &stream,
                attribute(sub_address),
                word,
            )));
        }
        rules.extend([
            exact(late(
                Reason::TargetBounds,
                &stream,
                first + 2,
                format(rt_format::ARGB8888) + 1,
            )),
            exact(late(Reason::TargetBounds, &stream, first + 1, TILED_16)),
            late(
                Reason::SurfacePitch,
                &stream,
                first + 2,
                rt0_3::FORMAT.of(rt_format::ARGB8888),
            ),
        ]);
        for code in [
            0, 20, 23, 47, 49, 140, 142, 151, 155, 188, 204, 228, 241, 246, 255,
        ] {
            rules.push(late(Reason::TargetFormat, &stream, first + 2, format(code)));
        }
    }
    // 16 bits are half of 32, and the odd pixel of a pair needs the other.
    for (code, last) in [
        (rt_format::RGB565, 14),
        (rt_format::AL88, 14),
        (rt_format::R16F, 14),
        (rt_format::YUV, 14),
    ] {
        let mut scene = scene();
        scene.window(last, 0).target(0, (0, 0), code, 2, 0);
        let (size, wider) = if code == rt_format::YUV {
            (32, 16)
        } else {
            (30, 15)
        };
        rules.push(
            late(
                Reason::TargetBounds,
                &scene.stream(),
                attribute(para_01::MISC_2),
                wider,
            )
            .with_objects(&[size, PAGE]),
        );
    }
    // Formats without blending.
    for number in 0..4 {
        let mut scene = scene();
        for target in 0..=number {
            scene.target(target, (0, 0), rt_format::RGB565, 2, 0);
        }
        scene
            .also(ENABLE, enable_2::RT_COUNT.of(number))
            .set(attribute(para_01::ENABLE_1), 1 << (4 + number));
        let stream = scene.stream();
        let first = attribute(para_01::RT0_1 + 8 * number);
        for code in [
            rt_format::L16,
            rt_format::GR_16_16,
            rt_format::R16F,
            rt_format::GR_16F_16F,
            rt_format::R32F,
        ] {
            rules.push(late(Reason::TargetBlend, &stream, first + 2, format(code)));
        }
    }
    depths(rules, &windows);
}

/// Add the rules of depth and stencil.
fn depths(rules: &mut Vec<Rule>, windows: &[(u32, u32)]) {
    // 32 bits in 8 rows of 64 bytes, which are two tiles.
    let mut scene = scene();
    scene
        .target(0, (0, 0), rt_format::ARGB8888, 4, 0)
        .depth((1, 0), z_3::format::Z24S8_ASSUMED, 2);
    let stream = scene.stream();
    let exact = |rule: Rule| rule.with_objects(&[PAGE, 512]);
    for (sub_address, word) in windows {
        rules.push(exact(late(
            Reason::DepthBounds,
            &stream,
            attribute(*sub_address),
            *word,
        )));
    }
    let third = attribute(para_01::Z_3);
    let depth = attribute(para_01::Z_2);
    rules.extend([
        exact(late(Reason::DepthBounds, &stream, depth, z_2::PITCH.of(3))),
        late(Reason::SurfacePitch, &stream, depth, 0),
    ]);
    for code in [1, 2, 3, 7] {
        rules.push(late(
            Reason::DepthFormat,
            &stream,
            third,
            z_3::FORMAT.of(code),
        ));
    }
    // Two blocks of 8 x 8.
    scene.stencil((2, 0));
    let stream = scene.stream();
    for (sub_address, word) in windows {
        rules.push(
            late(
                Reason::StencilBounds,
                &stream,
                attribute(*sub_address),
                *word,
            )
            .with_objects(&[PAGE, PAGE, 128]),
        );
    }
    for format in [
        z_3::format::Z16,
        z_3::format::Z32_ASSUMED,
        z_3::format::Z32F_ASSUMED,
    ] {
        let word = z_3::FORMAT.of(format);
        rules.push(
            late(Reason::StencilFormat, &stream, third, word).with_objects(&[PAGE, PAGE, 128]),
        );
    }
    // A cell of 32 bytes for each pixel.
    let mut scene = self::scene();
    scene
        .target(0, (0, 0), rt_format::ARGB8888, 4, 0)
        .coarse((1, 0), 16);
    let stream = scene.stream();
    for (sub_address, word) in windows {
        rules.push(exact_coarse(late(
            Reason::CoarseBounds,
            &stream,
            attribute(*sub_address),
            *word,
        )));
    }
    let coarse = attribute(para_01::COARSE_Z_1);
    rules.extend([
        exact_coarse(late(
            Reason::CoarseBounds,
            &stream,
            coarse,
            coarse_z_1::RESET_TAGS.mask() | 17,
        )),
        late(
            Reason::SurfacePitch,
            &stream,
            coarse,
            coarse_z_1::RESET_TAGS.mask(),
        ),
    ]);
}

fn exact_coarse(rule: Rule) -> Rule {
    rule.with_objects(&[PAGE, 8 * 16 * 32])
}

pub fn counts(rules: &mut Vec<Rule>) {
    let mut scene = scene();
    scene.count((1, 256));
    let stream = scene.stream();
    let [low, high] =
        [para_01::Z_18, para_01::Z_19].map(|sub_address| stream.value_of(attribute(sub_address)));
    for sub_address in [para_01::Z_13, para_01::Z_14] {
        let rule = unset(Reason::NoCount, &stream, attribute(sub_address), 0xaa);
        rules.push(rule.shows_at(high));
    }
    let sub_address = |at: u32| at << 24;
    rules.extend([
        Rule::new(
            Reason::HalfAddress,
            &stream,
            low,
            sub_address(para_01::FAST_Z_CLEAR_2),
        )
        .shows_at(high),
        Rule::new(
            Reason::HalfAddress,
            &stream,
            high,
            sub_address(para_01::Z_18),
        ),
        Rule::new(
            Reason::HalfAddress,
            &stream,
            high,
            sub_address(para_01::FAST_Z_CLEAR_2),
        )
        .shows_at(stream.words.len()),
        Rule::relocation(Reason::SplitAddress, &stream, 0, 2, 260).shows_at(high),
        Rule::relocation(Reason::SplitAddress, &stream, 1, 1, 0).shows_at(high),
        Rule::relocation(Reason::RelocationAlignment, &stream, 0, 2, 258),
        // By the size of its object: what remains of the other is enough for the rest.
        Rule::relocation(Reason::RelocationOffset, &stream, 1, 2, PAGE as u32),
    ]);
}

pub fn textures(rules: &mut Vec<Rule>) {
    let stream = shaded().stream();
    let exact = |rule: Rule| rule.with_objects(&[PAGE, 256]);
    for number in [0, 15] {
        let of = |sub_address| stage(number, sub_address);
        let one = of(para_02_stage::TEXTURE_CONTROL_1);
        let kind = |code| control_1::KIND.of(code) | control_1::BASE_MODE.mask();
        for code in [0, 4, 5, 6, 7] {
            rules.push(late(Reason::TextureKind, &stream, one, kind(code)));
        }
        let size = of(para_02_stage::TEXTURE_CONTROL_2);
        for (width, height) in [(0, 8), (8, 0), (2049, 8), (8, 2049), (4095, 8)] {
            let word = width | (height << 12);
            rules.push(late(Reason::TextureSize, &stream, size, word));
        }
        for (width, height) in [(9, 8), (8, 9), (1, 9)] {
            let word = width | (height << 12);
            rules.push(exact(late(Reason::TextureBounds, &stream, size, word)));
        }
        let layout = of(para_02_stage::TEXTURE_CONTROL_4);
        rules.extend([
            exact(late(
                Reason::TextureBounds,
                &stream,
                layout,
                TEXTURE_TILED_16,
            )),
            late(Reason::TextureExponents, &stream, layout, 1),
            late(Reason::TextureExponents, &stream, layout, 0x10),
            late(Reason::TextureExponents, &stream, layout, 0x100),
            late(
                Reason::TextureExponents,
                &stream,
                layout,
                control_4::POWER_OF_2.mask() | 0x34,
            ),
            late(
                Reason::TextureExponents,
                &stream,
                layout,
                control_4::POWER_OF_2.mask() | 0x43,
            ),
            // A volume has a length, and a cube six faces.
            late(
                Reason::TextureSize,
                &stream,
                one,
                kind(control_1::kind::VOLUME),
            ),
            late(
                Reason::TextureAddress,
                &stream,
                one,
                kind(control_1::kind::CUBE),
            ),
        ]);
        let format = of(para_02_stage::TEXTURE_CONTROL_5);
        for code in [
            0, 7, 12, 15, 23, 28, 40, 44, 47, 52, 54, 56, 140, 155, 188, 246, 255,
        ] {
            rules.push(late(Reason::TextureFormat, &stream, format, code << 16));
        }
        let level = sample(number, para_02_sample::LEVEL_CONTROL_1);
        rules.extend([
            late(Reason::TextureLevels, &stream, level, 9),
            late(Reason::TextureAddress, &stream, level, 1),
            Rule::new(
                Reason::TextureAddress,
                &stream,
                stream.value_of(of(para_02_stage::FACE_0_BASE)),
                para_02_stage::FACE_1_BASE << 24,
            )
            .shows_at(draw(&stream)),
        ]);
    }
    // Relocations of the first texture: its base, and its location.
    let first = stream
        .relocations
        .iter()
        .position(|r| r[0] as usize == stream.value_of(stage(0, para_02_stage::FACE_0_BASE)));
    let first = first.expect("it has one");
    let late = |rule: Rule| rule.shows_at(draw(&stream));
    rules.extend([
        late(Rule::relocation(
            Reason::TextureAddress,
            &stream,
            first,
            1,
            0,
        )),
        late(Rule::relocation(
            Reason::TextureAddress,
            &stream,
            first + 1,
            1,
            0,
        )),
        late(Rule::relocation(
            Reason::SplitAddress,
            &stream,
            first,
            2,
            256,
        )),
        late(Rule::relocation(
            Reason::TextureAddress,
            &stream,
            first + 1,
            3,
            1,
        )),
        Rule::relocation(Reason::RelocationUnused, &stream, first + 1, 3, 6),
        Rule::relocation(Reason::RelocationAlignment, &stream, first, 2, 128),
    ]);
    chains(rules);
}

/// Add the rules of further levels, volumes and projected textures.
fn chains(rules: &mut Vec<Rule>) {
    let filter = sample(4, para_02_sample::FILTER_CONTROL_1);
    let level = sample(4, para_02_sample::LEVEL_CONTROL_1);
    for absolute in [false, true] {
        // 8 x 8, 4 x 4, 2 x 2: rows of 32 bytes. The last one has 64 bytes at 512.
        let chain = Texture {
            last: 2,
            absolute,
            ..TEXTURE
        };
        let mut scene = shaded();
        scene.texture(4, &chain);
        let stream = scene.stream();
        let exact = |rule: Rule| rule.with_objects(&[PAGE, 512 + 64]);
        rules.extend([
            late(Reason::TextureAddress, &stream, level, 3 << 6),
            late(Reason::TextureAddress, &stream, level, 3),
            late(Reason::TextureLevels, &stream, level, 9 << 6),
            exact(late(
                Reason::TextureBounds,
                &stream,
                stage(4, para_02_stage::TEXTURE_CONTROL_2),
                8 | (12 << 12),
            )),
            // The other kind of entries.
            late(
                Reason::TextureAddress,
                &stream,
                stage(4, para_02_stage::TEXTURE_CONTROL_1),
                control_1::KIND.of(1) | control_1::BASE_MODE.of(u32::from(absolute)),
            ),
        ]);
        if absolute {
            let at = stream.value_of(entry(LEVELS, 33));
            let number = stream
                .relocations
                .iter()
                .position(|r| r[0] as usize == at)
                .expect("it has one");
            rules.extend([
                exact(Rule::relocation(
                    Reason::TextureBounds,
                    &stream,
                    number,
                    2,
                    0x300,
                ))
                .with_objects(&[PAGE, 0x301])
                .shows_at(draw(&stream)),
                Rule::relocation(Reason::TextureAddress, &stream, number, 1, 0)
                    .shows_at(draw(&stream)),
                Rule::new(Reason::AddressBits, &stream, at, 0x4000_0000),
                Rule::new(Reason::AddressBits, &stream, at, 1),
            ]);
        } else {
            let at = stream.value_of(entry(LEVELS, 33));
            rules.extend([
                exact(Rule::new(Reason::TextureBounds, &stream, at, 3).shows_at(draw(&stream))),
                exact(
                    Rule::new(Reason::TextureBounds, &stream, at, 0x00ff_ffff)
                        .shows_at(draw(&stream)),
                ),
                Rule::new(Reason::NoRelocation, &stream, at, 0x4000_0002),
                Rule::new(Reason::NoRelocation, &stream, at, 0x8000_0002),
            ]);
        }
    }
    // Without a filter between levels only the least one counts.
    let mut scene = shaded();
    scene.texture(4, &Texture { last: 1, ..TEXTURE });
    scene.set(filter, 0).set(level, 5 << 6);
    rules.push(late(Reason::TextureAddress, &scene.stream(), filter, 1));
    // A volume of three slices, also if it is projected.
    for kind in [control_1::kind::VOLUME, 8 | control_1::kind::VOLUME] {
        let mut scene = shaded();
        scene.texture(
            4,
            &Texture {
                kind,
                length: 3,
                ..TEXTURE
            },
        );
        let stream = scene.stream();
        let length = stage(4, para_02_stage::TEXTURE_CONTROL_3);
        rules.extend([
            late(Reason::TextureBounds, &stream, length, 4).with_objects(&[PAGE, 768]),
            late(Reason::TextureSize, &stream, length, 0),
            late(Reason::TextureLevels, &stream, level, 1),
        ]);
    }
    // Levels of a cube.
    let mut scene = shaded();
    scene.texture(
        4,
        &Texture {
            kind: control_1::kind::CUBE,
            last: 1,
            ..TEXTURE
        },
    );
    rules.push(late(
        Reason::CubeLevels,
        &scene.stream(),
        stage(4, para_02_stage::TEXTURE_CONTROL_1),
        control_1::KIND.of(control_1::kind::CUBE),
    ));
    // The sixth face of a cube.
    for kind in [control_1::kind::CUBE, 8 | control_1::kind::CUBE] {
        let mut scene = shaded();
        scene.texture(
            4,
            &Texture {
                kind,
                faces: 512,
                ..TEXTURE
            },
        );
        rules.push(
            late(
                Reason::TextureBounds,
                &scene.stream(),
                stage(4, para_02_stage::TEXTURE_CONTROL_2),
                8 | (9 << 12),
            )
            .with_objects(&[PAGE, 5 * 512 + 256]),
        );
    }
}

pub fn vertices(rules: &mut Vec<Rule>) {
    let scene = scene();
    let stream = scene.stream();
    let format = primitive(para_04::VERTEX_FORMAT_1);
    let count = primitive(para_04::VERTEX_COUNT);
    let kind = primitive(para_04::PRIMITIVE_SETTING_4);
    let cycle = primitive(para_04::PRIMITIVE_SETTING_1);
    let mask = value(&scene, primitive(para_04::FVF_MASK_1));
    rules.extend([
        late(Reason::VertexLength, &stream, format, 0x54_0000),
        late(Reason::VertexLength, &stream, format, 0x54_0004),
        late(Reason::VertexLength, &stream, format, 0x54_0006),
        late(
            Reason::VertexLength,
            &stream,
            primitive(para_04::FVF_MASK_1),
            mask | 1,
        ),
        late(
            Reason::VertexLength,
            &stream,
            primitive(para_04::FVF_MASK_2),
            0x80_0000,
        ),
        late(
            Reason::VertexLength,
            &stream,
            primitive(para_04::VERTEX_FORMAT_17),
            0x80_0000,
        ),
        late(Reason::NanTest, &stream, format, 0x14_0005),
        late(Reason::NanTest, &stream, format, 0x44_0005),
        late(Reason::NanTest, &stream, format, 0x50_0005),
        late(Reason::VertexCount, &stream, count, 0),
        late(Reason::VertexCount, &stream, count, 1),
        late(Reason::VertexCount, &stream, count, 2),
        late(Reason::VertexCount, &stream, count, 4),
        late(Reason::VertexCount, &stream, count, 5),
        late(Reason::VertexData, &stream, count, 6),
        late(Reason::VertexData, &stream, count, 0x00ff_ffff),
        late(
            Reason::PrimitiveType,
            &stream,
            kind,
            setting_4::CW_TYPE.of(1) | 2,
        ),
        late(Reason::VertexCount, &stream, kind, setting_4::type_::LINE),
    ]);
    for code in [3, 4, 5, 8, 15] {
        rules.push(late(Reason::PrimitiveType, &stream, kind, code));
    }
    for bits in [
        setting_1::ODD_A.of(1),
        setting_1::ODD_C.of(3),
        setting_1::RESERVED_CYCLE.mask(),
        setting_1::FAST_CYCLE.mask(),
    ] {
        rules.push(late(Reason::PrimitiveCycle, &stream, cycle, bits));
    }
    // A strip of five vertices: each new one takes the place of c, and the others move on.
    let strip = setting_1::FAST_CYCLE.mask()
        | setting_1::ODD_A.of(2)
        | setting_1::ODD_B.of(3)
        | setting_1::EVEN_A.of(2)
        | setting_1::EVEN_B.of(3);
    let mut scene = self::scene();
    scene.set(cycle, strip).set(count, 5);
    scene.data = VERTEX.repeat(5);
    let stream = scene.stream();
    rules.extend([
        late(Reason::VertexCount, &stream, count, 2),
        late(Reason::VertexData, &stream, count, 4),
        late(
            Reason::PrimitiveCycle,
            &stream,
            cycle,
            strip | setting_1::ODD_C.of(1),
        ),
        late(
            Reason::PrimitiveCycle,
            &stream,
            cycle,
            setting_1::EVEN_B.put(strip, 0),
        ),
        late(
            Reason::PrimitiveCycle,
            &stream,
            cycle,
            strip | setting_1::RESERVED_CYCLE.mask(),
        ),
        late(
            Reason::PrimitiveCycle,
            &stream,
            kind,
            setting_4::type_::POINT,
        ),
        late(
            Reason::PrimitiveCycle,
            &stream,
            kind,
            setting_4::type_::LINE,
        ),
    ]);
}

pub fn indices(rules: &mut Vec<Rule>) {
    for wide in [false, true] {
        let mut scene = scene();
        scene.indexed((1, 64), 6, 9, wide);
        let stream = scene.stream();
        let first = draw(&stream) + 4;
        // 64, and nine times six dwords, and five.
        let exact = |rule: Rule| rule.with_objects(&[PAGE, 64 + 4 * (9 * 6 + 5)]);
        rules.extend([
            exact(late(
                Reason::VertexBounds,
                &stream,
                primitive(para_04::INDEX_MAX_LOW),
                10,
            )),
            exact(late(
                Reason::VertexBounds,
                &stream,
                primitive(para_04::INDEX_BOUNDS_HIGH),
                0x100,
            )),
            exact(late(
                Reason::VertexBounds,
                &stream,
                primitive(para_04::VERTEX_BUFFER_HIGH),
                7 << 8,
            )),
            late(
                Reason::VertexPitch,
                &stream,
                primitive(para_04::VERTEX_BUFFER_HIGH),
                0,
            ),
            late(
                Reason::IndexBounds,
                &stream,
                primitive(para_04::INDEX_MIN_LOW),
                10,
            ),
            late(
                Reason::IndexBounds,
                &stream,
                primitive(para_04::INDEX_BOUNDS_HIGH),
                1,
            ),
            late(
                Reason::IndexRange,
                &stream,
                primitive(para_04::INDEX_MIN_LOW),
                1,
            )
            .shows_at(first),
            late(
                Reason::IndexRange,
                &stream,
                primitive(para_04::INDEX_MAX_LOW),
                8,
            )
            .shows_at(first + usize::from(wide)),
            Rule::new(Reason::IndexRange, &stream, first, 10),
            Rule::new(Reason::IndexRange, &stream, first + 1, 0xffff_ffff),
            Rule::new(
                Reason::VertexData,
                &stream,
                first - 3,
                if wide { 4 } else { 3 },
            )
            .shows_at(first - 4),
            Rule::new(
                Reason::NoVertexBuffer,
                &stream,
                stream.value_of(primitive(para_04::VERTEX_BUFFER_LOW)),
                (para_04::VERTEX_BUFFER_HIGH << 24) | (6 << 8),
            )
            .shows_at(draw(&stream)),
        ]);
        if !wide {
            rules.extend([
                Rule::new(Reason::IndexRange, &stream, first, 10 << 16),
                // The neighbour of an odd number's last.
                Rule::new(Reason::IndexRange, &stream, first + 1, 0xffff_0000),
            ]);
        }
        for sub_address in [
            para_04::INDEX_MAX_LOW,
            para_04::INDEX_MIN_LOW,
            para_04::INDEX_BOUNDS_HIGH,
        ] {
            rules.push(unset(
                Reason::NoIndexBounds,
                &stream,
                primitive(sub_address),
                para_04::VERTEX_INSPECTION,
            ));
        }
        // Three parts of one address, behind the two of the target.
        for number in 2..5 {
            rules.extend([
                Rule::relocation(Reason::SplitAddress, &stream, number, 2, 68)
                    .shows_at(draw(&stream)),
                Rule::relocation(Reason::SplitAddress, &stream, number, 1, 0)
                    .shows_at(draw(&stream)),
            ]);
        }
        rules.push(Rule::relocation(
            Reason::RelocationAlignment,
            &stream,
            3,
            2,
            66,
        ));
    }
}

pub fn addresses(rules: &mut Vec<Rule>) {
    let mut scene = shaded();
    scene
        .depth((1, 0), z_3::format::Z24S8_ASSUMED, 4)
        .stencil((1, 0))
        .coarse((1, 0), 16)
        .count((1, 0))
        .indexed((1, 0), 5, 9, true);
    let stream = scene.stream();
    for (key, bits) in [
        (attribute(para_01::Z_1), &[0, 23][..]),
        (attribute(para_01::Z_2), &[0, 1]),
        (attribute(para_01::Z_3), &[5, 6]),
        (attribute(para_01::Z_18), &[0, 23]),
        (attribute(para_01::Z_19), &[0, 7, 22, 23]),
        (attribute(para_01::FAST_Z_CLEAR_2), &[0, 23]),
        (attribute(para_01::COARSE_Z_1), &[20, 21]),
        (attribute(para_01::COARSE_Z_2), &[0, 23]),
        (attribute(para_01::RT0_1), &[0, 23]),
        (attribute(para_01::RT0_2), &[20, 21]),
        (stage(5, para_02_stage::FACE_0_BASE), &[0, 23]),
        (stage(5, para_02_stage::TEXTURE_CONTROL_1), &[0, 1]),
        (primitive(para_04::VERTEX_FORMAT_1), &[15, 16]),
        (primitive(para_04::VERTEX_BUFFER_LOW), &[0, 23]),
        (primitive(para_04::VERTEX_BUFFER_HIGH), &[0, 7]),
    ] {
        let at = stream.value_of(key);
        for bit in bits {
            let word = stream.words[at] | (1 << bit);
            rules.push(Rule::new(Reason::AddressBits, &stream, at, word));
        }
    }
    // Locations that nothing needs have no relocation, and are zero too: the reserved ones cannot be.
    let mut scene = shaded();
    scene.depth((1, 0), z_3::format::Z16, 4);
    let stream = scene.stream();
    for (key, bits) in [
        (attribute(para_01::Z_3), &[5, 6][..]),
        (
            stage(5, para_02_stage::TEXTURE_CONTROL_1),
            &[2, 5, 7, 14, 17],
        ),
        (primitive(para_04::VERTEX_FORMAT_1), &[15, 16]),
    ] {
        let at = stream.value_of(key);
        for bit in bits {
            let word = stream.words[at] | (1 << bit);
            rules.push(Rule::new(Reason::NoRelocation, &stream, at, word));
        }
    }
    for (sub_address, instead) in [
        (para_01::ENABLE_1, para_01::Z_1),
        (para_01::ENABLE_1, para_01::Z_2),
        (para_01::ENABLE_1, para_01::Z_18),
        (para_01::ENABLE_1, para_01::Z_19),
        (para_01::ENABLE_1, para_01::RT1_1),
        (para_01::ENABLE_1, para_01::RT3_2),
        (para_01::ENABLE_1, para_01::COARSE_Z_1),
        (para_01::ENABLE_1, para_01::FAST_Z_CLEAR_2),
    ] {
        let at = stream.value_of(attribute(sub_address));
        rules.push(Rule::new(Reason::NoRelocation, &stream, at, instead << 24));
    }
}
