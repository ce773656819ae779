// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A family's database as one value: finding registers and packets by name and by place, and saying what words mean.

use std::collections::HashMap;
use std::fmt;
use std::sync::OnceLock;

use crate::{
    Choice, Decision, Domain, Dword, Engine, Field, InstructionTable, Packet, Pixel, Register,
};

/// All that is known of a family's registers and packets.
pub struct Database {
    /// The family, by the name of its driver.
    pub family: &'static str,
    /// What a person calls this database: the family, or the register map if the family has several.
    pub name: &'static str,
    /// Its address spaces of registers.
    pub domains: &'static [Domain],
    /// All registers, by domain and in the order of the database.
    pub registers: &'static [Register],
    /// All type-3 packets.
    pub packets: &'static [Packet],
    /// Packet headers and the dwords that several packets share.
    pub layouts: &'static [Dword],
    /// How contradictions of the manual were settled.
    pub decisions: &'static [Decision],
    /// Where packets say what a pixel is, if they do.
    pub pixel: Option<Pixel>,
    /// Opcodes whose bodies may end inside the last round of a repetition.
    pub cut_short: &'static [u8],
    /// The packets that only some of the chips have, with these chips.
    pub packet_variants: &'static [(&'static str, &'static [&'static str])],
    /// When an overlay is the layout of its word that counts.
    pub choices: &'static [Choice],
    /// The engines besides the command processor.
    pub engines: &'static [Engine],
    /// Words of the instructions of shaders; empty if the database has no instructions.
    pub words: &'static [Dword],
    /// Instructions of shaders, by the field that tells them apart.
    pub instructions: &'static [InstructionTable],
    index: OnceLock<Index>,
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Database").field(&self.name).finish()
    }
}

/// The fields of packet headers.
#[derive(Clone, Copy, Debug)]
pub struct Headers {
    /// Which type of packet it is, 0 to 3.
    pub kind: Field,
    /// Types 0 and 3: dwords of the body, minus one.
    pub count: Field,
    /// Type 0: the first register, in dwords.
    pub base: Field,
    /// Type 0: all words go to the same register.
    pub one_register: Option<Field>,
    /// Type 1: the two registers, in dwords. `None`: the family has no such packets.
    pub pair: Option<(Field, Field)>,
    /// Type 3: the operation.
    pub opcode: Field,
    /// Type 3: the packet is skipped under a condition that was set before. `None`: the family has no such condition.
    pub predicate: Option<Field>,
}

/// What is looked up often.
struct Index {
    names: HashMap<&'static str, &'static Register>,
    places: HashMap<(Domain, u32), (&'static Register, u32)>,
    headers: Option<Headers>,
}

impl Index {
    /// Make the index. Overlays are found by name only: their word belongs to the register below.
    fn new(database: &Database) -> Index {
        let mut names = HashMap::new();
        let mut places = HashMap::new();
        for r in database.registers {
            names.entry(r.name).or_insert(r);
            if r.overlay_of.is_none() {
                for i in 0..r.len {
                    places.insert((r.domain, r.offset + i * r.stride), (r, i));
                }
            }
        }
        Index {
            names,
            places,
            headers: Headers::of(database),
        }
    }
}

impl Headers {
    /// Return the headers from the layouts `TYPE0`, `TYPE1` and `TYPE3`. `None` if 0 or 3 is missing.
    fn of(database: &Database) -> Option<Headers> {
        let field = |layout: &str, name: &str| {
            database
                .layout(layout)
                .and_then(|l| l.field(name))
                .map(|f| f.field)
        };
        Some(Headers {
            kind: field("TYPE3", "TYPE")?,
            count: field("TYPE3", "COUNT")?,
            base: field("TYPE0", "BASE_INDEX")?,
            one_register: field("TYPE0", "ONE_REG_WR"),
            pair: field("TYPE1", "REG_INDEX1").zip(field("TYPE1", "REG_INDEX2")),
            opcode: field("TYPE3", "IT_OPCODE")?,
            predicate: field("TYPE3", "PREDICATE"),
        })
    }
}

impl Database {
    /// Return the database of a family, from its generated tables.
    pub const fn new(
        family: &'static str,
        domains: &'static [Domain],
        registers: &'static [Register],
        packets: &'static [Packet],
        layouts: &'static [Dword],
        decisions: &'static [Decision],
    ) -> Database {
        Database {
            family,
            name: family,
            domains,
            registers,
            packets,
            layouts,
            decisions,
            pixel: None,
            cut_short: &[],
            packet_variants: &[],
            choices: &[],
            engines: &[],
            words: &[],
            instructions: &[],
            index: OnceLock::new(),
        }
    }

    /// Return the same by another name, for a family that has a database for each of its register maps.
    pub const fn named(mut self, name: &'static str) -> Database {
        self.name = name;
        self
    }

    /// Return the same, of packets that say what a pixel is.
    pub const fn with_pixel(mut self, pixel: Pixel) -> Database {
        self.pixel = Some(pixel);
        self
    }

    /// Return the same, with opcodes whose bodies may end inside the last round of a repetition.
    pub const fn with_cut_short(mut self, opcodes: &'static [u8]) -> Database {
        self.cut_short = opcodes;
        self
    }

    /// Return the same, with packets that only some of the chips have.
    pub const fn with_packet_variants(
        mut self,
        variants: &'static [(&'static str, &'static [&'static str])],
    ) -> Database {
        self.packet_variants = variants;
        self
    }

    /// Return the same, with overlays that count under a condition.
    pub const fn with_choices(mut self, choices: &'static [Choice]) -> Database {
        self.choices = choices;
        self
    }

    /// Return the same, with engines besides the command processor.
    pub const fn with_engines(mut self, engines: &'static [Engine]) -> Database {
        self.engines = engines;
        self
    }

    /// Return the same, with the instruction set of its shaders.
    pub const fn with_instructions(
        mut self,
        words: &'static [Dword],
        instructions: &'static [InstructionTable],
    ) -> Database {
        self.words = words;
        self.instructions = instructions;
        self
    }

    /// Return the word of that name, of instructions of shaders.
    pub fn word(&self, name: &str) -> Option<&'static Dword> {
        self.words.iter().find(|w| w.name == name)
    }

    fn index(&self) -> &Index {
        self.index.get_or_init(|| Index::new(self))
    }

    /// Return the register of that name. Where several spaces have one (`MC_STATUS`), the first: use
    /// [`Database::by_name_in`].
    pub fn by_name(&self, name: &str) -> Option<&'static Register> {
        self.index().names.get(name).copied()
    }

    /// Return the register of that name in `domain`.
    pub fn by_name_in(&self, domain: Domain, name: &str) -> Option<&'static Register> {
        self.registers
            .iter()
            .find(|r| r.domain == domain && r.name == name)
    }

    /// Return the register at `offset` of `domain` and its index within the array (0 for a single register).
    /// `offset` counts bytes in `mmio` and must be a multiple of four there; it is the index elsewhere.
    pub fn by_offset(&self, domain: Domain, offset: u32) -> Option<(&'static Register, u32)> {
        self.index().places.get(&(domain, offset)).copied()
    }

    /// Describe what `value` means at `offset`, as `NAME[i] = 0x… { FIELD=VALUE … }`. An unknown register is named by
    /// its place.
    pub fn describe(&self, domain: Domain, offset: u32, value: u32) -> String {
        self.describe_with(domain, offset, value, None)
    }

    /// Describe as [`Database::describe`] does, with the value of the register that decides on the layout
    /// ([`Database::decider`]).
    pub fn describe_with(
        &self,
        domain: Domain,
        offset: u32,
        value: u32,
        decides: Option<u32>,
    ) -> String {
        let Some((r, i)) = self.by_offset(domain, offset) else {
            return format!("{}:{offset:#06x} = {value:#010x}", domain.name());
        };
        let r = decides.and_then(|v| self.overlay(r, v)).unwrap_or(r);
        let index = if r.len > 1 {
            format!("[{i}]")
        } else {
            String::new()
        };
        let fields = match r.fields {
            // A single field that is the whole word would only repeat the number.
            [f] if f.field.mask() == u32::MAX && f.values.is_empty() => String::new(),
            [] => String::new(),
            _ => r.describe(value),
        };
        let fields = if fields.is_empty() {
            fields
        } else {
            format!(" {{ {fields} }}")
        };
        format!("{}{index} = {value:#010x}{fields}", r.name)
    }

    /// Return the place of the register that decides whether an overlay is the layout of the one at `offset`.
    pub fn decider(&self, domain: Domain, offset: u32) -> Option<u32> {
        if self.choices.is_empty() {
            return None;
        }
        let (register, i) = self.by_offset(domain, offset)?;
        let (choice, _) = self.choices_of(register).next()?;
        self.by_name_in(domain, choice.register)?.array().at(i)
    }

    /// Return the overlay that is the layout of `register` if the register that decides has that value.
    fn overlay(&self, register: &Register, decides: u32) -> Option<&'static Register> {
        let counts = |choice: &Choice| {
            self.by_name_in(register.domain, choice.register)
                .and_then(|r| r.field(choice.field))
                .is_some_and(|f| choice.values.contains(&f.field.get(decides)))
        };
        self.choices_of(register)
            .find(|(choice, _)| counts(choice))
            .map(|(_, overlay)| overlay)
    }

    /// Return the overlays of `register` that count under a condition.
    fn choices_of(
        &self,
        register: &Register,
    ) -> impl Iterator<Item = (&'static Choice, &'static Register)> {
        self.choices.iter().filter_map(move |choice| {
            let overlay = self.by_name(choice.overlay)?;
            (overlay.overlay_of == Some(register.name)).then_some((choice, overlay))
        })
    }

    /// Return the only chips that have a packet; nothing if all chips of the database have it.
    pub fn chips_with(&self, packet: &Packet) -> &'static [&'static str] {
        self.packet_variants
            .iter()
            .find(|(name, _)| *name == packet.name)
            .map_or(&[], |(_, chips)| chips)
    }

    /// Return the engine of that name, besides the command processor.
    pub fn engine(&self, name: &str) -> Option<&'static Engine> {
        self.engines.iter().find(|e| e.name == name)
    }

    /// Return the type-3 packet with that opcode.
    pub fn packet(&self, opcode: u8) -> Option<&'static Packet> {
        self.packets.iter().find(|p| p.opcode == opcode)
    }

    /// Return the packet header or shared dword of that name (`TYPE0`, `GUI_CONTROL`, …).
    pub fn layout(&self, name: &str) -> Option<&'static Dword> {
        self.layouts.iter().find(|d| d.name == name)
    }

    /// Return the fields of packet headers; `None` if the family's commands are no PM4 packets.
    pub fn headers(&self) -> Option<&Headers> {
        self.index().headers.as_ref()
    }
}
