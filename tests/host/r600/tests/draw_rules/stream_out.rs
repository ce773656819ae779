// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Stream-out buffers and the packets that keep count of them.

use crate::stream::{object::*, rv770, scene, Stream, DRAW, PAGE};
use crate::support::{CHIPS, RV610, RV770};
use r600::portable::{
    checker::{reason::Reason::*, Chip},
    Generation,
};

const SIZE: u32 = 0x28ad0;
const STRIDE: u32 = 0x28ad4;
const BASE: u32 = 0x28ad8;
const UPDATE: u32 = 0x34;
const BASE_UPDATE: u32 = 0x72;
const SURFACE_UPDATE: u32 = 0x73;

fn part(chip: &Chip) -> Stream {
    Stream::new(chip)
}

/// Return buffer `number` of 0x300 dwords.
fn buffer(chip: &Chip, number: u32) -> Stream {
    part(chip)
        .set(SIZE + 16 * number, 0x300)
        .set(STRIDE + 16 * number, 4)
        .at(BASE + 16 * number, 1, MORE)
}

#[test]
fn buffers_end_in_their_object() {
    for number in 0..4 {
        let stream = rv770().before(DRAW, buffer(&RV770, number));
        let access = stream.needs(MORE, 256 + 0xc00, StreamOutBounds);
        assert_eq!(access, (false, true));
        // 34 bits of bytes.
        let most = stream.with(SIZE + 16 * number, 1 << 30);
        most.refused(StreamOutBounds);
        let wide = stream.with(STRIDE + 16 * number, 1 << 10);
        wide.refused_at(STRIDE + 16 * number, RegisterBits);
        let behind = stream.with(BASE + 16 * number, 4096);
        behind.refused_at(BASE + 16 * number, OffsetBeyondObject);
    }
}

#[test]
fn buffers_are_left_alone_or_stated() {
    let stream = rv770().before(DRAW, buffer(&RV770, 2));
    for register in [SIZE, STRIDE, BASE] {
        stream.without(register + 32).refused(StreamOutState);
    }
    // The end of stream-out: no size, nothing else.
    let end = rv770().before(DRAW, part(&RV770).set(SIZE, 0));
    end.passes();
    let end = stream.with(SIZE + 32, 0).sized(MORE, 257);
    end.passes();
}

#[test]
fn buffers_are_judged_again_when_they_change() {
    let stream = rv770().before(DRAW, buffer(&RV770, 0));
    let twice = stream.sized(MORE, PAGE).op(DRAW, &[3, 2], &[]);
    let larger = part(&RV770).set(SIZE, 0x400);
    twice.before(DRAW, larger).refused(StreamOutBounds);
    let moved = part(&RV770).at(BASE, 8, MORE);
    twice.before(DRAW, moved).refused(StreamOutBounds);
}

#[test]
fn filled_sizes_are_stored_and_loaded_in_their_object() {
    let store = |low: u32| rv770().op(UPDATE, &[0x207, low, 0, 0, 0], &[MORE]);
    let checked = store(0xffc).sized(MORE, PAGE).passes();
    assert!(checked.objects[MORE as usize].access.writes);
    store(0x1000)
        .sized(MORE, PAGE)
        .refused_at(UPDATE, DestinationBounds);
    store(0xffe).refused_at(UPDATE, Unaligned);
    let load = |low: u32| rv770().op(UPDATE, &[0x104, 0, 0, low, 0], &[MORE]);
    let checked = load(0xffc).sized(MORE, PAGE).passes();
    let access = checked.objects[MORE as usize].access;
    assert!(access.reads && !access.writes);
    load(0x1000)
        .sized(MORE, PAGE)
        .refused_at(UPDATE, SourceBounds);
    load(0xffd).refused_at(UPDATE, Unaligned);
    load(0).dword(UPDATE, 5, 1).refused_at(UPDATE, SourceBounds);
    // Both at once, the destination's marker first.
    let both = rv770().op(UPDATE, &[5, 0, 0, 0xffc, 0], &[MORE, VERTICES]);
    let checked = both.sized(MORE, 4).passes();
    assert!(checked.objects[MORE as usize].access.writes);
    assert!(checked.objects[VERTICES as usize].access.reads);
    // What is not used is zero, and there are no other bits.
    let nothing = rv770().op(UPDATE, &[6, 0, 0, 0, 0], &[]);
    nothing.passes();
    for at in 2..6 {
        nothing
            .dword(UPDATE, at, 4)
            .refused_at(UPDATE, ForbiddenBits);
    }
    for bit in [3, 7, 10, 31] {
        let word = 6 | (1 << bit);
        nothing
            .dword(UPDATE, 1, word)
            .refused_at(UPDATE, ForbiddenBits);
    }
}

#[test]
fn stream_out_begins_in_its_buffer() {
    let update = |dwords: u32| {
        let update = part(&RV770).op(UPDATE, &[0x300, 0, 0, dwords, 0], &[]);
        rv770().before(DRAW, buffer(&RV770, 3)).before(DRAW, update)
    };
    update(0).passes();
    update(0x300).passes();
    update(0x301).refused_at(UPDATE, StreamOutOffset);
    update(0)
        .dword(UPDATE, 5, 1)
        .refused_at(UPDATE, ForbiddenBits);
    // Of another buffer nothing is known.
    update(0)
        .dword(UPDATE, 1, 0x200)
        .refused_at(UPDATE, StreamOutState);
}

#[test]
fn r7xx_repeats_the_address_and_no_other() {
    let repeat = |body: &[u32; 2], object| {
        let update = part(&RV770).op(BASE_UPDATE, body, &[object]);
        rv770().before(DRAW, buffer(&RV770, 1)).before(DRAW, update)
    };
    repeat(&[1, 1], MORE).passes();
    repeat(&[1, 2], MORE).refused_at(BASE_UPDATE, StreamOutBase);
    repeat(&[1, 1], VERTICES).refused_at(BASE_UPDATE, StreamOutBase);
    repeat(&[0, 1], MORE).refused_at(BASE_UPDATE, StreamOutBase);
    repeat(&[5, 1], MORE).refused_at(BASE_UPDATE, ForbiddenBits);
    // Dword 4 is the header of the marker.
    let unmarked = repeat(&[1, 1], MORE).dword(BASE_UPDATE, 3, 0x8000_0000);
    unmarked.refused_at(BASE_UPDATE, MissingRelocation);
    for (_, chip) in CHIPS {
        let update = part(&chip).op(BASE_UPDATE, &[1, 1], &[MORE]);
        let stream = scene(&chip).before(DRAW, buffer(&chip, 1));
        let stream = stream.before(DRAW, update);
        match chip.generation {
            Generation::R7xx => drop(stream.passes()),
            Generation::R6xx => stream.refused_at(BASE_UPDATE, OtherGeneration),
        }
    }
}

#[test]
fn some_chips_are_told_of_addresses() {
    for (name, chip) in CHIPS {
        let stream = scene(&chip).op(SURFACE_UPDATE, &[0x1fff], &[]);
        match name {
            "rv610" | "rv635" | "rv670" => drop(stream.passes()),
            _ => stream.refused_at(SURFACE_UPDATE, OtherGeneration),
        }
    }
    for bit in [13, 14, 15, 31] {
        let stream = scene(&RV610).op(SURFACE_UPDATE, &[1 << bit], &[]);
        stream.refused_at(SURFACE_UPDATE, ForbiddenBits);
    }
}
