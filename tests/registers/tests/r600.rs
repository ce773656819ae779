// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What must hold of the R6xx and R7xx databases: each finds the registers of its own map, and nothing that the manual
//! names is missing. `manual-entries-r600.txt` is a list of these names made from the manual's text, not from the
//! database. The manual gives no offsets. `databases.rs` has what must hold of every database.

use std::collections::{BTreeMap, BTreeSet};

use lapidary_registers::r600::{DECISIONS, R6XX, R7XX, mmio, mmio_r6xx, mmio_r7xx, pcie_port, pm4};
use lapidary_registers::{Count, DATABASES, Database, Domain, Item, Packet, Register, database};

/// One line of `manual-entries-r600.txt`.
struct Entry {
    line: u32,
    /// As the manual spells it: `REGISTER`, `REGISTER.FIELD` or `REGISTER.FIELD=VALUE`.
    name: &'static str,
    /// What a decision says that it means, in the same form; `none` if it is nothing of this family.
    means: Option<&'static str>,
}

fn manual_entries() -> Vec<Entry> {
    include_str!("../manual-entries-r600.txt")
        .lines()
        .filter(|l| !l.starts_with('#'))
        .map(|l| {
            let (line, name) = l.split_once(' ').expect("line and name");
            let (name, means) = match name.split_once(" = ") {
                Some((name, means)) => (name, Some(means)),
                None => (name, None),
            };
            Entry {
                line: line.parse().expect("a line number"),
                name,
                means,
            }
        })
        .collect()
}

/// Return the names of an array's elements, from its ranges in brackets. `A[0-1]_B` is `A0_B`, `A1_B` and, for all,
/// `Ax_B`.
fn elements(manual: &str) -> Vec<String> {
    let Some((head, rest)) = manual.split_once('[') else {
        return vec![manual.to_owned()];
    };
    let (range, tail) = rest.split_once(']').expect("an end of the range");
    let (first, last) = range.split_once('-').expect("two ends");
    let (first, last): (u32, u32) = (
        first.parse().expect("a number"),
        last.parse().expect("a number"),
    );
    let tails = elements(tail);
    (first..=last)
        .map(|i| i.to_string())
        .chain(["x".to_owned()])
        .flat_map(|i| tails.iter().map(move |tail| format!("{head}{i}{tail}")))
        .collect()
}

/// Return the registers by each name that the manual may have for them.
fn by_manual_name(database: &'static Database) -> BTreeMap<String, Vec<&'static Register>> {
    let mut names: BTreeMap<String, Vec<&'static Register>> = BTreeMap::new();
    for r in database.registers {
        let all: BTreeSet<String> = elements(r.manual)
            .into_iter()
            .chain([r.name.to_owned()])
            .collect();
        for name in all {
            names.entry(name).or_default().push(r);
        }
    }
    names
}

/// Return the line of the manual's text from which a register's source says that its name comes.
fn manual_line(r: &Register) -> Option<u32> {
    let rest = r.source.strip_prefix("seed:L")?;
    rest.split(' ').next()?.parse().ok()
}

#[test]
fn every_name_of_the_manual_is_there() {
    let entries = manual_entries();
    assert_eq!(entries.len(), 225);
    for database in [&R6XX, &R7XX] {
        let names = by_manual_name(database);
        for e in &entries {
            let full = e.means.unwrap_or(e.name);
            if full == "none" {
                let (register, field) = e.name.split_once('.').expect("a field");
                assert!(names[register].iter().all(|r| r.field(field).is_none()));
                continue;
            }
            let (register, field) = match full.split_once('.') {
                Some((register, field)) => (register, Some(field)),
                None => (full, None),
            };
            let found = names
                .get(register)
                .unwrap_or_else(|| panic!("{database:?}: {full} is missing"));
            for r in found {
                let Some(field) = field else { continue };
                let (field, value) = match field.split_once('=') {
                    Some((field, value)) => (field, Some(value)),
                    None => (field, None),
                };
                let f = r
                    .field(field)
                    .unwrap_or_else(|| panic!("{database:?}: {full} is missing"));
                if let Some(value) = value {
                    assert!(f.values.iter().any(|v| v.name == value), "{full}");
                }
            }
        }
    }
}

#[test]
fn what_the_manual_means_is_decided() {
    for e in manual_entries().iter().filter(|e| e.means.is_some()) {
        let line = format!("L{}", e.line);
        let decided = DECISIONS.iter().any(|d| {
            d.source
                .split([',', ' '])
                .map(|part| part.trim_start_matches("seed:"))
                .any(|part| match part.split_once('-') {
                    Some((first, last)) => {
                        let number = |t: &str| t.trim_start_matches('L').parse().unwrap_or(0);
                        (number(first)..=number(last)).contains(&e.line)
                    }
                    None => part == line,
                })
        });
        assert!(decided, "no decision about line {}: {}", e.line, e.name);
    }
}

#[test]
fn sources_name_the_line_where_the_manual_first_names_a_register() {
    let entries = manual_entries();
    for database in [&R6XX, &R7XX] {
        for r in database.registers {
            let spellings: Vec<String> = elements(r.manual)
                .into_iter()
                .chain([r.name.to_owned()])
                .collect();
            let first = entries
                .iter()
                .filter(|e| !e.name.contains('.'))
                .filter(|e| spellings.iter().any(|s| s == e.means.unwrap_or(e.name)))
                .map(|e| e.line)
                .min();
            assert_eq!(manual_line(r), first, "{database:?}: {}", r.name);
        }
    }
}

#[test]
fn windows_of_the_set_packets_hold_only_known_registers_of_their_kind() {
    // Ends are those of upstream's checker. A register of one window must not reach into the next one.
    let windows = [
        (0x8000, 0xac00),
        (0x2_8000, 0x2_9000),
        (0x3_0000, 0x3_2000),
        (0x3_8000, 0x3_c000),
        (0x3_c000, 0x3_cff0),
        (0x3_cff0, 0x3_e200),
        (0x3_e200, 0x3_e380),
        (0x3_e380, 0x4_0000),
    ];
    for database in [&R6XX, &R7XX] {
        for r in database
            .registers
            .iter()
            .filter(|r| r.domain == Domain::MMIO)
        {
            let last = r.offset + (r.len - 1) * r.stride;
            let of = |at| windows.iter().position(|&(a, b)| (a..b).contains(&at));
            assert_eq!(of(r.offset), of(last), "{database:?}: {}", r.name);
            assert!(r.offset < 0x1_0000 || of(r.offset).is_some(), "{}", r.name);
        }
    }
}

#[test]
fn constants_fill_their_windows() {
    // Seven dwords of a resource, three of a sampler, four of a vector.
    for (array, index, at) in [
        (mmio::SQ_ALU_CONSTANT, 2047, 0x3_1ffc),
        (mmio::SQ_TEX_RESOURCE_WORD0, 160, 0x3_8000 + 160 * 28),
        (mmio::SQ_TEX_RESOURCE_WORD6, 495, 0x3_8000 + 495 * 28 + 24),
        (mmio::SQ_TEX_SAMPLER_WORD2, 53, 0x3_c000 + 53 * 12 + 8),
        (mmio::SQ_LOOP_CONST, 95, 0x3_e37c),
        (mmio::SQ_BOOL_CONST, 2, 0x3_e388),
    ] {
        assert_eq!(array.at(index), Some(at));
        let (r, i) = R7XX.by_offset(Domain::MMIO, at).expect("a register");
        assert_eq!((r.array(), i), (array, index), "{}", r.name);
    }
    // A resource that is a buffer shares the words.
    let buffer = R7XX.by_name("SQ_VTX_CONSTANT_WORD2").expect("an overlay");
    assert_eq!(buffer.overlay_of, Some("SQ_TEX_RESOURCE_WORD2"));
}

#[test]
fn registers_that_moved_are_at_their_places_of_each_map() {
    for (name, r6xx, r7xx) in [
        ("MC_VM_AGP_BASE", 0x218c, 0x2030),
        ("MC_VM_SYSTEM_APERTURE_LOW_ADDR", 0x2190, 0x2034),
        ("VM_CONTEXT0_PAGE_TABLE_BASE_ADDR", 0x1574, 0x153c),
        ("VM_CONTEXT0_PROTECTION_FAULT_DEFAULT_ADDR", 0x1554, 0x1518),
        ("SX_DEBUG_1", 0x9054, 0x9058),
        ("DMA_TILING_CONFIG", 0x3ec4, 0x3ec8),
        ("CG_THERMAL_INT", 0x07f8, 0x0734),
    ] {
        let at = |database: &'static Database| database.by_name(name).map(|r| r.offset);
        assert_eq!((at(&R6XX), at(&R7XX)), (Some(r6xx), Some(r7xx)), "{name}");
    }
    // The same place, other fields.
    for (name, field, r6xx, r7xx) in [
        ("SRBM_SOFT_RESET", "SOFT_RESET_DMA", 12, 20),
        ("VM_L2_CNTL", "EFFECTIVE_L2_QUEUE_SIZE", 13, 14),
    ] {
        let low =
            |database: &'static Database| Some(database.by_name(name)?.field(field)?.field.lo());
        assert_eq!((low(&R6XX), low(&R7XX)), (Some(r6xx), Some(r7xx)), "{name}");
    }
    // Only one of them has it.
    assert!(R6XX.by_name("TC_CNTL").is_some() && R7XX.by_name("TC_CNTL").is_none());
    assert!(R6XX.by_name("TCP_CNTL").is_none() && R7XX.by_name("TCP_CNTL").is_some());
}

#[test]
fn variants_are_chips_of_the_map() {
    let r6xx = ["r600", "rv610", "rv620", "rv630", "rv635", "rv670"];
    let r7xx = ["rv770", "rv730", "rv710", "rv740"];
    for (database, chips) in [(&R6XX, &r6xx[..]), (&R7XX, &r7xx[..])] {
        for r in database.registers {
            for chip in r.variants {
                assert!(chips.contains(chip), "{database:?}: {} on {chip}", r.name);
            }
        }
    }
}

#[test]
fn an_index_of_the_port_is_no_offset() {
    let port = lapidary_registers::r600::domain::PCIE_PORT;
    let (r, _) = R6XX
        .by_offset(port, pcie_port::PCIE_LC_SPEED_CNTL)
        .expect("known");
    assert_eq!(r.name, "PCIE_LC_SPEED_CNTL");
    assert_eq!(
        R7XX.describe(Domain::MMIO, mmio_r7xx::SX_DEBUG_1, 1 << 16),
        "SX_DEBUG_1 = 0x00010000 { ENABLE_NEW_SMX_ADDRESS=1 }"
    );
}

#[test]
fn a_database_finds_the_registers_of_its_own_map_only() {
    let name = |database: &'static lapidary_registers::Database, at| {
        database.by_offset(Domain::MMIO, at).map(|(r, _)| r.name)
    };
    let fb = Some("MC_VM_FB_LOCATION");
    assert_eq!(name(&R6XX, mmio_r6xx::MC_VM_FB_LOCATION), fb);
    assert_eq!(name(&R7XX, mmio_r7xx::MC_VM_FB_LOCATION), fb);
    assert_ne!(name(&R7XX, mmio_r6xx::MC_VM_FB_LOCATION), fb);
    assert_ne!(name(&R6XX, mmio_r7xx::MC_VM_FB_LOCATION), fb);
    for (database, at) in [(&R6XX, 0x2180), (&R7XX, 0x2024)] {
        let r = database.by_name_in(Domain::MMIO, "MC_VM_FB_LOCATION");
        assert_eq!(r.map(|r| r.offset), Some(at), "{database:?}");
        assert_eq!(
            database.by_name("MC_VM_FB_LOCATION").map(|r| r.offset),
            Some(at)
        );
    }
}

#[test]
fn both_databases_find_what_both_maps_have() {
    for database in [&R6XX, &R7XX] {
        assert_eq!(
            database
                .by_offset(Domain::MMIO, mmio::CONFIG_MEMSIZE)
                .map(|(r, _)| r.name),
            Some("CONFIG_MEMSIZE"),
            "{database:?}"
        );
        // A map is no space of its own.
        let names: Vec<_> = database.domains.iter().map(|d| d.name()).collect();
        assert_eq!(names, ["mmio", "pcie_port"]);
        let known = |domain| database.domains.contains(&domain);
        assert!(database.registers.iter().all(|r| known(r.domain)));
    }
}

#[test]
fn databases_are_found_by_name() {
    for (name, family) in [("r500", "r500"), ("r600", "r600"), ("r700", "r600")] {
        let found = database(name).unwrap_or_else(|| panic!("{name}"));
        assert_eq!((found.name, found.family), (name, family));
    }
    assert!(database("r800").is_none());
    let names: std::collections::BTreeSet<_> = DATABASES.iter().map(|d| d.name).collect();
    assert_eq!(names.len(), DATABASES.len(), "each has a name of its own");
}

/// Return the least length of a body, with zero in all fields that say what follows; `header` is that of the packet.
fn least(items: &[Item], header: &dyn Fn(&str) -> u32) -> u32 {
    let field = |dword: &str, field: &str| if dword == "HEADER" { header(field) } else { 0 };
    items
        .iter()
        .map(|item| match item {
            Item::Dword(_) => 1,
            Item::Registers { .. } => 0,
            Item::When {
                dword,
                field: name,
                values,
                items,
            } => u32::from(values.contains(&field(dword, name))) * least(items, header),
            Item::Repeat { count, items } => {
                let times = match count {
                    Count::Fixed(n) => *n,
                    Count::Field { dword, field: name } => field(dword, name),
                    _ => 0,
                };
                times * least(items, header)
            }
        })
        .sum()
}

/// R6xx 5.3.1: name, opcode, and the least number of dwords with the header.
const MANUAL: [(&str, u8, u32); 25] = [
    ("DRAW_INDEX_IMMD_BE", 0x29, 3),
    ("INDEX_TYPE", 0x2a, 2),
    ("DRAW_INDEX", 0x2b, 5),
    ("DRAW_INDEX_AUTO", 0x2d, 3),
    ("DRAW_INDEX_IMMD", 0x2e, 3),
    ("NUM_INSTANCES", 0x2f, 2),
    ("INDIRECT_BUFFER", 0x32, 4),
    ("MEM_SEMAPHORE", 0x39, 3),
    ("MPEG_INDEX", 0x3a, 3),
    ("WAIT_REG_MEM", 0x3c, 7),
    ("MEM_WRITE", 0x3d, 5),
    ("CP_INTERRUPT", 0x40, 2),
    ("SURFACE_SYNC", 0x43, 5),
    ("COND_WRITE", 0x45, 9),
    ("EVENT_WRITE", 0x46, 2),
    ("EVENT_WRITE_EOP", 0x47, 6),
    ("SET_CONFIG_REG", 0x68, 2),
    ("SET_CONTEXT_REG", 0x69, 2),
    ("SET_ALU_CONST", 0x6a, 2),
    ("SET_BOOL_CONST", 0x6b, 2),
    ("SET_LOOP_CONST", 0x6c, 2),
    ("SET_RESOURCE", 0x6d, 2),
    ("SET_SAMPLER", 0x6e, 2),
    ("SET_CTL_CONST", 0x6f, 2),
    ("SURFACE_BASE_UPDATE", 0x73, 2),
];

#[test]
fn all_packets_of_the_manual_are_there() {
    let of_manual = |database: &'static Database| -> BTreeMap<u8, &'static Packet> {
        let packets = database.packets.iter().filter(|p| p.in_manual);
        packets.map(|p| (p.opcode, p)).collect()
    };
    let (r6xx, r7xx) = (of_manual(&R6XX), of_manual(&R7XX));
    for (name, opcode, dwords) in MANUAL {
        let p = r6xx.get(&opcode).unwrap_or_else(|| panic!("{name}"));
        assert_eq!((p.name, 1 + least(p.body, &|_| 0)), (name, dwords));
    }
    // The manual says that R7xx does not need the last one.
    let without: Vec<u8> = MANUAL[..24].iter().map(|p| p.1).collect();
    assert_eq!(r7xx.keys().copied().collect::<Vec<_>>(), without);
    assert_eq!(r6xx.len(), MANUAL.len());
}

#[test]
fn packets_that_only_some_chips_have_say_so() {
    let only = |database: &'static Database, other: &'static Database| -> Vec<_> {
        let packets = database.packets.iter();
        packets
            .filter(|p| other.packet(p.opcode).is_none())
            .map(|p| p.name)
            .collect()
    };
    assert_eq!(
        only(&R6XX, &R7XX),
        ["SURFACE_BASE_UPDATE", "START_3D_CMDBUF"]
    );
    assert_eq!(only(&R7XX, &R6XX), ["PFP_SYNC_ME", "STRMOUT_BASE_UPDATE"]);
    let chips = |opcode| R6XX.packet(opcode).map(|p| R6XX.chips_with(p));
    let after_r600: &[&str] = &["rv610", "rv620", "rv630", "rv635", "rv670"];
    assert_eq!(chips(pm4::op::SURFACE_BASE_UPDATE), Some(after_r600));
    assert_eq!(chips(pm4::op::START_3D_CMDBUF), Some(&[][..]));
}

#[test]
fn packets_of_the_dma_engine_are_as_long_as_each_map_has_them() {
    use lapidary_registers::r600::dma::op;
    // Operation, TILED, and dwords with the header on R6xx and R7xx; 0 where the map has none.
    let table = [
        (op::WRITE, 0, 3 + 9, 3 + 9),
        (op::WRITE, 1, 5 + 9, 5 + 9),
        (op::COPY, 0, 4, 5),
        (op::COPY, 1, 7, 7),
        (op::INDIRECT_BUFFER, 0, 3, 3),
        (op::SEMAPHORE, 0, 3, 3),
        (op::FENCE, 0, 4, 4),
        (op::TRAP, 0, 1, 1),
        (op::CONSTANT_FILL, 0, 0, 4),
        (op::NOP, 0, 1, 1),
    ];
    for (opcode, tiled, r6xx, r7xx) in table {
        for (database, dwords) in [(&R6XX, r6xx), (&R7XX, r7xx)] {
            let engine = database.engine("dma").expect("a DMA engine");
            let header = |field: &str| if field == "TILED" { tiled } else { 9 };
            let found = engine.packet(u32::from(opcode) << 28);
            let length = found.map_or(0, |p| 1 + least(p.body, &header));
            assert_eq!(length, dwords, "{database:?} {opcode:#x} tiled {tiled}");
        }
    }
    for database in [&R6XX, &R7XX] {
        assert_eq!(database.engines.len(), 1);
        let known: BTreeSet<_> = table.iter().map(|row| row.0).collect();
        let engine = database.engine("dma").expect("a DMA engine");
        assert!(engine.packets.iter().all(|p| known.contains(&p.opcode)));
    }
}

#[test]
fn constants_say_which_registers_a_packet_reaches() {
    use pm4::{set_config_reg, set_context_reg, set_resource, set_sampler};
    assert_eq!(
        (set_config_reg::BASE, set_config_reg::END),
        (0x8000, 0xac00)
    );
    assert_eq!(set_context_reg::BASE, 0x2_8000);
    assert_eq!(set_resource::BASE, mmio::SQ_TEX_RESOURCE_WORD0.base());
    assert_eq!(set_sampler::BASE, mmio::SQ_TEX_SAMPLER_WORD0.base());
    assert_eq!(set_resource::END, set_sampler::BASE);
    use lapidary_registers::r600::dma;
    assert_eq!(dma::header::OP.of(dma::op::COPY.into()), 0x3000_0000);
    let upper = dma::mmio_r6xx::copy::addresses_hi::DST_ADDRESS_HI;
    assert_eq!((upper.hi(), upper.lo()), (23, 16));
    assert_eq!(
        dma::mmio_r7xx::constant_fill::address_hi::DST_ADDRESS_HI,
        upper
    );
}
