// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Control flow of a program, and the clauses that it starts.
//!
//! The walk goes from slot to slot and never jumps. A target that it does not pass is kept, and the walk goes there when
//! it has come to an end: an instruction with END_OF_PROGRAM, a return behind which nothing jumps, or the end of the
//! program. It visits each slot once, so that it always ends.

use std::collections::{BTreeSet, VecDeque};

use lapidary_registers::{Database, Instruction};

use super::fields::Fields;
use super::line::{Line, Note};
use super::{alu, export, fetch, lookup};

/// The lines of a program, in order of control flow.
pub struct Listing {
    database: &'static Database,
    slots: Vec<[u32; 2]>,
    /// A dword behind the last slot.
    half: Option<u32>,
    /// Slots that were shown as control flow, and in clauses.
    flow: Vec<bool>,
    clauses: Vec<bool>,
    /// The next slot; `None` at the end of a part.
    at: Option<usize>,
    /// The farthest target of the part.
    reach: usize,
    /// Targets.
    pending: BTreeSet<usize>,
    groups: usize,
    ready: VecDeque<Line>,
    ended: bool,
}

/// Return the lines of the program in `words`, whose control flow begins at slot `start`. `None` if the database has no
/// instructions of shaders.
pub fn disassemble(database: &'static Database, words: &[u32], start: usize) -> Option<Listing> {
    if database.instructions.is_empty() {
        return None;
    }
    let slots: Vec<[u32; 2]> = words.chunks_exact(2).map(|w| [w[0], w[1]]).collect();
    Some(Listing {
        database,
        half: words.get(slots.len() * 2).copied(),
        flow: vec![false; slots.len()],
        clauses: vec![false; slots.len()],
        at: (start < slots.len()).then_some(start),
        slots,
        reach: 0,
        pending: BTreeSet::new(),
        groups: 0,
        ready: VecDeque::new(),
        ended: false,
    })
}

/// One instruction of control flow.
struct Flow {
    instruction: Option<&'static Instruction>,
    number: u32,
    fields: Fields,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    Alu,
    Export,
}

/// The tables of control flow, the layouts of both words, and what kind it is. No number is in two of them.
const TABLES: &[(&str, &str, &str, Kind)] = &[
    ("cf", "CF_WORD0", "CF_WORD1", Kind::Plain),
    ("cf_alu", "CF_ALU_WORD0", "CF_ALU_WORD1", Kind::Alu),
    (
        "cf_export",
        "CF_ALLOC_EXPORT_WORD0",
        "CF_ALLOC_EXPORT_WORD1_SWIZ",
        Kind::Export,
    ),
    (
        "cf_memory",
        "CF_ALLOC_EXPORT_WORD0_BUF",
        "CF_ALLOC_EXPORT_WORD1_BUF",
        Kind::Export,
    ),
];

impl Flow {
    fn new(database: &Database, [word0, word1]: [u32; 2]) -> Flow {
        let fields = |first, second| Fields::new(database, &[(first, word0), (second, word1)]);
        for &(table, first, second, kind) in TABLES {
            if let Some((number, Some(instruction))) = lookup(database, table, word1) {
                return Flow {
                    instruction: Some(instruction),
                    number,
                    fields: fields(first, second),
                    kind,
                };
            }
        }
        let number = lookup(database, "cf", word1).map_or(0, |(number, _)| number);
        Flow {
            instruction: None,
            number,
            fields: fields("CF_WORD0", "CF_WORD1"),
            kind: Kind::Plain,
        }
    }

    fn is(&self, flag: &str) -> bool {
        self.instruction.is_some_and(|i| i.flags.contains(&flag))
    }

    /// Return the slots of the clause, if it starts one; they may lie outside of the program.
    fn clause(&self) -> Option<(usize, usize)> {
        let count = self.fields.get("COUNT");
        let slots = match self.kind {
            Kind::Alu => count + 1,
            Kind::Plain if self.is("clause") => {
                2 * ((self.fields.get("COUNT_3") << self.fields.width("COUNT")) + count + 1)
            }
            _ => return None,
        };
        Some((self.fields.get("ADDR") as usize, slots as usize))
    }

    /// Return where it may jump.
    fn target(&self) -> Option<usize> {
        self.is("jump").then(|| self.fields.get("ADDR") as usize)
    }

    fn text(&self) -> String {
        let name = match self.instruction {
            Some(i) => i.name.to_owned(),
            None => format!("CF_INST={:#x}", self.number),
        };
        if self.kind == Kind::Export {
            return format!("{name} {}", export::text(&self.fields));
        }
        let mut text = name;
        let mut shown = vec!["CF_INST"];
        if let Some((at, slots)) = self.clause() {
            let count = if self.kind == Kind::Alu {
                slots
            } else {
                slots / 2
            };
            text = format!("{text} @{at:04x} count={count}");
            shown.extend(["ADDR", "COUNT", "COUNT_3"]);
        } else if let Some(target) = self.target() {
            text = format!("{text} @{target:04x}");
            shown.push("ADDR");
        }
        match self.fields.rest(&shown) {
            rest if rest.is_empty() => text,
            rest => format!("{text} {rest}"),
        }
    }
}

impl Iterator for Listing {
    type Item = Line;

    fn next(&mut self) -> Option<Line> {
        while self.ready.is_empty() && !self.ended {
            match self.at.or_else(|| self.next_part()) {
                Some(at) => self.step(at),
                None => self.finish(),
            }
        }
        self.ready.pop_front()
    }
}

impl Listing {
    /// Return the first target where the walk has not been.
    fn next_part(&mut self) -> Option<usize> {
        while let Some(target) = self.pending.pop_first() {
            if !self.flow[target] {
                self.reach = 0;
                self.ready
                    .push_back(remark(target, "reached by a jump or a call".to_owned()));
                return Some(target);
            }
        }
        None
    }

    /// Show the instruction of control flow at `at`, and its clause.
    fn step(&mut self, at: usize) {
        let words = self.slots[at];
        let flow = Flow::new(self.database, words);
        let mut notes = flow.fields.notes();
        if flow.instruction.is_none() {
            notes.push(Note::ReservedOpcode(flow.number));
        }
        self.flow[at] = true;

        if let Some(target) = flow.target() {
            if target < self.slots.len() {
                self.pending.insert(target);
                if !flow.is("call") {
                    self.reach = self.reach.max(target);
                }
            } else {
                notes.push(Note::TargetOutside);
            }
        }
        let mut lines = Vec::new();
        let mut overlap = self.clauses[at];
        if let Some((first, count)) = flow.clause() {
            let end = first.saturating_add(count);
            if end > self.slots.len() {
                notes.push(Note::ClauseOutside);
            }
            let first = first.min(self.slots.len());
            let end = end.min(self.slots.len());
            overlap |= self.flow[first..end].contains(&true);
            self.clauses[first..end].fill(true);
            let slots = &self.slots[first..end];
            lines = match flow.kind {
                Kind::Alu => alu::clause(self.database, slots, first, &mut self.groups),
                _ => {
                    let vertex = flow.is("vertex");
                    fetch::clause(self.database, slots, first, vertex, &mut self.groups)
                }
            };
        }
        if overlap {
            notes.push(Note::Overlap);
        }

        let last = flow.fields.any("END_OF_PROGRAM") || (flow.is("return") && self.reach <= at);
        self.at = match self.flow.get(at + 1) {
            _ if last => None,
            Some(false) => Some(at + 1),
            Some(true) => None,
            None => {
                notes.push(Note::NoEnd);
                None
            }
        };
        self.ready.push_back(Line {
            slot: at,
            words: Some(words),
            in_clause: false,
            text: flow.text(),
            notes,
        });
        self.ready.extend(lines);
    }

    /// Name the slots that were not reached, and what is no slot.
    fn finish(&mut self) {
        self.ended = true;
        let reached: Vec<bool> = (self.flow.iter().zip(&self.clauses))
            .map(|(flow, clause)| flow | clause)
            .collect();
        let mut at = 0;
        for run in reached.chunk_by(|one, other| one == other) {
            if !run[0] {
                let last = at + run.len() - 1;
                self.ready
                    .push_back(remark(at, format!("up to {last:04x} not reached")));
            }
            at += run.len();
        }
        if let Some(word) = self.half {
            let mut line = remark(self.slots.len(), format!("{word:08x}"));
            line.notes.push(Note::HalfSlot);
            self.ready.push_back(line);
        }
    }
}

fn remark(slot: usize, text: String) -> Line {
    Line {
        slot,
        words: None,
        in_clause: false,
        text,
        notes: Vec::new(),
    }
}
