// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Textures (L1133-1346): every texel of the levels that a filter can choose.
//!
//! Only the pixel shader fetches from textures, and its instructions are opaque (decision 1). So each texture counts that is
//! routed to it: one of the textures that 02h.FEh/00h counts, or one whose register the texture address unit reads. There is
//! no register for a pitch (decision 5): rows have their bytes, rounded up to 32. Where width and height are given twice, as
//! numbers and as powers of 2, the larger one counts.

use lapidary_model::runs::Runs;
use lapidary_registers::Field;
use lapidary_registers::chrome9::enums::{texture_format, texture_wrap};
use lapidary_registers::chrome9::para_01::{self, enable_2, ps_2};
use lapidary_registers::chrome9::para_02_general::{self, texture_general};
use lapidary_registers::chrome9::para_02_sample::{
    self, filter_control_1 as filter, filter_control_2 as wrap, level_control_1 as levels,
};
use lapidary_registers::chrome9::para_02_stage::{
    self, face_0_base, texture_control_1 as kind, texture_control_2 as size,
    texture_control_3 as third, texture_control_4 as layout, texture_control_5 as format,
};
use lapidary_registers::chrome9::para_03_mip::{LEVEL_BASE, level_base};
use lapidary_registers::chrome9::para_03_palette::PALETTE;

use super::area::{Client, Footprint};
use super::format::block;
use super::state::{State, value_name};
use super::surface::LINE;

/// Textures that there are parameters for.
const TEXTURES: u8 = 16;
/// The most that can be counted.
const COUNTED: u32 = 8;
/// The largest size, and the largest exponent of one.
const LARGEST: u32 = 2048;
const EXPONENT: u32 = 11;
/// Levels that the table has an entry for, from level 1 on.
const ENTRIES: u32 = 8;
/// Sub-types of the table of levels, and of the palette.
const TABLE: u8 = 0x10;
const PALETTE_TABLE: u8 = 0;

/// Level 0 of each face, and where the face is.
const FACES: [(u32, Field); 6] = [
    (para_02_stage::FACE_0_BASE, kind::FACE_0_LOCATION),
    (para_02_stage::FACE_1_BASE, kind::FACE_1_LOCATION),
    (para_02_stage::FACE_2_BASE, kind::FACE_2_LOCATION),
    (para_02_stage::FACE_3_BASE, kind::FACE_3_LOCATION_ASSUMED),
    (para_02_stage::FACE_4_BASE, kind::FACE_4_LOCATION_ASSUMED),
    (para_02_stage::FACE_5_BASE, kind::FACE_5_LOCATION_ASSUMED),
];

/// Return the textures that are routed to the pixel shader.
pub fn routed(state: &State<'_>) -> Vec<u8> {
    if !enable_2::PIXEL_SHADER.any(state.attribute(para_01::ENABLE_2)) {
        return Vec::new();
    }
    let count = texture_general::COUNT.get(state.general(para_02_general::TEXTURE_GENERAL));
    if count > COUNTED {
        state.wrong(format!("TEXTURE_GENERAL counts {count} textures"));
    }
    let inputs = ps_2::TAU_INPUTS.get(state.attribute(para_01::PS_2));
    let is_routed = |n: &u8| u32::from(*n) < count || inputs & (1 << n) != 0;
    (0..TEXTURES).filter(is_routed).collect()
}

/// A texture as its parameters describe it.
struct Texture<'a> {
    state: &'a State<'a>,
    n: u8,
    /// 02h/18h, 02h/22h and 02h/30h.
    kind: u32,
    layout: u32,
    format: u32,
}

/// Append all textures of a draw.
pub fn fetched(state: &State<'_>, footprints: &mut Vec<Footprint>) {
    for n in routed(state) {
        let texture = Texture {
            state,
            n,
            kind: state.stage(n, para_02_stage::TEXTURE_CONTROL_1),
            layout: state.stage(n, para_02_stage::TEXTURE_CONTROL_4),
            format: state.stage(n, para_02_stage::TEXTURE_CONTROL_5),
        };
        texture.append(footprints);
    }
}

impl Texture<'_> {
    fn wrong(&self, text: &str) {
        self.state.wrong(format!("texture {}: {text}", self.n));
    }

    /// Return whether it has six faces, and whether it has a third dimension. A projected texture may have either.
    fn shape(&self) -> (bool, bool) {
        use kind::kind::{CUBE, PROJECTION, VOLUME};
        let code = kind::KIND.get(self.kind) & !PROJECTION;
        (code == CUBE, code == VOLUME)
    }

    /// Return a size of level 0, which is given as a number and as an exponent.
    fn extent(&self, number: u32, exponent: u32) -> u64 {
        let power = layout::POWER_OF_2.any(self.layout);
        if number > LARGEST || power && exponent > EXPONENT {
            self.wrong("larger than 2048 texels");
        }
        let larger = if power {
            number.max(1 << exponent.min(EXPONENT))
        } else {
            number
        };
        if larger == 0 {
            self.wrong("0 texels wide, high or long");
        }
        larger.max(1).into()
    }

    /// Return width, height and length of level 0.
    fn extents(&self) -> [u64; 3] {
        let flat = self.state.stage(self.n, para_02_stage::TEXTURE_CONTROL_2);
        let (_, volume) = self.shape();
        let length = if volume {
            let long = self.state.stage(self.n, para_02_stage::TEXTURE_CONTROL_3);
            self.extent(
                third::LENGTH.get(long),
                layout::LENGTH_EXPONENT.get(self.layout),
            )
        } else {
            1
        };
        [
            self.extent(
                size::WIDTH.get(flat),
                layout::WIDTH_EXPONENT.get(self.layout),
            ),
            self.extent(
                size::HEIGHT_ASSUMED.get(flat),
                layout::HEIGHT_EXPONENT.get(self.layout),
            ),
            length,
        ]
    }

    /// Return the levels that can be fetched. Without a filter between levels it is level 0, or what the least level and
    /// the offset make of it.
    fn levels(&self) -> Vec<u32> {
        let control = self.state.sample(self.n, para_02_sample::LEVEL_CONTROL_1);
        let mip = filter::MIP.get(self.state.sample(self.n, para_02_sample::FILTER_CONTROL_1));
        let (first, last) = (
            levels::MIN_LEVEL.get(control),
            levels::MAX_LEVEL.get(control),
        );
        if first > EXPONENT || last > EXPONENT {
            self.wrong("a level beyond 11");
        }
        if first > last {
            self.wrong("its least level is beyond its greatest");
        }
        let (_, volume) = self.shape();
        if mip == filter::mip::LEVEL_0 {
            let moved = levels::OFFSET.any(control);
            let mut all = vec![0];
            all.extend((first..=last.min(EXPONENT)).filter(|l| *l != 0 && (moved || *l == first)));
            return all;
        }
        if volume && last != 0 {
            self.wrong("a volume has no further levels");
        }
        (first..=last.min(EXPONENT)).collect()
    }

    /// Return the bytes of a level, without the third dimension.
    fn bytes(&self, width: u64, height: u64) -> u64 {
        let block = block(format::FORMAT.get(self.format));
        let row = (width.div_ceil(block.side) * block.bits).div_ceil(8);
        let rows = height.div_ceil(block.side);
        let row = row.next_multiple_of(LINE);
        match (
            layout::TILED.any(self.layout),
            layout::TILE_16.any(self.layout),
        ) {
            (false, _) => row * rows,
            (true, false) => row * rows.next_multiple_of(8),
            (true, true) => row * rows.next_multiple_of(16),
        }
    }

    /// Return where a level of a face begins, and in which memory; none if there is no entry for it.
    fn place(&self, face: usize, level: u32) -> Option<(u64, u32)> {
        let (base, location) = FACES[face];
        let location = location.get(self.kind);
        let first = || u64::from(face_0_base::BASE.get(self.state.stage(self.n, base))) * 256;
        if level == 0 {
            return Some((first(), location));
        }
        if level > ENTRIES {
            self.wrong("a level that the table has no entry for");
            return None;
        }
        let index = LEVEL_BASE.at(u32::from(self.n) * ENTRIES + level - 1)?;
        let entry = self.state.table(TABLE, index);
        let offset = u64::from(level_base::BASE.get(entry)) * 256;
        let relative = kind::BASE_MODE.any(self.kind);
        // The procedure of L1170.
        let with_face = relative || layout::POWER_OF_2.any(self.layout);
        Some((
            if relative { first() + offset } else { offset },
            if with_face {
                location
            } else {
                level_base::LOCATION.get(entry)
            },
        ))
    }

    fn append(&self, footprints: &mut Vec<Footprint>) {
        let [width, height, length] = self.extents();
        let (cube, _) = self.shape();
        let levels = self.levels();
        if cube && !kind::BASE_MODE.any(self.kind) && levels.iter().any(|l| *l > 0) {
            self.wrong("levels of a cube need offsets");
        }
        self.judge_border();
        let code = format::FORMAT.get(self.format);
        if [texture_format::IA44, texture_format::AI44].contains(&code) {
            for entry in 0..PALETTE.len() {
                self.state.table(PALETTE_TABLE, entry);
            }
        }
        let name = value_name("TEXTURE_CONTROL_5", "FORMAT", code);
        for face in 0..if cube { FACES.len() } else { 1 } {
            for level in &levels {
                let Some((start, location)) = self.place(face, *level) else {
                    continue;
                };
                let (w, h) = ((width >> level).max(1), (height >> level).max(1));
                let what = format!("{name}, {w} x {h} x {length}, face {face}, level {level}");
                footprints.push(Footprint::read(
                    Client::Texture(self.n),
                    location,
                    Runs::one(start, self.bytes(w, h) * length),
                    what,
                ));
            }
        }
    }

    /// Ask for what a border needs.
    fn judge_border(&self) {
        use texture_wrap::BORDER;
        let control = self.state.sample(self.n, para_02_sample::FILTER_CONTROL_2);
        let directions = [wrap::WRAP_S, wrap::WRAP_T, wrap::WRAP_R];
        if directions.iter().any(|d| d.get(control) == BORDER) {
            self.state.sample(self.n, para_02_sample::BORDER_CONTROL_1);
            self.state.sample(self.n, para_02_sample::BORDER_CONTROL_2);
        }
    }
}
