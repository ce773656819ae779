// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Byte orders: what the two bits of a SWAP field do to a dword, in all of AMD's families.

/// Apply one of the four byte swaps to a dword: 0 none, 1 bytes of 16-bit halves, 2 bytes of the dword, 3 the halves.
/// Higher bits of `swap` do not count.
pub fn swapped(swap: u32, word: u32) -> u32 {
    match swap & 3 {
        1 => ((word & 0x00ff_00ff) << 8) | ((word >> 8) & 0x00ff_00ff),
        2 => word.swap_bytes(),
        3 => word.rotate_left(16),
        _ => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swaps() {
        assert_eq!(
            [0, 1, 2, 3].map(|s| swapped(s, 0x1122_3344)),
            [0x1122_3344, 0x2211_4433, 0x4433_2211, 0x3344_1122]
        );
    }
}
