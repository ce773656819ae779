// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Rules of the 3D engine: textures.

use super::*;

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
        rules.push(late(
            Reason::TextureSize,
            &stream,
            of(para_02_stage::TEXTURE_CONTROL_3),
            2049,
        ));
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
