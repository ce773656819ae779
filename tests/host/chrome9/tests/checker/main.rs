// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The checker of clients' streams: every rule with a stream that keeps it and the same stream with one dword changed that
//! breaks it, bounds byte by byte, addresses, and what the model makes of admitted streams.

mod bench;
mod bounds;
mod engine2d;
mod executed;
mod fixups;
mod rule;
mod stream;
mod support;

use std::collections::BTreeSet;

use chrome9::portable::checker::{check, most_fixups, Fixup, Reason};
use chrome9::portable::emit::PAD;
use chrome9::portable::policy;
use lapidary_registers::{chrome9::DATABASE, Domain};

use rule::{objects, Rule, PAGE};
use support::BLIT;

/// All rules, by topic.
const TOPICS: &[fn(&mut Vec<Rule>)] = &[
    stream::headers,
    stream::pairs,
    stream::windows,
    stream::relocations,
    engine2d::commands,
    engine2d::registers,
    engine2d::state,
    engine2d::bounds,
    engine2d::overlaps,
    engine2d::host,
];

/// Reasons that other tests break: they are not of one dword.
const ELSEWHERE: [Reason; 3] = [
    Reason::StreamLength,
    Reason::RelocationLength,
    Reason::TooManyFixups,
];

fn rules() -> Vec<Rule> {
    let mut rules = Vec::new();
    for topic in TOPICS {
        topic(&mut rules);
    }
    rules
}

#[test]
fn one_dword_decides() {
    let rules = rules();
    let broken: Vec<String> = rules.iter().filter_map(|rule| rule.test().err()).collect();
    assert!(
        broken.is_empty(),
        "{} of {}:\n{}",
        broken.len(),
        rules.len(),
        broken.join("\n")
    );
}

#[test]
fn every_reason_has_a_rule() {
    let tested: BTreeSet<Reason> = rules()
        .iter()
        .map(|rule| rule.reason)
        .chain(ELSEWHERE)
        .collect();
    let missing: Vec<_> = Reason::ALL
        .iter()
        .filter(|reason| !tested.contains(reason))
        .collect();
    assert!(missing.is_empty(), "no test breaks {missing:?}");
}

#[test]
fn lengths_are_whole_units_and_whole_relocations() {
    let stream = BLIT.stream();
    let refusal = |words: &[u32], relocations: &[u32], room: usize| {
        let mut fixups = vec![Fixup::default(); room];
        let refusal = check(words, relocations, &mut objects(&[PAGE, PAGE]), &mut fixups);
        let refusal = refusal.unwrap_err();
        (refusal.reason, refusal.position as usize)
    };
    let end = stream.words.len();
    let mut words = stream.words.clone();
    for more in 1..4 {
        words.push(PAD);
        assert_eq!(
            refusal(&words, &stream.relocations.concat(), 1),
            (Reason::StreamLength, end + more)
        );
    }
    let mut flat = stream.relocations.concat();
    flat.push(0);
    assert_eq!(
        refusal(&stream.words, &flat, 1),
        (Reason::RelocationLength, 1)
    );
    assert_eq!(
        refusal(&stream.words, &stream.relocations.concat(), 0),
        (
            Reason::TooManyFixups,
            stream.value_of(chrome9::portable::regs::mmio::DSTBASE)
        )
    );
    assert_eq!(most_fixups(7), 7);
    assert!(
        check(&[], &[], &mut [], &mut []) == Ok(0),
        "nothing is legal"
    );
}

#[test]
fn every_reason_has_a_number_of_its_own() {
    let numbers: BTreeSet<u32> = Reason::ALL.iter().map(|reason| reason.number()).collect();
    assert_eq!(numbers.len(), Reason::ALL.len());
    assert!(numbers.iter().all(|n| (0x4001..0x5000).contains(n)));
    assert!(Reason::ALL
        .iter()
        .all(|reason| reason.text().is_ascii() && reason.text().len() < 104));
}

/// What user space may have written down. To be added to, never to be changed.
#[test]
fn numbers_stay() {
    for (reason, number) in [
        (Reason::StreamLength, 0x4001),
        (Reason::NoHeader, 0x4003),
        (Reason::NestedBranch, 0x4006),
        (Reason::KernelType, 0x400c),
        (Reason::RelocationUnused, 0x4025),
        (Reason::PairRange, 0x4101),
        (Reason::Line, 0x4111),
        (Reason::NoMode, 0x4120),
        (Reason::DestinationBounds, 0x4132),
        (Reason::HostMissing, 0x4146),
    ] {
        assert_eq!(reason.number(), number, "{reason:?}");
    }
}

/// Registers of the database without a policy are those of which it says that nothing is public.
#[test]
fn every_register_of_the_space_has_a_policy() {
    let unknown: BTreeSet<&str> = (0..policy::END)
        .step_by(4)
        .filter(|offset| policy::of(*offset) == policy::Policy::Unknown)
        .filter_map(|offset| Some(DATABASE.by_offset(Domain::MMIO, offset)?.0.name))
        .collect();
    let expected: BTreeSet<&str> = [
        "UNKNOWN_30",
        "UNKNOWN_34",
        "UNKNOWN_38",
        "UNKNOWN_3C",
        "UNKNOWN_54",
    ]
    .into();
    assert_eq!(unknown, expected);
}
