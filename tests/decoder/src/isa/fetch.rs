// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Clauses of fetches: from buffers, from textures, and on R7xx from memory and the data shares.
//!
//! All have the number of the operation in the same bits, and no number means both a buffer's and a texture's. So the
//! number alone says how the words are laid out. Texture fetches cannot be in a clause for the vertex cache; fetches
//! from buffers can be in any.

use lapidary_registers::{Database, Instruction};

use super::fields::Fields;
use super::line::{Line, Note};
use super::{lookup, operand};

/// Words of a fetch; the last one is zero.
const WORDS: usize = 4;

/// A fetch: what it is, its fields, and the number if it is none.
struct Fetch {
    instruction: Option<&'static Instruction>,
    number: u32,
    fields: Fields,
    texture: bool,
}

impl Fetch {
    fn new(database: &Database, words: [u32; WORDS]) -> Fetch {
        let (number, vertex) = lookup(database, "vtx", words[0]).unwrap_or((0, None));
        if let Some(instruction) = vertex {
            if instruction.flags.contains(&"memory") {
                return Fetch::memory(database, words);
            }
            let second = match instruction.flags.contains(&"semantic") {
                true => "VTX_WORD1_SEM",
                false => "VTX_WORD1_GPR",
            };
            return Fetch {
                instruction: vertex,
                number,
                fields: Fields::new(
                    database,
                    &[
                        ("VTX_WORD0", words[0]),
                        (second, words[1]),
                        ("VTX_WORD2", words[2]),
                    ],
                ),
                texture: false,
            };
        }
        let (number, instruction) = lookup(database, "tex", words[0]).unwrap_or((number, None));
        Fetch {
            instruction,
            number,
            fields: Fields::new(
                database,
                &[
                    ("TEX_WORD0", words[0]),
                    ("TEX_WORD1", words[1]),
                    ("TEX_WORD2", words[2]),
                ],
            ),
            texture: instruction.is_some(),
        }
    }

    /// Return an access to memory or a data share. The tables of these have a word each, of three that belong together.
    fn memory(database: &Database, words: [u32; WORDS]) -> Fetch {
        let tables = database
            .instructions
            .iter()
            .filter(|t| t.name.starts_with("mem_"));
        let mut number = 0;
        for table in tables {
            let Some((n, instruction)) = lookup(database, table.name, words[0]) else {
                continue;
            };
            number = n;
            if instruction.is_some() {
                let name = |i: usize| format!("{}{i}", table.word.trim_end_matches('0'));
                return Fetch {
                    instruction,
                    number,
                    fields: Fields::new(
                        database,
                        &[
                            (&name(0), words[0]),
                            (&name(1), words[1]),
                            (&name(2), words[2]),
                        ],
                    ),
                    texture: false,
                };
            }
        }
        Fetch {
            instruction: None,
            number,
            fields: Fields::new(database, &[("", words[0]), ("", words[1]), ("", words[2])]),
            texture: false,
        }
    }

    fn text(&self) -> String {
        let fields = &self.fields;
        let name = match self.instruction {
            Some(i) => i.name.to_owned(),
            None => format!("INST={:#x}", self.number),
        };
        let mut operands = Vec::new();
        if fields.has("DST_GPR") {
            let register = operand::register(fields, "DST_GPR", "DST_REL");
            operands.push(register + &operand::swizzle(fields, "DST_SEL_"));
        } else if fields.has("SEMANTIC_ID") {
            let semantic = format!("semantic {}", fields.get("SEMANTIC_ID"));
            operands.push(semantic + &operand::swizzle(fields, "DST_SEL_"));
        }
        if fields.has("SRC_GPR") {
            let register = operand::register(fields, "SRC_GPR", "SRC_REL");
            operands.push(register + &operand::swizzle(fields, "SRC_SEL_"));
        }
        for name in ["BUFFER_ID", "RESOURCE_ID", "SAMPLER_ID"] {
            if fields.has(name) {
                operands.push(format!("{name}={}", fields.get(name)));
            }
        }
        let rest = fields.rest(&[
            "VTX_INST",
            "TEX_INST",
            "MEM_OP",
            "DST_GPR",
            "DST_REL",
            "SEMANTIC_ID",
            "SRC_GPR",
            "SRC_REL",
            "BUFFER_ID",
            "RESOURCE_ID",
            "SAMPLER_ID",
            "DST_SEL_X",
            "DST_SEL_Y",
            "DST_SEL_Z",
            "DST_SEL_W",
            "SRC_SEL_X",
            "SRC_SEL_Y",
            "SRC_SEL_Z",
            "SRC_SEL_W",
        ]);
        if !rest.is_empty() {
            operands.push(rest);
        }
        if operands.is_empty() {
            name
        } else {
            format!("{name} {}", operands.join(", "))
        }
    }
}

/// Return the lines of a clause: `slots` of a program, of which the first is at `at`. `vertex`: the clause is for the
/// vertex cache. `group` counts the fetches, too.
pub fn clause(
    database: &Database,
    slots: &[[u32; 2]],
    at: usize,
    vertex: bool,
    group: &mut usize,
) -> Vec<Line> {
    let mut lines = Vec::with_capacity(slots.len());
    for pair in slots.chunks(WORDS / 2) {
        let second = pair.get(1).copied();
        let [word2, word3] = second.unwrap_or_default();
        let fetch = Fetch::new(database, [pair[0][0], pair[0][1], word2, word3]);
        let mut notes = fetch.fields.notes();
        if fetch.instruction.is_none() {
            notes.push(Note::ReservedOpcode(fetch.number));
        }
        if word3 != 0 {
            notes.push(Note::ReservedBits(WORDS - 1, word3));
        }
        if vertex && fetch.texture {
            notes.push(Note::WrongClause);
        }
        let line = |slot, words, text, notes| Line {
            slot,
            words: Some(words),
            in_clause: true,
            text,
            notes,
        };
        let text = format!("{group} {}", fetch.text());
        lines.push(line(at + lines.len(), pair[0], text, notes));
        if let Some(words) = second {
            lines.push(line(at + lines.len(), words, String::new(), Vec::new()));
        }
        *group += 1;
    }
    lines
}
