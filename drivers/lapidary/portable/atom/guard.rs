// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Which registers the video BIOS may write.
//!
//! The program that posts a card comes out of a flash chip, and every earlier owner of the card can have rewritten that
//! chip. The machine therefore works on a [`Guard`] and not on the card. The guard passes on the writes that the
//! family's [`Rules`] list. It drops and counts all others. Reads are free.
//!
//! The program continues after a dropped write. Real programs also set up what the driver sets up later by itself, and
//! a write that is not made does no harm.
//!
//! Some registers of the window lead to others: the program writes a number to an index register and then accesses the
//! register with that number through a data register. The guard remembers what the program has written to index
//! registers, and judges a write to a data register by the register behind it. It does not read index registers back,
//! because they need not read as they were written.

use super::card::Card;
use crate::portable::bits::{Field, Registers};

/// What a family lets a video BIOS write.
///
/// The rules are made for a [`Card`] whose functions for the window leave all index registers alone. The functions for
/// clocks and for the memory controller may change the index register of their own space.
#[derive(Debug)]
pub struct Rules {
    /// What may be written in the register window, by byte offset. Rows for the registers of a pair have no effect.
    pub window: &'static [Row],
    /// The pair that leads back to the window.
    pub back: BackPair,
    /// The spaces behind all other pairs.
    pub spaces: Spaces,
    /// The registers of [`Card::write_pll`].
    pub clocks: Space,
    /// The registers of [`Card::write_mc`]. If a pair leads there too, the space also stands in `spaces`.
    pub memory_controller: Space,
}

/// Registers of a space, and what may be written to them. The first row that has a register decides. A register that
/// stands in no row may not be written.
pub type Row = (Registers, Values);

/// Values that may be written to a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// All of them.
    Any,
    /// Those that have these bits clear.
    Without(u32),
    /// Those that have these bits set.
    With(u32),
    /// Those whose first field is above the second one. This is a range that begins behind its end: it has no address.
    Above(Field, Field),
}

impl Values {
    /// Only zero.
    pub const ZERO: Self = Self::Without(u32::MAX);

    /// Return whether `value` is one of them.
    const fn have(self, value: u32) -> bool {
        match self {
            Self::Any => true,
            Self::Without(bits) => value & bits == 0,
            Self::With(bits) => value & bits == bits,
            Self::Above(first, last) => first.get(value) > last.get(value),
        }
    }
}

/// An index and a data register, by byte offset in the window.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    /// The index register. It takes any value.
    pub index: u32,
    /// The data register.
    pub data: u32,
    /// The part of the index that is a register's number.
    pub number: Field,
}

/// The pair that leads back to the window. The number in its index is a byte offset, of which the chip ignores the two
/// lowest bits.
#[derive(Clone, Copy, Debug)]
pub struct BackPair {
    /// The registers.
    pub pair: Pair,
    /// Bits of the index that lead to memory on the card instead. Memory takes any value: it is empty before posting.
    pub memory: Field,
}

/// Registers that have numbers of their own.
#[derive(Clone, Copy, Debug)]
pub struct Space {
    /// What one of them is called in a log line.
    pub name: &'static str,
    /// What may be written.
    pub rows: &'static [Row],
    /// The pair that leads there, if the guard is to follow one.
    pub pair: Option<Pair>,
}

/// The most spaces behind pairs.
const MOST_SPACES: usize = 16;

/// Spaces behind pairs, up to 16. No two have the same data register.
#[derive(Clone, Copy, Debug)]
pub struct Spaces(&'static [Space]);

impl Spaces {
    /// Return the spaces of `list`. A list that is too long does not compile.
    pub const fn new<const N: usize>(list: &'static [Space; N]) -> Self {
        const { assert!(N <= MOST_SPACES) };
        Self(list)
    }
}

/// Writes that were dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// How many.
    pub count: u32,
    /// What the first one would have written, for a log line: [`WINDOW`], or the name of a [`Space`].
    pub name: &'static str,
    /// The number of that register: its byte offset in the window, or its number in the space.
    pub number: u32,
}

/// What a register of the window is called in a log line.
pub const WINDOW: &str = "register";

/// A way to write a register of the window.
type Write = fn(&mut dyn Card, u32, u32) -> Option<()>;

/// A card of which a program writes what the rules allow.
pub struct Guard<'a> {
    card: &'a mut dyn Card,
    rules: &'static Rules,
    /// What the program has written to the index register of the pair that leads back; none if that is not known.
    back: Option<u32>,
    /// The same for the pair of each of the spaces.
    selected: [Option<u32>; MOST_SPACES],
    dropped: Option<Dropped>,
}

impl<'a> Guard<'a> {
    /// Return a guard before `card`.
    pub fn new(card: &'a mut dyn Card, rules: &'static Rules) -> Self {
        Self {
            card,
            rules,
            back: None,
            selected: [None; MOST_SPACES],
            dropped: None,
        }
    }

    /// Return what has been dropped so far.
    pub fn dropped(&self) -> Option<Dropped> {
        self.dropped
    }

    /// Count a write that is not made.
    fn drop_write(&mut self, name: &'static str, number: u32) {
        let so_far = self.dropped.unwrap_or(Dropped {
            count: 0,
            name,
            number,
        });
        self.dropped = Some(Dropped {
            count: so_far.count.saturating_add(1),
            ..so_far
        });
    }

    /// Return whether `rows` allow `value` in register `number`. Count the write if they do not.
    fn allows(&mut self, name: &'static str, rows: &[Row], number: u32, value: u32) -> bool {
        let row = rows.iter().find(|(registers, _)| registers.has(number));
        let allowed = row.is_some_and(|(_, values)| values.have(value));
        if !allowed {
            self.drop_write(name, number);
        }
        allowed
    }

    /// Note what the index register at `offset` has. Return false if there is no index register.
    fn select(&mut self, offset: u32, word: Option<u32>) -> bool {
        let mut is_index = false;
        for (space, selected) in self.rules.spaces.0.iter().zip(&mut self.selected) {
            if space.pair.is_some_and(|pair| pair.index == offset) {
                *selected = word;
                is_index = true;
            }
        }
        is_index
    }

    /// Return the space behind the data register at `offset`, and the number of the register there if it is known.
    /// Return none if there is no data register.
    fn behind(&self, offset: u32) -> Option<(&'static Space, Option<u32>)> {
        for (space, selected) in self.rules.spaces.0.iter().zip(self.selected) {
            if let Some(pair) = space.pair.filter(|pair| pair.data == offset) {
                return Some((space, selected.map(|word| pair.number.get(word))));
            }
        }
        None
    }

    /// Write the register at `offset`, or drop the write.
    fn put(&mut self, offset: u32, value: u32, write: Write) -> Option<()> {
        let BackPair { pair, memory } = self.rules.back;
        if offset == pair.index {
            self.back = Some(value);
            return write(self.card, offset, value);
        }
        if offset != pair.data {
            return self.put_straight(offset, value, write);
        }
        match self.back {
            None => self.drop_write(WINDOW, offset),
            Some(word) if memory.any(word) => return write(self.card, offset, value),
            Some(word) => {
                let behind = pair.number.get(word) & !3;
                if behind != pair.index && behind != pair.data {
                    return self.put_straight(behind, value, write);
                }
                // The chip's index would no longer be the one that the guard knows.
                self.drop_write(WINDOW, behind);
            }
        }
        Some(())
    }

    /// Write the register at `offset`, which does not belong to the pair that leads back, or drop the write.
    fn put_straight(&mut self, offset: u32, value: u32, write: Write) -> Option<()> {
        let allowed = self.select(offset, Some(value))
            || match self.behind(offset) {
                None => self.allows(WINDOW, self.rules.window, offset, value),
                Some((space, Some(number))) => self.allows(space.name, space.rows, number, value),
                Some((_, None)) => {
                    self.drop_write(WINDOW, offset);
                    false
                }
            };
        if allowed {
            write(self.card, offset, value)
        } else {
            Some(())
        }
    }

    /// Forget the index that leads to `space`: the card's own way there changes it.
    fn forget(&mut self, space: &Space) {
        if let Some(pair) = space.pair {
            self.select(pair.index, None);
        }
    }
}

impl Card for Guard<'_> {
    fn read(&mut self, offset: u32) -> Option<u32> {
        self.card.read(offset)
    }

    fn write(&mut self, offset: u32, value: u32) -> Option<()> {
        self.put(offset, value, |card, offset, value| {
            card.write(offset, value)
        })
    }

    fn write_for_port(&mut self, offset: u32, value: u32) -> Option<()> {
        self.put(offset, value, |card, offset, value| {
            card.write_for_port(offset, value)
        })
    }

    fn read_pll(&mut self, index: u8) -> u32 {
        self.forget(&self.rules.clocks);
        self.card.read_pll(index)
    }

    fn write_pll(&mut self, index: u8, value: u32) {
        let space = &self.rules.clocks;
        self.forget(space);
        if self.allows(space.name, space.rows, index.into(), value) {
            self.card.write_pll(index, value);
        }
    }

    fn read_mc(&mut self, index: u8) -> u32 {
        self.forget(&self.rules.memory_controller);
        self.card.read_mc(index)
    }

    fn write_mc(&mut self, index: u8, value: u32) {
        let space = &self.rules.memory_controller;
        self.forget(space);
        if self.allows(space.name, space.rows, index.into(), value) {
            self.card.write_mc(index, value);
        }
    }

    fn wait(&mut self, micros: u32) {
        self.card.wait(micros);
    }
}
