// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The end of the data path: raster operation, colour compare, write mask, scissor.
//!
//! Every operation ends here, one row segment at a time. Pixels that a transparent brush, a transparent bitmap or
//! the colour compare keeps back are not written at all; the others are
//! `(old & !mask) | (rop3(pattern, source, old) & mask)` (R5xx 5.2.2; `DP_WRITE_MASK`, radeon_reg.h).

use super::super::engine2d_api::{Port, Unit};
use super::brush::Brush;
use super::clip::Rect;
use super::key::Key;
use super::surface::Surface;
use lapidary_model::rop::Rop3;

/// A source pixel, or `None` where a transparent bitmap has a 0.
pub type Sample = Option<u32>;

/// Everything about the destination that does not change during an operation.
#[derive(Clone, Debug)]
pub struct Pipe {
    /// Where the pixels go.
    pub surface: Surface,
    /// The scissor; nothing outside is touched.
    pub clip: Rect,
    /// The raster operation.
    pub rop: Rop3,
    /// The pattern.
    pub brush: Brush,
    /// Added to coordinates before the brush is asked.
    pub brush_origin: (i32, i32),
    /// Bits that are written.
    pub write_mask: u32,
    /// The colour compare unit.
    pub key: Key,
    /// `DP_SRC_FRGD_CLR`, for flipping.
    pub foreground: u32,
    /// A row segment under way; kept for its allocation.
    pub row: Vec<u8>,
}

impl Pipe {
    /// Return all bits of a pixel.
    pub fn pixel_mask(&self) -> u32 {
        pixel_mask(self.surface.pixel_bytes())
    }

    /// Return whether the destination must be read.
    fn reads_destination(&self) -> bool {
        self.rop.uses_destination()
            || self.write_mask != self.pixel_mask()
            || self.key.uses_destination()
    }

    /// Return whether source pixels reach memory as they are.
    pub fn is_plain_copy(&self) -> bool {
        self.rop == Rop3(0xcc)
            && !self.reads_destination()
            && self.key.is_off()
            && !self.brush.is_transparent()
    }

    /// Return the value of every pixel, if it is the same for all and needs nothing read.
    fn constant(&self) -> Option<u32> {
        let pattern = match self.brush {
            Brush::Solid(colour) => colour,
            Brush::None => 0,
            _ => return None,
        };
        (!self.rop.uses_source() && !self.reads_destination() && self.key.is_off())
            .then(|| self.rop.apply(pattern, 0, 0))
    }

    /// Paint a rectangle that needs no source.
    pub fn fill(&mut self, port: &mut dyn Port, area: Rect) {
        let area = area.intersection(self.clip);
        if area.is_empty() {
            return;
        }
        let Some(value) = self.constant() else {
            for y in area.top..area.bottom {
                self.plane_span(port, area.left, area.right, y, None);
            }
            return;
        };
        let bytes = self.surface.pixel_bytes();
        let mut row = std::mem::take(&mut self.row);
        row.clear();
        for _ in area.left..area.right {
            row.extend_from_slice(&value.to_le_bytes()[..bytes]);
        }
        for y in area.top..area.bottom {
            self.write_row(port, area.left, area.right, y, &row);
        }
        self.row = row;
    }

    /// Draw pixels `left .. right` of row `y`, all inside the scissor, with the brush in the plane. `source` has one
    /// sample a pixel, or is absent if the raster operation needs none.
    pub fn plane_span(
        &mut self,
        port: &mut dyn Port,
        left: i32,
        right: i32,
        y: i32,
        source: Option<&[Sample]>,
    ) {
        let mut row = std::mem::take(&mut self.row);
        let count = usize::try_from(right - left).unwrap_or(0);
        let bytes = self.surface.pixel_bytes();
        row.clear();
        row.resize(count * bytes, 0);
        if self.reads_destination() {
            for run in self.surface.runs(left, right, y) {
                port.read(
                    Unit::Engine2d,
                    run.address,
                    &mut row[run.first * bytes..][..run.pixels * bytes],
                );
            }
        }
        let by = y + self.brush_origin.1;
        // Pixels since `pending` wait to be written.
        let mut pending = None;
        for (n, x) in (left..right).enumerate() {
            let pattern = self.brush.at(x + self.brush_origin.0, by);
            let sample = source.map_or(Some(None), |s| s.get(n).copied().flatten().map(Some));
            let pixel = &mut row[n * bytes..][..bytes];
            let new = match (pattern, sample) {
                (Some(pattern), Some(sample)) => self.pixel(pattern, sample, load(pixel)),
                _ => None,
            };
            if let Some(new) = new {
                store(pixel, new);
                pending.get_or_insert(n);
            } else if let Some(first) = pending.take() {
                self.write_part(port, left, y, &row, first, n);
            }
        }
        if let Some(first) = pending {
            self.write_part(port, left, y, &row, first, count);
        }
        self.row = row;
    }

    /// Draw one pixel inside the scissor with a pattern that does not come from the plane.
    pub fn point(&mut self, port: &mut dyn Port, x: i32, y: i32, pattern: u32) {
        let bytes = self.surface.pixel_bytes();
        let mut old = [0; 4];
        let Some(run) = self.surface.runs(x, x + 1, y).next() else {
            return;
        };
        if self.reads_destination() {
            port.read(Unit::Engine2d, run.address, &mut old[..bytes]);
        }
        if let Some(new) = self.pixel(pattern, None, u32::from_le_bytes(old)) {
            port.write(Unit::Engine2d, run.address, &new.to_le_bytes()[..bytes]);
        }
    }

    /// Write a whole row segment as it is.
    pub fn write_row(&self, port: &mut dyn Port, left: i32, right: i32, y: i32, row: &[u8]) {
        let bytes = self.surface.pixel_bytes();
        for run in self.surface.runs(left, right, y) {
            port.write(
                Unit::Engine2d,
                run.address,
                &row[run.first * bytes..][..run.pixels * bytes],
            );
        }
    }

    /// Write pixels `first .. end` of a row segment that begins at `left`.
    fn write_part(
        &self,
        port: &mut dyn Port,
        left: i32,
        y: i32,
        row: &[u8],
        first: usize,
        end: usize,
    ) {
        let bytes = self.surface.pixel_bytes();
        // Both are at most the width of a row.
        let (from, to) = (left + first as i32, left + end as i32);
        self.write_row(port, from, to, y, &row[first * bytes..end * bytes]);
    }

    /// Return the new value of a pixel, or `None` if it stays as it is.
    fn pixel(&self, pattern: u32, source: Option<u32>, old: u32) -> Option<u32> {
        let source = match source {
            Some(pixel) => self.key.source(pixel, self.foreground)?,
            None => 0,
        };
        if !self.key.destination_allows(old) {
            return None;
        }
        let new = self.rop.apply(pattern, source, old);
        Some((old & !self.write_mask) | (new & self.write_mask))
    }
}

/// Return all bits of a pixel of so many bytes.
pub fn pixel_mask(bytes: usize) -> u32 {
    match bytes {
        1 => 0xff,
        2 => 0xffff,
        _ => u32::MAX,
    }
}

/// Return a pixel of at most four bytes.
pub fn load(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .rev()
        .fold(0, |value, &byte| (value << 8) | u32::from(byte))
}

fn store(bytes: &mut [u8], value: u32) {
    for (byte, part) in bytes.iter_mut().zip(value.to_le_bytes()) {
        *byte = part;
    }
}
