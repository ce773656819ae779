// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A compiler by other authors judges the disassembler of shaders: LLVM's R600 back end (`llc`) compiles `shaders/*.ll`
//! and prints both its own assembly text and the words of each instruction. Our text of these words must have the
//! same operations, registers, constants, literals, predicates and targets, on both encodings.
//!
//! What LLVM does not print, the test takes from the program or leaves out: kind and number of an export, buffers and
//! formats of vertex fetches, barriers, the end of the program.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use lapidary_decoder::isa::disassemble;
use lapidary_registers::Database;
use lapidary_registers::r600::{R6XX, R7XX};

/// Processors of LLVM, with the map of each.
static PROCESSORS: &[(&str, &Database)] = &[
    ("r600", &R6XX),
    ("rv670", &R6XX),
    ("rv770", &R7XX),
    ("rv710", &R7XX),
];

/// Operations that LLVM calls otherwise.
const NAMES: &[(&str, &str)] = &[
    ("ASHR", "ASHR_INT"),
    ("LSHR", "LSHR_INT"),
    ("LSHL", "LSHL_INT"),
    ("MULHI", "MULHI_UINT"),
    ("END_LOOP", "LOOP_END"),
    ("VTX_READ_eg", "FETCH"),
    ("TEX_SAMPLE", "SAMPLE"),
    ("TEX_SAMPLE_C", "SAMPLE_C"),
];

/// What `llc` prints of one instruction: text, and its words.
#[derive(Debug)]
struct Printed {
    text: String,
    words: Vec<u32>,
}

fn programs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/shaders");
    let mut all: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the programs")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    all.sort();
    assert!(all.len() >= 8, "{all:?}");
    all
}

fn compile(program: &Path, processor: &str) -> Vec<Printed> {
    let out = Command::new("llc")
        .args([
            "-march=r600",
            &format!("-mcpu={processor}"),
            "-show-mc-encoding",
            "-o",
            "-",
        ])
        .arg(program)
        .output()
        .expect("llc, of the package llvm");
    assert!(
        out.status.success(),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
    let text = String::from_utf8(out.stdout).expect("text");
    text.lines()
        .filter_map(|line| {
            let (text, bytes) = line.split_once("; encoding: [")?;
            let bytes: Vec<u8> = (bytes.trim_end_matches(']').split(','))
                .filter(|byte| !byte.is_empty())
                .map(|byte| u8::from_str_radix(&byte[2..], 16).expect("a byte"))
                .collect();
            let words = bytes.chunks_exact(4);
            Some(Printed {
                text: text.trim().to_owned(),
                words: words
                    .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
                    .collect(),
            })
        })
        .filter(|printed| !printed.words.is_empty())
        .collect()
}

/// Return the exports of a program in their order: `POS 60`.
fn exports(program: &Path) -> Vec<String> {
    let source = std::fs::read_to_string(program).expect("the program");
    let calls = source.lines().filter_map(|line| {
        let (_, arguments) = line
            .trim()
            .split_once("call void @llvm.r600.store.swizzle(")?;
        let numbers: Vec<usize> = (arguments.trim_end_matches(')').split("i32 ").skip(1))
            .map(|n| n.trim_end_matches(", ").parse().expect("a number"))
            .collect();
        Some(format!(
            "{} {}",
            ["PIXEL", "POS", "PARAM"][numbers[1]],
            numbers[0]
        ))
    });
    calls.collect()
}

fn named(name: &str) -> &str {
    let other = NAMES.iter().find(|(theirs, _)| *theirs == name);
    other.map_or(name, |(_, ours)| ours)
}

/// Spell `T3.XY_1` as `R3.xy_1`, `KC0[5].Y` as `KC0[5].y`, and the integers with an `i`.
fn operand(theirs: &str) -> String {
    if theirs.parse::<i32>().is_ok() {
        return format!("{theirs}i");
    }
    match theirs.strip_prefix('-') {
        Some(rest) if !rest.starts_with(|c: char| c.is_ascii_digit()) => {
            return format!("-{}", operand(rest));
        }
        _ => {}
    }
    if let Some(inner) = theirs.strip_prefix('|').and_then(|t| t.strip_suffix('|')) {
        return format!("|{}|", operand(inner));
    }
    let (register, components) = theirs.split_once('.').unwrap_or((theirs, ""));
    let register = match register.strip_prefix('T') {
        Some(number) => format!("R{number}"),
        None => register.to_owned(),
    };
    match components {
        "" => register,
        _ => format!("{register}.{}", components.to_lowercase()),
    }
}

/// Return what our text of an arithmetic instruction must be, behind the slot.
fn arithmetic(printed: &str, literals: &[u32]) -> String {
    let (name, rest) = printed.split_once(' ').expect("a name");
    let rest = rest.trim_start_matches([' ', '*']);
    let mut operands = Vec::new();
    let mut flags = [const { Vec::new() }; 3];
    // The first operand may be two destinations that are not written.
    let rest = rest
        .replace("Pred,PredicateBit", "Pred")
        .replace("ExecMask,PredicateBit", "ExecMask");
    for part in rest
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
    {
        let (part, swizzle) = match part.split_once("BS:") {
            Some((part, swizzle)) => (part.trim(), Some(swizzle.replace('/', "_"))),
            None => (part, None),
        };
        flags[2].extend(swizzle.map(|s| format!("BANK_SWIZZLE={s}")));
        match part {
            "" => {}
            "Pred_sel_zero" => flags[0].push("PRED_SEL=ZERO".to_owned()),
            "Pred_sel_one" => flags[0].push("PRED_SEL=ONE".to_owned()),
            _ if part.ends_with("(MASKED)") => {
                operands.push("____".to_owned());
                match part.split(' ').next() {
                    Some("Pred") => flags[1].push("UPDATE_PRED".to_owned()),
                    Some("ExecMask") => flags[1].push("UPDATE_EXECUTE_MASK".to_owned()),
                    _ => {}
                }
            }
            _ => match part.strip_prefix("literal.") {
                Some(component) => {
                    let index = "xyzw".find(component).expect("a component");
                    let word = literals[index];
                    operands.push(format!("{word:#010x}({:?})", f32::from_bits(word)));
                }
                None => operands.push(operand(part)),
            },
        }
    }
    let mut text = format!("{} {}", named(name), operands.join(", "));
    let flags: Vec<String> = flags.into_iter().flatten().collect();
    if !flags.is_empty() {
        text = format!("{text}, {}", flags.join(" "));
    }
    text
}

/// Return the parts of our text of an instruction of control flow or a fetch, which must all be there; the first is its
/// beginning.
fn others(printed: &str, export: &mut impl Iterator<Item = String>) -> Vec<String> {
    let (name, rest) = printed.split_once(' ').expect("a name");
    let words: Vec<&str> = rest.split([' ', ',']).filter(|w| !w.is_empty()).collect();
    let at = |text: &str| -> String {
        let target: usize = text.trim_start_matches('@').parse().expect("a slot");
        format!("@{target:04x}")
    };
    let mut parts = Vec::new();
    match name {
        "EXPORT" => {
            let kind = export.next().expect("an export of the program");
            parts.push(format!("EXPORT_DONE {kind}, {}", operand(words[0])));
        }
        "TEX" | "VTX" | "ALU" | "ALU_PUSH_BEFORE" => {
            let count: usize = words[0].parse().expect("a count");
            parts.push(format!("{name} {} count={}", at(words[1]), count + 1));
            for window in &words[2..] {
                // KC0[CB2:32-64], KC1[]
                let (number, inner) = (&window[2..3], &window[4..window.len() - 1]);
                let Some((bank, range)) = inner.trim_start_matches("CB").split_once(':') else {
                    continue;
                };
                let (first, end) = range.split_once('-').expect("a range");
                let line = |n: &str| n.parse::<usize>().expect("a constant") / 16;
                let mode = ["NOP", "LOCK_1", "LOCK_2"][line(end) - line(first)];
                parts.push(format!("KCACHE_MODE{number}={mode}"));
                for (field, n) in [
                    ("BANK", bank.parse().expect("a bank")),
                    ("ADDR", line(first)),
                ] {
                    if n != 0 {
                        parts.push(format!("KCACHE_{field}{number}={n}"));
                    }
                }
            }
        }
        _ if name.starts_with("TEX_") => {
            let number = |i: usize| words[i].split_once(':').expect("a number").1;
            parts.push(format!(
                "{} {}, {}, RESOURCE_ID={}, SAMPLER_ID={}",
                named(name),
                operand(words[0]),
                operand(words[1]),
                number(2),
                number(3)
            ));
            for (kind, c) in number(4).chars().zip(["X", "Y", "Z", "W"]) {
                if kind == 'N' {
                    parts.push(format!("COORD_TYPE_{c}"));
                }
            }
        }
        _ if name.starts_with("VTX_READ") => {
            let register = operand(words[0]);
            parts.push(format!(
                "{} {register}.xyzw, {}",
                named(name),
                operand(words[1])
            ));
        }
        _ => {
            parts.push(format!("{} {}", named(name), at(words[0])));
            if let Some(count) = words.get(1).and_then(|w| w.strip_prefix("POP:")) {
                parts.push(format!("POP_COUNT={count}"));
            }
        }
    }
    parts
}

/// Compare; an error is the first difference.
fn compare(
    printed: &[Printed],
    database: &'static Database,
    program: &Path,
) -> Result<usize, String> {
    let words: Vec<u32> = printed.iter().flat_map(|p| p.words.clone()).collect();
    let lines = disassemble(database, &words, 0).expect("a family with shaders");
    let ours: HashMap<usize, (String, bool)> = lines
        .filter(|line| line.words.is_some())
        .map(|line| (line.slot, (line.text, !line.notes.is_empty())))
        .collect();
    let mut export = exports(program).into_iter();
    let mut slot = 0;
    let mut group = None;
    let mut compared = 0;
    for (i, theirs) in printed.iter().enumerate() {
        let here = slot;
        slot += theirs.words.len() / 2;
        // LLVM ends a program twice and fills up to an even slot.
        if theirs.text == "CF_END" || theirs.text == "PAD" {
            continue;
        }
        let (text, noted) = ours
            .get(&here)
            .ok_or(format!("slot {here:#x} is not reached"))?;
        let fail = |expected: &str| {
            Err(format!(
                "slot {here:#x}: {}\n{expected}\n{text}",
                theirs.text
            ))
        };
        if *noted {
            return fail("without a mark");
        }
        if theirs
            .text
            .starts_with(|c: char| c == '-' || c.is_ascii_digit())
        {
            for word in &theirs.words {
                let literal = format!("{word:#010x}(");
                if !text.contains(&literal) {
                    return fail(&literal);
                }
            }
            continue;
        }
        compared += 1;
        let (first, rest) = text.split_once(' ').unwrap_or((text, ""));
        let is_arithmetic = theirs.text.contains(" * ") || theirs.text.contains("   ");
        if is_arithmetic {
            // Literals are behind the last instruction of the group, which has an asterisk.
            let literals: Vec<u32> = (printed[i..].iter())
                .skip_while(|p| !p.text.contains(" * "))
                .skip(1)
                .take_while(|p| p.text.starts_with(|c: char| c == '-' || c.is_ascii_digit()))
                .flat_map(|p| p.words.clone())
                .collect();
            let expected = arithmetic(&theirs.text, &literals);
            let (_, ours) = rest.split_once(": ").unwrap_or(("", rest));
            if ours != expected {
                return fail(&expected);
            }
            // A group has one number.
            if group.is_some_and(|group| group != first) {
                return fail("the same group");
            }
            group = (!theirs.text.contains(" * ")).then(|| first.to_owned());
        } else {
            let parts = others(&theirs.text, &mut export);
            let is_fetch = theirs.words.len() == 4;
            let ours = if is_fetch { rest } else { text };
            if !ours.starts_with(&parts[0])
                || !parts.iter().all(|part| ours.contains(part.as_str()))
            {
                return fail(&format!("{parts:?}"));
            }
            let types = parts
                .iter()
                .filter(|part| part.starts_with("COORD_TYPE"))
                .count();
            if ours.matches("COORD_TYPE").count() != types {
                return fail(&format!("{types} normalised coordinates"));
            }
        }
    }
    match export.next() {
        Some(missing) => Err(format!("{missing} is not exported")),
        None => Ok(compared),
    }
}

#[test]
fn a_compiler_and_the_disassembler_agree() {
    let mut compared = 0;
    for program in programs() {
        for &(processor, database) in PROCESSORS {
            let printed = compile(&program, processor);
            match compare(&printed, database, &program) {
                Ok(n) => compared += n,
                Err(e) => panic!("{} for {processor}: {e}", program.display()),
            }
        }
    }
    assert!(compared > 600, "{compared} instructions");
}

#[test]
fn a_program_with_arithmetic_is_not_taken_for_one_of_the_other_encoding() {
    for program in programs() {
        for (processor, database) in [("rv670", &R7XX), ("rv770", &R6XX)] {
            let printed = compile(&program, processor);
            let result = compare(&printed, database, &program);
            assert!(result.is_err(), "{} for {processor}", program.display());
        }
    }
}
