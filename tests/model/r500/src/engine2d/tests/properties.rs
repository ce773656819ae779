// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Properties of the whole engine: garbage never gets out of hand, and drawing never leaves the scissor.

use proptest::prelude::*;

use super::*;

fn registers() -> impl Strategy<Value = u32> {
    // All of the engine's block, whatever it does there.
    (mmio::DST_OFFSET / 4..=mmio::HOST_DATA_LAST / 4).prop_map(|n| n * 4)
}

/// Return words that often mean something. They are small coordinates and sizes, real control words, and anything.
fn words() -> impl Strategy<Value = u32> {
    prop_oneof![
        (-20_i32..80, -20_i32..40).prop_map(|(x, y)| yx(x, y)),
        (0_u32..16, any::<u8>(), 0_u32..4, 0_u32..8, any::<u32>()).prop_map(
            |(brush, rop, kind, load, flags)| {
                control(brush, rop.into(), kind, load) ^ (flags & 0x1000_4f0f)
            }
        ),
        prop::sample::select(vec![
            DESTINATION,
            SOURCE,
            0x8040_0003,
            0xc100_0004,
            0x1fff_1fff,
            0
        ]),
        0_u32..20,
        any::<u32>().prop_map(|w| w & 0x80ff_80ff),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Whatever is written and sent, the engine comes back, and quickly: coordinates here are small, so that each
    /// operation is.
    #[test]
    fn garbage_is_survived(
        writes in prop::collection::vec((registers(), words()), 0..60),
        packets in prop::collection::vec((prop::sample::select(vec![
            op::NOP, op::PAINT, op::BITBLT, op::HOSTDATA_BLT, op::POLYLINE, op::POLYSCANLINES, op::NEXTCHAR, op::PAINT_MULTI,
            op::BITBLT_MULTI, op::TRANS_BITBLT, op::PLY_NEXTSCAN, op::SET_SCISSORS, op::LOAD_PALETTE,
        ]), prop::collection::vec(words(), 0..40)), 0..8),
    ) {
        let mut bench = Bench::new();
        for (offset, value) in writes {
            bench.write(offset, value);
        }
        for (opcode, body) in packets {
            bench.raw(opcode, &body);
        }
        bench.engine.reset();
    }

    /// Every byte written belongs to a pixel inside the scissor.
    #[test]
    fn nothing_is_written_outside_of_the_scissor(
        left in 0_i32..40, top in 0_i32..20, right in 0_i32..40, bottom in 0_i32..20,
        x in -50_i32..50, y in -50_i32..50, width in 0_i32..90, height in 0_i32..90,
        kind in prop::sample::select(vec![(2_u32, 1_i32), (4, 2), (6, 4)]),
        rop: u8, brush in prop::sample::select(vec![0_u32, 1, 10, 13]), load in prop::sample::select(vec![0_u32, 2]),
        direction in 0_u32..4, line: bool,
    ) {
        let mut bench = Bench::new();
        let (format, bytes) = kind;
        // 256 bytes a row, 64 rows.
        let surface = 16 | (4 << 22);
        bench.writes(&[
            (mmio::DP_GUI_MASTER_CNTL, gui::DST_TYPE.put(control(brush, rop.into(), 3, load), format)),
            (mmio::DP_CNTL, direction),
            (mmio::DST_PITCH_OFFSET, surface),
            (mmio::SRC_PITCH_OFFSET, 32 | (4 << 22)),
            (mmio::SC_TOP_LEFT, yx(left, top)),
            (mmio::SC_BOTTOM_RIGHT, yx(right, bottom)),
            (mmio::SRC_Y_X, yx(3, 3)),
            (mmio::BRUSH_DATA.at(0).unwrap(), 0xa5c3_9966),
        ]);
        if line {
            bench.writes(&[(mmio::DST_LINE_START, yx(x, y)), (mmio::DST_LINE_END, yx(width, height))]);
        } else {
            bench.writes(&[(mmio::DST_Y_X, yx(x, y)), (mmio::DST_HEIGHT_WIDTH, yx(width, height))]);
        }
        for &(address, length) in &bench.port.written {
            let offset = address as i32 - 16 * 1024;
            let (row, first) = (offset / 256, offset % 256);
            let end = first + length as i32;
            prop_assert!(offset >= 0 && row >= top && row < bottom, "row {row}");
            prop_assert!(first >= left * bytes && end <= right * bytes, "bytes {first}..{end}");
        }
    }

    /// A copy moves exactly the pixels of the rectangle, for overlapping areas too if the direction fits.
    #[test]
    fn copies_move_pixels(
        sx in 0_i32..20, sy in 0_i32..10, dx in 0_i32..20, dy in 0_i32..10, width in 1_i32..20, height in 1_i32..10,
    ) {
        let mut bench = Bench::new();
        for (n, byte) in bench.port.memory[1024..1024 + 64 * 24].iter_mut().enumerate() {
            *byte = (n * 7 + n / 64) as u8;
        }
        let before = bench.port.memory.clone();
        let (ltr, ttb) = (dx <= sx, dy <= sy);
        let corner = |x: i32, y: i32| yx(if ltr { x } else { x + width - 1 }, if ttb { y } else { y + height - 1 });
        bench.writes(&[
            (mmio::DP_GUI_MASTER_CNTL, plain_copy()),
            (mmio::DP_CNTL, u32::from(ltr) | (u32::from(ttb) << 1)),
            (mmio::DST_PITCH_OFFSET, DESTINATION),
            (mmio::SRC_PITCH_OFFSET, DESTINATION),
            (mmio::SRC_Y_X, corner(sx, sy)),
            (mmio::DST_Y_X, corner(dx, dy)),
            (mmio::DST_HEIGHT_WIDTH, yx(width, height)),
        ]);
        let at = |x: i32, y: i32| (1024 + y * 64 + x) as usize;
        for y in 0..24 {
            for x in 0..64 {
                let inside = x >= dx && x < dx + width && y >= dy && y < dy + height;
                let from = if inside { at(x - dx + sx, y - dy + sy) } else { at(x, y) };
                prop_assert_eq!(bench.port.memory[at(x, y)], before[from], "pixel {},{}", x, y);
            }
        }
        prop_assert!(bench.port.findings.is_empty());
    }
}

#[test]
fn the_largest_rectangle_is_clipped_before_it_is_drawn() {
    let mut bench = Bench::new();
    bench.writes(&[
        (mmio::DP_GUI_MASTER_CNTL, solid()),
        (mmio::DST_PITCH_OFFSET, DESTINATION),
        (mmio::SC_TOP_LEFT, yx(5, 5)),
        (mmio::SC_BOTTOM_RIGHT, yx(6, 6)),
        (mmio::DST_Y_X, yx(-8192, -8192)),
        (mmio::DST_HEIGHT_WIDTH, 0x3fff_3fff),
    ]);
    assert_eq!(bench.port.written, [(1024 + 5 * 64 + 5, 1)]);
}
