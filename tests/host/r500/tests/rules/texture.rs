// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Textures: sizes, formats, chains of levels, shapes, tiling.

use super::{rule::*, streams3d::*, support::Stream};
use lapidary::portable::radeon::uapi::tiling;
use r500::portable::{
    checker::Reason,
    regs::{mmio, mmio::*},
};
use tx_format1::txformat as format;

/// The unit that rules use; not the first one, so that a mistake in counting shows.
const UNIT: u32 = 5;

fn reg(array: lapidary::portable::bits::RegArray) -> u32 {
    array.at(UNIT).unwrap()
}

/// Both coordinates are clamped to the last texel.
const CLAMPED: u32 = 2 | (2 << 3);

fn size(width: u32, height: u32) -> u32 {
    tx_format0::TXWIDTH.of(width - 1) | tx_format0::TXHEIGHT.of(height - 1)
}

/// A texture in entry 1; all registers of the unit are written.
struct Texture {
    format0: u32,
    format1: u32,
    format2: u32,
    offset: u32,
    filter0: u32,
}

impl Texture {
    fn new(width: u32, height: u32, format: u32) -> Self {
        Self {
            format0: size(width, height),
            format1: tx_format1::TXFORMAT.of(format),
            format2: 0,
            offset: 0,
            filter0: CLAMPED,
        }
    }

    fn levels(mut self, last: u32) -> Self {
        self.format0 |= tx_format0::NUM_LEVELS.of(last);
        self
    }

    fn tiled(mut self, macro_tiled: u32, micro: u32) -> Self {
        self.offset |= tx_offset::MACRO_TILE.of(macro_tiled) | tx_offset::MICRO_TILE.of(micro);
        self
    }

    /// Return a point with that texture, and the dword at which a refusal shows.
    fn stream(&self) -> (Stream, usize) {
        let mut stream = state();
        stream
            .write(mmio::TX_ENABLE, 1 << UNIT)
            .write(reg(mmio::TX_FILTER0), self.filter0)
            .write(reg(mmio::TX_FILTER1), 0)
            .write(reg(mmio::TX_FORMAT0), self.format0)
            .write(reg(mmio::TX_FORMAT1), self.format1)
            .write(reg(mmio::TX_FORMAT2), self.format2)
            .write(reg(mmio::TX_OFFSET), self.offset)
            .marker(1);
        point(&mut stream);
        let draw = point_control(&stream);
        (stream, draw)
    }

    /// Add the rules that the texture just fits `bytes` bytes. It does not fit an object that is one byte shorter. That
    /// is told by moving its address by one micro- or macro-block.
    fn fits(&self, rules: &mut Vec<Rule>, bytes: u64) {
        let step = if tx_offset::MACRO_TILE.any(self.offset) {
            2048
        } else {
            32
        };
        let (stream, draw) = self.stream();
        rules.push(
            Rule::new(
                Reason::TextureBounds,
                &stream,
                at(&stream, reg(mmio::TX_OFFSET)),
                self.offset + step,
            )
            .shows_at(draw)
            .with_objects(&[COLOR_BYTES, bytes]),
        );
    }

    fn spoil(&self, reason: Reason, register: u32, value: u32, bytes: u64) -> Rule {
        let (stream, draw) = self.stream();
        spoilt(reason, &stream, register, value, draw).with_objects(&[COLOR_BYTES, bytes])
    }
}

pub fn needed(rules: &mut Vec<Rule>) {
    let (stream, draw) = Texture::new(64, 64, format::FMT_8_8_8_8).stream();
    for array in [
        mmio::TX_FILTER0,
        mmio::TX_FORMAT0,
        mmio::TX_FORMAT1,
        mmio::TX_FORMAT2,
        mmio::TX_OFFSET,
    ] {
        rules.push(missing(Reason::NoTexture, &stream, reg(array), draw));
    }
    // Another unit that the stream has not described; no units at all.
    rules.push(spoilt(
        Reason::NoTexture,
        &stream,
        mmio::TX_ENABLE,
        (1 << UNIT) | (1 << 15),
        draw,
    ));
    let plain = drawn();
    rules.push(missing(
        Reason::NoTextureEnable,
        &plain,
        mmio::TX_ENABLE,
        point_control(&plain),
    ));
    let (stream, _) = Texture::new(64, 64, format::FMT_8_8_8_8)
        .levels(6)
        .tiled(1, 1)
        .stream();
    // Entry 2 of 3 becomes entry 3.
    let own = at(&stream, reg(mmio::TX_OFFSET));
    rules.push(
        Rule::new(Reason::BadRelocation, &stream, own + 2, 12)
            .shows_at(own)
            .with_objects(&[COLOR_BYTES, 16 * PAGE, PAGE]),
    );
    rules.push(
        Rule::new(Reason::OffsetBeyondObject, &stream, own, 1 << 20)
            .with_objects(&[COLOR_BYTES, 16 * PAGE]),
    );
}

/// A unit that was in order is looked at again when it has changed, and only then needs to be.
pub fn changes(rules: &mut Vec<Rule>) {
    let texture = Texture::new(64, 64, format::FMT_8_8_8_8);
    let (mut stream, _) = texture.stream();
    stream.write(reg(mmio::TX_FORMAT0), texture.format0);
    point(&mut stream);
    let draw = point_control(&stream);
    rules.push(
        spoilt(
            Reason::TextureBounds,
            &stream,
            reg(mmio::TX_FORMAT0),
            size(64, 65),
            draw,
        )
        .with_objects(&[COLOR_BYTES, 4 * PAGE]),
    );
}

/// Add the rules that one texture of each format, 64 by 32 texels, just fits.
pub fn formats(rules: &mut Vec<Rule>) {
    let texels = 64 * 32;
    for (code, bits) in [
        (format::FMT_8, 8),
        (format::FMT_16, 16),
        (format::FMT_4_4, 8),
        (format::FMT_8_8, 16),
        (format::FMT_16_16, 32),
        (format::FMT_3_3_2, 8),
        (format::FMT_5_6_5, 16),
        (format::FMT_6_5_5, 16),
        (format::FMT_11_11_10, 32),
        (format::FMT_10_11_11, 32),
        (format::FMT_4_4_4_4, 16),
        (format::FMT_1_5_5_5, 16),
        (format::FMT_8_8_8_8, 32),
        (format::FMT_2_10_10_10, 32),
        (format::FMT_16_16_16_16, 64),
        (format::FMT_DXT1, 4),
        (format::FMT_DXT3, 8),
        (format::FMT_DXT5, 8),
        (format::FMT_CXV8U8, 16),
        (format::FMT_AVYU444, 32),
        (format::FMT_VYUY422, 16),
        (format::FMT_YVYU422, 16),
        (format::FMT_16_MPEG, 16),
        (format::FMT_16_16_MPEG, 32),
        (format::FMT_16F, 16),
        (format::FMT_16F_16F, 32),
        (format::FMT_16F_16F_16F_16F, 64),
        (format::FMT_32F, 32),
        (format::FMT_32F_32F, 64),
        (format::FMT_32F_32F_32F_32F, 128),
        (format::FMT_W24_FP, 32),
        (format::FMT_ATI2N, 8),
    ] {
        Texture::new(64, 32, code).fits(rules, texels * bits / 8);
    }
    // ATI1N, with the sixth bit.
    let mut extended = Texture::new(64, 32, 5);
    extended.format2 = tx_format2::TXFORMAT_MSB.mask();
    extended.fits(rules, texels / 2);
    // Depth and stencil in 32 bits.
    extended.format1 = tx_format1::TXFORMAT.of(6);
    extended.fits(rules, 4 * texels);
    for code in [0, 1, 2, 3, 4, 7, 31] {
        let value = tx_format1::TXFORMAT.of(code);
        rules.push(extended.spoil(
            Reason::TextureFormat,
            reg(mmio::TX_FORMAT1),
            value,
            16 * PAGE,
        ));
    }
    // The fourth shape does not exist.
    let plain = Texture::new(64, 64, format::FMT_8);
    rules.push(plain.spoil(
        Reason::TextureFormat,
        reg(mmio::TX_FORMAT1),
        plain.format1 | tx_format1::TEX_COORD_TYPE.of(3),
        16 * PAGE,
    ));
}

pub fn sizes(rules: &mut Vec<Rule>) {
    let bytes = 64 * 64 * 4;
    let plain = Texture::new(64, 64, format::FMT_8_8_8_8);
    let spoil = |register, value| plain.spoil(Reason::TextureBounds, register, value, bytes);
    let (format0, format1, format2) = (
        reg(mmio::TX_FORMAT0),
        reg(mmio::TX_FORMAT1),
        reg(mmio::TX_FORMAT2),
    );
    rules.extend([
        spoil(format0, size(65, 64)),
        spoil(format0, size(64, 65)),
        spoil(format0, size(2048, 2048)),
        // Bit 11 of width and height.
        spoil(format2, tx_format2::TXWIDTH_11.mask()),
        spoil(format2, tx_format2::TXHEIGHT_11.mask()),
        // Levels, faces, layers.
        spoil(format0, plain.format0 | tx_format0::NUM_LEVELS.of(1)),
        spoil(format1, plain.format1 | tx_format1::TEX_COORD_TYPE.of(2)),
        spoil(format1, tx_format1::TXFORMAT.of(format::FMT_32F_32F)),
        plain.spoil(
            Reason::TextureLevels,
            format0,
            plain.format0 | tx_format0::NUM_LEVELS.of(13),
            64 * PAGE,
        ),
        // The manual does not say how a pitch is halved.
        plain.spoil(
            Reason::TextureLevels,
            format0,
            plain.format0 | tx_format0::NUM_LEVELS.of(1) | tx_format0::TXPITCH_EN.mask(),
            64 * PAGE,
        ),
    ]);
    // Everything at its largest, with every bit set: no overflow, and it does not fit.
    rules.push(plain.spoil(
        Reason::TextureBounds,
        format0,
        plain.format0 | tx_format0::NUM_LEVELS.of(12),
        bytes,
    ));
    let mut volume = Texture::new(2048, 2048, format::FMT_32F_32F_32F_32F);
    volume.format1 |= tx_format1::TEX_COORD_TYPE.of(1);
    volume.format2 = tx_format2::TXWIDTH_11.mask() | tx_format2::TXHEIGHT_11.mask();
    rules.push(volume.spoil(
        Reason::TextureBounds,
        format0,
        volume.format0 | tx_format0::TXDEPTH.mask() | tx_format0::NUM_LEVELS.of(12),
        4096 * 4096 * 16,
    ));

    // By pitch: lines may be further apart, or closer together than they are long.
    let mut pitched = Texture::new(60, 64, format::FMT_8_8_8_8);
    pitched.format0 |= tx_format0::TXPITCH_EN.mask();
    pitched.format2 = tx_format2::TXPITCH.of(64 - 1);
    rules.extend([
        pitched.spoil(
            Reason::TextureBounds,
            format2,
            tx_format2::TXPITCH.of(65 - 1),
            bytes,
        ),
        pitched.spoil(Reason::TextureBounds, format2, 0x3fff, bytes),
    ]);
    let mut short = Texture::new(2048, 2, format::FMT_8);
    short.format0 |= tx_format0::TXPITCH_EN.mask();
    short.format2 = tx_format2::TXPITCH.of(32 - 1);
    short.fits(rules, 32 + 2048);

    // Sizes that are no power of two are padded if a coordinate wraps.
    let mut odd = Texture::new(60, 40, format::FMT_8_8_8_8);
    // 60 texels are eight micro-blocks like 64.
    odd.fits(rules, 64 * 40 * 4);
    let filter = reg(mmio::TX_FILTER0);
    for mode in [0, 1, 3, 5, 7] {
        rules.push(odd.spoil(Reason::TextureBounds, filter, 2 | (mode << 3), 64 * 40 * 4));
    }
    odd.format0 = size(40, 64);
    for mode in [0, 1, 3, 5, 7] {
        rules.push(odd.spoil(Reason::TextureBounds, filter, mode | (2 << 3), 40 * 64 * 4));
    }
    // A filter between levels does the same, and a finest level beyond the coarsest is one more.
    odd.filter0 = CLAMPED;
    for bits in [
        tx_filter0::MIP_FILTER.of(tx_filter0::mip_filter::POINT),
        tx_filter0::MAX_MIP_LEVEL.of(1),
    ] {
        rules.push(odd.spoil(Reason::TextureBounds, filter, CLAMPED | bits, 40 * 64 * 4));
    }
    let mut low = Texture::new(64, 40, format::FMT_8_8_8_8);
    low.filter0 = CLAMPED;
    rules.push(low.spoil(
        Reason::TextureBounds,
        filter,
        CLAMPED | tx_filter0::MIP_FILTER.of(tx_filter0::mip_filter::LINEAR),
        64 * 40 * 4,
    ));
    rules.push(odd.spoil(
        Reason::TextureLevels,
        filter,
        CLAMPED | tx_filter0::MAX_MIP_LEVEL.of(13),
        64 * PAGE,
    ));
    // Faces and layers are padded in height, whatever the coordinates do.
    let mut volume = Texture::new(64, 40, format::FMT_8_8_8_8);
    volume.format1 |= tx_format1::TEX_COORD_TYPE.of(1);
    volume.fits(rules, 64 * 64 * 4);
    let mut cube = Texture::new(40, 40, format::FMT_8_8_8_8);
    cube.format1 |= tx_format1::TEX_COORD_TYPE.of(2);
    cube.fits(rules, 6 * 40 * 64 * 4);
    // Faces are squares, also beyond 2048 texels; padding does not make them such.
    for (width, height) in [(40, 41), (41, 40), (4, 2048), (64, 40)] {
        rules.push(cube.spoil(
            Reason::CubeShape,
            format0,
            size(width, height),
            6 * 40 * 64 * 4,
        ));
    }
    for high in [tx_format2::TXWIDTH_11, tx_format2::TXHEIGHT_11] {
        rules.push(cube.spoil(Reason::CubeShape, format2, high.mask(), 6 * 40 * 64 * 4));
    }
}

/// Add the rules of chains of levels, of every shape.
pub fn chains(rules: &mut Vec<Rule>) {
    // Levels of 32 bits: 64, 32, 16, 8 columns; from there on a line takes a micro-block.
    let lines = |columns: u64, lines: u64| columns.max(8) * lines * 4;
    let chain: u64 = (0..=6).map(|i| lines(64 >> i, 64 >> i)).sum();
    Texture::new(64, 64, format::FMT_8_8_8_8)
        .levels(6)
        .fits(rules, chain);
    // A line of 64 texels, down to one.
    let chain: u64 = (0..=6).map(|i| lines(64 >> i, 1)).sum();
    Texture::new(64, 1, format::FMT_8_8_8_8)
        .levels(6)
        .fits(rules, chain);
    // Levels are padded to powers of two.
    let chain: u64 = (0..=6).map(|i| lines(64 >> i, 64 >> i)).sum();
    Texture::new(33, 40, format::FMT_8_8_8_8)
        .levels(6)
        .fits(rules, chain);
    // Six faces.
    let mut cube = Texture::new(16, 16, format::FMT_8_8_8_8).levels(4);
    cube.format1 |= tx_format1::TEX_COORD_TYPE.of(2);
    let chain: u64 = (0..=4).map(|i| lines(16 >> i, 16 >> i)).sum();
    cube.fits(rules, 6 * chain);
    // Eight layers, halved with the levels but never none.
    let mut volume = Texture::new(16, 16, format::FMT_8_8_8_8).levels(4);
    volume.format0 |= tx_format0::TXDEPTH.of(3);
    volume.format1 |= tx_format1::TEX_COORD_TYPE.of(1);
    let chain: u64 = (0..=4)
        .map(|i| lines(16 >> i, 16 >> i) * (8u64 >> i).max(1))
        .sum();
    volume.fits(rules, chain);
    // Blocks of 4 by 4 texels: eight bytes each, at least 32 bytes a row.
    let rows = |texels: u64| (texels.div_ceil(4) * 8).max(32) * texels.div_ceil(4);
    let chain: u64 = (0..=6).map(|i| rows(64 >> i)).sum();
    Texture::new(64, 64, format::FMT_DXT1)
        .levels(6)
        .fits(rules, chain);
    let rows = |texels: u64| (texels.div_ceil(4) * 16).max(32) * texels.div_ceil(4);
    let chain: u64 = (0..=6).map(|i| rows(64 >> i)).sum();
    Texture::new(64, 64, format::FMT_DXT5)
        .levels(6)
        .fits(rules, chain);
}

pub fn tilings(rules: &mut Vec<Rule>) {
    // Micro-blocks of 4 by 2 pixels: three lines are two rows of blocks.
    Texture::new(64, 3, format::FMT_8_8_8_8)
        .tiled(0, 1)
        .fits(rules, 64 * 4 * 4);
    // 8 by 4, 8 by 2, 4 by 4 and 2 by 2.
    Texture::new(64, 5, format::FMT_8)
        .tiled(0, 1)
        .fits(rules, 64 * 8);
    Texture::new(64, 3, format::FMT_16)
        .tiled(0, 1)
        .fits(rules, 64 * 4 * 2);
    Texture::new(64, 5, format::FMT_16)
        .tiled(0, 2)
        .fits(rules, 64 * 8 * 2);
    Texture::new(64, 3, format::FMT_32F_32F)
        .tiled(0, 1)
        .fits(rules, 64 * 4 * 8);
    // Macro-blocks of 32 by 16 pixels.
    let mut tiled = Texture::new(64, 17, format::FMT_8_8_8_8).tiled(1, 1);
    tiled.fits(rules, 64 * 32 * 4);
    rules.push(tiled.spoil(
        Reason::TiledOffset,
        reg(mmio::TX_OFFSET),
        tiled.offset | 1024,
        64 * 64 * 4,
    ));
    rules.push(tiled.spoil(
        Reason::TilingMode,
        reg(mmio::TX_OFFSET),
        tx_offset::MICRO_TILE.of(3),
        64 * 64 * 4,
    ));
    rules.push(tiled.spoil(
        Reason::TilingMode,
        reg(mmio::TX_OFFSET),
        tx_offset::MICRO_TILE.of(2),
        64 * 64 * 4,
    ));
    // Levels of 128, 64, 32 columns are macro-tiled, smaller ones are not: 16 by 16 has eight rows of four
    // micro-blocks.
    tiled = Texture::new(128, 128, format::FMT_8_8_8_8)
        .levels(7)
        .tiled(1, 1);
    let micro = |edge: u64| edge.max(4) * edge.max(2) * 4;
    let chain: u64 = (0..=7).map(|i| micro(128 >> i)).sum();
    tiled.fits(rules, chain);
    // A level that is as wide as a macro-block but not as high may be macro-tiled all the same: 256 by 32 and 128 by
    // 16 are whole macro-blocks anyway, 64 by 8 and 32 by 4 take two and one, 16 by 2 takes four micro-blocks.
    tiled = Texture::new(256, 32, format::FMT_8_8_8_8)
        .levels(4)
        .tiled(1, 1);
    let chain = 256 * 32 * 4 + 128 * 16 * 4 + 2 * 2048 + 2048 + 4 * 32;
    tiled.fits(rules, chain);
    // One that is not as wide is not, however high: 16 by 128 has four micro-blocks a row.
    tiled = Texture::new(32, 256, format::FMT_8_8_8_8)
        .levels(1)
        .tiled(1, 1);
    tiled.fits(rules, 32 * 256 * 4 + 16 * 128 * 4);
    // Without the flag the object's tiling is added to the stream's.
    let plain = Texture::new(64, 16, format::FMT_8_8_8_8);
    let (mut stream, _) = plain.stream();
    let pitch = at(&stream, mmio::RB3D_COLORPITCH.at(0).unwrap());
    stream.words.splice(
        pitch + 1..pitch + 1,
        [
            r500::portable::pm4::operation(r500::portable::regs::pm4::op::NOP, 1),
            0,
        ],
    );
    let draw = point_control(&stream);
    let marker = at(&stream, reg(mmio::TX_OFFSET)) + 2;
    let mut rule = Rule::new(Reason::TilingMode, &stream, marker, 8)
        .shows_at(draw)
        .with_objects(&SIZES);
    rule.options = PATCH;
    rule.objects[2].tiling = tiling::MICRO_SQUARE;
    rules.push(rule);
}
