// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Streams for the DMA ring of R7xx.
//!
//! Its packets have no relocation markers. Each address takes the next entry of the list of objects, in the order in
//! which the driver reads them: of a copy the source comes first.

use lapidary_guest::Bo;
use lapidary_guest::abi::{self, CsReloc};
use lapidary_guest::stream::{Access, Stream};
use lapidary_registers::r600::dma::write::{tiled_info, tiled_place, tiled_slice};
use lapidary_registers::r600::dma::{header, op};

/// The most dwords of one packet.
const MOST: u32 = 0xffff;

/// A dword that the engine skips.
pub const NOP: u32 = (op::NOP as u32) << 28;

/// Return an empty stream for the ring.
pub fn stream() -> Stream {
    Stream::on(abi::CS_KEEP_TILING, abi::RING_DMA)
}

/// Enter an object behind all others.
fn next(stream: &mut Stream, bo: &Bo, access: Access) {
    let bits = bo.domain().bits();
    let (read_domains, write_domain) = match access {
        Access::Read => (bits, 0),
        Access::Write => (0, bits),
    };
    stream.raw_entry(CsReloc {
        handle: bo.handle(),
        read_domains,
        write_domain,
        flags: 0,
    });
}

/// Return the header of an operation.
pub fn head(op: u8, count: u32) -> u32 {
    header::OP.of(op.into()) | header::COUNT.of(count)
}

/// Copy `dwords` dwords between places in objects.
pub fn copy(stream: &mut Stream, from: (&Bo, u32), to: (&Bo, u32), dwords: u32) {
    let mut done = 0;
    while done < dwords {
        let part = (dwords - done).min(MOST);
        next(stream, from.0, Access::Read);
        next(stream, to.0, Access::Write);
        stream.extend(&[
            head(op::COPY, part),
            to.1 + done * 4,
            from.1 + done * 4,
            0,
            0,
        ]);
        done += part;
    }
}

/// Fill `dwords` dwords of an object with one value.
pub fn fill(stream: &mut Stream, to: (&Bo, u32), dwords: u32, value: u32) {
    let mut done = 0;
    while done < dwords {
        let part = (dwords - done).min(MOST);
        next(stream, to.0, Access::Write);
        stream.extend(&[head(op::CONSTANT_FILL, part), to.1 + done * 4, value, 0]);
        done += part;
    }
}

/// Write dwords that are in the stream.
pub fn write(stream: &mut Stream, to: (&Bo, u32), words: &[u32]) {
    next(stream, to.0, Access::Write);
    stream.extend(&[head(op::WRITE, words.len() as u32), to.1, 0]);
    stream.extend(words);
}

/// A tiled surface of 32-bit pixels with one slice.
#[derive(Clone, Copy, Debug)]
pub struct Tiled<'a> {
    /// The object, whose first byte is the surface's.
    pub bo: &'a Bo,
    /// A value of `array_mode`.
    pub mode: u32,
    /// Width in pixels, a multiple of the tiles' width.
    pub width: u32,
    /// Height in lines, a multiple of the tiles' height.
    pub height: u32,
}

/// Edge of a tile in pixels.
const TILE: u32 = 8;

impl Tiled<'_> {
    /// Append a copy between `lines` whole lines from line `y` on and a place where the lines follow each other.
    fn lines(&self, stream: &mut Stream, detile: bool, y: u32, lines: u32, linear: u32) {
        let tiles = self.width * self.height / (TILE * TILE);
        let head = head(op::COPY, self.width * lines) | header::TILED.of(1);
        let info = tiled_info::DETILE.of(detile.into())
            | tiled_info::ARRAY_MODE.of(self.mode)
            | tiled_info::LOG2_BPP.of(2)
            | tiled_info::HEIGHT.of(self.height - 1)
            | tiled_info::PITCH_TILE_MAX.of(self.width / TILE - 1);
        let slice = tiled_slice::SLICE_TILE_MAX.of(tiles - 1);
        let place = tiled_place::Y.of(y);
        stream.extend(&[head, 0, info, slice, place, linear, 0]);
    }

    /// Copy `lines` lines, a multiple of eight, from a place in an object to line `y` and those below it.
    pub fn write(&self, stream: &mut Stream, from: (&Bo, u32), y: u32, lines: u32) {
        next(stream, from.0, Access::Read);
        next(stream, self.bo, Access::Write);
        self.lines(stream, false, y, lines, from.1);
    }

    /// Copy `lines` lines, a multiple of eight, from line `y` on to a place in an object.
    pub fn read(&self, stream: &mut Stream, y: u32, lines: u32, to: (&Bo, u32)) {
        next(stream, self.bo, Access::Read);
        next(stream, to.0, Access::Write);
        self.lines(stream, true, y, lines, to.1);
    }
}
