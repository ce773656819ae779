// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Prints programs of shaders by name.
//!
//! A program is slots of 64 bits, and addresses in it count slots from its beginning. It begins with instructions of
//! control flow, one slot each, up to the one with END_OF_PROGRAM. Some of them start a clause elsewhere in the program,
//! of arithmetic or of fetches. A clause of arithmetic consists of groups: up to five instructions, one for each of the
//! slots x, y, z, w and t of the ALU, then the literals that they name. A fetch takes two slots.
//!
//! [`disassemble`] follows control flow from a start, and shows each clause below the instruction that starts it. What
//! lies behind the end but is a target of a jump or a call follows. At last it says which slots it has not reached.
//! There is one [`Line`] for each slot shown.
//!
//! All names, places and numbers come from the database of the register map: [`Database::words`] and
//! [`Database::instructions`]. Nothing in a program can stop the disassembler. What does not fit is marked with `!!`,
//! and control flow goes to each slot at most once.
//!
//! ```
//! use lapidary_decoder::isa::disassemble;
//! use lapidary_registers::r600::R7XX;
//!
//! let program = [0x0000_0002, 0xa000_0000, 0xc000_0000, 0x9420_0688, 0x8080_0000, 0x6000_0010];
//! let lines = disassemble(&R7XX, &program, 0).expect("a family with shaders");
//! let text: Vec<String> = lines.map(|l| l.to_string()).collect();
//! assert_eq!(text, [
//!     "0000: 00000002 a0000000  ALU @0002 count=1 BARRIER",
//!     "0002: 80800000 60000010    0 w: ADD R0.w, R0.x, R0.y",
//!     "0001: c0000000 94200688  EXPORT_DONE PIXEL 0, R0.xyzw, ELEM_SIZE=3 END_OF_PROGRAM BARRIER",
//! ]);
//! ```

mod alu;
mod export;
mod fetch;
mod fields;
mod flow;
mod line;
mod operand;

pub use flow::{Listing, disassemble};
pub use line::{Line, Note};

use lapidary_registers::{Database, Dword, Instruction};

/// Return the instruction that the table has for `word`, and the number by which it was looked up.
fn lookup(
    database: &Database,
    table: &str,
    word: u32,
) -> Option<(u32, Option<&'static Instruction>)> {
    let table = database.instructions.iter().find(|t| t.name == table)?;
    let field = layout(database, table.word).field(table.field)?;
    let number = field.field.get(word);
    Some((number, table.instruction(number)))
}

/// Return the layout of that name; one without fields if the map has none.
fn layout(database: &Database, name: &str) -> &'static Dword {
    static NONE: Dword = Dword {
        name: "",
        doc: "",
        fields: &[],
    };
    database.word(name).unwrap_or(&NONE)
}
