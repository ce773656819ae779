// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The CPU's rendering of the scene: the meaning of each primitive, pixel by pixel, as this program
//! reads the manual (R5xx 5.2.2). It shares nothing with the model's engine or the driver's checker.
//!
//! - Raster operation: for each bit of a pixel, pattern P, source S and destination D choose bit
//!   `P << 2 | S << 1 | D` of the code (the ROP3 numbering of the Windows DDK that the manual names).
//! - Rectangles cover `x .. x + w` and `y .. y + h`; spans cover from the first column up to, not
//!   including, the last.
//! - A line covers one pixel for every step along its longer direction, the one nearest to the ideal
//!   line, without its last pixel. Where the ideal line passes exactly between two pixels, a line that
//!   goes up takes the further one and any other stays: so the public X driver tells the software
//!   renderer to match these chips (zero-width line bias for the octants of falling or level lines).
//! - A pattern pixel is bit `x mod 8` of row `y mod 8`.
//! - A one-bit image takes its bits row after row without gaps.
//! - A keyed copy leaves the destination alone where the source equals the key in all 32 bits.

use crate::scene::{self, Bitmap, Draw, HEIGHT, Rect, SMALL, Target, WIDTH};
use lapidary_picture::Span;

/// A surface in the CPU's memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Columns.
    pub width: i32,
    /// Rows.
    pub height: i32,
    /// Row after row.
    pub pixels: Vec<u32>,
}

impl Image {
    /// Return a surface of one colour.
    pub fn new(width: i32, height: i32, colour: u32) -> Image {
        Image {
            width,
            height,
            pixels: vec![colour; (width * height) as usize],
        }
    }

    fn at(&mut self, x: i32, y: i32) -> &mut u32 {
        assert!(
            (0..self.width).contains(&x) && (0..self.height).contains(&y),
            "({x}, {y}) is outside"
        );
        &mut self.pixels[(y * self.width + x) as usize]
    }

    /// Return one pixel.
    pub fn get(&self, x: i32, y: i32) -> u32 {
        assert!(
            (0..self.width).contains(&x) && (0..self.height).contains(&y),
            "({x}, {y}) is outside"
        );
        self.pixels[(y * self.width + x) as usize]
    }

    /// Change every pixel of a rectangle by its place and old value.
    fn each(&mut self, rect: Rect, mut change: impl FnMut(i32, i32, u32) -> u32) {
        for y in rect.y..rect.y + rect.h {
            for x in rect.x..rect.x + rect.w {
                let pixel = self.at(x, y);
                *pixel = change(x, y, *pixel);
            }
        }
    }
}

/// Compute one raster operation on 32 bits at once, by the eight products of the truth table.
pub fn raster(code: u8, p: u32, s: u32, d: u32) -> u32 {
    (0..8)
        .filter(|row| (code >> row) & 1 != 0)
        .fold(0, |result, row| {
            let term = |value: u32, bit: u32| if row & bit != 0 { value } else { !value };
            result | (term(p, 4) & term(s, 2) & term(d, 1))
        })
}

/// The surfaces while the scene is drawn.
#[derive(Clone, Debug)]
pub struct Reference {
    canvas: Image,
    sprite: Image,
    tile: Image,
}

impl Default for Reference {
    fn default() -> Self {
        Reference {
            canvas: Image::new(WIDTH, HEIGHT, 0),
            sprite: Image::new(SMALL, SMALL, 0),
            tile: Image {
                width: SMALL,
                height: SMALL,
                pixels: scene::tile(),
            },
        }
    }
}

impl Reference {
    /// Draw everything.
    pub fn render(draws: &[Draw]) -> Reference {
        let mut reference = Reference::default();
        for draw in draws {
            reference.draw(draw);
        }
        reference
    }

    /// Return a surface.
    pub fn surface(&self, target: Target) -> &Image {
        match target {
            Target::Canvas => &self.canvas,
            Target::Sprite => &self.sprite,
            Target::Tile => &self.tile,
        }
    }

    fn surface_mut(&mut self, target: Target) -> &mut Image {
        match target {
            Target::Canvas => &mut self.canvas,
            Target::Sprite => &mut self.sprite,
            Target::Tile => &mut self.tile,
        }
    }

    /// Draw one primitive.
    pub fn draw(&mut self, draw: &Draw) {
        match draw {
            Draw::Fill {
                to,
                colour,
                rop,
                rects,
            } => {
                for &rect in rects {
                    self.surface_mut(*to)
                        .each(rect, |_, _, old| raster(*rop, *colour, 0, old));
                }
            }
            Draw::Pattern {
                to,
                rows,
                back,
                front,
                rect,
            } => self.surface_mut(*to).each(*rect, |x, y, _| {
                if (rows[(y & 7) as usize] >> (x & 7)) & 1 != 0 {
                    *front
                } else {
                    *back
                }
            }),
            Draw::Copy {
                from,
                to,
                colour,
                rop,
                copies,
            } => {
                for &(at, rect) in copies {
                    let source = self.surface(*from).clone();
                    self.surface_mut(*to).each(rect, |x, y, old| {
                        raster(
                            *rop,
                            *colour,
                            source.get(at.0 + x - rect.x, at.1 + y - rect.y),
                            old,
                        )
                    });
                }
            }
            Draw::CopyKeyed {
                from,
                to,
                key,
                at,
                rect,
            } => {
                let source = self.surface(*from).clone();
                self.surface_mut(*to).each(*rect, |x, y, old| {
                    let pixel = source.get(at.0 + x - rect.x, at.1 + y - rect.y);
                    if pixel == *key { old } else { pixel }
                });
            }
            Draw::Lines { to, colour, points } => {
                for ends in points.windows(2) {
                    for (x, y) in line(ends[0], ends[1]) {
                        *self.surface_mut(*to).at(x, y) = *colour;
                    }
                }
            }
            Draw::Spans { to, colour, spans } => self.spans(*to, *colour, spans),
            Draw::Bits {
                to,
                front,
                back,
                bitmaps,
            } => {
                for bitmap in bitmaps {
                    self.bitmap(*to, *front, *back, bitmap);
                }
            }
            Draw::Image { to, rect, pixels } => {
                self.surface_mut(*to).each(*rect, |x, y, _| {
                    pixels[((y - rect.y) * rect.w + x - rect.x) as usize]
                });
            }
        }
    }

    fn spans(&mut self, to: Target, colour: u32, spans: &[Span]) {
        for &(y, from, end) in spans {
            for x in from..end {
                *self.surface_mut(to).at(x, y) = colour;
            }
        }
    }

    fn bitmap(&mut self, to: Target, front: u32, back: Option<u32>, bitmap: &Bitmap) {
        let rect = bitmap.rect;
        self.surface_mut(to).each(rect, |x, y, old| {
            let set = bitmap.bits[((y - rect.y) * rect.w + x - rect.x) as usize];
            if set { front } else { back.unwrap_or(old) }
        });
    }
}

/// Return the pixels of a line without its end.
pub fn line(from: (i32, i32), to: (i32, i32)) -> Vec<(i32, i32)> {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let steps = dx.abs().max(dy.abs());
    // Half a pixel is rounded away from the start on lines that go up, towards it on all others.
    let half = if dy < 0 { steps } else { steps - 1 };
    let along = |distance: i32, step: i32| {
        distance.signum() * ((2 * distance.abs() * step + half) / (2 * steps))
    };
    (0..steps)
        .map(|step| (from.0 + along(dx, step), from.1 + along(dy, step)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::rect;

    #[test]
    fn raster_operations_by_their_formulas() {
        let (p, s, d) = (0xf0f0_1234, 0xcccc_9876, 0xaaaa_5555);
        assert_eq!(raster(0xcc, p, s, d), s);
        assert_eq!(raster(0xf0, p, s, d), p);
        assert_eq!(raster(0xaa, p, s, d), d);
        assert_eq!(raster(0x66, p, s, d), s ^ d);
        assert_eq!(raster(0x5a, p, s, d), p ^ d);
        assert_eq!(raster(0xc0, p, s, d), p & s);
        assert_eq!(raster(0xfb, p, s, d), p | !s | d);
        assert_eq!(raster(0xe2, p, s, d), (s & p) | (!s & d));
        assert_eq!(raster(0x55, p, s, d), !d);
        assert_eq!(raster(0x00, p, s, d), 0);
        assert_eq!(raster(0xff, p, s, d), !0);
    }

    #[test]
    fn lines_without_their_last_pixel() {
        assert_eq!(line((1, 1), (4, 1)), [(1, 1), (2, 1), (3, 1)]);
        assert_eq!(line((4, 1), (1, 1)), [(4, 1), (3, 1), (2, 1)]);
        assert_eq!(line((0, 0), (3, 3)), [(0, 0), (1, 1), (2, 2)]);
        assert_eq!(line((0, 0), (3, -1)), [(0, 0), (1, 0), (2, -1)]);
        assert_eq!(
            line((0, 0), (1, 5)),
            [(0, 0), (0, 1), (0, 2), (1, 3), (1, 4)]
        );
        assert!(line((5, 5), (5, 5)).is_empty());
    }

    #[test]
    fn ties_depend_on_the_way_up_or_down() {
        assert_eq!(line((0, 0), (4, 2)), [(0, 0), (1, 0), (2, 1), (3, 1)]);
        assert_eq!(line((0, 0), (4, -2)), [(0, 0), (1, -1), (2, -1), (3, -2)]);
        assert_eq!(line((0, 0), (2, 4)), [(0, 0), (0, 1), (1, 2), (1, 3)]);
        assert_eq!(line((0, 0), (2, -4)), [(0, 0), (1, -1), (1, -2), (2, -3)]);
    }

    #[test]
    fn fills_stay_inside() {
        let mut reference = Reference::default();
        reference.draw(&Draw::Fill {
            to: Target::Sprite,
            colour: 7,
            rop: 0xf0,
            rects: vec![rect(2, 3, 4, 5)],
        });
        let sprite = reference.surface(Target::Sprite);
        assert_eq!(sprite.pixels.iter().filter(|&&p| p == 7).count(), 20);
        assert_eq!(
            (
                sprite.get(2, 3),
                sprite.get(5, 7),
                sprite.get(6, 7),
                sprite.get(5, 8)
            ),
            (7, 7, 0, 0)
        );
    }

    #[test]
    fn the_scene_can_be_drawn() {
        let draws = scene::scene();
        let canvas = Reference::render(&draws).canvas;
        // It has a picture in it, and every primitive leaves a trace.
        let colours: std::collections::BTreeSet<u32> = canvas.pixels.iter().copied().collect();
        assert!(colours.len() > 200, "{} colours", colours.len());
        let mut reference = Reference::default();
        for draw in &draws {
            let before = reference.clone();
            reference.draw(draw);
            let same = [Target::Canvas, Target::Sprite]
                .iter()
                .all(|&t| reference.surface(t) == before.surface(t));
            assert!(!same, "{draw:?} changes nothing");
        }
    }
}
