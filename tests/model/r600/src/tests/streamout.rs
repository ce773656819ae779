// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The CP's part in stream-out, and the counts that events write.

use super::*;
use crate::bench::By;
use crate::unit::Unit;

fn update(control: u32, to: u64, from: u64) -> [u32; 6] {
    let wide = |v: u64| [v as u32, (v >> 32) as u32];
    let ([a, b], [c, d]) = (wide(to), wide(from));
    [packet(op::STRMOUT_BUFFER_UPDATE, 5), control, a, b, c, d]
}

fn flush() -> [u32; 2] {
    [packet(op::EVENT_WRITE, 1), 0x1f]
}

const STORE: u32 = 1;
const FROM_PACKET: u32 = 0;
const FROM_FILLED: u32 = 1 << 1;
const FROM_MEMORY: u32 = 2 << 1;
const STAYS: u32 = 3 << 1;

fn buffer(n: u32) -> u32 {
    n << 8
}

#[test]
fn the_filled_size_is_that_of_the_last_flush() {
    let mut b = bench();
    b.execute(&update(FROM_PACKET | buffer(2), 0, 0x77));
    assert_eq!(b.peek("VGT_STRMOUT_BUFFER_OFFSET[2]"), Some(0x77));
    b.execute(&update(STORE | STAYS | buffer(2), 0x1000, 0));
    assert_eq!(b.get32(0x1000), 0, "no flush yet");
    b.execute(&flush());
    b.execute(&update(STORE | STAYS | buffer(2), 0x1000, 0));
    assert_eq!(b.get32(0x1000), 0x77);
    assert_eq!(b.peek("CP_STRMOUT_CNTL"), Some(1));
    assert_eq!(b.findings(), []);
}

#[test]
fn an_offset_comes_from_the_packet_memory_or_the_filled_size() {
    let mut b = bench();
    b.put(0x1000, &0x55u32.to_le_bytes());
    b.execute(&update(FROM_MEMORY, 0, 0x1000));
    assert_eq!(b.peek("VGT_STRMOUT_BUFFER_OFFSET[0]"), Some(0x55));
    b.execute(&flush());
    b.execute(&update(FROM_PACKET, 0, 0x11));
    assert_eq!(b.peek("VGT_STRMOUT_BUFFER_OFFSET[0]"), Some(0x11));
    b.execute(&update(STAYS, 0, 0x22));
    assert_eq!(b.peek("VGT_STRMOUT_BUFFER_OFFSET[0]"), Some(0x11));
    b.execute(&update(FROM_FILLED, 0, 0x22));
    assert_eq!(b.peek("VGT_STRMOUT_BUFFER_OFFSET[0]"), Some(0x55));
    assert_eq!(b.findings(), []);
    b.execute(&update(STAYS | (1 << 3), 0, 0));
    assert_eq!(kinds(&mut b), [kind::RESERVED_VALUE]);
    b.execute(&update(STAYS, 0, 0)[..5]);
    assert!(!b.findings().is_empty(), "too short");
}

#[test]
fn counters_are_read_and_written_by_dwords() {
    let mut b = bench();
    b.touched();
    b.execute(&update(STORE | FROM_MEMORY, 0x2000, 0x3000));
    let all: Vec<_> = b
        .touched()
        .iter()
        .map(|t| (t.who.by, t.write, t.start, t.end))
        .collect();
    let by = By::Unit(Unit::Cp);
    assert_eq!(
        all,
        [(by, true, 0x2000, 0x2004), (by, false, 0x3000, 0x3004)]
    );
}

#[test]
fn r7xx_is_told_the_base_of_a_stream_out_buffer() {
    let write = |register: u32, value| {
        [
            packet(op::SET_CONTEXT_REG, 2),
            (register - 0x28000) / 4,
            value,
        ]
    };
    let base = write(mmio::VGT_STRMOUT_BUFFER_BASE.at(1).unwrap(), 0x10);
    let tell = |n, base| [packet(op::STRMOUT_BASE_UPDATE, 2), n, base];
    let primitive = (mmio::VGT_PRIMITIVE_TYPE - 0x8000) / 4;
    let draw = [
        [packet(op::SET_CONFIG_REG, 2), primitive, 4],
        write(mmio::VGT_STRMOUT_EN, 1),
        write(mmio::VGT_STRMOUT_BUFFER_EN, 2),
        write(mmio::VGT_STRMOUT_BUFFER_SIZE.at(1).unwrap(), 0x10),
        [packet(op::DRAW_INDEX_AUTO, 2), 3, 2],
    ]
    .concat();
    let run = |chip, words: &[&[u32]]| {
        let mut b = Bench::new(chip).unwrap();
        assert!(b.execute(&words.concat()));
        kinds(&mut b)
    };
    assert_eq!(run("rv770", &[&base, &tell(1, 0x10), &draw]), []);
    assert_eq!(run("rv770", &[&base, &draw]), [kind::STREAM_OUT_BASE]);
    assert_eq!(
        run("rv770", &[&tell(1, 0x10), &base, &draw]),
        [kind::STREAM_OUT_BASE]
    );
    assert_eq!(
        run("rv770", &[&base, &tell(1, 0x11), &draw]),
        [kind::STREAM_OUT_BASE]
    );
    assert_eq!(
        run("rv770", &[&base, &tell(0, 0x10), &draw]),
        [kind::STREAM_OUT_BASE]
    );
    assert_eq!(run("rv770", &[&tell(4, 0)]), [kind::RESERVED_VALUE]);
    assert_eq!(run("rv670", &[&tell(1, 0)]), [kind::UNDEFINED_PACKET]);
    let start = [packet(op::START_3D_CMDBUF, 1), 0];
    assert_eq!(run("rv670", &[&start, &base, &draw]), []);
}

#[test]
fn counts_have_a_place_for_each_backend() {
    for (chip, backends) in [("rv770", 4), ("rv730", 2), ("rv710", 1)] {
        let mut b = Bench::new(chip).unwrap();
        b.put(0x1000, &[0; 256]);
        for offset in [0, 8] {
            assert!(b.execute(&[packet(op::EVENT_WRITE, 3), 0x115, 0x1000 + offset, 0]));
        }
        let valid = |at: u64| b.get32(0x1000 + at + 4) >> 31 == 1;
        let places: Vec<u64> = (0..256).step_by(8).filter(|at| valid(*at)).collect();
        let expected: Vec<u64> = (0..2 * backends).map(|n| n * 8).collect();
        assert_eq!(places, expected, "{chip}");
    }
}

#[test]
fn statistics_have_their_places() {
    let mut b = bench();
    b.touched();
    assert!(b.execute(&[packet(op::EVENT_WRITE, 3), 0x21e, 0x1000, 0]));
    assert!(b.execute(&[packet(op::EVENT_WRITE, 3), 0x320, 0x2000, 0]));
    let all: Vec<_> = b
        .touched()
        .iter()
        .map(|t| (t.who.by, t.write, t.start, t.end))
        .collect();
    let by = By::Unit(Unit::Event);
    assert_eq!(
        all,
        [(by, true, 0x1000, 0x2010)],
        "64 bytes, and 16 elsewhere"
    );
    assert_eq!((b.get32(0x2004) >> 31, b.get32(0x200c) >> 31), (1, 1));
    assert_eq!(b.get32(0x1004), 0);
}

#[test]
fn a_register_sends_events_to_their_address() {
    let mut b = bench();
    let write = |register: u32, value| {
        [
            packet(op::SET_CONTEXT_REG, 2),
            (register - 0x28000) / 4,
            value,
        ]
    };
    b.touched();
    b.execute(&write(mmio::VGT_EVENT_ADDRESS_REG, 0x100));
    b.execute(&write(mmio::VGT_EVENT_INITIATOR, 0x15));
    assert_eq!(b.touched(), [], "it has no address");
    b.execute(&write(mmio::VGT_EVENT_INITIATOR, 0x15 | (1 << 27)));
    let ends: Vec<_> = b.touched().iter().map(|t| (t.start, t.end)).collect();
    assert_eq!(ends, [(0x1000, 0x1038)]);
    b.execute(&write(mmio::VGT_EVENT_INITIATOR, 0x1f));
    assert_eq!(b.peek("CP_STRMOUT_CNTL"), Some(1));
    assert_eq!(b.findings(), []);
}
