// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Surface registers show nothing but the object that they are for, whatever a client says about it.
//!
//! What the chip makes of an access is stated here once more, in [`Reading`], from the manual's tables of blocks
//! (R5xx 2.2, 2.3) and not from the driver's: which block of memory holds a byte that the CPU addresses. The order of
//! bytes within a block is left open, as the manual leaves it: all of the block has to be the object's.

use lapidary::portable::radeon::uapi::tiling;
use proptest::prelude::*;
use r500::portable::{
    cpu_surface::{CpuSurface, LONGEST_ROW},
    regs::mmio::surface_info,
};

const PAGE: u64 = 4096;
const TILED: [u32; 3] = [tiling::MACRO, tiling::MICRO, tiling::MACRO | tiling::MICRO];
const SWAPPED: [u32; 3] = [0, tiling::SWAP_16BIT, tiling::SWAP_32BIT];

/// How a chip reads a surface register: bytes by lines of its tiled micro blocks, of which a block has 32 bytes.
#[derive(Clone, Copy, Debug)]
struct Reading {
    micro: (u64, u64),
}

/// Micro blocks that the manual lists for `hdp`, in bytes by lines: 4x2 pixels of 32 bits and 8x2 of 16; 8x4 of 8 and
/// 4x4 of 16; 2x2 of 64.
const READINGS: [Reading; 2] = [Reading { micro: (16, 2) }, Reading { micro: (8, 4) }];

/// Return the bytes of VRAM among which the chip looks for what the CPU addresses as `at`, in a surface that begins at
/// `lower`.
fn looked_at(reading: Reading, lower: u64, info: u32, at: u64) -> std::ops::Range<u64> {
    let pitch = u64::from(surface_info::PITCHSEL.get(info)) * 8;
    let (grouped, micro) = (
        surface_info::TILE_MACRO.any(info),
        surface_info::TILE_MICRO.any(info),
    );
    if !grouped && !micro {
        // Only bytes of a 16-bit or 32-bit unit are exchanged.
        let unit = at & !3;
        return unit..unit + 4;
    }
    let (wide, tall) = if micro { reading.micro } else { (32, 1) };
    let (wide, tall, bytes) = match grouped {
        // Eight by eight micro blocks.
        true => (wide * 8, tall * 8, 2048),
        false => (wide, tall, 32),
    };
    let (column, line) = ((at - lower) % pitch / wide, (at - lower) / pitch / tall);
    let block = lower + (line * (pitch / wide) + column) * bytes;
    // Where blocks lie in VRAM does not depend on where the surface begins.
    assert_eq!(block % bytes, 0);
    block..block + bytes
}

/// Check that the CPU sees nothing but `object` through its surface.
fn judge(object: std::ops::Range<u64>, flags: u32, pitch: u32) -> Option<CpuSurface> {
    let surface = CpuSurface::new(object.clone(), flags, pitch)?;
    let (lower, upper) = (u64::from(surface.lower), u64::from(surface.upper));
    let what = || format!("{object:#x?}, flags {flags:#x}, pitch {pitch}: {surface:#x?}");
    assert_eq!(lower, object.start, "{}", what());
    assert!(lower < upper && upper < object.end, "{}", what());
    assert_eq!((lower % 64, upper % 64), (0, 63), "{}", what());
    for reading in READINGS {
        // No block has lines of less than eight bytes.
        for at in (lower..=upper).step_by(8) {
            let seen = looked_at(reading, lower, surface.info, at);
            assert!(
                object.start <= seen.start && seen.end <= object.end,
                "{}: byte {at:#x} is looked for in {seen:#x?} by {reading:?}",
                what()
            );
        }
    }
    Some(surface)
}

/// Objects of clients: a page, a few, a screen; none is made for its pitch.
const SIZES: [u64; 8] = [1, 2, 3, 7, 8, 13, 31, 75];

#[test]
fn no_pitch_leads_out_of_the_object() {
    let mut surfaces = 0;
    for flags in TILED {
        // All that the field holds, all that fits beside it, and what overflows it.
        for pitch in (0..=4096).chain(4088 << 1..=4096 << 1) {
            for pages in SIZES {
                let object = 0x10_0000..0x10_0000 + pages * PAGE;
                surfaces += u32::from(judge(object, flags | tiling::SURFACE, pitch).is_some());
            }
        }
    }
    assert!(surfaces > 1000, "{surfaces}");
}

#[test]
fn swaps_change_nothing_about_the_range() {
    for tiles in TILED.into_iter().chain([0]) {
        for pitch in (0..=4096).step_by(16) {
            let surface = |swap| judge(0..9 * PAGE, tiles | swap | tiling::SURFACE, pitch);
            let range = |swap| surface(swap).map(|s| (s.lower, s.upper));
            if tiles == 0 {
                assert_eq!(range(0), None);
                assert_eq!(range(tiling::SWAP_16BIT), Some((0, 9 * 4096 - 1)));
                assert_eq!(range(tiling::SWAP_32BIT), Some((0, 9 * 4096 - 1)));
            } else {
                assert_eq!(range(0), range(tiling::SWAP_16BIT));
                assert_eq!(range(0), range(tiling::SWAP_32BIT));
            }
        }
    }
}

#[test]
fn whole_rows_are_covered_and_a_tail_is_not() {
    // Macro tiles: eight lines. A console of 960 x 712 pixels, rounded up to pages.
    let (pitch, lines) = (3840, 712);
    let size = u64::from(pitch * lines).next_multiple_of(PAGE);
    let flags = tiling::SURFACE | tiling::MACRO;
    let surface = judge(0..size, flags, pitch).expect("a surface");
    assert_eq!(surface.upper + 1, pitch * lines);
    assert!(size > u64::from(pitch * lines));
    // No row at all.
    assert_eq!(judge(0..PAGE, flags, pitch), None);
    assert_eq!(judge(0..7 * PAGE, flags, pitch), None);
    assert!(judge(0..8 * PAGE, flags, pitch).is_some());
    // Both: thirty-two lines.
    let flags = flags | tiling::MICRO;
    assert_eq!(judge(0..PAGE, flags, 256), None);
    assert!(judge(0..2 * PAGE, flags, 256).is_some());
    // Micro tiles: four.
    let flags = tiling::SURFACE | tiling::MICRO;
    let surface = judge(0..PAGE, flags, 48).expect("a surface");
    assert_eq!(surface.upper + 1, 4096 / (48 * 4) * (48 * 4));
}

#[test]
fn what_the_chip_cannot_do_is_no_surface() {
    let object = 0..1 << 20;
    let surface = |flags, pitch| judge(object.clone(), flags, pitch);
    for flags in TILED {
        assert_eq!(surface(flags, 512), None, "without the flag");
        let flags = flags | tiling::SURFACE;
        for pitch in [0, 8, 255, 4096, 0x8000, 1 << 31, u32::MAX, u32::MAX - 255] {
            assert_eq!(
                surface(flags, pitch),
                None,
                "flags {flags:#x}, pitch {pitch}"
            );
        }
        assert!(surface(flags, 3840).is_some());
        let early = CpuSurface::new(1024..1 << 20, flags, 3840);
        assert_eq!(early, None, "no block begins there");
        assert_eq!(CpuSurface::new(0..0, flags, 3840), None);
        let backwards = std::ops::Range {
            start: 8192,
            end: 0,
        };
        assert_eq!(CpuSurface::new(backwards, flags, 3840), None);
        let far = 1 << 32;
        assert_eq!(CpuSurface::new(far..far + (1 << 20), flags, 3840), None);
    }
}

#[test]
fn flags_become_fields() {
    let info = |flags, pitch| {
        CpuSurface::new(0..1 << 20, flags | tiling::SURFACE, pitch).map(|surface| surface.info)
    };
    assert_eq!(info(tiling::MACRO, 256), Some((1 << 16) | 32));
    assert_eq!(info(tiling::MICRO, 16), Some((1 << 17) | 2));
    assert_eq!(
        info(tiling::MACRO | tiling::MICRO, 128),
        Some((3 << 16) | 16)
    );
    assert_eq!(info(tiling::SWAP_16BIT, 7), Some((1 << 20) | (1 << 22)));
    assert_eq!(info(tiling::SWAP_32BIT, 0), Some((2 << 20) | (2 << 22)));
    assert_eq!(
        info(tiling::MICRO | tiling::SWAP_32BIT, 16),
        Some((1 << 17) | 2 | (2 << 20) | (2 << 22))
    );
}

/// The guard between clients and what the driver keeps: a pitch whose row begins in a client's last bytes ends in it.
#[test]
fn no_row_is_longer_than_the_longest() {
    for pitch in 0..=4096u64 {
        assert!(pitch.min(511 * 8) * 32 <= LONGEST_ROW);
    }
    assert_eq!(LONGEST_ROW % PAGE, 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_object_is_left(
        start in 0..1u64 << 20,
        pages in 1..80u64,
        flags in prop::sample::select(TILED.to_vec()),
        swap in prop::sample::select(SWAPPED.to_vec()),
        pitch in prop_oneof![any::<u32>(), 0..4200u32, (0..260u32).prop_map(|blocks| blocks * 16)],
        other in any::<u32>(),
    ) {
        // Bits that mean nothing here are anything.
        let other = other & !(tiling::MACRO | tiling::MICRO | tiling::SWAP_16BIT | tiling::SWAP_32BIT);
        let start = start * PAGE;
        judge(start..start + pages * PAGE, flags | swap | other | tiling::SURFACE, pitch);
    }
}
