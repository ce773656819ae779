// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Draw packets: where indices come from and how many there are; scissors; tiling that objects have.

use crate::stream::{color_info, object::*, rv770, size, Stream, DRAW, DRAW_INDEX, PAGE, RGBA};
use crate::support::{run, RV770};
use r600::portable::checker::{check_gfx_tiled_by_objects, reason::Reason::*};

const INDEX_TYPE: u32 = 0x2a;
const IMMEDIATE: u32 = 0x2e;
const IMMEDIATE_BE: u32 = 0x29;
const WINDOW_TL: u32 = 0x28204;
const WINDOW_BR: u32 = 0x28208;
const SCREEN_BR: u32 = 0x28034;
const WINDOW_OFFSET: u32 = 0x28200;

fn indexed(bits: u32, low: u32, count: u32) -> Stream {
    rv770()
        .op(INDEX_TYPE, &[bits], &[])
        .op(DRAW_INDEX, &[low, 0, count, 0], &[INDICES])
}

#[test]
fn indices_end_in_their_object() {
    for (bits, bytes) in [(0, 2), (1, 4)] {
        let count = 100;
        let stream = indexed(bits, 0x100, count);
        let end = 0x100 + u64::from(count) * bytes;
        let checked = stream.sized(INDICES, end).passes();
        let access = checked.objects[INDICES as usize].access;
        assert!(access.reads && !access.writes);
        stream
            .sized(INDICES, end - 1)
            .refused_at(DRAW_INDEX, SourceBounds);
        // The product has 34 bits, the offset 40.
        indexed(bits, 0, u32::MAX).refused_at(DRAW_INDEX, SourceBounds);
        stream
            .dword(DRAW_INDEX, 2, 1)
            .refused_at(DRAW_INDEX, SourceBounds);
    }
    indexed(0, 2, 1).passes();
    indexed(0, 1, 1).refused_at(DRAW_INDEX, Unaligned);
    let unmarked = indexed(0, 0, 1).dword(DRAW_INDEX, 5, 0x8000_0000);
    unmarked.refused_at(DRAW_INDEX, MissingRelocation);
    let high = indexed(0, 0, 1).dword(DRAW_INDEX, 2, 1 << 8);
    high.refused_at(DRAW_INDEX, ForbiddenBits);
}

#[test]
fn the_width_of_indices_is_stated() {
    indexed(0, 0, 1)
        .without(INDEX_TYPE)
        .refused_at(DRAW_INDEX, IndexType);
    let immediate = rv770().op(IMMEDIATE, &[1, 1, 0], &[]);
    immediate.refused_at(IMMEDIATE, IndexType);
    // Counted indices have none.
    rv770().passes();
}

#[test]
fn a_draw_has_indices() {
    indexed(1, 0, 0).refused_at(DRAW_INDEX, NoIndices);
    rv770().dword(DRAW, 1, 0).refused(NoIndices);
    // As many as a stream-out buffer holds.
    rv770().dword(DRAW, 1, 0).dword(DRAW, 2, 0x42).passes();
    let immediate = |body: &[u32]| {
        let stream = rv770().op(INDEX_TYPE, &[0], &[]);
        stream.op(IMMEDIATE, body, &[])
    };
    immediate(&[3, 1, 0, 0]).passes();
    immediate(&[4, 1, 0, 0]).passes();
    immediate(&[0, 1]).refused_at(IMMEDIATE, NoIndices);
    immediate(&[5, 1, 0, 0]).refused_at(IMMEDIATE, IndexData);
    immediate(&[2, 1, 0, 0]).refused_at(IMMEDIATE, IndexData);
    immediate(&[u32::MAX, 1, 0]).refused_at(IMMEDIATE, IndexData);
    let wide = rv770().op(INDEX_TYPE, &[1], &[]);
    wide.clone().op(IMMEDIATE, &[2, 1, 0, 0], &[]).passes();
    let short = wide.clone().op(IMMEDIATE, &[3, 1, 0, 0], &[]);
    short.refused_at(IMMEDIATE, IndexData);
    // The other byte order is for 16 bits.
    let other = rv770().op(INDEX_TYPE, &[0], &[]);
    other.op(IMMEDIATE_BE, &[3, 1, 0, 0], &[]).passes();
    let other = wide.op(IMMEDIATE_BE, &[2, 1, 0, 0], &[]);
    other.refused_at(IMMEDIATE_BE, IndexType);
}

#[test]
fn indices_come_from_where_the_packet_says() {
    for word in [0, 1, 3, 6, 0x12, 0x22, 0x82, 1 << 31] {
        rv770().dword(DRAW, 2, word).refused(DrawInitiator);
    }
    for word in [1, 2, 3, 4, 0x10, 0x20, 0x40] {
        indexed(0, 0, 1)
            .dword(DRAW_INDEX, 4, word)
            .refused_at(DRAW_INDEX, DrawInitiator);
        let stream = rv770().op(INDEX_TYPE, &[0], &[]);
        if word != 1 {
            let stream = stream.op(IMMEDIATE, &[2, word, 0], &[]);
            stream.refused_at(IMMEDIATE, DrawInitiator);
        }
    }
}

/// Draws are judged whatever their packet is, and whether they are predicated.
#[test]
fn each_kind_of_draw_is_judged() {
    let broken = || rv770().without(DRAW).sized(COLOR, 4096);
    let types = broken().op(INDEX_TYPE, &[0], &[]);
    types
        .clone()
        .op(DRAW_INDEX, &[0, 0, 1, 0], &[INDICES])
        .refused_at(DRAW_INDEX, ColorBounds);
    for opcode in [IMMEDIATE, IMMEDIATE_BE] {
        let stream = types.clone().op(opcode, &[2, 1, 0], &[]);
        stream.refused_at(opcode, ColorBounds);
    }
    let predicated = broken().op(DRAW, &[3, 2], &[]);
    let header = predicated.words()[predicated.words().len() - 3];
    let predicated = predicated.dword(DRAW, 0, header | 1);
    predicated.refused(ColorBounds);
    predicated.sized(COLOR, 1 << 20).passes();
}

#[test]
fn scissors_end_in_the_targets() {
    let edge = |x: u32, y: u32| x | (y << 16);
    let stream = rv770();
    for word in [edge(65, 64), edge(64, 65)] {
        stream.with(WINDOW_BR, word).refused(ScissorBounds);
        // The screen scissor will do.
        let screen = stream.with(WINDOW_BR, word);
        screen.with(SCREEN_BR, edge(64, 64)).passes();
    }
    stream.with(WINDOW_BR, edge(1, 1)).passes();
    // The window's does not count if it may lie elsewhere.
    let moves = stream.with(WINDOW_TL, 0);
    moves.passes();
    moves.with(WINDOW_OFFSET, 1).refused(ScissorBounds);
    moves.without(WINDOW_OFFSET).refused(ScissorBounds);
    stream.with(WINDOW_OFFSET, 1).passes();
    stream.without(WINDOW_TL).refused(ScissorBounds);
    stream.without(WINDOW_BR).refused(ScissorBounds);
    // Each target on its own: a smaller depth target.
    let depth = stream.with(0x28000, size(8, 64));
    depth
        .with(0x28000, size(16, 128))
        .sized(DEPTH, PAGE * 16)
        .passes();
    let wide = stream
        .with(WINDOW_BR, edge(128, 64))
        .with(0x28060, size(16, 128))
        .sized(COLOR, PAGE * 16);
    wide.refused(ScissorBounds);
    wide.with(0x28000, size(16, 128))
        .sized(DEPTH, PAGE * 16)
        .passes();
    // Without targets there is nothing to leave.
    let nothing = stream.with(0x280a0, 0).with(0x28010, 0);
    nothing.without(WINDOW_BR).passes();
}

/// Linux takes tiling from the objects if the flag is missing. A marker says which.
#[test]
fn tiling_of_objects_is_not_known() {
    let check = |stream: &Stream| {
        run(
            check_gfx_tiled_by_objects,
            &stream.words(),
            &stream.sizes,
            &RV770,
        )
    };
    check(&rv770()).expect("no marker, the tiling of the stream");
    let color = Stream::new(&RV770).at(0x280a0, color_info(RGBA, 4), COLOR);
    let depth = Stream::new(&RV770).at(0x28010, 3 | (4 << 15), DEPTH);
    for other in [color, depth] {
        let stream = rv770().before(DRAW, other);
        // With the flag the marker is a packet that does nothing.
        stream.passes();
        assert_eq!(check(&stream).unwrap_err().reason, ObjectTiling);
    }
    // A base and a format in one packet, with one marker: the base's.
    let both = Stream::new(&RV770).op(0x69, &[3, 0, 3 | (4 << 15)], &[DEPTH]);
    check(&rv770().before(DRAW, both)).expect("the marker is taken");
}

#[test]
fn nothing_is_known_at_the_start_of_a_stream() {
    let stream = Stream::new(&RV770).op(DRAW, &[3, 2], &[]);
    stream.refused(NoSamples);
    let stream = Stream::new(&RV770)
        .set(0x28c04, 0)
        .set(0x28808, 0)
        .set(0x28238, 0)
        .all(0x280a0, &[0; 8])
        .set(0x28010, 0)
        .set(0x28a40, 0)
        .op(DRAW, &[3, 2], &[]);
    stream.passes();
    for register in [0x28c04, 0x28808, 0x28238, 0x280bc, 0x28010, 0x28a40] {
        stream.without(register).run().expect_err("is needed");
    }
}
