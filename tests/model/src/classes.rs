// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The table by which a family says what its model makes of each register, and what must hold of it: "not implemented"
//! is to be known and not overlooked.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use lapidary_registers::Register;

use crate::registers::Class;

/// Registers of one block.
pub enum Names {
    /// By name.
    These(&'static [&'static str]),
    /// All that the block's other lists leave.
    Rest,
}

/// The registers of a block of the database.
pub struct Block {
    /// The block.
    pub name: &'static str,
    /// On which the model acts.
    pub implemented: &'static [&'static str],
    /// Which it stores, for these reasons.
    pub stored: &'static [(&'static str, Names)],
    /// At which hardware does something that the model does not.
    pub missing: &'static [&'static str],
}

/// Return the class of a register; none if the table forgets it.
pub fn class(table: &[Block], register: &Register) -> Option<Class> {
    let block = table.iter().find(|b| b.name == register.block)?;
    if block.implemented.contains(&register.name) {
        return Some(Class::Implemented);
    }
    if block.missing.contains(&register.name) {
        return Some(Class::Missing);
    }
    let named = block
        .stored
        .iter()
        .find(|(_, names)| matches!(names, Names::These(n) if n.contains(&register.name)));
    let rest = block
        .stored
        .iter()
        .find(|(_, names)| matches!(names, Names::Rest));
    named.or(rest).map(|(reason, _)| Class::Stored(reason))
}

/// Return what is wrong with a table for those registers, a line each: registers without a class, names that are no
/// registers or that stand there twice.
pub fn mistakes(table: &[Block], registers: &[Register]) -> Vec<String> {
    let mut out = Vec::new();
    for r in registers.iter().filter(|r| class(table, r).is_none()) {
        out.push(format!("{} of {} has no class", r.name, r.block));
    }
    let mut blocks = BTreeSet::new();
    for block in table {
        if !blocks.insert(block.name) {
            out.push(format!("block {} stands there twice", block.name));
        }
        let known: BTreeSet<_> = registers
            .iter()
            .filter(|r| r.block == block.name)
            .map(|r| r.name)
            .collect();
        if known.is_empty() {
            out.push(format!("no register is in block {}", block.name));
        }
        let mut once = BTreeSet::new();
        for name in names(block) {
            if !known.contains(name) {
                out.push(format!("{name} is not in {}", block.name));
            }
            if !once.insert(name) {
                out.push(format!("{name} of {} stands there twice", block.name));
            }
        }
        let rests = block.stored.iter().map(|(_, names)| names);
        if rests.filter(|names| matches!(names, Names::Rest)).count() > 1 {
            out.push(format!("{} has two rests", block.name));
        }
    }
    out
}

fn names(block: &Block) -> impl Iterator<Item = &'static str> {
    let stored = block.stored.iter().filter_map(|(_, names)| match names {
        Names::These(names) => Some(*names),
        Names::Rest => None,
    });
    let lists = [block.implemented, block.missing].into_iter().chain(stored);
    lists.flat_map(|names| names.iter().copied())
}

/// Return where a table and the code in a folder contradict each other, a line each: a register that is called
/// implemented and that no code names, or the other way round. Code may name the registers in `only_set` without acting
/// on them: what a posted card shows, the ends of ranges.
///
/// The firmware writes registers as a driver does, and tests are not the model: neither counts as code.
///
/// # Errors
/// If the folder cannot be read.
pub fn contradictions(
    table: &[Block],
    registers: &[Register],
    folder: &Path,
    only_set: &[&str],
) -> std::io::Result<Vec<String>> {
    let mut text = String::new();
    gather(folder, &mut text)?;
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let code: BTreeSet<&str> = words.collect();
    let mut out = Vec::new();
    for r in registers {
        let implemented = class(table, r) == Some(Class::Implemented);
        let named = code.contains(r.name);
        if implemented && !named {
            out.push(format!(
                "{} is called implemented, and no code names it",
                r.name
            ));
        }
        if !implemented && named && !only_set.contains(&r.name) {
            out.push(format!(
                "code names {}, which is not called implemented",
                r.name
            ));
        }
    }
    Ok(out)
}

fn gather(folder: &Path, text: &mut String) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() && name != "tests" {
            gather(&path, text)?;
        } else if name.ends_with(".rs") && name != "classes.rs" && name != "firmware.rs" {
            let file = fs::read_to_string(&path)?;
            let code = file.split("#[cfg(test)]\nmod tests {").next();
            text.push_str(code.unwrap_or_default());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use lapidary_registers::{Access, Domain};

    const fn register(block: &'static str, name: &'static str) -> Register {
        Register {
            domain: Domain::MMIO,
            block,
            name,
            manual: name,
            offset: 0,
            len: 1,
            stride: 4,
            access: Access::ReadWrite,
            default: None,
            doc: "",
            source: "",
            variants: &[],
            overlay_of: None,
            mirror_of: None,
            fields: &[],
        }
    }

    static REGISTERS: &[Register] = &[
        register("A", "ACTS"),
        register("A", "KEEPS"),
        register("A", "LACKS"),
        register("B", "OTHER"),
    ];

    static TABLE: &[Block] = &[
        Block {
            name: "A",
            implemented: &["ACTS"],
            stored: &[("because", Names::Rest)],
            missing: &["LACKS"],
        },
        Block {
            name: "B",
            implemented: &[],
            stored: &[("because", Names::These(&["OTHER"]))],
            missing: &[],
        },
    ];

    #[test]
    fn a_table_gives_classes() {
        let classes: Vec<_> = REGISTERS.iter().map(|r| class(TABLE, r)).collect();
        let stored = Some(Class::Stored("because"));
        assert_eq!(
            classes,
            [
                Some(Class::Implemented),
                stored,
                Some(Class::Missing),
                stored
            ]
        );
        assert!(mistakes(TABLE, REGISTERS).is_empty());
    }

    #[test]
    fn mistakes_are_named() {
        let table = [
            Block {
                name: "A",
                implemented: &["ACTS", "NONE"],
                stored: &[("because", Names::These(&["ACTS"]))],
                missing: &[],
            },
            Block {
                name: "C",
                implemented: &[],
                stored: &[("", Names::Rest), ("", Names::Rest)],
                missing: &[],
            },
        ];
        assert_eq!(
            mistakes(&table, REGISTERS),
            [
                "KEEPS of A has no class",
                "LACKS of A has no class",
                "OTHER of B has no class",
                "NONE is not in A",
                "ACTS of A stands there twice",
                "no register is in block C",
                "C has two rests",
            ]
        );
    }

    #[test]
    fn code_and_table_are_compared() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/atom");
        // "Card" is a word of that code and not of its firmware or tests.
        let named = [register("A", "Card"), register("A", "no_such_word")];
        let implemented = [Block {
            name: "A",
            implemented: &["no_such_word"],
            stored: &[("because", Names::Rest)],
            missing: &[],
        }];
        let found = contradictions(&implemented, &named, &folder, &[]).unwrap();
        assert_eq!(
            found,
            [
                "code names Card, which is not called implemented",
                "no_such_word is called implemented, and no code names it"
            ]
        );
        let found = contradictions(&implemented, &named, &folder, &["Card"]).unwrap();
        assert_eq!(found.len(), 1);
    }
}
