// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Streams for the DMA ring that may be right: all operations, with counts, pitches and places near the limits.

use fastrand::Rng;
use r600::portable::Generation;

use crate::{
    chips::Variant,
    scene::{pick, rarely, Case, Ring, GENEROUS},
    tiles::alignment,
};

/// Return one of a few numbers that lie near the limits, or any.
fn near(rng: &mut Rng, limits: &[u32]) -> u32 {
    match rng.u32(0..32) {
        0 => 0,
        1 => 1 << rng.u32(0..32),
        _ => (pick(rng, limits) + 4 * rng.u32(0..3)).wrapping_sub(4),
    }
}

/// Return mostly nothing, sometimes a bit.
fn seldom(rng: &mut Rng) -> u32 {
    match rng.u32(0..64) {
        0 => 1 << rng.u32(0..32),
        _ => 0,
    }
}

fn offset(rng: &mut Rng) -> u32 {
    near(rng, &[4, 0x100, 0x1000, 0x3000, 0x8000])
}

/// Return the four dwords of a tiled surface.
fn surface(rng: &mut Rng, chip: &Variant, back: bool) -> ([u32; 4], u32) {
    let mode = match rng.u32(0..32) {
        0 => rng.u32(0..16),
        _ => pick(rng, &[0, 1, 2, 2, 4, 4]),
    };
    let log2 = if rarely(rng, 32) {
        rng.u32(0..8)
    } else {
        rng.u32(0..5)
    };
    let align = alignment(chip, mode, 1 << log2.min(4), 1);
    let pitch = align.pitch.next_multiple_of(8) * rng.u32(1..5);
    let pitch = if rarely(rng, 16) { pitch + 8 } else { pitch };
    let rows = align.height.max(8) * rng.u32(1..5);
    let height = match rng.u32(0..4) {
        0 => rng.u32(1..=rows),
        _ => rows,
    };
    let detile = u32::from(back) << 31;
    let info =
        ((pitch / 8 - 1) & 0x3ff) | ((height - 1) << 10) | (log2 << 24) | (mode << 27) | detile;
    let slice = (rng.u32(0..4) / 2) | ((pitch * rows / 64).max(1).wrapping_sub(1) << 12);
    let x = if rarely(rng, 4) {
        rng.u32(0..pitch / 8) * 8
    } else {
        0
    };
    let y = if rng.bool() {
        rng.u32(0..rows.div_ceil(8)) * 8
    } else {
        0
    };
    let place = (x << 3) | (y << 17);
    let unit = (align.base >> 8).max(1);
    let base = if rarely(rng, 32) {
        rng.u32(0..64)
    } else {
        unit * rng.u32(0..3)
    };
    // As many lines as there are behind the place.
    let room = height.next_multiple_of(8).saturating_sub(y);
    let lines = if x == 0 { room } else { room.saturating_sub(8) }.max(1);
    let lines = match rng.u32(0..4) {
        0 => rng.u32(1..=lines),
        _ => lines,
    };
    let dwords = u64::from(pitch - x) * u64::from(lines) * (1 << log2) / 4;
    let dwords = match rng.u32(0..16) {
        0 => dwords + 1,
        1 => dwords.saturating_sub(1),
        _ => dwords,
    };
    let count = dwords.min(0xffff) as u32;
    (
        [base, info ^ seldom(rng), slice, place ^ seldom(rng)],
        count,
    )
}

/// Return one packet.
fn packet(rng: &mut Rng, chip: &Variant) -> Vec<u32> {
    let count = near(rng, &[8, 16, 0x400, 0x800, 0xfffe]) & 0xffff;
    let flip = seldom(rng);
    let mut words = match rng.u32(0..8) {
        0 => vec![0xf000_0000],
        1 => {
            let count = rng.u32(1..20);
            let mut words = vec![0x2000_0000 | count, offset(rng), seldom(rng)];
            words.extend((0..count).map(|_| rng.u32(..)));
            words
        }
        2 => {
            let back = rarely(rng, 48);
            let (surface, count) = surface(rng, chip, back);
            let count = count.min(rng.u32(1..200));
            let mut words = vec![0x2080_0000 | count];
            words.extend(surface);
            words.extend((0..count).map(|_| rng.u32(..)));
            words
        }
        3 if chip.checker.generation == Generation::R7xx || rarely(rng, 8) => {
            vec![0xd000_0000 | count, offset(rng), rng.u32(..), seldom(rng)]
        }
        4 | 5 => {
            let mut words = vec![0x3000_0000 | count, offset(rng), offset(rng), seldom(rng)];
            if chip.checker.generation == Generation::R7xx {
                words.push(seldom(rng));
            }
            words
        }
        _ => {
            let back = rng.bool();
            let (surface, count) = surface(rng, chip, back);
            let mut words = vec![0x3080_0000 | count];
            words.extend(surface);
            words.extend([offset(rng), seldom(rng)]);
            words
        }
    };
    words[0] ^= flip;
    words
}

/// Make a stream.
pub fn made(rng: &mut Rng, chip: &'static Variant) -> Case {
    let words = (0..rng.u32(1..5)).flat_map(|_| packet(rng, chip)).collect();
    Case {
        ring: Ring::Dma,
        chip,
        by_objects: false,
        words,
        // Packets take objects in order, at most two each.
        objects: vec![GENEROUS; rng.usize(6..11)],
        before: None,
        another: false,
    }
}
