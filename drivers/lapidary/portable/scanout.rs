// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The memory that a firmware's display reads.
//!
//! A posted card shows a VGA text screen, which the VGA core reads from 256 KiB of VRAM, or a frame buffer, which a CRTC
//! scans out. A driver that keeps the picture reserves that VRAM. Registers say where it is. A device that answers
//! nonsense gives nonsense here, so sums saturate and ranges are cut to VRAM.

use core::ops::Range;

/// Bytes of the VGA core's memory.
const VGA_SIZE: u64 = 256 << 10;

/// Bytes that are reserved for a scan-out whose size makes no sense.
const UNKNOWN_SIZE: u64 = 16 << 20;

/// Bytes of a page. Ranges are whole pages.
const PAGE: u64 = 4096;

/// Scan-out of one CRTC, as its registers describe it. `TILE_ROWS` is the height of the chip's tallest tile: for a tiled
/// frame buffer rows are reserved in multiples of it.
#[derive(Clone, Copy, Debug)]
pub struct Scanout<const TILE_ROWS: u64> {
    /// First byte, in GPU addresses.
    pub address: u32,
    /// Pixels from one row to the next.
    pub pitch: u32,
    /// Rows.
    pub rows: u32,
    /// Logarithm of the bytes of a pixel.
    pub depth: u32,
}

impl<const TILE_ROWS: u64> Scanout<TILE_ROWS> {
    /// Return the GPU addresses that it covers.
    fn bytes(self) -> Range<u64> {
        const { assert!(TILE_ROWS > 0) };
        let rows = u64::from(self.rows).next_multiple_of(TILE_ROWS);
        // The registers are read whole, so bits outside of the fields may be set.
        let size = u64::from(self.pitch)
            .saturating_mul(rows)
            .saturating_mul(1 << self.depth.min(3));
        let start = u64::from(self.address);
        start..start.saturating_add(if size == 0 { UNKNOWN_SIZE } else { size })
    }
}

/// Return the part of `range` that lies in `vram`, in whole pages, as offsets in VRAM. It is empty if there is none.
fn offsets(range: Range<u64>, vram: &Range<u64>) -> Range<u64> {
    let size = vram.end.saturating_sub(vram.start);
    let offset = |address: u64| address.saturating_sub(vram.start).min(size);
    let (start, end) = (offset(range.start), offset(range.end));
    if start >= end {
        return 0..0;
    }
    let first = start - start % PAGE;
    first..(end - 1 - (end - 1) % PAGE).saturating_add(PAGE).min(size)
}

/// Return the ranges of VRAM that must not change: VGA memory and both scan-outs. They are offsets in VRAM, which lies at
/// `vram`. The range of a scan-out that is off is empty.
///
/// VGA memory is always kept, because the text console may be used again. It is kept in two places: at `vga`, the
/// address in its register, and at the start of VRAM, where video BIOSes put it when they set a mode.
pub fn reserved<const TILE_ROWS: u64>(
    vga: u32,
    scanouts: [Option<Scanout<TILE_ROWS>>; 2],
    vram: &Range<u64>,
) -> [Range<u64>; 4] {
    let vga = u64::from(vga);
    let [first, second] =
        scanouts.map(|scanout| scanout.map_or(0..0, |scanout| offsets(scanout.bytes(), vram)));
    [
        0..VGA_SIZE.min(vram.end.saturating_sub(vram.start)),
        offsets(vga..vga.saturating_add(VGA_SIZE), vram),
        first,
        second,
    ]
}
