// SPDX-License-Identifier: GPL-2.0 OR MIT

//! 2D drawing by command stream, in two ways.
//!
//! As type 3 packets (R5xx 5.2.2): each begins with GUI_CONTROL, which says which set-up dwords
//! follow (pitch and offset of source and destination, clipping, brush), then comes the data block.
//! As register writes (type 0): the way of the public X driver, and the only one upstream's checker
//! lets through.
//!
//! Pitch and offset of a surface share a dword, offset in KiB, pitch in units of 64 bytes. The
//! offset written here is the one inside the object; a relocation marker behind the packet lets the
//! kernel add the rest: first the source's, then the destination's.
//!
//! Clipping is always given with the packet, wide open, so that nothing depends on defaults.

use crate::bo::Bo;
use crate::stream::{Access, Stream};
use lapidary_registers::r500::enums::{brush_type, datatype, src_load, src_type};
use lapidary_registers::r500::mmio;
use lapidary_registers::r500::pm4::{gui_control, op};

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
    /// Bytes of a pixel.
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
    /// A surface of 32-bit pixels from the start of an object.
    pub fn new(bo: &'a Bo, pitch: u32) -> Surface<'a> {
        Surface {
            bo,
            offset: 0,
            pitch,
            format: Format::Argb8888,
        }
    }

    /// The pitch and offset dword.
    pub fn pitch_offset(&self) -> u32 {
        assert!(
            self.pitch % 64 == 0 && self.pitch / 64 < 256 && self.offset % 1024 == 0,
            "{self:?}"
        );
        mmio::dst_pitch_offset::PITCH.put(self.offset / 1024, self.pitch / 64)
    }
}

/// The brush of a drawing packet.
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

    fn packet(self) -> Vec<u32> {
        match self {
            Brush::Mono { back, front, rows } => {
                let half =
                    |i: usize| u32::from_le_bytes([rows[i], rows[i + 1], rows[i + 2], rows[i + 3]]);
                vec![back, front, half(0), half(4)]
            }
            Brush::Pen { front, pattern } => vec![front, pattern],
            Brush::Solid(colour) => vec![colour],
            Brush::None => Vec::new(),
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

/// A rectangle in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rect {
    /// Left edge.
    pub x: i32,
    /// Top edge.
    pub y: i32,
    /// Width.
    pub w: i32,
    /// Height.
    pub h: i32,
}

impl Rect {
    /// From its corner and size.
    pub const fn new(x: i32, y: i32, w: i32, h: i32) -> Rect {
        Rect { x, y, w, h }
    }
}

/// Two 16-bit numbers in a dword.
fn pair(high: i32, low: i32) -> u32 {
    ((high as u32 & 0xffff) << 16) | (low as u32 & 0xffff)
}

/// Widest clipping edge the fields hold without touching their sign.
const CLIP: i32 = 0x1fff;

/// Settings common to the drawing packets.
struct Settings<'a> {
    source: Option<Surface<'a>>,
    destination: Surface<'a>,
    brush: Brush,
    rop: u8,
    load: u32,
    source_type: SourceType,
    compare: bool,
}

impl<'a> Settings<'a> {
    fn fill(destination: Surface<'a>, brush: Brush, rop: u8) -> Self {
        let source_type = SourceType::Colour;
        Settings {
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
        word = gui_control::GMC_WR_MSK_DIS.put(word, 1);
        gui_control::BRUSH_FLAG.put(
            word,
            bit(matches!(self.brush, Brush::Mono { .. } | Brush::Pen { .. })),
        )
    }

    /// GUI_CONTROL and SETUP_BODY.
    fn words(&self) -> Vec<u32> {
        let mut words = vec![self.control()];
        words.extend(self.source.map(|surface| surface.pitch_offset()));
        words.push(self.destination.pitch_offset());
        if self.source.is_some() {
            words.push(pair(CLIP, CLIP));
        }
        words.extend([0, pair(CLIP, CLIP)]);
        words.extend(self.brush.packet());
        if gui_control::BRUSH_FLAG.get(words[0]) != 0 {
            words.push(0);
        }
        words
    }

    fn emit(&self, stream: &mut Stream, opcode: u8, data: &[u32]) {
        let mut body = self.words();
        body.extend_from_slice(data);
        // Packets do not say the direction, and lines may leave another one behind.
        stream
            .register(mmio::DP_CNTL, forward())
            .packet(opcode, &body);
        if let Some(source) = &self.source {
            stream.relocation(source.bo, Access::Read);
        }
        stream.relocation(self.destination.bo, Access::Write);
    }
}

/// Fills rectangles with a brush (PAINT_MULTI).
pub fn paint_multi(stream: &mut Stream, to: Surface<'_>, brush: Brush, rop: u8, rects: &[Rect]) {
    let data: Vec<u32> = rects
        .iter()
        .flat_map(|r| [pair(r.x, r.y), pair(r.w, r.h)])
        .collect();
    Settings::fill(to, brush, rop).emit(stream, op::PAINT_MULTI, &data);
}

/// Fills rectangles given by their corners (PAINT); right and bottom edges are outside.
pub fn paint(stream: &mut Stream, to: Surface<'_>, brush: Brush, rop: u8, rects: &[Rect]) {
    let data: Vec<u32> = rects
        .iter()
        .flat_map(|r| [pair(r.y, r.x), pair(r.y + r.h, r.x + r.w)])
        .collect();
    Settings::fill(to, brush, rop).emit(stream, op::PAINT, &data);
}

/// Copies a rectangle (BITBLT): `rect` lies in the destination, `from_at` is the corner in the source.
pub fn bitblt(
    stream: &mut Stream,
    from: Surface<'_>,
    to: Surface<'_>,
    brush: Brush,
    rop: u8,
    from_at: (i32, i32),
    rect: Rect,
) {
    bitblt_multi_with(stream, op::BITBLT, from, to, brush, rop, &[(from_at, rect)]);
}

/// Copies several rectangles (BITBLT_MULTI).
pub fn bitblt_multi(
    stream: &mut Stream,
    from: Surface<'_>,
    to: Surface<'_>,
    brush: Brush,
    rop: u8,
    copies: &[((i32, i32), Rect)],
) {
    bitblt_multi_with(stream, op::BITBLT_MULTI, from, to, brush, rop, copies);
}

fn triple(from_at: (i32, i32), rect: Rect) -> [u32; 3] {
    [
        pair(from_at.0, from_at.1),
        pair(rect.x, rect.y),
        pair(rect.w, rect.h),
    ]
}

fn bitblt_multi_with(
    stream: &mut Stream,
    opcode: u8,
    from: Surface<'_>,
    to: Surface<'_>,
    brush: Brush,
    rop: u8,
    copies: &[((i32, i32), Rect)],
) {
    let data: Vec<u32> = copies
        .iter()
        .flat_map(|&(at, rect)| triple(at, rect))
        .collect();
    Settings {
        source: Some(from),
        ..Settings::fill(to, brush, rop)
    }
    .emit(stream, opcode, &data);
}

/// Copies a rectangle except for source pixels of the key colour (TRANS_BITBLT).
///
/// The manual's table and its prose disagree on which compare function leaves out equal pixels; the
/// public X driver uses 4 for it on these chips, and so do we.
pub fn trans_bitblt(
    stream: &mut Stream,
    from: Surface<'_>,
    to: Surface<'_>,
    key: u32,
    from_at: (i32, i32),
    rect: Rect,
) {
    let mut control =
        mmio::clr_cmp_cntl::CLR_CMP_SRC.put(0, mmio::clr_cmp_cntl::clr_cmp_src::EQUAL);
    control = mmio::clr_cmp_cntl::CMP_ENABLE.put(control, mmio::clr_cmp_cntl::cmp_enable::SOURCE);
    let mut data = vec![control, key, 0];
    data.extend(triple(from_at, rect));
    let settings = Settings {
        source: Some(from),
        compare: true,
        ..Settings::fill(to, Brush::None, rop::SRCCOPY)
    };
    settings.emit(stream, op::TRANS_BITBLT, &data);
}

/// Draws connected lines (POLYLINE). Each line's last pixel belongs to the next line.
pub fn polyline(stream: &mut Stream, to: Surface<'_>, front: u32, rop: u8, points: &[(i32, i32)]) {
    let data: Vec<u32> = points.iter().map(|&(x, y)| pair(y, x)).collect();
    Settings::fill(to, Brush::Pen { front, pattern: !0 }, rop).emit(stream, op::POLYLINE, &data);
}

/// One group of spans that share rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scan {
    /// First row.
    pub top: i32,
    /// Rows.
    pub height: i32,
    /// From (inside) and to (outside) columns.
    pub spans: Vec<(i32, i32)>,
}

/// Fills spans (POLYSCANLINES).
pub fn polyscanlines(stream: &mut Stream, to: Surface<'_>, brush: Brush, rop: u8, scans: &[Scan]) {
    let mut data = vec![scans.len() as u32];
    for scan in scans {
        data.extend([scan.spans.len() as u32, pair(scan.height, scan.top)]);
        data.extend(scan.spans.iter().map(|&(from, to)| pair(to, from)));
    }
    Settings::fill(to, brush, rop).emit(stream, op::POLYSCANLINES, &data);
}

/// A bitmap to be sent within the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raster {
    /// Where it goes, and its size.
    pub rect: Rect,
    /// Mono: bits of all rows without gaps, first pixel in the lowest bit. Colour: pixels.
    pub words: Vec<u32>,
}

/// Draws bitmaps of the stream (HOSTDATA_BLT).
pub fn hostdata_blt(
    stream: &mut Stream,
    to: Surface<'_>,
    source_type: SourceType,
    front: u32,
    back: u32,
    rop: u8,
    rasters: &[Raster],
) {
    let mut data = vec![front, back];
    for raster in rasters {
        let Rect { x, y, w, h } = raster.rect;
        data.extend([pair(y, x), pair(h, w), raster.words.len() as u32]);
        data.extend_from_slice(&raster.words);
    }
    Settings {
        load: src_load::HOST_DATA,
        source_type,
        ..Settings::fill(to, Brush::None, rop)
    }
    .emit(stream, op::HOSTDATA_BLT, &data);
}

/// GUI_CONTROL for register drawing: the pitch and offset registers count, clipping is set apart.
fn register_control(format: Format, brush: Brush, rop: u8) -> u32 {
    let mut word = gui_control::DST_PITCH_OFF.put(0, 1);
    word = gui_control::SRC_PITCH_OFF.put(word, 1);
    word = gui_control::SRC_CLIPPING.put(word, 1);
    word = gui_control::DST_CLIPPING.put(word, 1);
    word = gui_control::BRUSH_TYPE.put(word, brush.code());
    word = gui_control::DST_TYPE.put(word, format.code());
    word = gui_control::SRC_TYPE.put(word, src_type::COLOR);
    word = gui_control::WIN31_ROP.put(word, u32::from(rop));
    word = gui_control::SRC_LOAD.put(word, src_load::MEMORY);
    word = gui_control::GMC_CLR_CMP_FCN_DIS.put(word, 1);
    gui_control::GMC_WR_MSK_DIS.put(word, 1)
}

/// Left to right and top to bottom.
fn forward() -> u32 {
    let word = mmio::dp_cntl::DST_X_LEFT_TO_RIGHT.put(0, 1);
    mmio::dp_cntl::DST_Y_TOP_TO_BOTTOM.put(word, 1)
}

/// Fills a rectangle by register writes.
pub fn fill_by_registers(stream: &mut Stream, to: Surface<'_>, colour: u32, rect: Rect) {
    stream
        .register(mmio::DST_PITCH_OFFSET, to.pitch_offset())
        .relocation(to.bo, Access::Write)
        .register(mmio::SC_TOP_LEFT, 0)
        .register(mmio::SC_BOTTOM_RIGHT, pair(CLIP, CLIP))
        .register(
            mmio::DP_GUI_MASTER_CNTL,
            register_control(to.format, Brush::Solid(0), rop::PATCOPY),
        )
        .register(mmio::DP_BRUSH_FRGD_CLR, colour)
        .register(mmio::DP_CNTL, forward())
        .register(mmio::DST_Y_X, pair(rect.y, rect.x))
        .register(mmio::DST_HEIGHT_WIDTH, pair(rect.h, rect.w));
}

/// Copies a rectangle by register writes.
pub fn copy_by_registers(
    stream: &mut Stream,
    from: Surface<'_>,
    to: Surface<'_>,
    from_at: (i32, i32),
    rect: Rect,
) {
    stream
        .register(mmio::SRC_PITCH_OFFSET, from.pitch_offset())
        .relocation(from.bo, Access::Read)
        .register(mmio::DST_PITCH_OFFSET, to.pitch_offset())
        .relocation(to.bo, Access::Write)
        .register(mmio::SC_TOP_LEFT, 0)
        .register(mmio::SC_BOTTOM_RIGHT, pair(CLIP, CLIP))
        .register(mmio::SRC_SC_BOTTOM_RIGHT, pair(CLIP, CLIP))
        .register(
            mmio::DP_GUI_MASTER_CNTL,
            register_control(to.format, Brush::None, rop::SRCCOPY),
        )
        .register(mmio::DP_CNTL, forward())
        .register(mmio::SRC_Y_X, pair(from_at.1, from_at.0))
        .register(mmio::DST_Y_X, pair(rect.y, rect.x))
        .register(mmio::DST_HEIGHT_WIDTH, pair(rect.h, rect.w));
}
