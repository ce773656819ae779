// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Brushes: the pattern operand of the raster operation.
//!
//! R5xx 5.2.2 (SETTINGS.SETUP_BODY.BRUSH_PACKET) has five kinds: an 8 x 8 monochrome tile, a 32 x 1 monochrome pen
//! for lines, an 8 x 8 tile of pixels, one colour, and none. The monochrome ones come in two forms, one that
//! paints its 0 bits in the background colour and one that leaves those pixels alone.
//!
//! What the manual leaves open, and what was decided:
//!
//! - Row r of a monochrome tile is byte r of `BRUSH_DATA0`:`BRUSH_DATA1`, counted from the lowest byte. `PIX_ORDER` 0
//!   takes the bits of a byte from the highest, 1 from the lowest (xf86-video-ati writes rows so and declares the
//!   highest bit first for `BYTE_MSB_TO_LSB` on every chip since RV200). The pen's bits go the same way, byte after
//!   byte.
//! - The tile hangs on the surface's origin: pixel (x, y) shows tile element `((x + BRUSH_X) & 7, (y + BRUSH_Y) & 7)`
//!   (xf86-video-ati declares a screen origin and passes minus the pattern's origin).
//! - A colour tile is eight rows of eight pixels from `BRUSH_DATA0` on, packed as in memory.
//! - Colours are pixels of the destination's format; for the 32-bit formats that is what the manual calls RGBQUAD.
//! - "Leave alone" keeps the pixel from being written at all, whatever the raster operation.
//! - The manual says that only the pens can draw lines; xf86-video-ati draws its solid lines with the solid brush, so
//!   that is allowed too.

/// A brush, ready to be asked for pixels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Brush {
    /// No pattern.
    None,
    /// One colour.
    Solid(u32),
    /// A monochrome tile of 8 x 8.
    Mono8x8 {
        /// Bit x of row y, bit 0 the leftmost pixel.
        rows: [u8; 8],
        /// Colour of the 1 bits.
        foreground: u32,
        /// Colour of the 0 bits, or `None` to leave those pixels alone.
        background: Option<u32>,
    },
    /// A monochrome pattern along a line.
    Pen {
        /// Bit n is the pixel at phase n.
        bits: u32,
        /// Colour of the 1 bits.
        foreground: u32,
        /// Colour of the 0 bits, or `None` to leave those pixels alone.
        background: Option<u32>,
    },
    /// A tile of 8 x 8 pixels, row after row.
    Colour8x8(Box<[u32; 64]>),
}

/// Why a brush cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The type code is reserved or was removed from this generation.
    Reserved,
}

/// What the registers say about the brush.
pub struct Description<'a> {
    /// `GUI_CONTROL.BRUSH_TYPE`.
    pub kind: u32,
    /// `DP_BRUSH_FRGD_CLR`.
    pub foreground: u32,
    /// `DP_BRUSH_BKGD_CLR`.
    pub background: u32,
    /// `BRUSH_DATA0` … `BRUSH_DATA63`, as asked for by index.
    pub data: &'a dyn Fn(u32) -> u32,
    /// `GUI_CONTROL.PIX_ORDER`: bits of a byte go from the lowest up.
    pub lowest_bit_first: bool,
    /// Bytes of a destination pixel: 1, 2 or 4.
    pub bytes: u32,
}

impl Brush {
    /// Return the number of dwords the packet body has for a brush of this type, colours included; `None` for reserved
    /// types.
    ///
    /// `bytes` is the size of a destination pixel (R5xx 5.2.2: 16 dwords a byte for the colour tile).
    pub fn packet_dwords(kind: u32, bytes: u32) -> Option<usize> {
        Some(match kind {
            0 => 4,
            1 | 6 => 3,
            7 => 2,
            10 => 16 * bytes as usize,
            13 | 14 => 1,
            15 => 0,
            _ => return None,
        })
    }

    /// Make a brush from register values.
    ///
    /// # Errors
    /// For the reserved type codes.
    pub fn new(d: &Description<'_>) -> Result<Brush, Reason> {
        let ordered = |word: u32| {
            if d.lowest_bit_first {
                word
            } else {
                u32::from_le_bytes(word.to_le_bytes().map(u8::reverse_bits))
            }
        };
        let background = |transparent: bool| (!transparent).then_some(d.background);
        Ok(match d.kind {
            0 | 1 => {
                let low = ordered((d.data)(0)).to_le_bytes();
                let high = ordered((d.data)(1)).to_le_bytes();
                let mut rows = [0; 8];
                rows[..4].copy_from_slice(&low);
                rows[4..].copy_from_slice(&high);
                Brush::Mono8x8 {
                    rows,
                    foreground: d.foreground,
                    background: background(d.kind == 1),
                }
            }
            6 | 7 => Brush::Pen {
                bits: ordered((d.data)(0)),
                foreground: d.foreground,
                background: background(d.kind == 7),
            },
            10 => {
                let per_dword = 4 / d.bytes.clamp(1, 4);
                let bits = 32 / per_dword;
                let pixel = |n: usize| {
                    // 64 pixels.
                    let n = n as u32;
                    ((d.data)(n / per_dword) >> (n % per_dword * bits)) & (u32::MAX >> (32 - bits))
                };
                Brush::Colour8x8(Box::new(std::array::from_fn(pixel)))
            }
            13 | 14 => Brush::Solid(d.foreground),
            15 => Brush::None,
            _ => return Err(Reason::Reserved),
        })
    }

    /// Return whether some pixels may be left alone.
    pub fn is_transparent(&self) -> bool {
        matches!(
            self,
            Brush::Mono8x8 {
                background: None,
                ..
            } | Brush::Pen {
                background: None,
                ..
            }
        )
    }

    /// Return the pattern at a pixel whose coordinates already have `BRUSH_Y_X` added, or `None` to leave the pixel
    /// alone.
    ///
    /// Pens and the absent brush have no pattern on a plane and give 0; the caller has refused them where that matters.
    pub fn at(&self, x: i32, y: i32) -> Option<u32> {
        // Masked to 0..8, so the conversions cannot fail.
        let (column, row) = ((x & 7) as usize, (y & 7) as usize);
        match self {
            Brush::None | Brush::Pen { .. } => Some(0),
            Brush::Solid(colour) => Some(*colour),
            Brush::Mono8x8 {
                rows,
                foreground,
                background,
            } => {
                if (rows[row] >> column) & 1 != 0 {
                    Some(*foreground)
                } else {
                    *background
                }
            }
            Brush::Colour8x8(pixels) => Some(pixels[row * 8 + column]),
        }
    }

    /// Return the pattern at a step of a line, or `None` to leave the pixel alone.
    pub fn along(&self, phase: u32) -> Option<u32> {
        match self {
            Brush::Pen {
                bits,
                foreground,
                background,
            } => {
                if (bits >> (phase & 31)) & 1 != 0 {
                    Some(*foreground)
                } else {
                    *background
                }
            }
            Brush::Solid(colour) => Some(*colour),
            Brush::None | Brush::Mono8x8 { .. } | Brush::Colour8x8(_) => Some(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn brush(kind: u32, bytes: u32, lowest_bit_first: bool, data: &dyn Fn(u32) -> u32) -> Brush {
        let d = Description {
            kind,
            foreground: 0xf,
            background: 0xb,
            data,
            lowest_bit_first,
            bytes,
        };
        Brush::new(&d).unwrap()
    }

    fn picture(brush: &Brush) -> Vec<String> {
        (0..8)
            .map(|y| {
                (0..8)
                    .map(|x| match brush.at(x, y) {
                        Some(0xf) => '#',
                        Some(0xb) => '.',
                        None => ' ',
                        other => panic!("{other:?}"),
                    })
                    .collect()
            })
            .collect()
    }

    // An F, drawn with the highest bit leftmost.
    const F: [u32; 2] = [0x3c20_203e, 0x0020_2020];

    #[test]
    fn mono_tile_highest_bit_first() {
        let tile = brush(0, 4, false, &|n| F[n as usize]);
        let expected = [
            "..#####.", "..#.....", "..#.....", "..####..", "..#.....", "..#.....", "..#.....",
            "........",
        ];
        assert_eq!(picture(&tile), expected);
        assert!(!tile.is_transparent());
    }

    #[test]
    fn mono_tile_lowest_bit_first_and_transparent() {
        let tile = brush(1, 4, true, &|n| F[n as usize]);
        let expected = [
            " #####  ", "     #  ", "     #  ", "  ####  ", "     #  ", "     #  ", "     #  ",
            "        ",
        ];
        assert_eq!(picture(&tile), expected);
        assert!(tile.is_transparent());
    }

    #[test]
    fn tiles_repeat_in_both_directions_and_below_zero() {
        let tile = brush(0, 4, false, &|n| F[n as usize]);
        for (x, y) in [(2, 0), (3, 6), (7, 7)] {
            assert_eq!(tile.at(x, y), tile.at(x + 8, y - 16));
            assert_eq!(tile.at(x, y), tile.at(x - 8, y + 8));
        }
    }

    #[test]
    fn colour_tiles_are_packed_by_pixel_size() {
        let bytes =
            |n: u32| (n * 4) | ((n * 4 + 1) << 8) | ((n * 4 + 2) << 16) | ((n * 4 + 3) << 24);
        let tile = brush(10, 1, false, &bytes);
        assert_eq!(
            (tile.at(0, 0), tile.at(5, 1), tile.at(7, 7)),
            (Some(0), Some(13), Some(63))
        );
        let tile = brush(10, 2, false, &|n| ((n * 2 + 1) << 16) | (n * 2));
        assert_eq!(
            (tile.at(1, 0), tile.at(0, 1), tile.at(7, 7)),
            (Some(1), Some(8), Some(63))
        );
        let tile = brush(10, 4, false, &|n| 0xffff_ff00 | n);
        assert_eq!(
            (tile.at(1, 0), tile.at(7, 7)),
            (Some(0xffff_ff01), Some(0xffff_ff3f))
        );
    }

    #[test]
    fn pens_run_along_the_line() {
        let pen = brush(6, 4, true, &|_| 0x8000_0005);
        let drawn: Vec<_> = [0, 1, 2, 31, 32].iter().map(|&n| pen.along(n)).collect();
        assert_eq!(
            drawn,
            [Some(0xf), Some(0xb), Some(0xf), Some(0xf), Some(0xf)]
        );
        let pen = brush(7, 4, false, &|_| 0x0000_0080);
        assert_eq!(
            (pen.along(0), pen.along(1), pen.along(7)),
            (Some(0xf), None, None)
        );
        assert_eq!(brush(13, 4, false, &|_| 0).along(9), Some(0xf));
    }

    #[test]
    fn sizes_in_a_packet() {
        let sizes: Vec<_> = (0..16).map(|kind| Brush::packet_dwords(kind, 2)).collect();
        let mut expected = vec![None; 16];
        for (kind, n) in [
            (0, 4),
            (1, 3),
            (6, 3),
            (7, 2),
            (10, 32),
            (13, 1),
            (14, 1),
            (15, 0),
        ] {
            expected[kind] = Some(n);
        }
        assert_eq!(sizes, expected);
        assert_eq!(
            (Brush::packet_dwords(10, 1), Brush::packet_dwords(10, 4)),
            (Some(16), Some(64))
        );
        for kind in [2, 3, 4, 5, 8, 9, 11, 12] {
            let d = Description {
                kind,
                foreground: 0,
                background: 0,
                data: &|_| 0,
                lowest_bit_first: false,
                bytes: 4,
            };
            assert_eq!(Brush::new(&d), Err(Reason::Reserved));
        }
    }
}
