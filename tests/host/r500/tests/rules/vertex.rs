// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Vertices: arrays, indices, vertices in the stream.

use super::{rule::*, streams3d::*, support::Stream};
use r500::portable::{
    checker::Reason,
    pm4,
    regs::{mmio, mmio::*, pm4::indx_buffer, pm4::op},
};

fn attribute(first: (u32, u32), second: (u32, u32)) -> u32 {
    vap_vtx_aos_attr::VTX_AOS_COUNT0.of(first.0)
        | vap_vtx_aos_attr::VTX_AOS_STRIDE0.of(first.1)
        | vap_vtx_aos_attr::VTX_AOS_COUNT1.of(second.0)
        | vap_vtx_aos_attr::VTX_AOS_STRIDE1.of(second.1)
}

/// Dwords from the start of [`arrays`] to the number, the attributes of the first pair, its addresses, and the
/// same of the second pair.
const NUMBER: usize = 1;
const PAIR: usize = 2;
const ADDRESS: usize = 3;
const LAST_PAIR: usize = 5;
const LAST_ADDRESS: usize = 6;

/// Append three arrays in entry 1 of 16 KiB. The first has four dwords each 16 bytes, the second two dwords each 16
/// bytes behind them, and the third one dword for all vertices. The first holds 1024 vertices. The second holds one
/// less because it starts later.
fn arrays(stream: &mut Stream) {
    stream
        .packet(
            op::_3D_LOAD_VBPNTR,
            &[
                3,
                attribute((4, 4), (2, 4)),
                0,
                16,
                attribute((1, 0), (0, 0)),
                4 * PAGE as u32 - 4,
            ],
        )
        .marker(1)
        .marker(1)
        .marker(1);
}

/// Return everything but the draw. The arrays hold indices up to 1022.
fn ready() -> (Stream, usize) {
    let mut stream = state();
    stream
        .write(mmio::VAP_VF_MAX_VTX_INDX, 1022)
        .write(mmio::VAP_VF_MIN_VTX_INDX, 0)
        .write(mmio::VAP_INDEX_OFFSET, 0)
        .write(mmio::VAP_ALT_NUM_VERTICES, 1023);
    let at = stream.here();
    arrays(&mut stream);
    (stream, at)
}

pub fn counted(rules: &mut Vec<Rule>) {
    let (mut stream, start) = ready();
    let control = control(POINTS, COUNTED, 1023);
    stream.packet(op::_3D_DRAW_VBUF_2, &[control]);
    let draw = stream.here() - 1;
    let spoil = |reason, at, value| {
        Rule::new(reason, &stream, at, value)
            .shows_at(draw)
            .with_objects(&SIZES)
    };
    let own = |reason, at, value| Rule::new(reason, &stream, at, value).with_objects(&SIZES);
    rules.extend([
        spoil(Reason::VertexBounds, draw, control + (1 << 16)),
        // Elements, strides and places.
        spoil(
            Reason::VertexBounds,
            start + PAIR,
            attribute((4, 4), (5, 4)),
        ),
        spoil(
            Reason::VertexBounds,
            start + PAIR,
            attribute((4, 5), (2, 4)),
        ),
        spoil(Reason::VertexBounds, start + ADDRESS, 32),
        spoil(Reason::VertexBounds, start + ADDRESS + 1, 28),
        spoil(
            Reason::VertexBounds,
            start + LAST_PAIR,
            attribute((1, 1), (0, 0)),
        ),
        own(
            Reason::ArrayBounds,
            start + LAST_PAIR,
            attribute((2, 0), (0, 0)),
        )
        .shows_at(start + LAST_ADDRESS),
        own(
            Reason::OffsetBeyondObject,
            start + LAST_ADDRESS,
            4 * PAGE as u32,
        ),
        own(Reason::ForbiddenBits, start + ADDRESS, 2),
        // The number of arrays, and the vertex cache of others.
        own(Reason::ArrayCount, start + NUMBER, 0),
        own(Reason::ArrayCount, start + NUMBER, 17),
        own(Reason::ForbiddenBits, start + NUMBER, 3 | (1 << 6)),
        own(Reason::PacketLength, start + NUMBER, 4).shows_at(start + LAST_ADDRESS),
        own(Reason::PacketLength, start + NUMBER, 1).shows_at(start + ADDRESS),
        // One marker of the three.
        own(Reason::MissingRelocation, start + 11, pm4::FILLER).shows_at(start + LAST_ADDRESS),
        // Bounds and offset.
        spoil(
            Reason::VertexBounds,
            at(&stream, mmio::VAP_VF_MIN_VTX_INDX),
            1023,
        ),
        spoil(Reason::VertexBounds, at(&stream, mmio::VAP_INDEX_OFFSET), 1),
        spoil(
            Reason::IndexOffset,
            at(&stream, mmio::VAP_INDEX_OFFSET),
            1 << 24,
        ),
        missing(
            Reason::NoIndexBounds,
            &stream,
            mmio::VAP_VF_MIN_VTX_INDX,
            draw,
        ),
        missing(Reason::NoIndexOffset, &stream, mmio::VAP_INDEX_OFFSET, draw),
        // The packet without its arrays is a filler of five dwords.
        spoil(Reason::NoArrays, start, pm4::operation(op::NOP, 6)),
        // What kind of draw.
        own(
            Reason::PrimitiveWalk,
            draw,
            control ^ vap_vf_cntl::PRIM_WALK.of(COUNTED ^ INDEXED),
        ),
        own(
            Reason::PrimitiveWalk,
            draw,
            control ^ vap_vf_cntl::PRIM_WALK.of(COUNTED),
        ),
        own(Reason::NoVertices, draw, control & 0xffff),
        own(
            Reason::ForbiddenBits,
            draw,
            control | vap_vf_cntl::DUAL_INDEX_MODE.mask(),
        ),
        own(
            Reason::ForbiddenBits,
            draw,
            control | vap_vf_cntl::VTX_REUSE_DIS.mask(),
        ),
        own(Reason::ForbiddenBits, draw, control | (1 << 6)),
    ]);
    for kind in [0, 7, 8, 11] {
        rules.push(own(
            Reason::PrimitiveType,
            draw,
            vap_vf_cntl::PRIM_TYPE.put(control, kind),
        ));
    }
    // The number from the other register.
    let (mut stream, _) = ready();
    stream.packet(
        op::_3D_DRAW_VBUF_2,
        &[control | vap_vf_cntl::USE_ALT_NUM_VERTS.mask()],
    );
    let draw = stream.here() - 1;
    rules.extend([
        spoilt(
            Reason::VertexBounds,
            &stream,
            mmio::VAP_ALT_NUM_VERTICES,
            1024,
            draw,
        ),
        spoilt(
            Reason::VertexBounds,
            &stream,
            mmio::VAP_ALT_NUM_VERTICES,
            0xff_ffff,
            draw,
        ),
        spoilt(
            Reason::NoVertices,
            &stream,
            mmio::VAP_ALT_NUM_VERTICES,
            0,
            draw,
        ),
        missing(
            Reason::NoVertexCount,
            &stream,
            mmio::VAP_ALT_NUM_VERTICES,
            draw,
        ),
    ]);
    // The form with the vertex format, which has one dword more.
    let (mut stream, _) = ready();
    stream
        .packet(op::_3D_DRAW_VBUF, &[0, control])
        .words(&[pm4::FILLER]);
    let draw = stream.here() - 2;
    rules.push(
        Rule::new(
            Reason::PacketLength,
            &stream,
            draw - 2,
            pm4::operation(op::_3D_DRAW_VBUF, 3),
        )
        .shows_at(draw)
        .with_objects(&SIZES),
    );
}

pub fn indexed(rules: &mut Vec<Rule>) {
    let (mut stream, _) = ready();
    let word = control(POINTS, INDEXED, 3);
    // The indices may be anything: they are clamped.
    stream
        .packet(op::_3D_DRAW_INDX_2, &[word, 0xffff_ffff, 0xffff])
        .words(&[pm4::FILLER]);
    let draw = stream.here() - 4;
    let own = |reason, at, value| Rule::new(reason, &stream, at, value).with_objects(&SIZES);
    rules.extend([
        own(Reason::IndexData, draw, control(POINTS, INDEXED, 5)),
        own(
            Reason::IndexData,
            draw,
            word | vap_vf_cntl::INDEX_SIZE.mask(),
        ),
        own(
            Reason::IndexData,
            draw - 1,
            pm4::operation(op::_3D_DRAW_INDX_2, 4),
        )
        .shows_at(draw),
        own(
            Reason::VertexBounds,
            at(&stream, mmio::VAP_VF_MIN_VTX_INDX),
            1023,
        )
        .shows_at(draw),
        missing(
            Reason::NoIndexBounds,
            &stream,
            mmio::VAP_VF_MAX_VTX_INDX,
            draw,
        ),
        missing(
            Reason::NoIndexBounds,
            &stream,
            mmio::VAP_VF_MIN_VTX_INDX,
            draw,
        ),
        missing(Reason::NoIndexOffset, &stream, mmio::VAP_INDEX_OFFSET, draw),
        own(Reason::PrimitiveWalk, draw, control(POINTS, EMBEDDED, 3)),
    ]);
    // The upper bound is lowered to what the arrays hold, but not after a draw that relied on it.
    let (mut stream, _) = ready();
    stream.packet(op::_3D_DRAW_INDX_2, &[word, 0, 0]);
    let start = stream.here();
    arrays(&mut stream);
    stream.packet(op::_3D_DRAW_INDX_2, &[word, 0, 0]);
    let draw = stream.here() - 3;
    rules.push(
        Rule::new(Reason::VertexBounds, &stream, start + ADDRESS, 32)
            .shows_at(draw)
            .with_objects(&SIZES),
    );
    // Nor after one that counted.
    let (mut stream, _) = ready();
    stream.packet(op::_3D_DRAW_VBUF_2, &[control(POINTS, COUNTED, 2)]);
    let start = stream.here();
    arrays(&mut stream);
    stream.packet(op::_3D_DRAW_INDX_2, &[word, 0, 0]);
    let draw = stream.here() - 3;
    rules.push(
        Rule::new(Reason::VertexBounds, &stream, start + ADDRESS, 32)
            .shows_at(draw)
            .with_objects(&SIZES),
    );
}

pub fn buffered(rules: &mut Vec<Rule>) {
    let (mut stream, _) = ready();
    let target = indx_buffer::control::ONE_REG_WR.of(1)
        | indx_buffer::control::DESTINATION.of(mmio::VAP_PORT_IDX.at(0).unwrap() >> 2);
    let word = control(POINTS, INDEXED, 63);
    stream.packet(op::_3D_DRAW_INDX_2, &[word]);
    let draw = stream.here() - 1;
    let header = stream.here();
    // 32 dwords at the end of entry 2.
    stream
        .packet(op::INDX_BUFFER, &[target, 4 * PAGE as u32 - 128, 32])
        .marker(2)
        .words(&[pm4::FILLER]);
    let own = |reason, at, value| Rule::new(reason, &stream, at, value).with_objects(&SIZES);
    rules.extend([
        own(Reason::IndexBounds, header + 2, 4 * PAGE as u32 - 124).shows_at(header + 3),
        own(Reason::OffsetBeyondObject, header + 2, 4 * PAGE as u32),
        own(Reason::ForbiddenBits, header + 2, 1),
        own(Reason::MissingRelocation, header + 4, pm4::FILLER).shows_at(header + 2),
        own(Reason::BadRelocation, header + 5, 12).shows_at(header + 2),
        own(Reason::IndexData, header + 3, 31),
        own(Reason::IndexData, header + 3, 33),
        own(Reason::IndexData, draw, control(POINTS, INDEXED, 65)).shows_at(header + 3),
        own(
            Reason::IndexData,
            draw,
            word | vap_vf_cntl::INDEX_SIZE.mask(),
        )
        .shows_at(header + 3),
        // Another register, consecutive registers, dwords that are dropped.
        own(Reason::IndexTarget, header + 1, target ^ 1),
        own(
            Reason::IndexTarget,
            header + 1,
            (mmio::CP_IB_BASE >> 2) | (1 << 31),
        ),
        own(Reason::IndexTarget, header + 1, target ^ (1 << 31)),
        own(Reason::IndexTarget, header + 1, target | (1 << 16)),
        // A dword more takes the marker away.
        own(
            Reason::MissingRelocation,
            header,
            pm4::operation(op::INDX_BUFFER, 4),
        )
        .shows_at(header + 2),
        // Nothing else while the indices are awaited; and nothing awaits them.
        own(
            Reason::IndicesDue,
            header,
            pm4::operation(op::_3D_DRAW_VBUF, 3),
        ),
        own(Reason::IndicesDue, header, pm4::write(mmio::GA_OFFSET, 3)).shows_at(header + 1),
        own(
            Reason::IndicesDue,
            header,
            pm4::write_one(mmio::GA_OFFSET, 3),
        )
        .shows_at(header + 1),
        own(
            Reason::UnexpectedIndices,
            draw - 1,
            pm4::operation(op::NOP, 1),
        )
        .shows_at(header),
    ]);
    // The end of the stream.
    let (mut stream, _) = ready();
    stream.packet(op::NOP, &[word]);
    let last = stream.here() - 1;
    rules.push(
        Rule::new(
            Reason::IndicesDue,
            &stream,
            last - 1,
            pm4::operation(op::_3D_DRAW_INDX_2, 1),
        )
        .with_objects(&SIZES),
    );
}

pub fn embedded(rules: &mut Vec<Rule>) {
    let stream = drawn();
    let draw = point_control(&stream);
    let own = |reason, at, value| Rule::new(reason, &stream, at, value).with_objects(&SIZES);
    rules.extend([
        own(Reason::VertexData, draw, control(POINTS, EMBEDDED, 2)),
        own(Reason::VertexData, at(&stream, mmio::VAP_VTX_SIZE), 5).shows_at(draw),
        own(Reason::EmptyVertex, at(&stream, mmio::VAP_VTX_SIZE), 0).shows_at(draw),
        missing(Reason::NoVertexSize, &stream, mmio::VAP_VTX_SIZE, draw),
        own(Reason::PrimitiveWalk, draw, control(POINTS, COUNTED, 1)),
        own(Reason::PrimitiveWalk, draw, control(POINTS, 0, 1)),
    ]);
}

/// Two writes to registers of the raster pipe must lie between what shader model 3.0 is fed with and a draw.
pub fn shader_formats(rules: &mut Vec<Rule>) {
    for register in [mmio::PS3_VTX_FMT, mmio::PS3_TEX_SOURCE] {
        let mut stream = state();
        stream
            .write(register, 0)
            .write(mmio::GA_OFFSET, 0)
            .write(mmio::ZB_STENCILREFMASK, 0);
        let last = stream.here() - 2;
        point(&mut stream);
        let draw = point_control(&stream);
        // A register in front of geometry assembly is not one of them, nor are those that the rule is for.
        for other in [
            mmio::VAP_CNTL,
            mmio::GB_SELECT,
            mmio::PS3_ENABLE,
            mmio::PS3_VTX_FMT,
            mmio::PS3_TEX_SOURCE,
        ] {
            rules.push(
                Rule::new(Reason::WritesDue, &stream, last, pm4::write(other, 1))
                    .shows_at(draw)
                    .with_objects(&SIZES),
            );
        }
        // Two values of one packet are two writes; those in front do not count.
        let mut stream = state();
        stream
            .write(mmio::GA_OFFSET, 0)
            .write(register, 0)
            .writes(mmio::SC_CLIP_0_A, &[0, 0]);
        let header = stream.here() - 3;
        point(&mut stream);
        rules.push(
            Rule::new(
                Reason::WritesDue,
                &stream,
                header,
                pm4::write(mmio::PS3_VTX_FMT, 2),
            )
            .shows_at(point_control(&stream))
            .with_objects(&SIZES),
        );
    }
}
