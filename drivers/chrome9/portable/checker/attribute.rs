// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Parameters of type 01h (L767-1132): what is drawn to, and which tests and caches are on.
//!
//! Each surface has its base in one parameter and its location in another. Both have relocations, and must name the same place.
//! Caches keep what another client has left, so that a stream must empty them before it draws with them.

use super::{
    relocate::{
        Part,
        Target, //
    },
    set::Set,
    Checker,
    Reason, //
};
use crate::portable::{
    policy::{
        self,
        Parameter, //
    },
    regs::para_01::{
        self,
        coarse_z_1,
        enable_1,
        enable_2,
        enable_3,
        fast_z_clear_1,
        fog_1,
        misc_1,
        misc_2,
        ps_3,
        rt0_2,
        rt0_3,
        rt0_4,
        z_2,
        z_3,
        z_4, //
    }, //
};

/// Render targets.
pub(super) const TARGETS: usize = 4;
/// From the parameters of a render target to those of the next one.
const TARGET_STRIDE: u32 = para_01::RT1_1.wrapping_sub(para_01::RT0_1);
/// Instructions that the memories of the shader hold (L1360-1364).
const ALU_INSTRUCTIONS: u32 = 96;
const TAU_INSTRUCTIONS: u32 = 32;
/// The largest coordinate of a window (L1091).
const WINDOW_END: u32 = 2048;

const ENABLE_1_BITS: u32 = ALPHA_TESTS
    | FOGGED
    | enable_1::PACK_DISABLE.mask()
    | enable_1::SMART_PACK_DISABLE.mask()
    | enable_1::ALPHA_TEST_BY_RT0.mask()
    | enable_1::SPECULAR_RT3.mask()
    | enable_1::SPECULAR_RT2.mask()
    | enable_1::SPECULAR_RT1.mask()
    | enable_1::SPECULAR_RT0.mask()
    | enable_1::BLEND_RT3.mask()
    | enable_1::BLEND_RT2.mask()
    | enable_1::BLEND_RT1.mask()
    | enable_1::BLEND_RT0.mask()
    | enable_1::DITHER_RT3.mask()
    | enable_1::DITHER_RT2.mask()
    | enable_1::DITHER_RT1.mask()
    | enable_1::DITHER_RT0.mask();
const ALPHA_TESTS: u32 = enable_1::ALPHA_TEST_RT3.mask()
    | enable_1::ALPHA_TEST_RT2.mask()
    | enable_1::ALPHA_TEST_RT1.mask()
    | enable_1::ALPHA_TEST_RT0.mask();
const FOGGED: u32 = enable_1::FOG_RT3.mask()
    | enable_1::FOG_RT2.mask()
    | enable_1::FOG_RT1.mask()
    | enable_1::FOG_RT0.mask();
const DEPTH_TEST_BITS: u32 =
    z_4::FROM_SHADER.mask() | z_4::TEST.mask() | z_4::DIVIDE_EXPONENT.mask();
const FOG_BITS: u32 = fog_1::FROM_SHADER.mask()
    | fog_1::LINEAR_FROM_ATTRIBUTE.mask()
    | fog_1::FACTOR_FROM_SPECULAR.mask()
    | fog_1::LINEAR_SELECT.mask()
    | fog_1::EQUATION.mask()
    | fog_1::MODE.mask();
const ENABLE_3_BITS: u32 =
    enable_3::CLEAR_READ_COLOR_CACHE.mask() | enable_3::READ_COLOR_CACHE.mask();
const DEPTH_BITS: u32 = z_2::PITCH.mask()
    | z_2::READ_CACHE.mask()
    | z_2::CLEAR_READ_CACHE.mask()
    | z_2::READ_CACHE_WIDTH.mask()
    | z_2::SHORT_PATH.mask()
    | z_2::LOCATION.mask();
const FORMAT_BITS: u32 = z_3::STORE_W.mask()
    | z_3::ONE_TO_BELOW.mask()
    | z_3::CLAMP_ABOVE.mask()
    | z_3::CLAMP_NEGATIVE.mask()
    | z_3::FORMAT.mask()
    | z_3::STENCIL_LOCATION_ASSUMED.mask();
const FAST_BITS: u32 = fast_z_clear_1::INDEX.mask()
    | fast_z_clear_1::INDEX_LENGTH.mask()
    | fast_z_clear_1::ENABLE.mask();
const COARSE_BITS: u32 = coarse_z_1::CW_NEVER_REJECT.mask()
    | coarse_z_1::CW_NEVER_PASS.mask()
    | coarse_z_1::LOCATION.mask()
    | coarse_z_1::INVERSE.mask()
    | coarse_z_1::WRITE_BACK_AT_SELECT.mask()
    | coarse_z_1::RESET_TAGS.mask()
    | coarse_z_1::MERGE.mask()
    | coarse_z_1::CCW_NEVER_REJECT.mask()
    | coarse_z_1::CCW_NEVER_PASS.mask()
    | coarse_z_1::ALWAYS_RETEST.mask()
    | coarse_z_1::PITCH.mask();
const LAYOUT_BITS: u32 = rt0_2::TILED.mask() | rt0_2::TILE_16.mask() | rt0_2::LOCATION.mask();
const TARGET_BITS: u32 =
    rt0_3::FORMAT.mask() | rt0_3::EXTEND_ZERO.mask() | rt0_3::NO_CLAMP.mask() | rt0_3::PITCH.mask();
const OUTPUT_BITS: u32 = rt0_4::DITHER_Y_INVERSE.mask()
    | rt0_4::DITHER_Y_BIAS.mask()
    | rt0_4::DITHER_X_INVERSE.mask()
    | rt0_4::DITHER_X_BIAS.mask()
    | rt0_4::DITHER_MODE.mask()
    | rt0_4::ROP.mask()
    | rt0_4::DEGAMMA.mask()
    | rt0_4::SRGB.mask()
    | rt0_4::WRITE_ALPHA.mask()
    | rt0_4::WRITE_RED.mask()
    | rt0_4::WRITE_GREEN.mask()
    | rt0_4::WRITE_BLUE.mask();
const SHADER_BITS: u32 = ps_3::INFINITE.mask()
    | ps_3::TAU_LENGTH.mask()
    | ps_3::SWAP_TO_ALU.mask()
    | ps_3::SWAP_TO_TAU.mask()
    | ps_3::ALU_LENGTH.mask();

/// An address in two parameters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Surface {
    base: Option<Target>,
    location: Option<Target>,
}

impl Surface {
    const UNKNOWN: Self = Self {
        base: None,
        location: None,
    };

    /// Return where it is, or refuse because parts are missing or do not belong together.
    pub(super) fn target(&self, missing: Reason) -> Result<Target, Reason> {
        match (self.base, self.location) {
            (Some(base), Some(location)) if base == location => Ok(base),
            (Some(_), Some(_)) => Err(Reason::SplitAddress),
            _ => Err(missing),
        }
    }
}

/// A render target.
#[derive(Clone, Copy, Debug)]
pub(super) struct Color {
    pub(super) surface: Surface,
    pub(super) layout: u32,
    pub(super) format: Option<u32>,
    pub(super) output: Option<u32>,
}

/// What the cache of coarse depth holds. It is written back when a cell gets another place, with the address of that time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cells {
    /// Cells of another client, or of another buffer.
    Foreign,
    /// None.
    Empty,
    /// Cells of the buffer that is set.
    Own,
}

/// Parameters of type 01h that the stream has set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attributes {
    set: Set,
    pub(super) enable_1: u32,
    pub(super) enable_2: u32,
    enable_3: u32,
    /// The colour window and the scissor: top and bottom, left and right.
    pub(super) windows: [u32; 4],
    pub(super) depth: Surface,
    pub(super) depth_2: Option<u32>,
    pub(super) depth_3: Option<u32>,
    pub(super) fast_clear: u32,
    depth_4: u32,
    fog: u32,
    pub(super) stencil: Surface,
    pub(super) coarse: Surface,
    pub(super) coarse_1: u32,
    pub(super) cells: Cells,
    pub(super) targets: [Color; TARGETS],
    pub(super) shader: u32,
    count_low: Option<Target>,
    color_cache_emptied: bool,
    depth_cache_emptied: bool,
    pub(super) texture_cache_emptied: bool,
    /// What a draw touches of surfaces has been checked since they were set.
    pub(super) checked: bool,
}

/// Return the first and the last coordinate of a window, across or down: both have the same layout.
pub(super) fn window(word: u32) -> (u32, u32) {
    const { assert!(misc_1::TOP.mask() == misc_2::LEFT.mask()) };
    const { assert!(misc_1::BOTTOM.mask() == misc_2::RIGHT.mask()) };
    (misc_1::TOP.get(word), misc_1::BOTTOM.get(word))
}

impl Attributes {
    /// Nothing is set.
    pub(super) const UNKNOWN: Self = Self {
        set: Set::NONE,
        enable_1: 0,
        enable_2: 0,
        enable_3: 0,
        windows: [0; 4],
        depth: Surface::UNKNOWN,
        depth_2: None,
        depth_3: None,
        fast_clear: 0,
        depth_4: 0,
        fog: 0,
        stencil: Surface::UNKNOWN,
        coarse: Surface::UNKNOWN,
        coarse_1: 0,
        cells: Cells::Foreign,
        targets: [Color {
            surface: Surface::UNKNOWN,
            layout: 0,
            format: None,
            output: None,
        }; TARGETS],
        shader: 0,
        count_low: None,
        color_cache_emptied: false,
        depth_cache_emptied: false,
        texture_cache_emptied: false,
        checked: false,
    };

    /// Refuse a draw if parameters are missing that all draws need, or caches hold what the stream has not put there.
    pub(super) fn complete(&self) -> Result<(), Reason> {
        let (_, needed) = policy::attribute(0);
        if !self.set.has_all(needed) {
            return Err(Reason::NoAttribute);
        }
        self.fog()?;
        if enable_3::READ_COLOR_CACHE.any(self.enable_3) && !self.color_cache_emptied {
            return Err(Reason::ColorCache);
        }
        let depth_cache = z_2::READ_CACHE.any(self.depth_2.unwrap_or(0));
        if depth_cache && !self.depth_cache_emptied {
            return Err(Reason::DepthCache);
        }
        if enable_2::TEXTURE_CACHE.any(self.enable_2) && !self.texture_cache_emptied {
            return Err(Reason::TextureCache);
        }
        Ok(())
    }

    /// Refuse fog that the manual forbids (L1073).
    fn fog(&self) -> Result<(), Reason> {
        if self.enable_1 & FOGGED == 0 {
            return Ok(());
        }
        if fog_1::FROM_SHADER.any(self.fog) {
            return Err(Reason::ShaderFog);
        }
        // Which value of a bit selects depth is told in two ways.
        let by_depth = fog_1::MODE.get(self.fog) != fog_1::mode::LOCAL
            && !fog_1::LINEAR_FROM_ATTRIBUTE.any(self.fog);
        if by_depth && z_4::FROM_SHADER.any(self.depth_4) {
            return Err(Reason::ShaderDepth);
        }
        Ok(())
    }

    /// Refuse the end of a stream in the middle of an address.
    pub(super) fn finish(&self) -> Result<(), Reason> {
        match self.count_low {
            Some(_) => Err(Reason::HalfAddress),
            None => Ok(()),
        }
    }
}

/// Refuse bits of a parameter's data that have no meaning. Return the word.
pub(super) fn only(word: u32, bits: u32) -> Result<u32, Reason> {
    // Bits 31:24 are the sub-address.
    if word & 0x00ff_ffff & !bits != 0 {
        return Err(Reason::ParameterBits);
    }
    Ok(word)
}

impl Checker<'_> {
    /// Check the parameter of type 01h at the current position.
    pub(super) fn attribute(&mut self, sub_address: u32, word: u32) -> Result<(), Reason> {
        match policy::attribute(sub_address).0 {
            Parameter::Unknown => return Err(Reason::UnknownParameter),
            Parameter::Free | Parameter::Tag => {}
            Parameter::Lost | Parameter::Zero => {
                only(word, 0).map_err(|_| Reason::LostParameter)?;
            }
            Parameter::Kept | Parameter::Perhaps => {
                self.attributes.checked = false;
                self.kept_attribute(sub_address, word)?;
            }
        }
        self.attributes.set.insert(sub_address);
        Ok(())
    }

    fn kept_attribute(&mut self, sub_address: u32, word: u32) -> Result<(), Reason> {
        let attributes = &mut self.attributes;
        match sub_address {
            para_01::ENABLE_1 => attributes.enable_1 = only(word, ENABLE_1_BITS)?,
            para_01::ENABLE_2 => {
                if enable_2::VERTEX_CACHE.any(word) {
                    return Err(Reason::VertexCache);
                }
                if enable_2::RT_COUNT.get(word) as usize >= TARGETS {
                    return Err(Reason::TargetCount);
                }
                attributes.enable_2 = word;
                attributes.texture_cache_emptied |= !enable_2::TEXTURE_CACHE.any(word);
            }
            para_01::ENABLE_3 => {
                attributes.enable_3 = only(word, ENABLE_3_BITS)?;
                attributes.color_cache_emptied |= enable_3::CLEAR_READ_COLOR_CACHE.any(word);
            }
            para_01::Z_2 => {
                attributes.depth_2 = Some(only(word, DEPTH_BITS)?);
                attributes.depth_cache_emptied |= z_2::CLEAR_READ_CACHE.any(word);
                self.attributes.depth.location =
                    Some(self.address(word, 0, Part::DepthLocation)?);
            }
            para_01::Z_3 => {
                attributes.depth_3 = Some(only(word, FORMAT_BITS)?);
                // Only with a stencil buffer of its own.
                self.attributes.stencil.location =
                    self.optional_address(word, 0, Part::StencilLocation)?;
            }
            para_01::FAST_Z_CLEAR_1 => {
                if fast_z_clear_1::INDEX_LENGTH.get(word) >= fast_z_clear_1::index_length::RESERVED
                {
                    return Err(Reason::FastClear);
                }
                attributes.fast_clear = only(word, FAST_BITS)?;
            }
            para_01::COARSE_Z_1 => {
                attributes.coarse_1 = only(word, COARSE_BITS)?;
                attributes.cells = if coarse_z_1::RESET_TAGS.any(word) {
                    Cells::Empty
                } else {
                    attributes.cells.elsewhere()
                };
                self.attributes.coarse.location =
                    Some(self.address(word, 0, Part::CoarseLocation)?);
            }
            para_01::COARSE_Z_2 => {
                attributes.cells = attributes.cells.elsewhere();
                self.attributes.coarse.base = Some(self.address(word, 0, Part::Base)?);
            }
            para_01::Z_4 => attributes.depth_4 = only(word, DEPTH_TEST_BITS)?,
            para_01::FOG_1 => attributes.fog = only(word, FOG_BITS)?,
            para_01::Z_1 => self.attributes.depth.base = Some(self.address(word, 0, Part::Base)?),
            para_01::FAST_Z_CLEAR_2 => {
                self.attributes.stencil.base = Some(self.address(word, 0, Part::Base)?);
            }
            para_01::Z_18 => {
                if attributes.count_low.is_some() {
                    return Err(Reason::HalfAddress);
                }
                self.attributes.count_low = Some(self.address(word, 0, Part::CountLow)?);
            }
            para_01::Z_19 => return self.store_count(word),
            para_01::MISC_1..=para_01::MISC_4 => {
                let (first, last) = window(word);
                if last > WINDOW_END || first > last {
                    return Err(Reason::WindowRange);
                }
                let window = sub_address.wrapping_sub(para_01::MISC_1) as usize;
                if let Some(window) = attributes.windows.get_mut(window) {
                    *window = word;
                }
            }
            para_01::PS_3 => {
                if ps_3::ALU_LENGTH.get(word) > ALU_INSTRUCTIONS
                    || ps_3::TAU_LENGTH.get(word) > TAU_INSTRUCTIONS
                {
                    return Err(Reason::ShaderLength);
                }
                attributes.shader = only(word, SHADER_BITS)?;
            }
            _ => return self.target(sub_address, word),
        }
        Ok(())
    }

    /// Check a parameter of a render target.
    fn target(&mut self, sub_address: u32, word: u32) -> Result<(), Reason> {
        let place = sub_address.wrapping_sub(para_01::RT0_1);
        let (number, which) = (place / TARGET_STRIDE, place % TARGET_STRIDE);
        let mut target = match self.attributes.targets.get(number as usize) {
            Some(target) => *target,
            None => return Err(Reason::UnknownParameter),
        };
        match which.wrapping_add(para_01::RT0_1) {
            para_01::RT0_1 => target.surface.base = Some(self.address(word, 0, Part::Base)?),
            para_01::RT0_2 => {
                target.layout = only(word, LAYOUT_BITS)?;
                target.surface.location = Some(self.address(word, 0, Part::TargetLocation)?);
            }
            para_01::RT0_3 => target.format = Some(only(word, TARGET_BITS)?),
            para_01::RT0_4 => target.output = Some(only(word, OUTPUT_BITS)?),
            _ => return Err(Reason::UnknownParameter),
        }
        if let Some(place) = self.attributes.targets.get_mut(number as usize) {
            *place = target;
        }
        Ok(())
    }

    /// Check the upper half of where the count of pixels goes. It is written at once (L832-841).
    fn store_count(&mut self, word: u32) -> Result<(), Reason> {
        only(word, Part::CountHigh.mask())?;
        let high = self.address(word, 0, Part::CountHigh)?;
        let Some(low) = self.attributes.count_low.take() else {
            return Err(Reason::HalfAddress);
        };
        if low != high {
            return Err(Reason::SplitAddress);
        }
        let set = |sub_address| self.attributes.set.has(sub_address);
        if !set(para_01::Z_13) || !set(para_01::Z_14) {
            return Err(Reason::NoCount);
        }
        self.touch(high, u64::from(u32::BITS / 8), true, Reason::CountBounds)
    }
}

impl Cells {
    /// Return what the cells are when the buffer is another one.
    fn elsewhere(self) -> Self {
        match self {
            Self::Own => Self::Foreign,
            other => other,
        }
    }
}
