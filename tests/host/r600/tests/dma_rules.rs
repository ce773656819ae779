// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The checker of streams for the DMA ring: for each rule a stream that passes, and one that differs in one dword and is
//! refused at the right place.

mod support;

use r600::portable::checker::{
    check_dma,
    reason::{Reason, Reason::*},
    Chip,
};
use support::{confined, footprint, passes, run, R600, RV610, RV770};

const NOP: u32 = 0xf000_0000;
const PAGE: u64 = 4096;

/// Check that `words` is refused for `reason` at dword `position`.
#[track_caller]
fn refused(words: &[u32], sizes: &[u64], chip: &Chip, position: u32, reason: Reason) {
    let refusal = run(check_dma, words, sizes, chip).expect_err("refuses it");
    assert_eq!((refusal.reason, refusal.position), (reason, position));
}

/// Return `words` with another dword at `at`.
fn with(words: &[u32], at: usize, word: u32) -> Vec<u32> {
    let mut words = words.to_vec();
    words[at] = word;
    words
}

#[test]
fn fillers_have_one_dword_and_no_count() {
    passes(check_dma, &[], &[], &RV770);
    passes(check_dma, &[NOP; 8], &[], &RV770);
    refused(&[NOP, NOP | 1], &[], &RV770, 1, ReservedHeaderBits);
    refused(&[NOP | (1 << 23)], &[], &RV770, 0, ReservedHeaderBits);
    refused(&[NOP | (1 << 27)], &[], &RV770, 0, ReservedHeaderBits);
}

#[test]
fn what_the_kernel_alone_may_send() {
    for operation in 4..8 {
        let words = [NOP, operation << 28, 0, 0, 0];
        refused(&words, &[PAGE], &RV770, 1, ForbiddenOperation);
    }
    for operation in [0, 1, 8, 9, 10, 11, 12, 14] {
        refused(&[operation << 28], &[PAGE], &RV770, 0, UnknownOperation);
    }
}

#[test]
fn packets_end_in_the_stream() {
    let write = [0x2000_0002, 0, 0, 1, 2];
    assert_eq!(passes(check_dma, &write, &[PAGE], &RV770), [(false, true)]);
    for length in 1..write.len() {
        refused(&write[..length], &[PAGE], &RV770, 0, Truncated);
    }
    let fill = [0xd000_0001, 0, 7, 0];
    let copy = [0x3000_0001, 0, 0, 0, 0];
    let tiled = [0x3080_0001, 0, 0, 0, 0, 0, 0];
    for words in [&fill[..], &copy, &tiled] {
        let sizes = [PAGE, PAGE];
        refused(&words[..words.len() - 1], &sizes, &RV770, 0, Truncated);
    }
    // The field of the packet that calls a stream has 16 bits.
    passes(check_dma, &vec![NOP; 0xffff], &[], &RV770);
    refused(&vec![NOP; 0x1_0000], &[], &RV770, 0, StreamTooLong);
}

#[test]
fn writes_stay_in_their_object() {
    let write = [NOP, 0x2000_0002, 0xff8, 0, 1, 2];
    assert_eq!(passes(check_dma, &write, &[PAGE], &RV770), [(false, true)]);
    refused(
        &with(&write, 2, 0xffc),
        &[PAGE],
        &RV770,
        2,
        DestinationBounds,
    );
    refused(&with(&write, 2, 0xff9), &[PAGE], &RV770, 2, Unaligned);
    refused(&with(&write, 3, 1), &[PAGE], &RV770, 2, DestinationBounds);
    refused(&with(&write, 3, 0x100), &[PAGE], &RV770, 2, ForbiddenBits);
    refused(
        &with(&write, 1, 0x2040_0002),
        &[PAGE],
        &RV770,
        1,
        ReservedHeaderBits,
    );
    refused(&with(&write, 1, 0x2000_0000), &[PAGE], &RV770, 1, Nothing);
    refused(&write, &[], &RV770, 2, NoObject);
}

#[test]
fn fills_stay_in_their_object_and_are_of_r7xx() {
    let fill = [0xd000_0400, 0x1000, 7, 0];
    let sizes = [2 * PAGE];
    assert_eq!(passes(check_dma, &fill, &sizes, &RV770), [(false, true)]);
    refused(
        &with(&fill, 0, 0xd000_0401),
        &sizes,
        &RV770,
        1,
        DestinationBounds,
    );
    refused(
        &with(&fill, 1, 0x1004),
        &sizes,
        &RV770,
        1,
        DestinationBounds,
    );
    refused(
        &with(&fill, 3, 0x1_0000),
        &sizes,
        &RV770,
        1,
        DestinationBounds,
    );
    refused(&with(&fill, 3, 1), &sizes, &RV770, 3, ForbiddenBits);
    refused(
        &with(&fill, 0, 0xd080_0400),
        &sizes,
        &RV770,
        0,
        ReservedHeaderBits,
    );
    refused(&fill, &sizes, &R600, 0, OtherGeneration);
    // 32 bits would wrap, to a sum that fits.
    let words = [0xd000_ffff, 0xffff_fffc, 7, 0];
    refused(&words, &[0x4_0000], &RV770, 1, DestinationBounds);
}

/// The source's entry comes first in the list, and the destination's address in the packet.
#[test]
fn copies_take_their_source_first() {
    let copy = [0x3000_0010, 0x40, 0x80, 0, 0];
    let access = passes(check_dma, &copy, &[PAGE, PAGE], &RV770);
    assert_eq!(access, [(true, false), (false, true)]);
    let checked = run(check_dma, &copy, &[PAGE, PAGE], &RV770).unwrap();
    let placed = checked.placed(&[0x12_ffff_f000, 0x34_0000_1000]);
    assert_eq!(placed, [0x3000_0010, 0x1040, 0xffff_f080, 0x34, 0x12]);
    refused(&copy, &[0xbc, PAGE], &RV770, 2, SourceBounds);
    refused(&copy, &[0xc0, 0x7c], &RV770, 1, DestinationBounds);
    passes(check_dma, &copy, &[0xc0, 0x80], &RV770);
    refused(&copy, &[PAGE], &RV770, 1, NoObject);
    refused(
        &with(&copy, 3, 0x100),
        &[PAGE, PAGE],
        &RV770,
        1,
        ForbiddenBits,
    );
    refused(
        &with(&copy, 4, 0x100),
        &[PAGE, PAGE],
        &RV770,
        2,
        ForbiddenBits,
    );
    refused(&with(&copy, 2, 0x82), &[PAGE, PAGE], &RV770, 2, Unaligned);
}

#[test]
fn copies_of_r6xx_have_both_upper_parts_in_one_dword() {
    let copy = [0x3000_0010, 0x40, 0x80, 0];
    let checked = run(check_dma, &copy, &[PAGE, PAGE], &R600).unwrap();
    let placed = checked.placed(&[0x12_ffff_f000, 0x34_0000_1000]);
    assert_eq!(placed, [0x3000_0010, 0x1040, 0xffff_f080, 0x34_0012]);
    refused(&with(&copy, 3, 1), &[PAGE, PAGE], &R600, 2, SourceBounds);
    refused(
        &with(&copy, 3, 0x1_0000),
        &[PAGE, PAGE],
        &R600,
        1,
        DestinationBounds,
    );
    refused(
        &with(&copy, 3, 0x100),
        &[PAGE, PAGE],
        &R600,
        3,
        ForbiddenBits,
    );
    let long = [0x3000_ffff, 0, 0, 0];
    refused(&long, &[1 << 20, 1 << 20], &R600, 0, CountTooLarge);
    passes(
        check_dma,
        &with(&long, 0, 0x3000_fffe),
        &[1 << 20, 1 << 20],
        &R600,
    );
}

/// An address that crosses 4 GiB is carried into the upper part.
#[test]
fn carries_are_not_lost() {
    let fill = [0xd000_0001, 0xf000, 7, 0];
    let checked = run(check_dma, &fill, &[1 << 20], &RV770).unwrap();
    let placed = checked.placed(&[0x12_ffff_2000]);
    assert_eq!(placed, [0xd000_0001, 0x1000, 7, 0x13_0000]);
    let mut words = fill;
    let place =
        |base, words: &mut [u32]| r600::portable::checker::place(&checked.fixups[0], base, words);
    assert_eq!(place(0xff_ffff_2000, &mut words), None);
    assert_eq!(place(u64::MAX, &mut words), None);
    assert_eq!(place(0, &mut words[..2]), None);
    assert_eq!(words, fill);
}

/// Return a copy of 16 lines of the second of two slices, from line 16 on. The slices have 128 by 64 pixels of four
/// bytes, 2D-tiled on eight pipes and banks, from page 16 of the object on.
fn tiled(detile: bool) -> [u32; 8] {
    let info = 15 | (63 << 10) | (2 << 24) | (4 << 27) | (u32::from(detile) << 31);
    let slice = 1 | ((16 * 8 - 1) << 12);
    [NOP, 0x3080_0800, 0x100, info, slice, 16 << 17, 0x40, 0]
}

/// Bytes of the object: 64 KiB before the surface, and two slices.
const TILED: u64 = 0x1_0000 + 2 * 128 * 64 * 4;
/// Bytes of the linear side.
const LINEAR: u64 = 0x40 + 16 * 128 * 4;

#[test]
fn tiled_copies_go_both_ways() {
    let access = passes(check_dma, &tiled(true), &[TILED, LINEAR], &RV770);
    assert_eq!(access, [(true, false), (false, true)]);
    let access = passes(check_dma, &tiled(false), &[LINEAR, TILED], &RV770);
    assert_eq!(access, [(true, false), (false, true)]);
    for (detile, sizes) in [(true, [TILED, LINEAR]), (false, [LINEAR, TILED])] {
        let checked = run(check_dma, &tiled(detile), &sizes, &RV770).unwrap();
        confined(&checked, |words| footprint::dma(words, &RV770));
        let bases = [0x12_fffe_0000, 0x13_0001_0000];
        let (surface, line) = if detile { (0, 1) } else { (1, 0) };
        let placed = checked.placed(&bases);
        assert_eq!(u64::from(placed[2]) << 8, bases[surface] + 0x1_0000);
        assert_eq!(u64::from(placed[6]), (bases[line] + 0x40) & 0xffff_ffff);
        assert_eq!(u64::from(placed[7]), bases[line] >> 32);
    }
    let (surface, line) = ([TILED - 1, LINEAR], [TILED, LINEAR - 1]);
    refused(&tiled(true), &surface, &RV770, 2, TiledBounds);
    refused(&tiled(true), &line, &RV770, 6, DestinationBounds);
    refused(&tiled(false), &[LINEAR - 1, TILED], &RV770, 6, SourceBounds);
    refused(&tiled(false), &[LINEAR, TILED - 1], &RV770, 2, TiledBounds);
}

#[test]
fn tiled_surfaces_are_what_their_tiling_wants() {
    let good = tiled(true);
    let sizes = [1 << 30, 1 << 20];
    let bad = |at: usize, word: u32, position: u32, reason: Reason| {
        refused(&with(&good, at, word), &sizes, &RV770, position, reason);
    };
    let info = good[3];
    bad(3, info & !(15 << 27) | (3 << 27), 3, TilingMode);
    bad(3, info & !(7 << 24) | (5 << 24), 3, PixelSize);
    // Seven tiles of pitch.
    bad(3, info & !0x3ff | 6, 3, Pitch);
    // Blocks have 16 KiB.
    bad(2, 0x120, 2, TiledOffset);
    // A slice of one tile less, and one that is too small for 65 lines.
    bad(4, good[4] - (1 << 12), 4, SliceSize);
    bad(3, info + (1 << 10), 4, SliceSize);
    // Three blocks have room for 96 lines of two blocks each, but such lines are in four blocks.
    let three = with(&good, 4, 1 | ((3 * 64 - 1) << 12));
    let lines = with(&three, 3, (info & !(0x3fff << 10)) | (95 << 10));
    refused(&lines, &sizes, &RV770, 4, SliceSize);
    // More than is needed, but not whole blocks.
    bad(4, good[4] + (1 << 12), 4, SliceSize);
    passes(
        check_dma,
        &with(&good, 4, good[4] + (64 << 12)),
        &sizes,
        &RV770,
    );
    // Pixels and lines within a tile; a column behind the pitch.
    bad(5, good[5] | (4 << 3), 5, TilePlace);
    bad(5, good[5] + (1 << 17), 5, TilePlace);
    bad(5, good[5] | (128 << 3), 5, TilePlace);
    bad(5, good[5] | 1, 5, ForbiddenBits);
    // 16 lines from line 56 on, and one dword too much from line 48 on.
    bad(5, 56 << 17, 2, TiledLines);
    passes(check_dma, &with(&good, 5, 48 << 17), &sizes, &RV770);
    let last = with(&good, 5, 48 << 17);
    refused(&with(&last, 1, 0x3080_0801), &sizes, &RV770, 2, TiledLines);
    // From the second column of tiles on, the last pixels are in one more line.
    refused(
        &with(&last, 5, (48 << 17) | (8 << 3)),
        &sizes,
        &RV770,
        2,
        TiledLines,
    );
    // A third slice.
    let object = [TILED, LINEAR];
    refused(
        &with(&good, 4, good[4] + 1),
        &object,
        &RV770,
        2,
        TiledBounds,
    );
    passes(check_dma, &with(&good, 4, good[4] - 1), &object, &RV770);
    // The height is that of whole tiles.
    passes(check_dma, &with(&last, 3, info - (7 << 10)), &sizes, &RV770);
    refused(
        &with(&last, 3, info - (8 << 10)),
        &sizes,
        &RV770,
        2,
        TiledLines,
    );
}

/// Where the object lies is not known before. It must be aligned as the surface is.
#[test]
fn tiled_surfaces_lie_at_multiples_of_their_blocks() {
    let checked = run(check_dma, &tiled(true), &[TILED, LINEAR], &RV770).unwrap();
    let place = |base| {
        let mut words = checked.words.clone();
        r600::portable::checker::place(&checked.fixups[0], base, &mut words)
    };
    assert!(place(0x12_0000_4000).is_some());
    for base in [0x12_0000_1000, 0x12_0000_2000, 0xff_ffff_0000] {
        assert_eq!(place(base), None, "{base:#x}");
    }
}

/// Every tiling, for chips with many pipes and with one: the smallest surface passes, and half a pitch does not.
#[test]
fn pitches_of_all_tilings() {
    for (chip, mode, bytes, pitch, height) in [
        (RV770, 0, 4u32, 8, 8),
        (RV770, 1, 1, 256, 8),
        (RV770, 1, 16, 64, 8),
        (RV770, 2, 1, 32, 8),
        (RV770, 2, 4, 8, 8),
        (RV770, 4, 1, 256, 64),
        (RV770, 4, 4, 64, 64),
        (RV770, 4, 16, 64, 64),
        (RV610, 4, 1, 128, 8),
        (RV610, 4, 4, 32, 8),
    ] {
        let surface = |pitch: u32| {
            let info =
                (pitch / 8 - 1) | ((height - 1) << 10) | (bytes.ilog2() << 24) | (mode << 27);
            let slice = (pitch * height / 64 - 1) << 12;
            let linear = pitch * height * bytes / 4;
            [0x3080_0000 | linear, 0, info, slice, 0, 0, 0]
        };
        let size = u64::from(pitch * height * bytes);
        let words = surface(pitch);
        let checked = run(check_dma, &words, &[size, size], &chip).expect("passes");
        confined(&checked, |words| footprint::dma(words, &chip));
        refused(&words, &[size, size - 1], &chip, 1, TiledBounds);
        if pitch > 8 {
            let words = surface(pitch / 2);
            refused(&words, &[size, size], &chip, 2, Pitch);
        }
    }
}

#[test]
fn tiled_writes() {
    let mut words = tiled(false).to_vec();
    words[1] = 0x2080_0800;
    words.truncate(6);
    words.extend([0; 0x800]);
    assert_eq!(passes(check_dma, &words, &[TILED], &RV770), [(false, true)]);
    refused(&words, &[TILED - 1], &RV770, 2, TiledBounds);
    refused(&words[..words.len() - 1], &[TILED], &RV770, 1, Truncated);
    let detile = words[3] | (1 << 31);
    refused(&with(&words, 3, detile), &[TILED], &RV770, 3, ForbiddenBits);
}

/// Each packet takes its own entries, also of one object.
#[test]
fn entries_are_taken_in_order() {
    let fill = [0xd000_0001, 0, 7, 0];
    let words = [fill, fill, fill].concat();
    let checked = run(check_dma, &words, &[PAGE; 3], &RV770).unwrap();
    let objects: Vec<_> = checked.fixups.iter().map(|fixup| fixup.object).collect();
    assert_eq!(objects, [0, 1, 2]);
    refused(&words, &[PAGE; 2], &RV770, 9, NoObject);
}

/// A chip that the driver could not read has no tiling.
#[test]
fn nothing_is_tiled_without_facts() {
    let chip = Chip {
        pipes: 0,
        banks: 0,
        group_bytes: 0,
        ..RV770
    };
    refused(&tiled(true), &[TILED, LINEAR], &chip, 3, Pitch);
}
