// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What must hold of the R5xx database: nothing is missing, the numbers are those of the manual.
//! `manual-entries-r500.txt` is a list of the manual's entries made from its text, not from the database.
//! `databases.rs` has what must hold of every database.

use std::collections::{BTreeMap, BTreeSet};

use lapidary_registers::r500::{self, DECISIONS, PACKETS, REGISTERS};
use lapidary_registers::{Access, Count, Domain, Item, Register};

/// One line of `manual-entries-r500.txt`.
struct Entry {
    line: u32,
    name: &'static str,
    access: Access,
    places: Vec<(u32, u32)>,
}

fn hex(text: &str) -> u32 {
    u32::from_str_radix(text.strip_prefix("0x").expect("0x"), 16).expect("a hexadecimal number")
}

fn manual_entries() -> Vec<Entry> {
    include_str!("../manual-entries-r500.txt")
        .lines()
        .filter(|l| !l.starts_with('#'))
        .map(|l| {
            let [line, name, access, places] = l.split(' ').collect::<Vec<_>>()[..] else {
                panic!("not `line name access places`: {l}");
            };
            Entry {
                line: line.parse().expect("a line number"),
                name,
                access: match access {
                    "R/W" => Access::ReadWrite,
                    "W" => Access::Write,
                    _ => panic!("access {access}"),
                },
                places: places
                    .split(',')
                    .map(|p| p.split_once('-').unwrap_or((p, p)))
                    .map(|(first, last)| (hex(first), hex(last)))
                    .collect(),
            }
        })
        .collect()
}

/// Return the registers that come from the manual's chapter 10.
fn manual_registers() -> impl Iterator<Item = &'static Register> {
    REGISTERS.iter().filter(|r| r.source.starts_with("seed:L"))
}

fn offsets(r: &Register) -> impl Iterator<Item = u32> {
    (0..r.len).map(|i| r.array().at(i).expect("within the array"))
}

#[test]
fn overlays_and_mirrors_are_few() {
    assert_eq!(
        REGISTERS.iter().filter(|r| r.overlay_of.is_some()).count(),
        5
    );
    assert_eq!(
        REGISTERS.iter().filter(|r| r.mirror_of.is_some()).count(),
        6
    );
}

#[test]
fn defaults_are_those_of_the_manual() {
    // Two that the manual prints as other than zero.
    assert_eq!(
        r500::DATABASE
            .by_name("VAP_CNTL")
            .and_then(|r| r.field("VF_MAX_VTX_NUM")?.default),
        Some(9)
    );
    assert_eq!(
        r500::DATABASE
            .by_name("GB_PIPE_SELECT")
            .and_then(|r| r.default),
        Some(0x3f0e4)
    );
}

#[test]
fn every_entry_of_the_manual_is_there() {
    let entries = manual_entries();
    assert_eq!(entries.len(), 242);
    for e in &entries {
        let found: Vec<_> = manual_registers().filter(|r| r.manual == e.name).collect();
        assert!(!found.is_empty(), "{} is missing", e.name);
        let mut mine: BTreeSet<u32> = BTreeSet::new();
        for r in &found {
            assert_eq!(r.source, format!("seed:L{}", e.line), "{}", e.name);
            // The header says R/W, the field's text and its own access mark say write only.
            let access = if e.name == "VAP_PVS_STATE_FLUSH_REG" {
                Access::Write
            } else {
                e.access
            };
            assert_eq!(r.access, access, "{}", e.name);
            mine.extend(offsets(r));
        }
        for (first, last) in &e.places {
            let within: Vec<_> = mine
                .iter()
                .copied()
                .filter(|o| (first..=last).contains(&o))
                .collect();
            assert_eq!(within.first(), Some(first), "{}", e.name);
            assert_eq!(within.last(), Some(last), "{}", e.name);
            mine.retain(|o| !within.contains(o));
        }
        assert!(
            mine.is_empty(),
            "{} has places that the manual lacks: {mine:x?}",
            e.name
        );
    }
    let names: BTreeSet<_> = entries.iter().map(|e| e.name).collect();
    for r in manual_registers() {
        assert!(names.contains(r.manual), "{} is not in the manual", r.name);
    }
}

#[test]
fn the_counts_are_those_of_the_manual() {
    let words: BTreeSet<u32> = manual_registers().flat_map(offsets).collect();
    assert_eq!(words.len(), 3706);

    let by_block = manual_registers().fold(BTreeMap::<_, BTreeSet<_>>::new(), |mut m, r| {
        m.entry(r.block).or_default().insert(r.manual);
        m
    });
    let counts: Vec<_> = by_block
        .iter()
        .map(|(b, names)| (*b, names.len()))
        .collect();
    let expected = [
        ("CB", 24),
        ("FG", 8),
        ("GA", 30),
        ("GB", 10),
        ("RS", 4),
        ("SC", 14),
        ("SU", 11),
        ("TX", 11),
        ("US", 22),
        ("VAP", 88),
        ("ZB", 20),
    ];
    assert_eq!(counts, expected);
}

#[test]
fn the_lost_headers_are_repaired() {
    for (name, offset, len, fields) in [
        ("RB3D_ABLENDCNTL", 0x4e08, 1, 3),
        ("US_ALU_ALPHA_INST", 0xa800, 512, 12),
        ("VAP_PROG_STREAM_CNTL_EXT", 0x21e0, 8, 10),
    ] {
        let r = r500::DATABASE.by_name(name).expect(name);
        assert_eq!(
            (r.offset, r.len, r.fields.len()),
            (offset, len, fields),
            "{name}"
        );
    }
}

#[test]
fn all_opcodes_of_the_manual_are_there() {
    // R5xx 5.2.1, in its order.
    let manual: [(&str, u8); 28] = [
        ("NOP", 0x10),
        ("PAINT", 0x91),
        ("BITBLT", 0x92),
        ("HOSTDATA_BLT", 0x94),
        ("POLYLINE", 0x95),
        ("POLYSCANLINES", 0x98),
        ("NEXTCHAR", 0x19),
        ("PAINT_MULTI", 0x9a),
        ("BITBLT_MULTI", 0x9b),
        ("TRANS_BITBLT", 0x9c),
        ("PLY_NEXTSCAN", 0x1d),
        ("SET_SCISSORS", 0x1e),
        ("PRED_EXEC", 0x20),
        ("COND_EXEC", 0x21),
        ("WAIT_SEMAPHORE", 0x22),
        ("WAIT_MEM", 0x23),
        ("3D_DRAW_VBUF", 0x28),
        ("3D_DRAW_IMMD", 0x29),
        ("3D_DRAW_INDX", 0x2a),
        ("LOAD_PALETTE", 0x2c),
        ("3D_LOAD_VBPNTR", 0x2f),
        ("INDX_BUFFER", 0x33),
        ("3D_DRAW_VBUF_2", 0x34),
        ("3D_DRAW_IMMD_2", 0x35),
        ("3D_DRAW_INDX_2", 0x36),
        ("3D_CLEAR_HIZ", 0x37),
        ("3D_DRAW_128", 0x39),
        ("MPEG_INDEX", 0x3a),
    ];
    for (name, opcode) in manual {
        let p = r500::DATABASE
            .packet(opcode)
            .unwrap_or_else(|| panic!("{name}"));
        assert!(
            p.name == name && p.in_manual && !p.body.is_empty(),
            "{name}"
        );
        // Bit 7 of the opcode says that the body begins with GUI_CONTROL.
        let settings = matches!(p.body[0], Item::Dword(d) if d.name == "GUI_CONTROL");
        assert_eq!(settings, opcode & 0x80 != 0, "{name}");
    }
    let public: Vec<_> = PACKETS
        .iter()
        .filter(|p| !p.in_manual)
        .map(|p| (p.name, p.opcode))
        .collect();
    assert_eq!(public, [("3D_CLEAR_ZMASK", 0x32), ("3D_CLEAR_CMASK", 0x38)]);
    assert_eq!(PACKETS.len(), 30);
}

/// Return the length of a body for given field values; `None` if it is open-ended.
fn fixed_length(items: &[Item], value: &dyn Fn(&str, &str) -> u32) -> Option<u32> {
    items.iter().try_fold(0, |n, item| {
        Some(
            n + match item {
                Item::Dword(_) => 1,
                Item::Registers { .. } => return None,
                Item::When {
                    dword,
                    field,
                    values,
                    items,
                } => {
                    if values.contains(&value(dword, field)) {
                        fixed_length(items, value)?
                    } else {
                        0
                    }
                }
                Item::Repeat { count, items } => {
                    let times = match count {
                        Count::Rest | Count::Optional => return None,
                        Count::Fixed(n) => *n,
                        Count::Field { dword, field } => value(dword, field),
                        Count::Bits { dword } => value(dword, "").count_ones(),
                        Count::PerPixelByte(n) => n * 4,
                    };
                    times * fixed_length(items, value)?
                }
            },
        )
    })
}

#[test]
fn bodies_have_the_lengths_of_the_manual() {
    let none = |_: &str, _: &str| 0;
    let no_brush = |_: &str, f: &str| if f == "BRUSH_TYPE" { 15 } else { 0 };
    let length = |opcode, value: &dyn Fn(&str, &str) -> u32| {
        fixed_length(r500::DATABASE.packet(opcode).expect("opcode").body, value)
    };
    use r500::pm4::op;
    assert_eq!(length(op::BITBLT, &no_brush), Some(1 + 3));
    assert_eq!(length(op::TRANS_BITBLT, &no_brush), Some(1 + 6));
    assert_eq!(length(op::SET_SCISSORS, &none), Some(2));
    assert_eq!(length(op::PRED_EXEC, &none), Some(1));
    assert_eq!(length(op::COND_EXEC, &none), Some(3));
    assert_eq!(length(op::WAIT_MEM, &none), Some(2));
    assert_eq!(length(op::_3D_DRAW_VBUF, &none), Some(2));
    assert_eq!(length(op::_3D_DRAW_VBUF_2, &none), Some(1));
    assert_eq!(length(op::_3D_CLEAR_HIZ, &none), Some(3));
    assert_eq!(length(op::INDX_BUFFER, &none), Some(3));
    assert_eq!(length(op::LOAD_PALETTE, &|_, _| 1), Some(1 + 16));
    assert_eq!(length(op::LOAD_PALETTE, &|_, _| 2), Some(1 + 256));
    assert_eq!(length(op::PAINT_MULTI, &no_brush), None);

    // SETUP_BODY by brush type (the table in R5xx 5.2.2), then with everything else that can be in it.
    for (brush, dwords) in [
        (0, 4),
        (1, 3),
        (6, 3),
        (7, 2),
        (10, 64),
        (13, 1),
        (14, 1),
        (15, 0),
    ] {
        let value = |_: &str, f: &str| if f == "BRUSH_TYPE" { brush } else { 0 };
        assert_eq!(
            length(op::BITBLT, &value),
            Some(1 + dwords + 3),
            "brush {brush}"
        );
    }
    let all = |_: &str, f: &str| if f == "BRUSH_TYPE" { 15 } else { 1 };
    assert_eq!(length(op::BITBLT, &all), Some(1 + 1 + 1 + 1 + 2 + 1 + 3));
    // 3 register values, 5 first indices.
    let mpeg = |d: &str, _: &str| if d == "MASK" { 0b10011 } else { 5 };
    let body = r500::DATABASE.packet(op::MPEG_INDEX).expect("opcode").body;
    assert_eq!(
        fixed_length(&body[..body.len() - 1], &mpeg),
        Some(1 + 3 + 1 + 1 + 5)
    );
}

#[test]
fn all_contradictions_are_decided() {
    let numbers: BTreeSet<u32> = DECISIONS.iter().map(|d| d.number).collect();
    assert_eq!(numbers, (1..=23).collect());
    for d in DECISIONS {
        assert!(d.source.starts_with("seed:L"), "{}", d.number);
    }
}

#[test]
fn lookups_find_and_describe() {
    use r500::mmio;
    assert_eq!(
        r500::DATABASE.by_name("RBBM_STATUS").map(|r| r.offset),
        Some(mmio::RBBM_STATUS)
    );
    assert!(r500::DATABASE.by_name("RBBM_STATUS_").is_none());

    let (r, i) = r500::DATABASE
        .by_offset(
            Domain::MMIO,
            mmio::SCRATCH_REG.at(3).expect("eight of them"),
        )
        .expect("known");
    assert_eq!((r.name, i), ("SCRATCH_REG", 3));
    assert!(r500::DATABASE.by_offset(Domain::MMIO, 0xfffc).is_none());
    // A stride leaves other registers between the elements.
    assert_eq!(
        r500::DATABASE
            .by_offset(Domain::MMIO, 0x20d0)
            .map(|(r, i)| (r.name, i)),
        Some(("VAP_VTX_AOS_ATTR", 1))
    );
    assert_eq!(
        r500::DATABASE
            .by_offset(Domain::MMIO, 0x20d4)
            .map(|(r, i)| (r.name, i)),
        Some(("VAP_VTX_AOS_ADDR_EVEN", 1))
    );
    // The same index means different registers in different spaces.
    assert_eq!(
        r500::DATABASE
            .by_offset(r500::domain::MC_RV515, 1)
            .map(|(r, _)| r.name),
        Some("MC_FB_LOCATION")
    );
    assert_eq!(
        r500::DATABASE
            .by_offset(r500::domain::MC_R520, 4)
            .map(|(r, _)| r.name),
        Some("MC_FB_LOCATION")
    );
    assert_eq!(
        r500::DATABASE
            .by_offset(r500::domain::PCIE, 0x10)
            .map(|(r, _)| r.name),
        Some("PCIE_TX_GART_CNTL")
    );

    let text = r500::DATABASE.describe(Domain::MMIO, mmio::CP_CSQ_CNTL, 0x4000_0000);
    assert_eq!(text, "CP_CSQ_CNTL = 0x40000000 { CSQ_MODE=PRIBM_INDBM }");
    assert_eq!(
        r500::DATABASE.describe(Domain::MMIO, 0x15e4, 7),
        "SCRATCH_REG[1] = 0x00000007"
    );
    assert_eq!(
        r500::DATABASE.describe(Domain::MMIO, 0xfffc, 7),
        "mmio:0xfffc = 0x00000007"
    );
    // Where no field has anything to say there are no braces.
    assert_eq!(
        r500::DATABASE.describe(Domain::MMIO, mmio::RBBM_SOFT_RESET, 0),
        "RBBM_SOFT_RESET = 0x00000000"
    );
    // Bits that no field has are shown, not lost.
    assert!(
        r500::DATABASE
            .describe(Domain::MMIO, mmio::CP_RB_CNTL, 1 << 30)
            .contains("?=0x40000000")
    );
}

#[test]
fn constants_and_tables_agree() {
    use r500::mmio;
    let f = r500::DATABASE
        .by_name("CP_RB_CNTL")
        .and_then(|r| r.field("RB_BLKSZ"))
        .expect("a field");
    assert_eq!(f.field, mmio::cp_rb_cntl::RB_BLKSZ);
    assert_eq!(
        (f.field.hi(), f.field.lo(), f.field.max(), f.field.mask()),
        (13, 8, 0x3f, 0x3f00)
    );
    assert_eq!(f.field.put(0xffff_ffff, 5), 0xffff_c5ff);
    assert_eq!(f.field.get(0xffff_c5ff), 5);
    assert_eq!(mmio::VAP_PVS_FLOW_CNTL_ADDRS_UW.at(15), Some(0x257c));
    assert_eq!(mmio::VAP_PVS_FLOW_CNTL_ADDRS_UW.at(16), None);
    assert_eq!(mmio::VAP_PVS_FLOW_CNTL_ADDRS_UW.index_of(0x2500), None);
    assert_eq!(mmio::VAP_PVS_FLOW_CNTL_ADDRS_UW.index_of(0x250c), Some(1));
    assert_eq!(mmio::VAP_PVS_FLOW_CNTL_ADDRS_UW.index_of(0x2584), None);
}
