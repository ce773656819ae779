// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The picture for chips that copy and do not draw rectangles: R6xx and R7xx until their 3D engine is used.
//!
//! The CPU paints panels. The GPU puts them together: bands of colour, a frame, and each panel by another way. One way
//! is a copy of lines by the DMA ring. Two lead through tiled surfaces and back. The last is the command processor's own
//! copy. A chip without DMA ring takes the command processor for all of them. [`Collage::reference`] is the CPU's
//! rendering of the same list of steps.

use crate::reference::Image;
use crate::scene::{HEIGHT, WIDTH, tile};
use anyhow::{Context as _, Result};
use lapidary_engines::r600::{cp, dma};
use lapidary_guest::abi::{self, info_request};
use lapidary_guest::painter::{Area, Rect};
use lapidary_guest::{Bo, Device, Domain, Stream};
use lapidary_picture::{font, mix};
use lapidary_registers::r600::enums::array_mode;
use std::rc::Rc;

/// Size of a panel. A macro tile of the chip with the most banks and pipes is 64 by 64 pixels.
const PANEL: (i32, i32) = (256, 128);

/// How a panel gets into the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Lines, by the DMA ring.
    Lines,
    /// Through a surface of micro tiles, by the DMA ring, then lines.
    Tiles,
    /// Through a surface of macro tiles, likewise.
    MacroTiles,
    /// Lines, by the command processor.
    Processor,
}

impl Way {
    const ALL: [Way; 4] = [Way::Lines, Way::Tiles, Way::MacroTiles, Way::Processor];

    fn name(self) -> &'static str {
        match self {
            Way::Lines => "DMA LINES",
            Way::Tiles => "DMA 1D TILES",
            Way::MacroTiles => "DMA 2D TILES",
            Way::Processor => "CP DMA",
        }
    }

    fn mode(self) -> Option<u32> {
        match self {
            Way::Tiles => Some(array_mode::ARRAY_1D_TILED_THIN1),
            Way::MacroTiles => Some(array_mode::ARRAY_2D_TILED_THIN1),
            Way::Lines | Way::Processor => None,
        }
    }
}

/// One step of the composition.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Fill a rectangle.
    Band(Rect, u32),
    /// Put a panel with its upper left corner at a place.
    Panel(Way, (i32, i32)),
    /// Copy a rectangle of the picture to another place in it.
    Again(Rect, (i32, i32)),
}

/// Return the steps.
fn steps() -> Vec<Step> {
    let bands = 24;
    let height = HEIGHT / bands;
    let mut steps: Vec<Step> = (0..bands)
        .map(|band| {
            let colour = mix(0x0010_1828, 0x0038_6070, (band * 256 / bands) as u32);
            Step::Band(Rect::new(0, band * height, WIDTH, height), colour)
        })
        .collect();
    let (left, right, top, bottom) = (40, 344, 64, 256);
    let places = [(left, top), (right, top), (left, bottom), (right, bottom)];
    for (way, place) in Way::ALL.into_iter().zip(places) {
        let frame = Rect::new(place.0 - 4, place.1 - 4, PANEL.0 + 8, PANEL.1 + 8);
        steps.push(Step::Band(frame, 0x00f2_9f4b));
        steps.push(Step::Panel(way, place));
    }
    // A strip below, from pieces of all panels.
    for (index, place) in (0..).zip(places) {
        let piece = Rect::new(place.0, place.1 + 48, 128, 32);
        steps.push(Step::Again(piece, (40 + 144 * index, 424)));
    }
    steps
}

/// Return the CPU's panel for `way`: a weave in a colour of its own, and what it is called.
fn panel(way: Way) -> Image {
    let weave = tile();
    let colour = match way {
        Way::Lines => 0x0050_e0d0,
        Way::Tiles => 0x00e0_5080,
        Way::MacroTiles => 0x0080_e050,
        Way::Processor => 0x00a0_80f0,
    };
    let (width, height) = PANEL;
    let mut image = Image::new(width, height, 0);
    for y in 0..height {
        for x in 0..width {
            let thread = weave[((y % 64) * 64 + x % 64) as usize];
            image.pixels[(y * width + x) as usize] = mix(thread, colour, (x * 200 / width) as u32);
        }
    }
    let scale = 2;
    for (index, sign) in (0..).zip(way.name().chars()) {
        let bits = font::bits(sign, scale);
        let (cell, left) = (
            font::CELL_WIDTH * scale,
            12 + index * font::CELL_WIDTH * scale,
        );
        for (at, set) in (0..).zip(bits) {
            let (x, y) = (left + at % cell, 12 + at / cell);
            if set && x < width {
                image.pixels[(y * width + x) as usize] = 0x00ff_ffff;
            }
        }
    }
    image
}

/// Copy a rectangle between images of the CPU.
fn put(from: &Image, source: Rect, to: &mut Image, place: (i32, i32)) {
    for y in 0..source.h {
        for x in 0..source.w {
            let pixel = from.get(source.x + x, source.y + y);
            to.pixels[((place.1 + y) * to.width + place.0 + x) as usize] = pixel;
        }
    }
}

/// Return the CPU's rendering.
pub fn reference() -> Image {
    let mut canvas = Image::new(WIDTH, HEIGHT, 0);
    for step in steps() {
        match step {
            Step::Band(band, colour) => {
                let colours = Image::new(band.w, band.h, colour);
                put(
                    &colours,
                    Rect::new(0, 0, band.w, band.h),
                    &mut canvas,
                    (band.x, band.y),
                );
            }
            Step::Panel(way, place) => {
                put(
                    &panel(way),
                    Rect::new(0, 0, PANEL.0, PANEL.1),
                    &mut canvas,
                    place,
                );
            }
            Step::Again(source, place) => {
                let old = canvas.clone();
                put(&old, source, &mut canvas, place);
            }
        }
    }
    canvas
}

/// What composing has cost.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// Dwords of commands.
    pub dwords: usize,
    /// Submissions.
    pub submissions: usize,
    /// Those of them to the DMA ring.
    pub dma: usize,
}

/// The GPU at work on the picture.
#[derive(Debug)]
pub struct Collage {
    device: Rc<Device>,
    canvas: Bo,
    dma: bool,
    cost: Cost,
}

const PITCH: u32 = WIDTH as u32 * 4;
const PANEL_PITCH: u32 = PANEL.0 as u32 * 4;
const PANEL_BYTES: u64 = PANEL.0 as u64 * PANEL.1 as u64 * 4;

impl Collage {
    /// Make the objects.
    pub fn new(device: &Rc<Device>) -> Result<Collage> {
        let bytes = u64::from(PITCH) * HEIGHT as u64;
        let working = device.info_with(const { info_request("RING_WORKING") }, abi::RING_DMA)?;
        Ok(Collage {
            canvas: device
                .create(bytes, Domain::Vram)
                .context("a picture in VRAM")?,
            device: device.clone(),
            dma: working == 1,
            cost: Cost::default(),
        })
    }

    /// Return the picture.
    pub fn canvas(&self) -> &Bo {
        &self.canvas
    }

    fn submit(&mut self, stream: &Stream) -> Result<()> {
        self.cost.dwords += stream.len();
        self.cost.submissions += 1;
        self.cost.dma += usize::from(stream.flags()[1] == abi::RING_DMA);
        self.device.submit(stream)?;
        Ok(())
    }

    /// Compose the picture. The objects of the last steps may still be in use by the GPU.
    pub fn compose(&mut self) -> Result<Cost> {
        for step in steps() {
            match step {
                Step::Band(band, colour) => self.band(band, colour)?,
                Step::Panel(way, place) => self.panel(way, place)?,
                Step::Again(source, place) => self.again(source, place)?,
            }
        }
        Ok(self.cost)
    }

    fn band(&mut self, band: Rect, colour: u32) -> Result<()> {
        let mut stream;
        if self.dma {
            stream = dma::stream();
            for y in band.y as u32..(band.y + band.h) as u32 {
                let start = y * PITCH + band.x as u32 * 4;
                dma::fill(&mut stream, (&self.canvas, start), band.w as u32, colour);
            }
        } else {
            stream = Stream::new();
            cp::fill(&mut stream, Area::new(&self.canvas, PITCH), colour, band);
        }
        self.submit(&stream)
    }

    fn panel(&mut self, way: Way, place: (i32, i32)) -> Result<()> {
        let painted = self.device.create(PANEL_BYTES, Domain::Gtt)?;
        painted.write(&panel(way).pixels)?;
        let lines = match way.mode() {
            Some(mode) if self.dma => self.through_tiles(&painted, mode)?,
            _ => painted,
        };
        let start = place.1 as u32 * PITCH + place.0 as u32 * 4;
        let mut stream;
        if self.dma && way != Way::Processor {
            stream = dma::stream();
            for y in 0..PANEL.1 as u32 {
                let (from, to) = ((&lines, y * PANEL_PITCH), (&self.canvas, start + y * PITCH));
                dma::copy(&mut stream, from, to, PANEL.0 as u32);
            }
        } else {
            stream = Stream::new();
            let to = Rect::new(place.0, place.1, PANEL.0, PANEL.1);
            let from = Area::new(&lines, PANEL_PITCH);
            cp::blit(
                &mut stream,
                from,
                Area::new(&self.canvas, PITCH),
                (0, 0),
                to,
            );
        }
        self.submit(&stream)
    }

    /// Return an object with the lines of `painted`, which have been in a tiled surface on the way.
    fn through_tiles(&mut self, painted: &Bo, mode: u32) -> Result<Bo> {
        let tiles = self.device.create(PANEL_BYTES, Domain::Vram)?;
        let lines = self.device.create(PANEL_BYTES, Domain::Vram)?;
        let surface = dma::Tiled {
            bo: &tiles,
            mode,
            width: PANEL.0 as u32,
            height: PANEL.1 as u32,
        };
        let half = PANEL.1 as u32 / 2;
        let mut stream = dma::stream();
        for y in [0, half] {
            surface.write(&mut stream, (painted, y * PANEL_PITCH), y, half);
        }
        self.submit(&stream)?;
        let mut stream = dma::stream();
        for y in [half, 0] {
            surface.read(&mut stream, y, half, (&lines, y * PANEL_PITCH));
        }
        self.submit(&stream)?;
        Ok(lines)
    }

    fn again(&mut self, source: Rect, place: (i32, i32)) -> Result<()> {
        let canvas = Area::new(&self.canvas, PITCH);
        let to = Rect::new(place.0, place.1, source.w, source.h);
        let mut stream = Stream::new();
        cp::blit(&mut stream, canvas, canvas, (source.x, source.y), to);
        self.submit(&stream)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_stay_in_the_picture_and_show_each_way() {
        let image = reference();
        assert_eq!(image.pixels.len(), (WIDTH * HEIGHT) as usize);
        for (way, place) in Way::ALL
            .into_iter()
            .zip([(40, 64), (344, 64), (40, 256), (344, 256)])
        {
            let panel = panel(way);
            assert_eq!(image.get(place.0 + 200, place.1 + 100), panel.get(200, 100));
            assert!(panel.pixels.contains(&0x00ff_ffff));
        }
        assert_eq!(image.get(40, 424), image.get(40, 112));
    }
}
