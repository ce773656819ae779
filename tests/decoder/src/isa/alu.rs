// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Clauses of arithmetic: groups of instructions, one for each slot of the ALU, and their literals.
//!
//! An instruction goes to the slot of the component that it writes. It goes to the transcendental slot, t, if it can be
//! only there, or if it can be anywhere and another instruction has the slot of its component (Mesa, `r600_asm.c`).
//! Operands name literals by component, so four dwords of literals are the most; they fill whole slots.

use lapidary_registers::{Database, Instruction};

use super::fields::Fields;
use super::line::{Line, Note};
use super::{lookup, operand};

/// The slots of the ALU.
const SLOTS: [char; 5] = ['x', 'y', 'z', 'w', 't'];

/// The transcendental one.
const TRANS: usize = 4;

/// What the text of an instruction says in another way than by the name of the field.
const SHOWN: &[&str] = &[
    "LAST",
    "ENCODING",
    "ALU_INST",
    "DST_GPR",
    "DST_REL",
    "DST_CHAN",
    "WRITE_MASK",
];

/// One instruction of a group.
struct Operation {
    fields: Fields,
    number: u32,
    instruction: Option<&'static Instruction>,
    sources: u32,
    writes: bool,
}

impl Operation {
    fn new(database: &Database, [word0, word1]: [u32; 2]) -> Operation {
        let form = Fields::new(database, &[("ALU_WORD1", word1)]);
        let (layout, table, most) = if form.named("ENCODING").is_some() {
            ("ALU_WORD1_OP2", "alu_op2", 2)
        } else {
            ("ALU_WORD1_OP3", "alu_op3", 3)
        };
        let (number, instruction) = lookup(database, table, word1).unwrap_or((0, None));
        let fields = Fields::new(database, &[("ALU_WORD0", word0), (layout, word1)]);
        Operation {
            number,
            instruction,
            sources: instruction.and_then(|i| i.sources).unwrap_or(most),
            // The form with three operands has no mask.
            writes: !fields.has("WRITE_MASK") || fields.any("WRITE_MASK"),
            fields,
        }
    }

    /// Return how many dwords of literals the group has for this instruction.
    fn literals(&self) -> u32 {
        (0..self.sources)
            .filter(|n| {
                let name = self.fields.named(&format!("SRC{n}_SEL"));
                name.is_some_and(|name| name.value.name == "LITERAL")
            })
            .map(|n| self.fields.get(&format!("SRC{n}_CHAN")) + 1)
            .max()
            .unwrap_or(0)
    }

    /// Return the slot of the ALU where it goes, and whether that was free.
    fn place(&self, taken: &mut [bool; 5]) -> (char, bool) {
        let own = (self.fields.get("DST_CHAN") as usize).min(TRANS - 1);
        let slot = match self.instruction.map_or("any", |i| i.slots) {
            "trans" => TRANS,
            "any" if taken[own] => TRANS,
            _ => own,
        };
        let free = !taken[slot];
        taken[slot] = true;
        (SLOTS[slot], free)
    }

    fn text(&self, literals: &[u32]) -> String {
        let mut text = match self.instruction {
            Some(i) => i.name.to_owned(),
            None => format!("ALU_INST={:#x}", self.number),
        };
        let destination = match self.writes {
            true => operand::destination(&self.fields),
            false => "____".to_owned(),
        };
        let sources = (0..self.sources).map(|n| operand::source(&self.fields, n, literals));
        let operands: Vec<String> = std::iter::once(destination).chain(sources).collect();
        text = format!("{text} {}", operands.join(", "));
        let mut shown: Vec<String> = SHOWN.iter().map(|&s| s.to_owned()).collect();
        for n in 0..self.sources {
            shown.extend(["SEL", "REL", "CHAN", "NEG", "ABS"].map(|f| format!("SRC{n}_{f}")));
        }
        if self.relative() {
            shown.push("INDEX_MODE".to_owned());
        }
        let shown: Vec<&str> = shown.iter().map(String::as_str).collect();
        match self.fields.rest(&shown) {
            rest if rest.is_empty() => text,
            rest => format!("{text}, {rest}"),
        }
    }

    /// Return whether the text names what operands are relative to.
    fn relative(&self) -> bool {
        (0..self.sources).any(|n| self.fields.any(&format!("SRC{n}_REL")))
            || (self.writes && self.fields.any("DST_REL"))
    }
}

/// Return the lines of a clause: `slots` of a program, of which the first is at `at`. `group` counts the groups.
pub fn clause(database: &Database, slots: &[[u32; 2]], at: usize, group: &mut usize) -> Vec<Line> {
    let mut lines = Vec::with_capacity(slots.len());
    let mut rest = slots;
    while !rest.is_empty() {
        let is_last =
            |words: &[u32; 2]| Fields::new(database, &[("ALU_WORD0", words[0])]).any("LAST");
        let last = rest.iter().take(SLOTS.len()).position(is_last);
        let count = last.map_or(rest.len().min(SLOTS.len()), |n| n + 1);
        let (now, behind) = rest.split_at(count);
        let operations: Vec<Operation> = (now.iter())
            .map(|&words| Operation::new(database, words))
            .collect();

        let wanted = operations
            .iter()
            .map(Operation::literals)
            .max()
            .unwrap_or(0) as usize;
        let (literals, behind) = behind.split_at(wanted.div_ceil(2).min(behind.len()));
        let values: Vec<u32> = literals.iter().flatten().copied().collect();

        let mut taken = [false; 5];
        for (operation, &words) in operations.iter().zip(now) {
            let (slot, free) = operation.place(&mut taken);
            let mut notes = operation.fields.notes();
            if operation.instruction.is_none() {
                notes.push(Note::ReservedOpcode(operation.number));
            }
            if !free {
                notes.push(Note::SlotTaken(slot));
            }
            if operation.literals() as usize > values.len() {
                notes.push(Note::LiteralOutside);
            }
            let text = format!("{group} {slot}: {}", operation.text(&values));
            lines.push(line(at + lines.len(), words, text, notes));
        }
        if let (None, Some(line)) = (last, lines.last_mut()) {
            line.notes.push(match count == SLOTS.len() {
                true => Note::GroupTooLong,
                false => Note::Unfinished,
            });
        }
        for &words in literals {
            let text = words.map(operand::literal).join(" ");
            lines.push(line(
                at + lines.len(),
                words,
                format!("  {text}"),
                Vec::new(),
            ));
        }
        *group += 1;
        rest = behind;
    }
    lines
}

fn line(slot: usize, words: [u32; 2], text: String, notes: Vec<Note>) -> Line {
    Line {
        slot,
        words: Some(words),
        in_clause: true,
        text,
        notes,
    }
}
