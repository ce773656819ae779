// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Exports to the next stage, and accesses of control flow to memory, as text.

use super::fields::Fields;
use super::operand;

/// What the text of an export says in another way than by the name of the field.
const SHOWN: &[&str] = &[
    "TYPE",
    "ARRAY_BASE",
    "RW_GPR",
    "RW_REL",
    "SEL_X",
    "SEL_Y",
    "SEL_Z",
    "SEL_W",
    "COMP_MASK",
    "BURST_COUNT",
    "CF_INST",
];

/// Return kind, place, registers and the rest: `PIXEL 0, R0.xyz1, …`.
pub fn text(fields: &Fields) -> String {
    let kind = match fields.named("TYPE") {
        Some(name) => name.to_string(),
        None => format!("TYPE={}", fields.get("TYPE")),
    };
    let first = operand::register(fields, "RW_GPR", "RW_REL");
    let components = match fields.has("COMP_MASK") {
        true => mask(fields.get("COMP_MASK")),
        false => operand::swizzle(fields, "SEL_"),
    };
    let mut text = format!("{kind} {}, {first}{components}", fields.get("ARRAY_BASE"));
    if fields.any("BURST_COUNT") {
        text = format!("{text} and the next {}", fields.get("BURST_COUNT"));
    }
    match fields.rest(SHOWN) {
        rest if rest.is_empty() => text,
        rest => format!("{text}, {rest}"),
    }
}

/// Return the components of a mask: `.xy_w`.
fn mask(bits: u32) -> String {
    let letters = ['x', 'y', 'z', 'w'].into_iter().enumerate();
    let letters = letters.map(|(i, c)| if bits & (1 << i) != 0 { c } else { '_' });
    std::iter::once('.').chain(letters).collect()
}
