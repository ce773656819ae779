// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Host data: bitmaps and pixels that come through the command stream.
//!
//! An operation whose source is the host (`SRC_LOAD` 3 and 4) starts like any other, and then waits for dwords at
//! `HOST_DATA0` … `HOST_DATA7`; which of the eight does not matter, they only allow bursts. The last dword goes to
//! `HOST_DATA_LAST` instead, which ends the operation (radeon_reg.h; xf86-video-ati radeon_accelfuncs.c). The packets
//! `HOSTDATA_BLT` and `NEXTCHAR` do all that by themselves (R5xx 5.2.2.3, 5.2.2.6).
//!
//! Data is a stream of bytes, the lowest byte of a dword first. With `SRC_LOAD` 3 it is *linear*: one row's pixels
//! follow the last row's without a gap, even within a byte (xf86-video-ati widens its rows to whole dwords and clips
//! them, which would be needless otherwise). With 4 every row of a bitmap begins at a new byte. Bits of a byte go
//! from the highest to the lowest, or the other way round with `PIX_ORDER` 1.
//!
//! Pixels are drawn in the direction of `DP_CNTL`, row by row, when a row is complete.

use super::super::engine2d_api::Port;
use super::blit::{Direction, Format};
use super::clip::Rect;
use super::draw::{Pipe, Sample, load};
use crate::kind;

/// An operation that waits for host data.
pub struct HostBlit {
    pipe: Pipe,
    format: Format,
    byte_aligned: bool,
    area: Rect,
    direction: Direction,
    rows_done: i32,
    row: Vec<Sample>,
    /// Bytes of a pixel that is not complete.
    partial: Vec<u8>,
}

impl HostBlit {
    /// Begin an operation on a rectangle that is not empty.
    pub fn new(
        pipe: Pipe,
        format: Format,
        byte_aligned: bool,
        area: Rect,
        direction: Direction,
    ) -> HostBlit {
        HostBlit {
            pipe,
            format,
            byte_aligned,
            area,
            direction,
            rows_done: 0,
            row: Vec::new(),
            partial: Vec::new(),
        }
    }

    /// Return whether all pixels have come.
    pub fn is_complete(&self) -> bool {
        self.rows_done >= self.area.bottom - self.area.top
    }

    /// Take a dword of the stream. What is left over after the last pixel is ignored.
    pub fn feed(&mut self, port: &mut dyn Port, dword: u32) {
        for byte in dword.to_le_bytes() {
            if self.is_complete() {
                return;
            }
            match self.format {
                Format::Colour => {
                    self.partial.push(byte);
                    if self.partial.len() == self.pipe.surface.pixel_bytes() {
                        let pixel = load(&self.partial);
                        self.partial.clear();
                        self.push(port, Some(pixel));
                    }
                }
                Format::Mono(mono) => {
                    for bit in 0..8 {
                        let row_ended = self.push(port, mono.sample(byte, bit));
                        if self.is_complete() || (row_ended && self.byte_aligned) {
                            break;
                        }
                    }
                }
            }
        }
    }

    /// Add a pixel; true if it was the last of its row.
    fn push(&mut self, port: &mut dyn Port, sample: Sample) -> bool {
        self.row.push(sample);
        let width = usize::try_from(self.area.right - self.area.left).unwrap_or(0);
        if self.row.len() < width {
            return false;
        }
        self.draw_row(port);
        self.rows_done += 1;
        self.row.clear();
        true
    }

    fn draw_row(&mut self, port: &mut dyn Port) {
        let n = self.rows_done;
        let y = if self.direction.top_to_bottom {
            self.area.top + n
        } else {
            self.area.bottom - 1 - n
        };
        let clip = self.pipe.clip;
        let (left, right) = (
            self.area.left.max(clip.left),
            self.area.right.min(clip.right),
        );
        if left >= right || y < clip.top || y >= clip.bottom {
            return;
        }
        if !self.direction.left_to_right {
            self.row.reverse();
        }
        // Both lie inside the row, which is the area's width.
        let (from, to) = (
            (left - self.area.left) as usize,
            (right - self.area.left) as usize,
        );
        let samples = std::mem::take(&mut self.row);
        if let Some(visible) = samples.get(from..to) {
            self.pipe.plane_span(port, left, right, y, Some(visible));
        }
        self.row = samples;
    }

    /// End the operation, and say what is missing.
    pub fn end(self, port: &mut dyn Port) {
        if !self.is_complete() {
            let rows = self.area.bottom - self.area.top;
            port.finding(
                kind::HOST_DATA_MISSING,
                format_args!(
                    "host data ends in row {} of {rows}, after {} of {} pixels",
                    self.rows_done + 1,
                    self.row.len(),
                    self.area.right - self.area.left,
                ),
            );
        }
    }
}
