// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A submission in the making: pieces of a stream, and the objects that they name.
//!
//! A client emits its state in pieces (what Mesa calls atoms): the targets, the textures, the arrays, and so
//! on. A [`Scene`] collects such pieces in the order of a client; whether they are sent in that order is
//! decided at the end. Objects are larger than any piece needs: the judge cuts them to size.

use fastrand::Rng;
pub use lapidary_fuzz::chance::{extent, pick, rarely};
use r500::portable::{
    checker::{Chip, Object, Options},
    pm4,
};

use crate::support::Stream;

/// Size of objects before they are cut.
pub const GENEROUS: u64 = 32 << 20;
/// What a piece may take of an object, so that most streams are legal.
pub const ROOM: u64 = GENEROUS - (1 << 20);
const MAX_OBJECTS: usize = 6;

/// A submission.
#[derive(Clone, Debug)]
pub struct Case {
    pub words: Vec<u32>,
    pub objects: Vec<Object>,
    pub options: Options,
}

/// Return what the checker is told of a chip: as the model has it, with no pipe broken.
pub fn facts(chip: Chip) -> Options {
    Options {
        chip,
        pixel_pipes: match chip {
            Chip::Rv515 | Chip::Rv530 => 1,
            Chip::Rv560 => 2,
            Chip::Rv570 => 3,
            Chip::R520 | Chip::R580 => 4,
        },
        z_pipes: if chip == Chip::Rv530 { 2 } else { 1 },
        ..Options::default()
    }
}

/// Any client on any chip.
pub fn options(rng: &mut Rng) -> Options {
    let chip = pick(
        rng,
        &[
            Chip::Rv515,
            Chip::R520,
            Chip::Rv530,
            Chip::Rv560,
            Chip::Rv570,
            Chip::R580,
        ],
    );
    Options {
        keep_tiling: !rarely(rng, 4),
        hyperz: rarely(rng, 4),
        cmask: rarely(rng, 4),
        ..facts(chip)
    }
}

/// A submission in the making.
pub struct Scene<'a> {
    pub rng: &'a mut Rng,
    pub options: Options,
    pub objects: Vec<Object>,
    pieces: Vec<Stream>,
    /// Whether pieces are sent in the order of a client.
    ordered: bool,
}

impl<'a> Scene<'a> {
    pub fn new(rng: &'a mut Rng) -> Self {
        let options = options(rng);
        let ordered = !rarely(rng, 4);
        Self {
            rng,
            options,
            objects: Vec::new(),
            pieces: Vec::new(),
            ordered,
        }
    }

    /// Return an object to use: a new one, or one that is in use already.
    pub fn object(&mut self) -> u32 {
        let number = self.objects.len();
        if number < MAX_OBJECTS && (number == 0 || !rarely(self.rng, 3)) {
            self.objects.push(Object {
                size: GENEROUS,
                tiling: if rarely(self.rng, 4) {
                    self.rng.u32(..4)
                } else {
                    0
                },
                ..Object::default()
            });
            return number as u32;
        }
        self.rng.u32(..number as u32)
    }

    /// Return where something starts in its object.
    pub fn offset(&mut self, align: u32) -> u32 {
        match self.rng.u32(..8) {
            0..=3 => 0,
            4 => align,
            5 => align * self.rng.u32(..16),
            _ => self.rng.u32(..0x4_0000) / align * align,
        }
    }

    /// Begin a piece.
    pub fn piece(&mut self) -> &mut Stream {
        self.pieces.push(Stream::new());
        self.pieces.last_mut().expect("just pushed")
    }

    /// Return the piece that was begun last.
    pub fn on(&mut self) -> &mut Stream {
        if self.pieces.is_empty() {
            self.pieces.push(Stream::new());
        }
        self.pieces.last_mut().expect("there is one")
    }

    /// Values for a register and its successors, as one packet or one for each.
    pub fn block(&mut self, first: u32, values: &[u32]) {
        if self.rng.bool() {
            self.on().writes(first, values);
        } else {
            for (register, value) in (first..).step_by(4).zip(values) {
                self.on().write(register, *value);
            }
        }
    }

    /// The pieces since `from` become one stream; `from` is what [`mark`](Self::mark) has returned.
    pub fn settle(&mut self, from: usize) {
        let mut pieces = self.pieces.split_off(from);
        if !self.ordered {
            self.rng.shuffle(&mut pieces);
        }
        let mut whole = Stream::new();
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
            self.objects.push(Object {
                size: GENEROUS,
                ..Object::default()
            });
        }
        // User space fills the last page of a stream with fillers.
        if rarely(self.rng, 8) {
            words.resize(words.len().next_multiple_of(16), pm4::FILLER);
        }
        Case {
            words,
            objects: self.objects,
            options: self.options,
        }
    }
}
