// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Vertical blanks and flips.

use std::time::{Duration, Instant};

use lapidary_model::chip::{Chip, State, Step};
use lapidary_registers::chrome9::enums::para_type;
use lapidary_registers::chrome9::mmio::{
    self, address_flip_status as flips, compose_output_mode_select as compose,
    interrupt_flags_masks_control as first,
};
use lapidary_registers::chrome9::para_11;

use super::Bench;
use crate::display::{Display, FRAME};
use crate::kind;

impl Bench {
    pub(super) fn lit(state: State) -> Bench {
        let mut b = Bench::new();
        // No frame begins while a test runs, but those that it makes begin.
        let later = Instant::now() + Duration::from_secs(3600);
        b.chip.display = Display::left_by(state, later);
        b
    }

    /// Let the next vertical blank begin, and return when that is.
    fn next(&mut self) -> Instant {
        let at = self.chip.display.frame(Instant::now()) + FRAME;
        self.chip.blank(&mut self.m, at);
        at
    }

    /// Return a status register as it is stored.
    fn stored(&self, offset: u32) -> u32 {
        self.chip.regs.get(offset)
    }

    fn swap(&mut self, from: u32, address: u32, command: u32) {
        let set = |n: u32, v: u32| ((from + n) << 24) | v;
        let words = [
            set(0, address & 0xff_fffb),
            set(1, address >> 24),
            set(2, command),
        ];
        self.parameters(para_type::REGULATOR_MISC, &words);
    }
}

#[test]
fn new_settings_of_video_windows_are_taken_at_the_vertical_blank() {
    for bit in [compose::V1_COMMAND_END, compose::V3_COMMAND_END] {
        let other = compose::OVERLAP.mask() | compose::VIDEO_LOAD_AT_VBLANK.mask();
        let mut b = Bench::lit(State::Crtc);
        b.post(mmio::COMPOSE_OUTPUT_MODE_SELECT, bit.mask() | other);
        assert_eq!(b.read(mmio::COMPOSE_OUTPUT_MODE_SELECT), bit.mask() | other);
        assert!(b.chip.next_blank(Instant::now()).is_some());
        b.next();
        assert_eq!(b.read(mmio::COMPOSE_OUTPUT_MODE_SELECT), other);
        assert_eq!(b.chip.next_blank(Instant::now()), None);
        let mut dark = Bench::new();
        dark.post(mmio::COMPOSE_OUTPUT_MODE_SELECT, bit.mask() | other);
        assert_eq!(dark.read(mmio::COMPOSE_OUTPUT_MODE_SELECT), other, "dark");
        assert_eq!((b.found(), dark.found()), (vec![], vec![]));
    }
}

#[test]
fn an_address_is_pending_until_the_vertical_blank() {
    for (register, bit) in [
        (mmio::CRT_START_ADDRESS, flips::GRAPHICS_ADDRESS),
        (mmio::VIDEO_1_START_ADDRESS_0, flips::V1_ADDRESS),
        (mmio::VIDEO_3_START_ADDRESS_0, flips::V3_ADDRESS),
        (mmio::ALPHA_WINDOW_HI_START_ADDRESS, flips::ALPHA_ADDRESS),
    ] {
        let mut b = Bench::lit(State::Crtc);
        b.post(register, 0x1000);
        assert_eq!(b.stored(mmio::ADDRESS_FLIP_STATUS), bit.mask());
        assert!(matches!(b.chip.step(&mut b.m), Step::At(_)));
        b.next();
        assert_eq!(b.stored(mmio::ADDRESS_FLIP_STATUS), 0);
        assert_eq!(b.stored(register), 0x1000);
        assert_eq!(b.found(), []);
    }
}

#[test]
fn a_dark_display_takes_addresses_at_once_and_has_no_blanks() {
    let mut b = Bench::lit(State::Posted);
    b.post(mmio::CRT_START_ADDRESS, 0x1000);
    let enables = first::INTERRUPT_ENABLE.mask() | first::VGA_VSYNC_ENABLE.mask();
    b.post(mmio::INTERRUPT_FLAGS_MASKS_CONTROL, enables);
    assert_eq!(b.read(mmio::ADDRESS_FLIP_STATUS), 0);
    b.next();
    assert_eq!(b.read(mmio::INTERRUPT_FLAGS_MASKS_CONTROL), enables);
    assert_eq!(b.chip.step(&mut b.m), Step::Idle);
}

#[test]
fn a_vertical_sync_interrupts_when_it_is_enabled() {
    let mut b = Bench::lit(State::Crtc);
    let level = |b: &Bench| b.m.functions[0].irq.level();
    b.post(
        mmio::INTERRUPT_FLAGS_MASKS_CONTROL,
        first::INTERRUPT_ENABLE.mask(),
    );
    b.next();
    assert!(!level(&b));
    let word = b.stored(mmio::INTERRUPT_FLAGS_MASKS_CONTROL);
    assert!(first::VGA_VSYNC_STATUS.any(word) && !first::SECOND_VSYNC_STATUS.any(word));
    let enables = first::INTERRUPT_ENABLE.mask() | first::VGA_VSYNC_ENABLE.mask();
    b.post(mmio::INTERRUPT_FLAGS_MASKS_CONTROL, enables);
    assert!(level(&b), "the status was there");
    let clear = enables | first::VGA_VSYNC_STATUS.mask();
    b.post(mmio::INTERRUPT_FLAGS_MASKS_CONTROL, clear);
    assert!(!level(&b));
    let mut b = Bench::lit(State::Crtcs);
    b.next();
    let word = b.stored(mmio::INTERRUPT_FLAGS_MASKS_CONTROL);
    assert!(first::SECOND_VSYNC_STATUS.any(word));
}

#[test]
fn the_level_is_that_of_the_moment() {
    let mut b = Bench::lit(State::Crtcs);
    let at = b.next();
    let levels = |b: &Bench, at| {
        [
            mmio::INTERRUPT_FLAGS_MASKS_CONTROL,
            mmio::ADDRESS_FLIP_STATUS,
        ]
        .map(|offset| b.chip.levels(offset, at))
    };
    let blank = [first::VBLANK_STATUS.mask(), flips::IGA2_VBLANK.mask()];
    assert_eq!(levels(&b, at), blank);
    assert_eq!(levels(&b, at + FRAME / 2), [0, 0]);
}

#[test]
fn swaps_of_a_stream_flip_one_display_or_both() {
    const ENABLE: u32 = 1 << 3;
    const AT_ONCE: u32 = 1 << 2;
    let starts = |b: &Bench| {
        [mmio::CRT_START_ADDRESS, mmio::SECOND_DISPLAY_START_ADDRESS].map(|r| b.stored(r))
    };
    let mut b = Bench::lit(State::Crtc);
    b.swap(para_11::SWAP_1_IGA1, 0x100_0008, 0);
    assert_eq!(starts(&b), [0, 0], "not enabled");
    b.swap(para_11::SWAP_1_IGA1, 0x100_0008, ENABLE | AT_ONCE);
    assert_eq!(
        (starts(&b), b.stored(mmio::ADDRESS_FLIP_STATUS)),
        ([0x100_0008, 0], 0)
    );
    b.swap(para_11::SWAP_4_IGA2, 0x20, ENABLE);
    assert_eq!(starts(&b), [0x100_0008, 0x20]);
    b.swap(para_11::SWAP_7_DUO, 0x40, ENABLE);
    assert_eq!(starts(&b), [0x40, 0x40]);
    assert_eq!(
        b.stored(mmio::ADDRESS_FLIP_STATUS),
        flips::GRAPHICS_ADDRESS.mask()
    );
    assert_eq!(b.found(), []);
    b.swap(para_11::SWAP_1_IGA1, 0x41, ENABLE);
    assert_eq!(b.found(), [kind::RESERVED_VALUE], "behind the GART");
}
