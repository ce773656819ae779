// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The ring: pointers, wrap-around, write-back, staging, overruns.

use super::{Bench, GTT, RING, RING_DWORDS, WRITE_BACK, scratch, type0, type3};
use crate::fault;
use crate::kind;
use lapidary_model::chip::Chip;
use lapidary_model::chip::Step;
use lapidary_registers::r500::mmio;
use lapidary_registers::r500::pm4::op;
use std::time::Duration;
use std::time::Instant;

#[test]
fn the_ring_executes_and_wraps() {
    let mut b = Bench::running();
    for i in 0..500 {
        b.ring(&type0(scratch(0), &[i]));
        assert_eq!(b.read(scratch(0)), i);
    }
    assert_eq!(b.read(mmio::CP_RB_RPTR), 1000 % RING_DWORDS);
    assert_eq!(b.get(WRITE_BACK), 1000 % RING_DWORDS);
    assert_eq!(b.m.counters.get("packets"), 500);
    assert!(!b.busy());
}

#[test]
fn a_packet_may_wrap_and_come_in_pieces() {
    let mut b = Bench::running();
    let filler = vec![2 << 30; RING_DWORDS as usize - 2];
    b.ring(&filler);
    let packet = type0(scratch(0), &[1, 2, 3, 4]);
    b.ring(&packet[..2]);
    assert!(b.busy(), "half a packet");
    assert_eq!(b.read(scratch(0)), 0);
    b.ring(&packet[2..]);
    assert!(!b.busy());
    assert_eq!([0, 1, 2, 3].map(|i| b.read(scratch(i))), [1, 2, 3, 4]);
    assert_eq!(b.get(WRITE_BACK), 3);
}

#[test]
fn a_packet_longer_than_the_ring_is_executed() {
    let mut b = Bench::running();
    let mut packet = type3(op::NOP, &vec![7; 600]);
    packet.extend(type0(scratch(2), &[9]));
    for piece in packet.chunks(100) {
        b.ring(piece);
    }
    assert_eq!(b.read(scratch(2)), 9);
}

#[test]
fn the_read_pointer_is_written_back_per_block_and_when_empty() {
    let mut b = Bench::running();
    // Blocks are 16 dwords. Nothing runs while the CP is held in reset; then it is let go step by step.
    for _ in 0..20 {
        b.put(b.wptr * 4, &[2 << 30]);
        b.wptr += 1;
    }
    b.put(WRITE_BACK, &[0xffff]);
    b.write(mmio::CP_RB_WPTR, b.wptr);
    for _ in 0..15 {
        b.chip.step(&mut b.m);
    }
    assert_eq!(b.get(WRITE_BACK), 0xffff);
    b.chip.step(&mut b.m);
    assert_eq!(b.get(WRITE_BACK), 16);
    b.run();
    assert_eq!(b.get(WRITE_BACK), 20);
    b.write(
        mmio::CP_RB_CNTL,
        b.chip.regs.get(mmio::CP_RB_CNTL) | mmio::cp_rb_cntl::RB_NO_UPDATE.mask(),
    );
    b.ring(&[2 << 30]);
    assert_eq!((b.get(WRITE_BACK), b.read(mmio::CP_RB_RPTR)), (20, 21));
}

#[test]
fn overrunning_the_ring_is_found() {
    let mut b = Bench::running();
    b.m.faults.arm(fault::HANG, None);
    b.write(mmio::CP_RB_WPTR, 200);
    b.run();
    b.write(mmio::CP_RB_WPTR, 100);
    assert_eq!(b.findings(), [(kind::RING_OVERRUN, 1)]);
    b.write(mmio::CP_RB_WPTR, RING_DWORDS);
    assert_eq!(b.findings(), [(kind::RING_POINTER, 1)]);
}

#[test]
fn the_write_pointer_waits_in_its_staging_register() {
    let mut b = Bench::running();
    b.write(
        mmio::CP_RB_WPTR_DELAY,
        mmio::cp_rb_wptr_delay::PRE_WRITE_TIMER.of(10_000_000),
    );
    b.put(RING, &type0(scratch(0), &[5]));
    b.write(mmio::CP_RB_WPTR, 2);
    assert!(matches!(b.chip.step(&mut b.m), Step::At(t) if t > Instant::now()));
    assert_eq!(b.read(scratch(0)), 0);
    std::thread::sleep(Duration::from_millis(25));
    b.run();
    assert_eq!(b.read(scratch(0)), 5);
}

#[test]
fn the_ring_must_not_change_under_a_running_cp() {
    let mut b = Bench::running();
    b.m.faults.arm(fault::HANG, Some(1));
    b.ring(&[2 << 30]);
    b.write(mmio::CP_RB_BASE, GTT + 0x8000);
    assert_eq!(b.findings(), [(kind::CP_RECONFIGURED, 1)]);
}

#[test]
fn a_read_pointer_is_given_only_while_that_is_enabled() {
    let mut b = Bench::running();
    let cntl = b.read(mmio::CP_RB_CNTL);
    b.write(mmio::CP_RB_RPTR_WR, 0);
    assert_eq!(b.findings(), [(kind::RING_POINTER, 1)]);
    b.write(mmio::CP_CSQ_CNTL, 0);
    let gives = cntl | mmio::cp_rb_cntl::RB_RPTR_WR_ENA.mask();
    // At once; in a time that passes before the chip takes its next step; later.
    let cases = [
        (0, vec![]),
        (64, vec![]),
        (u32::MAX, vec![(kind::RING_POINTER, 1)]),
    ];
    for (delay, found) in cases {
        b.write(mmio::CP_RB_WPTR_DELAY, delay);
        b.write(mmio::CP_RB_CNTL, gives);
        b.write(mmio::CP_RB_RPTR_WR, 8);
        b.write(mmio::CP_RB_WPTR, 8);
        std::thread::sleep(Duration::from_millis(2));
        b.write(mmio::CP_RB_CNTL, cntl);
        assert_eq!(b.findings(), found, "delay {delay:#x}");
    }
}
