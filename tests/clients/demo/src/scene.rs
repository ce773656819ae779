// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What is drawn: primitives, and the list of them that makes the picture.

use lapidary_picture::{Span, font, gem, mix};

/// Width of the picture in pixels.
pub const WIDTH: i32 = 640;
/// Height of the picture in pixels.
pub const HEIGHT: i32 = 480;
/// Width and height of the sprite and the tile surface in pixels.
pub const SMALL: i32 = 64;

/// The surfaces of the scene, all of 32-bit pixels 8:8:8:8, blue lowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// The picture, in video memory.
    Canvas,
    /// A small gem on a key colour, drawn by the GPU, in video memory.
    Sprite,
    /// A tile drawn by the CPU, in system memory.
    Tile,
}

/// A rectangle in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rect {
    /// Left edge.
    pub x: i32,
    /// Top edge.
    pub y: i32,
    /// Width.
    pub w: i32,
    /// Height.
    pub h: i32,
}

/// Return the rectangle from corner and size.
pub const fn rect(x: i32, y: i32, w: i32, h: i32) -> Rect {
    Rect { x, y, w, h }
}

/// A one-bit image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bitmap {
    /// Where it is drawn, and its size.
    pub rect: Rect,
    /// Row after row without gaps.
    pub bits: Vec<bool>,
}

/// One primitive. `to` is drawn on, `from` is copied from; colours are pixels.
#[allow(missing_docs)] // The fields are named by what the variant's words say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Draw {
    /// Rectangles of one colour, combined with what is there by a raster operation.
    Fill {
        to: Target,
        colour: u32,
        rop: u8,
        rects: Vec<Rect>,
    },
    /// A rectangle of an 8×8 pattern in two colours; row 0 first, leftmost pixel in the lowest bit,
    /// aligned with the surface's corner.
    Pattern {
        to: Target,
        rows: [u8; 8],
        back: u32,
        front: u32,
        rect: Rect,
    },
    /// Copies of rectangles, combined by a raster operation with a colour as pattern.
    Copy {
        from: Target,
        to: Target,
        colour: u32,
        rop: u8,
        copies: Vec<((i32, i32), Rect)>,
    },
    /// A copy that leaves out pixels of the key colour.
    CopyKeyed {
        from: Target,
        to: Target,
        key: u32,
        at: (i32, i32),
        rect: Rect,
    },
    /// Connected lines of one colour.
    Lines {
        to: Target,
        colour: u32,
        points: Vec<(i32, i32)>,
    },
    /// Runs of one colour.
    Spans {
        to: Target,
        colour: u32,
        spans: Vec<Span>,
    },
    /// One-bit images; zeros are drawn in `back`, or left alone without it.
    Bits {
        to: Target,
        front: u32,
        back: Option<u32>,
        bitmaps: Vec<Bitmap>,
    },
    /// An image of colours.
    Image {
        to: Target,
        rect: Rect,
        pixels: Vec<u32>,
    },
}

/// The colour that [`Draw::CopyKeyed`] leaves out.
pub const KEY: u32 = 0x00ff_00ff;

/// Raster operations with their label in the picture.
pub const ROPS: [(u8, &str); 12] = [
    (0xcc, "S"),
    (0x33, "~S"),
    (0x66, "S^D"),
    (0x88, "S&D"),
    (0xee, "S+D"),
    (0x55, "~D"),
    (0xc0, "P&S"),
    (0x5a, "P^D"),
    (0xfb, "P+~S+D"),
    (0xe2, "S?P:D"),
    (0x00, "0"),
    (0xff, "1"),
];

/// Return what the CPU puts into the tile: a smooth weave.
pub fn tile() -> Vec<u32> {
    (0..SMALL * SMALL)
        .map(|i| {
            let (x, y) = ((i % SMALL) as u32, (i / SMALL) as u32);
            let wave = |v: u32| if v & 32 == 0 { v & 31 } else { 31 - (v & 31) };
            let warm = mix(0x0018_1230, 0x00f2_9f4b, wave(x) * 8);
            mix(warm, 0x0050_e0d0, wave(y) * 6)
        })
        .collect()
}

/// Return text of one size, glyph by glyph.
pub fn text(
    to: Target,
    x: i32,
    y: i32,
    scale: i32,
    colour: u32,
    back: Option<u32>,
    words: &str,
) -> Draw {
    let bitmaps = words
        .chars()
        .enumerate()
        .filter(|&(_, c)| c != ' ' || back.is_some())
        .map(|(i, c)| Bitmap {
            rect: rect(
                x + i as i32 * font::CELL_WIDTH * scale,
                y,
                font::CELL_WIDTH * scale,
                font::CELL_HEIGHT * scale,
            ),
            bits: font::bits(c, scale),
        })
        .collect();
    Draw::Bits {
        to,
        front: colour,
        back,
        bitmaps,
    }
}

fn centred(centre: i32, y: i32, scale: i32, colour: u32, words: &str) -> Draw {
    let width = words.chars().count() as i32 * font::CELL_WIDTH * scale;
    text(
        Target::Canvas,
        centre - width / 2,
        y,
        scale,
        colour,
        None,
        words,
    )
}

/// Return the whole picture.
pub fn scene() -> Vec<Draw> {
    let mut draws = Vec::new();
    background(&mut draws);
    rays(&mut draws);
    brilliant(&mut draws);
    title(&mut draws);
    samples(&mut draws);
    sprites(&mut draws);
    frame(&mut draws);
    draws
}

/// Draw a gradient of 120 fills, four rows each.
fn background(draws: &mut Vec<Draw>) {
    for band in 0..120 {
        let t = band as u32 * 256 / 120;
        let colour = if t < 128 {
            mix(0x0010_1836, 0x0028_2a5a, t * 2)
        } else {
            mix(0x0028_2a5a, 0x000c_2a33, (t - 128) * 2)
        };
        draws.push(Draw::Fill {
            to: Target::Canvas,
            colour,
            rop: 0xf0,
            rects: vec![rect(0, band * 4, WIDTH, 4)],
        });
    }
}

/// Draw light that falls through the stone, as single lines fanning out.
fn rays(draws: &mut Vec<Draw>) {
    for i in 0..24 {
        let colour = mix(0x0033_3c70, 0x0074_8fd0, if i % 3 == 0 { 220 } else { 90 });
        let (dx, dy) = (i * 13 - 150, 263);
        draws.push(Draw::Lines {
            to: Target::Canvas,
            colour,
            points: vec![(186, 112), (186 + dx, 112 + dy)],
        });
    }
}

/// Draw the large stone, with facets filled by runs and edges by polylines.
fn brilliant(draws: &mut Vec<Draw>) {
    for facet in gem::brilliant(186, 130, 148) {
        draws.push(Draw::Spans {
            to: Target::Canvas,
            colour: facet.colour,
            spans: facet.spans(),
        });
    }
    for facet in gem::brilliant(186, 130, 148) {
        let mut points = facet.corners.clone();
        points.push(facet.corners[0]);
        draws.push(Draw::Lines {
            to: Target::Canvas,
            colour: 0x00d8_f4ff,
            points,
        });
    }
}

fn title(draws: &mut Vec<Draw>) {
    draws.push(centred(322, 22, 6, 0x0006_0a1c, "LAPIDARY"));
    draws.push(centred(320, 20, 6, 0x00f6_f2e6, "LAPIDARY"));
    draws.push(centred(
        320,
        76,
        2,
        0x0084_d8e8,
        "FIRST LIGHT ON R5XX, DRAWN BY PM4",
    ));
}

/// Draw samples of raster operations. The tile lies on a striped ground, with a colour as pattern.
fn samples(draws: &mut Vec<Draw>) {
    const ROWS: [u8; 8] = [0xc3, 0x81, 0x18, 0x3c, 0x3c, 0x18, 0x81, 0xc3];
    draws.push(text(
        Target::Canvas,
        366,
        112,
        1,
        0x00c8_d2f0,
        None,
        "ROP3: TILE (GTT) ON PATTERN (VRAM)",
    ));
    for (i, &(rop, label)) in ROPS.iter().enumerate() {
        let (x, y) = (366 + (i as i32 % 4) * 64, 126 + (i as i32 / 4) * 66);
        draws.push(Draw::Pattern {
            to: Target::Canvas,
            rows: ROWS,
            back: 0x0020_3f66,
            front: 0x00a8_c4dc,
            rect: rect(x, y, 56, 48),
        });
        draws.push(Draw::Copy {
            from: Target::Tile,
            to: Target::Canvas,
            colour: 0x00e0_5080,
            rop,
            copies: vec![((4, 8), rect(x + 6, y + 6, 44, 36))],
        });
        draws.push(text(Target::Canvas, x, y + 51, 1, 0x00ff_ffff, None, label));
    }
}

/// Draw the sprite once, off screen, and copy it with its key colour left out.
fn sprites(draws: &mut Vec<Draw>) {
    draws.push(Draw::Fill {
        to: Target::Sprite,
        colour: KEY,
        rop: 0xf0,
        rects: vec![rect(0, 0, SMALL, SMALL)],
    });
    for facet in gem::brilliant(31, 6, 27) {
        draws.push(Draw::Spans {
            to: Target::Sprite,
            colour: facet.colour,
            spans: facet.spans(),
        });
    }
    draws.push(Draw::Image {
        to: Target::Sprite,
        rect: rect(18, 9, 5, 5),
        pixels: sparkle(),
    });
    draws.push(Draw::Fill {
        to: Target::Canvas,
        colour: 0x0014_1c3a,
        rop: 0xf0,
        rects: vec![rect(16, 384, 608, 72)],
    });
    let tiles = (0..4)
        .map(|i| ((0, 0), rect(24 + i * 152, 388, SMALL, SMALL)))
        .collect();
    draws.push(Draw::Copy {
        from: Target::Tile,
        to: Target::Canvas,
        colour: 0,
        rop: 0xcc,
        copies: tiles,
    });
    for i in 0..8 {
        let at = rect(24 + i * 76, 388, SMALL, SMALL);
        draws.push(Draw::CopyKeyed {
            from: Target::Sprite,
            to: Target::Canvas,
            key: KEY,
            at: (0, 0),
            rect: at,
        });
    }
    draws.push(text(
        Target::Canvas,
        34,
        463,
        1,
        0x0090_a4c8,
        None,
        "FILLS, LINES, SCANLINES, COPIES, COLOUR KEY, HOST DATA: EVERY PIXEL EQUALS THE CPU'S RENDERING",
    ));
}

/// Return a white star on the sprite, sent as colours.
fn sparkle() -> Vec<u32> {
    (0..25)
        .map(|i: i32| {
            let distance = (i % 5 - 2).abs() + (i / 5 - 2).abs();
            mix(0x00ff_ffff, 0x00b0_e8f8, (distance as u32 * 64).min(256))
        })
        .collect()
}

fn frame(draws: &mut Vec<Draw>) {
    for (inset, colour) in [(4, 0x0054_6aa8), (6, 0x002c_3868)] {
        let (r, b) = (WIDTH - 1 - inset, HEIGHT - 1 - inset);
        let points = vec![
            (inset, inset),
            (r, inset),
            (r, b),
            (inset, b),
            (inset, inset),
        ];
        draws.push(Draw::Lines {
            to: Target::Canvas,
            colour,
            points,
        });
    }
    // Corner marks: inverted rectangles, inverted again where they overlap.
    for (x, y) in [
        (10, 10),
        (WIDTH - 26, 10),
        (10, HEIGHT - 26),
        (WIDTH - 26, HEIGHT - 26),
    ] {
        draws.push(Draw::Fill {
            to: Target::Canvas,
            colour: 0x0060_8898,
            rop: 0x5a,
            rects: vec![rect(x, y, 12, 12), rect(x + 4, y + 4, 12, 12)],
        });
    }
}
