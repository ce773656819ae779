// SPDX-License-Identifier: GPL-2.0 OR MIT

//! `GUI_CONTROL`, defaults, and settings that cannot work.

use super::*;
use crate::kind;

const HASH: u32 = b'#' as u32;

#[test]
fn gui_control_goes_to_the_data_path_registers() {
    let mut bench = Bench::new();
    let word = control(10, 0xb8, 3, 4)
        | gui::PIX_ORDER.of(1)
        | gui::SRC_CLIPPING.of(1)
        | gui::DST_CLIPPING.of(1);
    bench.write(mmio::DP_GUI_MASTER_CNTL, word);
    let port = &bench.port;
    // Destination 3:0, brush 11:8, source 18:16, order 30; source of data 10:8, raster operation 23:16.
    assert_eq!(
        port.register(mmio::DP_DATATYPE),
        2 | (10 << 8) | (3 << 16) | (1 << 30)
    );
    assert_eq!(port.register(mmio::DP_MIX), (4 << 8) | (0xb8 << 16));
    assert_eq!(port.register(mmio::DP_WRITE_MASK), u32::MAX);
    assert_eq!(port.register(mmio::CLR_CMP_MASK), u32::MAX);
    assert_eq!(port.register(mmio::DP_CNTL), 3);
    assert_eq!(
        port.register(mmio::SC_BOTTOM_RIGHT),
        0,
        "kept: the flag says that it is given"
    );
}

#[test]
fn cleared_flags_take_the_defaults() {
    let mut bench = Bench::new();
    bench.write(mmio::DEFAULT_PITCH_OFFSET, DESTINATION);
    bench.write(mmio::DEFAULT_SC_BOTTOM_RIGHT, yx(3, 2));
    bench.write(mmio::SC_TOP_LEFT, yx(2, 2));
    let plain = gui::DST_PITCH_OFF.put(gui::SRC_PITCH_OFF.put(solid(), 0), 0);
    bench.packet(op::PAINT_MULTI, plain, &[HASH, xy(0, 0), xy(9, 9)]);
    bench.expect(&["###..", "###..", "....."]);
    assert_eq!(bench.port.register(mmio::SRC_PITCH_OFFSET), DESTINATION);
    assert_eq!(bench.port.register(mmio::SRC_SC_BOTTOM_RIGHT), yx(3, 2));
}

#[test]
fn data_path_registers_may_be_written_one_by_one() {
    let mut bench = Bench::new();
    bench.writes(&[
        (mmio::DP_DATATYPE, 2 | (13 << 8) | (3 << 16)),
        (mmio::DP_MIX, 0xf0 << 16),
        (mmio::DP_CNTL, 3),
        (mmio::DP_WRITE_MASK, u32::MAX),
        (mmio::DP_BRUSH_FRGD_CLR, HASH),
        (mmio::DST_PITCH_OFFSET, DESTINATION),
        (mmio::SC_BOTTOM_RIGHT, 0x1fff_1fff),
        (mmio::DST_Y_X, yx(1, 0)),
        (mmio::DST_HEIGHT_WIDTH, yx(2, 1)),
    ]);
    bench.expect(&[".##."]);
}

/// Return what a solid fill finds after a change of `GUI_CONTROL` or of a register.
fn broken(control: u32, more: &[(u32, u32)]) -> Vec<Kind> {
    let mut bench = Bench::new();
    bench.writes(&[
        (mmio::DP_GUI_MASTER_CNTL, control),
        (mmio::DST_PITCH_OFFSET, DESTINATION),
        (mmio::SRC_PITCH_OFFSET, SOURCE),
    ]);
    bench.writes(more);
    bench.writes(&[(mmio::DST_Y_X, 0), (mmio::DST_HEIGHT_WIDTH, yx(2, 2))]);
    assert!(
        bench.port.written.is_empty(),
        "nothing is drawn with what cannot work"
    );
    bench.found()
}

#[test]
fn what_cannot_work_is_found_and_draws_nothing() {
    for kind in [0, 1, 5, 10, 13] {
        assert_eq!(
            broken(gui::DST_TYPE.put(solid(), kind), &[]),
            [kind::RESERVED_VALUE],
            "DST_TYPE {kind}"
        );
    }
    for brush in [2, 3, 4, 5, 8, 9, 11, 12] {
        assert_eq!(
            broken(control(brush, 0xf0, 3, 0), &[]),
            [kind::RESERVED_VALUE],
            "BRUSH_TYPE {brush}"
        );
    }
    assert_eq!(broken(control(15, 0xf0, 3, 0), &[]), [kind::RESERVED_VALUE]);
    assert_eq!(broken(control(13, 0xcc, 2, 2), &[]), [kind::RESERVED_VALUE]);
    for load in [0, 1, 5, 6, 7] {
        assert_eq!(
            broken(control(13, 0xcc, 3, load), &[]),
            [kind::RESERVED_VALUE],
            "SRC_LOAD {load}"
        );
    }
    let bad_surface = |register, value| broken(plain_copy(), &[(register, value)]);
    assert_eq!(
        bad_surface(mmio::DST_PITCH_OFFSET, 1),
        [kind::ENGINE2D_BAD_SURFACE]
    );
    assert_eq!(
        bad_surface(mmio::SRC_PITCH_OFFSET, 1),
        [kind::ENGINE2D_BAD_SURFACE]
    );
    assert_eq!(
        bad_surface(mmio::DST_PITCH_OFFSET, 1 | (4 << 22) | (1 << 30)),
        [kind::ENGINE2D_BAD_SURFACE]
    );
    let above = 0x3f_ffff | (255 << 22);
    assert_eq!(
        bad_surface(mmio::DST_PITCH_OFFSET, above),
        [kind::ENGINE2D_BAD_SURFACE]
    );
    assert_eq!(
        bad_surface(mmio::SRC_PITCH_OFFSET, above),
        [kind::ENGINE2D_BAD_SURFACE]
    );
    assert_eq!(
        broken(solid(), &[(mmio::AUX_SC_CNTL, 1)]),
        [kind::ENGINE2D_UNSUPPORTED]
    );
    assert_eq!(
        broken(solid(), &[(mmio::DP_DST_ENDIAN, 1)]),
        [kind::ENGINE2D_UNSUPPORTED]
    );
}

#[test]
fn odd_values_are_found_but_drawn() {
    let mut bench = Bench::new();
    bench.packet(
        op::PAINT_MULTI,
        solid(),
        &[HASH, xy(1, 0x4000), xy(0x4002, 1)],
    );
    // y = 0x4000: bits 15:13 differ. Width 0x4002 has more than 14 bits.
    assert_eq!(bench.found(), [kind::RESERVED_VALUE, kind::RESERVED_VALUE]);
    assert_eq!(bench.picture(4, 1), [".##."]);
    bench.write(mmio::DP_GUI_MASTER_CNTL, solid() | (1 << 27));
    bench.write(mmio::DST_OFFSET, 1025);
    bench.write(mmio::DST_PITCH, 65);
    assert_eq!(bench.found(), [kind::RESERVED_VALUE; 3]);
}

#[test]
fn operations_that_nobody_describes() {
    for register in [
        mmio::DST_HEIGHT_WIDTH_8,
        mmio::DST_HEIGHT_WIDTH_BW,
        mmio::DST_BRES_LNTH,
        mmio::LEAD_BRES_LNTH,
    ] {
        let mut bench = Bench::new();
        bench.write(register, 5);
        assert_eq!(bench.found(), [kind::ENGINE2D_UNSUPPORTED]);
    }
}

#[test]
fn bodies_of_wrong_length() {
    let mut bench = Bench::new();
    let mut run = |opcode, body: &[u32]| {
        bench.raw(opcode, body);
        bench.found()
    };
    let settings = [solid(), SOURCE, DESTINATION, HASH];
    for opcode in [
        op::PAINT,
        op::PAINT_MULTI,
        op::BITBLT,
        op::BITBLT_MULTI,
        op::TRANS_BITBLT,
        op::POLYSCANLINES,
    ] {
        for n in 0..=settings.len() {
            assert_eq!(
                run(opcode, &settings[..n]),
                [kind::PACKET_LENGTH],
                "{opcode:#x}, {n} dwords"
            );
        }
    }
    let with = |more: &[u32]| [&settings[..], more].concat();
    assert_eq!(run(op::PAINT, &with(&[0])), [kind::PACKET_LENGTH]);
    assert_eq!(
        run(op::PAINT_MULTI, &with(&[0, 0, 0])),
        [kind::PACKET_LENGTH]
    );
    assert_eq!(run(op::BITBLT, &with(&[0, 0])), [kind::PACKET_LENGTH]);
    assert_eq!(run(op::BITBLT, &with(&[0, 0, 0, 0])), [kind::PACKET_LENGTH]);
    assert_eq!(
        run(op::BITBLT_MULTI, &with(&[0, 0, 0, 0])),
        [kind::PACKET_LENGTH]
    );
    assert_eq!(run(op::TRANS_BITBLT, &with(&[0; 7])), [kind::PACKET_LENGTH]);
    assert_eq!(run(op::NEXTCHAR, &[0]), [kind::PACKET_LENGTH]);
    assert_eq!(
        run(op::PAINT, &[control(2, 0xf0, 3, 0), 0, 0]),
        [kind::RESERVED_VALUE]
    );
}

#[test]
fn palettes() {
    let mut bench = Bench::new();
    let body: Vec<u32> = std::iter::once(1).chain(100..116).collect();
    bench.raw(op::LOAD_PALETTE, &body);
    assert!(bench.found().is_empty());
    assert_eq!(bench.engine.palette(), &body[1..]);
    bench.raw(op::LOAD_PALETTE, &[2; 257]);
    assert_eq!(bench.engine.palette().len(), 256);
    bench.raw(op::LOAD_PALETTE, &body[..16]);
    bench.raw(op::LOAD_PALETTE, &[1; 18]);
    bench.raw(op::LOAD_PALETTE, &[3, 0]);
    bench.raw(op::LOAD_PALETTE, &[]);
    let expected = [
        kind::PACKET_LENGTH,
        kind::PACKET_LENGTH,
        kind::RESERVED_VALUE,
        kind::PACKET_LENGTH,
    ];
    assert_eq!(bench.found(), expected);
}
