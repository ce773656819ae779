// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Ways to spoil a stream: dwords, fields of registers, packets, and two streams in one.
//!
//! Most ways keep the stream well-formed. One that is not is refused at once, and nothing is learnt from it. So packets
//! are found by their headers, and fields by the register database.

use std::ops::Range;

use fastrand::Rng;

use crate::chance::{pick, rarely};
use crate::family::{Case, Grammar};

/// Values that mean something in many places.
pub const BOUNDARIES: [u32; 28] = [
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

/// Give a field of a dword of the packet at `start` another value.
fn field<G: Grammar>(grammar: &G, rng: &mut Rng, case: &mut G::Case, start: usize) {
    let Some((at, fields)) = grammar.dword(rng, case, start) else {
        return;
    };
    let word = &mut case.words_mut()[at];
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
        // The upper half is a number of its own in many registers.
        7 => word.wrapping_add(0x1_0000),
        8 => word.wrapping_sub(0x1_0000),
        _ => words[rng.usize(..words.len())],
    };
}

fn packet<G: Grammar>(grammar: &G, rng: &mut Rng, words: &mut Vec<u32>, packets: &[Range<usize>]) {
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
                words.splice(one.end..one.end, grammar.marker(rng.u32(..6)));
            }
        }
    }
}

/// Spoil a stream in one place.
pub fn mutate<G: Grammar>(grammar: &G, rng: &mut Rng, case: &mut G::Case) {
    if case.words().is_empty() {
        let word = rng.u32(..);
        case.words_mut().push(word);
        return;
    }
    let packets = grammar.packets(case);
    let start = packets[rng.usize(..packets.len())].start;
    match rng.u32(..16) {
        0..=5 => field(grammar, rng, case, start),
        6 => header(rng, &mut case.words_mut()[start]),
        7..=9 => dword(rng, case.words_mut()),
        10..=13 => packet(grammar, rng, case.words_mut(), &packets),
        14 if rarely(rng, 2) => {
            let end = if rng.bool() {
                start
            } else {
                rng.usize(..case.words().len())
            };
            case.words_mut().truncate(end);
        }
        14 => grammar.circumstances(rng, case),
        _ => {
            let words = case.words_mut();
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

/// Make one stream of the beginning of `case` and the end of `other`, with the objects of the first.
pub fn splice<G: Grammar>(grammar: &G, rng: &mut Rng, case: &mut G::Case, other: &G::Case) {
    let cut = |rng: &mut Rng, case: &G::Case| {
        let packets = grammar.packets(case);
        packets
            .get(rng.usize(..=packets.len()))
            .map_or(case.words().len(), |packet| packet.start)
    };
    let keep = cut(rng, case);
    let from = cut(rng, other);
    case.words_mut().truncate(keep);
    case.words_mut().extend(&other.words()[from..]);
}
