// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Packets beyond register writes: draws, waits, conditions.

use super::{Bench, GTT, IB, scratch, type0, type3};
use crate::kind;
use lapidary_registers::r500::mmio;
use lapidary_registers::r500::pm4::op;

#[test]
fn draws_are_counted_and_not_executed() {
    let mut b = Bench::running();
    b.ring(&type3(
        op::_3D_LOAD_VBPNTR,
        &[2, 0x0201_0201, GTT, GTT + 64],
    ));
    b.ring(&type3(op::_3D_DRAW_VBUF_2, &[0x0003_0024]));
    b.write(mmio::VAP_VTX_SIZE, 4);
    b.ring(&type3(op::_3D_DRAW_IMMD_2, &[0x0001_0031, 1, 2, 3, 4]));
    assert_eq!(b.m.counters.get("draws_not_executed"), 2);
    assert_eq!(b.read(mmio::VAP_VTX_NUM_ARRAYS), 2);
    assert_eq!(b.read(mmio::VAP_VTX_AOS_ADDR_ODD.at(0).unwrap()), GTT + 64);
    b.ring(&type3(op::_3D_LOAD_VBPNTR, &[3, 0, 0, 0]));
    assert_eq!(b.findings(), [(kind::PACKET_LENGTH, 1)]);
}

#[test]
fn an_index_buffer_is_loaded_into_its_register() {
    let mut b = Bench::running();
    let indices: Vec<u32> = (0..600).collect();
    b.put(IB, &indices);
    let one = 1 << 31;
    b.ring(&type3(op::_3D_DRAW_INDX_2, &[0x0258_0014]));
    b.ring(&type3(
        op::INDX_BUFFER,
        &[one | (scratch(0) / 4), GTT + IB, 600],
    ));
    assert_eq!(b.read(scratch(0)), 599);
    assert_eq!(b.m.counters.get("indices_loaded"), 600);
    // To consecutive registers, without the first two dwords.
    b.ring(&type3(
        op::INDX_BUFFER,
        &[(2 << 16) | (scratch(1) / 4), GTT + IB, 5],
    ));
    assert_eq!([1, 2, 3].map(|i| b.read(scratch(i))), [2, 3, 4]);
    b.ring(&type0(scratch(0), &[1]));
    assert_eq!(b.read(scratch(0)), 1, "the ring goes on");
    b.ring(&type3(
        op::INDX_BUFFER,
        &[one | (scratch(0) / 4), 0x5000_0000, 1],
    ));
    assert_eq!(b.findings(), [(kind::ADDRESS_UNMAPPED, 1)]);
}

#[test]
fn mpeg_index_writes_what_its_mask_says() {
    let mut b = Bench::running();
    // VAP_OUT_VTX_FMT_1, TX_ENABLE and RB3D_COLORPITCH of target 0; one quad.
    let mask = (1 << 7) | (1 << 11) | (1 << 19);
    b.ring(&type3(
        op::MPEG_INDEX,
        &[mask, 1, 2, 0x40, 0x0004_001d, 1, 0],
    ));
    assert_eq!(b.read(mmio::VAP_OUT_VTX_FMT_1), 1);
    assert_eq!(b.read(mmio::TX_ENABLE), 2);
    assert_eq!(b.read(mmio::RB3D_COLORPITCH.at(0).unwrap()), 0x40);
    assert_eq!(b.m.counters.get("draws_not_executed"), 1);
    b.ring(&type3(op::MPEG_INDEX, &[1 << 12, 0, 0x0004_001d, 1, 0]));
    b.ring(&type3(op::MPEG_INDEX, &[0xf_ffff, 0]));
    assert_eq!(
        b.findings(),
        [
            (kind::UNDEFINED_REGISTER_WRITE, 1),
            (kind::PACKET_LENGTH, 1)
        ]
    );
}

#[test]
fn a_wait_for_a_dark_display_hangs() {
    let mut b = Bench::running();
    let wait = type0(
        mmio::WAIT_UNTIL,
        &[mmio::wait_until::WAIT_CRTC_VLINE.mask()],
    );
    b.write(mmio::D1CRTC_CONTROL, 1);
    b.ring(&wait);
    assert!(!b.busy());
    b.write(mmio::D1CRTC_CONTROL, 0);
    b.ring(&wait);
    b.ring(&type0(scratch(0), &[1]));
    assert!(b.busy());
    assert_eq!(b.read(scratch(0)), 0);
    assert_eq!(b.findings(), [(kind::WAIT_FOREVER, 1)]);
}

#[test]
fn waiting_for_a_semaphore() {
    let mut b = Bench::running();
    b.write(mmio::CP_ME_RAM_ADDR, 0xfe);
    b.write(mmio::CP_ME_RAM_DATAL, 1);
    b.ring(&type3(op::WAIT_SEMAPHORE, &[0xfe, 5]));
    b.ring(&type0(scratch(0), &[1]));
    assert!(b.busy() && b.read(scratch(0)) == 0);
    b.write(mmio::CP_ME_RAM_ADDR, 0xfe);
    b.write(mmio::CP_ME_RAM_DATAL, 0);
    b.run();
    assert_eq!(b.read(scratch(0)), 1);
    assert_eq!(b.chip.cp.me.word(0xfe), 5);
    b.ring(&type3(op::WAIT_SEMAPHORE, &[0xfb]));
    assert_eq!(b.findings(), [(kind::RESERVED_VALUE, 1)]);
}

#[test]
fn waiting_for_memory() {
    let mut b = Bench::running();
    b.put(IB, &[1, 2]);
    b.ring(&type3(op::WAIT_MEM, &[GTT + IB, 2]));
    b.ring(&type0(scratch(0), &[1]));
    assert!(b.busy() && b.read(scratch(0)) == 0);
    b.put(IB, &[0]);
    b.run();
    assert_eq!(b.read(scratch(0)), 1);
}

#[test]
fn conditional_and_predicated_execution() {
    let mut b = Bench::running();
    for (boolean, expected) in [(0u32, 0), (1, 7)] {
        b.put(IB, &[boolean, 2]);
        b.write(scratch(0), 0);
        let mut words = type3(op::COND_EXEC, &[GTT + IB, 2, 2]);
        words.extend(type0(scratch(0), &[7]));
        words.extend(type0(scratch(1), &[boolean + 1]));
        b.ring(&words);
        assert_eq!(
            (b.read(scratch(0)), b.read(scratch(1))),
            (expected, boolean + 1)
        );
    }
    for (devices, expected) in [(0x02u32, 0), (0x01, 7), (0xff, 7)] {
        b.write(scratch(0), 0);
        let mut words = type3(op::PRED_EXEC, &[(devices << 24) | 2]);
        words.extend(type0(scratch(0), &[7]));
        b.ring(&words);
        assert_eq!(b.read(scratch(0)), expected);
    }
}
