// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A submission in the making: pieces of a stream, and the objects that they name.
//!
//! A client emits its state in pieces (what Mesa calls atoms): the targets, the textures, the constants, and so on. A
//! [`Scene`] collects such pieces in the order of a client. Whether they are sent in that order is decided at the end.
//! Objects are larger than any piece needs, because they are cut to size before they are judged.

use std::rc::Rc;

use fastrand::Rng;
pub use lapidary_fuzz::chance::{extent, pick, rarely};
use lapidary_registers::r600::pm4::{op, set_config_reg, set_context_reg};
use r600::portable::Generation;

use crate::chips::Variant;

/// Size of objects before they are cut.
pub const GENEROUS: u64 = 128 << 20;
/// The most objects that pieces of a scene share.
const MAX_OBJECTS: usize = 8;

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

    /// A packet of type 3.
    pub fn packet(&mut self, opcode: u8, body: &[u32]) -> &mut Self {
        self.words(&[header(opcode, body.len() as u32)]).words(body)
    }

    /// Consecutive registers.
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

    /// One register.
    pub fn write(&mut self, register: u32, value: u32) -> &mut Self {
        self.writes(register, &[value])
    }

    /// The marker of an entry of the relocation list.
    pub fn marker(&mut self, entry: u32) -> &mut Self {
        self.packet(op::NOP, &[entry * 4])
    }
}

/// Return the header of a packet of type 3 with a body of so many dwords.
pub fn header(opcode: u8, body: u32) -> u32 {
    (3 << 30) | ((body.wrapping_sub(1) & 0x3fff) << 16) | (u32::from(opcode) << 8)
}

/// A submission in the making.
pub struct Scene<'a> {
    pub rng: &'a mut Rng,
    pub chip: &'static Variant,
    pub objects: Vec<u64>,
    pieces: Vec<Stream>,
    /// Whether pieces are sent in the order of a client.
    ordered: bool,
}

impl<'a> Scene<'a> {
    pub fn new(rng: &'a mut Rng, chip: &'static Variant) -> Self {
        let ordered = !rarely(rng, 4);
        Self {
            rng,
            chip,
            objects: Vec::new(),
            pieces: Vec::new(),
            ordered,
        }
    }

    pub fn r7xx(&self) -> bool {
        self.chip.checker.generation == Generation::R7xx
    }

    /// Return an object to use: a new one, or one that is in use already.
    pub fn object(&mut self) -> u32 {
        let number = self.objects.len();
        if number < MAX_OBJECTS && (number == 0 || !rarely(self.rng, 3)) {
            self.objects.push(GENEROUS);
            return number as u32;
        }
        self.rng.u32(..number as u32)
    }

    /// Return where something starts in its object, a multiple of `align` bytes.
    pub fn offset(&mut self, align: u32) -> u32 {
        match self.rng.u32(..8) {
            0..=4 => 0,
            5 => align,
            6 => align * self.rng.u32(..4),
            _ => self.rng.u32(..0x2_0000) / align * align,
        }
    }

    /// Return a dword with offset and object of something at a multiple of 256 bytes, or rarely a nonsensical one.
    pub fn surface(&mut self, align: u32) -> (u32, u32) {
        let offset = self.offset(align.max(256)) >> 8;
        let offset = if rarely(self.rng, 256) {
            offset | (1 << self.rng.u32(..32))
        } else {
            offset
        };
        (offset, self.object())
    }

    /// Begin a piece.
    pub fn piece(&mut self) -> &mut Stream {
        self.pieces.push(Stream::default());
        self.on()
    }

    /// Return the piece that was begun last.
    pub fn on(&mut self) -> &mut Stream {
        if self.pieces.is_empty() {
            self.pieces.push(Stream::default());
        }
        self.pieces.last_mut().expect("there is one")
    }

    /// Write a register and its successors, as one packet or one for each.
    pub fn block(&mut self, first: u32, values: &[u32]) {
        if self.rng.bool() {
            self.on().writes(first, values);
        } else {
            for (register, value) in (first..).step_by(4).zip(values) {
                self.on().write(register, *value);
            }
        }
    }

    /// Make the pieces since `from` one stream; `from` is what [`mark`](Self::mark) has returned.
    pub fn settle(&mut self, from: usize) {
        let mut pieces = self.pieces.split_off(from);
        if !self.ordered {
            self.rng.shuffle(&mut pieces);
        }
        let mut whole = Stream::default();
        for piece in pieces {
            whole.words(&piece.words);
        }
        self.pieces.push(whole);
    }

    /// Return where the pieces stand.
    pub fn mark(&self) -> usize {
        self.pieces.len()
    }

    pub fn finish(mut self) -> Case {
        let mut words: Vec<u32> = self.pieces.drain(..).flat_map(|p| p.words).collect();
        if self.objects.is_empty() {
            self.objects.push(GENEROUS);
        }
        // User space fills the last dwords of a stream with fillers.
        if rarely(self.rng, 8) {
            words.resize(words.len().next_multiple_of(16), 2 << 30);
        }
        Case {
            ring: Ring::Gfx,
            chip: self.chip,
            by_objects: false,
            words,
            objects: self.objects,
            before: None,
            another: false,
        }
    }
}
