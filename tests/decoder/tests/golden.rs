// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Streams whose text is known: `streams/NAME.hex` must decode to `streams/NAME.txt`.
//!
//! To look at a difference: `pm4-decode streams/NAME.hex | diff streams/NAME.txt -`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use lapidary_decoder::input::{Format, dwords};
use lapidary_decoder::{Options, decode_stream};
use lapidary_registers::r500;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/streams")
}

fn words(name: &str) -> Vec<u32> {
    let bytes = fs::read(folder().join(name).with_extension("hex")).expect("a stream");
    dwords(&bytes, Format::Hex).expect("hexadecimal dwords")
}

#[track_caller]
fn check(name: &str, base: u64) {
    let options = Options { base, ring: None };
    let text: Vec<String> = decode_stream(&r500::DATABASE, &words(name), options)
        .map(|line| line.to_string())
        .collect();
    let expected = fs::read_to_string(folder().join(name).with_extension("txt")).expect("the text");
    for (n, (got, want)) in text.iter().zip(expected.lines()).enumerate() {
        assert_eq!(got, want, "{name}, line {}", n + 1);
    }
    assert_eq!(text.len(), expected.lines().count(), "{name}");
}

#[test]
fn fill() {
    check("fill", 0);
}

#[test]
fn text() {
    check("text", 0x1000);
}

#[test]
fn lines() {
    check("lines", 0);
}

#[test]
fn draw() {
    check("draw", 0);
}

#[test]
fn control() {
    check("control", 0x1_0000_0000);
}

#[test]
fn broken() {
    check("broken", 0);
}

#[test]
fn good_streams_have_no_notes() {
    for name in ["fill", "text", "lines", "draw", "control"] {
        for line in decode_stream(&r500::DATABASE, &words(name), Options::default()) {
            assert!(line.note.is_none(), "{name}: {line}");
        }
    }
}

/// Every packet of the database is in a good stream, so that the body of each has been looked at.
#[test]
fn every_packet_is_covered() {
    let mut seen = BTreeSet::new();
    for name in ["fill", "text", "lines", "draw", "control"] {
        for line in decode_stream(&r500::DATABASE, &words(name), Options::default()) {
            if line.is_header() && line.word >> 30 == 3 {
                seen.insert((line.word >> 8) as u8);
            }
        }
    }
    let all: BTreeSet<u8> = r500::PACKETS.iter().map(|p| p.opcode).collect();
    assert_eq!(seen, all);
    assert!(r500::PACKETS.iter().filter(|p| p.in_manual).count() == 28);
}
