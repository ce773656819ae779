// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The reader of the text form. Header lines come in any order, but each but `object` exactly once, and
//! `words` last: everything after it is data.

use crate::{MAX_WORDS, Object, Stream};
use std::collections::HashSet;

/// Why a text is no recording.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// A line is wrong.
    #[error("line {line}: {what}")]
    Line {
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
        what: String,
    },
    /// The text ended before this was there.
    #[error("no {0}")]
    Missing(&'static str),
    /// The text ended too early.
    #[error("{found} words instead of {announced}")]
    Short {
        /// What `words` said.
        announced: usize,
        /// What followed.
        found: usize,
    },
}

pub(crate) fn stream(text: &str) -> Result<Stream, ParseError> {
    let mut stream = Stream::default();
    let mut seen = HashSet::new();
    let mut announced = None;
    for (number, line) in text.lines().enumerate() {
        let fail = |what: String| ParseError::Line {
            line: number + 1,
            what,
        };
        let line = line.split('#').next().unwrap_or("");
        let mut fields = line.split_ascii_whitespace();
        if let Some(announced) = announced {
            for field in fields {
                if stream.words.len() == announced {
                    return Err(fail(format!("more than the {announced} words announced")));
                }
                stream.words.push(hex(field).map_err(fail)?);
            }
            continue;
        }
        let Some(keyword) = fields.next() else {
            continue;
        };
        if keyword != "object" && !seen.insert(keyword) {
            return Err(fail(format!("a second `{keyword}`")));
        }
        let mut field = || fields.next().ok_or(format!("`{keyword}` lacks a value"));
        match keyword {
            "program" => stream.program = field().and_then(program).map_err(fail)?,
            "flags" => stream.flags = field().and_then(hex).map_err(fail)?,
            "ring" => stream.ring = field().and_then(decimal).map_err(fail)?,
            "object" => {
                let mut object = || {
                    Ok(Object {
                        size: field().and_then(hex64)?,
                        tiling: field().and_then(hex)?,
                        read: field().and_then(hex)?,
                        write: field().and_then(hex)?,
                    })
                };
                stream.objects.push(object().map_err(fail)?);
            }
            "words" => {
                let count = field().and_then(decimal).map_err(fail)? as usize;
                if count > MAX_WORDS {
                    return Err(fail(format!("{count} words; {MAX_WORDS} is the most")));
                }
                announced = Some(count);
            }
            other => return Err(fail(format!("unknown keyword `{other}`"))),
        }
        if let Some(more) = fields.next() {
            return Err(fail(format!("`{more}` does not belong here")));
        }
    }
    for needed in ["program", "flags", "ring", "words"] {
        if !seen.contains(needed) {
            return Err(ParseError::Missing(needed));
        }
    }
    let announced = announced.unwrap_or(0);
    if stream.words.len() != announced {
        return Err(ParseError::Short {
            announced,
            found: stream.words.len(),
        });
    }
    Ok(stream)
}

fn program(field: &str) -> Result<String, String> {
    if field.bytes().all(|byte| byte.is_ascii_graphic()) {
        Ok(field.to_owned())
    } else {
        Err(format!("`{field}` is no program name"))
    }
}

fn digits(field: &str) -> Result<&str, String> {
    // from_str_radix takes a sign.
    if field.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        Ok(field)
    } else {
        Err(format!("`{field}` is not a number"))
    }
}

fn hex(field: &str) -> Result<u32, String> {
    u32::from_str_radix(digits(field)?, 16)
        .map_err(|_| format!("`{field}` is not a hexadecimal number of 32 bits"))
}

fn hex64(field: &str) -> Result<u64, String> {
    u64::from_str_radix(digits(field)?, 16)
        .map_err(|_| format!("`{field}` is not a hexadecimal number of 64 bits"))
}

fn decimal(field: &str) -> Result<u32, String> {
    digits(field)?
        .parse()
        .map_err(|_| format!("`{field}` is not a decimal number of 32 bits"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "# made by hand\nprogram clear\nflags 1\nring 0\n\
        object 40000 3 4 4 # colour\nobject 1000 0 2 2\nwords 3\n000005c8 00050000\n80000000\n";

    #[test]
    fn a_recording() {
        let stream = stream(GOOD).unwrap();
        assert_eq!(stream.program, "clear");
        assert_eq!((stream.flags, stream.ring), (1, 0));
        assert_eq!(stream.objects.len(), 2);
        assert_eq!(
            stream.objects[0],
            Object {
                size: 0x40000,
                tiling: 3,
                read: 4,
                write: 4
            }
        );
        assert_eq!(stream.words, [0x5c8, 0x5_0000, 0x8000_0000]);
    }

    fn refused(text: &str, with: &str) {
        assert_eq!(stream(text).unwrap_err().to_string(), with);
    }

    #[test]
    fn errors_name_the_line_and_the_reason() {
        refused("", "no program");
        refused("program a\nflags 0\nwords 0\n", "no ring");
        refused("program a\nflags 0\nring 0\n", "no words");
        refused("program\n", "line 1: `program` lacks a value");
        refused("program a\nprogram b\n", "line 2: a second `program`");
        refused("flags 0 1\n", "line 1: `1` does not belong here");
        refused("flags +1\n", "line 1: `+1` is not a number");
        refused(
            "flags 100000000\n",
            "line 1: `100000000` is not a hexadecimal number of 32 bits",
        );
        refused(
            "ring 4294967296\n",
            "line 1: `4294967296` is not a decimal number of 32 bits",
        );
        refused("object 1 2 3\n", "line 1: `object` lacks a value");
        refused("color 1\n", "line 1: unknown keyword `color`");
        refused(
            "words 2000000\n",
            "line 1: 2000000 words; 1048576 is the most",
        );
        refused(&GOOD.replace("words 3", "words 4"), "3 words instead of 4");
        refused(
            &GOOD.replace("words 3", "words 2"),
            "line 9: more than the 2 words announced",
        );
        refused(
            &GOOD.replace("80000000", "8000000g"),
            "line 9: `8000000g` is not a number",
        );
    }
}
