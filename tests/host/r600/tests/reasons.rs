// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Numbers of refusals are part of the user interface: each is used once, and stays.

use r600::portable::checker::reason::Reason;
use std::{collections::BTreeSet, fs, path::Path};

#[test]
fn every_reason_has_a_number_of_its_own() {
    let numbers: BTreeSet<u32> = Reason::ALL.iter().map(|reason| reason.number()).collect();
    assert_eq!(numbers.len(), Reason::ALL.len());
    // What all checkers share, and this family's.
    assert!(numbers
        .iter()
        .all(|number| (0x1001..0x1020).contains(number) || (0x2000..0x3000).contains(number)));
    // What INFO has room for.
    assert!(Reason::ALL
        .iter()
        .all(|reason| reason.text().is_ascii() && reason.text().len() < 104));
}

/// What user space may have written down. To be added to, never to be changed.
#[test]
fn numbers_stay() {
    for (reason, number) in [
        (Reason::TooManyFixups, 0x1001),
        (Reason::MissingRelocation, 0x1012),
        (Reason::ForbiddenBits, 0x2000),
        (Reason::Type0, 0x2010),
        (Reason::UnknownRegister, 0x2020),
        (Reason::UnknownOperation, 0x2030),
        (Reason::TilingMode, 0x2040),
        (Reason::TiledBounds, 0x2047),
        (Reason::PacketRegister, 0x2026),
        (Reason::ScissorBounds, 0x2057),
        (Reason::ColorBounds, 0x2065),
        (Reason::HtileBounds, 0x2076),
        (Reason::RingBounds, 0x2086),
        (Reason::StreamOutBase, 0x2093),
    ] {
        assert_eq!(reason.number(), number, "{reason:?}");
    }
}

/// Return the text of all tests in a folder and its folders, but this file.
fn tests(folder: &Path) -> String {
    let mut text = String::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            text.push_str(&tests(&path));
        } else if !path.ends_with("reasons.rs") {
            text.push_str(&fs::read_to_string(&path).expect("a text"));
        }
    }
    text
}

/// A refusal that no test expects has no rule that a test would miss.
#[test]
fn every_reason_is_expected_by_a_test() {
    let text = tests(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests"));
    let words: BTreeSet<&str> = text
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .collect();
    let missing: Vec<String> = Reason::ALL
        .iter()
        .map(|reason| format!("{reason:?}"))
        .filter(|name| !words.contains(name.as_str()))
        .collect();
    assert!(missing.is_empty(), "no test expects {missing:?}");
}
