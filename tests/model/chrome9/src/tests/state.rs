// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Saved state.

use lapidary_model::chip::Chip;
use lapidary_registers::chrome9::enums::{location, para_type};
use lapidary_registers::chrome9::{mmio, para_10, para_11};

use super::Bench;
use crate::kind;

const BUFFER: u32 = 0x20_0000;

impl Bench {
    /// Set a parameter of the 3D engine, and an entry of a table.
    fn draw_state(&mut self, value: u32) {
        self.write(mmio::SETTING_3D, para_type::ATTRIBUTE << 16);
        self.write(mmio::SPACE_3D.base(), 0x5000_0000 | value);
        self.write(mmio::SETTING_3D, 0x2203_0004);
        self.write(mmio::SPACE_3D.base(), value << 8);
    }

    fn drawn(&self) -> (Option<u32>, Option<u32>) {
        let peek = |name| self.chip.peek(&self.m, name);
        (peek("RT0_1"), peek("CONSTANT_LOW[4]"))
    }

    fn regulator(&mut self, values: &[(u32, u32)]) {
        let words: Vec<_> = values.iter().map(|(sub, v)| (sub << 24) | v).collect();
        self.parameters(para_type::REGULATOR, &words);
    }

    fn misc(&mut self, values: &[(u32, u32)]) {
        let words: Vec<_> = values.iter().map(|(sub, v)| (sub << 24) | v).collect();
        self.parameters(para_type::REGULATOR_MISC, &words);
    }

    /// Save to a buffer, by the trigger of type 11h.
    fn save(&mut self, at: u32, location: u32, include: u32) {
        self.misc(&[
            (para_11::SAVE_1, (at & 0xff_fff0) | location),
            (para_11::SAVE_2, (include << 8) | (at >> 24)),
            (para_11::SAVE_3, 1),
        ]);
    }

    fn restore(&mut self, at: u32, location: u32) {
        self.regulator(&[
            (para_10::RESTORE_1, (at & 0xff_fff0) | location),
            (para_10::RESTORE_2, at >> 24),
            (para_10::AGP_CONTROL, 2),
        ]);
    }
}

#[test]
fn what_was_saved_is_restored() {
    let mut b = Bench::new();
    b.m.functions[0]
        .ram
        .map_anonymous(0x40_0000, 0x10_0000)
        .unwrap();
    for (at, location) in [
        (BUFFER, location::SYSTEM_LOCAL),
        (0x40_0000, location::SYSTEM_MEMORY),
    ] {
        b.draw_state(0x1234);
        b.save(at, location, 1);
        b.draw_state(0x77);
        b.restore(at, location);
        assert_eq!(b.drawn(), (Some(0x1234), Some(0x12_3400)));
    }
    assert_eq!(b.m.counters.get("saved_states"), 2);
    assert_eq!(b.found(), []);
}

#[test]
fn what_was_not_saved_cannot_be_restored() {
    let mut b = Bench::new();
    b.draw_state(1);
    b.restore(BUFFER, 0);
    assert_eq!(b.found(), [kind::STATE_NOT_SAVED]);
    b.save(BUFFER, 0, 1);
    b.m.vram.write(u64::from(BUFFER) + 16, &[9]);
    b.restore(BUFFER, 0);
    assert_eq!(b.found(), [kind::STATE_NOT_SAVED], "changed");
    b.save(BUFFER, 3, 1);
    assert_eq!(b.found(), [kind::RESERVED_VALUE]);
}

#[test]
fn the_buffer_for_interrupts_has_priority_and_a_stop_saves_too() {
    let mut b = Bench::new();
    b.draw_state(1);
    b.save(BUFFER, 0, 0);
    assert_eq!(b.m.counters.get("saved_states"), 0, "not the 3D state");
    b.regulator(&[
        (para_10::INTERRUPT_STATE_BUFFER_1, 0x30_0000),
        (para_10::INTERRUPT_STATE_BUFFER_2, 1 << 8),
    ]);
    b.save(BUFFER, 0, 1);
    b.restore(BUFFER, 0);
    assert_eq!(
        b.found(),
        [kind::STATE_NOT_SAVED],
        "it is in the other buffer"
    );
    b.draw_state(2);
    b.regulator(&[(para_10::INTERRUPT_COMMAND, 1)]);
    b.draw_state(3);
    b.restore(0x30_0000, 0);
    assert_eq!((b.drawn(), b.found()), ((Some(2), Some(0x200)), vec![]));
}

#[test]
fn a_restored_fetch_begins_where_it_is_told() {
    let mut b = Bench::new();
    let pad = [0xcc00_0000u32; 64];
    let bytes: Vec<u8> = pad.iter().flat_map(|w| w.to_le_bytes()).collect();
    b.m.vram.write(BUFFER.into(), &bytes);
    let low = BUFFER & 0xff_fff0;
    b.regulator(&[
        (para_10::AGP_START_LOW, low),
        (para_10::AGP_END_LOW, low + 0x1000),
        (para_10::AGP_PAUSE_LOW, low + 0xf0),
        (para_10::AGP_PAUSE_HIGH, 0),
        (para_10::RESTORE_3, low + 0x80),
        (para_10::RESTORE_4, 0),
        (para_10::AGP_CONTROL, 4),
    ]);
    assert_eq!((b.m.counters.get("units"), b.found()), (8, vec![]));
}
