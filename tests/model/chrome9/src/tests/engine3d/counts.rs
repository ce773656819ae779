// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Counts of pixels, written where a split address says.

use lapidary_registers::chrome9::enums::location_3d;
use lapidary_registers::chrome9::mmio;
use lapidary_registers::chrome9::para_01;

use super::{ATTRIBUTE, OTHER};
use crate::tests::ring::{header, tag};
use crate::tests::{Bench, RAM};
use crate::{bus, kind};

#[test]
fn the_count_of_pixels_is_written_by_the_high_half_of_its_address() {
    let mut b = Bench::drawing();
    let count = [(para_01::Z_13, 0x34_5678), (para_01::Z_14, 0x12)];
    b.set(ATTRIBUTE, &count);
    b.declare(&[(bus::FRAME_BUFFER, OTHER, 4)]);
    let low = (OTHER / 4) as u32;
    b.set(ATTRIBUTE, &[(para_01::Z_18, low)]);
    assert_eq!(b.bytes(OTHER, 4), [0; 4], "the low half does nothing");
    b.set(ATTRIBUTE, &[(para_01::Z_19, 0)]);
    assert_eq!(b.bytes(OTHER, 4), [0x78, 0x56, 0x34, 0x12]);
    assert_eq!(b.found(), []);
    b.set(ATTRIBUTE, &[(para_01::Z_18, low + 1), (para_01::Z_19, 0)]);
    assert_eq!(b.found(), [kind::OUTSIDE_OBJECTS]);
    b.set(ATTRIBUTE, &[(para_01::Z_18, low), (para_01::Z_19, 1)]);
    assert_eq!(b.found(), [kind::FRAME_BUFFER_RANGE], "a unit is 4 bytes");
    b.set(ATTRIBUTE, &[(para_01::Z_19, 0x80_0000)]);
    assert_eq!(b.found(), [kind::RESERVED_VALUE]);
    b.set(ATTRIBUTE, &[(para_01::Z_18, 0), (para_01::Z_19, 0xc0_0000)]);
    assert_eq!(b.found(), [], "an address of 0 writes nothing");
    assert_eq!(b.m.counters.get("occlusion_counts"), 4);
}

#[test]
fn a_count_of_pixels_goes_through_the_gart() {
    let mut b = Bench::drawing();
    b.table();
    b.entry(2, (RAM >> 12) as u32);
    b.set(
        ATTRIBUTE,
        &[
            (para_01::Z_13, 9),
            (para_01::Z_18, 0x2010 / 4),
            (para_01::Z_19, location_3d::SYSTEM_DYNAMIC << 22),
        ],
    );
    let mut bytes = [0; 4];
    assert!(b.m.functions[0].ram.read(RAM + 0x10, &mut bytes));
    assert_eq!((bytes, b.found()), ([9, 0, 0, 0], vec![]));
    b.set(
        ATTRIBUTE,
        &[
            (para_01::Z_18, 0x3010 / 4),
            (para_01::Z_19, location_3d::SYSTEM_DYNAMIC << 22),
        ],
    );
    assert_eq!(b.found(), [kind::DMA_FAULT]);
}

#[test]
fn a_high_half_alone_is_undefined_or_from_another_stream() {
    let mut b = Bench::new();
    let high = |value| {
        header(
            0x2_0440,
            mmio::SETTING_3D,
            ATTRIBUTE << 16,
            &[(para_01::Z_19 << 24) | value],
        )
    };
    assert_eq!(b.one(&[high(0), tag(1)]), [kind::UNDEFINED_STATE]);
    let mut b = Bench::drawing();
    b.set(ATTRIBUTE, &[(para_01::Z_18, 0x1000)]);
    assert_eq!(b.branch(0x82, &high(0), 1), [kind::HALF_ADDRESS]);
    let low = (para_01::Z_18 << 24) | 0x1000;
    let both = header(
        0x2_0440,
        mmio::SETTING_3D,
        ATTRIBUTE << 16,
        &[low, para_01::Z_19 << 24],
    );
    assert_eq!(b.branch(0x82, &both, 1), []);
}
