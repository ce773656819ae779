// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A texture: which bytes its texels take.
//!
//! A texture has up to six faces of up to nine levels. Each face has a base and a location. Further levels have an address or an
//! offset from their face, as the base mode says. Which location counts for further levels is lost in part (L1170), so that all
//! addresses of a texture have to lie in one object.
//!
//! There is no pitch. Rows have as many bytes as texels take, rounded up to 32, and tiles have 8 or 16 rows (decision 5). Of
//! compressed textures these may be rows of texels or of blocks, and the larger size counts.

use lapidary::portable::bits::Field;

use super::{
    format,
    table::Tables,
    Reason, //
};
use crate::portable::regs::{
    enums::texture_filter,
    para_02_sample::{
        filter_control_1,
        level_control_1, //
    },
    para_02_stage::{
        texture_control_1::{
            self as control_1,
            kind, //
        },
        texture_control_2 as control_2,
        texture_control_3 as control_3,
        texture_control_4 as control_4,
        texture_control_5 as control_5, //
    }, //
};

/// Faces of a cube.
pub(super) const FACES: usize = 6;
/// Levels in the table, from level 1 on.
pub(super) const TABLE_LEVELS: usize = 8;
/// The largest width, height and length.
const MOST: u32 = 2048;
/// Rows of a tile.
const LOW_TILE: u64 = 8;
const HIGH_TILE: u64 = 16;
/// Bit of a kind that projects.
const PROJECTION: u32 = kind::PROJECTION;

/// Exponents of sizes.
pub(super) const EXPONENTS: u32 = control_4::LENGTH_EXPONENT.mask()
    | control_4::HEIGHT_EXPONENT.mask()
    | control_4::WIDTH_EXPONENT.mask();

/// A texture.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stage {
    /// Controls that are set: bit `n` is that of the nth one, and then the parameters of the sample.
    pub(super) set: u16,
    /// The object of all addresses below that are known.
    pub(super) object: u32,
    /// Offsets of faces by their bases, and by their locations.
    pub(super) bases: [u32; FACES],
    pub(super) locations: [u32; FACES],
    /// Addresses or offsets of levels from level 1 on.
    pub(super) levels: [u32; TABLE_LEVELS],
    /// Which of those are known.
    pub(super) based: u8,
    pub(super) located: u8,
    pub(super) addressed: u8,
    pub(super) offset: u8,
    pub(super) control_1: u32,
    pub(super) size: u32,
    pub(super) length: u32,
    pub(super) layout: u32,
    pub(super) format: u32,
    pub(super) level: u32,
    pub(super) filter: u32,
}

/// Bits of [`Stage::set`] for the five controls of a texture, and for those of its sample.
const CONTROLS: u16 = 0x001f;
const SAMPLE: u16 = 0x03e0;

/// Return the bit of a number below 16.
pub(super) fn bit(number: usize) -> u16 {
    1u16.wrapping_shl(number as u32)
}

impl Stage {
    /// Nothing is set.
    pub(super) const UNKNOWN: Self = Self {
        set: 0,
        object: 0,
        bases: [0; FACES],
        locations: [0; FACES],
        levels: [0; TABLE_LEVELS],
        based: 0,
        located: 0,
        addressed: 0,
        offset: 0,
        control_1: 0,
        size: 0,
        length: 0,
        layout: 0,
        format: 0,
        level: 0,
        filter: 0,
    };

    /// Note that an address lies in an object. Addresses in others are not those of the texture any more.
    pub(super) fn lies_in(&mut self, object: u32) {
        if self.object != object {
            self.object = object;
            self.based = 0;
            self.located = 0;
            self.addressed = 0;
        }
    }

    /// Check a texture and return the bytes that it reaches to in its object.
    pub(super) fn end(&self, tables: &Tables) -> Result<u64, Reason> {
        if self.set & CONTROLS != CONTROLS {
            return Err(Reason::NoStage);
        }
        if self.set & SAMPLE != SAMPLE {
            return Err(Reason::NoSample);
        }
        let texels =
            format::texels(control_5::FORMAT.get(self.format)).ok_or(Reason::TextureFormat)?;
        tables.texture(
            texels.palette,
            control_5::SRGB.any(self.format),
            self.filter_4x4(),
        )?;
        let (faces, volume) = match control_1::KIND.get(self.control_1) {
            kind::RESERVED_0 | kind::RESERVED_4..=kind::RESERVED_4_LAST => {
                return Err(Reason::TextureKind)
            }
            // The low bits of a projected one may have a meaning as well.
            code => match code & !PROJECTION {
                kind::CUBE => (FACES, false),
                kind::VOLUME => (1, true),
                _ => (1, false),
            },
        };
        let (width, height, length) = self.size(volume)?;
        let last = self.last_level()?;
        if volume && last != 0 {
            return Err(Reason::TextureLevels);
        }
        // Addresses of levels would be the same for all faces (L1142).
        if faces != 1 && last != 0 && !control_1::BASE_MODE.any(self.control_1) {
            return Err(Reason::CubeLevels);
        }
        let tile = match (
            control_4::TILED.any(self.layout),
            control_4::TILE_16.any(self.layout),
        ) {
            (false, _) => 1,
            (true, false) => LOW_TILE,
            (true, true) => HIGH_TILE,
        };
        let mut end = 0;
        for face in 0..faces {
            let base = self.face(face)?;
            for level in 0..=last {
                let start = self.level(base, level)?;
                let level = level as u32;
                let bytes = texels
                    .bytes(
                        width.wrapping_shr(level).max(1),
                        height.wrapping_shr(level).max(1),
                        tile,
                    )
                    .wrapping_mul(u64::from(length));
                end = end.max(start.wrapping_add(bytes));
            }
        }
        Ok(end)
    }

    /// Return whether the filter takes its coefficients from the table.
    fn filter_4x4(&self) -> bool {
        [
            filter_control_1::MAG_S,
            filter_control_1::MIN_S,
            filter_control_1::MAG_T,
            filter_control_1::MIN_T,
        ]
        .iter()
        .any(|field| field.get(self.filter) >= texture_filter::FILTER_4X4)
    }

    /// Return width, height and length of level 0.
    fn size(&self, volume: bool) -> Result<(u32, u32, u32), Reason> {
        let width = control_2::WIDTH.get(self.size);
        let height = control_2::HEIGHT_ASSUMED.get(self.size);
        let length = control_3::LENGTH.get(self.length);
        let fits = |extent: u32| (1..=MOST).contains(&extent);
        if !fits(width) || !fits(height) || length > MOST || volume && length == 0 {
            return Err(Reason::TextureSize);
        }
        let length = if volume { length } else { 1 };
        // Sizes are given twice, and it is not known which ones count.
        let is = |field: Field, extent: u32| 1u32.wrapping_shl(field.get(self.layout)) == extent;
        let powers = is(control_4::WIDTH_EXPONENT, width)
            && is(control_4::HEIGHT_EXPONENT, height)
            && (!volume || is(control_4::LENGTH_EXPONENT, length));
        let right = if control_4::POWER_OF_2.any(self.layout) {
            powers
        } else {
            self.layout & EXPONENTS == 0
        };
        if !right {
            return Err(Reason::TextureExponents);
        }
        Ok((width, height, length))
    }

    /// Return the last level that may be fetched.
    fn last_level(&self) -> Result<usize, Reason> {
        let least = level_control_1::MIN_LEVEL.get(self.level);
        let last = if filter_control_1::MIP.get(self.filter) == filter_control_1::mip::LEVEL_0 {
            least
        } else {
            least.max(level_control_1::MAX_LEVEL.get(self.level))
        };
        if last as usize > TABLE_LEVELS {
            return Err(Reason::TextureLevels);
        }
        Ok(last as usize)
    }

    /// Return where a face begins.
    fn face(&self, face: usize) -> Result<u64, Reason> {
        let known = |which: u8| which & bit(face) as u8 != 0;
        if !known(self.based) || !known(self.located) {
            return Err(Reason::TextureAddress);
        }
        match (self.bases.get(face), self.locations.get(face)) {
            (Some(base), Some(location)) if base == location => Ok(u64::from(*base)),
            _ => Err(Reason::SplitAddress),
        }
    }

    /// Return where a level begins of a face that begins at `base`.
    fn level(&self, base: u64, level: usize) -> Result<u64, Reason> {
        let Some(index) = level.checked_sub(1) else {
            return Ok(base);
        };
        let relative = control_1::BASE_MODE.any(self.control_1);
        let known = if relative {
            self.offset
        } else {
            self.addressed
        };
        if known & bit(index) as u8 == 0 {
            return Err(Reason::TextureAddress);
        }
        let at = u64::from(self.levels.get(index).copied().unwrap_or(0));
        Ok(if relative { base.wrapping_add(at) } else { at })
    }
}
