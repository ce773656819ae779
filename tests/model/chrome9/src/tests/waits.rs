// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Waits of the regulator.

use std::time::Instant;

use lapidary_model::chip::{Chip, State, Step};
use lapidary_registers::chrome9::mmio::{self, engine_status, wait_control_2d_3d as wait};

use super::Bench;
use crate::display::{BLANK, FRAME};
use crate::kind;

/// Write a wait, let the regulator take it, and return until when it waits.
fn until(b: &mut Bench, value: u32) -> Option<Instant> {
    b.post(mmio::WAIT_CONTROL_2D_3D, value);
    assert_eq!(b.chip.step(&mut b.m), Step::More);
    b.chip.stalled
}

#[test]
fn engines_are_idle_when_the_regulator_asks() {
    let mut b = Bench::lit(State::Crtcs);
    let idle = wait::WAIT_3D_IDLE.mask() | wait::WAIT_2D_IDLE.mask() | wait::WAIT_HQV0_IDLE.mask();
    assert_eq!(until(&mut b, idle), None);
    assert_eq!(b.found(), []);
}

#[test]
fn the_regulator_waits_for_parts_of_a_vertical_blank() {
    // Time stands still at the beginning of a frame, which is in its blank.
    let frame = |b: &Bench| b.chip.display.frame(Instant::now());
    for (field, after) in [
        (wait::WAIT_IGA1_VBLK_START, FRAME),
        (wait::WAIT_IGA2_VBLK_START, FRAME),
        (wait::WAIT_FORMER_VBLK_START, FRAME),
        (wait::WAIT_LATER_VBLK_START, FRAME),
        (wait::WAIT_IGA1_VBLK_END, BLANK),
        (wait::WAIT_IGA2_VBLK_END, BLANK),
        (wait::WAIT_FORMER_VBLK_END, BLANK),
        (wait::WAIT_LATER_VBLK_END, BLANK),
    ] {
        let mut b = Bench::lit(State::Crtcs);
        let expected = frame(&b) + after;
        assert_eq!(until(&mut b, field.mask()), Some(expected), "{field:?}");
        // What follows is not executed, and the regulator is busy.
        b.post(mmio::GEMODE, 0x300);
        assert!(matches!(b.chip.step(&mut b.m), Step::At(_)));
        assert!(engine_status::CR_BUSY.any(b.read(mmio::ENGINE_STATUS)));
        assert_eq!(b.found(), []);
    }
    for field in [
        wait::WAIT_IGA1_VBLK,
        wait::WAIT_IGA2_VBLK,
        wait::WAIT_FORMER_VBLK,
        wait::WAIT_LATER_VBLK,
    ] {
        let mut b = Bench::lit(State::Crtcs);
        let display = frame(&b);
        assert!(until(&mut b, field.mask()) <= Some(display), "{field:?}");
    }
}

#[test]
fn several_waits_end_with_the_last() {
    let mut b = Bench::lit(State::Crtcs);
    let both = wait::WAIT_IGA1_VBLK_START.mask() | wait::WAIT_IGA1_VBLK_END.mask();
    let start = b.chip.display.frame(Instant::now()) + FRAME;
    assert_eq!(until(&mut b, both), Some(start));
}

#[test]
fn a_dark_display_is_not_waited_for() {
    let mut b = Bench::lit(State::Crtc);
    assert_eq!(until(&mut b, wait::WAIT_IGA2_VBLK_START.mask()), None);
    assert_eq!(until(&mut b, wait::WAIT_LATER_VBLK_START.mask()), None);
    assert_eq!(b.found(), [kind::WAIT_FOR_NOTHING; 2]);
}

#[test]
fn a_command_does_not_force_its_start() {
    let mut b = Bench::new();
    b.write(mmio::COMMAND_ID_2D_3D, 0x3000_1234);
    b.write(mmio::COMMAND_ID_VIDEO, 0x3000_1234);
    assert_eq!(b.found(), []);
    b.write(mmio::COMMAND_ID_2D_3D, 0x4000_0000);
    b.write(mmio::COMMAND_ID_VIDEO, 0x4000_0000);
    assert_eq!(b.found(), [kind::RESERVED_VALUE; 2]);
}
