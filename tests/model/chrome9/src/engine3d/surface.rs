// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Where the pixels of a target lie: in rows, or in tiles of 32 bytes by 8 or 16 lines, row by row of tiles (decision 5).

use lapidary_model::runs::Runs;

use super::window::Rect;

/// Bytes of a line of a tile; also the unit of pitches.
pub const LINE: u64 = 32;

/// A surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Surface {
    /// Its first byte.
    pub base: u64,
    /// Lines of 32 bytes from row to row, or tiles from row of tiles to row of tiles.
    pub pitch: u64,
    /// Bytes of a pixel.
    pub bytes: u64,
    /// Lines of a tile; none for rows.
    pub tile: Option<u64>,
}

impl Surface {
    /// Return the bytes of pixels.
    pub fn runs(&self, r: Rect) -> Runs {
        if r.is_empty() {
            return Runs::one(self.base, 0);
        }
        let (left, right) = (r.x0 * self.bytes, r.x1 * self.bytes);
        match self.tile {
            None => Runs {
                start: self.base + r.y0 * self.pitch * LINE + left,
                len: right - left,
                stride: self.pitch * LINE,
                rows: r.y1 - r.y0,
            },
            Some(lines) => {
                let tile = LINE * lines;
                let (first, last) = (left / LINE, right.div_ceil(LINE));
                let (top, bottom) = (r.y0 / lines, r.y1.div_ceil(lines));
                Runs {
                    start: self.base + (top * self.pitch + first) * tile,
                    len: (last - first) * tile,
                    stride: self.pitch * tile,
                    rows: bottom - top,
                }
            }
        }
    }

    /// Describe where pixels lie, for people.
    pub fn layout(&self) -> String {
        match self.tile {
            None => format!("rows {} bytes apart", self.pitch * LINE),
            Some(lines) => format!("{} tiles of {lines} lines a row", self.pitch),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Return the address of a byte of a line, by the formulas that the manual has for tiles (L501).
    fn address(s: &Surface, x: u64, y: u64) -> u64 {
        match s.tile {
            None => s.base + y * s.pitch * 32 + x,
            Some(8) => s.base + (y >> 3) * s.pitch * 256 + (x >> 5) * 256 + (y & 7) * 32 + (x & 31),
            _ => s.base + (y >> 4) * s.pitch * 512 + (x >> 5) * 512 + (y & 15) * 32 + (x & 31),
        }
    }

    proptest! {
        #[test]
        fn every_byte_of_every_pixel_is_in_the_runs(
            (x0, y0, w, h) in (0u64..50, 0u64..50, 1u64..40, 1u64..40),
            bytes in prop::sample::select(vec![2u64, 4]),
            tile in prop::sample::select(vec![None, Some(8), Some(16)]),
            pitch in 12u64..20,
        ) {
            let s = Surface { base: 0x1000, pitch, bytes, tile };
            let runs = s.runs(Rect { x0, y0, x1: x0 + w, y1: y0 + h });
            let (mut low, mut high) = (u64::MAX, 0);
            for y in y0..y0 + h {
                for x in x0 * bytes..(x0 + w) * bytes {
                    let at = address(&s, x, y);
                    prop_assert!(runs.touches(at, at + 1));
                    (low, high) = (low.min(at), high.max(at));
                }
            }
            let unit = tile.map_or(1, |lines| 32 * lines);
            // No more than whole tiles.
            prop_assert_eq!(low / unit, runs.start / unit);
            prop_assert_eq!(high / unit, (runs.end() - 1) / unit);
        }
    }
}
