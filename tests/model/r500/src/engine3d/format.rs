// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Texture formats, as far as memory is concerned: the smallest piece that is stored by itself, and its bytes.
//!
//! That is a texel, or for compressed formats a block of 4 by 4 texels, or for one-bit formats a byte of eight. Sizes
//! follow from the names (R5xx chapter 3, and 10.8 for `TXFORMAT`); those of the compressed formats, which the manual
//! leaves out, are public knowledge (the S3TC and RGTC extensions of OpenGL).

use lapidary_registers::r500::mmio::tx_format1::txformat as fmt;

/// A stored piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element {
    /// Its bytes: 1, 2, 4, 8 or 16.
    pub bytes: u64,
    /// Texels across.
    pub width: u64,
    /// Texels down.
    pub height: u64,
}

const fn texel(bytes: u64) -> Element {
    Element {
        bytes,
        width: 1,
        height: 1,
    }
}

const fn block(bytes: u64) -> Element {
    Element {
        bytes,
        width: 4,
        height: 4,
    }
}

const BITS: Element = Element {
    bytes: 1,
    width: 8,
    height: 1,
};

/// Return the pieces of a format: `TXFORMAT`, and whether `TXFORMAT_MSB` is set. Where the manual has no format for
/// both, the bit is taken to change nothing.
pub fn element(format: u32, msb: bool) -> Element {
    if msb {
        match format {
            0 | 1 => return BITS, // 1, and the same in reversed order
            2 => return texel(2), // 10
            3 => return texel(4), // 10_10
            4 => return texel(8), // 10_10_10_10
            5 => return block(8), // ATI1N
            _ => {}
        }
    }
    match format {
        fmt::FMT_8 | fmt::FMT_4_4 | fmt::FMT_3_3_2 => texel(1),
        fmt::FMT_16
        | fmt::FMT_8_8
        | fmt::FMT_5_6_5
        | fmt::FMT_6_5_5
        | fmt::FMT_4_4_4_4
        | fmt::FMT_1_5_5_5
        | fmt::FMT_CXV8U8
        | fmt::FMT_VYUY422
        | fmt::FMT_YVYU422
        | fmt::FMT_16_MPEG
        | fmt::FMT_16F => texel(2),
        fmt::FMT_16_16_16_16 | fmt::FMT_16F_16F_16F_16F | fmt::FMT_32F_32F => texel(8),
        fmt::FMT_32F_32F_32F_32F => texel(16),
        fmt::FMT_DXT1 => block(8),
        fmt::FMT_DXT3 | fmt::FMT_DXT5 | fmt::FMT_ATI2N => block(16),
        _ => texel(4),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bits of every format by its name in the database.
    #[test]
    fn sizes_follow_from_names() {
        let r = lapidary_registers::r500::DATABASE
            .by_name("TX_FORMAT1")
            .unwrap();
        let field = r.fields.iter().find(|f| f.name == "TXFORMAT").unwrap();
        let mut seen = 0;
        for value in field.values {
            let name = value.name.strip_prefix("FMT_").unwrap();
            let bits: u64 = match name {
                "DXT1" => 4,
                "DXT3" | "DXT5" | "ATI2N" => 8,
                "CXV8U8" | "VYUY422" | "YVYU422" => 16,
                "AVYU444" | "W24_FP" => 32,
                _ => name
                    .split('_')
                    .filter_map(|n| n.trim_end_matches('F').parse::<u64>().ok())
                    .sum(),
            };
            let e = element(value.value, false);
            assert_eq!(e.bytes * 8, bits * e.width * e.height, "{name}");
            seen += 1;
        }
        assert_eq!(seen, 32);
    }

    #[test]
    fn the_sixth_bit() {
        assert_eq!(element(fmt::FMT_8, true), BITS);
        assert_eq!(element(5, true), block(8));
        assert_eq!(element(fmt::FMT_DXT5, true), block(16));
    }
}
