// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Textures: what their tiling wants of pitch, height and address.

use r600::portable::checker::{check_gfx, reason::Reason::*};

use crate::{
    bad, fits,
    support::{
        passes,
        resources::{set_resource, PLAIN},
        run_any, RV610, RV770,
    },
    texture, PICTURE,
};

#[test]
fn pitches_that_the_tiling_does_not_have() {
    for (mode, format, unit, chip) in [
        (0, 26, 8, RV770),
        (1, 26, 64, RV770),
        (1, 1, 256, RV770),
        (2, 26, 8, RV770),
        (2, 1, 32, RV770),
        (4, 26, 64, RV770),
        (4, 1, 256, RV770),
        (4, 34, 64, RV770),
        (4, 26, 32, RV610),
        // Blocks: four texels each.
        (1, 49, 256, RV770),
        (2, 49, 32, RV770),
        (4, 49, 256, RV770),
        (1, 39, 128, RV770),
    ] {
        let texture = texture!(PLAIN; mode, format, pitch: unit, width: 8, height: 8);
        let words = set_resource(0, &[texture.words()], &[0, 1]);
        passes(check_gfx, &words, &[1 << 20; 2], &chip);
        for pitch in [unit * 2 - 8, unit + 8, unit / 2] {
            if pitch % unit != 0 && pitch % 8 == 0 {
                bad(texture!(texture; pitch), &chip, 0, Pitch);
            }
        }
    }
}

#[test]
fn lines_do_not_overlap() {
    fits(
        texture!(PLAIN; width: 64, pitch: 128),
        &RV770,
        2 * PICTURE,
        0,
    );
    bad(texture!(PLAIN; width: 65), &RV770, 0, TexturePitch);
    let blocks = texture!(PLAIN; format: 49, pitch: 256);
    bad(texture!(blocks; width: 257), &RV770, 0, TexturePitch);
    fits(texture!(blocks; width: 253), &RV770, 64 * 16 * 8, 0);
    let pairs = texture!(PLAIN; format: 40, pitch: 128);
    bad(texture!(pairs; width: 129), &RV770, 0, TexturePitch);
}

#[test]
fn heights_are_whole_blocks() {
    for (mode, lines, chip) in [
        (0, 33, RV770),
        (1, 33, RV770),
        (2, 40, RV770),
        (4, 64, RV770),
        (4, 40, RV610),
    ] {
        let texture = texture!(PLAIN; mode, height: 33);
        fits(texture, &chip, 64 * lines * 4, 0);
    }
    // Nine lines of blocks.
    let texture = texture!(PLAIN; format: 49, mode: 2, pitch: 256, height: 33);
    fits(texture, &RV770, 64 * 16 * 8, 0);
}

#[test]
fn tiled_textures_keep_their_alignment() {
    let texture = texture!(PLAIN; mode: 4, last_level: 6);
    let words = set_resource(0, &[texture.words()], &[0, 1]);
    let checked = run_any(check_gfx, &words, &[1 << 20; 2], &RV770).unwrap();
    // A block of 64 by 64 pixels.
    let place = |base| {
        let mut words = checked.words.clone();
        r600::portable::checker::place(&checked.fixups[0], base, &mut words)
    };
    assert_eq!(place(0x4000), Some(()));
    assert_eq!(place(0x2000), None);
    bad(texture!(texture; base: 1), &RV770, 2, TiledOffset);
    bad(texture!(texture; mips: 1), &RV770, 3, TiledOffset);
    bad(texture!(texture; base: 0x20), &RV770, 2, TiledOffset);
    fits(
        texture!(texture; base: 0x40, mips: 0x80, last_level: 0),
        &RV770,
        0x4000 + PICTURE,
        0x8000,
    );
    // On RV610 a block has 32 by 8 pixels.
    let small = texture!(PLAIN; mode: 4, base: 4);
    fits(small, &RV610, 0x400 + PICTURE, 0);
    bad(texture!(small; base: 2), &RV610, 2, TiledOffset);
}
