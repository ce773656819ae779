// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Footprints of the 3D engine: a chip that draws, and what a draw must touch.

mod counts;
mod depth;
mod lists;
mod needed;
mod targets;
mod textures;

use std::sync::atomic::{AtomicU32, Ordering};

use lapidary_model::machine::Object;
use lapidary_model::trace::Trace;
use lapidary_registers::chrome9::enums::{para_type, raster_op, rt_format};
use lapidary_registers::chrome9::para_01::{self, enable_2, rt0_3, rt0_4};
use lapidary_registers::chrome9::para_04::{self, primitive_setting_4 as shape};
use lapidary_registers::chrome9::{DATABASE, mmio, parameters};

use super::Bench;
use crate::bus;
use crate::kind::{self, Kind};

/// Render target 0, and what else the tests use; in the frame buffer.
pub const TARGET: u64 = 0x10_0000;
const DEPTH: u64 = 0x20_0000;
const OTHER: u64 = 0x30_0000;
/// Pixels of the window.
const WIDTH: u32 = 64;
const HEIGHT: u32 = 32;
/// Bytes of target 0, of 32 bits a pixel.
pub const BYTES: u64 = (WIDTH * HEIGHT * 4) as u64;

pub const ATTRIBUTE: u32 = para_type::ATTRIBUTE;
pub const PRIMITIVE: u32 = para_type::PRIMITIVE;
/// Settings of what all textures share.
pub const GENERAL: u32 = para_type::TEXTURE | 0xfe00;

/// Return the setting of a type, with a sub-type in bits 15:8 of the number.
fn setting(kind: u32) -> u32 {
    ((kind & 0xff) << 16) | ((kind >> 8) << 24)
}

impl Bench {
    /// Set parameters of a type that has sub-addresses.
    pub fn set(&mut self, kind: u32, values: &[(u32, u32)]) {
        self.write(mmio::SETTING_3D, setting(kind));
        for (sub_address, value) in values {
            self.write(mmio::SPACE_3D.base(), (sub_address << 24) | value);
        }
    }

    /// Set dwords of a table.
    pub fn set_table(&mut self, subtype: u32, from: u32, words: &[u32]) {
        let word = setting(para_type::TABLE | (subtype << 8)) | from;
        self.write(mmio::SETTING_3D, word);
        for word in words {
            self.write(mmio::SPACE_3D.base(), *word);
        }
    }

    /// Write zero everywhere, as public drivers do, but where that has an effect.
    pub fn zero(&mut self) {
        let stages = (0..16).map(|n| para_type::TEXTURE | (n << 8));
        let samples = (0x20..0x30).map(|n| para_type::TEXTURE | (n << 8));
        let kinds = [ATTRIBUTE, PRIMITIVE, GENERAL];
        for kind in kinds.into_iter().chain(stages).chain(samples) {
            let domain = parameters(kind as u8, (kind >> 8) as u8).unwrap();
            let known = (0..0xbf).filter(|i| DATABASE.by_offset(domain, *i).is_some());
            let values: Vec<_> = known.map(|i| (i, 0)).collect();
            self.set(kind, &values);
        }
        for (subtype, len) in [(0, 16), (0x10, 128), (0x14, 32), (0x20, 384), (0x21, 32)] {
            self.set_table(subtype, 0, &vec![0; len]);
        }
    }

    /// Return a chip that draws triangles of vertices of three dwords to render target 0, of 32 bits a pixel, in rows.
    pub fn drawing() -> Bench {
        let mut b = Bench::new();
        b.zero();
        b.window(0, 0, WIDTH, HEIGHT);
        b.set(
            ATTRIBUTE,
            &[
                (para_01::ENABLE_2, enable_2::COLOR_WRITE.mask()),
                (para_01::RT0_1, (TARGET >> 8) as u32),
                (
                    para_01::RT0_3,
                    rt0_3::FORMAT.of(rt_format::ARGB8888) | rt0_3::PITCH.of(WIDTH * 4 / 32),
                ),
                (para_01::RT0_4, rt0_4::ROP.of(raster_op::COPY_PEN) | 0xf),
            ],
        );
        b.set(
            PRIMITIVE,
            &[
                (para_04::VERTEX_FORMAT_1, 3),
                (para_04::VERTEX_FORMAT_2, 0x2_0100),
                (para_04::VERTEX_COUNT, 3),
                (
                    para_04::PRIMITIVE_SETTING_4,
                    shape::TYPE.of(shape::type_::TRIANGLE)
                        | shape::SHADING.of(shape::shading::GOURAUD),
                ),
            ],
        );
        assert_eq!(b.found(), []);
        b
    }

    /// Set both windows.
    pub fn window(&mut self, x0: u32, y0: u32, x1: u32, y1: u32) {
        let (v, h) = ((y0 << 12) | y1, (x0 << 12) | x1);
        let [a, b, c, d] = [
            para_01::MISC_1,
            para_01::MISC_2,
            para_01::MISC_3,
            para_01::MISC_4,
        ];
        self.set(ATTRIBUTE, &[(a, v), (b, h), (c, v), (d, h)]);
    }

    /// Send dwords of type 00h.
    pub fn send(&mut self, words: &[u32]) {
        self.write(mmio::SETTING_3D, 0);
        for word in words {
            self.write(mmio::SPACE_3D.base(), *word);
        }
    }

    /// Draw a triangle and return what was found.
    pub fn draw(&mut self) -> Vec<Kind> {
        self.send(&[0; 9]);
        self.found()
    }

    /// Declare objects, in the place of all others.
    pub fn declare(&mut self, objects: &[(u32, u64, u64)]) {
        let object = |(space, start, len): &(u32, u64, u64)| Object {
            space: *space,
            start: *start,
            len: *len,
            name: "an object".into(),
        };
        self.m.objects = objects.iter().map(object).collect();
    }

    /// Assert that a draw touches the whole of each object and nothing else: it fits, and each object is needed to its
    /// first and to its last byte.
    pub fn exactly(&mut self, objects: &[(u32, u64, u64)]) {
        self.declare(objects);
        assert_eq!(self.draw(), [], "{objects:x?}");
        for i in 0..objects.len() {
            for (start, end) in [(1, 0), (0, 1)] {
                let mut less = objects.to_vec();
                less[i].1 += start;
                less[i].2 -= start + end;
                self.declare(&less);
                assert_eq!(self.draw(), [kind::OUTSIDE_OBJECTS], "{less:x?}");
            }
        }
    }

    /// The same of render target 0 and one object more.
    fn with_target(&mut self, start: u64, len: u64) {
        self.exactly(&[
            (bus::FRAME_BUFFER, TARGET, BYTES),
            (bus::FRAME_BUFFER, start, len),
        ]);
    }

    /// Take the trace of a draw.
    pub fn traced(&mut self) -> String {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let n = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("chrome9-{}-{n}.trace", std::process::id());
        let path = std::env::temp_dir().join(name);
        self.m.trace = Trace::to_file(&path).unwrap();
        self.draw();
        self.m.trace = Trace::default();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        text
    }
}
