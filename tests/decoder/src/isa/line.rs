// SPDX-License-Identifier: GPL-2.0 OR MIT

//! One slot of a program and what it means.

use std::fmt;

/// Something that is wrong with a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// No instruction has that number.
    ReservedOpcode(u32),
    /// The field has a number that means nothing.
    ReservedValue(&'static str),
    /// Bits are set that no field has, in that word of the instruction.
    ReservedBits(usize, u32),
    /// The instruction's clause goes beyond the program.
    ClauseOutside,
    /// Slots of the clause are control flow, or the other way round.
    Overlap,
    /// The target is not in the program.
    TargetOutside,
    /// Control flow goes beyond the program.
    NoEnd,
    /// Five instructions, and the group goes on.
    GroupTooLong,
    /// The slot of the ALU has an instruction already.
    SlotTaken(char),
    /// The clause ends inside of a group.
    Unfinished,
    /// A literal lies behind the end of the clause.
    LiteralOutside,
    /// The instruction cannot be in a clause of that kind.
    WrongClause,
    /// The program ends with a dword that is no slot.
    HalfSlot,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::ReservedOpcode(number) => write!(f, "reserved opcode {number:#x}"),
            Note::ReservedValue(field) => write!(f, "{field} means nothing"),
            Note::ReservedBits(word, bits) => {
                write!(f, "reserved bits {bits:#010x} of word {word}")
            }
            Note::ClauseOutside => f.write_str("the clause goes beyond the program"),
            Note::Overlap => f.write_str("control flow and a clause in the same slots"),
            Note::TargetOutside => f.write_str("the target is not in the program"),
            Note::NoEnd => f.write_str("the program goes on without END_OF_PROGRAM"),
            Note::GroupTooLong => f.write_str("the group goes on after five instructions"),
            Note::SlotTaken(slot) => write!(f, "slot {slot} is taken"),
            Note::Unfinished => f.write_str("the clause ends inside of the group"),
            Note::LiteralOutside => f.write_str("a literal is not in the clause"),
            Note::WrongClause => f.write_str("not in a clause of this kind"),
            Note::HalfSlot => f.write_str("half a slot"),
        }
    }
}

/// One line of a listing. Displays as text, without the line's end.
#[derive(Clone, Debug)]
pub struct Line {
    /// The slot, counted from the beginning of the program.
    pub slot: usize,
    /// Its words; none in a line that is a remark.
    pub words: Option<[u32; 2]>,
    /// Whether it is part of a clause.
    pub in_clause: bool,
    /// What it means.
    pub text: String,
    /// What is wrong here.
    pub notes: Vec<Note>,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.words {
            Some([first, second]) => write!(f, "{:04x}: {first:08x} {second:08x}", self.slot)?,
            None => write!(f, "{:04x}:", self.slot)?,
        }
        let indent = if self.in_clause { 4 } else { 2 };
        if !self.text.is_empty() {
            write!(f, "{:indent$}{}", "", self.text)?;
        }
        for (i, note) in self.notes.iter().enumerate() {
            write!(f, "{}{note}", if i == 0 { "  !! " } else { "; " })?;
        }
        Ok(())
    }
}
