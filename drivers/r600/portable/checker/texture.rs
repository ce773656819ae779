// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Resources that are textures (R6xx/R7xx 3.6): every level of every face, layer and slice lies in the objects.
//!
//! The base level is at one address, and has the pitch that the resource says. The other levels follow each other at
//! another address. A level is half as large as the one before. From the first of them on, sizes are rounded up to powers
//! of two, then to what the tiling wants. A level of 2D tiling without room for a block is 1D tiled, and so are all
//! behind it. In a level all faces, layers or slices follow each other. The chip computes the places of levels from these
//! rules. They are Mesa's (`src/gallium/winsys/radeon/drm/radeon_surface.c`: `surf_minify`) and Linux'
//! (`drivers/gpu/drm/radeon/r600_cs.c`: `r600_texture_size`). A cube has six faces, on R7xx eight.
//!
//! Where nothing public says what the chip does, all readings are bounded:
//!
//! - Which levels `BASE_LEVEL` cuts off, and at which of both addresses they lie. All levels from 0 on count, and the
//!   base level at the second address, too.
//! - Whether `TEX_DEPTH` or `LAST_ARRAY` limits the layers. The larger one counts, with all dimensions.
//! - Which pitch levels behind the first have without tiles. That of aligned linear surfaces counts.

use super::{
    format::{
        self,
        Element, //
    },
    gfx::Checker,
    layout::Layout,
    place::{
        self,
        Doing, //
    },
    resource::{
        Fault,
        DWORDS, //
    },
    Chip,
    Reason, //
};
use crate::portable::{
    regs::{
        enums::{
            array_mode,
            tex_dim as dim, //
        },
        mmio::{
            sq_tex_resource_word0 as word0,
            sq_tex_resource_word1 as word1,
            sq_tex_resource_word4 as word4,
            sq_tex_resource_word5 as word5,
            sq_tex_resource_word6 as word6, //
        },
    },
    Generation, //
};

/// Log2 of the most samples of a texel.
const MOST_LOG2_SAMPLES: u32 = 3;
/// Texels of a unit of `PITCH`.
const PITCH_UNIT: u64 = 8;

/// Return the bits that a dword may have.
const fn known(fields: &[lapidary::portable::bits::Field]) -> u32 {
    let mut bits = 0;
    let mut i = 0;
    while i < fields.len() {
        bits |= fields[i].mask();
        i += 1;
    }
    bits
}

const KNOWN_WORD5: u32 = known(&[word5::LAST_LEVEL, word5::BASE_ARRAY, word5::LAST_ARRAY]);
const KNOWN_WORD6: u32 = known(&[
    word6::MPEG_CLAMP,
    word6::MAX_ANISO,
    word6::PERF_MODULATION,
    word6::INTERLACED,
    word6::TYPE,
]);

/// A texture whose fields are valid.
pub(super) struct Texture {
    /// That of the base level.
    layout: Layout,
    /// Those of levels which fill a block of the first, and of levels which do not.
    large: Layout,
    small: Layout,
    /// Bytes from the beginning of the objects to the base level and to the other levels.
    offsets: [u64; 2],
    element: Element,
    /// Size of the base level in texels.
    width: u64,
    height: u64,
    /// Slices that become fewer from level to level.
    depth: u64,
    /// Faces or layers.
    layers: u64,
    /// Elements from a line of the base level to the next one.
    pitch: u64,
    base_level: u32,
    last_level: u32,
}

/// Return the size of a level behind the first: halved and rounded up to a power of two. `size` is below 2^14.
fn level_of(size: u64, level: u32) -> u64 {
    size.wrapping_shr(level)
        .max(1)
        .checked_next_power_of_two()
        .unwrap_or(size)
}

/// Return how many elements of `1 << log2` texels `texels` texels need.
fn elements(texels: u64, log2: u8) -> u64 {
    let rest = 1u64.wrapping_shl(log2.into()).wrapping_sub(1);
    texels.wrapping_add(rest).wrapping_shr(log2.into())
}

impl Texture {
    /// Read the dwords of a texture.
    pub(super) fn new(words: &[u32; DWORDS], chip: &Chip) -> Result<Self, Fault> {
        let [shape, size, base, mips, mode, range, kind] = *words;
        if word6::INTERLACED.any(kind) {
            return Err((6, Reason::Interlaced));
        }
        if kind & !KNOWN_WORD6 != 0 {
            return Err((6, Reason::ForbiddenBits));
        }
        if range & !KNOWN_WORD5 != 0 {
            return Err((5, Reason::ForbiddenBits));
        }
        if word4::ENDIAN_SWAP.any(mode) {
            return Err((4, Reason::ByteOrder));
        }
        let element =
            format::element(word1::DATA_FORMAT.get(size)).ok_or((1, Reason::TextureFormat))?;
        let dimensions = word0::DIM.get(shape);
        let levels = word5::LAST_LEVEL.get(range);
        let (log2_samples, last_level) = match dimensions {
            dim::SQ_TEX_DIM_2D_MSAA | dim::SQ_TEX_DIM_2D_ARRAY_MSAA => (levels, 0),
            _ => (0, levels),
        };
        if log2_samples > MOST_LOG2_SAMPLES {
            return Err((5, Reason::TextureSamples));
        }
        let base_level = word4::BASE_LEVEL.get(mode);
        if base_level > last_level {
            return Err((4, Reason::TextureLevels));
        }
        let tiling = word0::TILE_MODE.get(shape);
        let layout_of = |tiling| Layout::new(tiling, element.bytes.into(), log2_samples, chip);
        let at0 = |reason| (0, reason);
        let layout = layout_of(tiling).map_err(at0)?;
        let other = |tiling| layout_of(tiling).map_err(at0);
        let (large, small) = match tiling {
            array_mode::ARRAY_LINEAR_GENERAL => {
                let aligned = other(array_mode::ARRAY_LINEAR_ALIGNED)?;
                (aligned, aligned)
            }
            array_mode::ARRAY_2D_TILED_THIN1 if last_level > 0 => {
                (layout, other(array_mode::ARRAY_1D_TILED_THIN1)?)
            }
            _ => (layout, layout),
        };
        let texels = u64::from(word0::PITCH.get(shape))
            .wrapping_add(1)
            .wrapping_mul(PITCH_UNIT);
        let pitch = layout
            .pitch(texels.wrapping_shr(element.width.into()))
            .map_err(at0)?;
        let width = u64::from(word0::TEX_WIDTH.get(shape)).wrapping_add(1);
        let height = u64::from(word1::TEX_HEIGHT.get(size)).wrapping_add(1);
        if elements(width, element.width) > pitch {
            return Err((0, Reason::TexturePitch));
        }
        let last_layer = word5::LAST_ARRAY.get(range);
        if word5::BASE_ARRAY.get(range) > last_layer {
            return Err((5, Reason::TextureLayers));
        }
        let deep = word1::TEX_DEPTH.get(size);
        let slices = u64::from(deep.max(last_layer)).wrapping_add(1);
        let (depth, layers) = match dimensions {
            dim::SQ_TEX_DIM_3D => (slices, 1),
            dim::SQ_TEX_DIM_CUBEMAP if deep > 0 => return Err((1, Reason::CubeLayers)),
            dim::SQ_TEX_DIM_CUBEMAP => match chip.generation {
                Generation::R6xx => (1, slices.max(6)),
                Generation::R7xx => (1, slices.max(8)),
            },
            _ => (1, slices),
        };
        let offset_of = |dword, units| layout.offset(units).map_err(|reason| (dword, reason));
        Ok(Self {
            layout,
            large,
            small,
            offsets: [offset_of(2, base)?, offset_of(3, mips)?],
            element,
            width,
            height,
            depth,
            layers,
            pitch,
            base_level,
            last_level,
        })
    }

    /// Return the bytes of the base level.
    fn base_bytes(&self) -> u64 {
        let lines = elements(self.height, self.element.height);
        // Below 2^41 bytes, 2^13 slices and 2^13 layers, of which one is 1.
        self.layout
            .picture(self.pitch, lines)
            .wrapping_mul(self.depth)
            .wrapping_mul(self.layers)
    }

    /// Return the bytes of all levels at the second address.
    fn mip_bytes(&self) -> u64 {
        let mut bytes = if self.base_level > 0 {
            self.base_bytes()
        } else {
            0
        };
        // At most 15 rounds of less than 2^55 bytes.
        for level in 1..=self.last_level {
            let columns = elements(level_of(self.width, level), self.element.width);
            let lines = elements(level_of(self.height, level), self.element.height);
            let layout = if self.large.fills_block(columns, lines) {
                &self.large
            } else {
                &self.small
            };
            let level_bytes = layout
                .picture(columns, lines)
                .wrapping_mul(level_of(self.depth, level))
                .wrapping_mul(self.layers);
            bytes = bytes.wrapping_add(level_bytes);
        }
        bytes
    }
}

impl Checker<'_> {
    /// Check that the levels of `texture` lie in the objects of the next two markers. Dword `at` of the stream is the
    /// first one of the resource.
    pub(super) fn texture(&mut self, texture: &Texture, at: usize) -> Result<(), Fault> {
        if !self.keep_tiling {
            return Err((0, Reason::ObjectTiling));
        }
        let [base, mips] = texture.offsets;
        for (dword, offset, bytes, reason) in [
            (2, base, texture.base_bytes(), Reason::TextureBounds),
            (3, mips, texture.mip_bytes(), Reason::MipBounds),
        ] {
            let (number, object) = self.object().map_err(|reason| (6, reason))?;
            place::range(object, offset, bytes, Doing::Reads).map_err(|_| (dword, reason))?;
            self.fixups
                .push(at.wrapping_add(dword), number, texture.layout.form())
                .map_err(|fault| (dword, fault.into()))?;
        }
        Ok(())
    }
}
