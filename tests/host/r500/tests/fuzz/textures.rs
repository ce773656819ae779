// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Textures of every format and shape: planes, volumes and cubes, with chains of levels, tiles and pitches.

use r500::portable::regs::mmio;

use crate::scene::{extent, pick, rarely, Scene, ROOM};

use mmio::{tx_filter0, tx_format0, tx_format1, tx_format2, tx_offset};

/// Return the bits of a texel, by format; of the largest one if there is no such format.
fn bits(format: u32) -> u64 {
    match format {
        0 | 2 | 5 | 16 | 17 | 31 => 8,
        1 | 3 | 6 | 7 | 10 | 11 | 18 | 20..=22 | 24 => 16,
        4 | 8 | 9 | 12 | 13 | 19 | 23 | 25 | 27 | 30 => 32,
        14 | 26 | 28 => 64,
        15 => 4,
        32 | 33 => 1,
        37 => 4,
        34 => 16,
        35 => 32,
        36 => 64,
        _ => 128,
    }
}

#[derive(Clone, Copy)]
struct Shape {
    kind: u32,
    width: u32,
    height: u32,
    depth_log2: u32,
    levels: u32,
}

fn shape(s: &mut Scene<'_>, format: u32) -> Shape {
    let kind = pick(s.rng, &[0, 0, 0, 0, 1, 2, 2, 3]);
    let kind = if kind == 3 && !rarely(s.rng, 8) {
        0
    } else {
        kind
    };
    let max = if rarely(s.rng, 8) { 4096 } else { 2048 };
    let mut width = extent(s.rng, max);
    let mut height = if kind == 2 && !rarely(s.rng, 16) {
        width
    } else {
        extent(s.rng, max)
    };
    let depth_log2 = if kind == 1 || rarely(s.rng, 16) {
        let most = if rarely(s.rng, 8) { 13 } else { 6 };
        s.rng.u32(..most)
    } else {
        0
    };
    // A chain takes less than twice the first level, faces are six.
    let faces = if kind == 2 { 6 } else { 1u64 };
    let bytes = |width: u32, height: u32| {
        let area = u64::from(width.next_power_of_two()) * u64::from(height.next_power_of_two());
        ((2 * area * bits(format) / 8) << depth_log2) * faces
    };
    // Products of such numbers have more than 32 bits.
    let enormous = rarely(s.rng, 64);
    while !enormous && bytes(width, height) > ROOM && width + height > 2 {
        (width, height) = (width.div_ceil(2), height.div_ceil(2));
    }
    let most = width.max(height).ilog2();
    let levels = match s.rng.u32(..8) {
        0..=2 => 0,
        3..=5 => most,
        6 => s.rng.u32(..=most),
        _ if rarely(s.rng, 8) => s.rng.u32(..16),
        _ => s.rng.u32(..13),
    };
    Shape {
        kind,
        width,
        height,
        depth_log2,
        levels,
    }
}

fn texture(s: &mut Scene<'_>, unit: u32) {
    s.piece();
    let format = if rarely(s.rng, 48) {
        s.rng.u32(..64)
    } else {
        pick(
            s.rng,
            &[
                12, 12, 12, 0, 1, 3, 4, 6, 10, 11, 13, 14, 15, 16, 17, 24, 25, 26, 27, 29, 30, 31,
                37, 20,
            ],
        )
    };
    let shape = shape(s, format);
    let by_pitch = if shape.levels == 0 {
        s.rng.bool()
    } else {
        rarely(s.rng, 48)
    };
    let pitch = match s.rng.u32(..6) {
        0 => extent(s.rng, 4096),
        1 => shape.width,
        2 => shape.width.next_power_of_two(),
        _ => shape.width.next_multiple_of(64),
    };
    let clamp = |rng: &mut fastrand::Rng| pick(rng, &[0, 2, 2, 2, 6, 1, 4]);
    let filter0 = tx_filter0::CLAMP_S.of(clamp(s.rng))
        | tx_filter0::CLAMP_T.of(clamp(s.rng))
        | tx_filter0::CLAMP_R.of(clamp(s.rng))
        | tx_filter0::MAG_FILTER.of(s.rng.u32(1..3))
        | tx_filter0::MIN_FILTER.of(s.rng.u32(1..3))
        | tx_filter0::MIP_FILTER.of(s.rng.u32(..3))
        | tx_filter0::MAX_MIP_LEVEL.of(if rarely(s.rng, 4) { s.rng.u32(..16) } else { 0 })
        | tx_filter0::ID.of(unit);
    let filter1 = match s.rng.u32(..4) {
        0 => s.rng.u32(..),
        1 => 1 << 22,
        _ => 0,
    };
    let format0 = tx_format0::TXWIDTH.of(shape.width - 1)
        | tx_format0::TXHEIGHT.of(shape.height - 1)
        | tx_format0::TXDEPTH.of(shape.depth_log2)
        | tx_format0::NUM_LEVELS.of(shape.levels)
        | tx_format0::TXPITCH_EN.of(by_pitch.into());
    let format1 = tx_format1::TXFORMAT.of(format)
        | tx_format1::TEX_COORD_TYPE.of(shape.kind)
        | (s.rng.u32(..) & (0xffff << 5));
    let format2 = tx_format2::TXPITCH.of(pitch - 1)
        | tx_format2::TXFORMAT_MSB.of(format >> 5)
        | tx_format2::TXWIDTH_11.of((shape.width - 1) >> 11)
        | tx_format2::TXHEIGHT_11.of((shape.height - 1) >> 11);
    let macro_tiled = rarely(s.rng, 3);
    let micro = match bits(format) {
        _ if rarely(s.rng, 64) => s.rng.u32(..4),
        16 => pick(s.rng, &[0, 1, 2]),
        128 => 0,
        _ if matches!(format, 16 | 17 | 31) => 0,
        _ => pick(s.rng, &[0, 1]),
    };
    let offset = s.offset(if macro_tiled { 2048 } else { 32 })
        | tx_offset::MACRO_TILE.of(macro_tiled.into())
        | tx_offset::MICRO_TILE.of(micro);
    let object = s.object();
    let at = |array: lapidary::portable::bits::RegArray| array.at(unit).expect("sixteen textures");
    let border = s.rng.u32(..);
    let us_format = s.rng.u32(..);
    let with_border = s.rng.bool();
    let stream = s.on();
    stream
        .write(at(mmio::TX_FILTER0), filter0)
        .write(at(mmio::TX_FILTER1), filter1);
    if with_border {
        stream
            .write(at(mmio::TX_BORDER_COLOR), border)
            .write(at(mmio::US_FORMAT0), us_format);
    }
    stream
        .write(at(mmio::TX_FORMAT0), format0)
        .write(at(mmio::TX_FORMAT1), format1)
        .write(at(mmio::TX_FORMAT2), format2)
        .write(at(mmio::TX_OFFSET), offset)
        .marker(object);
}

/// Append textures, none to four of them, in any units.
pub fn textures(s: &mut Scene<'_>) {
    let count = pick(s.rng, &[0, 0, 1, 1, 1, 2, 3, 4]);
    s.piece().write(mmio::TX_INVALTAGS, 0);
    let mut enabled = 0u32;
    for _ in 0..count {
        let units = if rarely(s.rng, 4) { 16 } else { 4 };
        enabled |= 1 << s.rng.u32(..units);
    }
    s.piece().write(mmio::TX_ENABLE, enabled);
    for unit in 0..16 {
        if (enabled >> unit) & 1 != 0 {
            texture(s, unit);
        }
    }
}
