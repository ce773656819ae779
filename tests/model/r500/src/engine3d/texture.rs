// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Texture fetch: every texel of the levels that a filter can choose (R5xx 10.8).
//!
//! Which texels a shader asks for is not known, so all of them count; coordinates never leave the picture, whatever
//! the clamp mode. The layout of a chain of levels is not in the manual, it is what Mesa's r300 driver allocates:
//! from the finest level on, in each level all faces or layers, each a surface of its own whose lines and height are
//! padded to whole blocks. Where the manual demands a power of two, the padded size counts: for mipmaps, and along a
//! direction that repeats.

use lapidary_registers::r500::mmio::{
    self, tx_filter0, tx_filter1, tx_format0, tx_format1, tx_format2, tx_offset,
};

use super::area::{Area, Client};
use super::format;
use super::state::State;
use super::surface::{Micro, Rect, Surface};
use lapidary_model::runs::Runs;

/// Textures that there are registers for.
const TEXTURES: u32 = 16;

/// A texture as its registers describe it.
struct Texture {
    filter0: u32,
    filter1: u32,
    format0: u32,
    format1: u32,
    format2: u32,
    offset: u32,
}

/// Append all textures that are switched on.
pub fn fetched(state: &State<'_>, areas: &mut Vec<Area>) {
    let enable = state.get(mmio::TX_ENABLE);
    for i in (0..TEXTURES).filter(|i| (enable >> i) & 1 != 0) {
        let texture = Texture {
            filter0: state.at(mmio::TX_FILTER0, i),
            filter1: state.at(mmio::TX_FILTER1, i),
            format0: state.at(mmio::TX_FORMAT0, i),
            format1: state.at(mmio::TX_FORMAT1, i),
            format2: state.at(mmio::TX_FORMAT2, i),
            offset: state.at(mmio::TX_OFFSET, i),
        };
        texture.levels(|runs| {
            let client = Client::Texture(i as u8);
            if let Some(last) = areas.last_mut().filter(|a| a.client == client) {
                if last.runs.is_dense() && runs.is_dense() && last.runs.end() == runs.start {
                    last.runs = Runs::one(last.runs.start, runs.end() - last.runs.start);
                    return;
                }
            }
            areas.push(Area {
                client,
                read: true,
                write: false,
                runs,
            });
        });
    }
}

/// Return whether a coordinate may come back at the other side.
fn repeats(clamp: u32) -> bool {
    use tx_filter0::clamp_s::{CLAMP_BORDER, CLAMP_HALF_BORDER, CLAMP_LAST};
    !matches!(clamp, CLAMP_LAST | CLAMP_HALF_BORDER | CLAMP_BORDER)
}

impl Texture {
    fn mipmapped(&self) -> bool {
        tx_filter0::MIP_FILTER.get(self.filter0) != tx_filter0::mip_filter::NONE
    }

    /// Return the finest and the coarsest level that can be fetched. Without a filter between levels it is the finest
    /// alone.
    fn range(&self) -> (u32, u32) {
        let finest = tx_filter0::MAX_MIP_LEVEL.get(self.filter0);
        let coarsest = tx_format0::NUM_LEVELS.get(self.format0);
        if self.mipmapped() {
            (finest.min(coarsest), finest.max(coarsest))
        } else {
            (finest.min(coarsest), finest)
        }
    }

    /// Return width and height in texels, padded where the manual demands it.
    fn size(&self) -> (u64, u64) {
        let wide = tx_format2::TXWIDTH_11.get(self.format2) << 11;
        let high = tx_format2::TXHEIGHT_11.get(self.format2) << 11;
        let w = u64::from(tx_format0::TXWIDTH.get(self.format0) | wide) + 1;
        let h = u64::from(tx_format0::TXHEIGHT.get(self.format0) | high) + 1;
        let pad = |n: u64, clamp: u32| {
            if self.mipmapped() || repeats(clamp) {
                n.next_power_of_two()
            } else {
                n
            }
        };
        (
            pad(w, tx_filter0::CLAMP_S.get(self.filter0)),
            pad(h, tx_filter0::CLAMP_T.get(self.filter0)),
        )
    }

    /// Return the number of layers of a level, of a volume or of the faces of a cube.
    fn layers(&self, level: u32) -> u64 {
        use tx_format1::tex_coord_type::{TEX_2D, TEX_3D};
        match tx_format1::TEX_COORD_TYPE.get(self.format1) {
            TEX_2D => 1,
            TEX_3D => ((1u64 << tx_format0::TXDEPTH.get(self.format0)) >> level).max(1),
            _ => 6,
        }
    }

    fn levels(&self, mut each: impl FnMut(Runs)) {
        let element = format::element(
            tx_format1::TXFORMAT.get(self.format1),
            tx_format2::TXFORMAT_MSB.any(self.format2),
        );
        let micro = Micro::of(tx_offset::MICRO_TILE.get(self.offset));
        let (width, height) = self.size();
        let (finest, coarsest) = self.range();
        let mut base = u64::from(self.offset & tx_offset::TXOFFSET.mask());
        for level in 0..=coarsest {
            let w = (width >> level).max(1);
            let h = (height >> level).max(1);
            let pitch = if tx_format0::TXPITCH_EN.any(self.format0) {
                ((u64::from(tx_format2::TXPITCH.get(self.format2)) + 1) >> level).max(1)
            } else {
                w
            };
            let mut surface = Surface {
                base,
                pitch: pitch.div_ceil(element.width),
                bytes: element.bytes,
                micro,
                macro_tiled: tx_offset::MACRO_TILE.any(self.offset),
                samples: 1,
            };
            let (across, down) = (w.div_ceil(element.width), h.div_ceil(element.height));
            if surface.macro_tiled {
                // Small levels are macro-linear. The manual speaks of the width only; Mesa lays levels out by both.
                let (bw, bh) = surface.block();
                surface.macro_tiled = if tx_filter1::MACRO_SWITCH.any(self.filter1) {
                    across > bw && down > bh
                } else {
                    across >= bw && down >= bh
                };
            }
            let layers = self.layers(level);
            // Where a level follows, or another layer, heights are powers of two.
            let lines = if layers > 1 || self.mipmapped() {
                h.next_power_of_two().div_ceil(element.height)
            } else {
                down
            };
            let layer = surface.size(lines);
            if level >= finest {
                let one = surface
                    .runs(Rect {
                        x0: 0,
                        y0: 0,
                        x1: across,
                        y1: down,
                    })
                    .merged();
                each(if layers == 1 {
                    one
                } else {
                    Runs::one(one.start, (layers - 1) * layer + one.end() - one.start)
                });
            }
            base += layer * layers;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Set;
    use super::*;

    const BASE: u32 = 0x10_0000;

    /// Return texture 3 of 8_8_8_8 texels, clamped, without mipmaps.
    fn texture(w: u32, h: u32) -> Set {
        let mut set = Set::default();
        set.write(mmio::TX_ENABLE, 1 << 3);
        put(
            &mut set,
            mmio::TX_FORMAT0,
            tx_format0::TXWIDTH.of(w - 1) | tx_format0::TXHEIGHT.of(h - 1),
        );
        put(
            &mut set,
            mmio::TX_FORMAT1,
            tx_format1::txformat::FMT_8_8_8_8,
        );
        put(
            &mut set,
            mmio::TX_FILTER0,
            tx_filter0::CLAMP_S.of(2) | tx_filter0::CLAMP_T.of(2),
        );
        put(&mut set, mmio::TX_OFFSET, BASE);
        set
    }

    fn put(set: &mut Set, array: lapidary_registers::RegArray, bits: u32) {
        let offset = array.at(3).unwrap();
        let old = set.state().get(offset);
        set.write(offset, old | bits);
    }

    /// Return start and end of each area, from the base.
    fn spans(set: &mut Set) -> Vec<(u64, u64)> {
        let mut areas = Vec::new();
        fetched(&set.state(), &mut areas);
        assert!(
            areas
                .iter()
                .all(|a| a.client == Client::Texture(3) && a.read && !a.write)
        );
        let base = u64::from(BASE);
        areas
            .iter()
            .map(|a| (a.runs.start - base, a.runs.end() - base))
            .collect()
    }

    fn mipmaps(set: &mut Set, levels: u32, finest: u32) {
        put(
            set,
            mmio::TX_FILTER0,
            tx_filter0::MIP_FILTER.of(2) | tx_filter0::MAX_MIP_LEVEL.of(finest),
        );
        put(set, mmio::TX_FORMAT0, tx_format0::NUM_LEVELS.of(levels - 1));
    }

    #[test]
    fn a_plain_picture() {
        assert_eq!(spans(&mut texture(64, 16)), [(0, 64 * 16 * 4)]);
        // 10 texels a line are padded to 64 bytes; the last line ends with its last texel.
        assert_eq!(spans(&mut texture(10, 3)), [(0, 2 * 64 + 40)]);
        let mut off = texture(64, 16);
        off.write(mmio::TX_ENABLE, 0);
        assert_eq!(spans(&mut off), []);
    }

    #[test]
    fn a_pitch() {
        let mut t = texture(60, 4);
        put(&mut t, mmio::TX_FORMAT0, tx_format0::TXPITCH_EN.mask());
        put(&mut t, mmio::TX_FORMAT2, tx_format2::TXPITCH.of(99));
        // 100 texels are 12.5 micro-blocks.
        assert_eq!(spans(&mut t), [(0, 3 * 13 * 32 + 240)]);
    }

    #[test]
    fn repeating_pads_to_a_power_of_two() {
        let mut t = texture(10, 3);
        t.write(mmio::TX_FILTER0.at(3).unwrap(), 0);
        assert_eq!(spans(&mut t), [(0, 64 * 4)]);
    }

    #[test]
    fn a_chain_of_levels() {
        // 16 x 4: 256 bytes, then 8 x 2: 64, 4 x 1: 32 (16 used), 2 x 1, 1 x 1.
        let mut t = texture(16, 4);
        mipmaps(&mut t, 5, 0);
        assert_eq!(spans(&mut t), [(0, 256 + 64 + 16), (352, 360), (384, 388)]);
        let mut t = texture(16, 4);
        mipmaps(&mut t, 3, 1);
        assert_eq!(
            spans(&mut t),
            [(256, 256 + 64 + 16)],
            "the finest level is not used"
        );
    }

    #[test]
    fn without_a_level_filter_one_level_counts() {
        let mut t = texture(16, 4);
        put(&mut t, mmio::TX_FORMAT0, tx_format0::NUM_LEVELS.of(4));
        assert_eq!(spans(&mut t), [(0, 256)]);
        put(&mut t, mmio::TX_FILTER0, tx_filter0::MAX_MIP_LEVEL.of(1));
        assert_eq!(spans(&mut t), [(256, 320)]);
    }

    #[test]
    fn cubes_and_volumes() {
        let mut t = texture(16, 16);
        put(&mut t, mmio::TX_FORMAT1, tx_format1::TEX_COORD_TYPE.of(2));
        assert_eq!(spans(&mut t), [(0, 6 * 1024)]);
        let mut t = texture(16, 16);
        put(&mut t, mmio::TX_FORMAT1, tx_format1::TEX_COORD_TYPE.of(1));
        put(&mut t, mmio::TX_FORMAT0, tx_format0::TXDEPTH.of(3));
        assert_eq!(spans(&mut t), [(0, 8 * 1024)]);
        mipmaps(&mut t, 2, 0);
        assert_eq!(spans(&mut t), [(0, 8 * 1024 + 4 * 256)]);
    }

    #[test]
    fn compressed_blocks() {
        // DXT1, 20 x 8: five blocks of 8 bytes a row, padded to 64.
        let mut t = texture(20, 8);
        t.write(
            mmio::TX_FORMAT1.at(3).unwrap(),
            tx_format1::txformat::FMT_DXT1,
        );
        assert_eq!(spans(&mut t), [(0, 64 + 40)]);
        t.write(
            mmio::TX_FORMAT1.at(3).unwrap(),
            tx_format1::txformat::FMT_DXT5,
        );
        assert_eq!(spans(&mut t), [(0, 96 + 80)]);
    }

    #[test]
    fn tiles() {
        // Macro- and micro-tiled, 64 x 32: blocks of 32 x 16.
        let mut t = texture(64, 32);
        put(
            &mut t,
            mmio::TX_OFFSET,
            tx_offset::MACRO_TILE.mask() | tx_offset::MICRO_TILE.of(1),
        );
        assert_eq!(spans(&mut t), [(0, 8192)]);
        // 32 x 16 still is a macro-block, 16 x 8 is not: 4 x 4 micro-blocks.
        mipmaps(&mut t, 3, 0);
        assert_eq!(spans(&mut t), [(0, 8192 + 2048 + 512)]);
        // With the switch a level of exactly one macro-block is linear as well, of the same size.
        put(&mut t, mmio::TX_FILTER1, tx_filter1::MACRO_SWITCH.mask());
        assert_eq!(spans(&mut t), [(0, 8192 + 2048 + 512)]);
    }

    #[test]
    fn four_thousand_texels() {
        let mut t = texture(2048, 2048);
        put(
            &mut t,
            mmio::TX_FORMAT2,
            tx_format2::TXWIDTH_11.mask() | tx_format2::TXHEIGHT_11.mask(),
        );
        assert_eq!(spans(&mut t), [(0, 4096 * 4096 * 4)]);
    }
}
