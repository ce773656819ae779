// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Programs of shaders: every instruction has its name on each map, what does not fit is marked, and nothing stops the
//! disassembler.

use lapidary_decoder::isa::{Line, Note, disassemble};
use lapidary_registers::r600::isa::{
    alu_op2, alu_op3, alu_word0, alu_word1_op3, cf, cf_alloc_export_word0,
    cf_alloc_export_word1_swiz, cf_alu, cf_export, mmio_r6xx, mmio_r7xx, tex, tex_word1, vtx,
};
use lapidary_registers::r600::{R6XX, R7XX};
use lapidary_registers::{Database, InstructionTable, r500};
use proptest::prelude::*;

use mmio_r7xx::{alu_word1_op2, cf_alu_word1, cf_word1};

type Slot = [u32; 2];

fn lines(database: &'static Database, slots: &[Slot]) -> Vec<Line> {
    let words: Vec<u32> = slots.iter().flatten().copied().collect();
    disassemble(database, &words, 0)
        .expect("a family with shaders")
        .collect()
}

fn text(slots: &[Slot]) -> Vec<String> {
    lines(&R7XX, slots)
        .iter()
        .map(ToString::to_string)
        .collect()
}

/// Return all marks of a program, in order.
fn notes(slots: &[Slot]) -> Vec<Note> {
    lines(&R7XX, slots)
        .iter()
        .flat_map(|l| l.notes.clone())
        .collect()
}

/// Return control flow without operands. The program ends here if `end`.
fn control(opcode: u32, address: u32, end: bool) -> Slot {
    [
        address,
        cf_word1::CF_INST.of(opcode) | cf_word1::END_OF_PROGRAM.of(u32::from(end)),
    ]
}

fn alu_clause(address: u32, count: u32) -> Slot {
    [
        address,
        cf_alu_word1::CF_INST.of(cf_alu::ALU) | cf_alu_word1::COUNT.of(count - 1),
    ]
}

fn fetch_clause(opcode: u32, address: u32, count: u32) -> Slot {
    let [address, word1] = control(opcode, address, false);
    [
        address,
        word1 | cf_word1::COUNT.of(count - 1) | cf_word1::COUNT_3.of((count - 1) >> 3),
    ]
}

/// Return an instruction of two operands that writes R0 at `chan`.
fn op2(opcode: u32, chan: u32, last: bool) -> Slot {
    [
        alu_word0::LAST.of(u32::from(last)),
        alu_word1_op2::ALU_INST.of(opcode)
            | alu_word1_op2::WRITE_MASK.of(1)
            | alu_word1_op2::DST_CHAN.of(chan),
    ]
}

/// Return a program that ends with the clause and its slots, which follow it.
fn with_clause(clause: Slot, slots: &[Slot]) -> Vec<Slot> {
    let mut program = vec![clause, control(cf::NOP, 0, true)];
    program.extend(slots);
    program
}

fn word(database: &Database, name: &str) -> &'static lapidary_registers::Dword {
    database
        .word(name)
        .unwrap_or_else(|| panic!("{name} of {}", database.name))
}

/// Put the number of an instruction into its word, all of whose other bits are those of `fill`.
fn encoded(database: &Database, table: &InstructionTable, opcode: u32, fill: u32) -> u32 {
    let field = word(database, table.word)
        .field(table.field)
        .expect("the field");
    field.field.put(fill, opcode)
}

/// Return the text of an instruction alone, where its table says that it belongs.
fn alone(
    database: &'static Database,
    table: &InstructionTable,
    opcode: u32,
    fill: [u32; 4],
) -> String {
    let number = encoded(database, table, opcode, fill[0]);
    let (program, slot) = match table.name {
        "cf" | "cf_alu" | "cf_export" | "cf_memory" => (vec![[fill[1], number]], 0),
        "alu_op2" | "alu_op3" => (with_clause(alu_clause(2, 1), &[[fill[1], number]]), 2),
        _ => {
            let first = match table.name {
                "vtx" | "tex" => number,
                _ => {
                    let place = word(database, table.word)
                        .field("VTX_INST")
                        .expect("the field");
                    place.field.put(number, mmio_r7xx::vtx::MEM)
                }
            };
            let fetch = [[first, fill[1]], [fill[2], fill[3]]];
            (with_clause(fetch_clause(cf::TEX, 2, 1), &fetch), 2)
        }
    };
    let lines = lines(database, &program);
    let line = lines.iter().find(|l| l.slot == slot && l.words.is_some());
    line.expect("the slot").text.clone()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn every_instruction_of_the_tables_has_its_name_whatever_its_operands_are(fill in any::<[u32; 4]>()) {
        for database in [&R6XX, &R7XX] {
            for table in database.instructions {
                for i in table.instructions {
                    // The word of MEM is that of the tables of its operations.
                    if i.flags.contains(&"memory") {
                        continue;
                    }
                    let text = alone(database, table, i.opcode, fill);
                    let shown = text.split(' ').any(|token| token == i.name);
                    prop_assert!(shown, "{} of {} on {}: {}", i.name, table.name, database.name, text);
                }
            }
        }
    }

    #[test]
    fn no_program_stops_the_disassembler(words in prop::collection::vec(word_of_a_program(), 0..150), start in 0_usize..8) {
        for database in [&R6XX, &R7XX] {
            let lines: Vec<Line> = disassemble(database, &words, start).expect("shaders").collect();
            let slots = words.len() / 2;
            let mut shown = vec![false; slots];
            let mut flow = vec![0; slots];
            for line in &lines {
                let text = line.to_string();
                prop_assert!(!text.contains('\n'), "{}", text);
                match line.words {
                    Some(words_of_it) => {
                        prop_assert_eq!(&words_of_it[..], &words[line.slot * 2..line.slot * 2 + 2]);
                        shown[line.slot] = true;
                        flow[line.slot] += usize::from(!line.in_clause);
                    }
                    None => {
                        if let Some((_, last)) = text.split_once("up to ") {
                            let last = usize::from_str_radix(&last[..4], 16).expect("a slot");
                            prop_assert!(shown[line.slot..=last].iter().all(|s| !s));
                            shown[line.slot..=last].fill(true);
                        }
                    }
                }
            }
            prop_assert!(flow.iter().all(|&n| n <= 1));
            prop_assert!(shown.iter().all(|&s| s));
        }
    }
}

/// Return a word that looks like one of a program more often than not. It has small addresses, and opcodes in their
/// places.
fn word_of_a_program() -> impl Strategy<Value = u32> {
    prop_oneof![
        any::<u32>(),
        0_u32..80,
        (0_u32..0x60, any::<u32>()).prop_map(|(n, rest)| (n << 23) | (rest & 0x8020_1c00)),
        (8_u32..16, 0_u32..16).prop_map(|(n, count)| (n << 26) | (count << 18)),
        (0_u32..0x80, 0_u32..4).prop_map(|(n, chan)| (n << 7) | (chan << 29)),
        (0_u32..2, 0_u32..4).prop_map(|(last, chan)| (last << 31) | (chan << 10) | 253),
    ]
}

#[test]
fn a_family_without_described_shaders_has_no_listing() {
    assert!(disassemble(&r500::DATABASE, &[0; 8], 0).is_none());
}

#[test]
fn groups_have_slots_of_the_alu_and_literals() {
    let literal = |n: u32| alu_word0::SRC0_SEL.of(253) | alu_word0::SRC0_CHAN.of(n);
    let [mov0, mov1] = op2(alu_op2::MOV, 0, false);
    let [again0, again1] = op2(alu_op2::MOV, 0, false);
    let [sin0, sin1] = op2(alu_op2::SIN, 1, true);
    let [mad0, _] = op2(0, 0, true);
    let mad1 = alu_word1_op3::ALU_INST.of(alu_op3::MULADD)
        | alu_word1_op3::SRC2_SEL.of(129)
        | alu_word1_op3::CLAMP.of(1);
    let program = with_clause(
        alu_clause(2, 6),
        &[
            [mov0 | literal(0), mov1 | alu_word1_op2::OMOD.of(2)],
            [sin0 | literal(2), sin1],
            [0x3f80_0000, 0],
            [0xffff_ffff, 0],
            [again0 | alu_word0::SRC0_SEL.of(255), again1],
            [
                mad0 | alu_word0::SRC1_SEL.of(260)
                    | alu_word0::SRC1_REL.of(1)
                    | alu_word0::INDEX_MODE.of(4),
                mad1,
            ],
        ],
    );
    assert_eq!(
        text(&program),
        [
            "0000: 00000002 20140000  ALU @0002 count=6",
            "0002: 000000fd 00000cd0    0 x: MOV R0.x, 0x3f800000(1.0), OMOD=M4",
            "0003: 800008fd 20003710    0 t: SIN R0.y, 0xffffffff(NaN)",
            "0004: 3f800000 00000000      0x3f800000(1.0) 0x00000000(0.0)",
            "0005: ffffffff 00000000      0xffffffff(NaN) 0x00000000(0.0)",
            "0006: 000000ff 00000c90    1 x: MOV R0.x, PS",
            "0007: 90608000 80020081    1 t: MULADD R0.x, R0.x, C[4+LOOP].x, KC0[1].x, CLAMP",
            "0001: 00000000 00200000  NOP END_OF_PROGRAM",
        ]
    );
}

#[test]
fn an_operation_without_a_free_slot_is_transcendental_on_the_map_that_has_it_there() {
    // LSHL_INT is transcendental on R6xx only.
    let program = |inst: u32| with_clause(alu_clause(2, 1), &[[alu_word0::LAST.of(1), inst]]);
    let shift = |database, inst| lines(database, &program(inst))[1].text.clone();
    let r6xx = mmio_r6xx::alu_word1_op2::ALU_INST.of(mmio_r6xx::alu_op2::LSHL_INT);
    let r7xx = alu_word1_op2::ALU_INST.of(mmio_r7xx::alu_op2::LSHL_INT);
    assert_eq!(shift(&R6XX, r6xx), "0 t: LSHL_INT ____, R0.x, R0.x");
    assert_eq!(shift(&R7XX, r7xx), "0 x: LSHL_INT ____, R0.x, R0.x");
}

#[test]
fn fetches_are_textures_buffers_semantics_memory_and_shares() {
    let select = tex_word1::DST_SEL_X.of(2)
        | tex_word1::DST_SEL_Y.of(4)
        | tex_word1::DST_SEL_Z.of(5)
        | tex_word1::DST_SEL_W.of(7);
    let program = with_clause(
        fetch_clause(cf::TEX, 2, 6),
        &[
            [tex::SAMPLE_L | (3 << 8) | (1 << 16), 4 | select],
            [(2 << 15) | (3 << 20), 0],
            [vtx::FETCH | (160 << 8) | (5 << 16), 1 | select | (1 << 21)],
            [16, 0],
            [vtx::SEMANTIC | (1 << 24), 9 | select],
            [0, 0],
            [2 | (1 << 12) | (6 << 16), 7 | select],
            [12 | (99 << 20), 0],
            [2 | (4 << 8) | (3 << 11), 5],
            [1, 0],
            [2 | (5 << 8) | (3 << 11) | (1 << 23), 8 | (1 << 9)],
            [0, 0],
        ],
    );
    let text: Vec<String> = lines(&R7XX, &program)
        .iter()
        .filter(|l| l.in_clause && !l.text.is_empty())
        .map(|l| {
            assert_eq!(l.notes, [], "{l}");
            l.text.clone()
        })
        .collect();
    assert_eq!(
        text,
        [
            "0 SAMPLE_L R4.z01_, R1.wxxx, RESOURCE_ID=3, SAMPLER_ID=2",
            "1 FETCH R1.z01_, R5.x, BUFFER_ID=160, USE_CONST_FIELDS OFFSET=0x10",
            "2 SEMANTIC semantic 9.z01_, R0.y, BUFFER_ID=0",
            "3 READ_SCRATCH R7.z01_, R6.x, INDEXED ARRAY_BASE=0xc ARRAY_SIZE=0x63",
            "4 DS_LOCAL_WRITE R3.xxxx, DST_INDEX=5 BURST_COUNT=1",
            "5 DS_LOCAL_READ R8, R3.xy, DST_WRX",
        ]
    );
}

#[test]
fn exports_have_kinds_and_memory_those_of_the_map() {
    let done = cf_alloc_export_word1_swiz::CF_INST.of(cf_export::EXPORT_DONE);
    let position = [
        cf_alloc_export_word0::TYPE.of(1)
            | cf_alloc_export_word0::ARRAY_BASE.of(60)
            | cf_alloc_export_word0::RW_GPR.of(3),
        done | 0o7_340 | cf_alloc_export_word1_swiz::BURST_COUNT.of(1) | (1 << 21),
    ];
    assert_eq!(
        lines(&R7XX, &[position])[0].text,
        "EXPORT_DONE POS 60, R3.x0w_ and the next 1, END_OF_PROGRAM"
    );
    // MEM_SCRATCH, all but z.
    let scratch = [(2 << 13) | 5, (0x24 << 23) | 0xb000 | 7 | (1 << 21)];
    let memory = |database| lines(database, &[scratch])[0].text.clone();
    assert_eq!(
        memory(&R6XX),
        "MEM_SCRATCH READ 5, R0.xy_w, ARRAY_SIZE=7 END_OF_PROGRAM"
    );
    assert_eq!(
        memory(&R7XX),
        "MEM_SCRATCH WRITE_ACK 5, R0.xy_w, ARRAY_SIZE=7 END_OF_PROGRAM"
    );
}

#[test]
fn the_fourth_bit_of_a_count_is_of_r7xx() {
    let clause = fetch_clause(cf::TEX, 1, 9);
    let count = |database| lines(database, &[clause])[0].text.clone();
    assert_eq!(count(&R7XX), "TEX @0001 count=9");
    assert_eq!(count(&R6XX), "TEX @0001 count=1");
}

#[test]
fn parts_behind_the_end_are_shown_if_something_leads_there() {
    let program = [
        control(cf::CALL, 4, false),
        control(cf::JUMP, 6, false),
        control(cf::NOP, 0, true),
        control(cf::NOP, 0, true),
        control(cf::NOP, 0, false),
        control(cf::RETURN, 0, false),
        control(cf::KILL, 0, true),
        control(cf::NOP, 0, true),
    ];
    let text: Vec<String> = lines(&R7XX, &program)
        .iter()
        .map(|l| format!("{} {}", l.slot, l.text))
        .collect();
    assert_eq!(
        text,
        [
            "0 CALL @0004",
            "1 JUMP @0006",
            "2 NOP END_OF_PROGRAM",
            "4 reached by a jump or a call",
            "4 NOP",
            "5 RETURN",
            "6 reached by a jump or a call",
            "6 KILL END_OF_PROGRAM",
            "3 up to 0003 not reached",
            "7 up to 0007 not reached",
        ]
    );
}

/// Return the slots of a program in the order in which they are shown. Remarks are in brackets.
fn order(slots: &[Slot]) -> String {
    let lines = lines(&R7XX, slots);
    let shown = lines.iter().map(|l| match l.words {
        Some(_) => l.slot.to_string(),
        None => format!("[{}]", l.slot),
    });
    shown.collect::<Vec<String>>().join(" ")
}

#[test]
fn a_return_that_something_jumps_over_does_not_end_its_part() {
    let program = [
        control(cf::CALL, 2, false),
        control(cf::NOP, 0, true),
        control(cf::JUMP, 4, false),
        control(cf::RETURN, 0, false),
        control(cf::RETURN, 0, false),
        control(cf::NOP, 0, true),
    ];
    assert_eq!(order(&program), "0 1 [2] 2 3 4 [5]");
}

#[test]
fn a_part_ends_at_its_return_although_it_calls_what_is_behind() {
    let program = [
        control(cf::CALL, 2, false),
        control(cf::NOP, 0, true),
        control(cf::CALL, 5, false),
        control(cf::RETURN, 0, false),
        control(cf::NOP, 0, false),
        control(cf::RETURN, 0, false),
    ];
    assert_eq!(order(&program), "0 1 [2] 2 3 [5] 5 [4]");
}

#[test]
fn a_loop_is_shown_once() {
    let program = [
        control(cf::LOOP_START_DX10, 2, false),
        control(cf::LOOP_END, 1, false),
        control(cf::NOP, 0, true),
    ];
    assert_eq!(lines(&R7XX, &program).len(), 3);
    assert_eq!(notes(&program), []);
}

#[test]
fn what_does_not_fit_is_marked() {
    let add = |chan, last| op2(alu_op2::ADD, chan, last);
    let one = |slot: Slot| with_clause(alu_clause(2, 1), &[slot]);
    let literal = [
        alu_word0::SRC0_SEL.of(253) | alu_word0::LAST.of(1),
        alu_word1_op2::ALU_INST.of(alu_op2::MOV),
    ];
    let selector = |n: u32| [alu_word0::SRC0_SEL.of(n) | alu_word0::LAST.of(1), 0];
    let sample = [[tex::SAMPLE, 0], [0, 0]];
    for (program, expected) in [
        (
            vec![control(0x1f, 0, true)],
            vec![Note::ReservedOpcode(0x1f)],
        ),
        // The operation of arithmetic clauses that later families have.
        (
            vec![[0, (0xc << 26) | (1 << 21)]],
            vec![Note::ReservedOpcode(0x60)],
        ),
        (one(op2(0x54, 0, true)), vec![Note::ReservedOpcode(0x54)]),
        (
            one([alu_word0::LAST.of(1), 31 << 13]),
            vec![Note::ReservedOpcode(31)],
        ),
        (
            // The lowest of the three bits alone makes it an instruction of three operands.
            one([alu_word0::LAST.of(1), 4 << 13]),
            vec![Note::ReservedOpcode(4)],
        ),
        (
            with_clause(fetch_clause(cf::TEX, 2, 1), &[[2 | (3 << 8), 0], [0, 0]]),
            vec![Note::ReservedOpcode(3)],
        ),
        (one(selector(200)), vec![Note::ReservedValue("SRC0_SEL")]),
        (
            one([alu_word0::LAST.of(1) | alu_word0::PRED_SEL.of(1), 0]),
            vec![Note::ReservedValue("PRED_SEL")],
        ),
        (
            vec![[0, (1 << 20) | (1 << 21)]],
            vec![Note::ReservedBits(1, 1 << 20)],
        ),
        (
            with_clause(fetch_clause(cf::TEX, 2, 1), &[[tex::SAMPLE, 0], [0, 5]]),
            vec![Note::ReservedBits(3, 5)],
        ),
        (
            with_clause(alu_clause(2, 2), &[add(0, true)]),
            vec![Note::ClauseOutside],
        ),
        (
            with_clause(alu_clause(0x3f_ffff, 1), &[]),
            vec![Note::ClauseOutside],
        ),
        (
            with_clause(fetch_clause(cf::TEX, 2, 2), &sample),
            vec![Note::ClauseOutside],
        ),
        (
            vec![control(cf::JUMP, 2, false), control(cf::NOP, 0, true)],
            vec![Note::TargetOutside],
        ),
        (
            vec![control(cf::CALL, u32::MAX, true)],
            vec![Note::TargetOutside],
        ),
        (vec![control(cf::NOP, 0, false)], vec![Note::NoEnd]),
        (
            with_clause(alu_clause(2, 1), &[add(0, false)]),
            vec![Note::Unfinished],
        ),
        (
            with_clause(alu_clause(2, 2), &[add(0, false), add(0, false)]),
            vec![Note::Unfinished],
        ),
        (
            with_clause(
                alu_clause(2, 3),
                &[add(0, false), add(0, false), add(0, true)],
            ),
            vec![Note::SlotTaken('t')],
        ),
        (
            with_clause(
                alu_clause(2, 2),
                &[op2(alu_op2::DOT4, 1, false), op2(alu_op2::DOT4, 1, true)],
            ),
            vec![Note::SlotTaken('y')],
        ),
        (
            with_clause(
                alu_clause(2, 6),
                &[
                    add(0, false),
                    add(1, false),
                    add(2, false),
                    add(3, false),
                    add(0, false),
                    add(0, true),
                ],
            ),
            vec![Note::GroupTooLong],
        ),
        (one(literal), vec![Note::LiteralOutside]),
        (
            with_clause(fetch_clause(cf::VTX, 2, 1), &sample),
            vec![Note::WrongClause],
        ),
        (
            with_clause(fetch_clause(cf::VTX, 2, 1), &[[vtx::FETCH, 0], [0, 0]]),
            vec![],
        ),
        (
            with_clause(fetch_clause(cf::TEX, 2, 1), &[[vtx::FETCH, 0], [0, 0]]),
            vec![],
        ),
    ] {
        assert_eq!(notes(&program), expected, "{:#?}", text(&program));
    }
}

#[test]
fn control_flow_in_a_clause_is_marked_from_both_sides() {
    let before = notes(&[alu_clause(0, 1), control(cf::NOP, 0, true)]);
    assert!(before.contains(&Note::Overlap), "{before:?}");
    let after = notes(&[alu_clause(1, 1), control(cf::NOP, 0, true)]);
    assert!(after.contains(&Note::Overlap), "{after:?}");
}

#[test]
fn half_a_slot_is_marked() {
    let lines: Vec<String> = disassemble(&R7XX, &[0, 1 << 21, 0x1234], 0)
        .expect("shaders")
        .map(|l| l.to_string())
        .collect();
    assert_eq!(
        lines,
        [
            "0000: 00000000 00200000  NOP END_OF_PROGRAM",
            "0001:  00001234  !! half a slot"
        ]
    );
    assert_eq!(disassemble(&R7XX, &[], 0).expect("shaders").count(), 0);
}
