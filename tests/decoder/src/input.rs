// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Reads streams from files: raw dwords, text with hexadecimal numbers, or recordings of
//! [`lapidary_streams`].

use anyhow::{Context, Result, bail};

/// How a file holds dwords.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Little-endian, four bytes each.
    Raw,
    /// Hexadecimal numbers, with or without `0x`, between blanks or commas. `#` and `//` begin a comment; `address:`
    /// at the beginning of a line is skipped.
    Hex,
    /// A submission that was recorded from a client.
    Recording,
}

impl Format {
    /// Return a recording if it is one, text if everything in it could be, else raw.
    pub fn guess(bytes: &[u8]) -> Format {
        if std::str::from_utf8(bytes).is_ok_and(|text| lapidary_streams::parse(text).is_ok()) {
            return Format::Recording;
        }
        let text = !bytes.is_empty()
            && bytes
                .iter()
                .all(|&b| matches!(b, b'\t' | b'\n' | b'\r' | b' '..=b'~'))
            && std::str::from_utf8(bytes).is_ok_and(|text| hex(text).is_ok());
        if text { Format::Hex } else { Format::Raw }
    }
}

/// Return the dwords of a file.
///
/// # Errors
/// If raw data is not a number of whole dwords, text is not hexadecimal numbers of at most 32 bits, or a
/// recording does not have its form.
pub fn dwords(bytes: &[u8], format: Format) -> Result<Vec<u32>> {
    match format {
        Format::Raw => raw(bytes),
        Format::Hex => hex(std::str::from_utf8(bytes).context("not a text")?),
        Format::Recording => {
            let text = std::str::from_utf8(bytes).context("not a text")?;
            Ok(lapidary_streams::parse(text)?.words)
        }
    }
}

fn raw(bytes: &[u8]) -> Result<Vec<u32>> {
    let words: Vec<u32> = bytes
        .chunks_exact(4)
        .map(|c| {
            c.iter()
                .rev()
                .fold(0, |word, &byte| (word << 8) | u32::from(byte))
        })
        .collect();
    if words.len() * 4 != bytes.len() {
        bail!("{} bytes are not a number of whole dwords", bytes.len());
    }
    Ok(words)
}

fn hex(text: &str) -> Result<Vec<u32>> {
    let mut words = Vec::new();
    for (n, line) in text.lines().enumerate() {
        let line = line
            .split("//")
            .next()
            .unwrap_or("")
            .split('#')
            .next()
            .unwrap_or("");
        let line = match line.split_once(':') {
            Some((address, rest)) if is_number(address.trim()) => rest,
            _ => line,
        };
        for word in line.split([' ', '\t', ',']).filter(|w| !w.is_empty()) {
            let digits = word
                .strip_prefix("0x")
                .or(word.strip_prefix("0X"))
                .unwrap_or(word);
            let value = u32::from_str_radix(digits, 16)
                .with_context(|| format!("line {}: `{word}` is not a hexadecimal dword", n + 1))?;
            words.push(value);
        }
    }
    Ok(words)
}

fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_dwords_are_little_endian() {
        assert_eq!(
            raw(&[1, 2, 3, 4, 5, 0, 0, 0x80]).unwrap(),
            [0x0403_0201, 0x8000_0005]
        );
        assert!(raw(&[1, 2, 3]).is_err());
    }

    #[test]
    fn hex_with_comments_and_addresses() {
        let text = "# a stream\n00000000: 0x05C8, 50000 // wait\n\n 0x10:80000000\n";
        assert_eq!(hex(text).unwrap(), [0x05c8, 0x5_0000, 0x8000_0000]);
        let error = hex("1\nxyz").unwrap_err().to_string();
        assert_eq!(error, "line 2: `xyz` is not a hexadecimal dword");
        assert!(hex("123456789").is_err());
    }

    #[test]
    fn guesses() {
        assert_eq!(Format::guess(b"c0001000 0\n"), Format::Hex);
        assert_eq!(Format::guess(&[0xc8, 5, 0, 0]), Format::Raw);
        assert_eq!(Format::guess(b"abcdxyz!"), Format::Raw);
        let recording = b"program clear\nflags 1\nring 0\nwords 1\n80000000\n";
        assert_eq!(Format::guess(recording), Format::Recording);
        assert_eq!(dwords(recording, Format::Recording).unwrap(), [0x8000_0000]);
        assert_eq!(Format::guess(b""), Format::Raw);
    }
}
