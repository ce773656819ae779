// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Parameters of type 02h (L1133-1329) and the table of levels (L1331-1346): which memory the pixel shader may fetch from.
//!
//! The encoding of the shader's instructions is not known (decision 1), so that an instruction may sample any of the sixteen
//! textures. A draw with the shader on needs all of them, set up by the stream, and counts as one that fetches all texels.

use lapidary::portable::bits::Field;

use super::{
    attribute::only,
    relocate::{
        Part,
        Target,
        UNIT_3D, //
    },
    set::Set,
    stage::{
        bit,
        Stage,
        EXPONENTS,
        FACES,
        TABLE_LEVELS, //
    },
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
            clip_planes,
            texture_general, //
        },
        para_02_sample::{
            self,
            filter_control_1,
            level_control_1, //
        },
        para_02_stage::{
            self,
            texture_control_1 as control_1,
            texture_control_3 as control_3,
            texture_control_4 as control_4,
            texture_control_5 as control_5, //
        },
        para_03_mip::level_base, //
    }, //
};

/// Textures, and samples of them.
pub(super) const STAGES: usize = 16;

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
const CLIP_BITS: u32 = clip_planes::ENABLE_2.mask()
    | clip_planes::PERSPECTIVE_2.mask()
    | clip_planes::SOURCE_2.mask()
    | clip_planes::DIMENSION_2.mask()
    | clip_planes::ENABLE_1.mask()
    | clip_planes::PERSPECTIVE_1.mask()
    | clip_planes::SOURCE_1.mask()
    | clip_planes::DIMENSION_1.mask();
const GENERAL_BITS: u32 = texture_general::COUNT.mask()
    | texture_general::FIFOS.mask()
    | texture_general::FETCH_256.mask()
    | texture_general::CLEAR_CACHE.mask();

/// All textures.
#[derive(Clone, Copy, Debug)]
pub(super) struct Textures {
    stages: [Stage; STAGES],
    general: Set,
    /// Textures that have been checked since they were set, a bit each.
    checked: u16,
}

impl Textures {
    /// Nothing is set.
    pub(super) const UNKNOWN: Self = Self {
        stages: [Stage::UNKNOWN; STAGES],
        general: Set::NONE,
        checked: 0,
    };

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
                // It has to be in both directions (L1272-1273).
                for (s, t) in [
                    (filter_control_1::MAG_S, filter_control_1::MAG_T),
                    (filter_control_1::MIN_S, filter_control_1::MIN_T),
                ] {
                    let along = |field: Field| field.get(word) == texture_filter::ANISOTROPIC;
                    if along(s) != along(t) {
                        return Err(Reason::Anisotropy);
                    }
                }
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
            Parameter::Kept if sub_address == para_02_general::CLIP_PLANES => {
                only(word, CLIP_BITS)?;
                // (L1311.)
                if clip_planes::ENABLE_2.any(word) && !clip_planes::ENABLE_1.any(word) {
                    return Err(Reason::ClipPlanes);
                }
            }
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
