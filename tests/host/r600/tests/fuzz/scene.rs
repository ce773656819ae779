// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Submissions: what one is, the builder of their streams, and their [scenes](lapidary_fuzz::scene).

use std::rc::Rc;

use fastrand::Rng;
pub use lapidary_fuzz::chance::{extent, pick, rarely};
use lapidary_registers::r600::pm4::{op, set_config_reg, set_context_reg};
use r600::portable::Generation;

use crate::chips::Variant;

/// Size of objects before they are cut.
pub const GENEROUS: u64 = 128 << 20;

/// The ring that a stream is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ring {
    Gfx,
    Dma,
}

/// A submission.
#[derive(Clone, Debug)]
pub struct Case {
    pub ring: Ring,
    pub chip: &'static Variant,
    /// The client leaves the tiling of its surfaces to their objects.
    pub by_objects: bool,
    pub words: Vec<u32>,
    /// Sizes of the objects.
    pub objects: Vec<u64>,
    /// The submission before this one. The chip has what it has left, unless it is another client's.
    pub before: Option<Rc<Case>>,
    /// The submission before is another client's, so the driver has made the chip neutral since.
    pub another: bool,
}

/// Builds a stream for the graphics ring.
#[derive(Clone, Debug, Default)]
pub struct Stream {
    pub words: Vec<u32>,
}

impl Stream {
    pub fn words(&mut self, words: &[u32]) -> &mut Self {
        self.words.extend_from_slice(words);
        self
    }

    /// Append a packet of type 3.
    pub fn packet(&mut self, opcode: u8, body: &[u32]) -> &mut Self {
        self.words(&[header(opcode, body.len() as u32)]).words(body)
    }

    /// Append a write of consecutive registers.
    pub fn writes(&mut self, register: u32, values: &[u32]) -> &mut Self {
        let (opcode, base) = if register >= set_context_reg::BASE {
            (op::SET_CONTEXT_REG, set_context_reg::BASE)
        } else {
            (op::SET_CONFIG_REG, set_config_reg::BASE)
        };
        self.words(&[
            header(opcode, values.len() as u32 + 1),
            (register - base) / 4,
        ])
        .words(values)
    }

    /// Append a write of one register.
    pub fn write(&mut self, register: u32, value: u32) -> &mut Self {
        self.writes(register, &[value])
    }

    /// Append the marker of an entry of the relocation list.
    pub fn marker(&mut self, entry: u32) -> &mut Self {
        self.packet(op::NOP, &[entry * 4])
    }
}

/// Return the header of a packet of type 3 with a body of so many dwords.
pub fn header(opcode: u8, body: u32) -> u32 {
    (3 << 30) | ((body.wrapping_sub(1) & 0x3fff) << 16) | (u32::from(opcode) << 8)
}

/// The client of a scene.
pub struct Client {
    pub chip: &'static Variant,
}

impl Client {
    pub fn r7xx(&self) -> bool {
        self.chip.checker.generation == Generation::R7xx
    }
}

impl lapidary_fuzz::scene::Client for Client {
    type Object = u64;
    type Stream = Stream;

    const MOST_OBJECTS: usize = 8;
    const FILLER: u32 = 2 << 30;

    fn object(&self, _: &mut Rng) -> u64 {
        GENEROUS
    }

    fn unused(&self) -> u64 {
        GENEROUS
    }

    fn offset(&self, rng: &mut Rng, align: u32) -> u32 {
        match rng.u32(..8) {
            0..=4 => 0,
            5 => align,
            6 => align * rng.u32(..4),
            _ => rng.u32(..0x2_0000) / align * align,
        }
    }
}

impl lapidary_fuzz::scene::Stream for Stream {
    fn words(&mut self, words: &[u32]) -> &mut Self {
        self.words(words)
    }

    fn writes(&mut self, register: u32, values: &[u32]) -> &mut Self {
        self.writes(register, values)
    }

    fn into_words(self) -> Vec<u32> {
        self.words
    }
}

/// A submission in the making.
pub type Scene<'a> = lapidary_fuzz::Scene<'a, Client>;

/// Begin a submission on `chip`.
pub fn begin<'a>(rng: &'a mut Rng, chip: &'static Variant) -> Scene<'a> {
    Scene::new(rng, Client { chip })
}

/// Return the submission that a scene has become.
pub fn finish(scene: Scene<'_>) -> Case {
    let (words, objects, client) = scene.finish();
    Case {
        ring: Ring::Gfx,
        chip: client.chip,
        by_objects: false,
        words,
        objects,
        before: None,
        another: false,
    }
}

/// Return a dword with offset and object of something at a multiple of 256 bytes, or rarely a nonsensical one.
pub fn surface_place(s: &mut Scene<'_>, align: u32) -> (u32, u32) {
    let offset = s.offset(align.max(256)) >> 8;
    let offset = if rarely(s.rng, 256) {
        offset | (1 << s.rng.u32(..32))
    } else {
        offset
    };
    (offset, s.object())
}
