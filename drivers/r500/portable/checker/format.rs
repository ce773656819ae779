// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Sizes of texels (R5xx 3, 10.8 `TX_FORMAT1`, `TX_FORMAT2`).

use crate::portable::regs::mmio::{
    tx_format1 as format1,
    tx_format2 as format2, //
};

/// An element of a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Element {
    /// Log2 of bytes.
    pub(super) bytes: u32,
    /// Log2 of texels along each edge. It is 2 for compressed formats, whose blocks of 4 by 4 texels are addressed as
    /// one.
    pub(super) edge: u32,
}

const fn plain(bytes: u32) -> Option<Element> {
    Some(Element { bytes, edge: 0 })
}

const fn compressed(bytes: u32) -> Option<Element> {
    Some(Element { bytes, edge: 2 })
}

/// Lowest five bits of the format code with the sixth one set: one component of compressed texels (R5xx 10.8).
const ATI1N: u32 = 5;
/// The same for depth and stencil in 32 bits (Mesa, `r300_reg.h`). It is not known how texels of the other extended
/// formats lie in memory.
const DEPTH_STENCIL: u32 = 6;

/// Return the element of a texture with these two registers; `None` for codes without a known size.
pub(super) fn element(word1: u32, word2: u32) -> Option<Element> {
    use format1::txformat as code;
    let low = format1::TXFORMAT.get(word1);
    if format2::TXFORMAT_MSB.any(word2) {
        return match low {
            ATI1N => compressed(3),
            DEPTH_STENCIL => plain(2),
            _ => None,
        };
    }
    match low {
        code::FMT_8 | code::FMT_4_4 | code::FMT_3_3_2 => plain(0),
        code::FMT_16
        | code::FMT_8_8
        | code::FMT_5_6_5
        | code::FMT_6_5_5
        | code::FMT_4_4_4_4
        | code::FMT_1_5_5_5
        | code::FMT_CXV8U8
        | code::FMT_VYUY422
        | code::FMT_YVYU422
        | code::FMT_16_MPEG
        | code::FMT_16F => plain(1),
        code::FMT_16_16
        | code::FMT_11_11_10
        | code::FMT_10_11_11
        | code::FMT_8_8_8_8
        | code::FMT_2_10_10_10
        | code::FMT_AVYU444
        | code::FMT_16_16_MPEG
        | code::FMT_16F_16F
        | code::FMT_32F
        | code::FMT_W24_FP => plain(2),
        code::FMT_16_16_16_16 | code::FMT_16F_16F_16F_16F | code::FMT_32F_32F => plain(3),
        code::FMT_32F_32F_32F_32F => plain(4),
        code::FMT_DXT1 => compressed(3),
        code::FMT_DXT3 | code::FMT_DXT5 | code::FMT_ATI2N => compressed(4),
        _ => None,
    }
}
