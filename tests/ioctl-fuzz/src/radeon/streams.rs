// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Command streams: sound ones, whose effect is known, and spoilt ones.

use super::Radeon;
use super::family::family;
use crate::objects::{self, Mark, PITCH, WIDTH};
use lapidary_guest::abi::CsReloc;
use lapidary_guest::painter::{Area, Rect};
use lapidary_guest::submit::{Chunk, Envelope};
use lapidary_guest::{Bo, Stream};

type Object = objects::Object<Radeon>;

/// What a command of a sound stream does to the contents.
pub enum Effect {
    Fill(usize, Rect, u32),
    Copy(usize, usize, (i32, i32), Rect),
}

/// A stream and what it does to the objects it was made for.
pub struct Sound {
    /// The commands.
    pub stream: Stream,
    /// What each does.
    pub effects: Vec<Effect>,
}

/// Return a rectangle inside a surface of so many rows.
fn rect(rng: &mut fastrand::Rng, rows: i32) -> Rect {
    let (x, y) = (rng.i32(0..WIDTH), rng.i32(0..rows));
    Rect::new(x, y, rng.i32(1..=WIDTH - x), rng.i32(1..=rows - y))
}

impl Sound {
    /// Make some fills and copies of the objects, of which there is at least one.
    pub fn new(rng: &mut fastrand::Rng, objects: &[Object], mark: Mark) -> Sound {
        let mut sound = Sound {
            stream: family().stream(rng),
            effects: Vec::new(),
        };
        for _ in 0..rng.u32(1..=6) {
            let (to, from) = (rng.usize(..objects.len()), rng.usize(..objects.len()));
            let target = Area::new(&objects[to].bo, PITCH);
            let source = Area::new(&objects[from].bo, PITCH);
            if rng.bool() || objects[to].is_same(&objects[from]) {
                let area = rect(rng, objects[to].rows());
                let colour = mark.word(rng.u8(..));
                family().fill(rng, &mut sound.stream, target, colour, area);
                sound.effects.push(Effect::Fill(to, area, colour));
            } else {
                let rows = objects[to].rows().min(objects[from].rows());
                let area = rect(rng, rows);
                let at = (rng.i32(0..=WIDTH - area.w), rng.i32(0..=rows - area.h));
                family().copy(rng, &mut sound.stream, source, target, at, area);
                sound.effects.push(Effect::Copy(from, to, at, area));
            }
        }
        sound
    }
}

/// Do to the contents what the GPU will do to the objects.
pub fn apply(effects: &[Effect], objects: &[Object]) {
    let row = |at: (i32, i32), w: i32, y: i32| {
        let first = ((at.1 + y) * WIDTH + at.0) as usize;
        first..first + w as usize
    };
    for effect in effects {
        match *effect {
            Effect::Fill(to, area, colour) => {
                let mut content = objects[to].content.borrow_mut();
                for y in 0..area.h {
                    content[row((area.x, area.y), area.w, y)].fill(colour);
                }
            }
            Effect::Copy(from, to, at, area) => {
                let source = objects[from].content.borrow();
                let mut content = objects[to].content.borrow_mut();
                for y in 0..area.h {
                    content[row((area.x, area.y), area.w, y)]
                        .copy_from_slice(&source[row(at, area.w, y)]);
                }
            }
        }
    }
}

/// Return a dword that looks like no process's.
fn anything(rng: &mut fastrand::Rng) -> u32 {
    let word = match rng.u32(..4) {
        0 => rng.u32(..),
        1 => rng.u32(..) & 0x000f_000f,
        2 => u32::MAX << rng.u32(..32),
        _ => rng.u32(..64),
    };
    if Mark::any(word) { !word } else { word }
}

/// Return a stream that was sound and then lost some of it. It names nothing but `objects`.
pub fn spoilt(rng: &mut fastrand::Rng, objects: &[Object], mark: Mark) -> Envelope {
    let mut stream = Sound::new(rng, objects, mark).stream;
    for _ in 0..rng.u32(..3) {
        family().draw(rng, &mut stream, objects);
    }
    let mut words = stream.words().to_vec();
    for _ in 0..rng.u32(..4) {
        if words.is_empty() {
            break;
        }
        let at = rng.usize(..words.len());
        match rng.u32(..6) {
            _ if Mark::any(words[at]) => {}
            0 => words[at] ^= 1 << rng.u32(..32),
            1 | 2 => words[at] = anything(rng),
            3 => drop(words.remove(at)),
            4 => words.insert(at, anything(rng)),
            _ => words.truncate(at.max(1)),
        }
        // A flipped bit may have made a mark.
        words.iter_mut().for_each(|word| {
            if mark.foreign(*word) {
                *word = 0;
            }
        });
    }
    let mut entries = stream.relocations().to_vec();
    if rng.u32(..4) == 0 {
        spoil_entries(rng, &mut entries, objects);
    }
    let (flags, ring) = (stream.flags()[0], stream.flags()[1]);
    let flags = [flags * u32::from(rng.bool()), ring, rng.u32(..4)];
    Envelope::new()
        .with(Chunk::relocations(&entries))
        .with(Chunk::commands(&words))
        .with(Chunk::flags(&flags[..rng.usize(2..=3)]))
}

fn spoil_entries(rng: &mut fastrand::Rng, entries: &mut Vec<CsReloc>, objects: &[Object]) {
    let other = |rng: &mut fastrand::Rng| objects[rng.usize(..objects.len())].bo.handle();
    if entries.is_empty() {
        return;
    }
    let at = rng.usize(..entries.len());
    match rng.u32(..6) {
        0 => entries[at].handle = other(rng),
        1 => entries[at].handle = rng.u32(..),
        2 => entries[at].read_domains = rng.u32(..8),
        3 => entries[at].write_domain = rng.u32(..8),
        4 => entries[at].flags = rng.u32(..),
        _ => drop(entries.remove(at)),
    }
}

/// Return an envelope that lies.
pub fn broken(rng: &mut fastrand::Rng, bo: &Bo) -> Envelope {
    let entry = CsReloc {
        handle: bo.handle(),
        read_domains: bo.domain().bits(),
        ..CsReloc::default()
    };
    let mut envelope = Envelope::new();
    for _ in 0..rng.u32(..5) {
        let words: Vec<u32> = (0..rng.usize(..40)).map(|_| anything(rng)).collect();
        let mut chunk = match rng.u32(..5) {
            0 => Chunk::relocations(&vec![entry; rng.usize(..4)]),
            1 => Chunk::commands(&words),
            2 => Chunk::flags(&words[..words.len().min(3)]),
            3 => Chunk::new(0x4c50_0000 + rng.u32(..6), words),
            _ => Chunk::new(rng.u32(..8), words),
        };
        if rng.u32(..4) == 0 {
            chunk = chunk.claim(anything(rng));
        }
        if rng.u32(..4) == 0 {
            chunk = chunk.point_at(crate::wild::nowhere(rng));
        }
        envelope = envelope.with(chunk);
    }
    match rng.u32(..6) {
        0 => envelope = envelope.claim(anything(rng)),
        1 => envelope = envelope.point_at(crate::wild::nowhere(rng)),
        _ => {}
    }
    envelope
}
