// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What must hold of the Chrome9 database: nothing that the manual describes is missing.
//! `manual-entries-chrome9.txt` is a list made from the manual's text. `databases.rs` has what must hold of every database.

use std::collections::BTreeMap;

use lapidary_registers::chrome9::{DATABASE, domain, enums, mmio, para_10, para_11, parameters};
use lapidary_registers::{Domain, Register};

/// Return line, address space and place of each entry of the manual.
fn manual_entries() -> Vec<(u32, Domain, u32)> {
    include_str!("../manual-entries-chrome9.txt")
        .lines()
        .filter(|l| !l.starts_with('#'))
        .map(|l| {
            let mut words = l.split(' ');
            let mut next = || words.next().expect("line, space and place");
            let line = next().parse().expect("a line number");
            let space = next();
            let space = *DATABASE
                .domains
                .iter()
                .find(|d| d.name() == space)
                .unwrap_or_else(|| panic!("no space {space}"));
            (
                line,
                space,
                u32::from_str_radix(next(), 16).expect("a place"),
            )
        })
        .collect()
}

/// Return the first line of the manual's text that a register's source names.
fn manual_line(r: &Register) -> Option<u32> {
    let rest = r.source.strip_prefix("seed:L")?;
    rest.split([' ', ',', '-']).next()?.parse().ok()
}

#[test]
fn every_entry_of_the_manual_is_there() {
    for (line, space, place) in manual_entries() {
        let found = DATABASE.by_offset(space, place);
        assert!(found.is_some(), "L{line}: {space:?} {place:#x}");
    }
}

#[test]
fn sources_name_the_line_where_an_entry_begins() {
    let mut wrong = Vec::new();
    for (line, space, place) in manual_entries() {
        let (r, index) = DATABASE.by_offset(space, place).expect("checked above");
        // Elements of an array share the source of the first one.
        if index == 0 && manual_line(r) != Some(line) {
            wrong.push(format!("L{line} {}: {}", r.name, r.source));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The counts of entries are those of the manual's chapters.
#[test]
fn the_counts_are_those_of_the_manual() {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, space, _) in manual_entries() {
        *counts.entry(space.name()).or_default() += 1;
    }
    for (space, count) in [
        // Display, regulator, capture, HQV.
        ("mmio", 84 + 6 + 22 + 38),
        // 86, and 74h, which is reserved by itself.
        ("para_01", 87),
        ("para_02_stage", 12),
        ("para_02_sample", 5),
        ("para_02_general", 17),
        ("para_04", 45),
        ("para_10", 32),
        ("para_11", 26),
    ] {
        assert_eq!(counts[space], count, "{space}");
    }
}

/// Registers whose header the manual's text lost are there, and say that they are lost.
#[test]
fn lost_registers_are_marked() {
    for (space, place) in [
        (Domain::MMIO, 0x12b4),
        (Domain::MMIO, 0x12b8),
        (Domain::MMIO, 0x12bc),
        (Domain::MMIO, 0x394),
        (Domain::MMIO, 0x13b4),
        (domain::PARA_01, 0x14),
        (domain::PARA_01, 0x15),
        (domain::PARA_01, 0x16),
        (domain::PARA_01, 0x21),
        (domain::PARA_02_STAGE, 0x20),
        (domain::PARA_02_SAMPLE, 0x37),
        (domain::PARA_02_SAMPLE, 0x51),
        (domain::PARA_03_12, 0),
        (domain::PARA_04, 0x2f),
    ] {
        let (r, _) = DATABASE.by_offset(space, place).expect("a register");
        assert!(r.doc.starts_with("Lost in the text"), "{}", r.doc);
        assert!(
            manual_entries()
                .iter()
                .all(|e| (e.1, e.2) != (space, place))
        );
    }
}

/// A parameter with a sub-address has 24 bits, because the sub-address is in the others.
#[test]
fn parameters_leave_room_for_their_sub_address() {
    for r in DATABASE.registers {
        let name = r.domain.name();
        let sub = name.starts_with("para_")
            && !name.starts_with("para_00")
            && !name.starts_with("para_03");
        for f in r.fields.iter().filter(|_| sub) {
            assert!(f.field.mask() >> 24 == 0, "{}.{}", r.name, f.name);
        }
        assert!(
            !sub || r.offset + (r.len - 1) * r.stride <= 0xff,
            "{}",
            r.name
        );
    }
}

/// The regulator's types have parameters; those that the manual reserves have none.
#[test]
fn types_that_the_manual_reserves_have_no_parameters() {
    assert_eq!(parameters(0x04, 0), Some(domain::PARA_04));
    assert_eq!(parameters(0x10, 0), Some(domain::PARA_10));
    assert_eq!(parameters(0x11, 0), Some(domain::PARA_11));
    for kind in (0x05..=0x0f).chain(0x12..=0xfd).chain([0xff]) {
        assert_eq!(parameters(kind, 0), None, "{kind:#x}");
    }
    let subtypes = |kind| {
        (0..=0xff)
            .filter(|s| parameters(kind, *s).is_some())
            .count()
    };
    assert_eq!(subtypes(0x02), 16 + 16 + 1, "stages, samples, general");
    assert_eq!(subtypes(0x03), 10, "tables");
}

/// The addresses of the ring and of branches, as the driver and the model will use them.
#[test]
fn the_ring_and_its_fences_are_where_public_drivers_have_them() {
    assert_eq!(
        (mmio::CR_SETTING, mmio::CR_SPACE.at(0)),
        (0x41c, Some(0x420))
    );
    assert_eq!(
        (mmio::SETTING_3D, mmio::SPACE_3D.at(0)),
        (0x43c, Some(0x440))
    );
    assert_eq!(
        (para_10::AGP_PAUSE_LOW, para_10::AGP_PAUSE_HIGH),
        (0x64, 0x65)
    );
    assert_eq!((para_11::FENCE_1, para_11::FENCE_4), (0x04, 0x07));
    assert_eq!((para_11::BRANCH_1, para_11::BRANCH_4), (0x68, 0x6b));
    assert_eq!(
        (enums::location::SYSTEM_LOCAL, enums::location::RESERVED),
        (0, 3)
    );
}

/// What the manual leaves open is decided, each point once.
#[test]
fn every_gap_is_decided() {
    let mut numbers: Vec<_> = DATABASE.decisions.iter().map(|d| d.number).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=17).collect::<Vec<u32>>());
}
