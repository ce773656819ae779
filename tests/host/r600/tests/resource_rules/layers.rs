// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Textures: layers and faces.

use r600::portable::checker::reason::Reason::*;

use crate::{
    bad, fits,
    support::{resources::PLAIN, R600, RV770},
    texture, PICTURE,
};

#[test]
fn every_layer_counts() {
    for dimensions in [0, 1, 4, 5] {
        let texture = texture!(PLAIN; dimensions, depth: 3, last_array: 2);
        fits(texture, &RV770, 3 * PICTURE, 0);
        // The larger of both counts.
        fits(texture!(texture; depth: 1), &RV770, 3 * PICTURE, 0);
        let first = texture!(texture; last_array: 0);
        fits(first, &RV770, 3 * PICTURE, 0);
        let some = texture!(texture; base_array: 2);
        fits(some, &RV770, 3 * PICTURE, 0);
        bad(texture!(texture; base_array: 3), &RV770, 5, TextureLayers);
    }
    // More bytes than 32 bits can say.
    let all = texture!(PLAIN; width: 8192, pitch: 8192, height: 8192, depth: 8192, format: 34);
    let all = texture!(all; dimensions: 5);
    fits(all, &RV770, 8192 * 8192 * 8192 * 16, 0);
}

#[test]
fn every_face_counts() {
    let cube = texture!(PLAIN; dimensions: 3, last_array: 5);
    fits(cube, &R600, 6 * PICTURE, 0);
    fits(cube, &RV770, 8 * PICTURE, 0);
    let mips = texture!(cube; last_level: 1);
    fits(mips, &R600, 6 * PICTURE, 6 * 64 * 32 * 4);
    fits(mips, &RV770, 8 * PICTURE, 8 * 64 * 32 * 4);
    let more = texture!(cube; last_array: 8);
    fits(more, &RV770, 9 * PICTURE, 0);
    bad(texture!(cube; depth: 2), &RV770, 1, CubeLayers);
}
