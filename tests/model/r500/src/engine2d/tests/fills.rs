// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Rectangles, brushes, raster operations, masks.

use super::*;
use crate::kind;

const HASH: u32 = b'#' as u32;

#[test]
fn paint_multi_takes_corner_and_size_with_x_high() {
    let mut bench = Bench::new();
    bench.packet(
        op::PAINT_MULTI,
        solid(),
        &[HASH, xy(1, 0), xy(3, 1), xy(4, 2), xy(1, 2)],
    );
    bench.expect(&[".###..", "......", "....#.", "....#.", "......"]);
}

#[test]
fn paint_takes_corners_with_y_high_and_leaves_out_the_second() {
    let mut bench = Bench::new();
    bench.packet(
        op::PAINT,
        solid(),
        &[
            HASH,
            yx(1, 0),
            yx(4, 2),
            yx(0, 3),
            yx(0, 4),
            yx(5, 3),
            yx(3, 4),
        ],
    );
    bench.expect(&[".###..", ".###..", "......", "......"]);
}

#[test]
fn registers_start_a_rectangle_by_its_size() {
    let setup = [
        (mmio::DP_GUI_MASTER_CNTL, solid()),
        (mmio::DP_BRUSH_FRGD_CLR, HASH),
        (mmio::DST_PITCH_OFFSET, DESTINATION),
    ];
    let triggers: [&[(u32, u32)]; 6] = [
        &[
            (mmio::DST_Y_X, yx(1, 1)),
            (mmio::DST_HEIGHT_WIDTH, yx(3, 2)),
        ],
        &[
            (mmio::DST_X_Y, xy(1, 1)),
            (mmio::DST_WIDTH_HEIGHT, xy(3, 2)),
        ],
        &[
            (mmio::DST_X, 1),
            (mmio::DST_Y, 1),
            (mmio::DST_HEIGHT, 2),
            (mmio::DST_WIDTH, 3),
        ],
        &[
            (mmio::DST_HEIGHT_Y, yx(1, 2)),
            (mmio::DST_WIDTH_X, yx(1, 3)),
        ],
        &[
            (mmio::DST_HEIGHT_Y, yx(1, 1)),
            (mmio::DST_WIDTH_X_INCY, yx(1, 3)),
            (mmio::DST_WIDTH_X_INCY, yx(1, 3)),
        ],
        &[
            (mmio::DST_PITCH_OFFSET, 0),
            (mmio::DST_OFFSET, 1024),
            (mmio::DST_PITCH, 64),
            (mmio::DST_Y_X, yx(1, 1)),
            (mmio::DST_HEIGHT_WIDTH, yx(3, 2)),
        ],
    ];
    for trigger in triggers {
        let mut bench = Bench::new();
        bench.writes(&setup);
        bench.writes(trigger);
        bench.expect(&[".....", ".###.", ".###.", "....."]);
    }
}

#[test]
fn a_rectangle_grows_from_its_corner_in_the_drawing_direction() {
    let mut bench = Bench::new();
    bench.writes(&[
        (mmio::DP_GUI_MASTER_CNTL, solid()),
        (mmio::DP_BRUSH_FRGD_CLR, HASH),
        (mmio::DST_PITCH_OFFSET, DESTINATION),
        (mmio::DP_CNTL, 0),
        (mmio::DST_Y_X, yx(3, 2)),
        (mmio::DST_HEIGHT_WIDTH, yx(2, 3)),
    ]);
    bench.expect(&["..##.", "..##.", "..##.", "....."]);
}

#[test]
fn short_control_register_sets_directions() {
    let mut bench = Bench::new();
    bench.write(mmio::DP_CNTL_XDIR_YDIR_YMAJOR, 1 << 31);
    assert_eq!(bench.port.register(mmio::DP_CNTL) & 3, 1);
    bench.write(mmio::DP_CNTL_XDIR_YDIR_YMAJOR, 1 << 15);
    assert_eq!(bench.port.register(mmio::DP_CNTL) & 3, 2);
}

#[test]
fn wider_pixels() {
    for (kind, bytes) in [(4, 2), (6, 4)] {
        let mut bench = Bench::new();
        let control = gui::DST_TYPE.put(solid(), kind);
        bench.packet(op::PAINT_MULTI, control, &[0x4443_4241, xy(1, 1), xy(2, 1)]);
        let pixel = &"ABCD"[..bytes];
        let filled = format!("{}{pixel}{pixel}..", ".".repeat(bytes));
        bench.expect(&[&".".repeat(filled.len()), &filled]);
    }
}

#[test]
fn raster_operation_and_write_mask_combine_with_what_was_there() {
    let mut bench = Bench::new();
    bench.put(1024, &["abcd"]);
    // Exclusive or with 0x20 (pattern ^ destination) makes capitals.
    bench.packet(
        op::PAINT_MULTI,
        control(13, 0x5a, 3, 0),
        &[0x20, xy(1, 0), xy(2, 1)],
    );
    bench.expect(&["aBCd"]);

    // Only the bit 0x20 may be written: all other bits of the pattern are ignored.
    let masked = gui::GMC_WR_MSK_DIS.put(solid(), 0);
    bench.write(mmio::DP_WRITE_MASK, 0x20);
    bench.packet(op::PAINT_MULTI, masked, &[0xff, xy(0, 0), xy(3, 1)]);
    bench.expect(&["abcd"]);
    assert_eq!(bench.port.register(mmio::DP_WRITE_MASK), 0x20);
}

#[test]
fn mono_brush_hangs_on_the_surface_and_moves_with_its_origin() {
    // Rows 1 to 4 of the tile, highest bit first: "#.......", ".#......", "..#.....", "...#....".
    let body = [u32::from(b'-'), HASH, 0x1020_4080, 0, xy(2, 0), xy(8, 4)];
    let mut bench = Bench::new();
    bench.packet(op::PAINT_MULTI, control(0, 0xf0, 3, 0), &body);
    bench.expect(&["..------#-", "..-------#", "..#-------", "..-#------"]);

    // BRUSH_Y_X with x = 1, y = 2: pixel (x, y) shows element (x + 1, y + 2).
    let mut bench = Bench::new();
    let body = [
        u32::from(b'-'),
        HASH,
        0x1020_4080,
        0,
        0x0001_0201,
        xy(0, 0),
        xy(8, 3),
    ];
    bench.packet(
        op::PAINT_MULTI,
        gui::BRUSH_FLAG.put(control(0, 0xf0, 3, 0), 1),
        &body,
    );
    bench.expect(&["-#------", "--#-----", "--------"]);
}

#[test]
fn transparent_mono_brush_leaves_pixels_unwritten() {
    let mut bench = Bench::new();
    bench.packet(
        op::PAINT_MULTI,
        control(1, 0xf0, 3, 0),
        &[HASH, 0x0000_0085, 0, xy(0, 0), xy(9, 2)],
    );
    bench.expect(&["#....#.##.", ".........."]);
    // Runs of pixels, not single ones, and none that stay as they were.
    assert_eq!(bench.port.written, [(1024, 1), (1029, 1), (1031, 2)]);
}

#[test]
fn pixel_order_reverses_the_bits_of_each_byte() {
    let mut bench = Bench::new();
    let lowest_first = gui::PIX_ORDER.put(control(1, 0xf0, 3, 0), 1);
    bench.packet(
        op::PAINT_MULTI,
        lowest_first,
        &[HASH, 0x0000_0085, 0, xy(0, 0), xy(9, 1)],
    );
    bench.expect(&["#.#....##."]);
}

#[test]
fn colour_brush() {
    let mut bench = Bench::new();
    let tile: Vec<u32> = b"abcdefghABCDEFGH0123456789:;<=>?@IJKLMNOPQRSTUVWXYZijklmnopqrstu"
        .chunks(4)
        .map(|c| u32::from_le_bytes(c.try_into().unwrap()))
        .collect();
    let body = [&tile[..], &[xy(1, 1), xy(8, 2)]].concat();
    bench.packet(op::PAINT_MULTI, control(10, 0xf0, 3, 0), &body);
    bench.expect(&["..........", ".BCDEFGHA.", ".12345670."]);
}

#[test]
fn brush_is_combined_by_the_raster_operation_with_a_source() {
    // 0xca: where the pattern has a 1 take the source, else keep the destination.
    let mut bench = Bench::new();
    bench.put(3072, &["abcdefgh"]);
    bench.packet(
        op::BITBLT,
        control(0, 0xca, 3, 2),
        &[0x00, 0xff, 0x0000_00f0, 0, xy(0, 0), xy(0, 0), xy(8, 1)],
    );
    bench.expect(&["abcd...."]);
}

#[test]
fn nothing_happens_outside_of_the_scissor() {
    let mut bench = Bench::new();
    let clipped = gui::DST_CLIPPING.put(solid(), 1);
    bench.packet(
        op::PAINT_MULTI,
        clipped,
        &[yx(2, 1), yx(4, 3), HASH, xy(-5, -5), xy(100, 100)],
    );
    bench.expect(&["......", "..##..", "..##..", "......"]);

    // Negative coordinates are cut off without a scissor, too.
    let mut bench = Bench::new();
    bench.packet(op::PAINT_MULTI, solid(), &[HASH, xy(-2, -1), xy(4, 2)]);
    bench.expect(&["##..", "...."]);
    assert_eq!(bench.port.written, [(1024, 2)]);
}

#[test]
fn set_scissors_stays_until_the_next_settings() {
    let mut bench = Bench::new();
    bench.packet(op::PAINT_MULTI, solid(), &[HASH, xy(0, 0), xy(0, 0)]);
    bench.raw(op::SET_SCISSORS, &[yx(1, 0), yx(3, 1)]);
    bench.writes(&[(mmio::DST_Y_X, 0), (mmio::DST_HEIGHT_WIDTH, yx(5, 2))]);
    bench.expect(&[".##..", "....."]);
    bench.raw(op::SET_SCISSORS, &[0]);
    bench.raw(op::SET_SCISSORS, &[0, 0, 0]);
    assert_eq!(bench.found(), [kind::PACKET_LENGTH, kind::PACKET_LENGTH]);
}

#[test]
fn single_edges_of_the_scissor() {
    let mut bench = Bench::new();
    bench.writes(&[
        (mmio::DP_GUI_MASTER_CNTL, solid()),
        (mmio::DP_BRUSH_FRGD_CLR, HASH),
        (mmio::DST_PITCH_OFFSET, DESTINATION),
        (mmio::SC_LEFT, 1),
        (mmio::SC_TOP, 1),
        (mmio::SC_RIGHT, 3),
        (mmio::SC_BOTTOM, 2),
        (mmio::DST_Y_X, 0),
        (mmio::DST_HEIGHT_WIDTH, yx(5, 5)),
    ]);
    bench.expect(&[".....", ".##..", "....."]);
}

#[test]
fn destination_compare_preserves_pixels() {
    let mut bench = Bench::new();
    bench.put(1024, &["aabb"]);
    bench.writes(&[
        (mmio::DP_GUI_MASTER_CNTL, solid()),
        (mmio::DP_BRUSH_FRGD_CLR, HASH),
        (mmio::DST_PITCH_OFFSET, DESTINATION),
        (mmio::CLR_CMP_CNTL, 4 << 8),
        (mmio::CLR_CMP_CLR_DST, u32::from(b'a')),
        (mmio::DST_Y_X, yx(1, 0)),
        (mmio::DST_HEIGHT_WIDTH, yx(2, 1)),
    ]);
    bench.expect(&["aa#b"]);
}

#[test]
fn poly_scanlines() {
    let mut bench = Bench::new();
    let body = [
        HASH,
        2,
        2,
        yx(0, 1),
        yx(0, 1),
        yx(2, 4),
        1,
        yx(2, 2),
        yx(1, 3),
    ];
    bench.packet(op::POLYSCANLINES, solid(), &body);
    // The words are [HEIGHT | TOP] and [END | START].
    bench.expect(&["#.##.", ".....", ".##..", ".##.."]);
    bench.raw(op::PLY_NEXTSCAN, &[yx(1, 1), yx(0, 5)]);
    bench.expect(&["#.##.", "#####", ".##.."]);
    bench.packet(
        op::POLYSCANLINES,
        solid(),
        &[HASH, 1, 5, yx(0, 1), yx(0, 1)],
    );
    bench.raw(op::PLY_NEXTSCAN, &[yx(1, 1)]);
    assert_eq!(bench.found(), [kind::PACKET_LENGTH, kind::PACKET_LENGTH]);
}

#[test]
fn fills_are_tiled_like_their_surface() {
    // 8-bit pixels, micro-tiled: a block is 8 x 4 pixels in 32 bytes.
    let mut bench = Bench::new();
    let body = [
        solid() & !1,
        DESTINATION | (1 << 31),
        HASH,
        xy(7, 3),
        xy(2, 2),
    ];
    bench.raw(op::PAINT_MULTI, &body);
    assert!(bench.found().is_empty());
    let memory = &bench.port.memory;
    let drawn: Vec<usize> = (0..memory.len())
        .filter(|&n| memory[n] == b'#')
        .map(|n| n - 1024)
        .collect();
    // (7,3): block 0, byte 31. (8,3): block 1, byte 24. (7,4): block row 1 (4 rows of 64 bytes on), byte 7. (8,4):
    // the next block.
    assert_eq!(drawn, [31, 32 + 24, 256 + 7, 256 + 32]);
}
