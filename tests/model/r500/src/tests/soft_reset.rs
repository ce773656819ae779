// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Recovery: what hangs, what frees it, and the wrong ways.

use super::{Bench, GTT, IB, scratch, type0, type3};
use crate::fault;
use crate::kind;
use lapidary_model::chip::State;
use lapidary_registers::r500::mmio::{self, rbbm_soft_reset as bit, rbbm_status, wait_until};
use lapidary_registers::r500::pm4::op;

impl Bench {
    /// Switch streams off.
    fn stop(&mut self) {
        self.write(mmio::CP_CSQ_CNTL, 0);
    }

    /// Reset blocks as the manual has it.
    fn soft_reset(&mut self, bits: u32) {
        self.write(mmio::RBBM_SOFT_RESET, bits);
        assert_eq!(self.read(mmio::RBBM_SOFT_RESET), bits);
        self.write(mmio::RBBM_SOFT_RESET, 0);
    }

    /// Begin the ring anew.
    fn restart(&mut self) {
        self.wptr = 0;
        self.write(mmio::CP_RB_WPTR, 0);
        self.enable();
    }

    fn enable(&mut self) {
        use mmio::cp_csq_cntl::{CSQ_MODE, csq_mode};
        self.write(mmio::CP_CSQ_CNTL, CSQ_MODE.of(csq_mode::PRIBM_INDBM));
    }

    fn status(&mut self) -> u32 {
        self.read(mmio::RBBM_STATUS)
    }

    /// Submit a completion behind a wait for both engines.
    fn fence(&mut self, value: u32) {
        let wait = wait_until::WAIT_2D_IDLECLEAN.mask() | wait_until::WAIT_3D_IDLECLEAN.mask();
        let mut words = type0(mmio::WAIT_UNTIL, &[wait]);
        words.extend(type0(scratch(0), &[value]));
        self.ring(&words);
    }

    fn runs(&mut self, value: u32) {
        self.fence(value);
        assert_eq!(self.read(scratch(0)), value);
        assert_eq!(self.status(), 0x40);
    }
}

const CP: u32 = bit::SOFT_RESET_CP.mask();
const VAP: u32 = bit::SOFT_RESET_VAP.mask();
const GA: u32 = bit::SOFT_RESET_GA.mask();
const E2: u32 = bit::SOFT_RESET_E2.mask();

#[test]
fn a_clean_soft_reset_in_seven_steps() {
    let mut b = Bench::running();
    b.m.faults.arm(fault::HANG, Some(1));
    b.ring(&type0(scratch(0), &[1]));
    assert!(b.busy());
    b.write(mmio::CP_CSQ_CNTL, 0);
    b.write(mmio::CP_CSQ_MODE, 0);
    b.write(
        mmio::RBBM_SOFT_RESET,
        mmio::rbbm_soft_reset::SOFT_RESET_CP.mask(),
    );
    assert_ne!(b.read(mmio::RBBM_SOFT_RESET), 0);
    b.write(mmio::RBBM_SOFT_RESET, 0);
    assert_eq!(b.read(mmio::CP_RB_RPTR), 0);
    let cntl = b.read(mmio::CP_RB_CNTL);
    b.write(
        mmio::CP_RB_CNTL,
        cntl | mmio::cp_rb_cntl::RB_RPTR_WR_ENA.mask(),
    );
    b.write(mmio::CP_RB_RPTR_WR, 40);
    b.write(mmio::CP_RB_WPTR, 40);
    b.write(mmio::CP_RB_CNTL, cntl);
    b.write(
        mmio::CP_CSQ_CNTL,
        mmio::cp_csq_cntl::CSQ_MODE.of(mmio::cp_csq_cntl::csq_mode::PRIBM_INDBM),
    );
    b.run();
    assert!(!b.busy());
    assert_eq!((b.read(mmio::CP_RB_RPTR), b.read(scratch(0))), (40, 0));
    b.wptr = 40;
    b.ring(&type0(scratch(0), &[2]));
    assert_eq!(b.read(scratch(0)), 2, "the microcode has survived");
}

#[test]
fn a_reset_of_a_running_cp_is_found_and_runs_the_old_ring_again() {
    let mut b = Bench::running();
    b.ring(&type0(scratch(0), &[1]));
    b.write(scratch(0), 0);
    b.write(
        mmio::RBBM_SOFT_RESET,
        mmio::rbbm_soft_reset::SOFT_RESET_CP.mask(),
    );
    b.run();
    assert_eq!(b.read(scratch(0)), 0, "held in reset");
    b.read(mmio::RBBM_SOFT_RESET);
    b.write(mmio::RBBM_SOFT_RESET, 0);
    b.run();
    assert_eq!(b.findings(), [(kind::RESET_WHILE_ENABLED, 1)]);
    assert_eq!(
        b.read(scratch(0)),
        1,
        "the write pointer was not made equal"
    );
}

#[test]
fn a_stuck_3d_engine_is_free_after_ga_and_vap() {
    let mut b = Bench::running();
    b.m.faults.arm(fault::HANG_3D, Some(1));
    b.fence(1);
    let busy = b.status();
    for part in [
        rbbm_status::CP_CMDSTRM_BUSY,
        rbbm_status::VAP_BUSY,
        rbbm_status::GA_BUSY,
        rbbm_status::GUI_ACTIVE,
    ] {
        assert!(part.any(busy), "{busy:#x}");
    }
    assert!(!rbbm_status::E2_BUSY.any(busy));
    b.stop();
    b.soft_reset(CP);
    let busy = b.status();
    assert!(!rbbm_status::CP_CMDSTRM_BUSY.any(busy) && rbbm_status::VAP_BUSY.any(busy));
    // The ring starts, and hangs at the next wait.
    b.restart();
    assert_eq!(b.findings(), [(kind::RESET_SEQUENCE, 1)]);
    b.ring(&type0(scratch(1), &[5]));
    assert_eq!(b.read(scratch(1)), 5);
    b.fence(2);
    assert_eq!(b.read(scratch(0)), 0);

    b.stop();
    b.soft_reset(VAP);
    let busy = b.status();
    assert!(!rbbm_status::VAP_BUSY.any(busy) && rbbm_status::GA_BUSY.any(busy));
    b.soft_reset(GA | CP);
    assert_eq!(b.status(), 0x40);
    b.restart();
    b.runs(3);
}

#[test]
fn a_stuck_raster_pipe_needs_its_own_reset() {
    let mut b = Bench::running();
    b.m.faults.arm(fault::HANG_RASTER, Some(1));
    b.fence(1);
    b.stop();
    b.write(mmio::GA_SOFT_RESET, 0x200);
    assert_eq!(b.findings(), [(kind::RESET_SEQUENCE, 1)], "GA first");
    assert!(rbbm_status::GA_BUSY.any(b.status()));
    // The three blocks that the manual names together.
    b.soft_reset(0x32005);
    assert!(rbbm_status::GA_BUSY.any(b.status()));
    b.write(mmio::GA_SOFT_RESET, 0xff);
    assert_eq!(b.findings(), [(kind::RESET_SEQUENCE, 1)], "too short");
    assert!(rbbm_status::GA_BUSY.any(b.status()));
    assert!(!mmio::ga_idle::GA_IDLE.any(b.read(mmio::GA_IDLE)));
    b.write(mmio::GA_SOFT_RESET, 0x200);
    assert_eq!(b.status(), 0x40);
    b.restart();
    b.runs(2);
}

#[test]
fn a_stuck_2d_engine_is_free_after_e2() {
    let mut b = Bench::running();
    b.m.faults.arm(fault::HANG_2D, Some(1));
    b.fence(1);
    b.stop();
    b.soft_reset(CP | VAP | GA);
    assert!(rbbm_status::E2_BUSY.any(b.status()));
    b.soft_reset(E2);
    b.restart();
    b.runs(2);
}

#[test]
fn a_reset_may_not_help() {
    let mut b = Bench::running();
    b.m.faults.arm(fault::HANG, Some(1));
    b.m.faults.arm(fault::RESET_FAILS, Some(2));
    b.ring(&[2 << 30]);
    for still in [true, true, false] {
        b.stop();
        b.soft_reset(CP);
        assert_eq!(b.busy(), still);
    }
    b.m.faults.arm(fault::RESET_FAILS, Some(1));
    b.soft_reset(CP);
    assert!(!b.busy(), "nothing hangs");
    b.restart();
    b.m.faults.arm(fault::HANG_2D, Some(1));
    b.fence(1);
    b.stop();
    b.soft_reset(E2);
    assert!(rbbm_status::E2_BUSY.any(b.status()));
    b.soft_reset(E2 | CP);
    b.restart();
    b.runs(2);
}

#[test]
fn the_nth_buffer_hangs_or_the_one_with_a_mark() {
    let mut b = Bench::running();
    let buffer = type0(mmio::CP_IB_BASE, &[GTT + IB, 2]);
    let begun = |b: &mut Bench, n: u32| {
        b.put(IB, &type0(scratch(2), &[n]));
        b.ring(&buffer);
        b.read(scratch(2)) == n
    };
    b.m.faults.arm(fault::HANG_BUFFER, Some(3));
    assert!(begun(&mut b, 1) && begun(&mut b, 2) && !begun(&mut b, 3));
    b.stop();
    b.soft_reset(CP);
    b.restart();
    assert!(begun(&mut b, 4));

    b.m.faults.arm(fault::HANG_ON, Some(0x1234));
    b.put(IB, &type3(op::NOP, &[0x1235]));
    b.ring(&buffer);
    assert!(!b.busy());
    for _ in 0..2 {
        b.put(IB, &type3(op::NOP, &[0x1234]));
        b.ring(&buffer);
        assert!(b.busy(), "each time");
        b.stop();
        b.soft_reset(CP);
        b.restart();
    }
    b.runs(5);
}

#[test]
fn the_order_of_a_reset_is_judged() {
    let mut b = Bench::running();
    b.write(mmio::RBBM_SOFT_RESET, GA);
    b.read(mmio::RBBM_SOFT_RESET);
    b.write(mmio::RBBM_SOFT_RESET, 0);
    assert_eq!(b.findings(), [(kind::RESET_WHILE_ENABLED, 1)]);
    b.stop();
    b.write(mmio::RBBM_SOFT_RESET, CP);
    b.write(mmio::RBBM_SOFT_RESET, 0);
    assert_eq!(b.findings(), [(kind::RESET_SEQUENCE, 1)], "not read back");
    b.write(mmio::RBBM_SOFT_RESET, CP);
    b.read(mmio::RBBM_SOFT_RESET);
    b.enable();
    assert_eq!(b.findings(), [(kind::RESET_SEQUENCE, 1)], "still held");
    b.stop();
    b.write(mmio::RBBM_SOFT_RESET, 0);
    b.restart();
    b.ring(&[2 << 30]);
    b.stop();
    b.soft_reset(CP);
    b.enable();
    b.run();
    assert_eq!(b.findings(), [(kind::RESET_SEQUENCE, 1)], "step 5");
    b.stop();
    b.enable();
    b.run();
}

#[test]
fn a_display_needs_its_memory_controller() {
    let mut b = Bench::with(State::Crtc);
    b.soft_reset(bit::SOFT_RESET_MC.mask());
    assert_eq!(b.findings(), [(kind::SCANOUT_MOVED, 1)]);
    b.write(mmio::D1CRTC_CONTROL, 0);
    b.soft_reset(bit::SOFT_RESET_MC.mask());
}
