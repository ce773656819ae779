// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Lines and poly-lines.

use super::*;
use crate::kind;

const HASH: u32 = b'#' as u32;

fn line(start: u32, end: u32, more: &[(u32, u32)]) -> Bench {
    let mut bench = Bench::new();
    bench.writes(&[
        (mmio::DP_GUI_MASTER_CNTL, solid()),
        (mmio::DST_PITCH_OFFSET, DESTINATION),
        (mmio::DP_BRUSH_FRGD_CLR, HASH),
    ]);
    bench.writes(more);
    bench.writes(&[(mmio::DST_LINE_START, start), (mmio::DST_LINE_END, end)]);
    bench
}

#[test]
fn a_line_leaves_out_its_last_pixel() {
    line(yx(0, 0), yx(5, 2), &[]).expect(&["##....", "..##..", "....#."]);
    // Back again: the same pixels, but for the two ends.
    line(yx(5, 2), yx(0, 0), &[]).expect(&[".#....", "..##..", "....##"]);
    line(yx(0, 0), yx(3, 0), &[(mmio::DP_CNTL, 0x23)]).expect(&["####.."]);
    line(yx(2, 3), yx(2, 0), &[]).expect(&["....", "..#.", "..#.", "..#."]);
}

#[test]
fn lines_are_clipped_per_pixel() {
    line(yx(-3, -3), yx(3, 3), &[(mmio::SC_BOTTOM_RIGHT, yx(2, 8))])
        .expect(&["#...", ".#..", "....", "...."]);
}

#[test]
fn pen_pattern_and_phase() {
    let pen = gui::PIX_ORDER.put(control(7, 0xf0, 3, 0), 1);
    let set = [
        (mmio::DP_GUI_MASTER_CNTL, pen),
        (mmio::BRUSH_DATA.at(0).unwrap(), 0x7777_7773),
    ];
    line(yx(0, 0), yx(12, 0), &set).expect(&["##..###.###."]);
    // The phase is where DST_LINE_PATCOUNT says, and is reloaded from BRUSH_X when the line is done.
    let mut more = set.to_vec();
    more.push((mmio::DST_LINE_PATCOUNT, 3));
    let mut bench = line(yx(0, 0), yx(8, 0), &more);
    bench.expect(&[".###.###."]);
    bench.writes(&[
        (mmio::DST_LINE_START, yx(0, 1)),
        (mmio::DST_LINE_END, yx(4, 1)),
    ]);
    bench.expect(&[".###.###.", "##......."]);
    // BRUSH_Y_X bits 20:16 set the phase as well.
    let mut more = set.to_vec();
    more.push((mmio::BRUSH_Y_X, 4 << 16));
    line(yx(0, 0), yx(4, 0), &more).expect(&["###.."]);
}

#[test]
fn opaque_pen_draws_both_colours() {
    let pen = gui::PIX_ORDER.put(control(6, 0xf0, 3, 0), 1);
    let mut bench = Bench::new();
    bench.packet(
        op::POLYLINE,
        pen,
        &[u32::from(b'-'), HASH, 0x0000_0005, yx(0, 0), yx(4, 0)],
    );
    bench.expect(&["#-#-."]);
}

#[test]
fn poly_line_carries_the_pattern_round_corners() {
    let pen = gui::PIX_ORDER.put(control(7, 0xf0, 3, 0), 1);
    let mut bench = Bench::new();
    // Three pixels to the right, three down, three to the left: phases 0 1 2, 3 4 5, 6 7 8.
    let points = [yx(0, 0), yx(3, 0), yx(3, 3), yx(0, 3)];
    bench.packet(
        op::POLYLINE,
        pen,
        &[&[HASH, 0b1_0110_1011][..], &points].concat(),
    );
    bench.expect(&["##.#.", ".....", "...#.", ".#.#."]);
}

#[test]
fn poly_line_with_solid_brush_and_too_few_points() {
    let mut bench = Bench::new();
    bench.packet(op::POLYLINE, solid(), &[HASH, yx(1, 1), yx(3, 1), yx(3, 3)]);
    bench.expect(&[".....", ".###.", "...#.", "....."]);
    bench.packet(op::POLYLINE, solid(), &[HASH, yx(1, 1)]);
    bench.packet(op::POLYLINE, solid(), &[HASH]);
    assert_eq!(bench.found(), [kind::PACKET_LENGTH, kind::PACKET_LENGTH]);
}

#[test]
fn tiles_are_not_for_lines_and_pens_not_for_planes() {
    let mut bench = Bench::new();
    bench.packet(
        op::POLYLINE,
        control(1, 0xf0, 3, 0),
        &[HASH, 0, 0, yx(1, 1), yx(3, 1)],
    );
    bench.packet(
        op::PAINT_MULTI,
        control(7, 0xf0, 3, 0),
        &[HASH, 0, xy(1, 1), xy(3, 1)],
    );
    bench.packet(
        op::POLYLINE,
        control(13, 0xcc, 3, 2),
        &[HASH, yx(1, 1), yx(3, 1)],
    );
    assert_eq!(bench.found(), [kind::ENGINE2D_UNSUPPORTED; 3]);
    assert!(bench.port.written.is_empty());
}
