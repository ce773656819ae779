// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Textures: levels.

use r600::portable::checker::reason::Reason::*;

use crate::{
    bad, fits,
    support::{resources::PLAIN, RV770},
    texture, PICTURE,
};

#[test]
fn every_level_counts() {
    // Levels of lines: 64 texels from line to line.
    let lines = texture!(PLAIN; last_level: 6);
    fits(lines, &RV770, PICTURE, 64 * 4 * (32 + 16 + 8 + 4 + 2 + 1));
    fits(texture!(lines; mode: 0), &RV770, PICTURE, 64 * 4 * 63);
    // Tiles: at least 8 by 8.
    let tiles = texture!(lines; mode: 2);
    let levels = 4 * (32 * 32 + 16 * 16 + 4 * 8 * 8);
    fits(tiles, &RV770, PICTURE, levels);
    // Sizes of levels are powers of two: 18, half of 36, becomes 32, and not 24 as its tiles alone want.
    let odd = texture!(tiles; width: 36, height: 36, last_level: 1);
    fits(odd, &RV770, 64 * 40 * 4, 32 * 32 * 4);
    // Levels smaller than one texel.
    let many = texture!(tiles; last_level: 15);
    fits(many, &RV770, PICTURE, levels + 9 * 256);
    // Slices become fewer, layers do not.
    let volume = texture!(tiles; dimensions: 2, depth: 5, last_level: 3);
    let levels = 4 * (2 * 32 * 32 + 16 * 16 + 8 * 8);
    fits(volume, &RV770, 5 * PICTURE, levels);
    let layers = texture!(volume; dimensions: 5);
    let levels = 5 * 4 * (32 * 32 + 16 * 16 + 8 * 8);
    fits(layers, &RV770, 5 * PICTURE, levels);
    // Blocks of 4 by 4.
    let blocks = texture!(tiles; format: 49, pitch: 64, last_level: 3);
    fits(blocks, &RV770, 16 * 16 * 8, 3 * 8 * 8 * 8);
}

#[test]
fn levels_without_room_for_a_block_have_tiles() {
    // Blocks of 64 by 64 texels.
    let texture = texture!(PLAIN; mode: 4, width: 256, pitch: 256, height: 256, last_level: 4);
    let levels = 4 * (128 * 128 + 64 * 64 + 32 * 32 + 16 * 16);
    fits(texture, &RV770, 256 * 256 * 4, levels);
    // The last ones fill a tile.
    let all = texture!(texture; last_level: 8);
    fits(all, &RV770, 256 * 256 * 4, levels + 4 * 4 * 8 * 8);
    // Too low, then too narrow.
    let low = texture!(texture; height: 64, last_level: 1);
    fits(low, &RV770, 256 * 64 * 4, 128 * 32 * 4);
    let narrow = texture!(texture; width: 33, pitch: 64, last_level: 1);
    fits(narrow, &RV770, 64 * 256 * 4, 16 * 128 * 4);
    // The first level is always as the resource says.
    let small = texture!(texture; width: 8, pitch: 64, height: 8, last_level: 0);
    fits(small, &RV770, 64 * 64 * 4, 0);
}

#[test]
fn levels_before_the_first_count() {
    let texture = texture!(PLAIN; last_level: 2);
    let levels = 64 * 4 * (32 + 16);
    fits(texture, &RV770, PICTURE, levels);
    for base_level in [1, 2] {
        let later = texture!(texture; base_level);
        fits(later, &RV770, PICTURE, PICTURE + levels);
    }
    bad(texture!(texture; base_level: 3), &RV770, 4, TextureLevels);
}
