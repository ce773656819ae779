// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Copies in memory.

use super::*;
use crate::kind;

#[test]
fn bitblt_and_its_list() {
    let mut bench = Bench::new();
    bench.put(3072, &["abcd", "efgh", "ijkl"]);
    bench.packet(op::BITBLT, plain_copy(), &[xy(1, 1), xy(0, 0), xy(2, 2)]);
    bench.expect(&["fg..", "jk..", "...."]);
    let list = [xy(0, 0), xy(2, 2), xy(1, 1), xy(3, 0), xy(3, 1), xy(1, 1)];
    bench.packet(op::BITBLT_MULTI, plain_copy(), &list);
    bench.expect(&["fg..", "jk.d", "..a."]);
}

#[test]
fn registers_copy_in_all_four_directions() {
    for direction in 0..4_u32 {
        let mut bench = Bench::new();
        bench.put(3072, &["abc", "def"]);
        let (dx, dy) = (
            i32::from(direction & 1 == 0) * 2,
            i32::from(direction & 2 == 0),
        );
        bench.writes(&[
            (mmio::DP_GUI_MASTER_CNTL, plain_copy()),
            (mmio::DP_CNTL, direction),
            (mmio::DST_PITCH_OFFSET, DESTINATION),
            (mmio::SRC_PITCH_OFFSET, SOURCE),
            (mmio::SRC_Y_X, yx(dx, dy)),
            (mmio::DST_Y_X, yx(1 + dx, 1 + dy)),
            (mmio::DST_HEIGHT_WIDTH, yx(3, 2)),
        ]);
        bench.expect(&[".....", ".abc.", ".def."]);
    }
}

/// Copy inside one surface, in a direction.
fn scroll(direction: u32, from: (i32, i32), to: (i32, i32), size: (i32, i32)) -> Bench {
    let mut bench = Bench::new();
    bench.put(1024, &["abcdef", "ghijkl", "mnopqr"]);
    let corner = |(x, y): (i32, i32)| {
        let x = if direction & 1 != 0 {
            x
        } else {
            x + size.0 - 1
        };
        let y = if direction & 2 != 0 {
            y
        } else {
            y + size.1 - 1
        };
        yx(x, y)
    };
    bench.writes(&[
        (mmio::DP_GUI_MASTER_CNTL, plain_copy()),
        (mmio::DP_CNTL, direction),
        (mmio::DST_PITCH_OFFSET, DESTINATION),
        (mmio::SRC_PITCH_OFFSET, DESTINATION),
        (mmio::SRC_Y_X, corner(from)),
        (mmio::DST_Y_X, corner(to)),
        (mmio::DST_HEIGHT_WIDTH, yx(size.0, size.1)),
    ]);
    bench
}

#[test]
fn overlapping_copies_in_the_right_direction() {
    scroll(0, (0, 0), (1, 0), (4, 1)).expect(&["aabcdf", "ghijkl", "mnopqr"]);
    scroll(1, (1, 0), (0, 0), (4, 1)).expect(&["bcdeef", "ghijkl", "mnopqr"]);
    scroll(1, (0, 0), (0, 1), (6, 2)).expect(&["abcdef", "abcdef", "ghijkl"]);
    scroll(3, (0, 1), (0, 0), (6, 2)).expect(&["ghijkl", "mnopqr", "mnopqr"]);
    // Moving down needs the rows from below; columns may go either way.
    scroll(0, (0, 0), (1, 1), (5, 2)).expect(&["abcdef", "gabcde", "mghijk"]);
}

#[test]
fn overlapping_copies_in_the_wrong_direction_smear_and_are_found() {
    let mut bench = scroll(1, (0, 0), (1, 0), (4, 1));
    assert_eq!(bench.found(), [kind::ENGINE2D_OVERLAP]);
    bench.expect(&["aaaaaf"]);
    let mut bench = scroll(3, (0, 0), (0, 1), (6, 2));
    assert_eq!(bench.found(), [kind::ENGINE2D_OVERLAP]);
    bench.expect(&["abcdef", "abcdef", "abcdef"]);
    let mut bench = scroll(0, (1, 0), (0, 0), (4, 1));
    assert_eq!(bench.found(), [kind::ENGINE2D_OVERLAP]);
}

#[test]
fn packets_copy_downwards_whatever_was_set_before() {
    let mut bench = Bench::new();
    bench.put(3072, &["abc"]);
    bench.write(mmio::DP_CNTL, 0);
    bench.packet(op::BITBLT, plain_copy(), &[xy(0, 0), xy(1, 0), xy(3, 1)]);
    bench.expect(&[".abc."]);
}

#[test]
fn source_scissor_and_missing_source_pixels() {
    let mut bench = Bench::new();
    bench.put(3072, &["abcd", "efgh", "ijkl"]);
    let clipped = gui::SRC_CLIPPING.put(plain_copy(), 1);
    let body = [
        clipped,
        SOURCE,
        DESTINATION,
        yx(3, 2),
        xy(-1, 0),
        xy(0, 0),
        xy(5, 3),
    ];
    bench.raw(op::BITBLT, &body);
    bench.expect(&[".abc.", ".efg.", "....."]);
}

#[test]
fn raster_operation_of_source_and_destination() {
    let mut bench = Bench::new();
    bench.put(1024, &["abc."]);
    bench.put(3072, &["   "]);
    bench.packet(
        op::BITBLT,
        control(15, 0x66, 3, 2),
        &[xy(0, 0), xy(0, 0), xy(3, 1)],
    );
    bench.expect(&["ABC."]);
}

#[test]
fn colour_keyed_copy() {
    let source = ["a-b-", "-c--"];
    let key = u32::from(b'-');
    let copy = [xy(0, 0), xy(0, 0), xy(4, 2)];
    let control = gui::GMC_CLR_CMP_FCN_DIS.put(plain_copy(), 0);
    for (function, expected) in [
        (0, ["a-b-", "-c--"]),
        (1, ["....", "...."]),
        (4, ["a.b.", ".c.."]),
        (5, [".-.-", "-.--"]),
    ] {
        let mut bench = Bench::new();
        bench.put(3072, &source);
        bench.packet(
            op::TRANS_BITBLT,
            control,
            &[&[function | (1 << 24), key, 0][..], &copy].concat(),
        );
        bench.expect(&expected);
    }
    // 7: pixels of the key colour are exclusive-ored with the foreground colour.
    let mut bench = Bench::new();
    bench.put(3072, &source);
    bench.write(mmio::DP_SRC_FRGD_CLR, u32::from(b'-' ^ b'+'));
    bench.packet(
        op::TRANS_BITBLT,
        control,
        &[&[7 | (1 << 24), key, 0][..], &copy].concat(),
    );
    bench.expect(&["a+b+", "+c++"]);
    // Both: written where the source is not the key and the destination is not '#'.
    let mut bench = Bench::new();
    bench.put(3072, &source);
    bench.put(1024, &["##..", ".#.."]);
    let both = [4 | (4 << 8) | (2 << 24), key, u32::from(b'#')];
    bench.packet(op::TRANS_BITBLT, control, &[&both[..], &copy].concat());
    bench.expect(&["##b.", ".#.."]);
}

#[test]
fn settings_without_compare_switch_it_off() {
    let mut bench = Bench::new();
    bench.put(3072, &["ab"]);
    bench.write(mmio::CLR_CMP_CNTL, 1 | (1 << 24));
    bench.packet(op::BITBLT, plain_copy(), &[xy(0, 0), xy(0, 0), xy(2, 1)]);
    bench.expect(&["ab."]);
}

#[test]
fn bitmaps_in_memory() {
    let mut bench = Bench::new();
    bench.port.memory[3072..3074].copy_from_slice(&[0b1010_0110, 0b1100_0000]);
    bench.write(mmio::DP_SRC_FRGD_CLR, u32::from(b'#'));
    bench.write(mmio::DP_SRC_BKGD_CLR, u32::from(b'-'));
    let copy = [xy(2, 0), xy(1, 0), xy(7, 1)];
    bench.packet(op::BITBLT, control(15, 0xcc, 0, 2), &copy);
    bench.expect(&[".#--##-#."]);
    let mut second = Bench::new();
    second.port.memory[3072..3074].copy_from_slice(&[0b1010_0110, 0b1100_0000]);
    second.write(mmio::DP_SRC_FRGD_CLR, u32::from(b'#'));
    second.packet(
        op::BITBLT,
        gui::PIX_ORDER.put(control(15, 0xcc, 1, 2), 1),
        &copy,
    );
    second.expect(&[".#..#.#..."]);
}

#[test]
fn tiled_to_linear_and_back() {
    // 32-bit pixels, macro- and micro-tiled, 128 bytes a row: one macro block of 32 x 16.
    let tiled = 4 | (2 << 22) | (3 << 30);
    let linear = |offset: u32| offset | (2 << 22);
    let control = gui::DST_TYPE.put(plain_copy(), 6);
    let all = [xy(0, 0), xy(0, 0), xy(32, 16)];
    let mut bench = Bench::new();
    for n in 0..512_u32 {
        bench.port.memory[2048 + n as usize * 4..][..4]
            .copy_from_slice(&n.wrapping_mul(0x9e37_79b1).to_le_bytes());
    }
    bench.raw(
        op::BITBLT,
        &[&[control, linear(2), tiled][..], &all].concat(),
    );
    bench.raw(
        op::BITBLT,
        &[&[control, tiled, linear(6)][..], &all].concat(),
    );
    assert!(bench.found().is_empty());
    let part = |at: usize| &bench.port.memory[at..at + 2048];
    assert_eq!(part(2048), part(6144));
    assert_ne!(part(2048), part(4096));
    // The second pixel row lies in the second half of each micro block.
    assert_eq!(part(4096)[16..32], part(2048)[128..144]);
}

#[test]
fn formats_of_different_size_do_not_matter_to_a_copy_of_bytes() {
    let mut bench = Bench::new();
    bench.put(3072, &["aabbccdd"]);
    bench.packet(
        op::BITBLT,
        gui::DST_TYPE.put(plain_copy(), 4),
        &[xy(1, 0), xy(0, 0), xy(2, 1)],
    );
    bench.expect(&["bbcc.."]);
}

#[test]
fn pages_as_the_kernel_copies_them() {
    // r100_copy_blit: pages are rows of 1024 pixels of 32 bits, everything is in the packet, nothing is relied on.
    let mut bench = Bench::new();
    bench.write(mmio::DEFAULT_SC_BOTTOM_RIGHT, 0);
    for (n, byte) in bench.port.memory[0x1000..0x4000].iter_mut().enumerate() {
        *byte = (n / 3) as u8;
    }
    let control =
        gui::DST_TYPE.put(plain_copy(), 6) | gui::SRC_CLIPPING.of(1) | gui::DST_CLIPPING.of(1);
    let page = |n: u32| (n * 4) | (64 << 22);
    let body = [
        control,
        page(1),
        page(8),
        0x1fff_1fff,
        0,
        0x1fff_1fff,
        0,
        0,
        3 | (1024 << 16),
    ];
    bench.raw(op::BITBLT_MULTI, &body);
    assert_eq!(bench.found(), []);
    let memory = &bench.port.memory;
    assert_eq!(memory[0x1000..0x4000], memory[0x8000..0xb000]);
    assert!(memory[0xb000..0xc000].iter().all(|&b| b == b'.'));
}

#[test]
fn a_copy_as_the_x_driver_makes_it() {
    // xf86-video-ati: state in its order, the surfaces last, then three registers per copy. The direction comes after
    // DP_GUI_MASTER_CNTL, and so counts; a solid fill follows that never mentions the source.
    let mut bench = Bench::new();
    bench.put(1024, &["abcdef"]);
    let keep_masks = |control: u32| gui::GMC_WR_MSK_DIS.put(control, 0);
    bench.writes(&[
        (mmio::DEFAULT_SC_BOTTOM_RIGHT, 0x1fff_1fff),
        (mmio::DP_GUI_MASTER_CNTL, keep_masks(plain_copy())),
        (mmio::DP_BRUSH_FRGD_CLR, u32::MAX),
        (mmio::DP_BRUSH_BKGD_CLR, 0),
        (mmio::DP_SRC_FRGD_CLR, u32::MAX),
        (mmio::DP_SRC_BKGD_CLR, 0),
        (mmio::DP_WRITE_MASK, u32::MAX),
        (mmio::DP_CNTL, 0),
        (mmio::DST_PITCH_OFFSET, DESTINATION),
        (mmio::SRC_PITCH_OFFSET, DESTINATION),
        (mmio::SRC_Y_X, yx(3, 0)),
        (mmio::DST_Y_X, yx(5, 0)),
        (mmio::DST_HEIGHT_WIDTH, yx(4, 1)),
    ]);
    bench.expect(&["ababcd"]);
    bench.writes(&[
        (
            mmio::DP_GUI_MASTER_CNTL,
            keep_masks(gui::SRC_PITCH_OFF.put(solid(), 0)),
        ),
        (mmio::DP_BRUSH_FRGD_CLR, u32::from(b'#')),
        (mmio::DP_CNTL, 3),
        (mmio::DST_PITCH_OFFSET, DESTINATION),
        (mmio::DST_Y_X, yx(1, 0)),
        (mmio::DST_HEIGHT_WIDTH, yx(2, 1)),
    ]);
    bench.expect(&["a##bcd"]);
}
