// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Register accesses: state after power-on, windows, what is undefined.

use super::{Bench, FIRMWARE_FB, GTT, TABLE, VRAM, scratch, type3, wait_idle_clean};
use crate::kind;
use lapidary_model::chip::Chip;
use lapidary_model::chip::State;
use lapidary_registers::r500::mc_rv515;
use lapidary_registers::r500::mmio;
use lapidary_registers::r500::pcie;
use std::time::Duration;

#[test]
fn a_fresh_card_is_idle_and_posted() {
    let mut b = Bench::new();
    assert_eq!(b.read(mmio::RBBM_STATUS), 0x40);
    assert_eq!(u64::from(b.read(mmio::CONFIG_MEMSIZE)), VRAM);
    b.write(mmio::MC_IND_INDEX, mc_rv515::MC_FB_LOCATION | 0x7f_0000);
    assert_eq!(b.read(mmio::MC_IND_DATA), 0xc03f_c000);
    b.write(mmio::MC_IND_INDEX, mc_rv515::MC_STATUS | 0x7f_0000);
    assert!(mc_rv515::mc_status::MC_IDLE.any(b.read(mmio::MC_IND_DATA)));
    assert_eq!(b.read(mmio::D1CRTC_CONTROL), 0);
    let mut u = Bench::with(State::Unposted);
    assert_eq!(u.read(mmio::CONFIG_MEMSIZE), 0);
}

#[test]
fn an_active_crtc_counts_and_is_watched() {
    let mut b = Bench::with(State::Crtc);
    assert_ne!(b.read(mmio::D1CRTC_CONTROL) & 1, 0);
    for line in 0..480 {
        assert_ne!(
            b.vram(line * 640 * 4),
            b.vram((line + 1) % 480 * 640 * 4),
            "the picture shows damage"
        );
    }
    let first = b.read(mmio::D1CRTC_STATUS_FRAME_COUNT);
    std::thread::sleep(Duration::from_millis(20));
    assert_ne!(b.read(mmio::D1CRTC_STATUS_FRAME_COUNT), first);
    b.write(mmio::MC_IND_INDEX, mc_rv515::MC_FB_LOCATION | 0xff_0000);
    b.write(mmio::MC_IND_DATA, 0xc03f_c000);
    assert!(b.findings().is_empty(), "the same value moves nothing");
    b.write(mmio::MC_IND_DATA, 0x003f_0000);
    assert_eq!(b.findings(), [(kind::SCANOUT_MOVED, 1)]);
    b.write(mmio::D1CRTC_CONTROL, 0);
    b.write(mmio::MC_IND_DATA, 0xc03f_c000);
    assert!(b.findings().is_empty(), "found again");
}

#[test]
fn the_second_crtc_is_watched_too() {
    let mut b = Bench::sized(State::Crtcs, 16 << 20, 16 << 20);
    let read: Vec<_> = b.chip.bus.scanouts.iter().flatten().copied().collect();
    assert_eq!(read.len(), 2);
    assert_eq!(read[1].len, 512 * 304 * 2);
    assert!(read[1].start >= read[0].start + read[0].len);
    b.write(mmio::D1CRTC_CONTROL, 0);
    b.write(mmio::MC_IND_INDEX, mc_rv515::MC_FB_LOCATION | 0xff_0000);
    b.write(mmio::MC_IND_DATA, 0x003f_0000);
    assert_eq!(b.findings(), [(kind::SCANOUT_MOVED, 1)]);
}

#[test]
fn an_aperture_over_memory_is_found_when_streams_begin() {
    let begin = |location: u32| {
        let mut b = Bench::new();
        b.load_microcode();
        b.write(mmio::MC_IND_INDEX, mc_rv515::MC_AGP_LOCATION | 0xff_0000);
        b.write(mmio::MC_IND_DATA, location);
        b.start(mmio::cp_csq_cntl::csq_mode::PRIBM_INDBM);
        b.findings()
    };
    // Off, in the two ways in which drivers and firmware say it; beside everything.
    for location in [0x0000_ffff, 0xffff_ffff, 0x1fff_0000, 0xffff_d000] {
        assert_eq!(begin(location), []);
    }
    for location in [0xffff_0000, 0x2000_0000, 0xc03f_c03e] {
        assert_eq!(begin(location), [(kind::AGP_OVER_MEMORY, 1)]);
    }
}

#[test]
fn memory_is_not_moved_while_its_controller_works() {
    let mut b = Bench::with(State::Careless);
    let place = |b: &mut Bench| {
        b.write(mmio::MC_IND_INDEX, mc_rv515::MC_FB_LOCATION | 0xff_0000);
        b.write(mmio::MC_IND_DATA, 0xc03f_c000);
    };
    // The bench has moved the page table that was in force.
    assert_eq!(b.findings(), [(kind::GART_MOVED, 3)]);
    place(&mut b);
    assert_eq!(b.findings(), [(kind::MC_BUSY, 1)]);
    b.write(mmio::MC_IND_INDEX, mc_rv515::MC_STATUS | 0x7f_0000);
    let mut looks = 0;
    while !mc_rv515::mc_status::MC_IDLE.any(b.read(mmio::MC_IND_DATA)) {
        looks += 1;
    }
    assert_eq!(looks, 3);
    // Streams are on, as the kernel before has left them.
    place(&mut b);
    assert_eq!(b.findings(), [(kind::MC_BUSY, 1)]);
    b.write(mmio::CP_CSQ_CNTL, 0);
    place(&mut b);
    assert_eq!(b.findings(), []);
}

#[test]
fn a_page_table_is_not_moved_in_use() {
    let mut b = Bench::new();
    b.pcie(pcie::PCIE_TX_GART_BASE, FIRMWARE_FB + TABLE as u32);
    assert_eq!(b.findings(), [], "it is there already");
    b.pcie(pcie::PCIE_TX_GART_START_LO, GTT + 0x1000);
    assert_eq!(b.findings(), [(kind::GART_MOVED, 1)]);
    b.pcie(pcie::PCIE_TX_GART_CNTL, 0);
    b.pcie(pcie::PCIE_TX_GART_START_LO, GTT);
    assert_eq!(b.findings(), []);
}

#[test]
fn undefined_registers_and_packets_are_found() {
    let mut b = Bench::running();
    assert_eq!(b.read(0xfff0), 0);
    b.write(0xfff0, 1);
    b.write(mmio::RBBM_STATUS, 1);
    b.ring(&type3(0x77, &[0]));
    assert_eq!(
        b.findings(),
        [
            (kind::UNDEFINED_REGISTER_READ, 1),
            (kind::UNDEFINED_REGISTER_WRITE, 1),
            (kind::READ_ONLY_REGISTER_WRITE, 1),
            (kind::UNDEFINED_PACKET, 1)
        ]
    );
}

#[test]
fn sync_registers_are_not_for_the_cpu() {
    let mut b = Bench::running();
    b.write(mmio::WAIT_UNTIL, 0);
    b.write(mmio::ISYNC_CNTL, 0);
    b.write(mmio::RBBM_GUICNTL, 0);
    assert_eq!(b.findings(), [(kind::UNQUEUED_SYNC_REGISTER, 3)]);
    b.ring(&wait_idle_clean());
}

#[test]
fn registers_through_mm_index() {
    let mut b = Bench::new();
    b.write(mmio::MM_INDEX, scratch(4));
    b.write(mmio::MM_DATA, 0x1234);
    assert_eq!(
        (b.read(mmio::MM_DATA), b.read(scratch(4))),
        (0x1234, 0x1234)
    );
    b.write(mmio::MM_INDEX, (1 << 31) | 0x100);
    b.write(mmio::MM_DATA, 0x5678);
    assert_eq!((b.vram(0x100), b.read(mmio::MM_DATA)), (0x5678, 0x5678));
    b.write(mmio::MM_INDEX, mmio::MM_DATA);
    b.read(mmio::MM_DATA);
    assert_eq!(b.findings(), [(kind::RESERVED_VALUE, 1)]);
}

#[test]
fn configuration_space_is_mirrored() {
    let mut b = Bench::new();
    let command = mmio::CONFIG_SPACE.base() + 4;
    b.m.functions[0].pci.write(4, &[0, 0]);
    assert_eq!(b.read(command) & 4, 0);
    b.m.functions[0].pci.write(4, &[4, 0]);
    assert_eq!(b.read(command) & 4, 4);
    assert_eq!(b.read(mmio::CONFIG_SPACE.base()) & 0xffff, 0x1002);
    b.write(command, 0);
    assert_eq!(b.findings(), [(kind::READ_ONLY_REGISTER_WRITE, 1)]);
    assert!(b.m.functions[0].pci.bus_master());
}

#[test]
fn clocks_take_byte_writes_of_their_index() {
    let mut b = Bench::new();
    b.chip.write(&mut b.m, mmio::CLOCK_CNTL_INDEX, 0x8d, 0xff);
    b.write(mmio::CLOCK_CNTL_DATA, 0x111);
    b.chip.write(&mut b.m, mmio::CLOCK_CNTL_INDEX, 0x0d, 0xff);
    assert_eq!(b.read(mmio::CLOCK_CNTL_DATA), 0x111);
    b.write(mmio::CLOCK_CNTL_DATA, 0);
    assert_eq!(b.findings(), [(kind::RESERVED_VALUE, 1)]);
}

#[test]
fn names_can_be_peeked() {
    let b = Bench::running();
    assert_eq!(b.chip.peek(&b.m, "RBBM_STATUS"), Some(0x40));
    assert_eq!(b.chip.peek(&b.m, "SCRATCH_REG[2]"), Some(0));
    assert_eq!(b.chip.peek(&b.m, "MC_FB_LOCATION"), Some(0xc03f_c000));
    assert_eq!(b.chip.peek(&b.m, "PCIE_TX_GART_START_LO"), Some(GTT));
    assert_eq!(b.chip.peek(&b.m, "NO_SUCH"), None);
}

#[test]
fn a_register_that_the_model_lacks_is_named_once() {
    let mut b = Bench::running();
    b.read(mmio::CP_ME_CNTL);
    b.write(mmio::CP_ME_CNTL, 0);
    // By a packet.
    b.ring(&[mmio::NQWAIT_UNTIL >> 2, 0]);
    let found = b.m.judge.take();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        (found[0].kind, found[0].count),
        (kind::UNIMPLEMENTED_REGISTER, 2)
    );
    let detail = &found[0].detail;
    assert!(detail.contains("CP_ME_CNTL read by the CPU"), "{detail}");
    assert!(detail.contains("NQWAIT_UNTIL written by ring"), "{detail}");
    let missing: Vec<_> = b.chip.touched().into_iter().filter(|t| t.missing).collect();
    let names: Vec<_> = missing.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["CP_ME_CNTL", "NQWAIT_UNTIL"]);
    b.chip.reset(&mut b.m);
    assert!(b.chip.touched().iter().any(|t| t.missing), "not forgotten");
    b.read(mmio::CP_ME_CNTL);
    assert!(b.findings().is_empty(), "and not named again");
}

#[test]
fn idle_units_are_taken_down_by_a_write_or_a_reset() {
    let mut b = Bench::new();
    assert_eq!(b.read(mmio::GA_IDLE), 0);
    b.write(mmio::GA_IDLE, 0);
    let idle = b.read(mmio::GA_IDLE);
    assert!(mmio::ga_idle::GA_IDLE.any(idle));
    let mut b = Bench::new();
    b.write(
        mmio::RBBM_SOFT_RESET,
        mmio::rbbm_soft_reset::SOFT_RESET_GA.mask(),
    );
    assert_eq!(b.read(mmio::GA_IDLE), idle);
}

#[test]
fn the_hosts_path_to_vram_must_be_right() {
    let mut b = Bench::new();
    b.write(mmio::HDP_FB_LOCATION, 0xc001);
    b.load_microcode();
    b.start(4);
    let found = b.findings();
    assert_eq!(found, [(kind::HOST_PATH_MISMATCH, 1)]);
}

#[test]
fn the_apertures_are_joined_when_vram_needs_both() {
    for (window, vram, apart, found) in [
        (VRAM, VRAM, true, 1),
        (VRAM, VRAM, false, 0),
        (VRAM / 4, VRAM, true, 1),
        (VRAM * 2, VRAM, true, 0),
    ] {
        let mut b = Bench::sized(State::Posted, vram, window);
        assert_eq!(u64::from(b.read(mmio::CONFIG_APER_SIZE)), window / 2);
        assert_ne!(b.read(mmio::HOST_PATH_CNTL), 0, "by the firmware");
        if apart {
            b.write(mmio::HOST_PATH_CNTL, 0);
        }
        b.load_microcode();
        b.start(4);
        assert_eq!(
            b.findings(),
            vec![(kind::HOST_PATH_MISMATCH, 1); found],
            "{window:#x}"
        );
    }
}
