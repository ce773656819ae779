// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Surfaces: where a pixel lies in memory.
//!
//! A surface is a `SRC_PITCH_OFFSET` or `DST_PITCH_OFFSET` value (R5xx 5.2.2: start in units of 1 KiB, pitch in units
//! of 64 bytes, two tiling bits) and a pixel size. Chapter 2 of the manual gives the shapes of the two kinds of
//! blocks:
//!
//! - a *micro block* is 32 consecutive bytes: 32 bytes of one row when linear; 8x4 pixels of 8 bits, 8x2 of 16 bits or
//!   4x2 of 32 bits when tiled (for 16 bits the manual has 8x2 and 4x4; the 2D engine's single tiling bit means
//!   8x2, the shape that the display shares);
//! - a *macro block* is 2 KiB, 8 x 8 micro blocks when tiled.
//!
//! The manual does not say how micro blocks are ordered inside a macro block. Mesa's R300 driver, which once let the
//! CPU read tiled surfaces (radeon_span.c), shows the hardware's order: with (u, v) the micro block's place in its
//! macro block and U, V the lowest bits of the macro block's column and row, address bits 5 to 10 are `u0`, `v0`,
//! `v2^u1`, `v1^u2`, `V^u2`, `v2^U`. Inside a tiled micro block rows follow each other. Macro blocks follow each
//! other along a row of the surface.

use std::fmt;

use lapidary_registers::r500::mmio::dst_pitch_offset as fields;

use super::clip::Rect;

/// A surface in GPU memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Surface {
    /// GPU address of the first byte.
    base: u32,
    /// Bytes from one row to the next.
    pitch: u32,
    /// Bytes of a pixel: 1, 2 or 4.
    bytes: u32,
    macro_tiled: bool,
    micro_tiled: bool,
}

impl fmt::Display for Surface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tiling = match (self.macro_tiled, self.micro_tiled) {
            (false, false) => "linear",
            (false, true) => "micro-tiled",
            (true, false) => "macro-tiled",
            (true, true) => "macro- and micro-tiled",
        };
        write!(
            f,
            "{:#010x} ({} bytes a row, {} a pixel, {tiling})",
            self.base, self.pitch, self.bytes
        )
    }
}

/// Return the byte offset of a byte of a row from a tiled surface's start. Rows have `pitch` bytes. `width` bytes of a
/// micro block lie side by side. Micro blocks lie in macro blocks if `macro_tiled`.
pub fn tiled_offset(byte: u32, y: u32, pitch: u32, width: u32, macro_tiled: bool) -> u64 {
    let height = MICRO / width;
    let wide = u64::from;
    let (column, row) = (byte / width, y / height);
    let inside = wide(y % height * width + byte % width);
    if !macro_tiled {
        // A row of micro blocks holds `height` rows of the surface.
        return wide(row) * wide(pitch) * wide(height) + wide(column * MICRO) + inside;
    }
    let (u, v) = (column % 8, row % 8);
    let (macro_column, macro_row) = (column / 8, row / 8);
    let bit = |value: u32, n: u32| (value >> n) & 1;
    // Bits 5 to 10 of the address, the lowest first.
    let order = [
        bit(u, 0),
        bit(v, 0),
        bit(v, 2) ^ bit(u, 1),
        bit(v, 1) ^ bit(u, 2),
        bit(macro_row, 0) ^ bit(u, 2),
        bit(v, 2) ^ bit(macro_column, 0),
    ];
    let order = order.iter().rev().fold(0, |index, bit| index * 2 + bit);
    let block = wide(macro_row) * wide(pitch / (8 * width)) + wide(macro_column);
    block * wide(MACRO) + wide(order * MICRO) + inside
}

/// Consecutive pixels of a row that are consecutive in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// GPU address of the first one.
    pub address: u32,
    /// Its index in the row segment that was asked for.
    pub first: usize,
    /// How many.
    pub pixels: usize,
}

/// Bytes of a micro block.
const MICRO: u32 = 32;
/// Bytes of a macro block.
const MACRO: u32 = 2048;

impl Surface {
    /// Decode a pitch/offset register for pixels of 1, 2 or 4 bytes.
    ///
    /// # Errors
    /// Says what no engine could use: a pitch of zero, or a pitch or start that tiling does not allow.
    pub fn new(pitch_offset: u32, bytes: u32) -> Result<Surface, &'static str> {
        let surface = Surface {
            base: fields::OFFSET.get(pitch_offset) << 10,
            pitch: fields::PITCH.get(pitch_offset) * 64,
            bytes,
            macro_tiled: fields::TILE_MACRO.get(pitch_offset) != 0,
            micro_tiled: fields::TILE_MICRO.get(pitch_offset) != 0,
        };
        if surface.pitch == 0 {
            Err("a pitch of zero")
        } else if surface.macro_tiled && surface.base % MACRO != 0 {
            Err("a macro-tiled surface that does not start at a multiple of 2 KiB (2.3)")
        } else if surface.macro_tiled && surface.pitch % (8 * surface.micro_width()) != 0 {
            Err("a macro-tiled surface whose pitch is not a number of whole macro blocks")
        } else {
            Ok(surface)
        }
    }

    /// Return the same memory seen as bitmap rows of one bit a pixel, eight pixels a byte.
    pub fn bitmap(self) -> Result<Surface, &'static str> {
        if self.macro_tiled || self.micro_tiled {
            return Err("a tiled monochrome source");
        }
        Ok(Surface { bytes: 1, ..self })
    }

    /// Return the bytes of a pixel.
    pub fn pixel_bytes(&self) -> usize {
        self.bytes as usize
    }

    /// Return the bytes of a row that one micro block covers.
    fn micro_width(&self) -> u32 {
        match (self.micro_tiled, self.bytes) {
            (false, _) => MICRO,
            (true, 1) => 8,
            (true, _) => 16,
        }
    }

    /// Return the rows that one micro block covers.
    fn micro_height(&self) -> u32 {
        MICRO / self.micro_width()
    }

    /// Return the byte offset of a byte of a row from the surface's start.
    fn offset(&self, byte: u32, y: u32) -> u64 {
        if self.macro_tiled || self.micro_tiled {
            tiled_offset(byte, y, self.pitch, self.micro_width(), self.macro_tiled)
        } else {
            u64::from(y) * u64::from(self.pitch) + u64::from(byte)
        }
    }

    /// Return whether every pixel of a rectangle has a 32-bit address. The rectangle must not be empty or negative.
    pub fn reaches(&self, area: Rect) -> bool {
        let (Ok(right), Ok(bottom)) = (u32::try_from(area.right), u32::try_from(area.bottom))
        else {
            return false;
        };
        // No pixel lies behind the last byte of the block row that holds the last pixel.
        let rows = if self.macro_tiled {
            8 * self.micro_height()
        } else {
            self.micro_height()
        };
        let block_rows = u64::from(bottom.div_ceil(rows).saturating_sub(1));
        let block_row_bytes = u64::from(rows) * u64::from(self.pitch);
        let last = if self.macro_tiled || self.micro_tiled {
            // Pixels to the right of the pitch lie in the block rows that follow.
            let extra = u64::from(right * self.bytes / self.pitch);
            (block_rows + 1 + extra) * block_row_bytes
        } else {
            block_rows * block_row_bytes + u64::from(right * self.bytes)
        };
        u64::from(self.base) + last <= 1 << 32
    }

    /// Return the runs of memory that hold pixels `left .. right` of row `y`, from left to right.
    ///
    /// Coordinates are below 2^15; negative ones have been clipped, and [`Surface::reaches`] has been asked.
    pub fn runs(self, left: i32, right: i32, y: i32) -> impl Iterator<Item = Run> {
        let clamp = |v: i32| u32::try_from(v).unwrap_or(0);
        let (left, right, y) = (clamp(left), clamp(right), clamp(y));
        let tiled = self.macro_tiled || self.micro_tiled;
        let mut x = left;
        std::iter::from_fn(move || {
            if x >= right {
                return None;
            }
            let end = if tiled {
                let block = self.micro_width() / self.bytes;
                ((x / block + 1) * block).min(right)
            } else {
                right
            };
            let address = u64::from(self.base) + self.offset(x * self.bytes, y);
            let run = Run {
                // Cannot truncate: `reaches` has been asked.
                address: address as u32,
                first: (x - left) as usize,
                pixels: (end - x) as usize,
            };
            x = end;
            Some(run)
        })
    }

    /// Return whether two row segments may share bytes: compares the spans of addresses they lie in.
    pub fn segments_touch(a: (Surface, i32, i32, i32), b: (Surface, i32, i32, i32)) -> bool {
        let span = |(surface, left, right, y): (Surface, i32, i32, i32)| {
            surface
                .runs(left, right, y)
                .fold((u64::MAX, 0), |(low, high): (u64, u64), run| {
                    let end = u64::from(run.address) + run.pixels as u64 * u64::from(surface.bytes);
                    (low.min(u64::from(run.address)), high.max(end))
                })
        };
        let ((a0, a1), (b0, b1)) = (span(a), span(b));
        a0 < b1 && b0 < a1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn word(offset: u32, pitch: u32, macro_tiled: bool, micro_tiled: bool) -> u32 {
        fields::OFFSET.put(0, offset)
            | fields::PITCH.put(0, pitch)
            | fields::TILE_MACRO.put(0, macro_tiled.into())
            | fields::TILE_MICRO.put(0, micro_tiled.into())
    }

    fn address(surface: Surface, x: i32, y: i32) -> u32 {
        surface.runs(x, x + 1, y).next().unwrap().address
    }

    #[test]
    fn linear_addresses() {
        let s = Surface::new(word(3, 2, false, false), 4).unwrap();
        assert_eq!(address(s, 0, 0), 3 * 1024);
        assert_eq!(address(s, 5, 7), 3 * 1024 + 7 * 128 + 20);
        let all: Vec<_> = s.runs(3, 900, 1).collect();
        assert_eq!(
            all,
            [Run {
                address: 3 * 1024 + 128 + 12,
                first: 0,
                pixels: 897
            }]
        );
    }

    #[test]
    fn micro_tiles_have_the_manuals_shapes() {
        // (bytes of a pixel, width and height of a micro block in pixels): R5xx 2.2.
        for (bytes, w, h) in [(1, 8, 4), (2, 8, 2), (4, 4, 2)] {
            let s = Surface::new(word(0, 1, false, true), bytes).unwrap();
            for y in 0..h {
                for x in 0..w {
                    assert_eq!(address(s, x, y), (y * w + x) as u32 * bytes);
                }
            }
            assert_eq!(address(s, w, 0), 32, "the next block to the right");
            assert_eq!(address(s, 0, h), 64 * h as u32, "the next row of blocks");
            assert_eq!(
                s.runs(1, w + 2, 0).map(|r| r.pixels).collect::<Vec<_>>(),
                [w as usize - 1, 2]
            );
        }
    }

    #[test]
    fn macro_tiles_have_the_manuals_extents() {
        // (bytes of a pixel, micro-tiled, width and height of a macro block in pixels): the table in R5xx 2.3.
        let table = [
            (1, false, 256, 8),
            (1, true, 64, 32),
            (2, false, 128, 8),
            (2, true, 64, 16),
            (4, false, 64, 8),
            (4, true, 32, 16),
        ];
        for (bytes, micro, w, h) in table {
            let s = Surface::new(word(2, 8, true, micro), bytes).unwrap();
            let block = |x: i32, y: i32| (address(s, x, y) - 2048) / 2048;
            let row = 512 / (w as u32 * bytes);
            for (x, y, n) in [
                (0, 0, 0),
                (w - 1, h - 1, 0),
                (w, 0, 1),
                (0, h, row),
                (w, h, row + 1),
            ] {
                assert_eq!(
                    block(x, y),
                    n,
                    "{bytes} bytes, micro {micro}: pixel {x},{y}"
                );
            }
        }
    }

    #[test]
    fn order_of_micro_blocks_in_a_macro_block() {
        // 32-bit pixels, both tilings, pitch 512 bytes = 4 macro blocks of 32 x 16. Worked out by hand from the
        // address bits of radeon_span.c: 5 x2, 6 y1, 7 y3^x3, 8 y2^x4, 9 y4^x4, 10 y3^x5.
        let s = Surface::new(word(0, 8, true, true), 4).unwrap();
        let cases = [
            ((4, 0), 0x20),
            ((0, 2), 0x40),
            ((8, 0), 0x80),
            ((0, 8), 0x80 + 0x400),
            ((16, 0), 0x100 + 0x200),
            ((0, 4), 0x100),
            ((32, 0), 0x800 + 0x400),
            ((0, 16), 4 * 0x800 + 0x200),
            ((3, 1), 0x10 + 0xc),
        ];
        for ((x, y), expected) in cases {
            assert_eq!(address(s, x, y), expected, "pixel {x},{y}");
        }
    }

    #[test]
    fn unusable_surfaces() {
        assert!(Surface::new(word(0, 0, false, false), 4).is_err());
        assert!(Surface::new(word(1, 8, true, false), 4).is_err());
        assert!(Surface::new(word(2, 3, true, false), 4).is_err());
        assert!(Surface::new(word(1, 3, false, true), 4).is_ok());
        assert!(
            Surface::new(word(0, 8, false, true), 4)
                .unwrap()
                .bitmap()
                .is_err()
        );
    }

    #[test]
    fn reach_ends_at_four_gigabytes() {
        let s = Surface::new(word(0x3f_ffff, 1, false, false), 1).unwrap();
        let last_kilobyte = |w, h| s.reaches(Rect::new(0, 0, w, h));
        assert!(last_kilobyte(64, 16));
        assert!(!last_kilobyte(65, 16) && !last_kilobyte(1, 17));
    }

    #[test]
    fn touching_segments() {
        let s = Surface::new(word(0, 1, false, false), 1).unwrap();
        assert!(Surface::segments_touch((s, 0, 10, 0), (s, 9, 12, 0)));
        assert!(!Surface::segments_touch((s, 0, 10, 0), (s, 10, 12, 0)));
        assert!(Surface::segments_touch((s, 64, 65, 0), (s, 0, 1, 1)));
    }

    fn surfaces() -> impl Strategy<Value = Surface> {
        (
            0_u32..3,
            prop::sample::select(vec![1_u32, 2, 4]),
            any::<bool>(),
            any::<bool>(),
            1_u32..4,
        )
            .prop_map(|(offset, bytes, macro_tiled, micro_tiled, units)| {
                let pitch = if macro_tiled { units * 4 } else { units };
                Surface::new(word(offset * 2, pitch, macro_tiled, micro_tiled), bytes).unwrap()
            })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn pixels_and_addresses_are_a_bijection(s in surfaces()) {
            // Whole macro blocks: every byte of the memory behind them belongs to one pixel, and the other way round.
            let (width, height) = ((s.pitch / s.bytes) as i32, 64);
            let mut seen = HashSet::new();
            for y in 0..height {
                let mut expected_first = 0;
                for run in s.runs(0, width, y) {
                    prop_assert_eq!(run.first, expected_first);
                    expected_first += run.pixels;
                    for n in 0..run.pixels as u32 {
                        let at = run.address + n * s.bytes;
                        prop_assert_eq!((at - s.base) % s.bytes, 0);
                        prop_assert!(at - s.base < s.pitch * height as u32);
                        prop_assert!(seen.insert(at));
                    }
                }
                prop_assert_eq!(expected_first, width as usize);
            }
            prop_assert_eq!(seen.len(), (width * height) as usize);
        }

        #[test]
        fn what_reaches_has_addresses(
            word: u32, bytes in prop::sample::select(vec![1_u32, 2, 4]), x in 0_i32..16384, y in 0_i32..16384, n in 1_i32..100,
        ) {
            if let Ok(s) = Surface::new(word, bytes) {
                if s.reaches(Rect { left: x, top: y, right: x + n, bottom: y + 1 }) {
                    for run in s.runs(x, x + n, y) {
                        let offset = s.offset((x as u32 + run.first as u32) * bytes, y as u32);
                        prop_assert_eq!(u64::from(s.base) + offset, u64::from(run.address));
                        prop_assert!(u64::from(run.address) + u64::from(run.pixels as u32 * bytes) <= 1 << 32);
                    }
                }
            }
        }
    }
}
