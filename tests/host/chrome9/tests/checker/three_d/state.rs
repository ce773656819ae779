// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Rules of the 3D engine: the state that a draw needs, and caches.

use super::*;

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
