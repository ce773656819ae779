// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Resources, samplers and constants: for each rule a stream that passes, and one that differs and is refused at the
//! right place.

#[path = "../support/mod.rs"]
mod support;

use r600::portable::checker::{
    check_gfx,
    reason::{Reason, Reason::*},
    Chip,
};
use support::{
    passes,
    resources::{set_resource, Texture, PLAIN},
    run_any, RV770,
};

/// Return a texture as another one, with some fields of its own.
macro_rules! texture {
    ($of:expr; $($field:ident $(: $value:expr)?),+) => {
        $crate::support::resources::Texture { $($field $(: $value)?,)+ ..$of }
    };
}
use texture;

mod buffers;
mod constants;
mod formats;
mod layers;
mod levels;
mod pitches;
mod samples;
mod slots;

const PAGE: u64 = 4096;
/// Bytes of `PLAIN`.
const PICTURE: u64 = 64 * 64 * 4;
/// Sizes of objects that have room for everything.
const ROOM: [u64; 2] = [1 << 40; 2];

/// Check that `words` is refused for `reason` at dword `position`.
#[track_caller]
fn refused(words: &[u32], sizes: &[u64], chip: &Chip, position: u32, reason: Reason) {
    let refusal = run_any(check_gfx, words, sizes, chip).expect_err("refuses it");
    assert_eq!((refusal.reason, refusal.position), (reason, position));
}

/// Check that a texture passes whose levels lie in objects of just these sizes, and is refused with one byte less in
/// either.
#[track_caller]
fn fits(texture: Texture, chip: &Chip, base: u64, mips: u64) {
    let words = set_resource(0, &[texture.words()], &[0, 1]);
    let access = passes(check_gfx, &words, &[base, mips], chip);
    assert_eq!(access, [(true, false), (true, false)]);
    refused(&words, &[base - 1, mips], chip, 4, TextureBounds);
    if mips > 0 {
        refused(&words, &[base, mips - 1], chip, 5, MipBounds);
    }
}

/// Check that a texture is refused because of dword `dword`.
#[track_caller]
fn bad(texture: Texture, chip: &Chip, dword: u32, reason: Reason) {
    let words = set_resource(0, &[texture.words()], &[0, 1]);
    refused(&words, &ROOM, chip, 2 + dword, reason);
}

/// Check that `PLAIN` is refused with other bits in dword `dword`.
#[track_caller]
fn bad_bits(dword: usize, bits: u32, reason: Reason) {
    let mut words = PLAIN.words();
    words[dword] |= bits;
    let words = set_resource(0, &[words], &[0, 1]);
    refused(&words, &ROOM, &RV770, 2 + dword as u32, reason);
}
