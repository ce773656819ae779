// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Streams of the 3D pipeline that rules start from. Each register is written by a packet of its own, so
//! that a rule can aim another register with one dword.

use super::{
    rule::{Rule, PAGE},
    support::Stream,
};
use r500::portable::{
    checker::Reason,
    pm4::{self, Header},
    regs::{mmio, mmio::*, pm4::op},
};

/// Lines and columns of the colour buffer.
pub const EDGE: u32 = 64;
/// Bytes of the colour buffer: 64 by 64 pixels of four bytes.
pub const COLOR_BYTES: u64 = 4 * PAGE;
/// Colour, something else, and something else again.
pub const SIZES: [u64; 3] = [COLOR_BYTES, 4 * PAGE, 4 * PAGE];

/// Return the lower right corner of a scissor, both edges inclusive.
pub fn corner(columns: u32, lines: u32) -> u32 {
    sc_scissor1::XS1.of(columns - 1) | sc_scissor1::YS1.of(lines - 1)
}

/// Return `RB3D_COLORPITCH` for a linear buffer.
pub fn color_pitch(pixels: u32, format: u32) -> u32 {
    rb3d_colorpitch::COLORPITCH.of(pixels / 2) | rb3d_colorpitch::COLORFORMAT.of(format)
}

/// Return the control word of a draw.
pub fn control(kind: u32, walk: u32, count: u32) -> u32 {
    vap_vf_cntl::PRIM_TYPE.of(kind)
        | vap_vf_cntl::PRIM_WALK.of(walk)
        | vap_vf_cntl::NUM_VERTICES.of(count)
}

pub const POINTS: u32 = vap_vf_cntl::prim_type::POINTS;
pub const INDEXED: u32 = vap_vf_cntl::prim_walk::INDEXES;
pub const COUNTED: u32 = vap_vf_cntl::prim_walk::VERTEX_LIST;
pub const EMBEDDED: u32 = vap_vf_cntl::prim_walk::VERTEX_DATA;

/// Return everything that a draw needs to be known: a linear colour buffer in entry 0, no depth, no textures.
pub fn state() -> Stream {
    let mut stream = Stream::new();
    stream
        .write(mmio::SC_SCISSOR0, 0)
        .write(mmio::SC_SCISSOR1, corner(EDGE, EDGE))
        .write(mmio::GB_AA_CONFIG, 0)
        .write(mmio::RB3D_AARESOLVE_CTL, 0)
        .write(
            mmio::RB3D_CCTL,
            rb3d_cctl::INDEPENDENT_COLORFORMAT_ENABLE.of(1),
        );
    target(&mut stream, 0, 0);
    stream
        .write(mmio::ZB_BW_CNTL, 0)
        .write(mmio::ZB_CNTL, 0)
        .write(mmio::RB3D_COLOR_CHANNEL_MASK, 0xf)
        .write(mmio::RB3D_BLENDCNTL, 0);
    for i in 0..4 {
        let format = if i == 0 {
            us_out_fmt::out_fmt::C4_8
        } else {
            us_out_fmt::out_fmt::UNUSED
        };
        stream.write(
            mmio::US_OUT_FMT.at(i).unwrap(),
            us_out_fmt::OUT_FMT.of(format),
        );
    }
    stream
        .write(mmio::TX_ENABLE, 0)
        .write(mmio::VAP_VTX_SIZE, 4);
    stream
}

/// Append a colour target of 64 by 64 pixels of four bytes at the start of an entry.
pub fn target(stream: &mut Stream, number: u32, entry: u32) {
    stream
        .write(mmio::RB3D_COLOROFFSET.at(number).unwrap(), 0)
        .marker(entry)
        .write(
            mmio::RB3D_COLORPITCH.at(number).unwrap(),
            color_pitch(EDGE, rb3d_colorpitch::colorformat::ARGB8888),
        );
}

/// Append one point whose vertex is in the packet.
pub fn point(stream: &mut Stream) -> &mut Stream {
    stream.packet(
        op::_3D_DRAW_IMMD_2,
        &[control(POINTS, EMBEDDED, 1), 0, 0, 0, 0],
    )
}

/// Return the index of the control word of [`point`] if it was added last.
pub fn point_control(stream: &Stream) -> usize {
    stream.here() - 5
}

/// Return [`state`] and a point.
pub fn drawn() -> Stream {
    let mut stream = state();
    point(&mut stream);
    stream
}

/// Return the index of the last value that a stream writes to a register.
pub fn at(stream: &Stream, register: u32) -> usize {
    let mut found = None;
    let mut start = 0;
    while start < stream.here() {
        let header = pm4::decode(stream.words[start]);
        if let Header::Type0 {
            register: first,
            count,
            ..
        } = header
        {
            if (first..first + 4 * count).contains(&register) {
                found = Some(start + 1 + ((register - first) / 4) as usize);
            }
        }
        start += 1 + header.body() as usize;
    }
    found.expect("the stream writes the register")
}

/// Return a rule for the value of a register, which shows at a draw.
pub fn spoilt(reason: Reason, stream: &Stream, register: u32, value: u32, shows: usize) -> Rule {
    Rule::new(reason, stream, at(stream, register), value)
        .shows_at(shows)
        .with_objects(&SIZES)
}

/// Return a rule for a register that is not written: its header names a harmless one instead.
pub fn missing(reason: Reason, stream: &Stream, register: u32, shows: usize) -> Rule {
    let header = at(stream, register) - 1;
    Rule::new(reason, stream, header, pm4::write(mmio::GA_OFFSET, 1))
        .shows_at(shows)
        .with_objects(&SIZES)
}
