// SPDX-License-Identifier: GPL-2.0 OR MIT

//! How the CPU learns that something is done: scratch registers, interrupts, flushes, and the faults in between.

use super::super::FIRMWARE_FB;
use super::{Bench, WRITE_BACK, scratch, type0, type3, wait_idle_clean};
use crate::fault;
use crate::kind;
use lapidary_model::chip::Chip;
use lapidary_registers::r500::mmio;
use lapidary_registers::r500::pm4::op;

#[test]
fn scratch_registers_are_written_to_memory_by_mask() {
    let mut b = Bench::running();
    b.write(mmio::SCRATCH_UMSK, 0b1000_0010);
    b.ring(&type0(scratch(0), &[10, 11, 12, 13, 14, 15, 16, 17]));
    let copies: Vec<u32> = (0..8).map(|i| b.get(WRITE_BACK + 0x100 + i * 4)).collect();
    assert_eq!(copies, [0, 11, 0, 0, 0, 0, 0, 17]);
    b.write(scratch(1), 99);
    assert_eq!(
        b.get(WRITE_BACK + 0x104),
        99,
        "the CPU's writes are copied too"
    );
}

#[test]
fn resynchronised_writes_wait_for_the_back_end() {
    let mut b = Bench::running();
    b.write(mmio::SCRATCH_UMSK, 0xff);
    b.ring(&type0(mmio::CP_RESYNC_ADDR, &[3, 77]));
    assert_eq!(b.read(scratch(3)), 0);
    b.ring(&type0(
        mmio::RB3D_DSTCACHE_CTLSTAT,
        &[mmio::rb3d_dstcache_ctlstat::DC_FINISH.mask()],
    ));
    assert_eq!((b.read(scratch(3)), b.get(WRITE_BACK + 0x10c)), (77, 77));
    for i in 0..9 {
        b.ring(&type0(mmio::CP_RESYNC_ADDR, &[0, i]));
    }
    assert_eq!(b.findings(), [(kind::PUSH_OVERFLOW, 1)]);
}

#[test]
fn a_packet_raises_the_software_interrupt() {
    let mut b = Bench::running();
    let fire = type0(
        mmio::GEN_INT_STATUS,
        &[mmio::gen_int_status::SW_INT_SET.mask()],
    );
    b.ring(&fire);
    assert_eq!(b.interrupts(), 0, "not enabled");
    assert_eq!(
        b.read(mmio::GEN_INT_STATUS),
        mmio::gen_int_status::SW_INT.mask()
    );
    b.write(mmio::GEN_INT_CNTL, mmio::gen_int_cntl::SW_INT_EN.mask());
    assert_eq!(b.interrupts(), 1, "enabling shows what is pending");
    b.write(mmio::GEN_INT_STATUS, mmio::gen_int_status::SW_INT.mask());
    assert_eq!(b.read(mmio::GEN_INT_STATUS), 0);
    b.ring(&fire);
    assert_eq!(b.interrupts(), 0, "MSI was not re-armed");
    b.write(mmio::MSI_REARM_EN, 1);
    assert_eq!(b.interrupts(), 1);
    b.ring(&fire);
    assert_eq!(b.interrupts(), 0, "still pending");
}

#[test]
fn a_display_interrupts_until_its_source_is_off() {
    let mut b = Bench::running();
    let fire = type0(
        mmio::GEN_INT_STATUS,
        &[mmio::gen_int_status::SW_INT_SET.mask()],
    );
    let sw_int = mmio::gen_int_status::SW_INT.mask();
    let display = mmio::gen_int_status::DISPLAY_INT_STAT.mask();
    b.m.faults.arm(fault::DISPLAY_INTERRUPT, Some(1));
    b.ring(&fire);
    assert_eq!(b.read(mmio::GEN_INT_STATUS), sw_int | display);
    assert_ne!(b.read(mmio::DXMODE_INT_MASK), 0);
    assert_eq!(b.interrupts(), 1, "it needs no enable");
    // It cannot be acknowledged, and each message is followed by another.
    b.write(mmio::GEN_INT_STATUS, sw_int | display);
    assert_eq!(b.read(mmio::GEN_INT_STATUS), display);
    b.write(mmio::MSI_REARM_EN, 1);
    assert_eq!(b.interrupts(), 1);
    b.write(mmio::DXMODE_INT_MASK, 0);
    assert_eq!(b.read(mmio::GEN_INT_STATUS), 0);
    b.write(mmio::MSI_REARM_EN, 1);
    assert_eq!(b.interrupts(), 0);
    // The fault is over.
    b.ring(&fire);
    assert_eq!(b.read(mmio::GEN_INT_STATUS), sw_int);
}

#[test]
fn faults_happen() {
    let mut b = Bench::running();
    b.write(mmio::SCRATCH_UMSK, 1);
    b.write(mmio::GEN_INT_CNTL, mmio::gen_int_cntl::SW_INT_EN.mask());
    b.m.faults.arm(fault::LOST_WRITEBACK, Some(1));
    b.ring(&type0(scratch(0), &[1]));
    assert_eq!((b.read(scratch(0)), b.get(WRITE_BACK + 0x100)), (1, 0));
    b.m.faults.arm(fault::LOST_INTERRUPT, Some(1));
    b.ring(&type0(
        mmio::GEN_INT_STATUS,
        &[mmio::gen_int_status::SW_INT_SET.mask()],
    ));
    assert_eq!(
        (b.interrupts(), b.read(mmio::GEN_INT_STATUS)),
        (0, mmio::gen_int_status::SW_INT.mask())
    );
    b.m.faults.arm(fault::LOST_RPTR, Some(1));
    let before = b.get(WRITE_BACK);
    b.ring(&[2 << 30]);
    assert_eq!(b.get(WRITE_BACK), before);
    b.m.faults.arm(fault::LATE_FENCE, Some(1));
    b.ring(&type0(scratch(0), &[2]));
    assert!(b.busy());
    assert_eq!(b.read(scratch(0)), 1);
    std::thread::sleep(crate::fault::LATE);
    b.run();
    assert_eq!((b.read(scratch(0)), b.get(WRITE_BACK + 0x100)), (2, 2));
    b.m.faults.arm(fault::FENCE_AT_HALT, Some(1));
    b.ring(&type0(scratch(0), &[3]));
    b.ring(&type0(scratch(0), &[4]));
    assert!(b.busy());
    assert_eq!(b.read(scratch(0)), 2);
    b.write(mmio::CP_CSQ_CNTL, 0);
    b.run();
    assert!(!b.busy());
    assert_eq!((b.read(scratch(0)), b.get(WRITE_BACK + 0x100)), (3, 3));
}

/// Return PAINT_MULTI of a 4 by 4 rectangle at the start of VRAM, 32 bits a pixel.
fn paint() -> Vec<u32> {
    use lapidary_registers::r500::pm4::gui_control as g;
    let gui = g::DST_PITCH_OFF.of(1)
        | g::BRUSH_TYPE.of(13)
        | g::DST_TYPE.of(6)
        | g::WIN31_ROP.of(0xf0)
        | g::GMC_CLR_CMP_FCN_DIS.of(1)
        | g::GMC_WR_MSK_DIS.of(1);
    type3(
        op::PAINT_MULTI,
        &[
            gui,
            (FIRMWARE_FB >> 10) | (1 << 22),
            0xa5a5_a5a5,
            0,
            (4 << 16) | 4,
        ],
    )
}

#[test]
fn drawing_must_be_flushed_before_its_completion() {
    let mut b = Bench::running();
    b.write(mmio::SCRATCH_UMSK, 1);
    b.open_scissors();
    b.ring(&paint());
    assert_eq!(b.vram(0), 0xa5a5_a5a5);
    b.ring(&type0(scratch(0), &[1]));
    let found = b.findings();
    assert_eq!(found, [(kind::COMPLETION_BEFORE_FLUSH, 1)]);
    b.ring(&paint());
    b.ring(&type0(
        mmio::DSTCACHE_CTLSTAT,
        &[mmio::dstcache_ctlstat::DC_FLUSH.mask()],
    ));
    b.ring(&type0(scratch(0), &[2]));
    assert_eq!(b.findings(), [(kind::COMPLETION_BEFORE_HDP_INVALIDATE, 1)]);
    b.ring(&paint());
    b.ring(&type0(
        mmio::DSTCACHE_CTLSTAT,
        &[mmio::dstcache_ctlstat::DC_FLUSH.mask()],
    ));
    b.ring(&wait_idle_clean());
    b.ring(&type0(
        mmio::HOST_PATH_CNTL,
        &[mmio::host_path_cntl::HDP_READ_BUFFER_INVALIDATE.mask()],
    ));
    b.ring(&type0(scratch(0), &[3]));
    assert_eq!(b.findings(), []);
    b.ring(&paint());
    b.ring(&wait_idle_clean());
    assert_eq!(
        b.findings(),
        [(kind::WAIT_ON_DIRTY_CACHE, 1)],
        "nothing would ever clean it"
    );
    b.write(
        mmio::RB2D_DSTCACHE_MODE,
        mmio::rb2d_dstcache_mode::DC_AUTOFLUSH_ENABLE.mask(),
    );
    b.ring(&paint());
    b.ring(&wait_idle_clean());
}

#[test]
fn the_cpu_sees_drawing_through_the_read_buffer() {
    let mut b = Bench::running();
    b.open_scissors();
    b.ring(&paint());
    b.chip.vram_read(&mut b.m, 0, &mut [0; 4]);
    b.ring(&type0(
        mmio::DSTCACHE_CTLSTAT,
        &[mmio::dstcache_ctlstat::DC_FLUSH.mask()],
    ));
    b.chip.vram_read(&mut b.m, 0, &mut [0; 4]);
    assert_eq!(b.findings(), [(kind::STALE_READ, 2)]);
    b.write(
        mmio::HOST_PATH_CNTL,
        mmio::host_path_cntl::HDP_READ_BUFFER_INVALIDATE.mask(),
    );
    b.chip.vram_read(&mut b.m, 0, &mut [0; 4]);
}
