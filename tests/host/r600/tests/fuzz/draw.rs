// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Draws as a client like Mesa sends them: the whole state, draws, some of the state again, draws.

use lapidary_registers::r600::{mmio, pm4::op};

use crate::{
    change, memory, resource,
    scene::{extent, pick, rarely, Scene},
    stages::{self, StreamOut},
    state, target,
};

/// Return all of the state that bounds a draw, in a client's order or any other.
fn whole_state(s: &mut Scene<'_>) -> (target::Frame, StreamOut) {
    let from = s.mark();
    let frame = target::frame(s);
    target::scissors(s, frame);
    target::samples(s, frame);
    target::colors(s, frame);
    target::depth(s, frame);
    stages::programs(s);
    stages::constants(s);
    stages::rings(s);
    resource::resources(s);
    state::pipeline(s);
    state::harmless(s);
    let out = stages::stream_out(s);
    s.settle(from);
    (frame, out)
}

/// Append one draw.
fn draw(s: &mut Scene<'_>, out: &StreamOut) {
    s.piece();
    if !rarely(s.rng, 48) {
        let primitive = match s.rng.u32(..16) {
            0 if rarely(s.rng, 4) => s.rng.u32(..32),
            _ => pick(s.rng, &[1, 2, 3, 4, 5, 6, 17, 18, 19, 20, 21]),
        };
        s.on().write(mmio::VGT_PRIMITIVE_TYPE, primitive);
    }
    let wide = s.rng.bool();
    if !rarely(s.rng, 48) {
        let kind = u32::from(wide);
        let kind = if rarely(s.rng, 64) {
            s.rng.u32(..16)
        } else {
            kind
        };
        s.on().packet(op::INDEX_TYPE, &[kind]);
    }
    if !rarely(s.rng, 8) {
        let number = pick(s.rng, &[1, 1, 1, 0, 5, u32::MAX]);
        s.on().packet(op::NUM_INSTANCES, &[number]);
    }
    let count = match s.rng.u32(..16) {
        0 if rarely(s.rng, 4) => s.rng.u32(..),
        1 if rarely(s.rng, 8) => 0,
        _ => extent(s.rng, 0x4000),
    };
    let predicate = u32::from(rarely(s.rng, 8));
    let header = |opcode, body| crate::scene::header(opcode, body) | predicate;
    match s.rng.u32(..8) {
        0..=2 => {
            let opaque = stages::opaque(s, out);
            // The count of such a draw is 0 in Mesa's streams.
            let count = if opaque && !rarely(s.rng, 8) {
                0
            } else {
                count
            };
            let initiator = 2 | (u32::from(opaque) << 6);
            let initiator = if rarely(s.rng, 96) {
                s.rng.u32(..128)
            } else {
                initiator
            };
            let words = [header(op::DRAW_INDEX_AUTO, 2), count, initiator];
            s.on().words(&words);
        }
        3 => {
            let count = s.rng.u32(1..64);
            let dwords = if wide { count } else { count.div_ceil(2) };
            let dwords = match s.rng.u32(..24) {
                0 => dwords + 1,
                1 => dwords.saturating_sub(1),
                _ => dwords,
            };
            let opcode = if rarely(s.rng, 8) {
                op::DRAW_INDEX_IMMD_BE
            } else {
                op::DRAW_INDEX_IMMD
            };
            let indices: Vec<u32> = (0..dwords).map(|_| s.rng.u32(..)).collect();
            s.on()
                .words(&[header(opcode, 2 + dwords), count, 1])
                .words(&indices);
        }
        _ => {
            let object = s.object();
            let unit = if rarely(s.rng, 64) {
                1
            } else {
                2 + 2 * u32::from(wide)
            };
            let offset = s.offset(unit);
            let high = if rarely(s.rng, 96) {
                s.rng.u32(..256)
            } else {
                0
            };
            let initiator = if rarely(s.rng, 96) {
                s.rng.u32(..128)
            } else {
                0
            };
            let words = [header(op::DRAW_INDEX, 4), offset, high, count, initiator];
            s.on().words(&words).marker(object);
        }
    }
}

/// Append a draw after only some of the state. The rest is what the stream before has left.
pub fn some_state(s: &mut Scene<'_>) {
    let from = s.mark();
    let frame = target::frame(s);
    if s.rng.bool() {
        target::scissors(s, frame);
        target::samples(s, frame);
        target::colors(s, frame);
        target::depth(s, frame);
    }
    for part in [
        stages::programs,
        stages::constants,
        stages::rings,
        resource::resources,
        state::harmless,
    ] {
        if s.rng.bool() {
            part(s);
        }
    }
    let out = match s.rng.bool() {
        true => stages::stream_out(s),
        false => StreamOut::default(),
    };
    s.settle(from);
    draw(s, &out);
    state::end(s);
}

/// Append draws to a scene.
pub fn add(s: &mut Scene<'_>) {
    state::begin(s);
    let (mut frame, mut out) = whole_state(s);
    let query = memory::query_begin(s);
    for number in 0..pick(s.rng, &[1, 1, 2, 2, 3, 4]) {
        if number > 0 {
            match s.rng.u32(..16) {
                12.. => {
                    for _ in 0..s.rng.u32(1..4) {
                        change::change(s);
                    }
                }
                0 => {
                    frame = target::frame(s);
                    target::scissors(s, frame);
                    target::samples(s, frame);
                    target::colors(s, frame);
                    target::depth(s, frame);
                }
                1 => target::colors(s, frame),
                2 => target::depth(s, frame),
                3 => target::samples(s, frame),
                4 => stages::constants(s),
                5 => stages::programs(s),
                6 => stages::rings(s),
                7 => {
                    stages::stream_out_end(s, &out);
                    out = stages::stream_out(s);
                }
                8 => state::harmless(s),
                9 => memory::add(s),
                _ => resource::resources(s),
            }
        }
        if rarely(s.rng, 6) {
            memory::predication(s);
        }
        draw(s, &out);
        if s.chip.checker.generation == r600::portable::Generation::R6xx {
            s.on().packet(op::EVENT_WRITE, &[0x26]);
        }
    }
    stages::stream_out_end(s, &out);
    memory::query_end(s, query);
    state::end(s);
}
