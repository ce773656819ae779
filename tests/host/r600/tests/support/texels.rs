// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Where texels lie in memory, computed one by one. This reads resources by numbers, has no code in common with the
//! checker, and takes its equations from Mesa: those of tiles from its span functions, those of levels from
//! `radeon_surface.c`. Chip and tiling decide how an address is composed of x and y, so the place of each texel is
//! computed from bits of both.

use r600::portable::{checker::Chip, Generation};

/// Tilings by number.
pub const GENERAL: u32 = 0;
pub const ALIGNED: u32 = 1;
pub const TILED_1D: u32 = 2;
pub const TILED_2D: u32 = 4;

/// Bytes, width and height of the elements of all texture formats that the chips have, by the code of the format.
pub const FORMATS: [(u32, u64, u64, u64); 43] = [
    (1, 1, 1, 1),
    (2, 1, 1, 1),
    (3, 1, 1, 1),
    (5, 2, 1, 1),
    (6, 2, 1, 1),
    (7, 2, 1, 1),
    (8, 2, 1, 1),
    (9, 2, 1, 1),
    (10, 2, 1, 1),
    (11, 2, 1, 1),
    (12, 2, 1, 1),
    (13, 4, 1, 1),
    (14, 4, 1, 1),
    (15, 4, 1, 1),
    (16, 4, 1, 1),
    (17, 4, 1, 1),
    (18, 4, 1, 1),
    (19, 4, 1, 1),
    (20, 4, 1, 1),
    (21, 4, 1, 1),
    (22, 4, 1, 1),
    (23, 4, 1, 1),
    (24, 4, 1, 1),
    (25, 4, 1, 1),
    (26, 4, 1, 1),
    (27, 4, 1, 1),
    (28, 8, 1, 1),
    (29, 8, 1, 1),
    (30, 8, 1, 1),
    (31, 8, 1, 1),
    (32, 8, 1, 1),
    (34, 16, 1, 1),
    (35, 16, 1, 1),
    (39, 4, 2, 1),
    (40, 4, 2, 1),
    (43, 4, 1, 1),
    (47, 12, 1, 1),
    (48, 12, 1, 1),
    (49, 8, 4, 4),
    (50, 16, 4, 4),
    (51, 16, 4, 4),
    (52, 8, 4, 4),
    (53, 16, 4, 4),
];

/// A level of a texture: its elements, and how they lie.
#[derive(Clone, Copy, Debug)]
pub struct Level {
    /// Whether it lies at the second address.
    pub second: bool,
    /// Bytes from the address to the level.
    pub offset: u64,
    pub mode: u32,
    /// Bytes of a sample of an element.
    pub bytes: u64,
    pub samples: u64,
    /// Elements from line to line, lines from slice to slice, slices.
    pub pitch: u64,
    pub lines: u64,
    pub slices: u64,
}

/// Count in steps of `unit` until `value` is reached.
fn whole(value: u64, unit: u64) -> u64 {
    let mut count = 0;
    while count < value {
        count += unit;
    }
    count
}

/// Halve `size`, `level` times, and find the power of two that is not below.
fn smaller(size: u64, level: u32) -> u64 {
    let mut size = size;
    for _ in 0..level {
        size /= 2;
    }
    let mut power = 1;
    while power < size {
        power *= 2;
    }
    power
}

/// Return how many elements, and how many lines, a block of a tiling has.
pub fn block(mode: u32, bytes: u64, chip: &Chip) -> (u64, u64) {
    let group = u64::from(chip.group_bytes);
    match mode {
        GENERAL => (1, 1),
        ALIGNED => ((group / bytes).max(64), 1),
        TILED_1D => ((group / (8 * bytes)).max(8), 8),
        TILED_2D => {
            let banks = u64::from(chip.banks);
            let (width, height) = (8 * banks, 8 * u64::from(chip.pipes));
            // Tiles that are smaller than a group share one.
            ((group * banks / (8 * bytes)).max(width), height)
        }
        mode => panic!("tiling {mode} passed"),
    }
}

/// Return the levels of a texture.
pub fn levels(words: &[u32], chip: &Chip) -> Vec<Level> {
    let [shape, size, _, _, mode, range, _] = *words else {
        panic!("seven dwords");
    };
    let bits = |word: u32, low: u32, count: u32| u64::from((word >> low) & ((1 << count) - 1));
    let dimensions = bits(shape, 0, 3);
    let tiling = bits(shape, 3, 4) as u32;
    let code = bits(size, 26, 6) as u32;
    let &(_, bytes, across, down) = FORMATS
        .iter()
        .find(|format| format.0 == code)
        .unwrap_or_else(|| panic!("format {code} passed"));
    let (width, height) = (bits(shape, 19, 13) + 1, bits(size, 0, 13) + 1);
    let pitch = (bits(shape, 8, 11) + 1) * 8 / across;
    let last = bits(range, 0, 4) as u32;
    let several = dimensions >= 6;
    let samples = if several { 1 << last } else { 1 };
    let last = if several { 0 } else { last };
    let count = bits(size, 13, 13).max(bits(range, 17, 13)) + 1;
    let faces = match chip.generation {
        Generation::R6xx => 6,
        Generation::R7xx => 8,
    };
    let slices = |level| match dimensions {
        2 if level == 0 => count,
        2 => smaller(count, level),
        3 => count.max(faces),
        _ => count,
    };
    let base = Level {
        second: false,
        offset: 0,
        mode: tiling,
        bytes,
        samples,
        pitch,
        lines: whole(
            height.div_ceil(down),
            block(tiling, bytes * samples, chip).1,
        ),
        slices: slices(0),
    };
    let mut levels = vec![base];
    let mut end = 0;
    if bits(mode, 28, 4) > 0 {
        // As Linux counts.
        levels.push(Level {
            second: true,
            ..base
        });
        end = base.pitch * base.lines * bytes * base.slices;
    }
    let mut tiling = tiling;
    for level in 1..=last {
        let columns = smaller(width, level).div_ceil(across);
        let lines = smaller(height, level).div_ceil(down);
        let least = block(tiling, bytes, chip);
        if tiling == TILED_2D && (columns < least.0 || lines < least.1) {
            tiling = TILED_1D;
        }
        if tiling == GENERAL {
            tiling = ALIGNED;
        }
        let least = if bytes == 12 {
            (64, 1)
        } else {
            block(tiling, bytes, chip)
        };
        let level = Level {
            second: true,
            offset: end,
            mode: tiling,
            bytes,
            samples,
            pitch: whole(columns, least.0),
            lines: whole(lines, least.1),
            slices: slices(level),
        };
        end += level.pitch * level.lines * bytes * level.slices;
        levels.push(level);
    }
    levels
}

fn bit(value: u64, n: u32) -> u64 {
    (value >> n) & 1
}

impl Level {
    /// Return the place of a sample in bytes from the address.
    pub fn place(&self, x: u64, y: u64, slice: u64, sample: u64, chip: &Chip) -> u64 {
        let bytes = self.bytes * self.samples;
        let slice = slice * self.pitch * self.lines * bytes;
        // A tile has the values of all its pixels for one sample, then those for the next.
        let micro = sample * 64 * self.bytes + (y % 8 * 8 + x % 8) * self.bytes;
        self.offset
            + match self.mode {
                GENERAL | ALIGNED => slice + (y * self.pitch + x) * bytes,
                TILED_1D => slice + ((y / 8) * (self.pitch / 8) + x / 8) * 64 * bytes + micro,
                _ => self.macro_tiled(x, y, slice, micro, chip),
            }
    }

    fn macro_tiled(&self, x: u64, y: u64, slice: u64, micro: u64, chip: &Chip) -> u64 {
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
        let p = chip.pipes.ilog2();
        let later = |n| match chip.generation {
            Generation::R6xx => 0,
            Generation::R7xx => bit(x, n),
        };
        let bank = if chip.banks == 4 {
            (bit(x, 3) ^ bit(y, 4 + p)) | ((bit(x, 4) ^ bit(y, 3 + p) ^ later(5)) << 1)
        } else {
            (bit(x, 3) ^ bit(y, 5 + p))
                | ((bit(x, 4) ^ bit(y, 4 + p) ^ bit(y, 5 + p)) << 1)
                | ((bit(x, 5) ^ bit(y, 3 + p) ^ later(6)) << 2)
        };
        let (width, height) = (8 * u64::from(chip.banks), 8 * u64::from(chip.pipes));
        let number = y / height * (self.pitch / width) + x / width;
        let channels = p + chip.banks.ilog2();
        let before = slice + number * width * height * self.bytes * self.samples;
        let total = (before >> channels) + micro;
        let group = chip.group_bytes.ilog2();
        let (low, high) = (total & ((1 << group) - 1), total >> group);
        (((((high << chip.banks.ilog2()) | bank) << p) | pipe) << group) | low
    }

    /// Return the places behind the samples in the last rows of blocks of the last slice. No sample lies behind all of
    /// them.
    pub fn end(&self, chip: &Chip) -> u64 {
        let (_, rows) = block(self.mode, 1, chip);
        let last = self.slices - 1;
        let mut end = 0;
        for y in self.lines - rows..self.lines {
            for x in 0..self.pitch {
                let place = self.place(x, y, last, self.samples - 1, chip);
                end = end.max(place + self.bytes);
            }
        }
        end
    }
}
