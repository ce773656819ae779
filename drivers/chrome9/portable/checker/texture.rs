// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Parameters of type 02h (L1133-1329) and the table of levels (L1331-1346): which memory the pixel shader may fetch from.
//!
//! The encoding of the shader's instructions is not known (decision 1), so that an instruction may sample any of the sixteen
//! textures. A draw with the shader on needs all of them, set up by the stream, and counts as one that fetches all texels.
//!
//! A texture has up to six faces of up to nine levels. Each face has a base and a location. Further levels have an address or an
//! offset from their face, as the base mode says. Which location counts for further levels is lost in part (L1170), so that all
//! addresses of a texture have to lie in one object.
//!
//! There is no pitch. Rows have as many bytes as texels take, rounded up to 32, and tiles have 8 or 16 rows (decision 5).

use super::{
    attribute::only,
    format,
    relocate::{
        Part,
        Target,
        UNIT_3D, //
    },
    set::Set,
    table::Tables,
    Checker,
    Reason, //
};
use crate::portable::{
    policy::{
        self,
        Parameter, //
    },
    regs::{
        enums::texture_filter,
        para_02_general::{
            self,
            texture_general, //
        },
        para_02_sample::{
            self,
            filter_control_1,
            level_control_1, //
        },
        para_02_stage::{
            self,
            texture_control_1::{
                self as control_1,
                kind, //
            },
            texture_control_2 as control_2,
            texture_control_3 as control_3,
            texture_control_4 as control_4,
            texture_control_5 as control_5, //
        },
        para_03_mip::level_base, //
    }, //
};

/// Textures, and samples of them.
pub(super) const STAGES: usize = 16;
/// Faces of a cube.
const FACES: usize = 6;
/// Levels in the table, from level 1 on.
pub(super) const TABLE_LEVELS: usize = 8;
/// The largest width, height and length.
const MOST: u32 = 2048;
/// What rows are rounded up to, in bytes.
const ROW: u64 = 32;
/// Rows of a tile.
const LOW_TILE: u64 = 8;
const HIGH_TILE: u64 = 16;
/// Bit of a kind that projects.
const PROJECTION: u32 = kind::PROJECTION;

const CONTROL_1_BITS: u32 = control_1::FORCE_MISS.mask()
    | control_1::FACE_5_LOCATION_ASSUMED.mask()
    | control_1::FACE_4_LOCATION_ASSUMED.mask()
    | control_1::BASE_MODE.mask()
    | control_1::KIND.mask()
    | control_1::FACE_3_LOCATION_ASSUMED.mask()
    | control_1::FACE_2_LOCATION.mask()
    | control_1::FACE_1_LOCATION.mask()
    | control_1::FACE_0_LOCATION.mask();
const CONTROL_4_BITS: u32 =
    control_4::TILED.mask() | control_4::TILE_16.mask() | control_4::POWER_OF_2.mask() | EXPONENTS;
const EXPONENTS: u32 = control_4::LENGTH_EXPONENT.mask()
    | control_4::HEIGHT_EXPONENT.mask()
    | control_4::WIDTH_EXPONENT.mask();
const CONTROL_5_BITS: u32 = control_5::FORMAT.mask()
    | control_5::EXTEND_ZERO.mask()
    | control_5::ORDER_INVERSE.mask()
    | control_5::DEPTH_MODE.mask()
    | control_5::SRGB.mask()
    | control_5::COLOR_SPACE.mask();
const LEVEL_BITS: u32 = level_control_1::OFFSET.mask()
    | level_control_1::MAX_LEVEL.mask()
    | level_control_1::MIN_LEVEL.mask();
const FILTER_BITS: u32 = filter_control_1::MAX_ANISOTROPY.mask()
    | filter_control_1::MAG_S.mask()
    | filter_control_1::MIN_S.mask()
    | filter_control_1::MAG_T.mask()
    | filter_control_1::MIN_T.mask()
    | filter_control_1::MIP.mask();
const GENERAL_BITS: u32 = texture_general::COUNT.mask()
    | texture_general::FIFOS.mask()
    | texture_general::FETCH_256.mask()
    | texture_general::CLEAR_CACHE.mask();

/// A texture.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stage {
    /// Controls that are set: bit `n` is that of the nth one, and then the parameters of the sample.
    set: u16,
    /// The object of all addresses below that are known.
    object: u32,
    /// Offsets of faces by their bases, and by their locations.
    bases: [u32; FACES],
    locations: [u32; FACES],
    /// Addresses or offsets of levels from level 1 on.
    levels: [u32; TABLE_LEVELS],
    /// Which of those are known.
    based: u8,
    located: u8,
    addressed: u8,
    offset: u8,
    control_1: u32,
    size: u32,
    length: u32,
    layout: u32,
    format: u32,
    level: u32,
    filter: u32,
}

/// Bits of [`Stage::set`] for the five controls of a texture, and for those of its sample.
const CONTROLS: u16 = 0x001f;
const SAMPLE: u16 = 0x03e0;

/// All textures.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Textures {
    stages: [Stage; STAGES],
    general: Set,
    /// Textures that have been checked since they were set, a bit each.
    checked: u16,
}

/// Return the bit of a number below 16.
fn bit(number: usize) -> u16 {
    1u16.wrapping_shl(number as u32)
}

impl Textures {
    /// Refuse a draw if parameters of all textures are missing.
    pub(super) fn complete(&self) -> Result<(), Reason> {
        let (_, needed) = policy::general(0);
        if self.general.has_all(needed) {
            Ok(())
        } else {
            Err(Reason::NoGeneral)
        }
    }

    /// Return a texture to be changed.
    fn change(&mut self, number: usize) -> Result<&mut Stage, Reason> {
        self.checked &= !bit(number);
        self.stages.get_mut(number).ok_or(Reason::SubType)
    }
}

impl Stage {
    /// Note that an address lies in an object. Addresses in others are not those of the texture any more.
    fn lies_in(&mut self, object: u32) {
        if self.object != object {
            self.object = object;
            self.based = 0;
            self.located = 0;
            self.addressed = 0;
        }
    }

    /// Check a texture and return the bytes that it reaches to in its object.
    fn end(&self, tables: &Tables) -> Result<u64, Reason> {
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
        let mut end = 0;
        for face in 0..faces {
            let base = self.face(face)?;
            for level in 0..=last {
                let start = self.level(base, level)?;
                let level = level as u32;
                let columns = width.wrapping_shr(level).max(1);
                let rows = height.wrapping_shr(level).max(1);
                let whole = |extent: u32, block: u32| {
                    u64::from(extent.wrapping_add(block.wrapping_sub(1)) & !block.wrapping_sub(1))
                };
                let bits = whole(columns, texels.wide).wrapping_mul(u64::from(texels.bits));
                let row = bits.div_ceil(8).div_ceil(ROW).wrapping_mul(ROW);
                let rows = whole(rows, texels.high);
                let tile = match (
                    control_4::TILED.any(self.layout),
                    control_4::TILE_16.any(self.layout),
                ) {
                    (false, _) => 1,
                    (true, false) => LOW_TILE,
                    (true, true) => HIGH_TILE,
                };
                let rows = rows.wrapping_add(tile.wrapping_sub(1)) & !tile.wrapping_sub(1);
                let bytes = row.wrapping_mul(rows).wrapping_mul(u64::from(length));
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
        let length = if volume {
            control_3::LENGTH.get(self.length)
        } else {
            1
        };
        let fits = |extent: u32| (1..=MOST).contains(&extent);
        if !fits(width) || !fits(height) || !fits(length) {
            return Err(Reason::TextureSize);
        }
        // Sizes are given twice, and it is not known which ones count.
        let is = |field: lapidary::portable::bits::Field, extent: u32| {
            1u32.wrapping_shl(field.get(self.layout)) == extent
        };
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

impl Checker<'_> {
    /// Check the parameter of type 02h at the current position, of a texture.
    pub(super) fn stage(
        &mut self,
        number: usize,
        sub_address: u32,
        word: u32,
    ) -> Result<(), Reason> {
        match policy::stage(sub_address).0 {
            Parameter::Tag => return Ok(()),
            Parameter::Perhaps => return self.face_base(number, sub_address, word),
            Parameter::Kept => {}
            _ => return Err(Reason::UnknownParameter),
        }
        let stage = self.textures.change(number)?;
        let control = match sub_address {
            para_02_stage::TEXTURE_CONTROL_1 => {
                stage.control_1 = only(word, CONTROL_1_BITS)?;
                stage.set |= bit(0);
                return self.face_locations(number, word);
            }
            para_02_stage::TEXTURE_CONTROL_2 => {
                stage.size = word;
                1
            }
            para_02_stage::TEXTURE_CONTROL_3 => {
                stage.length = only(word, control_3::LENGTH.mask())?;
                2
            }
            para_02_stage::TEXTURE_CONTROL_4 => {
                stage.layout = only(word, CONTROL_4_BITS)?;
                3
            }
            _ => {
                stage.format = only(word, CONTROL_5_BITS)?;
                4
            }
        };
        stage.set |= bit(control);
        Ok(())
    }

    /// Check the base of a face.
    fn face_base(&mut self, number: usize, face: u32, word: u32) -> Result<(), Reason> {
        let target = self.address(word, 0, Part::Base)?;
        let face = face.wrapping_sub(para_02_stage::FACE_0_BASE) as usize;
        let stage = self.textures.change(number)?;
        stage.lies_in(target.object);
        stage.based |= bit(face) as u8;
        if let Some(base) = stage.bases.get_mut(face) {
            *base = target.offset;
        }
        Ok(())
    }

    /// Check the locations of faces. Those that the texture does not have need no relocation.
    fn face_locations(&mut self, number: usize, word: u32) -> Result<(), Reason> {
        for face in 0..FACES {
            let part = Part::FaceLocation(face as u8);
            let target = self.optional_address(word, face as u32, part)?;
            let stage = self.textures.change(number)?;
            match target {
                Some(target) => {
                    stage.lies_in(target.object);
                    stage.located |= bit(face) as u8;
                    if let Some(location) = stage.locations.get_mut(face) {
                        *location = target.offset;
                    }
                }
                None => stage.located &= !(bit(face) as u8),
            }
        }
        Ok(())
    }

    /// Check the parameter of type 02h at the current position, of a sample.
    pub(super) fn sample(
        &mut self,
        number: usize,
        sub_address: u32,
        word: u32,
    ) -> Result<(), Reason> {
        let known = policy::sample(sub_address).0;
        if !matches!(known, Parameter::Free | Parameter::Kept) {
            return Err(Reason::UnknownParameter);
        }
        let stage = self.textures.change(number)?;
        let control = match sub_address {
            para_02_sample::LEVEL_CONTROL_1 => {
                stage.level = only(word, LEVEL_BITS)?;
                5
            }
            para_02_sample::FILTER_CONTROL_1 => {
                stage.filter = only(word, FILTER_BITS)?;
                6
            }
            para_02_sample::FILTER_CONTROL_2 => 7,
            para_02_sample::BORDER_CONTROL_1 => 8,
            _ => 9,
        };
        stage.set |= bit(control);
        Ok(())
    }

    /// Check the parameter of type 02h at the current position, of all textures.
    pub(super) fn general(&mut self, sub_address: u32, word: u32) -> Result<(), Reason> {
        match policy::general(sub_address).0 {
            Parameter::Free => {}
            Parameter::Kept => {
                const { assert!(para_02_general::TEXTURE_GENERAL == 0) };
                only(word, GENERAL_BITS)?;
                self.attributes.texture_cache_emptied |= texture_general::CLEAR_CACHE.any(word);
            }
            _ => return Err(Reason::UnknownParameter),
        }
        self.textures.general.insert(sub_address);
        Ok(())
    }

    /// Check an entry of the table of levels: an address with a relocation, or an offset without.
    pub(super) fn level_base(&mut self, entry: usize, word: u32) -> Result<(), Reason> {
        let (number, index) = (entry / TABLE_LEVELS, entry % TABLE_LEVELS);
        let known = bit(index) as u8;
        let target = if self.relocations.is_next(self.position, 0) {
            Some(self.address(word, 0, Part::Level)?)
        } else if level_base::LOCATION.any(word) {
            return Err(Reason::NoRelocation);
        } else {
            None
        };
        if word & !Part::Level.mask() != 0 {
            return Err(Reason::ParameterBits);
        }
        let stage = self.textures.change(number)?;
        let at = match target {
            Some(Target { object, offset }) => {
                stage.lies_in(object);
                stage.addressed |= known;
                stage.offset &= !known;
                offset
            }
            None => {
                stage.offset |= known;
                stage.addressed &= !known;
                level_base::BASE.get(word).wrapping_mul(UNIT_3D)
            }
        };
        if let Some(level) = stage.levels.get_mut(index) {
            *level = at;
        }
        Ok(())
    }

    /// Check all textures that the shader may fetch from, and note that they are read.
    pub(super) fn fetches(&mut self) -> Result<(), Reason> {
        for number in 0..STAGES {
            if self.textures.checked & bit(number) != 0 {
                continue;
            }
            let Some(stage) = self.textures.stages.get(number) else {
                continue;
            };
            let end = stage.end(&self.tables)?;
            match self.objects.get_mut(stage.object as usize) {
                Some(object) if end <= object.size => object.access.reads = true,
                _ => return Err(Reason::TextureBounds),
            }
            self.textures.checked |= bit(number);
        }
        Ok(())
    }
}
