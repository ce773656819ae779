// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Textures: samples.

use r600::portable::checker::reason::Reason::*;

use crate::{
    bad, fits,
    support::{resources::PLAIN, RV770},
    texture, PICTURE,
};

#[test]
fn samples_lie_in_blocks() {
    for dimensions in [6, 7] {
        let texture = texture!(PLAIN; dimensions, mode: 4);
        for (last_level, samples) in [(0, 1), (1, 2), (2, 4), (3, 8)] {
            let texture = texture!(texture; last_level);
            fits(texture, &RV770, samples * PICTURE, 0);
            // The block has all samples.
            let unit = 0x40 * samples as u32;
            let moved = texture!(texture; base: unit);
            fits(moved, &RV770, 2 * samples * PICTURE, 0);
            let moved = texture!(texture; base: unit / 2);
            bad(moved, &RV770, 2, TiledOffset);
        }
        let layers = texture!(texture; depth: 3, last_level: 1);
        fits(layers, &RV770, 3 * 2 * PICTURE, 0);
        for last_level in [4, 15] {
            let more = texture!(texture; last_level);
            bad(more, &RV770, 5, TextureSamples);
        }
        for mode in [0, 1, 2] {
            let other = texture!(texture; mode, last_level: 1);
            bad(other, &RV770, 0, SampleTiling);
            fits(texture!(other; last_level: 0), &RV770, PICTURE, 0);
        }
        let later = texture!(texture; base_level: 1, last_level: 1);
        bad(later, &RV770, 4, TextureLevels);
    }
}
