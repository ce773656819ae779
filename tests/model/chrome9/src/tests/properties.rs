// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Whatever the CPU writes, nothing panics and nothing runs for ever.

use lapidary_registers::chrome9::mmio;
use proptest::prelude::*;

use super::Bench;
use lapidary_model::chip::Chip;

fn offset() -> impl Strategy<Value = u32> {
    prop_oneof![
        (0u32..0x18).prop_map(|i| i * 4),
        Just(mmio::GECMD),
        Just(mmio::CR_SETTING),
        Just(mmio::CR_SPACE.base()),
        Just(mmio::SETTING_3D),
        Just(mmio::SPACE_3D.base()),
        Just(0x20_0000),
        (0u32..0x1000).prop_map(|i| i * 4),
        any::<u32>().prop_map(|o| o & !3),
    ]
}

fn value() -> impl Strategy<Value = u32> {
    prop_oneof![
        any::<u32>(),
        0u32..16,
        (0u32..0x20, any::<u8>()).prop_map(|(kind, rest)| (kind << 16) | (u32::from(rest) << 24)),
        Just(0xf000_2001),
        Just(0xcc00_0001),
        Just(0xcc02_0142),
        Just(0x0003_0003),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_writes_end(writes in prop::collection::vec((offset(), value()), 0..120)) {
        let mut b = Bench::new();
        // A picture of at most 4096 rows of 4096 pixels takes long: most have few.
        b.post(mmio::DIMENSION, 0x0007_0007);
        for (offset, value) in writes {
            b.write(offset, value);
            b.read(offset);
        }
        prop_assert!(!b.chip.busy() || b.read(mmio::ENGINE_STATUS) != 0);
    }
}

fn word() -> impl Strategy<Value = u32> {
    prop_oneof![
        any::<u32>(),
        (0u32..9).prop_map(|code| 0xfe00_0000 | (code << 16)),
        Just(0xfe02_0420),
        Just(0xfe02_0440),
        Just(0xfe03_043c),
        Just(0xfe82_0420),
        Just(mmio::CR_SETTING),
        Just(mmio::SETTING_3D),
        (0u32..0x12).prop_map(|kind| kind << 16),
        (0x60u32..0x70, 0u32..0x200).prop_map(|(sub, value)| (sub << 24) | value),
        Just(0xcc00_0000),
        0u32..8,
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_stream_takes_a_bounded_step_at_a_time(words in prop::collection::vec(word(), 0..200)) {
        let mut b = Bench::new();
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        b.m.vram.write(0, &bytes);
        // The ring is the first 4 KiB of the frame buffer. It may jump, so that it need not end.
        let setup = [0x6200_1000, 0x6400_0ff0, 0x6500_0000, 0x6800_0001];
        b.post(mmio::CR_SETTING, 0x10 << 16);
        for word in setup {
            b.post(mmio::CR_SPACE.base(), word);
        }
        for _ in 0..2000 {
            b.chip.step(&mut b.m);
        }
    }
}

/// Return a value of a parameter that is often one of many that make sense.
fn parameter() -> impl Strategy<Value = u32> {
    prop_oneof![
        Just(0u32),
        any::<u32>(),
        0u32..0x100,
        (0u32..0x100).prop_map(|v| v << 16),
        Just(0x99_0008),
        Just(0x0f0f),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_state_draws_something_or_is_found(
        changes in prop::collection::vec((1u32..5, 0u32..0x100, 0u32..0xbf, parameter()), 0..40),
        data in prop::collection::vec(any::<u32>(), 0..40),
    ) {
        let mut b = Bench::drawing();
        for (kind, subtype, index, value) in changes {
            let subtype = if kind == 2 { subtype } else { 0 };
            b.set(kind | (subtype << 8), &[(index, value & 0xff_ffff)]);
        }
        b.send(&data);
        let draws = b.m.counters.get("draws");
        prop_assert_eq!(draws > 0, !data.is_empty());
    }
}
