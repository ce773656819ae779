// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What the demos have in common, whatever draws their pictures: a font, a gem, the file of a picture, and what their
//! programs say.
//!
//! It knows no driver and no chip.

pub mod file;
pub mod font;
pub mod gem;
pub mod program;

/// A run of pixels: row, first column, first column behind it.
pub type Span = (i32, i32, i32);

/// Blend two colours, `t` of 256 parts of the second.
pub fn mix(a: u32, b: u32, t: u32) -> u32 {
    (0..3).fold(0, |out, i| {
        let channel = |c: u32| (c >> (8 * i)) & 0xff;
        out | (((channel(a) * (256 - t) + channel(b) * t) / 256) << (8 * i))
    })
}
