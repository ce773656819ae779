// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Rules of the 3D engine: render targets, depth and stencil, and counts of pixels.

use super::*;

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
