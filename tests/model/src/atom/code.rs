// SPDX-License-Identifier: GPL-2.0 OR MIT

//! An assembler for ATOM command tables.
//!
//! A command table is byte code: an operation, then its operands. Most operations exist once per kind of destination;
//! the operation's number says which. One more byte tells where the source comes from and which part of the 32 bits
//! is meant; this assembler always means all 32. Numbers and layouts are those of the public reader in Linux,
//! `atom.c` and `atom.h`.
//!
//! ```text
//! MOVE  destination, source        destination = source
//! MASK  destination, keep, source  destination = destination & keep | source
//! TEST  destination, source        "equal" if no common bit is set
//! DIV   destination, source        quotient and remainder in two special work words
//! CALL  table                      its parameters lie behind the caller's own
//! ```
//!
//! A table has parameters (words that the caller passes and reads back) and work words of its own. Registers are
//! reached directly, or through a port: an indirect access that another table describes, see [`super::port`].

/// Something that a command table reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A register by its byte offset, a multiple of 4; or, through a port, by its index there.
    Register(u32),
    /// A word that the caller has passed, from 0.
    Parameter(u8),
    /// A word of the table's own, from 0 to 0x3f.
    Work(u8),
    /// Where `DIV` puts the quotient, and `MUL` the product.
    Quotient,
    /// Where `DIV` puts the remainder.
    Remainder,
    /// A clock register, by index.
    Pll(u8),
}

/// Something that a command table only reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// What is there.
    Place(Place),
    /// A number.
    Value(u32),
}

impl From<Place> for Source {
    fn from(place: Place) -> Source {
        Source::Place(place)
    }
}

impl From<u32> for Source {
    fn from(value: u32) -> Source {
        Source::Value(value)
    }
}

/// What the last comparison must have said for a jump to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Whatever it said.
    Always,
    /// The destination was equal; for `TEST`: no common bit.
    Equal,
    /// It was below.
    Below,
    /// It was above.
    Above,
    /// It was below or equal.
    BelowOrEqual,
    /// It was above or equal.
    AboveOrEqual,
    /// It was not equal.
    NotEqual,
}

/// Byte code numbers; where an operation exists per destination, that of a register.
pub(super) mod op {
    pub const MOVE: u8 = 1;
    pub const AND: u8 = 7;
    pub const OR: u8 = 13;
    pub const SHIFT_LEFT: u8 = 19;
    pub const SHIFT_RIGHT: u8 = 25;
    pub const MUL: u8 = 31;
    pub const DIV: u8 = 37;
    pub const ADD: u8 = 43;
    pub const SUB: u8 = 49;
    pub const SET_PORT: u8 = 55;
    pub const COMPARE: u8 = 60;
    pub const JUMP: u8 = 67;
    pub const TEST: u8 = 74;
    pub const DELAY_MS: u8 = 80;
    pub const DELAY_US: u8 = 81;
    pub const CALL: u8 = 82;
    pub const END: u8 = 91;
    pub const MASK: u8 = 92;
}

/// Kinds of operands, as the low bits of the byte after the operation say.
pub(super) mod kind {
    pub const REGISTER: u8 = 0;
    pub const PARAMETER: u8 = 1;
    pub const WORK: u8 = 2;
    pub const VALUE: u8 = 5;
    pub const PLL: u8 = 6;
}

/// Work words with a meaning of their own.
pub(super) mod work {
    pub const QUOTIENT: u8 = 0x40;
    pub const REMAINDER: u8 = 0x41;
}

/// Bytes before the code: a table header of four, then the sizes of work and parameter space.
pub(super) const CODE: usize = 6;

/// A jump's target.
#[derive(Clone, Copy, Debug)]
pub struct Label(usize);

/// A command table under construction. Methods append one operation each.
pub struct Code {
    parameters: u8,
    work: u8,
    bytes: Vec<u8>,
    labels: Vec<Option<usize>>,
    jumps: Vec<(usize, Label)>,
}

impl Code {
    /// Return an empty table that uses so many parameter words itself; tables that it calls get those behind them.
    pub fn new(parameters: u8) -> Code {
        Code {
            parameters,
            work: 0,
            bytes: Vec::new(),
            labels: Vec::new(),
            jumps: Vec::new(),
        }
    }

    /// Append `place = source`.
    pub fn set(&mut self, place: Place, source: impl Into<Source>) -> &mut Self {
        self.two(op::MOVE, place, source.into())
    }

    /// Append `place = place & keep | source`.
    pub fn mask(&mut self, place: Place, keep: u32, source: impl Into<Source>) -> &mut Self {
        let source = source.into();
        self.destination(op::MASK, place, source);
        self.bytes.extend_from_slice(&keep.to_le_bytes());
        self.source(source);
        self
    }

    /// Append `place = place & source`.
    pub fn and(&mut self, place: Place, source: impl Into<Source>) -> &mut Self {
        self.two(op::AND, place, source.into())
    }

    /// Append `place = place | source`.
    pub fn or(&mut self, place: Place, source: impl Into<Source>) -> &mut Self {
        self.two(op::OR, place, source.into())
    }

    /// Append `place = place + source`, without carry.
    pub fn add(&mut self, place: Place, source: impl Into<Source>) -> &mut Self {
        self.two(op::ADD, place, source.into())
    }

    /// Append `place = place - source`, without borrow.
    pub fn subtract(&mut self, place: Place, source: impl Into<Source>) -> &mut Self {
        self.two(op::SUB, place, source.into())
    }

    /// [`Place::Quotient`] = the low 32 bits of the product.
    pub fn multiply(&mut self, place: Place, source: impl Into<Source>) -> &mut Self {
        self.two(op::MUL, place, source.into())
    }

    /// [`Place::Quotient`] and [`Place::Remainder`] of a division; both 0 if the divisor is.
    pub fn divide(&mut self, place: Place, source: impl Into<Source>) -> &mut Self {
        self.two(op::DIV, place, source.into())
    }

    /// Append `place = place << bits`, or `>>` for a negative number.
    pub fn shift(&mut self, place: Place, bits: i8) -> &mut Self {
        let operation = if bits < 0 {
            op::SHIFT_RIGHT
        } else {
            op::SHIFT_LEFT
        };
        self.destination(operation, place, Source::Value(0));
        // The attribute byte of a shift names no source.
        let attribute = self.bytes.len() - 1 - index_size(place);
        self.bytes[attribute] = 0;
        self.bytes.push(bits.unsigned_abs());
        self
    }

    /// Compare as unsigned numbers, for the jumps that follow.
    pub fn compare(&mut self, place: Place, source: impl Into<Source>) -> &mut Self {
        self.two(op::COMPARE, place, source.into())
    }

    /// Look for common bits: "equal" if there are none.
    pub fn test(&mut self, place: Place, source: impl Into<Source>) -> &mut Self {
        self.two(op::TEST, place, source.into())
    }

    /// Return a label, to be placed by [`Code::place`].
    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// Put a label before the next operation.
    pub fn place(&mut self, label: Label) -> &mut Self {
        self.labels[label.0] = Some(CODE + self.bytes.len());
        self
    }

    /// Go to the label, or on.
    pub fn jump(&mut self, when: When, label: Label) -> &mut Self {
        self.bytes.push(op::JUMP + when as u8);
        self.jumps.push((self.bytes.len(), label));
        self.bytes.extend_from_slice(&[0, 0]);
        self
    }

    /// Wait for at least so many microseconds, at most 255.
    pub fn delay_us(&mut self, time: u8) -> &mut Self {
        self.bytes.extend_from_slice(&[op::DELAY_US, time]);
        self
    }

    /// Wait for at least so many milliseconds, at most 255.
    pub fn delay_ms(&mut self, time: u8) -> &mut Self {
        self.bytes.extend_from_slice(&[op::DELAY_MS, time]);
        self
    }

    /// Let register operands mean registers behind that port from here on. 0 means the register aperture. It stays so
    /// in and after called tables.
    pub fn port(&mut self, port: u8) -> &mut Self {
        self.bytes.extend_from_slice(&[op::SET_PORT, port, 0]);
        self
    }

    /// Run another command table, by its number, if the image has it.
    pub fn call(&mut self, table: u8) -> &mut Self {
        self.bytes.extend_from_slice(&[op::CALL, table]);
        self
    }

    /// Return the table with its header.
    ///
    /// # Panics
    /// If a label was used and never placed, or the table is longer than 64 KiB: mistakes in the description.
    pub fn build(&self) -> Vec<u8> {
        let mut table = vec![0, 0, 1, 1, self.work, self.parameters * 4];
        table.extend_from_slice(&self.bytes);
        table.push(op::END);
        for (at, label) in &self.jumps {
            let target = self.labels[label.0].expect("every label is placed");
            let target = u16::try_from(target).expect("a table is shorter than 64 KiB");
            table[CODE + at..CODE + at + 2].copy_from_slice(&target.to_le_bytes());
        }
        let size = u16::try_from(table.len()).expect("a table is shorter than 64 KiB");
        table[..2].copy_from_slice(&size.to_le_bytes());
        table
    }

    fn two(&mut self, operation: u8, place: Place, source: Source) -> &mut Self {
        self.destination(operation, place, source);
        self.source(source);
        self
    }

    /// Append the operation for that destination, the attribute byte for that source, and the destination.
    fn destination(&mut self, operation: u8, place: Place, source: Source) {
        let kinds = [kind::REGISTER, kind::PARAMETER, kind::WORK, 3, kind::PLL];
        let kind = place_kind(place);
        let column = kinds.iter().position(|k| *k == kind).unwrap_or(0) as u8;
        let from = match source {
            Source::Place(p) => place_kind(p),
            Source::Value(_) => kind::VALUE,
        };
        self.bytes.extend_from_slice(&[operation + column, from]);
        self.index(place);
    }

    fn source(&mut self, source: Source) {
        match source {
            Source::Place(place) => self.index(place),
            Source::Value(value) => self.bytes.extend_from_slice(&value.to_le_bytes()),
        }
    }

    fn index(&mut self, place: Place) {
        match place {
            Place::Register(offset) => {
                let index = u16::try_from(offset / 4).expect("registers lie below 256 KiB");
                self.bytes.extend_from_slice(&index.to_le_bytes());
            }
            Place::Parameter(n) | Place::Pll(n) => self.bytes.push(n),
            Place::Work(n) => {
                assert!(n < work::QUOTIENT, "work word {n:#x} has a meaning");
                self.work = self.work.max(n + 1);
                self.bytes.push(n);
            }
            Place::Quotient => self.bytes.push(work::QUOTIENT),
            Place::Remainder => self.bytes.push(work::REMAINDER),
        }
    }
}

/// Return a register behind a port, by its index there.
pub const fn behind_port(index: u32) -> Place {
    Place::Register(index * 4)
}

fn place_kind(place: Place) -> u8 {
    match place {
        Place::Register(_) => kind::REGISTER,
        Place::Parameter(_) => kind::PARAMETER,
        Place::Work(_) | Place::Quotient | Place::Remainder => kind::WORK,
        Place::Pll(_) => kind::PLL,
    }
}

fn index_size(place: Place) -> usize {
    match place {
        Place::Register(_) => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_have_their_public_encoding() {
        let mut c = Code::new(2);
        c.set(Place::Register(0xf8), 0x1000_0000)
            .mask(Place::Pll(0x0a), 0xff00_ffff, Place::Work(3))
            .divide(Place::Work(0), Place::Parameter(1))
            .shift(Place::Work(1), -16)
            .shift(Place::Register(0x10), 4)
            .port(2)
            .call(5);
        let bytes = c.build();
        let expected: &[u8] = &[
            // size, revision 1.1, 4 work words, 8 bytes of parameters
            41, 0, 1, 1, 4, 8, //
            1, 5, 0x3e, 0, 0, 0, 0, 0x10, // MOVE_REG
            96, 2, 0x0a, 0xff, 0xff, 0x00, 0xff, 3, // MASK_PLL
            39, 1, 0, 1, // DIV_WS
            27, 0, 1, 16, // SHIFT_RIGHT_WS
            19, 0, 4, 0, 4, // SHIFT_LEFT_REG
            55, 2, 0, // SET_ATI_PORT
            82, 5, // CALL_TABLE
        ];
        assert_eq!(bytes[..expected.len()], *expected);
        assert_eq!(bytes[expected.len()..], [91]);
    }

    #[test]
    fn jumps_count_from_the_start_of_the_table() {
        let mut c = Code::new(0);
        let (back, on) = (c.label(), c.label());
        c.place(back).delay_us(10).jump(When::NotEqual, back);
        c.jump(When::Always, on).place(on);
        let bytes = c.build();
        assert_eq!(bytes[6..], [81, 10, 73, 6, 0, 67, 14, 0, 91]);
    }

    #[test]
    #[should_panic(expected = "every label is placed")]
    fn a_label_without_a_place_is_a_mistake() {
        let mut c = Code::new(0);
        let l = c.label();
        c.jump(When::Always, l);
        c.build();
    }
}
