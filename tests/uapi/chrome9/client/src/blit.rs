// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What the 2D engine can be told, as data: a rectangle of a surface, drawn from a colour, from another rectangle, or from
//! pixels of the CPU.
//!
//! The engine combines source, pattern and destination by a ternary raster operation. It can leave pixels alone that are
//! outside of a rectangle or have a key colour, and bytes of pixels. [`crate::emit`] says it in registers, and
//! [`crate::reference`] draws it.

/// Bits of a pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// 8.
    Bits8,
    /// 16.
    Bits16,
    /// 32.
    Bits32,
}

impl Depth {
    /// All of them.
    pub const ALL: [Depth; 3] = [Depth::Bits8, Depth::Bits16, Depth::Bits32];

    /// Return the bytes of a pixel.
    pub const fn bytes(self) -> u32 {
        match self {
            Depth::Bits8 => 1,
            Depth::Bits16 => 2,
            Depth::Bits32 => 4,
        }
    }

    /// Return the bits that a pixel has.
    pub const fn mask(self) -> u32 {
        u32::MAX >> (32 - 8 * self.bytes())
    }
}

/// Raster operation: the pattern.
pub const PATTERN: u8 = 0xf0;
/// Raster operation: the source.
pub const SOURCE: u8 = 0xcc;
/// Raster operation: the destination.
pub const DESTINATION: u8 = 0xaa;

/// Return whether a raster operation depends on the source.
pub const fn needs_source(rop: u8) -> bool {
    ((rop >> 2) ^ rop) & 0x33 != 0
}

/// A surface: rows of pixels in an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Surface {
    /// Which object, by its position in a list that the caller keeps.
    pub object: usize,
    /// Where in the object it begins: a multiple of 8.
    pub offset: u32,
    /// Bytes from row to row: a multiple of 8.
    pub pitch: u32,
}

/// A rectangle of pixels by its upper left corner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rect {
    /// First column.
    pub x: u32,
    /// First row.
    pub y: u32,
    /// Columns, not 0.
    pub width: u32,
    /// Rows, not 0.
    pub height: u32,
}

impl Rect {
    /// Return a rectangle.
    pub const fn new(x: u32, y: u32, width: u32, height: u32) -> Rect {
        Rect {
            x,
            y,
            width,
            height,
        }
    }
}

/// What rows of a monochrome source are padded to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Padding {
    /// Nothing: they follow one another.
    Packed,
    /// Bytes.
    Byte,
    /// 16 bits.
    Word,
    /// 32 bits.
    Dword,
}

impl Padding {
    /// All of them.
    pub const ALL: [Padding; 4] = [
        Padding::Packed,
        Padding::Byte,
        Padding::Word,
        Padding::Dword,
    ];

    /// Return the bits of a unit.
    pub const fn bits(self) -> usize {
        match self {
            Padding::Packed => 1,
            Padding::Byte => 8,
            Padding::Word => 16,
            Padding::Dword => 32,
        }
    }
}

/// Where the source comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// There is none, because the raster operation needs none.
    None,
    /// A rectangle of a surface, as large as the target's, by its upper left corner.
    Surface {
        /// The surface.
        surface: Surface,
        /// First column.
        x: u32,
        /// First row.
        y: u32,
    },
    /// Bits of the CPU, row after row.
    Mono {
        /// As many as the rectangle has pixels.
        bits: Vec<bool>,
        /// What rows are padded to.
        padding: Padding,
        /// Colour of ones.
        ones: u32,
        /// Colour of zeroes. None: they leave the destination alone.
        zeroes: Option<u32>,
    },
    /// Pixels of the CPU, row after row.
    Colour {
        /// As many as the rectangle has.
        pixels: Vec<u32>,
    },
}

/// Colours that are left alone. Not for a monochrome source, because the colours of ones and zeroes are in the same
/// registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keys {
    /// Pixels whose source has this colour are left alone.
    pub source: Option<u32>,
    /// Pixels that have this colour are left alone.
    pub destination: Option<u32>,
    /// It is the other way round: only pixels with these colours are drawn.
    pub inverted: bool,
}

/// A blit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blit {
    /// Bits of a pixel, of both surfaces.
    pub depth: Depth,
    /// What is drawn on.
    pub target: Surface,
    /// What of it.
    pub rect: Rect,
    /// Where the source comes from.
    pub source: Source,
    /// How pattern, source and destination combine.
    pub rop: u8,
    /// Colour of the pattern.
    pub pattern: u32,
    /// Pixels outside of it are left alone.
    pub clip: Option<Rect>,
    /// Colours that are left alone.
    pub keys: Keys,
    /// A one for each byte of a pixel that is left alone.
    pub kept: u32,
    /// Rows are drawn from right to left.
    pub leftwards: bool,
    /// The lowest row is drawn first.
    pub upwards: bool,
}

impl Blit {
    fn new(depth: Depth, target: Surface, rect: Rect, source: Source, rop: u8) -> Blit {
        Blit {
            depth,
            target,
            rect,
            source,
            rop,
            pattern: 0,
            clip: None,
            keys: Keys::default(),
            kept: 0,
            leftwards: false,
            upwards: false,
        }
    }

    /// Return a fill with a colour.
    pub fn fill(depth: Depth, target: Surface, rect: Rect, colour: u32) -> Blit {
        Blit {
            pattern: colour,
            ..Blit::new(depth, target, rect, Source::None, PATTERN)
        }
    }

    /// Return a copy from a column and a row of a surface. If it lies in the target, the direction is the one in which no pixel
    /// is read that was written before.
    pub fn copy(
        depth: Depth,
        target: Surface,
        rect: Rect,
        from: Surface,
        (x, y): (u32, u32),
    ) -> Blit {
        let within = from == target;
        let source = Source::Surface {
            surface: from,
            x,
            y,
        };
        Blit {
            leftwards: within && y == rect.y && rect.x > x,
            upwards: within && rect.y > y,
            ..Blit::new(depth, target, rect, source, SOURCE)
        }
    }

    /// Return a picture of two colours. Without `zeroes`, zeroes leave the target alone.
    pub fn mono(
        depth: Depth,
        target: Surface,
        rect: Rect,
        bits: Vec<bool>,
        ones: u32,
        zeroes: Option<u32>,
    ) -> Blit {
        let source = Source::Mono {
            bits,
            padding: Padding::Packed,
            ones,
            zeroes,
        };
        Blit::new(depth, target, rect, source, SOURCE)
    }

    /// Return a picture of colours.
    pub fn upload(depth: Depth, target: Surface, rect: Rect, pixels: Vec<u32>) -> Blit {
        Blit::new(depth, target, rect, Source::Colour { pixels }, SOURCE)
    }

    /// Return it with another raster operation.
    pub fn with_rop(self, rop: u8) -> Blit {
        Blit { rop, ..self }
    }

    /// Return it with a colour as pattern.
    pub fn with_pattern(self, pattern: u32) -> Blit {
        Blit { pattern, ..self }
    }

    /// Return it with a rectangle outside of which nothing is drawn.
    pub fn clipped(self, clip: Rect) -> Blit {
        Blit {
            clip: Some(clip),
            ..self
        }
    }

    /// Return it with keys.
    pub fn keyed(self, keys: Keys) -> Blit {
        Blit { keys, ..self }
    }

    /// Return it with bytes of pixels that are left alone.
    pub fn keeping(self, kept: u32) -> Blit {
        Blit { kept, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raster_operations_know_what_they_need() {
        for rop in [PATTERN, DESTINATION, 0x5a, 0x55, 0x00, 0xff, 0xa0] {
            assert!(!needs_source(rop), "{rop:#x}");
        }
        for rop in [SOURCE, 0x33, 0x66, 0x88, 0xc0, 0xfb, 0xe2] {
            assert!(needs_source(rop), "{rop:#x}");
        }
    }

    #[test]
    fn copies_within_a_surface_go_away_from_where_they_came() {
        let surface = Surface {
            object: 0,
            offset: 0,
            pitch: 64,
        };
        let way = |to: (u32, u32)| {
            let rect = Rect::new(to.0, to.1, 4, 4);
            let blit = Blit::copy(Depth::Bits32, surface, rect, surface, (5, 5));
            (blit.leftwards, blit.upwards)
        };
        assert_eq!(way((4, 5)), (false, false));
        assert_eq!(way((6, 5)), (true, false));
        assert_eq!(way((6, 4)), (false, false));
        assert_eq!(way((4, 6)), (false, true));
    }
}
