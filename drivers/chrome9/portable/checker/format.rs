// SPDX-License-Identifier: GPL-2.0 OR MIT

//! How many bits pixels and texels have.
//!
//! Formats of textures are lost in the text of the manual but for a few. Decision 8 says where the others come from.

use crate::portable::regs::{
    enums::{
        rt_format as rt,
        texture_format as texture, //
    },
    para_01::z_3::format as depth, //
};

/// Return the bytes of a pixel of a render target, if the format exists. Two pixels of YUV have four.
pub(super) const fn target_bytes(format: u32) -> Option<u32> {
    match format {
        rt::AL88..=rt::L16
        | rt::YUV
        | rt::RGB555..=rt::ARGB4444
        | rt::RGB565_READ_555
        | rt::BGR555..=rt::ABGR4444
        | rt::BGR565_READ_555
        | rt::RGBX5551..=rt::RGBA4444
        | rt::RGB565_FIRST_READ_555
        | rt::BGRX5551..=rt::BGRA4444
        | rt::BGR565_FIRST_READ_555
        | rt::R16F => Some(2),
        rt::XRGB8888..=rt::ARGB_2_10_10_10
        | rt::XBGR8888..=rt::GR_16_16
        | rt::RGBX8888..=rt::RGBA_10_10_10_2
        | rt::BGRX8888..=rt::BGRA_10_10_10_2
        | rt::GR_16F_16F..=rt::R32F => Some(4),
        _ => None,
    }
}

/// Return whether pixels of a render target come in pairs.
pub(super) const fn target_pairs(format: u32) -> bool {
    format == rt::YUV
}

/// Return whether pixels of a render target must not be blended (L952, L964, L974).
pub(super) const fn plain(format: u32) -> bool {
    matches!(
        format,
        rt::L16 | rt::GR_16_16 | rt::R16F | rt::GR_16F_16F..=rt::R32F
    )
}

/// Return the bytes of a pixel of the depth buffer, if the format exists.
pub(super) const fn depth_bytes(format: u32) -> Option<u32> {
    match format {
        depth::Z16 => Some(2),
        depth::Z32_ASSUMED | depth::Z32F_ASSUMED | depth::Z24S8_ASSUMED => Some(4),
        _ => None,
    }
}

/// How a texture is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Texels {
    /// Bits of a texel.
    pub(super) bits: u32,
    /// Texels of a side of a block, which is there as a whole: 1, 2 or 4.
    pub(super) wide: u32,
    /// The same for rows.
    pub(super) high: u32,
    /// Colours come from the palette.
    pub(super) palette: bool,
}

/// What rows of a texture are rounded up to, in bytes.
const ROW: u64 = 32;

/// Round up to a multiple of a power of two.
const fn whole(extent: u64, unit: u64) -> u64 {
    extent.wrapping_add(unit.wrapping_sub(1)) & !unit.wrapping_sub(1)
}

impl Texels {
    /// Return the bytes of so many columns and rows of texels, if tiles have `tile` rows.
    // No arithmetic overflows: sides have 12 bits.
    pub(super) fn bytes(self, columns: u32, rows: u32, tile: u64) -> u64 {
        let bits = whole(columns.into(), self.wide.into()).wrapping_mul(self.bits.into());
        let rows = whole(rows.into(), self.high.into());
        let size =
            |bits: u64, rows: u64| whole(bits.div_ceil(8), ROW).wrapping_mul(whole(rows, tile));
        // Rows of texels, or of blocks.
        let high = u64::from(self.high);
        let blocks = size(
            bits.wrapping_mul(high),
            rows.checked_div(high).unwrap_or(rows),
        );
        size(bits, rows).max(blocks)
    }
}

/// Return how texels of a format are stored, if it exists.
pub(super) const fn texels(format: u32) -> Option<Texels> {
    let (bits, wide, high) = match format {
        texture::T1_ASSUMED | texture::L1_ASSUMED | texture::A1_ASSUMED => (1, 1, 1),
        texture::T2_ASSUMED | texture::L2_ASSUMED | texture::A2_ASSUMED => (2, 1, 1),
        texture::T4_ASSUMED | texture::L4_ASSUMED | texture::A4_ASSUMED => (4, 1, 1),
        texture::T8_ASSUMED
        | texture::L8_ASSUMED
        | texture::A8_ASSUMED
        | texture::AL44_ASSUMED
        | texture::IA44..=texture::AI44 => (8, 1, 1),
        texture::DXT1_ASSUMED => (4, 4, 4),
        texture::DXT2_3_ASSUMED..=texture::DXT4_5_ASSUMED => (8, 4, 4),
        texture::YUV => (16, 2, 1),
        texture::AL88_ASSUMED..=texture::L16_ASSUMED
        | texture::RGB555_ASSUMED..=texture::ARGB4444_ASSUMED
        | texture::RGB565_READ_555_ASSUMED
        | texture::BGR555_ASSUMED..=texture::ABGR4444_ASSUMED
        | texture::BGR565_READ_555_ASSUMED
        | texture::RGBX5551_ASSUMED..=texture::RGBA4444_ASSUMED
        | texture::RGB565_FIRST_READ_555_ASSUMED
        | texture::BGRX5551_ASSUMED..=texture::BGRA4444_ASSUMED
        | texture::BGR565_FIRST_READ_555_ASSUMED
        | texture::R16F_ASSUMED => (16, 1, 1),
        texture::AYUV
        | texture::V410
        | texture::XRGB8888_ASSUMED..=texture::ARGB_2_10_10_10_ASSUMED
        | texture::XBGR8888_ASSUMED..=texture::GR_16_16_ASSUMED
        | texture::RGBX8888_ASSUMED..=texture::RGBA_10_10_10_2_ASSUMED
        | texture::BGRX8888_ASSUMED..=texture::BGRA_10_10_10_2_ASSUMED
        | texture::GR_16F_16F_ASSUMED..=texture::R32F_ASSUMED => (32, 1, 1),
        _ => return None,
    };
    Some(Texels {
        bits,
        wide,
        high,
        palette: matches!(format, texture::IA44 | texture::AI44),
    })
}
