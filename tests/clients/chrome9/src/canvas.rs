// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The objects that the scene is drawn on, in the GPU's memory and in the CPU's.

use crate::scene::{HEIGHT, SMALL, WIDTH};
use anyhow::{Context, Result};
use lapidary_chrome9_client::abi::Param;
use lapidary_chrome9_client::blit::{Blit, Depth, Rect, Surface};
use lapidary_chrome9_client::reference::{self, Memory};
use lapidary_chrome9_client::{Bo, Device, Place, Stream, emit};
use std::rc::Rc;

/// All pixels have 32 bits: red in bits 23:16, green in 15:8, blue in 7:0.
pub const DEPTH: Depth = Depth::Bits32;

const fn surface(object: usize, width: u32) -> Surface {
    Surface {
        object,
        offset: 0,
        pitch: width * DEPTH.bytes(),
    }
}

/// The picture, in the frame buffer.
pub const CANVAS: Surface = surface(0, WIDTH);
/// A small gem on a key colour, drawn by the engine, in the frame buffer.
pub const SPRITE: Surface = surface(1, SMALL);
/// A tile drawn by the CPU, in system pages.
pub const TILE: Surface = surface(2, SMALL);

/// Bytes of each of them.
const BYTES: [u32; 3] = [
    WIDTH * HEIGHT * DEPTH.bytes(),
    SMALL * SMALL * DEPTH.bytes(),
    SMALL * SMALL * DEPTH.bytes(),
];
/// Where each is created.
const PLACES: [Place; 3] = [Place::FrameBuffer, Place::FrameBuffer, Place::System];

/// Draw blits by the CPU, and return the pixels of the picture.
pub fn by_cpu(blits: &[Blit], tile: &[u32]) -> Vec<u32> {
    let mut memory: Memory = BYTES.iter().map(|&bytes| vec![0; bytes as usize]).collect();
    memory[TILE.object] = tile.iter().flat_map(|pixel| pixel.to_le_bytes()).collect();
    for blit in blits {
        reference::draw(&mut memory, blit);
    }
    let pixel = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    memory[CANVAS.object].chunks_exact(4).map(pixel).collect()
}

/// What drawing cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Submissions.
    pub submissions: usize,
    /// Dwords of all streams.
    pub dwords: usize,
}

/// The objects on the device.
pub struct Objects {
    device: Rc<Device>,
    list: Vec<Bo>,
}

impl Objects {
    /// Make them. The tile gets its pixels from the CPU, the others are zero.
    pub fn new(device: &Rc<Device>, tile: &[u32]) -> Result<Objects> {
        let make = |(&bytes, place): (&u32, Place)| {
            device
                .create(bytes.into(), place)
                .with_context(|| format!("an object in {place}"))
        };
        let list: Vec<Bo> = BYTES.iter().zip(PLACES).map(make).collect::<Result<_>>()?;
        list[TILE.object].write(tile)?;
        Ok(Objects {
            device: device.clone(),
            list,
        })
    }

    fn handles(&self) -> Vec<u32> {
        self.list.iter().map(Bo::handle).collect()
    }

    /// Draw blits by the engine, in as many submissions as the driver's limit of dwords needs, and wait for the picture.
    pub fn draw(&self, blits: &[Blit]) -> Result<Cost> {
        let most = self.device.param(Param::MostDwords)? as usize;
        let handles = self.handles();
        let mut cost = Cost::default();
        let mut stream = Stream::new();
        for blit in blits {
            let mut next = Stream::new();
            emit::blit(&mut next, &handles, blit);
            if stream.words().len() + next.words().len() > most {
                self.submit(&stream, &mut cost)?;
                stream = Stream::new();
            }
            stream.append(&next);
        }
        self.submit(&stream, &mut cost)?;
        self.list[CANVAS.object]
            .wait()
            .context("waiting for the scene")?;
        Ok(cost)
    }

    fn submit(&self, stream: &Stream, cost: &mut Cost) -> Result<()> {
        cost.submissions += 1;
        cost.dwords += stream.words().len();
        self.device.submit(stream).with_context(|| {
            format!(
                "submission {} of {} dwords: {:x?}",
                cost.submissions,
                stream.words().len(),
                self.device.refusal()
            )
        })
    }

    /// Return the picture as the CPU sees it in the frame buffer.
    pub fn seen(&self) -> Result<Vec<u32>> {
        self.list[CANVAS.object].read()
    }

    /// Copy the picture to an object in system pages by the engine, and return it as the CPU sees it there.
    pub fn copied(&self) -> Result<Vec<u32>> {
        let copy = self
            .device
            .create(BYTES[CANVAS.object].into(), Place::System)?;
        let handles = [self.handles()[CANVAS.object], copy.handle()];
        let all = Rect::new(0, 0, WIDTH, HEIGHT);
        let target = surface(1, WIDTH);
        let mut stream = Stream::new();
        emit::blit(
            &mut stream,
            &handles,
            &Blit::copy(DEPTH, target, all, surface(0, WIDTH), (0, 0)),
        );
        self.device.submit(&stream).context("copying the picture")?;
        copy.read()
    }
}
