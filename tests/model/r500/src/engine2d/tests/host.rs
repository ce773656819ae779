// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Host data, by packet and by register.

use super::*;
use crate::kind;

const HASH: u32 = b'#' as u32;
const DASH: u32 = b'-' as u32;

/// Return `GUI_CONTROL` for a bitmap from the host, lowest bit first.
fn bitmap(transparent: bool, load: u32) -> u32 {
    gui::SRC_PITCH_OFF.put(
        gui::PIX_ORDER.put(control(15, 0xcc, transparent.into(), load), 1),
        0,
    )
}

#[test]
fn linear_bitmap_has_no_gaps_between_rows() {
    let mut bench = Bench::new();
    // Rows of 5: 10110, 01001, 11100 → bits from the lowest: 1 0 1 1 0 | 0 1 0 0 1 | 1 1 1 0 0.
    let bits = 0b00111_10010_01101;
    bench.packet(
        op::HOSTDATA_BLT,
        bitmap(false, 3),
        &[HASH, DASH, yx(1, 1), yx(5, 3), 1, bits],
    );
    bench.expect(&[".......", ".#-##-.", ".-#--#.", ".###--."]);
}

#[test]
fn byte_aligned_bitmap_begins_each_row_at_a_byte() {
    let mut bench = Bench::new();
    let bits = u32::from_le_bytes([0b01101, 0b1110_0000 | 0b10010, 0b00111, 0]);
    bench.packet(
        op::HOSTDATA_BLT,
        bitmap(true, 4),
        &[HASH, DASH, yx(0, 0), yx(5, 3), 1, bits],
    );
    bench.expect(&["#.##..", ".#..#.", "###..."]);
}

#[test]
fn highest_bit_first_within_each_byte() {
    let mut bench = Bench::new();
    let control = gui::PIX_ORDER.put(bitmap(false, 3), 0);
    bench.packet(
        op::HOSTDATA_BLT,
        control,
        &[HASH, DASH, yx(0, 0), yx(12, 1), 1, 0x0000_b0a3],
    );
    bench.expect(&["#-#---###-##."]);
}

#[test]
fn several_characters_in_a_packet() {
    let mut bench = Bench::new();
    let chars = [
        yx(0, 0),
        yx(3, 1),
        1,
        0b101,
        yx(4, 0),
        yx(3, 2),
        1,
        0b010_111,
    ];
    bench.packet(
        op::HOSTDATA_BLT,
        bitmap(true, 3),
        &[&[HASH, DASH][..], &chars].concat(),
    );
    bench.expect(&["#.#.###", ".....#."]);
}

#[test]
fn next_char_uses_what_is_set() {
    let mut bench = Bench::new();
    bench.packet(
        op::HOSTDATA_BLT,
        bitmap(true, 3),
        &[HASH, DASH, yx(0, 0), yx(1, 1), 1, 1],
    );
    bench.raw(op::NEXTCHAR, &[yx(2, 0), yx(2, 2), 0b1001]);
    bench.expect(&["#.#.", "...#"]);
}

#[test]
fn colour_data() {
    let mut bench = Bench::new();
    let control = gui::SRC_TYPE.put(bitmap(false, 3), 3);
    let data = [u32::from_le_bytes(*b"abcd"), u32::from_le_bytes(*b"efXX")];
    bench.packet(
        op::HOSTDATA_BLT,
        control,
        &[&[0, 0, yx(1, 0), yx(3, 2), 2][..], &data].concat(),
    );
    bench.expect(&[".abc.", ".def."]);
    // 16-bit pixels straddle rows but not dwords.
    let mut bench = Bench::new();
    let control = gui::DST_TYPE.put(control, 4);
    bench.packet(
        op::HOSTDATA_BLT,
        control,
        &[&[0, 0, yx(0, 0), yx(1, 3), 2][..], &data].concat(),
    );
    bench.expect(&["ab", "cd", "ef"]);
}

#[test]
fn host_data_is_clipped_but_consumed() {
    let mut bench = Bench::new();
    let clipped = gui::DST_CLIPPING.put(bitmap(false, 3), 1);
    let body = [
        yx(1, 1),
        yx(4, 2),
        HASH,
        DASH,
        yx(0, 0),
        yx(8, 3),
        1,
        0x00_a5_ff,
    ];
    bench.packet(op::HOSTDATA_BLT, clipped, &body);
    bench.expect(&["........", ".-#-....", "........"]);
}

#[test]
fn by_registers_with_an_end() {
    let mut bench = Bench::new();
    let begin = [
        (mmio::DP_GUI_MASTER_CNTL, bitmap(true, 3)),
        (mmio::DST_PITCH_OFFSET, DESTINATION),
        (mmio::DP_SRC_FRGD_CLR, HASH),
        (mmio::DST_Y_X, 0),
        (mmio::DST_HEIGHT_WIDTH, yx(32, 2)),
    ];
    bench.writes(&begin);
    bench.writes(&[
        (mmio::HOST_DATA.at(6).unwrap(), 0x8000_0001),
        (mmio::HOST_DATA_LAST, 2),
    ]);
    bench.expect(&[
        "#..............................#",
        ".#..............................",
    ]);

    // One dword too few, then one too many.
    bench.writes(&begin);
    bench.write(mmio::HOST_DATA_LAST, 0);
    assert_eq!(bench.found(), [kind::HOST_DATA_MISSING]);
    bench.write(mmio::HOST_DATA_LAST, 0);
    assert_eq!(bench.found(), [kind::HOST_DATA_UNEXPECTED]);
}

#[test]
fn a_new_operation_ends_one_that_waits() {
    let mut bench = Bench::new();
    bench.writes(&[
        (mmio::DP_GUI_MASTER_CNTL, bitmap(true, 3)),
        (mmio::DST_PITCH_OFFSET, DESTINATION),
        (mmio::DST_HEIGHT_WIDTH, yx(8, 1)),
        (mmio::DST_HEIGHT_WIDTH, yx(8, 1)),
    ]);
    assert_eq!(bench.found(), [kind::HOST_DATA_MISSING]);
    // All data came, but the last dword did not go to HOST_DATA_LAST.
    bench.write(mmio::HOST_DATA.at(0).unwrap(), 0);
    bench.write(mmio::DST_HEIGHT_WIDTH, yx(8, 1));
    assert_eq!(bench.found(), [kind::HOST_DATA_MISSING]);
    bench.engine.reset();
    bench.write(mmio::HOST_DATA_LAST, 0);
    assert_eq!(bench.found(), [kind::HOST_DATA_UNEXPECTED]);
}

#[test]
fn packets_with_wrong_amounts_of_data() {
    let mut bench = Bench::new();
    let mut blt = |body: &[u32]| {
        bench.packet(op::HOSTDATA_BLT, bitmap(true, 3), body);
        bench.found()
    };
    assert_eq!(
        blt(&[HASH, DASH, yx(0, 0), yx(33, 1), 1, 0]),
        [kind::HOST_DATA_MISSING]
    );
    assert_eq!(
        blt(&[HASH, DASH, yx(0, 0), yx(32, 1), 2, 0, 0]),
        [kind::HOST_DATA_UNEXPECTED]
    );
    assert_eq!(
        blt(&[HASH, DASH, yx(0, 0), yx(8, 1), 0]),
        [kind::HOST_DATA_MISSING]
    );
    assert_eq!(
        blt(&[HASH, DASH, yx(0, 0), yx(8, 1), 5, 0]),
        [kind::PACKET_LENGTH]
    );
    assert_eq!(
        blt(&[HASH, DASH, yx(0, 0), yx(8, 1), 0x4000, 0]),
        [kind::RESERVED_VALUE]
    );
    assert_eq!(
        blt(&[HASH, DASH, yx(0, 0), yx(8, 1)]),
        [kind::PACKET_LENGTH]
    );
    assert_eq!(blt(&[HASH, DASH]), [kind::PACKET_LENGTH]);
    assert_eq!(blt(&[HASH]), [kind::PACKET_LENGTH]);
    bench.packet(
        op::HOSTDATA_BLT,
        plain_copy(),
        &[HASH, DASH, yx(0, 0), yx(8, 1), 1, 0],
    );
    assert_eq!(bench.found(), [kind::RESERVED_VALUE]);
}

#[test]
fn host_data_needs_a_raster_operation_with_source() {
    let mut bench = Bench::new();
    let control = gui::WIN31_ROP.put(bitmap(true, 3), 0x00);
    bench.packet(
        op::HOSTDATA_BLT,
        control,
        &[HASH, DASH, yx(0, 0), yx(8, 1), 1, 0],
    );
    assert_eq!(bench.found(), [kind::RESERVED_VALUE]);
    assert!(bench.port.written.is_empty());
}
