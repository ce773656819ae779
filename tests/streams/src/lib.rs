// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Command submissions of real clients, as text files.
//!
//! A client of a `radeon` device hands the kernel three things per submission: flags and ring, a list
//! of objects ("relocations"), and the command words. A recording keeps exactly that, without handles
//! and addresses, so that the same submission can be made again: judged by a checker, replayed on a
//! device, or mutated by a fuzzer.
//!
//! The file format is line oriented:
//!
//! ```text
//! # a comment
//! program triangle
//! flags 1
//! ring 0
//! object 40000 3 4 4
//! object 1000 0 2 2
//! words 9
//! 000005c8 00050000 c0001000 00000000 80000000 80000000 80000000 80000000
//! 80000000
//! ```
//!
//! `object` gives size in bytes, tiling flags, read domains and write domain of one entry of the
//! relocation list, in order; an object that is listed twice has two lines. All numbers are hexadecimal
//! without prefix, except `ring` and the count after `words`, which are decimal. [`Stream`] parses and
//! prints it; [`read_dir`] takes a folder of such files, where a test program is told of by the
//! environment variable [`VARIABLE`]. [`replay`] executes recordings on a model of a chip.

mod dir;
mod parse;
pub mod replay;

pub use dir::{Recording, from_environment, of_chips, read_dir};
pub use parse::ParseError;

use std::fmt;

/// Environment variable that names a folder of recordings.
pub const VARIABLE: &str = "LAPIDARY_STREAMS";

/// File name extension of a recording.
pub const EXTENSION: &str = "cs";

/// Longest stream a file may hold, in dwords: 4 MiB, far more than any driver takes.
pub const MAX_WORDS: usize = 1 << 20;

/// One submission.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stream {
    /// Which program made it: one word of printable ASCII.
    pub program: String,
    /// First dword of the flags chunk (`RADEON_CS_*`), 0 if there was none.
    pub flags: u32,
    /// Second dword of the flags chunk: the ring, 0 for graphics.
    pub ring: u32,
    /// The relocation list.
    pub objects: Vec<Object>,
    /// The command words.
    pub words: Vec<u32>,
}

/// One entry of the relocation list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Object {
    /// The object's bytes, as it was created (whole pages).
    pub size: u64,
    /// Tiling flags stored with the object at the time (`RADEON_TILING_*`), 0 if never set.
    pub tiling: u32,
    /// Domains it may be read in (2 GTT, 4 VRAM).
    pub read: u32,
    /// Domain it may be written in, 0 if the submission only reads it.
    pub write: u32,
}

impl fmt::Display for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "program {}", self.program)?;
        writeln!(f, "flags {:x}", self.flags)?;
        writeln!(f, "ring {}", self.ring)?;
        for object in &self.objects {
            writeln!(
                f,
                "object {:x} {:x} {:x} {:x}",
                object.size, object.tiling, object.read, object.write
            )?;
        }
        writeln!(f, "words {}", self.words.len())?;
        for line in self.words.chunks(8) {
            let mut separator = "";
            for word in line {
                write!(f, "{separator}{word:08x}")?;
                separator = " ";
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

impl std::str::FromStr for Stream {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Stream, ParseError> {
        parse(text)
    }
}

/// Read one recording.
///
/// # Errors
/// Names the line and what is wrong with it: an unknown keyword, a missing or repeated header line, a
/// number that does not fit, fewer or more words than announced, more than [`MAX_WORDS`].
pub fn parse(text: &str) -> Result<Stream, ParseError> {
    parse::stream(text)
}
