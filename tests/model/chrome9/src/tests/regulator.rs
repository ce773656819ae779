// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Windows, parameters, command queues in memory, and fences.

use lapidary_registers::chrome9::{enums::para_type, mmio, mmio_read, para_10, para_11};

use super::{Bench, RAM, VRAM};
use crate::kind;
use crate::regulator::{Source, Which};
use lapidary_model::chip::Chip;

/// Return a parameter dword.
fn parameter(sub_address: u32, data: u32) -> u32 {
    (sub_address << 24) | data
}

#[test]
fn each_window_takes_its_types() {
    let mut b = Bench::new();
    b.write(mmio::CR_SETTING, para_type::PRIMITIVE << 16);
    b.write(mmio::CR_SPACE.base(), parameter(0x10, 1));
    assert_eq!(
        b.found(),
        [kind::WINDOW_TYPE; 2],
        "the setting, and what follows"
    );
    b.write(mmio::SETTING_3D, para_type::PRIMITIVE << 16);
    b.write(mmio::SPACE_3D.base(), parameter(0x10, 1));
    b.parameters(
        para_type::REGULATOR_MISC,
        &[parameter(para_11::SW_INSPECTION_1, 0x1234)],
    );
    assert_eq!(b.found(), []);
    assert_eq!(b.chip.peek(&b.m, "SW_INSPECTION_1"), Some(0x1234));
    b.write(mmio::SETTING_3D, 0x05 << 16);
    assert_eq!(b.found(), [kind::WINDOW_TYPE]);
}

#[test]
fn a_window_without_a_setting_takes_nothing() {
    let mut b = Bench::new();
    b.write(
        mmio::CR_SPACE.base(),
        parameter(para_11::SW_INSPECTION_1, 1),
    );
    assert_eq!(b.found(), [kind::WINDOW_TYPE]);
}

#[test]
fn a_stream_has_windows_of_its_own() {
    let mut b = Bench::new();
    b.write(mmio::CR_SETTING, para_type::REGULATOR_MISC << 16);
    let setting = para_type::REGULATOR << 16;
    b.chip
        .set_window(&mut b.m, Source::Stream, Which::Regulator, setting);
    b.write(
        mmio::CR_SPACE.base(),
        parameter(para_11::SW_INSPECTION_1, 3),
    );
    assert_eq!(b.chip.peek(&b.m, "SW_INSPECTION_1"), Some(3));
    assert_eq!(b.found(), []);
}

#[test]
fn parameters_may_go_to_any_dword_of_the_space() {
    let mut b = Bench::new();
    b.write(mmio::CR_SETTING, para_type::REGULATOR_MISC << 16);
    for (i, value) in [1, 2, 3].into_iter().enumerate() {
        let at = mmio::CR_SPACE.at(i as u32).unwrap();
        b.write(at, parameter(para_11::SW_INSPECTION_1, value));
    }
    assert_eq!(b.chip.peek(&b.m, "SW_INSPECTION_1"), Some(3));
}

#[test]
fn padding_is_no_parameter_and_an_unknown_one_is_a_finding() {
    let mut b = Bench::new();
    b.parameters(
        para_type::REGULATOR,
        &[0xcccc_cccc, 0xdddd_0000, 0xeeee_0000],
    );
    b.parameters(para_type::DUMMY, &[0x0100_0000]);
    assert_eq!(b.found(), []);
    b.parameters(para_type::REGULATOR, &[parameter(0x01, 0)]);
    assert_eq!(b.found(), [kind::UNDEFINED_PARAMETER]);
}

/// Describe a queue of 32 KiB and switch it on.
fn queue(
    b: &mut Bench,
    start: u32,
    end: u32,
    length: u32,
    location: u32,
) -> Vec<crate::kind::Kind> {
    b.parameters(
        para_type::REGULATOR,
        &[
            parameter(para_10::CMDQ_3, (end >> 24 << 8) | (start >> 24)),
            parameter(para_10::CMDQ_1, start & 0xff_fff0 | location),
            parameter(para_10::CMDQ_2, end & 0xff_fff0),
            parameter(para_10::CMDQ_4, length),
            parameter(para_10::CMDQ_5, 1),
        ],
    );
    b.found()
}

#[test]
fn a_command_queue_has_to_fit_between_its_ends() {
    let mut b = Bench::new();
    assert_eq!(queue(&mut b, 0x10_0000, 0x10_7fff, 0x800, 0), []);
    assert_eq!(
        queue(&mut b, 0x10_0000, 0x10_7fff, 0x801, 0),
        [kind::QUEUE_SETUP]
    );
    assert_eq!(
        queue(&mut b, 0x10_0000, 0x10_7fff, 0x7ff, 0),
        [kind::QUEUE_SETUP]
    );
    assert_eq!(
        queue(&mut b, 0x10_0000, 0x10_7fff, 0x800, 3),
        [kind::QUEUE_SETUP]
    );
    let end = VRAM as u32;
    assert_eq!(queue(&mut b, end - 0x8000, end - 1, 0x800, 0), []);
    assert_eq!(
        queue(&mut b, end - 0x7ff0, end + 0xf, 0x800, 0),
        [kind::QUEUE_SETUP]
    );
    b.parameters(para_type::REGULATOR, &[parameter(para_10::CMDQ_5, 0)]);
    assert_eq!(b.found(), [], "it is off");
}

/// Make a fence.
fn fence(b: &mut Bench, address: u64, number: u32, mode: u32) {
    b.parameters(
        para_type::REGULATOR_MISC,
        &[
            parameter(para_11::FENCE_1, (address >> 24) as u32),
            parameter(para_11::FENCE_2, address as u32 & 0xff_fff0),
            parameter(para_11::FENCE_3, number & 0xff_ffff),
            parameter(para_11::FENCE_4, (mode << 16) | (number >> 24 << 8)),
        ],
    );
}

/// Trigger, and the two modes.
const TRIGGER: u32 = 1 << 4;
const QUEUE: u32 = 1 << 1;
const MEMORY: u32 = 1 << 2;

#[test]
fn a_fence_goes_where_its_mode_says_and_is_always_recorded() {
    let mut b = Bench::new();
    let word = |b: &Bench| {
        let mut bytes = [0; 4];
        assert!(b.m.functions[0].ram.read(RAM + 0x20, &mut bytes));
        u32::from_le_bytes(bytes)
    };
    fence(&mut b, RAM + 0x20, 0x1234_5678, MEMORY);
    assert_eq!(b.read(mmio_read::FENCE_ID), 0, "no trigger");
    fence(&mut b, RAM + 0x20, 0x1234_5678, TRIGGER);
    assert_eq!(b.read(mmio_read::FENCE_ID), 0x1234_5678);
    assert_eq!(word(&b), 0);
    fence(&mut b, RAM + 0x20, 0x1234_5679, TRIGGER | MEMORY);
    assert_eq!(word(&b), 0x1234_5679);
    assert_eq!(b.read(mmio::ADDRESS_FLIP_STATUS), 0, "no interrupt");
    fence(&mut b, RAM + 0x20, 7, TRIGGER | QUEUE);
    assert_eq!(b.read(mmio::ADDRESS_FLIP_STATUS), 1 << 5);
    assert_eq!((word(&b), b.found()), (0x1234_5679, vec![]));
}

#[test]
fn a_full_queue_is_overwritten_only_by_fences_that_say_so() {
    const SKIP: u32 = 1 << 6;

    let mut b = Bench::new();
    for number in 0..16 {
        fence(&mut b, RAM, number, TRIGGER | QUEUE);
    }
    fence(&mut b, RAM, 16, TRIGGER | QUEUE | SKIP);
    assert_eq!(b.found(), []);
    fence(&mut b, RAM, 17, TRIGGER | QUEUE);
    assert_eq!(b.found(), [kind::FENCE_QUEUE_FULL]);
    // The clear of the queue makes room.
    b.parameters(
        para_type::REGULATOR,
        &[parameter(para_10::AGP_CONTROL, 1 << 4)],
    );
    fence(&mut b, RAM, 18, TRIGGER | QUEUE);
    assert_eq!(b.found(), []);
}

#[test]
fn a_fence_needs_memory_and_bus_mastering() {
    let mut b = Bench::new();
    fence(&mut b, 0x10, 1, TRIGGER | MEMORY);
    assert_eq!(b.found(), [kind::DMA_FAULT]);
    b.m.functions[0].pci.write(4, &[2]);
    fence(&mut b, RAM, 1, TRIGGER | MEMORY);
    assert_eq!(b.found(), [kind::BUS_MASTER_OFF]);
}

#[test]
fn parameters_of_the_cpu_have_names_in_the_trace() {
    let mut b = Bench::new();
    b.parameters(para_type::REGULATOR, &[]);
    let space = mmio::CR_SPACE.base();
    let text = b.chip.describe(space, 0x6800_0018);
    assert!(
        text.starts_with("CR_SPACE: AGP_CONTROL = 0x00000018"),
        "{text}"
    );
    b.parameters(para_type::REGULATOR_MISC, &[]);
    let text = b.chip.describe(space, 0x0600_0007);
    assert!(text.starts_with("CR_SPACE: FENCE_3 = 0x00000007"), "{text}");
}

#[test]
fn stop_and_pause_together_are_forbidden() {
    let mut b = Bench::new();
    b.parameters(
        para_type::REGULATOR,
        &[parameter(para_10::INTERRUPT_COMMAND, 3)],
    );
    assert_eq!(b.found(), [kind::RESERVED_VALUE]);
}
