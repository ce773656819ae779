// SPDX-License-Identifier: GPL-2.0 OR MIT

//! How many bytes formats take.
//!
//! Colour targets, textures and buffers number their formats alike, and textures have more of them. The manual names the
//! components of each, which gives the bytes; blocks of compressed formats have 4 by 4 texels.

use lapidary_registers::r600::enums::{data_format as f, depth_format};

/// A block of texels, the smallest piece that a format can store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its bytes.
    pub bytes: u64,
    /// Texels of a line.
    pub width: u64,
    /// Its lines.
    pub height: u64,
}

/// Return the bytes of a pixel of a colour target; none for a reserved format, and for COLOR_INVALID.
pub fn color(format: u32) -> Option<u64> {
    Some(match format {
        f::FMT_8 | f::FMT_4_4 | f::FMT_3_3_2 => 1,
        f::FMT_16..=f::FMT_5_5_5_1 => 2,
        f::FMT_32..=f::FMT_10_10_10_2 => 4,
        f::FMT_X24_8_32_FLOAT..=f::FMT_16_16_16_16_FLOAT => 8,
        f::FMT_32_32_32_32 | f::FMT_32_32_32_32_FLOAT => 16,
        _ => return None,
    })
}

/// Return whether a colour format has components that are floats of 32 bits.
pub fn is_float32(format: u32) -> bool {
    matches!(
        format,
        f::FMT_32_FLOAT | f::FMT_X24_8_32_FLOAT | f::FMT_32_32_FLOAT | f::FMT_32_32_32_32_FLOAT
    )
}

/// Return the block of a texture's format; none for a reserved one, and for FMT_INVALID.
pub fn texture(format: u32) -> Option<Block> {
    let (bytes, width, height) = match format {
        f::FMT_1 | f::FMT_1_REVERSED => (1, 8, 1),
        f::FMT_GB_GR | f::FMT_BG_RG => (4, 2, 1),
        f::FMT_32_AS_8 | f::FMT_32_AS_8_8 | f::FMT_5_9_9_9_SHAREDEXP => (4, 1, 1),
        f::FMT_8_8_8 => (3, 1, 1),
        f::FMT_16_16_16 | f::FMT_16_16_16_FLOAT => (6, 1, 1),
        f::FMT_32_32_32 | f::FMT_32_32_32_FLOAT => (12, 1, 1),
        f::FMT_BC1 | f::FMT_BC4 => (8, 4, 4),
        f::FMT_BC2 | f::FMT_BC3 | f::FMT_BC5 | f::FMT_BC6 | f::FMT_BC7 => (16, 4, 4),
        f::FMT_32_AS_32_32_32_32 => (16, 1, 1),
        _ => (color(format)?, 1, 1),
    };
    Some(Block {
        bytes,
        width,
        height,
    })
}

/// Return the bytes of a pixel of a depth target; none for DEPTH_INVALID.
pub fn depth(format: u32) -> Option<u64> {
    match format {
        depth_format::DEPTH_INVALID => None,
        depth_format::DEPTH_16 => Some(2),
        depth_format::DEPTH_X24_8_32_FLOAT => Some(8),
        _ => Some(4),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_have_the_bytes_of_their_components() {
        let of =
            |bytes: u64| -> Vec<u32> { (0..64).filter(|n| color(*n) == Some(bytes)).collect() };
        assert_eq!(of(1), [1, 2, 3]);
        assert_eq!(of(2), [5, 6, 7, 8, 9, 10, 11, 12]);
        assert_eq!(of(4), (13..=27).collect::<Vec<_>>());
        assert_eq!(of(8), [28, 29, 30, 31, 32]);
        assert_eq!(of(16), [34, 35]);
        let none: Vec<u32> = (0..64).filter(|n| color(*n).is_none()).collect();
        assert_eq!(none.len(), 64 - 3 - 8 - 15 - 5 - 2);
    }

    #[test]
    fn textures_have_blocks() {
        let of = |n| texture(n).map(|b| (b.bytes, b.width, b.height));
        assert_eq!(of(26), Some((4, 1, 1)));
        assert_eq!(of(47), Some((12, 1, 1)));
        assert_eq!((of(49), of(50)), (Some((8, 4, 4)), Some((16, 4, 4))));
        assert_eq!((of(37), of(39)), (Some((1, 8, 1)), Some((4, 2, 1))));
        assert_eq!([0, 4, 33, 36, 57, 63].map(of), [None; 6]);
    }

    #[test]
    fn depths_have_two_four_or_eight() {
        let all: Vec<_> = (0..8).map(depth).collect();
        assert_eq!(all[..3], [None, Some(2), Some(4)]);
        assert_eq!(all[3..], [Some(4), Some(4), Some(4), Some(4), Some(8)]);
    }
}
