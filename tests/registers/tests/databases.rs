// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What must hold of every family's database, whatever its hardware: nothing overlaps, everything has a source, no two
//! names can be mistaken, decisions are on the family's page.

use std::collections::{BTreeSet, HashMap};

use lapidary_registers::{DATABASES, Database, Dword, FieldInfo, Item, Packet, Register};

/// Return each register, with the name of its database.
fn registers() -> impl Iterator<Item = (&'static Database, &'static Register)> {
    DATABASES
        .iter()
        .flat_map(|d| d.registers.iter().map(|r| (*d, r)))
}

/// Return the packets of a database, which are those of all its engines.
fn packets(database: &'static Database) -> impl Iterator<Item = &'static Packet> {
    let engines = database.engines.iter().flat_map(|e| e.packets);
    database.packets.iter().chain(engines)
}

fn offsets(r: &Register) -> impl Iterator<Item = u32> {
    (0..r.len).map(|i| r.array().at(i).expect("within the array"))
}

fn each_dword(items: &[Item], f: &mut impl FnMut(&Dword)) {
    for item in items {
        match item {
            Item::Dword(d) => f(d),
            Item::Repeat { items, .. } | Item::When { items, .. } => each_dword(items, f),
            Item::Registers { .. } => {}
        }
    }
}

#[test]
fn registers_do_not_overlap() {
    for database in DATABASES {
        let mut owner = HashMap::new();
        for r in database.registers.iter().filter(|r| r.overlay_of.is_none()) {
            for offset in offsets(r) {
                let other = owner.insert((r.domain, offset), r.name);
                assert_eq!(other, None, "{database:?}: {} at {offset:#x}", r.name);
            }
        }
    }
}

#[test]
fn overlays_and_mirrors_name_what_they_share() {
    for (database, r) in registers() {
        if let Some(base) = r.overlay_of {
            let base = database
                .by_name_in(r.domain, base)
                .expect("the register below");
            assert_eq!(
                offsets(r).collect::<Vec<_>>(),
                offsets(base).collect::<Vec<_>>(),
                "{}",
                r.name
            );
        }
        if let Some(base) = r.mirror_of {
            let base = database
                .by_name_in(r.domain, base)
                .expect("the mirrored register");
            assert_ne!(r.offset, base.offset);
            assert_eq!(r.manual, base.manual);
            assert_eq!(r.fields.len(), base.fields.len());
        }
    }
}

fn check_fields(of: &str, fields: &[FieldInfo]) {
    let mut used = 0;
    for f in fields {
        assert!(
            f.field.hi() <= 31 && f.field.lo() <= f.field.hi(),
            "{of}.{}",
            f.name
        );
        assert_eq!(used & f.field.mask(), 0, "{of}.{} overlaps", f.name);
        used |= f.field.mask();
        assert!(
            f.default.is_none_or(|d| d <= f.field.max()),
            "{of}.{}: default",
            f.name
        );
        for v in f.values {
            assert!(v.value <= f.field.max(), "{of}.{}: {}", f.name, v.name);
        }
        assert_eq!(
            f.values
                .iter()
                .map(|v| v.value)
                .collect::<BTreeSet<_>>()
                .len(),
            f.values.len()
        );
    }
}

#[test]
fn fields_fit_and_do_not_overlap() {
    for (_, r) in registers() {
        check_fields(r.name, r.fields);
    }
    for database in DATABASES {
        for d in database.layouts {
            check_fields(d.name, d.fields);
        }
        for p in packets(database) {
            each_dword(p.body, &mut |d| check_fields(p.name, d.fields));
        }
        for engine in database.engines {
            check_fields(engine.name, engine.header.fields);
        }
    }
}

#[test]
fn defaults_of_fields_make_up_the_register() {
    for (_, r) in registers() {
        let known: Vec<_> = r
            .fields
            .iter()
            .filter_map(|f| f.default.map(|d| f.field.of(d)))
            .collect();
        if !known.is_empty() {
            assert_eq!(
                r.default,
                Some(known.iter().fold(0, |a, b| a | b)),
                "{}",
                r.name
            );
        }
    }
}

#[test]
fn names_are_plain() {
    let check = |name: &str| {
        assert!(
            name.bytes()
                .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_'),
            "{name}"
        );
    };
    for (_, r) in registers() {
        check(r.name);
        r.fields.iter().for_each(|f| check(f.name));
        r.fields
            .iter()
            .flat_map(|f| f.values)
            .for_each(|v| check(v.name));
    }
    for p in DATABASES.iter().flat_map(|d| d.packets) {
        check(p.name);
    }
}

#[test]
fn no_two_names_of_a_space_look_alike() {
    let skeleton = |name: &str| name.replace('O', "0").replace(['I', 'L'], "1");
    for database in DATABASES {
        for domain in database.domains.iter().copied() {
            let mut seen = HashMap::new();
            for r in database.registers.iter().filter(|r| r.domain == domain) {
                assert_eq!(
                    seen.insert(skeleton(r.name), r.name),
                    None,
                    "{database:?}: {}",
                    r.name
                );
            }
        }
    }
}

#[test]
fn everything_says_where_it_comes_from() {
    for (database, r) in registers() {
        assert!(
            r.source.contains(':') && !r.doc.is_empty() && !r.block.is_empty(),
            "{database:?}: {}",
            r.name
        );
        assert!(database.domains.contains(&r.domain), "{}", r.name);
    }
    for database in DATABASES {
        for p in packets(database) {
            assert!(p.source.contains(':') && !p.doc.is_empty(), "{}", p.name);
        }
        for d in database.decisions {
            assert!(
                d.source.contains(':') && d.text.len() > 60,
                "{database:?}: {}",
                d.number
            );
        }
    }
}

#[test]
fn an_opcode_is_one_packet() {
    for database in DATABASES {
        let sets = database.engines.iter().map(|e| e.packets);
        for set in sets.chain([database.packets]) {
            let names: BTreeSet<_> = set.iter().map(|p| p.name).collect();
            let opcodes: BTreeSet<_> = set.iter().map(|p| p.opcode).collect();
            assert_eq!((names.len(), opcodes.len()), (set.len(), set.len()));
        }
    }
}

/// An overlay that counts under a condition lies over a register, and the register that decides says so.
#[test]
fn choices_name_what_is_there() {
    for database in DATABASES {
        for choice in database.choices {
            let find = |name: &str| database.by_name(name).unwrap_or_else(|| panic!("{name}"));
            let (overlay, decides) = (find(choice.overlay), find(choice.register));
            assert!(decides.field(choice.field).is_some(), "{}", choice.overlay);
            assert!(overlay.overlay_of.is_some(), "{}", choice.overlay);
            for (i, offset) in offsets(overlay).enumerate() {
                let at = decides.array().at(i as u32);
                assert_eq!(database.decider(overlay.domain, offset), at);
            }
        }
    }
}

/// The table for readers has the same rows as the database.
#[test]
fn decisions_are_on_the_page_of_the_family() {
    for database in DATABASES {
        let page = match database.family {
            "chrome9" => include_str!("../../../Documentation/chrome9/registers.md"),
            "r500" => include_str!("../../../Documentation/r500/registers.md"),
            "r600" => include_str!("../../../Documentation/r600/registers.md"),
            family => panic!("{family} has no page"),
        };
        for d in database.decisions {
            let row = format!("| {} | {} | {} | {} |", d.number, d.about, d.source, d.text);
            assert!(page.contains(&row), "the page lacks: {row}");
        }
        let rows: BTreeSet<u32> = page
            .lines()
            .filter_map(|l| l.strip_prefix("| ")?.split(' ').next()?.parse().ok())
            .collect();
        let numbers: BTreeSet<u32> = database.decisions.iter().map(|d| d.number).collect();
        assert_eq!(rows, numbers, "{database:?}");
    }
}
