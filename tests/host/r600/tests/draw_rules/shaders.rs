// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Programs, constant buffers, rings and scratch memory.

use crate::stream::{object::*, rv770, Stream, DRAW, PAGE, SIZES};
use crate::support::RV770;
use r600::portable::checker::reason::Reason::*;

const WAIT_UNTIL: u32 = 0x8040;
const GS_MODE: u32 = 0x28a40;
const ESGS_BASE: u32 = 0x8c40;
const ESGS_SIZE: u32 = 0x8c44;
const GSVS_BASE: u32 = 0x8c48;
const GSVS_SIZE: u32 = 0x8c4c;
const ESGS_ITEM: u32 = 0x288a8;

fn part() -> Stream {
    Stream::new(&RV770)
}

#[test]
fn programs_begin_in_their_object() {
    for register in [0x28840, 0x28858, 0x2886c, 0x28880, 0x28894] {
        let last = part().at(register, 15, PROGRAMS);
        let checked = rv770().before(DRAW, last).passes();
        let access = checked.objects[PROGRAMS as usize].access;
        assert!(access.reads && !access.writes);
        let behind = rv770().before(DRAW, part().at(register, 16, PROGRAMS));
        behind.refused_at(register, OffsetBeyondObject);
        let unmarked = rv770().before(DRAW, part().set(register, 0));
        unmarked.refused_at(register, MissingRelocation);
    }
    // Objects are whole pages. In others a program needs a line of instructions.
    let short = rv770().sized(PROGRAMS, 256 + 255);
    short.refused_at(0x28840, ProgramBounds);
}

#[test]
fn constant_buffers_end_in_their_object() {
    for (size, base) in [(0x28140, 0x28940), (0x28180, 0x28980), (0x281c0, 0x289c0)] {
        for number in 0..16 {
            let size = size + 4 * number;
            let base = base + 4 * number;
            let buffer = part().set(size, 3).at(base, 2, MORE);
            let stream = rv770().before(DRAW, buffer);
            let access = stream.needs(MORE, 5 * 256, ConstantBounds);
            assert_eq!(access, (true, false));
            let most = stream.with(size, 0x1ff);
            most.needs(MORE, (2 + 0x1ff) * 256, ConstantBounds);
            stream.with(size, 0x200).refused_at(size, RegisterBits);
        }
    }
}

#[test]
fn constant_buffers_are_left_alone_or_stated() {
    // Sizes without addresses, addresses without sizes.
    rv770().without(0x28980).refused(NoConstants);
    let base = part().at(0x28940, 0, CONSTANTS);
    rv770().before(DRAW, base.clone()).passes();
    let mut sizeless = rv770().before(DRAW, base);
    sizeless = sizeless.without(0x28140);
    sizeless.refused(NoConstantSize);
    // Left alone.
    rv770().without(0x28144).passes();
    // A buffer of no size may have any address.
    let last = part().set(0x28180, 0);
    let unused = rv770().before(DRAW, last).sized(CONSTANTS, 257);
    unused.passes();
}

#[test]
fn constant_buffers_are_judged_again_when_they_change() {
    let twice = rv770().op(DRAW, &[3, 2], &[]);
    let larger = part().set(0x28180, 16);
    twice.before(DRAW, larger).refused(ConstantBounds);
    let moved = part().at(0x28980, 15, CONSTANTS);
    twice.before(DRAW, moved).refused(ConstantBounds);
}

/// Return the rings that a geometry shader needs, as Mesa sets them.
fn rings() -> Stream {
    part()
        .set(WAIT_UNTIL, 1 << 15)
        .at(ESGS_BASE, 1, MORE)
        .set(ESGS_SIZE, 0x1c0)
        .at(GSVS_BASE, 0x200, MORE)
        .set(GSVS_SIZE, 0x400)
        .set(WAIT_UNTIL, 1 << 15)
        .set(ESGS_ITEM, 20)
        .set(ESGS_ITEM + 4, 80)
        .set(GS_MODE, 3)
}

#[test]
fn rings_end_in_their_object() {
    let stream = rv770().before(DRAW, rings());
    let access = stream.needs(MORE, 0x600 * 256, RingBounds);
    assert_eq!(access, (false, true));
    stream
        .with(ESGS_BASE, 0x500)
        .needs(MORE, 0x6c0 * 256, RingBounds);
    // 40 bits of bytes.
    stream.with(GSVS_SIZE, u32::MAX).refused(RingBounds);
}

#[test]
fn geometry_shaders_have_rings() {
    let stream = rv770().before(DRAW, rings());
    for register in [ESGS_BASE, ESGS_SIZE, GSVS_BASE, GSVS_SIZE] {
        stream.without(register).refused(RingState);
    }
    for register in [ESGS_SIZE, GSVS_SIZE] {
        stream.with(register, 0).refused(RingState);
    }
    // Neither the mode without rings nor none needs them.
    for mode in [0, 1] {
        let none = stream.with(GS_MODE, mode);
        let none = none.with(ESGS_SIZE, 0).with(GSVS_SIZE, 0);
        none.without(ESGS_BASE).without(GSVS_BASE).passes();
        // But what is stated of a ring with a size is stated whole.
        let half = stream.with(GS_MODE, mode).without(ESGS_BASE);
        half.refused(RingState);
        let half = stream.with(GS_MODE, mode).without(ESGS_SIZE);
        half.refused(RingState);
    }
    for mode in [2, 3] {
        rv770().with(GS_MODE, mode).refused(RingState);
    }
    rv770().without(GS_MODE).refused(NoGeometryMode);
    // A ring without the size of its elements.
    let mut elements = rv770().before(DRAW, rings());
    elements = elements.without(ESGS_ITEM).without(ESGS_ITEM);
    elements.refused(RingState);
}

#[test]
fn an_element_fits_its_ring() {
    let stream = rv770().before(DRAW, rings());
    let dwords = 0x1c0 * 256 / 4;
    assert!(dwords < 0x8000);
    stream.with(ESGS_ITEM, dwords).passes();
    stream.with(ESGS_ITEM, dwords + 1).refused(RingItem);
    for item in 0..6 {
        let register = ESGS_ITEM + 4 * item;
        let wide = rv770().with(register, 0x8000);
        wide.refused_at(register, RegisterBits);
    }
}

#[test]
fn scratch_memory_ends_in_its_object() {
    for kind in 0..4 {
        let base = 0x8c50 + 8 * kind;
        let item = 0x288b0 + 4 * kind;
        let scratch = part()
            .set(WAIT_UNTIL, 1 << 15)
            .at(base, 1, MORE)
            .set(item, 16)
            .set(base + 4, 0x80);
        let stream = rv770().before(DRAW, scratch);
        let access = stream.needs(MORE, 0x81 * 256, RingBounds);
        assert_eq!(access, (false, true));
        stream.with(item, 0x2001).refused(RingItem);
        // Elements without a ring, a ring without address.
        stream.without(base).refused(RingState);
        stream.without(base + 4).refused(RingState);
        stream.with(base + 4, 0).refused(RingState);
        let elements = rv770().with(item, 1);
        elements.refused(RingState);
    }
}

/// Address and size of a ring take effect while draws run that were checked with others.
#[test]
fn rings_change_only_when_no_draw_runs() {
    let stream = rv770().before(DRAW, rings());
    stream.passes();
    for wait in [1 << 17, (1 << 15) | (1 << 8)] {
        stream.without(WAIT_UNTIL).with(WAIT_UNTIL, wait).passes();
    }
    // Copies and 2D do not count.
    let other = stream.without(WAIT_UNTIL).with(WAIT_UNTIL, 1 << 8);
    other.refused_at(ESGS_BASE, DrawsMayRun);
    let none = stream.without(WAIT_UNTIL).without(WAIT_UNTIL);
    none.refused_at(ESGS_BASE, DrawsMayRun);
    // A draw runs again.
    let size = part().set(ESGS_SIZE, 0);
    let twice = stream.clone().op(DRAW, &[3, 2], &[]);
    twice.before(DRAW, size).refused_at(ESGS_SIZE, DrawsMayRun);
    // Sizes of elements belong to the context of a draw.
    let item = part().set(ESGS_ITEM, 4);
    twice.before(DRAW, item).passes();
    for register in [0x8c54, 0x8c64, 0x8c6c] {
        let size = part().set(register, 0);
        rv770().before(DRAW, size).refused_at(register, DrawsMayRun);
    }
}

#[test]
fn rings_are_judged_again_when_they_change() {
    let stream = rv770().before(DRAW, rings()).op(DRAW, &[3, 2], &[]);
    let larger = part()
        .set(WAIT_UNTIL, 1 << 15)
        .set(GSVS_SIZE, SIZES[MORE as usize] as u32 / 256);
    stream.before(DRAW, larger).refused(RingBounds);
    let item = part().set(ESGS_ITEM + 4, 0x7fff);
    stream.before(DRAW, item).passes();
    // Another mode may need them.
    let twice = rv770().op(DRAW, &[3, 2], &[]);
    twice.before(DRAW, part().set(GS_MODE, 0)).passes();
    let geometry = part().set(GS_MODE, 3);
    twice.before(DRAW, geometry).refused(RingState);
    assert!(SIZES[CONSTANTS as usize] == PAGE);
}
