// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Walks the description of a packet's body along its dwords.
//!
//! The database describes a body as dwords, repetitions and conditions, some of which depend on dwords that came before
//! (`GUI_CONTROL` says whether a pitch follows, `NUMBER` how many dwords of bitmap). The walk keeps the latest value of
//! every such dword and a stack of where it is. It goes at most once round a repetition without meeting a dword, so
//! it always ends.

use lapidary_registers::{Count, Database, Dword, Engine, Item, Packet, Pixel};

/// Rounds that a part of the description still has to go.
#[derive(Clone, Copy, Debug)]
enum Rounds {
    /// So many after this one.
    More(u32),
    /// As many as the body has dwords for.
    Rest,
}

#[derive(Clone, Debug)]
struct Frame {
    items: &'static [Item],
    index: usize,
    rounds: Rounds,
    /// A dword was met in this round.
    moved: bool,
}

/// A walk along one body.
#[derive(Clone, Debug)]
pub struct Walk {
    stack: Vec<Frame>,
    /// The latest value of each dword that has fields.
    seen: Vec<(&'static str, &'static Dword, u32)>,
    /// The last round may be cut short.
    may_end_inside: bool,
    pixel: Option<Pixel>,
    bad: Option<&'static str>,
    /// The rest of the body is registers.
    window: Option<Window>,
}

/// Registers that follow one another.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Byte offset of the first.
    pub first: u32,
    /// Byte offset where those end that the packet can write.
    pub end: u32,
}

impl Walk {
    /// Return the beginning of the body of a packet from that database.
    pub fn new(database: &Database, packet: &'static Packet) -> Walk {
        Walk {
            may_end_inside: database.cut_short.contains(&packet.opcode),
            pixel: database.pixel,
            ..Walk::along(packet)
        }
    }

    /// Return the beginning of the body of an engine's packet with that header.
    pub fn of_engine(engine: &'static Engine, packet: &'static Packet, header: u32) -> Walk {
        Walk {
            seen: vec![(engine.header.name, &engine.header, header)],
            ..Walk::along(packet)
        }
    }

    fn along(packet: &'static Packet) -> Walk {
        let first = Frame {
            items: packet.body,
            index: 0,
            rounds: Rounds::More(0),
            moved: false,
        };
        Walk {
            stack: vec![first],
            seen: Vec::new(),
            may_end_inside: false,
            pixel: None,
            bad: None,
            window: None,
        }
    }

    /// Return how many dwords the body has, which are the first ones of `words`; an error with the number of `words`
    /// if the body has more.
    pub fn length(mut self, words: impl Iterator<Item = u32>) -> Result<u32, u32> {
        let mut words = words.fuse();
        let mut length = 0;
        while let Some(dword) = self.advance(true) {
            let Some(word) = words.next() else {
                return Err(length);
            };
            self.remember(dword, word);
            length += 1;
        }
        Ok(length)
    }

    /// Return the registers that the rest of the body is, if it is registers; asked when there is no next dword.
    pub fn window(&self) -> Option<Window> {
        self.window
    }

    /// Return what the next dword is; it has the value `word`. `None` beyond the end of the description.
    pub fn step(&mut self, word: u32) -> Option<&'static Dword> {
        let dword = self.advance(true)?;
        self.remember(dword, word);
        Some(dword)
    }

    fn remember(&mut self, dword: &'static Dword, word: u32) {
        if !dword.fields.is_empty() {
            match self.seen.iter_mut().find(|(name, ..)| *name == dword.name) {
                Some(entry) => *entry = (dword.name, dword, word),
                None => self.seen.push((dword.name, dword, word)),
            }
        }
    }

    /// Return the dword or field that should have said how much follows, but could not; asked once after each step.
    pub fn complaint(&mut self) -> Option<&'static str> {
        self.bad.take()
    }

    /// End the body, and return the name of the dword that should have followed, if one should.
    pub fn finish(mut self) -> Option<&'static str> {
        if self.may_end_inside {
            return None;
        }
        self.advance(false).map(|dword| dword.name)
    }

    /// Find the next dword of the description. `more`: whether the body has one, so that open repetitions go on.
    fn advance(&mut self, more: bool) -> Option<&'static Dword> {
        loop {
            let frame = self.stack.last_mut()?;
            let Some(item) = frame.items.get(frame.index) else {
                let again = match frame.rounds {
                    Rounds::More(0) => false,
                    Rounds::More(ref mut n) => {
                        *n -= 1;
                        true
                    }
                    Rounds::Rest => more,
                };
                // A round without a dword would only be repeated for ever.
                if again && frame.moved {
                    (frame.index, frame.moved) = (0, false);
                } else {
                    let moved = frame.moved;
                    self.stack.pop();
                    if let Some(outer) = self.stack.last_mut() {
                        outer.moved |= moved;
                    }
                }
                continue;
            };
            frame.index += 1;
            match item {
                Item::Dword(dword) => {
                    frame.moved = true;
                    return Some(dword);
                }
                Item::Repeat { count, items } => match self.rounds(*count) {
                    Some(_) if !more && matches!(count, Count::Rest | Count::Optional) => {}
                    Some(rounds) => self.enter(items, rounds),
                    None => {}
                },
                Item::Registers {
                    dword,
                    field,
                    base,
                    end,
                } => {
                    let first = self.field(dword, field).unwrap_or(0);
                    self.window = Some(Window {
                        first: base.saturating_add(first.saturating_mul(4)),
                        end: *end,
                    });
                    // They are the end of the description.
                    self.stack.clear();
                    return None;
                }
                Item::When {
                    dword,
                    field,
                    values,
                    items,
                } => {
                    if self
                        .field(dword, field)
                        .is_some_and(|v| values.contains(&v))
                    {
                        self.enter(items, Rounds::More(0));
                    }
                }
            }
        }
    }

    fn enter(&mut self, items: &'static [Item], rounds: Rounds) {
        self.stack.push(Frame {
            items,
            index: 0,
            rounds,
            moved: false,
        });
    }

    /// Return how often a repetition goes; `None` if not at all.
    fn rounds(&mut self, count: Count) -> Option<Rounds> {
        let n = match count {
            Count::Rest => return Some(Rounds::Rest),
            Count::Optional => 1,
            Count::Fixed(n) => n,
            Count::Field { dword, field } => self.field(dword, field).unwrap_or(0),
            Count::Bits { dword } => self
                .latest(dword)
                .map_or(0, |(dword, word)| (word & dword.mask()).count_ones()),
            Count::PerPixelByte(n) => {
                let bytes = self.pixel.and_then(|p| {
                    let kind = self.field(p.dword, p.field)?;
                    (p.bytes)(kind)
                });
                match bytes {
                    Some(bytes) => n.saturating_mul(bytes),
                    None => {
                        self.bad = Some(self.pixel.map_or("pixel", |p| p.field));
                        0
                    }
                }
            }
        };
        n.checked_sub(1).map(Rounds::More)
    }

    fn latest(&self, name: &str) -> Option<(&'static Dword, u32)> {
        self.seen
            .iter()
            .find(|(n, ..)| *n == name)
            .map(|&(_, dword, word)| (dword, word))
    }

    fn field(&self, dword: &str, field: &str) -> Option<u32> {
        let (dword, word) = self.latest(dword)?;
        Some(dword.field(field)?.field.get(word))
    }
}
