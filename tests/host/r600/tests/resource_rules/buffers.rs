// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Buffers: what of an object they have, and their bits.

use r600::portable::checker::{check_gfx, reason::Reason::*};

use crate::{
    refused,
    support::{
        passes,
        resources::{buffer, set_resource},
        run_any, RV770,
    },
    PAGE,
};

#[test]
fn buffers_lie_in_their_object() {
    let at = |offset, size| set_resource(160, &[buffer(offset, size, 16)], &[0]);
    let sizes = |words: &[u32], size| {
        let checked = run_any(check_gfx, words, &[size], &RV770).expect("lets it through");
        checked.words[3]
    };
    assert_eq!(sizes(&at(0, 0xfff), PAGE), 0xfff);
    assert_eq!(sizes(&at(1, 0xffe), PAGE), 0xffe);
    assert_eq!(sizes(&at(0, u32::MAX), 1 << 32), u32::MAX);
    assert_eq!(sizes(&at(0xff, 0xfff), 1 << 40), 0xfff);
    // 40 bits.
    let far = (1 << 40) - 16;
    assert_eq!(sizes(&at(far, 15), 1 << 40), 15);
    refused(&at(far, 15), &[far], &RV770, 2, BufferBounds);
    refused(&at(1 << 32, 15), &[16], &RV770, 2, BufferBounds);
    // What is too large is made smaller, to the last byte.
    assert_eq!(sizes(&at(0, 0x1000), PAGE), 0xfff);
    assert_eq!(sizes(&at(0xff0, u32::MAX), PAGE), 0xf);
    assert_eq!(sizes(&at(0xfff, 1), PAGE), 0);
    assert_eq!(sizes(&at(1 << 39, u32::MAX), (1 << 39) + 1), 0);
    // Nothing is left.
    for size in [0, 15, u32::MAX] {
        refused(&at(PAGE, size), &[PAGE], &RV770, 2, BufferBounds);
        refused(&at(PAGE + 1, size), &[PAGE], &RV770, 2, BufferBounds);
        refused(&at(0, size), &[0], &RV770, 2, BufferBounds);
    }
}

#[test]
fn buffers_have_no_other_bits() {
    let good = buffer(0, 15, 16);
    let with = |dword: usize, bits: u32| {
        let mut words = good;
        words[dword] |= bits;
        set_resource(0, &[words], &[0])
    };
    // Any format, clamp and stride, and the size of requests.
    passes(check_gfx, &with(2, 0x3fff_ff00), &[16], &RV770);
    passes(check_gfx, &with(3, 3), &[16], &RV770);
    for bit in 30..32 {
        refused(&with(2, 1 << bit), &[16], &RV770, 4, ByteOrder);
    }
    for bit in 2..32 {
        refused(&with(3, 1 << bit), &[16], &RV770, 5, ForbiddenBits);
    }
    for bit in 0..32 {
        refused(&with(4, 1 << bit), &[16], &RV770, 6, ForbiddenBits);
        refused(&with(5, 1 << bit), &[16], &RV770, 7, ForbiddenBits);
    }
    for bit in 0..30 {
        refused(&with(6, 1 << bit), &[16], &RV770, 8, ForbiddenBits);
    }
}
