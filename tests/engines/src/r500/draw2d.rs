// SPDX-License-Identifier: GPL-2.0 OR MIT

//! 2D drawing by command stream, as register writes (type 0): the way of the public X driver.
//!
//! The state comes first: pitch and offset of the surfaces, clipping, `DP_GUI_MASTER_CNTL` (R5xx 5.2.2), brush,
//! direction. Then corner and size of each rectangle; writing the size starts it.
//!
//! Pitch and offset of a surface share a dword, offset in KiB, pitch in units of 64 bytes. The offset written here is
//! the one inside the object; a relocation marker behind the register lets the kernel add the rest.
//!
//! Clipping is always given, wide open, so that nothing depends on defaults.

use lapidary_guest::Bo;
pub use lapidary_guest::painter::Rect;
use lapidary_guest::pm4;
use lapidary_guest::stream::{Access, Stream};
use lapidary_registers::r500::enums::{brush_type, datatype, src_load, src_type};
use lapidary_registers::r500::mmio;
use lapidary_registers::r500::mmio::dp_gui_master_cntl as gui_control;

/// Raster operations by their usual names: bit (P << 2 | S << 1 | D) of the code is the result.
pub mod rop {
    /// 0.
    pub const BLACKNESS: u8 = 0x00;
    /// not S.
    pub const NOTSRCCOPY: u8 = 0x33;
    /// not D.
    pub const DSTINVERT: u8 = 0x55;
    /// P xor D.
    pub const PATINVERT: u8 = 0x5a;
    /// S xor D.
    pub const SRCINVERT: u8 = 0x66;
    /// S and D.
    pub const SRCAND: u8 = 0x88;
    /// D.
    pub const NOOP: u8 = 0xaa;
    /// S and P.
    pub const MERGECOPY: u8 = 0xc0;
    /// S.
    pub const SRCCOPY: u8 = 0xcc;
    /// S or D.
    pub const SRCPAINT: u8 = 0xee;
    /// P.
    pub const PATCOPY: u8 = 0xf0;
    /// P or not S or D.
    pub const PATPAINT: u8 = 0xfb;
    /// 1.
    pub const WHITENESS: u8 = 0xff;
    /// P where S is set, else D: a mask blit.
    pub const MASKPAINT: u8 = 0xe2;
}

/// DST_TYPE values: pixel formats with their size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// 8 bits.
    C8,
    /// 16 bits, 5:6:5.
    Rgb565,
    /// 32 bits.
    Argb8888,
}

impl Format {
    /// Return the bytes of a pixel.
    pub const fn bytes(self) -> u32 {
        match self {
            Format::C8 => 1,
            Format::Rgb565 => 2,
            Format::Argb8888 => 4,
        }
    }

    const fn code(self) -> u32 {
        match self {
            Format::C8 => datatype::CI8,
            Format::Rgb565 => datatype::RGB565,
            Format::Argb8888 => datatype::ARGB8888,
        }
    }
}

/// A linear surface inside an object.
#[derive(Clone, Copy, Debug)]
pub struct Surface<'a> {
    /// The object.
    pub bo: &'a Bo,
    /// Bytes from its start, a multiple of 1024.
    pub offset: u32,
    /// Bytes from row to row, a multiple of 64 up to 16320.
    pub pitch: u32,
    /// Its pixels.
    pub format: Format,
}

impl<'a> Surface<'a> {
    /// Return a surface of 32-bit pixels from the start of an object.
    pub fn new(bo: &'a Bo, pitch: u32) -> Surface<'a> {
        Surface {
            bo,
            offset: 0,
            pitch,
            format: Format::Argb8888,
        }
    }

    /// Return the pitch and offset dword.
    pub fn pitch_offset(&self) -> u32 {
        assert!(
            self.pitch % 64 == 0 && self.pitch / 64 < 256 && self.offset % 1024 == 0,
            "{self:?}"
        );
        mmio::dst_pitch_offset::PITCH.put(self.offset / 1024, self.pitch / 64)
    }
}

/// The brush of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Brush {
    /// 8×8 bits, row 0 in the lowest byte, leftmost pixel in its lowest bit, background colour for
    /// 0, foreground colour for 1.
    Mono {
        /// Background.
        back: u32,
        /// Foreground.
        front: u32,
        /// Rows.
        rows: [u8; 8],
    },
    /// 32 bits along a line, 0 leaves the pixel alone; for lines only.
    Pen {
        /// Foreground.
        front: u32,
        /// First pixel in the lowest bit.
        pattern: u32,
    },
    /// One colour.
    Solid(u32),
    /// None.
    None,
}

impl Brush {
    const fn code(self) -> u32 {
        match self {
            Brush::Mono { .. } => brush_type::MONO_8X8_FG_BG,
            Brush::Pen { .. } => brush_type::MONO_32X1_FG_LA,
            Brush::Solid(_) => brush_type::SOLID_COLOR,
            Brush::None => brush_type::NONE,
        }
    }

    /// Append colours and pattern.
    fn emit(self, stream: &mut Stream) {
        let half = |rows: &[u8; 8], i: usize| {
            u32::from_le_bytes([rows[i], rows[i + 1], rows[i + 2], rows[i + 3]])
        };
        match self {
            Brush::Mono { back, front, rows } => {
                stream
                    .registers(mmio::BRUSH_Y_X, &[0, back, front])
                    .registers(mmio::BRUSH_DATA.base(), &[half(&rows, 0), half(&rows, 4)]);
            }
            Brush::Pen { front, pattern } => {
                stream
                    .register(mmio::BRUSH_Y_X, 0)
                    .register(mmio::DP_BRUSH_FRGD_CLR, front)
                    .register(mmio::BRUSH_DATA.base(), pattern);
            }
            Brush::Solid(colour) => {
                stream.register(mmio::DP_BRUSH_FRGD_CLR, colour);
            }
            Brush::None => {}
        }
    }
}

/// SRC_TYPE values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceType {
    /// One bit a pixel, both colours drawn.
    MonoOpaque,
    /// One bit a pixel, zeros leave the destination alone.
    MonoTransparent,
    /// As the destination.
    Colour,
}

impl SourceType {
    const fn code(self) -> u32 {
        match self {
            SourceType::MonoOpaque => src_type::MONO_OPAQUE,
            SourceType::MonoTransparent => src_type::MONO_TRANSPARENT,
            SourceType::Colour => src_type::COLOR,
        }
    }
}

/// Return two 16-bit numbers in a dword.
fn pair(high: i32, low: i32) -> u32 {
    ((high as u32 & 0xffff) << 16) | (low as u32 & 0xffff)
}

/// Widest clipping edge the fields hold without touching their sign.
const CLIP: i32 = 0x1fff;

/// What operations need beside corners and sizes.
struct State<'a> {
    source: Option<Surface<'a>>,
    destination: Surface<'a>,
    brush: Brush,
    rop: u8,
    load: u32,
    source_type: SourceType,
    compare: bool,
}

impl<'a> State<'a> {
    fn new(destination: Surface<'a>, brush: Brush, rop: u8) -> Self {
        let source_type = SourceType::Colour;
        State {
            source: None,
            destination,
            brush,
            rop,
            load: src_load::MEMORY,
            source_type,
            compare: false,
        }
    }

    fn control(&self) -> u32 {
        let bit = |condition: bool| u32::from(condition);
        let mut word = 0;
        word = gui_control::SRC_PITCH_OFF.put(word, bit(self.source.is_some()));
        word = gui_control::DST_PITCH_OFF.put(word, 1);
        word = gui_control::SRC_CLIPPING.put(word, bit(self.source.is_some()));
        word = gui_control::DST_CLIPPING.put(word, 1);
        word = gui_control::BRUSH_TYPE.put(word, self.brush.code());
        word = gui_control::DST_TYPE.put(word, self.destination.format.code());
        word = gui_control::SRC_TYPE.put(word, self.source_type.code());
        word = gui_control::PIX_ORDER.put(word, 1);
        word = gui_control::WIN31_ROP.put(word, u32::from(self.rop));
        word = gui_control::SRC_LOAD.put(word, self.load);
        word = gui_control::GMC_CLR_CMP_FCN_DIS.put(word, bit(!self.compare));
        gui_control::GMC_WR_MSK_DIS.put(word, 1)
    }

    fn emit(&self, stream: &mut Stream) {
        if let Some(source) = &self.source {
            stream
                .register(mmio::SRC_PITCH_OFFSET, source.pitch_offset())
                .relocation(source.bo, Access::Read)
                .register(mmio::SRC_SC_BOTTOM_RIGHT, pair(CLIP, CLIP));
        }
        stream
            .register(mmio::DST_PITCH_OFFSET, self.destination.pitch_offset())
            .relocation(self.destination.bo, Access::Write)
            .registers(mmio::SC_TOP_LEFT, &[0, pair(CLIP, CLIP)])
            .register(mmio::DP_GUI_MASTER_CNTL, self.control());
        self.brush.emit(stream);
        // Lines may leave another direction behind.
        forward(stream);
    }
}

/// Set the direction, left to right and top to bottom.
fn forward(stream: &mut Stream) {
    let word = mmio::dp_cntl::DST_X_LEFT_TO_RIGHT.put(0, 1);
    let word = mmio::dp_cntl::DST_Y_TOP_TO_BOTTOM.put(word, 1);
    stream.register(mmio::DP_CNTL, word);
}

/// Start a rectangle with the state as it is.
fn rectangle(stream: &mut Stream, rect: Rect) {
    stream
        .register(mmio::DST_Y_X, pair(rect.y, rect.x))
        .register(mmio::DST_HEIGHT_WIDTH, pair(rect.h, rect.w));
}

/// Fill rectangles with a brush.
pub fn fill(stream: &mut Stream, to: Surface<'_>, brush: Brush, rop: u8, rects: &[Rect]) {
    State::new(to, brush, rop).emit(stream);
    for rect in rects {
        rectangle(stream, *rect);
    }
}

/// Fill a rectangle with one colour.
pub fn fill_by_registers(stream: &mut Stream, to: Surface<'_>, colour: u32, rect: Rect) {
    fill(stream, to, Brush::Solid(colour), rop::PATCOPY, &[rect]);
}

/// Copy rectangles: each lies in the destination, the point with it is its corner in the source.
pub fn copy(
    stream: &mut Stream,
    from: Surface<'_>,
    to: Surface<'_>,
    brush: Brush,
    rop: u8,
    copies: &[((i32, i32), Rect)],
) {
    let state = State {
        source: Some(from),
        ..State::new(to, brush, rop)
    };
    state.emit(stream);
    copies_of(stream, copies);
}

fn copies_of(stream: &mut Stream, copies: &[((i32, i32), Rect)]) {
    for &((x, y), rect) in copies {
        stream.register(mmio::SRC_Y_X, pair(y, x));
        rectangle(stream, rect);
    }
}

/// Copy a rectangle as it is.
pub fn copy_by_registers(
    stream: &mut Stream,
    from: Surface<'_>,
    to: Surface<'_>,
    from_at: (i32, i32),
    rect: Rect,
) {
    let copies = [(from_at, rect)];
    copy(stream, from, to, Brush::None, rop::SRCCOPY, &copies);
}

/// Copy a rectangle except for source pixels of the key colour.
///
/// The manual's table and its prose (R5xx 5.2.2.10) disagree on which compare function leaves out equal pixels; the
/// public X driver uses 4 for it on these chips, and so do we.
pub fn copy_keyed(
    stream: &mut Stream,
    from: Surface<'_>,
    to: Surface<'_>,
    key: u32,
    from_at: (i32, i32),
    rect: Rect,
) {
    let state = State {
        source: Some(from),
        compare: true,
        ..State::new(to, Brush::None, rop::SRCCOPY)
    };
    state.emit(stream);
    let control = mmio::clr_cmp_cntl::CLR_CMP_SRC.put(0, mmio::clr_cmp_cntl::clr_cmp_src::EQUAL);
    let control =
        mmio::clr_cmp_cntl::CMP_ENABLE.put(control, mmio::clr_cmp_cntl::cmp_enable::SOURCE);
    // Control, both reference colours, mask.
    stream.registers(mmio::CLR_CMP_CNTL, &[control, key, 0, u32::MAX]);
    copies_of(stream, &[(from_at, rect)]);
}

/// Draw connected lines. Each line's last pixel belongs to the next line.
pub fn lines(stream: &mut Stream, to: Surface<'_>, front: u32, rop: u8, points: &[(i32, i32)]) {
    State::new(to, Brush::Pen { front, pattern: !0 }, rop).emit(stream);
    for ends in points.windows(2) {
        let end = |(x, y): (i32, i32)| pair(y, x);
        stream.registers(mmio::DST_LINE_START, &[end(ends[0]), end(ends[1])]);
    }
}

/// A bitmap to be sent within the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raster {
    /// Where it goes, and its size.
    pub rect: Rect,
    /// Mono: bits of all rows without gaps, first pixel in the lowest bit. Colour: pixels.
    pub words: Vec<u32>,
}

/// Draw bitmaps of the stream. Upstream's driver admits no host data.
pub fn bitmaps(
    stream: &mut Stream,
    to: Surface<'_>,
    source_type: SourceType,
    front: u32,
    back: u32,
    rop: u8,
    rasters: &[Raster],
) {
    let state = State {
        load: src_load::HOST_DATA,
        source_type,
        ..State::new(to, Brush::None, rop)
    };
    state.emit(stream);
    stream.registers(mmio::DP_SRC_FRGD_CLR, &[front, back]);
    for raster in rasters {
        rectangle(stream, raster.rect);
        let Some((last, words)) = raster.words.split_last() else {
            continue;
        };
        if !words.is_empty() {
            stream
                .word(pm4::packet0_same(mmio::HOST_DATA.base(), words.len()))
                .extend(words);
        }
        stream.register(mmio::HOST_DATA_LAST, *last);
    }
}
