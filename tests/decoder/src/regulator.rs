// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Prints the streams that the command regulator of Chrome9 fetches from memory.
//!
//! A stream is headers of four dwords, at multiples of 16 bytes, and what follows them. The register database has the
//! headers (its domain `header`). Three things end what follows a header: the count in the header, the next header (for
//! parameters, which have no count), or the end of the stream. What is between the end and the next multiple of 16 bytes is
//! padding.
//!
//! A parameter is named by type and sub-type in the header's setting, and by its own sub-address. Vertices and tables
//! (types 00h and 03h) have none: an entry of a table is named by its number behind the setting's.
//!
//! ```
//! use lapidary_decoder::regulator;
//!
//! // A fence with the number 5, which raises the interrupt.
//! let stream = [0xfe02_0420, 0x41c, 0x0011_0000, 0xcc00_0000, 0x0600_0005, 0x0712_0000];
//! let text: Vec<String> = regulator::decode(&stream, 0).map(|l| l.to_string()).collect();
//! assert_eq!(text[0], "00000000: fe020420  PARAMETERS for CR_SPACE");
//! assert_eq!(text[5], "00000014: 07120000    FENCE_4 = 0x00120000 { TRIGGER=1 QUEUE=1 }");
//! ```

use std::fmt;

use lapidary_registers::chrome9::{
    DATABASE, domain, enums::para_type, header, mmio, mmio::cr_setting, parameters,
};
use lapidary_registers::{Domain, Register};

/// Something that is wrong with a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// A header should be here.
    NoHeader,
    /// The stream ends before the header, or what its count says, does.
    Truncated,
    /// No description says what these parameters are.
    UnknownParameters,
    /// The database has no register or parameter there.
    UnknownPlace,
    /// The dword should be padding and is not.
    Excess,
    /// The header names other registers than a window of the regulator.
    WrongWindow,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Note::NoHeader => "a header should be here",
            Note::Truncated => "truncated: more should follow",
            Note::UnknownParameters => "parameters of an unknown type",
            Note::UnknownPlace => "nothing is known here",
            Note::Excess => "beyond the header's count",
            Note::WrongWindow => "no window of the regulator",
        })
    }
}

/// What a dword is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// The first dword of a header: its code, bits 23:16.
    Header(u8),
    /// A number of dwords or pairs.
    Count,
    /// The offset of a window's setting.
    Window,
    /// The setting of parameters, or the tag of a header.
    Setting,
    /// The rest of a header: a tag of software.
    Tag,
    /// The offset in a pair.
    Offset,
    /// A value of a register or of a parameter, at an offset or a sub-address.
    Value(Domain, u32),
    /// An entry of a table, at an index.
    Entry(Domain, u32),
    /// A dword without structure: pixels, vertices, indices.
    Data,
    /// A dword without effect.
    Padding,
    /// No header in its place.
    Unknown,
}

/// A dword of a stream. Displays as one line of text, without the line's end.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// Address: that of the stream's beginning plus the byte offset.
    pub address: u64,
    /// The dword.
    pub word: u32,
    /// What is wrong here, if anything.
    pub note: Option<Note>,
    /// What it is.
    pub meaning: Meaning,
}

/// Return `NAME` or `NAME[i]` of the register at `offset`.
fn name(offset: u32) -> String {
    match DATABASE.by_offset(Domain::MMIO, offset) {
        Some((register, i)) if register.len > 1 && i > 0 => format!("{}[{i}]", register.name),
        Some((register, _)) => register.name.to_owned(),
        None => format!("mmio:{offset:#06x}"),
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = self.word;
        write!(f, "{:08x}: {word:08x}  ", self.address)?;
        match self.meaning {
            Meaning::Header(code) => match form(code) {
                Some(register) if register.fields.is_empty() => f.write_str(register.name)?,
                Some(register) => write!(f, "{} for {}", register.name, name(word & 0xffff))?,
                None => f.write_str("header")?,
            },
            Meaning::Count => write!(f, "  count {word}")?,
            Meaning::Window => write!(f, "  window {}", name(word))?,
            Meaning::Setting => {
                let text = DATABASE.describe(Domain::MMIO, mmio::CR_SETTING, word);
                let fields = text.split_once(" { ").map_or("", |(_, rest)| rest);
                write!(f, "  setting {}", fields.trim_end_matches(" }"))?;
            }
            Meaning::Tag => write!(f, "  tag")?,
            Meaning::Offset => write!(f, "  to {}", name(word))?,
            Meaning::Value(Domain::MMIO, offset) => {
                write!(f, "    {}", DATABASE.describe(Domain::MMIO, offset, word))?;
            }
            Meaning::Value(space, place) => {
                // The sub-address is in the other bits.
                write!(f, "  {}", DATABASE.describe(space, place, word & 0xff_ffff))?;
            }
            Meaning::Entry(space, index) => {
                write!(f, "  {}", DATABASE.describe(space, index, word))?;
            }
            Meaning::Data => write!(f, "    data")?,
            Meaning::Padding => write!(f, "  padding")?,
            Meaning::Unknown => write!(f, "?")?,
        }
        match self.note {
            Some(note) => write!(f, "  !! {note}"),
            None => Ok(()),
        }
    }
}

/// Return what the database says of the header with that code.
fn form(code: u8) -> Option<&'static Register> {
    DATABASE
        .by_offset(domain::HEADER, code.into())
        .map(|(register, _)| register)
}

/// Return the code of a header.
fn header_code(word: u32) -> Option<u8> {
    let code = (word >> 16) as u8;
    (word >> 24 == 0xfe && form(code).is_some()).then_some(code)
}

/// Return whether a dword is one that drivers pad with.
fn is_null(word: u32) -> bool {
    matches!(word >> 24, 0xcc..=0xcf | 0xdd | 0xee)
}

/// What the next dword belongs to.
#[derive(Clone, Copy)]
enum State {
    /// A header, or padding that `after` a count fills up to it.
    Between { after: bool },
    /// Dword `at` of a header.
    Header {
        code: u8,
        at: u8,
        first: u32,
        count: u32,
    },
    /// Pairs; `offset` is that of a value.
    Pairs { left: u32, offset: Option<u32> },
    /// Dwords of which a count says how many follow. `to`: the register to which all go.
    Counted { left: u32, to: Option<u32> },
    /// Parameters of the type in that setting, of which `count` have come.
    Parameters { setting: u32, count: u32 },
}

/// The lines of a stream, one for each dword.
#[derive(Clone)]
pub struct Lines<'a> {
    words: &'a [u32],
    base: u64,
    at: usize,
    state: State,
}

/// Decode a stream that begins at the address `base`, with a header.
pub fn decode(words: &[u32], base: u64) -> Lines<'_> {
    Lines {
        words,
        base,
        at: 0,
        state: State::Between { after: false },
    }
}

impl Lines<'_> {
    /// Decode a dword where a header may be.
    fn begin(&mut self, word: u32, after: bool) -> (Meaning, Option<Note>) {
        let aligned = self.at % 4 == 0;
        if let (true, Some(code)) = (aligned, header_code(word)) {
            self.state = State::Header {
                code,
                at: 1,
                first: word,
                count: 0,
            };
            let window = [mmio::CR_SPACE, mmio::SPACE_3D]
                .iter()
                .any(|space| space.at(0) == Some(word & 0xffff));
            let wrong = matches!(u32::from(code), header::PARAMETERS | header::BRANCH) && !window;
            return (Meaning::Header(code), wrong.then_some(Note::WrongWindow));
        }
        if is_null(word) {
            (Meaning::Padding, None)
        } else if after && !aligned {
            (Meaning::Padding, Some(Note::Excess))
        } else {
            (Meaning::Unknown, Some(Note::NoHeader))
        }
    }

    /// Decode dword `at` of a header.
    fn header(
        &mut self,
        word: u32,
        code: u8,
        at: u8,
        first: u32,
        count: u32,
    ) -> (Meaning, Option<Note>) {
        let kind = u32::from(code);
        let windowed = matches!(
            kind,
            header::PARAMETERS | header::BRANCH | header::SECOND_BRANCH_ASSUMED
        );
        let count = if at == 1 { word } else { count };
        self.state = State::Header {
            code,
            at: at + 1,
            first: if at == 2 { word } else { first },
            count,
        };
        match at {
            1 if windowed => {
                let known = [mmio::CR_SETTING, mmio::SETTING_3D].contains(&word);
                (Meaning::Window, (!known).then_some(Note::WrongWindow))
            }
            1 if kind == header::DEBUG => (Meaning::Tag, None),
            1 => (Meaning::Count, None),
            2 if windowed => (Meaning::Setting, None),
            2 if kind == header::VERTEX_DATA => (Meaning::Setting, None),
            2 => (Meaning::Tag, None),
            _ => {
                let none = State::Between { after: true };
                self.state = match kind {
                    header::PARAMETERS => State::Parameters {
                        setting: first,
                        count: 0,
                    },
                    _ if windowed || kind == header::DEBUG || count == 0 => none,
                    header::HOST_DATA_2D | header::VERTEX_DATA => State::Counted {
                        left: count,
                        to: None,
                    },
                    header::VIDEO_DATA => {
                        // The third dword is in `first` now, so the register is looked up in the stream.
                        let to = self.words[self.at - 3] & 0xffff;
                        State::Counted {
                            left: count,
                            to: Some(to),
                        }
                    }
                    _ => State::Pairs {
                        left: count,
                        offset: None,
                    },
                };
                (Meaning::Tag, None)
            }
        }
    }

    /// Decode the parameter of that number behind a setting.
    fn parameter(word: u32, setting: u32, count: u32) -> (Meaning, Option<Note>) {
        let kind = cr_setting::HPARATYPE.get(setting) as u8;
        let subtype = cr_setting::HPARASUBTYPE.get(setting) as u8;
        let Some(space) = parameters(kind, subtype) else {
            return match u32::from(kind) {
                para_type::DUMMY => (Meaning::Padding, None),
                _ => (Meaning::Data, Some(Note::UnknownParameters)),
            };
        };
        let known = |place| DATABASE.by_offset(space, place).is_some();
        match u32::from(kind) {
            para_type::VERTEX => return (Meaning::Data, None),
            para_type::TABLE => {
                let place = cr_setting::HPARAADR.get(setting).saturating_add(count);
                return match known(place) {
                    true => (Meaning::Entry(space, place), None),
                    // Behind the table's end.
                    false if is_null(word) => (Meaning::Padding, None),
                    false => (Meaning::Entry(space, place), Some(Note::UnknownPlace)),
                };
            }
            _ => {}
        }
        if is_null(word) {
            return (Meaning::Padding, None);
        }
        let place = word >> 24;
        (
            Meaning::Value(space, place),
            (!known(place)).then_some(Note::UnknownPlace),
        )
    }
}

impl Iterator for Lines<'_> {
    type Item = Line;

    fn next(&mut self) -> Option<Line> {
        let word = *self.words.get(self.at)?;
        let (meaning, note) = match self.state {
            State::Between { after } => self.begin(word, after),
            State::Header {
                code,
                at,
                first,
                count,
            } => self.header(word, code, at, first, count),
            State::Pairs { left, offset: None } => {
                self.state = State::Pairs {
                    left,
                    offset: Some(word),
                };
                let known = DATABASE.by_offset(Domain::MMIO, word).is_some();
                (Meaning::Offset, (!known).then_some(Note::UnknownPlace))
            }
            State::Pairs {
                left,
                offset: Some(offset),
            } => {
                self.state = match left {
                    1 => State::Between { after: true },
                    _ => State::Pairs {
                        left: left - 1,
                        offset: None,
                    },
                };
                (Meaning::Value(Domain::MMIO, offset), None)
            }
            State::Counted { left, to } => {
                self.state = match left {
                    1 => State::Between { after: true },
                    _ => State::Counted { left: left - 1, to },
                };
                let value = |offset| Meaning::Value(Domain::MMIO, offset);
                (to.map_or(Meaning::Data, value), None)
            }
            State::Parameters { setting, count } => {
                if self.at % 4 == 0 && header_code(word).is_some() {
                    self.begin(word, true)
                } else {
                    self.state = State::Parameters {
                        setting,
                        count: count.saturating_add(1),
                    };
                    Self::parameter(word, setting, count)
                }
            }
        };
        let last = self.at + 1 == self.words.len();
        let open = matches!(
            self.state,
            State::Header { .. } | State::Pairs { .. } | State::Counted { .. }
        );
        let line = Line {
            address: self.base.wrapping_add(self.at as u64 * 4),
            word,
            note: note.or((last && open).then_some(Note::Truncated)),
            meaning,
        };
        self.at += 1;
        Some(line)
    }
}
