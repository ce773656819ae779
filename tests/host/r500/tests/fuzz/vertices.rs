// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Where vertices come from, and the draws themselves: arrays, embedded vertices, indices in the packet or
//! in a buffer, numbers beyond 16 bits.

use r500::portable::regs::{
    mmio,
    pm4::{indx_buffer, op},
};

use crate::scene::{extent, pick, rarely, Scene, ROOM};

use mmio::{vap_prog_stream_cntl, vap_vf_cntl, vap_vtx_aos_attr, vap_vtx_num_arrays, vap_vtx_size};

/// The largest number that the index range has room for.
const MAX_INDEX: u32 = 0xff_ffff;

/// What a draw needs to know about its vertices.
#[derive(Clone, Copy, Debug, Default)]
pub struct Vertices {
    /// Number of vertices that the arrays surely have, if there are arrays.
    pub most: u32,
    /// Dwords of an embedded vertex.
    pub size: u32,
}

/// Append formats of the elements of a vertex (what Mesa calls PSC state). Return how large the vertex is if it is
/// embedded.
pub fn stream_format(s: &mut Scene<'_>, elements: u32) -> u32 {
    s.piece();
    // Floats only, by number of components: as many dwords.
    let kinds: Vec<u32> = (0..elements).map(|_| s.rng.u32(..4)).collect();
    let size = kinds.iter().map(|kind| kind + 1).sum();
    let words: Vec<u32> = kinds
        .chunks(2)
        .enumerate()
        .map(|(pair, kinds)| {
            let last = |i: usize| u32::from(2 * pair + i + 1 == elements as usize);
            let first = vap_prog_stream_cntl::DATA_TYPE_0.of(kinds[0])
                | vap_prog_stream_cntl::DST_VEC_LOC_0.of(2 * pair as u32)
                | vap_prog_stream_cntl::LAST_VEC_0.of(last(0));
            kinds.get(1).map_or(first, |kind| {
                first
                    | vap_prog_stream_cntl::DATA_TYPE_1.of(*kind)
                    | vap_prog_stream_cntl::DST_VEC_LOC_1.of(2 * pair as u32 + 1)
                    | vap_prog_stream_cntl::LAST_VEC_1.of(last(1))
            })
        })
        .collect();
    let first = mmio::VAP_PROG_STREAM_CNTL.at(0).expect("eight pairs");
    s.block(first, &words);
    let extension = mmio::VAP_PROG_STREAM_CNTL_EXT.at(0).expect("eight pairs");
    s.block(extension, &vec![0xf688_f688; words.len()]);
    s.on()
        .write(mmio::VAP_VTX_SIZE, vap_vtx_size::DWORDS_PER_VTX.of(size));
    size
}

/// Append arrays of vertices in objects.
pub fn arrays(s: &mut Scene<'_>, number: u32) -> Vertices {
    s.piece();
    let mut attributes = Vec::new();
    let mut most = MAX_INDEX;
    let enormous = rarely(s.rng, 64);
    for _ in 0..number {
        let count = match s.rng.u32(..8) {
            0 => s.rng.u32(..128),
            _ => s.rng.u32(1..=4),
        };
        let stride = match s.rng.u32(..8) {
            0 => 0,
            1 => s.rng.u32(..128),
            2 => count + s.rng.u32(..8),
            _ => count,
        };
        let offset = match s.rng.u32(..8) {
            0 if rarely(s.rng, 8) => s.rng.u32(..0x1_0000),
            0..=3 => 4 * s.rng.u32(..0x4000),
            _ => 0,
        };
        let room = (ROOM - u64::from(offset)) / 4;
        if stride > 0 && !enormous {
            most = most.min((room / u64::from(stride)) as u32 - 4);
        }
        attributes.push((count, stride, offset, s.object()));
    }
    let mut body = vec![vap_vtx_num_arrays::VTX_NUM_ARRAYS.of(number)];
    if s.rng.bool() {
        body[0] |= vap_vtx_num_arrays::VC_FORCE_PREFETCH.of(1);
    }
    if rarely(s.rng, 8) {
        body[0] |= s.rng.u32(..) & 0xffff_0020;
    }
    for pair in attributes.chunks(2) {
        let (count, stride, ..) = pair[0];
        let mut word = vap_vtx_aos_attr::VTX_AOS_COUNT0.of(count)
            | vap_vtx_aos_attr::VTX_AOS_STRIDE0.of(stride);
        if let Some((count, stride, ..)) = pair.get(1) {
            word |= vap_vtx_aos_attr::VTX_AOS_COUNT1.of(*count)
                | vap_vtx_aos_attr::VTX_AOS_STRIDE1.of(*stride);
        }
        body.push(word);
        body.extend(pair.iter().map(|(_, _, offset, _)| *offset));
    }
    let stream = s.on();
    stream.packet(op::_3D_LOAD_VBPNTR, &body);
    for (.., object) in attributes {
        stream.marker(object);
    }
    Vertices { most, size: 0 }
}

/// Append the largest and the smallest index, and what is added to each.
fn range(s: &mut Scene<'_>, largest: u32) {
    if rarely(s.rng, 64) {
        s.on().write(mmio::VAP_VF_MAX_VTX_INDX, largest);
    } else {
        s.block(mmio::VAP_VF_MAX_VTX_INDX, &[largest, 0]);
    }
    let offset = match s.rng.u32(..64) {
        0 => s.rng.u32(..0x200_0000),
        1..=3 => s.rng.u32(..64),
        _ => 0,
    };
    s.on().write(mmio::VAP_INDEX_OFFSET, offset);
}

/// Return a number of vertices to draw, at most `most`.
fn amount(s: &mut Scene<'_>, most: u32) -> u32 {
    match s.rng.u32(..16) {
        0..=8 => 3 * s.rng.u32(1..8),
        9..=12 => extent(s.rng, 4096),
        13..=14 => extent(s.rng, 0xffff),
        _ => extent(s.rng, MAX_INDEX),
    }
    .min(most.max(1))
}

fn control(s: &mut Scene<'_>, walk: u32, number: u32) -> u32 {
    let number = if rarely(s.rng, 128) { 0 } else { number };
    let primitive = if rarely(s.rng, 32) {
        s.rng.u32(..16)
    } else {
        pick(s.rng, &[1, 2, 3, 4, 4, 4, 5, 6, 12, 13, 14, 15])
    };
    let alternative = number > 0xffff || rarely(s.rng, 16);
    if alternative {
        s.on().write(mmio::VAP_ALT_NUM_VERTICES, number);
    }
    vap_vf_cntl::PRIM_TYPE.of(primitive)
        | vap_vf_cntl::PRIM_WALK.of(walk)
        | vap_vf_cntl::NUM_VERTICES.of(number)
        | vap_vf_cntl::USE_ALT_NUM_VERTS.of(alternative.into())
}

/// Append the body of a draw, in the form with a vertex format, which the chip ignores, or in the one without.
fn packet(s: &mut Scene<'_>, (old, new): (u8, u8), control: u32, data: &[u32]) {
    let mut body = Vec::new();
    let opcode = if rarely(s.rng, 4) {
        body.push(s.rng.u32(..));
        old
    } else {
        new
    };
    body.push(control);
    body.extend(data);
    s.on().packet(opcode, &body);
}

/// Draw vertices that are in the packet.
pub fn embedded(s: &mut Scene<'_>, vertices: Vertices) {
    s.piece();
    let room = if rarely(s.rng, 16) { 1000 } else { 100 };
    let number = amount(s, (room / vertices.size.max(1)).max(1));
    range(s, number - 1);
    let word = control(s, 3, number);
    let data: Vec<u32> = (0..number * vertices.size).map(|_| 0x3f80_0000).collect();
    packet(s, (op::_3D_DRAW_IMMD, op::_3D_DRAW_IMMD_2), word, &data);
}

/// Draw vertices in a row from the arrays.
pub fn listed(s: &mut Scene<'_>, vertices: Vertices) {
    s.piece();
    let number = amount(s, vertices.most);
    range(s, number - 1);
    let word = control(s, 2, number);
    packet(s, (op::_3D_DRAW_VBUF, op::_3D_DRAW_VBUF_2), word, &[]);
}

/// Draw by indices, in the packet or in a buffer.
pub fn indexed(s: &mut Scene<'_>, vertices: Vertices) {
    s.piece();
    let wide = s.rng.bool();
    let largest = amount(s, vertices.most) - 1;
    let inline = s.rng.bool();
    // The model fetches every index.
    let most = match s.rng.u32(..64) {
        _ if inline => 60,
        0 => (ROOM / 4) as u32,
        1..=4 => 0x1_0000,
        _ => 500,
    };
    let number = amount(s, most);
    range(s, largest);
    let word = control(s, 1, number) | vap_vf_cntl::INDEX_SIZE.of(wide.into());
    let dwords = if wide { number } else { number.div_ceil(2) };
    if inline {
        let data: Vec<u32> = (0..dwords)
            .map(|_| match s.rng.u32(..16) {
                0 => s.rng.u32(..),
                _ if wide => s.rng.u32(..=largest),
                _ => s.rng.u32(..=largest.min(0xffff)) * 0x1_0001,
            })
            .collect();
        packet(s, (op::_3D_DRAW_INDX, op::_3D_DRAW_INDX_2), word, &data);
        return;
    }
    packet(s, (op::_3D_DRAW_INDX, op::_3D_DRAW_INDX_2), word, &[]);
    let object = s.object();
    let offset = s.offset(4);
    let port = mmio::VAP_PORT_IDX.at(0).expect("sixteen words");
    let destination = indx_buffer::control::DESTINATION.of(port / 4)
        | indx_buffer::control::ONE_REG_WR.of(1)
        | indx_buffer::control::SKIP_COUNT.of(if rarely(s.rng, 64) { s.rng.u32(..8) } else { 0 });
    s.on()
        .packet(op::INDX_BUFFER, &[destination, offset, dwords])
        .marker(object);
}
