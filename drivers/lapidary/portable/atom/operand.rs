// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Operands: what a command table reads and writes.
//!
//! The machine decodes an operand's place when it reads its bytes, and accesses the place when the operation needs it.
//! Each register is accessed as often, and in the order, as the operation says. (Source: Linux, `atom.c`:
//! `atom_get_src_int`, `atom_put_dst`.)

use super::{
    code::{shift_left, Kind, Part},
    port::{Access, WRITES},
    run::{Machine, Mode, Why, WORK},
};

/// Work words with a meaning.
const QUOTIENT: u8 = 0x40;
const REMAINDER: u8 = 0x41;
const DATA_BLOCK: u8 = 0x42;
const BIT: u8 = 0x43;
const BIT_MASK: u8 = 0x44;
const OTHER_BITS_MASK: u8 = 0x45;
const SCRATCH_BASE: u8 = 0x46;
const ATTRIBUTES: u8 = 0x47;
const REGISTER_BLOCK: u8 = 0x48;

/// An operand whose place is known.
#[derive(Clone, Copy)]
pub(super) enum Operand {
    Register(u16),
    Parameter(u8),
    Work(u8),
    Scratch(u8),
    Data(u16),
    Value(u32),
    Pll(u8),
    Mc(u8),
}

impl Machine<'_> {
    pub(super) fn byte(&mut self) -> Result<u8, Why> {
        let byte = self.image.bytes().byte(self.frame.at)?;
        self.frame.at = self.frame.at.saturating_add(1);
        Ok(byte)
    }

    pub(super) fn word(&mut self) -> Result<u16, Why> {
        let word = self.image.bytes().word(self.frame.at)?;
        self.frame.at = self.frame.at.saturating_add(2);
        Ok(word)
    }

    pub(super) fn long(&mut self) -> Result<u32, Why> {
        let long = self.image.bytes().long(self.frame.at)?;
        self.frame.at = self.frame.at.saturating_add(4);
        Ok(long)
    }

    /// Return the value of the source that an attribute byte means.
    pub(super) fn source(&mut self, attribute: u8) -> Result<u32, Why> {
        let part = Part::source(attribute);
        let operand = self.operand(Kind::source(attribute), part)?;
        match operand {
            Operand::Value(value) => Ok(value),
            place => Ok(part.take(self.get(place)?)),
        }
    }

    /// Read a number in the program, as wide as `part`.
    pub(super) fn immediate(&mut self, part: Part) -> Result<u32, Why> {
        match part.bits {
            32 => self.long(),
            16 => self.word().map(u32::from),
            _ => self.byte().map(u32::from),
        }
    }

    pub(super) fn operand(&mut self, kind: Kind, part: Part) -> Result<Operand, Why> {
        Ok(match kind {
            Kind::Register => Operand::Register(self.word()?),
            Kind::Parameter => Operand::Parameter(self.byte()?),
            Kind::Work => Operand::Work(self.byte()?),
            Kind::Scratch => Operand::Scratch(self.byte()?),
            Kind::Data => Operand::Data(self.word()?),
            Kind::Immediate => Operand::Value(self.immediate(part)?),
            Kind::Pll => Operand::Pll(self.byte()?),
            Kind::Mc => Operand::Mc(self.byte()?),
        })
    }

    /// Return the index of a register with the base added, and its byte offset.
    fn register(&self, index: u16) -> (u32, u32) {
        let index = u32::from(index).saturating_add(self.register_block.into());
        (index, index.saturating_mul(4))
    }

    /// Return the index of a parameter word in memory.
    fn parameter(&self, index: u8) -> usize {
        self.frame.first.saturating_add(index.into())
    }

    /// Return the index of a word of scratch memory.
    fn scratch(&self, index: u8) -> usize {
        // CAST: a division by four leaves 30 bits.
        ((self.scratch_base / 4) as usize).saturating_add(index.into())
    }

    fn through_port(&mut self, program: u8, index: u32, data: u32) -> Result<u32, Why> {
        let access = Access {
            index,
            data,
            attributes: self.attributes.into(),
        };
        let bytes = self.image.bytes();
        self.ports
            .run(program, bytes, access, self.card, self.budget)
    }

    pub(super) fn get(&mut self, operand: Operand) -> Result<u32, Why> {
        match operand {
            Operand::Register(index) => {
                let (index, offset) = self.register(index);
                match self.mode {
                    Mode::Window => self.card.read(offset).ok_or(Why::Register(offset)),
                    Mode::Port(port) => self.through_port(port, index, 0),
                    Mode::Elsewhere => Ok(0),
                }
            }
            Operand::Parameter(index) => self
                .parameters
                .get(self.parameter(index))
                .copied()
                .ok_or(Why::Parameter(index)),
            Operand::Work(index) => self.get_work(index),
            Operand::Scratch(index) => {
                Ok(self.scratch.get(self.scratch(index)).copied().unwrap_or(0))
            }
            Operand::Data(offset) => {
                let at = usize::from(self.data_block).saturating_add(offset.into());
                Ok(self.image.bytes().long(at)?)
            }
            Operand::Value(value) => Ok(value),
            Operand::Pll(index) => Ok(self.card.read_pll(index)),
            Operand::Mc(index) => Ok(self.card.read_mc(index)),
        }
    }

    pub(super) fn put(&mut self, operand: Operand, value: u32) -> Result<(), Why> {
        match operand {
            Operand::Register(index) => {
                let (index, offset) = self.register(index);
                match self.mode {
                    // Register 0 is an index register that takes a byte offset. Tables count registers in words.
                    Mode::Window if index == 0 => self.card.write(0, shift_left(value, 2)),
                    Mode::Window => self.card.write(offset, value),
                    Mode::Port(port) => {
                        self.through_port(port | WRITES, index, value)?;
                        return Ok(());
                    }
                    Mode::Elsewhere => return Ok(()),
                }
                .ok_or(Why::Register(offset))?;
            }
            Operand::Parameter(index) => {
                let place = self.parameter(index);
                *self
                    .parameters
                    .get_mut(place)
                    .ok_or(Why::Parameter(index))? = value;
            }
            Operand::Work(index) => self.put_work(index, value)?,
            Operand::Scratch(index) => {
                let place = self.scratch(index);
                if let Some(word) = self.scratch.get_mut(place) {
                    *word = value;
                }
            }
            // No operation has these as its destination.
            Operand::Data(_) | Operand::Value(_) => {}
            Operand::Pll(index) => self.card.write_pll(index, value),
            Operand::Mc(index) => self.card.write_mc(index, value),
        }
        Ok(())
    }

    /// Return the index of the running table's own work word in memory.
    fn own_work(&self, index: u8) -> Result<usize, Why> {
        let word = usize::from(index);
        if word >= WORK {
            return Err(Why::Work(index));
        }
        Ok(self.depth.saturating_mul(WORK).saturating_add(word))
    }

    fn get_work(&self, index: u8) -> Result<u32, Why> {
        Ok(match index {
            QUOTIENT => self.quotient,
            REMAINDER => self.remainder,
            DATA_BLOCK => self.data_block.into(),
            BIT => self.bit.into(),
            BIT_MASK => shift_left(1, self.bit.into()),
            OTHER_BITS_MASK => !shift_left(1, self.bit.into()),
            SCRATCH_BASE => self.scratch_base,
            ATTRIBUTES => self.attributes.into(),
            REGISTER_BLOCK => self.register_block.into(),
            _ => {
                let place = self.own_work(index)?;
                self.work.get(place).copied().ok_or(Why::Work(index))?
            }
        })
    }

    /// Write work word `index`. A word with a meaning drops the bits that do not fit.
    fn put_work(&mut self, index: u8, value: u32) -> Result<(), Why> {
        let [low, high, ..] = value.to_le_bytes();
        let half = u16::from_le_bytes([low, high]);
        match index {
            QUOTIENT => self.quotient = value,
            REMAINDER => self.remainder = value,
            DATA_BLOCK => self.data_block = half,
            BIT => self.bit = low,
            // The bit number decides these.
            BIT_MASK | OTHER_BITS_MASK => {}
            SCRATCH_BASE => self.scratch_base = value,
            ATTRIBUTES => self.attributes = half,
            REGISTER_BLOCK => self.register_block = half,
            _ => {
                let place = self.own_work(index)?;
                *self.work.get_mut(place).ok_or(Why::Work(index))? = value;
            }
        }
        Ok(())
    }
}
