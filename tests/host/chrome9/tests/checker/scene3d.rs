// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Scenes of the 3D engine: all state that a draw depends on, and the draw.

use std::collections::BTreeMap;

use chrome9::portable::regs::{
    enums::{para_type, rt_format, texture_format},
    para_01::{self, coarse_z_1, enable_2, misc_1, rt0_2, rt0_3, z_2, z_3},
    para_02_sample,
    para_02_stage::{
        self, texture_control_1, texture_control_2, texture_control_4, texture_control_5,
    },
    para_03_mip::level_base,
    para_04::{self, fvf_mask_1, primitive_setting_1, primitive_setting_4, vertex_buffer_high},
};
use lapidary_registers::chrome9::{parameters, DATABASE};

use crate::support::Stream;

/// Sub-type of all textures.
pub const ALL: u32 = 0xfe;
/// Sub-type of the first sample.
pub const SAMPLE: u32 = 0x20;
/// Sub-types of tables, and their entries.
pub const LEVELS: u32 = 0x10;
pub const TABLES: [(u32, u32, usize); 10] = [
    (0x00, 0, 16),
    (0x11, 0, 32),
    (0x12, 0, 32),
    (0x14, 0, 32),
    (0x15, 0, 5),
    (0x17, 0, 31),
    (0x20, 0, 16),
    (0x21, 0, 4),
    (0x22, 0, 92),
    (0x22, 0x80, 92),
];

/// Return a key of [`Stream::value_of`] for a parameter.
pub fn key(kind: u32, sub_type: u32, sub_address: u32) -> u32 {
    0x8000_0000 | (kind << 16) | (sub_type << 8) | sub_address
}

/// Return the key of an attribute.
pub fn attribute(sub_address: u32) -> u32 {
    key(para_type::ATTRIBUTE, 0, sub_address)
}

/// Return the key of a primitive's parameter.
pub fn primitive(sub_address: u32) -> u32 {
    key(para_type::PRIMITIVE, 0, sub_address)
}

/// Return the key of a texture's parameter.
pub fn stage(number: u32, sub_address: u32) -> u32 {
    key(para_type::TEXTURE, number, sub_address)
}

/// Return the key of a sample's parameter.
pub fn sample(number: u32, sub_address: u32) -> u32 {
    key(para_type::TEXTURE, SAMPLE + number, sub_address)
}

/// Return the key of an entry of a table.
pub fn entry(sub_type: u32, index: u32) -> u32 {
    key(para_type::TABLE, sub_type, index)
}

/// Return the setting for a type, a sub-type and a first entry.
pub fn setting(kind: u32, sub_type: u32, first: u32) -> u32 {
    (sub_type << 24) | (kind << 16) | first
}

/// A place in an object.
pub type At = (u32, u32);

/// A parameter: its data, and fields of addresses in it.
#[derive(Clone, Debug, Default)]
pub struct Param {
    pub value: u32,
    pub parts: Vec<(u32, At)>,
}

impl Param {
    pub fn value(value: u32) -> Self {
        Self {
            value,
            parts: Vec::new(),
        }
    }

    pub fn part(value: u32, at: At) -> Self {
        Self {
            value,
            parts: vec![(0, at)],
        }
    }
}

/// A texture, the same in all of its controls.
#[derive(Clone, Copy, Debug)]
pub struct Texture {
    pub at: At,
    pub kind: u32,
    pub format: u32,
    pub size: (u32, u32),
    pub length: u32,
    /// Bits of the layout.
    pub layout: u32,
    /// Offsets from face to face, from the first on.
    pub faces: u32,
    /// The last level, and offsets from level to level.
    pub last: u32,
    pub levels: u32,
    /// Levels have addresses.
    pub absolute: bool,
}

/// 8 x 8 texels of 32 bits at the beginning of object 1.
pub const TEXTURE: Texture = Texture {
    at: (1, 0),
    kind: texture_control_1::kind::TEXTURE_2D,
    format: texture_format::ARGB8888_ASSUMED,
    size: (8, 8),
    length: 0,
    layout: 0,
    faces: 256,
    last: 0,
    levels: 256,
    absolute: false,
};

/// A scene.
#[derive(Clone, Debug)]
pub struct Scene {
    /// Parameters by key. They are sent in the order of the keys.
    pub params: BTreeMap<u32, Param>,
    /// Entries of tables: sub-type, first one, values.
    pub tables: Vec<(u32, u32, Vec<u32>)>,
    /// What comes behind the draw's header.
    pub data: Vec<u32>,
}

/// A vertex of the scene: x, y, z, w and a colour.
pub const VERTEX: [u32; 5] = [0x4100_0000, 0x4180_0000, 0, 0x3f80_0000, 0xff12_3456];
const MASK: u32 = fvf_mask_1::X.mask()
    | fvf_mask_1::Y.mask()
    | fvf_mask_1::Z.mask()
    | fvf_mask_1::W.mask()
    | fvf_mask_1::COLOR_0.mask();

/// Parameters that have addresses, or are not needed.
fn optional(kind: u32, sub_address: u32) -> bool {
    match kind {
        para_type::ATTRIBUTE => {
            (para_01::Z_1..=para_01::Z_3).contains(&sub_address)
                || [
                    para_01::Z_13,
                    para_01::Z_14,
                    para_01::Z_18,
                    para_01::Z_19,
                    para_01::FAST_Z_CLEAR_2,
                    para_01::COARSE_Z_1,
                    para_01::COARSE_Z_2,
                    para_01::SW_INSPECTION_01,
                ]
                .contains(&sub_address)
                || (para_01::RT0_1..=para_01::RT3_4).contains(&sub_address)
        }
        para_type::PRIMITIVE => [
            para_04::VERTEX_BUFFER_LOW,
            para_04::VERTEX_BUFFER_HIGH,
            para_04::INDEX_MAX_LOW,
            para_04::INDEX_MIN_LOW,
            para_04::INDEX_BOUNDS_HIGH,
            para_04::VERTEX_INSPECTION,
        ]
        .contains(&sub_address),
        _ => false,
    }
}

impl Default for Scene {
    /// Return a triangle in 16 x 8 pixels of 32 bits at the beginning of object 0, with a pitch of 64 bytes.
    fn default() -> Self {
        let mut params = BTreeMap::new();
        let types = [
            (para_type::ATTRIBUTE, 0),
            (para_type::TEXTURE, ALL),
            (para_type::PRIMITIVE, 0),
        ];
        for (kind, sub_type) in types {
            let domain = parameters(kind as u8, sub_type as u8).expect("there is such a type");
            for sub_address in 0..0x100 {
                let known = DATABASE.by_offset(domain, sub_address).is_some();
                if known && !optional(kind, sub_address) {
                    params.insert(key(kind, sub_type, sub_address), Param::default());
                }
            }
        }
        let mut scene = Self {
            params,
            tables: Vec::new(),
            data: VERTEX.repeat(3),
        };
        scene
            .window(15, 7)
            .set(attribute(para_01::ENABLE_2), enable_2::COLOR_WRITE.mask())
            .target(0, (0, 0), rt_format::ARGB8888, 2, 0)
            .set(primitive(para_04::VERTEX_FORMAT_1), 0x54_0000 | 5)
            .set(primitive(para_04::FVF_MASK_1), MASK)
            .set(
                primitive(para_04::PRIMITIVE_SETTING_4),
                primitive_setting_4::type_::TRIANGLE,
            )
            .set(primitive(para_04::VERTEX_COUNT), 3);
        scene
    }
}

impl Scene {
    /// Set a parameter without an address.
    pub fn set(&mut self, key: u32, value: u32) -> &mut Self {
        self.params.insert(key, Param::value(value));
        self
    }

    /// Set a parameter with one address.
    pub fn place(&mut self, key: u32, value: u32, at: At) -> &mut Self {
        self.params.insert(key, Param::part(value, at));
        self
    }

    /// Set more bits.
    pub fn also(&mut self, key: u32, bits: u32) -> &mut Self {
        self.params.entry(key).or_default().value |= bits;
        self
    }

    /// Set the last column and row of both windows.
    pub fn window(&mut self, right: u32, bottom: u32) -> &mut Self {
        self.set(attribute(para_01::MISC_1), misc_1::BOTTOM.of(bottom))
            .set(attribute(para_01::MISC_2), misc_1::BOTTOM.of(right))
            .set(attribute(para_01::MISC_3), misc_1::BOTTOM.of(bottom))
            .set(attribute(para_01::MISC_4), misc_1::BOTTOM.of(right))
    }

    /// Set a render target, with a pitch in the register's unit.
    pub fn target(
        &mut self,
        number: u32,
        at: At,
        format: u32,
        pitch: u32,
        layout: u32,
    ) -> &mut Self {
        let first = attribute(para_01::RT0_1 + 8 * number);
        self.place(first, 0, at)
            .place(first + 1, layout, at)
            .set(first + 2, rt0_3::FORMAT.of(format) | rt0_3::PITCH.of(pitch))
            .set(first + 3, 0xc0f)
    }

    /// Set the depth buffer, and switch its test on.
    pub fn depth(&mut self, at: At, format: u32, pitch: u32) -> &mut Self {
        self.place(attribute(para_01::Z_1), 0, at)
            .place(attribute(para_01::Z_2), z_2::PITCH.of(pitch), at)
            .set(attribute(para_01::Z_3), z_3::FORMAT.of(format))
            .also(attribute(para_01::ENABLE_2), enable_2::Z_TEST.mask())
    }

    /// Set a stencil buffer, behind the depth buffer, and switch its test on.
    pub fn stencil(&mut self, at: At) -> &mut Self {
        let depth = attribute(para_01::Z_3);
        self.params.entry(depth).or_default().parts = vec![(0, at)];
        self.place(attribute(para_01::FAST_Z_CLEAR_2), 0, at)
            .also(attribute(para_01::ENABLE_2), enable_2::STENCIL_TEST.mask())
    }

    /// Set the coarse depth buffer, and switch its test on.
    pub fn coarse(&mut self, at: At, pitch: u32) -> &mut Self {
        let word = coarse_z_1::PITCH.of(pitch) | coarse_z_1::RESET_TAGS.mask();
        self.place(attribute(para_01::COARSE_Z_1), word, at)
            .place(attribute(para_01::COARSE_Z_2), 0, at)
            .also(attribute(para_01::ENABLE_2), enable_2::COARSE_Z_TEST.mask())
    }

    /// Let the count of pixels be stored there.
    pub fn count(&mut self, at: At) -> &mut Self {
        self.set(attribute(para_01::Z_13), 0)
            .set(attribute(para_01::Z_14), 0)
            .place(attribute(para_01::Z_18), 0, at)
            .place(attribute(para_01::Z_19), 0, at)
    }

    /// Set a texture and its sample.
    pub fn texture(&mut self, number: u32, texture: &Texture) -> &mut Self {
        let Texture {
            at: (object, offset),
            ..
        } = *texture;
        let faces = if texture.kind & 3 == texture_control_1::kind::CUBE {
            6
        } else {
            1
        };
        let mut locations = Param::value(
            texture_control_1::KIND.of(texture.kind)
                | texture_control_1::BASE_MODE.of(u32::from(!texture.absolute)),
        );
        for face in 0..faces {
            let at = (object, offset + face * texture.faces);
            self.place(stage(number, para_02_stage::FACE_0_BASE + face), 0, at);
            locations.parts.push((face, at));
        }
        self.params
            .insert(stage(number, para_02_stage::TEXTURE_CONTROL_1), locations);
        for level in 1..=texture.last.min(8) {
            let entry = entry(LEVELS, number * 8 + level - 1);
            let distance = level * texture.levels;
            if texture.absolute {
                self.place(entry, 0, (object, offset + distance));
            } else {
                self.set(entry, level_base::BASE.of(distance / 256));
            }
        }
        let size = texture_control_2::WIDTH.of(texture.size.0)
            | texture_control_2::HEIGHT_ASSUMED.of(texture.size.1);
        let mip = u32::from(texture.last != 0);
        self.set(stage(number, para_02_stage::TEXTURE_CONTROL_2), size)
            .set(
                stage(number, para_02_stage::TEXTURE_CONTROL_3),
                texture.length,
            )
            .set(
                stage(number, para_02_stage::TEXTURE_CONTROL_4),
                texture.layout,
            )
            .set(
                stage(number, para_02_stage::TEXTURE_CONTROL_5),
                texture_control_5::FORMAT.of(texture.format),
            )
            .set(
                sample(number, para_02_sample::LEVEL_CONTROL_1),
                texture.last << 6,
            )
            .set(sample(number, para_02_sample::FILTER_CONTROL_1), mip)
            .set(sample(number, para_02_sample::FILTER_CONTROL_2), 0)
            .set(sample(number, para_02_sample::BORDER_CONTROL_1), 0)
            .set(sample(number, para_02_sample::BORDER_CONTROL_2), 0)
    }

    /// Switch the shader on, with that texture in all stages, and all tables.
    pub fn shader(&mut self, texture: &Texture) -> &mut Self {
        for number in 0..16 {
            self.texture(number, texture);
        }
        self.tables = TABLES
            .iter()
            .map(|(sub_type, first, entries)| (*sub_type, *first, vec![0; *entries]))
            .collect();
        self.set(attribute(para_01::PS_3), 0x0004_0004)
            .also(attribute(para_01::ENABLE_2), enable_2::PIXEL_SHADER.mask())
    }

    /// Draw by index, from a buffer with a pitch in dwords, with the largest index.
    pub fn indexed(&mut self, at: At, pitch: u32, most: u32, wide: bool) -> &mut Self {
        self.data = if wide {
            vec![0, most, 0]
        } else {
            vec![most << 16, 0]
        };
        let high = vertex_buffer_high::PITCH.of(pitch);
        self.place(primitive(para_04::VERTEX_FORMAT_1), 0x54_0000 | 5, at)
            .place(primitive(para_04::VERTEX_BUFFER_LOW), 0, at)
            .place(primitive(para_04::VERTEX_BUFFER_HIGH), high, at)
            .set(
                primitive(para_04::PRIMITIVE_SETTING_1),
                primitive_setting_1::INDEX_MODE.mask()
                    | primitive_setting_1::INDEX_32.of(u32::from(wide)),
            )
            .set(primitive(para_04::INDEX_MAX_LOW), most & 0xff_ffff)
            .set(primitive(para_04::INDEX_MIN_LOW), 0)
            .set(primitive(para_04::INDEX_BOUNDS_HIGH), (most >> 24) << 8)
    }

    /// Return the stream, with the draw at its end.
    pub fn stream(&self) -> Stream {
        let mut stream = Stream::new();
        self.state(&mut stream);
        self.draw(&mut stream);
        stream
    }

    /// Append the state.
    pub fn state(&self, stream: &mut Stream) {
        let mut last = None;
        for (sub_type, first, values) in &self.tables {
            stream
                .pad()
                .open(setting(para_type::TABLE, *sub_type, *first));
            for (i, value) in values.iter().enumerate() {
                stream.note(entry(*sub_type, first + i as u32));
                stream.words(&[*value]);
            }
            stream.pad();
        }
        for (key, param) in &self.params {
            let (kind, sub_type, sub_address) = ((key >> 16) & 0xff, (key >> 8) & 0xff, key & 0xff);
            let table = kind == para_type::TABLE;
            // Levels need not be there all.
            // Padding would be the next entries of the table. Levels need not be there all, so that each comes alone.
            if table {
                stream
                    .pad()
                    .counted(setting(kind, sub_type, sub_address), 1);
            } else if last != Some(key >> 8) {
                stream.pad().open(setting(kind, sub_type, 0));
            }
            last = Some(key >> 8);
            let place = if table { 0 } else { sub_address << 24 };
            stream.note(*key);
            stream.words(&[place | param.value]);
            let dword = stream.words.len() as u32 - 1;
            for (field, (object, offset)) in &param.parts {
                stream.relocations.push([dword, *object, *offset, *field]);
            }
        }
        stream.pad();
    }

    /// Append the draw.
    pub fn draw(&self, stream: &mut Stream) {
        stream.note(DRAW);
        stream.counted(setting(para_type::VERTEX, 0, 0), self.data.len());
        stream.words(&self.data).pad();
    }
}

/// The key of the header of a draw.
pub const DRAW: u32 = 0xffff_ffff;

/// Bits of a layout with tiles of 8 rows, and of 16.
pub const TILED: u32 = rt0_2::TILED.mask();
pub const TILED_16: u32 = rt0_2::TILED.mask() | rt0_2::TILE_16.mask();
/// The same of textures.
pub const TEXTURE_TILED: u32 = texture_control_4::TILED.mask();
pub const TEXTURE_TILED_16: u32 =
    texture_control_4::TILED.mask() | texture_control_4::TILE_16.mask();
