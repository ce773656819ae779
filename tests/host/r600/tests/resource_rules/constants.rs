// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Samplers, and constants on the chip.

use r600::portable::checker::{check_gfx, reason::Reason::*};

use crate::{
    refused,
    support::{passes, resources::packet, RV770},
};

#[test]
fn whole_samplers_in_their_slots() {
    let sampler = [u32::MAX, u32::MAX, 0x8c0f_ffff];
    for slot in [0, 17, 18, 36, 53] {
        let body = [slot * 3, 0, 0, 1 << 31];
        passes(check_gfx, &packet(0x6e, &body, &[]), &[], &RV770);
    }
    let two: Vec<u32> = [&[52 * 3][..], &sampler, &sampler].concat();
    passes(check_gfx, &packet(0x6e, &two, &[]), &[], &RV770);
    let three: Vec<u32> = [&[52 * 3][..], &sampler, &sampler, &sampler].concat();
    refused(&packet(0x6e, &three, &[]), &[], &RV770, 1, SamplerSlot);
    for first in [54 * 3, u32::MAX, u32::MAX - 2, 0x1_0000] {
        let body = [first, 0, 0, 0];
        refused(&packet(0x6e, &body, &[]), &[], &RV770, 1, SamplerSlot);
    }
    for first in [1, 2, 4] {
        let body = [first, 0, 0, 0];
        refused(&packet(0x6e, &body, &[]), &[], &RV770, 1, PartialSampler);
    }
    for dwords in [1, 2, 4, 5] {
        let body = vec![0; 1 + dwords];
        refused(&packet(0x6e, &body, &[]), &[], &RV770, 1, PartialSampler);
    }
    for bit in (20..26).chain(28..31) {
        let body = [0, 0, 0, 1 << bit];
        refused(&packet(0x6e, &body, &[]), &[], &RV770, 4, ForbiddenBits);
    }
}

#[test]
fn constants_stay_in_their_range() {
    // ALU, boolean and loop constants, numbers of vertices and instances.
    for (opcode, most) in [(0x6a, 2048), (0x6b, 3), (0x6c, 96), (0x6f, 2)] {
        let all = vec![u32::MAX; most as usize];
        let body = |first: u32, dwords: u32| [&[first][..], &all[..dwords as usize]].concat();
        for (first, dwords) in [(0, most), (most - 1, 1), (0, 1)] {
            let words = packet(opcode, &body(first, dwords), &[]);
            passes(check_gfx, &words, &[], &RV770);
        }
        for (first, dwords) in [
            (1, most),
            (most, 1),
            (most - 1, 2),
            (u32::MAX, 1),
            (u32::MAX, 2),
            // Only the lower half of the dword counts for the chip.
            (0x1_0000, 1),
        ] {
            let words = packet(opcode, &body(first, dwords), &[]);
            refused(&words, &[], &RV770, 1, ConstantRange);
        }
    }
    // To the first resource from the first ALU constant.
    let words = packet(0x6a, &[0x2000, 0, 0, 0, 0, 0, 0, 0xc000_0000], &[]);
    refused(&words, &[], &RV770, 1, ConstantRange);
}
