// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Registers, constants and literals as text: `R3.x`, `-|R3.x|`, `KC0[5].y`, `R[3+AR_X].z`, `0x40500000(3.25)`.

use super::fields::Fields;

/// How operands are written that have another name in the database. The integers have an `i`, so that they are not
/// taken for floats.
const WRITTEN: &[(&str, &str)] = &[
    ("GPR", "R"),
    ("KCACHE0", "KC0"),
    ("KCACHE1", "KC1"),
    ("CONSTANT", "C"),
    ("SRC_0", "0.0"),
    ("SRC_1", "1.0"),
    ("SRC_1_INT", "1i"),
    ("SRC_M_1_INT", "-1i"),
    ("SRC_0_5", "0.5"),
];

/// Return a literal as text.
pub fn literal(word: u32) -> String {
    format!("{word:#010x}({:?})", f32::from_bits(word))
}

/// Return the operand `n` of an arithmetic instruction. `literals` are those of its group.
pub fn source(fields: &Fields, n: u32, literals: &[u32]) -> String {
    let field = |what: &str| format!("SRC{n}_{what}");
    let number = fields.get(&field("SEL"));
    let chan = component(fields, &field("CHAN"));
    let text = match fields.named(&field("SEL")) {
        None => format!("SEL{number}.{chan}"),
        Some(name) if name.value.name == "LITERAL" => {
            match literals.get(fields.get(&field("CHAN")) as usize) {
                Some(&word) => literal(word),
                None => format!("literal.{chan}"),
            }
        }
        Some(name) => {
            let known = name.value.name;
            let written = WRITTEN.iter().find(|(n, _)| *n == known);
            let text = written.map_or(known, |(_, text)| text);
            let range = name.value.last > name.value.value;
            let place = place(fields, text, range.then_some(name.index), &field("REL"));
            // The constants and the result of the transcendental slot have one component.
            if range || known == "PV" {
                format!("{place}.{chan}")
            } else {
                place
            }
        }
    };
    let text = match fields.any(&field("ABS")) {
        true => format!("|{text}|"),
        false => text,
    };
    match fields.any(&field("NEG")) {
        true => format!("-{text}"),
        false => text,
    }
}

/// Return the register of an arithmetic instruction's result.
pub fn destination(fields: &Fields) -> String {
    let register = place(fields, "R", Some(fields.get("DST_GPR")), "DST_REL");
    format!("{register}.{}", component(fields, "DST_CHAN"))
}

/// Return a place: `R3` of the registers, `KC0[3]` of others, and the sum with what it is relative to.
fn place(fields: &Fields, text: &str, index: Option<u32>, relative: &str) -> String {
    let base = fields
        .any(relative)
        .then(|| match fields.named("INDEX_MODE") {
            Some(name) => name.to_string(),
            None => format!("INDEX{}", fields.get("INDEX_MODE")),
        });
    match (index, base) {
        (Some(i), Some(base)) => format!("{text}[{i}+{base}]"),
        (Some(i), None) if text == "R" => format!("R{i}"),
        (Some(i), None) => format!("{text}[{i}]"),
        (None, Some(base)) => format!("{text}[{base}]"),
        (None, None) => text.to_owned(),
    }
}

/// Return the register of a fetch or an export, which can be relative to the loop index only.
pub fn register(fields: &Fields, name: &str, relative: &str) -> String {
    match fields.any(relative) {
        true => format!("R[{}+LOOP]", fields.get(name)),
        false => format!("R{}", fields.get(name)),
    }
}

/// Return the letter of one component that a field selects.
pub fn component(fields: &Fields, name: &str) -> char {
    let Some(named) = fields.named(name) else {
        return '?';
    };
    match named.value.name {
        "SEL_0" => '0',
        "SEL_1" => '1',
        "MASK" => '_',
        name => name.chars().next().unwrap_or('?').to_ascii_lowercase(),
    }
}

/// Return the components that four fields select, such as `.xyz1`; `prefix` is all of their names but the last letter.
/// Components without a field are left out.
pub fn swizzle(fields: &Fields, prefix: &str) -> String {
    let names = ["X", "Y", "Z", "W"].map(|c| format!("{prefix}{c}"));
    let letters: String = (names.iter())
        .filter(|name| fields.has(name))
        .map(|name| component(fields, name))
        .collect();
    if letters.is_empty() {
        letters
    } else {
        format!(".{letters}")
    }
}
