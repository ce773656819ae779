// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Textures: formats, tilings and bits that there are.

use r600::portable::checker::{check_gfx, reason::Reason::*};

use crate::{
    bad, bad_bits, fits,
    support::{
        passes,
        resources::{set_resource, PLAIN},
        RV770,
    },
    texture, PICTURE,
};

#[test]
fn formats_that_textures_do_not_have() {
    let sizes = [
        (1, 1),
        (5, 2),
        (26, 4),
        (39, 2),
        (40, 2),
        (29, 8),
        (34, 16),
        (47, 12),
        (48, 12),
    ];
    for (format, bytes) in sizes {
        let texture = texture!(PLAIN; format, pitch: 256);
        fits(texture, &RV770, 256 * 64 * bytes, 0);
    }
    for (format, bytes) in [(49, 8), (50, 16), (51, 16), (52, 8), (53, 16)] {
        let texture = texture!(PLAIN; format, pitch: 256);
        fits(texture, &RV770, 64 * 16 * bytes, 0);
    }
    for format in [
        0, 4, 33, 36, 37, 38, 41, 42, 44, 45, 46, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63,
    ] {
        bad(texture!(PLAIN; format), &RV770, 1, TextureFormat);
    }
}

#[test]
fn elements_of_twelve_bytes_lie_in_lines() {
    for mode in [0, 1] {
        let texture = texture!(PLAIN; format: 48, mode);
        fits(texture, &RV770, 64 * 64 * 12, 0);
    }
    for mode in [2, 4] {
        let texture = texture!(PLAIN; format: 48, mode);
        bad(texture, &RV770, 0, ElementTiling);
    }
    let wide = texture!(PLAIN; format: 48, pitch: 72);
    bad(wide, &RV770, 0, Pitch);
}

#[test]
fn tilings_that_do_not_exist() {
    for mode in [3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15] {
        bad(texture!(PLAIN; mode), &RV770, 0, TilingMode);
    }
}

#[test]
fn textures_have_no_other_bits() {
    for bit in 30..32 {
        bad_bits(5, 1 << bit, ForbiddenBits);
    }
    for bit in 9..30 {
        bad_bits(6, 1 << bit, ForbiddenBits);
    }
    bad_bits(6, 1 << 8, Interlaced);
    for bit in 12..14 {
        bad_bits(4, 1 << bit, ByteOrder);
    }
    // How texels become numbers, and in what order a tile has them.
    let mut words = PLAIN.words();
    words[0] |= 1 << 7;
    words[4] |= 0x0fff_cfff;
    words[6] |= 0xff;
    let words = set_resource(0, &[words], &[0, 1]);
    passes(check_gfx, &words, &[PICTURE, 0], &RV770);
}
