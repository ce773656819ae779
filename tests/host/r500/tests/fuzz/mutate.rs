// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Ways to spoil a stream: dwords, fields of registers, packets, and two streams in one.
//!
//! Most ways keep the stream well-formed, because one that is not is refused at once and nothing is learnt
//! from it: packets are found by their headers, and fields by the register database.

use std::ops::Range;

use fastrand::Rng;
use lapidary_registers::{r500 as database, Domain};
use r500::portable::{
    pm4::{self, Header},
    regs::{mmio, pm4::op},
};

use crate::scene::{pick, rarely, Case};

/// Values that mean something in many places.
const BOUNDARIES: [u32; 28] = [
    0,
    1,
    2,
    4,
    8,
    31,
    32,
    63,
    64,
    0xff,
    0xffff,
    0x1_0000,
    0x1fff,
    0x2000,
    0x3fff,
    0x8000,
    0x1fff_1fff,
    0x2000_2000,
    0x03ff_ffff,
    0x8000_8000,
    0xffff_ffff,
    0x7fff_ffff,
    0x8000_0000,
    0x0001_0001,
    1 << 22,
    0x00ff_ffff,
    0xffff_fffc,
    0xffff_ffe0,
];

/// Return where the packets of a stream are, markers with the packet that they belong to.
pub fn packets(words: &[u32]) -> Vec<Range<usize>> {
    let mut packets: Vec<Range<usize>> = Vec::new();
    let mut start = 0;
    while let Some(&header) = words.get(start) {
        let end = (start + 1 + pm4::decode(header).body() as usize).min(words.len());
        let marker = header == pm4::operation(op::NOP, 1);
        match packets.last_mut() {
            Some(last) if marker => last.end = end,
            _ => packets.push(start..end),
        }
        start = end;
    }
    packets
}

/// Return the register whose fields dword number `i` of a 3D packet has.
fn register_in(opcode: u8, i: usize) -> Option<u32> {
    match (opcode, i) {
        (op::_3D_DRAW_VBUF | op::_3D_DRAW_IMMD | op::_3D_DRAW_INDX, 1)
        | (op::_3D_DRAW_VBUF_2 | op::_3D_DRAW_IMMD_2 | op::_3D_DRAW_INDX_2, 0) => {
            Some(mmio::VAP_VF_CNTL)
        }
        (op::_3D_LOAD_VBPNTR, 0) => Some(mmio::VAP_VTX_NUM_ARRAYS),
        (op::_3D_LOAD_VBPNTR, _) => match i % 3 {
            1 => mmio::VAP_VTX_AOS_ATTR.at(0),
            _ => mmio::VAP_VTX_AOS_ADDR_EVEN.at(0),
        },
        _ => None,
    }
}

/// A field of a register that the packet at `start` sets gets another value.
fn field(rng: &mut Rng, words: &mut [u32], start: usize) {
    let header = pm4::decode(words[start]);
    let body = (header.body() as usize).min(words.len() - start - 1);
    if body == 0 {
        return;
    }
    let (i, register) = match header {
        Header::Type0 {
            register,
            one_register,
            ..
        } => {
            let i = rng.usize(..body);
            let step = if one_register { 0 } else { 4 * i as u32 };
            (i, Some(register + step))
        }
        // What controls a packet comes first.
        Header::Type3 { opcode, .. } => {
            let i = rng.usize(..body.min(3 + body / 64));
            (i, register_in(opcode, i))
        }
        _ => return,
    };
    let word = &mut words[start + 1 + i];
    let fields = register
        .and_then(|register| database::DATABASE.by_offset(Domain::MMIO, register))
        .map_or(&[][..], |(register, _)| register.fields);
    if fields.is_empty() {
        *word = match rng.u32(..4) {
            0 => pick(rng, &BOUNDARIES),
            1 => *word ^ (1 << rng.u32(..32)),
            2 => word.wrapping_add(4),
            _ => word.wrapping_add(1),
        };
        return;
    }
    let field = fields[rng.usize(..fields.len())].field;
    let old = field.get(*word);
    let new = match rng.u32(..8) {
        0 => 0,
        1 => field.max(),
        2 => old.wrapping_add(1),
        3 => old.wrapping_sub(1),
        4 => old << 1,
        5 => old >> 1,
        6 => field.max() >> rng.u32(..field.max().count_ones()),
        _ => rng.u32(..),
    };
    *word = field.put(*word, new);
}

fn header(rng: &mut Rng, word: &mut u32) {
    match rng.u32(..6) {
        0 => *word = word.wrapping_add(1 << 16),
        1 => *word = word.wrapping_sub(1 << 16),
        2 => *word ^= 1 << 15,
        3 => *word = word.wrapping_add(1),
        4 => *word = word.wrapping_sub(1),
        _ => *word ^= 1 << rng.u32(..32),
    }
}

fn dword(rng: &mut Rng, words: &mut [u32]) {
    let at = rng.usize(..words.len());
    let word = words[at];
    words[at] = match rng.u32(..10) {
        0..=2 => word ^ (1 << rng.u32(..32)),
        3 => rng.u32(..),
        4 => pick(rng, &BOUNDARIES),
        5 => word.wrapping_add(1),
        6 => word.wrapping_sub(1),
        // The upper half is a number of its own in much of the geometry.
        7 => word.wrapping_add(0x1_0000),
        8 => word.wrapping_sub(0x1_0000),
        _ => words[rng.usize(..words.len())],
    };
}

fn packet(rng: &mut Rng, words: &mut Vec<u32>, packets: &[Range<usize>]) {
    let one = packets[rng.usize(..packets.len())].clone();
    let other = packets[rng.usize(..packets.len())].clone();
    match rng.u32(..8) {
        0..=2 => {
            words.drain(one);
        }
        3 => {
            let copy = words[one].to_vec();
            words.splice(other.start..other.start, copy);
        }
        // Moved, so that a draw comes before its state or state after its draw.
        4..=6 => {
            let moved: Vec<u32> = words.drain(one.clone()).collect();
            let to = if other.start > one.start {
                other.start - moved.len()
            } else {
                other.start
            };
            words.splice(to..to, moved);
        }
        // Without its markers, or with one too many.
        _ => {
            if one.len() >= 2 && rng.bool() {
                words.drain(one.end - 2..one.end);
            } else {
                words.splice(
                    one.end..one.end,
                    [pm4::operation(op::NOP, 1), 4 * rng.u32(..6)],
                );
            }
        }
    }
}

/// Spoil a stream in one place.
pub fn mutate(rng: &mut Rng, case: &mut Case) {
    let words = &mut case.words;
    if words.is_empty() {
        words.push(rng.u32(..));
        return;
    }
    let packets = packets(words);
    let start = packets[rng.usize(..packets.len())].start;
    match rng.u32(..16) {
        0..=5 => field(rng, words, start),
        6 => header(rng, &mut words[start]),
        7..=9 => dword(rng, words),
        10..=13 => packet(rng, words, &packets),
        14 if rarely(rng, 2) => {
            let end = if rng.bool() {
                start
            } else {
                rng.usize(..words.len())
            };
            words.truncate(end);
        }
        // What the client owns changes between two submissions.
        14 => match rng.u32(..4) {
            0 => case.options.keep_tiling ^= true,
            1 => case.options.hyperz ^= true,
            2 => case.options.cmask ^= true,
            _ => {
                let object = rng.usize(..case.objects.len());
                case.objects[object].tiling = rng.u32(..8);
            }
        },
        _ => {
            let at = rng.usize(..words.len());
            let run = at..(at + rng.usize(1..12)).min(words.len());
            if rng.bool() {
                let copy = words[run].to_vec();
                let to = rng.usize(..=words.len());
                words.splice(to..to, copy);
            } else {
                words.drain(run);
            }
        }
    }
}

/// The beginning of one stream and the end of another, with the objects of the first.
pub fn splice(rng: &mut Rng, case: &mut Case, other: &Case) {
    let cut = |rng: &mut Rng, words: &[u32]| {
        let packets = packets(words);
        packets
            .get(rng.usize(..=packets.len()))
            .map_or(words.len(), |packet| packet.start)
    };
    let keep = cut(rng, &case.words);
    let from = cut(rng, &other.words);
    case.words.truncate(keep);
    case.words.extend(&other.words[from..]);
}
