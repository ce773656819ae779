// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Primitive lists (L553-559, L1375-1451): how many vertices, of how many dwords, in the commands or by index.
//!
//! A list has as many vertices as 04h/24h says. In command mode the vertices are the data. In index mode the data are indices
//! of 16 or 32 bits, and the vertices are in a buffer. Which vertices a list can reach follows from the bounds 04h/2Ch to 2Eh;
//! what happens to an index outside of them is lost. The unit of the pitch between vertices is not given, so it counts as
//! bytes where a footprint begins, and as dwords where it ends: ours, to be checked on hardware. For the same reason only
//! vertices in the commands are tested for coordinates that are no numbers.

use lapidary_model::runs::Runs;
use lapidary_registers::Field;
use lapidary_registers::chrome9::enums::{fvf_attribute, nan_test};
use lapidary_registers::chrome9::para_04::{
    self, index_bounds_high, index_max_low, index_min_low, primitive_setting_1 as cycle,
    primitive_setting_4 as shape, vertex_buffer_high, vertex_buffer_low, vertex_count,
    vertex_format_1, vertex_format_2, vertex_format_15, vertex_format_17,
};

use super::area::{Client, Footprint};
use super::state::{State, value_name};

/// Dwords of a vertex for which the format has an attribute.
const ATTRIBUTES: u32 = 50;
/// Attributes in parameters with three of them: 1 to 39.
const IN_THREES: u32 = 39;
const THREES: [Field; 3] = [
    vertex_format_2::ATTRIBUTE_1,
    vertex_format_2::ATTRIBUTE_2,
    vertex_format_2::ATTRIBUTE_3,
];
/// Parameters with three attributes.
const FORMATS: [u32; 13] = [
    para_04::VERTEX_FORMAT_2,
    para_04::VERTEX_FORMAT_3,
    para_04::VERTEX_FORMAT_4,
    para_04::VERTEX_FORMAT_5,
    para_04::VERTEX_FORMAT_6,
    para_04::VERTEX_FORMAT_7,
    para_04::VERTEX_FORMAT_8,
    para_04::VERTEX_FORMAT_9,
    para_04::VERTEX_FORMAT_10,
    para_04::VERTEX_FORMAT_11,
    para_04::VERTEX_FORMAT_12,
    para_04::VERTEX_FORMAT_13,
    para_04::VERTEX_FORMAT_14,
];
/// Attributes 40 to 43, and 44 to 47.
const FOURS: [Field; 4] = [
    vertex_format_15::ATTRIBUTE_40,
    vertex_format_15::ATTRIBUTE_41,
    vertex_format_15::ATTRIBUTE_42,
    vertex_format_15::ATTRIBUTE_43,
];
/// Attributes 48 to 50.
const LAST: [Field; 3] = [
    vertex_format_17::ATTRIBUTE_48,
    vertex_format_17::ATTRIBUTE_49,
    vertex_format_17::ATTRIBUTE_50,
];

/// Return the attribute in a dword of a vertex, counted from 0.
fn attribute(state: &State<'_>, dword: u32) -> u32 {
    let n = dword as usize;
    if dword < IN_THREES {
        return THREES[n % 3].get(state.primitive(FORMATS[n / 3]));
    }
    match n - IN_THREES as usize {
        n @ 0..=3 => FOURS[n].get(state.primitive(para_04::VERTEX_FORMAT_15)),
        n @ 4..=7 => FOURS[n - 4].get(state.primitive(para_04::VERTEX_FORMAT_16)),
        n => LAST[(n - 8).min(2)].get(state.primitive(para_04::VERTEX_FORMAT_17)),
    }
}

/// How vertices come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// In the commands.
    Commands,
    /// By indices of so many bits.
    Indices(u32),
}

/// A coordinate that may be tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coordinate {
    /// Dword of a vertex.
    pub dword: u32,
    /// What a number that is none makes of a primitive.
    pub test: u32,
}

/// What a dword of data was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Came {
    /// A dword of a vertex.
    Dword,
    /// One or two indices.
    Indices([Option<u32>; 2]),
}

/// A primitive list.
#[derive(Clone, Debug)]
pub struct Vertices {
    /// Vertices.
    pub count: u32,
    /// Dwords of a vertex.
    pub length: u32,
    /// Kind of primitives (04h/23h).
    pub kind: u32,
    /// A vertex after the first ones makes a primitive.
    fast: bool,
    source: Source,
    /// The least and the greatest index.
    pub bounds: (u32, u32),
    /// Where vertices are, the bytes from one to the next by both units, and in which memory.
    base: u64,
    pitch: u64,
    location: u32,
    /// Coordinates of a vertex.
    pub coordinates: Vec<Coordinate>,
    /// Dwords that have come.
    come: u64,
}

/// Return whether a 32-bit float is no number.
pub fn is_nan(word: u32) -> bool {
    f32::from_bits(word).is_nan()
}

impl Vertices {
    /// Return the list that the parameters describe.
    pub fn new(state: &State<'_>) -> Vertices {
        let format = state.primitive(para_04::VERTEX_FORMAT_1);
        let setting = state.primitive(para_04::PRIMITIVE_SETTING_1);
        let shape = state.primitive(para_04::PRIMITIVE_SETTING_4);
        let length = vertex_format_1::LENGTH.get(format);
        let count = vertex_count::COUNT.get(state.primitive(para_04::VERTEX_COUNT));
        if count == 0 {
            state.wrong("a list of no vertices".into());
        }
        if length == 0 || length > ATTRIBUTES {
            state.wrong(format!("a vertex of {length} dwords"));
        }
        if cycle::RESERVED_CYCLE.any(setting) && !cycle::FAST_CYCLE.any(setting) {
            state.wrong("cycle 2 of vertices".into());
        }
        let mut list = Vertices {
            count,
            length,
            kind: shape::TYPE.get(shape),
            fast: cycle::FAST_CYCLE.any(setting),
            source: Source::Commands,
            bounds: (0, 0),
            base: 0,
            pitch: 0,
            location: vertex_format_1::LOCATION.get(format),
            coordinates: Vec::new(),
            come: 0,
        };
        list.judge_faces(state, shape);
        list.attributes(state, format);
        if cycle::INDEX_MODE.any(setting) {
            let bits = if cycle::INDEX_32.any(setting) { 32 } else { 16 };
            list.source = Source::Indices(bits);
            list.buffer(state);
        }
        list
    }

    /// Judge what is drawn of clockwise faces, if it is said apart.
    fn judge_faces(&self, state: &State<'_>, setting: u32) {
        use shape::cw_type::{POINT, TRIANGLE, WIREFRAME};
        let kind = shape::CW_TYPE.get(setting);
        if shape::TWO_FACES.any(setting) && ![TRIANGLE, WIREFRAME, POINT].contains(&kind) {
            state.wrong(format!("PRIMITIVE_SETTING_4.CW_TYPE = {kind}"));
        }
    }

    /// Take the attributes of a vertex: those without a meaning are wrong, and coordinates may be tested.
    fn attributes(&mut self, state: &State<'_>, format: u32) {
        for dword in 0..self.length.min(ATTRIBUTES) {
            let attribute = attribute(state, dword);
            let test = match attribute {
                fvf_attribute::X | fvf_attribute::Y => vertex_format_1::NAN_XY.get(format),
                fvf_attribute::Z => vertex_format_1::NAN_Z.get(format),
                fvf_attribute::W => vertex_format_1::NAN_W.get(format),
                fvf_attribute::POINT_SIZE..=fvf_attribute::Q_J
                | fvf_attribute::BACK_COLOR_0
                | fvf_attribute::BACK_COLOR_1 => continue,
                _ => {
                    state.wrong(format!("dword {dword} of a vertex is {attribute:#04x}"));
                    continue;
                }
            };
            self.coordinates.push(Coordinate { dword, test });
        }
    }

    /// Take where the vertices are.
    fn buffer(&mut self, state: &State<'_>) {
        let low = state.primitive(para_04::VERTEX_BUFFER_LOW);
        let high = state.primitive(para_04::VERTEX_BUFFER_HIGH);
        self.base = (u64::from(vertex_buffer_high::ADDRESS_HIGH.get(high)) << 24)
            | u64::from(vertex_buffer_low::ADDRESS_LOW.get(low));
        self.pitch = vertex_buffer_high::PITCH.get(high).into();
        let bounds = state.primitive(para_04::INDEX_BOUNDS_HIGH);
        let least = index_min_low::MIN_LOW.get(state.primitive(para_04::INDEX_MIN_LOW));
        let most = index_max_low::MAX_LOW.get(state.primitive(para_04::INDEX_MAX_LOW));
        self.bounds = (
            (index_bounds_high::MIN_HIGH.get(bounds) << 24) | least,
            (index_bounds_high::MAX_HIGH.get(bounds) << 24) | most,
        );
    }

    /// Return whether the parameters describe a list at all.
    pub fn is_list(&self) -> bool {
        self.count > 0 && (1..=ATTRIBUTES).contains(&self.length)
    }

    /// Return whether vertices come by index.
    pub fn indexed(&self) -> bool {
        self.source != Source::Commands
    }

    /// Return whether all rows would be at one place.
    pub fn pitch_is_zero(&self) -> bool {
        self.indexed() && self.pitch == 0 && self.bounds.0 < self.bounds.1
    }

    /// Return the vertices that the list may fetch.
    pub fn fetched(&self) -> Option<Footprint> {
        let (least, most) = self.bounds;
        if !self.indexed() || least > most {
            return None;
        }
        let start = self.base + u64::from(least) * self.pitch;
        let end = self.base + u64::from(most) * self.pitch * 4 + u64::from(self.length) * 4;
        Some(Footprint::read(
            Client::Vertices,
            self.location,
            Runs::one(start, end.saturating_sub(start)),
            format!(
                "{} dwords each, {} from one to the next, indices {least} to {most}",
                self.length, self.pitch
            ),
        ))
    }

    /// Return the dwords of all data.
    fn dwords(&self) -> u64 {
        let count = u64::from(self.count);
        match self.source {
            Source::Commands => count * u64::from(self.length),
            Source::Indices(16) => count.div_ceil(2),
            Source::Indices(_) => count,
        }
    }

    /// Return how many dwords of data are missing.
    pub fn missing(&self) -> u64 {
        self.dwords().saturating_sub(self.come)
    }

    /// Take a dword of data. Return what it was, and of a vertex in the commands the coordinate that it is.
    pub fn feed(&mut self, word: u32) -> (Came, Option<Coordinate>) {
        let before = self.come;
        self.come += 1;
        match self.source {
            Source::Commands => {
                let dword = (before % u64::from(self.length.max(1))) as u32;
                let mut coordinates = self.coordinates.iter();
                (Came::Dword, coordinates.find(|c| c.dword == dword).copied())
            }
            Source::Indices(16) => {
                let second = (before * 2 + 1 < u64::from(self.count)).then_some(word >> 16);
                (Came::Indices([Some(word & 0xffff), second]), None)
            }
            Source::Indices(_) => (Came::Indices([Some(word), None]), None),
        }
    }

    /// Return the vertices that one primitive takes; none if that is not known.
    fn each(&self) -> Option<u32> {
        use shape::type_::{LINE, POINT, TRIANGLE, TRIANGLE_POINT, WIREFRAME};
        match self.kind {
            POINT => Some(1),
            LINE => Some(2),
            TRIANGLE | WIREFRAME | TRIANGLE_POINT => Some(3),
            // The manual does not describe rectangles (decision 7).
            _ => None,
        }
    }

    /// Return how many primitives the list has, and how many vertices are left over.
    pub fn primitives(&self) -> Option<(u32, u32)> {
        let each = self.each()?;
        Some(match (self.fast, self.count.checked_sub(each)) {
            (_, None) => (0, self.count),
            (true, Some(further)) => (further + 1, 0),
            (false, Some(_)) => (self.count / each, self.count % each),
        })
    }

    /// Return the counter of draws of this kind.
    pub fn counter(&self) -> &'static str {
        use shape::type_::{LINE, POINT, RECTANGLE};
        match self.kind {
            POINT => "draws_points",
            LINE => "draws_lines",
            RECTANGLE => "draws_rectangles",
            _ => "draws_triangles",
        }
    }

    /// Describe the list for people.
    pub fn describe(&self) -> String {
        let kind = value_name("PRIMITIVE_SETTING_4", "TYPE", self.kind);
        let source = match self.source {
            Source::Commands => "in the commands".into(),
            Source::Indices(bits) => format!("by {bits}-bit indices"),
        };
        let primitives = match self.primitives() {
            Some((n, _)) => format!("{n} times "),
            None => String::new(),
        };
        format!(
            "{primitives}{kind}, {} vertices of {} dwords {source}",
            self.count, self.length
        )
    }
}

impl Coordinate {
    /// Return whether a number that is none is looked for: the primitive or the list is skipped then.
    pub fn is_tested(self) -> bool {
        self.test != nan_test::OFF
    }
}
