// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The two submissions that are measured.

use anyhow::{Context, Result};
use lapidary_demo::font;
use lapidary_guest::draw2d::{self, Brush, Raster, Rect, SourceType, Surface, rop};
use lapidary_guest::stream::Access;
use lapidary_guest::{Bo, Device, Domain, Stream, pm4};
use lapidary_registers::r500::mmio;
use std::rc::Rc;

const WIDTH: u32 = 256;

/// The objects they use.
pub struct Workload {
    /// Written by both.
    pub target: Bo,
    source: Bo,
}

impl Workload {
    /// Makes them.
    pub fn new(device: &Rc<Device>) -> Result<Workload> {
        let make = |domain| {
            device
                .create(u64::from(WIDTH * WIDTH * 4), domain)
                .context("an object")
        };
        Ok(Workload {
            target: make(Domain::Vram)?,
            source: make(Domain::Gtt)?,
        })
    }

    /// 8 dwords, one relocation: a surface and its colour.
    pub fn small(&self) -> Stream {
        let to = Surface::new(&self.target, WIDTH * 4);
        let mut stream = Stream::new();
        stream
            .register(mmio::DST_PITCH_OFFSET, to.pitch_offset())
            .relocation(to.bo, Access::Write)
            .register(mmio::DP_BRUSH_FRGD_CLR, 0x0012_3456)
            .register(mmio::DP_BRUSH_BKGD_CLR, 0x0065_4321);
        assert_eq!((stream.len(), stream.relocations().len()), (8, 1));
        stream
    }

    /// 500 dwords, two relocations: what a 2D client of the desktop kind sends, fills and copies by
    /// registers and by packets, and a line of text.
    pub fn mixed(&self) -> Stream {
        let to = Surface::new(&self.target, WIDTH * 4);
        let from = Surface::new(&self.source, WIDTH * 4);
        let mut stream = Stream::new();
        let mut step = 0;
        while stream.len() < 400 {
            let at = step * 5 % 160;
            match step % 4 {
                0 => draw2d::fill_by_registers(
                    &mut stream,
                    to,
                    0x0040_4040,
                    Rect::new(at, at, 40, 30),
                ),
                1 => draw2d::copy_by_registers(
                    &mut stream,
                    from,
                    to,
                    (at, 0),
                    Rect::new(0, at, 64, 16),
                ),
                2 => {
                    let rects: Vec<Rect> =
                        (0..4).map(|i| Rect::new(at + i * 6, at, 5, 20)).collect();
                    draw2d::paint_multi(
                        &mut stream,
                        to,
                        Brush::Solid(0x0080_a0c0),
                        rop::PATCOPY,
                        &rects,
                    );
                }
                _ => draw2d::hostdata_blt(
                    &mut stream,
                    to,
                    SourceType::MonoTransparent,
                    0x00ff_ffff,
                    0,
                    rop::SRCCOPY,
                    &text("PM4", at, 200),
                ),
            }
            step += 1;
        }
        while stream.len() < 500 {
            stream.word(pm4::PACKET2);
        }
        assert_eq!((stream.len(), stream.relocations().len()), (500, 2));
        stream
    }
}

fn text(words: &str, x: i32, y: i32) -> Vec<Raster> {
    let glyph = |(i, sign): (usize, char)| Raster {
        rect: Rect::new(
            x + i as i32 * font::CELL_WIDTH,
            y,
            font::CELL_WIDTH,
            font::CELL_HEIGHT,
        ),
        words: font::bits(sign, 1)
            .chunks(32)
            .map(|chunk| {
                chunk
                    .iter()
                    .enumerate()
                    .fold(0, |word, (i, &bit)| word | (u32::from(bit) << i))
            })
            .collect(),
    };
    words.chars().enumerate().map(glyph).collect()
}
