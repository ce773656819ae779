// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Streams of any dwords, and streams that are nearly right. The checkers never panic; what they let through accesses
//! the bytes of its objects and no others, as another calculator has it.

mod support;

use fastrand::Rng;
use proptest::prelude::*;
use r600::portable::checker::{check_dma, check_gfx, max_fixups, Chip};
use support::{confined, footprint, run, Check, R600, RV610, RV770};

const CHIPS: [Chip; 3] = [RV770, R600, RV610];

/// Check a stream, and what it accesses if it passes. Return whether it does.
fn judge(check: Check, words: &[u32], sizes: &[u64], chip: &Chip) -> bool {
    match run(check, words, sizes, chip) {
        Ok(checked) => {
            assert!(checked.fixups.len() <= max_fixups(words.len()));
            for fixup in &checked.fixups {
                assert!((fixup.dword as usize) < words.len());
                assert!((fixup.object as usize) < sizes.len());
            }
            let dma = check as usize == check_dma as usize;
            confined(&checked, |words| match dma {
                true => footprint::dma(words, chip),
                false => footprint::gfx(words, chip),
            });
            true
        }
        Err(refusal) => {
            assert!((refusal.position as usize) < words.len());
            false
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_dwords(words in prop::collection::vec(any::<u32>(), 0..40), n in 0usize..3) {
        let sizes = vec![4096; n];
        for chip in &CHIPS {
            judge(check_dma, &words, &sizes, chip);
            judge(check_gfx, &words, &sizes, chip);
        }
    }
}

/// Return one of a few numbers that lie near the limits, or any.
fn near(rng: &mut Rng, limits: &[u32]) -> u32 {
    match rng.u32(0..8) {
        0 => 0,
        1 => 1 << rng.u32(0..32),
        _ => limits[rng.usize(0..limits.len())]
            .wrapping_add(4 * rng.u32(0..3))
            .wrapping_sub(4),
    }
}

/// Return mostly nothing, sometimes a bit.
fn seldom(rng: &mut Rng) -> u32 {
    match rng.u32(0..24) {
        0 => 1 << rng.u32(0..32),
        _ => 0,
    }
}

/// Return a packet for the DMA ring that may be right.
fn dma_packet(rng: &mut Rng, chip: &Chip) -> Vec<u32> {
    let count = near(rng, &[8, 16, 0x400, 0x800]) & 0xffff;
    let offset = |rng: &mut Rng| near(rng, &[0, 0x100, 0x1000, 0x3000, 0x8000]);
    let tiled = |rng: &mut Rng| {
        let pitch = [8, 16, 32, 64, 128][rng.usize(0..5)];
        let height = [1, 8, 16, 60, 64, 96, 128][rng.usize(0..7)];
        let rows: u32 = [8, 16, 64, 96, 128][rng.usize(0..5)];
        let mode = [0, 1, 2, 4, rng.u32(0..16)][rng.usize(0..5)];
        let detile = u32::from(rng.bool()) << 31;
        let log2 = rng.u32(0..6);
        let info = (pitch / 8 - 1) | ((height - 1) << 10) | (log2 << 24) | (mode << 27) | detile;
        let slice = rng.u32(0..2) | ((pitch * rows / 64).max(1).wrapping_sub(1) << 12);
        let place = ((rng.u32(0..3) * 8) << 3) | ((rng.u32(0..9) * 8) << 17);
        let base = [0, 0x10, 0x40, 0x100][rng.usize(0..4)];
        [base, info ^ seldom(rng), slice, place ^ seldom(rng)]
    };
    let flip = seldom(rng);
    let mut words = match rng.u32(0..7) {
        0 => vec![0xf000_0000],
        1 => {
            let count = rng.u32(0..20);
            let mut words = vec![0x2000_0000 | count, offset(rng), seldom(rng)];
            words.extend((0..count).map(|_| rng.u32(..)));
            words
        }
        2 => {
            let count = rng.u32(0..200);
            let mut words = vec![0x2080_0000 | count];
            words.extend(tiled(rng));
            words.extend((0..count).map(|_| rng.u32(..)));
            words
        }
        3 => vec![0xd000_0000 | count, offset(rng), rng.u32(..), seldom(rng)],
        4 => {
            let mut words = vec![0x3000_0000 | count, offset(rng), offset(rng), seldom(rng)];
            if *chip == RV770 {
                words.push(seldom(rng));
            }
            words
        }
        _ => {
            let mut words = vec![0x3080_0000 | count];
            words.extend(tiled(rng));
            words.extend([offset(rng), seldom(rng)]);
            words
        }
    };
    words[0] ^= flip;
    words
}

/// Return a packet for the graphics ring that may be right, with its markers.
fn gfx_packet(rng: &mut Rng) -> Vec<u32> {
    let low = |rng: &mut Rng| near(rng, &[0, 0x10, 0xff0, 0xff8, 0x3fc0, 0x4000]);
    let (opcode, mut body, markers): (u32, Vec<u32>, u32) = match rng.u32(0..14) {
        0 => (0x3d, vec![low(rng), rng.u32(0..2) << 18, 1, 2], 1),
        1 => (0x3b, vec![3, low(rng), 0, low(rng), 0], 2),
        2 => {
            let bytes = near(rng, &[1, 16, 0x1000, 0x1f_ffff]);
            (0x41, vec![low(rng), 1 << 31, low(rng), 0, bytes], 2)
        }
        3 => (0x3c, vec![0x10 | rng.u32(0..8), low(rng), 0, 1, 2, 3], 1),
        4 => {
            let event = [0x115, 0x21e, 0x320, 0x16][rng.usize(0..4)];
            (0x46, vec![event, low(rng), 0], 1)
        }
        5 => {
            let events = [0x16, 0x410, 0x2c, 0x24, rng.u32(0..0x40)];
            (0x46, vec![events[rng.usize(0..5)]], 0)
        }
        6 => {
            let event = [0x504, 0x514, 0x528][rng.usize(0..3)];
            (0x47, vec![event, low(rng), rng.u32(0..8) << 29, 1, 2], 1)
        }
        7 => (0x43, vec![1 << 23, low(rng) >> 8, low(rng) >> 8, 10], 1),
        8 => (0x68, vec![0x10, [0x8000, 0x100, 1][rng.usize(0..3)]], 0),
        9 => (0x69, vec![rng.u32(0..0x400), rng.u32(..)], 0),
        10 => (0x20, vec![low(rng), rng.u32(0..3) << 16], 1),
        11 => {
            let control = rng.u32(0..8) | (rng.u32(0..4) << 8);
            (0x34, vec![control, low(rng), 0, low(rng), 0], 2)
        }
        12 => (0x3b, vec![1, low(rng), 0, 0x28b2c >> 2, 0], 1),
        _ => (rng.u32(0x20..0x80), vec![0; rng.usize(1..6)], 2),
    };
    let at = rng.usize(0..body.len());
    body[at] ^= seldom(rng);
    let mut words = vec![(3 << 30) | ((body.len() as u32 - 1) << 16) | (opcode << 8)];
    words.extend(body);
    for _ in 0..markers {
        words.extend([0xc000_1000, rng.u32(0..4) * 4]);
    }
    words
}

#[test]
fn nearly_right_streams() {
    let mut rng = Rng::with_seed(1);
    let (mut passed, mut accessed) = ([0; 2], [0; 2]);
    let rounds = 60_000;
    for _ in 0..rounds {
        let chip = CHIPS[rng.usize(0..3)];
        let sizes: Vec<u64> = (0..4)
            .map(|_| [4096, 0x4000, 0x8000, 0x2_0000][rng.usize(0..4)])
            .collect();
        let packets = rng.usize(1..4);
        let dma: Vec<u32> = (0..packets)
            .flat_map(|_| dma_packet(&mut rng, &chip))
            .collect();
        let gfx: Vec<u32> = (0..packets).flat_map(|_| gfx_packet(&mut rng)).collect();
        for (i, (check, words)) in [(check_dma as Check, dma), (check_gfx as Check, gfx)]
            .into_iter()
            .enumerate()
        {
            if judge(check, &words, &sizes, &chip) {
                passed[i] += 1;
                accessed[i] += usize::from(words.len() > 4);
            }
        }
    }
    // Neither all nor nothing passes, or the test would say nothing.
    for i in 0..2 {
        assert!(passed[i] > rounds / 20 && passed[i] < rounds, "{passed:?}");
        assert!(accessed[i] > rounds / 40, "{accessed:?}");
    }
}
