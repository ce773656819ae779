// SPDX-License-Identifier: GPL-2.0 OR MIT

//! One dword of a stream and what it means.

use std::fmt;

use lapidary_registers::{Database, Domain, Dword, Engine, Packet};

/// What a dword is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Meaning {
    /// Header of type 0.
    Type0 {
        offset: u32,
        count: u32,
        one_register: bool,
    },
    /// Header of type 1.
    Type1 { first: u32, second: u32 },
    /// Header of type 2.
    Type2,
    /// Header of type 3 with a known opcode.
    Type3 { packet: &'static Packet, count: u32 },
    /// Header of type 3 with an unknown opcode.
    Unknown { opcode: u8, count: u32 },
    /// Header of an engine's packet.
    Command {
        engine: &'static Engine,
        packet: &'static Packet,
        count: u32,
    },
    /// Header of an engine's packet with an unknown opcode.
    Stranger { opcode: u32 },
    /// The value of a register. `decides`: what the same packet writes to the register that decides on the layout.
    Register { offset: u32, decides: Option<u32> },
    /// A named dword of a body.
    Part { dword: &'static Dword },
    /// A dword of a body that the packet's description does not reach.
    Excess,
    /// A dword of the body of an unknown opcode.
    Data,
}

/// Something that is wrong with a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// The stream ends before the packet does; so many dwords of the body are there.
    Truncated {
        /// Dwords of the body that are there.
        present: u32,
    },
    /// The opcode is not in the database.
    UnknownOpcode,
    /// The family has no packets of that type.
    NoSuchType,
    /// Bits of the header are set that mean nothing.
    ReservedBits(u32),
    /// The body ends where a dword of that name should follow.
    Short(&'static str),
    /// The packet cannot write that register.
    OutOfRange,
    /// The body has more dwords than the opcode takes.
    Excess,
    /// The body is as long as something in it says, and that is nonsense.
    BadCount(&'static str),
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::Truncated { present } => {
                write!(f, "truncated: the stream has {present} dwords of the body")
            }
            Note::UnknownOpcode => write!(f, "unknown opcode"),
            Note::NoSuchType => write!(f, "no packet of this family has that type"),
            Note::ReservedBits(bits) => write!(f, "reserved bits {bits:#010x}"),
            Note::Short(name) => write!(f, "the body ends here, but {name} should follow"),
            Note::OutOfRange => write!(f, "the packet does not reach this register"),
            Note::Excess => write!(f, "beyond the packet's contents"),
            Note::BadCount(name) => write!(f, "{name} does not say how much follows"),
        }
    }
}

/// A dword of a stream. Displays as one line of text, without the line's end.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    pub(crate) database: &'static Database,
    /// Address: that of the stream's beginning plus the byte offset.
    pub address: u64,
    /// The dword.
    pub word: u32,
    /// What is wrong here, if anything.
    pub note: Option<Note>,
    pub(crate) meaning: Meaning,
}

impl Line {
    /// Return whether this dword is a packet's header.
    pub fn is_header(&self) -> bool {
        matches!(
            self.meaning,
            Meaning::Type0 { .. }
                | Meaning::Type1 { .. }
                | Meaning::Type2
                | Meaning::Type3 { .. }
                | Meaning::Unknown { .. }
                | Meaning::Command { .. }
                | Meaning::Stranger { .. }
        )
    }

    /// Return the byte offset of the register that this dword is written to, if it is the value of one.
    pub fn register(&self) -> Option<u32> {
        match self.meaning {
            Meaning::Register { offset, .. } => Some(offset),
            _ => None,
        }
    }
}

/// `NAME[index]` of a register of the aperture.
struct Name(&'static Database, u32);

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.by_offset(Domain::MMIO, self.1) {
            Some((register, index)) if register.len > 1 => write!(f, "{}[{index}]", register.name),
            Some((register, _)) => f.write_str(register.name),
            None => write!(f, "mmio:{:#06x}", self.1),
        }
    }
}

struct Dwords(u32);

impl fmt::Display for Dwords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} dword{}", self.0, if self.0 == 1 { "" } else { "s" })
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}: {:08x}  ", self.address, self.word)?;
        if !self.is_header() {
            f.write_str("  ")?;
        }
        match self.meaning {
            Meaning::Type0 {
                offset,
                count,
                one_register,
            } => {
                let all = if one_register { ", all of them" } else { "" };
                write!(
                    f,
                    "type 0: {} to {}{all}",
                    Dwords(count),
                    Name(self.database, offset)
                )?;
            }
            Meaning::Type1 { first, second } => {
                write!(
                    f,
                    "type 1: one dword each to {} and {}",
                    Name(self.database, first),
                    Name(self.database, second)
                )?;
            }
            Meaning::Type2 => f.write_str("type 2: filler")?,
            Meaning::Type3 { packet, count } => {
                write!(f, "{}: {}", packet.name, Dwords(count))?;
                let headers = self.database.headers();
                if headers.is_some_and(|h| h.predicate.is_some_and(|p| p.any(self.word))) {
                    f.write_str(", predicated")?;
                }
                let chips = self.database.chips_with(packet);
                if !chips.is_empty() {
                    write!(f, ", only on {}", chips.join(", "))?;
                }
            }
            Meaning::Command {
                engine,
                packet,
                count,
            } => {
                write!(f, "{}: {}", packet.name, Dwords(count))?;
                let rest = self.word & engine.header.mask() & !engine.opcode.mask();
                match engine.header.describe(rest) {
                    fields if fields.is_empty() => {}
                    fields => write!(f, " {{ {fields} }}")?,
                }
            }
            Meaning::Stranger { opcode } => write!(f, "opcode {opcode:#x}")?,
            Meaning::Unknown { opcode, count } => {
                write!(f, "type 3 opcode {opcode:#04x}: {}", Dwords(count))?;
            }
            Meaning::Register { offset, decides } => {
                f.write_str(&self.database.describe_with(
                    Domain::MMIO,
                    offset,
                    self.word,
                    decides,
                ))?;
            }
            Meaning::Part { dword } => self.part(f, dword)?,
            Meaning::Excess | Meaning::Data => write!(f, "{:#010x}", self.word)?,
        }
        match self.note {
            Some(note) => write!(f, "  !! {note}"),
            None => Ok(()),
        }
    }
}

impl Line {
    fn part(&self, f: &mut fmt::Formatter<'_>, dword: &Dword) -> fmt::Result {
        write!(f, "{} = {:#010x}", dword.name, self.word)?;
        match dword.fields {
            [] if dword.name == "VERTEX" => write!(f, " ({:?})", f32::from_bits(self.word)),
            [] => Ok(()),
            // A single field that is the whole word would only repeat the number.
            [field] if field.field.mask() == u32::MAX && field.values.is_empty() => Ok(()),
            _ => match dword.describe(self.word) {
                fields if fields.is_empty() => Ok(()),
                fields => write!(f, " {{ {fields} }}"),
            },
        }
    }
}
