// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Surfaces as a client lays them out: pitches, heights and places that the tiling wants.

use crate::{
    chips::Variant,
    scene::{pick, rarely, Scene},
};

/// Tilings, by their numbers.
pub const LINEAR: [u32; 2] = [0, 1];
pub const ONE: u32 = 2;
pub const TWO: u32 = 4;

/// What a surface must be a multiple of.
#[derive(Clone, Copy, Debug)]
pub struct Alignment {
    /// Elements of a line.
    pub pitch: u32,
    /// Lines.
    pub height: u32,
    /// Bytes.
    pub base: u32,
}

/// Return what a surface must be a multiple of (Linux, r600_cs.c; Mesa, radeon_surface.c).
pub fn alignment(chip: &Variant, mode: u32, bytes: u32, samples: u32) -> Alignment {
    let chip = &chip.checker;
    let tile = 64 * bytes * samples;
    match mode {
        0 => Alignment {
            pitch: 8,
            height: 1,
            base: 256,
        },
        1 => Alignment {
            pitch: (chip.group_bytes / bytes).max(64),
            height: 1,
            base: chip.group_bytes,
        },
        2 => Alignment {
            pitch: (chip.group_bytes / (8 * bytes * samples)).max(8),
            height: 8,
            base: chip.group_bytes,
        },
        _ => {
            let row = chip.group_bytes * chip.banks / (8 * bytes * samples);
            let pitch = row.max(8 * chip.banks);
            let height = 8 * chip.pipes;
            Alignment {
                pitch,
                height,
                base: (chip.banks * chip.pipes * tile).max(pitch * height * bytes * samples),
            }
        }
    }
}

/// A surface.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    pub mode: u32,
    /// Elements of a line, a multiple of 8.
    pub pitch: u32,
    /// Lines.
    pub rows: u32,
    /// Tiles behind the last line.
    pub more: u32,
    pub base: u32,
}

impl Layout {
    /// Return tiles of a line and of a slice, each less one, as targets say them.
    pub fn size(&self) -> u32 {
        let tiles = u64::from(self.pitch) * u64::from(self.rows) / 64 + u64::from(self.more);
        (self.pitch / 8).saturating_sub(1) & 0x3ff
            | (((tiles.saturating_sub(1) as u32) & 0xf_ffff) << 10)
    }
}

/// Lay out a surface of elements of so many bytes, with the alignment of its tiling most of the time.
pub fn layout(
    s: &mut Scene<'_>,
    modes: &[u32],
    width: u32,
    height: u32,
    bytes: u32,
    samples: u32,
) -> Layout {
    let mode = match samples {
        _ if rarely(s.rng, 128) => s.rng.u32(..16),
        1 => pick(s.rng, modes),
        _ => TWO,
    };
    let align = alignment(s.chip, mode, bytes, samples);
    let mut pitch = width.next_multiple_of(align.pitch);
    let mut rows = height.next_multiple_of(align.height);
    match s.rng.u32(..96) {
        0 => pitch += 8,
        1 => pitch = pitch.saturating_sub(8).max(8),
        2 => rows += 1,
        3 => rows = rows.saturating_sub(1).max(1),
        4..=9 => pitch += align.pitch,
        10..=15 => rows += align.height,
        _ => {}
    }
    // A slice is made of whole tiles.
    let rows = rows.next_multiple_of(if mode < 2 { 8 } else { 1 });
    Layout {
        mode,
        pitch: pitch.min(8192),
        rows,
        more: if mode == ONE && rarely(s.rng, 16) {
            s.rng.u32(..pitch / 8)
        } else {
            0
        },
        base: align.base,
    }
}
