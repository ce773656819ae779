// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What is drawn, as a list of blits: fills, copies in all directions, pictures of two colours and of many, raster operations,
//! clips, keys and byte masks.

use crate::canvas::{CANVAS, DEPTH, SPRITE, TILE};
use lapidary_chrome9_client::blit::{Blit, Keys, Rect, Surface};
use lapidary_picture::{font, gem, mix};

/// Width of the picture in pixels.
pub const WIDTH: u32 = 640;
/// Height of the picture in pixels.
pub const HEIGHT: u32 = 480;
/// Width and height of sprite and tile in pixels.
pub const SMALL: u32 = 64;

/// The colour of the sprite's ground, which copies leave out.
pub const KEY: u32 = 0x00ff_00ff;

/// Raster operations with their label in the picture.
const ROPS: [(u8, &str); 12] = [
    (0xcc, "S"),
    (0x33, "~S"),
    (0x66, "S^D"),
    (0x88, "S&D"),
    (0xee, "S+D"),
    (0x99, "~(S^D)"),
    (0xc0, "P&S"),
    (0x3c, "P^S"),
    (0xfb, "P+~S+D"),
    (0xe2, "S?P:D"),
    (0x96, "P^S^D"),
    (0xca, "P?S:D"),
];

/// Where the large stone is: the middle of its table, the table's height, the radius of its girdle.
const STONE: (i32, i32, i32) = (186, 126, 138);

/// Return what the CPU puts into the tile: a smooth weave.
pub fn tile() -> Vec<u32> {
    let wave = |v: u32| if v & 32 == 0 { v & 31 } else { 31 - (v & 31) };
    (0..SMALL * SMALL)
        .map(|i| {
            let (x, y) = (i % SMALL, i / SMALL);
            let cool = mix(0x0010_2a30, 0x0048_d0a8, wave(x) * 8);
            mix(cool, 0x00e8_b050, wave(y) * 6)
        })
        .collect()
}

/// Return the whole picture.
pub fn scene() -> Vec<Blit> {
    let mut blits = Vec::new();
    background(&mut blits);
    rays(&mut blits);
    stone(&mut blits);
    title(&mut blits);
    samples(&mut blits);
    sprite(&mut blits);
    channels(&mut blits);
    cascades(&mut blits);
    band(&mut blits);
    frame(&mut blits);
    blits
}

fn fill(target: Surface, rect: Rect, colour: u32) -> Blit {
    Blit::fill(DEPTH, target, rect, colour)
}

/// Return a gem's facets as fills of runs.
fn facets(target: Surface, facets: &[gem::Facet]) -> Vec<Blit> {
    let run = |colour: u32| {
        move |(y, from, to): (i32, i32, i32)| {
            let rect = Rect::new(from as u32, y as u32, (to - from) as u32, 1);
            fill(target, rect, colour)
        }
    };
    facets
        .iter()
        .flat_map(|facet| facet.spans().into_iter().map(run(facet.colour)))
        .collect()
}

/// Bits with lines in them, to be drawn as a picture of two colours.
struct Sketch {
    rect: Rect,
    bits: Vec<bool>,
}

impl Sketch {
    fn new(rect: Rect) -> Sketch {
        Sketch {
            rect,
            bits: vec![false; (rect.width * rect.height) as usize],
        }
    }

    /// Set the bits nearest to the line between two points of the picture.
    fn line(&mut self, (x0, y0): (i32, i32), (x1, y1): (i32, i32)) {
        let steps = (x1 - x0).abs().max((y1 - y0).abs()).max(1);
        for step in 0..=steps {
            let between = |a: i32, b: i32| a + ((b - a) * step * 2 + steps) / (2 * steps);
            let x = between(x0, x1) - self.rect.x as i32;
            let y = between(y0, y1) - self.rect.y as i32;
            let inside = (0..self.rect.width as i32).contains(&x)
                && (0..self.rect.height as i32).contains(&y);
            if inside {
                self.bits[(y * self.rect.width as i32 + x) as usize] = true;
            }
        }
    }

    fn blit(self, colour: u32) -> Blit {
        Blit::mono(DEPTH, CANVAS, self.rect, self.bits, colour, None)
    }
}

/// Draw text, sign by sign. Without `back` the ground is left alone.
fn text(
    blits: &mut Vec<Blit>,
    (x, y): (u32, u32),
    scale: u32,
    colours: (u32, Option<u32>),
    words: &str,
) {
    let (colour, back) = colours;
    let (width, height) = (
        font::CELL_WIDTH as u32 * scale,
        font::CELL_HEIGHT as u32 * scale,
    );
    for (i, sign) in words.chars().enumerate() {
        let rect = Rect::new(x + i as u32 * width, y, width, height);
        let bits = font::bits(sign, scale as i32);
        if sign != ' ' || back.is_some() {
            blits.push(Blit::mono(DEPTH, CANVAS, rect, bits, colour, back));
        }
    }
}

/// Return where text begins whose middle is at a column.
fn centred(middle: u32, scale: u32, words: &str) -> u32 {
    middle - words.chars().count() as u32 * font::CELL_WIDTH as u32 * scale / 2
}

/// Draw a gradient of fills, four rows each.
fn background(blits: &mut Vec<Blit>) {
    for band in 0..HEIGHT / 4 {
        let t = band * 256 / (HEIGHT / 4);
        let colour = if t < 128 {
            mix(0x0026_0e22, 0x0018_2c44, t * 2)
        } else {
            mix(0x0018_2c44, 0x0006_161c, (t - 128) * 2)
        };
        blits.push(fill(CANVAS, Rect::new(0, band * 4, WIDTH, 4), colour));
    }
}

/// Draw light that falls through the stone: a large transparent picture, and the same once more, brighter and clipped.
fn rays(blits: &mut Vec<Blit>) {
    let sketch = |every: i32| {
        let mut sketch = Sketch::new(Rect::new(20, 100, 330, 276));
        for i in (0..26).filter(|i| i % every == 0) {
            sketch.line((STONE.0, 104), (STONE.0 + i * 13 - 162, 372));
        }
        sketch
    };
    blits.push(sketch(1).blit(0x0044_4a78));
    let middle = Rect::new(110, 100, 152, 276);
    blits.push(sketch(2).blit(0x0098_a0d8).clipped(middle));
}

/// Draw the large stone: facets by runs, edges as a transparent picture.
fn stone(blits: &mut Vec<Blit>) {
    let (centre, top, radius) = STONE;
    let stone = gem::brilliant(centre, top, radius);
    blits.extend(facets(CANVAS, &stone));
    let mut edges = Sketch::new(Rect::new(
        (centre - radius) as u32,
        top as u32,
        (2 * radius + 1) as u32,
        (radius * 3 / 2) as u32,
    ));
    for facet in &stone {
        for (i, &corner) in facet.corners.iter().enumerate() {
            edges.line(corner, facet.corners[(i + 1) % facet.corners.len()]);
        }
    }
    blits.push(edges.blit(0x00e0_f8ff));
}

/// Draw the title with a shadow, its upper half in one colour and its lower half in another, by clips.
fn title(blits: &mut Vec<Blit>) {
    let words = "LAPIDARY";
    let x = centred(WIDTH / 2, 6, words);
    text(blits, (x + 3, 23), 6, (0x0008_0810, None), words);
    for (clip, colour) in [
        (Rect::new(0, 0, WIDTH, 40), 0x00ff_f4dc),
        (Rect::new(0, 40, WIDTH, 9), 0x00ff_d890),
        (Rect::new(0, 49, WIDTH, 60), 0x00e8_a048),
    ] {
        let from = blits.len();
        text(blits, (x, 20), 6, (colour, None), words);
        for blit in &mut blits[from..] {
            blit.clip = Some(clip);
        }
    }
    let words = "FIRST LIGHT ON CHROME9, DRAWN BY CR COMMANDS";
    let x = centred(WIDTH / 2, 2, words);
    text(blits, (x, 78), 2, (0x0080_e0c8, None), words);
}

/// Draw samples of raster operations: the tile on stripes, with a colour as pattern.
fn samples(blits: &mut Vec<Blit>) {
    const ROWS: [u8; 8] = [0xc3, 0x81, 0x18, 0x3c, 0x3c, 0x18, 0x81, 0xc3];
    let words = "ROP3: TILE (SYSTEM) ON CANVAS (FRAME BUFFER)";
    text(blits, (362, 106), 1, (0x00c8_d8e8, None), words);
    for (i, (rop, label)) in ROPS.into_iter().enumerate() {
        let i = i as u32;
        let (x, y) = (366 + (i % 4) * 64, 120 + (i / 4) * 62);
        let ground = Rect::new(x, y, 56, 46);
        let bits = (0..ground.height)
            .flat_map(|row| (0..ground.width).map(move |column| (row, column)))
            .map(|(row, column)| (ROWS[row as usize % 8] >> (column % 8)) & 1 != 0)
            .collect();
        let stripes = Blit::mono(DEPTH, CANVAS, ground, bits, 0x0098_c8d0, Some(0x0028_3c58));
        let inner = Rect::new(x + 6, y + 6, 44, 34);
        let sample = Blit::copy(DEPTH, CANVAS, inner, TILE, (4, 8))
            .with_rop(rop)
            .with_pattern(0x00e0_5880);
        blits.extend([stripes, sample]);
        text(blits, (x, y + 49), 1, (0x00ff_ffff, None), label);
    }
}

/// Draw a small stone with a sparkle, off screen, on a key colour.
fn sprite(blits: &mut Vec<Blit>) {
    blits.push(fill(SPRITE, Rect::new(0, 0, SMALL, SMALL), KEY));
    blits.extend(facets(SPRITE, &gem::brilliant(31, 6, 27)));
    let sparkle = (0..49)
        .map(|i: i32| {
            let (x, y) = ((i % 7 - 3).abs(), (i / 7 - 3).abs());
            if x * y > 0 && x + y > 2 {
                KEY
            } else {
                mix(0x00ff_ffff, 0x00b0_e8f8, (x + y) as u32 * 48)
            }
        })
        .collect();
    let upload = Blit::upload(DEPTH, SPRITE, Rect::new(16, 7, 7, 7), sparkle);
    // The corners of the star are left out.
    blits.push(upload.keyed(Keys {
        source: Some(KEY),
        ..Keys::default()
    }));
}

/// Return a copy of the sprite without its ground.
fn stamp(x: u32, y: u32, height: u32) -> Blit {
    let rect = Rect::new(x, y, SMALL, height);
    Blit::copy(DEPTH, CANVAS, rect, SPRITE, (0, 0)).keyed(Keys {
        source: Some(KEY),
        ..Keys::default()
    })
}

/// Draw the small stone in one channel each by byte masks, then in all of them one over the other.
fn channels(blits: &mut Vec<Blit>) {
    const ROWS: u32 = 50;
    // Bytes that are left alone: all but red, green, blue.
    for (i, kept) in [0b1011, 0b1101, 0b1110].into_iter().enumerate() {
        let x = 366 + i as u32 * 64;
        let ground = Rect::new(x, 312, 56, ROWS + 4);
        blits.push(fill(CANVAS, ground, 0));
        let rect = Rect::new(x, 314, 56, ROWS);
        blits.push(Blit::copy(DEPTH, CANVAS, rect, SPRITE, (4, 4)).keeping(kept));
        let all = Rect::new(558, 314, 56, ROWS);
        if i == 0 {
            blits.push(fill(CANVAS, Rect::new(558, 312, 56, ROWS + 4), 0));
        }
        blits.push(Blit::copy(DEPTH, CANVAS, all, SPRITE, (4, 4)).keeping(kept));
    }
    // The ground becomes dark by the key of the destination: only pixels of that colour are drawn.
    let ground = fill(CANVAS, Rect::new(558, 314, 56, ROWS), 0x0020_3040);
    blits.push(ground.keyed(Keys {
        destination: Some(KEY),
        inverted: true,
        ..Keys::default()
    }));
}

/// Draw cascades: a piece of the tile copied over its own edge again and again, in each of the four diagonal directions.
fn cascades(blits: &mut Vec<Blit>) {
    const SIZE: u32 = 20;
    for (x, y, dx, dy) in [
        (24, 312, 6, 5),
        (70, 342, -6_i32, -5_i32),
        (316, 312, -6, 5),
        (270, 342, 6, -5),
    ] {
        let mut at = (x, y);
        let first = Rect::new(x, y, SIZE, SIZE);
        blits.push(Blit::copy(DEPTH, CANVAS, first, TILE, (x % 40, y % 40)));
        for _ in 0..6 {
            let to = (at.0.wrapping_add_signed(dx), at.1.wrapping_add_signed(dy));
            let rect = Rect::new(to.0, to.1, SIZE, SIZE);
            blits.push(Blit::copy(DEPTH, CANVAS, rect, CANVAS, at));
            at = to;
        }
    }
}

/// Draw a band of tiles with small stones on it, and scroll it by copies within the picture.
fn band(blits: &mut Vec<Blit>) {
    let band = Rect::new(16, 384, 608, 72);
    blits.push(fill(CANVAS, band, 0x0012_2028));
    for i in 0..8 {
        let rect = Rect::new(20 + i * 76, 388, SMALL, SMALL);
        let tile = Blit::copy(DEPTH, CANVAS, rect, TILE, (0, 0));
        // Every other tile without its highest bits: source and pattern.
        blits.push(if i % 2 == 0 {
            tile
        } else {
            tile.with_rop(0xc0).with_pattern(0x007f_7f7f)
        });
        blits.push(stamp(20 + i * 76, 388, SMALL));
    }
    // To the right over itself, and what is left of it back.
    let part = Rect::new(32, 388, 580, SMALL);
    blits.push(Blit::copy(DEPTH, CANVAS, part, CANVAS, (20, 388)));
    let part = Rect::new(24, 386, 584, SMALL);
    blits.push(Blit::copy(DEPTH, CANVAS, part, CANVAS, (28, 388)));
    let words = "FILLS, COPIES, BITS, COLOURS, ROPS, CLIPS, KEYS, MASKS: EVERY PIXEL EQUALS THE CPU'S RENDERING";
    let x = centred(WIDTH / 2, 1, words);
    text(blits, (x, 462), 1, (0x0090_a8b8, Some(0x0010_1c22)), words);
}

/// Draw a frame, and inverted marks in its corners.
fn frame(blits: &mut Vec<Blit>) {
    for (inset, colour) in [(4, 0x0050_8090), (6, 0x0028_4450)] {
        let (width, height) = (WIDTH - 2 * inset, HEIGHT - 2 * inset);
        for rect in [
            Rect::new(inset, inset, width, 1),
            Rect::new(inset, HEIGHT - inset - 1, width, 1),
            Rect::new(inset, inset, 1, height),
            Rect::new(WIDTH - inset - 1, inset, 1, height),
        ] {
            blits.push(fill(CANVAS, rect, colour));
        }
    }
    for (x, y) in [
        (10, 10),
        (WIDTH - 26, 10),
        (10, HEIGHT - 26),
        (WIDTH - 26, HEIGHT - 26),
    ] {
        for rect in [Rect::new(x, y, 12, 12), Rect::new(x + 4, y + 4, 12, 12)] {
            blits.push(fill(CANVAS, rect, 0x0060_8898).with_rop(0x5a));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canvas;
    use lapidary_chrome9_client::blit::Source;
    use std::collections::BTreeSet;

    #[test]
    fn the_scene_can_be_drawn_and_every_blit_leaves_a_trace() {
        let blits = scene();
        let pixels = canvas::by_cpu(&blits, &tile());
        assert_eq!(pixels.len() as u32, WIDTH * HEIGHT);
        let colours: BTreeSet<u32> = pixels.iter().copied().collect();
        assert!(colours.len() > 400, "{} colours", colours.len());
        // Without its topics, one at a time, the picture is another.
        let topics: [fn(&mut Vec<Blit>); 10] = [
            background, rays, stone, title, samples, sprite, channels, cascades, band, frame,
        ];
        for without in 0..topics.len() {
            let mut blits = Vec::new();
            for (i, topic) in topics.iter().enumerate() {
                if i != without {
                    topic(&mut blits);
                }
            }
            let other = canvas::by_cpu(&blits, &tile());
            assert_ne!(other, pixels, "topic {without} is covered by others");
        }
    }

    #[test]
    fn every_kind_of_blit_is_in_it() {
        let blits = scene();
        type Kind = (&'static str, fn(&Blit) -> bool);
        let kinds: [Kind; 12] = [
            ("fill", |b| b.source == Source::None),
            ("copy", |b| matches!(b.source, Source::Surface { .. })),
            ("opaque bits", |b| {
                matches!(
                    b.source,
                    Source::Mono {
                        zeroes: Some(_),
                        ..
                    }
                )
            }),
            ("transparent bits", |b| {
                matches!(b.source, Source::Mono { zeroes: None, .. })
            }),
            ("colours", |b| matches!(b.source, Source::Colour { .. })),
            ("clip", |b| b.clip.is_some()),
            ("source key", |b| b.keys.source.is_some()),
            ("destination key", |b| b.keys.destination.is_some()),
            ("mask", |b| b.kept != 0),
            ("leftwards", |b| b.leftwards),
            ("upwards", |b| b.upwards),
            ("raster operation", |b| b.rop == 0x96),
        ];
        for (name, kind) in kinds {
            assert!(blits.iter().any(kind), "no {name}");
        }
    }
}
