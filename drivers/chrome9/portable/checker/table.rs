// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Tables of type 03h (L1330-1373): palettes, programs and constants of the shader, levels of textures.
//!
//! Entries have 32 bits and no sub-address. The setting names the first one, and each dword goes to the next. Only the table of
//! levels has addresses. Of the others it counts how many entries, from the first one on, the stream has set, because the rest
//! is another client's.

use super::{
    stage::TABLE_LEVELS,
    texture::STAGES,
    Checker,
    Reason, //
};
use crate::portable::regs::{
    para_03_alu,
    para_03_constants,
    para_03_degamma::{
        self,
        degamma_1, //
    },
    para_03_filter,
    para_03_gamma::{
        self,
        gamma_1, //
    },
    para_03_palette,
    para_03_stipple,
    para_03_tau, //
};

/// Dwords of an instruction of the ALU (L1360).
const ALU_DWORDS: u32 = 4;
/// Entries of the table of a sub-type that the text has lost (L1352). Public drivers write as many.
const LOST_ENTRIES: u32 = 32;

/// A table, by its sub-type (L547).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Table {
    Palette,
    Levels,
    Filter,
    Lost,
    Stipple,
    Degamma,
    Gamma,
    Alu,
    Tau,
    Constants,
}

impl Table {
    /// Return the table of a sub-type.
    pub(super) const fn of(sub_type: u32) -> Option<Self> {
        Some(match sub_type {
            0x00 => Self::Palette,
            0x10 => Self::Levels,
            0x11 => Self::Filter,
            0x12 => Self::Lost,
            0x14 => Self::Stipple,
            0x15 => Self::Degamma,
            0x17 => Self::Gamma,
            0x20 => Self::Alu,
            0x21 => Self::Tau,
            0x22 => Self::Constants,
            _ => return None,
        })
    }

    /// Return which counter an entry belongs to, and its number there.
    const fn place(self, entry: u32) -> Option<(usize, u32)> {
        let (counter, entries) = match self {
            Self::Palette => (PALETTE, para_03_palette::PALETTE.len()),
            Self::Levels => (LEVELS, (STAGES * TABLE_LEVELS) as u32),
            Self::Filter => (FILTER, para_03_filter::FILTER_4X4.len()),
            Self::Lost => (LOST, LOST_ENTRIES),
            Self::Stipple => (STIPPLE, para_03_stipple::STIPPLE.len()),
            Self::Degamma => (DEGAMMA, DEGAMMA_ENTRIES),
            Self::Gamma => (GAMMA, GAMMA_ENTRIES),
            Self::Alu => (ALU, para_03_alu::ALU_INSTRUCTION.len()),
            Self::Tau => (TAU, para_03_tau::TAU_INSTRUCTION.len()),
            Self::Constants => {
                let (low, high) = (
                    para_03_constants::CONSTANT_LOW,
                    para_03_constants::CONSTANT_HIGH,
                );
                return match (low.index_of(entry), high.index_of(entry)) {
                    (Some(number), _) => Some((CONSTANTS_LOW, number)),
                    (_, Some(number)) => Some((CONSTANTS_HIGH, number)),
                    _ => None,
                };
            }
        };
        if entry < entries {
            Some((counter, entry))
        } else {
            None
        }
    }
}

const DEGAMMA_ENTRIES: u32 = para_03_degamma::DEGAMMA_5 + 1;
const GAMMA_ENTRIES: u32 = para_03_gamma::GAMMA_31 + 1;

const PALETTE: usize = 0;
const LEVELS: usize = 1;
const FILTER: usize = 2;
const LOST: usize = 3;
const STIPPLE: usize = 4;
const DEGAMMA: usize = 5;
const GAMMA: usize = 6;
const ALU: usize = 7;
const TAU: usize = 8;
const CONSTANTS_LOW: usize = 9;
const CONSTANTS_HIGH: usize = 10;
const COUNTERS: usize = 11;

/// How many entries the stream has set, by counter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tables([u16; COUNTERS]);

impl Tables {
    /// Nothing is set.
    pub(super) const UNKNOWN: Self = Self([0; COUNTERS]);

    fn needs(&self, counter: usize, entries: u32) -> Result<(), Reason> {
        match self.0.get(counter) {
            Some(set) if u32::from(*set) >= entries => Ok(()),
            _ => Err(Reason::NoTable),
        }
    }

    /// Refuse a texture that needs entries of another client.
    pub(super) fn texture(&self, palette: bool, degamma: bool, filter: bool) -> Result<(), Reason> {
        if palette {
            self.needs(PALETTE, para_03_palette::PALETTE.len())?;
        }
        if degamma {
            self.needs(DEGAMMA, DEGAMMA_ENTRIES)?;
        }
        if filter {
            self.needs(FILTER, para_03_filter::FILTER_4X4.len())?;
            self.needs(LOST, LOST_ENTRIES)?;
        }
        Ok(())
    }

    /// As [`texture`](Self::texture), of a stipple pattern.
    pub(super) fn stipple(&self) -> Result<(), Reason> {
        self.needs(STIPPLE, para_03_stipple::STIPPLE.len())
    }

    /// As [`texture`](Self::texture), of a render target with gamma.
    pub(super) fn gamma(&self) -> Result<(), Reason> {
        self.needs(GAMMA, GAMMA_ENTRIES)
    }

    /// As [`texture`](Self::texture), of programs with so many instructions.
    pub(super) fn shader(&self, alu: u32, tau: u32) -> Result<(), Reason> {
        self.needs(ALU, alu.wrapping_mul(ALU_DWORDS))?;
        self.needs(TAU, tau)?;
        self.needs(CONSTANTS_LOW, para_03_constants::CONSTANT_LOW.len())?;
        self.needs(CONSTANTS_HIGH, para_03_constants::CONSTANT_HIGH.len())
    }
}

impl Checker<'_> {
    /// Check an entry of a table at the current position. Return false if there is no such entry.
    pub(super) fn entry(&mut self, table: Table, entry: u32, word: u32) -> Result<bool, Reason> {
        let Some((counter, number)) = table.place(entry) else {
            return Ok(false);
        };
        match (table, number) {
            (Table::Levels, _) => self.level_base(number as usize, word)?,
            (Table::Degamma, para_03_degamma::DEGAMMA_1)
            | (Table::Gamma, para_03_gamma::GAMMA_1..=para_03_gamma::GAMMA_3) => {
                const { assert!(degamma_1::ROUNDING.mask() == gamma_1::ROUNDING.mask()) };
                if degamma_1::ROUNDING.get(word) >= degamma_1::rounding::RESERVED {
                    return Err(Reason::ReservedValue);
                }
            }
            _ => {}
        }
        if let Some(set) = self.tables.0.get_mut(counter) {
            if u32::from(*set) == number {
                *set = set.wrapping_add(1);
            }
        }
        Ok(true)
    }
}
