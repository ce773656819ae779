// SPDX-License-Identifier: GPL-2.0 OR MIT

//! From registers to an operation.
//!
//! An operation is started by one register write; everything else it needs has been written before and lies in the
//! register file. [`Setup::read`] takes it out, judges it, and gives the parts of the data path what they need.
//!
//! Many registers are second views of the same state. The model keeps that state in one of them each:
//! `DST_PITCH_OFFSET`, `SRC_PITCH_OFFSET`, `DST_Y_X`, `SRC_Y_X`, `DST_HEIGHT_WIDTH`, `SC_TOP_LEFT`, `SC_BOTTOM_RIGHT`,
//! `SRC_SC_BOTTOM_RIGHT`, `DP_CNTL`, `DP_DATATYPE` and `DP_MIX`; see `registers.rs` for the others.
//!
//! Reserved settings are findings, and nothing is drawn, since it is not known what silicon would do.

use crate::kind;
use std::fmt;

use lapidary_registers::r500::mmio;

use super::super::engine2d_api::{Kind, Port};
use super::blit::{Direction, Format, Mono, Source};
use super::brush::{Brush, Description};
use super::clip::Rect;
use super::draw::{Pipe, pixel_mask};
use super::key::Key;
use super::surface::Surface;
use lapidary_model::rop::Rop3;

/// Where the source of an operation comes from.
pub enum Origin {
    /// The raster operation needs none.
    None,
    /// GPU memory.
    Memory(Source),
    /// The command stream.
    Host {
        /// What comes.
        format: Format,
        /// Rows of a bitmap begin at a byte.
        byte_aligned: bool,
    },
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::None => f.write_str("the brush"),
            Origin::Memory(Source { surface, .. }) => write!(f, "{surface}"),
            Origin::Host { .. } => f.write_str("host data"),
        }
    }
}

/// What an operation needs, apart from its coordinates.
pub struct Setup {
    /// The data path.
    pub pipe: Pipe,
    /// The source.
    pub origin: Origin,
    /// The direction of drawing.
    pub direction: Direction,
}

/// What the operation is going to draw; brushes differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Rectangles.
    Plane,
    /// Lines.
    Line,
}

/// Return the bytes of a pixel of a `DST_TYPE`; `None` if reserved.
///
/// R5xx 5.2.2: 2, 7, 8 and 9 have 8 bits; 3, 4, 11, 12 and 15 have 16; 6 and 14 have 32; others are reserved. The
/// manual allows the types above 6 in the 2D engine only; it moves their bits like any others.
pub fn pixel_bytes(kind: u32) -> Option<u32> {
    match kind {
        2 | 7..=9 => Some(1),
        3 | 4 | 11 | 12 | 15 => Some(2),
        6 | 14 => Some(4),
        _ => None,
    }
}

/// Return a 14-bit signed coordinate in the low half of a word. The manual wants bits 15 and 14 to be copies of
/// bit 13; the second value says whether they are.
pub fn coordinate(half: u32) -> (i32, bool) {
    let half = half & 0xffff;
    // 14 bits, so neither conversion can fail or truncate.
    let value = (half & 0x3fff) as i32;
    let value = if value & 0x2000 != 0 {
        value - 0x4000
    } else {
        value
    };
    (value, matches!(half >> 13, 0 | 7))
}

/// Read a register with x (or a width) in the low and y (or a height) in the high half as coordinates.
pub fn position(port: &mut dyn Port, register: u32) -> (i32, i32) {
    let word = port.register(register);
    let ((x, x_good), (y, y_good)) = (coordinate(word), coordinate(word >> 16));
    if !x_good || !y_good {
        port.finding(
            kind::RESERVED_VALUE,
            format_args!("coordinate word {word:#010x} is outside of -8192..8191"),
        );
    }
    (x, y)
}

/// Return the width and height of `DST_HEIGHT_WIDTH`.
pub fn size(port: &mut dyn Port) -> (u32, u32) {
    let word = port.register(mmio::DST_HEIGHT_WIDTH);
    if word & 0xc000_c000 != 0 {
        port.finding(
            kind::RESERVED_VALUE,
            format_args!("size word {word:#010x} has more than 14 bits"),
        );
    }
    use mmio::dst_height_width::{HEIGHT, WIDTH};
    (WIDTH.get(word), HEIGHT.get(word))
}

impl Setup {
    /// Take the set-up out of the register file. `None`, with a finding, if it cannot work.
    pub fn read(port: &mut dyn Port, shape: Shape) -> Option<Setup> {
        match Setup::decode(port, shape) {
            Ok(setup) => Some(setup),
            Err((kind, what)) => {
                port.finding(kind, format_args!("2D operation with {what}"));
                None
            }
        }
    }

    fn decode(port: &mut dyn Port, shape: Shape) -> Result<Setup, (Kind, &'static str)> {
        use mmio::{dp_cntl, dp_datatype as datatype, dp_mix};

        let reserved = |what| (kind::RESERVED_VALUE, what);
        let unsupported = |what| (kind::ENGINE2D_UNSUPPORTED, what);
        let types = port.register(mmio::DP_DATATYPE);
        let mix = port.register(mmio::DP_MIX);

        let bytes = pixel_bytes(datatype::DP_DST_DATATYPE.get(types))
            .ok_or(reserved("a reserved DST_TYPE"))?;
        let all = pixel_mask(bytes as usize);
        let lowest_bit_first = datatype::DP_BYTE_PIX_ORDER.get(types) != 0;
        let rop = Rop3(dp_mix::DP_ROP3.get(mix) as u8);
        for (register, what) in [
            (mmio::DP_DST_ENDIAN, "a byte swap of the destination"),
            (mmio::DP_SRC_ENDIAN, "a byte swap of the source"),
            (mmio::AUX_SC_CNTL, "auxiliary scissors"),
        ] {
            if port.register(register) != 0 {
                return Err(unsupported(what));
            }
        }

        let brush_kind = datatype::DP_BRUSH_DATATYPE.get(types);
        let registers = &*port;
        let brush = Brush::new(&Description {
            kind: brush_kind,
            foreground: registers.register(mmio::DP_BRUSH_FRGD_CLR) & all,
            background: registers.register(mmio::DP_BRUSH_BKGD_CLR) & all,
            data: &|n| {
                mmio::BRUSH_DATA
                    .at(n)
                    .map_or(0, |at| registers.register(at))
            },
            lowest_bit_first,
            bytes,
        })
        .map_err(|_| reserved("a reserved BRUSH_TYPE"))?;
        let pattern = rop.uses_pattern() || brush.is_transparent();
        match (&brush, shape) {
            (Brush::None, _) if pattern => {
                return Err(reserved("a raster operation with a pattern, but no brush"));
            }
            (Brush::Pen { .. }, Shape::Plane) if pattern => {
                return Err(unsupported(
                    "a brush that is only for lines (types 6 and 7)",
                ));
            }
            (Brush::Mono8x8 { .. } | Brush::Colour8x8(_), Shape::Line) if pattern => {
                return Err(unsupported("a brush that is not for lines"));
            }
            _ => {}
        }
        let brush = if pattern { brush } else { Brush::None };

        let pitch_offset = port.register(mmio::DST_PITCH_OFFSET);
        let surface =
            Surface::new(pitch_offset, bytes).map_err(|e| (kind::ENGINE2D_BAD_SURFACE, e))?;
        let (key, bad_key) = Key::new(
            port.register(mmio::CLR_CMP_CNTL),
            port.register(mmio::CLR_CMP_CLR_SRC),
            port.register(mmio::CLR_CMP_CLR_DST),
            port.register(mmio::CLR_CMP_MASK) & all,
        );
        if let Some(what) = bad_key {
            port.finding(
                kind::RESERVED_VALUE,
                format_args!("reserved value of {what}"),
            );
        }
        let origin_word = port.register(mmio::BRUSH_Y_X);
        use mmio::brush_y_x::{BRUSH_X, BRUSH_Y};
        // Five bits each.
        let brush_origin = (
            BRUSH_X.get(origin_word) as i32,
            BRUSH_Y.get(origin_word) as i32,
        );

        let pipe = Pipe {
            surface,
            clip: Rect::scissor(
                port.register(mmio::SC_TOP_LEFT),
                port.register(mmio::SC_BOTTOM_RIGHT),
            ),
            rop,
            brush,
            brush_origin,
            write_mask: port.register(mmio::DP_WRITE_MASK) & all,
            key,
            foreground: port.register(mmio::DP_SRC_FRGD_CLR) & all,
            row: Vec::new(),
        };
        let control = port.register(mmio::DP_CNTL);
        let direction = Direction {
            left_to_right: dp_cntl::DST_X_LEFT_TO_RIGHT.get(control) != 0,
            top_to_bottom: dp_cntl::DST_Y_TOP_TO_BOTTOM.get(control) != 0,
        };
        let origin = Setup::source(port, shape, types, mix, bytes)?;
        Ok(Setup {
            pipe,
            origin,
            direction,
        })
    }

    fn source(
        port: &mut dyn Port,
        shape: Shape,
        types: u32,
        mix: u32,
        bytes: u32,
    ) -> Result<Origin, (Kind, &'static str)> {
        use mmio::{dp_datatype as datatype, dp_mix};

        let load = dp_mix::DP_SRC_SOURCE.get(mix);
        let rop = Rop3(dp_mix::DP_ROP3.get(mix) as u8);
        if !rop.uses_source() {
            if shape == Shape::Plane && matches!(load, 3 | 4) {
                // xf86-video-ati marks its host data functions ROP_NEEDS_SOURCE: the chip does not bear it otherwise.
                return Err((
                    kind::RESERVED_VALUE,
                    "host data, but a raster operation without source",
                ));
            }
            return Ok(Origin::None);
        }
        if shape == Shape::Line {
            return Err((kind::ENGINE2D_UNSUPPORTED, "a source for a line"));
        }
        let all = pixel_mask(bytes as usize);
        let mono = |transparent: bool, port: &dyn Port| {
            Format::Mono(Mono {
                foreground: port.register(mmio::DP_SRC_FRGD_CLR) & all,
                background: (!transparent).then(|| port.register(mmio::DP_SRC_BKGD_CLR) & all),
                lowest_bit_first: datatype::DP_BYTE_PIX_ORDER.get(types) != 0,
            })
        };
        let format = match datatype::DP_SRC_DATATYPE.get(types) {
            0 => mono(false, port),
            1 => mono(true, port),
            3 => Format::Colour,
            _ => return Err((kind::RESERVED_VALUE, "a reserved SRC_TYPE")),
        };
        match load {
            2 => {
                let pitch_offset = port.register(mmio::SRC_PITCH_OFFSET);
                let bad = |e| (kind::ENGINE2D_BAD_SURFACE, e);
                let mut surface = Surface::new(pitch_offset, bytes).map_err(bad)?;
                if format != Format::Colour {
                    surface = surface.bitmap().map_err(bad)?;
                }
                let scissor = Rect::source_scissor(port.register(mmio::SRC_SC_BOTTOM_RIGHT));
                Ok(Origin::Memory(Source {
                    surface,
                    format,
                    scissor,
                }))
            }
            3 | 4 if datatype::HOST_BIG_ENDIAN_EN.get(types) != 0 => {
                Err((kind::ENGINE2D_UNSUPPORTED, "big-endian host data"))
            }
            3 => Ok(Origin::Host {
                format,
                byte_aligned: false,
            }),
            4 => Ok(Origin::Host {
                format,
                byte_aligned: true,
            }),
            _ => Err((
                kind::RESERVED_VALUE,
                "a reserved SRC_LOAD and a raster operation with a source",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_have_fourteen_bits() {
        assert_eq!(coordinate(0x1fff), (8191, true));
        assert_eq!(coordinate(0xe000), (-8192, true));
        assert_eq!(coordinate(0xffff), (-1, true));
        assert_eq!(coordinate(0x2000), (-8192, false));
        assert_eq!(coordinate(0x7fff), (-1, false));
        assert_eq!(coordinate(0xabcd_0005), (5, true));
    }

    #[test]
    fn pixel_sizes() {
        let sizes: Vec<_> = (0..16).map(pixel_bytes).collect();
        let expected =
            [0, 0, 1, 2, 2, 0, 4, 1, 1, 1, 0, 2, 2, 0, 4, 2].map(|n| (n != 0).then_some(n));
        assert_eq!(sizes, expected);
    }
}
