// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Copies of rectangles in memory.
//!
//! `SRC_Y_X` and `DST_Y_X` are the corner at which the engine starts, and `DP_CNTL` says in which direction it goes
//! from there, for source and destination alike: right to left needs the right column in both, and so on
//! (xf86-video-ati adds width or height minus one). Row after row, pixel after pixel in that order, so
//! that overlapping areas come out right if the direction leads away from what is still to be read. In the wrong
//! direction the engine reads what it wrote, and how much depends on its buffers: the model does it pixel by pixel,
//! and says so to the judge.
//!
//! A source may also be a bitmap of one bit a pixel (`SRC_TYPE` 0 and 1), with `SRC_X` counting bits; the highest bit
//! of a byte is the leftmost pixel unless `PIX_ORDER` is 1.
//!
//! Source pixels with a negative coordinate, or at or beyond the source scissor, are not copied.

use super::super::engine2d_api::{Port, Unit};
use super::clip::Rect;
use super::draw::{Pipe, Sample, load};
use super::surface::Surface;
use crate::kind;

/// Direction of drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Direction {
    /// Columns ascend.
    pub left_to_right: bool,
    /// Rows ascend.
    pub top_to_bottom: bool,
}

impl Direction {
    /// Return the rectangle of that size that begins at a corner in this direction.
    pub fn area(self, x: i32, y: i32, width: u32, height: u32) -> Rect {
        // Sizes are below 2^14.
        let back = |size: u32| i32::try_from(size).unwrap_or(0) - 1;
        let left = if self.left_to_right {
            x
        } else {
            x - back(width)
        };
        let top = if self.top_to_bottom {
            y
        } else {
            y - back(height)
        };
        Rect::new(left, top, width, height)
    }

    fn order<T>(forward: bool, range: impl DoubleEndedIterator<Item = T>, mut f: impl FnMut(T)) {
        if forward {
            range.for_each(&mut f)
        } else {
            range.rev().for_each(&mut f)
        }
    }

    /// Visit rows in this direction.
    pub fn rows(self, top: i32, bottom: i32, f: impl FnMut(i32)) {
        Direction::order(self.top_to_bottom, top..bottom, f);
    }

    /// Visit columns in this direction.
    pub fn columns(self, left: i32, right: i32, f: impl FnMut(i32)) {
        Direction::order(self.left_to_right, left..right, f);
    }
}

/// How source memory becomes pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Pixels of the destination's type.
    Colour,
    /// Bits.
    Mono(Mono),
}

/// How bits become pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mono {
    /// Pixel for a 1.
    pub foreground: u32,
    /// Pixel for a 0; `None` leaves the destination alone.
    pub background: Option<u32>,
    /// The lowest bit of a byte comes first.
    pub lowest_bit_first: bool,
}

impl Mono {
    /// Return the pixel of bit `n` (0 first) of a byte.
    pub fn sample(&self, byte: u8, n: usize) -> Sample {
        let n = n & 7;
        let shift = if self.lowest_bit_first { n } else { 7 - n };
        if (byte >> shift) & 1 != 0 {
            Some(self.foreground)
        } else {
            self.background
        }
    }
}

/// A source in memory.
#[derive(Clone, Debug)]
pub struct Source {
    /// Where it lies; for bitmaps, seen as bytes.
    pub surface: Surface,
    /// What it holds.
    pub format: Format,
    /// What may be read.
    pub scissor: Rect,
}

/// Copy to `area`, from what lies at `area` moved by `(x, y)`.
pub fn copy(
    port: &mut dyn Port,
    pipe: &mut Pipe,
    source: &Source,
    area: Rect,
    (x, y): (i32, i32),
    direction: Direction,
) {
    let area = area
        .intersection(pipe.clip)
        .intersection(source.scissor.moved(-x, -y));
    if area.is_empty() {
        return;
    }
    let from = area.moved(x, y);
    let bytes_read = match source.format {
        Format::Colour => from,
        Format::Mono(_) => Rect {
            left: from.left >> 3,
            right: ((from.right - 1) >> 3) + 1,
            ..from
        },
    };
    if !source.surface.reaches(bytes_read) {
        port.finding(
            kind::ENGINE2D_BAD_SURFACE,
            format_args!("the source ends above 4 GiB"),
        );
        return;
    }
    let same = source.format == Format::Colour && source.surface == pipe.surface;
    if same && !from.intersection(area).is_empty() {
        let rereads = match y {
            0 => x != 0 && (x < 0) == direction.left_to_right,
            _ => (y < 0) == direction.top_to_bottom,
        };
        if rereads {
            port.finding(
                kind::ENGINE2D_OVERLAP,
                format_args!("copy by ({}, {}) reads what it has already written", -x, -y),
            );
        }
    }
    let mut samples = Vec::new();
    let mut bytes = Vec::new();
    direction.rows(area.top, area.bottom, |row| {
        let target = (pipe.surface, area.left, area.right, row);
        let origin = (source.surface, bytes_read.left, bytes_read.right, row + y);
        if Surface::segments_touch(target, origin) {
            direction.columns(area.left, area.right, |column| {
                fetch(
                    port,
                    source,
                    column + x,
                    column + x + 1,
                    row + y,
                    &mut bytes,
                    &mut samples,
                );
                pipe.plane_span(port, column, column + 1, row, Some(&samples));
            });
        } else if source.format == Format::Colour && pipe.is_plain_copy() {
            read_row(
                port,
                source.surface,
                from.left,
                from.right,
                row + y,
                &mut bytes,
            );
            pipe.write_row(port, area.left, area.right, row, &bytes);
        } else {
            fetch(
                port,
                source,
                from.left,
                from.right,
                row + y,
                &mut bytes,
                &mut samples,
            );
            pipe.plane_span(port, area.left, area.right, row, Some(&samples));
        }
    });
}

/// Read source pixels `left .. right` of a row.
fn fetch(
    port: &mut dyn Port,
    source: &Source,
    left: i32,
    right: i32,
    y: i32,
    bytes: &mut Vec<u8>,
    samples: &mut Vec<Sample>,
) {
    samples.clear();
    match source.format {
        Format::Colour => {
            read_row(port, source.surface, left, right, y, bytes);
            samples.extend(
                bytes
                    .chunks_exact(source.surface.pixel_bytes())
                    .map(|b| Some(load(b))),
            );
        }
        Format::Mono(mono) => {
            let first = left >> 3;
            read_row(
                port,
                source.surface,
                first,
                ((right - 1) >> 3) + 1,
                y,
                bytes,
            );
            samples.extend((left..right).map(|x| {
                // Not negative: the scissor begins at 0 and `first` is not right of x.
                let index = ((x >> 3) - first) as usize;
                bytes
                    .get(index)
                    .and_then(|&b| mono.sample(b, (x & 7) as usize))
            }));
        }
    }
}

fn read_row(
    port: &mut dyn Port,
    surface: Surface,
    left: i32,
    right: i32,
    y: i32,
    bytes: &mut Vec<u8>,
) {
    let size = surface.pixel_bytes();
    bytes.clear();
    bytes.resize(usize::try_from(right - left).unwrap_or(0) * size, 0);
    for run in surface.runs(left, right, y) {
        port.read(
            Unit::Engine2d,
            run.address,
            &mut bytes[run.first * size..][..run.pixels * size],
        );
    }
}
