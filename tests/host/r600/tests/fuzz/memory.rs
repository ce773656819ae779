// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Packets that access memory by themselves: queries and other events, predication, copies, writes and waits.

use lapidary_registers::r600::pm4::op;

use crate::scene::{pick, rarely, Scene};

/// Return a place and an object, near the limits of nothing. Objects are cut to what a packet accesses.
fn place(s: &mut Scene<'_>, unit: u32) -> (u32, u32) {
    let offset = s.offset(unit);
    let offset = if rarely(s.rng, 64) {
        offset + s.rng.u32(..unit)
    } else {
        offset
    };
    (offset, s.object())
}

fn high(s: &mut Scene<'_>) -> u32 {
    if rarely(s.rng, 128) {
        s.rng.u32(..256)
    } else {
        0
    }
}

/// A query that has begun: event, place, object.
pub type Query = Option<(u32, u32, u32)>;

/// Begin a query, or none.
pub fn query_begin(s: &mut Scene<'_>) -> Query {
    if !rarely(s.rng, 3) {
        return None;
    }
    s.piece();
    let event = pick(s.rng, &[0x115, 0x115, 0x21e, 0x320]);
    let (low, object) = place(s, 16);
    let high = high(s);
    s.on()
        .packet(op::EVENT_WRITE, &[event, low, high])
        .marker(object);
    Some((event, low, object))
}

/// End the query.
pub fn query_end(s: &mut Scene<'_>, query: Query) {
    let Some((event, low, object)) = query else {
        return;
    };
    s.piece();
    let step = match event {
        0x115 => 8,
        0x21e => 64,
        _ => 16,
    };
    s.on()
        .packet(op::EVENT_WRITE, &[event, low + step, 0])
        .marker(object);
}

/// Append predication by the results of queries, or off.
pub fn predication(s: &mut Scene<'_>) {
    s.piece();
    if rarely(s.rng, 4) {
        s.on().packet(op::SET_PREDICATION, &[0, 0]);
        return;
    }
    let (low, object) = place(s, 16);
    let how = (s.rng.u32(1..3) << 16) | (s.rng.u32(..2) << 8) | (s.rng.u32(..2) << 12);
    let more = u32::from(rarely(s.rng, 3)) << 31;
    let high = high(s);
    s.on()
        .packet(op::SET_PREDICATION, &[low, how | more | high])
        .marker(object);
}

/// Append one packet that accesses memory.
fn one(s: &mut Scene<'_>) {
    s.piece();
    let (low, object) = place(s, 16);
    let high = high(s);
    match s.rng.u32(..12) {
        0 => {
            let narrow = s.rng.u32(..2);
            let body = [low, high | (narrow << 18), 1, 2];
            s.on().packet(op::MEM_WRITE, &body).marker(object);
        }
        1 => {
            let (to, other) = place(s, 4);
            s.on()
                .packet(op::COPY_DW, &[3, low, high, to, 0])
                .marker(object)
                .marker(other);
        }
        2..=4 => {
            let (to, other) = place(s, 1);
            let bytes = match s.rng.u32(..4) {
                0 => 0x1f_ffff,
                1 => s.rng.u32(..0x20_0000),
                _ => s.rng.u32(1..0x4000),
            };
            let body = [low, high | (s.rng.u32(..2) << 31), to, 0, bytes];
            s.on()
                .packet(op::CP_DMA, &body)
                .marker(object)
                .marker(other);
        }
        5 => {
            // A mask of zero and a reference of zero: the wait ends.
            let function = pick(s.rng, &[0x15, 0x115, 0x13, 0x10]);
            s.on()
                .packet(op::WAIT_REG_MEM, &[function, low & !15, high, 0, 0, 4])
                .marker(object);
        }
        6 => {
            let event = pick(s.rng, &[0x504, 0x514, 0x528]);
            let select = s.rng.u32(..4) << 29;
            let low = low & !7;
            s.on()
                .packet(op::EVENT_WRITE_EOP, &[event, low, high | select, 1, 2])
                .marker(object);
        }
        7 => {
            let events = [0x16, 0x410, 0x40f, 0x24, 0x19, 0x1a, 0x1f, 0x26, 0x6];
            let event = pick(s.rng, &events);
            s.on().packet(op::EVENT_WRITE, &[event]);
        }
        8 if rarely(s.rng, 4) => {
            let event = s.rng.u32(..0x40) | (s.rng.u32(..8) << 8);
            s.on().packet(op::EVENT_WRITE, &[event]);
        }
        9 => {
            let event = pick(s.rng, &[0x115, 0x21e, 0x320]);
            s.on()
                .packet(op::EVENT_WRITE, &[event, low, high])
                .marker(object);
        }
        10 => {
            let size = s.rng.u32(..0x1000);
            s.on()
                .packet(op::SURFACE_SYNC, &[1 << 23, size, low >> 8, 10])
                .marker(object);
        }
        _ => {
            let all = if s.r7xx() { 0x1790_7fc0 } else { 0x180_0000 };
            s.on().packet(op::SURFACE_SYNC, &[all, u32::MAX, 0, 10]);
        }
    }
}

/// Append some of them to a scene.
pub fn add(s: &mut Scene<'_>) {
    for _ in 0..s.rng.u32(1..4) {
        one(s);
    }
}
