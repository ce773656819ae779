// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Whatever is in a stream, each of its dwords becomes one line.

use lapidary_decoder::{Note, Options, Ring, decode_engine, decode_stream};
use lapidary_registers::{DATABASES, Database, r500};
use proptest::prelude::*;

/// Return the dwords that look like a stream of one of the families more often than not.
fn word() -> impl Strategy<Value = u32> {
    let opcodes: Vec<u8> = DATABASES
        .iter()
        .flat_map(|d| d.packets)
        .map(|p| p.opcode)
        .collect();
    prop_oneof![
        any::<u32>(),
        (0_u32..12, prop::sample::select(opcodes))
            .prop_map(|(count, opcode)| (3 << 30) | (count << 16) | (u32::from(opcode) << 8)),
        (0_u32..4, 0_u32..0x2000).prop_map(|(count, register)| (count << 16) | register),
        0_u32..16,
        (0_u32..16, 0_u32..16, any::<u16>())
            .prop_map(|(brush, flags, rest)| { flags | (brush << 4) | (u32::from(rest) << 8) }),
    ]
}

/// Return the dwords that look like a stream of an engine with an operation in bits 31:28 more often than not.
fn command() -> impl Strategy<Value = u32> {
    prop_oneof![
        any::<u32>(),
        (0_u32..16, 0_u32..4, 0_u32..12)
            .prop_map(|(op, flags, count)| (op << 28) | (flags << 22) | count),
        0_u32..16,
    ]
}

/// Return the packets of a stream by their headers alone: (index, body dwords announced).
fn headers(database: &Database, words: &[u32]) -> Vec<(usize, usize)> {
    let pair = database.layout("TYPE1").map_or(0, |_| 2);
    let mut list = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let body = match words[at] >> 30 {
            0 | 3 => ((words[at] >> 16) & 0x3fff) as usize + 1,
            1 => pair,
            _ => 0,
        };
        list.push((at, body));
        at += 1 + body;
    }
    list
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn each_dword_is_one_line(words in prop::collection::vec(word(), 0..100), base in 0_u64..1 << 40) {
        for database in DATABASES {
            let lines: Vec<_> = decode_stream(database, &words, Options { base, ring: None }).collect();
            prop_assert_eq!(lines.len(), words.len());
            for (n, line) in lines.iter().enumerate() {
                prop_assert_eq!((line.address, line.word), (base + n as u64 * 4, words[n]));
                let text = line.to_string();
                prop_assert!(!text.contains('\n') && text.contains(&format!("{:08x}", words[n])), "{}", text);
            }
        }
    }

    #[test]
    fn each_dword_of_an_engine_is_one_line(words in prop::collection::vec(command(), 0..100)) {
        for database in DATABASES {
            for engine in database.engines {
                let lines: Vec<_> = decode_engine(database, engine, &words, Options::default()).collect();
                prop_assert_eq!(lines.iter().map(|l| l.word).collect::<Vec<_>>(), words.clone());
                for (n, line) in lines.iter().enumerate() {
                    let text = line.to_string();
                    prop_assert!(!text.contains('\n') && text.contains(&format!("{:08x}", words[n])), "{}", text);
                    // The contents say how long a packet is, so nothing is too short or too long for it.
                    prop_assert!(!matches!(line.note, Some(Note::Short(_) | Note::Excess | Note::BadCount(_))), "{}", text);
                }
                // What is cut off is the end.
                let cut = lines.iter().position(|l| matches!(l.note, Some(Note::Truncated { .. })));
                if let Some(cut) = cut {
                    prop_assert!(lines[cut + 1..].iter().all(|l| !l.is_header()));
                }
            }
        }
    }

    #[test]
    fn an_engine_s_packets_are_as_long_as_alone(words in prop::collection::vec(command(), 1..60)) {
        for database in DATABASES {
            for engine in database.engines {
                let lines: Vec<_> = decode_engine(database, engine, &words, Options::default()).collect();
                let starts: Vec<usize> = (0..lines.len()).filter(|&n| lines[n].is_header()).collect();
                for (i, &start) in starts.iter().enumerate() {
                    let end = starts.get(i + 1).copied().unwrap_or(words.len());
                    let alone = decode_engine(database, engine, &words[start..end], Options::default());
                    prop_assert_eq!(alone.filter(|l| l.is_header()).count(), 1);
                    if lines[start].note.is_none() && end > start + 1 {
                        let cut = decode_engine(database, engine, &words[start..end - 1], Options::default()).next();
                        let cut = matches!(cut.and_then(|l| l.note), Some(Note::Truncated { .. }));
                        prop_assert!(cut, "dword {}", start);
                    }
                }
            }
        }
    }

    #[test]
    fn headers_are_where_the_counts_say(words in prop::collection::vec(word(), 0..100)) {
        // A family without PM4 packets has no headers.
        for database in DATABASES.iter().filter(|d| d.headers().is_some()) {
            let lines: Vec<_> = decode_stream(database, &words, Options::default()).collect();
            // A type that the family lacks is no header, and a dword by itself.
            let is_header = |n: &usize| lines[*n].is_header() || lines[*n].note == Some(Note::NoSuchType);
            let found: Vec<usize> = (0..lines.len()).filter(is_header).collect();
            let expected = headers(database, &words);
            prop_assert_eq!(found, expected.iter().map(|h| h.0).collect::<Vec<_>>());
            // A packet that goes on beyond the stream says so in its header; no other does.
            for (at, body) in expected {
                let cut = at + 1 + body > words.len();
                prop_assert_eq!(matches!(lines[at].note, Some(Note::Truncated { .. })), cut);
            }
        }
    }

    #[test]
    fn rings_are_read_round_their_end(
        words in prop::collection::vec(word(), 1..64), read in 0_usize..200, write in 0_usize..200,
    ) {
        let (from, to) = (read % words.len(), write % words.len());
        let mut valid = Vec::new();
        let mut at = from;
        while at != to {
            valid.push(words[at]);
            at = (at + 1) % words.len();
        }
        let options = Options { base: 0x100, ring: Some(Ring { read, write }) };
        let lines: Vec<_> = decode_stream(&r500::DATABASE, &words, options).collect();
        prop_assert_eq!(lines.iter().map(|l| l.word).collect::<Vec<_>>(), valid.clone());
        for (n, line) in lines.iter().enumerate() {
            prop_assert_eq!(line.address, 0x100 + ((from + n) % words.len()) as u64 * 4);
        }
        // The same text as if the dwords lay one after the other, but for the addresses.
        let straight: Vec<String> =
            decode_stream(&r500::DATABASE, &valid, Options::default()).map(|l| l.to_string()[8..].to_string()).collect();
        prop_assert_eq!(lines.iter().map(|l| l.to_string()[8..].to_string()).collect::<Vec<_>>(), straight);
    }
}

#[test]
fn empty_streams_and_rings() {
    assert_eq!(
        decode_stream(&r500::DATABASE, &[], Options::default()).count(),
        0
    );
    let ring = |read, write| Options {
        base: 0,
        ring: Some(Ring { read, write }),
    };
    assert_eq!(decode_stream(&r500::DATABASE, &[], ring(1, 2)).count(), 0);
    assert_eq!(
        decode_stream(&r500::DATABASE, &[0; 4], ring(2, 2)).count(),
        0
    );
    assert_eq!(
        decode_stream(&r500::DATABASE, &[0; 4], ring(3, 2)).count(),
        3
    );
}

#[test]
fn the_longest_packet() {
    // A bitmap of 0x3fff dwords needs more than the body can have: cut off at its end, without fuss.
    let mut words = vec![0xffff_9400, 0x43cc_46f0, 0, 0, 0, 0x0008_0008, 0x3fff];
    words.resize(0x4001, 0x5555_5555);
    let lines: Vec<_> = decode_stream(&r500::DATABASE, &words, Options::default()).collect();
    assert_eq!(lines.len(), 0x4001);
    assert_eq!(
        lines.last().and_then(|l| l.note),
        Some(Note::Short("RASTER"))
    );
}
