// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Depth, stencil and coarse Z buffers.

use lapidary_registers::chrome9::para_01::{self, coarse_z_1, enable_2, fast_z_clear_1, z_2, z_3};

use super::{ATTRIBUTE, BYTES, DEPTH, HEIGHT, OTHER, TARGET, WIDTH};
use crate::tests::Bench;
use crate::{bus, kind};

#[test]
fn depth_is_touched_if_it_is_tested_or_written() {
    let mut b = Bench::drawing();
    let enable = |bits: u32| (para_01::ENABLE_2, enable_2::COLOR_WRITE.mask() | bits);
    b.set(
        ATTRIBUTE,
        &[
            (para_01::Z_1, (DEPTH >> 8) as u32),
            (para_01::Z_2, z_2::PITCH.of(8)),
            (para_01::Z_3, z_3::FORMAT.of(z_3::format::Z24S8_ASSUMED)),
        ],
    );
    b.exactly(&[(bus::FRAME_BUFFER, TARGET, BYTES)]);
    let cases = [
        (enable_2::Z_TEST, "depth reads"),
        (enable_2::Z_WRITE, "depth writes"),
        (enable_2::STENCIL_TEST, "depth reads and writes"),
    ];
    for (bit, how) in cases {
        b.set(ATTRIBUTE, &[enable(bit.mask())]);
        b.with_target(DEPTH, BYTES);
        b.declare(&[]);
        let trace = b.traced();
        assert!(trace.contains(how), "{how} in {trace}");
    }
    // In rows or in tiles: of 30 lines, 32 may be touched.
    b.set(ATTRIBUTE, &[(para_01::MISC_1, 30)]);
    b.exactly(&[
        (bus::FRAME_BUFFER, TARGET, 30 * 256),
        (bus::FRAME_BUFFER, DEPTH, 32 * 256),
    ]);
    b.window(0, 0, WIDTH, HEIGHT);
    b.set(
        ATTRIBUTE,
        &[enable(enable_2::Z_TEST.mask()), (para_01::Z_3, 0)],
    );
    b.with_target(DEPTH, 31 * 256 + 128);
    b.set(ATTRIBUTE, &[enable(enable_2::STENCIL_TEST.mask())]);
    b.declare(&[]);
    assert_eq!(b.draw(), [kind::RESERVED_VALUE], "no stencil in 16 bits");
    b.set(
        ATTRIBUTE,
        &[enable(enable_2::Z_TEST.mask()), (para_01::Z_2, 0)],
    );
    assert_eq!(b.draw(), [kind::PITCH_ZERO]);
    b.set(ATTRIBUTE, &[(para_01::Z_2, z_2::PITCH.of(8) | 2)]);
    assert_eq!(b.draw(), [kind::RESERVED_VALUE], "system memory");
}

#[test]
fn lost_parameters_that_are_not_0_are_found() {
    let mut b = Bench::drawing();
    let test = enable_2::Z_TEST.mask() | enable_2::COLOR_WRITE.mask();
    b.set(
        ATTRIBUTE,
        &[(para_01::ENABLE_2, test), (para_01::Z_2, z_2::PITCH.of(8))],
    );
    assert_eq!(b.draw(), []);
    for (sub_address, value) in [(para_01::Z_3, 1), (para_01::Z_5, 2), (para_01::Z_6, 4)] {
        b.set(ATTRIBUTE, &[(sub_address, value)]);
        assert_eq!(b.draw(), [kind::UNIMPLEMENTED_PARAMETER]);
        b.set(ATTRIBUTE, &[(sub_address, 0)]);
    }
}

#[test]
fn a_stencil_buffer_of_its_own_has_a_byte_a_pixel() {
    let mut b = Bench::drawing();
    let enable = enable_2::STENCIL_TEST.mask() | enable_2::COLOR_WRITE.mask();
    b.set(
        ATTRIBUTE,
        &[
            (para_01::ENABLE_2, enable),
            (para_01::Z_1, (DEPTH >> 8) as u32),
            (para_01::Z_2, z_2::PITCH.of(8)),
            (para_01::Z_3, z_3::FORMAT.of(z_3::format::Z32_ASSUMED)),
            (para_01::FAST_Z_CLEAR_1, fast_z_clear_1::ENABLE.mask()),
            (para_01::FAST_Z_CLEAR_2, (OTHER >> 8) as u32),
        ],
    );
    let fixed = [
        (bus::FRAME_BUFFER, TARGET, BYTES),
        (bus::FRAME_BUFFER, DEPTH, BYTES),
    ];
    b.exactly(&[fixed[0], fixed[1], (bus::FRAME_BUFFER, OTHER, 4 * 8 * 64)]);
    b.declare(&[]);
    assert!(
        b.traced().contains("depth reads 0x"),
        "the stencil is elsewhere"
    );
    // A window within the second row of blocks, and the third block.
    b.window(16, 8, 17, 16);
    b.declare(&[fixed[0], fixed[1], (bus::FRAME_BUFFER, OTHER + 10 * 64, 64)]);
    assert_eq!(b.draw(), []);
    b.set(ATTRIBUTE, &[(para_01::Z_3, (3 << 5) | z_3::FORMAT.of(4))]);
    assert_eq!(b.draw(), [kind::RESERVED_VALUE], "its location");
    b.set(ATTRIBUTE, &[(para_01::Z_3, 0)]);
    assert_eq!(b.draw(), [kind::RESERVED_VALUE], "16 bits of depth");
    b.set(
        ATTRIBUTE,
        &[(
            para_01::FAST_Z_CLEAR_1,
            1 | fast_z_clear_1::INDEX_LENGTH.of(5),
        )],
    );
    assert_eq!(b.draw(), [kind::RESERVED_VALUE; 2]);
}

#[test]
fn coarse_z_has_32_bytes_a_cell() {
    let mut b = Bench::drawing();
    b.set(
        ATTRIBUTE,
        &[
            (para_01::COARSE_Z_1, coarse_z_1::PITCH.of(9)),
            (para_01::COARSE_Z_2, (OTHER >> 8) as u32),
        ],
    );
    for bit in [enable_2::COARSE_Z_TEST, enable_2::COARSE_Z_WRITE] {
        let enable = bit.mask() | enable_2::COLOR_WRITE.mask();
        b.set(ATTRIBUTE, &[(para_01::ENABLE_2, enable)]);
        b.with_target(OTHER, (3 * 9 + 8) * 32);
    }
    b.declare(&[]);
    b.set(ATTRIBUTE, &[(para_01::COARSE_Z_1, 0)]);
    assert_eq!(b.draw(), [kind::PITCH_ZERO]);
    b.set(
        ATTRIBUTE,
        &[(para_01::COARSE_Z_1, coarse_z_1::MERGE.of(3) | 9)],
    );
    assert_eq!(b.draw(), [kind::RESERVED_VALUE]);
}
