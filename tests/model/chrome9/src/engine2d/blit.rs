// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A blit: what it reads and writes, row by row.

use std::fmt;

use lapidary_model::machine::Machine;
use lapidary_model::rop::Rop3;

use super::host::Format;
use super::surface::{Rect, Surface};
use crate::unit::Unit;
use crate::{bus, kind};

/// A source pixel; none where the destination is left alone.
pub type Sample = Option<u32>;

/// A pixel by its coordinates.
pub type Point = (i64, i64);

/// Where the source comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The raster operation needs none.
    None,
    /// The frame buffer.
    FrameBuffer(Pixels),
    /// The CPU.
    Host(Format),
}

/// Pixels of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pixels {
    /// The picture.
    pub surface: Surface,
    /// Left edge.
    pub x: i64,
    /// Upper edge.
    pub y: i64,
}

/// Which pixels and bytes of them are not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// Source pixels of that colour.
    pub source: Option<u32>,
    /// Destination pixels of that colour.
    pub destination: Option<u32>,
    /// It is the other way round: only such pixels are.
    pub inverted: bool,
    /// A one for each byte of a pixel that is kept.
    pub kept: u32,
}

impl Key {
    /// Return whether a pixel is written.
    fn passes(&self, mask: u32, source: u32, destination: u32) -> bool {
        let differs = |key: Option<u32>, pixel: u32| {
            key.is_none_or(|key| ((key ^ pixel) & mask != 0) != self.inverted)
        };
        differs(self.source, source) && differs(self.destination, destination)
    }
}

/// A blit under way.
#[derive(Clone, Debug)]
pub struct Blit {
    /// What is drawn.
    pub rect: Rect,
    /// It begins with the lowest row.
    pub upwards: bool,
    /// Rows begin with the right pixel.
    pub leftwards: bool,
    /// Where to.
    pub target: Surface,
    /// Where from.
    pub source: Source,
    /// How source, pattern and destination combine.
    pub rop: Rop3,
    /// Colour of the pattern.
    pub pattern: u32,
    /// First and last pixel that may be drawn.
    pub clip: Option<(Point, Point)>,
    /// What is not written.
    pub key: Key,
    /// Rows that are done.
    pub drawn: u32,
}

impl fmt::Display for Blit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Rect {
            x,
            y,
            width,
            height,
        } = self.rect;
        let what = match self.source {
            Source::None => "fill",
            Source::FrameBuffer(_) => "copy",
            Source::Host(_) => "upload",
        };
        write!(
            f,
            "{what} {width} x {height} at {x},{y} of {:#x} (pitch {}), ROP {:02x}h",
            self.target.base, self.target.pitch, self.rop.0
        )
    }
}

impl Blit {
    /// Return whether all rows are drawn.
    pub fn done(&self) -> bool {
        self.drawn >= self.rect.height
    }

    /// Return the counter of such blits.
    pub fn counter(&self) -> &'static str {
        match self.source {
            Source::None => "fills",
            Source::FrameBuffer(_) => "copies",
            Source::Host(_) => "uploads",
        }
    }

    /// Report a copy within one picture whose direction makes it read what it has written.
    pub fn judge_overlap(&self, m: &mut Machine) {
        let Source::FrameBuffer(from) = self.source else {
            return;
        };
        let Rect {
            x,
            y,
            width,
            height,
        } = self.rect;
        let (dx, dy) = (x - from.x, y - from.y);
        let overlaps = from.surface == self.target
            && dx.abs() < i64::from(width)
            && dy.abs() < i64::from(height);
        let wrong = match (dx, dy) {
            (0, 0) => false,
            (_, 0) => (dx > 0) != self.leftwards,
            _ => (dy > 0) != self.upwards,
        };
        if overlaps && wrong {
            m.finding(
                kind::COPY_OVERLAP,
                format_args!("{self}, from {dx},{dy} away"),
            );
        }
    }

    /// Draw the next row, with that source if it comes from the CPU.
    pub fn row(&mut self, m: &mut Machine, host: Option<Vec<Sample>>) {
        let row = if self.upwards {
            self.rect.height - 1 - self.drawn
        } else {
            self.drawn
        };
        self.drawn += 1;
        let y = self.rect.y + i64::from(row);
        let (first, end) = self.span(y);
        if first >= end {
            return;
        }
        let bytes = (end - first) as usize * self.target.bytes as usize;
        let Some(at) = self.target.at(first, y) else {
            m.finding(kind::FRAME_BUFFER_RANGE, format_args!("row {y} of {self}"));
            return;
        };
        let source = match self.source {
            Source::None => None,
            Source::FrameBuffer(from) => {
                let x = from.x + (first - self.rect.x);
                let mut data = vec![0; bytes];
                match from.surface.at(x, from.y + i64::from(row)) {
                    Some(at) => {
                        bus::read(m, Unit::Engine2d, at, &mut data);
                    }
                    None => m.finding(kind::FRAME_BUFFER_RANGE, format_args!("row {y} of {self}")),
                }
                let samples = 0..data.len() / self.target.bytes as usize;
                Some(
                    samples
                        .map(|i| Some(from.surface.pixel(&data, i)))
                        .collect(),
                )
            }
            Source::Host(_) => host.map(|row| row[(first - self.rect.x) as usize..].to_vec()),
        };
        self.combine(m, at, bytes, source);
    }

    /// Return the pixels of a row that the clipping rectangle leaves: the first, and the one behind the last.
    fn span(&self, y: i64) -> (i64, i64) {
        let (left, end) = (self.rect.x, self.rect.x + i64::from(self.rect.width));
        match self.clip {
            None => (left, end),
            Some(((_, top), (_, bottom))) if y < top || y > bottom => (left, left),
            Some(((first, _), (last, _))) => (left.max(first), end.min(last + 1)),
        }
    }

    /// Write a row of so many bytes at an address, from a source that has at least as many pixels.
    fn combine(&self, m: &mut Machine, at: u64, bytes: usize, source: Option<Vec<Sample>>) {
        let mut data = vec![0; bytes];
        let mono = matches!(self.source, Source::Host(Format::Mono { .. }));
        let transparent = matches!(self.source, Source::Host(Format::Mono { zeroes: None, .. }));
        let kept = if self.target.bytes == 1 {
            0
        } else {
            self.key.kept
        };
        let reads = self.rop.uses_destination()
            || self.key.source.is_some()
            || self.key.destination.is_some()
            || transparent
            || kept != 0;
        if reads && !bus::read(m, Unit::Engine2d, at, &mut data) {
            return;
        }
        let mask = self.target.mask();
        for i in 0..bytes / self.target.bytes as usize {
            let sample = match &source {
                None => 0,
                Some(row) => match row[i] {
                    Some(sample) => sample,
                    None => continue,
                },
            };
            let old = self.target.pixel(&data, i);
            // The key compares pixels of the source; a monochrome one has none.
            let passes = if mono {
                true
            } else {
                self.key.passes(mask, sample, old)
            };
            if passes {
                let new = self.rop.apply(self.pattern, sample, old);
                self.target.put(&mut data, i, new, kept);
            }
        }
        bus::write(m, Unit::Engine2d, at, &data);
    }
}
