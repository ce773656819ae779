// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Formats of textures: which a chip has, and the size of an element.
//!
//! An element is a texel, a pair of texels that share two components, or a block of 4 by 4 compressed texels. The codes
//! are those of Mesa (`src/gallium/drivers/r600/r600d.h`), the sizes those of Linux
//! (`drivers/gpu/drm/radeon/r600_cs.c`: `color_formats_table`).
//!
//! Some formats have a code and no size that is public. They are refused: bits; three components of 8 or 16 bits, which
//! may take three or four; bytes that are fetched as 32 bits. No client samples them. R6xx and R7xx do not have BC6, BC7
//! and `FMT_32_AS_32_32_32_32`.

use crate::portable::regs::enums::data_format;

/// What an element of a format is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Element {
    /// Bytes; 0 for formats that textures do not have.
    pub(super) bytes: u8,
    /// Log2 of its width in texels.
    pub(super) width: u8,
    /// Log2 of its height in texels.
    pub(super) height: u8,
}

/// Number of format codes.
const CODES: usize = 64;

static ELEMENTS: [Element; CODES] = table();

/// Return the elements of all formats. The compiler evaluates this.
const fn table() -> [Element; CODES] {
    use data_format::*;
    const fn set(
        table: &mut [Element; CODES],
        formats: &[u32],
        bytes: u8,
        (width, height): (u8, u8),
    ) {
        let mut i = 0;
        while i < formats.len() {
            let entry = &mut table[formats[i] as usize];
            assert!(entry.bytes == 0);
            *entry = Element {
                bytes,
                width,
                height,
            };
            i += 1;
        }
    }
    let mut table = [Element {
        bytes: 0,
        width: 0,
        height: 0,
    }; CODES];
    let texel = (0, 0);
    let pair = (1, 0);
    let block = (2, 2);
    set(&mut table, &[FMT_8, FMT_4_4, FMT_3_3_2], 1, texel);
    let two = [
        FMT_16,
        FMT_16_FLOAT,
        FMT_8_8,
        FMT_5_6_5,
        FMT_6_5_5,
        FMT_1_5_5_5,
        FMT_4_4_4_4,
        FMT_5_5_5_1,
    ];
    set(&mut table, &two, 2, texel);
    let four = [
        FMT_32,
        FMT_32_FLOAT,
        FMT_16_16,
        FMT_16_16_FLOAT,
        FMT_8_24,
        FMT_8_24_FLOAT,
        FMT_24_8,
        FMT_24_8_FLOAT,
        FMT_10_11_11,
        FMT_10_11_11_FLOAT,
        FMT_11_11_10,
        FMT_11_11_10_FLOAT,
        FMT_2_10_10_10,
        FMT_8_8_8_8,
        FMT_10_10_10_2,
        FMT_5_9_9_9_SHAREDEXP,
    ];
    set(&mut table, &four, 4, texel);
    set(&mut table, &[FMT_GB_GR, FMT_BG_RG], 4, pair);
    let eight = [
        FMT_X24_8_32_FLOAT,
        FMT_32_32,
        FMT_32_32_FLOAT,
        FMT_16_16_16_16,
        FMT_16_16_16_16_FLOAT,
    ];
    set(&mut table, &eight, 8, texel);
    set(&mut table, &[FMT_32_32_32, FMT_32_32_32_FLOAT], 12, texel);
    let sixteen = [FMT_32_32_32_32, FMT_32_32_32_32_FLOAT];
    set(&mut table, &sixteen, 16, texel);
    set(&mut table, &[FMT_BC1, FMT_BC4], 8, block);
    set(&mut table, &[FMT_BC2, FMT_BC3, FMT_BC5], 16, block);
    table
}

/// Return the element of texture format `code`, if textures have it.
#[inline]
pub(super) fn element(code: u32) -> Option<Element> {
    ELEMENTS
        .get(code as usize)
        .copied()
        .filter(|element| element.bytes != 0)
}
