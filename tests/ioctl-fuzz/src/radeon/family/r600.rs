// SPDX-License-Identifier: GPL-2.0 OR MIT

//! R6xx and R7xx: the command processor and, where there is one, the DMA ring. Jobs of both use the same objects and wait
//! for each other in the rings.

use super::{Family, Object};
use lapidary_engines::r600::dma::Tiled;
use lapidary_engines::r600::{cp, dma};
use lapidary_guest::abi::RING_DMA;
use lapidary_guest::painter::{Area, Painter, Rect};
use lapidary_guest::{Bo, Stream};
use lapidary_registers::r600::enums::array_mode;
use std::sync::atomic::{AtomicBool, Ordering};

/// The family.
#[derive(Debug, Default)]
pub struct R600 {
    /// Whether the chip has a DMA ring.
    dma: AtomicBool,
}

impl R600 {
    /// Return the family without a DMA ring.
    pub const fn new() -> R600 {
        R600 {
            dma: AtomicBool::new(false),
        }
    }
}

fn is_dma(stream: &Stream) -> bool {
    stream.flags()[1] == RING_DMA
}

/// Return the byte of pixel (`x`, `y`).
fn place(area: Area<'_>, x: i32, y: i32) -> u32 {
    area.offset + y as u32 * area.pitch + x as u32 * 4
}

impl Family for R600 {
    fn painter(&self) -> &'static dyn Painter {
        &lapidary_engines::r600::R600
    }

    fn look_at(&self, device: &lapidary_guest::Device) -> anyhow::Result<()> {
        let working = lapidary_guest::abi::info_request("RING_WORKING");
        let has_ring = device.info_with(working, RING_DMA)? == 1;
        self.dma.store(has_ring, Ordering::Relaxed);
        Ok(())
    }

    fn own_fault(&self) -> &'static [&'static str] {
        &["reserved-value", "copy-unsupported"]
    }

    fn stream(&self, rng: &mut fastrand::Rng) -> Stream {
        if self.dma.load(Ordering::Relaxed) && rng.bool() {
            dma::stream()
        } else {
            self.painter().stream()
        }
    }

    fn fill(
        &self,
        rng: &mut fastrand::Rng,
        stream: &mut Stream,
        to: Area<'_>,
        colour: u32,
        rect: Rect,
    ) {
        if !is_dma(stream) {
            cp::fill(stream, to, colour, rect);
            return;
        }
        let dwords = rect.w as u32;
        for y in rect.y..rect.y + rect.h {
            let at = (to.bo, place(to, rect.x, y));
            if rng.u32(..8) == 0 {
                dma::write(stream, at, &vec![colour; dwords as usize]);
            } else {
                dma::fill(stream, at, dwords, colour);
            }
        }
    }

    fn copy(
        &self,
        _: &mut fastrand::Rng,
        stream: &mut Stream,
        from: Area<'_>,
        to: Area<'_>,
        at: (i32, i32),
        rect: Rect,
    ) {
        if !is_dma(stream) {
            cp::blit(stream, from, to, at, rect);
            return;
        }
        for row in 0..rect.h {
            let source = place(from, at.0, at.1 + row);
            let target = place(to, rect.x, rect.y + row);
            dma::copy(stream, (from.bo, source), (to.bo, target), rect.w as u32);
        }
    }

    fn draw(&self, rng: &mut fastrand::Rng, stream: &mut Stream, objects: &[Object]) {
        let any = |rng: &mut fastrand::Rng| -> &Bo { &objects[rng.usize(..objects.len())].bo };
        let (to, from) = (any(rng), any(rng));
        if !is_dma(stream) {
            cp::write_one(stream, (to, 8), rng.u32(..16));
            return;
        }
        let tiled = Tiled {
            bo: to,
            mode: array_mode::ARRAY_1D_TILED_THIN1,
            width: 8,
            height: 8,
        };
        if rng.bool() {
            tiled.write(stream, (from, 0), 0, 8);
        } else {
            tiled.read(stream, 0, 8, (from, 0));
        }
    }
}
