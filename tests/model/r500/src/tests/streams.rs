// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Indirect buffers, pushed streams, microcode, and the reset of the command processor.

use super::{Bench, GTT, IB, IB2, scratch, type0};
use crate::fault;
use crate::kind;
use lapidary_registers::r500::mmio;
use std::time::Duration;

#[test]
fn indirect_buffers_nest_and_return() {
    let mut b = Bench::running();
    let mut ib = type0(scratch(0), &[1]);
    ib.extend(type0(mmio::CP_IB2_BASE, &[GTT + IB2, 2]));
    ib.extend(type0(scratch(2), &[b.wptr + 3]));
    b.put(IB, &ib);
    b.put(IB2, &type0(scratch(1), &[2]));
    let mut ring = type0(mmio::CP_IB_BASE, &[GTT + IB, ib.len() as u32]);
    ring.extend(type0(scratch(3), &[4]));
    b.ring(&ring);
    assert_eq!([0, 1, 2, 3].map(|i| b.read(scratch(i))), [1, 2, 3, 4]);
    assert_eq!(b.m.counters.get("indirect_buffers"), 2);
}

#[test]
fn indirect_buffers_must_be_started_by_the_rules() {
    let mut b = Bench::running();
    b.put(IB, &type0(scratch(0), &[1]));
    // IB2 from the ring, IB1 by the CPU, IB1 from inside itself.
    b.ring(&type0(mmio::CP_IB2_BASE, &[GTT + IB, 2]));
    b.write(mmio::CP_IB_BUFSZ, 2);
    b.run();
    let inside = type0(mmio::CP_IB_BASE, &[GTT + IB, 2]);
    b.put(IB2, &inside);
    b.ring(&type0(mmio::CP_IB_BASE, &[GTT + IB2, 3]));
    assert_eq!(b.findings(), [(kind::IB_NESTING, 3)]);
    assert_eq!(b.read(scratch(0)), 0);
    // A size that is not the packet's last write.
    b.put(IB, &type0(scratch(0), &[1]));
    b.write(mmio::CP_IB_BASE, GTT + IB);
    b.ring(&[
        (1 << 30) | ((scratch(5) / 4) << 11) | (mmio::CP_IB_BUFSZ / 4),
        2,
        0,
    ]);
    assert_eq!(b.findings(), [(kind::IB_TRIGGER_NOT_LAST, 1)]);
    // A packet that the buffer cuts off; the ring goes on.
    b.put(IB, &type0(scratch(0), &[7, 7]));
    b.ring(&type0(mmio::CP_IB_BASE, &[GTT + IB, 2]));
    b.ring(&type0(scratch(1), &[8]));
    assert_eq!(b.findings(), [(kind::PACKET_CROSSES_BUFFER, 1)]);
    assert_eq!((b.read(scratch(0)), b.read(scratch(1))), (1, 8));
}

#[test]
fn nothing_runs_before_the_microcode() {
    let mut b = Bench::new();
    b.start(mmio::cp_csq_cntl::csq_mode::PRIBM_INDBM);
    b.ring(&type0(scratch(0), &[1]));
    assert_eq!(b.findings(), [(kind::NO_MICROCODE, 1)]);
    assert_eq!(b.read(scratch(0)), 0);
    assert!(b.busy());
    b.load_microcode();
    b.run();
    assert_eq!(b.read(scratch(0)), 1);
    assert_eq!(b.findings(), [(kind::CP_RECONFIGURED, 1)]);
}

#[test]
fn microcode_reads_back_in_forty_bits() {
    let mut b = Bench::new();
    b.load_microcode();
    b.write(mmio::CP_ME_RAM_RADDR, 0x80);
    for i in [0x80u32, 0x81, 0x82] {
        assert_eq!(b.read(mmio::CP_ME_RAM_DATAH), i);
        assert_eq!(b.read(mmio::CP_ME_RAM_DATAL), i * 0x0101_0101);
    }
}

#[test]
fn the_push_model() {
    let mut b = Bench::new();
    b.load_microcode();
    b.start(mmio::cp_csq_cntl::csq_mode::PRIPIO_INDPIO);
    let primary = |i: u32| mmio::CP_CSQ_APER_PRIMARY.at(i).unwrap();
    // The place inside the aperture does not matter.
    for (i, w) in type0(scratch(0), &[1, 2]).into_iter().enumerate() {
        b.write(primary(5 - i as u32), w);
    }
    b.run();
    assert_eq!((b.read(scratch(0)), b.read(scratch(1))), (1, 2));
    // An indirect stream that is pushed needs its size first.
    let words = type0(scratch(2), &[3]);
    b.write(mmio::CP_IB_BUFSZ, words.len() as u32);
    for w in words {
        b.write(mmio::CP_CSQ_APER_INDIRECT.at(0).unwrap(), w);
    }
    b.run();
    assert_eq!(b.read(scratch(2)), 3);
    let used = b.read(mmio::CP_CSQ_CNTL);
    assert_eq!(mmio::cp_csq_cntl::CSQ_CNT_PRIMARY.get(used), 128);
    b.m.faults.arm(fault::HANG, Some(1));
    for _ in 0..131 {
        b.write(primary(0), 2 << 30);
        b.run();
    }
    assert_eq!(b.findings(), [(kind::PUSH_OVERFLOW, 3)]);
}

#[test]
fn pushing_into_a_pulled_stream_is_found() {
    let mut b = Bench::running();
    b.write(mmio::CP_CSQ_APER_PRIMARY.at(0).unwrap(), 0);
    assert_eq!(b.findings(), [(kind::PUSH_WITHOUT_PUSH_MODE, 1)]);
}

#[test]
fn an_endless_buffer_needs_a_reset() {
    let mut b = Bench::running();
    b.m.faults.arm(fault::ENDLESS_BUFFER, Some(1));
    b.put(IB, &type0(scratch(0), &[1]));
    b.ring(&type0(mmio::CP_IB_BASE, &[GTT + IB, 2]));
    b.ring(&type0(scratch(1), &[1]));
    for _ in 0..3 {
        std::thread::sleep(Duration::from_millis(2));
        b.write(scratch(0), 0);
        b.run();
        assert_eq!(
            (b.read(scratch(0)), b.read(scratch(1))),
            (1, 0),
            "over and over"
        );
    }
    assert!(b.busy());
    b.write(mmio::CP_CSQ_CNTL, 0);
    b.write(
        mmio::RBBM_SOFT_RESET,
        mmio::rbbm_soft_reset::SOFT_RESET_CP.mask(),
    );
    b.read(mmio::RBBM_SOFT_RESET);
    b.write(mmio::RBBM_SOFT_RESET, 0);
    assert!(!b.busy());
}
