// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What must hold of the instructions of shaders: how many there are of each kind, and that every number can be put
//! into its word and found again.

use lapidary_registers::r600::{R6XX, R7XX, isa};
use lapidary_registers::{DATABASES, Database, Instruction};

/// Return all arithmetic instructions of a database.
fn arithmetic(database: &Database) -> Vec<&'static Instruction> {
    ["alu_op2", "alu_op3"]
        .iter()
        .flat_map(|name| {
            let table = database.instructions.iter().find(|t| t.name == *name);
            table.expect("a table of that name").instructions
        })
        .collect()
}

fn in_slots(all: &[&Instruction], slots: &str) -> usize {
    all.iter().filter(|i| i.slots == slots).count()
}

#[test]
fn every_arithmetic_instruction_is_there_with_its_slots() {
    for (database, total, any, trans) in [(&R6XX, 137, 89, 27), (&R7XX, 136, 92, 23)] {
        let all = arithmetic(database);
        assert_eq!(all.len(), total, "{}", database.name);
        assert_eq!(in_slots(&all, "any"), any, "{}", database.name);
        assert_eq!(in_slots(&all, "trans"), trans, "{}", database.name);
        assert_eq!(in_slots(&all, "vector"), 17, "{}", database.name);
        assert_eq!(in_slots(&all, "reduction"), 4, "{}", database.name);
        let three = all.iter().filter(|i| i.sources == Some(3)).count();
        assert_eq!(three, 22, "{}", database.name);
    }
}

#[test]
fn tables_have_what_their_generation_has() {
    let count = |database: &Database, name: &str| {
        let table = database.instructions.iter().find(|t| t.name == name);
        table.map_or(0, |t| t.instructions.len())
    };
    for (name, r6xx, r7xx) in [
        ("cf", 26, 30),
        ("cf_alu", 7, 7),
        ("cf_export", 2, 2),
        ("cf_memory", 7, 8),
        ("vtx", 2, 3),
        ("tex", 28, 29),
        ("mem_rd", 0, 3),
        ("mem_dsw", 0, 1),
        ("mem_dsr", 0, 1),
        ("mem_gds", 0, 2),
    ] {
        assert_eq!(count(&R6XX, name), r6xx, "{name} of R6xx");
        assert_eq!(count(&R7XX, name), r7xx, "{name} of R7xx");
    }
}

#[test]
fn every_field_of_an_instruction_word_is_described() {
    for database in [&R6XX, &R7XX] {
        for word in database.words {
            for field in word.fields {
                assert!(!field.doc.is_empty(), "{}.{}", word.name, field.name);
            }
        }
    }
}

#[test]
fn instructions_with_three_operands_have_a_table_of_their_own() {
    for database in [&R6XX, &R7XX] {
        for table in database.instructions {
            let three = table.name == "alu_op3";
            for i in table.instructions {
                assert_eq!(i.sources == Some(3), three, "{}", i.name);
            }
        }
    }
}

#[test]
fn a_number_put_into_its_word_is_found_again() {
    for database in DATABASES {
        for table in database.instructions {
            let word = database.word(table.word).expect("the table's word");
            let field = word.field(table.field).expect("the table's field").field;
            for i in table.instructions {
                // All other bits set: a number that does not fit, or a field too narrow, is seen.
                let encoded = field.put(u32::MAX, i.opcode);
                let found = table.instruction(field.get(encoded)).expect("the number");
                assert_eq!(found.name, i.name, "{} of {}", table.name, database.name);
            }
        }
    }
}

#[test]
fn the_second_word_of_two_operands_differs_between_the_encodings() {
    use isa::alu_op2::SETGT;
    use isa::{mmio_r6xx, mmio_r7xx};

    assert_eq!(mmio_r6xx::alu_word1_op2::ALU_INST.of(SETGT), 0x0000_0900);
    assert_eq!(mmio_r7xx::alu_word1_op2::ALU_INST.of(SETGT), 0x0000_0480);
    assert_eq!(mmio_r6xx::alu_word1_op2::OMOD.mask(), 0x0000_00c0);
    assert_eq!(mmio_r7xx::alu_word1_op2::OMOD.mask(), 0x0000_0060);
    let fog = |d: &Database| {
        d.word("ALU_WORD1_OP2")
            .map(|w| w.field("FOG_MERGE").is_some())
    };
    assert_eq!((fog(&R6XX), fog(&R7XX)), (Some(true), Some(false)));
}

#[test]
fn shifts_left_the_transcendental_slot_with_r7xx() {
    for name in ["ASHR_INT", "LSHR_INT", "LSHL_INT"] {
        let slots = |database| {
            let all = arithmetic(database);
            all.iter().find(|i| i.name == name).map(|i| i.slots)
        };
        assert_eq!(
            (slots(&R6XX), slots(&R7XX)),
            (Some("trans"), Some("any")),
            "{name}"
        );
    }
    let has = |d| arithmetic(d).iter().any(|i| i.name == "MOVA_GPR_INT");
    assert!(has(&R6XX) && !has(&R7XX));
}

#[test]
fn operands_have_the_numbers_of_both_public_drivers() {
    for database in [&R6XX, &R7XX] {
        let word = database.word("ALU_WORD0").expect("the word");
        let select = word.field("SRC0_SEL").expect("the selector");
        let name = |n: u32| select.named(n).map(|name| name.to_string());
        for (n, expected) in [
            (0, "GPR[0]"),
            (127, "GPR[127]"),
            (128, "KCACHE0[0]"),
            (159, "KCACHE0[31]"),
            (160, "KCACHE1[0]"),
            (191, "KCACHE1[31]"),
            (248, "SRC_0"),
            (252, "SRC_0_5"),
            (253, "LITERAL"),
            (254, "PV"),
            (255, "PS"),
            (256, "CONSTANT[0]"),
            (511, "CONSTANT[255]"),
        ] {
            assert_eq!(name(n).as_deref(), Some(expected), "{n}");
        }
        assert_eq!((name(192), name(243)), (None, None));
        assert_eq!(
            word.describe(128 + 3),
            "SRC0_SEL=KCACHE0[3] SRC0_CHAN=X SRC1_SEL=GPR[0] \
            SRC1_CHAN=X INDEX_MODE=AR_X PRED_SEL=OFF"
        );
    }
}

#[test]
fn a_word_of_control_flow_belongs_to_one_table() {
    for database in [&R6XX, &R7XX] {
        let tables: Vec<_> = (database.instructions.iter())
            .filter(|t| t.name.starts_with("cf"))
            .collect();
        assert_eq!(tables.len(), 4);
        // All numbers of the widest field, which has the others inside.
        for n in 0..128 {
            let encoded = n << 23;
            let known = tables.iter().filter(|t| {
                let word = database.word(t.word).expect("the table's word");
                let field = word.field(t.field).expect("the table's field").field;
                t.instruction(field.get(encoded)).is_some()
            });
            assert!(known.count() <= 1, "{n:#x} of {}", database.name);
        }
    }
}
