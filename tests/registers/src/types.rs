// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What the generated constants and tables consist of.

use std::fmt;

/// A field of a 32-bit word: bits `hi` to `lo`, both inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    hi: u8,
    lo: u8,
}

impl Field {
    /// Return the field of bits `hi` down to `lo`; `lo <= hi <= 31` or it does not compile (in constants) or panics.
    pub const fn new(hi: u8, lo: u8) -> Self {
        assert!(lo <= hi && hi <= 31);
        Self { hi, lo }
    }

    /// Return the highest bit.
    pub const fn hi(self) -> u8 {
        self.hi
    }

    /// Return the lowest bit.
    pub const fn lo(self) -> u8 {
        self.lo
    }

    /// Return the largest value that fits.
    pub const fn max(self) -> u32 {
        u32::MAX >> (31 - (self.hi - self.lo))
    }

    /// Return the bits of the field in a word.
    pub const fn mask(self) -> u32 {
        self.max() << self.lo
    }

    /// Return the field's value in `word`.
    pub const fn get(self, word: u32) -> u32 {
        (word >> self.lo) & self.max()
    }

    /// Return `word` with the field replaced by `value`, whose excess bits are dropped.
    pub const fn put(self, word: u32, value: u32) -> u32 {
        (word & !self.mask()) | self.of(value)
    }

    /// Return a word in which only this field is set, to `value`.
    pub const fn of(self, value: u32) -> u32 {
        (value & self.max()) << self.lo
    }

    /// Return whether any bit of the field is set in `word`.
    pub const fn any(self, word: u32) -> bool {
        word & self.mask() != 0
    }
}

/// An array of registers: element `i` is at `base + i * stride`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegArray {
    base: u32,
    len: u32,
    stride: u32,
}

impl RegArray {
    /// Return `len` registers from `base` on, `stride` apart, in bytes in memory-mapped spaces and in indices
    /// elsewhere.
    pub const fn new(base: u32, len: u32, stride: u32) -> Self {
        Self { base, len, stride }
    }

    /// Return the number of elements.
    #[allow(
        clippy::len_without_is_empty,
        reason = "an array of registers is never empty"
    )]
    pub const fn len(self) -> u32 {
        self.len
    }

    /// Return the place of the first element.
    pub const fn base(self) -> u32 {
        self.base
    }

    /// Return the place of element `i`, `None` beyond the end.
    pub const fn at(self, i: u32) -> Option<u32> {
        if i < self.len {
            Some(self.base + i * self.stride)
        } else {
            None
        }
    }

    /// Return which element is at `offset`, if one is.
    pub const fn index_of(self, offset: u32) -> Option<u32> {
        if offset < self.base || (offset - self.base) % self.stride != 0 {
            return None;
        }
        let i = (offset - self.base) / self.stride;
        if i < self.len { Some(i) } else { None }
    }
}

/// An address space of registers. A family's own are the constants of its module `domain`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Domain(&'static str);

impl Domain {
    /// The register aperture, by byte offset: the space that every family has.
    pub const MMIO: Self = Self::new("mmio");

    /// Return the space of that name.
    pub const fn new(name: &'static str) -> Self {
        Self(name)
    }

    /// Return the name as the database spells it.
    pub const fn name(self) -> &'static str {
        self.0
    }
}

/// What can be done with a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read and write.
    ReadWrite,
    /// Read only; a write is a mistake.
    Read,
    /// Write only; what a read gives is not defined.
    Write,
    /// Read; writing a one clears a bit.
    WriteOneClears,
}

/// A named value of a field, or a name for a range of them.
#[derive(Clone, Copy, Debug)]
pub struct Value {
    /// Name.
    pub name: &'static str,
    /// The number in the field; of a range the first.
    pub value: u32,
    /// The last number of a range, else the number.
    pub last: u32,
    /// What it means; may be empty.
    pub doc: &'static str,
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.value.name)?;
        if self.value.last > self.value.value {
            write!(f, "[{}]", self.index)?;
        }
        Ok(())
    }
}

/// A number by its name. Displays as `NAME`, or `NAME[index]` if the name is for a range.
#[derive(Clone, Copy, Debug)]
pub struct Named {
    /// The name.
    pub value: &'static Value,
    /// Which number of the range it is, from 0 on.
    pub index: u32,
}

/// A field with what is known of it.
#[derive(Clone, Copy, Debug)]
pub struct FieldInfo {
    /// Name.
    pub name: &'static str,
    /// Its bits.
    pub field: Field,
    /// Value after reset, if the manual says so.
    pub default: Option<u32>,
    /// What it is; may be empty.
    pub doc: &'static str,
    /// Its named values; may be empty.
    pub values: &'static [Value],
}

impl FieldInfo {
    /// Return the name of the number `n` of the field.
    pub fn named(&self, n: u32) -> Option<Named> {
        let value = self
            .values
            .iter()
            .find(|v| (v.value..=v.last).contains(&n))?;
        Some(Named {
            value,
            index: n - value.value,
        })
    }
}

/// A register, or an array of equal registers.
#[derive(Clone, Copy, Debug)]
pub struct Register {
    /// Where it is addressed.
    pub domain: Domain,
    /// Block of the chip, such as `CP` or `VAP`.
    pub block: &'static str,
    /// Name, as the constants spell it.
    pub name: &'static str,
    /// Name as the manual or public source spells it, with the index range in brackets.
    pub manual: &'static str,
    /// Place of the (first) register.
    pub offset: u32,
    /// Number of registers; 1 for a single one.
    pub len: u32,
    /// Distance of the elements.
    pub stride: u32,
    /// What can be done with it.
    pub access: Access,
    /// Value after reset as far as known; unknown fields are zero in it.
    pub default: Option<u32>,
    /// What it is.
    pub doc: &'static str,
    /// Where the facts come from.
    pub source: &'static str,
    /// The only chips that have it; empty if all do.
    pub variants: &'static [&'static str],
    /// Register over whose word this is another layout.
    pub overlay_of: Option<&'static str>,
    /// Register of which this is a second address.
    pub mirror_of: Option<&'static str>,
    /// Its fields; bits outside of them are reserved. No fields: the whole word is one value.
    pub fields: &'static [FieldInfo],
}

impl Register {
    /// Return the register as an array, of one element if it is single.
    pub const fn array(&self) -> RegArray {
        RegArray::new(self.offset, self.len, self.stride)
    }

    /// Return the bits that mean something.
    pub fn mask(&self) -> u32 {
        mask(self.fields)
    }

    /// Return the field of that name.
    pub fn field(&self, name: &str) -> Option<&'static FieldInfo> {
        self.fields.iter().find(|f| f.name == name)
    }

    /// Return the fields of `value` as `RB_BUFSZ=14 RB_NO_UPDATE=1 …`, see [`Dword::describe`].
    pub fn describe(&self, value: u32) -> String {
        describe_fields(self.fields, value)
    }
}

/// Return `first` and `second` as one array, whose length must be the sum.
pub(crate) const fn joined<T: Copy, const N: usize>(first: &[T], second: &[T]) -> [T; N] {
    assert!(first.len() + second.len() == N);
    let mut all = [first[0]; N];
    let mut i = 0;
    while i < N {
        all[i] = if i < first.len() {
            first[i]
        } else {
            second[i - first.len()]
        };
        i += 1;
    }
    all
}

/// When an overlay is the layout of its word that counts.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// The overlay.
    pub overlay: &'static str,
    /// The register that decides, by its element of the same index.
    pub register: &'static str,
    /// Its field.
    pub field: &'static str,
    /// The values with which the overlay counts.
    pub values: &'static [u32],
}

/// One dword of a packet.
#[derive(Clone, Copy, Debug)]
pub struct Dword {
    /// Name.
    pub name: &'static str,
    /// What it is; may be empty.
    pub doc: &'static str,
    /// Its fields. No fields: the whole word is one value.
    pub fields: &'static [FieldInfo],
}

impl Dword {
    /// Return the bits that mean something.
    pub fn mask(&self) -> u32 {
        mask(self.fields)
    }

    /// Return the field of that name.
    pub fn field(&self, name: &str) -> Option<&'static FieldInfo> {
        self.fields.iter().find(|f| f.name == name)
    }

    /// Return the fields of `value` as `WIDTH=64 HEIGHT=8`, with named values by name, and `?=0x…` for bits outside of
    /// all fields.
    pub fn describe(&self, value: u32) -> String {
        describe_fields(self.fields, value)
    }
}

/// How often a part of a packet repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// Until the packet ends; the last round may be cut short.
    Rest,
    /// Once if the packet does not end here.
    Optional,
    /// So many times.
    Fixed(u32),
    /// As often as a field says that came before.
    Field {
        /// The latest dword of that name.
        dword: &'static str,
        /// Its field.
        field: &'static str,
    },
    /// Once for each bit set in a dword that came before.
    Bits {
        /// The latest dword of that name.
        dword: &'static str,
    },
    /// So many times for each byte of a destination pixel: see [`Pixel`].
    PerPixelByte(u32),
}

/// Where packets say what a pixel is.
#[derive(Clone, Copy, Debug)]
pub struct Pixel {
    /// The latest dword of that name.
    pub dword: &'static str,
    /// Its field.
    pub field: &'static str,
    /// Bytes of a pixel by the field's value; `None` for a value that means nothing.
    pub bytes: fn(u32) -> Option<u32>,
}

/// A part of a packet's body.
#[derive(Clone, Copy, Debug)]
pub enum Item {
    /// One dword.
    Dword(Dword),
    /// Parts that repeat.
    Repeat {
        /// How often.
        count: Count,
        /// What.
        items: &'static [Item],
    },
    /// Parts that are there only if a field that came before has one of the values.
    When {
        /// The latest dword of that name.
        dword: &'static str,
        /// Its field.
        field: &'static str,
        /// The values.
        values: &'static [u32],
        /// What.
        items: &'static [Item],
    },
    /// The rest of the body: registers of the aperture that follow one another.
    Registers {
        /// The latest dword of that name.
        dword: &'static str,
        /// Its field, which says how many dwords after `base` the first register is.
        field: &'static str,
        /// The first register that the packet can write, by byte offset.
        base: u32,
        /// Byte offset where the registers end that it can write.
        end: u32,
    },
}

/// A packet: of type 3, or of an engine other than the command processor.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// Name.
    pub name: &'static str,
    /// Number in the header.
    pub opcode: u8,
    /// What it does.
    pub doc: &'static str,
    /// Where the facts come from.
    pub source: &'static str,
    /// Whether the manual has it; otherwise it is public knowledge.
    pub in_manual: bool,
    /// What follows the header.
    pub body: &'static [Item],
}

/// An engine besides the command processor, with packets of its own. The header of a packet says what it is, and its
/// contents say how long it is.
#[derive(Clone, Copy, Debug)]
pub struct Engine {
    /// Name.
    pub name: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// The header of its packets, to which conditions and counts of a body may refer.
    pub header: Dword,
    /// The operation, in the header.
    pub opcode: Field,
    /// Its packets.
    pub packets: &'static [Packet],
}

impl Engine {
    /// Return the packet of which that is the header.
    pub fn packet(&self, header: u32) -> Option<&'static Packet> {
        let opcode = self.opcode.get(header);
        self.packets.iter().find(|p| u32::from(p.opcode) == opcode)
    }
}

/// How a contradiction of the manual was settled.
#[derive(Clone, Copy, Debug)]
pub struct Decision {
    /// Number of the contradiction.
    pub number: u32,
    /// Register, field, packet or subject.
    pub about: &'static str,
    /// The places that contradict each other.
    pub source: &'static str,
    /// What holds, and why.
    pub text: &'static str,
}

fn mask(fields: &[FieldInfo]) -> u32 {
    if fields.is_empty() {
        u32::MAX
    } else {
        fields.iter().fold(0, |m, f| m | f.field.mask())
    }
}

fn describe_fields(fields: &[FieldInfo], value: u32) -> String {
    use std::fmt::Write;
    let mut out = String::new();
    for f in fields {
        let n = f.field.get(value);
        if n == 0 && !f.values.iter().any(|v| v.value == 0) {
            continue;
        }
        let space = if out.is_empty() { "" } else { " " };
        match f.named(n) {
            Some(name) => write!(out, "{space}{}={name}", f.name),
            None if n < 10 => write!(out, "{space}{}={n}", f.name),
            None => write!(out, "{space}{}={n:#x}", f.name),
        }
        .expect("writing to a string does not fail");
    }
    let odd = value & !mask(fields);
    if odd != 0 {
        let space = if out.is_empty() { "" } else { " " };
        write!(out, "{space}?={odd:#x}").expect("writing to a string does not fail");
    }
    out
}

/// One instruction of shaders.
#[derive(Clone, Copy, Debug)]
pub struct Instruction {
    /// Name.
    pub name: &'static str,
    /// Number in the table's field.
    pub opcode: u32,
    /// How many operands it has, if the database says so.
    pub sources: Option<u32>,
    /// Where in a group it can be: `any`, `vector`, `trans`, `reduction`; empty if there are no groups.
    pub slots: &'static str,
    /// What else is known of it: `kill`, `predicate`, `integer`, ….
    pub flags: &'static [&'static str],
    /// What it does.
    pub doc: &'static str,
    /// Where the facts come from.
    pub source: &'static str,
}

/// Instructions that one field of one word tells apart.
#[derive(Clone, Copy, Debug)]
pub struct InstructionTable {
    /// Name.
    pub name: &'static str,
    /// What they are.
    pub doc: &'static str,
    /// The word that has the field.
    pub word: &'static str,
    /// The field.
    pub field: &'static str,
    /// All of them.
    pub instructions: &'static [Instruction],
}

impl InstructionTable {
    /// Return the instruction with that number.
    pub fn instruction(&self, opcode: u32) -> Option<&'static Instruction> {
        self.instructions.iter().find(|i| i.opcode == opcode)
    }
}
