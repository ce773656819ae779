// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The GPU's rendering of the scene: primitives by the 2D engine, in as many submissions as needed.

use crate::scene::{Bitmap, Draw, HEIGHT, Rect, SMALL, Target, WIDTH};
use anyhow::{Context, Result};
use lapidary_engines::r500::draw2d::{self, Brush, Raster, SourceType, Surface, rop};
use lapidary_guest::{Bo, Device, Domain, Stream};
use std::rc::Rc;

/// Dwords after which a stream is submitted and a new one begun.
const FULL: usize = 6000;

/// The objects behind the surfaces.
pub struct Surfaces {
    canvas: Bo,
    sprite: Bo,
    tile: Bo,
}

impl Surfaces {
    /// Make them; the tile gets its pixels from the CPU, the others start as the kernel made them: zero.
    pub fn new(device: &Rc<Device>, tile: &[u32]) -> Result<Surfaces> {
        let make = |width: i32, height: i32, domain| {
            device
                .create((width * height * 4) as u64, domain)
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

    /// Return the object of a surface.
    pub fn bo(&self, target: Target) -> &Bo {
        match target {
            Target::Canvas => &self.canvas,
            Target::Sprite => &self.sprite,
            Target::Tile => &self.tile,
        }
    }

    /// Return a surface for drawing.
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

/// Draw the scene with the GPU.
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

/// Return the scene as command streams.
pub fn streams(surfaces: &Surfaces, draws: &[Draw]) -> Vec<Stream> {
    let mut streams = Vec::new();
    let mut stream = Stream::new();
    for draw in draws {
        primitive(&mut stream, surfaces, draw);
        if stream.len() >= FULL {
            streams.push(std::mem::take(&mut stream));
        }
    }
    if !stream.is_empty() {
        streams.push(stream);
    }
    streams
}

fn primitive(stream: &mut Stream, surfaces: &Surfaces, draw: &Draw) {
    let surface = |target: &Target| surfaces.surface(*target);
    match draw {
        Draw::Fill {
            to,
            colour,
            rop,
            rects,
        } => {
            let rects: Vec<_> = rects.iter().copied().map(area).collect();
            draw2d::fill(stream, surface(to), Brush::Solid(*colour), *rop, &rects);
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
            draw2d::fill(stream, surface(to), brush, rop::PATCOPY, &[area(*rect)]);
        }
        Draw::Copy {
            from,
            to,
            colour,
            rop,
            copies,
        } => {
            let copies: Vec<_> = copies.iter().map(|&(at, rect)| (at, area(rect))).collect();
            let brush = Brush::Solid(*colour);
            draw2d::copy(stream, surface(from), surface(to), brush, *rop, &copies);
        }
        Draw::CopyKeyed {
            from,
            to,
            key,
            at,
            rect,
        } => draw2d::copy_keyed(stream, surface(from), surface(to), *key, *at, area(*rect)),
        Draw::Lines { to, colour, points } => {
            draw2d::lines(stream, surface(to), *colour, rop::PATCOPY, points);
        }
        Draw::Spans { to, colour, spans } => {
            let rows: Vec<_> = spans
                .iter()
                .map(|&(top, from, to)| draw2d::Rect::new(from, top, to - from, 1))
                .collect();
            let brush = Brush::Solid(*colour);
            draw2d::fill(stream, surface(to), brush, rop::PATCOPY, &rows);
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
            let code = rop::SRCCOPY;
            draw2d::bitmaps(stream, surface(to), kind, *front, back, code, &rasters);
        }
        Draw::Image { to, rect, pixels } => {
            let raster = Raster {
                rect: area(*rect),
                words: pixels.clone(),
            };
            let (kind, code) = (SourceType::Colour, rop::SRCCOPY);
            draw2d::bitmaps(stream, surface(to), kind, 0, 0, code, &[raster]);
        }
    }
}

fn area(rect: Rect) -> draw2d::Rect {
    draw2d::Rect::new(rect.x, rect.y, rect.w, rect.h)
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
