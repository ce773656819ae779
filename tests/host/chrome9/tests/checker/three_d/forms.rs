// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Rules of the 3D engine: the forms of headers and parameters, bits and values.

use super::*;

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
        (attribute(para_01::Z_4), &[8, 15, 19, 22]),
        (attribute(para_01::FOG_1), &[8, 23]),
        (key(para_type::TEXTURE, ALL, 5), &[16, 23]),
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
            sample(1, para_02_sample::LEVEL_CONTROL_1),
            &[12, 32, 63, 12 << 6, 32 << 6],
        ),
        (
            stage(1, para_02_stage::TEXTURE_CONTROL_4),
            &[12, 12 << 4, 15 << 8],
        ),
        (
            sample(1, para_02_sample::FILTER_CONTROL_1),
            &[3, 5, 4 << 4, 7 << 13, 17 << 16],
        ),
        (
            sample(1, para_02_sample::FILTER_CONTROL_2),
            &[4, 5 << 3, 6 << 6, 4 << 16, 4 << 19],
        ),
        (key(para_type::TEXTURE, ALL, 0), &[3 << 2, 9 << 4, 15 << 4]),
        (key(para_type::TEXTURE, ALL, 5), &[10 << 2, 15 << 10]),
        (key(para_type::TEXTURE, ALL, 8), &[11, 15]),
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

pub fn forbidden(rules: &mut Vec<Rule>) {
    let fog = attribute(para_01::FOG_1);
    let enable = attribute(para_01::ENABLE_1);
    let depth = attribute(para_01::Z_4);
    for number in 0..4 {
        let mut scene = scene();
        scene.set(enable, 1 << (8 + number)).set(fog, 2);
        let stream = scene.stream();
        rules.extend([
            late(Reason::ShaderFog, &stream, fog, 0x80),
            late(Reason::ShaderDepth, &stream, depth, 0x80_0000),
        ]);
    }
    // Fog of the vertices, or of an attribute, goes with depth of the shader.
    for word in [0, 0x42, 0x45] {
        let mut scene = scene();
        scene
            .set(enable, 0x100)
            .set(depth, 0x80_0000)
            .set(fog, word);
        let stream = scene.stream();
        rules.push(late(Reason::ShaderDepth, &stream, fog, 0x14));
    }
    let stream = shaded().stream();
    let planes = key(para_type::TEXTURE, ALL, 5);
    rules.push(other(Reason::ClipPlanes, &stream, planes, 0x8000));
    let filter = sample(8, para_02_sample::FILTER_CONTROL_1);
    for word in [2 << 4, 2 << 7, 2 << 10, 2 << 13, (2 << 13) | (1 << 7)] {
        rules.push(other(Reason::Anisotropy, &stream, filter, word));
    }
    let mut scene = shaded();
    scene.set(planes, 0x8080).set(filter, 0x4920);
    let stream = scene.stream();
    rules.extend([
        other(Reason::ClipPlanes, &stream, planes, 0x8000),
        other(Reason::Anisotropy, &stream, filter, 0x48a0),
    ]);
}
