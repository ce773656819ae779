// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Rules of the 3D engine: vertices, indices, and addresses.

use super::*;

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
