// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Colour targets, CMASK and FMASK.

use crate::stream::{color_info, object::*, rv770, scene, size, view, RGBA, TARGET, TILED};
use crate::support::{CHIPS, R600, RV770};
use r600::portable::checker::{place, reason::Reason::*, Chip};

const BASE: u32 = 0x28040;
const SIZE: u32 = 0x28060;
const VIEW: u32 = 0x28080;
const INFO: u32 = 0x280a0;
const TILE: u32 = 0x280c0;
const FRAG: u32 = 0x280e0;
const MASK: u32 = 0x28100;
const TARGET_MASK: u32 = 0x28238;
const CONTROL: u32 = 0x28808;
const SAMPLES: u32 = 0x28c04;

/// An object that is neither a target nor used otherwise.
const SPARE: u32 = MORE;

#[test]
fn a_draw_needs_the_formats_of_all_targets_the_mask_and_the_operation() {
    rv770().passes();
    for target in 0..8 {
        rv770().without(INFO + 4 * target).refused(NoColorInfo);
    }
    rv770().without(TARGET_MASK).refused(NoTargetMask);
    rv770().without(CONTROL).refused(NoColorControl);
    for register in [BASE, SIZE, VIEW] {
        rv770().without(register).refused(NoColorBuffer);
    }
}

#[test]
fn targets_end_in_their_object() {
    for (_, chip) in CHIPS {
        let access = scene(&chip).needs(COLOR, TARGET, ColorBounds);
        assert_eq!(access, (false, true));
    }
    // Slices count from the first one on, whichever of them is drawn to.
    let slices = rv770().with(VIEW, view(2, 4));
    slices.needs(COLOR, 5 * TARGET, ColorBounds);
    // So does an offset, which is a multiple of a block here.
    let behind = rv770().with(BASE, (TARGET >> 8) as u32);
    behind.needs(COLOR, 2 * TARGET, ColorBounds);
    // The largest that the fields can say does not wrap.
    let huge = rv770()
        .with(INFO, color_info(0x22, TILED))
        .with(SIZE, size(1024, 1 << 20))
        .with(VIEW, view(0, 2047))
        .with(SAMPLES, 3);
    huge.sized(COLOR, u64::from(u32::MAX)).refused(ColorBounds);
}

#[test]
fn linear_targets_count_all_slices() {
    for mode in [0, 1] {
        let linear = rv770().with(INFO, color_info(RGBA, mode));
        linear.needs(COLOR, TARGET, ColorBounds);
        linear
            .with(VIEW, view(0, 2))
            .needs(COLOR, 3 * TARGET, ColorBounds);
    }
}

#[test]
fn each_format_has_its_size() {
    let formats = [
        (1..=3, 1),
        (5..=12, 2),
        (13..=27, 4),
        (28..=32, 8),
        (34..=35, 16),
    ];
    for (formats, bytes) in formats {
        for format in formats {
            // A linear target of whole groups whatever the size of a pixel is.
            let stream = rv770()
                .with(INFO, color_info(format, 1))
                .with(SIZE, size(32, 256));
            stream.needs(COLOR, 256 * 64 * bytes, ColorBounds);
        }
    }
    for format in [4, 33, 36, 44, 49, 63] {
        rv770()
            .with(INFO, color_info(format, TILED))
            .refused_at(INFO, ColorFormat);
    }
}

#[test]
fn samples_take_their_place() {
    for log2 in 0..4 {
        let stream = rv770().with(SAMPLES, log2);
        let bytes = TARGET << log2;
        let stream = stream.sized(DEPTH, bytes);
        stream.needs(COLOR, bytes, ColorBounds);
    }
    // Nothing public says how samples lie in other tilings.
    for mode in [0, 1, 2] {
        rv770()
            .with(INFO, color_info(RGBA, mode))
            .with(SAMPLES, 1)
            .sized(COLOR, 1 << 20)
            .refused(SampleTiling);
    }
}

#[test]
fn targets_are_what_their_tiling_wants() {
    let stream = rv770().sized(COLOR, 1 << 20);
    stream.with(INFO, color_info(RGBA, 3)).refused(TilingMode);
    stream.with(INFO, color_info(RGBA, 5)).refused(TilingMode);
    stream.with(SIZE, size(9, 81)).refused(Pitch);
    stream.with(SIZE, size(8, 72)).refused(SliceSize);
    stream.with(BASE, 1).refused(TiledOffset);
    stream.with(BASE, (TARGET >> 8) as u32).passes();
    // With 1D tiling a tile is enough.
    let tiles = stream.with(INFO, color_info(RGBA, 2));
    tiles.with(SIZE, size(8, 72)).passes();
    tiles.with(BASE, 1).passes();
}

/// The address that an object gets may not be the multiple that its size promised.
#[test]
fn the_final_address_is_a_multiple_of_a_block() {
    let checked = rv770().passes();
    let words = rv770().words();
    let fixup = checked
        .fixups
        .iter()
        .filter(|fixup| fixup.object == COLOR)
        .find(|fixup| words[fixup.dword as usize - 1] == (BASE - 0x28000) / 4)
        .expect("the address of the target");
    assert!(place(fixup, TARGET, &mut words.clone()).is_some());
    for base in [4096, 8192, TARGET + 4096] {
        assert!(place(fixup, base, &mut words.clone()).is_none());
    }
}

#[test]
fn masked_targets_need_nothing() {
    // Blending with two sources names the format of a second target that is not there.
    let second = INFO + 4;
    let stream = rv770().with(second, color_info(RGBA, TILED));
    stream.passes();
    stream.with(TARGET_MASK, 0x1f).refused(NoColorBuffer);
    // Without any component the first needs nothing either, and is not accessed.
    let nothing = rv770().with(TARGET_MASK, 0).without(BASE).without(FRAG);
    let checked = nothing.without(TILE).passes();
    assert!(!checked.objects[COLOR as usize].access.writes);
    // Nor does it with the operation that writes nothing.
    stream.with(CONTROL, 0xcc_0010).passes();
    // Each other operation reads or writes what is masked.
    for op in 2..8 {
        stream
            .with(CONTROL, 0xcc_0000 | (op << 4))
            .refused(NoColorBuffer);
    }
    // Each target has four bits of the mask.
    for target in 1..8 {
        let stream = rv770().with(INFO + 4 * target, color_info(RGBA, TILED));
        for component in 0..4 {
            let bit = 1 << (4 * target + component);
            stream.with(TARGET_MASK, bit).refused(NoColorBuffer);
        }
    }
}

#[test]
fn a_resolved_target_has_one_sample() {
    let first = rv770().sized(COLOR, TARGET * 4).sized(DEPTH, TARGET * 4);
    let stream = first
        .with(SAMPLES, 2)
        .with(CONTROL, 0xcc_0070)
        .with(INFO + 4, color_info(RGBA, TILED));
    let target = crate::stream::Stream::new(&RV770)
        .at(BASE + 4, 0, SPARE)
        .set(SIZE + 4, size(8, 64))
        .set(VIEW + 4, 0);
    let stream = stream.before(0x28c04, target);
    let access = stream.needs(SPARE, TARGET, ColorBounds);
    assert_eq!(access, (false, true));
    // While samples are not resolved, it has as many as the first.
    stream
        .with(CONTROL, 0xcc_0000)
        .with(TARGET_MASK, 0xff)
        .needs(SPARE, TARGET * 4, ColorBounds);
    // Only the second target has one.
    stream.needs(COLOR, TARGET * 4, ColorBounds);
}

#[test]
fn the_first_slice_is_not_behind_the_last() {
    let stream = rv770().sized(COLOR, 1 << 20);
    stream.with(VIEW, view(3, 3)).passes();
    stream.with(VIEW, view(4, 3)).refused(SliceOrder);
}

#[test]
fn several_chips_do_not_share_a_target() {
    rv770()
        .with(INFO, color_info(RGBA, TILED) | (1 << 26))
        .refused_at(INFO, RegisterBits);
}

/// Return a target with several samples and its CMASK and FMASK, behind each other in object `SPARE`.
fn masks(chip: &Chip, log2: u32, mode: u32) -> crate::stream::Stream {
    scene(chip)
        .sized(COLOR, TARGET << log2)
        .sized(DEPTH, TARGET << log2)
        .with(SAMPLES, log2)
        .with(INFO, color_info(RGBA, TILED) | (mode << 18))
        .with(MASK, 63 << 12)
        .with(TILE, 64)
        .with(FRAG, 128)
        .dword(TILE, 4, SPARE * 4)
        .dword(FRAG, 4, SPARE * 4)
}

#[test]
fn fmask_ends_in_its_object() {
    for (_, chip) in CHIPS {
        for (log2, bits) in [(1, 2), (2, 8), (3, 24)] {
            // 64 tiles of 64 pixels.
            let bytes = 64 * 64 * bits / 8;
            let stream = masks(&chip, log2, 2);
            let access = stream.needs(SPARE, 128 * 256 + bytes, FmaskBounds);
            assert_eq!(access, (false, true));
            let slices = stream.with(VIEW, view(0, 2)).sized(COLOR, 1 << 20);
            slices.needs(SPARE, 128 * 256 + 3 * bytes, FmaskBounds);
        }
    }
    // What is not used is not accessed.
    masks(&RV770, 1, 0).sized(SPARE, 128 * 256 + 1).passes();
    masks(&RV770, 1, 1).sized(SPARE, 128 * 256 + 1).passes();
    masks(&RV770, 1, 3).refused(TileMode);
}

#[test]
fn cmask_ends_in_its_object() {
    for (_, chip) in CHIPS {
        // Behind the FMASK, four blocks of 128 bytes.
        let stream = masks(&chip, 1, 2).with(MASK, (63 << 12) | 3);
        let stream = stream.with(TILE, 256).with(FRAG, 0);
        let access = stream.needs(SPARE, 256 * 256 + 4 * 128, CmaskBounds);
        assert_eq!(access, (false, true));
        let slices = stream.with(VIEW, view(0, 4)).sized(COLOR, 1 << 20);
        slices.needs(SPARE, 256 * 256 + 20 * 128, CmaskBounds);
        // With CMASK alone.
        let stream = stream.with(INFO, color_info(RGBA, TILED) | (1 << 18));
        stream.needs(SPARE, 256 * 256 + 4 * 128, CmaskBounds);
    }
}

#[test]
fn masks_are_stated() {
    let stream = masks(&RV770, 1, 2);
    stream.passes();
    for register in [TILE, FRAG, MASK] {
        stream.without(register).refused(NoColorMasks);
    }
    let cmask = masks(&RV770, 1, 1);
    cmask.without(FRAG).passes();
    for register in [TILE, MASK] {
        cmask.without(register).refused(NoColorMasks);
    }
}

/// CMASK begins in the first pipe, FMASK in the first pipe and bank.
#[test]
fn masks_lie_at_multiples_of_what_the_channels_hold() {
    for chip in [RV770, R600] {
        let stream = masks(&chip, 1, 2);
        stream.with(TILE, 8).passes();
        stream.with(TILE, 4).refused(TiledOffset);
        stream.with(FRAG, 64).passes();
        stream.with(FRAG, 32).refused(TiledOffset);
    }
}

#[test]
fn addresses_have_markers() {
    use r600::portable::checker::reason::Reason;
    for register in [BASE, TILE, FRAG] {
        // Behind the offset there is another packet instead of a marker.
        let stream = rv770().dword(register, 3, 0xc000_2f00);
        stream.refused_at(register, MissingRelocation);
        let stream = rv770().dword(register, 4, 100 * 4);
        stream.refused_at(register, BadRelocation);
        let beyond: Reason = OffsetBeyondObject;
        let stream = rv770().with(register, (TARGET >> 8) as u32);
        stream.refused_at(register, beyond);
    }
}

/// A draw is judged by the state of its time.
#[test]
fn targets_are_judged_again_when_they_change() {
    let twice = rv770().op(crate::stream::DRAW, &[3, 2], &[]);
    twice.passes();
    let larger = crate::stream::Stream::new(&RV770).set(SIZE, size(8, 128));
    twice
        .before(crate::stream::DRAW, larger)
        .refused(ColorBounds);
    // Samples and operations change what is accessed, too.
    for (register, value) in [(SAMPLES, 1), (VIEW, view(0, 1))] {
        let other = crate::stream::Stream::new(&RV770).set(register, value);
        twice
            .before(crate::stream::DRAW, other)
            .refused(ColorBounds);
    }
}
