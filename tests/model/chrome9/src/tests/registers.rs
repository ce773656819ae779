// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Which accesses act at once, and which pass the regulator.

use std::fs::File;
use std::io::Read;

use lapidary_registers::chrome9::mmio::{
    self, address_flip_status as flips, engine_status, interrupt_flags_masks_control as first,
    interrupt_flags_masks_control_2 as second,
};

use super::Bench;
use crate::{fault, kind};

#[test]
fn writes_of_the_2d_engine_wait_for_the_regulator_and_read_back_at_once() {
    let mut b = Bench::new();
    b.post(mmio::GEMODE, 0x300);
    assert_eq!(b.read(mmio::GEMODE), 0x300);
    let busy = engine_status::QUEUE_BUSY.mask() | engine_status::CR_BUSY.mask();
    assert_eq!(b.read(mmio::ENGINE_STATUS), busy);
    b.run();
    assert_eq!(b.read(mmio::ENGINE_STATUS), 0);
    assert_eq!(b.found(), []);
}

#[test]
fn a_stuck_regulator_stays_busy() {
    let mut b = Bench::new();
    b.m.faults.arm(fault::STUCK_REGULATOR, None);
    b.write(mmio::GEMODE, 0x300);
    assert!(engine_status::QUEUE_BUSY.any(b.read(mmio::ENGINE_STATUS)));
    b.m.faults.clear();
    b.run();
    assert_eq!(b.read(mmio::ENGINE_STATUS), 0);
}

#[test]
fn second_places_of_video_registers_pass_the_regulator_and_read_as_the_first() {
    let mut b = Bench::new();
    b.post(mmio::ALPHA_STREAM_STRIDE, 0x40);
    assert_eq!(b.read(0x2000 + mmio::ALPHA_STREAM_STRIDE), 0x40);
    b.post(0x2000 + mmio::ALPHA_STREAM_STRIDE, 0x80);
    assert_eq!(b.read(mmio::ALPHA_STREAM_STRIDE), 0x40, "not yet");
    b.run();
    assert_eq!(b.read(mmio::ALPHA_STREAM_STRIDE), 0x80);
    b.write(mmio::WAIT_CONTROL_VIDEO, 1);
    assert_eq!(b.found(), []);
}

#[test]
fn unknown_registers_and_those_that_only_read_are_findings() {
    let mut b = Bench::new();
    b.write(0x1f0 + 0x2000 * 7, 1);
    b.read(0x8000);
    b.read(mmio::CR_SETTING);
    b.write(mmio::ENGINE_STATUS, 1);
    assert_eq!(
        b.found(),
        [
            kind::UNDEFINED_REGISTER_READ,
            kind::UNDEFINED_REGISTER_READ,
            kind::UNDEFINED_REGISTER_WRITE,
            kind::READ_ONLY_REGISTER_WRITE,
        ]
    );
}

#[test]
fn ones_clear_status_and_leave_enables() {
    let mut b = Bench::new();
    let status = flips::CR_STATUS.mask();
    b.chip.raise_regulator(&mut b.m);
    assert!(!b.m.functions[0].irq.level(), "not enabled");
    b.write(
        mmio::INTERRUPT_FLAGS_MASKS_CONTROL,
        first::INTERRUPT_ENABLE.mask(),
    );
    assert!(b.m.functions[0].irq.level());
    assert_eq!(b.read(mmio::ADDRESS_FLIP_STATUS), status);
    b.write(mmio::ADDRESS_FLIP_STATUS, !status);
    assert!(b.m.functions[0].irq.level(), "zeroes clear nothing");
    b.write(mmio::ADDRESS_FLIP_STATUS, status);
    assert!(!b.m.functions[0].irq.level());
    assert_eq!(
        b.read(mmio::INTERRUPT_FLAGS_MASKS_CONTROL),
        first::INTERRUPT_ENABLE.mask()
    );
    assert_eq!(b.found(), []);
}

#[test]
fn msi_is_rearmed_by_a_register() {
    let mut b = Bench::new();
    let fd = rustix::event::eventfd(0, rustix::event::EventfdFlags::NONBLOCK).unwrap();
    let mut look = File::from(fd);
    b.m.functions[0]
        .irq
        .set_msi(Some(look.try_clone().unwrap()));
    let mut events = || {
        let mut n = [0; 8];
        look.read(&mut n).map_or(0, |_| u64::from_ne_bytes(n))
    };
    b.write(
        mmio::INTERRUPT_FLAGS_MASKS_CONTROL,
        first::INTERRUPT_ENABLE.mask(),
    );
    b.chip.raise_regulator(&mut b.m);
    b.write(mmio::ADDRESS_FLIP_STATUS, flips::CR_STATUS.mask());
    b.chip.raise_regulator(&mut b.m);
    assert_eq!(events(), 1, "not armed");
    b.write(
        mmio::INTERRUPT_FLAGS_MASKS_CONTROL_2,
        second::MSI_RETRIGGER.mask(),
    );
    assert_eq!(events(), 1, "what was pending comes");
    assert_eq!(b.read(mmio::INTERRUPT_FLAGS_MASKS_CONTROL_2), 0);
    assert_eq!(b.found(), []);
}
