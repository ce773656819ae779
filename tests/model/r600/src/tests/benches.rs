// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The bench: its memory, its journal, and the way back to a state.

use super::*;
use crate::bench::{By, Touch};
use crate::unit::Unit;

/// Return a packet that writes a dword to memory.
fn write(at: u64) -> [u32; 5] {
    [packet(op::MEM_WRITE, 4), at as u32, 1 << 18, 7, 0]
}

#[test]
fn a_larger_card_has_the_memory_that_it_says() {
    let mut b = Bench::with_vram("rv770", 80 << 20).unwrap();
    let last = b.vram_len() - 4;
    assert_eq!(last, (79 << 20) - 4);
    assert!(b.execute(&write(last)) && b.execute(&write(Bench::GTT + Bench::GTT_LEN - 4)));
    assert_eq!((b.get32(last), b.findings()), (7, vec![]));
}

#[test]
fn the_journal_says_who_touched_what_and_for_which_packet() {
    let mut b = bench();
    assert!(b.touched().is_empty());
    b.object(0x1000, 0x1000, "a");
    let stream = [write(0x1000), write(0x1ffc), write(0x3000)].concat();
    assert!(b.execute(&stream));
    let spans = |touched: Vec<Touch>| -> Vec<_> {
        let one = |t: &Touch| (t.who.packet, t.write, t.object, t.start, t.end);
        assert!(touched.iter().all(|t| t.who.by == By::Unit(Unit::Cp)));
        touched.iter().map(one).collect()
    };
    assert_eq!(
        spans(b.touched_by_packet()),
        [
            (None, true, Some(0), 0x1000, 0x2000),
            (None, true, None, 0x3000, 0x3004)
        ]
    );
    assert!(b.execute(&stream));
    assert_eq!(
        spans(b.touched()),
        [
            (Some(0), true, Some(0), 0x1000, 0x1004),
            (Some(5), true, Some(0), 0x1ffc, 0x2000),
            (Some(10), true, None, 0x3000, 0x3004)
        ]
    );
    assert_eq!(kinds(&mut b), [kind::OUTSIDE_OBJECTS]);
    b.clear_objects();
    assert!(b.execute(&stream));
    assert!(b.findings().is_empty());
}

#[test]
fn a_reset_takes_back_registers_and_what_is_under_way() {
    let mut b = bench();
    let wait = [
        packet(op::WAIT_REG_MEM, 6),
        0x13,
        Bench::GTT as u32,
        0,
        5,
        u32::MAX,
        10,
    ];
    assert!(!b.execute(&wait), "it waits");
    b.reset();
    b.write(mmio::DB_DEPTH_INFO, 3);
    let left = b.checkpoint();
    for i in 0..500 {
        assert!(b.execute(&scratch(3, i)));
    }
    assert_eq!(b.peek("SCRATCH_REG[3]"), Some(499));
    b.restore(&left);
    assert_eq!(
        (b.peek("SCRATCH_REG[3]"), b.peek("DB_DEPTH_INFO")),
        (Some(0), Some(3))
    );
    b.reset();
    assert_eq!(b.peek("DB_DEPTH_INFO"), Some(0));
    assert!(b.execute(&scratch(3, 1)) && b.dma(&[header(dma_op::NOP, 0)]));
    assert!(b.findings().is_empty());
}
