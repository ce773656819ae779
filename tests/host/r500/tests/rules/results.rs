// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What the checker hands back: buffers, fixups, tiling, access.

use super::{
    rule::{KEEP, PAGE},
    streams2d::*,
    support::*,
};
use r500::portable::{
    checker::{check, max_fixups, Fixup, FixupKind, Object, Options, Reason},
    pm4,
    regs::mmio,
};

#[test]
fn a_buffer_that_is_too_short_is_refused() {
    let stream = fill().stream;
    let length = stream.here();
    let mut objects = objects(&[16 * PAGE]);
    let mut try_with = |fixups: usize| {
        check(
            &mut stream.words.clone(),
            &mut objects,
            KEEP,
            &mut vec![Fixup::default(); fixups],
        )
        .map_err(|refusal| refusal.reason)
    };
    assert_eq!(try_with(1), Ok(1));
    assert_eq!(try_with(0), Err(Reason::TooManyFixups));
    assert!(max_fixups(length) >= 1);
}

/// The densest stream of addresses that there is fits the buffer that [`max_fixups`] asks for.
#[test]
fn fixups_fit_their_buffer() {
    let mut body = Stream::new();
    let count = 64;
    body.words(&[pm4::write_one(mmio::DST_PITCH_OFFSET, count)]);
    for _ in 0..count {
        body.words(&[surface(256, 0)]);
    }
    for _ in 0..count {
        body.marker(0);
    }
    let checked = run(&body.words, &objects(&[PAGE]), KEEP).unwrap();
    assert_eq!(checked.fixups.len(), count as usize);
}

#[test]
fn an_empty_stream_is_fine() {
    let checked = run(&[], &[], KEEP).unwrap();
    assert!(checked.words.is_empty() && checked.fixups.is_empty());
}

#[test]
fn a_fixup_adds_the_address() {
    let mut stream = fill().stream;
    stream.words[5] = surface(256, 3072);
    stream.words[11] = y_x(1, 1);
    let checked = run(&stream.words, &objects(&[16 * PAGE]), KEEP).unwrap();
    assert_eq!(
        checked.fixups,
        [Fixup {
            dword: 5,
            object: 0,
            kind: FixupKind::PitchOffset
        }]
    );
    let fixup = checked.fixups[0];
    let placed = fixup.apply(checked.words[5], 0x1234_5000).unwrap();
    assert_eq!(
        pitch_offset::OFFSET.get(placed),
        (0x1234_5000 + 3072) / 1024
    );
    assert_eq!(pitch_offset::PITCH.get(placed), 4);
    // Not a multiple of 1 KiB; beyond 4 GiB with the offset; beyond 4 GiB.
    assert_eq!(fixup.apply(checked.words[5], 0x1234_5200), None);
    assert_eq!(fixup.apply(checked.words[5], (1 << 32) - 2048), None);
    assert_eq!(fixup.apply(0, 1 << 32), None);
    assert_eq!(fixup.apply(0, u64::MAX & !1023), None);
    assert_eq!(fixup.apply(0, (1 << 32) - 1024), Some(0x3f_ffff));
}

/// Without KEEP_TILING the bits come from the object, as `radeon_drm.h` promises; with it, from the stream.
#[test]
fn tiling_comes_from_whom_the_flag_says() {
    let mut stream = fill().stream;
    stream.words[11] = y_x(8, 64);
    let mut tiled = objects(&[16 * PAGE]);
    tiled[0].tiling = 3;
    let both = pitch_offset::TILE_MACRO.mask() | pitch_offset::TILE_MICRO.mask();
    let word = |words: &[u32], objects: &[Object], keep_tiling| {
        run(
            words,
            objects,
            Options {
                keep_tiling,
                ..KEEP
            },
        )
        .unwrap()
        .words[5]
            & both
    };
    assert_eq!(word(&stream.words, &tiled, true), 0);
    assert_eq!(word(&stream.words, &tiled, false), both);
    stream.words[5] |= both;
    assert_eq!(word(&stream.words, &objects(&[16 * PAGE]), true), both);
    assert_eq!(word(&stream.words, &objects(&[16 * PAGE]), false), 0);
}

#[test]
fn access_says_what_was_done() {
    let (stream, ..) = copy();
    let checked = run(&stream.words, &objects(&[16 * PAGE, 16 * PAGE, PAGE]), KEEP).unwrap();
    let access: Vec<_> = checked
        .objects
        .iter()
        .map(|object| (object.access.reads, object.access.writes))
        .collect();
    assert_eq!(access, [(false, true), (true, false), (false, false)]);
}

/// Pixels of 8 and 16 bits take less; a monochrome source takes an eighth of a byte for each.
#[test]
fn pixel_sizes_count() {
    let mut fill = fill();
    for (kind, width) in [(2, 256), (3, 128), (4, 128), (6, 64)] {
        fill.stream.words[fill.control] = gui::DST_TYPE.put(fill_control(), kind);
        fill.stream.words[fill.size] = y_x(256, width);
        run(&fill.stream.words, &objects(&[16 * PAGE]), KEEP).unwrap();
        fill.stream.words[fill.size] = y_x(256, width + 1);
        let refusal = run(&fill.stream.words, &objects(&[16 * PAGE]), KEEP).unwrap_err();
        assert_eq!(
            refusal.reason,
            Reason::DestinationBounds,
            "pixel type {kind}"
        );
    }
    let (mut stream, control, _, size) = copy();
    stream.words[control] = gui::SRC_TYPE.put(copy_control(), gui::src_type::MONO_TRANSPARENT);
    stream.words[size] = y_x(16, 512);
    // 15 lines of 256 bytes, then 512 bits.
    let sizes = |source| objects(&[16 * PAGE, source]);
    run(&stream.words, &sizes(15 * 256 + 64), KEEP).unwrap();
    let refusal = run(&stream.words, &sizes(15 * 256 + 63), KEEP).unwrap_err();
    assert_eq!(refusal.reason, Reason::SourceBounds);
}

/// Objects of any size that a kernel may have: no arithmetic overflows.
#[test]
fn huge_objects_are_fine() {
    let stream = fill().stream;
    run(&stream.words, &objects(&[u64::MAX]), KEEP).unwrap();
    assert_eq!(
        run(&stream.words, &objects(&[0]), KEEP).unwrap_err().reason,
        Reason::OffsetBeyondObject
    );
}
