// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Faults of the regulator: hangs, late fences, and what gets lost.

use std::time::{Duration, Instant};

use lapidary_model::chip::{Chip, Step};
use lapidary_model::fault::Fault;
use lapidary_registers::chrome9::enums::para_type;
use lapidary_registers::chrome9::mmio::{self, engine_status, interrupt_flags_masks_control};
use lapidary_registers::chrome9::{mmio_read, para_10, para_11};

use super::ring::{PAUSE, RING, header, regulator, tag};
use super::{Bench, RAM};
use crate::fault;
use crate::kind;

/// What ends a hang: the clear of the AGP cycle, with that of the fence queue; and a stop.
const CLEAR: (u32, u32) = (para_10::AGP_CONTROL, 0x0a_0018);
const STOP: (u32, u32) = (para_10::INTERRUPT_COMMAND, 1);

/// Return a fence that writes its number to the start of guest RAM and raises the interrupt, in a unit of its own.
fn fence(number: u32) -> Vec<u32> {
    regulator(
        para_type::REGULATOR_MISC,
        &[
            (para_11::FENCE_1 << 24) | (RAM >> 24) as u32,
            (para_11::FENCE_2 << 24) | (RAM as u32 & 0xff_fff0),
            (para_11::FENCE_3 << 24) | number,
            (para_11::FENCE_4 << 24) | 0x16_0000,
        ],
    )
}

impl Bench {
    fn arm(&mut self, fault: Fault, times: Option<u64>) {
        self.m.faults.arm(fault, times);
    }

    /// Return the dword at the start of guest RAM, and the last fence that the CPU reads.
    fn fences(&mut self) -> (u32, u32) {
        let mut bytes = [0; 4];
        assert!(self.m.functions[0].ram.read(RAM, &mut bytes));
        (u32::from_le_bytes(bytes), self.read(mmio_read::FENCE_ID))
    }

    fn cr_busy(&mut self) -> bool {
        engine_status::CR_BUSY.any(self.read(mmio::ENGINE_STATUS))
    }

    /// Describe the ring anew after a reset and run a block that leaves a tag.
    fn comes_back(&mut self) -> bool {
        let found = self.one(&[tag(0x77)]);
        found.is_empty() && self.seen() == 0x77
    }
}

#[test]
fn a_hang_in_the_ring_ends_by_a_clear_or_by_a_stop_and_by_nothing_else() {
    for end in [CLEAR, STOP] {
        let mut b = Bench::new();
        let first = b.block(0, &[tag(1), tag(2)]);
        b.arm(fault::HANG, Some(1));
        b.start(first, PAUSE);
        assert_eq!(b.seen(), 0, "it hangs in front of the first header");
        assert!(b.cr_busy() && b.chip.busy() && !b.chip.listens());
        assert_eq!(b.read(mmio_read::AGP_FETCH), RING);
        assert_eq!(b.read(mmio_read::AGP_STATE), 0, "it is not at its pause");
        // A kick does not help, nor does a trigger.
        let second = b.block(first, &[tag(3)]);
        b.pause(second, PAUSE);
        b.setup(&[(para_10::AGP_CONTROL, 0x0a_0001)]);
        assert_eq!((b.seen(), b.cr_busy()), (0, true));
        assert_eq!(b.found(), [kind::RING_RESTART]);
        // The regulator takes what the CPU writes.
        b.parameters(
            para_type::REGULATOR_MISC,
            &[(para_11::SW_INSPECTION_2 << 24) | 5],
        );
        assert_eq!(b.chip.peek(&b.m, "SW_INSPECTION_2"), Some(5));
        b.setup(&[end]);
        assert_eq!((b.seen(), b.cr_busy()), (0, false));
        assert!(b.comes_back());
    }
}

#[test]
fn a_clear_can_fail_and_power_helps() {
    let mut b = Bench::new();
    b.arm(fault::HANG, Some(1));
    b.arm(fault::RESET_FAILS, None);
    b.one(&[tag(1)]);
    b.setup(&[CLEAR, STOP]);
    assert!(b.cr_busy());
    b.chip.lose_power(&mut b.m);
    assert!(!b.chip.busy());
    b.arm(fault::HANG, Some(1));
    b.arm(fault::RESET_FAILS, Some(1));
    b.one(&[tag(1)]);
    b.setup(&[CLEAR]);
    assert!(b.cr_busy());
    b.setup(&[CLEAR]);
    assert!(!b.cr_busy() && b.comes_back());
}

#[test]
fn the_nth_branch_hangs_at_its_first_unit() {
    let mut b = Bench::new();
    b.arm(fault::HANG_BUFFER, Some(2));
    assert_eq!(b.branch(0x82, &tag(1), 1), []);
    assert_eq!((b.seen(), b.m.counters.get("indirect_buffers")), (2, 1));
    assert_eq!(b.branch(0x82, &tag(1), 1), []);
    assert_eq!((b.seen(), b.m.counters.get("indirect_buffers")), (2, 2));
    assert!(b.cr_busy());
    assert_eq!(b.read(mmio_read::AGP_FETCH), super::ring::BRANCH);
    b.setup(&[CLEAR]);
    assert_eq!(b.branch(0x82, &tag(1), 1), []);
    assert_eq!((b.seen(), b.cr_busy()), (2, false));
}

#[test]
fn a_job_that_is_named_hangs_each_time() {
    let mut b = Bench::new();
    b.arm(fault::HANG_ON, Some(0x1234));
    for _ in 0..2 {
        assert_eq!(b.one(&[tag(0x1233), tag(0x1234)]), []);
        assert_eq!((b.seen(), b.cr_busy()), (0x1233, true));
        b.setup(&[CLEAR]);
    }
    // The same value as another parameter is no name.
    let other = regulator(
        para_type::REGULATOR_MISC,
        &[(para_11::SW_INSPECTION_2 << 24) | 0x1234],
    );
    assert_eq!(b.one(&[other, tag(6)]), []);
    assert_eq!(b.seen(), 6);
}

#[test]
fn an_endless_branch_is_executed_until_it_is_cleared() {
    let mut b = Bench::new();
    b.arm(fault::ENDLESS_BUFFER, Some(1));
    b.branch(0x82, &tag(9), 1);
    let headers = b.m.counters.get("headers");
    assert_eq!((b.seen(), b.cr_busy()), (9, true));
    assert!(matches!(b.chip.step(&mut b.m), Step::At(_)), "it rests");
    std::thread::sleep(Duration::from_millis(2));
    b.run();
    assert!(b.m.counters.get("headers") > headers);
    b.setup(&[CLEAR]);
    assert!(!b.cr_busy() && b.comes_back());
}

#[test]
fn a_late_fence_holds_the_stream() {
    let mut b = Bench::new();
    b.arm(fault::LATE_FENCE, Some(1));
    let before = Instant::now();
    assert_eq!(b.one(&[tag(1), fence(5), tag(2)]), []);
    assert_eq!((b.seen(), b.fences(), b.cr_busy()), (1, (0, 0), true));
    let Step::At(until) = b.chip.step(&mut b.m) else {
        panic!("it does not wait")
    };
    assert!(until >= before + fault::LATE);
    std::thread::sleep(fault::LATE);
    b.run();
    assert_eq!((b.seen(), b.fences(), b.cr_busy()), (2, (5, 5), false));
}

#[test]
fn a_fence_at_halt_is_made_by_the_clear() {
    let mut b = Bench::new();
    b.arm(fault::FENCE_AT_HALT, Some(1));
    assert_eq!(b.one(&[fence(5), tag(2)]), []);
    assert_eq!((b.seen(), b.fences(), b.cr_busy()), (0, (0, 0), true));
    b.setup(&[CLEAR]);
    assert_eq!((b.seen(), b.fences(), b.cr_busy()), (0, (5, 5), false));
    assert!(b.comes_back());
}

#[test]
fn only_fences_are_late() {
    let mut b = Bench::new();
    b.arm(fault::LATE_FENCE, Some(1));
    b.arm(fault::FENCE_AT_HALT, Some(1));
    // No trigger; the same sub-address of another type; data of another window.
    let idle = regulator(
        para_type::REGULATOR_MISC,
        &[(para_11::FENCE_4 << 24) | 0x6_0000],
    );
    let other = regulator(
        para_type::REGULATOR,
        &[(para_10::INTERRUPT_COMMAND << 24) | 0x10_0000],
    );
    let data = header(0x1_0000, 1, 0, &[(para_11::FENCE_4 << 24) | 0x10_0000]);
    assert_eq!(b.one(&[idle, other, data, tag(3)]), []);
    assert_eq!((b.seen(), b.cr_busy()), (3, false));
}

#[test]
fn a_lost_write_back_leaves_the_number_in_the_register() {
    let mut b = Bench::new();
    b.arm(fault::LOST_WRITEBACK, Some(1));
    b.one(&[fence(5)]);
    assert_eq!(b.fences(), (0, 5));
    b.one(&[fence(6)]);
    assert_eq!(b.fences(), (6, 6));
}

#[test]
fn a_lost_interrupt_is_raised_and_not_sent() {
    let mut b = Bench::new();
    let fd = rustix::event::eventfd(0, rustix::event::EventfdFlags::NONBLOCK).unwrap();
    b.m.functions[0].irq.set_msi(Some(fd.into()));
    b.write(
        mmio::INTERRUPT_FLAGS_MASKS_CONTROL,
        interrupt_flags_masks_control::INTERRUPT_ENABLE.mask(),
    );
    b.arm(fault::LOST_INTERRUPT, Some(1));
    b.one(&[fence(5)]);
    assert_eq!(b.read(mmio::ADDRESS_FLIP_STATUS), 1 << 5);
    assert_eq!(b.m.counters.get("irqs"), 0);
    b.write(mmio::ADDRESS_FLIP_STATUS, 1 << 5);
    b.one(&[fence(6)]);
    assert_eq!(b.m.counters.get("irqs"), 1);
    assert_eq!(b.m.counters.get("interrupt_events"), 2);
}
