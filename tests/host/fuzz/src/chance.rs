// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Small decisions.

use fastrand::Rng;

/// Return one of the values, all with the same chance.
pub fn pick<T: Copy>(rng: &mut Rng, values: &[T]) -> T {
    values[rng.usize(..values.len())]
}

/// Return true with a chance of one in `n`.
pub fn rarely(rng: &mut Rng, n: u32) -> bool {
    rng.u32(..n) == 0
}

/// Return a number from 1 to `max`: often small, often a power of two or its neighbour, sometimes anything.
pub fn extent(rng: &mut Rng, max: u32) -> u32 {
    let value = match rng.u32(..16) {
        0..=5 => rng.u32(1..=16),
        6..=9 => 1 << rng.u32(0..12),
        10 => (1 << rng.u32(1..12)) + 1,
        11 => (1 << rng.u32(1..12)) - 1,
        12..=13 => rng.u32(1..=256),
        14 => max,
        _ => rng.u32(1..=max),
    };
    value.clamp(1, max)
}
