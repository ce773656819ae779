// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What a picture of HQV touches (L441-529).
//!
//! An engine reads a window of a source, which is packed or has two planes, and perhaps a window of a sub-picture. It writes a
//! destination, in rows or in tiles of 32 bytes times 8 rows (L510). Where the manual leaves something open, the larger
//! reading counts:
//!
//! - **Windows** have their last row and column. They bound the picture, whatever the scaling factors are.
//! - **Rows** are read and written in units of 16 bytes, because all addresses and strides are in such units.
//! - **The destination** reaches from its first pixel to the end of every window in it, and of the background.
//! - **Destinations** take turns. Which one comes next is another client's state, so that all of them count.
//! - **Pixels left of segments** go to a buffer whose size is lost with page 47. They are pixels of the picture, so that they are
//!   no more than all pixels of the source's window or of the destination, in 32 bits each.

use super::{
    video::{
        Engine,
        Register,
        PICTURE,
        SUBPICTURE, //
    },
    Checker,
    Reason, //
};
use crate::portable::regs::{
    enums::hqv_format as format,
    mmio::{
        self,
        hqv_background_offset as background,
        hqv_control as control,
        hqv_destination_1 as destination,
        hqv_destination_stride as destination_stride,
        hqv_mode as mode,
        hqv_source_stride as source_stride,
        hqv_subpicture_control as subpicture,
        hqv_video_source_start as corner, //
    },
};

/// Unit of strides, and bytes of an access.
const UNIT: u64 = 16;
/// Bytes of a row of a tile, and its rows.
const TILE_ROW: u64 = 32;
const TILE_ROWS: u64 = 8;
/// The most bytes of a pixel.
const LARGEST: u64 = 4;

/// Where the source has its colours.
enum Source {
    /// In pixels of so many bytes.
    Packed(u64),
    /// In a second plane; that of brightness has a byte for a pixel.
    Planes(Chroma),
}

/// How the second plane is laid out.
enum Chroma {
    /// Two bytes for two columns, in half the rows.
    Half,
    /// Two bytes for four columns.
    Quarter,
    /// Two bytes for two columns.
    Full,
}

/// Return the layout of a format.
fn source(code: u32) -> Option<Source> {
    Some(match code {
        format::RGB32 | format::RGB32_10 | format::YUV444 | format::V410 => Source::Packed(4),
        format::RGB16 | format::RGB15 | format::YUV422 | format::UYVY => Source::Packed(2),
        format::NV12 => Source::Planes(Chroma::Half),
        format::NV11 => Source::Planes(Chroma::Quarter),
        format::P208 => Source::Planes(Chroma::Full),
        _ => return None,
    })
}

/// A window: its first and its last column and row. No arithmetic on them overflows, because they have eleven bits.
#[derive(Clone, Copy, Debug)]
struct Window {
    left: u64,
    top: u64,
    right: u64,
    bottom: u64,
}

impl Window {
    /// Return the window between the corners that two registers say.
    fn of(engine: &Engine, start: Register, end: Register) -> Result<Self, Reason> {
        let [start, end] = [engine.get(start), engine.get(end)];
        let window = Self {
            left: corner::X.get(start).into(),
            top: corner::Y.get(start).into(),
            right: corner::X.get(end).into(),
            bottom: corner::Y.get(end).into(),
        };
        // With one more pixel than the difference a window of the same corners would have one, and else none.
        if window.right <= window.left || window.bottom <= window.top {
            return Err(Reason::VideoWindow);
        }
        Ok(window)
    }

    /// Return its pixels.
    fn extent(self) -> Extent {
        Extent {
            columns: self.right.wrapping_sub(self.left).wrapping_add(1),
            rows: self.bottom.wrapping_sub(self.top).wrapping_add(1),
        }
    }

    /// Return the pixels from 0 to its end.
    fn reach(self) -> Extent {
        Extent {
            columns: self.right.wrapping_add(1),
            rows: self.bottom.wrapping_add(1),
        }
    }
}

/// Columns and rows, at least 1 and at most 2048.
#[derive(Clone, Copy, Debug)]
struct Extent {
    columns: u64,
    rows: u64,
}

impl Extent {
    /// Return what holds both.
    fn with(self, other: Self) -> Self {
        Self {
            columns: self.columns.max(other.columns),
            rows: self.rows.max(other.rows),
        }
    }

    /// Return the bytes of its pixels without gaps between rows, in 32 bits each.
    fn bytes(self) -> u64 {
        whole(self.columns.wrapping_mul(LARGEST)).wrapping_mul(self.rows)
    }
}

/// Return bytes rounded up to whole units.
fn whole(bytes: u64) -> u64 {
    bytes.div_ceil(UNIT).wrapping_mul(UNIT)
}

/// Return the bytes from the base to behind the last of some rows, which are `stride` bytes apart and have `row` bytes.
fn linear(rows: u64, stride: u64, row: u64) -> u64 {
    let above = rows.wrapping_sub(1).wrapping_mul(stride);
    above.wrapping_add(whole(row))
}

/// As [`linear`], in tiles.
fn tiled(rows: u64, stride: u64, row: u64) -> u64 {
    let above = rows.wrapping_sub(1) / TILE_ROWS;
    above
        .wrapping_mul(stride)
        .wrapping_add(row.div_ceil(TILE_ROW).wrapping_mul(TILE_ROW))
        .wrapping_mul(TILE_ROWS)
}

/// Return a stride in bytes.
fn bytes(stride: u32) -> Result<u64, Reason> {
    if stride == 0 {
        return Err(Reason::VideoStride);
    }
    Ok(u64::from(stride).wrapping_mul(UNIT))
}

impl Checker<'_> {
    /// Check a picture that the control starts.
    pub(super) fn picture(&mut self, engine: &Engine, value: u32) -> Result<(), Reason> {
        let source = source(control::FORMAT.get(value)).ok_or(Reason::VideoFormat)?;
        if !engine.has_all(PICTURE) {
            return Err(Reason::NoVideo);
        }
        let window = Window::of(
            engine,
            Register::of(mmio::HQV_VIDEO_SOURCE_START),
            Register::of(mmio::HQV_VIDEO_SOURCE_END),
        )?;
        let output = Window::of(
            engine,
            Register::of(mmio::HQV_VIDEO_DESTINATION_START),
            Register::of(mmio::HQV_VIDEO_DESTINATION_END),
        )?;
        let (mut left, mut top) = (output.left, output.top);
        let offset = engine.get(Register::of(mmio::HQV_BACKGROUND_OFFSET));
        let behind = Extent {
            columns: u64::from(background::X.get(offset)).wrapping_add(1),
            rows: u64::from(background::Y.get(offset)).wrapping_add(1),
        };
        let mut extent = output.reach().with(behind);
        if subpicture::ENABLE.any(engine.get(Register::of(mmio::HQV_SUBPICTURE_CONTROL))) {
            let inset = self.subpicture(engine)?;
            extent = extent.with(inset.reach());
            // Beside a source in RGB it does not show (L481).
            if control::FORMAT.get(value) >= format::YUV444 {
                left = left.min(inset.left);
                top = top.min(inset.top);
            }
        }
        if left != 0 || top != 0 {
            return Err(Reason::VideoOrigin);
        }
        self.source(engine, &source, window)?;
        self.destinations(engine, value, &source, extent)?;
        let left_over = window.extent().bytes().max(extent.bytes());
        // What is kept of a segment is read with the next one.
        let base = engine.surface(Register::of(mmio::HQV_RESIDUE_BASE));
        self.touch(
            base.ok_or(Reason::NoVideo)?,
            left_over,
            true,
            Reason::ResidueBounds,
        )
    }

    /// Check a sub-picture, and return its window in the destination.
    fn subpicture(&mut self, engine: &Engine) -> Result<Window, Reason> {
        if !engine.has_all(SUBPICTURE) {
            return Err(Reason::NoSubpicture);
        }
        let value = engine.get(Register::of(mmio::HQV_SUBPICTURE_CONTROL));
        let colors = subpicture::AYUV.any(value);
        if !colors && !engine.has_palette() {
            return Err(Reason::NoSubpicturePalette);
        }
        let window = Window::of(
            engine,
            Register::of(mmio::HQV_SUBPICTURE_SOURCE_START),
            Register::of(mmio::HQV_SUBPICTURE_SOURCE_END),
        )?;
        let inset = Window::of(
            engine,
            Register::of(mmio::HQV_SUBPICTURE_DESTINATION_START),
            Register::of(mmio::HQV_SUBPICTURE_DESTINATION_END),
        )?;
        let Extent { columns, rows } = window.reach();
        let row = columns.wrapping_mul(if colors { LARGEST } else { 1 });
        let end = linear(rows, bytes(subpicture::STRIDE.get(value))?, row);
        let base = engine.surface(Register::of(mmio::HQV_SUBPICTURE_BASE));
        self.touch(
            base.ok_or(Reason::NoSubpicture)?,
            end,
            false,
            Reason::SubpictureBounds,
        )?;
        Ok(inset)
    }

    /// Check the source.
    fn source(&mut self, engine: &Engine, source: &Source, window: Window) -> Result<(), Reason> {
        let stride = engine.get(Register::of(mmio::HQV_SOURCE_STRIDE));
        let stride = bytes(source_stride::STRIDE.get(stride))?;
        let Extent { columns, rows } = window.reach();
        let (pixel, chroma) = match source {
            Source::Packed(pixel) => (*pixel, None),
            // Pairs of columns are whole units, so that an odd number of columns is no matter.
            Source::Planes(Chroma::Half) => (1, Some((rows.div_ceil(2), columns))),
            Source::Planes(Chroma::Quarter) => {
                (1, Some((rows, columns.div_ceil(4).wrapping_mul(2))))
            }
            Source::Planes(Chroma::Full) => (1, Some((rows, columns))),
        };
        let end = linear(rows, stride, columns.wrapping_mul(pixel));
        let base = engine.surface(Register::of(mmio::HQV_SOURCE_LUMA));
        self.touch(base.ok_or(Reason::NoVideo)?, end, false, Reason::LumaBounds)?;
        let Some((rows, row)) = chroma else {
            return Ok(());
        };
        let base = engine.surface(Register::of(mmio::HQV_SOURCE_CHROMA));
        self.touch(
            base.ok_or(Reason::NoChroma)?,
            linear(rows, stride, row),
            false,
            Reason::ChromaBounds,
        )
    }

    /// Check all destinations.
    fn destinations(
        &mut self,
        engine: &Engine,
        value: u32,
        source: &Source,
        extent: Extent,
    ) -> Result<(), Reason> {
        let first = engine.layout();
        let [plain, deep] = [
            mode::OUTPUT_32.any(engine.get(Register::of(mmio::HQV_MODE))),
            destination::OUTPUT_10.any(first),
        ];
        if plain && deep {
            return Err(Reason::VideoOutput);
        }
        let pixel = match source {
            Source::Packed(LARGEST) => LARGEST,
            _ if plain || deep => LARGEST,
            _ => 2,
        };
        let stride = engine.get(Register::of(mmio::HQV_DESTINATION_STRIDE));
        let stride = bytes(destination_stride::STRIDE.get(stride))?;
        let row = extent.columns.wrapping_mul(pixel);
        let end = if destination::TILED.any(first) {
            tiled(extent.rows, stride, row)
        } else {
            linear(extent.rows, stride, row)
        };
        let several = !control::SINGLE_BUFFER.any(value);
        let three = several && control::TRIPLE_BUFFER.any(value);
        for (register, counts) in [
            (mmio::HQV_DESTINATION_1, true),
            (mmio::HQV_DESTINATION_2, several),
            (mmio::HQV_DESTINATION_3, three),
        ] {
            if counts {
                let base = engine.surface(Register::of(register));
                self.touch(
                    base.ok_or(Reason::NoBuffer)?,
                    end,
                    true,
                    Reason::PictureBounds,
                )?;
            }
        }
        Ok(())
    }
}
