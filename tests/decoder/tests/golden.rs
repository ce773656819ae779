// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Streams whose text is known: `streams/NAME.hex` must decode to `streams/NAME.txt`.
//!
//! To look at a difference: `pm4-decode streams/NAME.hex | diff streams/NAME.txt -`, with `--family r600` or `r700`
//! and `--engine dma` as the test has it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use lapidary_decoder::input::{Format, dwords};
use lapidary_decoder::{Decoder, Options, decode_engine, decode_stream};
use lapidary_registers::{Database, r500, r600};

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
    compare(name, decode_stream(&r500::DATABASE, &words(name), options));
}

/// Check as `check` does, with another family.
#[track_caller]
fn check_of(database: &'static Database, name: &str) {
    compare(
        name,
        decode_stream(database, &words(name), Options::default()),
    );
}

/// Check as `check` does, with the DMA engine.
#[track_caller]
fn check_dma(database: &'static Database, name: &str) {
    let engine = database.engine("dma").expect("a DMA engine");
    compare(
        name,
        decode_engine(database, engine, &words(name), Options::default()),
    );
}

#[track_caller]
fn compare(name: &str, lines: Decoder<'_>) {
    let text: Vec<String> = lines.map(|line| line.to_string()).collect();
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

/// The good streams of a map: what both maps have, and what only this one has.
const R6XX: [&str; 4] = ["r600-state", "r600-draws", "r600-control", "r600-only"];
const R7XX: [&str; 4] = ["r600-state", "r600-draws", "r600-control", "r700-only"];

#[test]
fn r600_packets() {
    for name in R6XX {
        check_of(&r600::R6XX, name);
    }
}

#[test]
fn r700_packets() {
    for name in R7XX {
        check_of(&r600::R7XX, name);
    }
}

#[test]
fn r600_broken() {
    check_of(&r600::R6XX, "r600-broken");
}

#[test]
fn dma_packets_of_both_maps() {
    check_dma(&r600::R6XX, "r600-dma");
    check_dma(&r600::R7XX, "r700-dma");
    check_dma(&r600::R6XX, "r600-dma-broken");
}

/// A packet that only the other map has is unknown.
#[test]
fn a_map_has_its_own_packets_only() {
    let unknown = |database, name: &str| {
        decode_stream(database, &words(name), Options::default())
            .filter(|line| line.note.is_some())
            .count()
    };
    assert_eq!(unknown(&r600::R7XX, "r600-only"), 2);
    assert_eq!(unknown(&r600::R6XX, "r700-only"), 2);
}

/// Every packet of both maps and of their DMA engines is in a good stream of the map, which has no note.
#[test]
fn every_packet_of_r600_and_r700_is_covered() {
    for (database, names, dma) in [
        (&r600::R6XX, R6XX, "r600-dma"),
        (&r600::R7XX, R7XX, "r700-dma"),
    ] {
        let mut seen = BTreeSet::new();
        for name in names {
            for line in decode_stream(database, &words(name), Options::default()) {
                assert!(line.note.is_none(), "{name}: {line}");
                if line.is_header() && line.word >> 30 == 3 {
                    seen.insert((line.word >> 8) as u8);
                }
            }
        }
        let all: BTreeSet<u8> = database.packets.iter().map(|p| p.opcode).collect();
        assert_eq!(seen, all, "{database:?}");

        let engine = database.engine("dma").expect("a DMA engine");
        let mut seen = BTreeSet::new();
        for line in decode_engine(database, engine, &words(dma), Options::default()) {
            assert!(line.note.is_none(), "{dma}: {line}");
            if line.is_header() {
                seen.insert(engine.packet(line.word).expect("a packet").opcode);
            }
        }
        let all: BTreeSet<u8> = engine.packets.iter().map(|p| p.opcode).collect();
        assert_eq!(seen, all, "{database:?}");
    }
}
