// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The memory that a firmware's display reads.

use lapidary::portable::scanout::{reserved, Scanout};
use proptest::prelude::*;
use std::ops::Range;

const VRAM: Range<u64> = 0xd000_0000..0xe000_0000;

/// Return what is reserved for one scan-out of tiles with 16 rows.
fn first(address: u32, pitch: u32, rows: u32, depth: u32) -> Range<u64> {
    let scanout = Scanout::<16> {
        address,
        pitch,
        rows,
        depth,
    };
    let [_, _, first, second] = reserved(0, [Some(scanout), None], &VRAM);
    assert_eq!(second, 0..0);
    first
}

#[test]
fn a_scanout_covers_whole_tiles() {
    let bytes = 1024 * 768 * 4;
    assert_eq!(
        first(0xd010_0000, 1024, 760, 2),
        0x10_0000..0x10_0000 + bytes
    );
    let tall = Scanout::<64> {
        address: 0xd010_0000,
        pitch: 1024,
        rows: 720,
        depth: 2,
    };
    let [_, _, first, _] = reserved(0, [Some(tall), None], &VRAM);
    assert_eq!(first, 0x10_0000..0x10_0000 + bytes);
}

#[test]
fn a_senseless_scanout_is_not_forgotten() {
    assert_eq!(first(0xd000_0000, 0, 768, 2), 0..0x100_0000);
}

#[test]
fn a_scanout_of_all_ones_is_all_memory() {
    assert_eq!(
        first(0xd000_0000, u32::MAX, u32::MAX, u32::MAX),
        0..0x1000_0000
    );
    assert_eq!(first(u32::MAX, u32::MAX, u32::MAX, u32::MAX), 0..0);
}

#[test]
fn reserved_ranges_are_whole_pages_in_vram() {
    // 256 bytes within the first page.
    assert_eq!(first(0xd000_0100, 16, 16, 0), 0..0x1000);
    assert_eq!(first(0xdfff_f000, 1024, 16, 3), 0x0fff_f000..0x1000_0000);
    assert_eq!(first(0, 1024, 16, 3), 0..0);
    assert_eq!(first(0xf000_0000, 1024, 16, 3), 0..0);
}

#[test]
fn vga_memory_is_kept_in_two_places() {
    let none = [None::<Scanout<16>>; 2];
    assert_eq!(
        reserved(0xd008_0000, none, &VRAM),
        [0..0x4_0000, 0x8_0000..0xc_0000, 0..0, 0..0]
    );
    // Its register leads out of VRAM, and VRAM is smaller than it.
    let small = 0x1000_0000..0x1002_0000;
    assert_eq!(reserved(0, none, &small), [0..0x2_0000, 0..0, 0..0, 0..0]);
}

proptest! {
    /// Whatever registers say, the ranges are whole pages of VRAM, and a scan-out's first byte in VRAM is in its range.
    #[test]
    fn all_ranges_lie_in_vram(
        vga: u32,
        address: u32,
        pitch: u32,
        rows: u32,
        depth: u32,
        start in (0u64..0xff).prop_map(|n| n << 24),
        pages in 1u64..0x10_0000,
    ) {
        let vram = start..start + pages * 4096;
        let scanout = Scanout::<64> { address, pitch, rows, depth };
        let ranges = reserved(vga, [Some(scanout), None], &vram);
        for range in &ranges {
            prop_assert!(range.start <= range.end && range.end <= pages * 4096);
            prop_assert!(range.start % 4096 == 0 && range.end % 4096 == 0);
        }
        let address = u64::from(address);
        if vram.contains(&address) {
            prop_assert!(ranges[2].contains(&(address - start)));
        }
    }
}
