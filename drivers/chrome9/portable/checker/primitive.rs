// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Parameters of type 04h (L1374-1466), and lists of primitives of type 00h (L553-559).
//!
//! A list has as many vertices as its count says. They are in the stream, or come by index from the vertex buffer. The engine
//! would wait for vertices that do not come, and take the next client's for them, so that a header brings a whole list. A list
//! is a whole number of primitives.
//!
//! The manual has lost what the engine does with an index outside of the bounds (L1451). All indices are in the stream, so that
//! the checker looks at each of them. Nor does it give the unit of the pitch of vertices. The larger one counts: dwords.
//!
//! A coordinate that is no number is in no window. So the engine's tests for them have to be on.

use lapidary::portable::bits::Field;

use super::{
    attribute::only,
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
    regs::{
        enums::{
            fvf_attribute as attribute,
            nan_test,
            vertex_source, //
        },
        para_04::{
            self,
            index_bounds_high,
            index_max_low,
            index_min_low,
            point_sprite,
            primitive_setting_1 as setting_1,
            primitive_setting_4::{
                self as setting_4,
                cw_type,
                type_ as kind, //
            },
            vertex_buffer_high,
            vertex_count,
            vertex_format_1 as format_1,
            vertex_format_15 as format_15,
            vertex_format_17 as format_17,
            vertex_format_2 as format_2, //
        }, //
    }, //
};

const FORMAT_1_BITS: u32 = format_1::NAN_XY.mask()
    | format_1::NAN_Z.mask()
    | format_1::NAN_W.mask()
    | format_1::SWAP_XY.mask()
    | format_1::LOCATION.mask()
    | format_1::LENGTH.mask();
const BACK_COLORS: u32 = format_17::HAS_BACK_COLOR_0.mask() | format_17::HAS_BACK_COLOR_1.mask();
const FORMAT_17_BITS: u32 = BACK_COLORS
    | format_17::ATTRIBUTE_48.mask()
    | format_17::ATTRIBUTE_49.mask()
    | format_17::ATTRIBUTE_50.mask();
const SETTING_1_BITS: u32 = CYCLE_BITS
    | setting_1::NO_NEAR_CLIP.mask()
    | setting_1::INDEX_32.mask()
    | setting_1::INDEX_MODE.mask();
/// How vertices of one primitive come from those of the one before.
const CYCLE_BITS: u32 =
    ODD_BITS | setting_1::EVEN_A.mask() | setting_1::EVEN_B.mask() | setting_1::EVEN_C.mask();
const ODD_BITS: u32 = setting_1::FAST_CYCLE.mask()
    | setting_1::RESERVED_CYCLE.mask()
    | setting_1::ODD_A.mask()
    | setting_1::ODD_B.mask()
    | setting_1::ODD_C.mask();
const SETTING_4_BITS: u32 = setting_4::LAST_PIXEL.mask()
    | setting_4::SHADING.mask()
    | setting_4::EDGE_AB.mask()
    | setting_4::EDGE_BC.mask()
    | setting_4::EDGE_CA.mask()
    | setting_4::CULL_CCW.mask()
    | setting_4::BACK_COLOR_CCW.mask()
    | setting_4::CW_TYPE.mask()
    | setting_4::TWO_FACES.mask()
    | setting_4::TYPE.mask();
const BUFFER_HIGH_BITS: u32 =
    vertex_buffer_high::PITCH.mask() | vertex_buffer_high::ADDRESS_HIGH.mask();
const BOUNDS_BITS: u32 = index_bounds_high::MAX_HIGH.mask() | index_bounds_high::MIN_HIGH.mask();
const SPRITE_BITS: u32 = point_sprite::SPRITE_J.mask()
    | point_sprite::SPRITE_I.mask()
    | point_sprite::SPRITE_H.mask()
    | point_sprite::SPRITE_G.mask()
    | point_sprite::SPRITE_F.mask()
    | point_sprite::SPRITE_E.mask()
    | point_sprite::SPRITE_D.mask()
    | point_sprite::SPRITE_C.mask()
    | point_sprite::SPRITE_B.mask()
    | point_sprite::SPRITE_A.mask();
/// Code of the fill of clockwise triangles that is reserved (L1424).
const RESERVED_FILL: u32 = cw_type::TRIANGLE + 1;
/// Numbers of a vertex's attributes (L1381-1384): three in most parameters, four in the last but one, and three there.
const OF_THREE: [Field; 3] = [
    format_2::ATTRIBUTE_1,
    format_2::ATTRIBUTE_2,
    format_2::ATTRIBUTE_3,
];
const OF_FOUR: [Field; 4] = [
    format_15::ATTRIBUTE_40,
    format_15::ATTRIBUTE_41,
    format_15::ATTRIBUTE_42,
    format_15::ATTRIBUTE_43,
];
const OF_LAST: [Field; 3] = [
    format_17::ATTRIBUTE_48,
    format_17::ATTRIBUTE_49,
    format_17::ATTRIBUTE_50,
];
/// Bits of an index in the lower of its two parameters.
const LOW_BITS: u32 = 24;
/// Bits of a parameter's data.
const DATA: u32 = 0x00ff_ffff;
/// Bytes of a dword.
const DWORD: u64 = 4;

/// Return whether a parameter gives a dword of a vertex a number that no attribute has.
fn nameless(sub_address: u32, word: u32) -> bool {
    let fields: &[Field] = match sub_address {
        para_04::VERTEX_FORMAT_2..=para_04::VERTEX_FORMAT_14 => &OF_THREE,
        para_04::VERTEX_FORMAT_15..=para_04::VERTEX_FORMAT_16 => &OF_FOUR,
        para_04::VERTEX_FORMAT_17 => &OF_LAST,
        _ => &[],
    };
    fields.iter().any(|field| {
        let number = field.get(word);
        number > attribute::Q_J
            && number != attribute::BACK_COLOR_0
            && number != attribute::BACK_COLOR_1
    })
}

/// Parameters of type 04h that the stream has set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Primitives {
    set: Set,
    format_1: u32,
    format_17: u32,
    setting_1: u32,
    setting_4: u32,
    count: u32,
    masks: [u32; 2],
    location: Option<Target>,
    low: Option<Target>,
    high: Option<Target>,
    pitch: u32,
    max_low: u32,
    min_low: u32,
    bounds_high: u32,
}

/// What a list takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct List {
    /// Dwords of vertices or indices.
    pub(super) dwords: u64,
    /// If they are indices: whether those have 32 bits, and their bounds.
    pub(super) indices: Option<(bool, u32, u32)>,
}

impl Primitives {
    /// Nothing is set.
    pub(super) const UNKNOWN: Self = Self {
        set: Set::NONE,
        format_1: 0,
        format_17: 0,
        setting_1: 0,
        setting_4: 0,
        count: 0,
        masks: [0; 2],
        location: None,
        low: None,
        high: None,
        pitch: 0,
        max_low: 0,
        min_low: 0,
        bounds_high: 0,
    };

    /// Refuse a draw if parameters are missing that all draws need.
    pub(super) fn complete(&self) -> Result<(), Reason> {
        let (_, needed) = policy::primitive(0);
        if self.set.has_all(needed) {
            Ok(())
        } else {
            Err(Reason::NoPrimitive)
        }
    }

    /// Return the dwords of a vertex.
    fn length(&self) -> Result<u32, Reason> {
        let [first, second] = self.masks;
        let attributes = (first & DATA)
            .count_ones()
            .wrapping_add((second & DATA).count_ones())
            .wrapping_add((self.format_17 & BACK_COLORS).count_ones());
        let length = format_1::LENGTH.get(self.format_1);
        if length == 0 || attributes != length {
            return Err(Reason::VertexLength);
        }
        for test in [format_1::NAN_XY, format_1::NAN_Z, format_1::NAN_W] {
            if test.get(self.format_1) == nan_test::OFF {
                return Err(Reason::NanTest);
            }
        }
        Ok(length)
    }

    /// Check that the list is a whole number of primitives.
    fn whole(&self) -> Result<(), Reason> {
        let corners = match setting_4::TYPE.get(self.setting_4) {
            kind::POINT => 1,
            kind::LINE => 2,
            kind::TRIANGLE | kind::WIREFRAME | kind::TRIANGLE_POINT => 3,
            // Which vertices a rectangle has is not described (decision 7).
            _ => return Err(Reason::PrimitiveType),
        };
        if setting_4::CW_TYPE.get(self.setting_4) == RESERVED_FILL {
            return Err(Reason::PrimitiveType);
        }
        let count = vertex_count::COUNT.get(self.count);
        if !setting_1::FAST_CYCLE.any(self.setting_1) {
            if self.setting_1 & ODD_BITS != 0 {
                return Err(Reason::PrimitiveCycle);
            }
            return match count.checked_rem(corners) {
                Some(0) if count != 0 => Ok(()),
                _ => Err(Reason::VertexCount),
            };
        }
        let new = |fields: [Field; 3]| {
            let used = fields.iter().take(corners as usize);
            used.filter(|field| field.get(self.setting_1) == vertex_source::NEW)
                .count()
        };
        let odd = new([setting_1::ODD_A, setting_1::ODD_B, setting_1::ODD_C]);
        let even = new([setting_1::EVEN_A, setting_1::EVEN_B, setting_1::EVEN_C]);
        if corners == 1 || odd != 1 || even != 1 || setting_1::RESERVED_CYCLE.any(self.setting_1) {
            return Err(Reason::PrimitiveCycle);
        }
        if count < corners {
            return Err(Reason::VertexCount);
        }
        Ok(())
    }

    /// Return the smallest and the largest index.
    fn bounds(&self) -> Result<(u32, u32), Reason> {
        let set = |sub_address| self.set.has(sub_address);
        if !set(para_04::INDEX_MAX_LOW)
            || !set(para_04::INDEX_MIN_LOW)
            || !set(para_04::INDEX_BOUNDS_HIGH)
        {
            return Err(Reason::NoIndexBounds);
        }
        let high = self.bounds_high;
        let whole = |low: u32, high: u32| low | high.wrapping_shl(LOW_BITS);
        let least = whole(
            index_min_low::MIN_LOW.get(self.min_low),
            index_bounds_high::MIN_HIGH.get(high),
        );
        let most = whole(
            index_max_low::MAX_LOW.get(self.max_low),
            index_bounds_high::MAX_HIGH.get(high),
        );
        if least > most {
            return Err(Reason::IndexBounds);
        }
        Ok((least, most))
    }

    /// Return where the vertex buffer is.
    fn buffer(&self) -> Result<Target, Reason> {
        match (self.location, self.low, self.high) {
            (Some(location), Some(low), Some(high)) if location == low && low == high => Ok(low),
            (Some(_), Some(_), Some(_)) => Err(Reason::SplitAddress),
            _ => Err(Reason::NoVertexBuffer),
        }
    }
}

impl List {
    /// Check the indices in a dword of data.
    pub(super) fn indices(&self, word: u32) -> Result<(), Reason> {
        let Some((wide, least, most)) = self.indices else {
            return Ok(());
        };
        let fits = |index: u32| least <= index && index <= most;
        // Of an odd number of small ones the last has a neighbour, which is looked at as well.
        let right = if wide {
            fits(word)
        } else {
            fits(word & 0xffff) && fits(word >> 16)
        };
        if right {
            Ok(())
        } else {
            Err(Reason::IndexRange)
        }
    }
}

impl Checker<'_> {
    /// Check the parameter of type 04h at the current position.
    pub(super) fn primitive(&mut self, sub_address: u32, word: u32) -> Result<(), Reason> {
        if nameless(sub_address, word) {
            return Err(Reason::ReservedValue);
        }
        match policy::primitive(sub_address).0 {
            Parameter::Unknown => return Err(Reason::UnknownParameter),
            Parameter::Free | Parameter::Tag => {}
            Parameter::Lost | Parameter::Zero => {
                only(word, 0).map_err(|_| Reason::LostParameter)?;
            }
            Parameter::Kept | Parameter::Perhaps => self.kept_primitive(sub_address, word)?,
        }
        self.primitives.set.insert(sub_address);
        Ok(())
    }

    fn kept_primitive(&mut self, sub_address: u32, word: u32) -> Result<(), Reason> {
        let primitives = &mut self.primitives;
        match sub_address {
            para_04::VERTEX_FORMAT_1 => {
                primitives.format_1 = only(word, FORMAT_1_BITS)?;
                // Only with a vertex buffer.
                self.primitives.location = self.optional_address(word, 0, Part::VertexLocation)?;
            }
            para_04::VERTEX_FORMAT_17 => primitives.format_17 = only(word, FORMAT_17_BITS)?,
            para_04::PRIMITIVE_SETTING_1 => primitives.setting_1 = only(word, SETTING_1_BITS)?,
            para_04::VERTEX_BUFFER_LOW => {
                self.primitives.low = Some(self.address(word, 0, Part::VertexLow)?);
            }
            para_04::VERTEX_BUFFER_HIGH => {
                primitives.pitch = vertex_buffer_high::PITCH.get(only(word, BUFFER_HIGH_BITS)?);
                self.primitives.high = Some(self.address(word, 0, Part::VertexHigh)?);
            }
            para_04::PRIMITIVE_SETTING_4 => primitives.setting_4 = only(word, SETTING_4_BITS)?,
            para_04::VERTEX_COUNT => primitives.count = word,
            para_04::FVF_MASK_1 => {
                let [first, _] = &mut primitives.masks;
                *first = word;
            }
            para_04::FVF_MASK_2 => {
                let [_, second] = &mut primitives.masks;
                *second = word;
            }
            para_04::INDEX_MAX_LOW => primitives.max_low = word,
            para_04::INDEX_MIN_LOW => primitives.min_low = word,
            para_04::INDEX_BOUNDS_HIGH => primitives.bounds_high = only(word, BOUNDS_BITS)?,
            _ => {
                only(word, SPRITE_BITS)?;
            }
        }
        Ok(())
    }

    /// Check the vertices of a draw, and return what its list takes.
    pub(super) fn list(&mut self) -> Result<List, Reason> {
        let primitives = &self.primitives;
        let length = primitives.length()?;
        primitives.whole()?;
        let count = u64::from(vertex_count::COUNT.get(primitives.count));
        if !setting_1::INDEX_MODE.any(primitives.setting_1) {
            return Ok(List {
                dwords: count.wrapping_mul(u64::from(length)),
                indices: None,
            });
        }
        let (least, most) = primitives.bounds()?;
        let buffer = primitives.buffer()?;
        let pitch = u64::from(primitives.pitch);
        if pitch == 0 {
            return Err(Reason::VertexPitch);
        }
        // An index has 32 bits, a pitch 8, a length 6.
        let end = u64::from(most)
            .wrapping_mul(pitch)
            .wrapping_add(u64::from(length))
            .wrapping_mul(DWORD);
        let wide = setting_1::INDEX_32.any(primitives.setting_1);
        self.touch(buffer, end, false, Reason::VertexBounds)?;
        Ok(List {
            dwords: if wide { count } else { count.div_ceil(2) },
            indices: Some((wide, least, most)),
        })
    }
}
