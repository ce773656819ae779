// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The smallest stream that shows a fault, with names: what a person wants to read.

use std::fmt::Write;

use lapidary_registers::{r500 as database, Domain};
use r500::portable::pm4::{self, Header};

use crate::{mutate::packets, scene::Case};

/// Take away packets, then lengths of packets' bodies, then bits, as long as `fails` holds.
pub fn minimize(case: &Case, fails: &mut dyn FnMut(&Case) -> bool) -> Case {
    let mut best = case.clone();
    loop {
        let before = best.words.clone();
        let mut i = packets(&best.words).len();
        while i > 0 {
            i -= 1;
            let mut less = best.clone();
            let Some(range) = packets(&less.words).get(i).cloned() else {
                continue;
            };
            less.words.drain(range);
            if fails(&less) {
                best = less;
            }
        }
        for at in 0..best.words.len() {
            let mut zero = best.clone();
            zero.words[at] = 0;
            if best.words[at] != 0 && fails(&zero) {
                best = zero;
                continue;
            }
            for bit in 0..32 {
                let mut less = best.clone();
                less.words[at] &= !(1 << bit);
                if less.words[at] != best.words[at] && fails(&less) {
                    best = less;
                }
            }
        }
        if best.words == before {
            return best;
        }
    }
}

/// Return a stream with the names of packets and registers.
pub fn describe(case: &Case) -> String {
    let mut text = String::new();
    let mut line = |words: &[u32], what: &str| {
        let _ = writeln!(text, "{words:08x?} {what}");
    };
    for packet in packets(&case.words) {
        let words = &case.words[packet.clone()];
        match pm4::decode(words[0]) {
            Header::Type0 {
                register,
                one_register,
                count,
            } => {
                line(&words[..1], "");
                for (i, value) in words[1..].iter().enumerate() {
                    let step = if one_register { 0 } else { 4 * i as u32 };
                    let name = database::DATABASE.describe(Domain::MMIO, register + step, *value);
                    line(&[*value], if i < count as usize { &name } else { "marker" });
                }
            }
            Header::Type3 { opcode, .. } => {
                let name = database::PACKETS
                    .iter()
                    .find(|p| u32::from(p.opcode) == u32::from(opcode));
                line(words, name.map_or("", |p| p.name));
            }
            _ => line(words, ""),
        }
    }
    let sizes: Vec<u64> = case.objects.iter().map(|object| object.size).collect();
    let tiling: Vec<u32> = case.objects.iter().map(|object| object.tiling).collect();
    let _ = writeln!(
        text,
        "objects {sizes:#x?} tiling {tiling:x?}\n{:?}",
        case.options
    );
    text
}
