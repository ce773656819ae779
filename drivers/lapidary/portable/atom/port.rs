// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Ports: registers behind an index and a data register.
//!
//! Chips differ in how such a register is reached, and the BIOS says how. Data table 23, IndirectIOAccess, is a list of
//! small programs. Number n reads through port n, number n + 0x80 writes. A program composes a word. It takes bits of
//! the register's index, of the data to be written and of the attributes word into it, sets and clears others, writes
//! the word to a register, or loads it from one. A read returns the word as it is at the end. There are no jumps.
//! (Source: Linux, `atom.c`: `atom_iio_execute`, `atom_index_iio`.)

use super::{
    card::Card,
    code::{ones, shift_left, shift_right},
    image::{Bytes, Error, Image},
    run::{Budget, Why},
};

/// Number of the data table.
const INDIRECT_IO: u8 = 23;
/// Bytes of a table's header.
const HEADER: usize = 4;

const NOTHING: u8 = 0;
const START: u8 = 1;
const READ: u8 = 2;
const WRITE: u8 = 3;
const CLEAR: u8 = 4;
const SET: u8 = 5;
const INDEX: u8 = 6;
const ATTRIBUTES: u8 = 7;
const DATA: u8 = 8;
const END: u8 = 9;

/// Return the length of a step in bytes.
const fn length(step: u8) -> Option<usize> {
    match step {
        NOTHING => Some(1),
        START => Some(2),
        READ | WRITE | CLEAR | SET | END => Some(3),
        INDEX | ATTRIBUTES | DATA => Some(4),
        _ => None,
    }
}

/// Added to a port's number for the program that writes.
pub const WRITES: u8 = 0x80;

/// The input of an access.
#[derive(Clone, Copy)]
pub struct Access {
    /// The register behind the port.
    pub index: u32,
    /// The value to be written.
    pub data: u32,
    /// The attributes word of the table that accesses the register.
    pub attributes: u32,
}

/// Where each program begins.
pub struct Ports {
    /// By number; 0 for a port without a program.
    starts: [u16; 256],
}

impl Ports {
    /// Find the programs of the list. A damaged list ends before the damage.
    pub fn new(image: &Image<'_>) -> Self {
        let mut ports = Self { starts: [0; 256] };
        // What was found before the damage stays.
        let _ = ports.find(image);
        ports
    }

    fn find(&mut self, image: &Image<'_>) -> Result<(), Error> {
        let Some(table) = image.data(INDIRECT_IO)? else {
            return Ok(());
        };
        let bytes = image.bytes();
        let mut at = table.saturating_add(HEADER);
        while bytes.byte(at)? == START {
            let number = bytes.byte(at.saturating_add(1))?;
            at = at.saturating_add(2);
            let start = at;
            loop {
                let step = bytes.byte(at)?;
                at = at.saturating_add(length(step).ok_or(Error::OutOfImage)?);
                if step == END {
                    break;
                }
            }
            if let (Some(entry), Ok(start)) = (
                self.starts.get_mut(usize::from(number)),
                u16::try_from(start),
            ) {
                *entry = start;
            }
        }
        Ok(())
    }

    /// Run program `number` and return the word at its end.
    ///
    /// # Errors
    ///
    /// [`Why::Port`] if there is no such program, [`Why::PortStep`] for a step that is not described,
    /// [`Why::Register`], and those of [`Budget::step`].
    pub fn run(
        &self,
        number: u8,
        bytes: Bytes<'_>,
        access: Access,
        card: &mut dyn Card,
        budget: &mut Budget,
    ) -> Result<u32, Why> {
        let start = self.starts.get(usize::from(number)).copied().unwrap_or(0);
        if start == 0 {
            return Err(Why::Port(number.into()));
        }
        let mut at = usize::from(start);
        let mut word = 0;
        loop {
            budget.step()?;
            let step = bytes.byte(at)?;
            let operand = |n: usize| bytes.byte(at.saturating_add(n)).map(u32::from);
            let register = || bytes.word(at.saturating_add(1)).map(offset);
            match step {
                NOTHING => {}
                READ => {
                    let register = register()?;
                    word = card.read(register).ok_or(Why::Register(register))?;
                }
                WRITE => {
                    let register = register()?;
                    card.write_for_port(register, word)
                        .ok_or(Why::Register(register))?;
                }
                CLEAR => word &= !shift_left(ones(operand(1)?), operand(2)?),
                SET => word |= shift_left(ones(operand(1)?), operand(2)?),
                INDEX | ATTRIBUTES | DATA => {
                    let from = match step {
                        INDEX => access.index,
                        DATA => access.data,
                        _ => access.attributes,
                    };
                    let bits = ones(operand(1)?);
                    let taken = shift_right(from, operand(2)?) & bits;
                    let to = operand(3)?;
                    word = word & !shift_left(bits, to) | shift_left(taken, to);
                }
                END => return Ok(word),
                _ => return Err(Why::PortStep(step)),
            }
            at = at.saturating_add(length(step).ok_or(Why::PortStep(step))?);
        }
    }
}

/// Return the byte offset of the register that a program names by its index.
fn offset(index: u16) -> u32 {
    u32::from(index).saturating_mul(4)
}
