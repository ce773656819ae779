// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A submission in the making: pieces of a stream, and the objects that they name.
//!
//! A client emits its state in pieces (what Mesa calls atoms): the targets, the textures, the constants, and so on. A
//! [`Scene`] collects such pieces in the order of a client. Whether they are sent in that order is decided at the end.
//! Objects are larger than any piece needs, because they are cut to size before they are judged.

use std::ops::Deref;

use fastrand::Rng;

use crate::chance::{pick, rarely};

/// User space fills streams up to a multiple of so many dwords.
const FILLED: usize = 16;

/// Builds a stream of a family.
pub trait Stream: Default {
    /// Append dwords.
    fn words(&mut self, words: &[u32]) -> &mut Self;

    /// Append writes to a register and its successors, in one packet.
    fn writes(&mut self, register: u32, values: &[u32]) -> &mut Self;

    /// Return the dwords.
    fn into_words(self) -> Vec<u32>;
}

/// A client of a family: what its scenes are made of.
pub trait Client {
    /// An object, as the family's cases have it.
    type Object;
    /// The family's builder of streams.
    type Stream: Stream;

    /// The most objects that pieces of a scene share.
    const MOST_OBJECTS: usize;
    /// A dword that the command processor skips.
    const FILLER: u32;

    /// Return an object that is larger than any piece needs.
    fn object(&self, rng: &mut Rng) -> Self::Object;

    /// Return the object of a stream that names none.
    fn unused(&self) -> Self::Object;

    /// Return where something starts in its object, a multiple of `align` bytes.
    fn offset(&self, rng: &mut Rng, align: u32) -> u32;
}

/// A submission in the making. What the client knows can be read through it.
pub struct Scene<'a, C: Client> {
    /// Chance.
    pub rng: &'a mut Rng,
    /// The objects that pieces name by their numbers.
    pub objects: Vec<C::Object>,
    client: C,
    pieces: Vec<C::Stream>,
    /// Whether pieces are sent in the order of a client.
    ordered: bool,
}

impl<C: Client> Deref for Scene<'_, C> {
    type Target = C;

    fn deref(&self) -> &C {
        &self.client
    }
}

impl<'a, C: Client> Scene<'a, C> {
    /// Begin a submission of `client`.
    pub fn new(rng: &'a mut Rng, client: C) -> Self {
        let ordered = !rarely(rng, 4);
        Self {
            rng,
            objects: Vec::new(),
            client,
            pieces: Vec::new(),
            ordered,
        }
    }

    /// Return an object to use: a new one, or one that is in use already.
    pub fn object(&mut self) -> u32 {
        let number = self.objects.len();
        if number < C::MOST_OBJECTS && (number == 0 || !rarely(self.rng, 3)) {
            self.objects.push(self.client.object(self.rng));
            return number as u32;
        }
        self.rng.u32(..number as u32)
    }

    /// Return where something starts in its object, a multiple of `align` bytes.
    pub fn offset(&mut self, align: u32) -> u32 {
        self.client.offset(self.rng, align)
    }

    /// Begin a piece.
    pub fn piece(&mut self) -> &mut C::Stream {
        self.pieces.push(C::Stream::default());
        self.on()
    }

    /// Return the piece that was begun last.
    ///
    /// # Panics
    /// Never.
    pub fn on(&mut self) -> &mut C::Stream {
        if self.pieces.is_empty() {
            self.pieces.push(C::Stream::default());
        }
        self.pieces.last_mut().expect("there is one")
    }

    /// Write a register and its successors, as one packet or one for each.
    pub fn block(&mut self, first: u32, values: &[u32]) {
        if self.rng.bool() {
            self.on().writes(first, values);
        } else {
            for (register, value) in (first..).step_by(4).zip(values) {
                self.on().writes(register, &[*value]);
            }
        }
    }

    /// Write values to some of the registers in `free`, which may have any.
    pub fn any_values(&mut self, free: &[u32]) {
        self.piece();
        for _ in 0..self.rng.u32(..8) {
            let register = pick(self.rng, free);
            let value = match self.rng.u32(..4) {
                0 => 0,
                1 => u32::MAX,
                2 => 1 << self.rng.u32(..32),
                _ => self.rng.u32(..),
            };
            self.on().writes(register, &[value]);
        }
    }

    /// Return where the pieces stand.
    pub fn mark(&self) -> usize {
        self.pieces.len()
    }

    /// Make the pieces since `from` one stream; `from` is what [`mark`](Self::mark) has returned.
    pub fn settle(&mut self, from: usize) {
        let mut pieces = self.pieces.split_off(from);
        if !self.ordered {
            self.rng.shuffle(&mut pieces);
        }
        let mut whole = C::Stream::default();
        for piece in pieces {
            whole.words(&piece.into_words());
        }
        self.pieces.push(whole);
    }

    /// Return the stream, its objects and the client.
    pub fn finish(mut self) -> (Vec<u32>, Vec<C::Object>, C) {
        let pieces = self.pieces.into_iter();
        let mut words: Vec<u32> = pieces.flat_map(Stream::into_words).collect();
        if self.objects.is_empty() {
            self.objects.push(self.client.unused());
        }
        if rarely(self.rng, 8) {
            words.resize(words.len().next_multiple_of(FILLED), C::FILLER);
        }
        (words, self.objects, self.client)
    }
}
