// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Render targets (L944-1069): which of them are written and read.
//!
//! A target counts if it is one of those that are switched on, colours are written at all, and at least one channel of it
//! may change. It is read if something of it has to be kept or mixed: blending, a raster operation that uses what is
//! there, a channel that is masked.

use lapidary_registers::chrome9::enums::raster_op;
use lapidary_registers::chrome9::para_01::{
    self, enable_1, enable_2, rt0_1 as base, rt0_2 as memory, rt0_3 as shape, rt0_4 as output,
};

use super::area::{Client, Footprint};
use super::format;
use super::state::{State, value_name};
use super::surface::Surface;
use super::window::Rect;

/// The four parameters of each target. Their layouts are those of target 0.
pub const TARGETS: [[u32; 4]; 4] = [
    [
        para_01::RT0_1,
        para_01::RT0_2,
        para_01::RT0_3,
        para_01::RT0_4,
    ],
    [
        para_01::RT1_1,
        para_01::RT1_2,
        para_01::RT1_3,
        para_01::RT1_4,
    ],
    [
        para_01::RT2_1,
        para_01::RT2_2,
        para_01::RT2_3,
        para_01::RT2_4,
    ],
    [
        para_01::RT3_1,
        para_01::RT3_2,
        para_01::RT3_3,
        para_01::RT3_4,
    ],
];
/// Bits of [`enable_1`] from target to target.
const BLEND: u32 = enable_1::BLEND_RT0.mask();
/// All four channels.
const CHANNELS: u32 = output::WRITE_ALPHA.mask()
    | output::WRITE_RED.mask()
    | output::WRITE_GREEN.mask()
    | output::WRITE_BLUE.mask();

/// Return the number of targets that are switched on.
pub fn count(state: &State<'_>) -> usize {
    let count = enable_2::RT_COUNT.get(state.attribute(para_01::ENABLE_2)) as usize + 1;
    count.min(TARGETS.len())
}

/// Return whether a raster operation uses what is there: whether any two of its results for the same source differ.
fn uses_destination(rop: u32) -> bool {
    (rop ^ (rop >> 1)) & 5 != 0
}

/// Append the targets of a draw that reaches those pixels.
pub fn touched(state: &State<'_>, window: Rect, footprints: &mut Vec<Footprint>) {
    let enable = state.attribute(para_01::ENABLE_1);
    if !enable_2::COLOR_WRITE.any(state.attribute(para_01::ENABLE_2)) {
        return;
    }
    for (n, target) in TARGETS.iter().enumerate().take(count(state)) {
        let [first, second, third, fourth] = target.map(|i| state.attribute(i));
        let (rop, channels) = (output::ROP.get(fourth), fourth & CHANNELS);
        if channels == 0 || rop == raster_op::NOP {
            continue;
        }
        let code = shape::FORMAT.get(third);
        let blends = enable & (BLEND << n) != 0;
        if blends && format::forbids_blending(code) {
            state.wrong(format!(
                "render target {n} is blended, and its format {code:#x} forbids it"
            ));
        }
        let lines = if memory::TILE_16.any(second) { 16 } else { 8 };
        let surface = Surface {
            base: u64::from(base::BASE.get(first)) * 256,
            pitch: shape::PITCH.get(third).into(),
            bytes: format::target_bytes(code),
            tile: memory::TILED.any(second).then_some(lines),
        };
        let read = blends || uses_destination(rop) || channels != CHANNELS;
        footprints.push(Footprint::written(
            Client::Target(n as u8),
            read,
            memory::LOCATION.get(second),
            surface.runs(window),
            format!(
                "{}, {}",
                value_name("RT0_3", "FORMAT", code),
                surface.layout()
            ),
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raster_operations_read_what_they_use() {
        let reads: Vec<_> = (0..16).filter(|rop| uses_destination(*rop)).collect();
        // All but black, inverted source, source, white.
        assert_eq!(reads, [1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14]);
    }
}
