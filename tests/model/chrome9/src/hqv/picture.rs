// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Which bytes a picture may read and write.
//!
//! The manual has windows, strides, formats and the order of bytes in tiles (L459-512). It leaves open whether the end of a
//! window is inside, what a read at the end of a row fetches, and how much of the residue is in use, because page 47 is lost.
//! These are ours, to be checked on hardware: the last row and column are inside, memory is accessed in the units of 16
//! bytes in which bases and strides are counted, and the residue has at most each pixel of the source window, or each of
//! the destination, in 32 bits.
//!
//! The destination is one of one to three buffers, of which the engine takes the next by itself, so that each of them counts.
//! It begins with the background, of which video and sub-picture cover a part.

use std::fmt;

use lapidary_model::runs::Runs;
use lapidary_registers::RegArray;
use lapidary_registers::chrome9::enums::hqv_format as format;
use lapidary_registers::chrome9::mmio::{
    self, hqv_background_offset as background, hqv_control as control, hqv_destination_1 as first,
    hqv_destination_stride as destination_stride, hqv_mode as mode, hqv_source_luma as base,
    hqv_source_stride as source_stride, hqv_subpicture_control as subpicture,
    hqv_video_source_end as end, hqv_video_source_start as start,
};

use super::Surface;
use crate::engine3d::{Client, Footprint};
use crate::kind::{self, Kind};
use lapidary_model::registers::Space;

/// What bases and strides are counted in, and what is accessed at once, in bytes.
const UNIT: u64 = 16;
/// A tile of a destination: bytes of a line, and lines (L510).
const LINE: u64 = 32;
const LINES: u64 = 8;

/// A picture, as the registers of an engine describe it.
pub struct Picture<'a> {
    regs: &'a Space,
    engine: u32,
    /// The control that has started it.
    pub control: u32,
}

/// Pixels from `x0`, `y0` to `x1`, `y1`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Window {
    x0: u64,
    y0: u64,
    x1: u64,
    y1: u64,
}

impl Window {
    /// Return bytes of its columns: `n` for each `of` columns that go together.
    fn bytes(&self, n: u64, of: u64) -> (u64, u64) {
        (self.x0 / of * n, (self.x1 / of + 1) * n)
    }
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{} to {},{}", self.x0, self.y0, self.x1, self.y1)
    }
}

/// Return bytes from `left` on, to before `right`, of lines from `y0` to `y1`, in whole units.
fn rows(base: u64, stride: u64, (left, right): (u64, u64), (y0, y1): (u64, u64)) -> Runs {
    let left = left / UNIT * UNIT;
    Runs {
        start: base + y0 * stride + left,
        len: right.next_multiple_of(UNIT) - left,
        stride,
        rows: y1 - y0 + 1,
    }
}

/// Return the tiles of lines up to `y1` that have bytes before `right`.
fn tiles(base: u64, stride: u64, right: u64, y1: u64) -> Runs {
    Runs {
        start: base,
        len: right.div_ceil(LINE) * LINE * LINES,
        stride: stride * LINES,
        rows: y1 / LINES + 1,
    }
}

/// Return the bytes of so many pixels of 32 bits, row by row.
fn pixels(columns: u64, rows: u64) -> u64 {
    (columns * 4).next_multiple_of(UNIT) * rows
}

impl<'a> Picture<'a> {
    /// Return the picture that an engine is set to.
    pub fn new(regs: &'a Space, engine: u32) -> Picture<'a> {
        let mut picture = Picture {
            regs,
            engine,
            control: 0,
        };
        picture.control = picture.get(mmio::HQV_CONTROL);
        picture
    }

    /// Return the engine's register of a pair.
    pub fn get(&self, pair: RegArray) -> u32 {
        pair.at(self.engine).map_or(0, |place| self.regs.get(place))
    }

    fn window(&self, from: RegArray, to: RegArray) -> Window {
        let (from, to) = (self.get(from), self.get(to));
        Window {
            x0: start::X.get(from).into(),
            y0: start::Y.get(from).into(),
            x1: end::X.get(to).into(),
            y1: end::Y.get(to).into(),
        }
    }

    fn source(&self) -> Window {
        self.window(mmio::HQV_VIDEO_SOURCE_START, mmio::HQV_VIDEO_SOURCE_END)
    }

    fn video(&self) -> Window {
        self.window(
            mmio::HQV_VIDEO_DESTINATION_START,
            mmio::HQV_VIDEO_DESTINATION_END,
        )
    }

    /// Return where the sub-picture is, in its source and in the destination. There is one only beside a source in YUV
    /// (L481).
    fn inset(&self) -> Option<(Window, Window)> {
        let rgb = [
            format::RGB32,
            format::RGB32_10,
            format::RGB16,
            format::RGB15,
        ];
        let on = subpicture::ENABLE.any(self.get(mmio::HQV_SUBPICTURE_CONTROL));
        (on && !rgb.contains(&control::FORMAT.get(self.control))).then(|| {
            (
                self.window(
                    mmio::HQV_SUBPICTURE_SOURCE_START,
                    mmio::HQV_SUBPICTURE_SOURCE_END,
                ),
                self.window(
                    mmio::HQV_SUBPICTURE_DESTINATION_START,
                    mmio::HQV_SUBPICTURE_DESTINATION_END,
                ),
            )
        })
    }

    /// Return the last column and the last row of the destination.
    fn corner(&self) -> (u64, u64) {
        let video = self.video();
        let behind = self.get(mmio::HQV_BACKGROUND_OFFSET);
        // The register has one less than the size, which is the last one.
        let mut x = video.x1.max(background::X.get(behind).into());
        let mut y = video.y1.max(background::Y.get(behind).into());
        if let Some((_, inset)) = self.inset() {
            (x, y) = (x.max(inset.x1), y.max(inset.y1));
        }
        (x, y)
    }

    /// Return the bytes of a pixel of the source; none if it has two planes, or a format that is none.
    fn packed(&self) -> Option<u64> {
        match control::FORMAT.get(self.control) {
            format::RGB32 | format::RGB32_10 | format::YUV444 | format::V410 => Some(4),
            format::RGB16 | format::RGB15 | format::YUV422 | format::UYVY => Some(2),
            _ => None,
        }
    }

    /// Return lines and bytes of the second plane that a window takes; none if there is none.
    fn chroma(&self, window: Window) -> Option<((u64, u64), (u64, u64))> {
        let lines = (window.y0, window.y1);
        match control::FORMAT.get(self.control) {
            format::NV12 => Some((window.bytes(2, 2), (lines.0 / 2, lines.1 / 2))),
            format::NV11 => Some((window.bytes(2, 4), lines)),
            format::P208 => Some((window.bytes(2, 2), lines)),
            _ => None,
        }
    }

    /// Return whether the destination has pixels of 32 bits. Whether 16 bits would do for what the conversion of colours
    /// leaves of a source of 32 bits is not said.
    fn wide(&self) -> bool {
        self.packed() == Some(4)
            || mode::OUTPUT_32.any(self.get(mmio::HQV_MODE))
            || first::OUTPUT_10.any(self.get(mmio::HQV_DESTINATION_1))
    }

    /// Return what is wrong with it, apart from memory.
    pub fn mistakes(&self) -> Vec<(Kind, String)> {
        let mut mistakes = Vec::new();
        let mut wrong = |kind, what: String| mistakes.push((kind, what));
        let source = self.source();
        if self.packed().is_none() && self.chroma(source).is_none() {
            let code = control::FORMAT.get(self.control);
            wrong(kind::RESERVED_VALUE, format!("format {code:#x}"));
        }
        let layout = mode::TILE.get(self.get(mmio::HQV_MODE));
        if layout != mode::tile::LINEAR {
            wrong(
                kind::RESERVED_VALUE,
                format!("layout {layout} of a source that is not of motion compensation"),
            );
        }
        if mode::OUTPUT_32.any(self.get(mmio::HQV_MODE))
            && first::OUTPUT_10.any(self.get(mmio::HQV_DESTINATION_1))
        {
            wrong(kind::RESERVED_VALUE, "OUTPUT_32 with OUTPUT_10".into());
        }
        let video = self.video();
        let mut windows = vec![("source", source), ("destination", video)];
        let mut origin = (video.x0, video.y0);
        if let Some((from, inset)) = self.inset() {
            windows.push(("sub-picture", from));
            windows.push(("sub-picture in the destination", inset));
            origin = (origin.0.min(inset.x0), origin.1.min(inset.y0));
        }
        for (name, w) in windows {
            if w.x0 >= w.x1 || w.y0 >= w.y1 {
                wrong(kind::EMPTY_WINDOW, format!("{name} {w}"));
            }
        }
        if origin != (0, 0) {
            wrong(
                kind::RESERVED_VALUE,
                format!("the destination begins at {},{}", origin.0, origin.1),
            );
        }
        mistakes
    }

    /// Return what a register of a base says: the location and the first byte.
    fn place(&self, register: RegArray) -> (u32, u64) {
        let word = self.get(register);
        let units: u64 = base::ADDRESS.get(word).into();
        (base::LOCATION.get(word), units * UNIT)
    }

    fn client(&self, surface: Surface) -> Client {
        Client::Hqv(self.engine, surface)
    }

    /// Return all that it may touch. It has no mistakes.
    pub fn touched(&self) -> Vec<Footprint> {
        let mut footprints = Vec::new();
        let source = self.source();
        let stride = |units: u32| u64::from(units) * UNIT;
        let apart = |stride: u64| format!("rows {stride} bytes apart");
        let mut reads = |surface, register, stride, bytes, lines| {
            let (location, at) = self.place(register);
            let runs = rows(at, stride, bytes, lines);
            let client = self.client(surface);
            footprints.push(Footprint::read(client, location, runs, apart(stride)));
        };
        let pitch = stride(source_stride::STRIDE.get(self.get(mmio::HQV_SOURCE_STRIDE)));
        let (surface, size) = self
            .packed()
            .map_or((Surface::Luma, 1), |size| (Surface::Packed, size));
        let lines = (source.y0, source.y1);
        reads(
            surface,
            mmio::HQV_SOURCE_LUMA,
            pitch,
            source.bytes(size, 1),
            lines,
        );
        if let Some((bytes, lines)) = self.chroma(source) {
            reads(
                Surface::Chroma,
                mmio::HQV_SOURCE_CHROMA,
                pitch,
                bytes,
                lines,
            );
        }
        if let Some((from, _)) = self.inset() {
            let word = self.get(mmio::HQV_SUBPICTURE_CONTROL);
            let size = if subpicture::AYUV.any(word) { 4 } else { 1 };
            reads(
                Surface::Subpicture,
                mmio::HQV_SUBPICTURE_BASE,
                stride(subpicture::STRIDE.get(word)),
                from.bytes(size, 1),
                (from.y0, from.y1),
            );
        }
        let (x1, y1) = self.corner();
        let right = (x1 + 1) * if self.wide() { 4 } else { 2 };
        let pitch = stride(destination_stride::STRIDE.get(self.get(mmio::HQV_DESTINATION_STRIDE)));
        let tiled = first::TILED.any(self.get(mmio::HQV_DESTINATION_1));
        let all = [
            mmio::HQV_DESTINATION_1,
            mmio::HQV_DESTINATION_2,
            mmio::HQV_DESTINATION_3,
        ];
        for (n, register) in all.into_iter().enumerate().take(self.buffers()) {
            let (location, at) = self.place(register);
            let (runs, what) = if tiled {
                let what = format!("tiles, {pitch} bytes a line of them");
                (tiles(at, pitch, right, y1), what)
            } else {
                (rows(at, pitch, (0, right), (0, y1)), apart(pitch))
            };
            let client = self.client(Surface::Destination(n as u8 + 1));
            footprints.push(Footprint::written(client, false, location, runs, what));
        }
        let (location, at) = self.place(mmio::HQV_RESIDUE_BASE);
        let columns = source.x1 - source.x0 + 1;
        let most = pixels(columns, source.y1 - source.y0 + 1).max(pixels(x1 + 1, y1 + 1));
        footprints.push(Footprint::written(
            self.client(Surface::Residue),
            true,
            location,
            Runs::one(at, most),
            "at most all pixels".into(),
        ));
        footprints
    }

    /// Return how many destinations take turns.
    fn buffers(&self) -> usize {
        if control::SINGLE_BUFFER.any(self.control) {
            1
        } else if control::TRIPLE_BUFFER.any(self.control) {
            3
        } else {
            2
        }
    }
}

impl fmt::Display for Picture<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = control::FORMAT.get(self.control);
        let name = crate::engine3d::value_name("HQV_CONTROL", "FORMAT", code);
        write!(f, "{name}, {} to {}", self.source(), self.video())?;
        if let Some((from, inset)) = self.inset() {
            write!(f, ", sub-picture {from} to {inset}")?;
        }
        Ok(())
    }
}
