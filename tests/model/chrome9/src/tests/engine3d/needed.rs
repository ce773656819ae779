// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Parameters that a draw needs.

use lapidary_registers::chrome9::para_01::{self, enable_1, enable_2};

use super::ATTRIBUTE;
use crate::kind;
use crate::tests::Bench;

#[test]
fn parameters_that_were_never_written_are_named() {
    let mut b = Bench::new();
    b.send(&[0; 9]);
    let found = b.m.judge.take();
    assert_eq!(found.len(), 1);
    for name in [
        "ENABLE_1",
        "ENABLE_2",
        "MISC_1",
        "MISC_4",
        "VERTEX_FORMAT_1",
        "VERTEX_COUNT",
        "FVF_MASK_1",
        "PRIMITIVE_SETTING_4",
    ] {
        assert!(
            found[0].detail.contains(name),
            "{name} in {}",
            found[0].detail
        );
    }
    assert_eq!(found[0].count, 1, "data of a list that is none is dropped");
    // One that is missing, of what is switched on and of what is not.
    let mut b = Bench::drawing();
    b.chip.parameters.forget(2..=2);
    assert_eq!(b.draw(), [], "no texture is used");
    b.chip.parameters.forget(1..=1);
    assert_eq!(b.draw(), [kind::UNDEFINED_STATE]);
}

#[test]
fn each_feature_wants_its_parameters() {
    let enable = |bits: u32| (para_01::ENABLE_2, enable_2::COLOR_WRITE.mask() | bits);
    let first = |bits: u32| (para_01::ENABLE_1, bits);
    // What is switched on, and a parameter that it needs.
    let cases: &[(&[(u32, u32)], u32)] = &[
        (&[first(enable_1::BLEND_RT0.mask())], para_01::ALPHA_2),
        (&[first(enable_1::BLEND_RT0.mask())], para_01::ALPHA_5),
        (&[first(enable_1::ALPHA_TEST_RT0.mask())], para_01::ALPHA_1),
        (&[first(enable_1::FOG_RT0.mask())], para_01::FOG_2),
        (
            &[first(enable_1::FOG_RT0.mask()), (para_01::FOG_1, 2)],
            para_01::FOG_4,
        ),
        (
            &[first(enable_1::FOG_RT0.mask()), (para_01::FOG_1, 4)],
            para_01::FOG_9,
        ),
        (
            &[enable(enable_2::Z_TEST.mask()), (para_01::Z_2, 8 << 13)],
            para_01::Z_4,
        ),
        (&[enable(enable_2::LINE_PATTERN.mask())], para_01::MISC_5),
        (&[enable(enable_2::CLIPPING.mask())], para_01::MISC_9),
        (&[enable(enable_2::PIXEL_SHADER.mask())], para_01::PS_7),
        (
            &[
                first(enable_1::BLEND_RT0.mask()),
                (para_01::ALPHA_2, 5 << 10),
            ],
            para_01::ALPHA_6,
        ),
        (
            &[
                first(enable_1::BLEND_RT0.mask()),
                (para_01::ALPHA_5, 9 << 8),
            ],
            para_01::ALPHA_13,
        ),
        (
            &[
                enable(enable_2::STENCIL_TEST.mask()),
                (para_01::Z_2, 8 << 13),
                (para_01::Z_3, 6 << 16),
            ],
            para_01::STENCIL_3,
        ),
    ];
    for (values, needed) in cases {
        let mut b = Bench::drawing();
        b.set(ATTRIBUTE, values);
        assert_eq!(b.draw(), [], "{values:x?}");
        // All again, but for the one.
        let all: Vec<_> = b.chip.parameters.all(1..=1).collect();
        b.chip.parameters.forget(1..=1);
        for [place, value] in &all {
            if place & 0xff != *needed {
                b.chip.parameters.put(*place, *value);
            }
        }
        assert_eq!(
            b.draw(),
            [kind::UNDEFINED_STATE],
            "{needed:#x} of {values:x?}"
        );
        b.chip.parameters.put((ATTRIBUTE << 24) | needed, 0);
        b.set(ATTRIBUTE, values);
        assert_eq!(b.draw(), []);
        // It is not needed otherwise.
        let mut b = Bench::drawing();
        b.chip.parameters.forget(1..=1);
        let plain: Vec<_> = all.iter().filter(|[p, _]| p & 0xff != *needed).collect();
        for [place, value] in plain {
            b.chip.parameters.put(*place, *value);
        }
        b.set(ATTRIBUTE, &[first(0), enable(0)]);
        assert_eq!(b.draw(), [], "{needed:#x} without {values:x?}");
    }
}
