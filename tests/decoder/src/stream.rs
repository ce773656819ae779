// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Walks a stream from header to header.

use lapidary_registers::{Database, Domain, Engine, Headers};

use crate::body::{Walk, Window};
use crate::line::{Line, Meaning, Note};

/// How to read a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Address of the first dword.
    pub base: u64,
    /// The dwords are a ring, of which only a part is valid.
    pub ring: Option<Ring>,
}

/// The valid part of a ring, in dwords: from the read pointer up to the write pointer, round the end if need be.
/// Equal pointers: nothing.
///
/// Pointers beyond the end of the ring count from its beginning again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ring {
    /// Index of the first dword.
    pub read: usize,
    /// Index after the last dword.
    pub write: usize,
}

/// Decode a stream of the family that the database is of, one line a dword.
pub fn decode_stream<'a>(
    database: &'static Database,
    words: &'a [u32],
    options: Options,
) -> Decoder<'a> {
    decoder(database, None, words, options)
}

/// Decode a stream of an engine other than the command processor; `engine` is one of those of the database.
pub fn decode_engine<'a>(
    database: &'static Database,
    engine: &'static Engine,
    words: &'a [u32],
    options: Options,
) -> Decoder<'a> {
    decoder(database, Some(engine), words, options)
}

fn decoder<'a>(
    database: &'static Database,
    engine: Option<&'static Engine>,
    words: &'a [u32],
    options: Options,
) -> Decoder<'a> {
    let (start, count) = match options.ring {
        None => (0, words.len()),
        Some(_) if words.is_empty() => (0, 0),
        Some(Ring { read, write }) => {
            let (read, write) = (read % words.len(), write % words.len());
            (
                read,
                if write >= read {
                    write - read
                } else {
                    words.len() - read + write
                },
            )
        }
    };
    Decoder {
        database,
        engine,
        words,
        base: options.base,
        start,
        count,
        at: 0,
        state: State::Header,
    }
}

/// The lines of a stream. Made by [`decode_stream`] and [`decode_engine`].
#[derive(Debug)]
pub struct Decoder<'a> {
    database: &'static Database,
    /// `None`: the command processor.
    engine: Option<&'static Engine>,
    words: &'a [u32],
    base: u64,
    /// Where the valid part begins.
    start: usize,
    /// Its length.
    count: usize,
    /// How much of it has been decoded.
    at: usize,
    state: State,
}

/// What the next dword belongs to.
#[derive(Debug)]
enum State {
    Header,
    Registers(Run),
    Pair { first: u32, second: u32 },
    Body { walk: Option<Walk>, left: u32 },
    Unknown { left: u32 },
}

/// Registers that a packet writes.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// Byte offset of the first.
    first: u32,
    /// Byte offset of the next.
    offset: u32,
    /// From one to the next; 0 if all dwords go to one register.
    step: u32,
    /// Dwords that are left.
    left: u32,
    /// Byte offset where those end that the packet can write.
    end: Option<u32>,
}

impl Run {
    /// Return a run of `left` dwords.
    fn new(first: u32, step: u32, left: u32) -> Run {
        Run {
            first,
            offset: first,
            step,
            left,
            end: None,
        }
    }
}

impl Decoder<'_> {
    /// Return the dword that is `index` after the beginning of the valid part.
    fn word(&self, index: usize) -> Option<u32> {
        if index >= self.count {
            return None;
        }
        self.words
            .get((self.start + index) % self.words.len())
            .copied()
    }

    /// Return what the dword at hand is, which is the next of `run`.
    fn register(&self, run: Run) -> (Meaning, State, Option<Note>) {
        let Run { offset, left, .. } = run;
        let state = if left > 1 {
            State::Registers(Run {
                offset: offset.wrapping_add(run.step),
                left: left - 1,
                ..run
            })
        } else {
            State::Header
        };
        let out = run
            .end
            .is_some_and(|end| offset >= end)
            .then_some(Note::OutOfRange);
        let decides = self.decides(run);
        (Meaning::Register { offset, decides }, state, out)
    }

    /// Return what `run` writes to the register that decides on the layout of its next one.
    fn decides(&self, run: Run) -> Option<u32> {
        let place = self.database.decider(Domain::MMIO, run.offset)?;
        let last = u64::from(run.offset) + 4 * (u64::from(run.left) - 1);
        if run.step == 0 || place < run.first || u64::from(place) > last {
            return None;
        }
        // The dword at hand is the one before `at`.
        let here = self.at.checked_sub(1)?;
        let distance = place.abs_diff(run.offset) as usize / 4;
        self.word(if place < run.offset {
            here.checked_sub(distance)?
        } else {
            here + distance
        })
    }

    /// Return the dwords after the one at hand.
    fn behind(&self) -> u32 {
        u32::try_from(self.count.saturating_sub(self.at)).unwrap_or(u32::MAX)
    }

    fn header(&self, word: u32) -> (Meaning, State, Option<Note>) {
        if let Some(engine) = self.engine {
            return self.command(engine, word);
        }
        let Some(headers) = self.database.headers() else {
            return (Meaning::Data, State::Header, None);
        };
        let Headers { kind, count, .. } = *headers;
        let (known, count) = (kind.mask() | count.mask(), count.get(word) + 1);
        match (kind.get(word), headers.pair) {
            (0, _) => {
                let offset = headers.base.get(word) * 4;
                let one_register = headers.one_register.is_some_and(|field| field.any(word));
                let step = if one_register { 0 } else { 4 };
                let known = known
                    | headers.base.mask()
                    | headers.one_register.map_or(0, |field| field.mask());
                (
                    Meaning::Type0 {
                        offset,
                        count,
                        one_register,
                    },
                    State::Registers(Run::new(offset, step, count)),
                    self.length(count).or_else(|| reserved(word, known)),
                )
            }
            (1, Some((first, second))) => {
                let known = kind.mask() | first.mask() | second.mask();
                let (first, second) = (first.get(word) * 4, second.get(word) * 4);
                (
                    Meaning::Type1 { first, second },
                    State::Pair { first, second },
                    self.length(2).or_else(|| reserved(word, known)),
                )
            }
            // All other bits of a filler mean nothing by definition.
            (2, _) => (Meaning::Type2, State::Header, None),
            (1, None) => (Meaning::Data, State::Header, Some(Note::NoSuchType)),
            _ => {
                // Eight bits.
                let opcode = headers.opcode.get(word) as u8;
                let predicate = headers.predicate.map_or(0, |field| field.mask());
                let known = known | headers.opcode.mask() | predicate;
                let note = self.length(count);
                match self.database.packet(opcode) {
                    Some(packet) => (
                        Meaning::Type3 { packet, count },
                        State::Body {
                            walk: Some(Walk::new(self.database, packet)),
                            left: count,
                        },
                        note.or_else(|| reserved(word, known)),
                    ),
                    None => (
                        Meaning::Unknown { opcode, count },
                        State::Unknown { left: count },
                        note.or(Some(Note::UnknownOpcode)),
                    ),
                }
            }
        }
    }

    /// Return what the header of an engine's packet is. How long the packet is, its contents say.
    fn command(&self, engine: &'static Engine, word: u32) -> (Meaning, State, Option<Note>) {
        let opcode = engine.opcode.get(word);
        let Some(packet) = engine.packet(word) else {
            let meaning = Meaning::Stranger { opcode };
            return (meaning, State::Header, Some(Note::UnknownOpcode));
        };
        let walk = Walk::of_engine(engine, packet, word);
        let body = (self.at..self.count).map_while(|at| self.word(at));
        let (count, note) = match walk.clone().length(body) {
            Ok(count) => (count, reserved(word, engine.header.mask())),
            Err(present) => (present, Some(Note::Truncated { present })),
        };
        let state = match count {
            0 => State::Header,
            left => State::Body {
                walk: Some(walk),
                // What is there of a body that is cut off is not its end.
                left: left + u32::from(matches!(note, Some(Note::Truncated { .. }))),
            },
        };
        let meaning = Meaning::Command {
            engine,
            packet,
            count,
        };
        (meaning, state, note)
    }

    /// Return whether a body of so many dwords is there.
    fn length(&self, count: u32) -> Option<Note> {
        let present = self.behind();
        (present < count).then_some(Note::Truncated { present })
    }
}

/// Return a dword of a body, of which `left` are left, this one included.
fn part(walk: Option<Walk>, left: u32, word: u32) -> Part {
    let more = |walk: Option<Walk>| {
        if left > 1 {
            State::Body {
                walk,
                left: left - 1,
            }
        } else {
            State::Header
        }
    };
    let Some(mut walk) = walk else {
        // The description has ended; the first dword beyond it said so.
        return Part::Line(Meaning::Excess, more(None), None);
    };
    let Some(dword) = walk.step(word) else {
        if let Some(Window { first, end }) = walk.window() {
            return Part::Registers(Run {
                end: Some(end),
                ..Run::new(first, 4, left)
            });
        }
        return Part::Line(Meaning::Excess, more(None), Some(Note::Excess));
    };
    let mut note = walk.complaint().map(Note::BadCount);
    if left > 1 {
        Part::Line(Meaning::Part { dword }, more(Some(walk)), note)
    } else {
        note = note.or_else(|| walk.finish().map(Note::Short));
        Part::Line(Meaning::Part { dword }, State::Header, note)
    }
}

/// What a dword of a body is.
enum Part {
    /// A line, and what follows.
    Line(Meaning, State, Option<Note>),
    /// The first of the registers that the rest of the body is.
    Registers(Run),
}

fn reserved(word: u32, known: u32) -> Option<Note> {
    (word & !known != 0).then_some(Note::ReservedBits(word & !known))
}

impl Iterator for Decoder<'_> {
    type Item = Line;

    fn next(&mut self) -> Option<Line> {
        if self.at >= self.count {
            return None;
        }
        // The ring is not empty here.
        let index = (self.start + self.at) % self.words.len();
        let word = *self.words.get(index)?;
        let address = self.base.wrapping_add(index as u64 * 4);
        self.at += 1;

        let after = |left: u32, state: State| if left > 1 { state } else { State::Header };
        let (meaning, state, note) = match std::mem::replace(&mut self.state, State::Header) {
            State::Header => self.header(word),
            State::Registers(run) => self.register(run),
            // The second of the two is written like the single register of a type 0.
            State::Pair { first, second } => (
                Meaning::Register {
                    offset: first,
                    decides: None,
                },
                State::Registers(Run::new(second, 0, 1)),
                None,
            ),
            State::Unknown { left } => (
                Meaning::Data,
                after(left, State::Unknown { left: left - 1 }),
                None,
            ),
            State::Body { walk, left } => match part(walk, left, word) {
                Part::Line(meaning, state, note) => (meaning, state, note),
                Part::Registers(run) => self.register(run),
            },
        };
        self.state = state;
        Some(Line {
            database: self.database,
            address,
            word,
            note,
            meaning,
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.count - self.at.min(self.count);
        (left, Some(left))
    }
}
