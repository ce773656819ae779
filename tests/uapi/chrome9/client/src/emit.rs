// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Blits as streams: registers of the 2D engine, then the data of the CPU if there are any.
//!
//! `GECMD` starts the engine, so it is the last register. The driver admits a command only if the stream has set all
//! registers that the command depends on, so each blit sets all of its own. Registers are those of the database
//! (`drivers/chrome9/registers/engine2d.xml`):
//!
//! - sizes and positions are in pixels, sizes less one; bases and pitches are in units of 8 bytes;
//! - going leftwards or upwards, positions are those of the right column or the lower row;
//! - the pattern is one colour, `MONOPATFGC`;
//! - `FGCOLOR` and `BGCOLOR` are the colours of a monochrome source, or the keys of destination and source.

use crate::blit::{Blit, Depth, Padding, Source, Surface};
use crate::stream::{Address, Stream, Write};
use lapidary_registers::Field;
use lapidary_registers::chrome9::mmio::{
    self, clipbr, cliptl, dimension, dstpos, gecmd, gemode, keycontrol, pitch, srcpos,
};

/// Bytes of a unit of bases and pitches.
const UNIT: u32 = 8;

/// Append a blit. `handles` has the handle of each object that surfaces name by position.
///
/// # Panics
///
/// If the description is none of a blit: no such object, keys with a monochrome source, or a number that does not fit its
/// field.
pub fn blit(stream: &mut Stream, handles: &[u32], blit: &Blit) {
    stream.registers(&registers(handles, blit));
    match &blit.source {
        Source::None | Source::Surface { .. } => {}
        Source::Mono { bits, padding, .. } => {
            stream.host_data(&mono(bits, blit.rect.width as usize, *padding));
        }
        Source::Colour { pixels } => {
            stream.host_data(&colours(pixels, blit.rect.width as usize, blit.depth));
        }
    }
}

/// Return a word with a field of that value.
///
/// # Panics
///
/// If it does not fit.
fn fit(field: Field, value: u32) -> u32 {
    assert!(value <= field.max(), "{value:#x} does not fit {field:?}");
    field.of(value)
}

/// Return the writes that set a blit up and start it.
///
/// # Panics
///
/// If a number does not fit its field, or as [`blit`].
pub fn registers(handles: &[u32], blit: &Blit) -> Vec<Write> {
    let rect = blit.rect;
    let address = |surface: Surface| Address {
        handle: handles[surface.object],
        offset: surface.offset,
    };
    let right = if blit.leftwards { rect.width - 1 } else { 0 };
    let lower = if blit.upwards { rect.height - 1 } else { 0 };
    let mut pitches = fit(pitch::DESTINATION, blit.target.pitch / UNIT);
    if let Source::Surface { surface, .. } = blit.source {
        pitches |= fit(pitch::SOURCE, surface.pitch / UNIT);
    }
    let mut writes = vec![
        Write::new(mmio::GEMODE, gemode::DEPTH.of(depth(blit.depth))),
        Write::new(mmio::PITCH, pitches),
        Write::new(
            mmio::DIMENSION,
            fit(dimension::WIDTH, rect.width - 1) | fit(dimension::HEIGHT, rect.height - 1),
        ),
        Write::new(
            mmio::DSTPOS,
            fit(dstpos::X, rect.x + right) | fit(dstpos::Y, rect.y + lower),
        ),
        Write::address(mmio::DSTBASE, address(blit.target)),
        Write::new(mmio::KEYCONTROL, keys(blit)),
        Write::new(mmio::MONOPATFGC, blit.pattern),
    ];
    match &blit.source {
        Source::None => {}
        Source::Surface { surface, x, y } => writes.extend([
            Write::new(
                mmio::SRCPOS,
                fit(srcpos::X, x + right) | fit(srcpos::Y, y + lower),
            ),
            Write::address(mmio::SRCBASE, address(*surface)),
        ]),
        Source::Mono { .. } | Source::Colour { .. } => writes.push(Write::new(mmio::SRCPOS, 0)),
    }
    let colours = match &blit.source {
        Source::Mono { ones, zeroes, .. } => {
            assert!(
                blit.keys.source.or(blit.keys.destination).is_none(),
                "keys of a monochrome source"
            );
            [Some(*ones), *zeroes]
        }
        _ => [blit.keys.destination, blit.keys.source],
    };
    for (register, colour) in [mmio::FGCOLOR, mmio::BGCOLOR].into_iter().zip(colours) {
        writes.extend(colour.map(|colour| Write::new(register, colour)));
    }
    if let Some(clip) = blit.clip {
        writes.extend([
            Write::new(
                mmio::CLIPTL,
                fit(cliptl::LEFT, clip.x) | fit(cliptl::TOP, clip.y),
            ),
            Write::new(
                mmio::CLIPBR,
                fit(clipbr::RIGHT, clip.x + clip.width - 1)
                    | fit(clipbr::BOTTOM, clip.y + clip.height - 1),
            ),
        ]);
    }
    writes.push(Write::new(mmio::GECMD, command(blit)));
    writes
}

/// Return the number of a depth.
pub const fn depth(depth: Depth) -> u32 {
    match depth {
        Depth::Bits8 => gemode::depth::BPP_8,
        Depth::Bits16 => gemode::depth::BPP_16,
        Depth::Bits32 => gemode::depth::BPP_32,
    }
}

fn keys(blit: &Blit) -> u32 {
    let flag = |field: Field, set: bool| field.of(set.into());
    fit(keycontrol::BYTE_MASK, blit.kept)
        | flag(keycontrol::SOURCE_KEY, blit.keys.source.is_some())
        | flag(keycontrol::DESTINATION_KEY, blit.keys.destination.is_some())
        | flag(keycontrol::INVERT_KEY, blit.keys.inverted)
}

fn command(blit: &Blit) -> u32 {
    let flag = |field: Field, set: bool| field.of(set.into());
    let source = match &blit.source {
        Source::None | Source::Surface { .. } => 0,
        Source::Colour { .. } => gecmd::SOURCE_SYSTEM.mask(),
        Source::Mono {
            padding, zeroes, ..
        } => {
            let rows = match padding {
                Padding::Packed => gecmd::MONO_PACK.mask(),
                Padding::Byte => gecmd::MONO_ALIGN.of(gecmd::mono_align::BYTE),
                Padding::Word => gecmd::MONO_ALIGN.of(gecmd::mono_align::WORD),
                Padding::Dword => gecmd::MONO_ALIGN.of(gecmd::mono_align::DWORD),
            };
            gecmd::SOURCE_SYSTEM.mask()
                | gecmd::MONO_SOURCE.mask()
                | flag(gecmd::MONO_SOURCE_TRANSPARENT, zeroes.is_none())
                | rows
        }
    };
    gecmd::COMMAND.of(gecmd::command::BLT)
        | gecmd::ROP.of(blit.rop.into())
        | gecmd::FIXED_COLOR_PATTERN.mask()
        | flag(gecmd::CLIP_ENABLE, blit.clip.is_some())
        | flag(gecmd::DEC_X, blit.leftwards)
        | flag(gecmd::DEC_Y, blit.upwards)
        | source
}

/// Return dwords of bytes, padded at their end.
fn dwords(bytes: &[u8]) -> Vec<u32> {
    let dword = |chunk: &[u8]| {
        let mut whole = [0; 4];
        whole[..chunk.len()].copy_from_slice(chunk);
        u32::from_le_bytes(whole)
    };
    bytes.chunks(4).map(dword).collect()
}

/// Return rows of bits. The left pixel is the highest bit of a byte.
pub fn mono(bits: &[bool], width: usize, padding: Padding) -> Vec<u32> {
    let mut line: Vec<bool> = Vec::new();
    for row in bits.chunks(width) {
        line.extend(row);
        line.resize(line.len().next_multiple_of(padding.bits()), false);
    }
    let byte = |chunk: &[bool]| {
        let ones = chunk.iter().enumerate().filter(|(_, bit)| **bit);
        ones.fold(0u8, |byte, (i, _)| byte | (0x80 >> i))
    };
    dwords(&line.chunks(8).map(byte).collect::<Vec<_>>())
}

/// Return rows of pixels, each of whole dwords.
pub fn colours(pixels: &[u32], width: usize, depth: Depth) -> Vec<u32> {
    let bytes = depth.bytes() as usize;
    let row = |row: &[u32]| {
        let pixels = row.iter().flat_map(|p| p.to_le_bytes()[..bytes].to_vec());
        dwords(&pixels.collect::<Vec<_>>())
    };
    pixels.chunks(width).flat_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_bits_begin_with_the_highest_bit_of_a_byte() {
        let bits = [true, false, false, false, true, false, false, false, true];
        assert_eq!(mono(&bits, 3, Padding::Packed), [0b1000_0000_1000_1000]);
        assert_eq!(mono(&bits, 3, Padding::Byte), [0x0020_4080]);
        assert_eq!(mono(&bits, 3, Padding::Word), [0x0040_0080, 0x20]);
        assert_eq!(mono(&bits, 3, Padding::Dword), [0x80, 0x40, 0x20]);
    }

    #[test]
    fn rows_of_pixels_are_whole_dwords() {
        let pixels = [1, 2, 3, 4, 5, 6];
        assert_eq!(
            colours(&pixels, 3, Depth::Bits16),
            [0x0002_0001, 3, 0x0005_0004, 6]
        );
        assert_eq!(
            colours(&pixels, 6, Depth::Bits8),
            [0x0403_0201, 0x0000_0605]
        );
        assert_eq!(colours(&pixels, 2, Depth::Bits32), pixels);
    }
}
