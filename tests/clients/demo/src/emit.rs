// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The GPU's rendering of the scene: primitives as 2D packets, in as many submissions as needed.

use crate::scene::{Bitmap, Draw, HEIGHT, Rect, SMALL, Span, Target, WIDTH};
use anyhow::{Context, Result};
use lapidary_guest::draw2d::{self, Brush, Raster, Scan, SourceType, Surface, rop};
use lapidary_guest::{Bo, Device, Domain, Stream};
use std::rc::Rc;

/// Rows that an object has more than its surface: where a packet names the far edge of a rectangle, a driver may
/// count that edge as part of it.
const SPARE_ROWS: i32 = 1;
/// Dwords after which a stream is submitted and a new one begun.
const FULL: usize = 6000;

/// The objects behind the surfaces.
pub struct Surfaces {
    canvas: Bo,
    sprite: Bo,
    tile: Bo,
}

impl Surfaces {
    /// Makes them; the tile gets its pixels from the CPU, the others start as the kernel made them: zero.
    pub fn new(device: &Rc<Device>, tile: &[u32]) -> Result<Surfaces> {
        let make = |width: i32, height: i32, domain| {
            device
                .create((width * (height + SPARE_ROWS) * 4) as u64, domain)
                .with_context(|| format!("an object in {domain:?}"))
        };
        let surfaces = Surfaces {
            canvas: make(WIDTH, HEIGHT, Domain::Vram)?,
            sprite: make(SMALL, SMALL, Domain::Vram)?,
            tile: make(SMALL, SMALL, Domain::Gtt)?,
        };
        surfaces.tile.write(tile)?;
        Ok(surfaces)
    }

    /// The object of a surface.
    pub fn bo(&self, target: Target) -> &Bo {
        match target {
            Target::Canvas => &self.canvas,
            Target::Sprite => &self.sprite,
            Target::Tile => &self.tile,
        }
    }

    /// A surface for drawing.
    pub fn surface(&self, target: Target) -> Surface<'_> {
        let width = if target == Target::Canvas {
            WIDTH
        } else {
            SMALL
        };
        Surface::new(self.bo(target), width as u32 * 4)
    }
}

/// What the scene cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Submissions.
    pub submissions: usize,
    /// Dwords of commands in all of them.
    pub dwords: usize,
}

/// Draws the scene with the GPU.
pub fn draw(device: &Device, surfaces: &Surfaces, draws: &[Draw]) -> Result<Cost> {
    let mut cost = Cost::default();
    for stream in streams(surfaces, draws) {
        cost.submissions += 1;
        cost.dwords += stream.len();
        device.submit(&stream).with_context(|| {
            format!("submission {} of {} dwords", cost.submissions, stream.len())
        })?;
    }
    Ok(cost)
}

/// The scene as command streams.
pub fn streams(surfaces: &Surfaces, draws: &[Draw]) -> Vec<Stream> {
    let mut streams = Vec::new();
    let mut stream = Stream::new();
    for draw in draws {
        packet(&mut stream, surfaces, draw);
        if stream.len() >= FULL {
            streams.push(std::mem::take(&mut stream));
        }
    }
    if !stream.is_empty() {
        streams.push(stream);
    }
    streams
}

fn packet(stream: &mut Stream, surfaces: &Surfaces, draw: &Draw) {
    match draw {
        Draw::Fill {
            to,
            colour,
            rop,
            rects,
        } => {
            let rects: Vec<_> = rects.iter().copied().map(area).collect();
            draw2d::paint_multi(
                stream,
                surfaces.surface(*to),
                Brush::Solid(*colour),
                *rop,
                &rects,
            );
        }
        Draw::FillCorners { to, colour, rects } => {
            let rects: Vec<_> = rects.iter().copied().map(area).collect();
            draw2d::paint(
                stream,
                surfaces.surface(*to),
                Brush::Solid(*colour),
                rop::PATCOPY,
                &rects,
            );
        }
        Draw::Pattern {
            to,
            rows,
            back,
            front,
            rect,
        } => {
            let brush = Brush::Mono {
                back: *back,
                front: *front,
                rows: *rows,
            };
            draw2d::paint_multi(
                stream,
                surfaces.surface(*to),
                brush,
                rop::PATCOPY,
                &[area(*rect)],
            );
        }
        Draw::Copy {
            from,
            to,
            colour,
            rop,
            copies,
        } => {
            let (from, to, brush) = (
                surfaces.surface(*from),
                surfaces.surface(*to),
                Brush::Solid(*colour),
            );
            match copies[..] {
                [(at, rect)] => draw2d::bitblt(stream, from, to, brush, *rop, at, area(rect)),
                _ => {
                    let copies: Vec<_> =
                        copies.iter().map(|&(at, rect)| (at, area(rect))).collect();
                    draw2d::bitblt_multi(stream, from, to, brush, *rop, &copies);
                }
            }
        }
        Draw::CopyKeyed {
            from,
            to,
            key,
            at,
            rect,
        } => {
            draw2d::trans_bitblt(
                stream,
                surfaces.surface(*from),
                surfaces.surface(*to),
                *key,
                *at,
                area(*rect),
            );
        }
        Draw::Lines { to, colour, points } => {
            draw2d::polyline(stream, surfaces.surface(*to), *colour, rop::PATCOPY, points);
        }
        Draw::Spans { to, colour, spans } => {
            let to = surfaces.surface(*to);
            draw2d::polyscanlines(
                stream,
                to,
                Brush::Solid(*colour),
                rop::PATCOPY,
                &scans(spans),
            );
        }
        Draw::Bits {
            to,
            front,
            back,
            bitmaps,
        } => {
            let rasters: Vec<_> = bitmaps.iter().map(raster).collect();
            let (kind, back) = match back {
                Some(back) => (SourceType::MonoOpaque, *back),
                None => (SourceType::MonoTransparent, 0),
            };
            draw2d::hostdata_blt(
                stream,
                surfaces.surface(*to),
                kind,
                *front,
                back,
                rop::SRCCOPY,
                &rasters,
            );
        }
        Draw::Image { to, rect, pixels } => {
            let raster = Raster {
                rect: area(*rect),
                words: pixels.clone(),
            };
            let to = surfaces.surface(*to);
            draw2d::hostdata_blt(
                stream,
                to,
                SourceType::Colour,
                0,
                0,
                rop::SRCCOPY,
                &[raster],
            );
        }
    }
}

fn area(rect: Rect) -> draw2d::Rect {
    draw2d::Rect::new(rect.x, rect.y, rect.w, rect.h)
}

fn scans(spans: &[Span]) -> Vec<Scan> {
    spans
        .iter()
        .map(|&(top, from, to)| Scan {
            top,
            height: 1,
            spans: vec![(from, to)],
        })
        .collect()
}

fn raster(bitmap: &Bitmap) -> Raster {
    let words = bitmap
        .bits
        .chunks(32)
        .map(|chunk| {
            chunk
                .iter()
                .enumerate()
                .fold(0, |word, (i, &bit)| word | (u32::from(bit) << i))
        })
        .collect();
    Raster {
        rect: area(bitmap.rect),
        words,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::rect;

    #[test]
    fn bits_are_packed_without_gaps() {
        let bits = (0..48).map(|i| i == 0 || i == 33).collect();
        let raster = raster(&Bitmap {
            rect: rect(0, 0, 6, 8),
            bits,
        });
        assert_eq!(raster.words, [1, 2]);
    }
}
