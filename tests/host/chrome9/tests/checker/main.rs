// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The checker of clients' streams: every rule with a stream that keeps it and the same stream with one dword changed that
//! breaks it, bounds byte by byte, addresses, and what the model makes of admitted streams.

mod bench;
mod bounds;
mod bounds3d;
mod engine2d;
mod executed;
mod fixups;
mod hqv;
mod hqv_bounds;
mod picture;
mod rule;
mod scene3d;
mod stream;
mod support;
mod three_d;

use std::collections::BTreeSet;

use chrome9::portable::checker::{check, most_fixups, Fixup, Reason};
use chrome9::portable::emit::PAD;
use chrome9::portable::policy;
use lapidary_registers::{chrome9::DATABASE, Domain};

use rule::{objects, Rule, PAGE};
use support::{run, Blit, BLIT, COPY};

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
    three_d::forms::forms,
    three_d::forms::bits,
    three_d::forms::reserved,
    three_d::forms::forbidden,
    three_d::state::needed,
    three_d::state::caches,
    three_d::surfaces::surfaces,
    three_d::surfaces::counts,
    three_d::textures::textures,
    three_d::vertices::vertices,
    three_d::vertices::indices,
    three_d::vertices::addresses,
    hqv::pairs,
    hqv::values,
    hqv::control,
    hqv::needed,
    hqv::waits,
    hqv::windows,
    hqv::surfaces,
];

/// Reasons that other tests break: they are not of one dword.
const ELSEWHERE: [Reason; 4] = [
    Reason::CountBounds,
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

/// A copy by one row down reads what it has written, if source and destination are one object.
#[test]
fn a_copy_within_an_object_that_is_listed_twice_is_one_within_one_object() {
    let stream = Blit {
        command: COPY,
        to: (4, 3),
        from: (4, 2),
        ..BLIT
    }
    .stream();
    let with = |first: u64, second: u64| {
        let mut objects = objects(&[PAGE, PAGE]);
        (objects[0].number, objects[1].number) = (first, second);
        run(&stream.words, &stream.relocations, &objects)
            .map(|_| ())
            .map_err(|refusal| refusal.reason)
    };
    assert_eq!(with(7, 7), Err(Reason::CopyOverlap));
    assert_eq!(with(7, 8), Ok(()));
    // Entries without a number are objects of their own.
    assert_eq!(with(0, 0), Ok(()));
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
        (Reason::VideoRange, 0x4301),
        (Reason::VideoWindow, 0x4330),
        (Reason::ResidueBounds, 0x4337),
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

/// Each register of HQV has a policy, and no bit is admitted that has no field, but for the lowest of a register whose text
/// is lost there.
#[test]
fn every_register_of_video_has_a_policy() {
    for index in 0..policy::VIDEO_REGISTERS {
        let offset = policy::VIDEO + 4 * index as u32;
        let (register, engine) = DATABASE
            .by_offset(Domain::MMIO, offset)
            .expect("there are no holes");
        assert_eq!((register.block, register.len, engine), ("HQV", 2, 0));
        let fields = register
            .fields
            .iter()
            .fold(0, |bits, field| bits | field.field.mask());
        let lost = if register.name == "HQV_TUNING" {
            0x3fff
        } else {
            0
        };
        match policy::video(index) {
            policy::Video::Unknown => panic!("{} has no policy", register.name),
            policy::Video::Value(bits) => assert_eq!(bits, fields | lost, "{}", register.name),
            policy::Video::Base(bits) => {
                assert!(register.field("LOCATION").is_some(), "{}", register.name);
                assert_eq!(bits & !fields, 0, "{}", register.name);
            }
            _ => {}
        }
    }
    assert_eq!(policy::VIDEO_ADMITTED.len(), policy::VIDEO_REGISTERS);
    assert_eq!(
        policy::video(policy::VIDEO_REGISTERS),
        policy::Video::Unknown
    );
}

/// Parameters of the database without a policy are those that are lost in the text of the manual.
#[test]
fn every_parameter_has_a_policy() {
    type Lookup = fn(u32) -> (policy::Parameter, &'static policy::Needed);
    let types: [(u8, u8, Lookup); 5] = [
        (1, 0, policy::attribute),
        (2, 0, policy::stage),
        (2, 0x20, policy::sample),
        (2, 0xfe, policy::general),
        (4, 0, policy::primitive),
    ];
    let mut unknown = BTreeSet::new();
    for (kind, sub_type, lookup) in types {
        let domain = lapidary_registers::chrome9::parameters(kind, sub_type).unwrap();
        for sub_address in 0..0x100 {
            let known = DATABASE.by_offset(domain, sub_address);
            let (parameter, needed) = lookup(sub_address);
            match (known, parameter) {
                (Some((register, _)), policy::Parameter::Unknown) => {
                    unknown.insert(register.name);
                }
                (None, parameter) => assert_eq!(
                    parameter,
                    policy::Parameter::Unknown,
                    "{kind:02x}h.{sub_type:02x}h {sub_address:02x}h"
                ),
                _ => {}
            }
            let bit = (needed[sub_address as usize / 32] >> (sub_address % 32)) & 1 != 0;
            let of_all = matches!(
                parameter,
                policy::Parameter::Free | policy::Parameter::Lost | policy::Parameter::Kept
            );
            assert_eq!(bit, of_all, "{sub_address:02x}h");
        }
    }
    assert_eq!(unknown, BTreeSet::from(["SAMPLE_LOST"]));
}

/// Largest values of fields of type 02h.
const LIMITS: [(&str, u32); 10] = [
    ("22.LENGTH_EXPONENT", 11),
    ("22.HEIGHT_EXPONENT", 11),
    ("22.WIDTH_EXPONENT", 11),
    ("30.MAX_LEVEL", 11),
    ("30.MIN_LEVEL", 11),
    ("00.COUNT", 8),
    ("05.SOURCE_1", 9),
    ("05.SOURCE_2", 9),
    ("08.COUNT", 10),
    ("31.MAX_ANISOTROPY", 16),
];

/// Values without a name in the database are refused, but for those of fields that the checker looks at by itself.
#[test]
fn values_without_a_name_are_reserved() {
    // Both locations, which relocations set, formats, and what has a reason of its own.
    let own = [
        "LOCATION",
        "FORMAT",
        "ATTRIBUTE_",
        "RT_COUNT",
        "INDEX_LENGTH",
        "KIND",
        "CW_TYPE",
        "TYPE",
    ];
    let types: [(u8, u8, &[policy::Values]); 5] = [
        (1, 0, policy::ATTRIBUTE_VALUES),
        (2, 0, policy::STAGE_VALUES),
        (2, 0x20, policy::SAMPLE_VALUES),
        (2, 0xfe, policy::GENERAL_VALUES),
        (4, 0, policy::PRIMITIVE_VALUES),
    ];
    let mut looked_at = 0;
    for (kind, sub_type, list) in types {
        let domain = lapidary_registers::chrome9::parameters(kind, sub_type).unwrap();
        for sub_address in 0..0x100 {
            let fields = DATABASE
                .by_offset(domain, sub_address)
                .map_or(&[][..], |(register, _)| register.fields);
            for field in fields {
                if own.iter().any(|name| field.name.contains(name)) {
                    continue;
                }
                for value in 0..=field.field.max().min(0xff) {
                    let most = LIMITS
                        .iter()
                        .find(|(name, _)| *name == format!("{sub_address:02x}.{}", field.name));
                    let nameless = match field.named(value) {
                        _ if most.is_some() && kind == 2 => most.is_some_and(|m| value > m.1),
                        _ if field.values.is_empty() => {
                            field.name.ends_with("_RESERVED") && value != 0
                        }
                        Some(named) => named.value.name.starts_with("RESERVED"),
                        None => true,
                    };
                    let word = field.field.put(0, value);
                    assert_eq!(
                        policy::reserved(list, sub_address, word),
                        nameless,
                        "{kind:02x}h.{sub_type:02x}h {sub_address:02x}h: {} {value}",
                        field.name
                    );
                    looked_at += u32::from(nameless);
                }
            }
        }
    }
    assert!(looked_at > 150, "{looked_at} values");
}
