// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Textures: every byte that a fetch through the resource can reach, whatever the shader's coordinates are.
//!
//! Level 0 begins at BASE_ADDRESS and has the pitch that the resource says. The other levels follow each other from
//! MIP_ADDRESS on. Each of them is half as large as the one before, rounded down, then up to a power of two, and padded to
//! the alignment of its tiling. A level holds all its slices, faces or layers one after the other. A 2D tiled level of one
//! sample that is narrower or lower than a macro tile is 1D tiled, and all smaller ones are. (Mesa allocates so,
//! `radeon_surface.c`; the manual has no word on it.) A cube has six faces, for which R7xx leaves room for eight.
//!
//! Coordinates are clamped to BASE_ARRAY … LAST_ARRAY in layers, and levels to BASE_LEVEL … LAST_LEVEL. A volume's slices are
//! not. With samples LAST_LEVEL is the binary logarithm of their number, and there is one level.

use lapidary_model::runs::Runs;
use lapidary_registers::RegArray;
use lapidary_registers::r600::enums::tex_dim;
use lapidary_registers::r600::mmio;
use lapidary_registers::r600::mmio::{
    sq_tex_resource_word0 as word0, sq_tex_resource_word1 as word1,
};
use lapidary_registers::r600::mmio::{
    sq_tex_resource_word4 as word4, sq_tex_resource_word5 as word5,
};

use super::area::Client;
use super::format::{self, Block};
use super::layout::{Memory, Mode};
use super::state::{Found, State};
use crate::kind;

/// A texture, as its resource describes it.
#[derive(Clone, Copy, Debug)]
struct Texture {
    dim: u32,
    mode: Mode,
    block: Block,
    width: u64,
    height: u64,
    /// Slices of a volume.
    depth: u64,
    /// Pitch of level 0 in texels.
    pitch: u64,
    samples: u64,
    /// Layers or faces for which a level has room.
    layers: u64,
    /// First layer or face that can be reached, and the one behind the last.
    reach: (u64, u64),
    /// First and last level.
    levels: (u32, u32),
}

/// Where a level lies, from its chain's beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Level {
    /// Bytes of a slice.
    slice: u64,
    /// Slices of it.
    slices: u64,
    /// What can be reached of them.
    reach: (u64, u64),
}

impl Level {
    fn bytes(&self) -> u64 {
        self.slice * self.slices
    }

    fn whole(&self) -> bool {
        self.reach == (0, self.slices)
    }

    fn reached(&self, at: u64) -> Runs {
        let (first, end) = self.reach;
        Runs::one(at + first * self.slice, (end - first) * self.slice)
    }
}

impl Texture {
    /// Return the levels from 0 to the last one.
    fn chain(&self, memory: &Memory) -> impl Iterator<Item = Level> + '_ {
        let memory = *memory;
        let mut mode = self.mode;
        (0..=self.levels.1).map(move |n| {
            // Texels of a level, as they are stored.
            let minified = |size: u64| match n {
                0 => size,
                _ => (size >> n).max(1).next_power_of_two(),
            };
            let rows = minified(self.height).div_ceil(self.block.height);
            let columns = minified(self.width).div_ceil(self.block.width);
            let mut align = memory.alignment(mode, self.block.bytes, self.samples);
            let small = columns < align.pitch || rows < align.lines;
            if n > 0 && mode == Mode::Tiles2d && self.samples == 1 && small {
                mode = Mode::Tiles1d;
                align = memory.alignment(mode, self.block.bytes, self.samples);
            }
            let pitch = match n {
                0 => self.pitch.div_ceil(self.block.width),
                _ => columns.next_multiple_of(align.pitch),
            };
            let lines = rows.next_multiple_of(align.lines);
            let slices = minified(self.depth) * self.layers;
            Level {
                slice: pitch * lines * self.block.bytes * self.samples,
                slices,
                reach: match self.dim {
                    tex_dim::SQ_TEX_DIM_3D => (0, (self.depth >> n).max(1)),
                    _ => self.reach,
                },
            }
        })
    }
}

/// Find what fetches through a texture resource may read.
pub fn touched(state: &State<'_>, slot: u32, found: &mut Found) {
    let memory = Memory::of(state);
    let Some(texture) = texture(state, slot, &memory, found) else {
        return;
    };
    let client = Client::Texture(slot as u16);
    let address = |array: RegArray| u64::from(state.at(array, slot)) << 8;
    let (base, mips) = (mmio::SQ_TEX_RESOURCE_WORD2, mmio::SQ_TEX_RESOURCE_WORD3);
    let align = memory.alignment(texture.mode, texture.block.bytes, texture.samples);
    let mut at = address(mips);
    let mut dense: Option<Runs> = None;
    for (n, level) in texture.chain(&memory).enumerate() {
        let register = if n == 0 { base } else { mips };
        let place = if n == 0 { address(base) } else { at };
        // The chain's beginning counts, however small its first level is (upstream's checker wants so).
        if n <= 1 && n as u32 >= texture.levels.0 && place % align.base != 0 {
            let text = format!("texture {slot} has level {n} at {place:#x}");
            found.complain(kind::SURFACE_ALIGNMENT, text);
        }
        if n > 0 {
            at += level.bytes();
        }
        if (n as u32) < texture.levels.0 {
            continue;
        }
        let runs = level.reached(place);
        // Whole levels of the chain are one run.
        match &mut dense {
            Some(all) if level.whole() && all.end() == runs.start => all.len += runs.len,
            _ => {
                if let Some(all) = dense.take() {
                    found.reads(at_slot(mips, slot), client, all);
                }
                if n > 0 && level.whole() {
                    dense = Some(runs);
                } else {
                    found.reads(at_slot(register, slot), client, runs);
                }
            }
        }
    }
    if let Some(all) = dense {
        found.reads(at_slot(mips, slot), client, all);
    }
}

fn at_slot(array: RegArray, slot: u32) -> u32 {
    array.at(slot).unwrap_or_default()
}

/// Return what a resource describes; none if that is nothing.
fn texture(state: &State<'_>, slot: u32, memory: &Memory, found: &mut Found) -> Option<Texture> {
    let w0 = state.at(mmio::SQ_TEX_RESOURCE_WORD0, slot);
    let w1 = state.at(mmio::SQ_TEX_RESOURCE_WORD1, slot);
    let w4 = state.at(mmio::SQ_TEX_RESOURCE_WORD4, slot);
    let w5 = state.at(mmio::SQ_TEX_RESOURCE_WORD5, slot);
    let data_format = word1::DATA_FORMAT.get(w1);
    let Some(block) = format::texture(data_format) else {
        let text = format!("texture {slot} has format {data_format}");
        found.complain(kind::SURFACE_FORMAT, text);
        return None;
    };
    let tile_mode = word0::TILE_MODE.get(w0);
    let Some(mode) = Mode::of(tile_mode) else {
        let text = format!("texture {slot} has tile mode {tile_mode}");
        found.complain(kind::SURFACE_TILING, text);
        return None;
    };
    let dim = word0::DIM.get(w0);
    let has_samples = matches!(
        dim,
        tex_dim::SQ_TEX_DIM_2D_MSAA | tex_dim::SQ_TEX_DIM_2D_ARRAY_MSAA
    );
    let last_level = word5::LAST_LEVEL.get(w5);
    let log2_samples = if has_samples { last_level.min(3) } else { 0 };
    let odd = !block.bytes.is_power_of_two();
    if odd && mode.tiled() || log2_samples > 0 && mode != Mode::Tiles2d {
        let text = format!(
            "texture {slot} has {} bytes, {} samples and tile mode {tile_mode}",
            block.bytes,
            1 << log2_samples
        );
        found.complain(kind::SURFACE_TILING, text);
    }
    let levels = match has_samples {
        true => (0, 0),
        false => (word4::BASE_LEVEL.get(w4), last_level),
    };
    let depth = u64::from(word1::TEX_DEPTH.get(w1)) + 1;
    let layered = matches!(
        dim,
        tex_dim::SQ_TEX_DIM_1D_ARRAY
            | tex_dim::SQ_TEX_DIM_2D_ARRAY
            | tex_dim::SQ_TEX_DIM_2D_ARRAY_MSAA
    );
    let first = u64::from(word5::BASE_ARRAY.get(w5));
    let last = u64::from(word5::LAST_ARRAY.get(w5));
    let is_cube = dim == tex_dim::SQ_TEX_DIM_CUBEMAP;
    if levels.0 > levels.1 || layered && (first > last || last >= depth) {
        let text = format!(
            "texture {slot} has levels {} to {}, layers {first} to {last} of {depth}",
            levels.0, levels.1
        );
        found.complain(kind::VIEW_RANGE, text);
    }
    if has_samples && last_level > 3 {
        let text = format!("texture {slot} has 2^{last_level} samples");
        found.complain(kind::RESERVED_VALUE, text);
    }
    let flat = matches!(dim, tex_dim::SQ_TEX_DIM_1D | tex_dim::SQ_TEX_DIM_1D_ARRAY);
    let width = u64::from(word0::TEX_WIDTH.get(w0)) + 1;
    let pitch = (u64::from(word0::PITCH.get(w0)) + 1) * 8;
    let samples = 1 << log2_samples;
    let align = memory.alignment(mode, block.bytes, samples);
    if levels.0 == 0 && (pitch.div_ceil(block.width) % align.pitch != 0 || pitch < width) {
        let text = format!(
            "texture {slot} is {width} wide and has a pitch of {pitch}, of which {} are a line's unit",
            align.pitch * block.width
        );
        found.complain(kind::SURFACE_ALIGNMENT, text);
    }
    Some(Texture {
        dim,
        mode,
        block,
        width,
        height: match flat {
            true => 1,
            false => u64::from(word1::TEX_HEIGHT.get(w1)) + 1,
        },
        depth: if dim == tex_dim::SQ_TEX_DIM_3D {
            depth
        } else {
            1
        },
        pitch,
        samples,
        layers: match () {
            () if is_cube && state.chip.generation.is_r7xx => 8,
            () if is_cube => 6,
            () if layered => depth,
            () => 1,
        },
        reach: match () {
            () if is_cube => (0, 6),
            () if layered => (first.min(last), first.max(last) + 1),
            () => (0, 1),
        },
        levels: (levels.0.min(levels.1), levels.0.max(levels.1)),
    })
}
