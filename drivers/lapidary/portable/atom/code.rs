// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Operations of a command table.
//!
//! An operation is one byte, and its operands follow. Each operation that computes exists six times, once for each kind
//! of destination. An attribute byte follows it. Bits 2:0 of that byte say what the source is. Bits 5:3 say which part
//! of the source's 32 bits is meant. The destination's part has the same width, and bits 7:6 say which one it is. The
//! numbers of operations, the attributes and the widths of operands are those of Linux' `atom.c` and `atom.h`.

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
    /// A word that the caller has passed: 8 bits of index, as for all that follow but `Data`.
    Parameter,
    /// A work word of the table, or a word with a meaning.
    Work,
    /// A word of scratch memory. The BIOS takes it for the end of VRAM.
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
    /// Return where the source of an operation comes from, by its attribute byte.
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

    /// Return the destinations of the six operations with the same name, in their order.
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

/// The result of the last comparison with which a jump is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Any.
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
    /// Return whether the jump is taken.
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
    /// Reaches registers through a port from now on: 16 bits of number, 0 for none.
    Port,
    /// Takes registers for those of PCI configuration space, or for I/O ports, from now on; a byte follows. No driver
    /// offers them. They read as 0, and writes are lost.
    Elsewhere,
    /// Sets what is added to the index of registers from now on: 16 bits.
    RegisterBlock,
    /// Sets where the window on scratch memory begins: an attribute byte and a source.
    ScratchBase,
    /// Jumps to the case that a source is equal to: an attribute byte and a source, then cases.
    Switch,
    /// Jumps: 16 bits of place, counted from the table's start.
    Jump(When),
    /// Waits: a byte, in units of so many microseconds.
    Wait(u32),
    /// Runs another table: a byte.
    Call,
    /// Does nothing.
    Nothing,
    /// Shows a number to a debugger: a byte.
    Tell,
    /// Takes data words from another data table from now on: a byte.
    DataBlock,
    /// Ends the table.
    End,
}

/// In front of each case of [`Operation::Switch`].
pub const CASE: u8 = 0x63;
/// Behind the last case.
pub const LAST_CASE: u16 = 0x5a5a;

impl Operation {
    /// Return operation `number`. None for numbers that are not described or not implemented.
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
            // A beep does nothing either.
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
    /// Return the part that an attribute byte means in the source.
    pub const fn source(attribute: u8) -> Self {
        let (bits, step) = match (attribute >> 3) & 7 {
            0 => (32, 0),
            step @ 1..=3 => (16, step - 1),
            step => (8, step & 3),
        };
        Self::at(bits, step)
    }

    /// Return the part that an attribute byte means in the destination.
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
        // CAST: to a wider type.
        let lowest = (step as u32).wrapping_mul(8);
        Self { bits, lowest }
    }

    /// Return whether this is the whole word.
    pub const fn is_whole(self) -> bool {
        self.bits == 32
    }

    const fn ones(self) -> u32 {
        ones(self.bits)
    }

    /// Return what this part of `word` holds.
    pub const fn take(self, word: u32) -> u32 {
        shift_right(word, self.lowest) & self.ones()
    }

    /// Return `word` with this part replaced by `value`. Bits that do not fit are cut off.
    pub const fn put(self, word: u32, value: u32) -> u32 {
        let there = shift_left(self.ones(), self.lowest);
        word & !there | shift_left(value & self.ones(), self.lowest)
    }
}

/// Return a word in which the lowest `bits` bits are set; all of them from 32 on.
pub const fn ones(bits: u32) -> u32 {
    shift_right(u32::MAX, 32u32.saturating_sub(bits))
}

/// Shift `word` to the left. The result is 0 if it moves by 32 bits or more.
pub const fn shift_left(word: u32, by: u32) -> u32 {
    match word.checked_shl(by) {
        Some(word) => word,
        None => 0,
    }
}

/// Shift `word` to the right. The result is 0 if it moves by 32 bits or more.
pub const fn shift_right(word: u32, by: u32) -> u32 {
    match word.checked_shr(by) {
        Some(word) => word,
        None => 0,
    }
}
