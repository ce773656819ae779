// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The DMA engines: tables, direct descriptors, abort.

use super::super::FIRMWARE_FB;
use super::{Bench, GTT, IB, RING, scratch, type0};
use crate::kind;
use lapidary_model::chip::Chip;
use lapidary_model::chip::Step;
use lapidary_registers::r500::mmio;
use lapidary_registers::r500::pm4::dma_command;
use std::time::Duration;

#[test]
fn a_dma_table_moves_bytes_and_interrupts() {
    let mut b = Bench::running();
    b.write(mmio::GEN_INT_CNTL, mmio::gen_int_cntl::GUIDMA_INT_EN.mask());
    b.put(IB, &[0x0403_0201, 0x0807_0605]);
    // A copy with odd addresses, one into a register, one that does nothing and ends the table.
    let table: [[u32; 4]; 3] = [
        [GTT + IB + 1, FIRMWARE_FB + 0x101, 6, 0],
        [GTT + IB, scratch(5), 4 | dma_command::DAS.mask(), 0],
        [0, 0, dma_command::EOL.mask(), 0],
    ];
    for (i, d) in table.iter().flatten().enumerate() {
        b.m.vram.write(0x1000 + i as u64 * 4, &d.to_le_bytes());
    }
    b.write(mmio::DMA_GUI_TABLE_ADDR, FIRMWARE_FB + 0x1000);
    assert!(mmio::dma_gui_status::ACTIVE.any(b.read(mmio::DMA_GUI_STATUS)));
    b.run();
    assert_eq!((b.vram(0x100), b.vram(0x104)), (0x0403_0200, 0x0007_0605));
    assert_eq!(b.read(scratch(5)), 0x0403_0201);
    assert_eq!(b.interrupts(), 1);
    assert!(!mmio::dma_gui_status::ACTIVE.any(b.read(mmio::DMA_GUI_STATUS)));
}

#[test]
fn direct_descriptors_by_packet_and_the_wait_for_them() {
    let mut b = Bench::running();
    b.put(IB, &[0xdead_beef; 4]);
    let done = dma_command::EOL.mask() | dma_command::INTDIS.mask();
    let mut words = type0(mmio::CP_VID_SRC_ADDR, &[GTT + IB, FIRMWARE_FB, 8 | done]);
    words.extend(type0(
        mmio::CP_GUI_SRC_ADDR,
        &[GTT + IB, FIRMWARE_FB + 8, 8 | done],
    ));
    let both =
        mmio::wait_until::WAIT_DMA_GUI_IDLE.mask() | mmio::wait_until::WAIT_DMA_VID_IDLE.mask();
    words.extend(type0(mmio::WAIT_UNTIL, &[both]));
    words.extend(type0(
        mmio::HOST_PATH_CNTL,
        &[mmio::host_path_cntl::HDP_READ_BUFFER_INVALIDATE.mask()],
    ));
    words.extend(type0(scratch(0), &[1]));
    b.ring(&words);
    while b.busy() {
        std::thread::sleep(Duration::from_millis(1));
        b.run();
    }
    assert_eq!([0, 4, 8, 12].map(|o| b.vram(o)), [0xdead_beef; 4]);
    assert_eq!((b.read(scratch(0)), b.read(mmio::GEN_INT_STATUS)), (1, 0));
}

#[test]
fn a_table_without_end_is_aborted() {
    let mut b = Bench::running();
    // All of VRAM is a table of descriptors that do nothing, until its end.
    b.write(mmio::DMA_VID_TABLE_ADDR, FIRMWARE_FB + 1);
    for _ in 0..1000 {
        assert_eq!(b.chip.step(&mut b.m), Step::More);
    }
    b.put(RING, &type0(scratch(0), &[1]));
    b.write(mmio::CP_RB_WPTR, 2);
    for _ in 0..100 {
        b.chip.step(&mut b.m);
    }
    assert_eq!(b.read(scratch(0)), 0, "CP_SYNC keeps the streams away");
    b.write(mmio::DMA_VID_STATUS, mmio::dma_vid_status::ABORT_EN.mask());
    assert!(!mmio::dma_vid_status::ACTIVE.any(b.read(mmio::DMA_VID_STATUS)));
    b.write(mmio::DMA_VID_TABLE_ADDR, FIRMWARE_FB);
    assert_eq!(b.findings(), [(kind::DMA_DESCRIPTOR, 1)]);
    b.write(mmio::DMA_VID_STATUS, 0);
    b.run();
    assert_eq!(b.read(scratch(0)), 1);
}
