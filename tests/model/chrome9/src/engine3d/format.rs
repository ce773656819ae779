// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Sizes of formats (L950-964, L1180-1229). Bits 23:19 of a parameter name a group, and bits 18:16 a format of it. Codes
//! without a meaning count as the largest; that they are used is a finding of its own.

use lapidary_registers::chrome9::enums::{rt_format, texture_format as texture};

/// Groups of 16-bit colours: in the order ARGB, ABGR, RGBA, BGRA.
const COLORS_16: [u32; 4] = [0x11, 0x15, 0x19, 0x1c];

/// Return the bytes of a pixel of a render target.
pub fn target_bytes(format: u32) -> u64 {
    match format {
        rt_format::AL88 | rt_format::L16 | rt_format::YUV | rt_format::R16F => 2,
        f if COLORS_16.contains(&(f >> 3)) => 2,
        _ => 4,
    }
}

/// Return whether a target of that format must not be blended (L952, L964, L974).
pub fn forbids_blending(format: u32) -> bool {
    matches!(
        format,
        rt_format::L16
            | rt_format::GR_16_16
            | rt_format::R16F
            | rt_format::GR_16F_16F
            | rt_format::R32F
    )
}

/// Texels that are stored together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Texels from side to side, and from top to bottom.
    pub side: u64,
    /// Bits of it.
    pub bits: u64,
}

/// Return the blocks of a texture's format.
pub fn block(format: u32) -> Block {
    let (side, bits) = match format {
        texture::DXT1_ASSUMED => (4, 64),
        texture::DXT2_3_ASSUMED | texture::DXT4_5_ASSUMED => (4, 128),
        texture::T1_ASSUMED | texture::L1_ASSUMED | texture::A1_ASSUMED => (1, 1),
        texture::T2_ASSUMED | texture::L2_ASSUMED | texture::A2_ASSUMED => (1, 2),
        texture::T4_ASSUMED | texture::L4_ASSUMED | texture::A4_ASSUMED => (1, 4),
        texture::T8_ASSUMED
        | texture::L8_ASSUMED
        | texture::A8_ASSUMED
        | texture::AL44_ASSUMED
        | texture::IA44
        | texture::AI44 => (1, 8),
        texture::AL88_ASSUMED | texture::L16_ASSUMED | texture::YUV | texture::R16F_ASSUMED => {
            (1, 16)
        }
        f if COLORS_16.contains(&(f >> 3)) => (1, 16),
        _ => (1, 32),
    };
    Block { side, bits }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lapidary_registers::chrome9::DATABASE;

    /// Return the bits of a texel as the database says it in words.
    fn said(doc: &str, name: &str) -> u64 {
        match name.trim_end_matches("_ASSUMED") {
            "YUV" => 16,
            "DXT1" => 4,
            "DXT2_3" | "DXT4_5" => 8,
            n if n.contains("_READ_555") => 16,
            _ => doc.split(' ').next().unwrap().parse().unwrap(),
        }
    }

    fn formats(register: &str) -> impl Iterator<Item = (u32, &'static str, u64)> {
        let register = DATABASE.by_name(register).unwrap();
        let field = register.field("FORMAT").unwrap();
        field
            .values
            .iter()
            .map(|v| (v.value, v.name, said(v.doc, v.name)))
    }

    #[test]
    fn formats_of_targets_have_the_sizes_that_the_database_says() {
        assert_eq!(formats("RT0_3").count(), 39);
        for (code, name, bits) in formats("RT0_3") {
            assert_eq!(target_bytes(code) * 8, bits, "{name}");
        }
        let forbidden = formats("RT0_3").filter(|f| forbids_blending(f.0));
        let names: Vec<_> = forbidden.map(|f| f.1).collect();
        assert_eq!(names, ["L16", "GR_16_16", "R16F", "GR_16F_16F", "R32F"]);
    }

    #[test]
    fn formats_of_textures_have_the_sizes_that_the_database_says() {
        assert_eq!(formats("TEXTURE_CONTROL_5").count(), 59);
        for (code, name, bits) in formats("TEXTURE_CONTROL_5") {
            let block = block(code);
            assert_eq!(block.bits, bits * block.side * block.side, "{name}");
        }
    }
}
