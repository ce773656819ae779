// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Operations of a command table.
//!
//! An operation is one byte, then its operands. Those that compute exist six times, once for each kind of place that
//! the result can go to; the attribute byte behind them says where the other operand comes from (bits 2:0) and which
//! part of 32 bits is meant (bits 5:3 for the source; the destination's part has the same width, and bits 7:6 say
//! which of them it is). The operation's number, the attributes and the widths of operands are those of Linux'
//! `atom.c` and `atom.h`.

/// What an operation computes, from its destination `d` and its source `s`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alu {
    /// d = s
    Move,
    /// d = d & s
    And,
    /// d = d | s
    Or,
    /// d = d ^ s
    Xor,
    /// d = d + s
    Add,
    /// d = d - s
    Subtract,
    /// d = d & a mask | s
    Mask,
    /// d = 0
    Clear,
    /// The part d moves within itself to the left, by a number of bits in the program.
    ShiftPartLeft,
    /// The same to the right.
    ShiftPartRight,
    /// The whole word that d is part of moves to the left by s; d is what arrives in its place.
    ShiftWordLeft,
    /// The same to the right.
    ShiftWordRight,
    /// quotient = d * s
    Multiply,
    /// quotient = d / s, remainder = d % s
    Divide,
    /// equal = (d == s), above = (d > s)
    Compare,
    /// equal = (d & s == 0)
    Test,
}

/// What a destination is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A register, directly or through a port: 16 bits of index.
    Register,
    /// A word that the caller has passed: 8 bits of index, as all the rest but `Data`.
    Parameter,
    /// A word of the table's own, or one with a meaning.
    Work,
    /// A word of the memory that the BIOS believes to be the end of VRAM.
    Scratch,
    /// A word in a data table, by 16 bits of byte offset; a source only.
    Data,
    /// A number in the program; a source only.
    Immediate,
    /// A clock register.
    Pll,
    /// A register of the memory controller.
    Mc,
}

impl Kind {
    /// Where the source of an operation comes from, by its attribute byte.
    pub const fn source(attribute: u8) -> Self {
        match attribute & 7 {
            0 => Self::Register,
            1 => Self::Parameter,
            2 => Self::Work,
            3 => Self::Scratch,
            4 => Self::Data,
            5 => Self::Immediate,
            6 => Self::Pll,
            _ => Self::Mc,
        }
    }

    /// The destinations of the six operations with the same name, in their order.
    const fn destination(place: u8) -> Self {
        match place {
            0 => Self::Register,
            1 => Self::Parameter,
            2 => Self::Work,
            3 => Self::Scratch,
            4 => Self::Pll,
            _ => Self::Mc,
        }
    }
}

/// What the last comparison must have said for a jump to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Whatever it said.
    Always,
    /// Equal.
    Equal,
    /// Neither above nor equal.
    Below,
    /// Above.
    Above,
    /// Not above.
    NotAbove,
    /// Above or equal.
    NotBelow,
    /// Not equal.
    NotEqual,
}

impl When {
    /// Whether the jump is taken.
    pub const fn holds(self, equal: bool, above: bool) -> bool {
        match self {
            Self::Always => true,
            Self::Equal => equal,
            Self::Below => !above && !equal,
            Self::Above => above,
            Self::NotAbove => !above,
            Self::NotBelow => above || equal,
            Self::NotEqual => !equal,
        }
    }
}

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Computes; an attribute byte and operands follow.
    Alu(Alu, Kind),
    /// Registers are reached through a port from now on: 16 bits of number, 0 for none.
    Port,
    /// Registers are those of PCI configuration space, or I/O ports, from now on; a byte follows. No driver offers
    /// them: they read as 0, and writes are lost.
    Elsewhere,
    /// Added to the index of registers from now on: 16 bits.
    RegisterBlock,
    /// Where the window on scratch memory begins: an attribute byte and a source.
    ScratchBase,
    /// Jumps to the case that a source is equal to: an attribute byte and a source, then cases.
    Switch,
    /// Jumps: 16 bits of place, counted from the table's start.
    Jump(When),
    /// Waits: a byte, in units of so many microseconds.
    Wait(u32),
    /// Runs another table: a byte.
    Call,
    /// Nothing.
    Nothing,
    /// A number for the eyes of the BIOS' author: a byte.
    Tell,
    /// Data words are those of another data table from now on: a byte.
    DataBlock,
    /// The table's end.
    End,
}

/// In front of each case of [`Operation::Switch`].
pub const CASE: u8 = 0x63;
/// Behind the last case.
pub const LAST_CASE: u16 = 0x5a5a;

impl Operation {
    /// The operation of that number; None for those that nobody has described or implemented.
    pub const fn decode(number: u8) -> Option<Self> {
        Some(match number {
            1..=6 => Self::alu(Alu::Move, number, 1),
            7..=12 => Self::alu(Alu::And, number, 7),
            13..=18 => Self::alu(Alu::Or, number, 13),
            19..=24 => Self::alu(Alu::ShiftPartLeft, number, 19),
            25..=30 => Self::alu(Alu::ShiftPartRight, number, 25),
            31..=36 => Self::alu(Alu::Multiply, number, 31),
            37..=42 => Self::alu(Alu::Divide, number, 37),
            43..=48 => Self::alu(Alu::Add, number, 43),
            49..=54 => Self::alu(Alu::Subtract, number, 49),
            55 => Self::Port,
            56 | 57 => Self::Elsewhere,
            58 => Self::RegisterBlock,
            59 => Self::ScratchBase,
            60..=65 => Self::alu(Alu::Compare, number, 60),
            66 => Self::Switch,
            67 => Self::Jump(When::Always),
            68 => Self::Jump(When::Equal),
            69 => Self::Jump(When::Below),
            70 => Self::Jump(When::Above),
            71 => Self::Jump(When::NotAbove),
            72 => Self::Jump(When::NotBelow),
            73 => Self::Jump(When::NotEqual),
            74..=79 => Self::alu(Alu::Test, number, 74),
            80 => Self::Wait(1000),
            81 => Self::Wait(1),
            82 => Self::Call,
            84..=89 => Self::alu(Alu::Clear, number, 84),
            // A beep is nothing, too.
            90 | 99 => Self::Nothing,
            91 => Self::End,
            92..=97 => Self::alu(Alu::Mask, number, 92),
            98 => Self::Tell,
            102 => Self::DataBlock,
            103..=108 => Self::alu(Alu::Xor, number, 103),
            109..=114 => Self::alu(Alu::ShiftWordLeft, number, 109),
            115..=120 => Self::alu(Alu::ShiftWordRight, number, 115),
            _ => return None,
        })
    }

    const fn alu(alu: Alu, number: u8, first: u8) -> Self {
        Self::Alu(alu, Kind::destination(number.wrapping_sub(first)))
    }
}

/// Part of a word: all 32 bits, 16 of them from a multiple of 8 on, or one byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Number of bits: 32, 16 or 8.
    pub bits: u32,
    /// The lowest of them.
    pub lowest: u32,
}

impl Part {
    /// The part that an attribute byte means in the source.
    pub const fn source(attribute: u8) -> Self {
        let (bits, step) = match (attribute >> 3) & 7 {
            0 => (32, 0),
            step @ 1..=3 => (16, step - 1),
            step => (8, step & 3),
        };
        Self::at(bits, step)
    }

    /// The part that an attribute byte means in the destination.
    pub const fn destination(attribute: u8) -> Self {
        let which = attribute >> 6;
        match Self::source(attribute).bits {
            // There is no fourth place for 16 bits; Linux takes the whole word.
            16 if which < 3 => Self::at(16, which),
            8 => Self::at(8, which),
            _ => Self::at(32, 0),
        }
    }

    const fn at(bits: u32, step: u8) -> Self {
        // Widened, not cut.
        let lowest = (step as u32).wrapping_mul(8);
        Self { bits, lowest }
    }

    /// Whether it is the whole word.
    pub const fn is_whole(self) -> bool {
        self.bits == 32
    }

    const fn ones(self) -> u32 {
        ones(self.bits)
    }

    /// What is there in a word.
    pub const fn take(self, word: u32) -> u32 {
        shift_right(word, self.lowest) & self.ones()
    }

    /// A word with another value there; what is too large is cut off.
    pub const fn put(self, word: u32, value: u32) -> u32 {
        let there = shift_left(self.ones(), self.lowest);
        word & !there | shift_left(value & self.ones(), self.lowest)
    }
}

/// That many bits from bit 0 on; all of them from 32 on.
pub const fn ones(bits: u32) -> u32 {
    shift_right(u32::MAX, 32u32.saturating_sub(bits))
}

/// Moves to the left; nothing is left of a word that moves by 32 bits or more.
pub const fn shift_left(word: u32, by: u32) -> u32 {
    match word.checked_shl(by) {
        Some(word) => word,
        None => 0,
    }
}

/// The same to the right.
pub const fn shift_right(word: u32, by: u32) -> u32 {
    match word.checked_shr(by) {
        Some(word) => word,
        None => 0,
    }
}
