// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What placed streams access, byte range by byte range. This reads packets by numbers and has no code in common with
//! the checkers. Places in tiled surfaces are computed pixel by pixel, by the equations that Mesa's span functions have.

use super::texels::levels;
use r600::portable::{checker::Chip, Generation};

/// An access to `bytes` bytes from `address` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touch {
    pub address: u64,
    pub bytes: u64,
    pub write: bool,
}

fn wide(low: u32, high: u32) -> u64 {
    u64::from(low) | (u64::from(high & 0xff) << 32)
}

/// Return what a stream for the DMA ring accesses.
pub fn dma(words: &[u32], chip: &Chip) -> Vec<Touch> {
    let mut touches = Vec::new();
    let mut at = 0;
    while let Some(&header) = words.get(at) {
        let count = header & 0xffff;
        let tiled = header & (1 << 23) != 0;
        let r7xx = chip.generation == Generation::R7xx;
        let w = |i: usize| words[at + i];
        let mut linear = |address: u64, write| {
            touches.push(Touch {
                address,
                bytes: u64::from(count) * 4,
                write,
            });
        };
        at += match (header >> 28, tiled) {
            (2, false) => {
                linear(wide(w(1) & !3, w(2)), true);
                3 + count as usize
            }
            (2, true) => {
                touches.extend(pixels([w(1), w(2), w(3), w(4)], count, chip, true));
                5 + count as usize
            }
            (3, false) if r7xx => {
                linear(wide(w(2) & !3, w(4)), false);
                linear(wide(w(1) & !3, w(3)), true);
                5
            }
            (3, false) => {
                linear(wide(w(2) & !3, w(3)), false);
                linear(wide(w(1) & !3, w(3) >> 16), true);
                4
            }
            (3, true) => {
                let detile = w(2) >> 31 != 0;
                linear(wide(w(5) & !3, w(6)), detile);
                touches.extend(pixels([w(1), w(2), w(3), w(4)], count, chip, !detile));
                7
            }
            (0xd, false) if r7xx => {
                linear(wide(w(1) & !3, w(3) >> 16), true);
                4
            }
            (0xf, false) => 1,
            other => panic!("{other:x?} passed"),
        };
    }
    touches
}

/// Return what an access to `count` dwords of a tiled surface touches: the pixels from the given one on, line by line.
fn pixels(words: [u32; 4], count: u32, chip: &Chip, write: bool) -> Vec<Touch> {
    let [base, info, slice, place] = words;
    let bpp = 1u64 << ((info >> 24) & 7);
    let pitch = (u64::from(info & 0x3ff) + 1) * 8;
    let slice_bytes = (u64::from(slice >> 12) + 1) * 64 * bpp;
    let (x, y) = (u64::from((place >> 3) & 0x3fff), u64::from(place >> 17));
    let z = u64::from(slice & 0xfff);
    let mut touches = Vec::new();
    let mut done = 0;
    while done < u64::from(count) * 4 {
        let pixel = x + done / bpp;
        let (px, py) = (pixel % pitch, y + pixel / pitch);
        let offset = match (info >> 27) & 15 {
            0 | 1 => z * slice_bytes + (py * pitch + px) * bpp,
            2 => {
                z * slice_bytes + ((py / 8) * (pitch / 8) + px / 8) * 64 * bpp + micro(px, py, bpp)
            }
            4 => macro_tiled(px, py, z * slice_bytes, pitch, bpp, chip),
            mode => panic!("array mode {mode} passed"),
        };
        touches.push(Touch {
            address: (u64::from(base) << 8) + offset,
            bytes: bpp.min(u64::from(count) * 4 - done),
            write,
        });
        done += bpp;
    }
    touches
}

/// Return a place in a tile. The order in the tile does not matter here.
fn micro(x: u64, y: u64, bpp: u64) -> u64 {
    (y % 8 * 8 + x % 8) * bpp
}

fn bit(value: u64, n: u32) -> u64 {
    (value >> n) & 1
}

/// Return the place of a pixel with 2D tiling.
fn macro_tiled(x: u64, y: u64, slice: u64, pitch: u64, bpp: u64, chip: &Chip) -> u64 {
    let (pipe_bits, bank_bits) = (chip.pipes.ilog2(), chip.banks.ilog2());
    let group_bits = chip.group_bytes.ilog2();
    let pipe = match chip.pipes {
        1 => 0,
        2 => bit(x, 3) ^ bit(y, 3),
        4 => (bit(x, 4) ^ bit(y, 3)) | ((bit(x, 3) ^ bit(y, 4)) << 1),
        _ => {
            (bit(x, 5) ^ bit(y, 3))
                | ((bit(x, 4) ^ bit(x, 5) ^ bit(y, 4)) << 1)
                | ((bit(x, 3) ^ bit(y, 5)) << 2)
        }
    };
    let p = pipe_bits;
    let bank = if chip.banks == 4 {
        (bit(x, 3) ^ bit(y, 4 + p)) | ((bit(x, 4) ^ bit(y, 3 + p)) << 1)
    } else {
        (bit(x, 3) ^ bit(y, 5 + p))
            | ((bit(x, 4) ^ bit(y, 4 + p) ^ bit(y, 5 + p)) << 1)
            | ((bit(x, 5) ^ bit(y, 3 + p)) << 2)
    };
    let (width, height) = (8 * u64::from(chip.banks), 8 * u64::from(chip.pipes));
    let block = y / height * (pitch / width) + x / width;
    let block_bytes = width * height * bpp;
    let total = ((slice + block * block_bytes) >> (pipe_bits + bank_bits)) + micro(x, y, bpp);
    let low = total & ((1 << group_bits) - 1);
    let high = total >> group_bits << (group_bits + pipe_bits + bank_bits);
    high | (bank << (group_bits + pipe_bits)) | (pipe << group_bits) | low
}

/// Touch samples in the corners of all levels of a texture.
fn texels(words: &[u32], chip: &Chip, touch: &mut impl FnMut(u32, u32, u64, bool)) {
    for level in levels(words, chip) {
        let address = u64::from(words[if level.second { 3 } else { 2 }]) << 8;
        for slice in [0, level.slices - 1] {
            for y in [0, level.lines - 1] {
                for x in [0, level.pitch - 1] {
                    let sample = address + level.place(x, y, slice, level.samples - 1, chip);
                    touch(sample as u32, (sample >> 32) as u32, level.bytes, false);
                }
            }
        }
    }
}

/// Return what a stream for the graphics ring accesses.
pub fn gfx(words: &[u32], chip: &Chip) -> Vec<Touch> {
    let mut touches = Vec::new();
    let mut at = 0;
    while let Some(&header) = words.get(at) {
        if header >> 30 == 2 {
            at += 1;
            continue;
        }
        assert_eq!(header >> 30, 3, "only type 3 passes");
        let length = ((header >> 16) & 0x3fff) as usize + 1;
        let w = |i: usize| words[at + i];
        let mut touch = |low, high, bytes, write| {
            touches.push(Touch {
                address: wide(low, high),
                bytes,
                write,
            });
        };
        match (header >> 8) & 0xff {
            0x10 | 0x24 | 0x28 | 0x2a | 0x2f | 0x43 | 0x68 | 0x69 | 0x73 => {}
            // Constants and samplers. Draws need more than these streams have.
            0x6a | 0x6b | 0x6c | 0x6e | 0x6f => {}
            0x6d => {
                for words in words[at + 2..at + 1 + length].chunks(7) {
                    match words[6] >> 30 {
                        3 => touch(words[0], words[2], u64::from(words[1]) + 1, false),
                        2 => texels(words, chip, &mut touch),
                        other => panic!("a resource of kind {other}"),
                    }
                }
            }
            0x20 => match (w(2) >> 16) & 7 {
                0 => {}
                1 => touch(w(1), w(2), 16 * u64::from(chip.backends), false),
                2 => touch(w(1), w(2), 32, false),
                other => panic!("predication {other}"),
            },
            0x34 => {
                if w(1) & 1 != 0 {
                    touch(w(2), w(3), 4, true);
                }
                if (w(1) >> 1) & 3 == 2 {
                    touch(w(4), w(5), 4, false);
                }
            }
            0x3d if w(2) & (1 << 18) != 0 => touch(w(1), w(2), 4, true),
            0x3d => touch(w(1), w(2), 8, true),
            0x3b => {
                touch(w(2), w(3), 4, false);
                match w(1) {
                    1 => assert_eq!((w(4), w(5)), (0x28b2c >> 2, 0)),
                    3 => touch(w(4), w(5), 4, true),
                    other => panic!("copy {other}"),
                }
            }
            0x41 => {
                let bytes = u64::from(w(5));
                assert!((1..0x20_0000).contains(&bytes));
                touch(w(1), w(2), bytes, false);
                touch(w(3), w(4), bytes, true);
            }
            0x3c if w(1) & 0x10 == 0 => assert_eq!(w(2), 0x8490 >> 2),
            0x3c => touch(w(2), w(3), 4, false),
            0x46 => match (w(1) & 0x3f, length) {
                (0x15, 3) => {
                    for backend in 0..u64::from(chip.backends) {
                        let address = wide(w(2), w(3)) + 16 * backend;
                        touch(address as u32, (address >> 32) as u32, 8, true);
                    }
                }
                (0x1e, 3) => touch(w(2), w(3), 64, true),
                (0x20, 3) => touch(w(2), w(3), 16, true),
                (0x15 | 0x1e | 0x20, _) => panic!("counts without a place"),
                (_, length) => assert_eq!(length, 1),
            },
            0x47 => {
                assert_eq!((w(3) >> 24) & 3, 0, "an interrupt");
                match w(3) >> 29 {
                    0 => {}
                    1 => touch(w(2), w(3), 4, true),
                    2 | 3 => touch(w(2), w(3), 8, true),
                    other => panic!("data {other}"),
                }
            }
            other => panic!("packet {other:#x} passed"),
        }
        at += 1 + length;
    }
    touches
}
