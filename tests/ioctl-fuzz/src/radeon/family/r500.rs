// SPDX-License-Identifier: GPL-2.0 OR MIT

//! R5xx: brushes and raster operations that come to the same, and draws with textures, arrays and depth.

use super::{Family, Object};
use crate::objects::WIDTH;
use lapidary_engines::r500::draw2d::{self, Brush, Surface, rop};
use lapidary_engines::r500::draw3d::{Array, Draw, Image, Vertices};
use lapidary_guest::Stream;
use lapidary_guest::painter::{Area, Painter, Rect};

/// The family.
pub struct R500;

fn surface(area: Area<'_>) -> Surface<'_> {
    Surface {
        offset: area.offset,
        ..Surface::new(area.bo, area.pitch)
    }
}

impl Family for R500 {
    fn painter(&self) -> &'static dyn Painter {
        &lapidary_engines::r500::R500
    }

    fn own_fault(&self) -> &'static [&'static str] {
        // A brush for lines in a rectangle, and a brush for areas in a line, are unsupported operations of the 2D engine.
        &[
            "reserved-value",
            "stale-read",
            "engine2d-overlap",
            "engine2d-unsupported",
        ]
    }

    fn stream(&self, _: &mut fastrand::Rng) -> Stream {
        self.painter().stream()
    }

    fn fill(
        &self,
        rng: &mut fastrand::Rng,
        stream: &mut Stream,
        to: Area<'_>,
        colour: u32,
        rect: Rect,
    ) {
        if rng.bool() {
            draw2d::fill_by_registers(stream, surface(to), colour, rect);
        } else {
            let brush = Brush::Solid(colour);
            draw2d::fill(stream, surface(to), brush, rop::PATCOPY, &[rect]);
        }
    }

    fn copy(
        &self,
        rng: &mut fastrand::Rng,
        stream: &mut Stream,
        from: Area<'_>,
        to: Area<'_>,
        at: (i32, i32),
        rect: Rect,
    ) {
        let (source, target) = (surface(from), surface(to));
        if rng.bool() {
            draw2d::copy_by_registers(stream, source, target, at, rect);
        } else {
            // Pattern and source: what is in the source.
            let (brush, code) = (Brush::Solid(u32::MAX), rop::MERGECOPY);
            draw2d::copy(stream, source, target, brush, code, &[(at, rect)]);
        }
    }

    fn draw(&self, rng: &mut fastrand::Rng, stream: &mut Stream, objects: &[Object]) {
        let any = |rng: &mut fastrand::Rng| &objects[rng.usize(..objects.len())];
        let image = |object: &'_ Object| -> (u32, u32) { (WIDTH as u32, object.rows() as u32) };
        let target = any(rng);
        let (pitch, rows) = image(target);
        let mut draw = Draw::on(Image::new(&target.bo, pitch, rows));
        let (texture, array, depth) = (any(rng), any(rng), any(rng));
        let (width, height) = image(texture);
        let textures = [Image::new(&texture.bo, width, height)];
        let arrays = [Array::new(&array.bo)];
        if rng.bool() {
            draw.textures = &textures;
        }
        if rng.bool() {
            draw.vertices = Vertices::Arrays(&arrays, rng.u32(1..=16));
        }
        if rng.u32(..4) == 0 && !depth.is_same(target) {
            draw.depth = Some(Image::new(&depth.bo, pitch, rows.min(depth.rows() as u32)));
            draw.scissor.1 = rows.min(depth.rows() as u32);
        }
        draw.emit(stream);
    }
}
