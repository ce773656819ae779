// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The frame buffer: how large it is, and what of it firmware's displays may show.
//!
//! Part I of the manual, which has the display's pipe, is not public. The start addresses of both displays are in Part II
//! (L119-133), and how long their pictures are is not. So the driver leaves alone as much as the largest mode can show.

use core::ops::Range;

/// Offset of the word of function 3 of the host bridge that has the size (decision 9).
pub const SIZE_OFFSET: u8 = 0xa0;

/// Where the size is in the word.
const SIZE_SHIFT: u32 = 12;
const SIZE_MASK: u32 = 7;
/// Code 1 is so many bytes, and each next one twice as many.
const LEAST: u64 = 8 << 20;

/// The most bytes that a display shows: 2048 x 1536 pixels of 32 bits, and more.
const PICTURE: u64 = 16 << 20;

/// Return the bytes of the frame buffer by the host bridge's word. `None` if it has no code.
pub const fn bytes(word: u16) -> Option<u64> {
    match (word as u32 >> SIZE_SHIFT) & SIZE_MASK {
        0 => None,
        code => Some(LEAST << code.wrapping_sub(1)),
    }
}

/// Return the ranges that displays with these start addresses may show, in a frame buffer of `bytes`. They do not overlap.
/// Together they are at most half of it. Unused entries are empty.
pub fn shown(starts: [u64; 2], bytes: u64) -> [Range<u64>; 4] {
    let most = PICTURE.min(bytes / 4);
    let from = |start: u64| {
        let start = start.min(bytes);
        start..start.saturating_add(most).min(bytes)
    };
    let [first, second] = starts.map(from);
    // Where both begin in one picture, it is one range.
    if first.start <= second.end && second.start <= first.end {
        let both = first.start.min(second.start)..first.end.max(second.end);
        return [both, 0..0, 0..0, 0..0];
    }
    [first, second, 0..0, 0..0]
}
