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
