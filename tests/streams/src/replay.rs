// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Recordings on a model: their objects get addresses, the model executes them, and what it says is kept.
//!
//! A stream refers to its objects by markers, which a kernel driver replaces by addresses. [`relocate`] does that for the
//! dwords that the family names, by what the markers mean and not as any driver does it. A driver that checks and patches
//! is tested elsewhere.

use std::collections::BTreeMap;
use std::fmt::{self, Debug};

use crate::{Object, Recording, Stream};

/// The domain of objects in VRAM, as the radeon interface numbers it.
const VRAM_DOMAIN: u32 = 4;
/// Bytes of a page.
const PAGE: u64 = 4096;
/// The header of a marker: a type-3 packet with the opcode NOP and one dword.
const MARKER: u32 = 0xc000_1000;

/// Where a family's bench has room for objects.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// GPU address of the first object in VRAM.
    pub vram: u64,
    /// GPU address of the first object in system memory.
    pub gtt: u64,
    /// What an object's address is a multiple of: a power of two.
    pub align: u64,
}

impl Room {
    /// Return GPU addresses for the objects. Those that may be in VRAM are there.
    pub fn place(mut self, objects: &[Object]) -> Vec<u64> {
        let place = |object: &Object| {
            let next = if (object.read | object.write) & VRAM_DOMAIN != 0 {
                &mut self.vram
            } else {
                &mut self.gtt
            };
            let at = next.next_multiple_of(self.align);
            // A page between objects, so that none ends where another begins.
            *next = at + object.size.next_multiple_of(PAGE) + PAGE;
            at
        };
        objects.iter().map(place).collect()
    }
}

/// How an address stands in a packet. The first number is the dword's place behind the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// One dword, in units of two to the power of the second number of bytes.
    Units(usize, u32),
    /// In bytes. Bits 39:32 are in the lowest byte of the dword at the second number.
    Bytes(usize, usize),
}

/// What an access of a model means for its stream.
#[derive(Clone, Copy, Debug)]
pub struct Reach {
    /// The object that was touched, by its place in the stream's list.
    pub object: Option<usize>,
    /// Whether it was written.
    pub write: bool,
    /// The GPU address behind the last byte.
    pub end: u64,
    /// Whether it is a texture or a target of a draw. Most of these fill their objects.
    pub picture: bool,
}

/// A chip on the bench.
pub trait Model {
    /// A unit's access.
    type Touch: Debug;
    /// A kind of misuse, by its name.
    type Kind: fmt::Display;

    /// Where objects are.
    const ROOM: Room;
    /// Whether a slot without a marker is no address, as it is in an array that is not full. Otherwise it is a mistake
    /// of the recording.
    const MARKERS_MAY_LACK: bool;

    /// Return which dwords of a packet take an address, in the order of their markers.
    fn slots(header: u32, body: &[u32]) -> Vec<Slot>;

    /// Go back to the state from which each recording starts, without objects.
    fn reset(&mut self);

    /// Declare an object.
    fn object(&mut self, address: u64, size: u64, name: &str);

    /// Execute a stream. Return whether it has come to its end.
    fn execute(&mut self, words: &[u32]) -> bool;

    /// Take what has been touched since the last call.
    fn touched(&mut self) -> Vec<Self::Touch>;

    /// Return what an access means.
    fn reach(touch: &Self::Touch) -> Reach;

    /// Take what the judge has found: a kind, how often, and of one the details.
    fn findings(&mut self) -> Vec<(Self::Kind, u64, String)>;

    /// Return how many draws have been judged.
    fn draws(&self) -> u64;
}

/// Return the stream with addresses in place of offsets.
///
/// # Panics
/// If a slot has no marker and must have one, or if a marker names no object.
pub fn relocate<M: Model>(stream: &Stream, places: &[u64]) -> Vec<u32> {
    let mut words = stream.words.clone();
    let mut at = 0;
    while at < words.len() {
        let header = words[at];
        let length = match header >> 30 {
            0 | 3 => 2 + ((header >> 16) & 0x3fff) as usize,
            1 => 3,
            _ => 1,
        };
        let end = at + length;
        let mut next = end;
        for slot in M::slots(header, &words[at + 1..end]) {
            let index = match words.get(next..next + 2) {
                Some([MARKER, index]) => *index,
                _ if M::MARKERS_MAY_LACK => break,
                _ => panic!("no marker behind dword {at}"),
            };
            let place = places[index as usize / 4];
            match slot {
                Slot::Units(i, shift) => {
                    let word = &mut words[at + 1 + i];
                    *word = word.wrapping_add((place >> shift) as u32);
                }
                Slot::Bytes(i, high) => {
                    let low = u64::from(words[at + 1 + i]) + place;
                    words[at + 1 + i] = low as u32;
                    words[at + 1 + high] += (low >> 32) as u32;
                }
            }
            next += 2;
        }
        at = end;
    }
    words
}

/// What a model says of recordings.
#[derive(Debug, Default)]
pub struct Outcome {
    /// What it complains about, by kind: a line for each stream.
    pub complaints: BTreeMap<String, Vec<String>>,
    /// Accesses to pictures, and how many of them reach the last page of their object.
    pub pictures: (u64, u64),
    /// Draws that have been judged.
    pub draws: u64,
}

impl Outcome {
    fn complain(&mut self, kind: impl fmt::Display, line: String) {
        self.complaints
            .entry(kind.to_string())
            .or_default()
            .push(line);
    }

    /// Check that streams of real clients have drawn, are blameless, and fill `tenths` of their pictures or more. Clients
    /// allocate what hardware needs. If fewer filled their objects, the model's layout would be too small.
    ///
    /// # Panics
    /// If they have not, after some lines of each kind of complaint.
    pub fn check(&self, chip: &str, tenths: u64) {
        let (pictures, whole) = self.pictures;
        let draws = self.draws;
        println!("{chip}: {draws} draws, {whole} of {pictures} pictures fill their object");
        for (kind, lines) in &self.complaints {
            eprintln!("{chip}: {kind} in {} streams, such as", lines.len());
            lines
                .iter()
                .take(5)
                .for_each(|line| eprintln!("    {line}"));
        }
        assert!(self.complaints.is_empty(), "{chip}");
        assert!(draws >= 1, "{chip}: nothing was drawn");
        assert!(
            whole * 10 >= pictures * tenths,
            "{chip}: {whole} of {pictures}"
        );
    }
}

/// Execute each recording from the same state, and keep what the model says. A finding that `known` knows is left out.
pub fn replay<M: Model>(
    model: &mut M,
    recordings: &[Recording],
    known: impl Fn(&M::Kind) -> bool,
) -> Outcome {
    let mut outcome = Outcome::default();
    for Recording { name, stream } in recordings {
        let places = M::ROOM.place(&stream.objects);
        model.reset();
        for (place, object) in places.iter().zip(&stream.objects) {
            model.object(*place, object.size, name);
        }
        model.touched();
        if !model.execute(&relocate::<M>(stream, &places)) {
            outcome.complain("it does not end", name.clone());
        }
        for touch in model.touched() {
            let reach = M::reach(&touch);
            // What a client does not announce as written it does not expect to change.
            let announced = reach.object.is_some_and(|i| stream.objects[i].write != 0);
            if reach.write && !announced {
                outcome.complain("unannounced write", format!("{name}: {touch:x?}"));
            }
            if let (true, Some(i)) = (reach.picture, reach.object) {
                let end = reach.end - places[i];
                outcome.pictures.0 += 1;
                outcome.pictures.1 += u64::from(end + PAGE > stream.objects[i].size);
            }
        }
        for (kind, count, detail) in model.findings() {
            if !known(&kind) {
                outcome.complain(kind, format!("{name}: {count} times, {detail}"));
            }
        }
    }
    outcome.draws = model.draws();
    outcome
}
